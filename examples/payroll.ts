// Pays a CSV of 200 salaries, each once. Kill it at any moment and start it again: the journal has the paid
// ones, and the program searches for those in doubt. With PAYMENTS_BASE_URL it pays on that platform, from
// SOURCE_ACCOUNT (`acc_…`) to COUNTERPARTY (`cpty_…`); otherwise on a sandbox that fails at every tenth payment.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  accountId,
  counterpartyId,
  isPaymentsError,
  PaymentsClient,
  PaymentInDoubtError,
  type OnceInput,
  type PaymentsError,
} from 'payments-platform-sdk';
import { sqliteJournal } from 'payments-platform-sdk/journals';
import { Sandbox } from 'payments-platform-sdk/sandbox';

const isReal = process.env['PAYMENTS_BASE_URL'] !== undefined;
const sandbox = new Sandbox();
const { id: entityId } = sandbox.entities.create({ email: 'payroll@example.com' });
const sandboxSource = sandbox.accounts.create({ entityId }).id;
const sandboxStaff = sandbox.counterparties.create({ entityId }).id;
sandbox.accounts.fund(sandboxSource, '1000000.00');
for (let after = 5; after < 200; after += 10) {
  const when = after % 20 === 5 ? 'after_commit' : 'before_commit';
  sandbox.faults.add({ operation: 'transfers.create', after, fault: { kind: 'reset', when } });
}

/** Returns a variable of the environment, or throws if it is not set. */
function requireVariable(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`Set ${name} to the id to use.`);
  return value;
}
const source = isReal ? accountId(requireVariable('SOURCE_ACCOUNT')) : sandboxSource;
const staff = isReal ? counterpartyId(requireVariable('COUNTERPARTY')) : sandboxStaff;

// For a real platform the journal must survive this process.
const folder = isReal ? process.cwd() : mkdtempSync(join(tmpdir(), 'payroll-'));
const journal = sqliteJournal(join(folder, 'payroll-2026-11.db'));
// Seconds, so that the demonstration ends; use the defaults in production.
const limits = { totalTimeout: 1_000, gracePeriod: 1_000 };
const payments = new PaymentsClient(
  isReal ? { journal } : { ...sandbox.clientOptions, ...limits, journal },
);

const csv = Array.from(
  { length: 200 },
  (_, at) => `payroll-2026-11-${String(at + 1).padStart(4, '0')},${2000 + at}.50`,
).join('\n');
const salaries = csv.split('\n').map((line): OnceInput => {
  const [description = '', amount = ''] = line.split(',');
  return {
    sourceAccountId: source,
    counterpartyId: staff,
    amount,
    description,
  };
});

const paid = new Set<string>();
const failed = new Map<string, string>();
const doubtful = new Map<string, string>();
const showProgress = (): void => {
  if (!process.stdout.isTTY) return;
  const bar = '#'.repeat(Math.floor((paid.size / salaries.length) * 40)).padEnd(40, '.');
  process.stdout.write(
    `\r[${bar}] ${paid.size} paid, ${doubtful.size} in doubt, ${failed.size} failed`,
  );
};

/** Returns how long to wait before the same call, or undefined if a retry does not help. */
function getRetryDelay(error: PaymentsError): number | undefined {
  if (!error.retryable) return undefined;
  return (error instanceof PaymentInDoubtError ? error.retryAfterMs : undefined) ?? 1_000;
}

/** Pays one salary, and repeats the call as long as a retry may help. */
async function pay(salary: OnceInput): Promise<void> {
  const { description } = salary;
  for (;;) {
    try {
      await payments.transfers.createOnce(salary);
      doubtful.delete(description);
      failed.delete(description);
      paid.add(description);
      return;
    } catch (error) {
      if (!isPaymentsError(error)) throw error;
      const isInDoubt = error.outcome === 'unknown';
      (isInDoubt ? doubtful : failed).set(description, error.message);
      const delay = getRetryDelay(error);
      if (delay === undefined) return;
      showProgress();
      await sleep(delay);
    } finally {
      showProgress();
    }
  }
}

const queue = [...salaries];
const payQueued = async (): Promise<void> => {
  for (let salary = queue.shift(); salary !== undefined; salary = queue.shift()) await pay(salary);
};
await Promise.all(Array.from({ length: 20 }, payQueued));

console.log(`\n${paid.size} paid, ${doubtful.size} in doubt, ${failed.size} failed`);
for (const [reference, message] of [...doubtful, ...failed])
  console.log(`${reference}: ${message}`);
if (!isReal) {
  const transfers = sandbox.transfers.list();
  const references = new Set(transfers.map(({ description }) => description));
  console.log(
    `${transfers.length} transfers on the platform, ${references.size} of them different`,
  );
}
journal.close();
