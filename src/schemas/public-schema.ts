import * as z from 'zod/mini';
import { asPublicSchema, idSchemas, type Schema } from './primitives.ts';
import type { Schema as PublicSchema } from './schema.ts';

/**
 * Adds the patterns of ids, because `z.toJSONSchema` cannot read refinements. Early versions of zod
 * 4 read the `bag` of the schema without its checks, later versions the `bag` of the schema itself.
 */
function describeIds(): void {
  for (const [prefix, schema] of idSchemas) {
    const pattern = new RegExp(`^${prefix}[^\\s/\\\\?#%]{1,${256 - prefix.length}}$`);
    const { _zod: internals } = schema;
    const { _zod: uncheckedInternals } = internals.parent ?? schema;
    for (const { bag } of [internals, uncheckedInternals]) bag['patterns'] = new Set([pattern]);
  }
}

/** Makes a schema public. The JSON Schema of the public schema keeps the prefixes of ids. */
/* @__NO_SIDE_EFFECTS__ */
export function asDescribedSchema<T>(schema: () => Schema<T>): PublicSchema<T> {
  const publicSchema = asPublicSchema(schema);
  describeIds();
  return publicSchema;
}

/** Makes the schema of a payment public. The JSON Schema requires exactly one destination. */
/* @__NO_SIDE_EFFECTS__ */
export function asPaymentSchema<T>(schema: () => Schema<T>): PublicSchema<T> {
  // All copies of zod in a process share this registry, so the JSON Schema of each requires
  // one destination: docs/decisions/where-the-time-goes.md.
  z.globalRegistry.add(schema(), {
    oneOf: [{ required: ['destinationAccountId'] }, { required: ['counterpartyId'] }],
  });
  return asDescribedSchema(schema);
}
