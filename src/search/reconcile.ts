import { cloneInput } from '../internal/objects.ts';
import { argument, detailedIssuesOf, invalidArguments, validate } from '../calls/arguments.ts';
import { PaymentsError, ValidationError, type CallIdentity, type Issue } from '../errors/errors.ts';
import { reattribute } from '../errors/message.ts';
import type { Redact } from '../errors/redact.ts';
import type { AccountId } from '../schemas/account.ts';
import {
  callOptionChecks,
  type RequestOptions,
  checkOptions,
  optionalCheck,
  type OptionChecks,
} from '../calls/options.ts';
import { expectedMoment, isMoment } from '../internal/formats.ts';
import { transferCreateInputSchema, type TransferCreateInput } from '../schemas/transfer.ts';
import {
  epoch,
  searchList,
  type Reconciliation,
  type ReconciliationsOf,
  type ScanSetup,
  type Search,
} from './search.ts';

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

/** How far this machine's clock and the platform's may differ. */
export const defaultClockSkew = 120_000;

const call: CallIdentity = {
  operation: 'transfers.reconcile',
  method: 'GET',
  path: '/transfers',
};

/**
 * Searches the Transfers of the source, all of them unless the user asserts their order: it is not documented
 * (docs/gaps.md, row 54).
 */
export async function reconcileTransfer(
  setup: Omit<ScanSetup, 'paging'>,
  input: TransferCreateInput,
  options: ReconcileOptions | undefined,
  redact: Redact,
): Promise<Reconciliation> {
  const { search, paging } = resolveSearch(input, cloneInput(options), setup.now(), redact);
  const searches: readonly [Search] = [search];
  const source = search.input.sourceAccountId;
  const [result] = await searchTransfers(source, searches, { ...setup, paging }, redact);
  return result;
}

/** Searches the list of one source for its payments. An error leaves all of them in doubt. */
export async function searchTransfers<S extends readonly Search[]>(
  source: AccountId,
  searches: S,
  setup: ScanSetup,
  redact: Redact,
): Promise<ReconciliationsOf<S>> {
  try {
    return await searchList(source, searches, setup);
  } catch (error) {
    const start = Math.min(...searches.map((search) => search.start));
    if (error instanceof ValidationError) {
      throw stillInDoubt(invalidArguments(call, detailedIssuesOf(error), redact), start);
    }
    throw error instanceof PaymentsError ? stillInDoubt(error, start) : error;
  }
}

// A string without an offset would be read in this machine's time zone, and miss the transfer.
export const sinceCheck = /* @__PURE__ */ optionalCheck(expectedMoment, isMoment);

const reconcileOptionChecks = (): OptionChecks<ReconcileOptions> => ({
  since: sinceCheck,
  clockSkew: optionalCheck(
    'milliseconds, 0 or more',
    (value) => typeof value === 'number' && value >= 0,
  ),
  ...callOptionChecks(),
});

/** The time of the option `since`; undefined without a valid one. */
export function parseSince(
  since: Date | string | undefined,
  now: number,
  issues: Issue[],
  clockSkew = defaultClockSkew,
): number | undefined {
  if (since === undefined || issues.some(({ path }) => path === 'options.since')) return undefined;
  const time = new Date(since).getTime();
  if (issues.length === 0 && time > now + clockSkew) {
    issues.push({
      path: 'options.since',
      message: 'expected a time in the past; this one is in the future, so check its time zone',
    });
  }
  return time;
}

/** Checks the arguments of a search and applies the defaults. */
function resolveSearch(
  input: TransferCreateInput,
  options: ReconcileOptions | undefined,
  now: number,
  redact: Redact,
): { readonly search: Search; readonly paging: RequestOptions } {
  const issues: Issue[] = [];
  const checkedOptions = checkOptions(reconcileOptionChecks, options, issues);
  const { since, clockSkew = defaultClockSkew, ...paging } = checkedOptions;
  // Without a valid time, a later search has to start at the first Transfer.
  const start = parseSince(since, now, issues, clockSkew) ?? epoch;
  const checkedInput = validate(argument(transferCreateInputSchema(), input), issues, () =>
    Object.keys(reconcileOptionChecks()),
  );
  if (checkedInput === undefined || issues.length > 0) {
    throw stillInDoubt(invalidArguments(call, issues, redact), start);
  }
  return { search: { input: checkedInput, start, clockSkew, earliest: start }, paging };
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
