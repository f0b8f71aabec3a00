import { isObject, isUnsafe, malformed, unsafeRule } from '../internal/guards.ts';
import { invalidArguments, validate } from './arguments.ts';
import { identity, type CallRequest } from './call.ts';
import type { Issue } from '../errors/errors.ts';
import { issueAt, join } from '../internal/issues.ts';
import { refuseLoss, stringifyJson } from '../internal/json.ts';
import type { Redact } from '../errors/redact.ts';
import {
  resolveCallOptions,
  type QueryValue,
  type RequestOptions,
  type ResolvedCallOptions,
} from './request-options.ts';
import { version } from '../version.ts';

/** One value of a query under its name. */
interface Parameter {
  readonly name: string;
  readonly value: Exclude<QueryValue, readonly unknown[]>;
}

/** A call with its arguments checked, ready to be sent as often as the policy allows. */
export interface Prepared {
  /** Of the API that is asked. */
  readonly baseUrl: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
  readonly options: ResolvedCallOptions;
  readonly idempotencyKey: string | undefined;
}

/** What a client says with every request. */
interface ClientDefaults {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly idempotencyHeader: string | undefined;
}

/** Checks everything about a call at once. Throws ValidationError, which lists all that is wrong. */
export function prepare(
  call: CallRequest,
  options: RequestOptions | undefined,
  defaults: ClientDefaults,
  redact: Redact,
): Prepared {
  const issues: Issue[] = [];
  const resolved = resolveCallOptions(options, issues);
  const path = call.path.resolve(issues);
  const query = call.query && validate(call.query, issues);
  refuseElsewhere(call.belongsIn, resolved, issues);
  const parameters: Parameter[] = [];
  for (const [name, value] of Object.entries({ ...query, ...resolved.query })) {
    const isExtra = Object.hasOwn(resolved.query, name);
    const message = isExtra && isGiven(query, name) ? setTwice : queryProblem(name, value);
    const at = isExtra ? 'options.query' : (call.query?.at ?? '');
    if (message !== undefined) issues.push(issueAt(join(at, [name]), message, value));
    for (const each of [value].flat()) {
      parameters.push({ name, value: each });
    }
  }
  let payload: unknown;
  if (call.body !== undefined || resolved.body !== undefined) {
    const body = call.body === undefined ? {} : validate(call.body, issues);
    refuseLoss(body, call.body?.at ?? '', issues);
    refuseLoss(resolved.body, 'options.body', issues);
    payload = resolved.body === undefined ? body : mergeBody(body, resolved.body, issues);
  }
  const idempotencyKey =
    call.method === 'POST' && defaults.idempotencyHeader !== undefined
      ? (givenKey(resolved.headers, defaults.idempotencyHeader.toLowerCase()) ??
        call.idempotencyKey ??
        globalThis.crypto.randomUUID())
      : undefined;
  if (idempotencyKey?.trim() === '') {
    // A platform would treat a blank key as no key, and a retry under it could take effect twice.
    issues.push({
      path: `options.headers.${defaults.idempotencyHeader}`,
      message: 'expected a key that is not blank; leave it out and the SDK generates one',
    });
  }
  if (issues.length > 0) {
    throw invalidArguments(identity(call), issues, redact);
  }
  const headers: Record<string, string> = {
    accept: 'application/json',
    'user-agent': `payments-platform-sdk/${version}`,
    ...defaults.headers,
    ...resolved.headers,
  };
  if (payload !== undefined) headers['content-type'] = 'application/json';
  if (idempotencyKey !== undefined && defaults.idempotencyHeader !== undefined) {
    headers[defaults.idempotencyHeader.toLowerCase()] = idempotencyKey;
  }
  const url = `${defaults.baseUrl}${path}${searchParams(parameters)}`;
  return {
    baseUrl: defaults.baseUrl,
    // A wire takes it as it is; only an id or a path of the caller's may need to be normalised.
    url: plainPath.test(path) ? url : new URL(url).href,
    headers,
    body: payload === undefined ? undefined : stringifyJson(payload),
    options: resolved,
    idempotencyKey,
  };
}

/** Refuses, among the extra fields, those whose place is elsewhere. */
function refuseElsewhere(
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

const isGiven = (fields: object | undefined, name: string): boolean =>
  fields !== undefined && Object.hasOwn(fields, name) && Reflect.get(fields, name) !== undefined;

/**
 * The body with further fields. One that is there already was checked, and is what the caller goes by
 * afterwards (`transfers.reconcile` looks for it), so it is not replaced.
 */
function mergeBody(body: unknown, extra: object, issues: Issue[]): object {
  if (body !== undefined && !isObject(body)) {
    issues.push({
      path: 'options.body',
      message: 'the body is not an object, so options.body cannot be merged into it',
    });
  }
  const given = isObject(body) ? body : {};
  for (const name of Object.keys(extra)) {
    if (isGiven(given, name)) issues.push({ path: `options.body.${name}`, message: setTwice });
  }
  return { ...given, ...extra };
}

/** Every object has a `constructor`, which nobody has given. */
const givenKey = (headers: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(headers, name) ? headers[name] : undefined;

/** Letters, digits and the like between slashes cannot lead anywhere else. */
const plainPath = /^(?:\/[\w~-]+)+$/;

/** What keeps a value, or a list of them, out of a query. */
function queryProblem(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return parameterProblem(name, value);
  if (value.length === 0) return 'expected at least one value; leave the field out to send none';
  // Not only those that are there: a hole would be sent as "undefined".
  return Array.from(value, (each) => parameterProblem(name, each)).find(Boolean);
}

function parameterProblem(name: string, value: unknown): string | undefined {
  if (!name.isWellFormed()) return malformed;
  if (
    !['string', 'number', 'bigint', 'boolean'].includes(typeof value) ||
    (typeof value === 'number' && !Number.isFinite(value))
  ) {
    return 'expected a string, a number, a boolean or an array of them';
  }
  if (isUnsafe(value)) return unsafeRule;
  return typeof value === 'string' && !value.isWellFormed() ? malformed : undefined;
}

function searchParams(parameters: readonly Parameter[]): string {
  let search: URLSearchParams | undefined;
  for (const { name, value } of parameters) {
    if (value === undefined) continue;
    search ??= new URLSearchParams();
    search.append(name, String(value));
  }
  return search === undefined ? '' : `?${search.toString()}`;
}
