import * as z from 'zod/mini';
import { expectation } from '../internal/issues.ts';
import { lazy } from '../internal/objects.ts';
import { referencePattern, referenceProblem } from '../internal/formats.ts';
import { asSchema, type Schema } from './primitives.ts';
import {
  transferCreateInputSchema,
  type OnceInput,
  type transferCreateInputShape,
} from './transfer.ts';

const expectedReference = /* @__PURE__ */ expectation(referenceProblem);
export const onceInputSchema = lazy((): Schema<OnceInput> => {
  const creation: unknown = transferCreateInputSchema();
  return asSchema(
    z.safeExtend(creation as z.ZodMiniObject<ReturnType<typeof transferCreateInputShape>>, {
      description: z.string(expectedReference).check(z.regex(referencePattern, expectedReference)),
    }),
  );
});
