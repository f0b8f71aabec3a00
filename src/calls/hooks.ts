import type { Issue, Outcome, PaymentsError } from '../errors/errors.ts';
import { redactAndCut, redactor } from '../errors/redact.ts';
import type { TransferId } from '../schemas/transfer.ts';
import { host, warn } from '../internal/runtime.ts';
import { oneLine } from '../internal/text.ts';
import type { Clock } from './time.ts';

/** The call that an event belongs to; never includes a credential. */
export interface HookCall {
  /** The SDK's name of the call, such as `transfers.create`. */
  readonly operation: string;
  /** The HTTP method. */
  readonly method: string;
  /** Path template without ids: `/transfers/{id}`. For `request`, the path as you passed it. */
  readonly path: string;
  /** A number unique to this call: it links the events of one call when calls run concurrently. */
  readonly call: number;
  /** Counts the requests of this call, from 1. */
  readonly attempt: number;
  /** The reference of the payment, if `createOnce`, a batch or `resolveOnce` sends the request. */
  readonly reference?: string;
}

/** A request is about to go out. */
export interface RequestEvent extends HookCall {
  /** The full URL, with ids and query. */
  readonly url: string;
  /**
   * The headers that go out, without `authorization`. The values of headers with names that suggest a secret
   * (cookie, auth, session, token, password, secret, API key and the like) are redacted.
   */
  readonly headers: Readonly<Record<string, string>>;
}

/** A request has ended, with a response or without. */
export interface ResponseEvent extends HookCall {
  /** The HTTP status; absent when no response came. */
  readonly status: number | undefined;
  /** The platform's id of the request, when the response carried one. */
  readonly requestId: string | undefined;
  /** Milliseconds from dispatch to the end of the body, or to the failure. */
  readonly durationMs: number;
  /** `ok` for success, otherwise what the failure of this attempt proves. */
  readonly outcome: 'ok' | Outcome;
  /** Why the request failed; absent for success. */
  readonly reason: string | undefined;
}

/** A call is about to be sent again; `attempt` is the number of the request to come. */
export interface RetryEvent extends HookCall {
  /** Milliseconds until the retry. */
  readonly delayMs: number;
  /** Why the last attempt failed. */
  readonly reason: string;
}

/** The rate limiter holds a call back. A call that may not wait for so long fails instead. */
export interface WaitEvent extends HookCall {
  /** How long the call will probably wait, in milliseconds. */
  readonly delayMs: number;
  /** Why the call waits: `the platform responded with 429`. */
  readonly reason: string;
}

/** A response that departs from the documented shape was returned as it came. */
export interface DriftEvent extends Omit<HookCall, 'attempt' | 'reference'> {
  // Deprecation is not defined: docs/gaps.md, row 57
  /** The HTTP status. */
  readonly status: number;
  /** The platform's id of the request, when the response carried one. */
  readonly requestId: string | undefined;
  /** What differs, and where. */
  readonly issues: readonly Issue[];
}

/** A `createOnce`, or a payment of a batch, has ended. */
export interface OnceEvent {
  /** The reference of the payment; undefined when its input had none. */
  readonly reference: string | undefined;
  /**
   * `created` by this call, `found` in the list, or `recorded` in the journal. `failed`: this call
   * did not pay. `in_doubt`: the outcome is not known.
   */
  readonly result: 'created' | 'found' | 'recorded' | 'failed' | 'in_doubt';
  /** The accepted Transfer; undefined with an error. */
  readonly transferId: TransferId | undefined;
  /** The error of the payment; undefined when it was accepted. */
  readonly error: PaymentsError | undefined;
  /** Milliseconds since the payment's first try, including the waits of a batch. */
  readonly durationMs: number;
}

/**
 * A call of a method has ended. A `createOnce` counts as one call with all its requests, and so
 * does each try of a payment in a batch. Each page of a list is a call, too.
 */
export interface CallEvent {
  /** The SDK's name of the call, such as `transfers.createOnce`. */
  readonly operation: string;
  /** The reference of a payment made once. */
  readonly reference?: string;
  /** `ok` for success, otherwise the outcome that is proven. */
  readonly outcome: 'ok' | Outcome;
  /** How many requests the call has sent, repeated ones included. */
  readonly attempts: number;
  /** Milliseconds from the call to its end. */
  readonly durationMs: number;
  /** The platform's id of the last request, when a response carried one. */
  readonly requestId?: string;
  /** The error that the call rejects with; absent also if one of your callbacks threw. */
  readonly error?: PaymentsError;
}

/**
 * Callbacks for logs and traces. A hook that throws or rejects never breaks a call; only its first
 * error is printed on stderr. A hook cannot veto a call, but `authorize` can.
 */
export interface Hooks {
  /** Before every request, repeated ones included. */
  onRequest?: ((event: RequestEvent) => unknown) | undefined;
  /** After every request, whether a response came or not. */
  onResponse?: ((event: ResponseEvent) => unknown) | undefined;
  /** Before the wait that precedes a repeated request. */
  onRetry?: ((event: RetryEvent) => unknown) | undefined;
  /** When the rate limiter holds a call back after a 429. */
  onWait?: ((event: WaitEvent) => unknown) | undefined;
  /** When a response that departs from the documented shape was returned as it came. */
  onDrift?: ((event: DriftEvent) => unknown) | undefined;
  /** When a call has ended, however many requests it has sent: for metrics. */
  onCall?: ((event: CallEvent) => unknown) | undefined;
  /** When a `createOnce`, or a payment of a batch, has ended: for receipts, metrics and audit logs. */
  onOnce?: ((event: OnceEvent) => unknown) | undefined;
}

/** Calls a hook. Its errors are only reported, because watching a payment must not break it. */
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
    // The rejection of an async hook must not become unhandled.
    Promise.resolve(result).catch(report);
  } catch (thrown) {
    report(thrown);
  }
}

/** The hooks whose error was printed, by name for all clients: a service may make many clients. */
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
    // Reading what the hook has thrown may throw again.
  }
}

const levels = ['warn', 'info', 'debug'];

/** The most drifts to remember, because a platform may invent names without end. */
const maxLoggedDrifts = 1_000;

/**
 * Makes a client's hooks also print a line on stderr for each event that PAYMENTS_LOG selects.
 * `warn` prints failures, waits and the first drift of each operation and path, `info` every
 * attempt, `debug` also its URL.
 */
export function withLogging(hooks: Hooks, { now }: Required<Clock>): Hooks {
  const level = levels.indexOf(host.process?.env?.['PAYMENTS_LOG']?.trim() ?? '');
  if (level < 0) return hooks;
  const urls = new Map<number, string>();
  const loggedDrifts = new Set<string>();
  const print = (
    logLevel: string,
    event: Omit<HookCall, 'attempt' | 'reference'>,
    details: string,
  ): void => {
    const { call, operation, method, path } = event;
    const target = urls.get(call) ?? path;
    const time = new Date(now()).toISOString();
    // oxlint-disable-next-line no-console -- stderr on every runtime
    console.error(
      `${time} payments ${logLevel} #${call} ${operation} ${method} ${target} ${details}`,
    );
  };
  return {
    onRequest(event) {
      if (level === 2) urls.set(event.call, event.url);
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
      else if (level > 0) print('info', event, details.join(' '));
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
      // Messages are left out, because those of a caller's own schema may quote the response.
      if (paths.length > 0) print('warn', event, `undocumented shape: ${paths.join(', ')}`);
      return hooks.onDrift?.(event);
    },
    onCall: hooks.onCall,
    onOnce: (event) => hooks.onOnce?.(event),
  };
}
