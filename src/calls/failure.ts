import type { AttemptResult } from './attempt.ts';
import { composeMessage, factsOf, type ErrorContext } from './error-context.ts';
import { oneLine, redactAndCut, redactError } from '../errors/error-copy.ts';
import {
  AbortError,
  ConnectionError,
  TimeoutError,
  type Outcome,
  type PaymentsError,
  type TimeoutPhase,
} from '../errors/errors.ts';
import { fieldOf, messageOf } from '../errors/foreign-error.ts';
import { connectionOutcome, statusOutcome, type Kind, type WireFacts } from '../errors/outcome.ts';
import type { Redact } from '../errors/redact.ts';

/** A failed attempt: what it proves, and the error to throw if it is the last one. */
export interface Failure {
  readonly outcome: Outcome;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  /** In a few words, for the log of attempts. */
  readonly reason: string;
  /** Whether it may pass by itself. */
  readonly transient: boolean;
  readonly retryAfterMs: number | undefined;
  toError(context: ErrorContext): PaymentsError;
}

/** The failure of an attempt that got no answer. */
export function noAnswerFailure(
  result: Exclude<AttemptResult, { type: 'answer' }>,
  wire: WireFacts,
  kind: Kind,
  redact: Redact,
  limits: { readonly timeout: number; readonly totalTimeout: number },
): Failure {
  if (result.type === 'stopped') {
    const outcome =
      result.status === undefined
        ? result.trace.started === false
          ? 'not_sent'
          : 'unknown'
        : statusOutcome(result.status, kind, result.trace.repeated === true);
    switch (result.why.by) {
      case 'caller':
        return aborted(result.why.reason, outcome, result.status);
      case 'attempt':
        return timedOut(
          result.trace.started === false ? 'connect' : 'headers',
          outcome,
          limits.timeout,
          result.status,
        );
      case 'total':
        return timedOut('total', outcome, limits.totalTimeout, result.status);
    }
  }
  const verdict = connectionOutcome(result.error, wire, result.trace);
  const transient = verdict.transient && result.dispatched;
  const cause = redactError(result.error, redact);
  const text =
    result.error instanceof Error ? oneLine(redactAndCut(innermost(result.error), redact)) : '';
  const code = verdict.code === undefined ? undefined : oneLine(redact(verdict.code));
  return {
    outcome: verdict.outcome,
    status: undefined,
    requestId: undefined,
    reason: code ?? (text === '' ? 'connection failed' : `connection failed: ${text}`),
    transient,
    retryAfterMs: undefined,
    toError(context) {
      const message = composeMessage(
        `The connection to the platform failed${code === undefined ? '' : ` (${code})`}${text === '' || text === code ? '' : `: ${text}`}.`,
        context,
        transient
          ? connectionRemedy(code)
          : 'Retrying will not help: fix the certificate or the request first.',
      );
      const facts = { ...factsOf(context, transient), code, cause };
      return verdict.connectTimedOut
        ? new TimeoutError(message, { ...facts, phase: 'connect' })
        : new ConnectionError(message, facts);
    },
  };
}

/** The failure of an attempt whose caller left. */
const aborted = (reason: unknown, outcome: Outcome, status: number | undefined): Failure => ({
  outcome,
  status,
  requestId: undefined,
  reason: 'aborted by the caller',
  transient: false,
  retryAfterMs: undefined,
  toError: (context) => abortError(reason, context),
});

/** The failure of an attempt that took too long; `status` when an answer had begun. */
export const timedOut = (
  phase: TimeoutPhase,
  outcome: Outcome,
  ms: number,
  status: number | undefined,
): Failure => ({
  outcome,
  status,
  requestId: undefined,
  reason: `timeout (${phase})`,
  transient: true,
  retryAfterMs: undefined,
  toError: (context) => timeoutError(phase, ms, context),
});

/** The error of a call whose caller left. */
export function abortError(reason: unknown, context: ErrorContext): AbortError {
  // Of the caller's own reason the message tells no more: nobody knows what is in it.
  const isTimeout = reason instanceof Error && fieldOf(reason, 'name') === 'TimeoutError';
  const sentence = `The call was aborted by its signal${isTimeout ? ', whose time was up' : ''}.`;
  return new AbortError(composeMessage(sentence, context, ''), {
    ...factsOf(context, false),
    cause: reason,
  });
}

/** What a timeout may know besides: of an answer that had begun, or of when to come again. */
interface TimeoutDetails {
  readonly requestId?: string | undefined;
  readonly remedy?: string;
  readonly retryAfterMs?: number;
}

/** The error of a call that took too long. */
export const timeoutError = (
  phase: TimeoutPhase,
  ms: number,
  context: ErrorContext,
  { requestId, remedy = '', retryAfterMs }: TimeoutDetails = {},
): TimeoutError =>
  new TimeoutError(
    composeMessage(timeoutSentences[phase](Math.round(ms)), context, remedy, requestId),
    { ...factsOf(context, true), phase, retryAfterMs },
  );

/** What is said of a timeout, by where the call stood. */
const timeoutSentences: Readonly<Record<TimeoutPhase, (ms: number) => string>> = {
  credential: (ms) => `The credential function did not return within ${ms} ms.`,
  connect: (ms) => `No connection to the platform was made within ${ms} ms (option timeout).`,
  headers: (ms) => `The platform did not answer within ${ms} ms (option timeout).`,
  body: (ms) =>
    `The platform started to answer but did not finish within ${ms} ms (option timeout).`,
  total: (ms) => `The call did not finish within ${ms} ms (option totalTimeout).`,
  gate: (ms) =>
    `The platform asked this client to slow down (429), and this call would have had to wait too long; try again in ${ms} ms.`,
};

const connectionRemedy = (code: string | undefined): string =>
  code === 'ENOTFOUND' || code === 'ECONNREFUSED'
    ? 'Check the option baseUrl (for instructions and transactions: rootUrl), and that the host is up.'
    : '';

function innermost(error: Error, depth = 0): string {
  const cause = fieldOf(error, 'cause');
  // An error can be its own cause.
  return cause instanceof Error && depth < 8 ? innermost(cause, depth + 1) : messageOf(error);
}
