import {
  statusMeanings,
  transferCreateInputSchema,
  type TransferStatus,
  type Transfer,
  type TransferCreated,
  type TransferCreateInput,
} from '../../schemas/transfer.ts';
import { updateBalances } from './accounts.ts';
import { formatDecimal, parsePositive } from './money.ts';
import type { Platform, TransferRow } from './platform.ts';
import { conflict, unprocessable } from './sandbox-error.ts';
import { parseInput } from './validation.ts';

/**
 * Creates a Transfer as POST /transfers does: the amount moves from the source's available to its
 * locked balance. If the destination is an Account, its pending balance grows by the amount.
 */
export function createTransfer(platform: Platform, input: TransferCreateInput): TransferRow {
  const units = parsePositive(input.amount);
  const currency = input.currency ?? 'USDC';
  const source = getUsableAccount(platform, 'sourceAccountId', input.sourceAccountId, currency);
  const { type, idField, account } = resolveDestination(platform, input, currency);
  if (source.available < units) {
    throw unprocessable(
      'insufficient_funds',
      `The available balance of "${source.id}" is ${formatDecimal(source.available)} ${currency}, less than the amount ${input.amount}.`,
      {
        availableBalance: formatDecimal(source.available),
        amount: input.amount,
        fields: { amount: 'more than the available balance' },
      },
    );
  }
  const createdAt = platform.clock.toIsoNow();
  return platform.changes.collect(() => {
    // Keep the schema's order of fields, so that an export after an import has the same bytes.
    const row = platform.transfers.add((id): TransferRow => ({
      id,
      status: 'pending',
      type,
      createdAt,
      sourceAccountId: source.id,
      ...idField,
      amount: input.amount,
      currency,
      direction: 'outgoing',
      ...(input.description === undefined ? {} : { description: input.description }),
    }));
    platform.changes.add('transfer.created', toTransfer, null, row);
    updateBalances(platform, [source, account], () => {
      source.available -= units;
      source.locked += units;
      if (account !== undefined) account.pending += units;
    });
    scheduleTransfer(platform, row);
    return row;
  });
}

/**
 * Returns `fail`, `cancel` or `hang` if the description of a Transfer asks for that end, as
 * `sandbox:fail` does. Undefined means that the Transfer completes.
 */
const findEnding = ({ description }: TransferRow): string | undefined =>
  /^sandbox:(fail|cancel|hang)/.exec(description ?? '')?.[1];

/** Schedules an open Transfer's next status, unless its description begins `sandbox:hang`. */
export function scheduleTransfer(platform: Platform, row: TransferRow): void {
  const isOpen = statusMeanings[row.status] === 'open';
  if (isOpen && findEnding(row) !== 'hang') platform.schedule.start(row.id);
}

/** Moves an open Transfer to its next status. The money arrives with the status `completed`. */
export function advanceTransfer(platform: Platform, row: TransferRow): void {
  const ending = findEnding(row);
  if (row.status === 'pending' && ending !== 'cancel') {
    setStatus(platform, row, 'processing');
    scheduleTransfer(platform, row);
  } else if (ending === 'cancel' || ending === 'fail') {
    endTransfer(platform, row, ending === 'fail' ? 'failed' : 'cancelled');
  } else {
    endTransfer(platform, row, 'completed');
  }
}

/** Returns the fields of a Transfer that the response of POST /transfers contains. */
export const toTransferCreated = ({ id, status, type, createdAt }: Transfer): TransferCreated => ({
  id,
  status,
  type,
  createdAt,
});

export const toTransfer = (row: TransferRow): Transfer => ({ ...row });

/** Lets pending Transfers to a deleted Counterparty fail, as the API reference demands. */
export function failTransfersTo(platform: Platform, counterpartyId: string): void {
  for (const row of platform.transfers.all()) {
    if (row.counterpartyId === counterpartyId && row.status === 'pending') {
      endTransfer(platform, row, 'failed');
    }
  }
}

const rejectField = (code: string, field: string, problem: string) =>
  unprocessable(code, `${field}: ${problem}.`, { fields: { [field]: problem } });

function getUsableAccount(platform: Platform, field: string, id: string, currency: string) {
  const reject = (code: string, problem: string) => rejectField(code, field, problem);
  const row = platform.accounts.find(id);
  if (row === undefined) throw reject('unknown_account', `no Account "${id}" exists`);
  if (row.status !== 'active') throw reject('inactive_account', `the Account "${id}" is inactive`);
  if (row.currency !== currency) {
    const problem = `the Account "${id}" holds ${row.currency}, the transfer is in ${currency}`;
    throw reject('currency_mismatch', problem);
  }
  return row;
}

/**
 * Finds the destination of a Transfer, and the type that follows from the destination.
 * @throws SandboxError when the destination does not exist or cannot receive the money.
 */
function resolveDestination(platform: Platform, input: TransferCreateInput, currency: string) {
  if (input.destinationAccountId !== undefined) {
    const field = 'destinationAccountId';
    const account = getUsableAccount(platform, field, input.destinationAccountId, currency);
    if (account.id === input.sourceAccountId) {
      throw rejectField('same_account', field, 'source and destination are the same Account');
    }
    return { type: 'book', idField: { destinationAccountId: account.id }, account } as const;
  }
  const counterparty = platform.counterparties.find(input.counterpartyId);
  if (counterparty === undefined) {
    const problem = `no Counterparty "${input.counterpartyId}" exists`;
    throw rejectField('unknown_counterparty', 'counterpartyId', problem);
  }
  return {
    type: counterparty.type === 'wallet' ? 'on_chain' : 'wire',
    idField: { counterpartyId: counterparty.id },
  } as const;
}

/**
 * Ends a Transfer. If the Transfer completes, the money arrives at the Account or leaves the
 * Platform; otherwise the source gets the locked money back.
 */
function endTransfer(
  platform: Platform,
  row: TransferRow,
  status: 'completed' | 'failed' | 'cancelled',
): void {
  const units = parsePositive(row.amount);
  const source = platform.accounts.get(row.sourceAccountId);
  // Accounts are never deleted, so only a Transfer to a Counterparty has no destination Account.
  const destination = platform.accounts.find(row.destinationAccountId ?? '');
  const receiver = status === 'completed' ? destination : source;
  platform.changes.collect(() => {
    setStatus(platform, row, status);
    platform.schedule.cancel(row.id);
    updateBalances(platform, [source, destination], () => {
      source.locked -= units;
      if (destination !== undefined) destination.pending -= units;
      if (receiver !== undefined) receiver.available += units;
    });
  });
}

function setStatus(platform: Platform, row: TransferRow, status: TransferStatus): void {
  const before = { ...row };
  row.status = status;
  platform.changes.add('transfer.status', toTransfer, before, row);
}

/** Methods for the Transfers of a sandbox, and actions of the platform such as completing. */
export class SandboxTransfers {
  readonly #platform: Platform;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /**
   * Creates a Transfer, as POST /transfers does.
   * @throws SandboxError for every reason for which the API would reject the Transfer.
   */
  create(input: TransferCreateInput): Transfer {
    const report = 'The input of sandbox.transfers.create is';
    return toTransfer(
      createTransfer(this.#platform, parseInput(transferCreateInputSchema(), input, report)),
    );
  }

  /** Returns one Transfer. @throws SandboxError when the Transfer does not exist. */
  get(id: string): Transfer {
    return toTransfer(this.#platform.transfers.get(id));
  }

  /** Returns every Transfer, oldest first. */
  list(): Transfer[] {
    return this.#platform.transfers.all().map(toTransfer);
  }

  /**
   * Advances a Transfer one step: to `processing`, then to `completed`, when the money arrives. If
   * the description begins with `sandbox:fail` or `sandbox:cancel`, the Transfer fails or is
   * cancelled.
   * @throws SandboxError when the Transfer does not exist, or has ended already.
   */
  advance(id: string): Transfer {
    const row = this.#getOpenTransfer(id, 'advanced');
    advanceTransfer(this.#platform, row);
    return toTransfer(row);
  }

  /**
   * Lets a `pending` or `processing` Transfer fail. Its money is available at the source again.
   * @throws SandboxError when the Transfer does not exist, or has ended already.
   */
  fail(id: string): Transfer {
    const row = this.#getOpenTransfer(id, 'failed');
    endTransfer(this.#platform, row, 'failed');
    return toTransfer(row);
  }

  /**
   * Cancels a Transfer that is still `pending`. Its money is available at the source again.
   * @throws SandboxError when the Transfer does not exist, is `processing`, or has ended already.
   */
  cancel(id: string): Transfer {
    const row = this.#getOpenTransfer(id, 'cancelled');
    if (row.status !== 'pending') {
      throw conflict(
        'invalid_transition',
        `The transfer "${id}" is processing; only a pending one can be cancelled.`,
      );
    }
    endTransfer(this.#platform, row, 'cancelled');
    return toTransfer(row);
  }

  #getOpenTransfer(id: string, move: string): TransferRow {
    const row = this.#platform.transfers.get(id);
    if (statusMeanings[row.status] === 'open') return row;
    throw conflict(
      'invalid_transition',
      `The transfer "${id}" is ${row.status} and can no longer be ${move}.`,
    );
  }
}
