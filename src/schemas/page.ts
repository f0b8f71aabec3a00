import * as z from 'zod/mini';
import { asPublicSchema, type Schema } from './primitives.ts';
import type { Schema as PublicSchema } from './schema.ts';

/** One page of a list of the versioned API. */
export interface Page<T> {
  /** The items of this page. */
  readonly data: readonly T[];
  /** Whether more items follow this page. */
  readonly hasMore: boolean;
  /** Where the next page starts; null when there is none. */
  readonly nextCursor: string | null;
}

/** A page as it arrives. The pager checks `nextCursor`: a missing one does not end the list. */
export interface PageBody<T> {
  data: T[];
  hasMore: boolean;
  nextCursor?: unknown;
}

/** The page envelope around a schema of one item, as the platform sends it. */
export const pageBodySchema = <T>(item: Schema<T>): Schema<PageBody<T>> =>
  z.looseObject({
    data: z.array(item),
    hasMore: z.boolean(),
    nextCursor: z.optional(z.unknown()),
  });

/** Creates the schema of a page from the schema of an item: one of these, or any of zod 4. */
export const pageSchema = <T>(item: {
  readonly _zod: {
    /** What comes out. */
    readonly output: T;
  };
}): PublicSchema<Page<T>> =>
  asPublicSchema(() =>
    z.looseObject({
      data: z.array(item as z.core.$ZodType<T>),
      hasMore: z.boolean(),
      nextCursor: z.nullable(z.string()),
    }),
  );
