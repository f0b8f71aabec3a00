import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import type { FullJournal } from '../../journals/journal.ts';
import { postgresJournal, type PostgresRows } from '../../journals/postgres.ts';
import { isRedisEmpty, rebuildRedisIndex, redisJournal } from '../../journals/redis.ts';
import { sqliteJournal } from '../../journals/sqlite.ts';
import { UsageError } from '../program.ts';
import type { StoreAddress } from './flags.ts';

/** A journal whose store is connected. */
export interface OpenedStore {
  readonly journal: FullJournal;
  /** Whether the store has no entries at all, not even of decided payments. */
  readonly isEmpty: () => Promise<boolean>;
  /** Rebuilds Redis' index of open payments. Absent for other stores: their index is complete. */
  readonly rebuild?: () => Promise<void>;
  /** How the store may lose a claim, and what to do. Undefined if the store reports no problem. */
  readonly warning?: string | undefined;
  close(): void | Promise<void>;
}

const defaultTable = 'payments_journal';
const anyEntrySql = (table = defaultTable) => `SELECT 1 FROM ${table} LIMIT 1`;

const connectTimeoutMs = 10_000;

/** @throws UsageError if a package is missing, Error if the store cannot be reached */
export function openStore({ name, address, table, prefix }: StoreAddress): Promise<OpenedStore> {
  if (name === 'sqlite') return Promise.resolve(openSqlite(address));
  return name === 'postgres' ? openPostgres(address, table) : openRedis(address, prefix);
}

function openSqlite(file: string): OpenedStore {
  const path = resolve(file);
  if (!existsSync(path)) throw new Error(`There is no file at ${path}.`);
  const journal = sqliteJournal(path, { create: false });
  const isEmpty = () => {
    // Does not import node:sqlite, because the bundler would remove `node:` from its name.
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
    const database = new DatabaseSync(path, { readOnly: true });
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

type QueryPostgres = (text: string, values: string[]) => Promise<{ rows: PostgresRows }>;

/** Connects to a PostgreSQL server, and checks the collation of the journal's table. */
async function openPostgres(url: string, name = defaultTable): Promise<OpenedStore> {
  checkUrl('postgres', url, /^postgres(ql)?:\/\//, 'postgres://user@host/database');
  const table = addSchema(name, url);
  const { Client } = loadDriver('pg', 'postgres') as PostgresDriver;
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    application_name: 'payments-journal',
  });
  const query: QueryPostgres = (text, values) => client.query(text, values);
  const journal = postgresJournal(query, { table });
  // If the connection fails, the pending query rejects, so the error event needs no handling.
  client.on('error', () => {});
  await client.connect();
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
async function openRedis(url: string, keyPrefix = ''): Promise<OpenedStore> {
  checkUrl('redis', url, /^rediss?:\/\//, 'redis://host:6379');
  const { Redis, Cluster } = loadDriver('ioredis', 'redis') as RedisDriver;
  const withoutRetries = { maxRetriesPerRequest: 0, retryStrategy: () => null };
  const options = { keyPrefix, lazyConnect: true, connectTimeout: connectTimeoutMs };
  const server = await connect(new Redis(url, { ...options, ...withoutRetries }));
  await checkDatabase(server);
  const warning = await warnOfEviction(server);
  if (!String(await server.call('INFO', 'cluster')).includes('cluster_enabled:1')) {
    return wrapRedis(server, warning);
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
  return wrapRedis(await connect(cluster), warning);
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

function wrapRedis(connection: RedisConnection, warning: string | undefined): OpenedStore {
  const command = (...args: [string, ...string[]]) => connection.call(...args);
  return {
    journal: redisJournal(command),
    isEmpty: () => isRedisEmpty(command),
    rebuild: () => rebuildRedisIndex(command),
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
