import { expectation } from './issues.ts';

/** Whether a value is an object and not an array. */
export const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a value is an object of plain fields, not a Map or an instance of a class. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Whether a number is an integer that is too large to be exact. */
export const isUnsafe = (value: unknown): boolean =>
  Number.isInteger(value) && !Number.isSafeInteger(value);
export const unsafeRule = /* @__PURE__ */ expectation({
  got: 'a number beyond 2^53 - 1',
  expected: 'a bigint',
  hint: 'It has lost digits: write it as 9007199254740993n',
});

export const malformed = 'has an unpaired surrogate; expected well-formed Unicode';

/** Whether a value is a Date, even a Date from another realm such as a vm context. */
export function isDate(value: unknown): value is Date {
  // Return early for plain objects, because a thrown error costs more than all other checks.
  if (!isObject(value) || isPlainObject(value)) return false;
  try {
    Date.prototype.getTime.call(value);
    return true;
  } catch {
    return false;
  }
}

/** Whether two values of JSON are equal, whatever the order of their fields is. */
export const isEqual = (one: unknown, other: unknown): boolean => {
  if (typeof one !== 'object' || typeof other !== 'object') return one === other;
  if (one === null || other === null || Array.isArray(one) !== Array.isArray(other)) {
    return one === other;
  }
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every((name) => isEqual(Reflect.get(one, name), Reflect.get(other, name)));
};

export const dropUndefined = <T extends object>(fields: T | undefined): Partial<T> =>
  isPlainObject(fields)
    ? (Object.fromEntries(
        Object.entries(fields).filter(([, value]) => value !== undefined),
      ) as Partial<T>)
    : {};

/** Clones an input with its lists, objects and dates, because the caller may change them later. */
export function cloneInput<T>(input: T): T {
  if (!isPlainObject(input)) return input;
  const clone: Record<string, unknown> = { ...input };
  for (const name of Object.keys(clone)) clone[name] = cloneField(clone[name]);
  return clone as T;
}

function cloneField(field: unknown): unknown {
  if (Array.isArray(field)) return [...(field as unknown[])];
  if (isDate(field)) return new Date(field);
  return isPlainObject(field) ? { ...field } : field;
}

/**
 * Returns a function that makes a value at its first call, because making all zod schemas takes as
 * long as loading the rest of the package: docs/decisions/where-the-time-goes.md. The annotation
 * below lets bundlers drop unused schemas.
 */
/* @__NO_SIDE_EFFECTS__ */
export function lazy<T>(make: () => T): () => T {
  let value: T | undefined;
  return () => (value ??= make());
}

/**
 * Parameters for each check by zod. Without them, zod would call the error map of the application's
 * `z.config`, which may throw.
 */
export const withoutMessage = { error: (): string => 'Invalid input' };
