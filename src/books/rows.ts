import { formatAmount, parseAmount } from '../internal/amounts.ts';
import type { OnceInput, Transfer } from '../schemas/transfer.ts';

/** A payment of your books, compared with the platform. */
export interface ReconciledPayment {
  /** The `description` of the input. */
  readonly reference: string;
  /** The input object that you passed. */
  readonly input: OnceInput;
  /**
   * `completed`: the money arrived. `failed`: the Transfer failed or was cancelled. `pending`: any
   * other status. `ambiguous`: `candidates` may be the payment, perhaps with other terms.
   * `missing`: no Transfer matches.
   */
  readonly result: 'completed' | 'pending' | 'failed' | 'ambiguous' | 'missing';
  /** The Transfer of the payment; absent while that is not certain. */
  readonly transfer?: Transfer | undefined;
  /** For an `ambiguous` payment: the Transfers that an operator has to compare. */
  readonly candidates?: readonly Transfer[] | undefined;
}

/** A Transfer that belongs to no input. */
export interface UnexpectedTransfer {
  /** An outgoing Transfer of any status that belongs to no input. */
  readonly result: 'unexpected';
  /** The Transfer. */
  readonly transfer: Transfer;
  /** Absent: there is no payment. */
  readonly reference?: undefined;
  /** Absent: there is no payment. */
  readonly input?: undefined;
  /** Absent: the Transfer is certain. */
  readonly candidates?: undefined;
}

/** One row of `transfers.reconcileAll`. */
export type ReconciledRow = ReconciledPayment | UnexpectedTransfer;

/** Number and sums of the rows with one result. */
export interface ReconciledTotal {
  /** How many rows. */
  readonly count: number;
  /** The exact sum of their amounts for each currency: `{ USDC: '1250' }`. */
  readonly amounts: Readonly<Record<string, string>>;
  /**
   * How many rows are not in the sums, because the platform sent no readable amount or currency. A
   * negative amount is one of them, because it could be a debit or money that came back.
   */
  readonly unreadable: number;
}

/** A total for each result. */
export type ReconciledTotals = Readonly<Record<ReconciledRow['result'], ReconciledTotal>>;

/** A row, and its money for the totals, because the caller may have changed the input since. */
export interface CountedRow<Row extends ReconciledRow = ReconciledRow> {
  readonly row: Row;
  readonly money: { readonly amount: unknown; readonly currency: unknown };
}

/** Totals to which rows are still added. */
export type Totals = { -readonly [Result in keyof ReconciledTotals]: ReconciledTotal };

export const createTotals = (): Totals => {
  const none = { count: 0, amounts: {}, unreadable: 0 };
  return {
    completed: none,
    pending: none,
    failed: none,
    ambiguous: none,
    missing: none,
    unexpected: none,
  };
};

export function addRow(
  totals: Totals,
  result: ReconciledRow['result'],
  { amount, currency }: CountedRow['money'],
): void {
  const { count, amounts, unreadable } = totals[result];
  const units = parseAmount(amount);
  // The platform may send anything.
  const key = typeof currency === 'string' ? currency.toUpperCase() : '';
  const isReadable = units !== undefined && key !== '';
  totals[result] = {
    count: count + 1,
    amounts: isReadable
      ? { ...amounts, [key]: formatAmount((parseAmount(amounts[key]) ?? 0n) + units) }
      : amounts,
    unreadable: unreadable + (isReadable ? 0 : 1),
  };
}
