import * as z from 'zod/mini';
import type { IdPrefix } from '../internal/formats.ts';
import { lazy } from '../internal/objects.ts';
import { accountIdSchema } from './account.ts';
import { counterpartyIdSchema } from './counterparty.ts';
import { entityIdSchema } from './entity.ts';
import { ibanIdSchema } from './iban.ts';
import { asPublicSchema, type Schema } from './primitives.ts';
import type { Schema as PublicSchema } from './schema.ts';
import { transferIdSchema } from './transfer.ts';

/*
 * `z.toJSONSchema` cannot read refinements, because they are functions. This file adds what JSON
 * Schema can say of them. The client does not load this file, because it needs no JSON Schema.
 */
const idSchemas: Readonly<Record<IdPrefix, () => Schema<string>>> = {
  acc_: accountIdSchema,
  cpty_: counterpartyIdSchema,
  ent_: entityIdSchema,
  iban_: ibanIdSchema,
  txfr_: transferIdSchema,
};

/**
 * Adds the patterns of ids for `z.toJSONSchema`. Early versions of zod 4 read the `bag` of a schema
 * without its checks, later versions the `bag` of the schema itself.
 */
const describeIds = lazy(() => {
  for (const [prefix, schema] of Object.entries(idSchemas)) {
    const pattern = new RegExp(`^${prefix}[^\\s/\\\\?#%]{1,${256 - prefix.length}}$`);
    const { _zod: internals } = schema();
    const { _zod: uncheckedInternals } = internals.parent ?? schema();
    for (const { bag } of [internals, uncheckedInternals]) bag['patterns'] = new Set([pattern]);
  }
  return true;
});

/** Makes a schema public. The JSON Schema of the public schema keeps the prefixes of ids. */
/* @__NO_SIDE_EFFECTS__ */
export function asDescribedSchema<T>(schema: () => Schema<T>): PublicSchema<T> {
  describeIds();
  return asPublicSchema(schema);
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
