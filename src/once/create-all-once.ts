import { formatAmount, parseAmount } from '../internal/amounts.ts';
import { isCurrency, isReference } from '../internal/formats.ts';
import { maxIssues, type DetailedIssue } from '../internal/issues.ts';
import { isObject, isPlainObject } from '../internal/objects.ts';
import { argument, invalidArguments, validate } from '../calls/arguments.ts';
import {
  parseSince,
  checkOptions,
  fields,
  milliseconds,
  optionalCheck,
  type OptionChecks,
} from '../calls/options.ts';
import {
  createInputReader,
  findInputsIssues,
  type Inputs,
  type ReadInput,
} from '../calls/inputs.ts';
import { warn } from '../internal/runtime.ts';
import { fieldOf } from '../internal/thrown.ts';
import { expectStart } from '../internal/unstarted.ts';
import { createLazy } from '../lists/pager.ts';
import { captureCallSite, withCallSite } from '../errors/call-site.ts';
import { transferCreateInputSchema, type OnceInput } from '../schemas/transfer.ts';
import { defaultCurrency } from '../search/compare.ts';
import { BatchRun, isPaid, type LiveCounts } from './batch.ts';
import { batchCall, BatchPayments } from './batch-payments.ts';
import type { Batch, BatchResult, BatchSummary } from './batch-results.ts';
import type { ClientContext } from './context.ts';
import { onceOptionChecks, type OnceOptions } from './options.ts';

/** Options of `transfers.createAllOnce`. */
export interface BatchOptions extends OnceOptions {
  /** How many payments are in progress at a time. @default 16 */
  concurrency?: number | undefined;
  /**
   * How long the batch keeps trying one payment, in milliseconds. If no payment is decided for that
   * long, the whole batch gives up. @default 1800000
   */
  retryTimeout?: number | undefined;
  /** Control totals of your array of inputs. The batch compares them before it sends a payment. */
  expect?: ExpectedTotals | undefined;
}

/** The count and the sums that you expect of a batch, to detect a wrong list of inputs. */
interface ExpectedTotals {
  /** How many inputs you expect in your array. */
  readonly count?: number | undefined;
  /** For each currency of your inputs, the exact sum of the amounts: `{ USDC: '1250.00' }`. */
  readonly totals?: Readonly<Record<string, string>> | undefined;
}

/** How many inputs to read ahead if payments need a search first, so that they share the search. */
const maxReadAhead = 10_000;

/** The largest `concurrency`, because more payments at a time could exhaust the memory. */
const maxConcurrency = 1_000;

const batchOptionChecks = (): OptionChecks<BatchOptions> => ({
  concurrency: optionalCheck(
    `a whole number from 1 to ${maxConcurrency}`,
    (value) => Number.isInteger(value) && Number(value) > 0 && Number(value) <= maxConcurrency,
  ),
  retryTimeout: milliseconds,
  expect: (value, at, issues) => {
    if (value === undefined) return;
    const before = issues.length;
    fields(expectChecks())(value, at, issues);
    // If both fields are undefined, perhaps because a wrong column was read, the check would permit every batch.
    const isEmpty = [fieldOf(value, 'count'), fieldOf(value, 'totals')].every(
      (x) => x === undefined,
    );
    if (isEmpty && issues.length === before) {
      issues.push({ path: at, message: 'got neither; expected count, totals or both' });
    }
  },
  ...onceOptionChecks(),
});

const expectChecks = (): OptionChecks<ExpectedTotals> => ({
  count: optionalCheck(
    'a whole number, 0 or more',
    (value) => Number.isInteger(value) && Number(value) >= 0,
  ),
  totals: optionalCheck(
    "exact decimal strings by currency, such as { USDC: '1250.00' }",
    (value) =>
      isPlainObject(value) &&
      Object.entries(value).every(
        ([currency, total]) => isCurrency(currency) && parseAmount(total) !== undefined,
      ),
  ),
});

/**
 * Creates what `createAllOnce` returns. The batch starts when the caller loops over the returned
 * object (`run`) or awaits it (`runAll`), and shows its progress in `counts`.
 */
export function createAllOnce(
  client: ClientContext,
  inputs: Inputs<OnceInput>,
  options: BatchOptions | undefined,
): Batch {
  const site = captureCallSite(createAllOnce);
  const readInputs = createInputReader(inputs, transferCreateInputSchema, (issues) =>
    invalidArguments(batchCall, issues, client.pipeline.redact),
  );
  const start = expectStart(batchCall.operation);
  const counts = createCounts(inputs);
  async function* run(): AsyncGenerator<BatchResult, void, undefined> {
    start();
    try {
      // The caller may hold `counts`, so each loop resets that object.
      Object.assign(counts, createCounts(inputs));
      const batchRun = await createRun(client, inputs, readInputs, options, counts);
      for await (const result of batchRun.results()) {
        if (result.error !== undefined) withCallSite(result.error, site);
        yield result;
      }
    } catch (error) {
      throw withCallSite(error, site);
    }
  }
  const runAll = async (): Promise<BatchSummary> => {
    const unpaid: BatchResult[] = [];
    for await (const result of run()) if (!isPaid(result)) unpaid.push(result);
    if (unpaid.length > 0) {
      warn(
        `payments-platform-sdk: a batch did not pay ${unpaid.length} of its payments; unpaid of its result has them.`,
      );
    }
    return { counts: { ...counts }, unpaid };
  };
  return Object.assign(createLazy(run, runAll), { counts });
}

const createCounts = (inputs: Inputs<OnceInput>): LiveCounts => ({
  created: 0,
  found: 0,
  recorded: 0,
  paid: 0,
  failed: 0,
  notPaid: 0,
  inDoubt: 0,
  waiting: 0,
  ...(Array.isArray(inputs) && { total: inputs.length }),
});

/** Checks the arguments of a batch, and creates one loop over its payments. */
async function createRun(
  client: ClientContext,
  inputs: Inputs<OnceInput>,
  readInputs: () => Inputs<ReadInput<OnceInput>>,
  options: BatchOptions | undefined,
  counts: LiveCounts,
): Promise<BatchRun> {
  const issues: DetailedIssue[] = [];
  const checked = checkOptions(batchOptionChecks, options, issues);
  const { concurrency = 16, retryTimeout = 1_800_000, expect, ...onceOptions } = checked;
  const requestedAt = parseSince(onceOptions.since, client.clock.now(), issues);
  if (issues.length === 0) issues.push(...findInputsIssues(inputs));
  const rows = issues.length === 0 ? readInputs() : [];
  if (issues.length === 0) issues.push(...findTotalsIssues(rows, expect));
  if (issues.length > 0) throw invalidArguments(batchCall, issues, client.pipeline.redact);
  if (Array.isArray(rows)) warnOfReferences(rows);
  const payments = new BatchPayments(client, onceOptions, requestedAt);
  await payments.readSearchFirst();
  const setup = {
    inputs: rows,
    concurrency,
    readAhead: payments.searchesFirst ? maxReadAhead : concurrency,
    retryTimeout,
    signal: onceOptions.signal,
    clock: client.clock,
  };
  return new BatchRun(setup, payments, counts);
}

/** Warns, before anything is sent, about references that repeat or that only number the rows. */
function warnOfReferences(rows: readonly ReadInput<OnceInput>[]): void {
  // A row without a valid reference gets an error as its result, so it repeats nothing.
  const references = rows.map(({ copy }) => fieldOf(copy, 'description')).filter(isReference);
  const repeated = references.length - new Set(references).size;
  if (repeated > 0) {
    warn(
      `payments-platform-sdk: a batch repeats references of earlier rows (${repeated}), so nothing is paid for the later ones. Another payment needs another reference.`,
    );
  }
  const endsWith = (reference: string, position: number) =>
    new RegExp(`(^|\\D)${position}$`).test(reference);
  const isCounted = [0, 1].some((first) =>
    references.every((reference, index) => endsWith(reference, index + first)),
  );
  if (references.length > 2 && isCounted) {
    warn(
      `payments-platform-sdk: the references of a batch are counted (${references[0]} and so on). If the numbers are the positions of the rows, a row that is added pays somebody twice and somebody never: take a number of the invoice or the employee.`,
    );
  }
}

/** Compares the inputs with the control totals. If they differ, also checks each input. */
function findTotalsIssues(
  rows: Inputs<ReadInput<OnceInput>>,
  expect: ExpectedTotals | undefined,
): DetailedIssue[] {
  if (expect === undefined) return [];
  if (!Array.isArray(rows)) {
    return [{ path: 'options.expect', message: 'expected inputs that are an array' }];
  }
  const array: readonly ReadInput<Partial<OnceInput> | undefined>[] = rows;
  const copies = array.map(({ copy }) => copy);
  const { count = copies.length, totals } = expect;
  const issues: DetailedIssue[] = [];
  if (count !== copies.length) {
    const message = `got ${copies.length} inputs; expected ${count}`;
    issues.push({ path: 'options.expect.count', message });
  }
  if (totals !== undefined) {
    const expected = Object.entries(totals).map(([currency, amount]) => ({ currency, amount }));
    issues.push(...compareSums(sumByCurrency(copies), sumByCurrency(expected)));
  }
  if (issues.length === 0) return issues;
  // An invalid input may have caused the difference, so the error also lists invalid inputs.
  for (const [at, copy] of copies.entries()) {
    if (issues.length >= maxIssues) break;
    const inputIssues: DetailedIssue[] = [];
    validate(argument(transferCreateInputSchema(), copy, `inputs[${at}]`), inputIssues);
    issues.push(...inputIssues);
  }
  return issues;
}

/** Sums the amounts by currency. An invalid amount adds nothing, because its payment fails anyway. */
function sumByCurrency(
  inputs: readonly (Partial<OnceInput> | undefined)[],
): ReadonlyMap<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const input of inputs) {
    if (!isObject(input)) continue;
    const { currency = defaultCurrency, amount } = input;
    const name = isCurrency(currency) ? currency.toUpperCase() : 'an invalid currency';
    sums.set(name, (sums.get(name) ?? 0n) + (parseAmount(amount) ?? 0n));
  }
  return sums;
}

/** Yields an issue for each currency whose sum differs from the expected sum. */
function* compareSums(
  sums: ReadonlyMap<string, bigint>,
  expected: ReadonlyMap<string, bigint>,
): Generator<DetailedIssue> {
  const path = 'options.expect.totals';
  for (const [currency, sum] of sums) {
    const total = expected.get(currency);
    if (total === sum) continue;
    const expectedSum = total === undefined ? 'none' : formatAmount(total);
    const message = `got inputs of ${formatAmount(sum)} in ${currency}; expected ${expectedSum}`;
    yield { path, message };
  }
  for (const [currency, total] of expected) {
    // An expected total of 0 is met if no input has this currency.
    if (sums.has(currency) || total === 0n) continue;
    yield { path, message: `got no inputs in ${currency}; expected ${formatAmount(total)}` };
  }
}
