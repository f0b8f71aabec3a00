import * as z from 'zod/mini';
import { issueAt, withHint } from '../internal/issues.ts';
import { lazy } from '../internal/objects.ts';
import { describeReferenceProblem } from '../internal/formats.ts';
import { asSchema, type Schema } from './primitives.ts';
import {
  transferCreateInputSchema,
  type OnceInput,
  type transferCreateInputShape,
} from './transfer.ts';

const error = ({ input }: { readonly input?: unknown }): string =>
  withHint(issueAt('', describeReferenceProblem(input) ?? '', input)).message;
export const onceInputSchema = lazy((): Schema<OnceInput> => {
  const creation: unknown = transferCreateInputSchema();
  return asSchema(
    z.safeExtend(creation as z.ZodMiniObject<ReturnType<typeof transferCreateInputShape>>, {
      description: z
        .string({ error })
        .check(z.refine((text) => describeReferenceProblem(text) === undefined, { error })),
    }),
  );
});
