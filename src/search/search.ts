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
import {
  compareTransfer,
  hasEqualTerms,
  hasOffset,
  isForeign,
  isId,
  isOutgoing,
  isRival,
  parseCreatedAt,
} from './compare.ts';
import { InputIndex } from './input-index.ts';
import type { ListOrder } from './list-order.ts';
import { ScanRows } from './scan-rows.ts';
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
      /** How many Transfers the last scan of the list has read. */
      readonly scanned: number;
    };

/** A payment to search for in the platform's list of Transfers. */
export interface Search<Input extends TransferCreateInput = TransferCreateInput> {
  readonly input: Input;
  /** How many scans of the list the result `not_found` needs. */
  readonly scans: Scans;
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
  /** Set if the payment may be sent after `not_found`, although an earlier request may have paid. */
  readonly takeover?: Takeover | undefined;
}

/**
 * The scans that `not_found` needs. `once`: one; `confirmed`: two that agree if the list has
 * several pages; `twice`: two that agree in any case.
 */
export type Scans = 'once' | 'confirmed' | 'twice';

/** Since when a request of the payment may have taken effect. */
export interface Takeover {
  readonly since: number;
  /** Whether `since` is by the platform's clock. Otherwise `since` is by this machine's clock. */
  readonly isPlatformTime: boolean;
  /** Whether a transfer with the payment's terms may be the payment in spite of another description. */
  readonly comparesTerms: boolean;
}

/** Finds out whether a listed transfer is another payment of the caller's journal. */
export type IsOtherPayment = (transfer: Transfer, input: TransferCreateInput) => Promise<boolean>;

/** How to read the list of one source account's Transfers. */
interface ScanOptions {
  readonly paging: RequestOptions;
  /** Returns the page size of the next scan of the list. @default 100 */
  readonly pageSize?: (() => number) | undefined;
  readonly isOtherPayment?: IsOtherPayment | undefined;
  readonly onPage?: (() => void) | undefined;
  /** The call to which hooks attribute the page requests. Without it, each page is its own call. */
  readonly within?: Trace | undefined;
  readonly timeLeft?: (() => number) | undefined;
}

export const reconcileCall: CallIdentity = {
  operation: 'transfers.reconcile',
  method: 'GET',
  path: '/transfers',
};

/** A search of more pages than this prints a warning, because it costs more than a payment. */
const maxQuietPages = 50;
const slowSearchWarning = `payments-platform-sdk: a search for a payment has read more than ${maxQuietPages} pages of its account's transfers.\nWhat helps: platform.transfersNewestFirst with since, createAllOnce for many payments, or a store that need not be searched first.`;

/** The limit of scans, of which two in a row have to agree. Some lists never stop growing. */
export const maxScans = 3;
export const movingList = `showed other transfers in each of ${maxScans} scans`;

/** The limit of candidates for one payment, because an operator cannot use more. */
export const maxCandidates = 1_000;

/** If two clocks differ by more, a cached `Date` header or a missing clock may be the cause. */
const maxClockDifference = 24 * 60 * 60_000;

/** The year 1970, because every Transfer is later. */
export const epoch = 0;

const pageSizes = [100, 97, 89] as const;
export const [largestPage] = pageSizes;

/**
 * Returns a function that gives each scan another page size than the scan before. So a list that
 * loses transfers at the end of a page contradicts itself, and a cache has no page of the last scan.
 */
export function createPageSizes(): () => number {
  let next = 0;
  return () => pageSizes[next++ % pageSizes.length] ?? largestPage;
}

/** A Transfer that may be the payment. Its creation time is compared later. */
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

/** What the scans of a list have shown so far. */
export interface ScanState {
  /** The transfers that the scans have shown, to compare the scans. */
  readonly rows: ScanRows;
  /** Transfers older than this are no payment sought. Set by the first page. */
  earliest: number | undefined;
  /** How many transfers the last scan has read. */
  count: number;
  /** How far this machine's clock is ahead of the platform's; undefined without a `Date` header. */
  ahead: number | undefined;
  /** Whether a page of the list came from a cache. */
  isCached: boolean;
  /** Why the last scan does not prove where the list ends; undefined if the scan does. */
  problem: string | undefined;
}

export const createScanState = (): ScanState => ({
  rows: new ScanRows(),
  earliest: undefined,
  count: 0,
  ahead: undefined,
  isCached: false,
  problem: undefined,
});

/** The search's result for one payment of several. An error leaves only that payment in doubt. */
export type Finding = Reconciliation | PaymentsError;

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
  async search(
    source: string,
    searches: readonly Search[],
    options: ScanOptions,
  ): Promise<readonly Finding[]> {
    try {
      const payments = searches.map((search): SoughtPayment => {
        const { input } = search;
        return { search, input, outgoing: new Map(), incoming: new Map(), hasTooMany: false };
      });
      return await this.#scanUntilDecided(source, payments, options);
    } catch (error) {
      const start = Math.min(...searches.map((search) => search.start ?? epoch));
      if (error instanceof ValidationError) {
        const issues = detailedIssuesOf(error);
        throw stillInDoubt(invalidArguments(reconcileCall, issues, this.#redact), start);
      }
      throw error instanceof PaymentsError ? stillInDoubt(error, start) : error;
    }
  }

  /** Searches the list of a payment's source account for that payment. */
  async searchOne(search: Search, options: ScanOptions): Promise<Reconciliation> {
    const findings = await this.search(search.input.sourceAccountId, [search], options);
    return requireResult(findings[0] as Finding);
  }

  /**
   * Scans the list until each payment is found or enough scans agree. After `maxScans` scans,
   * `not_found` becomes an error for each payment that needs scans that agree.
   */
  async #scanUntilDecided(
    source: string,
    payments: readonly SoughtPayment[],
    options: ScanOptions,
  ): Promise<readonly Finding[]> {
    const state = createScanState();
    const index = new InputIndex(payments);
    const takeovers = payments.filter(({ search }) => search.takeover?.comparesTerms === true);
    const pageSize = options.pageSize ?? createPageSizes();
    const bound = createBound(payments);
    let needed = 1;
    for (let scan = 1; ; scan += 1) {
      let pages = 0;
      const pagesOfScan = this.scan(source, bound, { ...options, pageSize }, state);
      for await (const transfers of pagesOfScan) {
        pages += 1;
        if (pages > maxQuietPages) warn(slowSearchWarning);
        for (const transfer of transfers) {
          const similar = index.find(transfer);
          const all =
            takeovers.length === 0
              ? similar
              : new Set([...similar, ...index.findByTerms(transfer)]);
          for (const payment of all) {
            await addCandidate(payment, transfer, state.ahead, options.isOtherPayment);
          }
        }
        if (payments.every(({ hasTooMany }) => hasTooMany)) break;
      }
      if (state.problem !== undefined) throw createListError(state.problem);
      const results = payments.map((payment) => decide(payment, state));
      if (results.every(({ result }) => result !== 'not_found')) return results;
      needed = Math.max(needed, ...payments.map(({ search }) => countScans(search, pages)));
      if (needed === 1 || agree(state)) return results;
      if (scan === maxScans) {
        return results.map((result, at) =>
          payments[at]?.search.scans === 'once' ? result : hideNotFound(result),
        );
      }
    }
  }

  /**
   * Reads the list page by page, until the list ends, has come to transfers before `bound`, or
   * shows a problem. The caller has to check `state.problem`.
   */
  async *scan(
    source: string,
    bound: Bound,
    { paging, pageSize = () => largestPage, onPage, within, timeLeft }: ScanOptions,
    state: ScanState,
  ): AsyncGenerator<readonly Transfer[], void, undefined> {
    const order = this.listOrder.createCheck();
    state.rows.begin(state.problem === undefined);
    Object.assign(state, { count: 0, problem: undefined });
    /** Reports a difference from the documented response, for the latest page. */
    let reportDrift: ReportDrift = () => undefined;
    let date = Number.NaN;
    const onHead = (head: Head, reportPage: ReportDrift): void => {
      reportDrift = reportPage;
      date = readHead(head, state, this.now());
    };
    const { isFiltered } = this.#api;
    const query = { ...(isFiltered && { accountId: source }), limit: pageSize() };
    for await (const page of this.#api.list(query, paging, { onHead, within, timeLeft }).pages()) {
      state.problem = findPageProblem(page, state.isCached);
      if (state.problem !== undefined) return;
      onPage?.();
      const own = page.data.filter((transfer) => !isForeign(transfer, source));
      if (isFiltered && own.length < page.data.length) warn(ignoredFilter);
      state.count += page.data.length;
      // Set once, so that all scans compare the same transfers although pages show different clock differences.
      state.earliest ??= bound(state.ahead);
      state.rows.add(own, state.earliest, date);
      yield page.data;
      if (order === undefined) continue;
      order.read(page.data);
      if (order.isContradicted) this.listOrder.reportDisorder(reportDrift);
      // `bound` only decides where a scan may stop. Older transfers that were read are compared, too.
      if (state.ahead !== undefined && order.hasReached(bound(state.ahead))) return;
    }
  }
}

const ignoredFilter =
  'payments-platform-sdk: the list of one account shows transfers of others, so the platform ignores the filter. Pass platform.transfersFilter: its true name or false.';

/** Whether the last two scans of a list agree. */
export const agree = ({ rows, earliest = epoch }: ScanState): boolean =>
  rows.agree(earliest > Number.NEGATIVE_INFINITY);

/** How many scans a search needs, given the number of pages of its last scan. */
function countScans({ scans }: Search, pages: number): number {
  if (scans === 'twice') return 2;
  return scans === 'confirmed' && pages > 1 ? 2 : 1;
}

/**
 * Returns a time of the platform before which no payment sought was made, or `-Infinity`. `ahead`
 * says how far this machine's clock is ahead of the platform's.
 */
export type Bound = (ahead: number | undefined) => number;

const createBound = (payments: readonly SoughtPayment[]): Bound => {
  const earliest = Math.min(...payments.map(({ search }) => earliestOf(search)));
  const platformTimes = payments.map(({ search: { takeover } }) =>
    takeover?.isPlatformTime === true
      ? takeover.since - defaultClockSkew
      : Number.POSITIVE_INFINITY,
  );
  const platformTime = Math.min(...platformTimes);
  return (ahead) => {
    if (earliest === Number.POSITIVE_INFINITY) return platformTime;
    return ahead === undefined
      ? Number.NEGATIVE_INFINITY
      : Math.min(earliest - ahead, platformTime);
  };
};

/** A time before which a payment was not made, by this machine's clock, minus the error of that clock. */
function earliestOf({ earliest, clockSkew = defaultClockSkew, takeover }: Search): number {
  // A takeover may pay again, and this machine's clock may have been wrong at the claim.
  if (takeover?.isPlatformTime === false) return Number.NEGATIVE_INFINITY;
  const unknown = takeover === undefined ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return (earliest ?? unknown) - clockSkew;
}

/**
 * Finds in a page's headers whether a cache sent it, and how far this machine's clock is ahead.
 * Returns the platform's time, or NaN.
 */
function readHead({ headers }: Head, state: ScanState, now: number): number {
  state.isCached ||= Number(headers.get('age')) > 0;
  const date = parseHttpDate(headers.get('date'));
  if (!Number.isNaN(date)) state.ahead = Math.max(state.ahead ?? 0, now - date);
  return date;
}

/** Adds a listed transfer to the candidates of a payment, if the transfer may be the payment. */
async function addCandidate(
  payment: SoughtPayment,
  transfer: Transfer,
  ahead: number | undefined,
  isOtherPayment: IsOtherPayment | undefined,
): Promise<void> {
  const { input, outgoing, incoming, search } = payment;
  if (payment.hasTooMany || search.dismissed?.has(transfer.id) === true) return;
  const likeness = compareTransfer(transfer, input);
  if (likeness === 'other' && !mayBeTakenOver(transfer, search, ahead)) return;
  const key = isId(transfer.id) ? transfer.id : transfer;
  const isSame = likeness === 'same';
  const side = isOutgoing(transfer) ? outgoing : incoming;
  // A list that grows while it is read may show a Transfer on two pages. The later copy replaces
  // the earlier only if it certainly is the payment.
  if (side.has(key) && !isSame) return;
  if (!isSame && (await isOtherPayment?.(transfer, input)) === true) return;
  if (!side.has(key) && outgoing.size + incoming.size === maxCandidates) payment.hasTooMany = true;
  else side.set(key, { transfer, isSame });
}

/**
 * Whether a transfer may have the terms of a payment that is taken over, and may be from after its
 * first request.
 */
function mayBeTakenOver(transfer: Transfer, { input, takeover }: Search, ahead = 0): boolean {
  if (takeover?.comparesTerms !== true || !hasEqualTerms(transfer, input)) return false;
  const since = takeover.since - (takeover.isPlatformTime ? 0 : ahead) - defaultClockSkew;
  // A time without an offset may be local, and midnight may stand for a whole day.
  const { createdAt } = transfer;
  const isDay = /T00:00(:00)?([.,]0+)?(Z|$)/.test(createdAt);
  const marginMs = hasOffset(createdAt) && !isDay ? 0 : 86_400_000;
  return !(parseCreatedAt(createdAt).latest + marginMs < since);
}

/**
 * Says why a page does not prove where the list of transfers ends; undefined if the page does.
 * Assumption A6: docs/proof.md. Caches: docs/gaps.md, row 65.
 */
function findPageProblem(
  { data, hasMore, nextCursor }: Page<Transfer>,
  isCached: boolean,
): string | undefined {
  if (isCached) return 'has a page from a cache (header age)';
  if (hasMore && data.length === 0) return 'has an empty page, and reports that more follow';
  if (!hasMore && nextCursor) return 'reports that no page follows, and has a cursor for one';
  // The items of a page are checked here, because without strict validation nothing has checked them before.
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
  // The reference tells the payment from earlier ones, so its time may differ by as much as the
  // clocks do. A difference of days more likely means that a clock is not set.
  const tolerance = clockSkew + Math.min(ahead, maxClockDifference);
  return latest >= start - tolerance ? 'in_time' : 'unclear';
}

/**
 * Decides about a payment after a whole scan, because the scan shows how far the clocks differ.
 * Returns `found` only if one transfer certainly is the payment, without a rival.
 */
function decide(
  { search, input, outgoing, incoming, hasTooMany }: SoughtPayment,
  { count, ahead = 0 }: ScanState,
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
  // A book transfer may be listed only as incoming: as the payment itself or as its other side. How
  // `direction` is set is not documented: docs/gaps.md, row 42.
  const arriving = [...incoming]
    .filter(([key]) => !outgoing.has(key))
    .map(([, { transfer }]) => transfer)
    .filter((transfer) => compareTime(transfer, search, ahead) !== 'too_old');
  const candidates = [...certain, ...doubtful, ...arriving];
  return candidates.length > 0
    ? { result: 'ambiguous', candidates }
    : { result: 'not_found', scanned: count };
}

/**
 * Rewrites the error of a failed search, so that the payment stays in doubt. A 401 for the search,
 * for example, does not mean that the payment was rejected.
 */
export function stillInDoubt(error: PaymentsError, start: number): PaymentsError {
  const facts = {
    operation: reconcileCall.operation,
    outcome: 'unknown',
    retryable: false,
    startedAt: new Date(start).toISOString(),
  } as const;
  if (!(error instanceof ValidationError)) {
    const what = 'The transfer is still in doubt: the search failed';
    return reattribute(error, { what, hint: 'Do not send it again; repeat the search' }, facts);
  }
  const what = 'The transfer is still in doubt: the search could not start';
  const hint = 'Do not send it again; fix the arguments and repeat the search';
  return reattribute(error, { what, hint }, facts);
}
