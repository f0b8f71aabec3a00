import { expectedMoment, isMoment } from '../internal/formats.ts';
import { isObject, isPlainObject, dropUndefined } from '../internal/objects.ts';
import { issueAt, join, type DetailedIssue, type Problem } from '../internal/issues.ts';
import { unknownNameAt } from './arguments.ts';
import type { Issue } from '../errors/errors.ts';

/**
 * Adds to `issues` what is wrong with an option. Options have no schemas, because building a schema
 * takes longer than creating the rest of a client, and every process creates a client.
 */
export type OptionCheck = (value: unknown, at: string, issues: DetailedIssue[]) => void;

export type OptionChecks<T> = Readonly<Record<keyof T, OptionCheck>>;

/** Creates a check from a function that finds a problem, or returns the whole message. */
/* @__NO_SIDE_EFFECTS__ */
export const checkBy =
  (findProblem: (value: unknown) => Problem | string | undefined): OptionCheck =>
  (value, at, issues) => {
    const problem = findProblem(value);
    if (problem !== undefined) issues.push(issueAt(at, problem, value));
  };

/** A check of an option that may be omitted. */
/* @__NO_SIDE_EFFECTS__ */
export const optionalCheck = (
  expected: string,
  isValid: (value: unknown) => boolean,
): OptionCheck =>
  checkBy((value) => (value === undefined || isValid(value) ? undefined : { expected }));

/** A check of an object that has these fields and no others. */
export const fields =
  (checks: Readonly<Record<string, OptionCheck>>): OptionCheck =>
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
      issues.push(unknownNameAt(join(at, [name]), name, kind, names));
    }
  };
const plainObject = { expected: 'a plain object', hint: 'Copy the fields into one, { … }' };

export const milliseconds = optionalCheck(
  'milliseconds above 0, such as 30_000',
  (value) => Number.isFinite(value) && Number(value) > 0,
);
/** A check of milliseconds that may be Infinity. */
export const millisecondsOrInfinity = optionalCheck(
  'milliseconds above 0, such as 30_000, or Infinity',
  (value) => typeof value === 'number' && value > 0,
);
export const retries = optionalCheck(
  'a whole number, 0 or more',
  (value) => Number.isInteger(value) && Number(value) >= 0,
);
/** Whether a value has these functions, its own or of its class. */
export const hasFunctions = (value: unknown, names: readonly string[]): boolean =>
  isObject(value) && names.every((name) => typeof Reflect.get(value, name) === 'function');

export const isBoolean = optionalCheck('true or false', (value) => typeof value === 'boolean');

export const callable = optionalCheck('a function', (value) => typeof value === 'function');

/** Checks the options of a call, and adds to `issues` what is wrong with them. */
export function checkOptions<T extends object>(
  checks: () => OptionChecks<T>,
  options: T | undefined,
  issues: DetailedIssue[],
): Partial<T> {
  if (options === undefined) return {};
  fields(checks())(options, 'options', issues);
  return isPlainObject(options) ? options : {};
}

/** Options of a single call. */
export interface RequestOptions {
  /** Aborts the call, including its waits. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for one attempt: headers and body. Default: the client's. */
  timeout?: number | undefined;
  /** Milliseconds for the whole call: waits, retries and bodies. Default: the client's. */
  totalTimeout?: number | undefined;
  /**
   * The most retries of this call. 0 still allows one after a 401 if the credential is a function.
   * Default: the client's.
   */
  maxRetries?: number | undefined;
  /** Headers for this call, on top of the client's; `undefined` does not remove one of the client's. */
  headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** Extra query parameters that the API reference does not list. */
  query?: Readonly<Record<string, QueryValue>> | undefined;
  /** Extra body fields that the API reference does not list. */
  body?: Readonly<Record<string, unknown>> | undefined;
}

/** The value of a query parameter. Undefined is left out, and an array repeats the name. */
export type QueryValue =
  string | number | bigint | boolean | undefined | readonly (string | number | bigint | boolean)[];

export type ResolvedCallOptions = ReturnType<typeof resolveCallOptions>;

/** Matches a header name. Not `__proto__`, because an object cannot have such a field. */
export const headerName = /^(?!__proto__$)[!#$%&'*+.^_`|~0-9A-Za-z-]+$/i;

/** Headers that the SDK or the runtime sets, or that affect the framing of the request. */
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
  // The message leaves out the value, which may be a secret.
  return 'is no string of Latin-1 characters without line breaks';
}

export const headers: OptionCheck = (value, at, issues) => {
  optionalCheck('a plain object of names and strings', isPlainObject)(value, at, issues);
  if (!isPlainObject(value)) return;
  for (const [name, header] of Object.entries(value)) {
    checkBy(() => describeHeaderProblem(name, header))(header, join(at, [name]), issues);
  }
};

/** Converts the names to lower case, and drops headers that are undefined. */
export const lowerCased = (custom: RequestOptions['headers']): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(dropUndefined(custom)).map(([name, value]) => [
      name.toLowerCase(),
      String(value),
    ]),
  );

export const callOptionChecks = (): OptionChecks<RequestOptions> => ({
  // An AbortSignal of another realm is not an instance of this realm's AbortSignal.
  signal: optionalCheck('an AbortSignal', (value) => isObject(value) && 'throwIfAborted' in value),
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

/** How far this machine's clock and the platform's may differ. */
export const defaultClockSkew = 120_000;

/** How long an attempt and a call may take: docs/gaps.md, row 66. */
export const defaultTimeout = 30_000;
export const defaultTotalTimeout = 120_000;

/** A gateway may give up on a request that runs on behind it, on AWS Lambda for 15 minutes. */
export const defaultGracePeriod = 900_000;

// A string needs an offset. Otherwise it would be read in this machine's time zone, and a search
// could miss the transfer.
export const sinceCheck = /* @__PURE__ */ optionalCheck(expectedMoment, isMoment);

/** Reads the option `since` in milliseconds; undefined if it is absent or invalid. */
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
