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
