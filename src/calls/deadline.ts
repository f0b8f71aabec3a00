import type { Clock } from './clock.ts';

/** Why something was stopped before it was done. */
export type StopReason =
  { readonly by: 'caller'; readonly reason: unknown } | { readonly by: 'attempt' | 'total' };

/** What a {@link Deadline} that is over rejects, throws and aborts with. */
export class Stopped extends Error {
  readonly why: StopReason;
  constructor(why: StopReason) {
    super('stopped');
    this.why = why;
  }
}

type Listener = (stopped: Stopped) => void;
const none = [] as const;

/** What is to happen when a promise settles; nothing, once its race is over. */
interface Race<T> {
  won?: ((value: T) => void) | undefined;
  failed?: ((error: unknown) => void) | undefined;
}

/**
 * Tells a race of its promise. A function of its own: a promise that never settles keeps these two
 * for ever, so they must hold nothing but the race, which is emptied.
 */
function watch<T>(promise: PromiseLike<T>, race: Race<T>): void {
  promise.then(
    (value) => race.won?.(value),
    (error: unknown) => race.failed?.(error),
  );
}

/** A timer that is late by so many milliseconds tells of a pause. */
const pause = 25;
/** How long what has arrived meanwhile may take to be read. */
const grace = 250;

/** What may end a {@link Deadline} before its time. */
interface Ends {
  readonly outer?: Deadline;
  readonly signals?: readonly (AbortSignal | undefined)[];
  /** By the wall clock, which goes on where the other may stand still: on a suspended machine. */
  readonly notAfter?: number | undefined;
}

/**
 * A span of time that ends by itself, with the caller's signal, or with the span around it. It
 * holds its waiting promises itself: a signal handed to fetch may be forgotten when the garbage
 * collector runs, a rejected promise is not.
 */
export class Deadline {
  readonly #clock: Required<Clock>;
  readonly #endsAt: number;
  readonly #notAfter: number | undefined;
  readonly #by: 'attempt' | 'total';
  /** Until when an answer may be read: later than `#endsAt` after a pause. */
  #readUntil: number;
  #timer: unknown;
  readonly #outer: Deadline | undefined;
  readonly #forgetOuter: (() => void) | undefined;
  /** Takes the listeners off the caller's signals again. */
  readonly #forgetSignals: readonly (() => void)[];
  /** A list, not a Set: one or two wait at a time, and a Set costs several times as much. */
  readonly #waiting: Listener[] = [];
  #controller: AbortController | undefined;
  #stopped: Stopped | undefined;

  constructor(
    clock: Required<Clock>,
    ms: number,
    by: 'attempt' | 'total',
    { outer, signals = none, notAfter }: Ends = {},
  ) {
    this.#clock = clock;
    this.#by = by;
    this.#outer = outer;
    this.#notAfter = notAfter;
    this.#endsAt = clock.elapsed() + ms;
    this.#readUntil = this.#endsAt;
    this.#timer = clock.setTimeout(() => {
      if (this.#mayReadOn()) {
        this.#timer = clock.setTimeout(() => {
          this.#stop({ by });
        }, grace);
      } else {
        this.#stop({ by });
      }
    }, ms);
    this.#forgetSignals =
      signals.length === 0
        ? none
        : signals.filter((signal) => signal !== undefined).map((signal) => this.#follow(signal));
    this.#forgetOuter = outer?.onStop((stopped) => {
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

  /** For what takes a signal; made when somebody asks, because few do and it costs. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#stopped !== undefined) this.#controller.abort(this.#stopped);
    }
    return this.#controller.signal;
  }

  /** Calls the listener when time is up, at once if it is. Returns what takes it off again. */
  onStop(listener: Listener): () => void {
    if (this.#stopped !== undefined) {
      listener(this.#stopped);
      return () => undefined;
    }
    this.#waiting.push(listener);
    return () => {
      this.#leave(listener);
    };
  }

  #leave(listener: Listener): void {
    const at = this.#waiting.lastIndexOf(listener);
    if (at >= 0) this.#waiting.splice(at, 1);
  }

  /** Milliseconds left; 0 when stopped. A timer that is late (a suspended machine) does not count. */
  get remaining(): number {
    return this.#stopped === undefined ? Math.max(0, this.#endsAt - this.#clock.elapsed()) : 0;
  }

  /** Throws when time is up, also when the timer has not fired yet. */
  check(): void {
    this.#outer?.check();
    const isLate = this.#notAfter !== undefined && this.#clock.now() > this.#notAfter;
    if (this.#stopped === undefined && (isLate || this.#endsAt <= this.#clock.elapsed())) {
      this.#stop({ by: this.#by });
    }
    if (this.#stopped !== undefined) throw this.#stopped;
  }

  /** The same for whoever reads an answer: what has arrived in a pause of the process may be read. */
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
   * Whether time is up only because the process stood still (a frozen Lambda, the lid of a laptop, a
   * busy event loop). An answer may lie in the socket then; once, there is a moment to read it.
   */
  #mayReadOn(): boolean {
    const now = this.#clock.elapsed();
    if (this.#readUntil === this.#endsAt) {
      if (now - this.#endsAt < pause) return false;
      this.#readUntil = now + grace;
    }
    return now < this.#readUntil;
  }

  /** The promise's result, or {@link Stopped} if that comes first. */
  race<T>(promise: PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#stopped !== undefined) {
        // What loses the race may still fail; that failure has no other reader.
        watch(promise, {});
        reject(this.#stopped);
        return;
      }
      const lose: Listener = (stopped) => {
        race.won = undefined;
        race.failed = undefined;
        reject(stopped);
      };
      const race: Race<T> = {
        won: (value) => {
          this.#leave(lose);
          resolve(value);
        },
        failed: (error) => {
          this.#leave(lose);
          reject(error);
        },
      };
      this.#waiting.push(lose);
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
    this.#forgetOuter?.();
    this.#clock.clearTimeout(this.#timer);
    for (const forget of this.#forgetSignals) forget();
  }

  #stop(why: StopReason): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = new Stopped(why);
    this.#controller?.abort(this.#stopped);
    for (const listener of this.#waiting.splice(0)) listener(this.#stopped);
  }
}
