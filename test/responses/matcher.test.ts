import * as fc from 'fast-check';
import * as schemas from 'payments-platform-sdk/schemas';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { createMatcher } from '../../src/calls/response.ts';
import { pageBodySchema } from '../../src/schemas/page.ts';
import { transferSchema } from '../../src/schemas/transfer.ts';

const responses = Object.entries(schemas).filter(
  ([name]) => name.endsWith('Schema') && !/^page|(Id|Input|Query|Arguments)Schema$/.test(name),
);
const all: [string, z.core.$ZodType][] = [
  ...responses.map(([name, schema]): [string, z.core.$ZodType] => [
    name,
    schema as unknown as z.core.$ZodType,
  ]),
  ['a page of a list', pageBodySchema(transferSchema())],
];

/** JSON values, bigints as of parseJson, undefined as of an absent field, and odd objects. */
const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(undefined, null, 1n << 80n, Number.NaN, Infinity, 1.5, 2 ** 53, -0, '', [], {}),
  fc.constantFrom({ constructor: 1 }, Object.create(null), new Date(0), [undefined]),
);

/** A value that the schema accepts, for the kinds of schema that responses have. */
function accepted(schema: z.core.$ZodType): fc.Arbitrary<unknown> {
  const { _zod: internals } = schema as z.core.$ZodTypes;
  const { def } = internals;
  switch (def.type) {
    case 'string':
      return fc.string({ maxLength: 3 });
    case 'boolean':
      return fc.boolean();
    case 'number':
      return fc.integer();
    case 'bigint':
      return fc.bigInt();
    case 'optional':
      return fc.option(accepted(def.innerType), { nil: undefined });
    case 'nullable':
      return fc.option(accepted(def.innerType), { nil: null });
    case 'union':
      return fc.oneof(...def.options.map(accepted));
    case 'array':
      return fc.array(accepted(def.element), { maxLength: 3 });
    case 'object':
      return fc.record(
        Object.fromEntries(Object.entries(def.shape).map(([key, each]) => [key, accepted(each)])),
      );
    case 'record':
      return fc.dictionary(fc.string(), fc.jsonValue());
    default:
      return anything;
  }
}

/** Replaces, adds or removes one field or item, at any depth. */
function spoil(value: unknown, choices: readonly number[], other: unknown): unknown {
  const [choice = 0, ...rest] = choices;
  if (typeof value !== 'object' || value === null || choice % 3 === 0) return other;
  const copy: Record<string, unknown> = { ...value };
  const keys = Object.keys(copy);
  const key = keys[choice % Math.max(1, keys.length)] ?? 'extra';
  if (rest.length > 0) copy[key] = spoil(copy[key], rest, other);
  else if (choice % 3 === 1) delete copy[key];
  else copy[choice % 2 === 0 ? key : 'extra'] = other;
  return Array.isArray(value) ? Object.values(copy) : copy;
}

const runs = Number(process.env['MATCHER_RUNS'] ?? 400);

test.each(all)('the fast check of %s accepts exactly what zod accepts', (_, schema) => {
  const matches = createMatcher(schema);
  const outcomes = { accepted: 0, rejected: 0 };
  const compare = (value: unknown): void => {
    const { success } = z.safeParse(schema, value);
    outcomes[success ? 'accepted' : 'rejected'] += 1;
    expect({ value, matches: matches(value) }).toEqual({ value, matches: success });
  };
  fc.assert(
    fc.property(
      accepted(schema),
      fc.array(fc.nat(), { minLength: 1, maxLength: 4 }),
      anything,
      (value, choices, other) => {
        compare(value);
        compare(spoil(value, choices, other));
      },
    ),
    { numRuns: runs },
  );
  expect(outcomes.accepted).toBeGreaterThan(runs / 2);
  expect(outcomes.rejected).toBeGreaterThan(runs / 20);
});
