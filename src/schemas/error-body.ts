import * as z from 'zod/mini';
import { lazy } from '../internal/objects.ts';
import { anyString, metadata, type Metadata, type Schema } from './primitives.ts';

/** What the platform sends with an error status. */
export interface ErrorBody {
  /** A message for people. */
  readonly error: string;
  /** A code for programs; its values are not documented. */
  readonly code: string;
  /** Additional context. */
  readonly details?: Metadata | null | undefined;
}

export const errorBodyShape = () => ({
  error: anyString(),
  code: anyString(),
  details: z.nullish(metadata()),
});
export const errorBodySchema = lazy((): Schema<ErrorBody> => z.looseObject(errorBodyShape()));
