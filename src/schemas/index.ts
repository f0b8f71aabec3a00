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
  type AccountId,
  type AccountListQuery,
  type AccountUpdateInput,
} from './account.ts';
import {
  counterpartyIdSchema,
  counterpartyListQuerySchema,
  counterpartySchema,
  type Counterparty,
  type CounterpartyId,
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
  type EntityId,
  type EntityListQuery,
} from './entity.ts';
import { errorBodySchema, type ErrorBody } from './error-body.ts';
import {
  ibanIdSchema,
  ibanListQuerySchema,
  ibanSchema,
  type Iban,
  type IbanId,
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
  type TransferId,
  type TransferListQuery,
} from './transfer.ts';

export { pageSchema } from './page.ts';

// If an application exports a type that it inferred from a schema, the compiler needs its name.
export type { Page } from './page.ts';
export type { Schema, SchemaError, SchemaIssue } from './schema.ts';
export type {
  Account,
  AccountCreateInput,
  AccountCreated,
  AccountId,
  AccountListQuery,
  AccountUpdateInput,
  BuiltInstruction,
  Counterparty,
  CounterpartyId,
  CounterpartyListQuery,
  Entity,
  EntityCreateInput,
  EntityCreated,
  EntityId,
  EntityListQuery,
  ErrorBody,
  ExecutionState,
  Iban,
  IbanId,
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
  TransferId,
  TransferListQuery,
};

// The calls are marked as pure, so that a bundler drops unused schemas.
/** Input for creating an Account; unknown fields are rejected. */
export const AccountCreateInputSchema: Schema<AccountCreateInput> =
  /* @__PURE__ */ asDescribedSchema(accountCreateInputSchema);
/** Response to the creation of an Account; unknown fields stay. */
export const AccountCreatedSchema: Schema<AccountCreated> =
  /* @__PURE__ */ asDescribedSchema(accountCreatedSchema);
/** The id of an Account: `acc_`, and no character that could change the path of a request. */
export const AccountIdSchema: Schema<AccountId> =
  /* @__PURE__ */ asDescribedSchema(accountIdSchema);
/** The query of a list of Accounts; unknown parameters are rejected. */
export const AccountListQuerySchema: Schema<AccountListQuery> =
  /* @__PURE__ */ asDescribedSchema(accountListQuerySchema);
/** An Account as the platform sends it; unknown fields stay. */
export const AccountSchema: Schema<Account> = /* @__PURE__ */ asDescribedSchema(accountSchema);
/** The fields of an Account to change; unknown fields are rejected. */
export const AccountUpdateInputSchema: Schema<AccountUpdateInput> =
  /* @__PURE__ */ asDescribedSchema(accountUpdateInputSchema);
/** The id of a Counterparty: `cpty_`, and no character that could change the path of a request. */
export const CounterpartyIdSchema: Schema<CounterpartyId> =
  /* @__PURE__ */ asDescribedSchema(counterpartyIdSchema);
/** The query of a list of Counterparties; unknown parameters are rejected. */
export const CounterpartyListQuerySchema: Schema<CounterpartyListQuery> =
  /* @__PURE__ */ asDescribedSchema(counterpartyListQuerySchema);
/** A Counterparty as the platform sends it; unknown fields stay. */
export const CounterpartySchema: Schema<Counterparty> =
  /* @__PURE__ */ asDescribedSchema(counterpartySchema);
/** Input for creating an Entity; unknown fields are rejected. */
export const EntityCreateInputSchema: Schema<EntityCreateInput> =
  /* @__PURE__ */ asDescribedSchema(entityCreateInputSchema);
/** Response to the creation of an Entity; unknown fields stay. */
export const EntityCreatedSchema: Schema<EntityCreated> =
  /* @__PURE__ */ asDescribedSchema(entityCreatedSchema);
/** The id of an Entity: `ent_`, and no character that could change the path of a request. */
export const EntityIdSchema: Schema<EntityId> = /* @__PURE__ */ asDescribedSchema(entityIdSchema);
/** The query of a list of Entities; unknown parameters are rejected. */
export const EntityListQuerySchema: Schema<EntityListQuery> =
  /* @__PURE__ */ asDescribedSchema(entityListQuerySchema);
/** An Entity as the platform sends it; unknown fields stay. */
export const EntitySchema: Schema<Entity> = /* @__PURE__ */ asDescribedSchema(entitySchema);
/** The body of an error response; unknown fields stay. */
export const ErrorBodySchema: Schema<ErrorBody> =
  /* @__PURE__ */ asDescribedSchema(errorBodySchema);
/** The id of an IBAN: `iban_`, and no character that could change the path of a request. */
export const IbanIdSchema: Schema<IbanId> = /* @__PURE__ */ asDescribedSchema(ibanIdSchema);
/** The query of a list of IBANs; unknown parameters are rejected. */
export const IbanListQuerySchema: Schema<IbanListQuery> =
  /* @__PURE__ */ asDescribedSchema(ibanListQuerySchema);
/** An IBAN as the platform sends it; unknown fields stay. */
export const IbanSchema: Schema<Iban> = /* @__PURE__ */ asDescribedSchema(ibanSchema);
/** A built instruction payload as the platform sends it; unknown fields stay. */
export const BuiltInstructionSchema: Schema<BuiltInstruction> =
  /* @__PURE__ */ asDescribedSchema(builtInstructionSchema);
/** How often an Instruction has run; unknown fields stay. */
export const ExecutionStateSchema: Schema<ExecutionState> =
  /* @__PURE__ */ asDescribedSchema(executionStateSchema);
/** Input for building an instruction payload; unknown action kinds pass through. */
export const InstructionBuildInputSchema: Schema<InstructionBuildInput> =
  /* @__PURE__ */ asDescribedSchema(instructionBuildInputSchema);
/** Which Instructions to list; unknown fields are rejected. */
export const InstructionListInputSchema: Schema<InstructionListInput> =
  /* @__PURE__ */ asDescribedSchema(instructionListInputSchema);
/** An Instruction as the platform sends it; unknown fields stay. */
export const InstructionSchema: Schema<Instruction> =
  /* @__PURE__ */ asDescribedSchema(instructionSchema);
/** The Settings as the platform sends them; unknown fields stay. */
export const SettingsSchema: Schema<Settings> = /* @__PURE__ */ asDescribedSchema(settingsSchema);
/** The Settings to change; unknown fields are rejected. */
export const SettingsUpdateInputSchema: Schema<SettingsUpdateInput> =
  /* @__PURE__ */ asDescribedSchema(settingsUpdateInputSchema);
/** Which transactions to list; unknown fields are rejected. */
export const TransactionListInputSchema: Schema<TransactionListInput> =
  /* @__PURE__ */ asDescribedSchema(transactionListInputSchema);
/** A transaction record as the platform sends it; unknown fields stay. */
export const TransactionSchema: Schema<Transaction> =
  /* @__PURE__ */ asDescribedSchema(transactionSchema);
/** Input for sending money: an exact amount and one destination; unknown fields are rejected. */
export const TransferCreateInputSchema: Schema<TransferCreateInput> =
  /* @__PURE__ */ asPaymentSchema(transferCreateInputSchema);
/** Input for `createOnce`: a `TransferCreateInput` with its reference as `description`. */
export const OnceInputSchema: Schema<OnceInput> = /* @__PURE__ */ asPaymentSchema(onceInputSchema);
/** Response to the creation of a Transfer; unknown fields stay. */
export const TransferCreatedSchema: Schema<TransferCreated> =
  /* @__PURE__ */ asDescribedSchema(transferCreatedSchema);
/** The id of a Transfer: `txfr_`, and no character that could change the path of a request. */
export const TransferIdSchema: Schema<TransferId> =
  /* @__PURE__ */ asDescribedSchema(transferIdSchema);
/** The query of a list of Transfers; unknown parameters are rejected. */
export const TransferListQuerySchema: Schema<TransferListQuery> =
  /* @__PURE__ */ asDescribedSchema(transferListQuerySchema);
/** A Transfer as the platform sends it; unknown fields stay. */
export const TransferSchema: Schema<Transfer> = /* @__PURE__ */ asDescribedSchema(transferSchema);
