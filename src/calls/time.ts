import { maxTimerMs } from '../internal/runtime.ts';
import { replaceUnreadable } from '../internal/thrown.ts';

/** Time and timers for a client. Tests pass their own. */
export interface Clock {
  /** Milliseconds since 1970, as `Date.now()`. */
  now(): number;
  /** A monotonic time in milliseconds. Default: `now`. */
  elapsed?(): number;
  /** Calls `callback` once, after `ms` milliseconds. `clearTimeout` gets what you return. */
  setTimeout(callback: () => void, ms: number): unknown;
  /** Cancels a timer. Gets what `setTimeout` returned. */
  clearTimeout(handle: unknown): void;
}

// Looked up on each use, because fake timers may be installed later.
const systemClock: Required<Clock> = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  setTimeout: (callback, ms) => globalThis.setTimeout(callback, ms),
  clearTimeout: (handle) => {
    globalThis.clearTimeout(handle as ReturnType<typeof setTimeout>);
  },
};

/** Completes a clock, and limits its timers to the longest that `setTimeout` supports. */
export function clockFrom(custom: Clock | undefined): Required<Clock> {
  const clock = custom ?? systemClock;
  return {
    now: () => clock.now(),
    elapsed: () => clock.elapsed?.() ?? clock.now(),
    setTimeout: (callback, ms) =>
      clock.setTimeout(callback, Math.min(Math.max(0, Math.ceil(ms)), maxTimerMs)),
    // Many deadlines and rate limiters are closed before they set a timer.
    clearTimeout: (handle) => {
      if (handle !== undefined) clock.clearTimeout(handle);
    },
  };
}

const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Parses a date header (Sun, 06 Nov 1994 08:49:37 GMT) to milliseconds since 1970; NaN without one. */
export function parseHttpDate(header: string | null): number {
  const text = header?.trim() ?? '';
  if (!httpDate.test(text)) return Number.NaN;
  return Date.parse(text);
}

/** Why an operation was stopped before it was done. */
export type StopReason =
  { readonly by: 'caller'; readonly reason: unknown } | { readonly by: 'attempt' | 'total' };

/** The error of a {@link Deadline} that is over, for its promises, its checks and its signal. */
export class Stopped extends Error {
  readonly why: StopReason;
  constructor(why: StopReason) {
    super('stopped');
    this.why = why;
  }
}

type Listener = (stopped: Stopped) => void;
const emptyList = [] as const;

/** Callbacks for the end of a promise, which are removed once the race is over. */
interface Race<T> {
  won?: ((value: T) => void) | undefined;
  failed?: ((error: unknown) => void) | undefined;
}

/**
 * Connects a promise to its race. This is a separate function, because a pending promise keeps its
 * closures in memory. They must hold nothing but the race, which is emptied at its end.
 */
function watch<T>(promise: PromiseLike<T>, race: Race<T>): void {
  promise.then(
    (value) => race.won?.(value),
    (error: unknown) => race.failed?.(error),
  );
}

/** If a timer fires later than this, the process was suspended. */
const suspensionMs = 25;
/** How long data that arrived during a suspension may be read. */
const readingGraceMs = 250;

/** Events that end a {@link Deadline} early. */
interface Ends {
  readonly outer?: Deadline;
  readonly signals?: readonly (AbortSignal | undefined)[];
  /** A time of the wall clock, which continues while the machine is suspended. */
  readonly notAfter?: number | undefined;
}

/**
 * A span of time that ends by itself, with the caller's signal, or with the outer deadline. The
 * deadline rejects the waiting promises itself, because the garbage collector may drop a signal
 * that was passed to fetch.
 */
export class Deadline {
  readonly #clock: Required<Clock>;
  readonly #endsAt: number;
  readonly #notAfter: number | undefined;
  readonly #by: 'attempt' | 'total';
  /** Until when a response may be read, which is later than `#endsAt` after a suspension. */
  #readingEndsAt: number;
  #timer: unknown;
  readonly #outer: Deadline | undefined;
  readonly #removeOuterListener: (() => void) | undefined;
  readonly #removeSignalListeners: readonly (() => void)[];
  /** A list, because a Set is several times slower for one or two listeners. */
  readonly #listeners: Listener[] = [];
  #controller: AbortController | undefined;
  #stopped: Stopped | undefined;

  constructor(
    clock: Required<Clock>,
    ms: number,
    by: 'attempt' | 'total',
    { outer, signals = emptyList, notAfter }: Ends = {},
  ) {
    this.#clock = clock;
    this.#by = by;
    this.#outer = outer;
    this.#notAfter = notAfter;
    this.#endsAt = clock.elapsed() + ms;
    this.#readingEndsAt = this.#endsAt;
    this.#timer = clock.setTimeout(() => {
      if (this.#mayReadOn()) {
        this.#timer = clock.setTimeout(() => {
          this.#stop({ by });
        }, readingGraceMs);
      } else {
        this.#stop({ by });
      }
    }, ms);
    this.#removeSignalListeners = signals
      .filter((signal) => signal !== undefined)
      .map((signal) => this.#follow(signal));
    this.#removeOuterListener = outer?.onStop((stopped) => {
      this.#stop(stopped.why);
    });
  }

  #follow(signal: AbortSignal): () => void {
    const onAbort = (): void => {
      this.#stop({ by: 'caller', reason: signal.reason });
    };
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort);
    return () => {
      signal.removeEventListener('abort', onAbort);
    };
  }

  /** For functions that take a signal. Created at the first access, because creation is slow. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#stopped !== undefined) this.#controller.abort(this.#stopped);
    }
    return this.#controller.signal;
  }

  /** Calls the listener when the time is up, perhaps now. Returns a function that removes it. */
  onStop(listener: Listener): () => void {
    if (this.#stopped !== undefined) {
      listener(this.#stopped);
      return () => undefined;
    }
    this.#listeners.push(listener);
    return () => {
      this.#removeListener(listener);
    };
  }

  #removeListener(listener: Listener): void {
    const at = this.#listeners.lastIndexOf(listener);
    if (at >= 0) this.#listeners.splice(at, 1);
  }

  /** Milliseconds left, even when the timer is late; 0 when stopped. */
  get remaining(): number {
    return this.#stopped === undefined ? Math.max(0, this.#endsAt - this.#clock.elapsed()) : 0;
  }

  /** Throws when the time is up, even if the timer has not fired yet. */
  check(): void {
    this.#outer?.check();
    const isLate = this.#notAfter !== undefined && this.#clock.now() > this.#notAfter;
    if (this.#stopped === undefined && (isLate || this.#endsAt <= this.#clock.elapsed())) {
      this.#stop({ by: this.#by });
    }
    if (this.#stopped !== undefined) throw this.#stopped;
  }

  /** Like `check`, but lets data be read that arrived while the machine was suspended. */
  checkReading(): void {
    this.#outer?.checkReading();
    if (
      this.#stopped === undefined &&
      this.#endsAt <= this.#clock.elapsed() &&
      !this.#mayReadOn()
    ) {
      this.#stop({ by: this.#by });
    }
    if (this.#stopped !== undefined) throw this.#stopped;
  }

  /**
   * Whether the time is up only because the process was suspended (a frozen Lambda, a closed laptop, a busy
   * event loop). A response may wait in the socket, so there is one short extension to read it.
   */
  #mayReadOn(): boolean {
    const now = this.#clock.elapsed();
    if (this.#readingEndsAt === this.#endsAt) {
      if (now - this.#endsAt < suspensionMs) return false;
      this.#readingEndsAt = now + readingGraceMs;
    }
    return now < this.#readingEndsAt;
  }

  /** The promise's result, or {@link Stopped} if that comes first. */
  race<T>(promise: PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#stopped !== undefined) {
        // The promise may still reject, and without a handler that would be unhandled.
        watch(promise, {});
        reject(this.#stopped);
        return;
      }
      const rejectRace: Listener = (stopped) => {
        race.won = undefined;
        race.failed = undefined;
        reject(stopped);
      };
      const race: Race<T> = {
        won: (value) => {
          this.#removeListener(rejectRace);
          resolve(value);
        },
        failed: (error) => {
          this.#removeListener(rejectRace);
          reject(replaceUnreadable(error));
        },
      };
      this.#listeners.push(rejectRace);
      watch(promise, race);
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

  /** Clears the timer and the listeners. */
  close(): void {
    this.#removeOuterListener?.();
    this.#clock.clearTimeout(this.#timer);
    for (const removeListener of this.#removeSignalListeners) removeListener();
  }

  #stop(why: StopReason): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = new Stopped(why);
    this.#controller?.abort(this.#stopped);
    for (const listener of this.#listeners.splice(0)) listener(this.#stopped);
  }
}
