import type { Answer } from './attempt.ts';
import { composeMessage, factsOf, type ErrorContext } from './error-context.ts';
import { oneLine, redactAndCut, redactBounded } from '../errors/error-copy.ts';
import {
  apiErrorClass,
  InvalidResponseError,
  type InvalidResponseReason,
  type Issue,
} from '../errors/errors.ts';
import { timedOut, timeoutError, type Failure } from './failure.ts';
import { parseJson } from '../wires/json.ts';
import { statusOutcome, type Kind } from '../errors/outcome.ts';
import { redactDeep, redactHeader, type Redact } from '../errors/redact.ts';
import { forbidsRetry, isTransientStatus, retryAfter } from './retry.ts';

/** The document names none of them: docs/gaps.md, row 53. */
const requestIdHeaders = ['x-request-id', 'request-id', 'x-amzn-requestid', 'cf-ray'] as const;

/** The platform's id of a request; the document names no header, so the usual ones are tried. */
export function requestIdOf(headers: Headers, redact: Redact): string | undefined {
  for (const name of requestIdHeaders) {
    const value: unknown = headers.get(name);
    // Of a fetch of the user's own, headers may be a Map.
    if (typeof value === 'string' && value !== '') return oneLine(redactAndCut(value, redact));
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
  const outcome = statusOutcome(status, kind, repeated);
  const requestId = requestIdOf(headers, redact);
  const retryAfterMs = retryAfter(headers, now);
  const transient = isTransientStatus(status) && !forbidsRetry(headers);
  return {
    outcome,
    status,
    requestId,
    reason: `status ${status}`,
    transient,
    retryAfterMs,
    toError(context) {
      const body = redactAndCut(answer.text, redact);
      const { message, code, details } = errorBody(answer.text, redact);
      const facts = {
        ...factsOf(context, transient),
        status,
        code,
        details,
        requestId,
        headers: headerRecord(headers, redact),
        body,
        retryAfterMs,
      };
      const said = message === undefined ? excerpt(body) : oneLine(message);
      return new (apiErrorClass(status))(
        composeMessage(
          `The platform answered ${status}${code === undefined ? '' : ` (${oneLine(code)})`}${said === '' ? '' : `: ${said}`}${/[.!?]$/.test(said) ? '' : '.'}`,
          context,
          statusRemedy(status, retryAfterMs),
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
    toError: (context) =>
      new InvalidResponseError(
        composeMessage(
          `The platform answered ${status}, but ${oneLine(explanation)}.`,
          context,
          accepted(context),
          requestId,
        ),
        {
          ...factsOf(context, transient),
          reason,
          status,
          requestId,
          body: redactAndCut(answer.text, redact),
          issues: redactDeep(issues, redact),
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
    toError: (context) =>
      timeoutError('body', timeout, context, { requestId, remedy: accepted(context) }),
  };
}

/** What a success says even when its body cannot be read. */
const accepted = ({ kind }: ErrorContext): string =>
  kind === 'safe' ? '' : 'The status says that the platform accepted the call.';

function statusRemedy(status: number, retryAfterMs: number | undefined): string {
  if (status >= 300 && status < 400) {
    return 'Redirects are not followed; check the option baseUrl (for instructions and transactions: rootUrl).';
  }
  switch (status) {
    case 401:
      return 'Check the credential: the API key (apiKey) for the versioned endpoints, the JWT (jwt) for instructions and transactions.';
    case 403:
      return 'The credential may not do this, or a proxy or firewall in front of the platform refused the request.';
    case 404:
      return 'Check the id and the option baseUrl, and that the credential belongs to the Platform that holds it.';
    case 429:
      return retryAfterMs === undefined
        ? 'Send fewer requests.'
        : `Send fewer requests, or wait for ${Math.ceil(retryAfterMs)} ms (retryAfterMs).`;
    default:
      return '';
  }
}

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
    return typeof value === 'string' && value !== '' ? redactAndCut(value, redact) : undefined;
  };
  return {
    message: words('error'),
    code: words('code'),
    details: redactBounded(field('details'), redact),
  };
}

/** The first words of a body that is not an Error body, such as a proxy's page. */
function excerpt(body: string): string {
  const words = oneLine(body.slice(0, 4_096).replace(/<[^<>]{0,500}>/g, ' '));
  return words.length > 120 ? `${words.slice(0, 120)}…` : words;
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
