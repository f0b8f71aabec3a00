import { join } from './arguments.ts';
import type { Issue } from './errors.ts';
import { maxDepth } from './json.ts';
import { isUnsafe, unsafeRule } from './schemas/primitives.ts';

/**
 * What of a value JSON cannot carry. JSON.stringify would drop it, turn it into null or overflow
 * the stack; a payment must not lose a field in silence.
 */
export function jsonIssues(
  value: unknown,
  at: string,
  issues: Issue[],
  ancestors: object[] = [],
): void {
  const refuse = (message: string): void => {
    issues.push({ path: at, message });
  };
  switch (typeof value) {
    case 'number':
      if (!Number.isFinite(value)) refuse('NaN and Infinity cannot be written as JSON');
      else if (isUnsafe(value)) refuse(unsafeRule);
      return;
    case 'string':
      if (!value.isWellFormed())
        refuse('expected well-formed Unicode; this text has an unpaired surrogate');
      return;
    case 'function':
    case 'symbol':
      refuse(`a ${typeof value} cannot be written as JSON`);
      return;
    case 'object':
      break;
    case 'undefined':
    case 'boolean':
    case 'bigint':
      return;
  }
  if (value === null) return;
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) refuse('an invalid date cannot be written as JSON');
    return;
  }
  if (ancestors.includes(value)) {
    refuse('this object contains itself');
    return;
  }
  if (ancestors.length >= maxDepth) {
    refuse(`nested deeper than ${maxDepth} levels`);
    return;
  }
  if (!Array.isArray(value)) {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== null && prototype !== Object.prototype && !isForeignPlain(prototype)) {
      refuse('expected a plain object; convert this one first');
      return;
    }
    if (Object.hasOwn(value, '__proto__')) refuse('the key "__proto__" is not allowed');
  }
  // Of a list every place counts: JSON.stringify would turn undefined and holes into null.
  const entries: Iterable<[PropertyKey, unknown]> = Array.isArray(value)
    ? value.entries()
    : Object.entries(value);
  for (const [key, inner] of entries) {
    const place = join(at, [key]);
    if (inner === undefined && Array.isArray(value)) {
      issues.push({
        path: place,
        message: 'undefined in an array would be sent as null; remove it or use null',
      });
    } else {
      jsonIssues(inner, place, issues, [...ancestors, value]);
    }
  }
}

/** Object.prototype of another realm, such as a vm context of a test runner. */
const isForeignPlain = (prototype: unknown): boolean =>
  typeof prototype === 'object' &&
  prototype !== null &&
  Object.getPrototypeOf(prototype) === null &&
  Object.hasOwn(prototype, 'hasOwnProperty');
