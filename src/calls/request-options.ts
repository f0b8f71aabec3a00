import type { Issue } from '../errors/errors.ts';
import {
  checkHeaders,
  checkMilliseconds,
  checkRetries,
  checkSignal,
  suggestion,
} from './option-checks.ts';
import { isObject, isRecord, recordRule } from './records.ts';

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

/** From a record, because the compiler then asks for every option; a list could lack one unnoticed. */
const callOptionNames = Object.keys({
  signal: true,
  timeout: true,
  totalTimeout: true,
  maxRetries: true,
  headers: true,
  query: true,
  body: true,
} satisfies Record<keyof RequestOptions, true>);

/**
 * Adds to `issues` each option that does not exist; `more` are those that this call has beyond the
 * common ones.
 */
export function unknownOptions(given: object, more: readonly string[], issues: Issue[]): void {
  const names = [...more, ...callOptionNames];
  for (const key of Object.keys(given)) {
    if (!names.includes(key)) {
      const message = `unknown option${suggestion(key, names)}`;
      issues.push({ path: `options.${key}`, message });
    }
  }
}

/** The options that a call was given; what cannot be read as options goes into `issues`. */
export function givenOptions<T extends RequestOptions>(
  options: T | undefined,
  issues: Issue[],
): Partial<T> {
  if (options === undefined || isRecord(options)) return options ?? {};
  issues.push({ path: 'options', message: isObject(options) ? recordRule : 'expected an object' });
  return {};
}

/** Checks the options of one call; what is wrong goes into `issues`. */
export function resolveCallOptions(options: RequestOptions | undefined, issues: Issue[]) {
  const given = givenOptions(options, issues);
  unknownOptions(given, [], issues);
  const { signal, query = {}, body } = given;
  for (const [name, part] of [
    ['query', query],
    ['body', body],
  ] as const) {
    if (part !== undefined && !isRecord(part)) {
      issues.push({ path: `options.${name}`, message: 'expected a plain object' });
    }
  }
  return {
    signal: checkSignal(signal, issues),
    timeout: checkMilliseconds(given.timeout, 'options.timeout', issues),
    totalTimeout: checkMilliseconds(given.totalTimeout, 'options.totalTimeout', issues),
    maxRetries: checkRetries(given.maxRetries, 'options.maxRetries', issues),
    headers: checkHeaders(given.headers, 'options.headers', issues),
    query: isRecord(query) ? definedFields(query) : {},
    body: isRecord(body) ? definedFields(body) : body,
  };
}

/** What is undefined was not given. */
const definedFields = <T extends object>(extra: T): T =>
  Object.fromEntries(Object.entries(extra).filter(([, value]) => value !== undefined)) as T;
