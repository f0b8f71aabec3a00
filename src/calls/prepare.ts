import { isObject, isUnsafe, malformed, unsafeRule } from '../internal/objects.ts';
import { validate } from './arguments.ts';
import { type CallRequest, type PreparedRequest } from './call.ts';
import type { Issue } from '../errors/errors.ts';
import { issueAt, join } from '../internal/issues.ts';
import { checkLossless, stringifyJson } from '../internal/json.ts';
import {
  callOptionChecks,
  resolveCallOptions,
  type QueryValue,
  type RequestOptions,
  type ResolvedCallOptions,
} from './options.ts';
import type { PipelineSetup } from './setup.ts';
import { version } from '../version.ts';

interface Parameter {
  readonly name: string;
  readonly value: Exclude<QueryValue, readonly unknown[]>;
}

type ClientDefaults = Pick<PipelineSetup, 'baseUrl' | 'headers' | 'platform'>;

/** Builds the request of a call. Undefined if an argument is invalid; then `issues` says why. */
export function prepare(
  call: CallRequest,
  options: RequestOptions | undefined,
  defaults: ClientDefaults,
  issues: Issue[],
): PreparedRequest | undefined {
  const resolved = resolveCallOptions(options, issues);
  const path = call.path.resolve(issues);
  checkExtraFields(call.belongsIn, resolved, issues);
  const query = prepareQuery(call, resolved, issues);
  const payload = preparePayload(call, resolved, issues);
  const { idempotencyHeader } = defaults.platform;
  const idempotencyKey = chooseIdempotencyKey(call, resolved.headers, idempotencyHeader);
  if (idempotencyKey?.trim() === '') {
    // The platform would treat a blank key as no key, and a retry could take effect twice.
    issues.push({
      path: `options.headers.${idempotencyHeader}`,
      message: 'expected a key that is not blank; leave it out and the SDK generates one',
    });
  }
  if (issues.length > 0) return undefined;
  const headers = createHeaders(call, resolved, defaults);
  if (payload !== undefined) headers['content-type'] = 'application/json';
  if (idempotencyKey !== undefined && idempotencyHeader !== undefined) {
    headers[idempotencyHeader.toLowerCase()] = idempotencyKey;
  }
  const url = `${defaults.baseUrl}${path}${query}`;
  return {
    baseUrl: defaults.baseUrl,
    // Transports need a normalized URL. Only an unusual id or path makes normalizing necessary.
    url: plainPath.test(path) ? url : new URL(url).href,
    headers,
    body: payload === undefined ? undefined : stringifyJson(payload),
    options: resolved,
    idempotencyKey,
  };
}

const createHeaders = (
  call: CallRequest,
  options: ResolvedCallOptions,
  defaults: ClientDefaults,
): Record<string, string> => ({
  accept: 'application/json',
  'user-agent': `payments-platform-sdk/${version}`,
  // Ask caches to check with the platform, because a cached list may lack a new payment.
  ...(call.method === 'GET' && { 'cache-control': 'no-cache' }),
  ...defaults.headers,
  ...options.headers,
});

const optionNamesOf = (call: CallRequest): (() => readonly string[]) =>
  call.optionNames ?? (() => Object.keys(callOptionChecks()));

/** Returns the query string of the URL, with the parameters of `options.query`. */
function prepareQuery(call: CallRequest, { query: extra }: ResolvedCallOptions, issues: Issue[]) {
  const query = call.query && validate(call.query, issues, optionNamesOf(call));
  const parameters: Parameter[] = [];
  for (const [name, value] of Object.entries({ ...query, ...extra })) {
    const isExtra = Object.hasOwn(extra, name);
    const message = isExtra && hasField(query, name) ? setTwice : describeQueryProblem(name, value);
    const at = isExtra ? 'options.query' : (call.query?.at ?? '');
    if (message !== undefined) issues.push(issueAt(join(at, [name]), message, value));
    parameters.push(...[value].flat().map((item) => ({ name, value: item })));
  }
  return formatQuery(parameters);
}

/** Returns the body of the request, with the fields of `options.body`. */
function preparePayload(call: CallRequest, { body: extra }: ResolvedCallOptions, issues: Issue[]) {
  if (call.body === undefined && extra === undefined) return undefined;
  const body = call.body === undefined ? {} : validate(call.body, issues, optionNamesOf(call));
  checkLossless(body, call.body?.at ?? '', issues);
  checkLossless(extra, 'options.body', issues);
  return extra === undefined ? body : mergeBody(body, extra, issues);
}

/** Rejects fields of `options.query` and `options.body` that the caller has to pass elsewhere. */
function checkExtraFields(
  belongsIn: Readonly<Record<string, string>> = {},
  { query, body = {} }: ResolvedCallOptions,
  issues: Issue[],
): void {
  for (const [option, extra] of Object.entries({ query, body })) {
    for (const [name, message] of Object.entries(belongsIn)) {
      if (Object.hasOwn(extra, name)) issues.push({ path: `options.${option}.${name}`, message });
    }
  }
}

const setTwice = 'the input already has this field; set it only there';

const hasField = (fields: object | undefined, name: string): boolean =>
  fields !== undefined && Object.hasOwn(fields, name) && Reflect.get(fields, name) !== undefined;

/**
 * Adds the fields of `options.body` to a body. These fields must not replace a field of the input,
 * because the SDK has checked the input and `transfers.reconcile` searches by it.
 */
function mergeBody(body: unknown, extra: object, issues: Issue[]): object {
  if (body !== undefined && !isObject(body)) {
    issues.push({
      path: 'options.body',
      message: 'the body is not an object, so options.body cannot be merged into it',
    });
  }
  const input = isObject(body) ? body : {};
  for (const name of Object.keys(extra)) {
    if (hasField(input, name)) issues.push({ path: `options.body.${name}`, message: setTwice });
  }
  return { ...input, ...extra };
}

/** Chooses the idempotency key of a POST: the caller's, the call's or a random one. */
function chooseIdempotencyKey(
  call: CallRequest,
  headers: Readonly<Record<string, string>>,
  idempotencyHeader: string | undefined,
): string | undefined {
  if (call.method !== 'POST' || idempotencyHeader === undefined) return undefined;
  const name = idempotencyHeader.toLowerCase();
  // Check for an own property, because every object inherits a property named `constructor`.
  if (Object.hasOwn(headers, name)) return headers[name];
  return call.idempotencyKey ?? globalThis.crypto.randomUUID();
}

/** Matches a path that needs no normalization, because it has no special characters. */
const plainPath = /^(?:\/[\w~-]+)+$/;

/** Describes what is wrong with a query parameter or a list of them; undefined if nothing is. */
function describeQueryProblem(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return describeParameterProblem(name, value);
  if (value.length === 0) return 'expected at least one value; leave the field out to send none';
  // Use Array.from, because it also visits the holes of an array, and these would be sent as "undefined".
  return Array.from(value, (item) => describeParameterProblem(name, item)).find(Boolean);
}

function describeParameterProblem(name: string, value: unknown): string | undefined {
  if (!name.isWellFormed()) return malformed;
  if (
    !['string', 'number', 'bigint', 'boolean'].includes(typeof value) ||
    (typeof value === 'number' && !Number.isFinite(value))
  ) {
    return 'expected a string, a number, a boolean or an array of them';
  }
  if (isUnsafe(value)) return unsafeRule;
  if (typeof value === 'string' && !value.isWellFormed()) return malformed;
  return undefined;
}

function formatQuery(parameters: readonly Parameter[]): string {
  let search: URLSearchParams | undefined;
  for (const { name, value } of parameters) {
    if (value === undefined) continue;
    search ??= new URLSearchParams();
    search.append(name, String(value));
  }
  if (search === undefined) return '';
  return `?${search.toString()}`;
}
