import { isPlainObject, isUnsafe, malformed, unsafeRule } from './guards.ts';
/*
 * JSON without losing digits. The platform's integers (salts, block numbers, fees) may be larger
 * than 2^53, where JSON.parse rounds silently. Both directions use what the runtime offers for
 * this: the source text handed to a reviver, and raw JSON literals.
 */

import type { Issue, Problem } from './issues.ts';
import { issueAt, join, maxIssues } from './issues.ts';

/** Nesting beyond this is refused: the documented answers need 5 levels. */
export const maxDepth = 64;

/** A number of more digits is refused: reading one of millions takes seconds. */
const maxDigits = 1_000;

/** Thrown by {@link parseJson} for a text that no platform has reason to send; its message says why. */
export class JsonLimitError extends Error {
  override readonly name = 'JsonLimitError';
}

type Reviver = (key: string, value: unknown, context: { source: string }) => unknown;
type RawJson = (text: string) => unknown;
// The standard library's types do not list either feature yet; every supported runtime has both.
const json = JSON as unknown as {
  parse(text: string, reviver?: Reviver): unknown;
  rawJSON?: RawJson;
};

/** Brings digits back, and drops `__proto__`, which would become a prototype in somebody's Object.assign. */
const revive: Reviver = (key, value, context) => {
  if (key === '__proto__') return undefined;
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? '';
  if (!/^-?\d+$/.test(source)) return value;
  if (source.length > maxDigits) {
    throw new JsonLimitError(`holds a number of more than ${maxDigits} digits`);
  }
  return BigInt(source);
};

/**
 * Parses JSON: an integer beyond 2^53 - 1 becomes a `bigint`, a `__proto__` key is dropped.
 * @throws SyntaxError for text that is not JSON, JsonLimitError for what is nested too deep or too long.
 */
export function parseJson(text: string): unknown {
  const value = json.parse(text);
  // A reviver makes parsing several times slower, so it comes in only where there is work for it.
  return isSpoilt(value, maxDepth) ? json.parse(text, revive) : value;
}

/** Whether a parsed value has lost digits or holds a `__proto__` key. Throws when it nests too deep. */
function isSpoilt(value: unknown, room: number): boolean {
  if (typeof value === 'number') {
    return value > Number.MAX_SAFE_INTEGER || value < Number.MIN_SAFE_INTEGER;
  }
  if (typeof value !== 'object' || value === null) return false;
  if (room === 0) throw new JsonLimitError(`is nested more than ${maxDepth} levels deep`);
  let spoilt = false;
  if (Array.isArray(value)) {
    for (const inner of value) if (isSpoilt(inner, room - 1)) spoilt = true;
    return spoilt;
  }
  // V8 keeps the keys for this loop with the shape of the object, while Object.values() makes a new
  // list: 2 us for a page of 100 transfers against 18.
  for (const key in value) {
    const inner: unknown = value[key as keyof typeof value];
    if (key === '__proto__') spoilt = true;
    if (typeof inner !== 'string' && isSpoilt(inner, room - 1)) spoilt = true;
  }
  return spoilt;
}

/** Writes JSON: a `bigint` becomes bare digits, whatever BigInt.prototype.toJSON was patched to. */
export function stringifyJson(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key, seen: unknown) {
    const original = this[key];
    if (typeof original !== 'bigint') return seen;
    if (json.rawJSON === undefined) {
      throw new TypeError('This runtime cannot write a bigint as JSON; use Node.js 22 or later.');
    }
    return json.rawJSON(String(original));
  });
}

/**
 * Adds to `issues` what JSON.stringify would drop, turn into null or not come to an end with: a payment
 * must not lose a field in silence.
 */
export function refuseLoss(
  value: unknown,
  at: string,
  issues: Issue[],
  around: readonly unknown[] = [],
): void {
  const problem = lossOf(value, around);
  if (issues.length >= maxIssues) return;
  if (problem !== undefined) issues.push(issueAt(at, problem, value));
  else if (typeof value === 'object' && value !== null && !(value instanceof Date)) {
    for (const [key, inner] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
      refuseLoss(inner, join(at, [key]), issues, [...around, value]);
    }
  }
}

function lossOf(value: unknown, around: readonly unknown[]): Problem | string | undefined {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return 'NaN and Infinity cannot be written as JSON';
  }
  if (isUnsafe(value)) return unsafeRule;
  if (typeof value === 'string') return value.isWellFormed() ? undefined : malformed;
  if (typeof value === 'function' || typeof value === 'symbol') {
    return `a ${typeof value} cannot be written as JSON`;
  }
  if (value === undefined && Array.isArray(around.at(-1))) {
    const hint = 'It would be sent as null: remove it, or use null';
    return { got: 'undefined in an array', expected: 'a value', hint };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? 'an invalid date cannot be written as JSON' : undefined;
  }
  if (around.includes(value)) return 'this object contains itself';
  if (around.length >= maxDepth) return `nested deeper than ${maxDepth} levels`;
  if (Object.hasOwn(value, '__proto__')) return 'the key "__proto__" is not allowed';
  return Array.isArray(value) || isPlainObject(value)
    ? undefined
    : { got: 'an instance of a class', expected: 'a plain object', hint: 'Convert it first' };
}

/** Whether a text that is not JSON begins like an object or an array and stops before its end. */
export function endsEarly(text: string): boolean {
  let open = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (quoted && letter === '\\') at += 1;
    else if (letter === '"') quoted = !quoted;
    else if (!quoted && (letter === '{' || letter === '[')) open += 1;
    else if (!quoted && (letter === '}' || letter === ']')) open -= 1;
  }
  return /^\s*[{[]/.test(text) && (quoted || open > 0);
}
