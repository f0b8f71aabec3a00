import * as z from 'zod/mini';
import type { Checker } from './arguments.ts';
import type { Schema } from './schemas/primitives.ts';

const checkers = new WeakMap<z.core.$ZodType, Checker<unknown>>();

/**
 * A schema for answers as a checker that is fast from its second answer on: zod then generates a
 * function for it, and the parsed JSON itself is handed out instead of a copy. Where code must not
 * be generated (Workers, strict content security policies) zod goes on as before.
 */
export function compiled<T>(schema: Schema<T>): Checker<T> {
  const known = checkers.get(schema);
  // Kept under its own schema, so it is of that type.
  if (known !== undefined) return known as Checker<T>;
  let uses = 0;
  let fast: Schema<T> | undefined;
  const checker: Checker<T> = {
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
  checkers.set(schema, checker);
  return checker;
}
