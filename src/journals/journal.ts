import type { TransferCreateInput, TransferId } from '../schemas/transfer.ts';

/** A call has claimed the payment and may be sending it. */
export interface SendingEntry {
  /** Claimed. */
  readonly state: 'sending';
  /** Which call; no two calls have the same. */
  readonly by: string;
  /** When it was claimed, in milliseconds, by the journal's clock. */
  readonly begun: number;
  /** After this time, what that call has sent can no longer take effect. */
  readonly until: number;
  /** What is paid; without credentials. */
  readonly input: TransferCreateInput;
}

/** The payment was made. */
export interface PaidEntry {
  /** Done. */
  readonly state: 'paid';
  /** The Transfer that it is. */
  readonly transferId: TransferId;
  /** What was paid. */
  readonly input: TransferCreateInput;
}

/** A person has said, by `transfers.settleOnce`, that no call so far has made it. */
export interface NotPaidEntry {
  /** Free to be sent. */
  readonly state: 'not_paid';
  /** What is to be paid. */
  readonly input: TransferCreateInput;
}

/** What a journal holds of one payment: plain JSON. */
export type JournalEntry = SendingEntry | PaidEntry | NotPaidEntry;

/**
 * Where `transfers.createOnce` writes down what it is about to do, shared by every process that pays.
 * What it has answered must be on disk: a journal that forgets makes a payment twice.
 * @example
 * ```ts
 * import type { Journal, JournalEntry } from 'payments-platform-sdk/journals';
 *
 * const entries = new Map<string, JournalEntry>();
 * const same = (a?: JournalEntry, b?: JournalEntry) => JSON.stringify(a) === JSON.stringify(b);
 * const journal: Journal = {
 *   read: async (reference) => entries.get(reference),
 *   swap: async (reference, before, after) => {
 *     if (!same(entries.get(reference), before)) return false;
 *     if (after === undefined) entries.delete(reference);
 *     else entries.set(reference, after);
 *     return true;
 *   },
 *   now: async () => Date.now(),
 * };
 * console.log(await journal.read('invoice 4711'));
 * ```
 */
export interface Journal {
  /** What is written about the payment with this reference. */
  read(reference: string): Promise<JournalEntry | undefined>;
  /**
   * Writes `after` (undefined: takes the entry out) if the entry still is `before`, in one step that
   * no other process can come between. Resolves to whether it did.
   */
  swap(
    reference: string,
    before: JournalEntry | undefined,
    after: JournalEntry | undefined,
  ): Promise<boolean>;
  /** The time in milliseconds, by one clock for all who share the journal. */
  now(): Promise<number>;
  /** Whether an entry may be lost; `createOnce` then looks for the transfer before every first claim. */
  readonly forgets?: boolean;
}

/** An entry as stores keep it. What was read and is written again is the same text. */
export const textOf = (entry: JournalEntry | undefined): string =>
  entry === undefined ? '' : JSON.stringify(entry);

/** The entry that a text stands for; whoever reads it checks it. */
export const entryOf = (text: string): JournalEntry => JSON.parse(text) as JournalEntry;
