import type { Attempt, Outcome, PaymentsError } from './errors.ts';
import type { Failure, Words } from './failure.ts';
import { createError, type MessageParts } from './message.ts';
import { worstOutcome, type Kind } from './outcome.ts';
import type { Redact } from './redact.ts';

interface FailedCall {
  readonly call: {
    readonly operation: string;
    readonly method: string;
    readonly path: { readonly template: string };
    readonly kind: Kind;
    readonly ifUnknown?: string;
  };
  readonly attempts: readonly Attempt[];
  readonly startedAt: Date | undefined;
  readonly prepared: { readonly idempotencyKey: string | undefined; readonly baseUrl: string };
  readonly credential: { readonly kind: 'apiKey' | 'jwt'; describeFix(): string };
  readonly redact: Redact;
}

/**
 * Creates the error with which a call rejects. The failure chooses the class and says what went
 * wrong, the call adds fields and sentences, and `note` says why the SDK did not retry.
 */
export function createCallError(failure: Failure, failed: FailedCall, note = ''): PaymentsError {
  const { call, attempts, prepared, credential, redact } = failed;
  const outcome = worstOutcome([...attempts, failure]);
  const callFacts = {
    outcome,
    operation: call.operation,
    method: call.method,
    path: call.path.template,
    attempts,
    // A creation with an unknown outcome must not be sent again, by the SDK or by the caller.
    retryable: failure.transient && !(call.kind === 'once' && outcome === 'unknown'),
    startedAt: failed.startedAt?.toISOString(),
    idempotencyKey: prepared.idempotencyKey,
  };
  const addCallSentences = (words: Words): MessageParts => ({
    ...arrangeWords(words, callFacts.retryable && call.kind === 'safe'),
    notes: [note, call.kind !== 'safe' && words.isAccepted === true && acceptedNote],
    consequence: call.kind !== 'safe' && describeConsequence(outcome, call.ifUnknown),
    request: describeRequest(failure, failed, outcome),
  });
  const error = failure.createError({
    path: call.path.template,
    isWrite: call.kind !== 'safe',
    host: redact(new URL(prepared.baseUrl).host),
    checkUrl: urlHints[credential.kind],
    describeCredentialFix: () => credential.describeFix(),
    redact,
    create: (ErrorClass, words, facts) =>
      createError(ErrorClass, addCallSentences(words), { ...callFacts, ...facts }),
  });
  // Leave out the frames of this function and those it calls, because V8 keeps only ten frames and
  // the caller's must be among them.
  if ('captureStackTrace' in Error) Error.captureStackTrace(error, createCallError);
  return error;
}

/**
 * Moves a short message of the platform or the system into the first line of the error. If a call
 * is repeatable and has no hint, the hint is to try again.
 */
function arrangeWords({ what, hint, reported = '', isInline }: Words, isRepeatable: boolean) {
  const isInFirstLine = isInline === true && reported !== '' && reported.length <= maxInlineLength;
  return {
    what: isInFirstLine ? `${what}: ${reported.replace(/\.$/, '')}` : what,
    hint: hint || (isRepeatable ? 'A read changes nothing: try again.' : ''),
    reported: isInFirstLine ? undefined : reported,
  };
}

function describeRequest(failure: Failure, failed: FailedCall, outcome: Outcome): string {
  const { call, attempts, prepared, redact, startedAt } = failed;
  const request = `Request: ${call.method} ${prepared.baseUrl}${call.path.template} (${call.operation})`;
  return [
    redact(request),
    attempts.length > 1 && `${attempts.length} attempts`,
    failure.requestId !== undefined && `request ${failure.requestId}`,
    call.kind !== 'safe' && outcome === 'unknown' && `started ${startedAt?.toISOString()}`,
  ]
    .filter(Boolean)
    .join(', ');
}

/** If a message of the platform has more characters, the error shows it on a line of its own. */
const maxInlineLength = 72;

const acceptedNote = 'The status shows that the platform accepted the call.';

const urlHints = {
  apiKey: 'Check the base URL (option baseUrl or PAYMENTS_BASE_URL).',
  jwt: 'Check the root URL (option rootUrl or PAYMENTS_ROOT_URL).',
} as const;

function describeConsequence(
  outcome: Outcome,
  ifUnknown = 'it may have taken effect. Check before you send it again.',
): string {
  if (outcome === 'not_sent') return 'Nothing was sent.';
  if (outcome === 'rejected') return 'It did not take effect.';
  return `Outcome unknown: ${ifUnknown} See docs/fail.md.`;
}
