import type { OnceInput, TransferId } from '../schemas/transfer.ts';

/** One change of a payment's entry. */
export interface JournalTransition {
  /** Time of the change, in whole milliseconds by the journal's clock. */
  readonly at: number;
  /** State of the entry after the change. */
  readonly state: 'sending' | 'ambiguous' | 'paid' | 'not_paid';
  /** Operator who recorded the change by `transfers.resolveOnce`; absent if a call made it. */
  readonly by?: string | undefined;
  /** Name of the machine that wrote the change. */
  readonly host?: string | undefined;
  /** Id of the call that claimed the payment. */
  readonly claimId?: string | undefined;
  /** The transfer that was made. */
  readonly transferId?: TransferId | undefined;
}

/** Fields of every entry. */
interface CommonEntry {
  /** Input of the payment. The SDK adds no credential. */
  readonly input: OnceInput;
  /** The base URL of the platform that the payment belongs to. */
  readonly platform: string;
  /**
   * How the entry came to its state, oldest transition first: at most the first one and the latest
   * 31. A rejected first claim removes the entry with its history. Absent if another program wrote
   * the entry.
   */
  readonly history?: readonly JournalTransition[] | undefined;
}

/** Fields that later entries of one payment keep until it is paid. */
interface UnpaidEntry extends CommonEntry {
  /** Time of the first claim of this payment; 0 if that time is not known. */
  readonly firstClaimedAt: number;
  /** Ids of at most 1,000 transfers that the list had when an operator recorded `not_paid`. */
  readonly dismissed?: readonly TransferId[] | undefined;
}

/** Fields that the claim of a call adds. */
interface ClaimedEntry extends UnpaidEntry {
  /** Unique id of the claiming call. */
  readonly claimId: string;
  /** Name of the machine that the claiming call ran on. */
  readonly host: string;
  /** Time of this claim, in milliseconds by the journal's clock. */
  readonly claimedAt: number;
  /** After this time, the claim's request cannot take effect; null with `gracePeriod: Infinity`. */
  readonly expiresAt: number | null;
}

/** A call has claimed the payment and may be sending it. */
export interface SendingEntry extends ClaimedEntry {
  /** The call is in progress, or its process died. */
  readonly state: 'sending';
}

/** The list shows transfers that may be the payment. An operator decides by `resolveOnce`. */
export interface AmbiguousEntry extends ClaimedEntry {
  /** The payment is not decided. */
  readonly state: 'ambiguous';
  /** Ids of the transfers that may be the payment, at most ten. */
  readonly candidates: readonly TransferId[];
}

/** The payment was made. */
export interface PaidEntry extends CommonEntry {
  /** The payment is decided. */
  readonly state: 'paid';
  /** The transfer that was made. */
  readonly transferId: TransferId;
  /** Time of this entry, in milliseconds by the journal's clock. */
  readonly paidAt: number;
  /** Operator who recorded the payment by `transfers.resolveOnce`; absent if a call recorded it. */
  readonly resolvedBy?: string | undefined;
}

/** An operator recorded that no call has made the payment. The next `createOnce` sends it. */
export interface NotPaidEntry extends UnpaidEntry {
  /** The payment is decided. */
  readonly state: 'not_paid';
  /** Operator who recorded the decision. */
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
  /** The entry of the payment when the journal read it. */
  readonly entry: OpenEntry;
}

/** Options of `Journal.prune`. */
export interface PruneOptions {
  /** Removes only payments that were recorded as paid before this time. */
  paidBefore: Date;
}

/**
 * Where `transfers.createOnce` records a payment before sending it. All processes that pay share
 * one journal. `swap` must resolve only when the entry is on disk, because a lost entry pays twice.
 * Errors with `retryable: false` are not retried.
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
   * Replaces the entry by `after`, in one atomic step, if the entry still is `before`. Undefined
   * stands for no entry. Resolves to whether the entry was `before`.
   */
  swap(
    reference: string,
    before: JournalEntry | undefined,
    after: JournalEntry | undefined,
  ): Promise<boolean>;
  /** The time in milliseconds. All processes must read the same clock for the same reference. */
  now(reference: string): Promise<number>;
  /**
   * Lists, in any order, every payment that is `sending` or `ambiguous`, and as stored every entry
   * that cannot be read. `transfers.openOnce` needs this method.
   */
  open?(): AsyncIterable<OpenPayment>;
  /**
   * Removes `paid` entries, and resolves to the number of removed entries. If you later call
   * `createOnce` with a removed reference, it pays again.
   */
  prune?(options: PruneOptions): Promise<number>;
  /** Whether the store may lose an entry. If so, `createOnce` searches before every first claim. */
  readonly forgets?: boolean;
}

/** A {@link Journal} with an example, which the compiler prints if a type does not match. */
export interface JournalSuchAs<_Examples extends string> extends Journal {}

/** A journal of this package, which can always list open payments and prune paid ones. */
export interface FullJournal extends Journal {
  /** Lists every payment that is not decided, and every entry that cannot be read, page by page. */
  open(): AsyncIterable<OpenPayment>;
  /** Removes `paid` entries in steps, and resolves to the number of removed entries. */
  prune(options: PruneOptions): Promise<number>;
}

/**
 * A failure of a journal that lasts until an operator repairs the setup. Code in once/ only checks
 * `retryable: false`, because it shares no code with this folder and users write journals, too.
 */
export class LastingJournalError extends Error {
  readonly retryable = false;
}

/** The stored texts of entries. Another program may have written them with other spaces. */
const storedTexts = new WeakMap<JournalEntry, string>();

/** The string that a store keeps. */
export const serializeEntry = (entry: JournalEntry | undefined): string =>
  entry === undefined ? '' : JSON.stringify(entry);

/** The text that a store has for an entry, read or new; empty if there is no entry. */
export const storedTextOf = (entry: JournalEntry | undefined): string =>
  (entry && storedTexts.get(entry)) ?? serializeEntry(entry);

/** Parses a stored text, without a check of the fields. A text that is not JSON stays a string. */
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

/** Whether `open` lists an entry, because the entry is open or cannot be read. */
export const isUndecided = (entry: JournalEntry | undefined): entry is OpenEntry =>
  entry !== undefined && entry.state !== 'paid' && entry.state !== 'not_paid';

export function readPaidBefore({ paidBefore }: PruneOptions): number {
  const time = new Date(paidBefore).getTime();
  if (Number.isFinite(time)) return time;
  throw new Error('prune: paidBefore is not a valid date; expected a Date.');
}

/** How many entries one step of `open` or `prune` reads. */
export const pageSize = 1_000;
