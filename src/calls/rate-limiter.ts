import type { Clock, Deadline } from './time.ts';
import type { Failure, Rejection } from '../errors/failure.ts';
import { maxWaitBeforeRetryMs } from './retry.ts';

/** Thrown when a call would have to wait longer than it may. */
export class RateLimiterWaitTooLong extends Error {
  readonly failure: Failure;
  /** After `ms` milliseconds, the next call may start. */
  constructor(ms: number, { holdBack }: Rejection) {
    super('rate limiter');
    this.failure = holdBack(ms);
  }
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (reason: RateLimiterWaitTooLong) => void;
  /** The latest time at which this call may start, by the monotonic clock. */
  readonly latestStart: number;
}

/** The gap between two requests after the first 429. Each further 429 multiplies it by `gapGrowth`. */
const firstGapMs = 10;
const gapGrowth = 1.5;
/** The time in which the gap halves if no 429 comes. */
const gapHalfLifeMs = 2_000;
/** A gap below this counts as no gap. */
const minGapMs = 2;

/**
 * Slows a client down after a 429. `Retry-After` holds all calls back until then, and afterwards a
 * gap separates them. A 429 to a request that was sent with the present gap increases the gap,
 * which shrinks with time. So the gap approaches the platform's limit, which is not documented:
 * docs/gaps.md, row 52.
 */
export class RateLimiter {
  readonly #clock: Required<Clock>;
  #closedUntil = Number.NEGATIVE_INFINITY;
  #lastStart = Number.NEGATIVE_INFINITY;
  /** The gap after the last 429 that increased it. */
  #increasedGap = 0;
  #increasedAt = Number.NEGATIVE_INFINITY;
  #rejection: Rejection | undefined;
  readonly #queue = new Set<Waiter>();
  #timer: unknown;

  constructor(clock: Required<Clock>) {
    this.#clock = clock;
  }

  /** Whether a call may start at once. While calls are held back, the call has to `enter`. */
  tryEnter(): boolean {
    if (this.#rejection === undefined) return true;
    const isFree = this.#queue.size === 0 && this.#nextStart <= this.#clock.elapsed();
    if (isFree) this.#lastStart = this.#clock.elapsed();
    return isFree;
  }

  /** Waits for a call's turn, at most `maxWaitMs`, and tells `onWait` the expected wait. */
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
      // If a call is aborted before its turn, the next call may start earlier.
      if (waiter !== undefined && this.#queue.delete(waiter)) this.#startWaiters();
    }
  }

  /** Slows down after a 429 to a request that was sent at the time `sentAt`. */
  close(sentAt: number, rejection: Rejection): void {
    const now = this.#clock.elapsed();
    this.#rejection = rejection;
    if (sentAt >= this.#increasedAt) {
      this.#increasedGap = Math.min(
        maxWaitBeforeRetryMs,
        Math.max(firstGapMs, this.#gap * gapGrowth),
      );
      this.#increasedAt = now;
    }
    // Without a Retry-After, only the gap holds calls back.
    const until = now + Math.min(rejection.retryAfterMs ?? 0, maxWaitBeforeRetryMs);
    this.#closedUntil = Math.max(this.#closedUntil, until);
    let at = this.#nextStart;
    for (const waiter of this.#queue) {
      if (at > waiter.latestStart) {
        this.#queue.delete(waiter);
        waiter.reject(new RateLimiterWaitTooLong(at - now, rejection));
      } else {
        at += this.#gap;
      }
    }
    this.#startWaiters();
  }

  get #gap(): number {
    const quietMs = Math.max(0, this.#clock.elapsed() - this.#increasedAt);
    const gap = this.#increasedGap * 2 ** (-quietMs / gapHalfLifeMs);
    return gap >= minGapMs ? gap : 0;
  }

  get #nextStart(): number {
    return Math.max(this.#closedUntil, this.#lastStart + this.#gap);
  }

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
