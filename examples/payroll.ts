// Pays a CSV of 200 salaries, each once. Kill it at any moment and start it again: what was paid is known,
// what is in doubt is looked for. With PAYMENTS_BASE_URL it pays on that platform (SOURCE_ACCOUNT and
// COUNTERPARTY: ids without `acc_` and `cpty_`); without, on a sandbox that fails at every tenth payment.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  isPaymentsError,
  PaymentsClient,
  PaymentInDoubtError,
  type OnceInput,
} from 'payments-platform-sdk';
import { sqliteJournal } from 'payments-platform-sdk/journals';
import { Sandbox } from 'payments-platform-sdk/sandbox';

const isReal = process.env['PAYMENTS_BASE_URL'] !== undefined;
const sandbox = new Sandbox();
const { id: entityId } = sandbox.entities.create({ email: 'payroll@example.com' });
const source = sandbox.accounts.create({ entityId }).id;
const staff = sandbox.counterparties.create({ entityId }).id;
sandbox.accounts.fund(source, '1000000.00');
for (let after = 5; after < 200; after += 10) {
  const when = after % 20 === 5 ? 'after_commit' : 'before_commit';
  sandbox.faults.add({ operation: 'transfers.create', after, fault: { kind: 'reset', when } });
}

// On a platform of your own, a place that outlives this process.
const folder = isReal ? process.cwd() : mkdtempSync(join(tmpdir(), 'payroll-'));
const journal = sqliteJournal(join(folder, 'payroll-2026-11.db'));
// Seconds here, so that the demonstration ends; leave both out in earnest.
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
    sourceAccountId: isReal ? `acc_${process.env['SOURCE_ACCOUNT']}` : source,
    counterpartyId: isReal ? `cpty_${process.env['COUNTERPARTY']}` : staff,
    amount,
    description,
  };
});

const paid = new Set<string>();
const failed = new Map<string, string>();
const doubtful = new Map<string, string>();
const show = (): void => {
  if (!process.stdout.isTTY) return;
  const bar = '#'.repeat(Math.floor((paid.size / salaries.length) * 40)).padEnd(40, '.');
  process.stdout.write(
    `\r[${bar}] ${paid.size} paid, ${doubtful.size} in doubt, ${failed.size} failed`,
  );
};

/** Pays one; comes back as long as only time is needed. */
async function pay(salary: OnceInput): Promise<void> {
  const { description } = salary;
  for (;;) {
    try {
      await payments.transfers.createOnce(salary);
      doubtful.delete(description);
      paid.add(description);
      return;
    } catch (error) {
      if (!isPaymentsError(error)) throw error;
      const isInDoubt = error.outcome === 'unknown';
      (isInDoubt ? doubtful : failed).set(description, error.message);
      const wait = error instanceof PaymentInDoubtError ? error.retryAfterMs : undefined;
      if (wait === undefined) return;
      show();
      await sleep(wait);
    } finally {
      show();
    }
  }
}

const waiting = [...salaries];
const lane = async (): Promise<void> => {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await pay(next);
};
await Promise.all(Array.from({ length: 20 }, lane));

console.log(`\n${paid.size} paid, ${doubtful.size} in doubt, ${failed.size} failed`);
for (const [reference, why] of [...doubtful, ...failed]) console.log(`${reference}: ${why}`);
if (!isReal) {
  const made = sandbox.transfers.list();
  const references = new Set(made.map(({ description }) => description));
  console.log(`${made.length} transfers on the platform, ${references.size} of them different`);
}
journal.close();
