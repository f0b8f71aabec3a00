/**
 * A Platform in memory for tests, demos and CI: no network, no credentials. Start with
 * {@link Sandbox}.
 *
 * @module payments-platform-sdk/sandbox
 */
export { Sandbox } from './sandbox.ts';
export type { SandboxClientOptions } from './sandbox.ts';
export type { SandboxOptions } from './options.ts';
export { SandboxError } from './platform/sandbox-error.ts';
export { seedDemo } from './control/demo.ts';
export { VirtualClock } from './platform/virtual-clock.ts';
export type { SandboxChange } from './platform/changes.ts';
export type { SandboxFault, SandboxFaultRule } from './faults/rule.ts';
export type { SandboxLogEntry } from './log.ts';
export type { SandboxState } from './state.ts';
export type { SandboxWebhookShape } from './webhooks/webhooks.ts';

// These types are exported because a test helper may export the result of a sandbox method, and
// then the compiler needs a name for the type.
export type { Account } from '../schemas/account.ts';
export type { Counterparty } from '../schemas/counterparty.ts';
export type { Entity } from '../schemas/entity.ts';
export type { Iban } from '../schemas/iban.ts';
export type { Instruction } from '../schemas/instruction.ts';
export type { Settings } from '../schemas/settings.ts';
export type { Transaction } from '../schemas/transaction.ts';
export type { Transfer } from '../schemas/transfer.ts';
