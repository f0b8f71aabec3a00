import { isPlainObject } from './guards.ts';

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
  if (field instanceof Date) return new Date(field);
  return isPlainObject(field) ? { ...field } : field;
}
