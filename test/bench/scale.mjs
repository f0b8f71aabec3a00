import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { PaymentsClient } from '../../dist/index.js';
import {
  memoryJournal,
  postgresJournal,
  postgresJournalTable,
  redisJournal,
} from '../../dist/journals/index.js';
import { parseArgs } from 'node:util';
import { startPostgres, startRedis } from '../stores/servers.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { createPlatform } from './history.mjs';
import { writeSection } from './report.mjs';

/*
 * What paying once costs on a long history: requests, which are exact, and times as ratios to plain
 * creations in the same run. `--write` updates docs/performance.md.
 */

const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } });
const [redisServer, postgresServer] = await Promise.all([startRedis(), startPostgres()]);
const redis = new Redis(redisServer.port);
const command = (name, ...args) => redis.call(name, ...args);
const pool = new Pool({ host: '127.0.0.1', port: postgresServer.port, user: 'postgres' });
await pool.query(postgresJournalTable);
const postgres = postgresJournal((text, params) => pool.query(text, params));

const setup = (platform, options = {}) =>
  new PaymentsClient({
    baseUrl: 'http://127.0.0.1/v0',
    apiKey: 'sk_bench',
    fetch: platform.fetch,
    ...options,
  });
const inputOf = (description) => ({
  sourceAccountId: 'acc_000001',
  destinationAccountId: 'acc_000002',
  amount: '1.00',
  description,
});
const payrollOf = (name, count) =>
  Array.from({ length: count }, (_, at) => inputOf(`${name}-${String(at).padStart(7, '0')}`));
const claimOf = (input, now, overrides = {}) => ({
  state: 'sending',
  claimId: crypto.randomUUID(),
  host: 'bench',
  claimedAt: now,
  expiresAt: now,
  firstClaimedAt: now,
  platform: 'http://127.0.0.1/v0',
  input,
  ...overrides,
});

const rows = [];
const addRow = (work, requests, time = '') => {
  rows.push(`| ${work} | ${requests.toLocaleString('en')} | ${time} |`);
  console.log(rows.at(-1));
};
const measure = async (run) => {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
};
const payAll = async (payments, inputs, options) => {
  const batch = payments.transfers.createAllOnce(inputs, options);
  for await (const { error } of batch) if (error !== undefined) throw error;
};

{
  const history = 1_000_000;
  const platform = createPlatform({ history });
  const journal = redisJournal(command);
  const payments = setup(platform, { journal, platform: { transfersNewestFirst: true } });
  const options = { since: new Date() };
  await payments.transfers.createOnce(inputOf(`bounded-${history}`), options);
  const count = history.toLocaleString('en');
  addRow(
    `one \`createOnce\`, Redis, history of ${count}, \`transfersNewestFirst\` and \`since\``,
    platform.counts.requests,
  );
}
{
  const platform = createPlatform({ history: 100_000 });
  const payments = setup(platform, { journal: redisJournal(command) });
  await payments.transfers.createOnce(inputOf('unbounded'));
  addRow('the same without them, history of 100,000', platform.counts.requests);
}
{
  const platform = createPlatform({ history: 1_000_000 });
  const payments = setup(platform, { journal: postgres, platform: { transfersNewestFirst: true } });
  const input = inputOf('taken over');
  const now = await postgres.now(input.description);
  const claimedAt = now - 600_000;
  await postgres.swap(
    input.description,
    undefined,
    claimOf(input, now, { claimedAt, firstClaimedAt: claimedAt }),
  );
  await payments.transfers.createOnce(input);
  addRow(
    'a takeover, PostgreSQL, history of 1,000,000, `transfersNewestFirst`',
    platform.counts.requests,
  );
}

const count = 10_000;
const plain = setup(createPlatform({ history: 0 }));
const queue = payrollOf('plain', count);
const plainMs = await measure(() =>
  Promise.all(
    Array.from({ length: 16 }, async () => {
      for (let input = queue.pop(); input !== undefined; input = queue.pop()) {
        await plain.transfers.create(input);
      }
    }),
  ),
);
addRow('10,000 `create`, 16 at a time', count, '1');
const ratio = (ms) => (ms / plainMs).toFixed(1);
for (const history of [0, 100_000]) {
  const platform = createPlatform({ history, newestFirst: false });
  const payments = setup(platform, { journal: redisJournal(command) });
  const inputs = payrollOf(`payroll-${history}`, count);
  const ms = await measure(() => payAll(payments, inputs));
  const on = history === 0 ? 'an empty account' : 'a history of 100,000';
  addRow(`10,000 by \`createAllOnce\`, Redis, on ${on}`, platform.counts.requests, ratio(ms));
  if (history > 0) continue;
  platform.counts.requests = 0;
  const again = await measure(() => payAll(payments, inputs));
  addRow('the same list again, all paid', platform.counts.requests, ratio(again));
}
{
  const platform = createPlatform({ history: 100_000 });
  const payments = setup(platform, { journal: redisJournal(command, { searchFirst: 'never' }) });
  for (const input of payrollOf('jobs', 2_000)) await payments.transfers.createOnce(input);
  addRow("2,000 `createOnce`, Redis with `searchFirst: 'never'`", platform.counts.requests);
}
{
  const clock = new VirtualClock();
  const now = () => clock.now();
  const platform = createPlatform({ history: 2_000, newestFirst: false, now });
  const journal = memoryJournal({ now });
  const payments = setup(platform, { journal, clock });
  const inputs = payrollOf('dead', 13);
  for (const [at, input] of inputs.entries()) {
    const claimedAt = clock.now() + at * 40;
    const times = { claimedAt, firstClaimedAt: claimedAt, expiresAt: claimedAt + 420_000 };
    await journal.swap(input.description, undefined, claimOf(input, claimedAt, times));
  }
  await clock.runTimersDuring(payAll(payments, inputs));
  const minutes = (clock.passed / 60_000).toFixed(1);
  addRow(
    `13 payments of dead processes, history of 2,000, decided after ${minutes} minutes`,
    platform.counts.requests,
  );
}
{
  const clock = new VirtualClock();
  const now = () => clock.now();
  const wait = () => new Promise((resolve) => clock.setTimeout(resolve, 100));
  const platform = createPlatform({ history: 300_000, newestFirst: false, now, wait });
  const journal = { ...memoryJournal({ now }), searchFirst: 'always' };
  const payments = setup(platform, { journal, clock });
  await clock.runTimersDuring(payAll(payments, [inputOf('slow list')]));
  const minutes = (clock.passed / 60_000).toFixed(1);
  addRow(
    `one payment by \`createAllOnce\`, history of 300,000, 100 ms a page: ${minutes} minutes`,
    platform.counts.requests,
  );
  const error = await clock
    .runTimersDuring(payments.transfers.createOnce(inputOf('slow list 2')))
    .catch((failure) => failure);
  console.log(error.message);
}
{
  const total = 1_000_000;
  const created = {
    status: 'pending',
    type: 'book',
    createdAt: new Date().toISOString(),
  };
  let made = 0;
  const fetch = async () => {
    made += 1;
    return Response.json({ ...created, id: `txfr_${made}` }, { status: 201 });
  };
  // Retains only the entries of open payments.
  const claims = new Map();
  const journal = {
    read: async (reference) => claims.get(reference),
    swap: async (reference, _, after) => {
      if (after?.state === 'sending') claims.set(reference, after);
      else claims.delete(reference);
      return true;
    },
    now: async () => 0,
  };
  const payments = setup({ fetch }, { journal });
  async function* inputs() {
    for (let at = 0; at < total; at += 1) {
      if (at % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
      yield inputOf(`million-${String(at).padStart(7, '0')}`);
    }
  }
  const idle = heapAfterCollection();
  let [most, done] = [0, 0];
  for await (const { error } of payments.transfers.createAllOnce(inputs())) {
    if (error !== undefined) throw error;
    done += 1;
    if (done % 100_000 === 0) most = Math.max(most, heapAfterCollection() - idle);
  }
  const megabytes = Math.round(most / 1_000_000);
  addRow(`1,000,000 by \`createAllOnce\` from an async iterable: ${megabytes} MB above idle`, done);
}
function heapAfterCollection() {
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}

redis.disconnect();
await pool.end();
await Promise.all([redisServer.close(), postgresServer.close()]);

const table = ['| work | requests | times 10,000 `create` |', '| --- | --: | --: |', ...rows].join(
  '\n',
);
if (values.write) await writeSection('scale', table);
