// Compares a day of books with the platform, and writes a CSV for finance: one row for each payment, and one for each
// transfer that is not in the books, and one for each account that could not be read. It ends with status 1 if
// anything is not completed, for cron and alerts. With
// PAYMENTS_BASE_URL it takes a day and a JSON file of `createOnce` inputs, such as `node end-of-day.ts 2026-11-24
// books.json`; otherwise it runs on a sandbox. Needs `npm install csv-stringify`.
import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify';
import {
  isPaymentsError,
  PaymentsClient,
  type OnceInput,
  type ReconciledRow,
} from 'payments-platform-sdk';
import { sqliteJournal } from 'payments-platform-sdk/journals';
import { Sandbox } from 'payments-platform-sdk/sandbox';

const isReal = process.env['PAYMENTS_BASE_URL'] !== undefined;
const [, , day = new Date().toISOString().slice(0, 10), booksFile = 'books.json'] = process.argv;
const since = new Date(`${day}T00:00:00Z`);
const until = new Date(since.getTime() + 24 * 3_600_000);

const sandbox = new Sandbox();
const books = isReal
  ? (JSON.parse(await readFile(booksFile, 'utf8')) as OnceInput[])
  : makeDemoDay();
// Only accounts that a payment is made from are read; name others in the option `accounts`.
if (books.length === 0) throw new Error(`The books of ${day} are empty.`);
// With the journal of `createOnce`, payments are matched by their ids.
const file = process.env['JOURNAL'];
const journal = file === undefined ? undefined : sqliteJournal(file, { create: false });
const payments = new PaymentsClient({ ...(!isReal && sandbox.clientOptions), journal });
const reconciliation = payments.transfers.reconcileAll(books, { since, until, unexpected: true });

const columns = [
  'result',
  'reference',
  'amount',
  'currency',
  'source',
  'recipient',
  'transfers',
  'amount on the platform',
  'status on the platform',
  'created at',
];

const describeRow = ({ result, reference, input, transfer, candidates = [] }: ReconciledRow) => {
  const listed = transfer ?? candidates[0];
  const terms = input ?? transfer;
  return {
    result,
    reference: reference ?? transfer.description,
    amount: terms.amount,
    currency: terms.currency ?? 'USDC',
    source: terms.sourceAccountId,
    recipient: terms.counterpartyId ?? terms.destinationAccountId,
    transfers: [transfer, ...candidates].flatMap((each) => each?.id ?? []).join(' '),
    'amount on the platform': listed?.amount,
    'status on the platform': listed?.status,
    'created at': listed?.createdAt,
  };
};

let unread = 0;
async function* readRows() {
  try {
    for await (const row of reconciliation) yield describeRow(row);
  } catch (error) {
    if (!isPaymentsError(error) || error.errors === undefined) throw error;
    // Every other account was read, so its rows are right.
    for (const { accountId, message } of error.errors) {
      unread += 1;
      yield { result: 'not read', source: accountId };
      console.log(message);
    }
  }
}

const csv = stringify({
  header: true,
  columns,
  bom: true, // Excel reads UTF-8 only with it.
  quoted: true,
  // A description that starts with = would run as a formula where the file is opened.
  escape_formulas: true,
});
const folder = isReal ? process.cwd() : await mkdtemp(join(tmpdir(), 'end-of-day-'));
const path = join(folder, `end-of-day-${day}.csv`);
// A file with its final name is complete: if the comparison fails, there is none.
await pipeline(Readable.from(readRows()), csv, createWriteStream(`${path}.new`));
await rename(`${path}.new`, path);
journal?.close();

for (const [result, { count, amounts, unreadable }] of Object.entries(reconciliation.totals)) {
  const sums = Object.entries(amounts).map(([currency, amount]) => `${amount} ${currency}`);
  // A sum without them is too small to be booked.
  if (unreadable > 0) sums.push(`and ${unreadable} without a readable amount or currency`);
  console.log(`${result}: ${count}`, sums.join(', '));
}
if (!isReal) console.log(await readFile(path, 'utf8'));
const { completed, ...others } = reconciliation.totals;
const openCount = Object.values(others).reduce((sum, { count }) => sum + count, unread);
console.log(`${completed.count} completed, ${openCount} to look at: ${path}`);
process.exitCode = openCount > 0 ? 1 : 0;

/** Five payments of a day, of which one has arrived, and one that is not in the books. */
function makeDemoDay(): OnceInput[] {
  const { id: entityId } = sandbox.entities.create({ email: 'payroll@example.com' });
  const { id: sourceAccountId } = sandbox.accounts.create({ entityId });
  const { id: counterpartyId } = sandbox.counterparties.create({ entityId });
  sandbox.accounts.fund(sourceAccountId, '1000.00');
  const accounts = { sourceAccountId, counterpartyId };
  const payroll = [1, 2, 3, 4, 5].map((number) => ({
    ...accounts,
    amount: `${number}0.50`,
    description: `payroll-2026-11-000${number}`,
  }));
  for (const [at, input] of payroll.entries()) {
    if (at === 2) continue; // It was never sent.
    const { id } = sandbox.transfers.create(at === 3 ? { ...input, amount: '4.05' } : input);
    if (at === 1) sandbox.transfers.fail(id);
    if (at === 0) for (const _ of [1, 2]) sandbox.transfers.advance(id);
  }
  const description = '=HYPERLINK("https://example.com","salary")';
  sandbox.transfers.create({ ...accounts, amount: '9.00', description });
  return payroll;
}
