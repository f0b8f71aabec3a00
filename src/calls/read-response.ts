import { isObject } from '../internal/guards.ts';
import { describeResponseIssue } from './arguments.ts';
import type { AttemptResult } from './attempt.ts';
import type { CallState } from './call-state.ts';
import { identity, type Call, type ReportDrift } from './call.ts';
import type { Clock } from './clock.ts';
import type { InvalidResponseReason, Issue } from '../errors/errors.ts';
import { requestIdOf } from '../errors/failed-response.ts';
import {
  rejectedFailure,
  timeoutFailure,
  unusableFailure,
  type Failure,
} from '../errors/failure.ts';
import { isHttpsRedirect, statusOutcome } from '../errors/outcome.ts';
import { redactDeep } from '../errors/redact.ts';
import { callHook, type Hooks } from './hooks.ts';
import { forbidsRetry, isTransientStatus, parseRetryAfter } from './retry.ts';
import { isTruncated, JsonLimitError, parseJson } from '../internal/json.ts';
import type { BodyFault, ReceivedResponse } from '../internal/received-response.ts';
import { bodylessStatuses } from '../transports/transport.ts';

/** The settings for reading responses. */
interface ReadingSetup {
  readonly validation: 'strict' | 'report';
  readonly hooks: Hooks;
  readonly clock: Required<Clock>;
  /** Whether the body of an error response comes from the platform. */
  readonly isErrorBody: (body: unknown) => boolean;
}

/** The result of a call and the response that it was read from. */
export interface Success<T> {
  readonly ok: true;
  readonly data: T;
  readonly response: ReceivedResponse;
}

/** The result of an attempt, or its failure. */
export type AttemptOutcome<T> = Success<T> | { readonly ok: false; readonly failure: Failure };

/** Reads a response as its call declares. */
export function readResponse<T, A>(
  state: CallState<Call<T, A>>,
  { response }: Extract<AttemptResult, { ok: true }>,
  { validation, hooks, clock, isErrorBody }: ReadingSetup,
): AttemptOutcome<T> {
  const { call, redact } = state;
  // The first read of `headers` creates them, for a seventh of a GET, so only branches that need them read them.
  const { status, text, fault } = response;
  const fail = (failure: Failure): AttemptOutcome<T> => ({ ok: false, failure });
  if (status < 200 || status > 299) {
    const { headers } = response;
    const transient = isTransientStatus(status) && !forbidsRetry(headers);
    const retryAfterMs = parseRetryAfter(headers, clock.now());
    const body = parseIfJson(text);
    const isPlatforms = isErrorBody(body);
    const redirectsToHttps = isHttpsRedirect(state.prepared.url, headers.get('location'));
    const facts = { isPlatforms, redirectsToHttps };
    const outcome = statusOutcome(status, call.kind, facts);
    return fail(
      rejectedFailure(response, body, { outcome, transient, retryAfterMs, isPlatforms }, redact),
    );
  }
  const reportDrift: ReportDrift = (issues) => {
    callHook(hooks.onDrift, () => ({
      ...identity(call),
      call: state.number,
      status,
      requestId: requestIdOf(response.headers, redact),
      issues: redactDeep(issues, redact),
    }));
  };
  call.onHeaders?.(response.headers, reportDrift);
  // The result type of such a call is void.
  if (call.response === 'nothing') return { ok: true, data: undefined as T, response };
  if (fault === 'stalled') {
    const requestId = requestIdOf(response.headers, redact);
    return fail(timeoutFailure('body', state.timeout, { outcome: 'unknown', status, requestId }));
  }
  if (call.emptyIsResult === true && fault === undefined && text === '') {
    return { ok: true, data: undefined as T, response };
  }
  const body = parseBody(text, fault);
  if (!body.ok) return fail(unusableFailure(response, body.reason, body.explanation, redact));
  const { parsed } = body;
  // Without `transform`, T is A: see Call.
  const transform = call.transform ?? ((value: A) => value as unknown as T);
  const checked = call.response.safeParse(parsed);
  const isAcceptable = call.acceptIf?.(parsed) ?? true;
  if (checked.success && isAcceptable) return { ok: true, data: transform(checked.data), response };

  const issues: Issue[] = checked.success
    ? [{ path: 'id', message: 'expected an id of the documented form' }]
    : checked.error.issues.flatMap((issue) => describeResponseIssue(issue, parsed));
  // An accepted write must not fail because of a field: the caller could think that no money moved. A
  // read may, unless the client only reports.
  const isAccepted = call.kind === 'safe' ? validation === 'report' : isObject(parsed);
  if (!isAcceptable || !isAccepted) {
    const [first] = issues;
    const explanation = ` and an undocumented ${first?.path || 'response'}: ${first?.message ?? 'it differs'}`;
    return fail(unusableFailure(response, 'shape', redact(explanation), redact, issues));
  }
  reportDrift(issues);
  // The type promises the documented shape; the hook has received the differences.
  return { ok: true, data: transform(parsed as A), response };
}

function parseIfJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** The JSON of a body, or why there is none. */
type ParsedBody =
  | { readonly ok: true; readonly parsed: unknown }
  | {
      readonly ok: false;
      readonly reason: InvalidResponseReason;
      readonly explanation: string;
    };

function parseBody(text: string, fault: Exclude<BodyFault, 'stalled'> | undefined): ParsedBody {
  switch (fault) {
    case 'cut':
      return createBodyProblem(
        'truncated',
        'the connection broke before the whole response had arrived',
      );
    case 'too_large':
      return createBodyProblem('too_large', 'its response is larger than 16 MiB');
    case 'not_text':
      return createBodyProblem('not_json', 'its response is not valid UTF-8');
    case undefined:
      break;
  }
  if (text.trim() === '') return createBodyProblem('empty', 'its response is empty');
  try {
    return { ok: true, parsed: parseJson(text) };
  } catch (error) {
    if (error instanceof JsonLimitError)
      return createBodyProblem('too_large', `its response ${error.message}`);
    if (isTruncated(text)) return createBodyProblem('truncated', 'its response is cut off');
    return createBodyProblem('not_json', 'its response is not JSON');
  }
}

const createBodyProblem = (reason: InvalidResponseReason, explanation: string): ParsedBody => ({
  ok: false,
  reason,
  explanation: `, but ${explanation}`,
});

/**
 * Creates a Response with a body that can be read again. A status text that no Response can hold is dropped,
 * because it must not cost the caller the result.
 */
export const toResponse = ({ status, statusText, headers, text }: ReceivedResponse): Response =>
  // With a string, Response would add a content type.
  new Response(bodylessStatuses.has(status) ? null : new TextEncoder().encode(text), {
    status,
    statusText: /^[\t\x20-\x7e\x80-\xff]*$/.test(statusText) ? statusText : '',
    headers,
  });
