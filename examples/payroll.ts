// Pays a CSV of 200 salaries, each once. Kill it at any moment and run it again: it goes on where it was. With
// PAYMENTS_BASE_URL it pays on that platform, from SOURCE_ACCOUNT (`acc_…`) to COUNTERPARTY (`cpty_…`); otherwise
// on a sandbox that fails at every tenth payment.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PaymentsClient, type OnceInput } from 'payments-platform-sdk';
import { sqliteJournal } from 'payments-platform-sdk/journals';
import { Sandbox } from 'payments-platform-sdk/sandbox';

const isReal = process.env['PAYMENTS_BASE_URL'] !== undefined;
const sandbox = new Sandbox();
const { id: entityId } = sandbox.entities.create({ email: 'payroll@example.com' });
const sandboxSource = sandbox.accounts.create({ entityId }).id;
sandbox.accounts.fund(sandboxSource, '1000000.00');
for (let after = 5; after < 200; after += 10) {
  const when = after % 20 === 5 ? 'after_commit' : 'before_commit';
  sandbox.faults.add({ operation: 'transfers.create', after, fault: { kind: 'reset', when } });
}
function readVariable(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`Set ${name} to the id to use.`);
  return value;
}
const source = isReal ? readVariable('SOURCE_ACCOUNT') : sandboxSource;
const staff = isReal
  ? readVariable('COUNTERPARTY')
  : sandbox.counterparties.create({ entityId }).id;

// For a real platform the journal must survive this process.
const folder = isReal ? process.cwd() : mkdtempSync(join(tmpdir(), 'payroll-'));
const journal = sqliteJournal(join(folder, 'payroll-2026-11.db'));
// Seconds, so that the demonstration ends; use the defaults in production.
const limits = { totalTimeout: 1_000, gracePeriod: 1_000 };
const options = isReal ? { journal } : { ...sandbox.clientOptions, ...limits, journal };
const payments = new PaymentsClient(options);

const references = Array.from({ length: 200 }, (_, at) => String(at + 1).padStart(4, '0'));
const csv = references.map((number, at) => `payroll-2026-11-${number},${2000 + at}.50`);
const salaries = csv.map((line): OnceInput => {
  const [description = '', amount = ''] = line.split(',');
  return { sourceAccountId: source, counterpartyId: staff, amount, description };
});

// The control totals come with the file: with a line too many or too few, nothing is paid.
const expect = { count: 200, totals: { USDC: '420000.00' } };
const [shutdown, end] = [new AbortController(), new AbortController()];
const batch = payments.transfers.createAllOnce(salaries, { expect, signal: end.signal });
process.once('SIGTERM', () => {
  shutdown.abort();
  // A batch that only waits for payments in doubt gives no row at which to leave it.
  setTimeout(() => {
    end.abort();
  }, 8_000).unref();
});
const startedAt = Date.now();
const showProgress = (): void => {
  const { paid, total, waiting, retryAt } = batch.counts;
  const rate = Math.round((paid * 1_000) / (Date.now() - startedAt));
  const waitMs = retryAt === undefined ? undefined : Math.max(0, retryAt - Date.now());
  const next = waitMs === undefined ? '' : `, next try in ${Math.ceil(waitMs / 1_000)} s`;
  const line = `${paid} of ${total} paid, ${rate} a second, ${waiting} waiting${next}`;
  // Clears what is left of a longer line.
  process.stdout.write(`\r${line}\u001B[K`);
};
const progress = process.stdout.isTTY ? setInterval(showProgress, 500) : undefined;
for await (const { reference, error } of batch) {
  if (error) console.log(`\n${reference}: ${error.message}`);
  // Starts no more payments and lets running ones end, so that no claim stays open.
  if (shutdown.signal.aborted) break;
}
clearInterval(progress);
const { paid, failed, notPaid, inDoubt } = batch.counts;
console.log(`\n${paid} paid, ${inDoubt} in doubt, ${notPaid} not paid, ${failed} failed`);
if (paid < salaries.length) process.exitCode = 1;

if (!isReal) {
  const made = sandbox.transfers.list().map(({ description }) => description);
  console.log(`${made.length} transfers on the platform, ${new Set(made).size} of them different`);
}
journal.close();
