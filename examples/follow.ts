// Pays a payroll and follows it to the end: each person is told once that the money arrived or failed. Kill it at any
// moment and run it again. With PAYMENTS_BASE_URL it pays on that platform, from SOURCE_ACCOUNT (`acc_…`) to COUNTERPARTY
// (`cpty_…`); otherwise on a sandbox where it leaves its first loop after half of the ends, as if it had been killed.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PaymentsClient, type OnceInput } from 'payments-platform-sdk';
import { sqliteJournal } from 'payments-platform-sdk/journals';
import { Sandbox } from 'payments-platform-sdk/sandbox';

const isReal = process.env['PAYMENTS_BASE_URL'] !== undefined;
const sandbox = new Sandbox({ autoAdvance: 20 });
const { id: entityId } = sandbox.entities.create({ email: 'payroll@example.com' });
const sandboxSource = sandbox.accounts.create({ entityId }).id;
sandbox.accounts.fund(sandboxSource, '1000000.00');
function readVariable(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`Set ${name} to the id to use.`);
  return value;
}
const source = isReal ? readVariable('SOURCE_ACCOUNT') : sandboxSource;
const staff = isReal
  ? readVariable('COUNTERPARTY')
  : sandbox.counterparties.create({ entityId }).id;

const folder = isReal ? process.cwd() : mkdtempSync(join(tmpdir(), 'follow-'));
const journal = sqliteJournal(join(folder, 'follow-2026-11.db'));
const payments = new PaymentsClient(isReal ? { journal } : { ...sandbox.clientOptions, journal });
const salaries = Array.from({ length: 20 }, (_, at): OnceInput => {
  const description = `follow-2026-11-${String(at + 1).padStart(4, '0')}`;
  return { sourceAccountId: source, counterpartyId: staff, amount: `${2000 + at}.50`, description };
});

// waitForAll keeps no state, and reports all ends again in each run. So the ends are recorded here, by reference. A
// payment that is still open when the time is over is not recorded, because its end would then be taken as told.
const outbox = new DatabaseSync(join(folder, 'follow-2026-11-outbox.db'));
outbox.exec('CREATE TABLE IF NOT EXISTS told (reference TEXT PRIMARY KEY, result TEXT NOT NULL)');
const insert = outbox.prepare('INSERT INTO told VALUES (?, ?) ON CONFLICT DO NOTHING');
/** Queues a message to one person; true if it is the first. */
const tell = (reference: string, result: string): boolean =>
  insert.run(reference, result).changes === 1;

const shutdown = new AbortController();
process.once('SIGTERM', () => {
  shutdown.abort();
});

/** Pays what is not paid, and returns how many people were told. */
async function run(stopAfter = Number.POSITIVE_INFINITY): Promise<number> {
  const batch = payments.transfers.createAllOnce(salaries);
  for await (const { reference, error } of batch) {
    if (error) console.log(`${reference}: ${error.message}`);
    if (shutdown.signal.aborted) return 0;
  }
  console.log(`${batch.counts.paid} of ${batch.counts.total} accepted`);
  const interval = isReal ? undefined : 20;
  const { signal } = shutdown;
  const following = payments.transfers.waitForAll(salaries, { interval, signal });
  const startedAt = Date.now();
  let told = 0;
  try {
    for await (const { reference, result } of following) {
      if (result !== 'completed' && result !== 'failed') continue;
      if (tell(reference, result)) told += 1;
      const { completed, failed } = following.totals;
      const ended = completed.count + failed.count;
      if (process.stdout.isTTY) {
        const rate = Math.round((ended * 60_000) / (Date.now() - startedAt));
        process.stdout.write(`\r${ended} of ${salaries.length} ended, ${rate} a minute   `);
      }
      if (told >= stopAfter) break;
    }
  } catch (error) {
    // It sends no payment, so a pause of minutes may end at once.
    if (!signal.aborted) throw error;
  }
  return told;
}

const first = await run(isReal ? undefined : salaries.length / 2);
const second = isReal ? 0 : await run();
console.log(`\n${first + second} told, each once: ${first} in the first run, ${second} after it`);
outbox.close();
journal.close();
