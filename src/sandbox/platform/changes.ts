import type { Account } from '../../schemas/account.ts';
import type { Counterparty } from '../../schemas/counterparty.ts';
import type { Entity } from '../../schemas/entity.ts';
import type { Iban } from '../../schemas/iban.ts';
import type { Instruction } from '../../schemas/instruction.ts';
import type { Settings } from '../../schemas/settings.ts';
import type { Transaction } from '../../schemas/transaction.ts';
import type { Transfer } from '../../schemas/transfer.ts';
import type { Clock } from './clock.ts';
import type { Ids } from './ids.ts';

/** The type of the changed record, by the noun with which the type of a change begins. */
export interface SandboxChangeRecords {
  /** Accounts, and their balances. */
  account: Account;
  /** Counterparties. */
  counterparty: Counterparty;
  /** Entities, and their verification. */
  entity: Entity;
  /** IBANs. */
  iban: Iban;
  /** Instructions. */
  instruction: Instruction;
  /** The Settings. */
  settings: Settings;
  /** Transactions of Instructions. */
  transaction: Transaction;
  /** Transfers. */
  transfer: Transfer;
}

/** What happened to a record. `account.balance` means that only balances changed. */
export type SandboxChangeType =
  | `${keyof SandboxChangeRecords}.${'created' | 'status' | 'updated' | 'deleted'}`
  | 'account.balance';

/** A change of a record of one noun. */
export interface SandboxChangeOf<Noun extends keyof SandboxChangeRecords> {
  /** Number of the change. The numbers grow, and none is assigned twice. */
  readonly id: number;
  /** ISO 8601 date-time, UTC, by the clock of the sandbox. */
  readonly time: string;
  /** The noun and what happened, such as `transfer.status`. */
  readonly type: Extract<SandboxChangeType, `${Noun}.${string}`>;
  /** The record before; null when it was created. */
  readonly before: SandboxChangeRecords[Noun] | null;
  /** The record after; null when it was deleted. */
  readonly after: SandboxChangeRecords[Noun] | null;
}

/** A change of a record. Its `type` narrows the records: `transfer.status` has two Transfers. */
export type SandboxChange =
  | SandboxChangeOf<'account'>
  | SandboxChangeOf<'counterparty'>
  | SandboxChangeOf<'entity'>
  | SandboxChangeOf<'iban'>
  | SandboxChangeOf<'instruction'>
  | SandboxChangeOf<'settings'>
  | SandboxChangeOf<'transaction'>
  | SandboxChangeOf<'transfer'>;

/** Beyond this many changes the oldest are dropped, so that memory is bounded. */
const maxChanges = 10_000;

/** The changes of a Platform's records, in their order. */
export class Changes {
  readonly #clock: Clock;
  readonly #ids: Ids;
  /** Functions that create a change when a caller reads it, because most tests read few changes. */
  #entries: (() => SandboxChange)[] = [];
  readonly #unreported: (() => SandboxChange)[] = [];
  #depth = 0;
  readonly #listeners = new Set<(makeChange: () => SandboxChange) => void>();

  constructor(clock: Clock, ids: Ids) {
    this.#clock = clock;
    this.#ids = ids;
  }

  /**
   * Adds a change of a row. The caller copies the row before the change, as `before`. `after` is
   * copied here, because the row may change again at once.
   */
  add<Row extends object>(
    type: SandboxChangeType,
    view: (row: Row) => unknown,
    before: Row | null,
    after: Row | null,
  ): void {
    const facts = { id: this.#ids.next('changes'), time: this.#clock.toIsoNow(), type };
    const rows = [before, after && { ...after }];
    const makeChange = () => {
      const [viewBefore, viewAfter] = rows.map((row) => row && view(row));
      return { ...facts, before: viewBefore, after: viewAfter } as SandboxChange;
    };
    this.#entries.push(makeChange);
    if (this.#entries.length > maxChanges) this.#entries.shift();
    this.#unreported.push(makeChange);
    this.#report();
  }

  /** Runs a change of several records, and reports each part when the whole change is complete. */
  collect<T>(run: () => T): T {
    this.#depth += 1;
    try {
      return run();
    } finally {
      this.#depth -= 1;
      this.#report();
    }
  }

  /** The latest changes, oldest first. */
  list(): SandboxChange[] {
    return this.#entries.map((makeChange) => makeChange());
  }

  /** Calls back for every change, until the returned function is called. */
  onChange(listener: (makeChange: () => SandboxChange) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  clear(): void {
    this.#entries = [];
  }

  #report(): void {
    if (this.#depth > 0) return;
    // A listener may change records itself. Those changes are reported after this one.
    this.#depth = 1;
    for (let makeChange; (makeChange = this.#unreported.shift()) !== undefined;) {
      for (const listener of this.#listeners) callListener(listener, makeChange);
    }
    this.#depth = 0;
  }
}

/** If a listener throws, the call that made the change still succeeds: the change has happened. */
function callListener(
  listener: (makeChange: () => SandboxChange) => void,
  makeChange: () => SandboxChange,
): void {
  try {
    listener(makeChange);
  } catch (cause) {
    queueMicrotask(() => {
      throw cause;
    });
  }
}
