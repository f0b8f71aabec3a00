import { describeProblem, type Issue, type Problem } from '../internal/issues.ts';
import { isObject } from '../internal/objects.ts';
import { oneLine } from '../internal/text.ts';
import { fieldOf, innermostMessageOf, isError, messageOf } from '../internal/thrown.ts';
import {
  AbortError,
  apiErrorClass,
  ConfigurationError,
  ConnectionError,
  InvalidResponseError,
  PaymentsError,
  PaymentVetoedError,
  TimeoutError,
  type ErrorFacts,
  type InvalidResponseReason,
  type Outcome,
  type TimeoutPhase,
} from './errors.ts';
import {
  describeType,
  errorBodyOf,
  excerptOf,
  headerRecordOf,
  requestIdOf,
  type FailedResponse,
} from './failed-response.ts';
import type { Verdict } from './outcome.ts';
import { keepCause, redactAndCut, redactDeep, redactError, type Redact } from './redact.ts';

/*
 * One function for each way in which an attempt fails. Each function says what the failure proves,
 * whether the call may be tried again, and which class and words the error of the call has.
 */

/** The parts of an error message that depend on why the call failed. */
export interface Words {
  readonly what: string;
  readonly hint?: string | undefined;
  /** A message to quote, from the platform, the operating system or a function of the caller. */
  readonly reported?: string | undefined;
  /** Whether the error's first line can quote `reported`. False for a page, such as a proxy's. */
  readonly isInline?: boolean | undefined;
  /** Whether a 2xx status shows that the platform accepted the call. */
  readonly isAccepted?: boolean | undefined;
}

/** What an error message needs to know about the call that failed. */
interface FailedCall {
  readonly path: string;
  readonly isWrite: boolean;
  readonly host: string;
  /** A hint to check the base URL or the root URL, whichever the call used. */
  readonly checkUrl: string;
  /** Says what the caller should check about the credential that was sent. */
  readonly describeCredentialFix: () => string;
  readonly redact: Redact;
  /** Creates an error from the message and fields of a failure and the fields of its call. */
  create<E extends PaymentsError, Facts extends object>(
    ErrorClass: new (message: string, facts: ErrorFacts & Facts) => E,
    words: Words,
    facts: Facts,
  ): E;
}

/** Why an attempt failed, or why a call ended between two attempts. */
export interface Failure {
  /** Whether the attempt took effect: `not_sent`, `rejected` or `unknown`. */
  readonly outcome: Outcome;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  /** A short description of the failure, such as `status 503`, for the list of attempts. */
  readonly reason: string;
  /** Whether the same request may succeed later. */
  readonly transient: boolean;
  readonly retryAfterMs?: number | undefined;
  /** Creates the error of a call that ends with this failure. */
  readonly createError: (call: FailedCall) => PaymentsError;
}

/** A failure with an error status, from the platform or a proxy in front of it. */
export interface Rejection extends Failure {
  readonly status: number;
  /** Creates the failure of a later, unsent call that the rate limiter would delay by `ms`. */
  readonly holdBack: (ms: number) => Failure;
}

export const isRejection = (failure: Failure): failure is Rejection => 'holdBack' in failure;

/**
 * Describes a response with an error status. The rate limiter may use `holdBack` to fail a later
 * call with the same response, so each error is redacted by the `call.redact` of its own call.
 */
export function rejectedFailure(
  response: FailedResponse,
  /** The parsed body of the response; undefined if the body is not JSON. */
  body: unknown,
  facts: Pick<Failure, 'outcome' | 'transient' | 'retryAfterMs'> & {
    /** Whether the platform, not a proxy, wrote the body of the response. */
    readonly hasErrorBody: boolean;
  },
  redact: Redact,
): Rejection {
  const { outcome, transient, retryAfterMs, hasErrorBody } = facts;
  const { status } = response;
  const requestId = requestIdOf(response.headers, redact);
  const createApiError = (call: FailedCall, words: Words, waitMs: number | undefined) => {
    const { code, details } = errorBodyOf(body, call.redact);
    return call.create(apiErrorClass(status), words, {
      retryAfterMs: waitMs,
      status,
      code,
      details,
      body: redactAndCut(response.text, call.redact),
      requestId,
      headers: headerRecordOf(response.headers, call.redact),
    });
  };
  const describeRejection = (call: FailedCall): Words => {
    const { message, code } = errorBodyOf(body, call.redact);
    const text = redactAndCut(response.text, call.redact);
    const reported = message === undefined ? excerptOf(text) : oneLine(message);
    const isInDoubt = call.isWrite && outcome === 'unknown';
    const isPerhapsReplaced = isInDoubt && !hasErrorBody;
    const mayComeFromPlatform = status >= 400 && status < 500 && (status === 401 || isObject(body));
    // A server usually names the path in its 404 if the path is wrong, but not if the id is wrong.
    const isUnknownPath = !hasErrorBody || reported.includes(call.path.split('{')[0] ?? '');
    const hints = [
      isPerhapsReplaced && "A proxy may have replaced the platform's response.",
      isPerhapsReplaced && mayComeFromPlatform && describeOwnBodyFix(status),
      status === 404 && isUnknownPath
        ? call.checkUrl
        : describeStatusFix(status, retryAfterMs, isInDoubt, call),
    ];
    return {
      what: hasErrorBody
        ? `The platform responded with ${status}${inParentheses(code)}`
        : describeForeignStatus(response, call),
      hint: hints.filter(Boolean).join(' '),
      reported,
      isInline: hasErrorBody,
    };
  };
  return {
    outcome,
    transient,
    retryAfterMs,
    status,
    requestId,
    reason: `status ${status}`,
    createError: (call) => createApiError(call, describeRejection(call), retryAfterMs),
    holdBack: (ms) => {
      const waitMs = Math.ceil(ms);
      const words = {
        what: 'The platform asked this client to slow down (429), and this call may not wait so long',
        hint: `Call again in ${waitMs} ms (retryAfterMs).`,
      };
      return {
        outcome: 'not_sent',
        reason: 'held back after a 429',
        transient: true,
        retryAfterMs: waitMs,
        createError: (call) => createApiError(call, words, waitMs),
      };
    },
  };
}

function describeForeignStatus(response: FailedResponse, call: FailedCall): string {
  if (response.status < 400) return `${call.host} responded with ${response.status}, a redirect`;
  const fields = /json/i.test(describeType(response)) ? ', with error and code' : '';
  return `${describeSource(response, call)}; expected the platform's Error body${fields}`;
}

const describeSource = (response: FailedResponse, { host, redact }: FailedCall): string =>
  `${host} responded with ${response.status} (${oneLine(redactAndCut(describeType(response), redact))})`;

const inParentheses = (code: string | undefined): string =>
  code === undefined ? '' : ` (${oneLine(code)})`;

/** Says how to fix an error status. If the call is in doubt, leaves out hints for a rejection. */
function describeStatusFix(
  status: number,
  retryAfterMs: number | undefined,
  isInDoubt: boolean,
  { checkUrl, describeCredentialFix }: FailedCall,
): string | undefined {
  if (status < 400) return `Redirects are not followed. ${checkUrl}`;
  if (status === 401) return describeCredentialFix();
  if (status === 429) {
    const wait =
      retryAfterMs === undefined
        ? ''
        : `, or wait for ${Math.ceil(retryAfterMs)} ms (retryAfterMs)`;
    return `Send fewer requests${wait}.`;
  }
  return isInDoubt ? undefined : statusHints[status];
}

const describeOwnBodyFix = (status: number): string =>
  `If the platform itself sent this ${status}, accept its body by the option platform.isErrorBody.`;

const statusHints: Readonly<Record<number, string>> = {
  400: 'Fix the request; error.details may name the field.',
  403: 'The credential does not permit this, or a proxy or firewall rejected the request.',
  404: 'Check the id, and that the credential belongs to the platform that issued the id.',
  409: 'Read the current state before you try again.',
  422: 'Fix the cause, such as a low balance, and send the request again. See error.details.',
};

/**
 * Describes a 2xx response that cannot be used, with the outcome unknown, because the response does
 * not show what the platform did. `explanation` follows the status in the message.
 */
export function unusableFailure(
  response: FailedResponse,
  invalid: InvalidResponseReason,
  explanation: string,
  redact: Redact,
  issues: readonly Issue[] = [],
  /** Whether the response belongs to another request of this client. */
  isStray = false,
): Failure {
  const { status } = response;
  const requestId = requestIdOf(response.headers, redact);
  const describeUnusable = (call: FailedCall): Words => {
    const what = `The platform responded with ${oneLine(`${status}${explanation}`)}`;
    if (isStray) return { what, hint: strayHint };
    // Text of another type than JSON, such as HTML, shows that the base URL may be wrong.
    if (invalid === 'not_json' && !/json/i.test(describeType(response))) {
      const source = describeSource(response, call);
      return { what: `${source}; expected JSON`, hint: call.checkUrl, isAccepted: true };
    }
    // The status shows that the platform accepted the call, but not whether the call had effect.
    return { what, isAccepted: true };
  };
  return {
    outcome: 'unknown',
    status: response.status,
    requestId,
    reason: `status ${status} with ${isStray ? 'the id of another record' : `an unusable body (${invalid})`}`,
    // A retry helps after a cut-off or misdirected response, but not after one of a wrong shape.
    transient: invalid === 'truncated' || isStray,
    createError: (call) =>
      call.create(InvalidResponseError, describeUnusable(call), {
        reason: invalid,
        status,
        requestId,
        issues: redactDeep(issues, redact),
        body: redactAndCut(response.text, redact),
      }),
  };
}

const strayHint =
  'A server or proxy may have sent a response twice, so the response was not used and its connection was closed.';

/** Describes a 2xx response to another request. `issue` is about the field that shows this. */
export const strayFailure = (response: FailedResponse, issue: Issue, redact: Redact): Failure =>
  unusableFailure(
    response,
    'shape',
    ` and another ${issue.path}: ${redact(issue.message)}`,
    redact,
    [issue],
    true,
  );

/** The proxy that an environment variable names, such as HTTPS_PROXY. */
interface Proxy {
  readonly address: string;
  readonly variable: string;
}

/**
 * Describes a connection that failed before a response arrived. If the transport never received the
 * request, the SDK does not retry, because the same error would come again.
 */
export function disconnectedFailure(
  error: unknown,
  verdict: Verdict,
  wasDispatched: boolean,
  redact: Redact,
  proxy: Proxy | undefined,
): Failure {
  const { outcome, connectTimedOut, obstacle } = verdict;
  const code = verdict.code === undefined ? undefined : oneLine(redact(verdict.code));
  const message = innermostMessageOf(error);
  const reported =
    obstacle === 'no_tls' ? 'the port does not speak TLS' : oneLine(redactAndCut(message, redact));
  // The reason in the list of attempts if the error has no code.
  const reasonWithoutCode = ['connection failed', reported.replace(/\.$/, '')]
    .filter(Boolean)
    .join(': ');
  const transient = verdict.transient && wasDispatched;
  const proxyName =
    proxy && `the proxy ${redact(proxy.address)} (environment variable ${proxy.variable})`;
  return {
    outcome,
    reason: code ?? reasonWithoutCode,
    transient,
    createError: (call) => {
      const words = {
        what: `The connection to ${call.host} failed${inParentheses(code)}`,
        hint: describeConnectionFix({ transient, obstacle, code }, proxyName, call.checkUrl),
        // Leave out a message that repeats the code, because the code is already in `what`.
        reported: code !== undefined && reported.includes(code) ? undefined : reported,
        isInline: true,
      };
      const facts = { code, cause: redactError(error, redact) };
      return connectTimedOut
        ? call.create(TimeoutError, words, { ...facts, phase: 'connect' })
        : call.create(ConnectionError, words, facts);
    },
  };
}

/** Says how to fix a failed connection. Empty if the error does not show what to fix. */
function describeConnectionFix(
  { transient, obstacle, code }: Pick<Verdict, 'transient' | 'obstacle' | 'code'>,
  proxyName: string | undefined,
  checkUrl: string,
): string {
  if (obstacle === 'proxy') {
    return `Check ${proxyName ?? 'the proxy of the environment'}: its address, its credentials, and what it lets through.`;
  }
  if (obstacle === 'no_tls') {
    return proxyName === undefined
      ? 'Use a port that speaks TLS, or http:// for a sandbox on this machine.'
      : `Check the port in the base URL, and ${proxyName}.`;
  }
  if (obstacle === 'client_certificate') {
    return 'The platform did not accept your client certificate, or wants one: check the certificate of the option agent.';
  }
  if (obstacle === 'options') {
    return 'Retrying will not help: check the certificate, key and TLS settings of the option agent.';
  }
  if (obstacle === 'permission') {
    return 'Permit this process to connect, by --allow-net.';
  }
  if (!transient) return 'Retrying will not help: fix the certificate or the request first.';
  if (code !== 'ENOTFOUND' && code !== 'ECONNREFUSED') return '';
  if (proxyName !== undefined) return `Check ${proxyName}, and that it is up.`;
  return `${code === 'ENOTFOUND' ? 'There is no such host' : 'Nothing listens there'}. ${checkUrl}`;
}

/** Describes an attempt or a call whose time ran out. */
export const timeoutFailure = (
  phase: TimeoutPhase,
  ms: number,
  facts: Partial<Pick<Failure, 'outcome' | 'status' | 'requestId'>> = {},
  hint?: string,
): Failure => ({
  outcome: 'not_sent',
  ...facts,
  reason: `timeout (${phase})`,
  transient: true,
  createError: (call) => {
    const what = timeoutMessages[phase](Math.max(0, Math.round(ms)));
    return call.create(TimeoutError, { what, hint, isAccepted: phase === 'body' }, { phase });
  },
});

/** The error message for each phase in which time can run out. */
const timeoutMessages: Readonly<Record<TimeoutPhase, (ms: number) => string>> = {
  credential: (ms) => `The credential function did not return within ${ms} ms`,
  connect: (ms) => `No connection to the platform was made within ${ms} ms (option timeout)`,
  headers: (ms) => `The platform did not respond within ${ms} ms (option timeout)`,
  body: (ms) =>
    `The platform started to respond but did not finish within ${ms} ms (option timeout)`,
  total: (ms) => `The call did not finish within ${ms} ms (option totalTimeout)`,
};

/** Describes a call that the caller's signal aborted, perhaps after a response with `status`. */
export const abortedFailure = (
  cause: unknown,
  outcome: Outcome = 'not_sent',
  status?: number,
): Failure => ({
  outcome,
  status,
  reason: 'aborted by the caller',
  transient: false,
  createError: (call) => {
    // Do not quote the reason of the caller's signal in the message, because it may contain a secret.
    const isTimeout = isError(cause) && fieldOf(cause, 'name') === 'TimeoutError';
    const what = `The call was aborted by its signal${isTimeout ? ', which timed out' : ''}`;
    const hint = cause === undefined ? undefined : 'error.cause holds the reason.';
    return call.create(AbortError, { what, hint }, { cause });
  },
});

/** Describes a credential function that threw, or whose result has the given `problem`. */
export const noCredentialFailure = (
  option: string,
  error: unknown,
  problem?: Problem,
): Failure => ({
  outcome: 'not_sent',
  reason: 'no credential',
  transient: false,
  createError: (call) => {
    const cause = problem === undefined ? redactError(error, call.redact) : undefined;
    const result = problem === undefined ? 'failed' : `returned ${describeProblem(problem)}`;
    const words = {
      what: `The function in the option ${option} ${result}`,
      hint:
        problem?.hint ??
        `The function runs outside of your requests. For several tenants, use withOptions({ ${option} })`,
      reported: oneLine(cause?.message ?? ''),
      isInline: true,
    };
    return call.create(ConfigurationError, words, { cause });
  },
});

/** Describes a veto by `authorize`. `thrown` is undefined if the function did not return true. */
export const vetoFailure = (thrown: { readonly error: unknown } | undefined): Failure => ({
  outcome: 'not_sent',
  reason: 'vetoed',
  transient: false,
  createError: (call) => {
    const error = thrown?.error;
    const words = {
      what: `The option authorize vetoed this payment${thrown === undefined ? ': it did not return true' : ''}`,
      hint:
        thrown === undefined
          ? 'Return true to permit a payment, or throw an Error to give the reason.'
          : 'error.cause holds what it threw.',
      reported: oneLine(redactAndCut(messageOf(error), call.redact)),
      isInline: true,
    };
    return call.create(PaymentVetoedError, words, { cause: keepCause(error, call.redact) });
  },
});

/**
 * Describes an error that should not happen, such as one that the caller's clock throws. Once an
 * attempt has started, the call may have taken effect.
 */
export const unexpectedFailure = (error: unknown, hasStarted: boolean): Failure => ({
  outcome: hasStarted ? 'unknown' : 'not_sent',
  reason: 'unexpected error',
  transient: false,
  createError: (call) => {
    const cause = redactError(error, call.redact);
    const words = {
      what: 'The call ended with an unexpected error',
      reported: oneLine(cause?.message ?? ''),
      isInline: true,
    };
    return call.create(PaymentsError, words, { cause });
  },
});
