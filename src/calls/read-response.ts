import { isObject } from '../internal/guards.ts';
import { describeResponseIssue } from './arguments.ts';
import type { ReceivedResponse, AttemptResult } from './attempt.ts';
import type { CallState } from './call-state.ts';
import { identity, type Call } from './call.ts';
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
import { forbidsRetry, isTransientStatus, retryAfter } from './retry.ts';
import { endsEarly, JsonLimitError, parseJson } from '../internal/json.ts';
import { bodylessStatuses, type BodyFault } from '../transports/transport.ts';

/** How one client reads answers. */
interface Reading {
  readonly validation: 'strict' | 'report';
  readonly hooks: Hooks;
  readonly clock: Required<Clock>;
  /** Whether the body of a refusal is one that the platform writes. */
  readonly isErrorBody: (body: unknown) => boolean;
}

/** What a call resolves to, and the answer that it was made of. */
export interface Success<T> {
  readonly ok: true;
  readonly data: T;
  readonly response: ReceivedResponse;
}

/** A result, or the failure of the attempt that should have brought it. */
export type Ending<T> = Success<T> | { readonly ok: false; readonly failure: Failure };

/** Reads an answer as its call says. */
export function readResponse<T, A>(
  state: CallState<Call<T, A>>,
  { response, repeated }: Extract<AttemptResult, { ok: true }>,
  { validation, hooks, clock, isErrorBody }: Reading,
): Ending<T> {
  const { call, redact } = state;
  const { status, headers, text, fault } = response;
  const failed = (failure: Failure): Ending<T> => ({ ok: false, failure });
  if (status < 200 || status > 299) {
    const transient = isTransientStatus(status) && !forbidsRetry(headers);
    const retryAfterMs = retryAfter(headers, clock.now());
    const body = jsonOf(text);
    const isPlatforms = isErrorBody(body);
    const redirectsToHttps = isHttpsRedirect(state.prepared.url, headers.get('location'));
    const facts = { repeated, isPlatforms, redirectsToHttps };
    const outcome = statusOutcome(status, call.kind, facts);
    return failed(
      rejectedFailure(response, body, { outcome, transient, retryAfterMs, isPlatforms }, redact),
    );
  }
  call.onHeaders?.(headers);
  // The type of such a call is void.
  if (call.response === 'nothing') return { ok: true, data: undefined as T, response };
  if (fault === 'stalled') {
    const requestId = requestIdOf(headers, redact);
    return failed(timeoutFailure('body', state.timeout, { outcome: 'unknown', status, requestId }));
  }
  if (call.emptyIsResult === true && fault === undefined && text === '') {
    return { ok: true, data: undefined as T, response };
  }
  const body = parsedBody(text, fault);
  if (!body.ok) return failed(unusableFailure(response, body.reason, body.explanation, redact));
  const { parsed } = body;
  // Without `transform`, T is A: see Call.
  const transform = call.transform ?? ((value: A) => value as unknown as T);
  const checked = call.response.safeParse(parsed);
  const isAcceptable = call.acceptIf?.(parsed) ?? true;
  if (checked.success && isAcceptable) return { ok: true, data: transform(checked.data), response };

  const issues: Issue[] = checked.success
    ? [{ path: 'id', message: 'expected an id of the documented form' }]
    : checked.error.issues.flatMap((issue) => describeResponseIssue(issue, parsed));
  // A write that was accepted must not fail over a field: whoever asked for it could think that no
  // money moved. A read may, unless the client was told to report only.
  const isAccepted = call.kind === 'safe' ? validation === 'report' : isObject(parsed);
  if (!isAcceptable || !isAccepted) {
    const [first] = issues;
    const explanation = ` and an undocumented ${first?.path || 'response'}: ${first?.message ?? 'it differs'}`;
    return failed(unusableFailure(response, 'shape', redact(explanation), redact, issues));
  }
  callHook(hooks.onDrift, () => ({
    ...identity(call),
    call: state.number,
    status,
    requestId: requestIdOf(headers, redact),
    issues: redactDeep(issues, redact),
  }));
  // The type promises the documented shape; the hook has been told where the answer differs.
  return { ok: true, data: transform(parsed as A), response };
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** The JSON of an answer, or why there is none. */
type ParsedBody =
  | { readonly ok: true; readonly parsed: unknown }
  | {
      readonly ok: false;
      readonly reason: InvalidResponseReason;
      readonly explanation: string;
    };

function parsedBody(text: string, fault: Exclude<BodyFault, 'stalled'> | undefined): ParsedBody {
  switch (fault) {
    case 'cut':
      return without('truncated', 'the connection broke before the whole answer had arrived');
    case 'too_large':
      return without('too_large', 'its answer is larger than 16 MiB');
    case 'not_text':
      return without('not_json', 'its answer is not valid UTF-8');
    case undefined:
      break;
  }
  if (text.trim() === '') return without('empty', 'its answer is empty');
  try {
    return { ok: true, parsed: parseJson(text) };
  } catch (error) {
    if (error instanceof JsonLimitError) return without('too_large', `its answer ${error.message}`);
    return endsEarly(text)
      ? without('truncated', 'its answer is cut off')
      : without('not_json', 'its answer is not JSON');
  }
}

const without = (reason: InvalidResponseReason, explanation: string): ParsedBody => ({
  ok: false,
  reason,
  explanation: `, but ${explanation}`,
});

/**
 * The answer as a Response again: its body was read, so a new one holds the text. A phrase that no
 * Response can carry is left out: whoever asked for one must not lose the result over it.
 */
export const toResponse = ({ status, statusText, headers, text }: ReceivedResponse): Response =>
  // Given a string, Response would invent a content type.
  new Response(bodylessStatuses.has(status) ? null : new TextEncoder().encode(text), {
    status,
    statusText: /^[\t\x20-\x7e\x80-\xff]*$/.test(statusText) ? statusText : '',
    headers,
  });
