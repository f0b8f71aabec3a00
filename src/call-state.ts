import { identity, type Call } from './call.ts';
import type { Credential } from './credential.ts';
import type { Deadline } from './deadline.ts';
import type { ErrorContext } from './error-context.ts';
import { worstOutcome, type Attempt } from './errors.ts';
import type { Failure } from './failure.ts';
import type { HookCall } from './hooks.ts';
import type { Prepared } from './prepare.ts';
import type { Wire } from './wires/wire.ts';

/** One call on its way: what all of its attempts have in common. */
export interface CallState<T, A> {
  readonly call: Call<T, A>;
  /** What hooks tell this call from others by. */
  readonly number: number;
  readonly prepared: Prepared;
  readonly credential: Credential;
  readonly wire: Wire;
  readonly timeout: number;
  readonly totalTimeout: number;
  readonly maxRetries: number;
  /** What is left of `totalTimeout`. */
  readonly total: Deadline;
  /** The attempts that have failed so far. */
  readonly attempts: Attempt[];
  /** The tokens it was sent with: an answer may name one that was replaced many times since. */
  readonly tokens: string[];
  /** Whether a first attempt was begun, and when by the caller's clock. */
  hasBegun: boolean;
  startedAt: number | undefined;
}

/** What hooks call the attempt that comes next. */
export const hookCallOf = <T, A>({ call, number, attempts }: CallState<T, A>): HookCall => ({
  ...identity(call),
  call: number,
  attempt: attempts.length + 1,
});

/** What the error of a call keeps of an attempt that failed. */
export const attemptOf = (
  { outcome, status, requestId, reason }: Failure,
  durationMs: number,
): Attempt => ({
  outcome,
  ...(status === undefined ? {} : { status }),
  ...(requestId === undefined ? {} : { requestId }),
  durationMs,
  reason,
});

/** What errors tell of a call. */
export function errorContextOf<T, A>(
  { call, prepared, attempts, startedAt }: CallState<T, A>,
  gaveUp?: string,
): ErrorContext {
  const began = new Date(startedAt ?? Number.NaN);
  return {
    ...identity(call),
    kind: call.kind,
    ifUnknown: call.ifUnknown ?? 'it may have taken effect. Look before you send it again.',
    attempts,
    outcome: worstOutcome(attempts),
    startedAt: Number.isNaN(began.getTime()) ? undefined : began.toISOString(),
    idempotencyKey: prepared.idempotencyKey,
    gaveUp,
  };
}
