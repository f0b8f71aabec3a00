import * as z from 'zod/mini';
import type { Schema } from './primitives.ts';

/** What the platform sends with an error status. */
export interface ErrorBody {
  /** A message for people. */
  error: string;
  /** A code for programs; its values are not documented. */
  code: string;
  /** Additional context. */
  details?: Record<string, unknown> | null | undefined;
}

export const errorBodyShape = {
  error: z.string(),
  code: z.string(),
  details: z.nullish(z.record(z.string(), z.unknown())),
};
/** The body of an error answer; unknown fields stay. */
export const ErrorBodySchema: Schema<ErrorBody> = z.looseObject(errorBodyShape);
