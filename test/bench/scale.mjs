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
 * What paying once costs on a long history: requests, which are exact, and processor time as ratios to
 * plain creations in the same run, less what the platform takes to list. `--write` updates
 * docs/performance.md.
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
/** Milliseconds of processor time. */
const measure = async (run) => {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
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
    claimOf(input, now, { claimedAt, firstClaimedAt: claimedAt, platformTime: claimedAt }),
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
{
  const platform = createPlatform({ history: 0 });
  const payments = setup(platform, { journal: redisJournal(command) });
  const inputs = payrollOf('payroll', count);
  const ms = await measure(() => payAll(payments, inputs));
  addRow(
    '10,000 by `createAllOnce`, Redis, on an empty account',
    platform.counts.requests,
    ratio(ms),
  );
  platform.counts.requests = 0;
  const again = await measure(() => payAll(payments, inputs));
  addRow('the same list again, all paid', platform.counts.requests, ratio(again));
}
/** What a search of a history of 100,000 costs the platform, which is in this process. */
async function readTwice(describe) {
  const platform = createPlatform({ history: 100_000, newestFirst: false, describe });
  for (const limit of [100, 97]) {
    for (let at = 0; at < 100_000; at += limit) {
      const url = `http://127.0.0.1/v0/transfers?limit=${limit}&cursor=${at}`;
      await (await platform.fetch(url, { method: 'GET' })).text();
    }
  }
}
/** The references of a payroll, and what the history of the account has. */
const histories = [
  ['payroll-2026-11-00007', 'payroll-2026-10-00007'],
  ['salary november 2026-00007', 'salary october 2026-00007'],
  ['payroll-2026-11-00007', 'rent'],
  ['payroll-2026-11-00007', 'SEPA payroll-2026-10-00007'],
  ['order-00007', 'order-2000007-paid'],
];
for (const [reference, listed] of histories) {
  const describe = (age) => listed.replace('00007', String(age).padStart(5, '0'));
  const platform = createPlatform({ history: 100_000, newestFirst: false, describe });
  const journal = { ...memoryJournal(), searchFirst: 'always' };
  const payments = setup(platform, { journal });
  const inputs = Array.from({ length: count }, (_, at) =>
    inputOf(reference.replace('00007', String(at).padStart(5, '0'))),
  );
  const ms = await measure(() => payAll(payments, inputs));
  const own = ms - (await measure(() => readTwice(describe)));
  const work = `10,000 such as \`${reference}\` by \`createAllOnce\`, memory, on 100,000 such as \`${listed}\``;
  addRow(work, platform.counts.requests, ratio(own));
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
    const times = {
      claimedAt,
      firstClaimedAt: claimedAt,
      expiresAt: claimedAt + 420_000,
      platformTime: claimedAt,
    };
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
redis.disconnect();
await pool.end();
await Promise.all([redisServer.close(), postgresServer.close()]);

const table = ['| work | requests | times 10,000 `create` |', '| --- | --: | --: |', ...rows].join(
  '\n',
);
if (values.write) await writeSection('scale', table);
