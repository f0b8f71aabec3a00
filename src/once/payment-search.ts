import { isReference, journalKey } from '../internal/formats.ts';
import { PaymentInDoubtError } from '../errors/errors.ts';
import { isTransferId, type OnceInput, type Transfer } from '../schemas/transfer.ts';
import { compareTransfer, hasEqualTerms } from '../search/compare.ts';
import {
  epoch,
  type IsOtherPayment,
  type Scans,
  type Search,
  type Takeover,
} from '../search/search.ts';
import type { OnceContext } from './context.ts';
import type { SearchResult } from './decision.ts';
import { isOpen, readFirstClaim, readFirstTime } from './entries.ts';
import type { GuardedJournal } from './guarded-journal.ts';
import type { JournalEntry } from '../journals/journal.ts';

export interface SearchCause {
  /** The error that led to the search. */
  readonly cause?: unknown;
  readonly scans: Scans;
}

/**
 * Searches the source account's list for one payment, without transfers that the journal records as
 * other payments. If the search fails, throws an error that says what is known about the payment.
 */
export async function searchForPayment(
  context: OnceContext,
  journal: GuardedJournal,
  entry: JournalEntry | undefined,
  input: OnceInput,
  { cause, scans }: SearchCause,
): Promise<SearchResult> {
  const { signal, sharedSearches, reads, since } = context;
  const { errors } = journal;
  const isTakeover = scans === 'twice';
  const search: Search<OnceInput> = {
    input,
    scans,
    earliest: isTakeover ? since : await estimateEarliest(since, journal, entry),
    dismissed: new Set(entry?.dismissed),
    takeover: isTakeover ? describeTakeover(context, journal, entry) : undefined,
  };
  let pages = 0;
  const onPage = (): void => {
    pages += 1;
  };
  try {
    const found = await reads.search(search, {
      isUnclaimed: entry === undefined && scans === 'confirmed',
      timeLeft: () => journal.timeLeft,
      onPage,
      isOtherPayment: createOwnerCheck(() => journal),
    });
    if (sharedSearches !== undefined) journal.restart();
    return found;
  } catch (error) {
    if (signal?.aborted === true) throw errors.createAbortError(signal.reason);
    if (error instanceof PaymentInDoubtError) throw error;
    const claim = isOpen(entry) ? entry : undefined;
    if (sharedSearches !== undefined || journal.timeLeft > 0) {
      throw errors.createInDoubtError(claim, cause ?? error);
    }
    // A list that is too long stays too long, so only the first failure is retryable. If no page
    // was read, the platform did not respond, or the request has taken the time.
    const retryable = pages === 0 || context.lastSearches.addEndless(errors.reference);
    const problem = `the search of the list did not end within ${context.totalTimeout} ms (totalTimeout); it read ${pages} pages`;
    if (scans === 'confirmed') {
      const hint = `${searchHint}, or searchFirst: 'never' for a journal that loses nothing`;
      throw await journal.confirmNotSent(errors.createNotSentError(problem, hint, retryable));
    }
    const hasTaken = pages === 0 && cause !== undefined;
    const detail = hasTaken ? '' : `In this call, ${problem}.\n${searchHint}`;
    throw errors.createInDoubtError(claim, cause, detail, { retryable });
  }
}

/** The earliest time at which the payment can have been made, by this machine's clock. */
async function estimateEarliest(
  since: number | undefined,
  journal: GuardedJournal,
  entry: JournalEntry | undefined,
): Promise<number | undefined> {
  // A store that may have lost an earlier claim does not know when the payment was first claimed.
  if (entry === undefined || (await journal.searchesFirst())) return since;
  const firstAt = journal.toLocalTime(readFirstTime(entry));
  return Math.min(since ?? firstAt, firstAt);
}

/** Returns since when an earlier request for the payment may have taken effect. */
function describeTakeover(
  { platform }: OnceContext,
  journal: GuardedJournal,
  entry: JournalEntry | undefined,
): Takeover {
  const comparesTerms = platform.descriptions !== 'as_sent';
  if (entry === undefined) return { since: epoch, isPlatformTime: false, comparesTerms };
  const firstAt = isOpen(entry) ? readFirstClaim(entry) : readFirstTime(entry);
  // If an operator has ended an earlier series of claims, `platformTime` does not cover that series.
  const isFirst = isOpen(entry) && readFirstTime(entry) >= firstAt;
  if (isFirst && entry.platformTime !== undefined) {
    return { since: entry.platformTime, isPlatformTime: true, comparesTerms };
  }
  return { since: journal.toLocalTime(firstAt), isPlatformTime: false, comparesTerms };
}

/** The payment in the journal to which a listed transfer belongs. */
interface Owner {
  readonly key: string;
  /** Whether the payment's entry names the transfer. Otherwise the transfer's description is the reference. */
  readonly isRecorded: boolean;
}

/**
 * Returns a check whether a transfer belongs to another payment of the journal. Asks the journal
 * once for each transfer.
 */
export function createOwnerCheck(getJournal: () => GuardedJournal): IsOtherPayment {
  const owners = new Map<string, Promise<Owner | undefined>>();
  return async (transfer, input) => {
    const { id } = transfer;
    if (!isTransferId(id)) return false;
    const asked = owners.get(id) ?? findOwner(getJournal(), transfer);
    owners.set(id, asked);
    const owner = await asked;
    if (owner === undefined || owner.key === journalKey(input.description ?? '')) return false;
    // A platform that cuts descriptions may list rent-2026-11 as rent-2026-1, the reference of another payment.
    return owner.isRecorded || compareTransfer(transfer, input) === 'other';
  };
}

/** Finds the payment in the journal to which a transfer belongs. */
export async function findOwner(
  journal: GuardedJournal,
  transfer: Transfer,
): Promise<Owner | undefined> {
  const { id, description } = transfer;
  const recorded = await journal.findPaid(id);
  if (recorded) return { key: journalKey(recorded.input.description), isRecorded: true };
  // A journal contains only valid references, and a store may throw on any other string.
  if (!isReference(description)) return undefined;
  const entry = await journal.read(description);
  if (entry?.input.description !== description || entry.dismissed?.includes(id) === true) {
    return undefined;
  }
  const key = journalKey(description);
  if (entry.state === 'paid')
    return entry.transferId === id ? { key, isRecorded: true } : undefined;
  return hasEqualTerms(transfer, entry.input) ? { key, isRecorded: false } : undefined;
}

export function transfersOf(found: SearchResult): readonly Transfer[] {
  if (found.result === 'not_found') return [];
  return found.result === 'found' ? [found.transfer] : found.candidates;
}

/** What helps if the list is too long for the time of one call. */
export const searchHint =
  'What helps: platform.transfersNewestFirst with since, createAllOnce, whose searches take as long as they need, or a larger totalTimeout';
