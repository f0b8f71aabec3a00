import type { Issue, Outcome, PaymentsError } from '../errors/errors.ts';
import { redactAndCut, redactor } from '../errors/redact.ts';
import { printLine, readVariable, warn } from '../internal/runtime.ts';
import { oneLine } from '../internal/text.ts';
import type { Clock } from './time.ts';

/** The call that a hook's event belongs to. Credentials are redacted in events. */
export interface HookCall {
  /** The SDK's name of the call, such as `transfers.create`. */
  readonly operation: string;
  /** The HTTP method of the request. */
  readonly method: string;
  /** The path, with `{id}` for each id. For `request`, the path as you passed it. */
  readonly path: string;
  /** A number unique to this call, to group its events when several calls run at once. */
  readonly call: number;
  /** The number of this request within the call, from 1. */
  readonly attempt: number;
  /** The reference of the payment, if `createOnce`, a batch or `decide` sends the request. */
  readonly reference?: string;
}

/** Event of `onRequest`: the SDK is about to send a request. */
export interface RequestEvent extends HookCall {
  /** The full URL of the request, with ids and query. */
  readonly url: string;
  /**
   * The headers of the request, without `authorization`. If the name of a header suggests a secret
   * (cookie, auth, session, token, password, secret, API key and the like), its value is redacted.
   */
  readonly headers: Readonly<Record<string, string>>;
}

/** Event of `onResponse`: a request has ended, with a response or without. */
export interface ResponseEvent extends HookCall {
  /** The HTTP status of the response; undefined when no response came. */
  readonly status: number | undefined;
  /** The platform's id of the request, when the response carried one. */
  readonly requestId: string | undefined;
  /** Milliseconds from sending the request to the end of the response body, or to the failure. */
  readonly durationMs: number;
  /** `ok` for success, otherwise whether this request may have taken effect. */
  readonly outcome: 'ok' | Outcome;
  /** Why the request failed; absent for success. */
  readonly reason: string | undefined;
}

/** Event of `onRetry`: the SDK will send a request again; `attempt` is its number. */
export interface RetryEvent extends HookCall {
  /** Milliseconds until the SDK sends the request again. */
  readonly delayMs: number;
  /** Why the last attempt failed. */
  readonly reason: string;
}

/** Event of `onWait`: the rate limiter delays a call. A call with too little time fails instead. */
export interface WaitEvent extends HookCall {
  /** How long the call will probably wait, in milliseconds. */
  readonly delayMs: number;
  /** Why the call waits: `the platform responded with 429`. */
  readonly reason: string;
}

/**
 * Event of `onDrift`: the SDK returned a response that differs from the documented shape. A value
 * that is new in an enum, such as a status, is reported once for each client.
 */
export interface DriftEvent extends Omit<HookCall, 'attempt' | 'reference'> {
  // The API reference documents no sign of deprecation: docs/gaps.md, row 57
  /** The HTTP status of the response. */
  readonly status: number;
  /** The platform's id of the request, when the response carried one. */
  readonly requestId: string | undefined;
  /** Which fields differ from the documented shape, and how. */
  readonly issues: readonly Issue[];
}

/** Event of `onOnce`: a `createOnce`, or a payment of a batch, has ended. */
export interface OnceEvent {
  /** The reference of the payment; undefined when its input had none. */
  readonly reference: string | undefined;
  /**
   * `created` by this call, `found` in the platform's list, or `recorded` in the journal. `failed`:
   * the Transfer ended as failed or cancelled. `not_paid`: there is certainly no Transfer.
   * `in_doubt`: nobody knows yet.
   */
  readonly result: 'created' | 'found' | 'recorded' | 'failed' | 'not_paid' | 'in_doubt';
  /** The id of the accepted Transfer; undefined if the payment ended with an error. */
  readonly transferId: string | undefined;
  /** The error of the payment; undefined when it was accepted. */
  readonly error: PaymentsError | undefined;
  /** Milliseconds since the payment's first try, including the waits of a batch. */
  readonly durationMs: number;
}

/**
 * Event of `onCall`: a call of a method has ended. A `createOnce` with all its requests is one
 * call, and so is each try of a payment in a batch and each page of a list.
 */
export interface CallEvent {
  /** The SDK's name of the call, such as `transfers.createOnce`. */
  readonly operation: string;
  /** The reference of the payment, for `createOnce` and other methods that have one. */
  readonly reference?: string;
  /** `ok` for success, otherwise whether the call may have taken effect. */
  readonly outcome: 'ok' | Outcome;
  /** How many requests the call has sent, including retries. */
  readonly attempts: number;
  /** Milliseconds from the start of the call to its end. */
  readonly durationMs: number;
  /** The platform's id of the last request, when a response carried one. */
  readonly requestId?: string;
  /** The error that the call rejects with; absent if one of your callbacks threw. */
  readonly error?: PaymentsError;
}

/**
 * Callbacks for logs and traces. A hook that throws or rejects never breaks a call; only its first
 * error is printed on stderr. A hook cannot veto a call, but `authorize` can.
 */
export interface Hooks {
  /** Called before every request, including retries. */
  onRequest?: ((event: RequestEvent) => unknown) | undefined;
  /** Called after every request, whether a response came or not. */
  onResponse?: ((event: ResponseEvent) => unknown) | undefined;
  /** Called before the wait that precedes a retry. */
  onRetry?: ((event: RetryEvent) => unknown) | undefined;
  /** Called when the rate limiter holds a call back after a 429. */
  onWait?: ((event: WaitEvent) => unknown) | undefined;
  /** Called when the SDK returned a response that differs from the documented shape. */
  onDrift?: ((event: DriftEvent) => unknown) | undefined;
  /** Called when a call has ended, however many requests it has sent. Use this hook for metrics. */
  onCall?: ((event: CallEvent) => unknown) | undefined;
  /** Called when a `createOnce`, or a payment of a batch, has ended, for example for receipts. */
  onOnce?: ((event: OnceEvent) => unknown) | undefined;
}

/**
 * Calls a hook. Errors of a hook are not thrown, and only the first is printed, because watching a
 * payment must not break it.
 */
export function callHook<Name extends string, E>(
  hooks: { readonly [Key in Name]?: ((event: E) => unknown) | undefined },
  name: Name,
  event: () => E,
): void {
  const hook = hooks[name];
  if (hook === undefined) return;
  const report = (thrown: unknown) => {
    reportHookError(name, thrown);
  };
  try {
    const result = hook(event());
    // Catch the rejection of an async hook, because an unhandled rejection may end the process.
    Promise.resolve(result).catch(report);
  } catch (thrown) {
    report(thrown);
  }
}

/** The names of hooks whose first error was printed. All clients share this set. */
const reportedHooks = new Set<string>();

function reportHookError(name: string, thrown: unknown): void {
  if (reportedHooks.has(name)) return;
  reportedHooks.add(name);
  try {
    const { message = thrown } = Object(thrown) as { readonly message?: unknown };
    const reason = redactAndCut(oneLine(String(message)), redactor([]));
    warn(
      `payments-platform-sdk: ${name} threw, and no payment was affected: ${reason}\nIts later errors are not printed.`,
    );
  } catch {
    // The value that the hook threw may itself throw when it is read.
  }
}

/** The values of PAYMENTS_LOG. Each level also prints what the levels before it print. */
const levels = ['warn', 'info', 'debug'];

/** At most this many drifts are logged, because a platform may invent field names without end. */
const maxLoggedDrifts = 1_000;

/**
 * Makes the hooks also print a line on stderr for each event that the environment variable
 * PAYMENTS_LOG selects. `warn` prints failures, retries, waits and the first drift of each
 * operation and field, `info` also successful attempts, `debug` also their URLs.
 */
export function withLogging(hooks: Hooks, { now }: Required<Clock>): Hooks {
  const level = levels.indexOf(readVariable('PAYMENTS_LOG')?.trim() ?? '');
  if (level < 0) return hooks;
  /** The URLs of running calls, by the number of the call. Only the level `debug` prints URLs. */
  const urls = new Map<number, string>();
  const loggedDrifts = new Set<string>();
  const print = (
    logLevel: string,
    event: Omit<HookCall, 'attempt' | 'reference'>,
    details: string,
  ): void => {
    const { call, operation, method, path } = event;
    const place = urls.get(call) ?? path;
    const time = new Date(now()).toISOString();
    printLine(
      'error',
      `${time} payments ${logLevel} #${call} ${operation} ${method} ${place} ${details}`,
    );
  };
  return {
    onRequest(event) {
      if (levels[level] === 'debug') urls.set(event.call, event.url);
      return hooks.onRequest?.(event);
    },
    onResponse(event) {
      const { attempt, status, requestId, durationMs, outcome, reason } = event;
      const details = [
        `attempt ${attempt}:`,
        status ?? 'no response',
        `in ${durationMs} ms`,
        requestId !== undefined && `request ${requestId}`,
        reason !== undefined && `${outcome}: ${reason}`,
      ].filter((detail) => detail !== false);
      if (outcome !== 'ok') print('warn', event, details.join(' '));
      else if (levels[level] !== 'warn') print('info', event, details.join(' '));
      urls.delete(event.call);
      return hooks.onResponse?.(event);
    },
    onRetry(event) {
      print('warn', event, `again in ${event.delayMs} ms: ${event.reason}`);
      return hooks.onRetry?.(event);
    },
    onWait(event) {
      print('warn', event, `held back for ${event.delayMs} ms: ${event.reason}`);
      return hooks.onWait?.(event);
    },
    onDrift(event) {
      const paths = event.issues
        .map(({ path }) => path)
        .filter((path) => {
          const drift = `${event.operation} ${path.replaceAll(/\[\d+\]/g, '[]')}`;
          if (loggedDrifts.has(drift) || loggedDrifts.size === maxLoggedDrifts) return false;
          loggedDrifts.add(drift);
          return true;
        });
      // Print only paths, because the messages of a caller's own schema may quote the response.
      if (paths.length > 0) print('warn', event, `undocumented shape: ${paths.join(', ')}`);
      return hooks.onDrift?.(event);
    },
    onCall: hooks.onCall,
    onOnce: (event) => hooks.onOnce?.(event),
  };
}
