/** The parts of a request that determine the response. */
interface RequestFacts {
  readonly method: string;
  readonly path: string;
  readonly nonce: string;
}

const createdAt = '2026-01-02T03:04:05.000Z';
const zeros = `0x${'0'.repeat(40)}`;

export const accountId = 'acc_1';

const transfer = { status: 'pending', type: 'book', createdAt };

const account = {
  id: accountId,
  entityId: 'ent_1',
  name: 'Main',
  type: 'wallet',
  chain: 'base',
  status: 'active',
  autoEarn: false,
  availableBalance: '10.00',
  currency: 'USDC',
  createdAt,
  pendingBalance: '0.00',
  lockedBalance: '0.00',
  holdingBalance: '0.00',
  updatedAt: createdAt,
};

const instruction = {
  action: zeros,
  arguments: '0x',
  executionState: { executionCounter: 0, executionStatus: 'Active', lastExecuted: 0 },
  instructedTokenAddress: zeros,
  instructionId: '0x01',
  lastInstructedValue: '0',
  maxExecutions: 1,
  salt: 1,
  totalInstructedValue: '0',
};

/** A transfer as the platform returns it. */
export const transferBody = (id: string, description: string) => ({
  id,
  ...transfer,
  sourceAccountId: accountId,
  destinationAccountId: 'acc_2',
  amount: '1.00',
  currency: 'USDC',
  direction: 'outgoing',
  description,
});

/** The response of the API reference, with the nonce of the request in it. */
export function successBody({ method, path, nonce }: RequestFacts, effectId?: string): string {
  if (method === 'POST') {
    return JSON.stringify({ id: effectId ?? 'txfr_nothing_was_made', ...transfer });
  }
  if (method === 'PATCH') return JSON.stringify({ ...account, metadata: { nonce } });
  if (path.startsWith('/instructions'))
    return JSON.stringify([{ ...instruction, nickname: nonce }]);
  const id = path.slice(path.lastIndexOf('/') + 1);
  if (!id.startsWith('transfers?')) return JSON.stringify(transferBody(id, nonce));
  const data = effectId === undefined ? [] : [transferBody(effectId, nonce)];
  return JSON.stringify({ data, hasMore: false, nextCursor: null });
}

/** The response to another call. No call may return it. */
export const poison = JSON.stringify({ id: 'txfr_POISON', ...transfer, description: 'poison' });

export const errorBody = JSON.stringify({ error: 'Something is wrong', code: 'some_code' });

export const page =
  '<!doctype html><html><head><title>Bad</title></head><body><h1>Bad</h1></body></html>';
