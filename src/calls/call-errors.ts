import { errorContextOf, type CallState } from './call-state.ts';
import { credentialNames, UnusableCredential } from './credential.ts';
import { Stopped } from './deadline.ts';
import { composeMessage, factsOf, type ErrorContext } from './error-context.ts';
import { redactError, saidBy } from '../errors/error-copy.ts';
import { ConfigurationError, PaymentsError } from '../errors/errors.ts';
import { abortError, timeoutError } from './failure.ts';
import { GateTooLong } from './gate.ts';

/* The errors that end a call between its attempts, or before the first. */

/** The error of a call that was stopped between two attempts, or before the first. */
export function errorWhileWaiting(error: unknown, state: CallState): unknown {
  const context = errorContextOf(state);
  if (error instanceof GateTooLong) {
    return timeoutError('gate', error.ms, context, { retryAfterMs: Math.ceil(error.ms) });
  }
  if (!(error instanceof Stopped)) return error;
  return error.why.by === 'caller'
    ? abortError(error.why.reason, context)
    : timeoutError('total', state.totalTimeout, context);
}

/** The error of a call whose function for the credential failed. */
export function credentialError(error: unknown, state: CallState): ConfigurationError {
  const { option } = credentialNames[state.credential.kind];
  const context = errorContextOf(state);
  const unusable = error instanceof UnusableCredential;
  const cause = unusable ? undefined : redactError(error, state.redact);
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
export function unexpectedError(error: unknown, state: CallState): PaymentsError {
  const outcome = state.startedAt === undefined ? 'not_sent' : 'unknown';
  const context: ErrorContext = { ...errorContextOf(state), attempts: [], outcome };
  const cause = redactError(error, state.redact);
  return new PaymentsError(
    composeMessage(`The call ended with an unexpected error${saidBy(cause)}.`, context, ''),
    { ...factsOf(context, false), cause },
  );
}
