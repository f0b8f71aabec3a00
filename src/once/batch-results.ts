import type { PaymentsError } from '../errors/errors.ts';
import type { Awaitable } from '../lists/pager.ts';
import type { OnceInput, TransferCreated } from '../schemas/transfer.ts';

/** Result of a payment in a batch, if the platform has the payment's transfer. */
export type TransferredResult<Result = 'created' | 'found' | 'recorded' | 'failed'> = {
  /** The `description` that your input had when the batch read the input. */
  readonly reference: string;
  /** The input object of this payment, as you passed it. */
  readonly input: OnceInput;
  /**
   * `created`: made by this call. `found`: in the platform's list. `recorded`: made by an earlier
   * call, as the journal says. `failed`: the Transfer ended as failed or cancelled, so pay again
   * under a new reference. The other Transfers may still fail, so follow them with `waitForAll`.
   */
  readonly result: Result;
  /** Id of the Transfer. */
  readonly transferId: string;
  /** The Transfer; absent if the batch read only the journal. */
  readonly transfer?: TransferCreated | undefined;
  /** Always absent, because the platform accepted the payment. */
  readonly error?: undefined;
};

/** Result of a payment in a batch that was not made, or whose outcome is unknown. */
type UntransferredResult<Result> = {
  /** The `description` that your input had when the batch read it; undefined if not a string. */
  readonly reference: string | undefined;
  /** The input object of this payment, as you passed it. */
  readonly input: OnceInput;
  /** `not_paid`: no Transfer was made. `in_doubt`: nobody knows yet, and `error` says what to do. */
  readonly result: Result;
  /** The error that `createOnce` would throw for this payment. */
  readonly error: PaymentsError;
  /** Always absent, because no Transfer is known for this payment. */
  readonly transferId?: undefined;
  /** Always absent, because no Transfer is known for this payment. */
  readonly transfer?: undefined;
};

// A union with one member per result, because TypeScript narrows in `else` only if each member has one result.
/** Result of one payment of a batch. Compare `result` by `===` to narrow the type. */
export type BatchResult =
  | TransferredResult<'created'>
  | TransferredResult<'found'>
  | TransferredResult<'recorded'>
  | TransferredResult<'failed'>
  | UntransferredResult<'not_paid'>
  | UntransferredResult<'in_doubt'>;

/** How many payments of a batch are in each state at this moment. */
export interface BatchCounts {
  /** Payments that this batch made. */
  readonly created: number;
  /** Payments that the platform's list showed. */
  readonly found: number;
  /** Payments that an earlier call made, as the journal says. */
  readonly recorded: number;
  /** The sum of `created`, `found` and `recorded`. */
  readonly paid: number;
  /** Payments whose Transfer ended as failed or cancelled. */
  readonly failed: number;
  /** Payments for which no Transfer was made. */
  readonly notPaid: number;
  /** Payments that the batch stopped trying, although their outcome is unknown. */
  readonly inDoubt: number;
  /** Payments that wait for another try. */
  readonly waiting: number;
  /** Number of inputs in your array; absent if you passed another iterable. */
  readonly total?: number | undefined;
  /**
   * When the next retry is due, in milliseconds since 1970, if the batch can only wait. If the
   * batch gave up, when to run it again.
   */
  readonly retryAt?: number | undefined;
}

/** What you get when you await a batch of `createAllOnce`. */
export interface BatchSummary {
  /** How many payments ended with each result. */
  readonly counts: BatchCounts;
  /** The results that are `failed`, `not_paid` or `in_doubt`, in the order in which they ended. */
  readonly unpaid: readonly BatchResult[];
}

/** A batch of payments, each made once. `for await` gives you each result, `await` a summary. */
export interface Batch extends Awaitable<BatchSummary>, AsyncIterable<BatchResult> {
  /** The counts so far, updated while the batch runs. */
  readonly counts: BatchCounts;
}
