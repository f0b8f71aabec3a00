import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { PaymentsClient } from '../../dist/index.js';
import {
  memoryJournal,
  postgresJournal,
  postgresJournalTable,
  redisJournal,
  sqliteJournal,
} from '../../dist/journals/index.js';
import { startPostgres, startRedis } from '../stores/servers.ts';
import { input as baseInput } from './data.mjs';
import { median, writeSection } from './report.mjs';

/*
 * The cost of createOnce compared with create: one payment after another on one connection, in a
 * different order each round, as ratios within a round. `--write` updates docs/performance.md.
 */

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '31' },
    write: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds);
const folder = mkdtempSync(join(tmpdir(), 'payments-once-'));
const server = fork(fileURLToPath(new URL('server.mjs', import.meta.url)), { stdio: 'inherit' });
const [{ port }] = await once(server, 'message');
// A search has to read one page of transfers only.
server.send({ total: 0 });

const [redisServer, postgresServer] = await Promise.all([startRedis(), startPostgres()]);
const redis = new Redis(redisServer.port);
const pool = new Pool({ host: '127.0.0.1', port: postgresServer.port, user: 'postgres' });
await pool.query(postgresJournalTable);
const sqlite = sqliteJournal(join(folder, 'journal.db'));

const payments = new PaymentsClient({
  baseUrl: `http://127.0.0.1:${port}/v0`,
  apiKey: 'sk_bench',
});
const payOnce = (journal) => {
  const { transfers } = payments.withOptions({ journal });
  return (input) => transfers.createOnce(input);
};
/** How each variant pays, and its number of payments in a round. */
const variants = [
  { name: '`create`', count: 500, pay: (input) => payments.transfers.create(input) },
  { name: '`createOnce`, memory', count: 500, pay: payOnce(memoryJournal()) },
  { name: 'SQLite', count: 60, pay: payOnce(sqlite) },
  {
    name: 'PostgreSQL',
    count: 60,
    pay: payOnce(postgresJournal((text, params) => pool.query(text, params))),
  },
  {
    name: 'Redis (looks first: one page)',
    count: 60,
    pay: payOnce(redisJournal((name, ...args) => redis.call(name, ...args))),
  },
];

let paymentCount = 0;
/** Microseconds for one payment. */
async function time({ count, pay }) {
  const startedAt = performance.now();
  for (let at = 0; at < count; at += 1) {
    paymentCount += 1;
    await pay({ ...baseInput, description: `bench-${String(paymentCount).padStart(9, '0')}` });
  }
  return ((performance.now() - startedAt) * 1_000) / count;
}

for (const variant of variants) await time({ ...variant, count: 10 * variant.count });
const times = new Map(variants.map((variant) => [variant, []]));
for (let round = 0; round < rounds; round += 1) {
  // Steps of one to four through five variants: each order has every variant.
  const order = variants.map(
    (_, at) => variants[(at * (1 + (round % 4)) + round) % variants.length],
  );
  for (const variant of order) times.get(variant).push(await time(variant));
}

const [create] = times.values();
const rows = [...times].map(([{ name }, list]) => {
  const ratios = list.map((each, round) => each / create[round]);
  const [low, high] = [Math.min(...ratios), Math.max(...ratios)].map((each) => each.toFixed(2));
  return `| ${name} | ${Math.round(median(list))} | ${median(ratios).toFixed(2)} | ${low} to ${high} |`;
});
const text = [
  '| one payment | µs | times `create` | span |',
  '| --- | --: | --: | --- |',
  ...rows,
].join('\n');
console.log(text);

redis.disconnect();
await pool.end();
await Promise.all([redisServer.close(), postgresServer.close()]);
server.disconnect();
sqlite.close();
rmSync(folder, { recursive: true, force: true });

if (values.write) await writeSection('once', text);
