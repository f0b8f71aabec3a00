import type * as AsyncHooks from 'node:async_hooks';
import type { TracingChannel } from 'node:diagnostics_channel';
import {
  PaymentsError,
  paymentsErrorFrom,
  type CallIdentity,
  type Outcome,
} from '../errors/errors.ts';
import { builtinModule } from '../internal/runtime.ts';
import { callHook, type Hooks } from './hooks.ts';
import type { Clock } from './time.ts';

/** A call of a public method while it runs. Such a call may send many requests. */
export interface Trace {
  /** The reference of the payment that the call makes, for the events of its requests. */
  readonly reference: string | undefined;
  /** Whether `hooks.onCall` or a tracing subscriber gets a report at the end of the call. */
  readonly isReported: boolean;
  /** How many requests the call has sent so far, including retries. */
  attempts: number;
  /** The platform's id of the latest request for which the platform returned an id. */
  requestId: string | undefined;
}

/**
 * The message to subscribers of the tracing channel. They may log all of it, so the reference is
 * redacted, and the message has nothing of a result or a body.
 */
interface TraceMessage extends CallIdentity {
  readonly reference?: string;
  outcome?: 'ok' | Outcome;
  attempts?: number;
  requestId?: string;
  error?: Error;
}

let channel: TracingChannel | undefined;

/** Returns Node's tracing channel if anything subscribes to it. Other runtimes may have none. */
function findSubscribedChannel(): TracingChannel | undefined {
  channel ??= (
    builtinModule('node:diagnostics_channel') as
      { readonly tracingChannel?: (name: string) => TracingChannel } | undefined
  )?.tracingChannel?.('payments-platform-sdk:call');
  return channel?.hasSubscribers === true ? channel : undefined;
}

/**
 * Captures the current asynchronous context, for Node's AsyncLocalStorage. The returned function
 * runs its argument in that context, so that hooks and subscribers find the caller's logger or span
 * in requests that start later.
 */
export function keepContext(): <T>(run: () => T) => T {
  const hooks = builtinModule('node:async_hooks') as Partial<typeof AsyncHooks> | undefined;
  return hooks?.AsyncLocalStorage?.snapshot() ?? ((run) => run());
}

/** Runs a call of a public method, and reports its end to `hooks.onCall` and to subscribers. */
export function traceCall<T>(
  { hooks, clock }: { readonly hooks: Hooks; readonly clock: Required<Clock> },
  { operation, method, path }: CallIdentity,
  reference: string | undefined,
  run: (trace: Trace) => Promise<T>,
): Promise<T> {
  const tracing = findSubscribedChannel();
  const isReported = tracing !== undefined || hooks.onCall !== undefined;
  const trace: Trace = { reference, isReported, attempts: 0, requestId: undefined };
  if (!isReported) return run(trace);
  const call = { operation, ...(reference !== undefined && { reference }) };
  const message: TraceMessage = { ...call, method, path };
  const publish = (event: 'end' | 'asyncStart' | 'asyncEnd' | 'error'): void => {
    ignoreErrors(() => tracing?.[event].publish(message));
  };
  const startedAt = clock.elapsed();
  const report = (outcome: 'ok' | Outcome, error?: PaymentsError): void => {
    const { attempts, requestId } = trace;
    const facts = { outcome, attempts, ...(requestId !== undefined && { requestId }) };
    const durationMs = Math.round(clock.elapsed() - startedAt);
    callHook(hooks, 'onCall', () => ({ ...call, ...facts, durationMs, ...(error && { error }) }));
    const hasFailed = outcome !== 'ok';
    ignoreErrors(() => Object.assign(message, facts, hasFailed && { error: describeError(error) }));
    if (hasFailed) publish('error');
    publish('asyncStart');
    publish('asyncEnd');
  };
  const start = (): Promise<T> => reportEnd(run(trace), report);
  // The call runs inside `runStores`, for the subscribers' context. If `runStores` throws before it
  // has started the call, the call starts without that context.
  let promise: Promise<T> | undefined;
  ignoreErrors(() => tracing?.start.runStores(message, () => (promise ??= start())));
  promise ??= start();
  publish('end');
  return promise;
}

/** Reports the end of a call, without `await` because that would add a frame to the caller's stack. */
const reportEnd = <T>(
  promise: Promise<T>,
  report: (outcome: 'ok' | Outcome, error?: PaymentsError) => void,
): Promise<T> =>
  promise.then(
    (result) => {
      report('ok');
      return result;
    },
    (error: unknown) => {
      if (error instanceof PaymentsError) report(error.outcome, error);
      else report('unknown');
      throw error;
    },
  );

/** Runs code of tracing subscribers. A payment must not fail because a subscriber throws. */
function ignoreErrors(run: () => unknown): void {
  try {
    run();
  } catch {
    // Node itself reports an exception of a subscriber as uncaught. This `catch` only ignores the
    // TypeError of a message that a subscriber has frozen.
  }
}

/**
 * Copies an error for tracing subscribers, without the fields that hold what was sent and received.
 * Replaces the message, because it may show amounts and quote the platform.
 */
function describeError(error: PaymentsError | undefined): Error {
  if (error === undefined) return new Error('a callback threw');
  const { name, stack, outcome, operation, method, path, attempts, retryable } = error;
  const { status, reason } = error as { readonly status?: unknown; readonly reason?: unknown };
  const message = [operation, reason, attempts.at(-1)?.reason].filter(Boolean).join(': ');
  const call = { name, message, outcome, operation, method, path, attempts, retryable };
  const frames = stack?.replace(error.message, () => message);
  return paymentsErrorFrom({ ...call, status, reason, stack: frames }) ?? new Error(message);
}
