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
import { Ids } from './ids.ts';
import { Schedule } from './schedule.ts';
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
export const createInitialSettings = (updatedAt: string): Settings => ({
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
  readonly ids = new Ids();
  /** What moves by itself; see auto-advance.ts. */
  readonly schedule: Schedule;
  readonly entities = new Table<'ent_', Entity>('ent_', 'entity', () => this.ids.next('entities'));
  readonly accounts = new Table<'acc_', AccountRow>('acc_', 'account', () =>
    this.ids.next('accounts'),
  );
  readonly transfers = new Table<'txfr_', TransferRow>('txfr_', 'transfer', () =>
    this.ids.next('transfers'),
  );
  readonly counterparties = new Table<'cpty_', Counterparty>('cpty_', 'counterparty', () =>
    this.ids.next('counterparties'),
  );
  readonly ibans = new Table<'iban_', Iban>('iban_', 'iban', () => this.ids.next('ibans'));
  /** IBANs that were deleted: a deposit has to be told apart from one to a stranger's IBAN. */
  readonly closedIbans = new Map<string, Iban>();
  readonly instructions = new Map<string, InstructionRow>();
  transactions: Transaction[] = [];
  settings: Settings;
  /** Called after something may have changed that is to outlive the object. */
  notifyChange: () => void = () => {};

  constructor(clock: SandboxClock | undefined, pageSize: number, autoAdvance?: number) {
    this.clock = new Clock(clock);
    this.schedule = new Schedule(this.clock, autoAdvance);
    this.pageSize = pageSize;
    this.settings = createInitialSettings(this.clock.toIsoNow());
  }
}
