import type { OnceInput, TransferId } from '../schemas/transfer.ts';

/** One change of a payment's entry. */
export interface JournalTransition {
  /** When, in whole milliseconds by the journal's clock. */
  readonly at: number;
  /** The state of the entry from then on. */
  readonly state: 'sending' | 'ambiguous' | 'paid' | 'not_paid';
  /** The operator who recorded it by `transfers.resolveOnce`; absent when a call did. */
  readonly by?: string | undefined;
  /** Name of the machine that wrote it. */
  readonly host?: string | undefined;
  /** Id of the call that claimed the payment. */
  readonly claimId?: string | undefined;
  /** The transfer that was made. */
  readonly transferId?: TransferId | undefined;
}

/** Fields of every entry. */
interface CommonEntry {
  /** The payment; without credentials. */
  readonly input: OnceInput;
  /** The base URL of the platform that the payment belongs to. */
  readonly platform: string;
  /**
   * How the entry came to its state, oldest first: at most the first transition and the latest 31. Later entries keep it,
   * but a rejected first claim removes the entry and its history. Absent if another program wrote it.
   */
  readonly history?: readonly JournalTransition[] | undefined;
}

/** Fields that later entries of one payment keep until it is paid. */
interface UnpaidEntry extends CommonEntry {
  /** Time of the first claim of this payment; 0 if it is not known. */
  readonly firstClaimedAt: number;
  /** Ids of transfers that were listed when an operator recorded `not_paid`: none is the payment. At most 1,000. */
  readonly dismissed?: readonly TransferId[] | undefined;
}

/** Fields of the call that claimed the payment. */
interface ClaimedEntry extends UnpaidEntry {
  /** Id of the claiming call; unique. */
  readonly claimId: string;
  /** Name of the machine that the claiming call ran on. */
  readonly host: string;
  /** Time of this claim, in milliseconds by the journal's clock. */
  readonly claimedAt: number;
  /** After this time, the request of this claim can no longer take effect; null with `gracePeriod: Infinity`. */
  readonly expiresAt: number | null;
}

/** A call has claimed the payment and may be sending it. */
export interface SendingEntry extends ClaimedEntry {
  /** In progress, or left by a process that died. */
  readonly state: 'sending';
}

/** The list shows transfers that may be the payment: an operator decides by `transfers.resolveOnce`. */
export interface AmbiguousEntry extends ClaimedEntry {
  /** Undecided. */
  readonly state: 'ambiguous';
  /** Ids of the transfers that may be the payment, at most ten. */
  readonly candidates: readonly TransferId[];
}

/** The payment was made. */
export interface PaidEntry extends CommonEntry {
  /** Decided: paid. */
  readonly state: 'paid';
  /** The transfer that was made. */
  readonly transferId: TransferId;
  /** Time of this entry, in milliseconds by the journal's clock. */
  readonly paidAt: number;
  /** Operator who recorded it by `transfers.resolveOnce`; absent when a call did. */
  readonly resolvedBy?: string | undefined;
}

/** An operator has recorded by `transfers.resolveOnce` that no call has made the payment; the next call sends it. */
export interface NotPaidEntry extends UnpaidEntry {
  /** Decided. */
  readonly state: 'not_paid';
  /** Operator who recorded it. */
  readonly resolvedBy?: string | undefined;
  /** Time of the decision, in milliseconds by the journal's clock. */
  readonly resolvedAt: number;
}

/** Entry of one payment in a journal: plain JSON. */
export type JournalEntry = SendingEntry | AmbiguousEntry | PaidEntry | NotPaidEntry;

/** Entry of a payment that is not decided. */
export type OpenEntry = SendingEntry | AmbiguousEntry;

/** An open payment: its reference and its entry. */
export interface OpenPayment {
  /** The reference of the payment. */
  readonly reference: string;
  /** Its entry when it was read. */
  readonly entry: OpenEntry;
}

/** Options of `Journal.prune`. */
export interface PruneOptions {
  /** Only payments that were recorded as paid before this time are removed. */
  paidBefore: Date;
}

/**
 * Where `transfers.createOnce` records what it is about to do, shared by every process that pays.
 * A write is on disk before `swap` resolves: a lost entry pays twice.
 * An error with `retryable: false` is shown, not retried.
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
  /** The entry of the payment with this reference. */
  read(reference: string): Promise<JournalEntry | undefined>;
  /**
   * Writes `after` (undefined: removes the entry) if the entry still is `before`, in one atomic step.
   * Resolves to whether it did.
   */
  swap(
    reference: string,
    before: JournalEntry | undefined,
    after: JournalEntry | undefined,
  ): Promise<boolean>;
  /** The time in milliseconds, by one clock for all processes that share the entry of this reference. */
  now(reference: string): Promise<number>;
  /**
   * Every payment that is `sending` or `ambiguous`, and every entry that cannot be read, as it is stored; in
   * any order. `transfers.openOnce` needs it.
   */
  open?(): AsyncIterable<OpenPayment>;
  /**
   * Removes `paid` entries; resolves to their number. A later `createOnce` with a removed reference
   * pays again.
   */
  prune?(options: PruneOptions): Promise<number>;
  /** Whether an entry may be lost; `createOnce` then looks for the transfer before every first claim. */
  readonly forgets?: boolean;
}

/** A {@link Journal}; the argument is an example, which the compiler prints if the type does not match. */
export interface JournalSuchAs<_Examples extends string> extends Journal {}

/** A journal of this package: it also lists what is open, and prunes. */
export interface FullJournal extends Journal {
  /** Every payment that is not decided, and every entry that cannot be read, in pages. */
  open(): AsyncIterable<OpenPayment>;
  /** Removes `paid` entries in steps; resolves to their number. */
  prune(options: PruneOptions): Promise<number>;
}

/**
 * A failure of a journal that lasts until an operator repairs the setup. Any error with `retryable: false`
 * counts as one, because once/ shares no code with this folder, and a journal may be another author's.
 */
export class LastingJournalError extends Error {
  readonly retryable = false;
}

/** The texts of entries that were read: a migration or another program may have written them with other spaces. */
const storedTexts = new WeakMap<JournalEntry, string>();

/** The string that a store keeps. */
export const serializeEntry = (entry: JournalEntry | undefined): string =>
  entry === undefined ? '' : JSON.stringify(entry);

/** The string that a store has for an entry that was read from it or is new; empty without an entry. */
export const storedTextOf = (entry: JournalEntry | undefined): string =>
  (entry && storedTexts.get(entry)) ?? serializeEntry(entry);

/** The entry of a stored string; its fields are checked where they are used. A string that is no JSON stays one. */
export function parseEntry(stored: string): JournalEntry {
  try {
    const entry: unknown = JSON.parse(stored);
    if (typeof entry !== 'object' || entry === null) return stored as unknown as JournalEntry;
    storedTexts.set(entry as JournalEntry, stored);
    return entry as JournalEntry;
  } catch {
    return stored as unknown as JournalEntry;
  }
}

/** Whether a payment is not decided. */
export const isOpen = (entry: JournalEntry | undefined): entry is OpenEntry =>
  entry?.state === 'sending' || entry?.state === 'ambiguous';

/** Whether `open` lists an entry: it is open, or cannot be read. */
export const isUndecided = (entry: JournalEntry | undefined): entry is OpenEntry =>
  entry !== undefined && entry.state !== 'paid' && entry.state !== 'not_paid';

/** The time of `paidBefore` in milliseconds. */
export function readPaidBefore({ paidBefore }: PruneOptions): number {
  const time = new Date(paidBefore).getTime();
  if (Number.isFinite(time)) return time;
  throw new Error('prune: paidBefore is not a valid date; expected a Date.');
}

/** How many entries one step of `open` or `prune` reads. */
export const pageSize = 1_000;
