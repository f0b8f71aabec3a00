// Journals in other databases: examples/services/journals, and the table of docs/paying-once.md.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { missing, startPostgres } from '../stores/servers.ts';
import { freePort } from '../support/free-port.ts';
import { binaries } from './runtimes.mjs';
import { mariadbServer, root, run } from './setup.mjs';

/** The packages that the recipes and the program below import. */
export const recipePackages = [
  '@cloudflare/workers-types',
  '@prisma/client',
  '@types/pg',
  'drizzle-orm',
  'kysely',
  'mysql2',
  'pg',
];

/** The function of a client of PostgreSQL, as the table has it. */
function readLine(client) {
  const guide = readFileSync(join(root, 'docs/paying-once.md'), 'utf8');
  const line = new RegExp(`^\\| ${client} +\\| \`(.+)\` +\\|$`, 'm').exec(guide)?.[1];
  if (line === undefined) throw new Error(`docs/paying-once.md has no line for ${client}`);
  return line;
}

/** Its compilation proves the types; Prisma has no database without a download, so it is only compiled. */
const createProgram = () => `
import type { ClientOtherOps } from '@prisma/client/runtime/client';
import { drizzle } from 'drizzle-orm/node-postgres';
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import { createPool } from 'mysql2/promise';
import { Pool } from 'pg';
import { postgresJournal, postgresJournalTable, testJournal, type Journal } from 'payments-platform-sdk/journals';
import { mysqlJournal, mysqlJournalTable } from './journals/mysql.ts';

const [mysqlPort, postgresPort] = process.argv.slice(2).map(Number) as [number, number];

const check = async (name: string, makeJournal: () => Journal): Promise<void> => {
  await testJournal(makeJournal);
  console.log('passed ' + name);
};

const mysqlServer = { host: '127.0.0.1', port: mysqlPort, user: 'root' };
const admin = createPool(mysqlServer);
await admin.query('CREATE DATABASE payments');
await admin.end();
const mysql = createPool({ ...mysqlServer, database: 'payments' });
await mysql.query(mysqlJournalTable);
await mysql.query(mysqlJournalTable);
await check('MySQL', () => mysqlJournal(mysql));
{
  // A second before New York's clocks go back from 2 to 1, and half a second after 1 of the first time.
  const connection = await mysql.getConnection();
  const clock = mysqlJournal(connection as never);
  const times: number[] = [];
  for (const seconds of [1_793_509_199.5, 1_793_509_200.5]) {
    await connection.query('SET timestamp = ' + seconds);
    times.push(await clock.now(''));
  }
  connection.release();
  if (times.join() !== '1793509199500,1793509200500') throw new Error('MySQL has the time ' + times.join());
  console.log('passed MySQL clock');
}
await mysql.end();

const pool = new Pool({ host: '127.0.0.1', port: postgresPort, user: 'postgres' });
await pool.query(postgresJournalTable);
{
  const db = drizzle(pool);
  await check('Drizzle', () => postgresJournal(${readLine('Drizzle')}));
}
{
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  await check('Kysely', () => postgresJournal(${readLine('Kysely')}));
}
await pool.end();

export const prismaJournal = (prisma: ClientOtherOps) => postgresJournal(${readLine('Prisma')});
`;

/** In a Worker, because it would take a second for 60 calls from outside. */
const worker = `
import { testJournal } from 'payments-platform-sdk/journals';
import { d1Journal, d1JournalTable } from './journals/d1.ts';

export default {
  async fetch(_, { DB }) {
    for (const sql of [...d1JournalTable, ...d1JournalTable]) await DB.prepare(sql).run();
    const report = await testJournal(() => d1Journal(DB)).catch(String);
    return new Response(report ?? 'passed D1');
  },
};
`;

async function runWorker(folder) {
  const [{ build }, { Miniflare }] = await Promise.all([import('esbuild'), import('miniflare')]);
  const { outputFiles } = await build({
    stdin: { contents: worker, resolveDir: folder },
    bundle: true,
    write: false,
    format: 'esm',
    conditions: ['workerd', 'worker', 'browser'],
    logLevel: 'error',
  });
  const deployed = new Miniflare({
    modules: true,
    script: outputFiles[0].text,
    compatibilityDate: '2026-07-30',
    d1Databases: ['DB'],
  });
  try {
    return await (await deployed.dispatchFetch('http://worker/')).text();
  } finally {
    await deployed.dispose();
  }
}

/** Writes the program beside the examples, so that it is compiled with them. */
export function writeRecipes(folder) {
  writeFileSync(join(folder, 'recipes.ts'), createProgram());
}

/** Starts MariaDB on loopback for the user root, without a password and without its system tables. */
async function startMariadb() {
  const program = await mariadbServer();
  const folder = mkdtempSync(join(tmpdir(), 'payments-mariadb-'));
  const port = await freePort();
  const flags = ['--no-defaults', '--skip-grant-tables', `--user=${userInfo().username}`];
  const place = [`--datadir=${folder}`, `--socket=${join(folder, 'socket')}`];
  const listen = [`--port=${port}`, '--bind-address=127.0.0.1'];
  // New York's rules, without a database of time zones.
  const env = { ...process.env, TZ: 'EST5EDT,M3.2.0,M11.1.0' };
  const child = spawn(program, [...flags, ...place, ...listen], { stdio: 'ignore', env });
  const ended = once(child, 'exit');
  for (let tries = 0; tries < 400; tries += 1) {
    const socket = connect(port, '127.0.0.1');
    const isUp = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isUp) break;
    await setTimeout(50);
  }
  return {
    port,
    close: async () => {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Runs testJournal on each recipe. */
export async function runRecipes(folder) {
  if (missing.length > 0) throw new Error(`apt-get install ${missing.join(' ')}`);
  const servers = await Promise.all([startMariadb(), startPostgres()]);
  try {
    const ports = servers.map(({ port }) => String(port));
    const { stdout, stderr } = await run(binaries.node24, ['recipes.ts', ...ports], {
      cwd: folder,
    });
    const output = stdout + stderr + (await runWorker(folder));
    return ['MySQL', 'D1', 'Drizzle', 'Kysely'].map((name) => ({
      name: `testJournal passes, ${name}`,
      ok: output.includes(`passed ${name}`),
      detail: output,
    }));
  } finally {
    await Promise.all(servers.map((server) => server.close()));
  }
}
