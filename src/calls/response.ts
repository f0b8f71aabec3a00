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
import { idsOfProcess } from './created-ids.ts';
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
import { redactDeep, type Redact } from '../errors/redact.ts';
import { callHook, type Hooks, type ResponseEvent } from './hooks.ts';
import type { PipelineSetup } from './setup.ts';
import { createValueFinder } from './undocumented-values.ts';
import { forbidsRetry, isTransientStatus, parseRetryAfter } from './retry.ts';
import { isTruncated, JsonLimitError, parseJson } from '../internal/json.ts';
import { bodylessStatuses } from '../internal/http.ts';
import type { BodyFault } from '../transports/transport.ts';
import type { Schema } from '../schemas/primitives.ts';

type ReadingSetup = Pick<
  PipelineSetup,
  'validation' | 'hooks' | 'clock' | 'platform' | 'reportedValues'
>;

/** The result of a call and the response that it was read from. */
export interface Success<T> {
  readonly ok: true;
  readonly data: T;
  readonly response: ReceivedResponse;
}

export type AttemptOutcome<T> = Success<T> | { readonly ok: false; readonly failure: Failure };

/** Describes for hooks and traces how an attempt ended. Call this only for them, because reading headers is slow. */
export function describeAttempt(
  attempt: AttemptOutcome<unknown>,
  redact: Redact,
): Pick<ResponseEvent, 'status' | 'requestId' | 'outcome' | 'reason'> {
  if (!attempt.ok) {
    const { status, requestId, outcome, reason } = attempt.failure;
    return { status, requestId, outcome, reason };
  }
  const { status, headers } = attempt.response;
  return { status, requestId: requestIdOf(headers, redact), outcome: 'ok', reason: undefined };
}

/** Parses and checks the response to a call. An unusable response becomes a `Failure`. */
export function readResponse<T, A>(
  running: RunningCall<Call<T, A>>,
  { response }: Extract<AttemptResult, { ok: true }>,
  setup: ReadingSetup,
): AttemptOutcome<T> {
  const result = readSuccess(running, response, setup);
  // Close the connection, because a late copy of an error has no id and could pass for the response to the next write.
  if (!result.ok && running.call.method !== 'GET') response.closeConnection();
  return result;
}

const isSuccess = ({ status }: ReceivedResponse): boolean => status >= 200 && status <= 299;

function readSuccess<T, A>(
  running: RunningCall<Call<T, A>>,
  response: ReceivedResponse,
  setup: ReadingSetup,
): AttemptOutcome<T> {
  const { call, redact } = running;
  // Read `headers` only where necessary, because creating them costs a seventh of a GET.
  const { status, text, fault } = response;
  if (!isSuccess(response)) {
    return { ok: false, failure: readRejection(running, response, setup) };
  }
  // The cast is safe, because a call without a response body has the result type void.
  if (call.response === 'nothing') return { ok: true, data: undefined as T, response };
  if (fault === 'stalled') {
    const facts = { status, requestId: requestIdOf(response.headers, redact) };
    const failure = timeoutFailure('body', running.timeout, { outcome: 'unknown', ...facts });
    return { ok: false, failure };
  }
  if (call.response.acceptsNoBody === true && fault === undefined && text === '') {
    return { ok: true, data: undefined as T, response };
  }
  const body = parseBody(text, fault);
  if (!body.ok) {
    return { ok: false, failure: unusableFailure(response, body.reason, body.explanation, redact) };
  }
  const result = checkBody(running, response, body.parsed, call.response, setup);
  // Close the connection, because this response may belong to an earlier request, and the right
  // response would then reach the next request.
  if (!result.ok) response.closeConnection();
  return result;
}

/** Describes an error response, from the platform or from a proxy in front of it. */
function readRejection(
  { call, prepared, redact }: RunningCall,
  response: ReceivedResponse,
  { clock, platform }: ReadingSetup,
): Failure {
  const { status, headers } = response;
  const transient = isTransientStatus(status) && !forbidsRetry(headers);
  const retryAfterMs = parseRetryAfter(headers, clock.now());
  const body = parseIfJson(response.text);
  // Compare with true, because `isErrorBody` may be an async function by mistake and return a promise.
  const hasErrorBody = (platform.isErrorBody(body) as unknown) === true;
  const redirectsToHttps = isHttpsRedirect(prepared.url, headers.get('location'));
  const outcome = statusOutcome(status, call.kind, { hasErrorBody, redirectsToHttps });
  return rejectedFailure(
    response,
    body,
    { outcome, transient, retryAfterMs, hasErrorBody },
    redact,
  );
}

/**
 * Checks the parsed body of a successful response, and converts it to the data of the call. A body
 * of an undocumented shape is accepted if the SDK can still use it, and reported as a drift.
 */
function checkBody<T, A>(
  running: RunningCall<Call<T, A>>,
  response: ReceivedResponse,
  parsed: unknown,
  shape: ResponseCheck<A>,
  { validation, hooks, reportedValues }: ReadingSetup,
): AttemptOutcome<T> {
  const { call, redact } = running;
  const stray = describeStray(running, response, parsed);
  if (stray !== undefined) return { ok: false, failure: strayFailure(response, stray, redact) };
  const reportDrift = createDriftReport(running, response, hooks);
  const checked = shape.safeParse(parsed);
  const isAcceptable = call.acceptIf?.(parsed) ?? true;
  if (!checked.success || !isAcceptable) {
    const issues: Issue[] = checked.success
      ? [{ path: 'id', message: 'expected an id of the documented form' }]
      : checked.error.issues.flatMap((issue) => describeResponseIssue(issue, parsed));
    if (!isAcceptable || !isUsable(call, shape, parsed, validation)) {
      const explanation = explainShape(issues, validation);
      const failure = unusableFailure(response, 'shape', redact(explanation), redact, issues);
      return { ok: false, failure };
    }
    reportDrift(issues);
  }
  if (hooks.onDrift !== undefined && shape.findUndocumented !== undefined) {
    const issues = reportedValues.takeNew(shape.findUndocumented(parsed));
    if (issues.length > 0) reportDrift(issues);
  }
  // The response may differ from its type. Then `hooks.onDrift` has been called.
  const accepted = checked.success ? checked.data : (parsed as A);
  // Without `transform`, the types T and A are the same, so the cast is safe.
  const { transform } = call;
  const data = transform ? transform(accepted, response, reportDrift) : (accepted as unknown as T);
  return { ok: true, data, response };
}

const createDriftReport =
  ({ call, number, redact }: RunningCall, response: ReceivedResponse, hooks: Hooks): ReportDrift =>
  (issues) => {
    callHook(hooks, 'onDrift', () => ({
      ...identity(call),
      call: number,
      status: response.status,
      requestId: requestIdOf(response.headers, redact),
      issues: redactDeep(issues, redact),
    }));
  };

/** An accepted write must not fail for a wrong field, or the caller could think no money moved. */
const isUsable = (
  { kind }: CallRequest,
  shape: ResponseCheck<unknown>,
  parsed: unknown,
  validation: ReadingSetup['validation'],
): boolean =>
  kind === 'safe' ? validation === 'report' && shape.isUsable?.(parsed) === true : isObject(parsed);

function explainShape(issues: readonly Issue[], validation: ReadingSetup['validation']): string {
  const decisive = validation === 'report' ? issues.find(isOfNeededField) : undefined;
  const { path = '', message = 'it differs' } = decisive ?? issues[0] ?? {};
  return ` and an undocumented ${path || 'response'}: ${message}`;
}

/**
 * Finds out whether a response belongs to an earlier request, because a faulty server or proxy may
 * send a response twice on a connection. On a new connection a known id is no sign of this, because
 * a mock may give one id to all records.
 */
function describeStray(
  { call, prepared }: RunningCall<CallRequest & Pick<Call<unknown>, 'acceptIf' | 'isOther'>>,
  { isOnUsedConnection }: ReceivedResponse,
  parsed: unknown,
): Issue | undefined {
  const id: unknown = isObject(parsed) ? Reflect.get(parsed, 'id') : undefined;
  if (typeof id !== 'string') return undefined;
  const { id: requestedId } = call.path;
  if (call.kind === 'safe' && typeof requestedId === 'string') {
    if (!isOnUsedConnection || id === requestedId) return undefined;
    return { path: 'id', message: `got ${id}; expected ${requestedId}, also from a mock` };
  }
  if (call.kind !== 'once' || call.acceptIf?.(parsed) !== true) return undefined;
  if (call.isOther?.(parsed) === true) {
    return { path: 'id', message: `got ${id}, which is another payment; expected this payment` };
  }
  // A caller may set the header `idempotency-key` without `platform.idempotencyHeader`.
  const key = prepared.idempotencyKey ?? prepared.headers['idempotency-key'];
  const isNew = idsOfProcess.add(`${prepared.baseUrl} ${id}`, key);
  if (isNew || !isOnUsedConnection) return undefined;
  return {
    path: 'id',
    message: `got ${id}, which an earlier creation has; expected a new one, also from a mock`,
  };
}

function parseIfJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

type UnreadableFault = Exclude<BodyFault, 'stalled'>;

/** Parses the text of a body. `fault` is what went wrong while the SDK read the body. */
function parseBody(text: string, fault: UnreadableFault | undefined) {
  if (fault !== undefined) return createBodyProblem(...faults[fault]);
  if (text.trim() === '') return createBodyProblem('empty', 'its response is empty');
  try {
    return { ok: true as const, parsed: parseJson(text) };
  } catch (error) {
    if (error instanceof JsonLimitError)
      return createBodyProblem('too_large', `its response ${error.message}`);
    if (isTruncated(text)) return createBodyProblem('truncated', 'its response is cut off');
    return createBodyProblem('not_json', 'its response is not JSON');
  }
}

const faults: Readonly<Record<UnreadableFault, Parameters<typeof createBodyProblem>>> = {
  cut: ['truncated', 'the connection broke before the whole response had arrived'],
  incomplete: ['truncated', 'its compressed response is cut off'],
  undecodable: ['not_json', 'its response is not in the content-encoding it names'],
  too_large: ['too_large', 'its response is larger than 16 MiB'],
  not_text: ['not_json', 'its response is not valid UTF-8'],
};

const createBodyProblem = (reason: InvalidResponseReason, explanation: string) => ({
  ok: false as const,
  reason,
  explanation: `, but ${explanation}`,
});

/**
 * Creates a Response whose body can be read again. A status text with characters that a Response
 * does not permit is dropped, so that the caller still gets the response.
 */
export const toResponse = ({ status, statusText, headers, text }: ReceivedResponse): Response =>
  // Pass bytes, because a Response made from a string gets a content type of its own.
  new Response(bodylessStatuses.has(status) ? null : new TextEncoder().encode(text), {
    status,
    statusText: /^[\t\x20-\x7e\x80-\xff]*$/.test(statusText) ? statusText : '',
    headers,
  });

const checks = new WeakMap<z.core.$ZodType, ResponseCheck<unknown>>();

/**
 * Creates the check of a response from its schema. A fast function accepts a valid value without a
 * copy; zod checks a whole value only if it is invalid, to describe what is wrong.
 */
export function responseCheck<T>(schema: Schema<T>): ResponseCheck<T> {
  const cached = checks.get(schema);
  // The cache has the schema as its key, so the cached check has the right type.
  if (cached !== undefined) return cached as ResponseCheck<T>;
  const matches = createMatcher(schema);
  const matchesNeeded = lazy(() => createMatcher(schema, true));
  const check: ResponseCheck<T> = {
    isUsable: (value) => matchesNeeded()(value),
    findUndocumented: createValueFinder(schema),
    safeParse(value) {
      // Response schemas convert nothing, so return an accepted value as it is.
      const accepted = { success: true as const, data: value as T };
      if (matches(value)) return accepted;
      // If the first items of a list are valid, the fault is in a later item, so zod checks them all.
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

/** Fast checks of simple zod types. A number must be whole; a record's values are not checked. */
const simpleMatchers: Readonly<Partial<Record<string, Matcher>>> = {
  unknown: () => true,
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  bigint: (value) => typeof value === 'bigint',
  number: Number.isSafeInteger,
  record: isPlainObject,
};

/** A response to a read is unusable without these fields, or if a field of money is a number. */
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
 * Creates a function that finds out, faster than zod, whether a schema accepts a value. With
 * `isLenient`, the function checks only the fields without which a response cannot be used.
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

/**
 * Creates a function that checks the fields of an object. With `isLenient`, only needed fields have
 * to match, and fields of money unless they are undefined or null.
 */
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
      // As in zod, a field that is not optional may be undefined but not missing.
      if (field === undefined && !isOptional && !(key in value)) return false;
    }
    return true;
  };
}

/** A page of a list has at most this many items, according to the API reference. */
const maxPageItems = 100;

/**
 * Takes only the first items of a list before zod checks them, because zod reports every issue of
 * every item, and a small compressed response may decompress to millions of items.
 */
function takeFirstItems(value: unknown): unknown {
  const items: unknown = isObject(value) ? Reflect.get(value, 'data') : value;
  if (!Array.isArray(items) || items.length <= maxPageItems) return value;
  const data: unknown[] = items.slice(0, maxPageItems);
  return isObject(value) ? { ...value, data } : data;
}
