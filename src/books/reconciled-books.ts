import { invalidArguments } from '../calls/arguments.ts';
import { createInputReader, type Inputs, type ReadInput } from '../calls/inputs.ts';
import { captureCallSite, withCallSite } from '../errors/call-site.ts';
import { PaymentsError, type CallIdentity } from '../errors/errors.ts';
import { reattribute } from '../errors/message.ts';
import { expectStart } from '../internal/unstarted.ts';
import { createLazy, type Awaitable } from '../lists/pager.ts';
import { transferCreateInputSchema, type OnceInput } from '../schemas/transfer.ts';
import {
  addRow,
  createTotals,
  type CountedRow,
  type ReconciledRow,
  type ReconciledTotals,
} from './rows.ts';
import type { BooksContext } from './source-books.ts';

/** What you get when you await `reconcileAll` or `waitForAll`. */
type ReconciledSummary<Row extends ReconciledRow = ReconciledRow> = {
  /** For each result, such as `completed`, the number of rows and the sums of their amounts. */
  readonly totals: ReconciledTotals;
  /** The rows whose `result` is not `completed`. */
  readonly open: readonly Row[];
};

/** Your payments and what happened to them. `for await` gives each row, `await` a summary. */
export interface ReconciledBooks<Row extends ReconciledRow = ReconciledRow>
  extends Awaitable<ReconciledSummary<Row>>, AsyncIterable<Row> {
  /** The totals so far, updated with each row. */
  readonly totals: ReconciledTotals;
}

/**
 * Creates what `reconcileAll` and `waitForAll` return. Each loop over the result starts again.
 * `below` is the function that the public method calls.
 */
export function createReconciledBooks<Row extends ReconciledRow>(
  context: BooksContext,
  call: CallIdentity,
  inputs: Inputs<OnceInput>,
  below: Parameters<typeof captureCallSite>[0],
  readRows: (readInputs: () => Inputs<ReadInput<OnceInput>>) => AsyncIterable<CountedRow<Row>>,
): ReconciledBooks<Row> {
  const site = captureCallSite(below);
  const start = expectStart(call.operation);
  /** The totals of the latest loop, in the object that the caller holds. */
  const totals = createTotals();
  const readInputs = createInputReader(inputs, transferCreateInputSchema, (issues) =>
    invalidArguments(call, issues, context.redact),
  );
  // Each loop counts in its own totals, so that two loops at the same time do not add up.
  async function* run(counted = createTotals()): AsyncGenerator<Row, void, undefined> {
    start();
    const startedAt = new Date(context.transferSearch.now()).toISOString();
    try {
      Object.assign(totals, counted);
      for await (const { row, money } of readRows(readInputs)) {
        addRow(counted, row.result, money);
        Object.assign(totals, counted);
        yield row;
      }
    } catch (error) {
      throw withCallSite(reattributeTo(call, error, startedAt), site);
    }
  }
  const runAll = async (): Promise<ReconciledSummary<Row>> => {
    const counted = createTotals();
    const open: Row[] = [];
    for await (const row of run(counted)) if (row.result !== 'completed') open.push(row);
    return { totals: counted, open };
  };
  return Object.assign(createLazy(run, runAll), { totals });
}

/** Turns the error of a failed read into an error of the method that the caller called. */
function reattributeTo({ operation }: CallIdentity, error: unknown, startedAt: string): unknown {
  if (!(error instanceof PaymentsError) || error.operation === operation) return error;
  const what = 'Whether the payments arrived is not known: the search failed';
  const hint = `Call ${operation.replace('transfers.', '')} again: it sends no payment`;
  const { retryable } = error;
  return reattribute(
    error,
    { what, hint },
    { operation, outcome: 'unknown', retryable, startedAt },
  );
}
