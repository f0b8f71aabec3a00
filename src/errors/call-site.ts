import { PaymentsError } from './errors.ts';

/**
 * Captures the stack of the caller, because an error's own stack starts where the response arrived.
 * V8 adds the caller's lines if the caller awaits the call at once. In V8 a read relies on those
 * lines instead, because capturing costs a sixth of a GET.
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
  // Not enumerable, because logs would otherwise print the stack a second time.
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
