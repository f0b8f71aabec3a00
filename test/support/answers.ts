import { expect } from 'vitest';
import {
  PaymentsClient,
  PaymentsError,
  type ClientOptions,
  type RequestOptions,
} from 'payments-platform-sdk';

import { apiKey, jwt, observed, type Sent } from './recorder.ts';

export { answer } from './loopback.ts';

/** What `answer` says, as a Response, for clients whose fetch is a function of the test. */
export const respond = (
  status: number,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Response =>
  new Response(body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });

export const errorBody = { error: 'No.', code: 'refused', details: null };
export const html = '<!doctype html><html><body><h1>Bad gateway</h1></body></html>';

export const address = '0x52908400098527886e0f7030069857d2e4169ee7';
export const entity = {
  id: 'ent_1',
  email: 'ada@example.com',
  type: 'individual',
  status: 'active',
  kycStatus: 'approved',
  tosStatus: 'approved',
  kycLink: 'https://verify.example.com/1',
  tosLink: 'https://terms.example.com/1',
  createdAt: '2026-01-01T00:00:00Z',
} as const;
export const account = {
  id: 'acc_1',
  entityId: 'ent_1',
  name: 'Main',
  type: 'wallet',
  chain: 'base',
  status: 'active',
  autoEarn: false,
  availableBalance: '0.00',
  pendingBalance: '0.00',
  lockedBalance: '0.00',
  holdingBalance: '0.00',
  currency: 'USDC',
  metadata: {},
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
} as const;
export const transferCreated = {
  id: 'txfr_1',
  status: 'pending',
  type: 'book',
  createdAt: '2026-01-01T00:00:00Z',
} as const;
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
export const settings = {
  autoEarnEnabled: false,
  autoEarnVault: 'acme_usdc',
  defaultChain: 'base',
  webhookUrl: null,
  updatedAt: '2026-01-01T00:00:00Z',
} as const;
export const built = {
  salt: 7,
  maxExecutions: 1,
  action: address,
  arguments: '0x00',
} as const;
export const instruction = {
  action: address,
  arguments: '0x00',
  executionState: { executionCounter: 0, executionStatus: 'Deactivated', lastExecuted: 0 },
  instructedTokenAddress: address,
  instructionId: '0xabc1',
  lastInstructedValue: '0',
  maxExecutions: 1,
  nickname: 'Gas',
  salt: 7,
  totalInstructedValue: '0',
} as const;
export const transactionNumber = (number: number): Record<string, unknown> => ({
  createdAtUnix: 1_767_225_600 + number,
  updatedAtUnix: 1_767_225_600,
  startedAtUnix: 1_767_225_600,
  finishedAtUnix: 1_767_225_600,
  startedAtBlock: 1,
  finishedAtBlock: 2,
  transactionHash: `0x${number.toString(16).padStart(8, '0')}`,
  blockHash: '0xb10c',
  instructionId: '0xabc1',
  chainId: 8453,
  address,
  activation: false,
  deactivation: false,
  transactionStatus: 'Success',
});

export const newTransfer = {
  sourceAccountId: 'acc_1',
  destinationAccountId: 'acc_2',
  amount: '12.50',
} as const;
export const newInstruction = {
  address,
  chainId: 8453,
  salt: 7,
  maxExecutions: 1,
  actionArguments: { anotherAction: { target: address } },
} as const;

export { apiKey, jwt };

/** A client of a server of the test. */
export const clientAt = (
  server: { readonly baseUrl: string },
  options: ClientOptions = {},
): PaymentsClient => new PaymentsClient({ baseUrl: server.baseUrl, apiKey, jwt, ...options });

/** A client whose requests all end in one function, which is told how many there have been. */
export function clientOf(
  handle: (request: Request, body: string, count: number) => Response | Promise<Response>,
  options: ClientOptions = {},
): { readonly payments: PaymentsClient; readonly requests: Sent[] } {
  const { payments, sent } = observed(
    (request, body) => handle(request, body, sent.length),
    options,
  );
  return { payments, requests: sent };
}

/** One call of each kind that the retry policy tells apart. */
export const kinds = ['safe GET', 'safe POST', 'PATCH', 'DELETE', 'once POST'] as const;
export type KindName = (typeof kinds)[number];

export const calls: Readonly<
  Record<
    KindName,
    {
      readonly good: unknown;
      readonly status: number;
      send(payments: PaymentsClient, options?: RequestOptions): Promise<unknown>;
    }
  >
> = {
  'safe GET': {
    good: transfer,
    status: 200,
    send: (payments, options) => payments.transfers.get('txfr_1', options),
  },
  'safe POST': {
    good: built,
    status: 200,
    send: (payments, options) => payments.instructions.build(newInstruction, options),
  },
  PATCH: {
    good: account,
    status: 200,
    send: (payments, options) => payments.accounts.update('acc_1', { name: 'Main' }, options),
  },
  DELETE: {
    good: undefined,
    status: 204,
    send: (payments, options) => payments.counterparties.delete('cpty_1', options),
  },
  'once POST': {
    good: transferCreated,
    status: 201,
    send: (payments, options) => payments.transfers.create(newTransfer, options),
  },
};

/** The error that a call ends in; another class, or success, fails the test. */
export async function failureOf<E extends PaymentsError = PaymentsError>(
  call: PromiseLike<unknown>,
  kind: abstract new (...facts: never[]) => E = PaymentsError as never,
): Promise<E> {
  let error: unknown;
  try {
    await call;
  } catch (thrown) {
    error = thrown;
  }
  if (error === undefined) throw new Error('The call was expected to fail.');
  expect(error).toBeInstanceOf(kind);
  return error as E;
}
