import * as z from 'zod/mini';
import { lazy } from '../internal/lazy.ts';
import { anyString, type Schema } from './primitives.ts';

/** What the platform sends with an error status. */
export interface ErrorBody {
  /** A message for people. */
  error: string;
  /** A code for programs; its values are not documented. */
  code: string;
  /** Additional context. */
  details?: Record<string, unknown> | null | undefined;
}

export const errorBodyShape = () => ({
  error: anyString(),
  code: anyString(),
  details: z.nullish(z.record(z.string(), z.unknown())),
});
export const errorBodySchema = lazy((): Schema<ErrorBody> => z.looseObject(errorBodyShape()));
