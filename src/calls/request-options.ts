import { dropUndefined } from '../internal/clone.ts';
import { isObject, isPlainObject } from '../internal/guards.ts';
import type { Issue } from '../errors/errors.ts';
import { join } from '../internal/issues.ts';
import {
  checkOptions,
  checkBy,
  milliseconds,
  retries,
  optionalCheck,
  type OptionCheck,
  type OptionChecks,
} from './option-checks.ts';

/** Options of a single call. */
export interface RequestOptions {
  /** Aborts the call, including its waits. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for one attempt: headers and body. Default: the client's. */
  timeout?: number | undefined;
  /** Milliseconds for the whole call: waits, retries and bodies. Default: the client's. */
  totalTimeout?: number | undefined;
  /**
   * How often the call may be sent again at most; 0 means never, except once after a 401 when the
   * credential is a function. Default: the client's.
   */
  maxRetries?: number | undefined;
  /** Headers for this call, on top of the client's; `undefined` does not remove one of the client's. */
  headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** Extra query parameters that the document does not name. */
  query?: Readonly<Record<string, QueryValue>> | undefined;
  /** Extra body fields that the document does not name. */
  body?: Readonly<Record<string, unknown>> | undefined;
}

/** The value of a query parameter; undefined is omitted, and an array sends the name once for each. */
export type QueryValue =
  string | number | bigint | boolean | undefined | readonly (string | number | bigint | boolean)[];

/** What one call changes, checked. */
export type ResolvedCallOptions = ReturnType<typeof resolveCallOptions>;

/** An object cannot hold `__proto__` as a field, so a header of that name would be lost. */
export const headerName = /^(?!__proto__$)[!#$%&'*+.^_`|~0-9A-Za-z-]+$/i;

/** Set by the SDK, by the runtime, or dangerous to the framing of the request. */
export const reservedHeaders = [
  'authorization',
  'content-length',
  'content-type',
  'transfer-encoding',
  'host',
  'connection',
  'expect',
  'keep-alive',
  'upgrade',
];

function headerProblem(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (!headerName.test(name)) return 'not a valid header name';
  if (reservedHeaders.includes(name.toLowerCase())) {
    return name.toLowerCase() === 'authorization'
      ? 'the credentials set this header; use the options apiKey and jwt'
      : 'this header cannot be set; the SDK or the runtime sets it';
  }
  return typeof value === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
    ? undefined
    : // Without what it is: it may be a secret.
      'is no string of Latin-1 characters without line breaks';
}

export const headers: OptionCheck = (value, at, issues) => {
  optionalCheck('a plain object of names and strings', isPlainObject)(value, at, issues);
  for (const [name, each] of Object.entries(isPlainObject(value) ? value : {})) {
    checkBy(() => headerProblem(name, each))(each, join(at, [name]), issues);
  }
};

/** By lower-case name, without those that are undefined. */
export const lowerCased = (given: RequestOptions['headers']): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(dropUndefined(given)).map(([name, value]) => [
      name.toLowerCase(),
      String(value),
    ]),
  );

/** The options that every call has. */
export const callOptionChecks = (): OptionChecks<RequestOptions> => ({
  // Of another realm, it is not an instance of our class.
  signal: optionalCheck('an AbortSignal', (value) => isObject(value) && 'throwIfAborted' in value),
  timeout: milliseconds,
  totalTimeout: milliseconds,
  maxRetries: retries,
  headers,
  query: optionalCheck('a plain object', isPlainObject),
  body: optionalCheck('a plain object', isPlainObject),
});

/** Checks the options of one call; what is wrong goes into `issues`. */
export function resolveCallOptions(options: RequestOptions | undefined, issues: Issue[]) {
  const given = checkOptions(callOptionChecks, options, issues);
  return {
    ...given,
    headers: lowerCased(given.headers),
    query: dropUndefined(given.query),
    body: isPlainObject(given.body) ? dropUndefined(given.body) : undefined,
  };
}
