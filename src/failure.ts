import type { Answer, AttemptResult } from './attempt.ts';
import {
  apiErrorClass,
  AbortError,
  ConnectionError,
  InvalidResponseError,
  fieldOf,
  messageOf,
  TimeoutError,
  type Attempt,
  type CallIdentity,
  type ErrorFacts,
  type InvalidResponseReason,
  type Issue,
  type Outcome,
  type PaymentsError,
  type TimeoutPhase,
} from './errors.ts';
import { parseJson } from './json.ts';
import { connectionOutcome, statusOutcome, type Departure, type Kind } from './outcome.ts';
import { redactError, redactValue, shown } from './redact.ts';
import type { Redact } from './redactor.ts';
import { isTransientStatus, retryAfter } from './retry.ts';

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
  toError(story: Story): PaymentsError;
}

/** What an error tells of the call it ends. */
export interface Story extends CallIdentity {
  readonly kind: Kind;
  /** What may have happened, and how to find out: for a write whose outcome is unknown. */
  readonly doubt: string;
  readonly attempts: readonly Attempt[];
  readonly outcome: Outcome;
  readonly startedAt: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** Why the call was not sent again although the failure might pass. */
  readonly gaveUp: string | undefined;
}

/** The document names none of them: docs/gaps.md, row 53. */
const requestIdHeaders = ['x-request-id', 'request-id', 'x-amzn-requestid', 'cf-ray'] as const;

/** The platform's id of a request; the document names no header, so the usual ones are tried. */
export function requestIdOf(headers: Headers, redact: Redact): string | undefined {
  for (const name of requestIdHeaders) {
    const value = headers.get(name);
    if (value !== null && value !== '') return shown(value, redact);
  }
  return undefined;
}

/** The failure that an answer with a status other than 2xx is. */
export function statusFailure(
  answer: Answer,
  kind: Kind,
  { redact, now, repeated }: { redact: Redact; now: number; repeated: boolean },
): Failure {
  const { status, headers } = answer;
  const outcome = seenOutcome(status, kind, repeated);
  const requestId = requestIdOf(headers, redact);
  const retryAfterMs = retryAfter(headers, now);
  return {
    outcome,
    status,
    requestId,
    reason: `status ${status}`,
    transient: isTransientStatus(status),
    retryAfterMs,
    toError(story) {
      const body = shown(answer.text, redact);
      const { message, code, details } = errorBody(answer.text, redact);
      const facts = {
        ...factsOf(story, isTransientStatus(status)),
        status,
        code,
        details,
        requestId,
        headers: headerRecord(headers, redact),
        body,
        retryAfterMs,
      };
      const said = message ?? excerpt(body);
      const redirected =
        status >= 300 && status < 400
          ? 'Redirects are not followed; check the option baseUrl (rootUrl).'
          : '';
      return new (apiErrorClass(status))(
        compose(
          `The platform answered ${status}${code === undefined ? '' : ` (${code})`}${said === '' ? '' : `: ${said}`}${/[.!?]$/.test(said) ? '' : '.'}`,
          story,
          `${statusRemedy(status)}${redirected}`,
          requestId,
        ),
        facts,
      );
    },
  };
}

/** The failure that a success with an unusable answer is. */
export function unusableAnswer(
  answer: Answer,
  reason: InvalidResponseReason,
  redact: Redact,
  explanation: string,
  issues: readonly Issue[] = [],
): Failure {
  const { status } = answer;
  const requestId = requestIdOf(answer.headers, redact);
  // A body that was cut off is a broken connection; one that is wrong will be wrong again.
  const transient = reason === 'truncated';
  return {
    outcome: 'unknown',
    status,
    requestId,
    reason: `status ${status} with an unusable body (${reason})`,
    transient,
    retryAfterMs: undefined,
    toError: (story) =>
      new InvalidResponseError(
        compose(
          `The platform answered ${status}, but ${explanation}.`,
          story,
          story.kind === 'safe' ? '' : 'The status says that the platform accepted the call.',
          requestId,
        ),
        {
          ...factsOf(story, transient),
          reason,
          status,
          requestId,
          body: shown(answer.text, redact),
          issues: issues.map(({ path, message }) => ({
            path: redact(path),
            message: redact(message),
          })),
        },
      ),
  };
}

/** The failure of an answer whose body did not arrive in time. */
export function stalledBody(answer: Answer, timeout: number, redact: Redact): Failure {
  const requestId = requestIdOf(answer.headers, redact);
  return {
    ...timedOut('body', 'unknown', timeout, answer.status),
    requestId,
  };
}

/** The failure of an attempt that got no answer. */
export function silentFailure(
  result: Exclude<AttemptResult, { type: 'answer' }>,
  departure: Departure,
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
        : seenOutcome(result.status, kind, result.trace.repeated === true);
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
  const proof = connectionOutcome(result.error, departure, result.trace);
  const verdict = { ...proof, transient: proof.transient && result.dispatched };
  const cause = redactError(result.error, redact);
  const text = result.error instanceof Error ? shown(innermost(result.error), redact) : '';
  const code = verdict.code === undefined ? undefined : redact(verdict.code);
  return {
    outcome: verdict.outcome,
    status: undefined,
    requestId: undefined,
    reason: code ?? (text === '' ? 'connection failed' : `connection failed: ${text}`),
    transient: verdict.transient,
    retryAfterMs: undefined,
    toError(story) {
      const message = compose(
        `The connection to the platform failed${code === undefined ? '' : ` (${code})`}${text === '' || text === code ? '' : `: ${text}`}.`,
        story,
        verdict.transient ? connectionRemedy(code) : 'This will not pass by itself.',
      );
      const facts = { ...factsOf(story, verdict.transient), code, cause };
      return proof.connectTimedOut
        ? new TimeoutError(message, { ...facts, phase: 'connect' })
        : new ConnectionError(message, facts);
    },
  };
}

/** The failure of a call whose caller left. */
export const aborted = (reason: unknown, outcome: Outcome, status?: number): Failure => ({
  outcome,
  status,
  requestId: undefined,
  reason: 'aborted by the caller',
  transient: false,
  retryAfterMs: undefined,
  toError: (story) =>
    new AbortError(compose('The call was aborted by its signal.', story, ''), {
      ...factsOf(story, false),
      cause: reason,
    }),
});

/** The failure of a call, or of one attempt, that took too long. */
export const timedOut = (
  phase: TimeoutPhase,
  outcome: Outcome,
  ms: number,
  status?: number,
  retryAfterMs?: number,
): Failure => ({
  outcome,
  status,
  requestId: undefined,
  reason: phase === 'total' ? 'total time-out' : `time-out (${phase})`,
  transient: true,
  retryAfterMs,
  toError: (story) =>
    new TimeoutError(compose(timeoutSentences[phase](Math.round(ms)), story, ''), {
      ...factsOf(story, true),
      phase,
      retryAfterMs,
    }),
});

const timeoutSentences: Readonly<Record<TimeoutPhase, (ms: number) => string>> = {
  credential: (ms) => `The function for the credential did not answer within ${ms} ms.`,
  connect: (ms) => `No connection to the platform came about within ${ms} ms.`,
  headers: (ms) => `The platform did not answer within ${ms} ms (option timeout).`,
  body: (ms) => `The platform began to answer and did not finish within ${ms} ms (option timeout).`,
  total: (ms) => `The call was not done within ${ms} ms (option totalTimeout).`,
  gate: (ms) =>
    `The platform has asked this client to slow down (429), and this call would have waited for too long; try again in ${ms} ms.`,
};

/**
 * What a status proves of a call that failed. A refusal is one of the request that it answers: where
 * a write was begun again behind our back, nothing is known of the first time.
 */
const seenOutcome = (status: number, kind: Kind, repeated: boolean): Outcome =>
  (status >= 200 && status < 300) || (repeated && kind !== 'safe')
    ? 'unknown'
    : statusOutcome(status, kind);

const factsOf = (story: Story, transient: boolean): ErrorFacts => ({
  outcome: story.outcome,
  operation: story.operation,
  method: story.method,
  path: story.path,
  attempts: story.attempts,
  // A creation whose outcome is unknown must not be sent again, by us or by the caller.
  retryable: transient && !(story.kind === 'once' && story.outcome === 'unknown'),
  startedAt: story.startedAt,
  idempotencyKey: story.idempotencyKey,
});

/** A sentence, then what was asked, then what to do. */
export function compose(
  sentence: string,
  story: Story,
  remedy: string,
  requestId?: string,
): string {
  const count = story.attempts.length;
  const asked = [
    `${story.method} ${story.path} (${story.operation})`,
    ...(count > 1 ? [`${count} attempts`] : []),
    ...(requestId === undefined ? [] : [`request ${requestId}`]),
  ].join(', ');
  const consequence =
    story.kind === 'safe'
      ? ''
      : story.outcome === 'unknown'
        ? `Outcome unknown: ${story.doubt}`
        : story.outcome === 'rejected'
          ? 'It did not take effect.'
          : 'Nothing was sent.';
  return [sentence, `Asked: ${asked}.`, remedy, story.gaveUp ?? '', consequence]
    .filter((part) => part !== '')
    .join('\n');
}

function statusRemedy(status: number): string {
  switch (status) {
    case 401:
      return 'Check the credential: the API key (apiKey) for the versioned endpoints, the JWT (jwt) for instructions and transactions.';
    case 403:
      return 'The credential is valid and does not allow this.';
    case 404:
      return 'Check the id, and that the credential belongs to the Platform that holds it.';
    case 429:
      return 'Send fewer requests, or wait for retryAfterMs.';
    default:
      return '';
  }
}

const connectionRemedy = (code: string | undefined): string =>
  code === 'ENOTFOUND' || code === 'ECONNREFUSED'
    ? 'Check the option baseUrl (rootUrl), and that the host is up.'
    : '';

/** What the platform says in an Error body; its fields may be of any type. */
function errorBody(
  text: string,
  redact: Redact,
): { message: string | undefined; code: string | undefined; details: unknown } {
  let parsed: unknown;
  try {
    parsed = parseJson(text);
  } catch {
    parsed = undefined;
  }
  const field = (name: string): unknown =>
    typeof parsed === 'object' && parsed !== null ? Reflect.get(parsed, name) : undefined;
  const words = (name: string): string | undefined => {
    const value = field(name);
    return typeof value === 'string' && value !== '' ? shown(value, redact) : undefined;
  };
  return {
    message: words('error'),
    code: words('code'),
    details: redactValue(field('details'), redact),
  };
}

/** The first words of a body that is not an Error body, such as a proxy's page. */
function excerpt(body: string): string {
  const words = body
    .slice(0, 4_096)
    .replace(/<[^<>]{0,500}>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return words.length > 120 ? `${words.slice(0, 120)}…` : words;
}

function headerRecord(headers: Headers, redact: Redact): Readonly<Record<string, string>> {
  const record: Record<string, string> = {};
  headers.forEach((value, name) => {
    if (name !== 'set-cookie') record[name] = shown(value, redact);
  });
  return Object.freeze(record);
}

function innermost(error: Error, depth = 0): string {
  const cause = fieldOf(error, 'cause');
  // An error can be its own cause.
  return cause instanceof Error && depth < 8 ? innermost(cause, depth + 1) : messageOf(error);
}
