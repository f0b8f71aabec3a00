/**
 * The schemas that the client itself uses, for your own forms, queues and tests. Nest them in
 * schemas of any zod 4, or pass them to a library that accepts a Standard Schema. Schemas of
 * responses keep unknown fields; schemas of inputs reject them.
 * @example
 * ```ts
 * import { TransferCreateInputSchema } from 'payments-platform-sdk/schemas';
 *
 * const checked = TransferCreateInputSchema.safeParse({ sourceAccountId: 'acc_1', amount: '-1' });
 * console.log(checked.error?.issues[0]?.message);
 * ```
 *
 * @module payments-platform-sdk/schemas
 */
import {
  accountCreateInputSchema,
  accountIdSchema,
  accountSchema,
  accountUpdateInputSchema,
  type Account,
  type AccountCreateInput,
  type AccountUpdateInput,
} from './account.ts';
import { counterpartyIdSchema, counterpartySchema, type Counterparty } from './counterparty.ts';
import {
  entityCreateInputSchema,
  entityIdSchema,
  entitySchema,
  type Entity,
  type EntityCreateInput,
} from './entity.ts';
import { ibanIdSchema, ibanSchema, type Iban } from './iban.ts';
import {
  instructionBuildInputSchema,
  instructionSchema,
  type Instruction,
  type InstructionBuildInput,
} from './instruction.ts';
import { onceInputSchema } from './once-input.ts';
import { asDescribedSchema, asPaymentSchema } from './public-schema.ts';
import type { Schema } from './schema.ts';
import {
  settingsSchema,
  settingsUpdateInputSchema,
  type Settings,
  type SettingsUpdateInput,
} from './settings.ts';
import { transactionSchema, type Transaction } from './transaction.ts';
import {
  transferCreateInputSchema,
  transferIdSchema,
  transferSchema,
  type OnceInput,
  type Transfer,
  type TransferCreateInput,
} from './transfer.ts';

export { pageSchema } from './page.ts';

// If an application exports a type inferred from a schema, the compiler needs these names.
export type { Page } from './page.ts';
export type { Schema } from './schema.ts';
export type {
  Account,
  AccountCreateInput,
  AccountUpdateInput,
  Counterparty,
  Entity,
  EntityCreateInput,
  Iban,
  Instruction,
  InstructionBuildInput,
  OnceInput,
  Settings,
  SettingsUpdateInput,
  Transaction,
  Transfer,
  TransferCreateInput,
};

// Each call is marked as pure, so that a bundler drops the schemas that a program does not use.
/** Schema of the input of `accounts.create`. The schema rejects unknown fields. */
export const AccountCreateInputSchema: Schema<AccountCreateInput> =
  /* @__PURE__ */ asDescribedSchema(accountCreateInputSchema);
/** Schema of an Account id: `acc_`, and nothing that could change the path of a request. */
export const AccountIdSchema: Schema<string> = /* @__PURE__ */ asDescribedSchema(accountIdSchema);
/** Schema of an Account as the platform sends it. The schema keeps unknown fields. */
export const AccountSchema: Schema<Account> = /* @__PURE__ */ asDescribedSchema(accountSchema);
/** Schema of the input of `accounts.update`. The schema rejects unknown fields. */
export const AccountUpdateInputSchema: Schema<AccountUpdateInput> =
  /* @__PURE__ */ asDescribedSchema(accountUpdateInputSchema);
/** Schema of a Counterparty id: `cpty_`, and nothing that could change the path of a request. */
export const CounterpartyIdSchema: Schema<string> =
  /* @__PURE__ */ asDescribedSchema(counterpartyIdSchema);
/** Schema of a Counterparty as the platform sends it. The schema keeps unknown fields. */
export const CounterpartySchema: Schema<Counterparty> =
  /* @__PURE__ */ asDescribedSchema(counterpartySchema);
/** Schema of the input of `entities.create`. The schema rejects unknown fields. */
export const EntityCreateInputSchema: Schema<EntityCreateInput> =
  /* @__PURE__ */ asDescribedSchema(entityCreateInputSchema);
/** Schema of an Entity id: `ent_`, and nothing that could change the path of a request. */
export const EntityIdSchema: Schema<string> = /* @__PURE__ */ asDescribedSchema(entityIdSchema);
/** Schema of an Entity as the platform sends it. The schema keeps unknown fields. */
export const EntitySchema: Schema<Entity> = /* @__PURE__ */ asDescribedSchema(entitySchema);
/** Schema of an IBAN id: `iban_`, and nothing that could change the path of a request. */
export const IbanIdSchema: Schema<string> = /* @__PURE__ */ asDescribedSchema(ibanIdSchema);
/** Schema of an IBAN as the platform sends it. The schema keeps unknown fields. */
export const IbanSchema: Schema<Iban> = /* @__PURE__ */ asDescribedSchema(ibanSchema);
/** Schema of the input of `instructions.build`. The schema accepts unknown action kinds. */
export const InstructionBuildInputSchema: Schema<InstructionBuildInput> =
  /* @__PURE__ */ asDescribedSchema(instructionBuildInputSchema);
/** Schema of an Instruction as the platform sends it. The schema keeps unknown fields. */
export const InstructionSchema: Schema<Instruction> =
  /* @__PURE__ */ asDescribedSchema(instructionSchema);
/** Schema of the Settings as the platform sends them. The schema keeps unknown fields. */
export const SettingsSchema: Schema<Settings> = /* @__PURE__ */ asDescribedSchema(settingsSchema);
/** Schema of the input of `settings.update`. The schema rejects unknown fields. */
export const SettingsUpdateInputSchema: Schema<SettingsUpdateInput> =
  /* @__PURE__ */ asDescribedSchema(settingsUpdateInputSchema);
/** Schema of an on-chain transaction as the platform sends it. The schema keeps unknown fields. */
export const TransactionSchema: Schema<Transaction> =
  /* @__PURE__ */ asDescribedSchema(transactionSchema);
/** Schema of the input of `transfers.create`. The schema rejects unknown fields. */
export const TransferCreateInputSchema: Schema<TransferCreateInput> =
  /* @__PURE__ */ asPaymentSchema(transferCreateInputSchema);
/** Schema of the input of `transfers.createOnce`, which requires a reference as `description`. */
export const OnceInputSchema: Schema<OnceInput> = /* @__PURE__ */ asPaymentSchema(onceInputSchema);
/** Schema of a Transfer id: `txfr_`, and nothing that could change the path of a request. */
export const TransferIdSchema: Schema<string> = /* @__PURE__ */ asDescribedSchema(transferIdSchema);
/** Schema of a Transfer as the platform sends it. The schema keeps unknown fields. */
export const TransferSchema: Schema<Transfer> = /* @__PURE__ */ asDescribedSchema(transferSchema);
