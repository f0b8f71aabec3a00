import type { Instruction } from '../../schemas/instruction.ts';
import type { Settings } from '../../schemas/settings.ts';
import type { Transaction } from '../../schemas/transaction.ts';
import type { Clock } from './clock.ts';
import type { Ids, Noun, Singular } from './ids.ts';
import type { SandboxRecords } from './records.ts';

/** The type of the record in a change, by the part of the change's `type` before the dot. */
type SandboxChangeRecords = {
  [One in Noun as Singular<One>]: SandboxRecords[One][number];
} & {
  /** The record in a change of an Instruction. */
  instruction: Instruction;
  /** The Settings, in a change of the Settings. */
  settings: Settings;
  /** The record in a change of an Instruction's transaction. */
  transaction: Transaction;
};

/** What happened to a record. `account.balance` means that only an Account's balances changed. */
export type SandboxChangeType =
  | `${keyof SandboxChangeRecords}.${'created' | 'status' | 'updated' | 'deleted'}`
  | 'account.balance';

/** A change of one kind of record, such as a Transfer. */
interface SandboxChangeOf<Kind extends keyof SandboxChangeRecords> {
  /** Number of the change. Later changes have higher numbers, and no number is used twice. */
  readonly id: number;
  /** When the change happened: ISO 8601 date-time, UTC, by the clock of the sandbox. */
  readonly time: string;
  /** The kind of record and what happened to the record, such as `transfer.status`. */
  readonly type: Extract<SandboxChangeType, `${Kind}.${string}`>;
  /** The record before the change; null when the record was created. */
  readonly before: SandboxChangeRecords[Kind] | null;
  /** The record after the change; null when the record was deleted. */
  readonly after: SandboxChangeRecords[Kind] | null;
}

/**
 * A change of a record. Check `type` to narrow `before` and `after`: a change with the type
 * `transfer.status` contains Transfers.
 */
export type SandboxChange = {
  [Kind in keyof SandboxChangeRecords]: SandboxChangeOf<Kind>;
}[keyof SandboxChangeRecords];

type MakeChange = () => SandboxChange;
type Listener = (makeChange: MakeChange) => void;

/** The maximum of changes that are kept. The oldest are dropped, so that memory is bounded. */
const maxChanges = 10_000;

/** The changes of records in a sandbox, in the order in which they happened. */
export class Changes {
  readonly #clock: Clock;
  readonly #ids: Ids;
  /** Functions that create a change only when code reads the change, because few tests read any. */
  #entries: MakeChange[] = [];
  readonly #unreported: MakeChange[] = [];
  #depth = 0;
  readonly #listeners = new Set<Listener>();

  constructor(clock: Clock, ids: Ids) {
    this.#clock = clock;
    this.#ids = ids;
  }

  /**
   * Adds a change of a row. `before` is the caller's copy; `after` is copied here, because the row
   * can change again at once.
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

  /** Runs a function that changes several records, and reports these changes only at its end. */
  collect<T>(run: () => T): T {
    this.#depth += 1;
    try {
      return run();
    } finally {
      this.#depth -= 1;
      this.#report();
    }
  }

  /** Returns the latest changes of records, oldest first. */
  list(): SandboxChange[] {
    return this.#entries.map((makeChange) => makeChange());
  }

  /** Calls the listener for every change of a record, until you call the returned function. */
  onChange(listener: Listener): () => void {
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
    // A listener may change further records. Listeners hear of those changes after the present one.
    this.#depth = 1;
    for (let makeChange; (makeChange = this.#unreported.shift()) !== undefined;) {
      for (const listener of this.#listeners) callListener(listener, makeChange);
    }
    this.#depth = 0;
  }
}

/**
 * If a listener throws, the call that made the change still succeeds, because the change has
 * already happened.
 */
function callListener(listener: Listener, makeChange: MakeChange): void {
  try {
    listener(makeChange);
  } catch (cause) {
    queueMicrotask(() => {
      throw cause;
    });
  }
}
