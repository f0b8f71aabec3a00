/**
 * The source of time for the sandbox: a function, or an object such as `Date`. With `setTimeout` the
 * object also controls the length of a `delay` fault.
 */
export type SandboxClock =
  | (() => number | Date)
  | {
      /** The present moment. */
      now(): number | Date;
      /** Calls `run` once, after `ms` milliseconds. */
      setTimeout?(run: () => void, ms: number): unknown;
      /** Cancels a timer; takes the value that `setTimeout` returned. */
      clearTimeout?(timer: unknown): void;
    };

/** The time of the sandbox: its {@link SandboxClock} plus an offset. */
export class Clock {
  readonly #source: SandboxClock;
  /** How far this clock is ahead of its source, in milliseconds. */
  offset = 0;

  constructor(source: SandboxClock = Date) {
    this.#source = source;
    this.now();
  }

  /** The present moment. */
  now(): Date {
    // `Date` is a function and has `now`, so the object form is checked first.
    const now = 'now' in this.#source ? this.#source.now() : this.#source();
    const date = new Date(new Date(now).getTime() + this.offset);
    if (Number.isNaN(date.getTime())) {
      throw new TypeError('The clock of the sandbox must return a valid Date or milliseconds.');
    }
    return date;
  }

  /** The present moment as an ISO 8601 date-time in UTC. */
  toIsoNow(): string {
    return this.now().toISOString();
  }

  /** Waits `ms` milliseconds. Rejects with the signal's reason as soon as the signal aborts. */
  wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const abort = () => {
        cancel();
        reject(signal?.reason);
      };
      const cancel = this.#startTimer(() => {
        signal?.removeEventListener('abort', abort);
        resolve();
      }, ms);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  /** Calls `run` once, unless the returned function cancels that. Keeps no process alive. */
  startTimer(run: () => void, ms: number): () => void {
    return this.#startTimer(run, ms, true);
  }

  #startTimer(run: () => void, ms: number, idle = false): () => void {
    const source = this.#source;
    if ('now' in source && source.setTimeout !== undefined) {
      const timer = source.setTimeout(run, ms);
      return () => source.clearTimeout?.(timer);
    }
    // The global is read here, so that fake timers that a test installs later are used.
    const timer: unknown = globalThis.setTimeout(run, ms);
    // In a browser a timer is a number, without `unref`.
    if (idle && typeof timer === 'object' && timer !== null && 'unref' in timer) {
      (timer as { unref(): void }).unref();
    }
    return () => globalThis.clearTimeout(timer as number);
  }
}
