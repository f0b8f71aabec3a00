/* Objects of the caller’s, and whether all of their fields can be seen. */

/** Whether a value is an object and not an array. */
export const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const recordRule =
  'expected a plain object; copy the fields of this one into a plain object';

/**
 * Whether all fields of an object are its own, so that a copy loses none. A Map, a Date or a Promise
 * has no fields, and a copy does not see accessors of a class or inherited fields.
 */
export function isRecord(value: unknown): value is object {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || isRootPrototype(prototype)) return true;
  return (
    Object.prototype.toString.call(value) === '[object Object]' &&
    !(Symbol.iterator in value) &&
    hasOnlyMethods(prototype)
  );
}

function hasOnlyMethods(prototype: unknown): boolean {
  if (!isObject(prototype) || isRootPrototype(prototype)) return true;
  const members = Object.values(Object.getOwnPropertyDescriptors(prototype));
  return (
    members.every(({ value }) => typeof value === 'function') &&
    hasOnlyMethods(Object.getPrototypeOf(prototype))
  );
}

/** Object.prototype of this realm or another, such as a vm context of a test runner. */
export const isRootPrototype = (prototype: unknown): boolean =>
  prototype === Object.prototype ||
  (isObject(prototype) &&
    Object.getPrototypeOf(prototype) === null &&
    Object.hasOwn(prototype, 'hasOwnProperty'));

/**
 * A copy, made now, because a getter must be asked once only and the caller may change the object
 * later. What has no fields to copy, or cannot be read, becomes something that every call refuses, so
 * that nothing throws before there is a promise to reject.
 */
export function copyFields<T>(
  given: T,
  copy = (field: unknown, _name: string): unknown => field,
): T {
  try {
    if (!isObject(given)) return given;
    if (isRecord(given)) {
      const fields = Object.entries(given).map(
        ([name, field]) => [name, copy(field, name)] as const,
      );
      return Object.fromEntries(fields) as T;
    }
  } catch {
    // Refused with the others.
  }
  return new Map() as T;
}
