/**
 * The source of the sandbox's time: a function, or an object such as `Date`. If the object has
 * `setTimeout`, that method also times delays.
 */
export type SandboxClock =
  | (() => number | Date)
  | {
      /** Returns the present time. */
      now(): number | Date;
      /** Calls `run` once, after `ms` milliseconds of this clock. */
      setTimeout?(run: () => void, ms: number): unknown;
      /** Cancels the timer that `setTimeout` returned. */
      clearTimeout?(timer: unknown): void;
    };

/** The time of the sandbox: its {@link SandboxClock} plus how far the clock was advanced. */
export class Clock {
  readonly #source: SandboxClock;
  /** How many milliseconds the sandbox's time is ahead of the clock in its options. */
  offset = 0;

  constructor(source: SandboxClock = Date) {
    this.#source = source;
    this.now();
  }

  now(): Date {
    // Check for `now` first, because `Date` is also a function, and calling it returns a text.
    const now = 'now' in this.#source ? this.#source.now() : this.#source();
    const date = new Date(new Date(now).getTime() + this.offset);
    if (Number.isNaN(date.getTime())) {
      throw new TypeError('The clock of the sandbox must return a valid Date or milliseconds.');
    }
    return date;
  }

  /** The present time of the sandbox as an ISO 8601 date-time in UTC. */
  toIsoNow(): string {
    return this.now().toISOString();
  }

  /** Waits `ms` milliseconds. If the signal aborts meanwhile, rejects with the signal's reason. */
  wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const handleAbort = () => {
        cancelTimer();
        reject(signal?.reason);
      };
      const cancelTimer = this.#startTimer(() => {
        signal?.removeEventListener('abort', handleAbort);
        resolve();
      }, ms);
      signal?.addEventListener('abort', handleAbort, { once: true });
    });
  }

  /**
   * Calls `run` once after `ms` milliseconds, unless the caller cancels with the returned function.
   * The timer does not keep the process running.
   */
  startTimer(run: () => void, ms: number): () => void {
    return this.#startTimer(run, ms, false);
  }

  /**
   * Calls `run` after `ms` milliseconds, by the timers of the clock in the options or, if that
   * clock has none, by the global timers. Returns a function that cancels the timer.
   */
  #startTimer(run: () => void, ms: number, keepsProcessRunning = true): () => void {
    const source = this.#source;
    if ('now' in source && source.setTimeout !== undefined) {
      const timer = source.setTimeout(run, ms);
      return () => source.clearTimeout?.(timer);
    }
    // Read the global `setTimeout` at each call, because a test may install fake timers later.
    const timer: unknown = globalThis.setTimeout(run, ms);
    // In a browser a timer is a number, without the method `unref`.
    if (!keepsProcessRunning && typeof timer === 'object' && timer !== null && 'unref' in timer) {
      (timer as { unref(): void }).unref();
    }
    return () => globalThis.clearTimeout(timer as number);
  }
}
