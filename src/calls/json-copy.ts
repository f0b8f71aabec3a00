import { mostIssues } from './arguments.ts';
import type { Issue } from '../errors/errors.ts';
import { join } from '../schemas/issue-path.ts';
import { isRawJson, maxDepth } from '../wires/json.ts';
import { isRootPrototype } from './records.ts';
import { isUnsafe, malformed, millisecondsOf, unsafeRule } from '../schemas/primitives.ts';

/**
 * A copy of a value, made of what JSON carries and of nothing that may change between the check and the
 * sending (a getter, a toJSON). What JSON cannot carry goes into `issues`: JSON.stringify would drop
 * it, turn it into null or overflow the stack, and a payment must not lose a field in silence.
 */
export function jsonCopy(
  value: unknown,
  at: string,
  issues: Issue[],
  ancestors: readonly object[] = [],
): unknown {
  const refuse = (message: string, path = at): void => {
    if (issues.length < mostIssues) issues.push({ path, message });
  };
  switch (typeof value) {
    case 'number':
      if (!Number.isFinite(value)) refuse('NaN and Infinity cannot be written as JSON');
      else if (isUnsafe(value)) refuse(unsafeRule);
      return value;
    case 'string':
      if (!value.isWellFormed()) refuse(malformed);
      return value;
    case 'function':
    case 'symbol':
      refuse(`a ${typeof value} cannot be written as JSON`);
      return undefined;
    case 'object':
      break;
    case 'undefined':
    case 'boolean':
    case 'bigint':
      return value;
  }
  if (value === null) return null;
  // Frozen, and written as it is: exact decimals come this way.
  if (isRawJson(value)) return value;
  const time = millisecondsOf(value);
  if (time !== undefined) {
    if (Number.isNaN(time)) refuse('an invalid date cannot be written as JSON');
    return new Date(time);
  }
  if (ancestors.includes(value)) {
    refuse('this object contains itself');
    return undefined;
  }
  if (ancestors.length >= maxDepth) {
    refuse(`nested deeper than ${maxDepth} levels`);
    return undefined;
  }
  const chain = [...ancestors, value];
  if (Array.isArray(value)) {
    return Array.from(value as unknown[], (inner, index) => {
      const place = join(at, [index]);
      if (inner !== undefined) return jsonCopy(inner, place, issues, chain);
      // JSON.stringify turns undefined and holes into null.
      refuse('undefined in an array would be sent as null; remove it or use null', place);
      return undefined;
    });
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && !isRootPrototype(prototype)) {
    refuse('expected a plain object; convert this one first');
    return undefined;
  }
  if (Object.hasOwn(value, '__proto__')) refuse('the key "__proto__" is not allowed');
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]: [string, unknown]) => [
      key,
      jsonCopy(inner, join(at, [key]), issues, chain),
    ]),
  );
}
