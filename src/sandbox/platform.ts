import type { Settings } from '../schemas/settings.ts';
import type { Transaction } from '../schemas/transaction.ts';
import type { AccountRow } from './accounts.ts';
import { Clock, type SandboxClock } from './clock.ts';
import type { CounterpartyRow } from './counterparties.ts';
import type { EntityRow } from './entities.ts';
import type { IbanRow } from './ibans.ts';
import type { InstructionRow } from './instructions.ts';
import { initialSettings } from './settings.ts';
import { Table } from './table.ts';
import type { TransferRow } from './transfers.ts';

/** Everything that a Platform remembers. The rules are in the file of each noun. */
export class Platform {
  readonly clock: Clock;
  /** Items a page when a request names no `limit`. */
  readonly pageSize: number;
  readonly entities = new Table<'ent_', EntityRow>('ent_', 'entity');
  readonly accounts = new Table<'acc_', AccountRow>('acc_', 'account');
  readonly transfers = new Table<'txfr_', TransferRow>('txfr_', 'transfer');
  readonly counterparties = new Table<'cpty_', CounterpartyRow>('cpty_', 'counterparty');
  readonly ibans = new Table<'iban_', IbanRow>('iban_', 'iban');
  /** IBANs that were deleted: a deposit has to be told apart from one to a stranger's IBAN. */
  readonly closedIbans = new Map<string, IbanRow>();
  readonly instructions = new Map<string, InstructionRow>();
  readonly transactions: Transaction[] = [];
  settings: Settings;

  constructor(clock: SandboxClock | undefined, pageSize: number) {
    this.clock = new Clock(clock);
    this.pageSize = pageSize;
    this.settings = initialSettings(this.clock.iso());
  }
}
