import type { ReceivedResponse } from '../internal/received-response.ts';
import { fieldOf, messageOf, oneLine } from '../internal/text.ts';
import { redactAndCut, redactBounded, redactError } from './redact.ts';
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
type FailedResponse = Pick<ReceivedResponse, 'status' | 'headers' | 'text'>;

/** An answer with a status other than 2xx; `body` is its JSON, if it is any. */
export const refused = (
  response: FailedResponse,
  body: unknown,
  proof: Pick<Proof, 'outcome' | 'transient' | 'retryAfterMs'> & {
    /** Whether its body is an Error body. Somebody else may have written any other, or none. */
    readonly isPlatforms: boolean;
  },
  redact: Redact,
) => ({
  ...proof,
  type: 'refused' as const,
  status: response.status,
  requestId: requestIdOf(response.headers, redact),
  reason: `status ${response.status}`,
  response,
  body,
});

/** An answer by which the platform, or something in front of it, has refused a request. */
export type Rejection = ReturnType<typeof refused>;

/** Not sent at all, because the platform has asked this client to slow down. */
export const heldBack = (rejection: Rejection, ms: number) => ({
  type: 'heldBack' as const,
  outcome: 'not_sent' as const,
  reason: 'held back after a 429',
  transient: true,
  retryAfterMs: Math.ceil(ms),
  rejection,
});

/** A success whose answer cannot be used. */
export const unusable = (
  response: FailedResponse,
  why: InvalidResponseReason,
  explanation: string,
  redact: Redact,
  issues: readonly Issue[] = [],
) => ({
  type: 'unusable' as const,
  outcome: 'unknown' as const,
  status: response.status,
  requestId: requestIdOf(response.headers, redact),
  reason: `status ${response.status} with an unusable body (${why})`,
  // A body that was cut off is a broken connection; one that is wrong will be wrong again.
  transient: why === 'truncated',
  response,
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
  readonly prepared: { readonly idempotencyKey: string | undefined; readonly baseUrl: string };
  /** Which was sent, by its option or variable, and when it expired. */
  readonly credential: { readonly kind: 'apiKey' | 'jwt'; told(): string };
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
  const { baseUrl } = failed.prepared;
  const host = redact(new URL(baseUrl).host);
  const isItRight = `Check ${
    failed.credential.kind === 'apiKey'
      ? 'baseUrl (or PAYMENTS_BASE_URL)'
      : 'rootUrl (or PAYMENTS_ROOT_URL)'
  }: is the base URL right?`;
  const isWrite = call.kind !== 'safe';
  const isAccepted = failure.type === 'unusable' || failure.reason === 'timeout (body)';
  /**
   * A sentence, then what to do and what became of it, then what was asked. What somebody else has
   * `said` stands in the sentence while that is short.
   */
  const say = (sentence: string, remedy = '', said = '', isShort = true): string => {
    const whole = said === '' ? sentence : `${sentence}: ${said.replace(/\.$/, '')}`;
    const fits = isShort && whole.split(' ').length <= 15;
    const asked = [
      redact(`Request: ${call.method} ${baseUrl}${call.path.template} (${call.operation})`),
      attempts.length > 1 && `${attempts.length} attempts`,
      requestId !== undefined && `request ${requestId}`,
      isWrite && outcome === 'unknown' && `begun ${facts.startedAt}`,
    ];
    const parts = [
      `${fits ? whole : sentence}.`,
      remedy || (facts.retryable && !isWrite && 'A read changes nothing: try again.'),
      !fits && said !== '' && `It says: ${said}`,
      note,
      isWrite && isAccepted && 'The status says that the platform accepted the call.',
      isWrite && consequence(outcome, call),
      `${asked.filter(Boolean).join(', ')}.`,
    ];
    return parts.filter(Boolean).join('\n');
  };
  const withType = (response: FailedResponse): string =>
    `${host} answered ${response.status} with ${oneLine(redactAndCut(typeOf(response), redact))}`;
  switch (failure.type) {
    case 'heldBack':
    case 'refused': {
      const rejection = failure.type === 'heldBack' ? failure.rejection : failure;
      const { response, body: parsed, isPlatforms } = rejection;
      const { status, headers, text } = response;
      const body = redactAndCut(text, redact);
      const { message, code, details } = errorBody(parsed, redact);
      const said = message === undefined ? excerpt(body) : oneLine(message);
      const sentence = isPlatforms
        ? `The platform answered ${status}${code === undefined ? '' : ` (${oneLine(code)})`}`
        : status < 400
          ? `${host} answered ${status}, a redirect`
          : `${withType(response)}; expected the platform's Error body`;
      // A server that does not know a path says which.
      const isLost = !isPlatforms || said.includes(call.path.template.split('{')[0] ?? '');
      const isInDoubt = isWrite && rejection.outcome === 'unknown';
      const describeFix = (): string | undefined => {
        if (status < 400) return `Redirects are not followed. ${isItRight}`;
        if (status === 404 && isLost) return isItRight;
        if (status === 401) return `It was sent with ${failed.credential.told()}`;
        if (status !== 429) return isInDoubt ? undefined : statusRemedies[status];
        return `Send fewer requests${retryAfterMs === undefined ? '' : `, or wait for ${Math.ceil(retryAfterMs)} ms (retryAfterMs)`}.`;
      };
      const remedy = [
        isInDoubt && !isPlatforms && "A proxy may have replaced the platform's response.",
        describeFix(),
      ];
      const told =
        failure.type === 'heldBack'
          ? say(
              'The platform asked this client to slow down (429); this call may not wait',
              `Call again in ${retryAfterMs} ms (retryAfterMs).`,
            )
          : say(sentence, remedy.filter(Boolean).join(' '), said, isPlatforms);
      return new (apiErrorClass(status))(told, {
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
      const { response, why } = failure;
      const { status, text } = response;
      const issues = redactDeep(failure.issues, redact);
      const known = { reason: why, status, requestId, issues };
      const body = redactAndCut(text, redact);
      const message =
        why === 'not_json' && !/json/i.test(typeOf(response))
          ? say(`${withType(response)}; expected JSON`, isItRight)
          : say(`The platform answered ${oneLine(`${status}${failure.explanation}`)}`);
      return new InvalidResponseError(message, { ...facts, ...known, body });
    }
    case 'disconnected': {
      const { code, said } = failure;
      const message = say(
        `The connection to ${host} failed${code === undefined ? '' : ` (${code})`}`,
        connectionRemedy(failure, isItRight),
        code !== undefined && said.includes(code) ? '' : said,
      );
      const known = { ...facts, code, cause: redactError(failure.error, redact) };
      return failure.connectTimedOut
        ? new TimeoutError(message, { ...known, phase: 'connect' })
        : new ConnectionError(message, known);
    }
    case 'timedOut': {
      const { phase, remedy } = failure;
      const message = say(timeoutSentences[phase](Math.round(failure.ms)), remedy);
      return new TimeoutError(message, { ...facts, phase });
    }
    case 'aborted': {
      // Of the caller's own reason the message tells no more: nobody knows what is in it.
      const { cause } = failure;
      const isTimeout = cause instanceof Error && fieldOf(cause, 'name') === 'TimeoutError';
      const sentence = `The call was aborted by its signal${isTimeout ? ', whose time was up' : ''}`;
      return new AbortError(say(sentence, 'Its reason is in error.cause.'), { ...facts, cause });
    }
    case 'noCredential': {
      const { option, problem } = failure;
      const cause = problem === undefined ? redactError(failure.error, redact) : undefined;
      const what =
        problem === undefined
          ? 'failed'
          : `returned ${problem.startsWith('got ') ? problem.slice(4) : `what ${problem}`}`;
      const message = say(
        `The function in the option ${option} ${what}`,
        '',
        oneLine(cause?.message ?? ''),
      );
      return new ConfigurationError(message, { ...facts, cause });
    }
    case 'unexpected': {
      const cause = redactError(failure.error, redact);
      const sentence = 'The call ended with an unexpected error';
      const message = say(sentence, '', oneLine(cause?.message ?? ''));
      return new PaymentsError(message, { ...facts, cause });
    }
  }
}

/** What became of a write. */
function consequence(outcome: Outcome, call: FailedCall['call']): string {
  if (outcome === 'not_sent') return 'Nothing was sent.';
  if (outcome === 'rejected') return 'It did not take effect.';
  const { ifUnknown = 'it may have taken effect. Look before you send it again.' } = call;
  return `Outcome unknown: ${ifUnknown}`;
}

const typeOf = ({ headers, text }: FailedResponse): string =>
  text === '' ? 'no body' : headers.get('content-type')?.split(';')[0] || 'no content type';

/** What is said of a timeout, by where the call stood. */
const timeoutSentences: Readonly<Record<TimeoutPhase, (ms: number) => string>> = {
  credential: (ms) => `The credential function did not return within ${ms} ms`,
  connect: (ms) => `No connection to the platform was made within ${ms} ms (option timeout)`,
  headers: (ms) => `The platform did not answer within ${ms} ms (option timeout)`,
  body: (ms) =>
    `The platform started to answer but did not finish within ${ms} ms (option timeout)`,
  total: (ms) => `The call did not finish within ${ms} ms (option totalTimeout)`,
};

function connectionRemedy(
  { transient, obstacle, proxy, code }: ReturnType<typeof disconnected>,
  isItRight: string,
): string {
  switch (obstacle) {
    case 'proxy':
      return `Check ${proxy ?? 'the proxy of the environment'}: its address, its credentials, and what it lets through.`;
    case 'no_tls':
      return proxy === undefined
        ? 'Name a port that does, or http:// for a sandbox on this machine.'
        : `Check the port in the base URL, and ${proxy}.`;
    case 'certificate':
    case undefined:
      if (!transient) return 'Retrying will not help: fix the certificate or the request first.';
      if (code !== 'ENOTFOUND' && code !== 'ECONNREFUSED') return '';
      if (proxy !== undefined) return `Check ${proxy}, and that it is up.`;
      return `${code === 'ENOTFOUND' ? 'There is no such host' : 'Nothing listens there'}. ${isItRight}`;
  }
}

const unchanged = 'Sending it again unchanged will not help; error.details may say why.';
const statusRemedies: Readonly<Record<number, string>> = {
  400: unchanged,
  403: 'The credential may not do this, or a proxy or firewall refused it.',
  404: 'Check the id, and that the credential is of the Platform that holds it.',
  409: 'Read the current state before you try again.',
  422: unchanged,
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
