import { isObject, isPlainObject } from './objects.ts';

/*
 * Values that other code throws. In Jest, in the vm pools of Vitest and in node:vm, Node's errors
 * come from another realm, so they are no instances of the `Error` that this code sees.
 */

/** Reads a field of a foreign value; undefined if reading throws. */
export function fieldOf(value: unknown, name: PropertyKey): unknown {
  try {
    return Reflect.get(Object(value), name);
  } catch {
    return undefined;
  }
}

/**
 * Whether a value is an error of any realm. `Error.isError` would miss an error that a library
 * makes without `new Error`, and a library such as Prisma may replace the tag of its errors. A
 * plain object with the fields of an error is no error.
 */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error || (isObject(value) && !isPlainObject(value) && isNamed(value));
  } catch {
    // Every access to a revoked Proxy throws.
    return false;
  }
}

/** The thrown value, or an error instead of one that cannot be read, such as a revoked Proxy. */
export function replaceUnreadable(thrown: unknown): unknown {
  try {
    Object.getPrototypeOf(Object(thrown));
    return thrown;
  } catch {
    return new Error('what was thrown is a Proxy that cannot be read');
  }
}

/** Reads inherited fields, too, because an error without a name of its own inherits one. */
const isNamed = (value: object): boolean =>
  ['name', 'message'].every((name) => typeof Reflect.get(value, name) === 'string');

/** The message of a foreign error; empty when it is not a string. */
export function messageOf(error: unknown): string {
  const message = isError(error) ? fieldOf(error, 'message') : undefined;
  return typeof message === 'string' ? message : '';
}

/** Errors that are nested deeper are ignored, because an error may be its own cause. */
export const maxErrorDepth = 8;

/** The message of the innermost cause; empty if the value is not an error. */
export function innermostMessageOf(error: unknown, depth = 0): string {
  const cause = fieldOf(error, 'cause');
  if (!isError(cause) || depth === maxErrorDepth) return messageOf(error);
  return innermostMessageOf(cause, depth + 1);
}
