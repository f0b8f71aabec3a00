import { keepContext } from '../calls/tracing.ts';
import type { RequestOptions } from '../calls/options.ts';
import type { Clock } from '../calls/time.ts';
import { PaymentsError } from '../errors/errors.ts';
import type { OnceInput } from '../schemas/transfer.ts';
import {
  createPageSizes,
  requireResult,
  type Finding,
  type IsOtherPayment,
  type Reconciliation,
  type Search,
  type TransferSearch,
} from '../search/search.ts';

type Request = Search<OnceInput>;

interface Waiter {
  readonly request: Request;
  readonly resolve: (finding: Finding) => void;
  readonly reject: (error: unknown) => void;
}

/** What a search found for a payment that has no claim yet, stored until the payment is made. */
interface EarlyResult {
  readonly result: Reconciliation;
  readonly input: OnceInput;
  /**
   * When the search ended. The monotonic clock may stop while the machine is suspended, and the
   * wall clock may be set.
   */
  readonly elapsed: number;
  readonly now: number;
}

/** The payments of a batch that share searches, because they have one source account. */
interface Source {
  readonly pageSize: () => number;
  waiters: Waiter[];
  /** Payments without a claim that the next search has to look for. */
  unsearched: Map<string, OnceInput>;
  isSearching: boolean;
  /** References of unclaimed payments in a running search, and a promise of the search's end. */
  current: { readonly references: Set<string>; readonly end: Promise<void> } | undefined;
}

interface SharedOptions {
  readonly paging: RequestOptions;
  readonly clock: Required<Clock>;
  /** How many milliseconds the result of a search may be used for a payment without a claim. */
  readonly freshMs: number;
  readonly since: number | undefined;
  /** Creates the check of one search, so that the search asks the journal once for each transfer. */
  readonly isOtherPayment: () => IsOtherPayment;
}

/**
 * Searches the platform's lists for the payments of a batch. A search serves the payments of its
 * account that wait when the search starts, and later payments get the next search.
 */
export class SharedSearches {
  readonly #transferSearch: TransferSearch;
  readonly #options: SharedOptions;
  readonly #sources = new Map<string, Source>();
  readonly #earlyResults = new Map<string, EarlyResult>();
  /** Identifies the batch. A reference to this object would keep the searches' results in memory. */
  readonly batch = Symbol('batch');
  /** When a search for a payment without a claim last read a page, by `clock.elapsed`. */
  lastPageAt = Number.NEGATIVE_INFINITY;
  /** After `stop`: creates the error of each search. */
  #createStopError: (() => PaymentsError) | undefined;
  /** Runs a search in the async context of the caller's loop, because many payments share it. */
  readonly #runInContext = keepContext();

  constructor(transferSearch: TransferSearch, options: SharedOptions) {
    this.#transferSearch = transferSearch;
    this.#options = options;
  }

  /** Makes running and later searches fail. The caller has to abort the reading of the list. */
  stop(createError: () => PaymentsError): void {
    this.#createStopError = createError;
  }

  /** Registers a payment of the batch, so that the next search of its account looks for the payment, too. */
  addUnclaimed(input: OnceInput): void {
    this.#sourceOf(input).unsearched.set(input.description, input);
  }

  /** Forgets what a search found for a payment, because the payment was decided or perhaps made since. */
  drop({ description, sourceAccountId }: OnceInput): void {
    this.#earlyResults.delete(description);
    const source = this.#sources.get(sourceAccountId);
    source?.unsearched.delete(description);
    source?.current?.references.delete(description);
  }

  /** Searches for an unclaimed payment. Uses the result of a running or recent search, if any. */
  async searchUnclaimed(request: Request): Promise<Reconciliation> {
    const { input } = request;
    const { current } = this.#sourceOf(input);
    if (this.#createStopError !== undefined) throw this.#createStopError();
    if (current?.references.has(input.description) === true) await current.end;
    const early = this.#earlyResults.get(input.description);
    if (early !== undefined && this.#isFresh(early)) return early.result;
    const result = await this.search(request);
    // If the platform rejects the payment, the payment's next try can use this search's result again.
    this.#keepEarly(input, result);
    return result;
  }

  /** Searches for a payment, in a search that starts after this call. */
  search(request: Request): Promise<Reconciliation> {
    if (this.#createStopError !== undefined) return Promise.reject(this.#createStopError());
    const source = this.#sourceOf(request.input);
    this.drop(request.input);
    const finding = new Promise<Finding>((resolve, reject) => {
      source.waiters.push({ request, resolve, reject });
      if (source.isSearching) return;
      source.isSearching = true;
      // Payments that ask in the same turn of the event loop share the search of the list.
      const search = () => void this.#searchForAll(source);
      this.#runInContext(() => this.#options.clock.setTimeout(search, 0));
    });
    return finding.then(requireResult);
  }

  async #searchForAll(source: Source): Promise<void> {
    for (let waiters = source.waiters; waiters.length > 0; waiters = source.waiters) {
      source.waiters = [];
      const unclaimed = this.#takeUnclaimed(source);
      const references = new Set(unclaimed.map(({ input }) => input.description));
      const end = this.#searchOnce(source, waiters, unclaimed, references);
      source.current = { references, end };
      await end;
      source.current = undefined;
    }
    source.isSearching = false;
  }

  /**
   * Searches the list once: answers the `waiters`, and stores the results of the `unclaimed`
   * payments. Skips a payment whose reference `drop` has removed from `references` meanwhile.
   */
  async #searchOnce(
    { pageSize }: Source,
    waiters: readonly Waiter[],
    unclaimed: readonly Request[],
    references: ReadonlySet<string>,
  ): Promise<void> {
    const requests = [...waiters.map(({ request }) => request), ...unclaimed];
    const isStillWanted = ({ input }: Request): boolean => references.has(input.description);
    try {
      const [first] = waiters;
      if (first === undefined) return;
      const source = first.request.input.sourceAccountId;
      const { paging, clock } = this.#options;
      const isOtherPayment = this.#options.isOtherPayment();
      const isForFirstClaim = waiters.some(({ request }) => request.scans === 'confirmed');
      const onPage = (): void => {
        if (isForFirstClaim) this.lastPageAt = clock.elapsed();
      };
      const options = { paging, pageSize, isOtherPayment, onPage };
      const findings = await this.#transferSearch.search(source, requests, options);
      // The findings are in the order of `requests`: first of the waiters, then of the others.
      const unclaimedFindings = findings.slice(waiters.length);
      for (const [at, request] of unclaimed.entries()) {
        if (isStillWanted(request)) this.#keepEarly(request.input, unclaimedFindings[at]);
      }
      for (const [at, finding] of findings.entries()) waiters[at]?.resolve(finding);
    } catch (error) {
      for (const { input } of unclaimed.filter(isStillWanted)) this.#keepEarly(input, undefined);
      for (const { reject } of waiters) reject(this.#createStopError?.() ?? error);
    }
  }

  /** Returns unclaimed payments that no recent search has searched for, and empties their queue. */
  #takeUnclaimed(source: Source): Request[] {
    for (const [reference, early] of this.#earlyResults) {
      if (this.#isFresh(early) || this.#sourceOf(early.input) !== source) continue;
      this.#earlyResults.delete(reference);
      source.unsearched.set(reference, early.input);
    }
    const inputs = [...source.unsearched.values()];
    source.unsearched = new Map();
    const dismissed = new Set();
    return inputs.map((input) => {
      return { input, scans: 'confirmed', earliest: this.#options.since, dismissed };
    });
  }

  /** Stores a search's result for a payment. If the search failed, queues the payment for the next search. */
  #keepEarly(input: OnceInput, result: Finding | undefined): void {
    if (result === undefined || result instanceof PaymentsError) {
      this.#sourceOf(input).unsearched.set(input.description, input);
      return;
    }
    const { clock } = this.#options;
    const [elapsed, now] = [clock.elapsed(), clock.now()];
    this.#earlyResults.set(input.description, { result, input, elapsed, now });
  }

  #isFresh({ elapsed, now }: EarlyResult): boolean {
    const { clock, freshMs } = this.#options;
    const ages = [clock.elapsed() - elapsed, clock.now() - now];
    return ages.every((age) => age >= 0 && age < freshMs);
  }

  #sourceOf({ sourceAccountId }: OnceInput): Source {
    const source = this.#sources.get(sourceAccountId) ?? {
      pageSize: createPageSizes(),
      waiters: [],
      unsearched: new Map(),
      isSearching: false,
      current: undefined,
    };
    this.#sources.set(sourceAccountId, source);
    return source;
  }
}
