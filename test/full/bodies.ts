/** As much of a request as decides what its answer says. */
interface Asked {
  readonly method: string;
  readonly path: string;
  readonly nonce: string;
}

const when = '2026-01-02T03:04:05.000Z';
const zeros = `0x${'0'.repeat(40)}`;

export const accountId = 'acc_1';

const transfer = { status: 'pending', type: 'book', createdAt: when };

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
  createdAt: when,
  pendingBalance: '0.00',
  lockedBalance: '0.00',
  holdingBalance: '0.00',
  updatedAt: when,
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

/** The answer that the document shows for a request: it always names whose answer it is. */
export function successBody({ method, path, nonce }: Asked, made?: string): string {
  if (method === 'POST') {
    return JSON.stringify({ id: made ?? 'txfr_nothing_was_made', ...transfer });
  }
  if (method === 'PATCH') return JSON.stringify({ ...account, metadata: { nonce } });
  if (path.startsWith('/instructions'))
    return JSON.stringify([{ ...instruction, nickname: nonce }]);
  const shown = {
    ...transfer,
    sourceAccountId: accountId,
    destinationAccountId: 'acc_2',
    amount: '1.00',
    currency: 'USDC',
    direction: 'outgoing',
    description: nonce,
  };
  const id = path.slice(path.lastIndexOf('/') + 1);
  if (!id.startsWith('transfers?')) return JSON.stringify({ id, ...shown });
  const data = made === undefined ? [] : [{ id: made, ...shown }];
  return JSON.stringify({ data, hasMore: false, nextCursor: null });
}

/** The answer of some other call, which must never be taken for one's own. */
export const poison = JSON.stringify({ id: 'txfr_POISON', ...transfer, description: 'poison' });

export const errorBody = JSON.stringify({ error: 'Something is wrong', code: 'some_code' });

export const page =
  '<!doctype html><html><head><title>Bad</title></head><body><h1>Bad</h1></body></html>';
