import type { AccountStatus, AccountType } from '../../schemas/account.ts';
import type { Counterparty } from '../../schemas/counterparty.ts';
import type { Entity } from '../../schemas/entity.ts';
import type { Iban } from '../../schemas/iban.ts';
import type { Instruction } from '../../schemas/instruction.ts';
import type { Hex, Integer, Metadata } from '../../schemas/primitives.ts';
import type { Chain, Settings } from '../../schemas/settings.ts';
import type { Transaction } from '../../schemas/transaction.ts';
import type { TransferStatus, Transfer } from '../../schemas/transfer.ts';
import { nounTable } from '../../internal/formats.ts';
import { Changes } from './changes.ts';
import { Clock, type SandboxClock } from './clock.ts';
import { idPrefixes, Ids, type Noun } from './ids.ts';
import { Schedule } from './schedule.ts';
import { Table, type ListOrder } from './table.ts';

/** An Account in the sandbox's memory, with balances in exact units of 10^-18; see money.ts. */
export interface AccountRow {
  readonly id: string;
  readonly entityId: string;
  readonly type: AccountType;
  readonly chain: Chain;
  readonly currency: string;
  readonly autoEarn: boolean;
  readonly createdAt: string;
  name: string;
  status: AccountStatus;
  metadata: Metadata;
  updatedAt: string;
  available: bigint;
  pending: bigint;
  locked: bigint;
}

/** A Transfer in the sandbox's memory, whose status can change. */
export interface TransferRow extends Transfer {
  status: TransferStatus;
}

/** An Instruction in the sandbox's memory, with its address and its chain. */
export interface InstructionRow {
  readonly address: Hex;
  readonly chainId: Integer;
  instruction: Instruction;
}

/** Returns the Settings of a new Platform, made up because the API reference names no defaults. */
export const createInitialSettings = (updatedAt: string): Settings => ({
  autoEarnEnabled: false,
  autoEarnVault: 'sandbox_usdc',
  defaultChain: 'base',
  webhookUrl: null,
  updatedAt,
});

/** The data of a simulated Platform. The functions in files such as transfers.ts change the data. */
export class Platform {
  readonly clock: Clock;
  /** How many items a page of a list has when a request has no `limit`. */
  readonly pageSize: number;
  readonly listOrder: ListOrder;
  readonly ids = new Ids();
  readonly changes: Changes;
  /** Schedules the automatic status changes of Transfers and Entities; see auto-advance.ts. */
  readonly schedule: Schedule;
  readonly entities = this.#createTable<Entity>('entities');
  readonly accounts = this.#createTable<AccountRow>('accounts');
  readonly transfers = this.#createTable<TransferRow>('transfers');
  readonly counterparties = this.#createTable<Counterparty>('counterparties');
  readonly ibans = this.#createTable<Iban>('ibans');
  /** Deleted IBANs, because deposits to them fail with another error than to unknown IBANs. */
  readonly closedIbans = new Map<string, Iban>();
  readonly instructions = new Map<string, InstructionRow>();
  transactions: Transaction[] = [];
  settings: Settings;
  /** Called when the data of the Platform may have changed. */
  notifyChange: () => void = () => {};

  constructor(
    clock: SandboxClock | undefined,
    pageSize: number,
    listOrder: ListOrder,
    autoAdvance?: number,
  ) {
    this.listOrder = listOrder;
    this.clock = new Clock(clock);
    this.changes = new Changes(this.clock, this.ids);
    this.schedule = new Schedule(this.clock, autoAdvance);
    this.pageSize = pageSize;
    this.settings = createInitialSettings(this.clock.toIsoNow());
  }

  #createTable<Row extends { readonly id: string }>(noun: Noun): Table<Row> {
    const [, singular = ''] = nounTable[noun].name.toLowerCase().split(' ');
    return new Table(idPrefixes[noun], singular, () => this.ids.next(noun));
  }
}
