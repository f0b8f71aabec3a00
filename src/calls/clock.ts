import { maxTimerMs } from '../internal/timers.ts';

/** Time and timers for a client. Tests pass their own. */
export interface Clock {
  /** Milliseconds since 1970, as `Date.now()`. */
  now(): number;
  /** A monotonic time in milliseconds. Default: `now`. */
  elapsed?(): number;
  /** Calls back once, after so many milliseconds. Whatever it returns is handed to `clearTimeout`. */
  setTimeout(callback: () => void, ms: number): unknown;
  /** Cancels a timer; takes what `setTimeout` returned. */
  clearTimeout(handle: unknown): void;
}

// Looked up at each call, so that fake timers installed later are seen.
const systemClock: Required<Clock> = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  setTimeout: (callback, ms) => globalThis.setTimeout(callback, ms),
  clearTimeout: (handle) => {
    globalThis.clearTimeout(handle as ReturnType<typeof setTimeout>);
  },
};

/** A clock whose timers are safe for any length: a longer one is shortened to the longest. */
export function clockFrom(given: Clock | undefined): Required<Clock> {
  const clock = given ?? systemClock;
  return {
    now: () => clock.now(),
    elapsed: () => (clock.elapsed === undefined ? clock.now() : clock.elapsed()),
    setTimeout: (callback, ms) =>
      clock.setTimeout(callback, Math.min(Math.max(0, Math.ceil(ms)), maxTimerMs)),
    // Most spans and gates are closed before they have set a timer.
    clearTimeout: (handle) => {
      if (handle !== undefined) clock.clearTimeout(handle);
    },
  };
}
