import { PaymentsError } from './errors.ts';

/**
 * Where the caller has called: an error's stack begins where the answer came in, and V8 adds the caller's
 * lines to it only if he awaits the call at once. A read relies on that, where there is V8: this costs a
 * sixth of what a GET costs.
 */
export const captureCallSite = (): Error => new Error();

/** The error, whose stack now shows where the call was made. */
export function withCallSite(error: unknown, site: Error): unknown {
  if (!(error instanceof PaymentsError)) return error;
  let stack = error.stack ?? '';
  for (const line of site.stack?.split('\n') ?? []) {
    // V8 writes "at get (file:1:2)", JavaScriptCore "get@file:1:2".
    const place = /[^\s(@]+:\d+:\d+/.exec(line)?.[0];
    if (place !== undefined && !stack.includes(place)) stack += `\n${line}`;
  }
  // Enumerable, it would be logged a second time.
  Object.defineProperty(error, 'stack', { value: stack, writable: true, configurable: true });
  return error;
}

/** The promise, whose rejection shows where the call was made. */
export const rejectFromCallSite = <T>(site: Error, promise: Promise<T>): Promise<T> =>
  promise.catch((error: unknown) => {
    throw withCallSite(error, site);
  });

/** Runs what takes several calls; the stack of what it rejects with shows where it was called. */
export const runFromCallSite = <T>(run: () => Promise<T>): Promise<T> =>
  rejectFromCallSite(captureCallSite(), run());
