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
