import { expectation } from '../internal/issues.ts';
import * as z from 'zod/mini';
import { isPlainObject, isUnsafe, unsafeRule } from '../internal/guards.ts';
import { idProblem, isId, type IdPrefix } from './ids.ts';
import type { Schema as PublicSchema } from './schema.ts';

/** A whole number: a `number` when JavaScript can hold it exactly, otherwise a `bigint`. */
export type Integer = number | bigint; // How large they get: docs/gaps.md, row 34

/** Hexadecimal text prefixed with `0x`, as in on-chain libraries. */
export type Hex = `0x${string}`;

/** The documented values, and any other string that the platform may send one day. */
export type OpenEnum<Known extends string> = Known | (string & {}); // docs/gaps.md, row 33

/** Free-form key/value data. */
export type Metadata = Record<string, unknown>;

/** A schema that accepts and returns a `T`; schema.ts has the type that programs see. */
export type Schema<T> = z.ZodMiniType<T>;

/**
 * Makes a schema when it is first asked for. Making all of them takes as long as loading the rest of
 * the package, and a process needs a few: docs/decisions/where-the-time-goes.md. Bundlers are told
 * that this alone has no effect, so that they drop what is not used.
 */
/* @__NO_SIDE_EFFECTS__ */
export function lazy<T>(make: () => Schema<T>): () => Schema<T> {
  let made: Schema<T> | undefined;
  return () => (made ??= make());
}

/** A schema for programs, which have another zod or none: the type names no zod, the value is one. */
/* @__NO_SIDE_EFFECTS__ */
export function asPublicSchema<T>(schema: () => Schema<T>): PublicSchema<T> {
  return schema() as unknown as PublicSchema<T>;
}

/**
 * Goes along with every check of the client's own, which has its own words: an application's
 * `z.config` reaches every zod of a process, and may throw. `describeMismatch` in arguments.ts makes the message.
 */
export const withoutMessage = { error: (): string => 'Invalid input' };

/*
 * Answers: open (docs/gaps.md, rows 30 and 31). A format is not checked on the way in: every string is
 * accepted, and only the type says more. So one schema serves for all, and start-up makes it once.
 */
const sharedString = lazy(() => z.string());
export const anyString = <T extends string = string>(): Schema<T> => asSchema(sharedString());
export const integer = lazy((): Schema<Integer> => z.union([z.int(), z.bigint()]));
export const metadata = lazy((): Schema<Metadata> => z.record(z.string(), z.unknown()));

/*
 * Requests: closed (docs/gaps.md, row 23). Each schema carries its own sentence, because zod/mini
 * ships none and because the sentence has to say what to do.
 */

/** An object to send: whatever the document does not name is refused. */
export const closed = <Shape extends z.core.$ZodShape>(
  shape: Shape,
): z.ZodMiniObject<Shape, z.core.$strict> =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `unknown field: ${issue.keys.join(', ')}; check the spelling`
        : undefined,
  });

/** Data to send, as it is: what JSON would lose of it, `refuseLoss` refuses. */
export const metadataInput = (): Schema<Metadata> =>
  z.custom<Metadata>(isPlainObject, expectation('an object of keys and values'));

/** An id of one kind to send. */
/* @__NO_SIDE_EFFECTS__ */
export function idOf<Id extends string>(prefix: IdPrefix): () => Schema<Id> {
  const error = ({ input }: { readonly input?: unknown }) => idProblem(prefix, input);
  return lazy(() =>
    asSchema(z.string({ error }).check(z.refine((id) => isId(prefix, id), { error }))),
  );
}

/** A membership test for the documented values of an open enum. */
/* @__NO_SIDE_EFFECTS__ */
export function known<Known extends string>(
  values: readonly Known[],
): (value: unknown) => value is Known {
  return (value): value is Known => (values as readonly unknown[]).includes(value);
}

/**
 * Gives a schema a narrower type than zod can see: one that its refinement has established or, in an
 * answer, one that the document promises and nobody checks.
 */
export const asSchema = <T>(schema: z.core.$ZodType): Schema<T> => schema as Schema<T>;

export const text = (error = expectation('a string')): z.ZodMiniString => z.string(error);

export const filledText = (what: string): z.ZodMiniString =>
  z.string(expectation(what)).check(z.regex(/[^]/, expectation(what)));

const amountRule = {
  error({ input }: { readonly input?: unknown }): string {
    const [, decimals] = /^\d+\.(\d{19,})$/.exec(String(input)) ?? [];
    return decimals === undefined
      ? expectation({
          expected: 'a decimal string above zero, such as "12.50"',
          hint:
            typeof input === 'string'
              ? 'No comma, sign, exponent or leading zero, at most 30 digits before the point'
              : 'Write it as a string: a number loses digits, as 0.1 + 0.2 is 0.30000000000000004',
        })
      : `got ${decimals.length} decimals; expected 18 at most`;
  },
};

/** An amount of money to send: an exact decimal string above zero. See docs/gaps.md, row 9. */
export const positiveAmount = (): z.ZodMiniString =>
  z.string(amountRule).check(z.regex(/^(?=.*[1-9])(0|[1-9]\d{0,29})(\.\d{1,18})?$/, amountRule));

/** A whole number to send. An unsafe `number` has lost digits already, so it is refused. */
export const wholeNumber = (): Schema<Integer> =>
  // The range is checked inside the union, the type outside of it: both need the sentence.
  z.union([z.int({ error: wholeNumberRule }), z.bigint()], { error: wholeNumberRule });

const wholeNumberRule = (issue: { readonly input?: unknown }): string =>
  isUnsafe(issue.input) ? unsafeRule : expectation('a whole number (number or bigint)');

/** How many, to send: no less than the least, and exact as a `number`. */
export const countFrom = (least: number, error: string): Schema<Integer> =>
  z
    .union([z.int(error), z.bigint()], error)
    .check(z.refine((value) => value >= least && value <= Number.MAX_SAFE_INTEGER, error));

const addressRule = /* @__PURE__ */ expectation('an address: "0x" and hexadecimal digits');
/** An address to send; the document does not say how long one is: docs/gaps.md, row 22. */
export const address = (): Schema<Hex> =>
  asSchema(z.string(addressRule).check(z.regex(/^0x[0-9a-fA-F]{1,256}$/, addressRule)));

const hexIdRule = /* @__PURE__ */ expectation('hexadecimal text');
/** An id to send that is hexadecimal; whether with a `0x` is not documented: docs/gaps.md, row 22. */
export const hexId = (): Schema<Hex> =>
  asSchema(z.string(hexIdRule).check(z.regex(/^(0x)?[0-9a-fA-F]{1,1024}$/, hexIdRule)));

export const momentRule = 'a valid Date or string such as "2026-01-31T12:00:00Z"';
/** Date.parse makes 2 March of 30 February. */
const isOnCalendar = (dateTime: string): boolean => {
  const day = dateTime.slice(0, 10);
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
};

export const isMoment = (value: unknown): boolean =>
  typeof value === 'string'
    ? /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/.test(value) &&
      !Number.isNaN(Date.parse(value)) &&
      isOnCalendar(value)
    : value instanceof Date && !Number.isNaN(value.getTime());

export const moment = (): Schema<Date | string> =>
  z.custom<Date | string>(isMoment, expectation(momentRule));

const limitRule = /* @__PURE__ */ expectation('a whole number from 1 to 100');
/** The two paging parameters that every list of the versioned API takes. */
export const pageQueryShape = () => ({
  cursor: z.optional(filledText('the nextCursor of an earlier page')),
  limit: z.optional(
    z.int(limitRule).check(z.refine((limit) => limit >= 1 && limit <= 100, limitRule)),
  ),
});

/** Which page of a list to start with, and how large the pages are. */
export interface PageQuery {
  /** Start after this point: the `nextCursor` of an earlier page. Default: the first page. */
  cursor?: string | undefined;
  /** Items per page, 1 to 100. Not sent by default; the platform then uses 50. */
  limit?: number | undefined;
}
