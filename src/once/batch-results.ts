import type { PaymentsError } from '../errors/errors.ts';
import type { Awaitable } from '../lists/pager.ts';
import type { OnceInput, TransferCreated, TransferId } from '../schemas/transfer.ts';

/** Result of a payment of a batch that was accepted. */
export interface PaidResult {
  /** The `description` that the input had when it was read. */
  readonly reference: string;
  /** The caller's own object. */
  readonly input: OnceInput;
  /**
   * `created` by this call, `found` in the platform's list, or already `recorded` in the journal. The
   * Transfer may still fail: see `waitForAll`.
   */
  readonly result: 'created' | 'found' | 'recorded';
  /** The accepted Transfer. */
  readonly transferId: TransferId;
  /** The Transfer; absent where only the journal was read. */
  readonly transfer?: TransferCreated | undefined;
  /** Absent: the payment was accepted. */
  readonly error?: undefined;
}

/** Result of a payment that a batch did not make, or not certainly. */
export interface UnpaidResult {
  /** The `description` that the input had when it was read; undefined if that was no string. */
  readonly reference: string | undefined;
  /** The caller's own object. */
  readonly input: OnceInput;
  /** `failed`: this call did not pay. `in_doubt`: `error.outcome` is `unknown`. */
  readonly result: 'failed' | 'in_doubt';
  /** The error of `createOnce`. */
  readonly error: PaymentsError;
  /** Absent: no Transfer is known. */
  readonly transferId?: undefined;
  /** Absent: no Transfer is known. */
  readonly transfer?: undefined;
}

/** Result of one payment of a batch. */
export type BatchResult = PaidResult | UnpaidResult;

/** Numbers of payments of a batch, at this moment. */
export interface BatchCounts {
  /** Accepted by the platform. */
  readonly paid: number;
  /** Not paid by this call. */
  readonly failed: number;
  /** Given up while their outcome was unknown. */
  readonly inDoubt: number;
  /** Waiting for another try. */
  readonly waiting: number;
  /** How many inputs there are; absent if they are not an array. */
  readonly total?: number | undefined;
  /** While nothing is left to do but to wait: when the next try is due, in milliseconds since 1970. */
  readonly retryAt?: number | undefined;
}

/** Result of awaiting a batch. */
export interface BatchSummary {
  /** How many payments ended how. */
  readonly counts: BatchCounts;
  /** The results that are not paid, in the order in which they were decided. */
  readonly unpaid: readonly UnpaidResult[];
}

/** Many payments, each made once: `for await` makes them one result at a time, `await` makes all. */
export interface Batch extends Awaitable<BatchSummary>, AsyncIterable<BatchResult> {
  /** Live, for progress and a summary. */
  readonly counts: BatchCounts;
}
