/**
 * The client, its errors and every type of the API.
 *
 * Start with {@link PaymentsClient}; its namespaces ({@link Transfers}, {@link Accounts} and so on)
 * hold one method for each operation.
 *
 * @module payments-platform-sdk
 */
export { PaymentsClient } from './client.ts';
export type { Authorize, ProposedPayment } from './calls/veto.ts';
export type { ClientOptions } from './calls/client-options.ts';
export type { QueryValue, RequestOptions } from './calls/options.ts';
export type { Clock } from './calls/time.ts';
export type { CredentialSource } from './calls/credential.ts';
export type {
  CallEvent,
  DriftEvent,
  HookCall,
  Hooks,
  OnceEvent,
  RequestEvent,
  ResponseEvent,
  RetryEvent,
  WaitEvent,
} from './calls/hooks.ts';
export type { HttpAgent } from './transports/agents.ts';
export type { Fetch, GetWithBody } from './transports/transport.ts';
export type { ApiCall, WithResponse } from './calls/pipeline.ts';
export type { OffsetPage, OffsetPager, PagedList, Pager, ToArrayOptions } from './lists/pager.ts';
export type { ResponseSchema, AnyRequest } from './calls/raw-call.ts';
export type { ReconcileOptions } from './search/reconcile.ts';
export type { Reconciliation } from './search/search.ts';
export type { ReconcileAllOptions } from './books/reconcile-all.ts';
export type { ReconciledBooks, ReconciledSummary } from './books/reconciled-books.ts';
export type { WaitForAllOptions } from './books/wait-for-all.ts';
export type {
  ReconciledPayment,
  ReconciledRow,
  ReconciledTotal,
  ReconciledTotals,
  UnexpectedTransfer,
} from './books/rows.ts';
export type { Batch, BatchCounts, BatchResult, BatchSummary } from './once/batch-results.ts';
export { compareAmounts, sumAmounts } from './values/amounts.ts';
export type { BatchOptions, ExpectedTotals } from './once/create-all-once.ts';
export type { TransferCreatedOnce } from './once/create-once.ts';
export type { OnceOptions, DecideOptions } from './once/options.ts';
export type {
  ClaimedPayment,
  ListUndecidedOptions,
  PaymentTransition,
  UndecidedPayment,
  UnreadablePayment,
} from './once/list-undecided.ts';
export type { WaitOptions } from './resources/wait-for.ts';
export type { Accounts } from './resources/accounts.ts';
export type { Counterparties } from './resources/counterparties.ts';
export type { Entities } from './resources/entities.ts';
export type { Ibans } from './resources/ibans.ts';
export type { Instructions } from './resources/instructions.ts';
export type { PlatformSettings } from './resources/settings.ts';
export type { Transactions } from './resources/transactions.ts';
export type { Transfers } from './resources/transfers.ts';

export {
  AbortError,
  ApiError,
  AuthenticationError,
  BadRequestError,
  ConfigurationError,
  ConflictError,
  ConnectionError,
  InvalidResponseError,
  isApiError,
  isOutcomeUnknown,
  isPaymentsError,
  NotFoundError,
  PaginationError,
  PaymentsError,
  paymentsErrorFrom,
  PermissionDeniedError,
  RateLimitError,
  ServerError,
  TimeoutError,
  UnprocessableEntityError,
  PaymentInDoubtError,
  PaymentVetoedError,
  ValidationError,
  WaitError,
} from './errors/errors.ts';
export { httpStatusOf } from './errors/status-for-caller.ts';
export type { JsonValue } from './errors/json.ts';
export type {
  Attempt,
  InvalidResponseReason,
  Issue,
  Outcome,
  ResumePoint,
  TimeoutPhase,
  InDoubtReason,
} from './errors/errors.ts';

export type {
  Account,
  AccountCreated,
  AccountCreateInput,
  AccountListQuery,
  AccountStatus,
  AccountType,
  AccountUpdateInput,
} from './schemas/account.ts';
export type {
  Counterparty,
  CounterpartyListQuery,
  CounterpartyType,
} from './schemas/counterparty.ts';
export type {
  Entity,
  EntityCreated,
  EntityCreateInput,
  EntityListQuery,
  EntityStatus,
  EntityType,
  KycStatus,
  TosStatus,
} from './schemas/entity.ts';
export type { ErrorBody } from './schemas/error-body.ts';
export type { Iban, IbanListQuery, IbanStatus } from './schemas/iban.ts';
export type {
  ActionArguments,
  BuiltInstruction,
  ExecutionState,
  Instruction,
  InstructionBuildInput,
  InstructionListInput,
  RefuelERC20Arguments,
  RefuelERC20Fee,
} from './schemas/instruction.ts';
export type { Page } from './schemas/page.ts';
export type { Hex, Integer, Metadata, PageQuery } from './schemas/primitives.ts';
export type { Chain, Settings, SettingsUpdateInput } from './schemas/settings.ts';
export type { Transaction, TransactionListInput } from './schemas/transaction.ts';
export type {
  Transfer,
  TransferCreated,
  OnceInput,
  OnceTerms,
  TransferCreateInput,
  TransferDirection,
  TransferListQuery,
  TransferStatus,
  TransferType,
} from './schemas/transfer.ts';
export { version } from './version.ts';
