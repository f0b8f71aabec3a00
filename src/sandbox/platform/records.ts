import type { Account } from '../../schemas/account.ts';
import type { Counterparty } from '../../schemas/counterparty.ts';
import type { Entity } from '../../schemas/entity.ts';
import type { Iban } from '../../schemas/iban.ts';
import type { Instruction } from '../../schemas/instruction.ts';
import type { Hex, Integer } from '../../schemas/primitives.ts';
import type { Settings } from '../../schemas/settings.ts';
import type { Transaction } from '../../schemas/transaction.ts';
import type { Transfer } from '../../schemas/transfer.ts';

/** The state of a sandbox without its fault rules, as JSON. */
export interface SandboxRecords {
  /** Version of the state's format. A later format will have another number. */
  version: 1;
  /** Every Entity of the sandbox. */
  entities: Entity[];
  /** Every Account. An import computes locked and pending balances from the open Transfers. */
  accounts: Account[];
  /** Every Transfer of the sandbox. */
  transfers: Transfer[];
  /** Every Counterparty that was not deleted. */
  counterparties: Counterparty[];
  /** Every IBAN that was not deleted. */
  ibans: Iban[];
  /** IBANs that were deleted: deposits to them are rejected. */
  closedIbans: Iban[];
  /** Every Instruction with its address and its chain. */
  instructions: {
    /** The address that the Instruction belongs to. */
    address: Hex;
    /** The number of the chain that the Instruction runs on. */
    chainId: Integer;
    /** The Instruction as GET /instructions/all returns it. */
    instruction: Instruction;
  }[];
  /** Every transaction record of every Instruction, oldest first. */
  transactions: Transaction[];
  /** The Settings. Default: those of a new Platform. */
  settings?: Settings | undefined;
  /** How far the sandbox's clock was advanced, in milliseconds. */
  clockOffsetMs: number;
  /** The last number that was assigned to each kind of id. */
  ids: Readonly<Record<string, number | undefined>>;
}
