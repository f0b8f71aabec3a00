import { fieldOf } from '../internal/thrown.ts';
import { decorate, PaymentsError } from './errors.ts';

/**
 * Captures the stack of the caller, because an error's own stack starts where the response arrived.
 * In V8 a read captures no stack, because capturing costs a sixth of a GET, and V8 itself adds the
 * caller's lines if the caller awaits the call at once.
 */
export const captureCallSite = (): Error => new Error();

/** Adds the line where the caller called the SDK to the stack of an error. */
export function withCallSite(error: unknown, site: Error): unknown {
  if (!(error instanceof PaymentsError)) return error;
  // With an `Error.prepareStackTrace` of the application, a stack may be no text, or throw.
  let [stack, callSite] = [fieldOf(error, 'stack'), fieldOf(site, 'stack')];
  if (typeof stack !== 'string' || typeof callSite !== 'string') return error;
  for (const line of callSite.split('\n')) {
    // A line of a stack is "at get (file:1:2)" in V8 and "get@file:1:2" in JavaScriptCore.
    const place = /[^\s(@]+:\d+:\d+/.exec(line)?.[0];
    if (place !== undefined && !stack.includes(place)) stack += `\n${line}`;
  }
  return decorate(error, { stack });
}

/** Adds the line where the caller called the SDK to the stack of a rejection. */
export const rejectFromCallSite = <T>(site: Error, promise: Promise<T>): Promise<T> =>
  promise.catch((error: unknown) => {
    throw withCallSite(error, site);
  });

/** Runs a method, and adds the line of the caller to the stack of a rejection. */
export const runFromCallSite = <T>(run: () => Promise<T>): Promise<T> =>
  rejectFromCallSite(captureCallSite(), run());
