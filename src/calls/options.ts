import { expectedMoment, isMoment } from '../internal/formats.ts';
import { isObject, isPlainObject, dropUndefined } from '../internal/objects.ts';
import { issueAt, join, type DetailedIssue, type Problem } from '../internal/issues.ts';
import { unknownNameAt } from './arguments.ts';
import type { Issue } from '../errors/errors.ts';

/**
 * Checks an option and adds problems to `issues`. Options have no zod schemas, because building one
 * takes longer than creating the rest of a client.
 */
export type OptionCheck = (value: unknown, at: string, issues: DetailedIssue[]) => void;

export type OptionChecks<T> = Readonly<Record<keyof T, OptionCheck>>;

/** Creates an option's check. `findProblem` returns undefined for a valid value of the option. */
/* @__NO_SIDE_EFFECTS__ */
export const checkBy =
  (findProblem: (value: unknown) => Problem | string | undefined): OptionCheck =>
  (value, at, issues) => {
    const problem = findProblem(value);
    if (problem !== undefined) issues.push(issueAt(at, problem, value));
  };

/** Creates a check of an option that the caller may omit. */
/* @__NO_SIDE_EFFECTS__ */
export const optionalCheck = (
  expected: string,
  isValid: (value: unknown) => boolean,
): OptionCheck =>
  checkBy((value) => (value === undefined || isValid(value) ? undefined : { expected }));

/**
 * Creates a check of an object whose fields have these checks. For any other field, the problem
 * says where the field belongs if `findPlace` knows.
 */
export const fields =
  (
    checks: Readonly<Record<string, OptionCheck>>,
    findPlace: (name: string) => string | undefined = () => undefined,
  ): OptionCheck =>
  (value, at, issues) => {
    if (!isPlainObject(value)) {
      issues.push(issueAt(at, plainObject, value));
      return;
    }
    for (const [name, check] of Object.entries(checks))
      check(value[name], join(at, [name]), issues);
    const names = Object.keys(checks);
    const kind = at.startsWith('options') ? 'option' : 'field';
    for (const name of Object.keys(value).filter((key) => !Object.hasOwn(checks, key))) {
      const path = join(at, [name]);
      const place = findPlace(name);
      issues.push(
        place === undefined
          ? unknownNameAt(path, name, kind, names)
          : { path, message: `unknown option; set it as ${place}` },
      );
    }
  };
const plainObject = { expected: 'a plain object', hint: 'Copy the fields into one, { … }' };

export const milliseconds = optionalCheck(
  'milliseconds above 0, such as 30_000',
  (value) => Number.isFinite(value) && Number(value) > 0,
);
export const millisecondsOrInfinity = optionalCheck(
  'milliseconds above 0, such as 30_000, or Infinity',
  (value) => typeof value === 'number' && value > 0,
);
export const retries = optionalCheck(
  'a whole number, 0 or more',
  (value) => Number.isInteger(value) && Number(value) >= 0,
);
/** Whether an object has functions with these names, own or inherited. */
export const hasFunctions = (value: unknown, names: readonly string[]): boolean =>
  isObject(value) && names.every((name) => typeof Reflect.get(value, name) === 'function');

export const isBoolean = optionalCheck('true or false', (value) => typeof value === 'boolean');

export const callable = optionalCheck('a function', (value) => typeof value === 'function');

/** Checks the options that the caller passed to a method, and adds problems to `issues`. */
export function checkOptions<T extends object>(
  checks: () => OptionChecks<T>,
  options: T | undefined,
  issues: DetailedIssue[],
): Partial<T> {
  if (options === undefined) return {};
  fields(checks())(options, 'options', issues);
  return isPlainObject(options) ? options : {};
}

/** The options of a single call. */
export interface RequestOptions {
  /** Aborts the call, even while the call waits before a retry. */
  signal?: AbortSignal | undefined;
  /** The longest time for one request and its response, in milliseconds. Default: the client's. */
  timeout?: number | undefined;
  /** The longest time for a call with waits and retries, in milliseconds. Default: the client's. */
  totalTimeout?: number | undefined;
  /**
   * The maximum number of retries of this call. Even 0 allows one after a 401 if your credential is
   * a function. Default: the client's.
   */
  maxRetries?: number | undefined;
  /** Extra headers for this call. `undefined` does not remove a header of the client. */
  headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** Extra query parameters that the API reference does not list. */
  query?: Readonly<Record<string, QueryValue>> | undefined;
  /** Extra body fields that the API reference does not list. */
  body?: Readonly<Record<string, unknown>> | undefined;
}

/** The value of a query parameter. `undefined` is not sent, and an array sends one parameter per item. */
export type QueryValue =
  string | number | bigint | boolean | undefined | readonly (string | number | bigint | boolean)[];

export type ResolvedCallOptions = ReturnType<typeof resolveCallOptions>;

/** Matches a header name. `__proto__` is excluded, because an object cannot have it as an ordinary field. */
export const headerName = /^(?!__proto__$)[!#$%&'*+.^_`|~0-9A-Za-z-]+$/i;

/** Headers that the caller may not set, because the SDK, the runtime or the connection depends on them. */
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

function describeHeaderProblem(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (!headerName.test(name)) return 'not a valid header name';
  if (reservedHeaders.includes(name.toLowerCase())) {
    return name.toLowerCase() === 'authorization'
      ? 'the credentials set this header; use the options apiKey and jwt'
      : 'this header cannot be set; the SDK or the runtime sets it';
  }
  if (typeof value === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return undefined;
  // Do not quote the value of the header in the message, because it may be a secret.
  return 'is no string of Latin-1 characters without line breaks';
}

export const headers: OptionCheck = (value, at, issues) => {
  optionalCheck('a plain object of names and strings', isPlainObject)(value, at, issues);
  if (!isPlainObject(value)) return;
  for (const [name, header] of Object.entries(value)) {
    checkBy(() => describeHeaderProblem(name, header))(header, join(at, [name]), issues);
  }
};

export const lowerCased = (custom: RequestOptions['headers']): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(dropUndefined(custom)).map(([name, value]) => [
      name.toLowerCase(),
      String(value),
    ]),
  );

export const callOptionChecks = (): OptionChecks<RequestOptions> => ({
  // Check by functions, because an AbortSignal from another realm, such as a vm context, is no
  // instance of this realm's class. Do not require throwIfAborted, because the package
  // abort-controller lacks it.
  signal: optionalCheck(
    'an AbortSignal with addEventListener',
    (value) =>
      hasFunctions(value, ['addEventListener', 'removeEventListener']) &&
      'aborted' in Object(value),
  ),
  timeout: milliseconds,
  totalTimeout: milliseconds,
  maxRetries: retries,
  headers,
  query: optionalCheck('a plain object', isPlainObject),
  body: optionalCheck('a plain object', isPlainObject),
});

/** Checks the options of one call, and adds problems to `issues`. */
export function resolveCallOptions(options: RequestOptions | undefined, issues: Issue[]) {
  const checked = checkOptions(callOptionChecks, options, issues);
  return {
    ...checked,
    headers: lowerCased(checked.headers),
    query: dropUndefined(checked.query),
    body: isPlainObject(checked.body) ? dropUndefined(checked.body) : undefined,
  };
}

export const journalCheck = (): OptionCheck =>
  optionalCheck('a journal, such as sqliteJournal(path)', (value) =>
    hasFunctions(value, ['read', 'swap', 'now']),
  );

/** By how many milliseconds this machine's clock and the platform's clock may differ. */
export const defaultClockSkew = 120_000;

/** The default time limits of an attempt and of a call, in milliseconds: docs/gaps.md, row 66. */
export const defaultTimeout = 30_000;
export const defaultTotalTimeout = 120_000;

/** Default `gracePeriod`. A request on AWS Lambda may run 15 minutes after a gateway timeout. */
export const defaultGracePeriod = 900_000;

// A date string must have an offset from UTC. Otherwise it would be read in this machine's time
// zone, and a search for a transfer could miss the transfer.
export const sinceCheck = /* @__PURE__ */ optionalCheck(expectedMoment, isMoment);

/** Converts the option `since` to milliseconds since 1970; undefined if it is absent or invalid. */
export function parseSince(
  since: Date | string | undefined,
  now: number,
  issues: Issue[],
  clockSkew = defaultClockSkew,
): number | undefined {
  if (since === undefined || issues.some(({ path }) => path === 'options.since')) return undefined;
  const time = new Date(since).getTime();
  if (issues.length === 0 && time > now + clockSkew) {
    issues.push({
      path: 'options.since',
      message: 'expected a time in the past; this one is in the future, so check its time zone',
    });
  }
  return time;
}
