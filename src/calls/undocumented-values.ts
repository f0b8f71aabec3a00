import type * as z from 'zod/mini';
import type { Issue } from '../errors/errors.ts';
import { join } from '../internal/issues.ts';
import { isObject } from '../internal/objects.ts';
import { documentedValuesOf } from '../schemas/primitives.ts';

/** A value of an enum in a response that the API reference does not document. */
export interface UndocumentedValue {
  /** The keys from the response to the value, from the outside in. */
  readonly path: readonly PropertyKey[];
  readonly value: string;
  /** The documented values. The array identifies the enum. */
  readonly documented: readonly string[];
}

/** Finds the undocumented values in a response. */
export type ValueFinder = (response: unknown) => readonly UndocumentedValue[];

const nothing: readonly UndocumentedValue[] = [];

/** Creates a finder from the schema of a response; undefined if the response has no enum. */
export function createValueFinder(schema: z.core.$ZodType): ValueFinder | undefined {
  const documented = documentedValuesOf(schema);
  if (documented !== undefined) {
    return (value) =>
      typeof value !== 'string' || documented.includes(value)
        ? nothing
        : [{ path: [], value, documented }];
  }
  const { _zod: internals } = schema as z.core.$ZodTypes;
  const { def } = internals;
  if (def.type === 'optional' || def.type === 'nullable') return createValueFinder(def.innerType);
  if (def.type === 'array') {
    const find = createValueFinder(def.element);
    if (find === undefined) return undefined;
    return (items) =>
      Array.isArray(items)
        ? items.flatMap((item: unknown, index) => prefixPaths(index, find(item)))
        : nothing;
  }
  if (def.type !== 'object') return undefined;
  const fields = Object.entries(def.shape).flatMap(([key, field]) => {
    const find = createValueFinder(field);
    return find === undefined ? [] : [[key, find] as const];
  });
  if (fields.length === 0) return undefined;
  return (record) =>
    isObject(record)
      ? fields.flatMap(([key, find]) => prefixPaths(key, find(Reflect.get(record, key))))
      : nothing;
}

const prefixPaths = (key: PropertyKey, found: readonly UndocumentedValue[]) =>
  found.length === 0 ? found : found.map((each) => ({ ...each, path: [key, ...each.path] }));

/** A client reports at most this many values of an enum, because a faulty platform may send any. */
const maxValues = 100;

/** The undocumented values that a client has reported, so that it reports each only once. */
export class ReportedValues {
  readonly #reported = new Map<readonly string[], Set<string>>();

  /** Returns an issue for each new value, until an enum has `maxValues` of them. */
  takeNew(found: readonly UndocumentedValue[]): Issue[] {
    return found.flatMap(({ path, value, documented }) => {
      const reported = this.#reported.get(documented) ?? new Set();
      if (reported.has(value) || reported.size === maxValues) return [];
      this.#reported.set(documented, reported.add(value));
      // The start of a value is enough to recognise it.
      const message = `got ${JSON.stringify(value.slice(0, 60))}; expected ${documented.join(', ')}`;
      return [{ path: join('', path), message }];
    });
  }
}
