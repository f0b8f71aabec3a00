/**
 * The zod schemas that the client checks with, for forms, queues and tests of your own. Schemas of
 * answers keep unknown fields, schemas of inputs refuse them.
 *
 * @example
 * ```ts
 * import { TransferCreateInputSchema } from 'payments-platform-sdk/schemas';
 *
 * const checked = TransferCreateInputSchema.safeParse({ ...input, amount: '-1' });
 * console.log(checked.error?.issues[0]?.message);
 * ```
 *
 * @module payments-platform-sdk/schemas
 */
export {
  AccountCreateInputSchema,
  AccountCreatedSchema,
  AccountIdSchema,
  AccountListQuerySchema,
  AccountSchema,
  AccountUpdateInputSchema,
} from './account.ts';
export {
  CounterpartyIdSchema,
  CounterpartyListQuerySchema,
  CounterpartySchema,
} from './counterparty.ts';
export {
  EntityCreateInputSchema,
  EntityCreatedSchema,
  EntityIdSchema,
  EntityListQuerySchema,
  EntitySchema,
} from './entity.ts';
export { ErrorBodySchema } from './error-body.ts';
export { IbanIdSchema, IbanListQuerySchema, IbanSchema } from './iban.ts';
export {
  BuiltInstructionSchema,
  ExecutionStateSchema,
  InstructionBuildInputSchema,
  InstructionListInputSchema,
  InstructionSchema,
} from './instruction.ts';
export { pageSchema } from './page.ts';
export { SettingsSchema, SettingsUpdateInputSchema } from './settings.ts';
export { TransactionListInputSchema, TransactionSchema } from './transaction.ts';
export {
  TransferCreateInputSchema,
  TransferCreatedSchema,
  TransferIdSchema,
  TransferListQuerySchema,
  TransferSchema,
} from './transfer.ts';
