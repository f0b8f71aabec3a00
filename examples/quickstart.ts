// A tour against a sandbox that it starts itself, over HTTP: a payroll is killed in the middle, and run again.
// `npm start -- --watch` leaves the sandbox and its page up until Ctrl+C.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PaymentInDoubtError, PaymentsClient, type OnceInput } from 'payments-platform-sdk';
import { sqliteJournal } from 'payments-platform-sdk/journals';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { listen } from 'payments-platform-sdk/sandbox/server';

const print = (line: string) => console.log(line);
const payment = { sourceAccountId: 'acc_000001', counterpartyId: 'cpty_000001' };
// Seconds, so that the tour ends; use the defaults in production.
const limits = { totalTimeout: 2_000, gracePeriod: 1_000 };

const [command, baseUrl, apiKey, file = '', killAt = ''] = process.argv.slice(2);
if (command === 'pay') await paySalaries();
else await runTour();

/** The payroll: kill it at any moment, and run it again. */
async function paySalaries() {
  const journal = sqliteJournal(file);
  const payments = new PaymentsClient({ baseUrl, apiKey, journal, ...limits });
  const salaries = Array.from({ length: 200 }, (_, index): OnceInput => {
    const number = String(index + 1).padStart(3, '0');
    // If all salaries were equal, a line would name each payment in doubt beside the next one.
    return { ...payment, amount: `20.${number}`, description: `payroll-2026-11-${number}` };
  });
  const batch = payments.transfers.createAllOnce(salaries);
  const show = (start = '') => {
    const { paid } = batch.counts;
    const bar = '#'.repeat(paid / 8).padEnd(25, '.');
    process.stdout.write(`${start}   ${bar} ${paid} of ${salaries.length}`);
  };
  for await (const { input, error } of batch) {
    if (error) print(`${input.description}: ${error.message}`);
    if (process.stdout.isTTY) show('\r');
    if (killAt === '' || batch.counts.paid < Number(killAt)) continue;
    if (!process.stdout.isTTY) show();
    process.kill(process.pid, 'SIGKILL');
  }
  if (!process.stdout.isTTY) show();
  print('');
  journal.close();
}

async function runTour() {
  const sandbox = seedDemo(new Sandbox());
  for (let after = 5; after < 200; after += 10) {
    const when = after % 20 === 5 ? 'after_commit' : 'before_commit';
    sandbox.faults.add({ operation: 'transfers.create', after, fault: { kind: 'reset', when } });
  }
  const server = await listen(sandbox, { port: 0 });
  const folder = mkdtempSync(join(tmpdir(), 'payments-tour-'));
  const database = join(folder, 'payments.db');
  const journal = sqliteJournal(database);
  const { baseUrl: url, apiKey: key } = server.clientOptions;
  const { transfers } = new PaymentsClient({ ...server.clientOptions, ...limits, journal });
  const program = [fileURLToPath(import.meta.url), 'pay', url, key, database];
  const runPayroll = (...args: string[]) =>
    once(spawn(process.execPath, [...program, ...args], { stdio: 'inherit' }), 'close');
  const listOpen = async () => {
    const open = [];
    for await (const each of transfers.listUndecided()) open.push(each);
    return open;
  };

  print(
    `1. A sandbox of the platform on ${url}: every tenth payment loses its request or its response.`,
  );
  print('2. A program pays 200 salaries with createAllOnce:');
  await runPayroll('100');
  const open = await listOpen();
  print(`\n3. It has killed itself with SIGKILL; the journal has ${open.length} open payments.`);
  print('4. The same program again:');
  await runPayroll();
  const paid = sandbox.transfers
    .list()
    .filter(({ description }) => /payroll/.test(`${description}`));
  const references = new Set(paid.map(({ description }) => description));
  print(`5. The platform has ${paid.length} transfers with ${references.size} references.`);

  const description = 'invoice 4711';
  const invoice = { ...payment, amount: '40.00', description };
  sandbox.transfers.create(invoice);
  sandbox.transfers.create(invoice);
  sandbox.faults.add({
    operation: 'transfers.create',
    fault: { kind: 'reset', when: 'before_commit' },
  });
  try {
    await transfers.createOnce(invoice);
  } catch (error) {
    if (!(error instanceof PaymentInDoubtError)) throw error;
    print(`6. An invoice that others have paid twice by hand: ${error.name}, ${error.reason}.`);
  }
  const [ambiguous] = await listOpen();
  print(`7. Open: ${ambiguous?.reference}, which may be ${ambiguous?.candidates?.join(' or ')}.`);
  const transferId = ambiguous?.candidates?.[0];
  if (transferId === undefined) throw new Error('The list shows no candidate.');
  await transfers.decide(description, transferId, { by: 'an operator' });
  const { id, status } = await transfers.createOnce(invoice);
  print(`8. Resolved: createOnce returns ${id}, which is ${status}, and pays nothing.`);

  journal.close();
  rmSync(folder, { recursive: true });
  if (command === '--watch') {
    print(`9. Watch it at ${server.rootUrl}/ until Ctrl+C.`);
    process.once('SIGINT', () => void server.close());
  } else {
    print(`9. Its page was at ${server.rootUrl}/: \`npm start -- --watch\` leaves it up.`);
    await server.close();
  }
}
