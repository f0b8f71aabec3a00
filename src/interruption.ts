import { storyOf, type Course } from './course.ts';
import { credentialName, UnusableCredential } from './credential.ts';
import { Stopped } from './deadline.ts';
import { ConfigurationError, PaymentsError } from './errors.ts';
import { aborted, timedOut } from './failure.ts';
import { GateTooLong } from './gate.ts';
import { redactError } from './redact.ts';
import type { Redact } from './redactor.ts';
import { compose, factsOf, type Story } from './story.ts';

/* The errors that end a call between its attempts, or before the first. */

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
  const why = unusable
    ? `returned an unusable credential: ${error.message}`
    : `failed${saidBy(cause)}`;
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
    compose(`The call ended with an unexpected error${saidBy(cause)}.`, story, ''),
    { ...factsOf(story, false), cause },
  );
}

/** What an error said, behind the sentence that tells of it. */
const saidBy = (cause: unknown): string =>
  cause instanceof Error && cause.message !== '' ? `: ${cause.message}` : '';
