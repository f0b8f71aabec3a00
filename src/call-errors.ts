import { errorContextOf, type CallState } from './call-state.ts';
import { credentialName, UnusableCredential } from './credential.ts';
import { Stopped } from './deadline.ts';
import { composeMessage, factsOf, type ErrorContext } from './error-context.ts';
import { oneLine, redactError } from './error-copy.ts';
import { ConfigurationError, PaymentsError } from './errors.ts';
import { aborted, timedOut } from './failure.ts';
import { GateTooLong } from './gate.ts';
import type { Redact } from './redactor.ts';

/* The errors that end a call between its attempts, or before the first. */

/** The error of a call that was stopped between two attempts, or before the first. */
export function errorWhileWaiting<T, A>(error: unknown, state: CallState<T, A>): unknown {
  const context = errorContextOf(state);
  if (error instanceof GateTooLong) {
    return timedOut('gate', 'not_sent', error.ms, undefined, Math.ceil(error.ms)).toError(context);
  }
  if (!(error instanceof Stopped)) return error;
  return error.why.by === 'caller'
    ? aborted(error.why.reason, 'not_sent').toError(context)
    : timedOut('total', 'not_sent', state.totalTimeout).toError(context);
}

/** The error of a call whose function for the credential failed. */
export function credentialError<T, A>(
  error: unknown,
  state: CallState<T, A>,
  redact: Redact,
): ConfigurationError {
  const { option } = credentialName(state.credential.kind);
  const context = errorContextOf(state);
  const unusable = error instanceof UnusableCredential;
  const cause = unusable ? undefined : redactError(error, redact);
  const why = unusable
    ? `returned an unusable credential: ${error.message}`
    : `failed${saidBy(cause)}`;
  return new ConfigurationError(
    composeMessage(`The function in the option ${option} ${why}.`, context, ''),
    { ...factsOf(context, false), cause },
  );
}

/**
 * What should not happen, such as a clock of the caller's that throws. Nobody knows how far the call
 * had come, so once an attempt was begun it may have taken effect.
 */
export function unexpectedError<T, A>(
  error: unknown,
  state: CallState<T, A>,
  redact: Redact,
): PaymentsError {
  const outcome = state.hasBegun ? 'unknown' : 'not_sent';
  const context: ErrorContext = { ...errorContextOf(state), attempts: [], outcome };
  const cause = redactError(error, redact);
  return new PaymentsError(
    composeMessage(`The call ended with an unexpected error${saidBy(cause)}.`, context, ''),
    { ...factsOf(context, false), cause },
  );
}

/** What an error said, behind the sentence that tells of it. */
const saidBy = (cause: unknown): string =>
  cause instanceof Error && cause.message !== '' ? `: ${oneLine(cause.message)}` : '';
