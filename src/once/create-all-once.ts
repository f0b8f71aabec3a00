import { formatAmount, parseAmount } from '../internal/amounts.ts';
import { maxIssues, type DetailedIssue } from '../internal/issues.ts';
import { maxTimerMs } from '../internal/runtime.ts';
import { argument, invalidArguments, readInput, validate } from '../calls/arguments.ts';
import { callHook } from '../calls/hooks.ts';
import {
  parseSince,
  checkOptions,
  fields,
  milliseconds,
  optionalCheck,
  type OptionChecks,
} from '../calls/options.ts';
import { createInputReader, findInputsIssues, type Inputs } from '../calls/inputs.ts';
import { createAwaitable } from '../lists/pager.ts';
import { captureCallSite, withCallSite } from '../errors/call-site.ts';
import {
  AbortError,
  isOutcomeUnknown,
  PaymentInDoubtError,
  withReference,
  type CallIdentity,
} from '../errors/errors.ts';
import {
  transferCreateInputSchema,
  type OnceInput,
  type Transfer,
  type TransferId,
} from '../schemas/transfer.ts';
import {
  BatchRun,
  type Batch,
  type BatchResult,
  type BatchSetup,
  type BatchSummary,
  type UnpaidResult,
} from './batch.ts';
import {
  applyOptions,
  createCall,
  createOnceEvent,
  onceOptionChecks,
  payOnce,
  selectReadOptions,
  type OnceOptions,
} from './create-once.ts';
import { GuardedJournal, hasWorked } from './guarded-journal.ts';
import type { ClientContext, OnceContext } from './context.ts';
import { isReference } from '../internal/formats.ts';
import { PaymentErrors } from './in-doubt.ts';
import { SharedScans } from './shared-scans.ts';

/** Options of `transfers.createAllOnce`. */
export interface BatchOptions extends OnceOptions {
  /** How many payments are in progress at a time. @default 16 */
  concurrency?: number | undefined;
  /** How long one payment is tried again, in milliseconds. @default 1800000 */
  retryTimeout?: number | undefined;
  /** Control totals of an array of inputs, compared before anything is sent. */
  expect?: ExpectedTotals | undefined;
}

/** Control totals of a batch. */
export interface ExpectedTotals {
  /** How many inputs there are. */
  readonly count?: number | undefined;
  /** The sum of their amounts, as an exact decimal string. */
  readonly total?: string | undefined;
}

const call: CallIdentity = {
  operation: 'transfers.createAllOnce',
  method: 'POST',
  path: '/transfers',
};

/** So many inputs are read ahead where the journal may forget, because one scan searches for all of them. */
const maxReadAhead = 10_000;

/** More payments at a time exhaust the memory, not the platform's capacity. */
const maxConcurrency = 1_000;

const batchOptionChecks = (): OptionChecks<BatchOptions> => ({
  concurrency: optionalCheck(
    `a whole number from 1 to ${maxConcurrency}`,
    (value) => Number.isInteger(value) && Number(value) > 0 && Number(value) <= maxConcurrency,
  ),
  retryTimeout: milliseconds,
  expect: (value, at, issues) => {
    if (value !== undefined) fields(expectChecks())(value, at, issues);
  },
  ...onceOptionChecks(),
});

const expectChecks = (): OptionChecks<ExpectedTotals> => ({
  count: optionalCheck(
    'a whole number, 0 or more',
    (value) => Number.isInteger(value) && Number(value) >= 0,
  ),
  total: optionalCheck(
    "an exact decimal string, such as '1250.00'",
    (value) => parseAmount(value) !== undefined,
  ),
});

/** Makes many payments, each once. */
export function createAllOnce(
  client: ClientContext,
  inputs: Inputs<OnceInput>,
  options: BatchOptions | undefined,
): Batch {
  const site = captureCallSite();
  const readInputs = createInputReader(inputs, (issues) =>
    invalidArguments(call, issues, client.pipeline.redact),
  );
  const noCounts = { paid: 0, failed: 0, inDoubt: 0, waiting: 0 };
  const counts = { ...noCounts };
  async function* run(): AsyncGenerator<BatchResult, void, undefined> {
    try {
      Object.assign(counts, noCounts);
      const batchRun = new BatchRun(createSetup(client, inputs, readInputs, options), counts);
      for await (const result of batchRun.results()) {
        if (result.error !== undefined) withCallSite(result.error, site);
        yield result;
      }
    } catch (error) {
      throw withCallSite(error, site);
    }
  }
  const runAll = async (): Promise<BatchSummary> => {
    const unpaid: UnpaidResult[] = [];
    for await (const result of run()) if (result.error !== undefined) unpaid.push(result);
    return { counts: { ...counts }, unpaid };
  };
  return Object.assign({ counts, [Symbol.asyncIterator]: run }, createAwaitable(runAll));
}

/** Checks the arguments, and connects the payments of a batch with their shared scans. */
function createSetup(
  client: ClientContext,
  inputs: Inputs<OnceInput>,
  readInputs: () => Inputs<OnceInput>,
  options: BatchOptions | undefined,
): BatchSetup {
  const { clock, hooks, pipeline } = client;
  const { redact } = pipeline;
  const issues: DetailedIssue[] = [];
  const checked = checkOptions(batchOptionChecks, options, issues);
  const { concurrency = 16, retryTimeout = 1_800_000, expect, ...onceOptions } = checked;
  const { since, ...callOptions } = onceOptions;
  const requestedAt = parseSince(since, clock.now(), issues);
  // The control totals are those of the array and its fields as they are now, and these are what is paid.
  const copies =
    expect !== undefined && Array.isArray(inputs) ? inputs.map(readOnceInput) : undefined;
  if (issues.length === 0) issues.push(...findInputIssues(inputs, copies, expect));
  if (issues.length > 0) throw invalidArguments(call, issues, redact);
  const startedAt = new Date(clock.now()).toISOString();
  const context = applyOptions(client, callOptions, requestedAt);
  const { signal, totalTimeout, journal } = context;
  const forgets = new GuardedJournal(call, '', context).canForget();

  // After `break` or an abort, the scan of a long list would delay the end of the loop.
  const leaving = new AbortController();
  const paging = { ...selectReadOptions(callOptions), signal: leaving.signal };
  const scans = new SharedScans(
    (source, requests, scan) => client.transferSearch.search(source, requests, { paging, ...scan }),
    { clock, freshMs: totalTimeout, since: requestedAt },
  );
  const overrides = {
    search: (...[search, { isUnclaimed, confirms }]: Parameters<OnceContext['search']>) =>
      isUnclaimed ? scans.searchUnclaimed(search) : scans.search(search, { confirms }),
    // A list of any length can be read: the signal ends its scan, and each page has a deadline.
    searchTimeout: maxTimerMs,
  };
  const readFirst = createFirstReader();
  const referenceOf = new Map<TransferId, string>();
  // A platform that removes duplicates by their terms returns one transfer for two payments.
  const rejectSharedTransfer = (reference: string, id: TransferId): void => {
    const first = referenceOf.get(id) ?? reference;
    referenceOf.set(id, first);
    if (first === reference) return;
    throw new PaymentErrors(createCall, reference, context).createInDoubtError(
      'ambiguous',
      `The platform has one transfer (${id}) for this payment and for ${first}: an operator decides which of them it is`,
      { candidates: [id] },
    );
  };
  const unread = copies?.values();
  return {
    inputs: copies === undefined ? readInputs() : [...(inputs as readonly OnceInput[])],
    concurrency,
    readAhead: forgets ? maxReadAhead : concurrency,
    retryTimeout,
    signal,
    clock,
    copy: (input) => unread?.next().value ?? readOnceInput(input),
    onRead(copy) {
      if (forgets && isValid(copy)) scans.addUnclaimed(copy);
    },
    async pay(copy) {
      const payment = payOnce(client, copy, onceOptions, readFirst, overrides);
      const made = await payment.catch((error: unknown) => {
        // A request of this or of another call may have taken effect after the scan.
        if (isOutcomeUnknown(error)) scans.drop(copy);
        throw error;
      });
      rejectSharedTransfer(copy.description, made.transferId);
      return { reference: copy.description, ...made };
    },
    onResult(result, copy, ms) {
      if (forgets && isValid(copy)) scans.drop(copy);
      callHook(hooks, 'onOnce', () => createOnceEvent(copy, result, ms));
    },
    isHopeless: (error) =>
      error instanceof PaymentInDoubtError && error.reason === 'journal' && !hasWorked(journal),
    onLeave: () => {
      leaving.abort();
    },
    duplicateError: (reference) =>
      withReference(
        invalidArguments(createCall, [duplicateIssue], redact),
        pipeline.showReference(reference),
      ),
    abortError: (cause) =>
      new AbortError(abortMessage, { ...call, outcome: 'unknown', startedAt, cause }),
  };
}

const duplicateIssue = {
  path: 'description',
  message: 'this batch already has a payment with this reference',
  hint: 'A reference belongs to one payment: give each its own, or remove the second',
};

const abortMessage =
  'The batch was aborted by its signal.\nPayments without a result may have been made: run the batch again with the same inputs.';

const readOnceInput = (input: OnceInput): OnceInput =>
  readInput(input, transferCreateInputSchema());

const isValid = (copy: OnceInput): boolean =>
  transferCreateInputSchema().safeParse(copy).success && isReference(copy.description);

/** Reads recorded transfers until one was read: it shows whether the journal belongs to this platform. */
function createFirstReader(): (read: () => Promise<Transfer>) => Promise<Transfer | undefined> {
  let reading: Promise<Transfer> | undefined;
  let hasRead = false;
  return async (read) => {
    while (!hasRead) {
      if (reading === undefined) {
        reading = read();
        try {
          const transfer = await reading;
          hasRead = true;
          return transfer;
        } finally {
          reading = undefined;
        }
      }
      await reading.catch(() => undefined);
    }
    return undefined;
  };
}

/** What is wrong with the inputs as a whole; if they do not match their control totals, also with each of them. */
function findInputIssues(
  inputs: unknown,
  copies: readonly (Partial<OnceInput> | undefined)[] | undefined,
  expect: ExpectedTotals | undefined,
): DetailedIssue[] {
  const issues = findInputsIssues(inputs);
  if (issues.length > 0 || expect === undefined) return issues;
  if (copies === undefined) {
    return [{ path: 'options.expect', message: 'expected inputs that are an array' }];
  }
  const { count = copies.length, total } = expect;
  if (count !== copies.length) {
    const message = `got ${copies.length} inputs; expected ${count}`;
    issues.push({ path: 'options.expect.count', message });
  }
  const sum = sumInputs(copies);
  if (total !== undefined && parseAmount(total) !== sum) {
    const message = `got inputs of ${formatAmount(sum)} in total; expected ${total}`;
    issues.push({ path: 'options.expect.total', message });
  }
  for (const [at, copy] of issues.length > 0 ? copies.entries() : []) {
    if (issues.length >= maxIssues) break;
    const problems: DetailedIssue[] = [];
    validate(argument(transferCreateInputSchema(), copy, `inputs[${at}]`), problems);
    issues.push(...problems);
  }
  return issues;
}

/** The sum of all amounts. An input with an invalid amount counts as 0: it is named beside the total, or rejected. */
const sumInputs = (inputs: readonly (Partial<OnceInput> | undefined)[]): bigint =>
  inputs.reduce((sum, input) => sum + (parseAmount(input?.amount) ?? 0n), 0n);
