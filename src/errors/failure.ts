import { oneLine, redactAndCut, redactBounded, redactError, saidBy } from './redact.ts';
import {
  AbortError,
  apiErrorClass,
  ConfigurationError,
  ConnectionError,
  InvalidResponseError,
  PaymentsError,
  TimeoutError,
  type Attempt,
  type InvalidResponseReason,
  type Issue,
  type Outcome,
  type TimeoutPhase,
} from './errors.ts';
import { fieldOf, messageOf } from './redact.ts';
import { worstOutcome, type Kind, type Verdict } from './outcome.ts';
import { redactDeep, redactHeader, type Redact } from './redact.ts';

/** What a failure says of the attempt, or of the wait between two attempts, that it ended. */
interface Proof {
  readonly outcome: Outcome;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  /** In a few words, for the log of attempts. */
  readonly reason: string;
  /** Whether it may pass by itself. */
  readonly transient: boolean;
  readonly retryAfterMs?: number | undefined;
}

/** Why a call has no result, as data: what one of the functions below makes. */
export type Failure = Proof &
  ReturnType<
    | typeof refused
    | typeof heldBack
    | typeof unusable
    | typeof disconnected
    | typeof timedOut
    | typeof aborted
    | typeof noCredential
    | typeof unexpected
  >;

/** An answer as far as errors tell of it. */
interface FailedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** An answer with a status other than 2xx; `body` is its JSON, if it is any. */
export const refused = (
  answer: FailedAnswer,
  body: unknown,
  proof: Pick<Proof, 'outcome' | 'transient' | 'retryAfterMs'> & {
    /** Whether a refusal is not in the platform's own form, so that it proves nothing. */
    readonly isForeign: boolean;
  },
  redact: Redact,
) => ({
  ...proof,
  type: 'refused' as const,
  status: answer.status,
  requestId: requestIdOf(answer.headers, redact),
  reason: `status ${answer.status}`,
  answer,
  body,
});

/** An answer by which the platform, or something in front of it, has refused a request. */
export type Refusal = ReturnType<typeof refused>;

/** Not sent at all, because the platform has asked this client to slow down. */
export const heldBack = (refusal: Refusal, ms: number) => ({
  type: 'heldBack' as const,
  outcome: 'not_sent' as const,
  reason: 'held back after a 429',
  transient: true,
  retryAfterMs: Math.ceil(ms),
  refusal,
});

/** A success whose answer cannot be used. */
export const unusable = (
  answer: FailedAnswer,
  why: InvalidResponseReason,
  explanation: string,
  redact: Redact,
  issues: readonly Issue[] = [],
) => ({
  type: 'unusable' as const,
  outcome: 'unknown' as const,
  status: answer.status,
  requestId: requestIdOf(answer.headers, redact),
  reason: `status ${answer.status} with an unusable body (${why})`,
  // A body that was cut off is a broken connection; one that is wrong will be wrong again.
  transient: why === 'truncated',
  answer,
  why,
  explanation,
  issues,
});

/** No answer at all. A request that did not even come to the wire will not the next time. */
export function disconnected(
  error: unknown,
  verdict: Verdict,
  wasDispatched: boolean,
  redact: Redact,
  proxy: { readonly address: string; readonly variable: string } | undefined,
) {
  const code = verdict.code === undefined ? undefined : oneLine(redact(verdict.code));
  const said =
    verdict.obstacle === 'no_tls'
      ? 'the port does not speak TLS'
      : error instanceof Error
        ? oneLine(redactAndCut(innermost(error), redact))
        : '';
  return {
    type: 'disconnected' as const,
    outcome: verdict.outcome,
    reason: code ?? `connection failed${said === '' ? '' : `: ${said}`}`,
    transient: verdict.transient && wasDispatched,
    connectTimedOut: verdict.connectTimedOut,
    obstacle: verdict.obstacle,
    proxy: proxy && `the proxy ${redact(proxy.address)} (environment variable ${proxy.variable})`,
    code,
    said,
    error,
  };
}

/** Time was up: of an attempt, of the whole call, or of a wait in which nothing was sent. */
export const timedOut = (
  phase: TimeoutPhase,
  ms: number,
  proof: Pick<Proof, 'status' | 'requestId'> & { outcome?: Outcome } = {},
  remedy = '',
) => ({
  outcome: 'not_sent' as const,
  ...proof,
  type: 'timedOut' as const,
  reason: `timeout (${phase})`,
  transient: true,
  phase,
  ms,
  remedy,
});

/** The caller has left. */
export const aborted = (cause: unknown, outcome: Outcome = 'not_sent', status?: number) => ({
  type: 'aborted' as const,
  outcome,
  status,
  reason: 'aborted by the caller',
  transient: false,
  cause,
});

/** The function of an option gave no credential; `problem` is what it gave instead, if anything. */
export const noCredential = (option: string, error: unknown, problem?: string) => ({
  type: 'noCredential' as const,
  outcome: 'not_sent' as const,
  reason: 'no credential',
  transient: false,
  option,
  error,
  problem,
});

/**
 * What should not happen, such as a clock of the caller's that throws. Nobody knows how far the call
 * had come, so once an attempt was begun it may have taken effect.
 */
export const unexpected = (error: unknown, hasBegun: boolean) => ({
  type: 'unexpected' as const,
  outcome: hasBegun ? ('unknown' as const) : ('not_sent' as const),
  reason: 'unexpected error',
  transient: false,
  error,
});

/** A call that has failed, as far as its error tells of it. */
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
  readonly prepared: { readonly idempotencyKey: string | undefined };
  readonly redact: Redact;
}

/** The error that ends a call. `note` is why it was not sent again although the failure might pass. */
export function errorOf(failure: Failure, failed: FailedCall, note = ''): PaymentsError {
  const { call, attempts, redact } = failed;
  const { requestId, retryAfterMs } = failure;
  const outcome = worstOutcome([...attempts, failure]);
  const facts = {
    outcome,
    operation: call.operation,
    method: call.method,
    path: call.path.template,
    attempts,
    // A creation whose outcome is unknown must not be sent again, by us or by the caller.
    retryable: failure.transient && !(call.kind === 'once' && outcome === 'unknown'),
    startedAt: failed.startedAt?.toISOString(),
    idempotencyKey: failed.prepared.idempotencyKey,
  };
  /** A sentence, then what was asked, then what to do, then what became of it. */
  const say = (sentence: string, remedy = ''): string => {
    const asked = [
      `${call.method} ${call.path.template} (${call.operation})`,
      ...(attempts.length > 1 ? [`${attempts.length} attempts`] : []),
      ...(requestId === undefined ? [] : [`request ${requestId}`]),
    ].join(', ');
    const became = call.kind === 'safe' ? '' : consequence(outcome, call, facts.startedAt);
    const parts = [sentence, `Request: ${asked}.`, remedy, note, became];
    return parts.filter((part) => part !== '').join('\n');
  };
  switch (failure.type) {
    case 'heldBack':
    case 'refused': {
      const isHeldBack = failure.type === 'heldBack';
      const { answer, body: parsed } = isHeldBack ? failure.refusal : failure;
      const { status, headers, text } = answer;
      const body = redactAndCut(text, redact);
      const { message, code, details } = errorBody(parsed, redact);
      const said = message === undefined ? excerpt(body) : oneLine(message);
      const answered = `The platform answered ${status}${code === undefined ? '' : ` (${oneLine(code)})`}${said === '' ? '' : `: ${said}`}${/[.!?]$/.test(said) ? '' : '.'}`;
      const sentence = isHeldBack
        ? `The platform has asked this client to slow down (429), and this call may not wait so long. Call again in ${failure.retryAfterMs} ms.`
        : failure.isForeign
          ? `A ${status} came back, but not in the platform's form: a proxy may have answered.${said === '' ? '' : ` It says: ${said}`}`
          : answered;
      const remedy = isHeldBack ? '' : statusRemedy(status, retryAfterMs);
      return new (apiErrorClass(status))(say(sentence, remedy), {
        ...facts,
        status,
        code,
        details,
        body,
        retryAfterMs,
        requestId: requestId ?? requestIdOf(headers, redact),
        headers: headerRecord(headers, redact),
      });
    }
    case 'unusable': {
      const { status, text } = failure.answer;
      const sentence = `The platform answered ${status}, but ${oneLine(failure.explanation)}.`;
      const issues = redactDeep(failure.issues, redact);
      const known = { reason: failure.why, status, requestId, issues };
      const body = redactAndCut(text, redact);
      return new InvalidResponseError(say(sentence, accepted(call.kind)), {
        ...facts,
        ...known,
        body,
      });
    }
    case 'disconnected': {
      const { code, said } = failure;
      const sentence = `The connection to the platform failed${code === undefined ? '' : ` (${code})`}${said === '' || said === code ? '' : `: ${said}`}.`;
      const message = say(sentence, connectionRemedy(failure));
      const known = { ...facts, code, cause: redactError(failure.error, redact) };
      return failure.connectTimedOut
        ? new TimeoutError(message, { ...known, phase: 'connect' })
        : new ConnectionError(message, known);
    }
    case 'timedOut': {
      const { phase, remedy } = failure;
      const sentence = timeoutSentences[phase](Math.round(failure.ms));
      const message = say(sentence, phase === 'body' ? accepted(call.kind) : remedy);
      return new TimeoutError(message, { ...facts, phase });
    }
    case 'aborted': {
      // Of the caller's own reason the message tells no more: nobody knows what is in it.
      const { cause } = failure;
      const isTimeout = cause instanceof Error && fieldOf(cause, 'name') === 'TimeoutError';
      const sentence = `The call was aborted by its signal${isTimeout ? ', whose time was up' : ''}.`;
      return new AbortError(say(sentence), { ...facts, cause });
    }
    case 'noCredential': {
      const { option, problem } = failure;
      const cause = problem === undefined ? redactError(failure.error, redact) : undefined;
      const why =
        problem === undefined
          ? `failed${saidBy(cause)}`
          : `returned an unusable credential: ${problem}`;
      const message = say(`The function in the option ${option} ${why}.`);
      return new ConfigurationError(message, { ...facts, cause });
    }
    case 'unexpected': {
      const cause = redactError(failure.error, redact);
      const message = say(`The call ended with an unexpected error${saidBy(cause)}.`);
      return new PaymentsError(message, { ...facts, cause });
    }
  }
}

/** What a success says even when its body cannot be read. */
const accepted = (kind: Kind): string =>
  kind === 'safe' ? '' : 'The status says that the platform accepted the call.';

/** What became of a write. */
function consequence(outcome: Outcome, call: FailedCall['call'], startedAt?: string): string {
  if (outcome === 'not_sent') return 'Nothing was sent.';
  if (outcome === 'rejected') return 'It did not take effect.';
  const { ifUnknown = 'it may have taken effect. Look before you send it again.' } = call;
  return `Outcome unknown: ${ifUnknown}${startedAt === undefined ? '' : ` This call began at ${startedAt}.`}`;
}

/** What is said of a timeout, by where the call stood. */
const timeoutSentences: Readonly<Record<TimeoutPhase, (ms: number) => string>> = {
  credential: (ms) => `The credential function did not return within ${ms} ms.`,
  connect: (ms) => `No connection to the platform was made within ${ms} ms (option timeout).`,
  headers: (ms) => `The platform did not answer within ${ms} ms (option timeout).`,
  body: (ms) =>
    `The platform started to answer but did not finish within ${ms} ms (option timeout).`,
  total: (ms) => `The call did not finish within ${ms} ms (option totalTimeout).`,
};

function connectionRemedy({
  transient,
  obstacle,
  proxy,
  code,
}: ReturnType<typeof disconnected>): string {
  const theOption = 'the option baseUrl (for instructions and transactions: rootUrl)';
  switch (obstacle) {
    case 'proxy':
      return `Check ${proxy ?? 'the proxy of the environment'}: its address, its credentials, and what it lets through.`;
    case 'no_tls':
      return `Check the port in ${theOption}${proxy === undefined ? '' : `, and ${proxy}`}.`;
    case 'certificate':
    case undefined:
      if (!transient) return 'Retrying will not help: fix the certificate or the request first.';
      if (code !== 'ENOTFOUND' && code !== 'ECONNREFUSED') return '';
      return proxy === undefined
        ? `Check ${theOption}, and that the host is up.`
        : `Check ${proxy}, and that it is up.`;
  }
}

function statusRemedy(status: number, retryAfterMs: number | undefined): string {
  if (status >= 300 && status < 400) {
    return 'Redirects are not followed; check the option baseUrl (for instructions and transactions: rootUrl).';
  }
  if (status !== 429) return statusRemedies[status] ?? '';
  return retryAfterMs === undefined
    ? 'Send fewer requests.'
    : `Send fewer requests, or wait for ${Math.ceil(retryAfterMs)} ms (retryAfterMs).`;
}

const statusRemedies: Readonly<Record<number, string>> = {
  401: 'Check the credential: the API key (apiKey) for the versioned endpoints, the JWT (jwt) for instructions and transactions.',
  403: 'The credential may not do this, or a proxy or firewall in front of the platform refused the request.',
  404: 'Check the id and the option baseUrl, and that the credential belongs to the Platform that holds it.',
};

/** What the platform says in an Error body; its fields may be of any type. */
function errorBody(body: unknown, redact: Redact) {
  const field = (name: string): unknown =>
    typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
  const words = (name: string): string | undefined => {
    const value = field(name);
    return typeof value === 'string' && value !== '' ? redactAndCut(value, redact) : undefined;
  };
  const details = redactBounded(field('details'), redact);
  return { message: words('error'), code: words('code'), details };
}

/** The first words of a body that is not an Error body, such as a proxy's page. */
function excerpt(body: string): string {
  const words = oneLine(body.slice(0, 4_096).replace(/<[^<>]{0,500}>/g, ' '));
  return words.length > 120 ? `${words.slice(0, 120)}…` : words;
}

function innermost(error: Error, depth = 0): string {
  const cause = fieldOf(error, 'cause');
  // An error can be its own cause.
  return cause instanceof Error && depth < 8 ? innermost(cause, depth + 1) : messageOf(error);
}

function headerRecord(headers: Headers, redact: Redact): Readonly<Record<string, string>> {
  const record: Record<string, string> = {};
  // Those of a fetch of the user's own may have `get` alone.
  (headers as Partial<Headers>).forEach?.((value, name) => {
    if (name !== 'set-cookie') {
      record[redact(name)] = redactAndCut(value, (text) => redactHeader(name, text, redact));
    }
  });
  return Object.freeze(record);
}

/** The document names none of them: docs/gaps.md, row 53. */
const requestIdHeaders = ['x-request-id', 'request-id', 'x-amzn-requestid', 'cf-ray'] as const;

/** The platform's id of a request; the document names no header, so the usual ones are tried. */
export function requestIdOf(headers: Headers, redact: Redact): string | undefined {
  const name = requestIdHeaders.find((each) => headers.get(each));
  return name === undefined ? undefined : oneLine(redactAndCut(headers.get(name) ?? '', redact));
}
