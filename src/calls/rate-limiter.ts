import type { Clock } from './clock.ts';
import type { Deadline } from './deadline.ts';
import type { RejectedFailure } from '../errors/failure.ts';
import { longestWait } from './retry.ts';

/** Thrown when a call would stand at the gate for longer than it may. */
export class RateLimiterWaitTooLong extends Error {
  /** When to come again. */
  readonly ms: number;
  /** The 429 that has closed the rateLimiter. */
  readonly rejection: RejectedFailure;
  constructor(ms: number, rejection: RejectedFailure) {
    super('gate');
    this.ms = ms;
    this.rejection = rejection;
  }
}

interface Waiter {
  readonly admit: () => void;
  readonly refuse: (reason: RateLimiterWaitTooLong) => void;
  /** When this call has no more time, by the clock of elapsed time. */
  readonly leavesAt: number;
}

/** Between two requests after the first 429. Each further one makes it half as long again. */
const firstGap = 10;
const growth = 1.5;
/** How long it takes for the gap to become half as long while no 429 comes. */
const halfLife = 2_000;
/** Below this, nobody is held. */
const noGap = 2;

/**
 * Holds a client back that a 429 has told to slow down. `Retry-After` stops all until then; without
 * one, calls are spaced. Each 429 to a request that was sent at the present pace makes the gap
 * longer, and time makes it shorter, so the pace settles around what the platform takes. Its rate is
 * not documented: docs/gaps.md, row 52.
 */
export class RateLimiter {
  readonly #clock: Required<Clock>;
  #closedUntil = Number.NEGATIVE_INFINITY;
  #lastOut = Number.NEGATIVE_INFINITY;
  /** The gap at the time of the last 429 that counted. */
  #gap = 0;
  #slowedAt = Number.NEGATIVE_INFINITY;
  #rejection: RejectedFailure | undefined;
  readonly #line = new Set<Waiter>();
  #timer: unknown;

  constructor(clock: Required<Clock>) {
    this.#clock = clock;
  }

  /** Lets a call out at once; false while calls are held back, when it has to `enter`. */
  tryEnter(): boolean {
    if (this.#rejection === undefined) return true;
    const isFree = this.#line.size === 0 && this.#nextAt <= this.#clock.elapsed();
    if (isFree) this.#lastOut = this.#clock.elapsed();
    return isFree;
  }

  /** Waits for the turn of a call that may not wait for longer than `patience`; tells how long that is. */
  async enter(deadline: Deadline, patience: number, tell: (ms: number) => void): Promise<void> {
    const rejection = this.#rejection;
    if (rejection === undefined || this.tryEnter()) return;
    const now = this.#clock.elapsed();
    const wait = this.#nextAt + this.#line.size * this.#pace - now;
    const most = Math.min(patience, deadline.remaining);
    if (wait > most) throw new RateLimiterWaitTooLong(wait, rejection);
    tell(wait);
    let waiter: Waiter | undefined;
    try {
      const turn = new Promise<void>((admit, refuse) => {
        waiter = { admit, refuse, leavesAt: now + most };
        this.#line.add(waiter);
      });
      this.#admit();
      await deadline.race(turn);
      deadline.check();
    } finally {
      // One that has left before its turn: the next one may be earlier.
      if (waiter !== undefined && this.#line.delete(waiter)) this.#admit();
    }
  }

  /** A 429 has come to a request that was sent at that time. */
  close(sentAt: number, rejection: RejectedFailure): void {
    const now = this.#clock.elapsed();
    this.#rejection = rejection;
    if (sentAt >= this.#slowedAt) {
      this.#gap = Math.min(longestWait, Math.max(firstGap, this.#pace * growth));
      this.#slowedAt = now;
    }
    // Without a Retry-After there is no pause, only the pace.
    const until = now + Math.min(rejection.retryAfterMs ?? 0, longestWait);
    this.#closedUntil = Math.max(this.#closedUntil, until);
    let at = this.#nextAt;
    for (const waiter of this.#line) {
      if (at > waiter.leavesAt) {
        this.#line.delete(waiter);
        waiter.refuse(new RateLimiterWaitTooLong(at - now, rejection));
      } else {
        at += this.#pace;
      }
    }
    this.#admit();
  }

  get #pace(): number {
    const quiet = Math.max(0, this.#clock.elapsed() - this.#slowedAt);
    const pace = this.#gap * 2 ** (-quiet / halfLife);
    return pace >= noGap ? pace : 0;
  }

  get #nextAt(): number {
    return Math.max(this.#closedUntil, this.#lastOut + this.#pace);
  }

  #admit(): void {
    this.#clock.clearTimeout(this.#timer);
    for (const waiter of this.#line) {
      const wait = this.#nextAt - this.#clock.elapsed();
      if (wait > 0) {
        this.#timer = this.#clock.setTimeout(() => {
          this.#admit();
        }, wait);
        return;
      }
      this.#line.delete(waiter);
      this.#lastOut = this.#clock.elapsed();
      waiter.admit();
    }
  }
}
