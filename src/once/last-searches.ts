import type { RequestOptions } from '../calls/options.ts';
import { isEqual } from '../internal/objects.ts';
import type { OpenEntry } from '../journals/journal.ts';
import type { Situation } from './decision.ts';

/** A whole search of the list that did not find a payment in doubt. */
export interface LastSearch {
  /** The payment's state at that search. */
  readonly situation: Situation;
  /** The error that left the payment in doubt, if this process has it. */
  readonly cause: unknown;
  readonly since?: number | undefined;
  readonly headers: RequestOptions['headers'];
  /** When it makes sense to search again, in milliseconds of the client's monotonic clock. */
  readonly until: number;
}

/** The most payments to remember. If there are more, the oldest are forgotten. */
const maxPayments = 10_000;

/**
 * The latest searches of a client that found nothing, to answer callers that call again too early.
 * Otherwise a loop without a delay would read the whole list at each turn.
 */
export class LastSearches {
  /** By claim id, because each claim has a request of its own. */
  readonly #byClaim = new Map<string, LastSearch>();
  /** References whose search did not end in time, so that another try would probably fail, too. */
  readonly #endless = new Set<string>();

  /** Returns the latest search for a claim if its result still holds; undefined otherwise. */
  find(
    claim: OpenEntry | undefined,
    { since, headers }: Pick<LastSearch, 'since' | 'headers'>,
    elapsed: number,
  ): LastSearch | undefined {
    // An ambiguous payment is searched for again, because another process may have found candidates meanwhile.
    const last = claim?.state === 'sending' ? this.#byClaim.get(claim.claimId) : undefined;
    if (last === undefined || elapsed >= last.until) return undefined;
    return isEqual([last.since, last.headers], [since, headers]) ? last : undefined;
  }

  add({ claimId }: OpenEntry, search: LastSearch): void {
    this.#byClaim.delete(claimId);
    this.#byClaim.set(claimId, search);
    dropOldest(this.#byClaim);
  }

  /** Notes that a search did not end in time. Returns whether that is the first time. */
  addEndless(reference: string): boolean {
    const isFirst = !this.#endless.has(reference);
    this.#endless.add(reference);
    dropOldest(this.#endless);
    return isFirst;
  }
}

function dropOldest(kept: Map<string, unknown> | Set<string>): void {
  const [oldest] = kept.keys();
  if (kept.size > maxPayments && oldest !== undefined) kept.delete(oldest);
}
