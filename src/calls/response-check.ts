import { isObject } from '../internal/guards.ts';
import * as z from 'zod/mini';
import type { Validator } from './arguments.ts';
import { withoutMessage } from '../internal/zod-message.ts';
import type { Schema } from '../schemas/primitives.ts';

const checks = new WeakMap<z.core.$ZodType, Validator<unknown>>();

/**
 * The check of a response. From the second use it is fast: zod compiles the schema, and the parsed JSON
 * is returned without a copy. Where code generation is forbidden (Workers, strict content security
 * policies), zod does not compile it.
 */
export function responseCheck<T>(schema: Schema<T>): Validator<T> {
  const cached = checks.get(schema);
  // Cached by schema, so the type is right.
  if (cached !== undefined) return cached as Validator<T>;
  let uses = 0;
  let fast: Schema<T> | undefined;
  const check: Validator<T> = {
    safeParse(value) {
      // Schemas of responses do not convert, so an accepted value is returned as it is.
      const accepted = { success: true as const, data: value as T };
      uses += 1;
      if (uses > 1) {
        fast ??= z.compile(schema);
        if (z.validate(fast, value)) return accepted;
      }
      // Only the schema itself reports issues.
      const firstItems = takeFirstItems(value);
      let { error } = schema.safeParse(firstItems, withoutMessage);
      if (firstItems !== value) error ??= schema.safeParse(value, withoutMessage).error;
      return error === undefined ? accepted : { success: false, error };
    },
  };
  checks.set(schema, check);
  return check;
}

/** The maximum number of items on a page, by the API reference. */
const maxPageItems = 100;

/**
 * Takes the first items of a list or a page: zod reports every issue of every item, and a small compressed
 * response may decompress to millions of them.
 */
function takeFirstItems(value: unknown): unknown {
  const items: unknown = isObject(value) ? Reflect.get(value, 'data') : value;
  if (!Array.isArray(items) || items.length <= maxPageItems) return value;
  const data: unknown[] = items.slice(0, maxPageItems);
  return isObject(value) ? { ...value, data } : data;
}
