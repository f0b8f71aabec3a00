import { maxTimerMs } from '../internal/timers.ts';

/** Time and timers for a client. Tests pass their own. */
export interface Clock {
  /** Milliseconds since 1970, as `Date.now()`. */
  now(): number;
  /** A monotonic time in milliseconds. Default: `now`. */
  elapsed?(): number;
  /** Calls back once, after so many milliseconds. The result is passed to `clearTimeout`. */
  setTimeout(callback: () => void, ms: number): unknown;
  /** Cancels a timer; takes what `setTimeout` returned. */
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

/** Completes a clock; its timers are limited to the maximum that `setTimeout` supports. */
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
