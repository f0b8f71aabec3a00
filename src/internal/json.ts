import { isDate, isPlainObject, isUnsafe, malformed, unsafeRule } from './objects.ts';
import { issueAt, join, maxIssues, type Issue, type Problem } from './issues.ts';

/*
 * Reads and writes JSON without losing digits. The platform's integers (salts, block numbers, fees)
 * may be larger than 2^53, where JSON.parse rounds silently. So a reviver reads the source text of
 * such numbers, and JSON.rawJSON writes them.
 */

/** JSON with more levels of nesting is an error. The documented responses need only 5 levels. */
export const maxDepth = 64;

/** Thrown by {@link parseJson} if JSON is nested too deep. */
export class JsonLimitError extends Error {
  override readonly name = 'JsonLimitError';
}

type Reviver = (key: string, value: unknown, context: { source: string }) => unknown;
type RawJson = (text: string) => unknown;
// TypeScript's own types list neither JSON.rawJSON nor the reviver's context yet.
const json = JSON as unknown as {
  parse(text: string, reviver?: Reviver): unknown;
  rawJSON?: RawJson;
};

/** Restores lost digits, and drops `__proto__` because Object.assign would make it a prototype. */
const revive: Reviver = (key, value, context) => {
  if (key === '__proto__') return undefined;
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? '';
  return /^-?\d+$/.test(source) ? BigInt(source) : value;
};

/**
 * Parses JSON. An integer beyond 2^53 - 1 becomes a `bigint`, and a `__proto__` key is dropped.
 * @throws SyntaxError for text that is not JSON, JsonLimitError for nesting that is too deep.
 */
export function parseJson(text: string): unknown {
  const value = json.parse(text);
  // Use a reviver only if necessary, because it makes parsing several times slower.
  return needsReviver(value, maxDepth) ? json.parse(text, revive) : value;
}

/**
 * Whether parsed JSON has lost digits or has a `__proto__` key, so that a reviver is necessary.
 * Visits every value, even after such a find, because JSON that is nested too deep has to throw.
 */
function needsReviver(value: unknown, depthLeft: number): boolean {
  if (typeof value === 'number') {
    return value > Number.MAX_SAFE_INTEGER || value < Number.MIN_SAFE_INTEGER;
  }
  if (typeof value !== 'object' || value === null) return false;
  if (depthLeft === 0) throw new JsonLimitError(`is nested more than ${maxDepth} levels deep`);
  let needs = false;
  if (Array.isArray(value)) {
    for (const inner of value) if (needsReviver(inner, depthLeft - 1)) needs = true;
    return needs;
  }
  // Use a for-in loop, because V8 caches its keys with the shape of the object, while
  // Object.values() creates a list. A page of 100 transfers takes 2 us instead of 18.
  for (const key in value) {
    const inner: unknown = value[key as keyof typeof value];
    if (key === '__proto__') needs = true;
    // Skip text, and members that an old library has added to every object.
    if (typeof inner === 'string' || !Object.hasOwn(value, key)) continue;
    if (needsReviver(inner, depthLeft - 1)) needs = true;
  }
  return needs;
}

/** Writes JSON. A `bigint` becomes bare digits, even if BigInt.prototype.toJSON is patched. */
export function stringifyJson(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key, converted: unknown) {
    const original = this[key];
    if (typeof original !== 'bigint') return converted;
    if (json.rawJSON === undefined) {
      throw new TypeError('This runtime cannot write a bigint as JSON; use Node.js 22 or later.');
    }
    return json.rawJSON(String(original));
  });
}

/**
 * Adds an issue for each value that JSON.stringify would drop, turn into null or fail on, because a
 * payment must not lose a field silently.
 */
export function checkLossless(
  value: unknown,
  at: string,
  issues: Issue[],
  parents: readonly unknown[] = [],
): void {
  const problem = describeLoss(value, parents);
  if (issues.length >= maxIssues) return;
  if (problem !== undefined) issues.push(issueAt(at, problem, value));
  else if (typeof value === 'object' && value !== null && !isDate(value)) {
    for (const [key, inner] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
      checkLossless(inner, join(at, [key]), issues, [...parents, value]);
    }
  }
}

/**
 * Says why JSON would lose or change a value, not looking into its fields; undefined if JSON keeps
 * the value. `parents` are the objects around the value, the outermost first.
 */
function describeLoss(value: unknown, parents: readonly unknown[]): Problem | string | undefined {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return 'NaN and Infinity cannot be written as JSON';
  }
  if (isUnsafe(value)) return unsafeRule;
  if (typeof value === 'string') return value.isWellFormed() ? undefined : malformed;
  if (typeof value === 'function' || typeof value === 'symbol') {
    return `a ${typeof value} cannot be written as JSON`;
  }
  if (value === undefined && Array.isArray(parents.at(-1))) {
    const hint = 'It would be sent as null: remove it, or use null';
    return { got: 'undefined in an array', expected: 'a value', hint };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (isDate(value)) {
    return Number.isNaN(value.getTime()) ? 'an invalid date cannot be written as JSON' : undefined;
  }
  if (parents.includes(value)) return 'this object contains itself';
  if (parents.length >= maxDepth) return `nested deeper than ${maxDepth} levels`;
  if (Object.hasOwn(value, '__proto__')) return 'the key "__proto__" is not allowed';
  if (Array.isArray(value) || isPlainObject(value)) return undefined;
  return { got: 'an instance of a class', expected: 'a plain object', hint: 'Convert it first' };
}

/** Whether text that is not JSON starts like an object or an array and stops before its end. */
export function isTruncated(text: string): boolean {
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
