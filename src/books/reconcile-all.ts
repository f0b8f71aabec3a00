import { argument, invalidArguments, readInput, validate } from '../calls/arguments.ts';
import {
  callOptionChecks,
  checkBy,
  checkOptions,
  isBoolean,
  optionalCheck,
  parseSince,
  sinceCheck,
  type OptionChecks,
  type RequestOptions,
} from '../calls/options.ts';
import { createInputReader, findInputsIssues, type Inputs } from '../calls/inputs.ts';
import { createAwaitable, type Awaitable } from '../lists/pager.ts';
import { captureCallSite, withCallSite } from '../errors/call-site.ts';
import { PaymentsError, type CallIdentity, type Issue } from '../errors/errors.ts';
import { reattribute } from '../errors/message.ts';
import { describeIdProblem, describeReferenceProblem, journalKey } from '../internal/formats.ts';
import { issueAt, join, maxIssues } from '../internal/issues.ts';
import { cloneInput } from '../internal/objects.ts';
import type { AccountId } from '../schemas/account.ts';
import { transferCreateInputSchema, type OnceInput } from '../schemas/transfer.ts';
import { addRow, createTotals, type ReconciledRow, type ReconciledTotals } from './rows.ts';
import { SourceBooks, type BookedPayment, type Books, type BooksContext } from './source-books.ts';

/** Options of `transfers.reconcileAll`. */
export interface ReconcileAllOptions extends RequestOptions {
  /**
   * Transfers created earlier are not `unexpected`. With `transfersNewestFirst`, the list is read as far as
   * this time: it has to be before the first of the payments. @default 1970
   */
  since?: Date | string | undefined;
  /**
   * Transfers created at this time or later are not `unexpected`. A Transfer without a readable `createdAt` is, in
   * spite of the limits. Default: no limit.
   */
  until?: Date | string | undefined;
  /** Whether Transfers that belong to no input are returned, too. @default false */
  unexpected?: boolean | undefined;
  /** Accounts to read for `unexpected` Transfers, although no input pays from them. */
  accounts?: readonly AccountId[] | undefined;
}

/** What `await` returns of a reconciliation. */
export interface ReconciledSummary {
  /** How many rows ended how. */
  readonly totals: ReconciledTotals;
  /** The rows that are not `completed`. */
  readonly open: readonly ReconciledRow[];
}

/** Books compared with the platform: `for await` returns one row at a time, `await` what is open. */
export interface ReconciledBooks
  extends Awaitable<ReconciledSummary>, AsyncIterable<ReconciledRow> {
  /** Live, for progress and a summary. */
  readonly totals: ReconciledTotals;
}

export const reconcileAllCall: CallIdentity = {
  operation: 'transfers.reconcileAll',
  method: 'GET',
  path: '/transfers',
};

const reconcileAllOptionChecks = (): OptionChecks<ReconcileAllOptions> => ({
  since: sinceCheck,
  until: sinceCheck,
  unexpected: isBoolean,
  accounts: (value, at, issues) => {
    optionalCheck('an array of account ids', Array.isArray)(value, at, issues);
    for (const [index, id] of Array.isArray(value) ? value.entries() : []) {
      checkBy((account) => describeIdProblem('acc_', account))(id, join(at, [index]), issues);
    }
  },
  ...callOptionChecks(),
});

/** Compares the payments of one's own books with the lists of their sources; sends nothing. */
export function reconcileAll(
  context: BooksContext,
  inputs: Inputs<OnceInput>,
  options: ReconcileAllOptions | undefined,
): ReconciledBooks {
  const site = captureCallSite();
  const totals = createTotals();
  const readInputs = createInputReader(inputs, (issues) =>
    invalidArguments(reconcileAllCall, issues, context.redact),
  );
  async function* run(counted = createTotals()): AsyncGenerator<ReconciledRow, void, undefined> {
    const startedAt = new Date(context.transferSearch.now()).toISOString();
    try {
      Object.assign(totals, counted);
      const { sources, books } = await readBooks(context, inputs, readInputs, options);
      for (const [source, payments] of sources) {
        for await (const { row, money } of new SourceBooks(books, source, payments).rows()) {
          addRow(counted, row.result, money);
          Object.assign(totals, counted);
          yield row;
        }
      }
    } catch (error) {
      throw withCallSite(reattributeToBooks(error, startedAt), site);
    }
  }
  const runAll = async (): Promise<ReconciledSummary> => {
    const counted = createTotals();
    const open: ReconciledRow[] = [];
    for await (const row of run(counted)) if (row.result !== 'completed') open.push(row);
    return { totals: counted, open };
  };
  return Object.assign({ totals, [Symbol.asyncIterator]: run }, createAwaitable(runAll));
}

async function readBooks(
  context: BooksContext,
  inputs: Inputs<OnceInput>,
  readInputs: () => Inputs<OnceInput>,
  options: ReconcileAllOptions | undefined,
): Promise<{ sources: Map<AccountId, BookedPayment[]>; books: Books }> {
  const issues: Issue[] = [];
  const checked = checkOptions(reconcileAllOptionChecks, cloneInput(options), issues);
  const { since, until, unexpected = false, accounts = [], ...paging } = checked;
  const start = parseSince(since, context.transferSearch.now(), issues);
  const end = until === undefined || issues.length > 0 ? undefined : new Date(until).getTime();
  if (start !== undefined && end !== undefined && end <= start) {
    issues.push({ path: 'options.until', message: 'expected a time after options.since' });
  }
  issues.push(...findInputsIssues(inputs));
  const sources = new Map<AccountId, BookedPayment[]>();
  const references = new Map<string, string>();
  let at = 0;
  for await (const callerInput of issues.length === 0 ? readInputs() : []) {
    const input = checkInput(callerInput, `inputs[${at}]`, references, issues);
    at += 1;
    if (issues.length >= maxIssues) break;
    if (input === undefined) continue;
    const payments = sources.get(input.sourceAccountId) ?? [];
    sources.set(input.sourceAccountId, payments);
    payments.push({ callerInput, input, record: {}, exact: new Map(), similar: new Map() });
  }
  if (issues.length > 0) throw invalidArguments(reconcileAllCall, issues, context.redact);
  for (const account of accounts) sources.set(account, sources.get(account) ?? []);
  const books = { ...context, paging, since: start, until: end, unexpected, references };
  return { sources, books };
}

/**
 * Copies and checks an input; `issues` gets what is wrong. Undefined only if the input does not match its
 * schema.
 */
function checkInput(
  callerInput: OnceInput,
  at: string,
  references: Map<string, string>,
  issues: Issue[],
): OnceInput | undefined {
  const copy = readInput(callerInput, transferCreateInputSchema());
  if (validate(argument(transferCreateInputSchema(), copy, at), issues) === undefined) {
    return undefined;
  }
  const { description } = copy;
  const place = `${at}.description`;
  const problem = describeReferenceProblem(description);
  if (problem !== undefined) issues.push(issueAt(place, problem, description));
  const key = problem === undefined ? journalKey(description) : '';
  const earlier = references.get(key);
  if (earlier !== undefined) {
    const message = `${earlier} has the reference "${description}", too; a reference belongs to one payment`;
    issues.push({ path: place, message });
  } else if (key !== '') references.set(key, at);
  return copy;
}

/** A failed search proves nothing about the payments. */
function reattributeToBooks(error: unknown, startedAt: string): unknown {
  if (!(error instanceof PaymentsError) || error.operation === reconcileAllCall.operation) {
    return error;
  }
  const what = 'Whether the payments arrived is not known: the search failed';
  const hint = 'Call reconcileAll again: it sends nothing';
  const { operation } = reconcileAllCall;
  const { retryable } = error;
  return reattribute(
    error,
    { what, hint },
    { operation, outcome: 'unknown', retryable, startedAt },
  );
}
