import type * as z from 'zod/mini';
import { isObject, isPlainObject, lazy, withoutMessage } from '../internal/objects.ts';
import { describeResponseIssue } from './arguments.ts';
import type { ReceivedResponse, AttemptResult, RunningCall } from './attempt.ts';
import {
  identity,
  type Call,
  type CallRequest,
  type ReportDrift,
  type ResponseCheck,
} from './call.ts';
import type { CreatedIds } from './created-ids.ts';
import type { Clock } from './time.ts';
import type { InvalidResponseReason, Issue } from '../errors/errors.ts';
import { requestIdOf } from '../errors/failed-response.ts';
import {
  rejectedFailure,
  strayFailure,
  timeoutFailure,
  unusableFailure,
  type Failure,
} from '../errors/failure.ts';
import { isHttpsRedirect, statusOutcome } from '../errors/outcome.ts';
import { redactDeep } from '../errors/redact.ts';
import { callHook, type Hooks } from './hooks.ts';
import { forbidsRetry, isTransientStatus, parseRetryAfter } from './retry.ts';
import { isTruncated, JsonLimitError, parseJson } from '../internal/json.ts';
import { bodylessStatuses, type BodyFault } from '../transports/transport.ts';
import type { Schema } from '../schemas/primitives.ts';

/** The settings for reading responses. */
interface ReadingSetup {
  readonly validation: 'strict' | 'report';
  readonly hooks: Hooks;
  readonly clock: Required<Clock>;
  /** Whether the body of an error response comes from the platform. */
  readonly isErrorBody: (body: unknown) => boolean;
  readonly createdIds: CreatedIds;
}

/** The result of a call and the response that it was read from. */
export interface Success<T> {
  readonly ok: true;
  readonly data: T;
  readonly response: ReceivedResponse;
}

/** The result of an attempt, or its failure. */
export type AttemptOutcome<T> = Success<T> | { readonly ok: false; readonly failure: Failure };

/** Parses and checks a response as its `Call` declares; an invalid or failed response becomes a `Failure`. */
export function readResponse<T, A>(
  running: RunningCall<Call<T, A>>,
  { response }: Extract<AttemptResult, { ok: true }>,
  { validation, hooks, clock, isErrorBody, createdIds }: ReadingSetup,
): AttemptOutcome<T> {
  const { call, redact } = running;
  // The first read of `headers` creates them, for a seventh of a GET, so only branches that need them read them.
  const { status, text, fault } = response;
  const fail = (failure: Failure): AttemptOutcome<T> => ({ ok: false, failure });
  if (status < 200 || status > 299) {
    const { headers } = response;
    const transient = isTransientStatus(status) && !forbidsRetry(headers);
    const retryAfterMs = parseRetryAfter(headers, clock.now());
    const body = parseIfJson(text);
    // A promise of an async function is no `true`, and would make the page of a proxy a rejection.
    const isPlatforms = (isErrorBody(body) as unknown) === true;
    const redirectsToHttps = isHttpsRedirect(running.prepared.url, headers.get('location'));
    const facts = { isPlatforms, redirectsToHttps };
    const outcome = statusOutcome(status, call.kind, facts);
    return fail(
      rejectedFailure(response, body, { outcome, transient, retryAfterMs, isPlatforms }, redact),
    );
  }
  const reportDrift: ReportDrift = (issues) => {
    callHook(hooks, 'onDrift', () => ({
      ...identity(call),
      call: running.number,
      status,
      requestId: requestIdOf(response.headers, redact),
      issues: redactDeep(issues, redact),
    }));
  };
  // The result type of such a call is void.
  if (call.response === 'nothing') return { ok: true, data: undefined as T, response };
  if (fault === 'stalled') {
    const requestId = requestIdOf(response.headers, redact);
    return fail(timeoutFailure('body', running.timeout, { outcome: 'unknown', status, requestId }));
  }
  if (call.response.acceptsNoBody === true && fault === undefined && text === '') {
    return { ok: true, data: undefined as T, response };
  }
  const body = parseBody(text, fault);
  if (!body.ok) return fail(unusableFailure(response, body.reason, body.explanation, redact));
  const failStray = (failure: Failure): AttemptOutcome<T> => {
    // The response to this request may come next, and must not become that to another one.
    response.closeConnection();
    return fail(failure);
  };
  const { parsed } = body;
  const stray = describeStray(running, parsed, createdIds);
  if (stray !== undefined) return failStray(strayFailure(response, stray, redact));
  const checked = call.response.safeParse(parsed);
  const isAcceptable = call.acceptIf?.(parsed) ?? true;
  const succeed = (result: A): AttemptOutcome<T> => {
    const { transform } = call;
    // Without `transform`, T is A: see Call.
    const data = transform ? transform(result, response, reportDrift) : (result as unknown as T);
    return { ok: true, data, response };
  };
  if (checked.success && isAcceptable) return succeed(checked.data);

  const issues: Issue[] = checked.success
    ? [{ path: 'id', message: 'expected an id of the documented form' }]
    : checked.error.issues.flatMap((issue) => describeResponseIssue(issue, parsed));
  // An accepted write must not fail because of a field: the caller could think that no money moved.
  const isAccepted =
    call.kind === 'safe'
      ? validation === 'report' && call.response.isUsable?.(parsed) === true
      : isObject(parsed);
  if (!isAcceptable || !isAccepted) {
    const decisive = validation === 'report' ? issues.find(isOfNeededField) : undefined;
    const { path = '', message = 'it differs' } = decisive ?? issues[0] ?? {};
    const explanation = ` and an undocumented ${path || 'response'}: ${message}`;
    return failStray(unusableFailure(response, 'shape', redact(explanation), redact, issues));
  }
  reportDrift(issues);
  // The type promises the documented shape; the hook has received the differences.
  return succeed(parsed as A);
}

/**
 * Why a success is the response to another request: a faulty server or proxy has sent a response twice or to the
 * wrong connection. Undefined if nothing shows that.
 */
function describeStray(
  { call, prepared }: RunningCall<CallRequest & Pick<Call<unknown>, 'acceptIf'>>,
  parsed: unknown,
  createdIds: CreatedIds,
): Issue | undefined {
  const id: unknown = isObject(parsed) ? Reflect.get(parsed, 'id') : undefined;
  if (typeof id !== 'string') return undefined;
  const { id: requestedId } = call.path;
  if (call.kind === 'safe' && typeof requestedId === 'string' && id !== requestedId) {
    return { path: 'id', message: `got ${id}; expected ${requestedId}` };
  }
  if (call.kind !== 'once' || call.acceptIf?.(parsed) !== true) return undefined;
  // A caller may send a key without the option idempotencyHeader.
  const key = prepared.idempotencyKey ?? prepared.headers['idempotency-key'];
  if (createdIds.add(id, key)) return undefined;
  return { path: 'id', message: `got ${id}, which an earlier creation has; expected a new one` };
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
    case 'incomplete':
      return createBodyProblem('truncated', 'its compressed response is cut off');
    case 'undecodable':
      return createBodyProblem('not_json', 'its response is not in the content-encoding it names');
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

const checks = new WeakMap<z.core.$ZodType, ResponseCheck<unknown>>();

/**
 * Returns the check of a response. A fast matcher accepts a valid value as it is, without a copy; zod runs only
 * for an invalid value, to describe its issues.
 */
export function responseCheck<T>(schema: Schema<T>): ResponseCheck<T> {
  const cached = checks.get(schema);
  // Cached by schema, so the type is right.
  if (cached !== undefined) return cached as ResponseCheck<T>;
  const matches = createMatcher(schema);
  const matchesNeeded = lazy(() => createMatcher(schema, true));
  const check: ResponseCheck<T> = {
    isUsable: (value) => matchesNeeded()(value),
    safeParse(value) {
      // Schemas of responses do not convert, so an accepted value is returned as it is.
      const accepted = { success: true as const, data: value as T };
      if (matches(value)) return accepted;
      const firstItems = takeFirstItems(value);
      let { error } = schema.safeParse(firstItems, withoutMessage);
      if (firstItems !== value) error ??= schema.safeParse(value, withoutMessage).error;
      return error === undefined ? accepted : { success: false, error };
    },
  };
  checks.set(schema, check);
  return check;
}

type Matcher = (value: unknown) => boolean;

/** Of the schemas without parts. Responses have whole numbers and free-form records only. */
const simpleMatchers: Readonly<Partial<Record<string, Matcher>>> = {
  unknown: () => true,
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  bigint: (value) => typeof value === 'bigint',
  number: Number.isSafeInteger,
  record: isPlainObject,
};

/** Without these, a response cannot be used. Of money only the type counts: a number has lost digits. */
const neededFields = ['data', 'hasMore', 'id'];
const moneyFields = [
  'amount',
  'availableBalance',
  'pendingBalance',
  'lockedBalance',
  'holdingBalance',
];

const isOfNeededField = ({ path }: Issue): boolean =>
  [...neededFields, ...moneyFields].includes(path.split('.').at(-1) ?? '');

/**
 * Creates a function that finds out whether zod accepts a value, fast without generated code; with
 * `isLenient`, whether the value has what it needs to be used.
 */
export function createMatcher(schema: z.core.$ZodType, isLenient = false): Matcher {
  const { _zod: internals } = schema as z.core.$ZodTypes;
  const { def } = internals;
  const simple = simpleMatchers[def.type];
  if (simple !== undefined) return simple;
  switch (def.type) {
    case 'optional':
      return orElse(undefined, createMatcher(def.innerType, isLenient));
    case 'nullable':
      return orElse(null, createMatcher(def.innerType, isLenient));
    case 'array': {
      const matches = createMatcher(def.element, isLenient);
      return (value) => Array.isArray(value) && value.every(matches);
    }
    case 'object':
      return createObjectMatcher(def.shape, isLenient);
    default:
      return (value) => (schema as Schema<unknown>).safeParse(value).success;
  }
}

const orElse =
  (allowed: unknown, matches: Matcher): Matcher =>
  (value) =>
    value === allowed || matches(value);

function createObjectMatcher(shape: z.core.$ZodShape, isLenient: boolean): Matcher {
  const fields = Object.entries(shape).flatMap(([key, schema]) => {
    const { _zod: internals } = schema;
    const matches = createMatcher(schema, isLenient);
    if (!isLenient || neededFields.includes(key)) {
      return { key, isOptional: internals.optin !== undefined, matches };
    }
    if (!moneyFields.includes(key)) return [];
    return { key, isOptional: true, matches: orElse(undefined, orElse(null, matches)) };
  });
  return (value) => {
    if (!isObject(value)) return false;
    const record = value as Readonly<Record<string, unknown>>;
    for (const { key, isOptional, matches } of fields) {
      const field = record[key];
      if (!matches(field)) return false;
      if (field === undefined && !isOptional && !(key in value)) return false;
    }
    return true;
  };
}

/** The maximum number of items on a page, by the API reference. */
const maxPageItems = 100;

/**
 * Takes the first items of a list or a page: zod reports every issue of every item, and a small compressed
 * response may decompress to millions of them.
 */
function takeFirstItems(value: unknown): unknown {
  const items: unknown = isObject(value) ? Reflect.get(value, 'data') : value;
  if (!Array.isArray(items) || items.length <= maxPageItems) return value;
  const data: unknown[] = items.slice(0, maxPageItems);
  return isObject(value) ? { ...value, data } : data;
}
