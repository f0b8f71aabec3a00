import type { PaymentsError } from '../errors/errors.ts';
import type { Awaitable } from '../lists/pager.ts';
import type { OnceInput, TransferCreated, TransferId } from '../schemas/transfer.ts';

/** In a batch, the result of a payment that the platform accepted. */
export interface PaidResult {
  /** The `description` that your input had when the batch read the input. */
  readonly reference: string;
  /** The input object of this payment, as you passed it. */
  readonly input: OnceInput;
  /**
   * How the payment was made. `created`: by this call. `found`: the platform's list had it.
   * `recorded`: by an earlier call, as the journal says. The Transfer may still fail, so follow it
   * with `waitForAll`.
   */
  readonly result: 'created' | 'found' | 'recorded';
  /** Id of the accepted Transfer. */
  readonly transferId: TransferId;
  /** The accepted Transfer; absent if the batch read only the journal. */
  readonly transfer?: TransferCreated | undefined;
  /** Always absent, because the platform accepted the payment. */
  readonly error?: undefined;
}

/** In a batch, the result of a payment that was not made, or whose outcome is unknown. */
export interface UnpaidResult {
  /** The `description` that your input had when the batch read it; undefined if not a string. */
  readonly reference: string | undefined;
  /** The input object of this payment, as you passed it. */
  readonly input: OnceInput;
  /** `failed`: this call did not pay. `in_doubt`: `error.outcome` is `unknown`. */
  readonly result: 'failed' | 'in_doubt';
  /** The error that `createOnce` would throw for this payment. */
  readonly error: PaymentsError;
  /** Always absent, because no Transfer is known for this payment. */
  readonly transferId?: undefined;
  /** Always absent, because no Transfer is known for this payment. */
  readonly transfer?: undefined;
}

/** Result of one payment of a batch. */
export type BatchResult = PaidResult | UnpaidResult;

/** How many payments of a batch are in each state at this moment. */
export interface BatchCounts {
  /** Payments that the platform accepted. */
  readonly paid: number;
  /** Payments that this call certainly did not make. */
  readonly failed: number;
  /** Payments that the batch gave up on, although their outcome is unknown. */
  readonly inDoubt: number;
  /** Payments that wait for another try. */
  readonly waiting: number;
  /** Number of inputs in your array; absent if you passed another iterable. */
  readonly total?: number | undefined;
  /** When the next retry is due, in milliseconds since 1970; set only if nothing else is to do. */
  readonly retryAt?: number | undefined;
}

/** What you get when you await a batch of `createAllOnce`. */
export interface BatchSummary {
  /** How many payments ended with each result. */
  readonly counts: BatchCounts;
  /** The results of payments that are `failed` or `in_doubt`, in the order in which they ended. */
  readonly unpaid: readonly UnpaidResult[];
}

/** A batch of payments, each made once. `for await` gives you each result, `await` a summary. */
export interface Batch extends Awaitable<BatchSummary>, AsyncIterable<BatchResult> {
  /** The counts so far. The counts change while the batch runs, so you can show its progress. */
  readonly counts: BatchCounts;
}
