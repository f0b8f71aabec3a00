import { showsAwaiting } from '../internal/runtime.ts';
import { fieldOf } from '../internal/thrown.ts';
import { decorate, PaymentsError } from './errors.ts';

/** Where the caller called the SDK. The stack is formatted only if the call fails. */
export interface CallSite {
  readonly stack?: unknown;
  /** How many frames of the SDK are above the caller's. Absent if this runtime does not show all of them. */
  readonly own?: number;
}

type Callable = (...values: never[]) => unknown;

/**
 * Captures the stack of the caller, because an error's own stack starts where the response arrived.
 * `below`, the function that the public method calls, or with `own` 0 the method itself, tells
 * whose a frame is, because bundlers rename functions and join files.
 */
export function captureCallSite(below: Callable, own = 1): CallSite {
  // JavaScriptCore leaves out a function that ends with a call, so nothing can be counted there.
  if (!showsAwaiting() || !('captureStackTrace' in Error)) return new Error();
  const site = { own };
  Error.captureStackTrace(site, below);
  return site;
}

/** Adds the line where the caller called the SDK to an error's stack: in V8 at the start, elsewhere at the end. */
export function withCallSite(error: unknown, site: CallSite): unknown {
  if (!(error instanceof PaymentsError)) return error;
  const { errors } = error;
  if (Array.isArray(errors)) for (const inner of errors) withCallSite(inner, site);
  const callSite = fieldOf(site, 'stack');
  if (site.own === undefined) {
    const stack = fieldOf(error, 'stack');
    if (typeof stack !== 'string' || typeof callSite !== 'string') return error;
    const text = callSite
      .split('\n')
      .filter((line) => !stack.includes(/[^\s(@]+:\d+:\d+/.exec(line)?.[0] ?? ''))
      .join('\n');
    return decorate(error, { stack: text === '' ? stack : `${stack}\n${text}` });
  }
  const frames = framesOfCaller(callSite, site.own);
  // Without a frame of the caller, as with Error.stackTraceLimit 0, the SDK's own frames remain.
  if (frames.length === 0) return error;
  return decorate(error, { stack: [`${error.name}: ${error.message}`, ...frames].join('\n') });
}

/**
 * Returns the caller's frames of a stack: without the first `own` frames, Node's frames, and
 * leading frames that name no line.
 */
export function framesOfCaller(stack: unknown, own = 0): readonly string[] {
  // With an `Error.prepareStackTrace` of the application, a stack may be no text, or throw.
  if (typeof stack !== 'string') return [];
  const frames = stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(own)
    .filter((frame) => !/[( ]node:\w/.test(frame));
  const first = frames.findIndex((frame) => /:\d+\)?$/.test(frame));
  return first < 0 ? [] : frames.slice(first);
}

/**
 * Adds the line of a caller who awaits a read to the stack of its error, because reads in V8
 * capture no stack at the start (it costs a sixth of a GET). `outermost` is the asynchronous
 * function that awaited the read; `below` serves errors before its first `await`.
 */
export function showAwaiting(error: unknown, below: Callable, outermost: Callable): unknown {
  withCallSite(error, captureCallSite(outermost, 0));
  return withCallSite(error, captureCallSite(below));
}

/** Adds the line where the caller called the SDK to the stack of a rejection. */
export const rejectFromCallSite = <T>(site: CallSite, promise: Promise<T>): Promise<T> =>
  promise.catch((error: unknown) => {
    throw withCallSite(error, site);
  });

/** Runs a method, and adds the line of the caller to the stack of a rejection. */
export function runFromCallSite<T>(run: () => Promise<T>): Promise<T> {
  return rejectFromCallSite(captureCallSite(runFromCallSite), run());
}

/** Runs a part of a constructor or a function, and adds the line of the caller to the stack of its exceptions. */
export function throwFromCallSite<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw withCallSite(error, captureCallSite(throwFromCallSite));
  }
}
