import { invalidArguments } from '../calls/arguments.ts';
import type { Inputs } from '../calls/inputs.ts';
import {
  callOptionChecks,
  checkOptions,
  milliseconds,
  millisecondsOrInfinity,
  type OptionChecks,
  type RequestOptions,
} from '../calls/options.ts';
import { Deadline, Stopped, type Clock } from '../calls/time.ts';
import {
  AbortError,
  ApiError,
  PaymentsError,
  type CallIdentity,
  type Issue,
} from '../errors/errors.ts';
import { cloneInput } from '../internal/objects.ts';
import { maxTimerMs } from '../internal/runtime.ts';
import type { OnceInput } from '../schemas/transfer.ts';
import { readInputsOfBooks } from './inputs.ts';
import { createReconciledBooks, type ReconciledBooks } from './reconciled-books.ts';
import type { ReconciledPayment } from './rows.ts';
import {
  SourceBooks,
  type BookedPayment,
  type BookedRow,
  type Books,
  type BooksContext,
} from './source-books.ts';

/** Options of `transfers.waitForAll`. */
export interface WaitForAllOptions extends Omit<RequestOptions, 'timeout'> {
  /**
   * How long to wait for all payments, in milliseconds. Payments that have not ended by then are
   * reported as they are. `Infinity` waits until each payment has ended.
   * @default 86400000
   */
  timeout?: number | undefined;
  /** Milliseconds between the first two rounds of reads; grows to 5 minutes. @default 30000 */
  interval?: number | undefined;
}

interface FollowContext extends BooksContext {
  readonly clock: Required<Clock>;
}

export const waitForAllCall: CallIdentity = {
  operation: 'transfers.waitForAll',
  method: 'GET',
  path: '/transfers',
};

const waitForAllOptionChecks = (): OptionChecks<WaitForAllOptions> => ({
  ...callOptionChecks(),
  timeout: millisecondsOrInfinity,
  interval: milliseconds,
});

const maxIntervalMs = 300_000;
/** If this many rounds of reads fail in a row, waitForAll throws the last error. */
const maxFailedRounds = 5;
/** How many page sizes the rounds of reads use in turn, because a cache rarely has such pages. */
const pageSizeCount = 20;

/** Reads the caller's payments in rounds until each has ended or the time is over. */
export const waitForAll = (
  context: FollowContext,
  inputs: Inputs<OnceInput>,
  options: WaitForAllOptions | undefined,
): ReconciledBooks<ReconciledPayment> =>
  createReconciledBooks(context, waitForAllCall, inputs, async function* (readInputs) {
    const issues: Issue[] = [];
    const checked = checkOptions(waitForAllOptionChecks, cloneInput(options), issues);
    const { timeout = 86_400_000, interval = 30_000, ...paging } = checked;
    const { sources, references } = await readInputsOfBooks(inputs, readInputs, issues);
    if (issues.length > 0) throw invalidArguments(waitForAllCall, issues, context.redact);
    const books = { ...context, paging, references, unexpected: false };
    yield* new Following(books, sources, { timeout, interval }).rows();
  });

/** One run of `waitForAll`, with the payments of each source account that have not ended yet. */
class Following {
  readonly #books: Books & FollowContext;
  readonly #sources: Map<string, BookedPayment[]>;
  readonly #times: { readonly timeout: number; readonly interval: number };
  /** For each account, how many pages of its list an earlier round read to find all payments. */
  readonly #pagesOf = new Map<string, number>();
  #rounds = 0;

  constructor(
    books: Books & FollowContext,
    sources: Map<string, BookedPayment[]>,
    times: { readonly timeout: number; readonly interval: number },
  ) {
    this.#books = books;
    this.#sources = sources;
    this.#times = times;
  }

  /** Yields the row of each payment once, when the payment has ended or the time is over. */
  async *rows(): AsyncGenerator<BookedRow, void, undefined> {
    const { clock } = this.#books;
    const { timeout, interval } = this.#times;
    const endsAt = clock.elapsed() + timeout;
    let pause = interval;
    let failedRounds = 0;
    for (;;) {
      // Only the last round, after the time is over, also reports the payments that are still open.
      const isLast = clock.elapsed() >= endsAt;
      const openRows: BookedRow[] = [];
      const failure = yield* this.#readRound(isLast ? openRows : undefined);
      failedRounds = failure === undefined ? 0 : failedRounds + 1;
      if (failedRounds === maxFailedRounds) throw failure;
      // A failed round of reads proves nothing about open payments, so another round follows.
      if (this.#sources.size === 0 || (isLast && failure === undefined)) {
        yield* openRows;
        return;
      }
      const timeLeft = endsAt - clock.elapsed();
      await this.#sleep(timeLeft > 0 ? Math.min(pause, timeLeft) : pause);
      pause = Math.max(interval, Math.min(pause * 1.5, maxIntervalMs));
    }
  }

  /**
   * Reads each account's list once. Yields the payments that have ended, and adds the open payments
   * to `openRows`. Returns the first temporary error, and throws any other.
   */
  async *#readRound(
    openRows: BookedRow[] | undefined,
  ): AsyncGenerator<BookedRow, unknown, undefined> {
    this.#rounds += 1;
    let failure: unknown;
    for (const [source, payments] of this.#sources) {
      try {
        for await (const counted of this.#readSource(source, payments, openRows !== undefined)) {
          if (hasEnded(counted)) yield counted;
          else openRows?.push(counted);
        }
      } catch (error) {
        if (!isTemporary(error)) throw error;
        failure ??= error;
      }
    }
    return failure;
  }

  /** Yields a row for each of one account's payments. The next round reads open payments again. */
  async *#readSource(
    source: string,
    payments: readonly BookedPayment[],
    confirms: boolean,
  ): AsyncGenerator<BookedRow, void, undefined> {
    const pageSize = 100 - (this.#rounds % pageSizeCount);
    const round = new SourceBooks({ ...this.#books, pageSize, confirms }, source, payments);
    const open = new Set(payments);
    // Reading the transfers by id takes one request each. `fewRequests` does that for 0 pages.
    const isScanDearer = (this.#pagesOf.get(source) ?? 0) > open.size;
    try {
      for await (const counted of round.fewRequests(isScanDearer ? 0 : open.size)) {
        const { row, payment } = counted;
        if (hasEnded(counted)) open.delete(payment);
        if (row.transfer !== undefined) {
          payment.record = { ...payment.record, transferId: row.transfer.id };
        }
        yield counted;
      }
    } finally {
      if (round.pagesForAll !== undefined) this.#pagesOf.set(source, round.pagesForAll);
      // The transfers that this round has read will be out of date in the next round.
      for (const payment of open) {
        payment.exact.clear();
        payment.similar.clear();
      }
      if (open.size === 0) this.#sources.delete(source);
      else this.#sources.set(source, [...open]);
    }
  }

  /** Sleeps between two rounds. Throws an AbortError if the caller's signal aborts the sleep. */
  async #sleep(ms: number): Promise<void> {
    const { clock, paging, transferSearch } = this.#books;
    const { signal } = paging;
    // This deadline never ends by its time, but only with the signal.
    const deadline = new Deadline(clock, maxTimerMs, 'total', { signals: [signal] });
    try {
      await deadline.sleep(ms);
    } catch (error) {
      if (!(error instanceof Stopped) || error.why.by !== 'caller') throw error;
      const startedAt = new Date(transferSearch.now()).toISOString();
      const message = 'Following the payments was aborted by its signal.';
      const cause = error.why.reason;
      throw new AbortError(message, { ...waitForAllCall, outcome: 'unknown', startedAt, cause });
    } finally {
      deadline.close();
    }
  }
}

const hasEnded = ({ row: { result } }: BookedRow): boolean =>
  result === 'completed' || result === 'failed';

/** Whether another round of reads may succeed. A 401 ends waitForAll, as it ends a batch. */
const isTemporary = (error: unknown): boolean =>
  error instanceof PaymentsError &&
  !(error instanceof AbortError) &&
  !(error instanceof ApiError && error.status === 401);
