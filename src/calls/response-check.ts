import { isObject } from '../internal/guards.ts';
import * as z from 'zod/mini';
import type { Validator } from './arguments.ts';
import { withoutMessage } from '../internal/zod-message.ts';
import type { Schema } from '../schemas/primitives.ts';

const checks = new WeakMap<z.core.$ZodType, Validator<unknown>>();

/**
 * The check of a response. A closure finds out whether there are issues, and returns the parsed JSON without a
 * copy; zod describes the issues.
 */
export function responseCheck<T>(schema: Schema<T>): Validator<T> {
  const cached = checks.get(schema);
  // Cached by schema, so the type is right.
  if (cached !== undefined) return cached as Validator<T>;
  const matches = createMatcher(schema);
  const check: Validator<T> = {
    safeParse(value) {
      // Schemas of responses do not convert, so an accepted value is returned as it is.
      const accepted = { success: true as const, data: value as T };
      if (matches(value)) return accepted;
      const firstItems = takeFirstItems(value);
      let { error } = schema.safeParse(firstItems, withoutMessage);
      if (firstItems !== value) error ??= schema.safeParse(value, withoutMessage).error;
      return error === undefined ? accepted : { success: false, error };
    },
  };
  checks.set(schema, check);
  return check;
}

type Matcher = (value: unknown) => boolean;

/** Creates a function that tells whether zod accepts a value, five times as fast as zod does. */
export function createMatcher(schema: z.core.$ZodType): Matcher {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'unknown':
      return () => true;
    case 'string':
    case 'boolean':
    case 'bigint':
      return (value) => typeof value === def.type;
    // The only numbers of responses are whole ones.
    case 'number':
      return Number.isSafeInteger;
    case 'optional':
      return orElse(undefined, createMatcher(def.innerType));
    case 'nullable':
      return orElse(null, createMatcher(def.innerType));
    case 'union': {
      const options = def.options.map(createMatcher);
      return (value) => options.some((matches) => matches(value));
    }
    case 'array': {
      const matches = createMatcher(def.element);
      return (value) => Array.isArray(value) && value.every((item) => matches(item));
    }
    // The only records of responses are free-form.
    case 'record':
      return z.core.util.isPlainObject;
    case 'object':
      return createObjectMatcher(def.shape);
    default:
      return (value) => z.safeParse(schema, value).success;
  }
}

const orElse =
  (allowed: unknown, matches: Matcher): Matcher =>
  (value) =>
    value === allowed || matches(value);

function createObjectMatcher(shape: z.core.$ZodShape): Matcher {
  const fields = Object.entries(shape).map(([key, schema]) => ({
    key,
    isOptional: schema._zod.optin !== undefined,
    matches: createMatcher(schema),
  }));
  return (value) => {
    if (!z.core.util.isObject(value)) return false;
    for (const { key, isOptional, matches } of fields) {
      const field = value[key];
      if (!matches(field)) return false;
      if (field === undefined && !isOptional && !(key in value)) return false;
    }
    return true;
  };
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
