import { maxTimerMs } from '../internal/runtime.ts';
import { replaceUnreadable } from '../internal/thrown.ts';

/** The clock and the timers that a client uses. In tests you can pass your own. */
export interface Clock {
  /** Returns milliseconds since 1970, like `Date.now()`. */
  now(): number;
  /** Milliseconds of a clock that never goes back, like `performance.now()`. Default: `now`. */
  elapsed?(): number;
  /** Calls `callback` once, after `ms` milliseconds. `clearTimeout` gets what you return. */
  setTimeout(callback: () => void, ms: number): unknown;
  /** Cancels a timer. `handle` is what `setTimeout` returned. */
  clearTimeout(handle: unknown): void;
}

// Look up the global functions at each use, because a test may install fake timers later.
const systemClock: Required<Clock> = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  setTimeout: (callback, ms) => globalThis.setTimeout(callback, ms),
  clearTimeout: (handle) => {
    globalThis.clearTimeout(handle as ReturnType<typeof setTimeout>);
  },
};

/** Adds `elapsed` to a clock without it, and limits timers to what `setTimeout` supports. */
export function clockFrom(custom: Clock | undefined): Required<Clock> {
  const clock = custom ?? systemClock;
  return {
    now: () => clock.now(),
    elapsed: () => clock.elapsed?.() ?? clock.now(),
    setTimeout: (callback, ms) =>
      clock.setTimeout(callback, Math.min(Math.max(0, Math.ceil(ms)), maxTimerMs)),
    // A rate limiter may clear its timer before it has set one.
    clearTimeout: (handle) => {
      if (handle !== undefined) clock.clearTimeout(handle);
    },
  };
}

const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Parses an HTTP date (Sun, 06 Nov 1994 08:49:37 GMT) to milliseconds since 1970, or NaN. */
export function parseHttpDate(header: string | null): number {
  const text = header?.trim() ?? '';
  if (!httpDate.test(text)) return Number.NaN;
  return Date.parse(text);
}

/** Who ended a call: the caller's signal, or the time limit of an attempt or of the whole call. */
export type StopReason =
  { readonly by: 'caller'; readonly reason: unknown } | { readonly by: 'attempt' | 'total' };

/** The error with which a {@link Deadline} rejects promises and aborts its signal at its end. */
export class Stopped extends Error {
  readonly why: StopReason;
  constructor(why: StopReason) {
    super('stopped');
    this.why = why;
  }
}

type Listener = (stopped: Stopped) => void;
const emptyList = [] as const;

/** The callbacks of `Deadline.race`. They are removed if the deadline ends first. */
interface Race<T> {
  onResult?: ((value: T) => void) | undefined;
  onError?: ((error: unknown) => void) | undefined;
}

/**
 * Tells a race between a promise and a deadline how the promise ended. A separate function, because
 * a pending promise keeps its closures in memory, and these closures hold only the race.
 */
function subscribe<T>(promise: PromiseLike<T>, race: Race<T>): void {
  promise.then(
    (value) => race.onResult?.(value),
    (error: unknown) => race.onError?.(error),
  );
}

/** If a timer fires more than this many milliseconds late, the process was suspended. */
const suspensionMs = 25;
/** For how many milliseconds a response that arrived during a suspension may still be read. */
const readingGraceMs = 250;

interface Ends {
  readonly outer?: Deadline;
  readonly signals?: readonly (AbortSignal | undefined)[];
  /** The deadline ends by this wall-clock time at the latest, even if the machine is suspended. */
  readonly notAfter?: number | undefined;
}

/**
 * A time limit for a call or an attempt. It ends by itself, with the caller's signal or with an
 * outer deadline, and rejects waiting promises itself, because the garbage collector may drop a
 * signal that was passed to fetch.
 */
export class Deadline {
  readonly #clock: Required<Clock>;
  readonly #endsAt: number;
  readonly #notAfter: number | undefined;
  readonly #by: 'attempt' | 'total';
  /** The time until which a response may be read; after a suspension, later than `#endsAt`. */
  #readingEndsAt: number;
  #timer: unknown;
  readonly #outer: Deadline | undefined;
  readonly #removeOuterListener: (() => void) | undefined;
  readonly #removeSignalListeners: readonly (() => void)[];
  /** Listeners are in an array, because with one or two of them a Set is several times slower. */
  readonly #listeners: Listener[] = [];
  #controller: AbortController | undefined;
  #stopped: Stopped | undefined;

  /** The deadline ends in `ms` milliseconds at the latest. Its error then names the limit `by`. */
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
      // If the process was suspended, a response may be read for a short time after the end.
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

  /** A signal that aborts at the deadline. Created at first access, because creation is slow. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#stopped !== undefined) this.#controller.abort(this.#stopped);
    }
    return this.#controller.signal;
  }

  /** Calls `listener` once the deadline has ended. Returns a function that removes the listener. */
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

  /** Milliseconds until the deadline, by the clock; 0 once the deadline has ended, even early. */
  get remaining(): number {
    return this.#stopped === undefined ? Math.max(0, this.#endsAt - this.#clock.elapsed()) : 0;
  }

  /** Throws if the deadline has ended, even if its timer has not fired yet. */
  check(): void {
    this.#outer?.check();
    const isLate = this.#notAfter !== undefined && this.#clock.now() > this.#notAfter;
    if (this.#stopped === undefined && (isLate || this.#endsAt <= this.#clock.elapsed())) {
      this.#stop({ by: this.#by });
    }
    if (this.#stopped !== undefined) throw this.#stopped;
  }

  /** Throws if the deadline has ended, but after a suspension leaves time to read a response. */
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
   * Whether a response may be read after the deadline, because the process was suspended (a frozen
   * Lambda, a closed laptop, a busy event loop). The response may wait in the socket, so there is
   * one short extension to read it.
   */
  #mayReadOn(): boolean {
    const now = this.#clock.elapsed();
    if (this.#readingEndsAt === this.#endsAt) {
      if (now - this.#endsAt < suspensionMs) return false;
      this.#readingEndsAt = now + readingGraceMs;
    }
    return now < this.#readingEndsAt;
  }

  /** Returns the promise's result, or rejects with {@link Stopped} if the deadline ends first. */
  race<T>(promise: PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#stopped !== undefined) {
        // Add a handler, because the promise may still reject and the rejection would be unhandled.
        subscribe(promise, {});
        reject(this.#stopped);
        return;
      }
      const race: Race<T> = {
        onResult: (value) => {
          this.#removeListener(rejectRace);
          resolve(value);
        },
        onError: (error) => {
          this.#removeListener(rejectRace);
          reject(replaceUnreadable(error));
        },
      };
      const rejectRace: Listener = (stopped) => {
        // If the promise never settles, the emptied race keeps nothing of the caller in memory.
        race.onResult = undefined;
        race.onError = undefined;
        reject(stopped);
      };
      this.#listeners.push(rejectRace);
      subscribe(promise, race);
    });
  }

  /** Waits for `ms` milliseconds. Rejects with {@link Stopped} if the deadline ends first. */
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
