import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import type { FullJournal } from '../../journals/journal.ts';
import { postgresJournal, type PostgresRows } from '../../journals/postgres.ts';
import { isRedisEmpty, redisJournal } from '../../journals/redis.ts';
import { sqliteJournal } from '../../journals/sqlite.ts';
import { UsageError } from '../program.ts';
import type { StoreAddress } from './flags.ts';
import {
  describePostgres,
  describeSqlite,
  migrateRedis,
  migrateSql,
  type Report,
} from './migrate.ts';

/** A journal whose store is connected. */
export interface OpenedStore {
  readonly journal: FullJournal;
  /** Whether the store has no entries at all, not even of decided payments. */
  readonly isEmpty: () => Promise<boolean>;
  /** How the store may lose a claim, and what to do. Undefined if the store reports no problem. */
  readonly warning?: string | undefined;
  close(): void | Promise<void>;
}

const defaultTable = 'payments_journal';
const anyEntrySql = (table = defaultTable) =>
  `SELECT 1 FROM ${table} WHERE reference <> '' LIMIT 1`;

const connectTimeoutMs = 10_000;

/** @throws UsageError if a package is missing, Error if the store cannot be reached */
export async function openStore({
  name,
  address,
  table,
  prefix,
}: StoreAddress): Promise<OpenedStore> {
  if (name === 'sqlite') return openSqlite(address);
  if (name === 'postgres') return openPostgres(await connectPostgres(address, table));
  return openRedis(await connectRedis(address, prefix));
}

/** Brings a store of 0.3 or 0.4 up to date. With `isDryRun`, only lists the statements. */
export async function migrateStore(
  { name, address, table, prefix }: StoreAddress,
  isDryRun: boolean,
): Promise<Report> {
  if (name === 'sqlite') return migrateSqlite(address, isDryRun);
  if (name === 'postgres') {
    const { client, table: fullName } = await connectPostgres(address, table);
    try {
      const run = async (sql: string, values: readonly unknown[] = []) =>
        (await client.query(sql, values)).rows;
      return await migrateSql(describePostgres(run, fullName), isDryRun);
    } finally {
      await client.end();
    }
  }
  const { connection } = await connectRedis(address, prefix);
  try {
    return await migrateRedis((...args) => connection.call(...args), isDryRun);
  } finally {
    connection.disconnect();
  }
}

const findFile = (file: string): string => {
  const path = resolve(file);
  if (!existsSync(path)) throw new Error(`There is no file at ${path}.`);
  return path;
};

/** Opens a file that the journal does not open yet, or that only has to be read. */
function openDatabase(path: string, readOnly: boolean) {
  // Does not import node:sqlite, because the bundler would remove `node:` from its name.
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  return new DatabaseSync(path, { readOnly });
}

async function migrateSqlite(file: string, isDryRun: boolean): Promise<Report> {
  const database = openDatabase(findFile(file), isDryRun);
  try {
    const run: Parameters<typeof describeSqlite>[0] = (sql, values = []) => {
      const bound = values.map((each) => (typeof each === 'boolean' ? Number(each) : each));
      const statement = database.prepare(sql.replaceAll(/\$\d/g, '?'));
      return Promise.resolve(statement.all(...(bound as (string | number | null)[])));
    };
    if (!isDryRun) await run('PRAGMA journal_mode = WAL');
    return await migrateSql(describeSqlite(run), isDryRun);
  } finally {
    database.close();
  }
}

function openSqlite(file: string): OpenedStore {
  const path = findFile(file);
  const journal = sqliteJournal(path, { create: false });
  const isEmpty = () => {
    const database = openDatabase(path, true);
    try {
      return Promise.resolve(database.prepare(anyEntrySql()).get() === undefined);
    } finally {
      database.close();
    }
  };
  return { journal, isEmpty, close: () => journal.close() };
}

interface PostgresDriver {
  Client: new (options: object) => {
    on(event: 'error', listener: () => void): unknown;
    connect(): Promise<unknown>;
    query: QueryPostgres;
    end(): Promise<void>;
  };
}

type QueryPostgres = (text: string, values: readonly unknown[]) => Promise<{ rows: PostgresRows }>;

/** Connects to a PostgreSQL server, and returns the full name of the journal's table. */
async function connectPostgres(url: string, name = defaultTable) {
  checkUrl('postgres', url, /^postgres(ql)?:\/\//, 'postgres://user@host/database');
  const table = addSchema(name, url);
  const { Client } = loadDriver('pg', 'postgres') as PostgresDriver;
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    application_name: 'payments-journal',
  });
  // Throws for a wrong table before there is a connection to end.
  const journal = postgresJournal((text, values) => client.query(text, values), { table });
  // If the connection fails, the pending query rejects, so the error event needs no handling.
  client.on('error', () => {});
  await client.connect();
  return { client, table, journal };
}

/** Opens the journal, and checks the collation of its table. */
async function openPostgres({
  client,
  table,
  journal,
}: Awaited<ReturnType<typeof connectPostgres>>): Promise<OpenedStore> {
  const query: QueryPostgres = (text, values) => client.query(text, values);
  return {
    journal,
    isEmpty: async () => (await query(anyEntrySql(table), [])).rows.length === 0,
    warning: await warnOfCollation(query, table),
    close: () => client.end(),
  };
}

/** Adds the schema in Prisma's URLs to the table's name, because the driver ignores the schema. */
function addSchema(table: string, url: string): string {
  const schema = new URL(url).searchParams.get('schema');
  const hasSchema = /^(?:"[^"]+"|\w+)\./.test(table);
  return schema === null || schema === '' || hasSchema ? table : `"${schema}".${table}`;
}

const collationSql = `SELECT collname FROM pg_attribute JOIN pg_collation ON pg_collation.oid = attcollation
 WHERE attrelid = to_regclass($1) AND attname = 'reference'`;

/** Warns if the table's collation is not C, as an operating system upgrade may damage its index. */
async function warnOfCollation(query: QueryPostgres, table: string): Promise<string | undefined> {
  // If reading the collation fails, there is no warning, because the operator needs the command.
  const { rows } = await query(collationSql, [table]).catch(() => ({ rows: [] }));
  const collation = rows[0]?.['collname'];
  if (collation === undefined || collation === 'C') return undefined;
  return `The column reference of ${table} has the collation ${JSON.stringify(collation)} instead of "C". After an upgrade of the operating system its index may not find a payment, which is then made again. Stop the processes that pay, and run: ALTER TABLE ${table} ALTER COLUMN reference TYPE text COLLATE "C"`;
}

interface RedisConnection {
  readonly options: Readonly<Record<string, unknown>>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  connect(): Promise<void>;
  call(...args: [string, ...string[]]): Promise<unknown>;
  disconnect(): void;
}

interface RedisDriver {
  Redis: new (url: string, options: object) => RedisConnection;
  Cluster: new (nodes: readonly object[], options: object) => RedisConnection;
}

/**
 * Connects to a Redis server without retries. If the server belongs to a cluster, replaces the
 * connection by a client of the whole cluster.
 */
async function connectRedis(url: string, keyPrefix = '') {
  checkUrl('redis', url, /^rediss?:\/\//, 'redis://host:6379');
  const { Redis, Cluster } = loadDriver('ioredis', 'redis') as RedisDriver;
  const withoutRetries = { maxRetriesPerRequest: 0, retryStrategy: () => null };
  const options = { keyPrefix, lazyConnect: true, connectTimeout: connectTimeoutMs };
  const server = await connect(new Redis(url, { ...options, ...withoutRetries }));
  await checkDatabase(server);
  const warning = await warnOfEviction(server);
  if (!String(await server.call('INFO', 'cluster')).includes('cluster_enabled:1')) {
    return { connection: server, warning };
  }
  const { host, port, username, password, tls } = server.options;
  server.disconnect();
  const redisOptions = { username, password, tls, connectTimeout: connectTimeoutMs };
  const cluster = new Cluster([{ host, port }], {
    keyPrefix,
    lazyConnect: true,
    clusterRetryStrategy: () => null,
    redisOptions,
  });
  return { connection: await connect(cluster), warning };
}

async function warnOfEviction(server: RedisConnection): Promise<string | undefined> {
  const memory = String(await server.call('INFO', 'memory'));
  const [, policy = 'noeviction'] = /^maxmemory_policy:(\S+)/m.exec(memory) ?? [];
  if (policy === 'noeviction') return undefined;
  return `Redis has the maxmemory-policy ${policy}, so it may remove an entry of the journal, and its payment is then made again. Run: CONFIG SET maxmemory-policy noeviction, and set it in the configuration file, too.`;
}

/** Selects the database of the URL again, because ioredis falls back to database 0 silently. */
async function checkDatabase(server: RedisConnection): Promise<void> {
  const { db } = server.options;
  if (db === undefined || db === 0) return;
  try {
    await server.call('SELECT', String(Number(db)));
  } catch (cause) {
    server.disconnect();
    throw new Error(`Redis has no database ${Number(db)}. Check the end of the URL.`, { cause });
  }
}

function openRedis({ connection, warning }: Awaited<ReturnType<typeof connectRedis>>): OpenedStore {
  const command = (...args: [string, ...string[]]) => connection.call(...args);
  return {
    journal: redisJournal(command),
    isEmpty: () => isRedisEmpty(command),
    warning,
    close: () => {
      connection.disconnect();
    },
  };
}

/** Connects to Redis. If that fails, throws the error that ioredis emits, which names the cause. */
async function connect(connection: RedisConnection): Promise<RedisConnection> {
  let cause: Error | undefined;
  connection.on('error', (error) => (cause ??= error));
  try {
    await connection.connect();
    return connection;
  } catch (error) {
    connection.disconnect();
    throw cause ?? error;
  }
}

/** Checks the URL of a store. The message does not show the URL, which may contain a password. */
function checkUrl(flag: string, text: string, start: RegExp, example: string): void {
  if (URL.canParse(text) && start.test(text)) return;
  throw new UsageError(`--${flag} takes a URL, such as ${example}, and got something else.`);
}

/** Loads a database driver that is installed in the user's project. */
function loadDriver(name: string, flag: string): unknown {
  // `npx -p payments-platform-sdk -p pg` installs the driver beside this file, so look there, too.
  for (const base of [join(process.cwd(), 'package.json'), import.meta.url]) {
    const load = createRequire(base);
    try {
      load.resolve(name);
    } catch {
      continue;
    }
    return load(name);
  }
  throw new UsageError(
    `--${flag} needs the package ${name}, which is not installed here. Run this in the folder of your project, or npm install ${name}.`,
  );
}

/** Removes the passwords of the store's URL from the text of an error. */
export function redactAddress(text: string, address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const secrets = [url?.password, url?.searchParams.get('password')].flatMap((secret) =>
    secret ? [secret, decodeSecret(secret)] : [],
  );
  return secrets
    .reduce((redacted, secret) => redacted.replaceAll(secret, '[redacted]'), text)
    .replaceAll(/:\/\/[^\s/@]*:[^\s/]*@/g, '://[redacted]@');
}

function decodeSecret(secret: string): string {
  try {
    return decodeURIComponent(secret);
  } catch {
    return secret;
  }
}
