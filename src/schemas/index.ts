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
  accountCreatedSchema,
  accountCreateInputSchema,
  accountIdSchema,
  accountListQuerySchema,
  accountSchema,
  accountUpdateInputSchema,
  type Account,
  type AccountCreated,
  type AccountCreateInput,
  type AccountListQuery,
  type AccountUpdateInput,
} from './account.ts';
import {
  counterpartyIdSchema,
  counterpartyListQuerySchema,
  counterpartySchema,
  type Counterparty,
  type CounterpartyListQuery,
} from './counterparty.ts';
import {
  entityCreatedSchema,
  entityCreateInputSchema,
  entityIdSchema,
  entityListQuerySchema,
  entitySchema,
  type Entity,
  type EntityCreated,
  type EntityCreateInput,
  type EntityListQuery,
} from './entity.ts';
import { errorBodySchema, type ErrorBody } from './error-body.ts';
import {
  ibanIdSchema,
  ibanListQuerySchema,
  ibanSchema,
  type Iban,
  type IbanListQuery,
} from './iban.ts';
import {
  builtInstructionSchema,
  executionStateSchema,
  instructionBuildInputSchema,
  instructionListInputSchema,
  instructionSchema,
  type BuiltInstruction,
  type ExecutionState,
  type Instruction,
  type InstructionBuildInput,
  type InstructionListInput,
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
import {
  transactionListInputSchema,
  transactionSchema,
  type Transaction,
  type TransactionListInput,
} from './transaction.ts';
import {
  transferCreatedSchema,
  transferCreateInputSchema,
  transferIdSchema,
  transferListQuerySchema,
  transferSchema,
  type OnceInput,
  type Transfer,
  type TransferCreated,
  type TransferCreateInput,
  type TransferListQuery,
} from './transfer.ts';

export { pageSchema } from './page.ts';

// If an application exports a type inferred from a schema, the compiler needs these names.
export type { Page } from './page.ts';
export type { Schema, SchemaError, SchemaIssue } from './schema.ts';
export type {
  Account,
  AccountCreateInput,
  AccountCreated,
  AccountListQuery,
  AccountUpdateInput,
  BuiltInstruction,
  Counterparty,
  CounterpartyListQuery,
  Entity,
  EntityCreateInput,
  EntityCreated,
  EntityListQuery,
  ErrorBody,
  ExecutionState,
  Iban,
  IbanListQuery,
  Instruction,
  InstructionBuildInput,
  InstructionListInput,
  OnceInput,
  Settings,
  SettingsUpdateInput,
  Transaction,
  TransactionListInput,
  Transfer,
  TransferCreateInput,
  TransferCreated,
  TransferListQuery,
};

// Each call is marked as pure, so that a bundler drops the schemas that a program does not use.
/** Schema of the input of `accounts.create`. The schema rejects unknown fields. */
export const AccountCreateInputSchema: Schema<AccountCreateInput> =
  /* @__PURE__ */ asDescribedSchema(accountCreateInputSchema);
/** Schema of the response to `accounts.create`. The schema keeps unknown fields. */
export const AccountCreatedSchema: Schema<AccountCreated> =
  /* @__PURE__ */ asDescribedSchema(accountCreatedSchema);
/** Schema of an Account id: `acc_`, and nothing that could change the path of a request. */
export const AccountIdSchema: Schema<string> = /* @__PURE__ */ asDescribedSchema(accountIdSchema);
/** Schema of the query of `accounts.list`. The schema rejects unknown parameters. */
export const AccountListQuerySchema: Schema<AccountListQuery> =
  /* @__PURE__ */ asDescribedSchema(accountListQuerySchema);
/** Schema of an Account as the platform sends it. The schema keeps unknown fields. */
export const AccountSchema: Schema<Account> = /* @__PURE__ */ asDescribedSchema(accountSchema);
/** Schema of the input of `accounts.update`. The schema rejects unknown fields. */
export const AccountUpdateInputSchema: Schema<AccountUpdateInput> =
  /* @__PURE__ */ asDescribedSchema(accountUpdateInputSchema);
/** Schema of a Counterparty id: `cpty_`, and nothing that could change the path of a request. */
export const CounterpartyIdSchema: Schema<string> =
  /* @__PURE__ */ asDescribedSchema(counterpartyIdSchema);
/** Schema of the query of `counterparties.list`. The schema rejects unknown parameters. */
export const CounterpartyListQuerySchema: Schema<CounterpartyListQuery> =
  /* @__PURE__ */ asDescribedSchema(counterpartyListQuerySchema);
/** Schema of a Counterparty as the platform sends it. The schema keeps unknown fields. */
export const CounterpartySchema: Schema<Counterparty> =
  /* @__PURE__ */ asDescribedSchema(counterpartySchema);
/** Schema of the input of `entities.create`. The schema rejects unknown fields. */
export const EntityCreateInputSchema: Schema<EntityCreateInput> =
  /* @__PURE__ */ asDescribedSchema(entityCreateInputSchema);
/** Schema of the response to `entities.create`. The schema keeps unknown fields. */
export const EntityCreatedSchema: Schema<EntityCreated> =
  /* @__PURE__ */ asDescribedSchema(entityCreatedSchema);
/** Schema of an Entity id: `ent_`, and nothing that could change the path of a request. */
export const EntityIdSchema: Schema<string> = /* @__PURE__ */ asDescribedSchema(entityIdSchema);
/** Schema of the query of `entities.list`. The schema rejects unknown parameters. */
export const EntityListQuerySchema: Schema<EntityListQuery> =
  /* @__PURE__ */ asDescribedSchema(entityListQuerySchema);
/** Schema of an Entity as the platform sends it. The schema keeps unknown fields. */
export const EntitySchema: Schema<Entity> = /* @__PURE__ */ asDescribedSchema(entitySchema);
/** Schema of the body of an error response. The schema keeps unknown fields. */
export const ErrorBodySchema: Schema<ErrorBody> =
  /* @__PURE__ */ asDescribedSchema(errorBodySchema);
/** Schema of an IBAN id: `iban_`, and nothing that could change the path of a request. */
export const IbanIdSchema: Schema<string> = /* @__PURE__ */ asDescribedSchema(ibanIdSchema);
/** Schema of the query of `ibans.list`. The schema rejects unknown parameters. */
export const IbanListQuerySchema: Schema<IbanListQuery> =
  /* @__PURE__ */ asDescribedSchema(ibanListQuerySchema);
/** Schema of an IBAN as the platform sends it. The schema keeps unknown fields. */
export const IbanSchema: Schema<Iban> = /* @__PURE__ */ asDescribedSchema(ibanSchema);
/** Schema of the response to `instructions.build`. The schema keeps unknown fields. */
export const BuiltInstructionSchema: Schema<BuiltInstruction> =
  /* @__PURE__ */ asDescribedSchema(builtInstructionSchema);
/** Schema of the `executionState` of an Instruction. The schema keeps unknown fields. */
export const ExecutionStateSchema: Schema<ExecutionState> =
  /* @__PURE__ */ asDescribedSchema(executionStateSchema);
/** Schema of the input of `instructions.build`. The schema accepts unknown action kinds. */
export const InstructionBuildInputSchema: Schema<InstructionBuildInput> =
  /* @__PURE__ */ asDescribedSchema(instructionBuildInputSchema);
/** Schema of the input of `instructions.list`. The schema rejects unknown fields. */
export const InstructionListInputSchema: Schema<InstructionListInput> =
  /* @__PURE__ */ asDescribedSchema(instructionListInputSchema);
/** Schema of an Instruction as the platform sends it. The schema keeps unknown fields. */
export const InstructionSchema: Schema<Instruction> =
  /* @__PURE__ */ asDescribedSchema(instructionSchema);
/** Schema of the Settings as the platform sends them. The schema keeps unknown fields. */
export const SettingsSchema: Schema<Settings> = /* @__PURE__ */ asDescribedSchema(settingsSchema);
/** Schema of the input of `settings.update`. The schema rejects unknown fields. */
export const SettingsUpdateInputSchema: Schema<SettingsUpdateInput> =
  /* @__PURE__ */ asDescribedSchema(settingsUpdateInputSchema);
/** Schema of the input of `transactions.list`. The schema rejects unknown fields. */
export const TransactionListInputSchema: Schema<TransactionListInput> =
  /* @__PURE__ */ asDescribedSchema(transactionListInputSchema);
/** Schema of an on-chain transaction as the platform sends it. The schema keeps unknown fields. */
export const TransactionSchema: Schema<Transaction> =
  /* @__PURE__ */ asDescribedSchema(transactionSchema);
/** Schema of the input of `transfers.create`. The schema rejects unknown fields. */
export const TransferCreateInputSchema: Schema<TransferCreateInput> =
  /* @__PURE__ */ asPaymentSchema(transferCreateInputSchema);
/** Schema of the input of `transfers.createOnce`, which requires a reference as `description`. */
export const OnceInputSchema: Schema<OnceInput> = /* @__PURE__ */ asPaymentSchema(onceInputSchema);
/** Schema of the response to `transfers.create`. The schema keeps unknown fields. */
export const TransferCreatedSchema: Schema<TransferCreated> =
  /* @__PURE__ */ asDescribedSchema(transferCreatedSchema);
/** Schema of a Transfer id: `txfr_`, and nothing that could change the path of a request. */
export const TransferIdSchema: Schema<string> = /* @__PURE__ */ asDescribedSchema(transferIdSchema);
/** Schema of the query of `transfers.list`. The schema rejects unknown parameters. */
export const TransferListQuerySchema: Schema<TransferListQuery> =
  /* @__PURE__ */ asDescribedSchema(transferListQuerySchema);
/** Schema of a Transfer as the platform sends it. The schema keeps unknown fields. */
export const TransferSchema: Schema<Transfer> = /* @__PURE__ */ asDescribedSchema(transferSchema);
