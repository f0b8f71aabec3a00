import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import type { FullJournal } from '../../journals/journal.ts';
import { postgresJournal, type PostgresRows } from '../../journals/postgres.ts';
import { isRedisEmpty, rebuildRedisIndex, redisJournal } from '../../journals/redis.ts';
import { sqliteJournal } from '../../journals/sqlite.ts';
import { UsageError } from '../program.ts';
import type { StoreAddress } from './flags.ts';

/** A journal with a connected store. */
export interface OpenedStore {
  readonly journal: FullJournal;
  /** Whether the store has no entries, decided ones included. */
  readonly isEmpty: () => Promise<boolean>;
  /** Builds the index again; only Redis has one that can be incomplete. */
  readonly rebuild?: () => Promise<void>;
  close(): void | Promise<void>;
}

const anyEntrySql = (table = 'payments_journal') => `SELECT 1 FROM ${table} LIMIT 1`;

const connectTimeoutMs = 10_000;

/** @throws UsageError for a missing package; Error when the store is not there. */
export function openStore({ name, address, table, prefix }: StoreAddress): Promise<OpenedStore> {
  if (name === 'sqlite') return Promise.resolve(openSqlite(address));
  return name === 'postgres' ? openPostgres(address, table) : openRedis(address, prefix);
}

function openSqlite(file: string): OpenedStore {
  const path = resolve(file);
  if (!existsSync(path)) throw new Error(`There is no file at ${path}.`);
  const journal = sqliteJournal(path, { create: false });
  const isEmpty = () => {
    // The bundler would remove the `node:` of an import.
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
    query(text: string, values: string[]): Promise<{ rows: PostgresRows }>;
    end(): Promise<void>;
  };
}

async function openPostgres(url: string, table?: string): Promise<OpenedStore> {
  checkUrl('postgres', url, /^postgres(ql)?:\/\//, 'postgres://user@host/database');
  const { Client } = loadDriver('pg', 'postgres') as PostgresDriver;
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    application_name: 'payments-journal',
  });
  // A pending query rejects, too.
  client.on('error', () => {});
  await client.connect();
  return {
    journal: postgresJournal((text, values) => client.query(text, values), { table }),
    isEmpty: async () => (await client.query(anyEntrySql(table), [])).rows.length === 0,
    close: () => client.end(),
  };
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

async function openRedis(url: string, keyPrefix = ''): Promise<OpenedStore> {
  checkUrl('redis', url, /^rediss?:\/\//, 'redis://host:6379');
  const { Redis, Cluster } = loadDriver('ioredis', 'redis') as RedisDriver;
  const common = { keyPrefix, lazyConnect: true, connectTimeout: connectTimeoutMs };
  const once = { ...common, maxRetriesPerRequest: 0, retryStrategy: () => null };
  const server = await connect(new Redis(url, once));
  await checkDatabase(server);
  if (!String(await server.call('INFO', 'cluster')).includes('cluster_enabled:1')) {
    return wrapRedis(server);
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
  return wrapRedis(await connect(cluster));
}

/** The driver continues in database 0 when the one of the URL is not there. */
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

function wrapRedis(connection: RedisConnection): OpenedStore {
  const command = (...args: [string, ...string[]]) => connection.call(...args);
  return {
    journal: redisJournal(command),
    isEmpty: () => isRedisEmpty(command),
    rebuild: () => rebuildRedisIndex(command),
    close: () => {
      connection.disconnect();
    },
  };
}

/** The rejection of ioredis says only that the connection is closed; its event has the cause. */
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

/** The URL may have a password, so the message does not show it. */
function checkUrl(flag: string, text: string, start: RegExp, example: string): void {
  if (URL.canParse(text) && start.test(text)) return;
  throw new UsageError(`--${flag} takes a URL, such as ${example}, and got something else.`);
}

/** Loads a package of the user's project. */
function loadDriver(name: string, flag: string): unknown {
  // `npx -p payments-platform-sdk -p pg` installs it beside this file.
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

/** Removes passwords of the store from the text of an error. */
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
