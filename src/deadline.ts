import type { Clock } from './clock.ts';

/** Why something was stopped before it was done. */
export type StopReason =
  { readonly by: 'caller'; readonly reason: unknown } | { readonly by: 'attempt' | 'total' };

/** Thrown out of {@link Deadline.race}. */
export class Stopped extends Error {
  readonly why: StopReason;
  constructor(why: StopReason) {
    super('stopped');
    this.why = why;
  }
}

/**
 * A span of time that ends by itself, with the caller's signal, or with the span around it. It
 * holds its waiting promises itself: a signal handed to fetch may be forgotten when the garbage
 * collector runs, a rejected promise is not.
 */
export class Deadline {
  readonly #clock: Required<Clock>;
  #controller: AbortController | undefined;
  readonly #waiting = new Set<(stopped: Stopped) => void>();
  readonly #cleanups: (() => void)[] = [];
  readonly #endsAt: number;
  readonly #by: 'attempt' | 'total';
  #stopped: Stopped | undefined;

  constructor(
    clock: Required<Clock>,
    ms: number,
    by: 'attempt' | 'total',
    outer?: Deadline,
    signals: readonly AbortSignal[] = [],
  ) {
    this.#clock = clock;
    this.#by = by;
    this.#endsAt = clock.elapsed() + ms;
    const timer = clock.setTimeout(() => {
      this.#stop({ by });
    }, ms);
    this.#cleanups.push(() => {
      clock.clearTimeout(timer);
    });
    for (const signal of signals) {
      const onAbort = (): void => {
        this.#stop({ by: 'caller', reason: signal.reason });
      };
      if (signal.aborted) onAbort();
      signal.addEventListener('abort', onAbort);
      this.#cleanups.push(() => {
        signal.removeEventListener('abort', onAbort);
      });
    }
    if (outer !== undefined) {
      const forget = outer.onStop((stopped) => {
        this.#stop(stopped.why);
      });
      this.#cleanups.push(forget);
    }
  }

  /** For what takes a signal; made when somebody asks, because few do and it costs. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#stopped !== undefined) this.#controller.abort(this.#stopped);
    }
    return this.#controller.signal;
  }

  /** Calls the listener when time is up, at once if it is. Returns what takes it off again. */
  onStop(listener: (stopped: Stopped) => void): () => void {
    if (this.#stopped !== undefined) {
      listener(this.#stopped);
      return () => undefined;
    }
    this.#waiting.add(listener);
    return () => {
      this.#waiting.delete(listener);
    };
  }

  /** Milliseconds left; 0 when stopped. A timer that is late (a suspended machine) does not count. */
  get remaining(): number {
    return this.#stopped === undefined ? Math.max(0, this.#endsAt - this.#clock.elapsed()) : 0;
  }

  /** Throws when time is up, also when the timer has not fired yet. */
  check(): void {
    if (this.#stopped === undefined && this.#endsAt <= this.#clock.elapsed()) {
      this.#stop({ by: this.#by });
    }
    if (this.#stopped !== undefined) throw this.#stopped;
  }

  /** The promise's result, or {@link Stopped} if that comes first. */
  race<T>(promise: PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#stopped !== undefined) {
        // What loses the race may still fail; that failure has no other reader.
        promise.then(undefined, () => undefined);
        reject(this.#stopped);
        return;
      }
      this.#waiting.add(reject);
      const done = (): void => {
        this.#waiting.delete(reject);
      };
      promise.then(
        (value) => {
          done();
          resolve(value);
        },
        (error: unknown) => {
          done();
          reject(error);
        },
      );
    });
  }

  /** Waits; {@link Stopped} ends it early. */
  async sleep(ms: number): Promise<void> {
    let timer: unknown;
    try {
      await this.race(
        new Promise<void>((resolve) => {
          timer = this.#clock.setTimeout(resolve, ms);
        }),
      );
    } finally {
      this.#clock.clearTimeout(timer);
    }
  }

  /** Lets go of every timer and of the caller's signals. */
  close(): void {
    for (const cleanup of this.#cleanups.splice(0)) cleanup();
  }

  #stop(why: StopReason): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = new Stopped(why);
    this.#controller?.abort(this.#stopped);
    for (const reject of this.#waiting) reject(this.#stopped);
    this.#waiting.clear();
  }
}
