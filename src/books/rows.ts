import { formatAmount, parseAmount } from '../internal/amounts.ts';
import type { OnceInput, Transfer } from '../schemas/transfer.ts';

/** One of your payments, compared with the platform's Transfers. */
export interface ReconciledPayment {
  /** The `description` of your input. */
  readonly reference: string;
  /** The input object of this payment, as you passed it. */
  readonly input: OnceInput;
  /**
   * What happened to the payment. `completed`: the money arrived. `failed`: the Transfer failed or
   * was cancelled. `pending`: any other status. `ambiguous`: `candidates` may be the payment,
   * perhaps with other terms. `missing`: no Transfer matches.
   */
  readonly result: 'completed' | 'pending' | 'failed' | 'ambiguous' | 'missing';
  /** The Transfer that made the payment; absent while the SDK cannot be certain which one did. */
  readonly transfer?: Transfer | undefined;
  /** For an `ambiguous` payment: the Transfers that an operator has to compare. */
  readonly candidates?: readonly Transfer[] | undefined;
}

/** An outgoing Transfer that matches none of your inputs. */
export type UnexpectedTransfer = {
  /** Marks the row of a Transfer, of any status, that matches none of your inputs. */
  readonly result: 'unexpected';
  /** The Transfer that matches none of your inputs. */
  readonly transfer: Transfer;
  /** Always absent, because the Transfer belongs to none of your payments. */
  readonly reference?: undefined;
  /** Always absent, because the Transfer belongs to none of your payments. */
  readonly input?: undefined;
  /** Always absent, because only an `ambiguous` payment has candidates. */
  readonly candidates?: undefined;
};

/** One row of `transfers.reconcileAll`: a payment of yours, or an unexpected Transfer. */
export type ReconciledRow = ReconciledPayment | UnexpectedTransfer;

/** The number of rows with the same `result`, and the sums of their amounts. */
type ReconciledTotal = {
  /** How many rows have this result. */
  readonly count: number;
  /**
   * The exact sum of the rows' amounts in each currency, such as `{ USDC: '1250' }`. The sums of
   * `unexpected` leave out Transfers that failed or were cancelled, because their money stayed.
   */
  readonly amounts: Readonly<Record<string, string>>;
  /**
   * How many rows `amounts` leaves out, because the platform sent no readable amount or currency.
   * Negative amounts are left out, too, because they could be a debit or returned money.
   */
  readonly unreadable: number;
};

/** For each result that a row can have, the number of rows and the sums of their amounts. */
export type ReconciledTotals = Readonly<Record<ReconciledRow['result'], ReconciledTotal>>;

/** A row and a copy of its amount and currency, because the caller may change the input. */
export interface CountedRow<Row extends ReconciledRow = ReconciledRow> {
  readonly row: Row;
  /** Undefined if the amount of the row belongs in no sum. */
  readonly money: { readonly amount: unknown; readonly currency: unknown } | undefined;
}

/** The totals of a `reconcileAll` or `waitForAll` that still runs, with assignable fields. */
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

/**
 * Counts a row in the totals of its result, and adds its amount to the sum of its currency. If the
 * amount or the currency cannot be read, the row counts as `unreadable`.
 */
export function addRow(
  totals: Totals,
  result: ReconciledRow['result'],
  money: CountedRow['money'],
): void {
  const { count, amounts, unreadable } = totals[result];
  const units = parseAmount(money?.amount);
  // Without strict validation, the currency in the platform's response may be of any type.
  const key = typeof money?.currency === 'string' ? money.currency.toUpperCase() : '';
  const isReadable = units !== undefined && key !== '';
  totals[result] = {
    count: count + 1,
    amounts: isReadable
      ? { ...amounts, [key]: formatAmount((parseAmount(amounts[key]) ?? 0n) + units) }
      : amounts,
    unreadable: unreadable + (isReadable || money === undefined ? 0 : 1),
  };
}
