import * as z from 'zod/mini';
import { expectation } from '../internal/issues.ts';
import { isPlainObject, isUnsafe, unsafeRule, lazy } from '../internal/objects.ts';
import {
  currencyPattern,
  describeIdProblem,
  isWellFormedId,
  type IdPrefix,
  expectedMoment,
  isMoment,
} from '../internal/formats.ts';
import type { Schema as PublicSchema } from './schema.ts';

/** A whole number: a `number` if JavaScript can hold the value exactly, otherwise a `bigint`. */
export type Integer = number | bigint; // How large integers get: docs/gaps.md, row 34

/** A hexadecimal string prefixed with `0x`, as in on-chain libraries. */
export type Hex = `0x${string}`;

/** Your own free-form data: an object with any keys and values. */
export type Metadata = Readonly<Record<string, unknown>>;

/** A schema that accepts and returns a `T`, for this package. The public type is in schema.ts. */
export type Schema<T> = z.ZodMiniType<T>;

/** Gives a schema its public type, without zod, because a program may use another zod or none. */
/* @__NO_SIDE_EFFECTS__ */
export function asPublicSchema<T>(schema: () => Schema<T>): PublicSchema<T> {
  return schema() as unknown as PublicSchema<T>;
}

/*
 * The schemas of responses accept unknown fields (docs/gaps.md, rows 30 and 31), and do not check
 * the format of a string, so one schema serves for all strings.
 */
const sharedString = lazy(() => z.string());
export const anyString = <T extends string = string>(): Schema<T> => asSchema(sharedString());

const documentedValues = new WeakMap<z.core.$ZodType, readonly string[]>();

/**
 * Schema of an enum in a response. It accepts any string, because the platform may add values
 * (docs/gaps.md, row 33); {@link documentedValuesOf} tells which values are documented.
 */
export function enumString<Value extends string>(values: readonly Value[]): Schema<Value> {
  const schema = z.string();
  documentedValues.set(schema, values);
  return asSchema(schema);
}

/** The documented values of a schema from {@link enumString}; undefined for any other schema. */
export const documentedValuesOf = (schema: z.core.$ZodType): readonly string[] | undefined =>
  documentedValues.get(schema);

export const integer = lazy((): Schema<Integer> => z.union([z.int(), z.bigint()]));
export const metadata = lazy((): Schema<Metadata> => z.record(z.string(), z.unknown()));

/*
 * The schemas of requests reject unknown fields (docs/gaps.md, row 23). They have messages of their
 * own, because zod/mini has none.
 */

/** Schema of an object to send. Rejects each field that the API reference does not name. */
export const closedObject = <Shape extends z.core.$ZodShape>(
  shape: Shape,
): z.ZodMiniObject<Shape, z.core.$strict> =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `unknown field: ${issue.keys.join(', ')}; check the spelling`
        : undefined,
  });

/** Schema of metadata to send. A later step rejects values that JSON would lose. */
export const metadataInput = (): Schema<Metadata> =>
  z.custom<Metadata>(isPlainObject, expectation('an object of keys and values'));

/** The schemas of ids that have been created, by prefix, for the JSON Schema that public-schema.ts adds. */
export const idSchemas = /* @__PURE__ */ new Map<IdPrefix, Schema<string>>();

/** Creates the schema of an id to send, from the prefix of the id. */
/* @__NO_SIDE_EFFECTS__ */
export function idSchema(prefix: IdPrefix): () => Schema<string> {
  const error = ({ input }: { readonly input?: unknown }) => describeIdProblem(prefix, input);
  return lazy(() => {
    const isValid = z.refine((id) => isWellFormedId(prefix, id), { error });
    const schema = asSchema<string>(z.string({ error }).check(isValid));
    idSchemas.set(prefix, schema);
    return schema;
  });
}

/**
 * Gives a schema a narrower type than zod can see. A refinement of the schema checks that type or,
 * in a response, the API reference promises the type.
 */
export const asSchema = <T>(schema: z.core.$ZodType): Schema<T> => schema as Schema<T>;

export const stringInput = (error = expectation('a string')): z.ZodMiniString => z.string(error);

export const nonEmptyString = (what: string): z.ZodMiniString =>
  z.string(expectation(what)).check(z.regex(/[^]/, expectation(what)));

const amountMessage = {
  error({ input }: { readonly input?: unknown }): string {
    const [, decimals] = /^\d+\.(\d{19,})$/.exec(String(input)) ?? [];
    if (decimals !== undefined) return `got ${decimals.length} decimals; expected 18 at most`;
    const hint =
      typeof input === 'string'
        ? 'No comma, sign, exponent or leading zero, at most 30 digits before the point'
        : 'Write it as a string: a number loses digits, as 0.1 + 0.2 is 0.30000000000000004';
    const expected = 'a decimal string above zero, such as "12.50"';
    return expectation({ got: describePadding(input), expected, hint });
  },
};

/** Names white space around a value, because it would be invisible in an error message. */
const describePadding = (input: unknown): string | undefined =>
  typeof input === 'string' && input.trim() !== input
    ? 'white space at the start or end'
    : undefined;

const currencyMessage = {
  error: ({ input }: { readonly input?: unknown }): string =>
    expectation({
      got: describePadding(input),
      expected: 'a currency code of 2 to 12 letters and digits, such as "USDC"',
    }),
};

/** Schema of the code of a currency to send. */
export const currencyCode = (): Schema<string> =>
  z.string(currencyMessage).check(z.regex(currencyPattern, currencyMessage));

/** Schema of a payment's amount: an exact decimal string above zero. See docs/gaps.md, row 9. */
export const positiveAmount = (): Schema<string> =>
  z
    .string(amountMessage)
    .check(z.regex(/^(?=.*[1-9])(0|[1-9]\d{0,29})(\.\d{1,18})?$/, amountMessage));

/** Schema of a whole number. An unsafe `number` is rejected, because digits are lost already. */
export const wholeNumber = (): Schema<Integer> =>
  // zod checks the range of a number inside the union and the type outside. Both need the message.
  z.union([z.int({ error: describeWholeNumber }), z.bigint()], { error: describeWholeNumber });

const describeWholeNumber = (issue: { readonly input?: unknown }): string =>
  isUnsafe(issue.input) ? unsafeRule : expectation('a whole number (number or bigint)');

/** Schema of a whole number that is at least `least`, and that a `number` can hold exactly. */
export const integerFrom = (least: number, error: string): Schema<Integer> =>
  z
    .union([z.int(error), z.bigint()], error)
    .check(z.refine((value) => value >= least && value <= Number.MAX_SAFE_INTEGER, error));

const expectedAddress = /* @__PURE__ */ expectation('an address: "0x" and hexadecimal digits');
/** Schema of an address to send. The length is not documented: docs/gaps.md, row 22. */
export const address = (): Schema<Hex> =>
  asSchema(z.string(expectedAddress).check(z.regex(/^0x[0-9a-fA-F]{1,256}$/, expectedAddress)));

const expectedHexId = /* @__PURE__ */ expectation('a hexadecimal string');
/** Schema of a hexadecimal id, with or without `0x` (not documented: docs/gaps.md, row 22). */
export const hexId = (): Schema<Hex> =>
  asSchema(z.string(expectedHexId).check(z.regex(/^(0x)?[0-9a-fA-F]{1,1024}$/, expectedHexId)));

export const moment = (): Schema<Date | string> =>
  z.custom<Date | string>(isMoment, expectation(expectedMoment));

const expectedLimit = /* @__PURE__ */ expectation('a whole number from 1 to 100');
/** Shape of the paging parameters under `/v0`. For a limit above 100, see docs/gaps.md, row 63. */
export const pageQueryShape = () => ({
  cursor: z.optional(z.nullable(nonEmptyString('the nextCursor of an earlier page'))),
  limit: z.optional(
    z.int(expectedLimit).check(z.refine((limit) => limit >= 1 && limit <= 100, expectedLimit)),
  ),
});

/** The paging parameters of a list: where the list starts, and how many items a page has. */
export interface PageQuery {
  /** Pass the `nextCursor` of a page to get the page after it. Absent or null: the first page. */
  cursor?: string | null | undefined;
  /** Number of items per page, 1 to 100. If you leave it out, the platform uses 50. */
  limit?: number | undefined;
}
