// A batch of payouts on the queue, four workers that are killed at times, and a platform with every kind of
// fault. At the end the program compares the results with the platform's ledger.
//
//   node batch.ts [number of payouts]
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Queue, QueueEvents } from 'bullmq';
import type { OnceInput } from 'payments-platform-sdk';
import { Sandbox, type SandboxFault } from 'payments-platform-sdk/sandbox';
import { listen } from 'payments-platform-sdk/sandbox/server';
import { startRedis } from './redis.ts';

const count = Number(process.argv[2] ?? 500);
const redis = await startRedis();
const sandbox = new Sandbox();
const server = await listen(sandbox, { port: 0 });

const { id: entityId } = sandbox.entities.create({ email: 'payroll@example.com' });
const company = sandbox.accounts.create({ entityId });
const staff = Array.from({ length: count }, () => sandbox.accounts.create({ entityId }).id);
sandbox.accounts.fund(company.id, '1000000.00');

// From the 30th on, every tenth creation gets one of these faults, one in forty pages of a search a 503, and the
// rest is slow. The first ones include the payment that is rejected below. A rejection after an unknown outcome
// proves nothing about the earlier request, so an operator would have to decide that payment.
const faults: SandboxFault[] = [
  { kind: 'reset', when: 'after_commit' },
  { kind: 'status', status: 503 },
  { kind: 'hang', when: 'after_commit' },
  { kind: 'reset', when: 'before_commit' },
  { kind: 'status', status: 429, retryAfter: 0 },
  { kind: 'status', status: 503, when: 'after_commit' },
  { kind: 'truncated_body' },
  { kind: 'hang' },
  { kind: 'html', when: 'after_commit' },
];
for (const [at, fault] of faults.entries()) {
  for (let after = 29 + at * 10; after < count; after += faults.length * 10) {
    sandbox.faults.add({ operation: 'transfers.create', after, fault });
  }
}
for (let after = 3; after < count; after += 40) {
  sandbox.faults.add({
    operation: 'transfers.list',
    after,
    fault: { kind: 'status', status: 503 },
  });
}
sandbox.faults.add({
  operation: 'transfers.create',
  times: Infinity,
  fault: { kind: 'delay', ms: 40 },
});

const connection = { url: redis.url };
const queue = new Queue<OnceInput, string>('payouts', { connection });
const events = new QueueEvents('payouts', { connection });
let stalled = 0;
events.on('stalled', () => (stalled += 1));

const payouts = Array.from({ length: count }, (_, at): OnceInput => {
  const to = staff[at];
  if (to === undefined) throw new Error('no account to pay');
  const description = `payroll-2026-11-${String(at + 1).padStart(4, '0')}`;
  const amount = '12.50';
  return { sourceAccountId: company.id, destinationAccountId: to, amount, description };
});
// These cannot be paid: the first account has no money, and the second amount is invalid. They fail at once.
const { id: empty } = sandbox.accounts.create({ entityId });
const [example] = payouts;
if (example === undefined) throw new Error('no payouts');
const unpayable: OnceInput[] = [
  { ...example, sourceAccountId: empty, description: 'rejected-1' },
  { ...example, amount: '0', description: 'invalid-1' },
];
await queue.addBulk(
  [...unpayable, ...payouts].map((data) => ({
    name: 'pay',
    data,
    // One job per reference, with enough attempts for many faults. To pay after a rejection, call `job.retry()`
    // on the failed job: BullMQ ignores `add` with the id of a job that it has.
    opts: { jobId: data.description, attempts: 50, backoff: { type: 'exponential', delay: 100 } },
  })),
);

const startWorker = (): ChildProcess =>
  fork(new URL('worker.ts', import.meta.url), {
    env: {
      ...process.env,
      REDIS_URL: redis.url,
      PAYMENTS_BASE_URL: server.baseUrl,
      PAYMENTS_API_KEY: sandbox.apiKey,
    },
  });
const workers = [startWorker(), startWorker(), startWorker(), startWorker()];

const unfinished = () => queue.getJobCountByTypes('waiting', 'active', 'delayed', 'prioritized');
/** Waits until the platform has made this share of the transfers, so that all workers are busy. */
async function waitForTransfers(share: number): Promise<void> {
  while (sandbox.transfers.list().length < count * share) await sleep(5);
}

let killed = 0;
async function killWorkerAt(share: number): Promise<void> {
  await waitForTransfers(share);
  workers.pop()?.kill('SIGKILL');
  killed += 1;
  workers.push(startWorker());
}
await killWorkerAt(0.1);
await killWorkerAt(0.2);
// One is asked to stop, as by a deploy; it ends its payments first.
const leaving = workers.shift();
leaving?.kill('SIGTERM');
const [leftWith] = leaving === undefined ? [] : ((await once(leaving, 'exit')) as [number | null]);
workers.push(startWorker());
// One worker is suspended for longer than its locks and claims last. Its jobs go to other workers, and then
// it continues where it was suspended.
const [frozen] = workers;
frozen?.kill('SIGSTOP');
for (const share of [0.3, 0.4, 0.5, 0.6, 0.7, 0.8]) await killWorkerAt(share);
await sleep(6_500);
frozen?.kill('SIGCONT');

while ((await unfinished()) > 0) await sleep(100);
for (const worker of workers) {
  worker.kill('SIGTERM');
  await once(worker, 'exit');
}

const done = await queue.getJobs(['completed']);
const results = new Map(done.map(({ data, returnvalue }) => [data.description, returnvalue]));
const ledger = Map.groupBy(sandbox.transfers.list(), ({ description }) => description);
const wrong: string[] = [];
for (const { description } of payouts) {
  const transfers = ledger.get(description) ?? [];
  if (transfers.length !== 1) wrong.push(`${description} was paid ${transfers.length} times`);
  else if (transfers[0]?.id !== results.get(description))
    wrong.push(`${description} is another transfer`);
}
const failed = new Map(
  (await queue.getJobs(['failed'])).map(({ data, failedReason }) => [
    data.description,
    failedReason,
  ]),
);
for (const { description } of unpayable) {
  if (!failed.delete(description)) wrong.push(`${description} did not fail`);
}
for (const [description, reason] of failed) wrong.push(`${description} failed: ${reason}`);
if (leftWith !== 0) wrong.push(`SIGTERM ended a worker with ${leftWith}`);

const created = sandbox.log.filter(({ operation }) => operation === 'transfers.create');
const rejected = created.filter(({ body }) => JSON.stringify(body).includes('rejected-1'));
// A worker that is killed before it has stored the rejection leaves the payment to another one.
if (rejected.length > 1 + killed) wrong.push(`rejected-1 was sent ${rejected.length} times`);
const numbers = {
  payouts: count,
  'transfers in the ledger': sandbox.transfers.list().length,
  'requests to create one': created.length,
  'faults in these requests': created.filter(({ fault }) => fault !== 'delay').length,
  'workers killed': killed,
  'workers suspended': 1,
  'jobs taken from a dead or suspended worker': stalled,
  'jobs started more than once': done.filter(({ attemptsStarted }) => attemptsStarted > 1).length,
};
for (const [what, number] of Object.entries(numbers)) console.log(`${number} ${what}`);
for (const line of wrong) console.log(`WRONG ${line}`);
if (wrong.length > 0) process.exitCode = 1;

await events.close();
await queue.close();
await server.close();
await redis.stop();
