// Lists the open payments of a journal and finishes them, each once: `createOnce` was called, and its process died. With
// JOURNAL (the file of a SQLite journal) and PAYMENTS_BASE_URL it does so there; otherwise on a sandbox.
import { PaymentsClient, type OnceInput } from 'payments-platform-sdk';
import { sqliteJournal } from 'payments-platform-sdk/journals';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';

const file = process.env['JOURNAL'];
const sandbox = seedDemo(new Sandbox());
const demo = { create: true, searchFirst: 'never' } as const;
const journal = sqliteJournal(file ?? ':memory:', file === undefined ? demo : { create: false });
// Seconds, so that the demonstration ends; use the defaults in production.
const limits = { totalTimeout: 1_000, gracePeriod: 1_000 };
const options = file === undefined ? { ...sandbox.clientOptions, ...limits } : {};
const { transfers } = new PaymentsClient({ ...options, journal });
if (file === undefined) await leaveOpen();

const inputs: OnceInput[] = [];
for await (const { reference, state, claimedAt, host, input } of transfers.listUndecided()) {
  if (state === 'unreadable') console.log(`${reference} is unreadable: see docs/operate.md`);
  else console.log(`${reference} is ${state} since ${claimedAt}, from ${host}`);
  if (input) inputs.push(input);
}
// It waits until the claims have expired, and searches the list before it sends a payment again.
const batch = transfers.createAllOnce(inputs);
for await (const { reference, result, transferId, error } of batch) {
  console.log(reference, result, transferId ?? error.message);
}
const { paid, failed, notPaid, inDoubt } = batch.counts;
console.log(`${paid} paid, ${inDoubt} in doubt, ${notPaid} not paid, ${failed} failed`);
if (inDoubt + notPaid + failed > 0) process.exitCode = 1;
journal.close();

/** Leaves what a killed process would: the first request reached the platform, the second one did not. */
async function leaveOpen(): Promise<void> {
  const accounts = { sourceAccountId: 'acc_000001', counterpartyId: 'cpty_000001' };
  sandbox.faults.add({
    operation: 'transfers.list',
    times: Infinity,
    fault: { kind: 'status', status: 503 },
  });
  for (const [at, when] of (['after_commit', 'before_commit'] as const).entries()) {
    sandbox.faults.add({ operation: 'transfers.create', fault: { kind: 'reset', when } });
    // With one amount for both, a line would say that the second may be a retry of the first.
    const input = {
      ...accounts,
      amount: `${20 + at}`,
      description: `payroll-2026-11-000${at + 1}`,
    };
    await transfers.createOnce(input).catch(() => undefined);
  }
  sandbox.faults.clear();
}
