import * as z from 'zod/mini';
import { lazy } from '../internal/objects.ts';
import { anyString, metadata, type Metadata, type Schema } from './primitives.ts';

/** The JSON body that the platform sends with an error status. */
export interface ErrorBody {
  /** Description of the error, for people. */
  readonly error: string;
  /** Code of the error, for programs. The values are not documented. */
  readonly code: string;
  /** Additional facts about the error. */
  readonly details?: Metadata | null | undefined;
}

export const errorBodyShape = () => ({
  error: anyString(),
  code: anyString(),
  details: z.nullish(metadata()),
});
export const errorBodySchema = lazy((): Schema<ErrorBody> => z.looseObject(errorBodyShape()));
