import * as z from 'zod/mini';
import type { Validator } from './arguments.ts';
import type { Schema } from './schemas/primitives.ts';

const validators = new WeakMap<z.core.$ZodType, Validator<unknown>>();

/**
 * A schema for answers as a validator that is fast from its second answer on: zod then generates a
 * function for it, and the parsed JSON itself is handed out instead of a copy. Where code must not
 * be generated (Workers, strict content security policies) zod goes on as before.
 */
export function compiled<T>(schema: Schema<T>): Validator<T> {
  const known = validators.get(schema);
  // Cached under its own schema, so the type is right.
  if (known !== undefined) return known as Validator<T>;
  let uses = 0;
  let fast: Schema<T> | undefined;
  const validator: Validator<T> = {
    safeParse(value) {
      uses += 1;
      if (uses > 1) {
        fast ??= z.compile(schema);
        // Schemas for answers change nothing, so what they accept is what was given.
        if (z.validate(fast, value)) return { success: true, data: value as T };
      }
      // Only the schema itself can say why.
      return schema.safeParse(value);
    },
  };
  validators.set(schema, validator);
  return validator;
}
