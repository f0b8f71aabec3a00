import type { Inputs, ReadInput } from '../calls/inputs.ts';
import type { Clock } from '../calls/time.ts';
import { AbortError, decorate, PaymentsError, PaymentInDoubtError } from '../errors/errors.ts';
import { isReference, journalKey } from '../internal/formats.ts';
import type { OnceInput } from '../schemas/transfer.ts';
import {
  findApiError,
  type BatchPayments,
  type CredentialState,
  type EndedPayment,
} from './batch-payments.ts';
import type { BatchCounts, BatchResult } from './batch-results.ts';
import { describeFailure } from './create-once.ts';

interface Job {
  readonly reference: string | undefined;
  /** The journal's key of the reference. */
  readonly key: string | undefined;
  readonly input: OnceInput;
  /** A copy of `input`, because the caller may change the object before the batch pays it. */
  readonly copy: OnceInput;
  /** Later inputs with the same reference. They wait until this payment has ended. */
  readonly followers: Job[];
  /** The error of the latest try. */
  error: PaymentsError | undefined;
  tries: number;
  firstTriedAt: number;
  dueAt: number;
}

interface BatchSetup {
  readonly inputs: Inputs<ReadInput<OnceInput>>;
  readonly concurrency: number;
  /** How many inputs to read ahead, so that their payments share a search of the list. */
  readonly readAhead: number;
  readonly retryTimeout: number;
  readonly signal: AbortSignal | undefined;
  readonly clock: Required<Clock>;
}

const firstRetryMs = 1_000;
const maxRetryMs = 60_000;
/** Payments in doubt are retried on a grid of at most this many milliseconds, so that several share a search. */
const retryGridMs = 5_000;
/** If this many payments wait in `#inDoubt`, no new payment starts, because the platform has a problem. */
const maxWaiting = 1_000;
/** How many results of unpaid payments are kept for later inputs with the same references. */
const maxUnpaid = 1_000;

/** The counts of a batch that is still running, with fields that can be assigned. */
export type LiveCounts = { -readonly [Name in keyof BatchCounts]: BatchCounts[Name] };

/** For each result, the field of BatchCounts that counts it. */
const countNames = {
  created: 'created',
  found: 'found',
  recorded: 'recorded',
  failed: 'failed',
  not_paid: 'notPaid',
  in_doubt: 'inDoubt',
} as const;

/** Whether the platform has accepted the payment, and no read has shown that its transfer failed. */
export const isPaid = ({ result, error }: BatchResult): boolean =>
  error === undefined && result !== 'failed';

/** One loop over a batch. Makes several payments at a time, and queues results for the caller. */
export class BatchRun {
  readonly #setup: BatchSetup;
  readonly #payments: BatchPayments;
  readonly #counts: LiveCounts;
  /**
   * By the journal's key of a reference: the first job while it runs, then whether its payment was
   * made. `#unpaid` keeps the latest unpaid results for later inputs with the same reference.
   */
  readonly #firsts = new Map<string, Job | boolean>();
  readonly #unpaid = new Map<string, EndedPayment>();
  readonly #results: BatchResult[] = [];
  readonly #unstarted: Job[] = [];
  /**
   * Payments in doubt that wait for their next try, and inputs that wait for an earlier input with
   * their reference.
   */
  readonly #inDoubt = new Set<Job>();
  /** Payments that wait for their next try and still count towards `concurrency`. */
  readonly #sleeping = new Set<Job>();
  /** Functions that each end a wait in this batch. `#notify` calls all of them after a change. */
  readonly #listeners = new Set<() => void>();
  #running = 0;
  #isRead = false;
  /** Whether the caller's loop has ended, perhaps by a `break`. */
  #hasLeft = false;
  #failure: { readonly error: unknown } | undefined;
  /** When a payment was last decided, by the monotonic clock. */
  #decidedAt = Number.NEGATIVE_INFINITY;
  /** If the batch has given up: when to run it again, in milliseconds since 1970. */
  #gaveUpUntil: number | undefined;
  #hasReportedFailure = false;

  constructor(setup: BatchSetup, payments: BatchPayments, counts: LiveCounts) {
    this.#setup = setup;
    this.#payments = payments;
    this.#counts = counts;
  }

  /**
   * Makes the payments, and yields each result when it is known. If an error ends the whole batch,
   * throws that error after the results so far.
   */
  async *results(): AsyncGenerator<BatchResult, void, undefined> {
    const { signal, concurrency, clock } = this.#setup;
    const onAbort = (): void => {
      this.#fail(this.#payments.abortError(signal?.reason));
      this.#payments.stopSearches();
    };
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener('abort', onAbort);
    const stopReading = this.#startReading();
    const lanes = Array.from({ length: concurrency }, () => this.#runLane());
    try {
      for (;;) {
        const result = this.#results.shift();
        if (result !== undefined) {
          // A result that the caller takes makes room for another payment.
          this.#notify();
          const takenAt = clock.elapsed();
          yield result;
          // The time that the caller's loop took does not count as time without a decided payment.
          this.#decidedAt += clock.elapsed() - takenAt;
        } else if (this.#isDone()) {
          break;
        } else {
          await this.#waitForChange();
        }
      }
      if (this.#failure !== undefined) throw this.#failure.error;
    } finally {
      this.#hasLeft = true;
      this.#payments.stopSearches();
      this.#notify();
      await Promise.all(lanes);
      this.#payments.warnOfOldPayments();
      signal?.removeEventListener('abort', onAbort);
      await stopReading();
    }
  }

  /**
   * Starts to read the caller's inputs, and pauses while `readAhead` of them wait for their first
   * try. Returns a function that closes the caller's iterator at the end of the batch.
   */
  #startReading(): () => Promise<void> {
    const { inputs, readAhead } = this.#setup;
    let iterator: Iterator<ReadInput<OnceInput>> | AsyncIterator<ReadInput<OnceInput>> | undefined;
    /** False after the iterator has ended or thrown, because it then needs no closing. */
    let hasMore = true;
    /** Whether a call of the iterator's `next` is pending. */
    let isReading = false;
    const readInputs = async (): Promise<void> => {
      const isAsync = Symbol.asyncIterator in inputs;
      iterator = isAsync ? inputs[Symbol.asyncIterator]() : inputs[Symbol.iterator]();
      while (!this.#hasStopped() && !this.#isRead) {
        if (this.#unstarted.length >= readAhead) {
          await this.#waitForChange();
          continue;
        }
        isReading = true;
        const next = iterator.next();
        // A synchronous iterator is not awaited, so that the first search of the list covers up to
        // `readAhead` inputs.
        const step = (isAsync ? await next : next) as IteratorResult<
          ReadInput<OnceInput>,
          undefined
        >;
        isReading = false;
        hasMore = step.done !== true;
        if (step.done === true) return;
        this.#addJob(step.value);
      }
    };
    readInputs().then(
      () => this.#endReading(),
      (error: unknown) => {
        hasMore = false;
        this.#fail(error);
        this.#endReading();
      },
    );
    return async () => {
      if (!hasMore) return;
      const closing = iterator?.return?.();
      // While `next` is pending, an async generator does not close, so the batch does not wait for it.
      if (isReading) Promise.resolve(closing).catch(() => undefined);
      else await closing;
    };
  }

  /** Queues the payment of an input, even if an earlier input has the same reference. */
  #addJob({ input, copy }: ReadInput<OnceInput>): void {
    const description: unknown = (copy as Partial<OnceInput> | undefined)?.description;
    const reference = typeof description === 'string' ? description : undefined;
    const key = isReference(reference) ? journalKey(reference) : undefined;
    const times = { tries: 0, firstTriedAt: 0, dueAt: 0 };
    const job = { reference, key, input, copy, followers: [], error: undefined, ...times };
    if (key !== undefined && !this.#firsts.has(key)) {
      this.#firsts.set(key, job);
      this.#payments.announce(copy);
    }
    this.#unstarted.push(job);
    this.#notify();
  }

  #endReading(): void {
    this.#isRead = true;
    this.#notify();
  }

  async #runLane(): Promise<void> {
    while (!this.#isDone()) {
      const job = this.#takeJob();
      if (job === undefined) await this.#waitForChange(this.#nextDueMs());
      else await this.#runJob(job);
    }
  }

  /** Takes a payment in doubt whose next try is due, or else a payment that was not tried yet. */
  #takeJob(): Job | undefined {
    if (!this.#canStart()) return undefined;
    const now = this.#setup.clock.elapsed();
    for (const job of this.#inDoubt) {
      if (job.dueAt > now && (this.#gaveUpUntil === undefined || job.error === undefined)) continue;
      this.#inDoubt.delete(job);
      this.#counts.waiting -= 1;
      return job;
    }
    if (this.#inDoubt.size >= maxWaiting) return undefined;
    const job = this.#unstarted.shift();
    if (job !== undefined) job.firstTriedAt = now;
    return job;
  }

  /**
   * Tries a payment until it has a result or is in doubt. A payment in doubt waits in `#inDoubt`
   * for its next try.
   */
  async #runJob(job: Job): Promise<void> {
    const { clock } = this.#setup;
    const { input } = job;
    this.#running += 1;
    this.#notify();
    try {
      if (this.#repeatFirst(job)) return;
      while (!this.#hasStopped()) {
        if (this.#gaveUpUntil !== undefined && job.error !== undefined) {
          this.#finishUnpaid(job, job.error);
          return;
        }
        job.tries += 1;
        const triedAt = clock.elapsed();
        try {
          this.#finish(job, { input, ...(await this.#payments.pay(job.copy)) });
          return;
        } catch (error) {
          const delayMs = this.#handleError(
            job,
            error,
            await this.#checkCredential(error, triedAt),
          );
          if (delayMs === undefined) return;
          this.#counts.waiting += 1;
          if (error instanceof PaymentInDoubtError) {
            // The next try is at a multiple of gridMs. Until then this lane makes other payments.
            const gridMs = Math.max(1, Math.min(delayMs, retryGridMs));
            job.dueAt = Math.ceil((clock.elapsed() + delayMs) / gridMs) * gridMs;
            this.#inDoubt.add(job);
            return;
          }
          // A waiting payment counts towards `concurrency`, so that the whole batch slows down.
          job.dueAt = clock.elapsed() + delayMs;
          this.#sleeping.add(job);
          this.#notify();
          await this.#sleepUntil(job.dueAt);
          this.#sleeping.delete(job);
          this.#counts.waiting -= 1;
        }
      }
    } finally {
      this.#running -= 1;
      this.#notify();
    }
  }

  /**
   * Handles an input with the reference of an earlier input: waits while that payment is open, or
   * repeats its result if it was not paid. Returns false if the payment of this input may start.
   */
  #repeatFirst(job: Job): boolean {
    const { key } = job;
    const first = key === undefined ? job : this.#firsts.get(key);
    if (key === undefined || first === job || first === true) return false;
    if (typeof first === 'object') {
      job.dueAt = Number.POSITIVE_INFINITY;
      first.followers.push(job);
      this.#inDoubt.add(job);
      this.#counts.waiting += 1;
      return true;
    }
    this.#finish(job, this.#payments.repeat(job, this.#unpaid.get(key)));
    return true;
  }

  /** Finds out whether an error rejects the credential. A 401 does, and a 403 needs a check. */
  async #checkCredential(error: unknown, triedAt: number): Promise<CredentialState> {
    const { status } = findApiError(error) ?? {};
    if (status === 401) return 'rejected';
    return status === 403 ? await this.#payments.checkCredential(triedAt) : 'accepted';
  }

  /**
   * Handles the error of a payment, and returns the milliseconds until the payment's next try.
   * Returns undefined if the error has become the payment's result or has ended the batch.
   */
  #handleError(job: Job, error: unknown, credential: CredentialState): number | undefined {
    const { clock, retryTimeout } = this.#setup;
    // The abort also ended this payment, but the batch throws one error for the whole abort.
    if (this.#failure !== undefined && error instanceof AbortError) return undefined;
    if (!(error instanceof PaymentsError) || credential === 'rejected') {
      this.#fail(error);
      return undefined;
    }
    if (credential === 'renewed') return 0;
    job.error = error;
    const now = clock.elapsed();
    const backoffMs = Math.min(maxRetryMs, firstRetryMs * 2 ** (job.tries - 1));
    const delayMs = error.retryAfterMs ?? backoffMs;
    const isInTime = now - job.firstTriedAt + delayMs <= retryTimeout;
    if (this.#payments.isHopeless(error, isInTime)) {
      this.#fail(error);
      return undefined;
    }
    const canRetry = error.retryable && this.#gaveUpUntil === undefined && !this.#hasStopped();
    if (canRetry && this.#isStalled(job, error, now, delayMs)) {
      this.#giveUp(error, askedWaitOf(error) ?? delayMs);
    } else if (canRetry && isInTime) {
      if (!this.#hasReportedFailure) this.#payments.warnOfFailure(error, retryTimeout);
      this.#hasReportedFailure = true;
      return delayMs;
    }
    this.#finishUnpaid(job, error);
    return undefined;
  }

  /**
   * Whether the next wait would exceed `retryTimeout` since the batch last made progress. Progress
   * is a decided payment, or a page of a search for a payment without a claim.
   */
  #isStalled(job: Job, error: PaymentsError, now: number, delayMs: number): boolean {
    const { retryTimeout } = this.#setup;
    const since = Math.max(job.firstTriedAt, this.#decidedAt, this.#payments.lastPageAt);
    const askedWaitMs = askedWaitOf(error);
    if (askedWaitMs !== undefined) return now - since + askedWaitMs > retryTimeout;
    // A batch that waits for the next input of its iterable is idle, not stalled.
    const isIdle = !this.#isRead && this.#unstarted.length === 0 && this.#inDoubt.size === 0;
    return job.tries > 1 && !isIdle && now - since + delayMs > retryTimeout;
  }

  /** Gives up: ends the payments that wait. The journal decides about payments that were not tried yet. */
  #giveUp(error: PaymentsError, waitMs: number): void {
    const { clock, inputs } = this.#setup;
    this.#gaveUpUntil = Math.round(clock.now() + waitMs);
    this.#payments.refuse(error, this.#gaveUpUntil);
    // Stop reading an iterable, because it may have no end, such as a queue. The inputs of an array
    // still get results.
    if (!Array.isArray(inputs)) this.#isRead = true;
    this.#notify();
  }

  /** Ends a payment with the error of its latest try. */
  #finishUnpaid(job: Job, error: PaymentsError): void {
    const { reference, input } = job;
    const retryAt = this.#gaveUpUntil;
    if (retryAt !== undefined && error.retryable) decorate(error, { retryAt });
    this.#finish(job, { reference, input, result: describeFailure(error), error });
  }

  #finish(job: Job, result: BatchResult): void {
    const { copy, firstTriedAt } = job;
    const now = this.#setup.clock.elapsed();
    if (result.error?.retryable !== true) this.#decidedAt = now;
    this.#endFirst(job, result);
    this.#counts[countNames[result.result]] += 1;
    if (isPaid(result)) this.#counts.paid += 1;
    this.#payments.report(result, copy, now - firstTriedAt);
    this.#results.push(result);
    this.#notify();
  }

  /** Remembers how the first payment of a reference has ended, and lets its followers go on. */
  #endFirst({ key, copy, followers }: Job, result: BatchResult): void {
    if (key === undefined || typeof this.#firsts.get(key) !== 'object') return;
    this.#firsts.set(key, isPaid(result));
    for (const follower of followers) follower.dueAt = 0;
    if (isPaid(result)) return;
    this.#unpaid.set(key, { copy, result });
    const [oldest = key] = this.#unpaid.keys();
    if (this.#unpaid.size > maxUnpaid) this.#unpaid.delete(oldest);
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#notify();
  }

  #canStart(): boolean {
    // Results that the caller has not taken yet count, so that a slow caller slows the batch down.
    const isFull = this.#results.length + this.#running >= this.#setup.concurrency;
    return !this.#hasStopped() && !isFull;
  }

  #hasStopped(): boolean {
    return this.#hasLeft || this.#failure !== undefined;
  }

  #isDone(): boolean {
    if (this.#running > 0) return false;
    if (this.#hasStopped()) return true;
    return this.#isRead && this.#unstarted.length === 0 && this.#inDoubt.size === 0;
  }

  #nextDueMs(): number | undefined {
    // While no payment can start, the timer of a payment that is already due would fire again and again.
    if (this.#inDoubt.size === 0 || !this.#canStart()) return undefined;
    // A follower's `dueAt` is infinite, because the follower waits for another payment.
    const dueAt = Math.min(...[...this.#inDoubt].map((job) => job.dueAt));
    return Number.isFinite(dueAt) ? Math.max(0, dueAt - this.#setup.clock.elapsed()) : undefined;
  }

  /** Sets `retryAt`, by the wall clock, if the batch can only wait or has given up. Otherwise removes it. */
  #updateRetryAt(): void {
    const { clock } = this.#setup;
    const isIdle =
      this.#isRead && this.#unstarted.length === 0 && this.#running === this.#sleeping.size;
    const waiting = isIdle ? [...this.#inDoubt, ...this.#sleeping] : [];
    if (this.#gaveUpUntil !== undefined) this.#counts.retryAt = this.#gaveUpUntil;
    else if (waiting.length === 0 || this.#hasStopped()) delete this.#counts.retryAt;
    else {
      const dueAt = Math.min(...waiting.map((job) => job.dueAt));
      this.#counts.retryAt = Math.round(clock.now() + dueAt - clock.elapsed());
    }
  }

  async #sleepUntil(endsAt: number): Promise<void> {
    const { clock } = this.#setup;
    while (!this.#hasStopped() && this.#gaveUpUntil === undefined && clock.elapsed() < endsAt) {
      await this.#waitForChange(endsAt - clock.elapsed());
    }
  }

  #waitForChange(ms?: number): Promise<void> {
    const { clock } = this.#setup;
    return new Promise((resolve) => {
      let timer: unknown;
      const wake = (): void => {
        this.#listeners.delete(wake);
        clock.clearTimeout(timer);
        resolve();
      };
      this.#listeners.add(wake);
      if (ms !== undefined) timer = clock.setTimeout(wake, ms);
    });
  }

  #notify(): void {
    this.#updateRetryAt();
    for (const wake of this.#listeners) wake();
  }
}

/** How long the platform asks its callers to wait, by the header `Retry-After` of a response. */
const askedWaitOf = (error: PaymentsError): number | undefined => findApiError(error)?.retryAfterMs;
