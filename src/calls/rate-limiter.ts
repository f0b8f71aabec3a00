import type { Clock, Deadline } from './time.ts';
import type { Failure, Rejection } from '../errors/failure.ts';
import { maxWaitBeforeRetryMs } from './retry.ts';

/** Thrown if the rate limiter would hold a call back for longer than the call may wait. */
export class RateLimiterWaitTooLong extends Error {
  readonly failure: Failure;
  /** `ms` is the number of milliseconds until the next call may start. */
  constructor(ms: number, { holdBack }: Rejection) {
    super('rate limiter');
    this.failure = holdBack(ms);
  }
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (reason: RateLimiterWaitTooLong) => void;
  /** A call that cannot start by this time of the monotonic clock fails instead of waiting. */
  readonly latestStart: number;
}

/** The pause between two requests after the first 429, in milliseconds. Later 429s lengthen the pause. */
const firstGapMs = 10;
const gapGrowth = 1.5;
/** The pause between two requests halves in this many milliseconds if no 429 comes. */
const gapHalfLifeMs = 2_000;
/** The limiter ignores a pause between two requests that is shorter than this many milliseconds. */
const minGapMs = 2;

/**
 * Slows a client down after a 429: holds calls back for as long as `Retry-After` says, then pauses
 * between requests. Another 429 lengthens the pause and time shortens it, so the pause approaches
 * the platform's undocumented limit: docs/gaps.md, row 52.
 */
export class RateLimiter {
  readonly #clock: Required<Clock>;
  #closedUntil = Number.NEGATIVE_INFINITY;
  #lastStart = Number.NEGATIVE_INFINITY;
  /** The pause between two requests after the latest 429 that lengthened it, in milliseconds. */
  #increasedGap = 0;
  #increasedAt = Number.NEGATIVE_INFINITY;
  #rejection: Rejection | undefined;
  readonly #queue = new Set<Waiter>();
  #timer: unknown;

  constructor(clock: Required<Clock>) {
    this.#clock = clock;
  }

  /** Whether the rate limiter lets a call start at once. If not, the call must wait in `enter`. */
  tryEnter(): boolean {
    if (this.#rejection === undefined) return true;
    const isFree = this.#queue.size === 0 && this.#nextStart <= this.#clock.elapsed();
    if (isFree) this.#lastStart = this.#clock.elapsed();
    return isFree;
  }

  /**
   * Waits until the rate limiter lets a call start, and tells `onWait` the expected wait. If the
   * wait would exceed `maxWaitMs` or the deadline, throws RateLimiterWaitTooLong at once.
   */
  async enter(deadline: Deadline, maxWaitMs: number, onWait: (ms: number) => void): Promise<void> {
    const rejection = this.#rejection;
    if (rejection === undefined || this.tryEnter()) return;
    const now = this.#clock.elapsed();
    const wait = this.#nextStart + this.#queue.size * this.#gap - now;
    const allowedMs = Math.min(maxWaitMs, deadline.remaining);
    if (wait > allowedMs) throw new RateLimiterWaitTooLong(wait, rejection);
    onWait(wait);
    let waiter: Waiter | undefined;
    try {
      const turn = new Promise<void>((resolve, reject) => {
        waiter = { resolve, reject, latestStart: now + allowedMs };
        this.#queue.add(waiter);
      });
      this.#startWaiters();
      await deadline.race(turn);
      deadline.check();
    } finally {
      // If a call is aborted while it waits, the next call in the queue may start earlier.
      if (waiter !== undefined && this.#queue.delete(waiter)) this.#startWaiters();
    }
  }

  /** Slows the client down after a 429. `sentAt` is the time at which that request was sent. */
  close(sentAt: number, rejection: Rejection): void {
    const now = this.#clock.elapsed();
    this.#rejection = rejection;
    // If several requests that ran at the same time get a 429, only the first lengthens the gap.
    if (sentAt >= this.#increasedAt) {
      this.#increasedGap = Math.min(
        maxWaitBeforeRetryMs,
        Math.max(firstGapMs, this.#gap * gapGrowth),
      );
      this.#increasedAt = now;
    }
    // Without `Retry-After`, only the gap between two requests slows the client down.
    const until = now + Math.min(rejection.retryAfterMs ?? 0, maxWaitBeforeRetryMs);
    this.#closedUntil = Math.max(this.#closedUntil, until);
    // Calls in the queue that would now start too late fail at once.
    let startsAt = this.#nextStart;
    for (const waiter of this.#queue) {
      if (startsAt > waiter.latestStart) {
        this.#queue.delete(waiter);
        waiter.reject(new RateLimiterWaitTooLong(startsAt - now, rejection));
      } else {
        startsAt += this.#gap;
      }
    }
    this.#startWaiters();
  }

  /** The present pause between two requests, in milliseconds. */
  get #gap(): number {
    const quietMs = Math.max(0, this.#clock.elapsed() - this.#increasedAt);
    const gap = this.#increasedGap * 2 ** (-quietMs / gapHalfLifeMs);
    return gap >= minGapMs ? gap : 0;
  }

  /** When the next call may start, by the monotonic clock. */
  get #nextStart(): number {
    return Math.max(this.#closedUntil, this.#lastStart + this.#gap);
  }

  /** Starts the waiting calls whose time has come, and sets a timer for the next one. */
  #startWaiters(): void {
    this.#clock.clearTimeout(this.#timer);
    for (const waiter of this.#queue) {
      const wait = this.#nextStart - this.#clock.elapsed();
      if (wait > 0) {
        this.#timer = this.#clock.setTimeout(() => {
          this.#startWaiters();
        }, wait);
        return;
      }
      this.#queue.delete(waiter);
      this.#lastStart = this.#clock.elapsed();
      waiter.resolve();
    }
  }
}
