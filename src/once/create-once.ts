import { invalidArguments, argument, path, readInput } from '../calls/arguments.ts';
import {
  parseSince,
  sinceCheck,
  journalCheck,
  callOptionChecks,
  type RequestOptions,
  checkOptions,
  isBoolean,
  checkBy,
  milliseconds,
  optionalCheck,
  type OptionChecks,
} from '../calls/options.ts';
import { callHook, type OnceEvent } from '../calls/hooks.ts';
import { PaymentsError, type CallIdentity, type Issue } from '../errors/errors.ts';
import type { Journal } from '../journals/journal.ts';
import {
  isTransferId,
  type OnceInput,
  type Transfer,
  type TransferCreated,
  type TransferId,
  transferCreatedSchema,
  transferCreateInputSchema,
  transferIdSchema,
  type TransferCreateInput,
} from '../schemas/transfer.ts';
import type { ClientContext, OnceContext } from './context.ts';
import { Payment, type MadePayment, type PreparedPayment } from './payment.ts';
import { describeReferenceProblem, isReference } from '../internal/formats.ts';
import { createPageSizes, largestPage, requireResult, type Search } from '../search/search.ts';
import { hasId, type Call, type ReportDrift } from '../calls/call.ts';
import { parseHttpDate } from '../calls/time.ts';
import { responseCheck } from '../calls/response.ts';
import type { WatchedCall } from '../calls/tracing.ts';
import { hasOffset, parseCreatedAt } from '../search/compare.ts';

/** Options of `transfers.createOnce`. */
export interface OnceOptions extends RequestOptions {
  /** Where the call records what it is about to do. Default: the client's. */
  journal?: Journal | undefined;
  /**
   * How long after its deadline a request may still take effect and appear in the list, in
   * milliseconds. Default: the client's.
   */
  gracePeriod?: number | undefined;
  /**
   * When this payment was first requested, the same at every call: the timestamp of its job, never of the
   * call. With `transfersNewestFirst`, a search stops before it.
   */
  since?: Date | string | undefined;
}

/** Options of `transfers.resolveOnce`. */
export interface ResolveOptions extends Omit<OnceOptions, 'since'> {
  /** Who decides; kept in the journal's entry. */
  by?: string | undefined;
  /**
   * Accepts `'not_paid'` before the claim has expired, although the list shows the payment, and for
   * an entry of another platform. @default false
   */
  force?: boolean | undefined;
}

export const createCall: CallIdentity = {
  operation: 'transfers.createOnce',
  method: 'POST',
  path: '/transfers',
};
export const resolveCall: CallIdentity = {
  operation: 'transfers.resolveOnce',
  method: 'GET',
  path: '/transfers/{id}',
};

const journalOptionChecks = (): OptionChecks<Omit<OnceOptions, 'since'>> => ({
  journal: journalCheck(),
  gracePeriod: milliseconds,
  ...callOptionChecks(),
});

export const onceOptionChecks = (): OptionChecks<OnceOptions> => ({
  since: sinceCheck,
  ...journalOptionChecks(),
});

/** The names of the options of `create` and `createOnce`. */
export const onceOptionNames = (): string[] => Object.keys(onceOptionChecks());

const resolveOptionChecks = (): OptionChecks<ResolveOptions> => ({
  by: optionalCheck('a name', (value) => typeof value === 'string' && value !== ''),
  force: isBoolean,
  ...journalOptionChecks(),
});

const checkReference = /* @__PURE__ */ checkBy(describeReferenceProblem);
const checkVerdict = /* @__PURE__ */ checkBy((value) =>
  value === 'not_paid' || isTransferId(value)
    ? undefined
    : { expected: `the id of a Transfer, or 'not_paid'` },
);

/** Makes a payment once. */
export async function createOnce(
  client: ClientContext,
  callerInput: OnceInput,
  options: OnceOptions | undefined,
): Promise<TransferCreated> {
  const { hooks, clock } = client;
  const input = readInput(callerInput, transferCreateInputSchema());
  const startedAt = clock.elapsed();
  const report = (decision: OnceDecision): void => {
    callHook(hooks, 'onOnce', () => createOnceEvent(input, decision, clock.elapsed() - startedAt));
  };
  try {
    const made = await payOnce(client, input, options, (read) => read());
    report(made);
    return made.transfer;
  } catch (error) {
    if (error instanceof PaymentsError) report({ result: describeFailure(error), error });
    throw error;
  }
}

/** The result of a payment that was not made, or not certainly. */
export const describeFailure = ({ outcome }: PaymentsError): 'failed' | 'in_doubt' =>
  outcome === 'unknown' ? 'in_doubt' : 'failed';

/** Describes a decided payment for `hooks.onOnce`. */
export const createOnceEvent = (
  input: Partial<OnceInput> | undefined,
  { result, transferId, error }: OnceDecision,
  ms: number,
): OnceEvent => ({
  reference: input?.description,
  result,
  transferId,
  error,
  durationMs: Math.round(ms),
});

type OnceDecision = Pick<OnceEvent, 'result'> & Partial<OnceEvent>;

/** A payment that was made, with its transfer where it was read. */
interface ReadPayment<T> extends Pick<MadePayment, 'result' | 'transferId'> {
  readonly transfer: TransferCreated | T;
}

/** Makes a payment, as one call for hooks and traces. `overrides` replaces the search or its timeout. */
export const payOnce = <T>(
  client: ClientContext,
  input: OnceInput,
  options: OnceOptions | undefined,
  readRecorded: (read: () => Promise<Transfer>) => Promise<T>,
  overrides: Partial<Pick<OnceContext, 'search' | 'searchTimeout'>> = {},
): Promise<ReadPayment<T>> =>
  client.pipeline.watch(
    createCall,
    (input as Partial<OnceInput> | undefined)?.description,
    async (watched) => {
      const made = await makeOnce(client, input, options, watched, overrides);
      const { result, transferId } = made;
      const transfer = made.result === 'recorded' ? await readRecorded(made.read) : made.transfer;
      return { result, transferId, transfer };
    },
  );

/** Checks a payment before the journal is asked, and makes it. */
async function makeOnce(
  client: ClientContext,
  input: OnceInput,
  options: OnceOptions | undefined,
  watched: WatchedCall,
  overrides: Partial<Pick<OnceContext, 'search' | 'searchTimeout'>>,
): Promise<MadePayment> {
  const { pipeline, clock } = client;
  const issues: Issue[] = [];
  const { journal, gracePeriod, since, ...callOptions } = checkOptions(
    onceOptionChecks,
    options,
    issues,
  );
  const requestedAt = parseSince(since, clock.now(), issues);
  const hasValidOptions = issues.length === 0;
  const reference = (input as Partial<OnceInput> | undefined)?.description;
  checkReference(reference, 'description', issues);
  const inputIssues: Issue[] = [];
  const requestOptions = hasValidOptions ? callOptions : undefined;
  const prepared = preparePayment(client, input, requestOptions, watched, inputIssues);
  // The check of the reference includes that of the description.
  issues.push(
    ...inputIssues.filter((issue) => issue.path !== 'description' || isReference(reference)),
  );
  if (prepared === undefined || issues.length > 0) {
    throw invalidArguments(createCall, issues, pipeline.redact);
  }
  const onceOptions = { ...callOptions, journal, gracePeriod };
  const context = applyOptions(client, onceOptions, requestedAt, watched);
  const payment = new Payment(createCall, input.description, { ...context, ...overrides });
  return await payment.make(input, prepared);
}

/** Records an operator's decision on a payment. */
export async function resolveOnce(
  client: ClientContext,
  reference: string,
  verdict: TransferId | 'not_paid',
  options: ResolveOptions | undefined,
  watched: WatchedCall,
): Promise<void> {
  const issues: Issue[] = [];
  const { by, force, ...onceOptions } = checkOptions(resolveOptionChecks, options, issues);
  checkReference(reference, 'reference', issues);
  checkVerdict(verdict, 'verdict', issues);
  if (issues.length > 0) throw invalidArguments(resolveCall, issues, client.pipeline.redact);
  const context = applyOptions(client, onceOptions, undefined, watched);
  const payment = new Payment(resolveCall, reference, context);
  await payment.resolve(verdict, { by, force });
}

/** Checks the creation before anything is sent; returns the functions that authorize and send it. */
function preparePayment(
  client: ClientContext,
  input: OnceInput,
  options: RequestOptions | undefined,
  within: WatchedCall,
  issues: Issue[],
): PreparedPayment | undefined {
  const ifUnknown = 'the transfer may have taken effect. Call createOnce again to find out.';
  const optionNames = onceOptionNames;
  const { pipeline } = client;
  const reference = (input as Partial<OnceInput> | undefined)?.description;
  const idempotencyKey = isReference(reference) ? reference : undefined;
  const creation = client.creationCall(input);
  const call = { ...creation, ifUnknown, idempotencyKey, optionNames, within };
  const prepared = pipeline.check(call, options, issues);
  if (prepared === undefined) return undefined;
  return {
    authorize: () =>
      pipeline.authorize({ ...call, operation: createCall.operation }, prepared, within),
    send: (totalTimeout, notAfter) => {
      const callOptions = { ...prepared.options, totalTimeout };
      const sentCall = { ...call, notAfter, prepared: { ...prepared, options: callOptions } };
      return pipeline.call(sentCall, undefined);
    },
  };
}

/** The options of the call over the client's. */
export function applyOptions(
  client: ClientContext,
  options: Omit<OnceOptions, 'since'>,
  since?: number,
  within?: WatchedCall,
): OnceContext {
  const { journal, gracePeriod, signal } = options;
  const readOptions = selectReadOptions(options);
  const totalTimeout = options.totalTimeout ?? client.totalTimeout;
  const openPageSize = createPageSizes();
  return {
    ...client,
    journal: journal ?? client.journal,
    gracePeriod: gracePeriod ?? client.gracePeriod,
    totalTimeout,
    searchTimeout: totalTimeout,
    since,
    signal,
    search: async (search, { onPage, isUnclaimed, confirms, signal: stop }) => {
      const searches: readonly [Search] = [search];
      const pageSize = isUnclaimed ? largestPage : openPageSize;
      const paging = { ...readOptions, signal: stop };
      const scan = { paging, pageSize, confirms, onPage, within };
      const { sourceAccountId } = search.input;
      const [result] = await client.transferSearch.search(sourceAccountId, searches, scan);
      return requireResult(result);
    },
    get: (id) => client.get(id, readOptions, within),
    getAccount: (id) => client.getAccount(id, readOptions, within),
  };
}

/** The options of a call for its reads; extra fields are meant for the creation. */
export const selectReadOptions = ({
  journal: _journal,
  gracePeriod: _gracePeriod,
  ...callOptions
}: Omit<OnceOptions, 'since'>): RequestOptions => ({
  ...callOptions,
  query: undefined,
  body: undefined,
});

const inputHint = 'set it in the input, where transfers.reconcile looks for it';
/** In `options.body` they would be sent, but the input of `reconcile` would not have them. */
const inputOnlyFields = { description: inputHint, currency: inputHint };

/** The call that creates a Transfer. */
export const creationCall = (input: TransferCreateInput): Call<TransferCreated> => ({
  operation: 'transfers.create',
  kind: 'once',
  method: 'POST',
  path: path`/transfers`,
  body: argument(transferCreateInputSchema(), input),
  belongsIn: inputOnlyFields,
  response: responseCheck(transferCreatedSchema()),
  acceptIf: hasId(transferIdSchema()),
  ifUnknown:
    'the transfer may have taken effect. Do not send it again: ask payments.transfers.reconcile(input, { since: firstTry }); not_found counts only after some minutes.',
});

/** How far the clocks behind `createdAt` and `Date` may be apart. */
const clockSkewMs = 120_000;

/** Calls `onDifference` when `createdAt` in the response differs from its Date header by more than two minutes. */
export function withClockCheck(
  call: Call<TransferCreated>,
  onDifference: (reportDrift: ReportDrift) => void,
): Call<TransferCreated> {
  let date = Number.NaN;
  let reportDrift: ReportDrift = () => undefined;
  return {
    ...call,
    onHeaders: (headers, reportResponse) => {
      date = parseHttpDate(headers.get('date'));
      reportDrift = reportResponse;
    },
    transform: (transfer) => {
      const { earliest } = parseCreatedAt(transfer.createdAt);
      const isOff = Math.abs(earliest - date) > clockSkewMs;
      if (isOff && hasOffset(transfer.createdAt)) onDifference(reportDrift);
      return transfer;
    },
  };
}
