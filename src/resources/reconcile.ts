import { argument, invalidArguments, validate } from '../calls/arguments.ts';
import {
  PaymentsError,
  reattribute,
  ValidationError,
  type CallIdentity,
  type Issue,
} from '../errors/errors.ts';
import { httpDate } from '../calls/http-date.ts';
import type { Pager } from '../lists/pager.ts';
import type { Redact } from '../errors/redact.ts';
import { callOptionsRules, copied, type RequestOptions } from '../calls/request-options.ts';
import { checkOptions, ruled, type Rules } from '../calls/rules.ts';
import { isMoment, momentRule } from '../schemas/primitives.ts';
import {
  transferCreateInputSchema,
  type Transfer,
  type TransferCreateInput,
  type TransferListQuery,
} from '../schemas/transfer.ts';
import { compareTransfer, hasAmountAndDescription, isId, timeOf } from './compare-transfer.ts';

/** Options of `transfers.reconcile`. */
export interface ReconcileOptions extends RequestOptions {
  /**
   * When this payment was first tried: a time from before that call, or `error.startedAt`. If
   * omitted, only an input with a `description` can be `found`. @default 1970
   */
  since?: Date | string | undefined;
  /**
   * How far the two clocks may be apart, in milliseconds: a Transfer so much earlier than `since`
   * is `found` only by its `description`. Grows where answers show more. @default 120000
   */
  clockSkew?: number | undefined;
}

/** What was found. Only `found` settles the question. */
export type Reconciliation =
  | {
      /** There is exactly one such Transfer. */
      readonly result: 'found';
      /** The Transfer as the list shows it. */
      readonly transfer: Transfer;
    }
  | {
      /**
       * Several match, or one may be older than `since` or cannot be compared in every field: a
       * person has to decide.
       */
      readonly result: 'ambiguous';
      /** All that match or may match. */
      readonly candidates: Transfer[];
    }
  | {
      /** None matches among those that were looked at. */
      readonly result: 'not_found';
      /** How many were looked at. */
      readonly scanned: number;
    };

const call: CallIdentity = {
  operation: 'transfers.reconcile',
  method: 'GET',
  path: '/transfers',
};

/**
 * A list that changes while it is read may hide a Transfer, and shows another twice. As a list that grows
 * does the same, it cannot be read until it stands still.
 */
const maxWalks = 3;

/** A `Date` still further back may come from a cache, or from a machine without a clock. */
const furthestAhead = 24 * 60 * 60_000;

/** Before every Transfer: 1970. */
const ever = 0;

/** The Transfers of one source, page by page; `onHeaders` is shown what each page came with. */
type ListOfSource = (
  query: TransferListQuery,
  options: RequestOptions,
  onHeaders: (headers: Headers) => void,
) => Pager<Transfer>;

/**
 * Looks through the source's Transfers, all of them: the order of the list is not documented
 * (docs/gaps.md, row 54).
 */
export async function reconcileTransfer(
  list: ListOfSource,
  now: () => number,
  input: TransferCreateInput,
  options: ReconcileOptions | undefined,
  redact: Redact,
): Promise<Reconciliation> {
  const search = resolveSearch(input, copied(options), now(), redact);
  const findings: Findings = {
    seen: new Map(),
    outgoing: new Map(),
    incoming: new Map(),
    ahead: 0,
  };
  try {
    for (let walk = 1; ; walk += 1) {
      const hasMoved = await scanTransfers(list, now, search, findings, walk);
      const answer = decide(findings, search);
      if (answer.result !== 'not_found' || !hasMoved || walk === maxWalks) return answer;
    }
  } catch (error) {
    throw error instanceof PaymentsError ? stillInDoubt(error, search.start) : error;
  }
}

/** What to look for, and since when. */
interface Search {
  readonly wanted: TransferCreateInput;
  readonly start: number;
  readonly clockSkew: number;
  readonly paging: RequestOptions;
}

/** A Transfer that may be the one, whenever it was created. */
interface Candidate {
  readonly transfer: Transfer;
  readonly isSame: boolean;
}

/** What all the walks through the list have brought. */
interface Findings {
  /** In which walk each was last seen, by its id; one without an id by itself. */
  readonly seen: Map<unknown, number>;
  readonly outgoing: Map<unknown, Candidate>;
  readonly incoming: Map<unknown, Candidate>;
  /** How far this machine's clock is ahead of the platform's, as its answers show; 0 when it is not. */
  ahead: number;
}

/** One walk through the whole list; tells whether the list has moved meanwhile. */
async function scanTransfers(
  list: ListOfSource,
  now: () => number,
  { wanted, paging }: Search,
  findings: Findings,
  walk: number,
): Promise<boolean> {
  const query = { accountId: wanted.sourceAccountId, limit: 100 };
  const { seen, outgoing, incoming } = findings;
  let hasMoved = false;
  const compareClocks = (headers: Headers): void => {
    const difference = now() - httpDate(headers.get('date'));
    if (difference > findings.ahead) findings.ahead = difference;
  };
  for await (const transfer of list(query, paging, compareClocks)) {
    // With `validation: 'report'` a page comes as it is.
    if (Object(transfer) !== transfer) {
      throw new PaymentsError('The list contains an item that is not a transfer.', {
        ...call,
        outcome: 'unknown',
      });
    }
    const key = isId(transfer.id) ? transfer.id : transfer;
    hasMoved ||= seen.get(key) === walk;
    seen.set(key, walk);
    const likeness = compareTransfer(transfer, wanted);
    if (likeness === 'other') continue;
    const isSame = likeness === 'same';
    const side = transfer.direction === 'incoming' ? incoming : outgoing;
    // A list that grows while it is read may show one Transfer on two pages.
    if (isSame || !side.has(key)) side.set(key, { transfer, isSame });
  }
  return hasMoved;
}

/** Only the whole list tells how far the clocks are apart. */
function decide(
  { seen, outgoing, incoming, ahead }: Findings,
  { wanted, start, clockSkew }: Search,
): Reconciliation {
  const isOld = ({ createdAt }: Transfer): boolean =>
    timeOf(createdAt).latest < start - clockSkew - ahead;
  const hasReference = (wanted.description ?? '') !== '';
  // A reference tells this transfer from an earlier one like it, whatever the two clocks say; but a
  // clock that is days off is more likely no clock.
  const isRecent = ({ createdAt }: Transfer): boolean =>
    hasReference
      ? timeOf(createdAt).latest >= start - clockSkew - Math.min(ahead, furthestAhead)
      : start > ever && timeOf(createdAt).earliest >= start;

  const certain: Transfer[] = [];
  const doubtful: Transfer[] = [];
  for (const { transfer, isSame } of outgoing.values()) {
    if (isOld(transfer)) continue;
    if (isSame && isRecent(transfer)) certain.push(transfer);
    else doubtful.push(transfer);
  }
  const [only] = certain;
  // A platform that shows one reference and amount as they were sent shows ours so, too: what is written
  // otherwise is another's.
  const rivals = doubtful.filter(
    (transfer) => !hasReference || hasAmountAndDescription(transfer, wanted),
  );
  if (only !== undefined && certain.length + rivals.length === 1) {
    return { result: 'found', transfer: only };
  }
  // A book transfer may be listed once as it arrives: that one is the transfer itself, or its other
  // side. How `direction` is set is not documented: docs/gaps.md, row 42.
  const arriving = [...incoming]
    .filter(([key, { transfer }]) => !outgoing.has(key) && !isOld(transfer))
    .map(([, { transfer }]) => transfer);
  const candidates = [...certain, ...doubtful, ...arriving];
  return candidates.length > 0
    ? { result: 'ambiguous', candidates }
    : { result: 'not_found', scanned: seen.size };
}

const reconcileOptionsRules = (): Rules<ReconcileOptions> => ({
  // Text without an offset would be read in this machine's time zone, and miss the transfer.
  since: ruled(momentRule, isMoment),
  clockSkew: ruled(
    'expected milliseconds, 0 or more',
    (value) => typeof value === 'number' && value >= 0,
  ),
  ...callOptionsRules(),
});

/** The search that checked arguments ask for. */
function resolveSearch(
  input: TransferCreateInput,
  options: ReconcileOptions | undefined,
  now: number,
  redact: Redact,
): Search {
  const issues: Issue[] = [];
  const given = checkOptions(reconcileOptionsRules, options, issues);
  const { since = new Date(ever), clockSkew = 120_000, ...paging } = given;
  // When nobody knows since when, a later look has to begin at the beginning.
  const start = issues.some(({ path }) => path === 'options.since')
    ? ever
    : new Date(since).getTime();
  if (issues.length === 0 && start > now + clockSkew) {
    issues.push({
      path: 'options.since',
      message: 'expected a time in the past; this one is in the future, so check its time zone',
    });
  }
  const wanted = validate(argument(transferCreateInputSchema(), input), issues);
  if (wanted === undefined || issues.length > 0) {
    throw stillInDoubt(invalidArguments(call, issues, redact), start);
  }
  return { wanted, start, clockSkew, paging };
}

/**
 * A look that broke off leaves the Transfer in doubt, whatever became of the look: its 401 is no
 * refusal of the creation, a `since` that cannot be read says nothing of it, and a job that starts
 * over because nothing was sent pays twice.
 */
function stillInDoubt(error: PaymentsError, start: number): PaymentsError {
  const said = error.message.replace(/\nNothing was sent\.$/, '');
  const [what, remedy] =
    error instanceof ValidationError
      ? ['the search could not start', 'fix the arguments and try again']
      : ['the search failed', 'try again'];
  return reattribute(error, {
    operation: call.operation,
    outcome: 'unknown',
    retryable: false,
    startedAt: new Date(start).toISOString(),
    message: `The transfer is still in doubt: ${what}.\nDo not send it again; ${remedy} with payments.transfers.reconcile(input, { since }).\n${said.replace(' in transfers.list:', ` in ${call.operation}:`)}`,
  });
}
