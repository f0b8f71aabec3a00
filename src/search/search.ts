import { parseHttpDate } from '../calls/time.ts';
import { defaultClockSkew, type RequestOptions } from '../calls/options.ts';
import type { Head, ReportDrift } from '../calls/call.ts';
import type { Trace } from '../calls/tracing.ts';
import { detailedIssuesOf, invalidArguments } from '../calls/arguments.ts';
import { PaymentsError, ValidationError, type CallIdentity } from '../errors/errors.ts';
import { reattribute } from '../errors/message.ts';
import type { Redact } from '../errors/redact.ts';
import { warn } from '../internal/runtime.ts';
import type { Page } from '../schemas/page.ts';
import type { Transfer, TransferCreateInput } from '../schemas/transfer.ts';
import { compareTransfer, isId, isOutgoing, isRival, parseCreatedAt, sideOf } from './compare.ts';
import { InputIndex } from './input-index.ts';
import type { ListOrder } from './list-order.ts';
import type { TransferApi } from './transfer-api.ts';

/** Result of a search for one payment. Only `found` is certain. */
export type Reconciliation =
  | {
      /** Exactly one Transfer in the list is the payment. */
      readonly result: 'found';
      /** The Transfer as the list shows it. */
      readonly transfer: Transfer;
    }
  | {
      /**
       * An operator has to decide: several Transfers match, or one may be older than `since`,
       * cannot be compared in every field, or has this description and other fields.
       */
      readonly result: 'ambiguous';
      /** All Transfers that match or may match, at most 1,000. */
      readonly candidates: readonly Transfer[];
    }
  | {
      /** None of the Transfers that were read matches the payment. */
      readonly result: 'not_found';
      /** How many Transfers the search has read. */
      readonly scanned: number;
    };

/** A payment to search for in the platform's list of Transfers. */
export interface Search<Input extends TransferCreateInput = TransferCreateInput> {
  readonly input: Input;
  /** Transfers created before this time are other payments. @default 1970 */
  readonly start?: number | undefined;
  /** How many milliseconds this machine's clock and the platform's may differ. @default 120000 */
  readonly clockSkew?: number | undefined;
  /**
   * A time before which the payment was not made, by this machine's clock; undefined if unknown.
   */
  readonly earliest: number | undefined;
  /** Ids of transfers that an operator has decided to be other payments than this one. */
  readonly dismissed?: ReadonlySet<unknown> | undefined;
}

/** How to read the list of one source account's Transfers. */
interface ScanOptions {
  readonly paging: RequestOptions;
  /** Returns the page size of the next scan of the list. @default 100 */
  readonly pageSize?: (() => number) | undefined;
  /**
   * Whether the search says `not_found` only after two scans in a row, if the list has several
   * pages. One scan can miss a transfer that moves to another page meanwhile, and if the journal
   * has lost the payment's claim, the payment would then be made twice.
   */
  readonly confirms?: boolean | undefined;
  readonly onPage?: (() => void) | undefined;
  /** The call to which hooks attribute the page requests. Without it, each page is its own call. */
  readonly within?: Trace | undefined;
}

export const reconcileCall: CallIdentity = {
  operation: 'transfers.reconcile',
  method: 'GET',
  path: '/transfers',
};

/** A search of more pages than this prints a warning, because it costs more than a payment. */
const maxQuietPages = 50;
const slowSearchWarning = `payments-platform-sdk: a search for a payment has read more than ${maxQuietPages} pages of its account's transfers.\nWhat helps: platform.transfersNewestFirst with since, createAllOnce for many payments, or a journal that does not forget.`;

/**
 * How many times at most a list that changes while it is read is scanned. Such a list may hide one
 * Transfer and show another twice, but some lists never stop growing.
 */
export const maxScans = 3;
export const movingList = `changed while it was read, in each of ${maxScans} scans`;

/** The limit of candidates for one payment, because an operator cannot use more. */
export const maxCandidates = 1_000;

/** If two clocks differ by more, a cached `Date` header or a missing clock may be the cause. */
const maxClockDifference = 24 * 60 * 60_000;

/** The year 1970, which is before every Transfer. */
export const epoch = 0;

/** The largest documented page size, for scans to which an outdated cached page does no harm. */
export const largestPage = (): number => 100;

/**
 * Returns a function that gives each scan for an open payment another page size, from 81 to
 * 100. A cache that ignores the request's headers rarely has such a page, and never one from the
 * scan before.
 */
export function createPageSizes(): () => number {
  let next = Math.floor(Math.random() * 20);
  return () => 81 + (next++ % 20);
}

/** A Transfer that may be the payment, whenever the Transfer was created. */
interface Candidate {
  readonly transfer: Transfer;
  readonly isSame: boolean;
}

/** A payment to search for, and the transfers that all scans of the list have found for it. */
interface SoughtPayment {
  readonly search: Search;
  readonly input: TransferCreateInput;
  /** Candidates that are listed as outgoing, by id. Without an id, a transfer is its own key. */
  readonly outgoing: Map<unknown, Candidate>;
  readonly incoming: Map<unknown, Candidate>;
  hasTooMany: boolean;
}

/** What the scans of a list have shown so far, with only a key for transfers of other payments. */
export interface ScanState {
  readonly sides: Set<string>;
  withoutId: number;
  /** How far this machine's clock is ahead of the platform's; undefined without a `Date` header. */
  ahead: number | undefined;
  /** Whether the last scan of the list showed a transfer twice. */
  hasMoved: boolean;
  /** Whether a page of the list came from a cache. */
  isCached: boolean;
  /** Why the last scan does not prove where the list ends; undefined if the scan does. */
  problem: string | undefined;
}

export const createScanState = (): ScanState => ({
  sides: new Set(),
  withoutId: 0,
  ahead: undefined,
  hasMoved: false,
  isCached: false,
  problem: undefined,
});

/** The search's result for one payment of several. An error leaves only that payment in doubt. */
export type Finding = Reconciliation | PaymentsError;

export type FindingsOf<S extends readonly Search[]> = {
  readonly [K in keyof S]: Finding;
};

/** Returns the result of the search for one payment, or throws the error of that search. */
export function requireResult(finding: Finding): Reconciliation {
  if (finding instanceof PaymentsError) throw finding;
  return finding;
}

/** Replaces `not_found` by an error, because a list that keeps changing may hide the payment. */
const hideNotFound = (result: Reconciliation): Finding =>
  result.result === 'not_found' ? stillInDoubt(createListError(movingList), epoch) : result;

/** Searches lists of Transfers for payments. */
export class TransferSearch {
  readonly now: () => number;
  readonly listOrder: ListOrder;
  readonly #api: TransferApi;
  readonly #redact: Redact;

  constructor(
    api: TransferApi,
    options: { now: () => number; redact: Redact; listOrder: ListOrder },
  ) {
    this.now = options.now;
    this.listOrder = options.listOrder;
    this.#api = api;
    this.#redact = options.redact;
  }

  /**
   * Searches the list of one source account for several payments. Returns one finding for each
   * search, in the same order. An error leaves all the payments in doubt.
   */
  async search<S extends readonly Search[]>(
    source: string,
    searches: S,
    options: ScanOptions,
  ): Promise<FindingsOf<S>> {
    try {
      const payments = searches.map((search): SoughtPayment => {
        const { input } = search;
        return { search, input, outgoing: new Map(), incoming: new Map(), hasTooMany: false };
      });
      // The cast is right, because each search has a payment, and each payment gets a finding.
      return (await this.#scanUntilDecided(source, payments, options)) as FindingsOf<S>;
    } catch (error) {
      const start = Math.min(...searches.map((search) => search.start ?? epoch));
      if (error instanceof ValidationError) {
        const issues = detailedIssuesOf(error);
        throw stillInDoubt(invalidArguments(reconcileCall, issues, this.#redact), start);
      }
      throw error instanceof PaymentsError ? stillInDoubt(error, start) : error;
    }
  }

  /**
   * Scans the list until each payment is found, or until the list no longer changes. If the list
   * still changes in scan `maxScans`, each payment that was not found gets an error as its finding.
   */
  async #scanUntilDecided(
    source: string,
    payments: readonly SoughtPayment[],
    options: ScanOptions,
  ): Promise<readonly Finding[]> {
    const state = createScanState();
    const index = new InputIndex(payments);
    const earliest = findEarliest(payments);
    /** The scans in a row, up to the last one, during which the list did not change. */
    let stableScans = 0;
    for (let scan = 1; ; scan += 1) {
      let pages = 0;
      for await (const transfers of this.scan(source, earliest, options, state)) {
        pages += 1;
        if (pages > maxQuietPages) warn(slowSearchWarning);
        for (const transfer of transfers) {
          for (const payment of index.find(transfer)) addCandidate(payment, transfer);
        }
        if (payments.every(({ hasTooMany }) => hasTooMany)) break;
      }
      if (state.problem !== undefined) throw createListError(state.problem);
      const results = payments.map((payment) => decide(payment, state));
      const isDecided = results.every(({ result }) => result !== 'not_found');
      stableScans = state.hasMoved ? 0 : stableScans + 1;
      // The number of pages is this scan's, because with larger pages two pages may become one.
      const neededScans = options.confirms === true && pages > 1 ? 2 : 1;
      if (isDecided || stableScans >= neededScans) return results;
      if (stableScans === 0 && scan >= maxScans) return results.map(hideNotFound);
    }
  }

  /**
   * Reads the list once, page by page, until the list ends, has come to transfers before
   * `earliest`, or shows a problem. Writes to `state` what the pages show beside their transfers.
   * The caller has to check `state.problem`.
   */
  async *scan(
    source: string,
    earliest: number,
    { paging, pageSize = largestPage, onPage, within }: ScanOptions,
    state: ScanState,
  ): AsyncGenerator<readonly Transfer[], void, undefined> {
    const order = this.listOrder.createCheck();
    // The first scan writes straight into state.sides, to save a second set for a long list.
    const sidesOfScan = state.sides.size === 0 ? state.sides : new Set<string>();
    Object.assign(state, { hasMoved: false, problem: undefined });
    /** Reports a difference from the documented response, for the latest page. */
    let reportDrift: ReportDrift = () => undefined;
    const onHead = (head: Head, reportPage: ReportDrift): void => {
      reportDrift = reportPage;
      readHead(head, state, this.now());
    };
    const query = { ...(this.#api.isFiltered && { accountId: source }), limit: pageSize() };
    for await (const page of this.#api.list(query, paging, { onHead, within }).pages()) {
      state.problem = findPageProblem(page, state.isCached);
      if (state.problem !== undefined) return;
      onPage?.();
      readSides(page.data, state, sidesOfScan);
      yield page.data;
      if (order === undefined) continue;
      order.read(page.data);
      if (order.isContradicted) this.listOrder.reportDisorder(reportDrift);
      // `earliest` only decides where a scan may stop. Older transfers that were read count, too.
      if (state.ahead !== undefined && order.hasReached(earliest - state.ahead)) return;
    }
  }
}

/** A time before which none of the payments was made. */
const findEarliest = (payments: readonly SoughtPayment[]): number =>
  Math.min(
    ...payments.map(({ search: { earliest = Number.NEGATIVE_INFINITY, clockSkew } }) => {
      return earliest - (clockSkew ?? defaultClockSkew);
    }),
  );

/** Finds in a page's headers whether a cache sent it, and how far this machine's clock is ahead. */
function readHead({ headers }: Head, state: ScanState, now: number): void {
  state.isCached ||= Number(headers.get('age')) > 0;
  const ahead = now - parseHttpDate(headers.get('date'));
  if (!Number.isNaN(ahead)) state.ahead = Math.max(state.ahead ?? 0, ahead);
}

/** Remembers the transfers of a page, and whether this scan has shown one of them before. */
function readSides(
  transfers: readonly Transfer[],
  state: ScanState,
  sidesOfScan: Set<string>,
): void {
  for (const transfer of transfers) {
    const side = sideOf(transfer);
    if (side === undefined) {
      state.withoutId += 1;
    } else {
      state.hasMoved ||= sidesOfScan.has(side);
      sidesOfScan.add(side);
      state.sides.add(side);
    }
  }
}

/** Adds a listed transfer to the candidates of a payment, if the transfer may be the payment. */
function addCandidate(payment: SoughtPayment, transfer: Transfer): void {
  const { input, outgoing, incoming, search } = payment;
  if (search.dismissed?.has(transfer.id) === true) return;
  const likeness = compareTransfer(transfer, input);
  if (likeness === 'other' || payment.hasTooMany) return;
  const key = isId(transfer.id) ? transfer.id : transfer;
  const isSame = likeness === 'same';
  const side = isOutgoing(transfer) ? outgoing : incoming;
  // A list that grows while it is read may show one Transfer on two pages. The second replaces the
  // first only if it certainly is the payment.
  if (side.has(key) && !isSame) return;
  if (!side.has(key) && outgoing.size + incoming.size === maxCandidates) payment.hasTooMany = true;
  else side.set(key, { transfer, isSame });
}

/**
 * Why a page does not prove where the list of transfers ends. Such a list may hide the payment.
 * Assumption A6: docs/proof.md. Caches: docs/gaps.md, row 65.
 */
function findPageProblem(
  { data, hasMore, nextCursor }: Page<Transfer>,
  isCached: boolean,
): string | undefined {
  if (isCached) return 'has a page from a cache (header age)';
  if (hasMore && data.length === 0) return 'has an empty page, and reports that more follow';
  if (!hasMore && nextCursor) return 'reports that no page follows, and has a cursor for one';
  // The items of a page are checked here, because only strict validation has checked them before.
  const isReadable = data.every((item) => Object(item) === item);
  return isReadable ? undefined : 'contains an item that is not a transfer';
}

export const createListError = (problem: string): PaymentsError =>
  new PaymentsError(`The list ${problem}.`, { ...reconcileCall, outcome: 'unknown' });

const hasReference = ({ description }: TransferCreateInput): boolean => (description ?? '') !== '';

/** Whether a Transfer was created at or after `start`, as far as clocks that differ can tell. */
function compareTime(
  { createdAt }: Transfer,
  { input, start = epoch, clockSkew = defaultClockSkew }: Search,
  ahead: number,
): 'too_old' | 'in_time' | 'unclear' {
  const { earliest, latest } = parseCreatedAt(createdAt);
  if (latest < start - clockSkew - ahead) return 'too_old';
  if (!hasReference(input)) return start > epoch && earliest >= start ? 'in_time' : 'unclear';
  if (start === epoch) return 'in_time';
  // A payment with a reference is not confused with an earlier one, so its time may differ as much
  // as the clocks do. But a machine whose clock is days off more likely has no clock.
  const tolerance = clockSkew + Math.min(ahead, maxClockDifference);
  return latest >= start - tolerance ? 'in_time' : 'unclear';
}

/**
 * Decides about a payment after a whole scan, which alone shows how far the clocks differ. Returns
 * `found` only if one transfer certainly is the payment and no other transfer may be.
 */
function decide(
  { search, input, outgoing, incoming, hasTooMany }: SoughtPayment,
  { sides, withoutId, ahead = 0 }: ScanState,
): Reconciliation {
  if (hasTooMany) {
    const all = [...outgoing.values(), ...incoming.values()];
    const candidates = all.map(({ transfer }) => transfer);
    return { result: 'ambiguous', candidates };
  }
  const certain: Transfer[] = [];
  const doubtful: Transfer[] = [];
  for (const { transfer, isSame } of outgoing.values()) {
    const time = compareTime(transfer, search, ahead);
    if (time === 'too_old') continue;
    if (isSame && time === 'in_time') certain.push(transfer);
    else doubtful.push(transfer);
  }
  const [only] = certain;
  // If the platform has returned one transfer's reference and amount as they were sent, a transfer
  // that writes them differently belongs to another payment.
  const rivals = doubtful.filter((transfer) => !hasReference(input) || isRival(transfer, input));
  if (only !== undefined && certain.length + rivals.length === 1) {
    return { result: 'found', transfer: only };
  }
  // The list may show a book transfer only as incoming, as the payment itself or as its other side.
  // How `direction` is set is not documented: docs/gaps.md, row 42.
  const arriving = [...incoming]
    .filter(([key]) => !outgoing.has(key))
    .map(([, { transfer }]) => transfer)
    .filter((transfer) => compareTime(transfer, search, ahead) !== 'too_old');
  const candidates = [...certain, ...doubtful, ...arriving];
  return candidates.length > 0
    ? { result: 'ambiguous', candidates }
    : { result: 'not_found', scanned: sides.size + withoutId };
}

/**
 * The error of a failed search, which leaves the payment in doubt. A 401 for the search does not
 * mean that the payment was rejected, and a job that starts over because the search sent nothing
 * would pay twice.
 */
export function stillInDoubt(error: PaymentsError, start: number): PaymentsError {
  const facts = {
    operation: reconcileCall.operation,
    outcome: 'unknown',
    retryable: false,
    startedAt: new Date(start).toISOString(),
  } as const;
  const retryHint = 'with payments.transfers.reconcile(input, { since })';
  if (!(error instanceof ValidationError)) {
    const what = 'The transfer is still in doubt: the search failed';
    return reattribute(
      error,
      { what, hint: `Do not send it again; try again ${retryHint}` },
      facts,
    );
  }
  const what = 'The transfer is still in doubt: the search could not start';
  const hint = `Do not send it again; fix the arguments and try again ${retryHint}`;
  return reattribute(error, { what, hint }, facts);
}
