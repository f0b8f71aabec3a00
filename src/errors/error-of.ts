import { fieldOf, oneLine } from '../internal/text.ts';
import { describeProblem } from '../internal/issues.ts';
import {
  AbortError,
  apiErrorClass,
  ConfigurationError,
  ConnectionError,
  InvalidResponseError,
  PaymentsError,
  TimeoutError,
  type Attempt,
  type ErrorFacts,
  type Outcome,
  type TimeoutPhase,
} from './errors.ts';
import { describeType, errorBodyOf, excerptOf, headerRecordOf } from './failed-response.ts';
import type { DisconnectedFailure, Failure, RejectedFailure } from './failure.ts';
import { createError, type MessageParts } from './message.ts';
import { worstOutcome, type Kind } from './outcome.ts';
import { redactAndCut, redactDeep, redactError, type Redact } from './redact.ts';

/** What an error describes of a call that has failed. */
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
  /** What to check about the credential that was sent. */
  readonly credential: { readonly kind: 'apiKey' | 'jwt'; describeFix(): string };
  readonly redact: Redact;
}

/** How a failure is reported. */
interface Report {
  readonly what: string;
  readonly hint?: string | undefined;
  /** The message of the platform, the system or a function of the caller's. */
  readonly reported?: string | undefined;
  /** Whether `reported` is trusted to be a message, and may end the first line. */
  readonly isInline?: boolean | undefined;
  /** Whether a success status arrived. */
  readonly isAccepted?: boolean | undefined;
  readonly create: (parts: MessageParts, facts: ErrorFacts) => PaymentsError;
}

/** What a report needs of the call. */
interface Context extends FailedCall {
  readonly host: string;
  readonly checkUrl: string;
  readonly isWrite: boolean;
}

/** The error that ends a call. `note` is why it was not retried although the failure may pass. */
export function errorOf(failure: Failure, failed: FailedCall, note = ''): PaymentsError {
  const { call, attempts, prepared, redact } = failed;
  const outcome = worstOutcome([...attempts, failure]);
  const facts = {
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
  const isWrite = call.kind !== 'safe';
  const report = reportOf(failure, {
    ...failed,
    isWrite,
    host: redact(new URL(prepared.baseUrl).host),
    checkUrl: urlHints[failed.credential.kind],
  });
  const { reported = '' } = report;
  const isInline =
    report.isInline === true && reported !== '' && reported.length <= maxInlineLength;
  const readHint = facts.retryable && !isWrite ? 'A read changes nothing: try again.' : '';
  const accepted = 'The status shows that the platform accepted the call.';
  const request = [
    redact(`Request: ${call.method} ${prepared.baseUrl}${call.path.template} (${call.operation})`),
    attempts.length > 1 && `${attempts.length} attempts`,
    failure.requestId !== undefined && `request ${failure.requestId}`,
    isWrite && outcome === 'unknown' && `started ${facts.startedAt}`,
  ];
  const parts: MessageParts = {
    what: report.what,
    hint: report.hint || readHint,
    reported,
    notes: [note, isWrite && report.isAccepted === true && accepted],
    consequence: isWrite && describeConsequence(outcome, call),
    request: request.filter(Boolean).join(', '),
  };
  if (isInline) {
    const what = `${report.what}: ${reported.replace(/\.$/, '')}`;
    return report.create({ ...parts, what, reported: undefined }, facts);
  }
  return report.create(parts, facts);
}

/** A longer message of the platform or the system has its own line. */
const maxInlineLength = 60;

const urlHints = {
  apiKey: 'Check the base URL (option baseUrl or PAYMENTS_BASE_URL).',
  jwt: 'Check the root URL (option rootUrl or PAYMENTS_ROOT_URL).',
} as const;

/** A code after the sentence that it belongs to. */
const inParentheses = (code: string | undefined): string =>
  code === undefined ? '' : ` (${oneLine(code)})`;

function describeConsequence(outcome: Outcome, call: FailedCall['call']): string {
  if (outcome === 'not_sent') return 'Nothing was sent.';
  if (outcome === 'rejected') return 'It did not take effect.';
  const { ifUnknown = 'it may have taken effect. Check before you send it again.' } = call;
  return `Outcome unknown: ${ifUnknown}`;
}

type Reports = {
  readonly [Type in Failure['type']]: (
    failure: Extract<Failure, { type: Type }>,
    context: Context,
  ) => Report;
};

/** The types of `reports` pair each failure with its own function. */
const reportOf = (failure: Failure, context: Context): Report =>
  (reports[failure.type] as (failure: Failure, context: Context) => Report)(failure, context);

const reports: Reports = {
  rejected: (failure, context) => ({
    ...describeRejection(failure, context),
    create: (parts, facts) =>
      createApiError(failure, context, parts, { ...facts, retryAfterMs: failure.retryAfterMs }),
  }),
  heldBack: ({ rejection, retryAfterMs }, context) => ({
    what: 'The platform asked this client to slow down (429); this call may not wait',
    hint: `Call again in ${retryAfterMs} ms (retryAfterMs).`,
    create: (parts, facts) => createApiError(rejection, context, parts, { ...facts, retryAfterMs }),
  }),
  unusable(
    { response, invalid, explanation, status, requestId, issues },
    { redact, host, checkUrl },
  ) {
    const isPage = invalid === 'not_json' && !/json/i.test(describeType(response));
    const description = isPage
      ? { what: `${describeSource(response, host, redact)}; expected JSON`, hint: checkUrl }
      : { what: `The platform responded with ${oneLine(`${status}${explanation}`)}` };
    return {
      ...description,
      isAccepted: true,
      create: (parts, facts) =>
        createError(InvalidResponseError, parts, {
          ...facts,
          reason: invalid,
          status,
          requestId,
          issues: redactDeep(issues, redact),
          body: redactAndCut(response.text, redact),
        }),
    };
  },
  disconnected(failure, { redact, host, checkUrl }) {
    const { code, connectTimedOut, reported } = failure;
    const cause = redactError(failure.error, redact);
    return {
      what: `The connection to ${host} failed${inParentheses(code)}`,
      hint: describeConnectionFix(failure, checkUrl),
      reported: code !== undefined && reported.includes(code) ? undefined : reported,
      isInline: true,
      create: (parts, facts) =>
        connectTimedOut
          ? createError(TimeoutError, parts, { ...facts, code, cause, phase: 'connect' })
          : createError(ConnectionError, parts, { ...facts, code, cause }),
    };
  },
  timedOut: ({ phase, ms, hint }) => ({
    what: timeoutMessages[phase](Math.max(0, Math.round(ms))),
    hint,
    isAccepted: phase === 'body',
    create: (parts, facts) => createError(TimeoutError, parts, { ...facts, phase }),
  }),
  aborted({ cause }) {
    // The message reports nothing else of the reason, which is the caller's and may hold a secret.
    const isTimeout = cause instanceof Error && fieldOf(cause, 'name') === 'TimeoutError';
    return {
      what: `The call was aborted by its signal${isTimeout ? ', which timed out' : ''}`,
      hint: 'error.cause holds the reason.',
      create: (parts, facts) => createError(AbortError, parts, { ...facts, cause }),
    };
  },
  noCredential({ option, problem, error }, { redact }) {
    const cause = problem === undefined ? redactError(error, redact) : undefined;
    const result = problem === undefined ? 'failed' : `returned ${describeProblem(problem)}`;
    return {
      what: `The function in the option ${option} ${result}`,
      hint: problem?.hint,
      reported: oneLine(cause?.message ?? ''),
      isInline: true,
      create: (parts, facts) => createError(ConfigurationError, parts, { ...facts, cause }),
    };
  },
  unexpected({ error }, { redact }) {
    const cause = redactError(error, redact);
    return {
      what: 'The call ended with an unexpected error',
      reported: oneLine(cause?.message ?? ''),
      isInline: true,
      create: (parts, facts) => createError(PaymentsError, parts, { ...facts, cause }),
    };
  },
};

function createApiError(
  { response, body, status, requestId }: RejectedFailure,
  { redact }: Context,
  parts: MessageParts,
  facts: ErrorFacts,
): PaymentsError {
  const { code, details } = errorBodyOf(body, redact);
  return createError(apiErrorClass(status), parts, {
    ...facts,
    status,
    code,
    details,
    body: redactAndCut(response.text, redact),
    requestId,
    headers: headerRecordOf(response.headers, redact),
  });
}

function describeRejection(failure: RejectedFailure, context: Context): Omit<Report, 'create'> {
  const { response, isPlatforms } = failure;
  const { redact } = context;
  const { message, code } = errorBodyOf(failure.body, redact);
  const body = redactAndCut(response.text, redact);
  const reported = message === undefined ? excerptOf(body) : oneLine(message);
  const isReplaced = context.isWrite && failure.outcome === 'unknown' && !isPlatforms;
  const hints = [
    isReplaced && "A proxy may have replaced the platform's response.",
    isReplaced && failure.status === 401 && ownUnauthorizedHint,
    describeFix(failure, context, reported),
  ];
  return {
    what: describeStatus(failure, context, code),
    hint: hints.filter(Boolean).join(' '),
    reported,
    isInline: isPlatforms,
  };
}

function describeStatus(
  { response, isPlatforms, status }: RejectedFailure,
  { host, redact }: Context,
  code: string | undefined,
): string {
  if (isPlatforms) {
    return `The platform responded with ${status}${inParentheses(code)}`;
  }
  if (status < 400) return `${host} responded with ${status}, a redirect`;
  return `${describeSource(response, host, redact)}; expected the platform's Error body`;
}

const describeSource = (
  response: RejectedFailure['response'],
  host: string,
  redact: Redact,
): string =>
  `${host} responded with ${response.status} (${oneLine(redactAndCut(describeType(response), redact))})`;

function describeFix(
  { status, isPlatforms, outcome, retryAfterMs }: RejectedFailure,
  { call, credential, checkUrl, isWrite }: Context,
  reported: string,
): string | undefined {
  if (status < 400) return `Redirects are not followed. ${checkUrl}`;
  // A server that does not know a path names it.
  const isUnknownPath = !isPlatforms || reported.includes(call.path.template.split('{')[0] ?? '');
  if (status === 404 && isUnknownPath) return checkUrl;
  if (status === 401) return credential.describeFix();
  if (status === 429) {
    const wait =
      retryAfterMs === undefined
        ? ''
        : `, or wait for ${Math.ceil(retryAfterMs)} ms (retryAfterMs)`;
    return `Send fewer requests${wait}.`;
  }
  const isInDoubt = isWrite && outcome === 'unknown';
  return isInDoubt ? undefined : statusHints[status];
}

const ownUnauthorizedHint =
  "If it is the platform's own 401, accept its body by the option isErrorBody.";

const statusHints: Readonly<Record<number, string>> = {
  400: 'Fix the request; error.details may name the field.',
  403: 'The credential does not permit this, or a proxy or firewall rejected the request.',
  404: 'Check the id, and that the credential belongs to the platform that has it.',
  409: 'Read the current state before you try again.',
  422: 'Once the cause is fixed, such as a low balance, it may be sent again. See error.details.',
};

/** What a timeout interrupted. */
const timeoutMessages: Readonly<Record<TimeoutPhase, (ms: number) => string>> = {
  credential: (ms) => `The credential function did not return within ${ms} ms`,
  connect: (ms) => `No connection to the platform was made within ${ms} ms (option timeout)`,
  headers: (ms) => `The platform did not respond within ${ms} ms (option timeout)`,
  body: (ms) =>
    `The platform started to respond but did not finish within ${ms} ms (option timeout)`,
  total: (ms) => `The call did not finish within ${ms} ms (option totalTimeout)`,
};

function describeConnectionFix(
  { transient, obstacle, proxy, code }: DisconnectedFailure,
  checkUrl: string,
): string {
  if (obstacle === 'proxy') {
    return `Check ${proxy ?? 'the proxy of the environment'}: its address, its credentials, and what it lets through.`;
  }
  if (obstacle === 'no_tls') {
    return proxy === undefined
      ? 'Use a port that does, or http:// for a sandbox on this machine.'
      : `Check the port in the base URL, and ${proxy}.`;
  }
  if (!transient) return 'Retrying will not help: fix the certificate or the request first.';
  if (code !== 'ENOTFOUND' && code !== 'ECONNREFUSED') return '';
  if (proxy !== undefined) return `Check ${proxy}, and that it is up.`;
  return `${code === 'ENOTFOUND' ? 'There is no such host' : 'Nothing listens there'}. ${checkUrl}`;
}
