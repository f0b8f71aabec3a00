import { requestIdOf, stalledBody, statusFailure, unusableAnswer } from './answer-failure.ts';
import { describe } from './arguments.ts';
import type { Answer } from './attempt.ts';
import { identity, type Call } from './call.ts';
import type { InvalidResponseReason, Issue } from '../errors/errors.ts';
import type { Failure } from './failure.ts';
import { notify, type Hooks } from './hooks.ts';
import { endsEarly, JsonLimitError, parseJson } from '../wires/json.ts';
import { isObject } from './records.ts';
import { redactDeep, type Redact } from '../errors/redact.ts';
import { bodylessStatuses, type BodyFault } from '../wires/wire.ts';

/** How one client reads answers. */
export interface AnswerContext {
  readonly validation: 'strict' | 'report';
  readonly hooks: Hooks;
  readonly timeout: number;
  readonly redact: Redact;
  readonly now: number;
  /** What hooks tell this call from others by. */
  readonly callNumber: number;
  /** Whether the request was sent more than once: its answer is then only that to the last. */
  readonly repeated: boolean;
}

/** What an answer amounts to: the data, or the failure that it is. */
type Interpretation<T> =
  { readonly ok: true; readonly data: T } | { readonly ok: false; readonly failure: Failure };

/** Reads an answer as the call says. */
export function interpretAnswer<T, A>(
  call: Call<T, A>,
  answer: Answer,
  context: AnswerContext,
): Interpretation<T> {
  const { redact } = context;
  if (answer.status < 200 || answer.status > 299) {
    return { ok: false, failure: statusFailure(answer, call.kind, context) };
  }
  call.onHeaders?.(answer.headers);
  // The type of such a call is void.
  if (call.answer === 'nothing') return { ok: true, data: undefined as T };
  const { fault, text } = answer;
  if (fault === 'stalled') {
    return { ok: false, failure: stalledBody(answer, context.timeout, redact) };
  }
  if (call.mayBeEmpty === true && fault === undefined && text === '') {
    return { ok: true, data: undefined as T };
  }
  const body = parsedBody(text, fault);
  if (!body.ok) {
    const failure = unusableAnswer(answer, body.reason, redact, body.explanation);
    return { ok: false, failure };
  }
  const { parsed } = body;
  // Without `transform`, T is A: see Call.
  const transform = call.transform ?? ((value: A) => value as unknown as T);
  const checked = call.answer.safeParse(parsed);
  const isUsable = call.isUsable?.(parsed) ?? true;
  if (checked.success && isUsable) return { ok: true, data: transform(checked.data) };

  const issues: Issue[] = checked.success
    ? [{ path: 'id', message: 'expected an id of the documented form' }]
    : checked.error.issues.flatMap((issue) => describe(issue, parsed));
  // A write that was accepted must not fail over a field: whoever asked for it could think that no
  // money moved. A read may, unless the client was told to report only.
  const accepted = call.kind === 'safe' ? context.validation === 'report' : isObject(parsed);
  if (!isUsable || !accepted) {
    const [first] = issues;
    const where = first === undefined || first.path === '' ? '' : ` (${first.path})`;
    const explanation = `its answer does not have the documented shape${redact(where)}: ${redact(first?.message ?? 'it differs')}`;
    return { ok: false, failure: unusableAnswer(answer, 'shape', redact, explanation, issues) };
  }
  notify(context.hooks.onDrift, () => ({
    ...identity(call),
    call: context.callNumber,
    status: answer.status,
    requestId: requestIdOf(answer.headers, redact),
    issues: redactDeep(issues, redact),
  }));
  // The type promises the documented shape; the hook has been told where the answer differs.
  return { ok: true, data: transform(parsed as A) };
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
      return unusable('truncated', 'the connection broke before the whole answer had arrived');
    case 'too_large':
      return unusable('too_large', 'its answer is larger than 16 MiB');
    case 'not_text':
      return unusable('not_json', 'its answer is not valid UTF-8');
    case undefined:
      break;
  }
  if (text.trim() === '') return unusable('empty', 'its answer is empty');
  try {
    return { ok: true, parsed: parseJson(text) };
  } catch (error) {
    if (error instanceof JsonLimitError) {
      return unusable('too_large', `its answer ${error.message}`);
    }
    return endsEarly(text)
      ? unusable('truncated', 'its answer is cut off')
      : unusable('not_json', 'its answer is not JSON');
  }
}

const unusable = (reason: InvalidResponseReason, explanation: string): ParsedBody => ({
  ok: false,
  reason,
  explanation,
});

/**
 * The answer as a Response again: its body was read, so a new one holds the text. A phrase that no
 * Response can carry is left out: whoever asked for one must not lose the result over it.
 */
export const toResponse = ({ status, statusText, headers, text }: Answer): Response =>
  // Given a string, Response would invent a content type.
  new Response(bodylessStatuses.has(status) ? null : new TextEncoder().encode(text), {
    status,
    statusText: /^[\t\x20-\x7e\x80-\xff]*$/.test(statusText) ? statusText : '',
    headers,
  });
