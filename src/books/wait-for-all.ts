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
  PaymentInDoubtError,
  type CallIdentity,
  type Issue,
  type PaymentsError,
} from '../errors/errors.ts';
import { cloneInput } from '../internal/objects.ts';
import { maxTimerMs, warn } from '../internal/runtime.ts';
import type { OnceInput } from '../schemas/transfer.ts';
import { FailedAccounts, requireOfOneAccount } from './failed-accounts.ts';
import { readInputsOfBooks, type BookedInputs } from './inputs.ts';
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
   * How long to wait for all payments, in milliseconds; `Infinity` waits until each has ended.
   * Payments that have not ended by then are reported as they are.
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
const dayMs = 86_400_000;
/** An account whose transfers cannot be read in this many rounds in a row is given up. */
const maxFailedRounds = 5;
/** The longest pause before the last round is repeated, if it failed for an account. */
const lastPauseMs = 1_000;
/** The shortest time between two readings of an account's whole list because of a failed transfer. */
const scanIntervalMs = 1_800_000;
/** How many page sizes the rounds of reads use in turn, because a cache rarely has such pages. */
const pageSizeCount = 20;

/** Reads the caller's payments in rounds until each has ended or the time is over. */
export const waitForAll = (
  context: FollowContext,
  inputs: Inputs<OnceInput>,
  options: WaitForAllOptions | undefined,
): ReconciledBooks<ReconciledPayment> =>
  createReconciledBooks(context, waitForAllCall, inputs, waitForAll, async function* (readInputs) {
    const issues: Issue[] = [];
    const checked = checkOptions(waitForAllOptionChecks, cloneInput(options), issues);
    const { timeout = dayMs, interval = 30_000, ...paging } = checked;
    const { sources, references } = await readInputsOfBooks(inputs, readInputs, issues);
    if (issues.length > 0) throw invalidArguments(waitForAllCall, issues, context.redact);
    const books = { ...context, paging, references, unexpected: false };
    yield* new Following(books, sources, { timeout, interval }).rows();
  });

/** The payments of one source account that have not ended yet. */
interface FollowedAccount {
  readonly source: string;
  payments: readonly BookedPayment[];
  /** How many pages of the list an earlier round read to find all payments. */
  pages: number;
  /** When a reading of the whole list last began, by the client's clock. */
  scannedAt: number;
  /** How many rounds in a row have failed. */
  failedRounds: number;
}

/** One run of `waitForAll`. */
class Following {
  readonly #books: Books & FollowContext;
  readonly #accounts: Set<FollowedAccount>;
  readonly #failures: FailedAccounts;
  readonly #times: { readonly timeout: number; readonly interval: number };
  #rounds = 0;

  constructor(
    books: Books & FollowContext,
    sources: BookedInputs['sources'],
    times: { readonly timeout: number; readonly interval: number },
  ) {
    const start = { pages: 0, scannedAt: Number.NEGATIVE_INFINITY, failedRounds: 0 };
    this.#books = books;
    this.#accounts = new Set(
      Array.from(sources, ([source, payments]) => ({ source, payments, ...start })),
    );
    this.#failures = new FailedAccounts(books, waitForAllCall);
    this.#times = times;
  }

  /** Yields the row of each payment once, when the payment has ended or the time is over. */
  async *rows(): AsyncGenerator<BookedRow, void, undefined> {
    const { clock } = this.#books;
    const { timeout, interval } = this.#times;
    const startedAt = clock.elapsed();
    let pause = interval;
    let isTold = false;
    for (;;) {
      // Only the last round, after the time is over, also reports the payments that are still open.
      const isLast = clock.elapsed() - startedAt >= timeout;
      const open: BookedRow[] = [];
      this.#rounds += 1;
      for (const account of this.#accounts) {
        for await (const counted of this.#readAccount(account, isLast)) {
          if (counted.isFinal || isLast) yield counted;
          else open.push(counted);
        }
      }
      if (this.#accounts.size === 0) {
        this.#failures.throwIfAny();
        return;
      }
      if (!isTold && clock.elapsed() - startedAt >= dayMs) isTold = this.#tellMissing(open);
      const stillLeft = Math.max(0, startedAt + timeout - clock.elapsed());
      await this.#sleep(isLast ? Math.min(interval, lastPauseMs) : Math.min(pause, stillLeft));
      pause = Math.max(interval, Math.min(pause * 1.5, maxIntervalMs));
    }
  }

  /**
   * Yields a row for each payment of an account. Removes the account if nothing of it is left to
   * follow, or if reading it fails for good.
   */
  async *#readAccount(
    account: FollowedAccount,
    isLast: boolean,
  ): AsyncGenerator<BookedRow, void, undefined> {
    try {
      yield* this.#readPayments(account, isLast);
      account.failedRounds = 0;
      if (isLast || account.payments.length === 0) this.#accounts.delete(account);
    } catch (thrown) {
      const error = requireOfOneAccount(thrown);
      account.failedRounds += 1;
      if (account.failedRounds < maxFailedRounds && !isRefused(error)) return;
      // The journal would also fail for the other accounts.
      if (error instanceof PaymentInDoubtError) throw error;
      this.#accounts.delete(account);
      this.#failures.add(account.source, error);
    }
  }

  async *#readPayments(
    account: FollowedAccount,
    isLast: boolean,
  ): AsyncGenerator<BookedRow, void, undefined> {
    const { source, payments } = account;
    const now = this.#books.clock.elapsed();
    const pageSize = 100 - (this.#rounds % pageSizeCount);
    const books = { ...this.#books, pageSize, confirms: isLast };
    const round = new SourceBooks(books, source, payments);
    const open = new Set(payments);
    // Reading by id takes one request for each transfer, so 0 pages is cheaper if the list takes more requests.
    const maxPages = account.pages > open.size ? 0 : open.size;
    const mayScan = isLast || now - account.scannedAt >= scanIntervalMs;
    try {
      for await (const counted of round.fewRequests(maxPages, mayScan)) {
        const { row, payment } = counted;
        if (counted.isFinal || isLast) open.delete(payment);
        if (row.transfer !== undefined) {
          payment.record = { ...payment.record, transferId: row.transfer.id };
        }
        yield counted;
      }
    } finally {
      account.pages = round.pagesForAll ?? account.pages;
      if (round.hasScanned) account.scannedAt = now;
      // The transfers that this round has read will be out of date in the next round.
      for (const payment of open) {
        payment.exact.clear();
        payment.similar.clear();
      }
      account.payments = [...open];
    }
  }

  /**
   * Warns about payments whose end may never be seen, because the list does not clearly show them.
   * Returns whether there are any.
   */
  #tellMissing(open: readonly BookedRow[]): boolean {
    const isUnclear = ({ row: { result } }: BookedRow): boolean =>
      result === 'missing' || result === 'ambiguous';
    const unclear = open.filter(isUnclear);
    const reference = this.#books.redact(unclear[0]?.row.reference ?? '');
    if (unclear.length > 0) {
      warn(
        `payments-platform-sdk: waitForAll has waited for a day, since ${this.#failures.startedAt}, and ${unclear.length} of its payments, such as "${reference}", are missing or ambiguous in the list of transfers. It goes on; reconcileAll shows them.`,
      );
    }
    return unclear.length > 0;
  }

  /** Sleeps between two rounds. Throws an AbortError if the caller's signal aborts the sleep. */
  async #sleep(ms: number): Promise<void> {
    const { clock, paging, transferSearch } = this.#books;
    const { signal } = paging;
    // The deadline is there for the signal, so its own time is the longest possible.
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

/** Whether the platform's own error, not a proxy's, says that the account is forbidden or unknown. */
const isRefused = (error: PaymentsError): boolean =>
  error instanceof ApiError &&
  (error.status === 403 || error.status === 404) &&
  error.code !== undefined;
