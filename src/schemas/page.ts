import * as z from 'zod/mini';
import { asPublicSchema, type Schema } from './primitives.ts';
import type { Schema as PublicSchema } from './schema.ts';

/** One page of a list under `/v0`. */
export interface Page<T> {
  /** The items of this page. */
  readonly data: readonly T[];
  /** Whether more items follow after this page. */
  readonly hasMore: boolean;
  /** Cursor that you pass to get the next page. Null on the last page. */
  readonly nextCursor: string | null;
}

/** A page as the platform sends it. The list ends if `hasMore` is false, whatever the cursor is. */
export interface PageBody<T> {
  data: T[];
  hasMore: boolean;
  nextCursor?: unknown;
}

/** Schema of a page as the platform sends it, made from the schema of one item. */
export const pageBodySchema = <T>(item: Schema<T>): Schema<PageBody<T>> =>
  z.looseObject({
    data: z.array(item),
    hasMore: z.boolean(),
    nextCursor: z.optional(z.unknown()),
  });

/** Creates the schema of a page from the schema of one item, from this package or any zod 4. */
export const pageSchema = <T>(item: {
  readonly _zod: {
    /** Type of an item that this schema returns. */
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
