// Journals in other databases: examples/services/journals, and the table of docs/journals.md.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { missing, startPostgres, startRedis } from '../stores/servers.ts';
import { freePort } from '../support/free-port.ts';
import { binaries } from './runtimes.mjs';
import { mariadbServer, root, run } from './setup.mjs';
import { startNeon, startUpstash, upstashToken } from './stubs.mjs';

/** The packages that the recipes and the program below import. */
export const recipePackages = [
  '@cloudflare/workers-types',
  '@neondatabase/serverless',
  '@prisma/client',
  '@types/pg',
  'drizzle-orm',
  'knex',
  'kysely',
  'mysql2',
  'pg',
  'postgres',
  'sequelize',
  'typeorm',
];

const postgresClients = [
  'postgres.js',
  'Neon',
  'Drizzle',
  'Drizzle on postgres.js',
  'Knex',
  'Kysely',
  'TypeORM',
  'Sequelize',
];

/** The function for a client of PostgreSQL or Redis, as the table of the guide has it. */
function readLine(client) {
  const guide = readFileSync(join(root, 'docs/journals.md'), 'utf8');
  const line = new RegExp(`^\\| ${client} +\\| \`(.+)\` +\\|$`, 'm').exec(guide)?.[1];
  // The function for Upstash is too long for the table.
  const [, block] = /= redisJournal\((async [^]*?\n\})\);/.exec(guide) ?? [];
  if (line === undefined && client === 'Upstash' && block !== undefined) return block;
  if (line === undefined) throw new Error(`docs/journals.md has no line for ${client}`);
  return line;
}

/** Its compilation proves the types; Prisma has no database without a download, so it is only compiled. */
const createProgram = () => `
import type { ClientOtherOps } from '@prisma/client/runtime/client';
import { neon, neonConfig } from '@neondatabase/serverless';
import { drizzle } from 'drizzle-orm/node-postgres';
import { drizzle as drizzleOnPostgresJs } from 'drizzle-orm/postgres-js';
import createKnex from 'knex';
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import { createPool } from 'mysql2/promise';
import { Pool } from 'pg';
import {
  postgresJournal, postgresJournalTable, redisJournal, testJournal, type Journal,
} from 'payments-platform-sdk/journals';
import postgres from 'postgres';
import { QueryTypes, Sequelize } from 'sequelize';
import { DataSource } from 'typeorm';
import { mysqlJournal, mysqlJournalTable } from './journals/mysql.ts';

const [mysqlPort, postgresPort] = process.argv.slice(2).map(Number) as [number, number];
const [neonUrl = '', upstashUrl = ''] = process.argv.slice(4);

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

const postgresUrl = 'postgres://postgres@127.0.0.1:' + postgresPort + '/postgres';
{
  neonConfig.fetchEndpoint = neonUrl;
  const sql = neon('postgres://postgres:password@127.0.0.1/postgres');
  for (const statement of postgresJournalTable.split(';')) await sql.query(statement);
  await check('Neon', () => postgresJournal(${readLine('Neon over HTTP')}));
}
{
  const sql = postgres(postgresUrl, { onnotice: () => {} });
  await sql.unsafe(postgresJournalTable);
  await check('postgres.js', () => postgresJournal(${readLine('postgres.js')}));
  const db = drizzleOnPostgresJs(sql);
  await check('Drizzle on postgres.js', () => postgresJournal(${readLine('Drizzle on postgres.js')}));
  await sql.end();
}
{
  const knex = createKnex({ client: 'pg', connection: postgresUrl });
  await knex.raw(postgresJournalTable);
  await check('Knex', () => postgresJournal(${readLine('Knex')}));
  await knex.destroy();
}
{
  const ds = await new DataSource({ type: 'postgres', url: postgresUrl }).initialize();
  await ds.query(postgresJournalTable);
  await check('TypeORM', () => postgresJournal(${readLine('TypeORM')}));
  await ds.destroy();
}
{
  const db = new Sequelize(postgresUrl, { logging: false });
  await db.query(postgresJournalTable);
  await check('Sequelize', () => postgresJournal(${readLine('Sequelize')}));
  await db.close();
}
const pool = new Pool({ connectionString: postgresUrl });
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
{
  const [url, headers] = [upstashUrl, { authorization: 'Bearer ${upstashToken}' }];
  await check('Upstash', () => redisJournal(${readLine('Upstash')}));
}

export const prismaJournal = (prisma: ClientOtherOps) => postgresJournal(${readLine('Prisma')});
`;

/** testJournal runs in the Worker itself, because 60 calls from outside would take a second. */
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
  // The rules of New York are spelled out, because a machine may have no database of time zones.
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
  const servers = await Promise.all([startMariadb(), startPostgres(), startRedis()]);
  const [mariadb, postgres, redis] = servers.map(({ port }) => port);
  const stubs = await Promise.all([startNeon(postgres), startUpstash(redis)]);
  try {
    const args = [mariadb, postgres, ...stubs.map(({ url }) => url)].map(String);
    const { stdout, stderr } = await run(binaries.node24, ['recipes.ts', ...args], {
      cwd: folder,
    });
    const lines = `${stdout}${stderr}${await runWorker(folder)}`.split('\n');
    const check = (title, name) => ({
      name: `${title}, ${name}`,
      ok: lines.includes(`passed ${name}`),
      detail: lines.join('\n'),
    });
    return [
      ...['MySQL', 'D1', 'Upstash'].map((name) => check('testJournal passes', name)),
      ...postgresClients.map((name) => check('testJournal passes on PostgreSQL', name)),
    ];
  } finally {
    for (const each of [...stubs, ...servers]) await each.close();
  }
}
