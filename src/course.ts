import { identity, type Call } from './call.ts';
import { credentialName, UnusableCredential, type Credential } from './credential.ts';
import { Stopped, type Deadline } from './deadline.ts';
import { ConfigurationError, PaymentsError, worstOutcome, type Attempt } from './errors.ts';
import { aborted, timedOut, type Failure } from './failure.ts';
import { GateTooLong } from './gate.ts';
import type { HookCall } from './hooks.ts';
import type { Prepared } from './prepare.ts';
import { redactError } from './redact.ts';
import type { Redact } from './redactor.ts';
import { compose, factsOf, type Story } from './story.ts';
import type { Wire } from './wires/wire.ts';

/** One call on its way: what all of its attempts have in common. */
export interface Course<T, A> {
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
  /** Whether a first attempt was begun, and when by the caller's clock. */
  hasBegun: boolean;
  startedAt: number | undefined;
}

/** What hooks call the attempt that comes next. */
export const nextAttempt = <T, A>({ call, number, attempts }: Course<T, A>): HookCall => ({
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
export function storyOf<T, A>(
  { call, prepared, attempts, startedAt }: Course<T, A>,
  gaveUp?: string,
): Story {
  const began = new Date(startedAt ?? Number.NaN);
  return {
    ...identity(call),
    kind: call.kind,
    doubt: call.doubt ?? 'it may have taken effect. Look before you send it again.',
    attempts,
    outcome: worstOutcome(attempts),
    startedAt: Number.isNaN(began.getTime()) ? undefined : began.toISOString(),
    idempotencyKey: prepared.idempotencyKey,
    gaveUp,
  };
}

/** The error of a call that was stopped between two attempts, or before the first. */
export function whileWaiting<T, A>(error: unknown, course: Course<T, A>): unknown {
  const story = storyOf(course);
  if (error instanceof GateTooLong) {
    return timedOut('gate', 'not_sent', error.ms, undefined, Math.ceil(error.ms)).toError(story);
  }
  if (!(error instanceof Stopped)) return error;
  return error.why.by === 'caller'
    ? aborted(error.why.reason, 'not_sent').toError(story)
    : timedOut('total', 'not_sent', course.totalTimeout).toError(story);
}

/** The error of a call whose function for the credential failed. */
export function credentialError<T, A>(
  error: unknown,
  course: Course<T, A>,
  redact: Redact,
): ConfigurationError {
  const { option } = credentialName(course.credential.kind);
  const story = storyOf(course);
  const unusable = error instanceof UnusableCredential;
  const cause = unusable ? undefined : redactError(error, redact);
  const why = unusable ? `gave something unusable: ${error.message}` : `failed${saidBy(cause)}`;
  return new ConfigurationError(
    compose(`The function in the option ${option} ${why}.`, story, ''),
    { ...factsOf(story, false), cause },
  );
}

/**
 * What should not happen, such as a clock of the caller's that throws. Nobody knows how far the call
 * had come, so once an attempt was begun it may have taken effect.
 */
export function unforeseen<T, A>(
  error: unknown,
  course: Course<T, A>,
  redact: Redact,
): PaymentsError {
  const outcome = course.hasBegun ? 'unknown' : 'not_sent';
  const story: Story = { ...storyOf(course), attempts: [], outcome };
  const cause = redactError(error, redact);
  return new PaymentsError(
    compose(`The call was ended by an error that was not foreseen${saidBy(cause)}.`, story, ''),
    { ...factsOf(story, false), cause },
  );
}

/** What an error said, behind the sentence that tells of it. */
const saidBy = (cause: unknown): string =>
  cause instanceof Error && cause.message !== '' ? `: ${cause.message}` : '';
