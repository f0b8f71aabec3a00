import * as z from 'zod/mini';
import type { Validator } from './arguments.ts';
import { isObject } from './records.ts';
import type { Schema } from '../schemas/primitives.ts';

const validators = new WeakMap<z.core.$ZodType, Validator<unknown>>();

/** As many items as the document lets a page have. */
const atOnce = 100;

/**
 * A schema for answers as a validator that is fast from its second answer on: zod then generates a
 * function for it, and the parsed JSON itself is handed out instead of a copy. Where code must not
 * be generated (Workers, strict content security policies) zod goes on as before.
 */
export function compiled<T>(schema: Schema<T>, split = asAWhole): Validator<T> {
  const known = validators.get(schema);
  // Cached under its own schema, so the type is right.
  if (known !== undefined) return known as Validator<T>;
  let uses = 0;
  let fast: Schema<T> | undefined;
  const issuesOf = (value: unknown): readonly z.core.$ZodIssue[] => {
    uses += 1;
    if (uses > 1) {
      fast ??= z.compile(schema);
      if (z.validate(fast, value)) return [];
    }
    // Only the schema itself can say why.
    return schema.safeParse(value).error?.issues ?? [];
  };
  const validator: Validator<T> = {
    safeParse(value) {
      for (const { part, from } of split(value)) {
        const issues = issuesOf(part);
        if (issues.length > 0) {
          return { success: false, error: { issues: issues.map(placedAfter(from)) } };
        }
      }
      // Schemas for answers change nothing, so what they accept is what was given.
      return { success: true, data: value as T };
    },
  };
  validators.set(schema, validator);
  return validator;
}

/** The same for a list, which is looked at in parts. */
export const compiledList = <T>(schema: Schema<T>): Validator<T> => compiled(schema, partsOf);

interface Part {
  readonly part: unknown;
  /** How many items precede it. */
  readonly from: number;
}

const asAWhole = (value: unknown): Iterable<Part> => [{ part: value, from: 0 }];

/**
 * Splits a list, or a page of one, into parts that are each a valid list or page. zod reports every
 * mistake in every item, and a small compressed answer may unpack to millions of them: a long list is
 * checked only up to the first part that is wrong.
 */
function* partsOf(value: unknown): Generator<Part> {
  const items: unknown = isObject(value) ? Reflect.get(value, 'data') : value;
  if (!Array.isArray(items) || items.length <= atOnce) {
    yield* asAWhole(value);
    return;
  }
  for (let from = 0; from < items.length; from += atOnce) {
    const data = items.slice(from, from + atOnce) as unknown[];
    // The fields around the items are checked with the first part only.
    const part = isObject(value) ? { ...(from === 0 ? value : { hasMore: true }), data } : data;
    yield { part, from };
  }
}

/**
 * The first number in an issue's path is an item's place in its part. This
 * makes it the place in the list.
 */
const placedAfter =
  (from: number) =>
  <I extends { readonly path: readonly PropertyKey[] }>(issue: I): I => {
    const at = issue.path.findIndex((key) => typeof key === 'number');
    const path = issue.path.map((key, index) => (index === at ? Number(key) + from : key));
    return { ...issue, path };
  };
