/**
 * A Platform in memory for tests, demos and CI: no network, no credentials. Start with
 * {@link Sandbox}.
 *
 * @module payments-platform-sdk/sandbox
 */
export { Sandbox } from './sandbox.ts';
export type { SandboxClientOptions, SandboxRequest } from './sandbox.ts';
export type { SandboxOptions } from './options.ts';
export { SandboxError } from './platform/sandbox-error.ts';
export type { SandboxProblem } from './platform/sandbox-error.ts';
export { seedDemo } from './control/demo.ts';
export type {
  SandboxAccountInput,
  SandboxAccountUpdate,
  SandboxAccounts,
} from './platform/accounts.ts';
export type { SandboxReply } from './api/responses.ts';
export type {
  SandboxChange,
  SandboxChangeOf,
  SandboxChangeRecords,
  SandboxChangeType,
} from './platform/changes.ts';
export type { SandboxClock } from './platform/clock.ts';
export { VirtualClock } from './platform/virtual-clock.ts';
export type { SandboxCounterparties, SandboxCounterpartyInput } from './platform/counterparties.ts';
export type { SandboxCredentials } from './api/credentials.ts';
export type { SandboxEntities, SandboxEntityUpdate } from './platform/entities.ts';
export type { SandboxFaults } from './faults/faults.ts';
export type { SandboxFault, SandboxFaultMoment, SandboxFaultRule } from './faults/rule.ts';
export type { SandboxIbanInput, SandboxIbans } from './platform/ibans.ts';
export type {
  SandboxExecution,
  SandboxInstructionFromBuilt,
  SandboxInstructionFromInput,
  SandboxInstructionInput,
  SandboxInstructions,
} from './platform/instructions.ts';
export type { SandboxLogEntry } from './log.ts';
export type { SandboxState } from './state.ts';
export type { SandboxRecords } from './platform/state.ts';
export type { SandboxLogOperation, SandboxOperation } from './api/operations.ts';
export type { SandboxSettings } from './platform/settings.ts';
export type { SandboxTransactions } from './platform/transactions.ts';
export type { SandboxTransfers } from './platform/transfers.ts';
export type { SandboxWebhook, SandboxWebhookShape } from './webhooks/webhooks.ts';

// These types are exported because a test helper may export the result of a sandbox method, and
// then the compiler needs a name for the type.
export type { Account } from '../schemas/account.ts';
export type { Counterparty } from '../schemas/counterparty.ts';
export type { Entity } from '../schemas/entity.ts';
export type { Iban } from '../schemas/iban.ts';
export type { BuiltInstruction, Instruction } from '../schemas/instruction.ts';
export type { Settings } from '../schemas/settings.ts';
export type { Transaction } from '../schemas/transaction.ts';
export type { Transfer } from '../schemas/transfer.ts';
