import type { Clock } from './clock.ts';
import type { Deadline } from './deadline.ts';
import { longestWait } from './retry.ts';

/** Thrown when a call would stand at the gate for longer than it may, or than is any use. */
export class GateTooLong extends Error {
  /** When to come again. */
  readonly ms: number;
  constructor(ms: number) {
    super('gate');
    this.ms = ms;
  }
}

/**
 * Tells the gate how the attempt that it let through went: whether it was answered at all, and for
 * a 429 how long to send nothing.
 */
export type Release = (answered: boolean, throttledForMs?: number) => void;

/** A call that stands at the closed gate. */
interface Waiter {
  readonly deadline: Deadline;
  readonly admit: (release: Release) => void;
  readonly refuse: (reason: GateTooLong) => void;
  release?: Release;
}

/** The line holds at most so many times the number of calls that are let out at once. */
const pausesInLine = 3;

/**
 * After a 429, one client sends nothing until the platform's time has come, then lets one call
 * through as a probe. Only an answer opens the gate: a probe that was aborted, or got none, proves
 * nothing, and the next in line takes its place.
 *
 * The others then follow together. If more of them are refused than answered, fewer follow the next
 * time: one more for each answer, one less for each refusal. And nobody stands in line who, at that
 * pace, would still be there after three more pauses. No limit is documented: docs/gaps.md, row 52.
 */
export class Gate {
  readonly #clock: Required<Clock>;
  /** Undefined while the gate stands open. */
  #closedUntil: number | undefined;
  #isProbing = false;
  /** How many may be in flight at once after the probe. */
  #limit = Number.POSITIVE_INFINITY;
  /** How many are in flight that were let through since the last 429. */
  #inFlight = 0;
  /** Counts the 429s: what was let through before the last one belongs to an earlier epoch. */
  #epoch = 0;
  #lastPause = 0;
  readonly #line = new Set<Waiter>();
  #timer: unknown;
  readonly #noteThrottle: Release = (_, ms) => {
    if (ms !== undefined) this.#close(ms);
  };

  constructor(clock: Required<Clock>) {
    this.#clock = clock;
  }

  /** Lets a call through at once; undefined while the gate is closed, when it has to `acquire`. */
  tryAcquire(deadline: Deadline): Release | undefined {
    if (this.#closedUntil !== undefined) return undefined;
    deadline.check();
    return this.#noteThrottle;
  }

  /** Waits until a call may go out. The returned function must be called when the attempt has ended. */
  async acquire(deadline: Deadline): Promise<Release> {
    deadline.check();
    if (this.#closedUntil === undefined) return this.#noteThrottle;
    const wait = this.#closedUntil - this.#clock.elapsed();
    if (wait > deadline.remaining || this.#line.size >= this.#room) throw this.#tooLong();
    let waiter: Waiter | undefined;
    try {
      const turn = new Promise<Release>((resolve, reject) => {
        waiter = { deadline, admit: resolve, refuse: reject };
        this.#line.add(waiter);
      });
      this.#admitNext();
      const release = await deadline.race(turn);
      deadline.check();
      return release;
    } catch (error) {
      if (waiter !== undefined) this.#line.delete(waiter);
      // Its turn and its end may have come in one moment; then the next one has to hear of it.
      waiter?.release?.(false);
      if (this.#line.size === 0) this.#clock.clearTimeout(this.#timer);
      throw error;
    }
  }

  get #room(): number {
    return pausesInLine * this.#limit;
  }

  #tooLong(): GateTooLong {
    const wait = (this.#closedUntil ?? 0) - this.#clock.elapsed();
    return new GateTooLong(wait > 0 ? wait : this.#lastPause);
  }

  #admitNext(): void {
    this.#clock.clearTimeout(this.#timer);
    if (this.#closedUntil === undefined) return;
    const wait = this.#closedUntil - this.#clock.elapsed();
    if (wait > 0) {
      if (this.#line.size > 0) {
        this.#timer = this.#clock.setTimeout(() => {
          this.#admitNext();
        }, wait);
      }
      return;
    }
    const most = this.#isProbing ? 1 : this.#limit;
    for (const waiter of this.#line) {
      if (this.#inFlight >= most) return;
      this.#line.delete(waiter);
      waiter.release = this.#start();
      waiter.admit(waiter.release);
    }
    if (this.#isProbing) return;
    if (this.#inFlight === 0) {
      this.#closedUntil = undefined;
      this.#limit = Number.POSITIVE_INFINITY;
    } else if (this.#limit === Number.POSITIVE_INFINITY) {
      this.#limit = this.#inFlight;
    }
  }

  #start(): Release {
    const epoch = this.#epoch;
    this.#inFlight += 1;
    return (answered, ms) => {
      // What was sent before the last 429 says nothing of the time after it.
      const isRecent = epoch === this.#epoch;
      if (isRecent) this.#inFlight -= 1;
      if (ms !== undefined) {
        this.#limit = Math.max(1, this.#limit - 1);
        this.#close(ms);
        return;
      }
      if (answered) {
        this.#limit += 1;
        if (isRecent) this.#isProbing = false;
      }
      this.#admitNext();
    };
  }

  #close(ms: number): void {
    const now = this.#clock.elapsed();
    this.#lastPause = Math.min(ms, longestWait);
    this.#closedUntil = Math.max(this.#closedUntil ?? 0, now + this.#lastPause);
    this.#isProbing = true;
    this.#epoch += 1;
    this.#inFlight = 0;
    let place = 0;
    for (const waiter of this.#line) {
      place += 1;
      if (place > this.#room || waiter.deadline.remaining < this.#closedUntil - now) {
        this.#line.delete(waiter);
        waiter.refuse(this.#tooLong());
      }
    }
    this.#admitNext();
  }
}
