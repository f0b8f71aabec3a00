import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
import { input as recorded } from './data.mjs';
import { median } from './report.mjs';

/*
 * What createOnce costs beside create: one payment after the other on one connection, each way in every
 * round in another order, the ratio within a round. `--write` puts the table into docs/performance.md.
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
// One page of transfers is all that a look has to read.
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
const through = (journal) => {
  const { transfers } = payments.withOptions({ journal });
  return (input) => transfers.createOnce(input);
};
/** Each with how it pays, and its payments in a round. */
const ways = [
  { name: '`create`', count: 500, pay: (input) => payments.transfers.create(input) },
  { name: '`createOnce`, memory', count: 500, pay: through(memoryJournal()) },
  { name: 'SQLite', count: 60, pay: through(sqlite) },
  {
    name: 'PostgreSQL',
    count: 60,
    pay: through(postgresJournal((text, params) => pool.query(text, params))),
  },
  {
    name: 'Redis (looks first: one page)',
    count: 60,
    pay: through(redisJournal((name, ...args) => redis.call(name, ...args))),
  },
];

let made = 0;
/** Microseconds for one payment. */
async function time({ count, pay }) {
  const begun = performance.now();
  for (let at = 0; at < count; at += 1) {
    made += 1;
    await pay({ ...recorded, description: `bench-${String(made).padStart(9, '0')}` });
  }
  return ((performance.now() - begun) * 1_000) / count;
}

for (const way of ways) await time({ ...way, count: 10 * way.count });
const times = new Map(ways.map((way) => [way, []]));
for (let round = 0; round < rounds; round += 1) {
  // Five ways, and steps of one to four: each order has every way in it.
  const order = ways.map((_, at) => ways[(at * (1 + (round % 4)) + round) % ways.length]);
  for (const way of order) times.get(way).push(await time(way));
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

if (values.write) {
  const file = new URL('../../docs/performance.md', import.meta.url);
  const document = readFileSync(file, 'utf8');
  const [begin, end] = ['<!-- once:start -->', '<!-- once:end -->'];
  const [before, rest] = document.split(begin);
  const [, after] = rest?.split(end) ?? [];
  if (before === undefined || after === undefined) throw new Error('the markers are missing');
  writeFileSync(file, `${before}${begin}\n\n${text}\n\n${end}${after}`);
}
