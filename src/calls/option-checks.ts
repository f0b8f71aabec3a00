import type { Issue } from '../errors/errors.ts';
import { isRecord } from './records.ts';

/* What the options of a client and those of one call have in common. */

/** The milliseconds, or undefined and what is wrong with them in `issues`. */
export function checkMilliseconds(
  value: unknown,
  path: string,
  issues: Issue[],
): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && value > 0 && value < Number.POSITIVE_INFINITY) return value;
  issues.push({ path, message: 'expected a finite number of milliseconds above 0' });
  return undefined;
}

/** The number, or undefined and what is wrong with it in `issues`. */
export function checkRetries(value: unknown, path: string, issues: Issue[]): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  issues.push({ path, message: 'expected a whole number, 0 or more' });
  return undefined;
}

/** The signal, or undefined and what is wrong with it in `issues`. */
export function checkSignal(value: unknown, issues: Issue[]): AbortSignal | undefined {
  if (value === undefined) return undefined;
  if (isSignal(value)) return value;
  issues.push({ path: 'options.signal', message: 'expected an AbortSignal' });
  return undefined;
}

/** Judged by what is used of it: a signal from another realm is not an instance of our class. */
function isSignal(value: unknown): value is AbortSignal {
  const typeOf = (key: keyof AbortSignal): string =>
    typeof Reflect.get(Object(value) as object, key);
  return (
    typeOf('aborted') === 'boolean' &&
    typeOf('addEventListener') === 'function' &&
    typeOf('removeEventListener') === 'function'
  );
}

/** An object cannot hold `__proto__` as a field, so a header of that name would be lost. */
export const headerName = /^(?!__proto__$)[!#$%&'*+.^_`|~0-9A-Za-z-]+$/i;

/** Set by the SDK, by the runtime, or dangerous to the framing of the request. */
const reservedHeaders = new Set([
  'authorization',
  'content-length',
  'content-type',
  'transfer-encoding',
  'host',
  'connection',
  'expect',
  'keep-alive',
  'upgrade',
]);

/** Whether a header already has a standard meaning, so that it cannot carry idempotency keys. */
export const isTaken = (name: string): boolean =>
  reservedHeaders.has(name) || ['accept', 'accept-encoding', 'cookie', 'user-agent'].includes(name);

/** The headers by lower-case name, without those that are wrong: what, is in `issues`. */
export function checkHeaders(
  given: unknown,
  path: string,
  issues: Issue[],
): Readonly<Record<string, string>> {
  if (given === undefined) return {};
  if (!isRecord(given)) {
    issues.push({ path, message: 'expected a plain object of names and strings' });
    return {};
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(given) as [string, unknown][]) {
    const at = `${path}.${name}`;
    if (value === undefined) continue;
    if (!headerName.test(name)) {
      issues.push({ path: at, message: 'not a valid header name' });
    } else if (reservedHeaders.has(name.toLowerCase())) {
      issues.push({
        path: at,
        message:
          name.toLowerCase() === 'authorization'
            ? 'the credentials set this header; use the options apiKey and jwt'
            : 'this header cannot be set; the SDK or the runtime sets it',
      });
    } else if (typeof value !== 'string' || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      issues.push({
        path: at,
        message: 'expected a string of Latin-1 characters without line breaks',
      });
    } else {
      headers[name.toLowerCase()] = value;
    }
  }
  return headers;
}

/** What to say of a name that does not exist: which one was probably meant, or all that exist. */
export function suggestion(key: string, names: readonly string[]): string {
  const close = names.find((name) => editDistance(key.toLowerCase(), name.toLowerCase()) <= 2);
  return close === undefined
    ? `; expected one of ${names.join(', ')}.`
    : `; did you mean ${close}?`;
}

function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [at, letter] of [...from].entries()) {
    const next = [at + 1];
    for (const [column, other] of [...to].entries()) {
      next.push(
        Math.min(
          (next[column] ?? 0) + 1,
          (row[column + 1] ?? 0) + 1,
          (row[column] ?? 0) + (letter === other ? 0 : 1),
        ),
      );
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
