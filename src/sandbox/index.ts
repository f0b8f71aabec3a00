/**
 * A Platform in memory for tests, demos and CI: no network, no credentials. Start with
 * {@link Sandbox}.
 *
 * @module payments-platform-sdk/sandbox
 */
export { Sandbox } from './sandbox.ts';
export type { SandboxClientOptions, SandboxOptions, SandboxRequest } from './sandbox.ts';
export { SandboxError } from './problem.ts';
export type { SandboxProblem } from './problem.ts';
export { seedDemo } from './demo.ts';
export type { SandboxAccountInput, SandboxAccountUpdate, SandboxAccounts } from './accounts.ts';
export type { SandboxAnswer } from './answer.ts';
export type { SandboxClock } from './clock.ts';
export type { SandboxCounterparties, SandboxCounterpartyInput } from './counterparties.ts';
export type { SandboxCredentials } from './credentials.ts';
export type { SandboxEntities, SandboxEntityUpdate } from './entities.ts';
export type {
  SandboxFault,
  SandboxFaultMoment,
  SandboxFaultRule,
  SandboxFaults,
} from './faults.ts';
export type { SandboxIbanInput, SandboxIbans } from './ibans.ts';
export type {
  SandboxExecution,
  SandboxInstructionFromBuilt,
  SandboxInstructionFromInput,
  SandboxInstructionInput,
  SandboxInstructions,
} from './instructions.ts';
export type { SandboxLogEntry } from './log.ts';
export type { SandboxOperation } from './routes.ts';
export type { SandboxSettings } from './settings.ts';
export type { SandboxTransactions } from './transactions.ts';
export type { SandboxTransfers } from './transfers.ts';

// What the methods give has to have a name where a test's own helpers export it.
export type { Account } from '../schemas/account.ts';
export type { Counterparty } from '../schemas/counterparty.ts';
export type { Entity } from '../schemas/entity.ts';
export type { Iban } from '../schemas/iban.ts';
export type { BuiltInstruction, Instruction } from '../schemas/instruction.ts';
export type { Settings } from '../schemas/settings.ts';
export type { Transaction } from '../schemas/transaction.ts';
export type { Transfer } from '../schemas/transfer.ts';
