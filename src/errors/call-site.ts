import { showsAwaiting } from '../internal/runtime.ts';
import { fieldOf } from '../internal/thrown.ts';
import { decorate, PaymentsError } from './errors.ts';

/** Where the caller called the SDK. The stack is formatted only if the call fails. */
export interface CallSite {
  readonly stack?: unknown;
  /** How many frames of the SDK are above the caller's. Absent if only the runtime knows. */
  readonly own?: number;
}

type Callable = (...values: never[]) => unknown;

/**
 * Captures the stack of the caller, because an error's own stack starts where the response arrived.
 * `below` is the function that the public method calls, or with `own` 0 the public method itself.
 * A bundler may rename functions and join files, so only the functions tell whose a frame is. In V8
 * a read captures no stack, because capturing costs a sixth of a GET: {@link showAwaiting}.
 */
export function captureCallSite(below: Callable, own = 1): CallSite {
  // JavaScriptCore leaves out a function that ends with a call, so nothing can be counted there.
  if (!showsAwaiting() || !('captureStackTrace' in Error)) return new Error();
  const site = { own };
  Error.captureStackTrace(site, below);
  return site;
}

/** Lets the stack of an error begin with the line where the caller called the SDK. */
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

/** Returns the frames of a stack without `own`, Node's, and those before the first line of code. */
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
 * Lets the stack of a read's error begin with the line of the caller, if the caller awaits the read.
 * `outermost` is the asynchronous function that has awaited the read. Before its first `await`, the
 * stack has the caller's frames above `below`.
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

/** Runs a method, and lets the stack of a rejection begin with the line of the caller. */
export function runFromCallSite<T>(run: () => Promise<T>): Promise<T> {
  return rejectFromCallSite(captureCallSite(runFromCallSite), run());
}

/** Runs a part of a constructor or a function, whose exceptions begin with the line of the caller. */
export function throwFromCallSite<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw withCallSite(error, captureCallSite(throwFromCallSite));
  }
}
