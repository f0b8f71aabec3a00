import { isObject, isPlainObject } from './objects.ts';

/*
 * Values that others throw. In Jest, in the vm pools of Vitest and in node:vm the errors of Node come from another realm,
 * and the `Error` that this code sees is not their class.
 */

/** A field of a foreign value, which may hold anything; undefined where reading it throws. */
export function fieldOf(value: unknown, name: PropertyKey): unknown {
  try {
    return Reflect.get(Object(value), name);
  } catch {
    return undefined;
  }
}

/**
 * Whether a value is an error of any realm. `Error.isError` would miss those that a library makes without
 * `new Error`, and a tag may be replaced, as Prisma does. Data with the fields of an error is no error.
 */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error || (isObject(value) && !isPlainObject(value) && isNamed(value));
  } catch {
    // A revoked Proxy does not say what it is.
    return false;
  }
}

/** A thrown value as it is, unless it is a revoked Proxy or the like: even `instanceof` throws on those. */
export function replaceUnreadable(thrown: unknown): unknown {
  try {
    Object.getPrototypeOf(Object(thrown));
    return thrown;
  } catch {
    return new Error('what was thrown is a Proxy that cannot be read');
  }
}

/** An error without a name of its own inherits one. */
const isNamed = (value: object): boolean =>
  ['name', 'message'].every((name) => typeof Reflect.get(value, name) === 'string');

/** The message of a foreign error; empty when it is not a string. */
export function messageOf(error: unknown): string {
  const message = isError(error) ? fieldOf(error, 'message') : undefined;
  return typeof message === 'string' ? message : '';
}

/** Errors that are nested deeper are ignored: an error can be its own cause. */
export const maxErrorDepth = 8;

/** The message of the innermost cause; empty for a value that is no error. */
export function innermostMessageOf(error: unknown, depth = 0): string {
  const cause = fieldOf(error, 'cause');
  if (!isError(cause) || depth === maxErrorDepth) return messageOf(error);
  return innermostMessageOf(cause, depth + 1);
}
