import { isObject, isPlainObject } from './objects.ts';

/*
 * Reads values that other code throws. In Jest, in the vm pools of Vitest and in node:vm, Node's
 * errors come from another realm, so they are no instances of the `Error` that this code sees.
 */

/** Reads a field of a value that other code made; undefined if reading throws. */
export function fieldOf(value: unknown, name: PropertyKey): unknown {
  try {
    return Reflect.get(Object(value), name);
  } catch {
    return undefined;
  }
}

/**
 * Whether a value is an error of any realm, but no plain object with the fields of an error.
 * `Error.isError` would miss errors that a library makes without `new Error`, and Prisma may
 * replace the tag of its errors.
 */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error || (isObject(value) && !isPlainObject(value) && isNamed(value));
  } catch {
    // A revoked Proxy throws at every access.
    return false;
  }
}

/** Returns the thrown value, or an error in place of an unreadable one, such as a revoked Proxy. */
export function replaceUnreadable(thrown: unknown): unknown {
  try {
    Object.getPrototypeOf(Object(thrown));
    return thrown;
  } catch {
    return new Error('what was thrown is a Proxy that cannot be read');
  }
}

/** Whether a value has a name and a message, its own or inherited, as errors do. */
const isNamed = (value: object): boolean =>
  ['name', 'message'].every((name) => typeof Reflect.get(value, name) === 'string');

/** Returns the message of an error that other code threw; empty when it is not a string. */
export function messageOf(error: unknown): string {
  const message = isError(error) ? fieldOf(error, 'message') : undefined;
  return typeof message === 'string' ? message : '';
}

/** How deep the SDK follows the causes of an error, because an error may be its own cause. */
export const maxErrorDepth = 8;

/** Returns the message of an error's innermost cause; empty if the value is not an error. */
export function innermostMessageOf(error: unknown, depth = 0): string {
  const cause = fieldOf(error, 'cause');
  if (!isError(cause) || depth === maxErrorDepth) return messageOf(error);
  return innermostMessageOf(cause, depth + 1);
}
