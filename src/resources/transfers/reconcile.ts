import { cloneInput } from '../../internal/clone.ts';
import { argument, detailedIssuesOf, invalidArguments, validate } from '../../calls/arguments.ts';
import {
  PaymentsError,
  ValidationError,
  type CallIdentity,
  type Issue,
} from '../../errors/errors.ts';
import { parseHttpDate } from '../../calls/http-date.ts';
import { reattribute } from '../../errors/message.ts';
import type { Pager } from '../../lists/pager.ts';
import type { Page } from '../../schemas/page.ts';
import type { Redact } from '../../errors/redact.ts';
import { callOptionChecks, type RequestOptions } from '../../calls/request-options.ts';
import { checkOptions, optionalCheck, type OptionChecks } from '../../calls/option-checks.ts';
import { expectedMoment, isMoment } from '../../internal/moment.ts';
import {
  transferCreateInputSchema,
  type Transfer,
  type TransferCreateInput,
  type TransferListQuery,
} from '../../schemas/transfer.ts';
import { compareTransfer, isId, isRival, parseCreatedAt } from './compare-transfer.ts';

/** Options of `transfers.reconcile`. */
export interface ReconcileOptions extends RequestOptions {
  /**
   * When this payment was first tried: a time from before that call, or `error.startedAt`. If
   * omitted, only an input with a `description` can be `found`. @default 1970
   */
  since?: Date | string | undefined;
  /**
   * How far this machine's clock and the platform's may differ, in milliseconds: a Transfer from so
   * long before `since` is `found` only by its `description`. @default 120000
   */
  clockSkew?: number | undefined;
}

/** Result of a reconciliation. Only `found` is certain. */
export type Reconciliation =
  | {
      /** There is exactly one such Transfer. */
      readonly result: 'found';
      /** The Transfer as the list shows it. */
      readonly transfer: Transfer;
    }
  | {
      /**
       * Several match, or one may be older than `since`, cannot be compared in every field, or has
       * this description and other fields: an operator has to decide.
       */
      readonly result: 'ambiguous';
      /** All that match or may match, at most 1,000. */
      readonly candidates: Transfer[];
    }
  | {
      /** None matches among those that were read. */
      readonly result: 'not_found';
      /** How many were read. */
      readonly scanned: number;
    };

const call: CallIdentity = {
  operation: 'transfers.reconcile',
  method: 'GET',
  path: '/transfers',
};

/**
 * A list that changes while it is read may hide a Transfer, and shows another twice. A list that grows does
 * the same, so the scans cannot go on until it no longer changes.
 */
const maxScans = 3;

/** An operator cannot use more, and an endless list must not exhaust the memory. */
export const maxCandidates = 1_000;

/** A larger difference may come from a cached `Date` header, or from a machine without a clock. */
const maxClockDifference = 24 * 60 * 60_000;

/** 1970, which is before every Transfer. */
const epoch = 0;

/** The Transfers of one source, page by page; `onHeaders` is called with the headers of each page. */
type ListOfSource = (
  query: TransferListQuery,
  options: RequestOptions,
  onHeaders: (headers: Headers) => void,
) => Pager<Transfer>;

/**
 * Searches all Transfers of the source: the order of the list is not documented
 * (docs/gaps.md, row 54).
 */
export async function reconcileTransfer(
  list: ListOfSource,
  now: () => number,
  input: TransferCreateInput,
  options: ReconcileOptions | undefined,
  redact: Redact,
): Promise<Reconciliation> {
  const search = resolveSearch(input, cloneInput(options), now(), redact);
  const findings: Findings = {
    ids: new Set(),
    withoutId: 0,
    outgoing: new Map(),
    incoming: new Map(),
    hasTooMany: false,
    ahead: 0,
  };
  try {
    for (let scan = 1; ; scan += 1) {
      const hasMoved = await scanTransfers(list, now, search, findings, scan);
      const result = decide(findings, search);
      if (result.result !== 'not_found' || !hasMoved || scan === maxScans) return result;
    }
  } catch (error) {
    if (error instanceof ValidationError) {
      throw stillInDoubt(invalidArguments(call, detailedIssuesOf(error), redact), search.start);
    }
    throw error instanceof PaymentsError ? stillInDoubt(error, search.start) : error;
  }
}

/** The checked arguments of a search. */
interface Search {
  readonly input: TransferCreateInput;
  readonly start: number;
  readonly clockSkew: number;
  readonly paging: RequestOptions;
}

/** A Transfer that may be the payment, whenever it was created. */
interface Candidate {
  readonly transfer: Transfer;
  readonly isSame: boolean;
}

/** Results of all scans of the list; of a transfer that is no candidate, only its id. */
interface Findings {
  readonly ids: Set<string>;
  withoutId: number;
  /** Keyed by id; a transfer without an id is its own key. */
  readonly outgoing: Map<unknown, Candidate>;
  readonly incoming: Map<unknown, Candidate>;
  hasTooMany: boolean;
  /** How far this machine's clock is ahead of the platform's, by its responses; 0 when it is not. */
  ahead: number;
}

/** Reads the whole list once; returns whether the list has moved meanwhile. */
async function scanTransfers(
  list: ListOfSource,
  now: () => number,
  { input, paging }: Search,
  findings: Findings,
  scan: number,
): Promise<boolean> {
  const query = { accountId: input.sourceAccountId, limit: 100 };
  const { ids, outgoing, incoming } = findings;
  // The first scan keeps its ids once, because the list may be long.
  const idsOfScan = scan === 1 ? ids : new Set<string>();
  let hasMoved = false;
  const compareClocks = (headers: Headers): void => {
    const difference = now() - parseHttpDate(headers.get('date'));
    if (difference > findings.ahead) findings.ahead = difference;
  };
  for await (const page of list(query, paging, compareClocks).pages()) {
    checkPage(page);
    for (const transfer of page.data) {
      const hasId = isId(transfer.id);
      if (hasId) {
        hasMoved ||= idsOfScan.has(transfer.id);
        idsOfScan.add(transfer.id);
        ids.add(transfer.id);
      } else {
        findings.withoutId += 1;
      }
      const likeness = compareTransfer(transfer, input);
      if (likeness === 'other') continue;
      const key = hasId ? transfer.id : transfer;
      const isSame = likeness === 'same';
      const side = transfer.direction === 'incoming' ? incoming : outgoing;
      // A list that grows while it is read may show one Transfer on two pages.
      if (side.has(key) && !isSame) continue;
      if (!side.has(key) && outgoing.size + incoming.size === maxCandidates) {
        findings.hasTooMany = true;
        return false;
      }
      side.set(key, { transfer, isSame });
    }
  }
  return hasMoved;
}

/** Rejects a page that does not prove where the list ends: a transfer that it hides may be the payment. */
function checkPage({ data, hasMore, nextCursor }: Page<Transfer>): void {
  // With `validation: 'report'`, pages are not checked before.
  let problem = data.every((item) => Object(item) === item)
    ? undefined
    : 'contains an item that is not a transfer';
  if (!hasMore && nextCursor) problem = 'reports that no page follows, and has a cursor for one';
  if (hasMore && data.length === 0) problem = 'has an empty page, and reports that more follow';
  if (problem !== undefined) {
    throw new PaymentsError(`The list ${problem}.`, { ...call, outcome: 'unknown' });
  }
}

/** Decides after a whole scan, because only that shows how far the clocks differ. */
function decide(
  { ids, withoutId, outgoing, incoming, hasTooMany, ahead }: Findings,
  { input, start, clockSkew }: Search,
): Reconciliation {
  if (hasTooMany) {
    const all = [...outgoing.values(), ...incoming.values()];
    const candidates = all.map(({ transfer }) => transfer);
    return { result: 'ambiguous', candidates };
  }
  const isOld = ({ createdAt }: Transfer): boolean =>
    parseCreatedAt(createdAt).latest < start - clockSkew - ahead;
  const hasReference = (input.description ?? '') !== '';
  // A reference distinguishes this transfer from an earlier one in spite of the clocks; but a clock that is
  // days off is more likely no clock.
  const isRecent = ({ createdAt }: Transfer): boolean =>
    hasReference
      ? parseCreatedAt(createdAt).latest >= start - clockSkew - Math.min(ahead, maxClockDifference)
      : start > epoch && parseCreatedAt(createdAt).earliest >= start;

  const certain: Transfer[] = [];
  const doubtful: Transfer[] = [];
  for (const { transfer, isSame } of outgoing.values()) {
    if (isOld(transfer)) continue;
    if (isSame && isRecent(transfer)) certain.push(transfer);
    else doubtful.push(transfer);
  }
  const [only] = certain;
  // A platform that returns one reference and amount as they were sent returns ours so, too: another
  // spelling belongs to another payment.
  const rivals = doubtful.filter((transfer) => !hasReference || isRival(transfer, input));
  if (only !== undefined && certain.length + rivals.length === 1) {
    return { result: 'found', transfer: only };
  }
  // A book transfer may be listed once, as incoming: as the transfer itself, or as its other side. How `direction` is set is not documented: docs/gaps.md, row 42.
  const arriving = [...incoming]
    .filter(([key, { transfer }]) => !outgoing.has(key) && !isOld(transfer))
    .map(([, { transfer }]) => transfer);
  const candidates = [...certain, ...doubtful, ...arriving];
  return candidates.length > 0
    ? { result: 'ambiguous', candidates }
    : { result: 'not_found', scanned: ids.size + withoutId };
}

const reconcileOptionChecks = (): OptionChecks<ReconcileOptions> => ({
  // A string without an offset would be read in this machine's time zone, and miss the transfer.
  since: optionalCheck(expectedMoment, isMoment),
  clockSkew: optionalCheck(
    'milliseconds, 0 or more',
    (value) => typeof value === 'number' && value >= 0,
  ),
  ...callOptionChecks(),
});

/** Checks the arguments of a search and applies the defaults. */
function resolveSearch(
  input: TransferCreateInput,
  options: ReconcileOptions | undefined,
  now: number,
  redact: Redact,
): Search {
  const issues: Issue[] = [];
  const checkedOptions = checkOptions(reconcileOptionChecks, options, issues);
  const { since = new Date(epoch), clockSkew = 120_000, ...paging } = checkedOptions;
  // Without a valid time, a later search has to start at the first Transfer.
  const start = issues.some(({ path }) => path === 'options.since')
    ? epoch
    : new Date(since).getTime();
  if (issues.length === 0 && start > now + clockSkew) {
    issues.push({
      path: 'options.since',
      message: 'expected a time in the past; this one is in the future, so check its time zone',
    });
  }
  const checkedInput = validate(argument(transferCreateInputSchema(), input), issues, () =>
    Object.keys(reconcileOptionChecks()),
  );
  if (checkedInput === undefined || issues.length > 0) {
    throw stillInDoubt(invalidArguments(call, issues, redact), start);
  }
  return { input: checkedInput, start, clockSkew, paging };
}

/**
 * The error of a failed search, which leaves the Transfer in doubt: its 401 does not reject the creation,
 * and a job that starts over because the search sent nothing pays twice.
 */
function stillInDoubt(error: PaymentsError, start: number): PaymentsError {
  const facts = {
    operation: call.operation,
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
