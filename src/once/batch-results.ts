import type { PaymentsError } from '../errors/errors.ts';
import type { Awaitable } from '../lists/pager.ts';
import type { OnceInput, TransferCreated, TransferId } from '../schemas/transfer.ts';

/** Result of a payment in a batch that the platform accepted. */
export interface PaidResult {
  /** The `description` that the input had when it was read. */
  readonly reference: string;
  /** The input object that you passed. */
  readonly input: OnceInput;
  /**
   * `created` by this call, `found` in the platform's list, or already `recorded` in the journal.
   * The Transfer may still fail, so follow it with `waitForAll`.
   */
  readonly result: 'created' | 'found' | 'recorded';
  /** Id of the accepted Transfer. */
  readonly transferId: TransferId;
  /** The Transfer; absent if the batch read only the journal. */
  readonly transfer?: TransferCreated | undefined;
  /** Absent, because the payment was accepted. */
  readonly error?: undefined;
}

/** Result of a payment that was not made, or whose outcome is unknown. */
export interface UnpaidResult {
  /** The `description` that the input had when it was read; undefined if that was no string. */
  readonly reference: string | undefined;
  /** The input object that you passed. */
  readonly input: OnceInput;
  /** `failed`: this call did not pay. `in_doubt`: `error.outcome` is `unknown`. */
  readonly result: 'failed' | 'in_doubt';
  /** The error of this payment, as `createOnce` throws it. */
  readonly error: PaymentsError;
  /** Absent: no Transfer is known. */
  readonly transferId?: undefined;
  /** Absent: no Transfer is known. */
  readonly transfer?: undefined;
}

/** Result of one payment of a batch. */
export type BatchResult = PaidResult | UnpaidResult;

/** How many payments of a batch are in each state at this moment. */
export interface BatchCounts {
  /** Accepted by the platform. */
  readonly paid: number;
  /** Not paid by this call. */
  readonly failed: number;
  /** The batch gave up on these payments, and their outcome is unknown. */
  readonly inDoubt: number;
  /** Waiting for another try. */
  readonly waiting: number;
  /** Number of inputs; absent if you did not pass an array. */
  readonly total?: number | undefined;
  /** When the next try is due, in milliseconds since 1970; set only while nothing else is to do. */
  readonly retryAt?: number | undefined;
}

/** Result of awaiting a batch. */
export interface BatchSummary {
  /** How many payments ended with each result. */
  readonly counts: BatchCounts;
  /** The results `failed` and `in_doubt`, in the order in which the payments ended. */
  readonly unpaid: readonly UnpaidResult[];
}

/** Many payments, each made once. `for await` gives you each result, `await` a summary of all. */
export interface Batch extends Awaitable<BatchSummary>, AsyncIterable<BatchResult> {
  /** The current counts. They change while the batch runs, so you can show its progress. */
  readonly counts: BatchCounts;
}
