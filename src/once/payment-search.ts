import { isReference } from '../internal/formats.ts';
import { isTransferId, type OnceInput, type Transfer } from '../schemas/transfer.ts';
import { maxCandidates } from '../search/search.ts';
import type { OnceContext } from './context.ts';
import type { SearchResult } from './decision.ts';
import { isOpen, readFirstTime, type Before } from './entries.ts';
import type { GuardedJournal } from './guarded-journal.ts';

/** Searches the platform's list of the source account's transfers for one payment. */
export class PaymentSearch {
  readonly #reference: string;
  readonly #context: OnceContext;
  readonly #journal: GuardedJournal;

  constructor(reference: string, context: OnceContext, journal: GuardedJournal) {
    this.#reference = reference;
    this.#context = context;
    this.#journal = journal;
  }

  /**
   * Searches the platform's list once, and leaves out transfers that the journal records as other
   * payments. `cause` is the error that led to the search, if there is one.
   */
  async run(
    entry: Before,
    input: OnceInput,
    { cause, isConfirmed = false }: { cause?: unknown; isConfirmed?: boolean } = {},
  ): Promise<SearchResult> {
    const { signal } = this.#context;
    const result = await this.#searchList(entry, input, cause, isConfirmed);
    this.#journal.startPhase(signal);
    if (result.result !== 'ambiguous') return result;
    // The search stops at so many candidates, so the payment may be among the unread transfers.
    if (result.candidates.length >= maxCandidates) return result;
    const candidates: Transfer[] = [];
    for (const transfer of result.candidates) {
      if (!(await this.isOfAnotherReference(transfer))) candidates.push(transfer);
    }
    return candidates.length > 0 ? { ...result, candidates } : { result: 'not_found' };
  }

  /**
   * Searches the list with a deadline of its own, `searchTimeout`. Throws a PaymentInDoubtError if
   * the search fails or takes longer. Its cause is `cause` or else the error of the search.
   */
  #searchList(entry: Before, input: OnceInput, cause: unknown, isConfirmed: boolean) {
    const { signal, searchTimeout } = this.#context;
    const { errors } = this.#journal;
    this.#journal.startPhase(signal, searchTimeout);
    const earliest = this.#estimateEarliest(entry);
    const dismissed = new Set(entry?.dismissed);
    const isUnclaimed = isConfirmed && entry === undefined;
    const claim = isOpen(entry) ? entry : undefined;
    let pages = 0;
    const onPage = (): void => {
      pages += 1;
    };
    return this.#journal.runInTime(
      (deadline) =>
        this.#context.reads.search(
          { input, earliest, dismissed },
          { isUnclaimed, confirms: isConfirmed, signal: deadline.signal, onPage },
        ),
      (failure) =>
        'error' in failure
          ? errors.createInDoubtError(claim, cause ?? failure.error)
          : errors.createInDoubtError(claim, cause, describeSlowSearch(searchTimeout, pages)),
    );
  }

  /** The earliest time at which the payment can have been made, by this machine's clock. */
  #estimateEarliest(entry: Before): number | undefined {
    const { since } = this.#context;
    if (entry === undefined) return since;
    // A journal that can lose entries may have lost an earlier claim, so no time is certain.
    if (since === undefined && this.#journal.searchFirst !== 'never') return undefined;
    const claimedAt = this.#journal.toLocalTime(readFirstTime(entry));
    return Math.min(since ?? claimedAt, claimedAt);
  }

  /** Whether the journal records a transfer as the payment of another reference. */
  async isOfAnotherReference({ id, description }: Transfer): Promise<boolean> {
    // A journal contains only valid references, and a store may throw on any other string.
    if (!isReference(description) || description === this.#reference) return false;
    const entry = await this.#journal.read(description);
    return entry?.state === 'paid' && entry.transferId === id;
  }
}

export function transferIdsOf(found: SearchResult): string[] {
  if (found.result === 'not_found') return [];
  const transfers = found.result === 'found' ? [found.transfer] : found.candidates;
  return transfers.map(({ id }) => id).filter(isTransferId);
}

const describeSlowSearch = (timeout: number, pages: number): string =>
  `The search of the list did not end within ${timeout} ms (totalTimeout); it read ${pages} pages.\nWhat helps: platform.transfersNewestFirst with since, createAllOnce, a journal that does not forget, or a larger totalTimeout`;
