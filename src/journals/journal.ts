import { isEqual } from '../internal/objects.ts';
import { isTestRun, warn } from '../internal/runtime.ts';
import { termsOf } from '../internal/terms.ts';
import type { OnceInput, TransferCreateInput } from '../schemas/transfer.ts';

/** One change of a payment's entry in the journal. */
export interface JournalTransition {
  /** Time of the entry's change, in whole milliseconds by the journal's clock. */
  readonly at: number;
  /** State of the payment's entry after the change. */
  readonly state: 'sending' | 'ambiguous' | 'paid' | 'not_paid';
  /** Operator named by `transfers.decide`. Absent if a call made the change, or no name was passed. */
  readonly by?: string | undefined;
  /** Name of the machine that wrote the change to the journal. */
  readonly host?: string | undefined;
  /** Id of the call that claimed the payment. */
  readonly claimId?: string | undefined;
  /** Id of the transfer, if the payment was made. */
  readonly transferId?: string | undefined;
}

/** What `prune` with `keepReferences` leaves of a payment's input. */
interface PrunedInput extends Partial<Record<Exclude<keyof OnceInput, 'description'>, undefined>> {
  /** The reference of the payment. */
  readonly description: string;
}

/** Fields of every entry of a journal. */
interface CommonEntry<Input = OnceInput> {
  /** Input of the payment, as passed to `createOnce`. The SDK adds no credential. */
  readonly input: Input;
  /** The base URL of the platform that the payment belongs to. */
  readonly platform: string;
  /**
   * The first change of the entry and the latest 31, oldest first. May be absent if another program
   * wrote the entry.
   */
  readonly history?: readonly JournalTransition[] | undefined;
  /** Ids of at most 1,000 transfers that were listed when an operator recorded `not_paid`. */
  readonly dismissed?: readonly string[] | undefined;
}

/** Fields that a call adds to the entry when the call claims the payment. */
interface ClaimedEntry extends CommonEntry {
  /** Unique id of the call that claimed the payment. */
  readonly claimId: string;
  /** Name of the machine that the claiming call ran on. */
  readonly host: string;
  /** Time when the call claimed the payment, in milliseconds by the journal's clock. */
  readonly claimedAt: number;
  /**
   * Time when the claim's request ends, in milliseconds by the journal's clock. Absent in an entry
   * of 0.4.0.
   */
  readonly deadline?: number | undefined;
  /**
   * Time after which the claim's request can no longer make a transfer, in milliseconds by the
   * journal's clock. Null with `gracePeriod: Infinity`.
   */
  readonly expiresAt: number | null;
  /** Time of the first claim since the latest `not_paid`, by the journal's clock. */
  readonly firstClaimedAt: number;
  /**
   * The platform's latest `Date` that the process of the first claim had seen, in milliseconds.
   * Absent if that process had no response of the platform yet.
   */
  readonly platformTime?: number | undefined;
}

/** Entry of a payment that a call has claimed and may be sending. */
export interface SendingEntry extends ClaimedEntry {
  /** State of a payment that a call is making, or whose outcome a call has left unknown. */
  readonly state: 'sending';
}

/** Entry of a payment that a listed transfer may have made. Decide by `transfers.decide`. */
export interface AmbiguousEntry extends ClaimedEntry {
  /** State of a payment that may or may not have been made. */
  readonly state: 'ambiguous';
  /** Ids of the transfers that may be the payment, at most ten. */
  readonly candidates: readonly string[];
  /**
   * Reference of another payment for which the journal records the same transfer. Then only
   * `transfers.decide`, or a listed transfer with this payment's reference, ends the doubt.
   */
  readonly sharedWith?: string | undefined;
}

/** Entry of a payment that was made. */
export interface PaidEntry extends CommonEntry<OnceInput | PrunedInput> {
  /** State of a payment that was made. */
  readonly state: 'paid';
  /** Id of the transfer that made the payment. */
  readonly transferId: string;
  /** Time when the payment was recorded as paid, in milliseconds by the journal's clock. */
  readonly paidAt: number;
  /** The name that was passed as `by` to `transfers.decide`, if any. */
  readonly resolvedBy?: string | undefined;
}

/** Entry of a payment that an operator recorded as not paid. The next `createOnce` pays. */
export interface NotPaidEntry extends CommonEntry {
  /** State of a payment that was not made, as an operator decided. */
  readonly state: 'not_paid';
  /** Operator who recorded that the payment was not made. */
  readonly resolvedBy?: string | undefined;
  /** Time when the operator decided, in milliseconds by the journal's clock. */
  readonly resolvedAt: number;
}

/** Entry of one payment in a journal, a plain JSON object. */
export type JournalEntry = SendingEntry | AmbiguousEntry | PaidEntry | NotPaidEntry;

/** Entry of an open payment, which is `sending` or `ambiguous`. */
export type OpenEntry = SendingEntry | AmbiguousEntry;

/** An open payment: its reference and its entry. */
export interface OpenPayment {
  /** The reference of the payment. */
  readonly reference: string;
  /** The entry of the payment at the moment when the journal read the entry. */
  readonly entry: OpenEntry;
}

/**
 * When `createOnce` searches the platform's list for a payment without an entry, because the store
 * may have lost the entry. `always`: the store may lose entries, or a backup was restored;
 * `first_day`: on the first day of a store, because it may replace a lost one; `never`: neither is
 * possible.
 */
export type SearchFirst = 'always' | 'first_day' | 'never';

/** The payment for which `Journal.similar` lists similar payments. */
interface SimilarTerms {
  /** The base URL of the platform. */
  readonly platform: string;
  /** The input of the payment. Its description is ignored. */
  readonly input: TransferCreateInput;
}

/** A payment that `Journal.similar` lists. */
export interface SimilarEntry {
  /** The reference of the payment. */
  readonly reference: string;
  /** The entry of the payment. */
  readonly entry: JournalEntry;
  /** Time of its first claim since the latest `not_paid`, in milliseconds by the journal's clock. */
  readonly claimedAt: number;
}

/** Options of `Journal.prune`. */
export interface PruneOptions {
  /** Prunes only payments that were recorded as paid before this time. */
  paidBefore: Date;
  /**
   * Keeps the reference and transfer of each entry, and removes only the terms of the payment, so
   * that a repeated call does not pay again. Default: false.
   */
  keepReferences?: boolean | undefined;
}

/**
 * Where `transfers.createOnce` records a payment before sending it, shared by all processes that
 * pay. `swap` must resolve only once the entry is on disk, because a lost entry permits another
 * payment; an error with `retryable: false` is not retried.
 * @example
 * ```ts
 * import { isDeepStrictEqual } from 'node:util';
 * import type { Journal, JournalEntry } from 'payments-platform-sdk/journals';
 *
 * const entries = new Map<string, JournalEntry>();
 * const journal: Journal = {
 *   read: async (reference) => entries.get(reference),
 *   swap: async (reference, before, after) => {
 *     if (!isDeepStrictEqual(entries.get(reference), before)) return false;
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
  /** Reads the entry of the payment with this reference. Undefined if there is no entry. */
  read(reference: string): Promise<JournalEntry | undefined>;
  /**
   * Replaces the payment's entry by `after`, in one atomic step, if the entry still equals
   * `before`. Undefined stands for no entry. Resolves to whether the entry was replaced.
   */
  swap(
    reference: string,
    before: JournalEntry | undefined,
    after: JournalEntry | undefined,
  ): Promise<boolean>;
  /** Reads the time in milliseconds. All processes must read the same clock for one reference. */
  now(reference: string): Promise<number>;
  /**
   * Lists the payments that are `sending` or `ambiguous`, in any order, and entries that cannot be
   * read as they are stored. `transfers.listUndecided` needs this method.
   */
  open?(): AsyncIterable<OpenPayment>;
  /**
   * Removes `paid` entries, or with `keepReferences` their terms, and resolves to how many. If you
   * later call `createOnce` with a removed reference, the payment is made again.
   */
  prune?(options: PruneOptions): Promise<number>;
  /**
   * Finds the reference of the paid entry that names this platform and transfer; undefined if there
   * is none. With `find`, `swap` must not record one transfer for two payments.
   */
  find?(platform: string, transferId: string): Promise<string | undefined>;
  /**
   * For `similar` of `authorize`: lists payments first claimed since a time by the journal's clock,
   * newest first, without `not_paid`. Source, recipient, amount by value, currency (USDC if absent)
   * and platform have to be equal.
   */
  similar?(terms: SimilarTerms, since: number): Promise<readonly SimilarEntry[]>;
  /**
   * Reads when the store got its first entry, in milliseconds by the journal's clock: undefined if
   * never, 0 if that time is unknown. Needed for `searchFirst: 'first_day'`.
   */
  firstClaimAt?(): Promise<number | undefined>;
  /** When `createOnce` searches the platform's list before a first claim. Default: `never`. */
  readonly searchFirst?: SearchFirst;
}

/** A journal of this package, with `open`, `prune` and `find`. */
export interface FullJournal extends Journal {
  /** Lists the open payments and the entries that cannot be read. */
  open(): AsyncIterable<OpenPayment>;
  /** Removes old `paid` entries, or their terms, and resolves to how many. */
  prune(options: PruneOptions): Promise<number>;
  /** Finds the payment whose paid entry names a transfer of a platform. */
  find(platform: string, transferId: string): Promise<string | undefined>;
  /** Reads when the store got its first entry; 0 if that time is unknown. */
  firstClaimAt(): Promise<number | undefined>;
  /** When `createOnce` searches the list before a first claim. */
  readonly searchFirst: SearchFirst;
  /**
   * Throws if the store may have lost its latest claims. Called right before a payment is sent.
   * @internal
   */
  check?(): void;
}

/**
 * A failure of a journal that lasts until an operator repairs the setup. Code in once/ checks only
 * `retryable: false`, because users write journals, too.
 */
export class LastingJournalError extends Error {
  readonly retryable = false;
}

/** Converts an entry to the text that a store keeps. No entry becomes an empty text. */
export const serializeEntry = (entry: JournalEntry | undefined): string =>
  entry === undefined ? '' : JSON.stringify(entry);

/**
 * Parses the stored text of an entry without checking fields. Returns a text that is no JSON object
 * or array as it is.
 */
export function parseEntry(stored: string): JournalEntry {
  try {
    const entry: unknown = JSON.parse(stored);
    return (isObjectOrArray(entry) ? entry : stored) as JournalEntry;
  } catch {
    return stored as unknown as JournalEntry;
  }
}

/** A row of a store's table, with its values by column name. */
export type StoredRow = Readonly<Record<string, unknown>>;

const parseRow = ({ reference, entry }: StoredRow) => ({
  reference: String(reference),
  entry: parseEntry(String(entry)),
});

export const parseSimilar = (row: StoredRow): SimilarEntry => ({
  ...parseRow(row),
  claimedAt: Number(row['claimed_at']),
});

/** Yields the undecided payments. `readPage` reads the next rows that may be open, after the last reference. */
export async function* listOpen(
  readPage: (last: string) => Promise<readonly StoredRow[]>,
): AsyncGenerator<OpenPayment, void> {
  let last: string | undefined = '';
  while (last !== undefined) {
    const page: readonly StoredRow[] = await readPage(last);
    const rows = page.map(parseRow);
    for (const { reference, entry } of rows) {
      // Another program may have written a row without its columns, which the store then counts as open.
      if (isUndecided(entry)) yield { reference, entry };
    }
    last = rows.length < pageSize ? undefined : rows.at(-1)?.reference;
  }
}

/**
 * Swaps an entry that a store keeps as text. If `swap` resolves to undefined or false, tries once
 * more with the stored text if its values equal `before`, because another program may have
 * rewritten the JSON.
 */
export async function swapByValues<T>(
  before: JournalEntry | undefined,
  swap: (stored: string) => PromiseLike<T>,
  readStored: () => PromiseLike<string | undefined>,
): Promise<T> {
  const written = serializeEntry(before);
  const result = await swap(written);
  if (before === undefined || (result !== undefined && result !== false)) return result;
  const stored = await readStored();
  const isRewritten = stored !== undefined && stored !== written;
  return isRewritten && isEqual(parseEntry(stored), before) ? swap(stored) : result;
}

/** The transfer that an entry names, by its platform and id. Undefined unless the entry is `paid`. */
export function transferOf(entry: JournalEntry | undefined) {
  if (entry?.state !== 'paid') return undefined;
  const { platform, transferId } = entry;
  // Another program may have written the entry, so its fields may be missing.
  if (typeof platform !== 'string' || typeof transferId !== 'string') return undefined;
  return { platform, transferId };
}

/** What a store keeps beside an entry, so that no statement has to search the entry's text. */
export function columnsOf(entry: JournalEntry) {
  const { platform = null, transferId = null } = transferOf(entry) ?? {};
  const paidAt = entry.state === 'paid' && Number.isFinite(entry.paidAt) ? entry.paidAt : null;
  return { isOpen: isUndecided(entry), platform, transferId, paidAt, ...similarColumnsOf(entry) };
}

/**
 * The terms and the time of the first claim, by which `similar` finds a payment. Null for a
 * `not_paid` or pruned entry.
 */
function similarColumnsOf(entry: JournalEntry) {
  const claimedAt = readFirstClaimTime(entry);
  const { platform, input } = entry;
  // Another program may have written the entry, so its fields may be missing.
  const isKnown = Number.isFinite(claimedAt) && isObjectOrArray(input);
  if (!isKnown || input.amount === undefined) return noSimilarColumns;
  return { terms: termsOf(platform, input), claimedAt };
}
const noSimilarColumns = { terms: null, claimedAt: null };

/** The time of the first claim since the latest `not_paid`; NaN if the entry is `not_paid`. */
function readFirstClaimTime(entry: JournalEntry): number {
  if (isOpen(entry)) return entry.firstClaimedAt > 0 ? entry.firstClaimedAt : entry.claimedAt;
  if (entry.state !== 'paid') return Number.NaN;
  const history = Array.isArray(entry.history) ? entry.history.filter(isObjectOrArray) : [];
  const changes = history as readonly JournalTransition[];
  const start = changes.findLastIndex(({ state }) => state === 'not_paid') + 1;
  return changes[start]?.at ?? entry.paidAt;
}

/** How many payments a journal lists: the 100 that `authorize` gets, and perhaps the payment itself. */
export const maxSimilar = 101;

/** The version that this package writes to a store. Stores of 0.3 and 0.4 have none. */
const storeVersion = 2;

/** The text that a store keeps about itself. A `firstClaimAt` of 0 means that the time is not known. */
export const describeStore = (firstClaimAt: number): string =>
  JSON.stringify({ version: storeVersion, firstClaimAt });

/**
 * Reads the time of the first claim from the reserved row with the empty reference, which sorts
 * first. Returns 0 if another row is first.
 */
export const readFirstRow = (row: StoredRow | undefined): number | undefined => {
  if (row === undefined) return undefined;
  return row['reference'] === '' ? readFirstClaim(String(row['entry'])) : 0;
};

/** Reads the time of the first claim from what a store keeps about itself. */
export function readFirstClaim(stored: string): number {
  const { version, firstClaimAt } = JSON.parse(stored) as { [name: string]: unknown };
  if (version === storeVersion && typeof firstClaimAt === 'number') return firstClaimAt;
  throw new LastingJournalError(
    `The journal has the version ${JSON.stringify(version)}, and this program reads version ${storeVersion}. Update payments-platform-sdk.`,
  );
}

/** Creates the error about a store of 0.3 or 0.4, because it lacks what this version finds payments by. */
export const needsMigration = (store: string): LastingJournalError =>
  new LastingJournalError(
    `${store} was made by version 0.3 or 0.4 of payments-platform-sdk.\nStop the processes that pay, and run once: payments-journal migrate (docs/journals.md).`,
  );

/** Warns that a store is new, because an earlier journal may have been lost. */
export function warnOfNewStore(store: string, more = ''): void {
  if (isTestRun()) return;
  warn(
    `payments-platform-sdk: ${store} is a new journal without entries. If you paid from another one before, put that back: this one does not know its payments.${more}`,
  );
}

/** Whether an entry belongs to an open payment, which is `sending` or `ambiguous`. */
export const isOpen = (entry: JournalEntry | undefined): entry is OpenEntry =>
  entry?.state === 'sending' || entry?.state === 'ambiguous';

/** Whether `Journal.open` lists an entry, because the entry is open or cannot be read. */
export const isUndecided = (entry: JournalEntry | undefined): entry is OpenEntry =>
  entry !== undefined && entry.state !== 'paid' && entry.state !== 'not_paid';

/** Throws for an unknown option, because a misspelt `keepReferences` would remove what it has to keep. */
export function rejectOthers(owner: string, others: object, known: string): void {
  const [unknown] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
  if (unknown !== undefined) throw new Error(`${owner}: ${unknown} is unknown; expected ${known}.`);
}

export function readPaidBefore(options: PruneOptions): number {
  const { paidBefore, keepReferences = false, ...others } = options;
  rejectOthers('prune', others, 'paidBefore, keepReferences');
  if (typeof keepReferences !== 'boolean') {
    throw new Error('prune: keepReferences is no boolean; expected true or false.');
  }
  const time = new Date(paidBefore).getTime();
  if (Number.isFinite(time)) return time;
  throw new Error('prune: paidBefore is not a valid date; expected a Date.');
}

/**
 * Returns a paid entry without the terms of its payment. Undefined if it was not paid before that
 * time, or has no terms.
 */
export function dropTerms(entry: JournalEntry, paidBefore: number): PaidEntry | undefined {
  // Another program may have written the entry, so the input may be missing.
  const { description, ...terms } = Object(entry.input) as PaidEntry['input'];
  const isOld = entry.state === 'paid' && entry.paidAt < paidBefore;
  const hasTerms = typeof description === 'string' && Object.keys(terms).length > 0;
  return isOld && hasTerms ? { ...entry, input: { description } } : undefined;
}

/**
 * Text that a stored entry contains until `prune` drops its terms. No reference contains this text,
 * because its quotes are escaped in the entry.
 */
export const termsMark = '"sourceAccountId"';

/** Whether a value is an object or an array, the two parts of an entry that have fields. */
export const isObjectOrArray = (value: unknown): value is object =>
  typeof value === 'object' && value !== null;

/** How many entries of a journal one step of `open` or `prune` reads. */
export const pageSize = 1_000;
