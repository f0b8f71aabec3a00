/**
 * The client, its errors and the types that programs name.
 *
 * Start with {@link PaymentsClient}; its namespaces (`transfers`, `accounts` and so on) hold one
 * method for each operation. A type without a name to import is the type of a field or a parameter:
 * `PaymentsClient['transfers']`, `Account['status']`.
 *
 * @module payments-platform-sdk
 */
export { PaymentsClient } from './client.ts';
export type { SimilarPayment } from './calls/call.ts';
export type { Authorize, ProposedPayment } from './calls/veto.ts';
export type { ClientOptions } from './calls/client-options.ts';
export type { RequestOptions } from './calls/options.ts';
export type { Clock } from './calls/time.ts';
export type { CredentialSource } from './calls/credential.ts';
export type { CallEvent, Hooks } from './calls/hooks.ts';
export type { ApiCall } from './calls/pipeline.ts';
export type { OffsetPage, OffsetPager, Pager } from './lists/pager.ts';
export type { AnyRequest } from './calls/raw-call.ts';
export type { ReconcileOptions } from './search/reconcile.ts';
export type { Reconciliation } from './search/search.ts';
export type { ReconciledBooks } from './books/reconciled-books.ts';
export type { ReconciledPayment, ReconciledRow } from './books/rows.ts';
export type { Batch, BatchCounts, BatchResult, BatchSummary } from './once/batch-results.ts';
export { compareAmounts, sumAmounts } from './values/amounts.ts';
export type { BatchOptions } from './once/create-all-once.ts';
export type { TransferCreatedOnce } from './once/create-once.ts';
export type { OnceOptions, DecideOptions } from './once/options.ts';
export type { ListUndecidedOptions, UndecidedPayment } from './once/list-undecided.ts';
export type { WaitOptions } from './resources/wait-for.ts';

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
export type { Attempt, Issue, Outcome } from './errors/errors.ts';

export type {
  Account,
  AccountCreated,
  AccountCreateInput,
  AccountUpdateInput,
} from './schemas/account.ts';
export type { Counterparty } from './schemas/counterparty.ts';
export type { Entity, EntityCreated, EntityCreateInput } from './schemas/entity.ts';
export type { Iban } from './schemas/iban.ts';
export type {
  BuiltInstruction,
  Instruction,
  InstructionBuildInput,
} from './schemas/instruction.ts';
export type { Page } from './schemas/page.ts';
export type { Integer } from './schemas/primitives.ts';
export type { Settings, SettingsUpdateInput } from './schemas/settings.ts';
export type { Transaction, TransactionListInput } from './schemas/transaction.ts';
export type {
  Transfer,
  TransferCreated,
  OnceInput,
  OnceTerms,
  TransferCreateInput,
  TransferListQuery,
  TransferStatus,
} from './schemas/transfer.ts';
export { version } from './version.ts';
