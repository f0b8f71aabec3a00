import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
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
 * The cost of createOnce compared with create, and with the least that is possible (the floor): one
 * create between two writes, without a check. The variants pay one payment after another, in a new
 * order each round, and are compared within a round. `--write` updates docs/performance.md.
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
// On their first day, stores search the list before each first claim, as Redis always does.
const later = { searchFirst: 'never' };
const sqlite = sqliteJournal(join(folder, 'journal.db'), later);

const payments = new PaymentsClient({
  baseUrl: `http://127.0.0.1:${port}/v0`,
  apiKey: 'sk_bench',
});
const payOnce = (journal) => {
  const { transfers } = payments.withOptions({ journal });
  return (input) => transfers.createOnce(input);
};
/** Pays between two writes, without checking what the writes found. */
const payByHand = (claim, record) => async (input) => {
  await claim(input.description, 'claimed');
  const { id } = await payments.transfers.create(input);
  await record(input.description, id);
};
const table = '(reference text PRIMARY KEY, entry text)';
const insert = 'INSERT INTO floor VALUES ($1, $2)';
const update = 'UPDATE floor SET entry = $2 WHERE reference = $1';
const database = new DatabaseSync(join(folder, 'floor.db'));
database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE floor ${table}`);
const [insertRow, updateRow] = [insert, update].map((sql) =>
  database.prepare(sql.replaceAll('$', '?')),
);
await pool.query(`CREATE TABLE floor ${table}`);

/** How each variant pays, and its number of payments in a round. */
const variants = [
  { name: '`create`', count: 500, pay: (input) => payments.transfers.create(input) },
  { name: '`createOnce`, memory', count: 500, pay: payOnce(memoryJournal()) },
  { name: 'SQLite', count: 120, pay: payOnce(sqlite) },
  {
    name: 'SQLite, by hand',
    count: 120,
    pay: payByHand(
      (key, entry) => insertRow.run(key, entry),
      (key, entry) => updateRow.run(key, entry),
    ),
  },
  {
    name: 'PostgreSQL',
    count: 120,
    pay: payOnce(postgresJournal((text, params) => pool.query(text, params), later)),
  },
  {
    name: 'PostgreSQL, by hand',
    count: 120,
    pay: payByHand(
      (key, entry) => pool.query(insert, [key, entry]),
      (key, entry) => pool.query(update, [key, entry]),
    ),
  },
  {
    name: 'Redis (looks first: one page)',
    count: 60,
    pay: payOnce(redisJournal((name, ...args) => redis.call(name, ...args))),
  },
  {
    name: 'Redis, by hand',
    count: 60,
    pay: payByHand(
      (key, entry) => redis.set(key, entry, 'NX'),
      (key, entry) => redis.set(key, entry),
    ),
  },
];

let paymentCount = 0;
/** Microseconds for one payment: elapsed, and of this process. */
async function time({ count, pay }) {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  for (let at = 0; at < count; at += 1) {
    paymentCount += 1;
    await pay({ ...baseInput, description: `bench-${String(paymentCount).padStart(9, '0')}` });
  }
  const { user, system } = process.cpuUsage(before);
  return { us: ((performance.now() - startedAt) * 1_000) / count, cpu: (user + system) / count };
}

for (const variant of variants) await time({ ...variant, count: 10 * variant.count });
const times = new Map(variants.map((variant) => [variant, []]));
for (let round = 0; round < rounds; round += 1) {
  // An odd step visits each of the eight variants once, so every order is complete.
  const order = variants.map(
    (_, at) => variants[(at * (1 + 2 * (round % 4)) + round) % variants.length],
  );
  for (const variant of order) times.get(variant).push(await time(variant));
}

const [create] = times.values();
const rows = [...times].map(([{ name }, list]) => {
  const columns = ['us', 'cpu'].flatMap((unit) => {
    const ratios = list.map((each, round) => each[unit] / create[round][unit]);
    const [low, high] = [Math.min(...ratios), Math.max(...ratios)].map((each) => each.toFixed(2));
    const typical = Math.round(median(list.map((each) => each[unit])));
    return [typical, median(ratios).toFixed(2), `${low} to ${high}`];
  });
  return `| ${[name, ...columns].join(' | ')} |`;
});
const text = [
  '| one payment | µs | times `create` | span | CPU µs | times `create` | span |',
  '| --- | --: | --: | --- | --: | --: | --- |',
  ...rows,
].join('\n');
console.log(text);

redis.disconnect();
await pool.end();
await Promise.all([redisServer.close(), postgresServer.close()]);
server.disconnect();
sqlite.close();
database.close();
rmSync(folder, { recursive: true, force: true });

if (values.write) await writeSection('once', text);
