import { expectation } from './issues.ts';

/** Whether a value is an object and not an array. */
export const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether an object holds all its data in its fields, unlike a Map or an instance of a class. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Whether a number is an integer too large to be exact. */
export const isUnsafe = (value: unknown): boolean =>
  Number.isInteger(value) && !Number.isSafeInteger(value);
export const unsafeRule = /* @__PURE__ */ expectation({
  got: 'a number beyond 2^53 - 1',
  expected: 'a bigint',
  hint: 'It has lost digits: write it as 9007199254740993n',
});

export const malformed = 'has an unpaired surrogate; expected well-formed Unicode';

/** Whether a value is a Date, also one of another realm. */
export function isDate(value: unknown): value is Date {
  // The error below takes longer than the other checks of an input together.
  if (!isObject(value) || isPlainObject(value)) return false;
  try {
    Date.prototype.getTime.call(value);
    return true;
  } catch {
    return false;
  }
}

/** Copies the fields of an object except those that are undefined. */
export const dropUndefined = <T extends object>(fields: T | undefined): Partial<T> =>
  isPlainObject(fields)
    ? (Object.fromEntries(
        Object.entries(fields).filter(([, value]) => value !== undefined),
      ) as Partial<T>)
    : {};

/** Clones an input that its caller may change later: its fields, and the lists, objects and dates in them. */
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
 * Makes a value at its first use. Making all schemas takes as long as loading the rest of the package, and
 * a process needs a few: docs/decisions/where-the-time-goes.md. The comment below lets bundlers drop unused
 * schemas.
 */
/* @__NO_SIDE_EFFECTS__ */
export function lazy<T>(make: () => T): () => T {
  let value: T | undefined;
  return () => (value ??= make());
}

/**
 * Parameters of every check of the client's own: the schemas bring their messages, and an application's
 * `z.config` reaches every zod of a process and may throw.
 */
export const withoutMessage = { error: (): string => 'Invalid input' };
