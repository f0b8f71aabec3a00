import type { AccountId, KnownAccountStatus, KnownAccountType } from '../../schemas/account.ts';
import type { Counterparty } from '../../schemas/counterparty.ts';
import type { Entity, EntityId } from '../../schemas/entity.ts';
import type { Iban } from '../../schemas/iban.ts';
import type { Instruction } from '../../schemas/instruction.ts';
import type { Hex, Integer, Metadata } from '../../schemas/primitives.ts';
import type { Chain, Settings } from '../../schemas/settings.ts';
import type { Transaction } from '../../schemas/transaction.ts';
import type { KnownTransferStatus, Transfer } from '../../schemas/transfer.ts';
import { Clock, type SandboxClock } from './clock.ts';
import { Table } from './table.ts';

/** An Account with its balances as exact units; see money.ts. */
export interface AccountRow {
  readonly id: AccountId;
  readonly entityId: EntityId;
  readonly type: KnownAccountType;
  readonly chain: Chain;
  readonly currency: string;
  readonly autoEarn: boolean;
  readonly createdAt: string;
  name: string;
  status: KnownAccountStatus;
  metadata: Metadata;
  updatedAt: string;
  available: bigint;
  pending: bigint;
  locked: bigint;
}

/** A Transfer whose status can change. */
export interface TransferRow extends Transfer {
  status: KnownTransferStatus;
}

/** An Instruction, and whose it is. */
export interface InstructionRow {
  readonly address: Hex;
  readonly chainId: Integer;
  instruction: Instruction;
}

/** The Settings of a new Platform; the document gives no defaults. */
const initialSettings = (updatedAt: string): Settings => ({
  autoEarnEnabled: false,
  autoEarnVault: 'sandbox_usdc',
  defaultChain: 'base',
  webhookUrl: null,
  updatedAt,
});

/** Everything that a Platform remembers. The rules are in the file of each noun. */
export class Platform {
  readonly clock: Clock;
  /** Items a page when a request names no `limit`. */
  readonly pageSize: number;
  readonly entities = new Table<'ent_', Entity>('ent_', 'entity');
  readonly accounts = new Table<'acc_', AccountRow>('acc_', 'account');
  readonly transfers = new Table<'txfr_', TransferRow>('txfr_', 'transfer');
  readonly counterparties = new Table<'cpty_', Counterparty>('cpty_', 'counterparty');
  readonly ibans = new Table<'iban_', Iban>('iban_', 'iban');
  /** IBANs that were deleted: a deposit has to be told apart from one to a stranger's IBAN. */
  readonly closedIbans = new Map<string, Iban>();
  readonly instructions = new Map<string, InstructionRow>();
  readonly transactions: Transaction[] = [];
  settings: Settings;

  constructor(clock: SandboxClock | undefined, pageSize: number) {
    this.clock = new Clock(clock);
    this.pageSize = pageSize;
    this.settings = initialSettings(this.clock.iso());
  }
}
