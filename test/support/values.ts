/* Common inputs of calls, and responses to them. */

export const address = '0x52908400098527886e0f7030069857d2e4169ee7';
export const newTransfer = {
  sourceAccountId: 'acc_1',
  destinationAccountId: 'acc_2',
  amount: '12.50',
} as const;
/** A payment that the demo data of a sandbox permit. */
export const invoice = {
  sourceAccountId: 'acc_000001',
  counterpartyId: 'cpty_000001',
  amount: '12.50',
  description: 'invoice 4711',
} as const;
/** A payment between the two accounts of a new sandbox. */
export const bookInvoice = {
  sourceAccountId: 'acc_000001',
  destinationAccountId: 'acc_000002',
  amount: '12.50',
  description: 'invoice 4711',
} as const;
export const transferCreated = {
  id: 'txfr_1',
  status: 'pending',
  type: 'book',
  createdAt: '2026-01-01T00:00:00Z',
} as const;
/** The id of each creation is its own. */
export const createdNumber = (number: number) => ({
  ...transferCreated,
  id: `txfr_${number}` as const,
});
export const transfer = {
  ...transferCreated,
  sourceAccountId: 'acc_1',
  destinationAccountId: 'acc_2',
  amount: '12.50',
  currency: 'USDC',
  direction: 'outgoing',
} as const;
export const transferNumber = (number: number): typeof transfer & { id: `txfr_${string}` } => ({
  ...transfer,
  id: `txfr_${number}` as typeof transfer.id,
});
export const page = (
  data: readonly unknown[],
  nextCursor: unknown = null,
  hasMore = nextCursor !== null,
): { data: readonly unknown[]; hasMore: boolean; nextCursor: unknown } => ({
  data,
  hasMore,
  nextCursor,
});
export const newInstruction = {
  address,
  chainId: 8453,
  salt: 7,
  maxExecutions: 1,
  actionArguments: { anotherAction: { target: address } },
} as const;
export const built = {
  salt: 7,
  maxExecutions: 1,
  action: address,
  arguments: '0x00',
} as const;

export const errorBody = { error: 'No.', code: 'refused', details: null };
export const html = '<!doctype html><html><body><h1>Bad gateway</h1></body></html>';

/** For tests that advance a clock by fixed times, because the defaults may change. */
export const fixedTimes = { timeout: 30_000, totalTimeout: 120_000, gracePeriod: 900_000 };
