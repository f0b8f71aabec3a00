import { PaymentsError } from './errors.ts';

/**
 * The stack of the caller. An error's stack starts where the response arrived, and V8 adds the caller's
 * lines only if the call is awaited at once. A read relies on that in V8, because this costs a sixth of a GET.
 */
export const captureCallSite = (): Error => new Error();

/** Adds the place of the call to the error's stack. */
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

/** Adds the place of the call to the stack of a rejection. */
export const rejectFromCallSite = <T>(site: Error, promise: Promise<T>): Promise<T> =>
  promise.catch((error: unknown) => {
    throw withCallSite(error, site);
  });

/** Runs several calls; the stack of a rejection shows where this function was called. */
export const runFromCallSite = <T>(run: () => Promise<T>): Promise<T> =>
  rejectFromCallSite(captureCallSite(), run());
