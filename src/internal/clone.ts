import { isPlainObject } from './guards.ts';

/** The fields of an object without those that are undefined. */
export const dropUndefined = <T extends object>(fields: T | undefined): Partial<T> =>
  isPlainObject(fields)
    ? (Object.fromEntries(
        Object.entries(fields).filter(([, value]) => value !== undefined),
      ) as Partial<T>)
    : {};

/** A cloneField of an input that its caller may change meanwhile: of its fields, and of lists, objects and dates in them. */
export function cloneInput<T>(input: T): T {
  if (!isPlainObject(input)) return input;
  const clone: Record<string, unknown> = { ...input };
  for (const name of Object.keys(clone)) clone[name] = cloneField(clone[name]);
  return clone as T;
}

const cloneField = (field: unknown): unknown =>
  Array.isArray(field)
    ? [...(field as unknown[])]
    : field instanceof Date
      ? new Date(field)
      : isPlainObject(field)
        ? { ...field }
        : field;
