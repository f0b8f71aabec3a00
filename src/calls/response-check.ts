import { isObject } from '../internal/guards.ts';
import * as z from 'zod/mini';
import type { Validator } from './arguments.ts';
import { withoutMessage } from '../internal/zod-message.ts';
import type { Schema } from '../schemas/primitives.ts';

const checks = new WeakMap<z.core.$ZodType, Validator<unknown>>();

/**
 * A schema for answers as a check that is fast from its second answer on: zod then generates a
 * function for it, and the parsed JSON itself is handed out instead of a copy. Where code must not
 * be generated (Workers, strict content security policies) zod goes on as before.
 */
export function responseCheck<T>(schema: Schema<T>): Validator<T> {
  const known = checks.get(schema);
  // Cached under its own schema, so the type is right.
  if (known !== undefined) return known as Validator<T>;
  let uses = 0;
  let fast: Schema<T> | undefined;
  const check: Validator<T> = {
    safeParse(value) {
      // Schemas for answers change nothing, so what they accept is what was given.
      const accepted = { success: true as const, data: value as T };
      uses += 1;
      if (uses > 1) {
        fast ??= z.compile(schema);
        if (z.validate(fast, value)) return accepted;
      }
      // Only the schema itself can say why.
      const start = beginning(value);
      const error =
        schema.safeParse(start, withoutMessage).error ??
        (start === value ? undefined : schema.safeParse(value, withoutMessage).error);
      return error === undefined ? accepted : { success: false, error };
    },
  };
  checks.set(schema, check);
  return check;
}

/** As many items as the document lets a page have. */
const atOnce = 100;

/**
 * The beginning of a long list, or of a page of one: zod reports every mistake in every item, and a
 * small compressed answer may unpack to millions of them.
 */
function beginning(value: unknown): unknown {
  const items: unknown = isObject(value) ? Reflect.get(value, 'data') : value;
  if (!Array.isArray(items) || items.length <= atOnce) return value;
  const data: unknown[] = items.slice(0, atOnce);
  return isObject(value) ? { ...value, data } : data;
}
