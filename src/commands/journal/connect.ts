import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pageSize } from '../../journals/journal.ts';
import { postgresJournal, type PostgresRows } from '../../journals/postgres.ts';
import {
  keyPrefix as entryPrefix,
  listReferences,
  type RedisCommand,
} from '../../journals/redis.ts';
import { UsageError } from '../program.ts';
import type { StoreAddress } from './flags.ts';

/* Connects to the stores of journals, with the drivers of the user's project. */

const defaultTable = 'payments_journal';

const connectTimeoutMs = 10_000;

export const findFile = (file: string): string => {
  const sqlite: unknown = process.getBuiltinModule('node:sqlite');
  if (sqlite === undefined) {
    throw new UsageError(
      `--sqlite needs Node.js 22.13 or later, and this is ${process.version}. Run: npx -p node@24 -c "payments-journal …"`,
    );
  }
  const path = resolve(file);
  if (!existsSync(path)) throw new Error(`There is no file at ${path}.`);
  return path;
};

/** Opens a SQLite file directly, to check or to migrate it, because a journal would change or reject the file. */
export function openDatabase(path: string, readOnly: boolean) {
  // Does not import node:sqlite, because the bundler would remove `node:` from its name.
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  return new DatabaseSync(path, { readOnly });
}

/** Runs a statement with parameters `$1`, `$2` and so on, in this order, in a SQLite file. */
export const runSqlite =
  (database: ReturnType<typeof openDatabase>): Query =>
  (sql, values = []) => {
    const bound = values.map((each) => (typeof each === 'boolean' ? Number(each) : each));
    const statement = database.prepare(sql.replaceAll(/\$\d/g, '?'));
    return Promise.resolve(statement.all(...(bound as (string | number | null)[])));
  };

interface PostgresDriver {
  Client: new (options: object) => {
    on(event: 'error', listener: () => void): unknown;
    connect(): Promise<unknown>;
    query: QueryPostgres;
    end(): Promise<void>;
  };
}

type QueryPostgres = (text: string, values: readonly unknown[]) => Promise<{ rows: PostgresRows }>;

/** Runs a statement whose parameters are `$1`, `$2` and so on, in this order. */
export type Query = (
  sql: string,
  values?: readonly unknown[],
) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/** An entry as the store has it, and whether the store's index has it as open. */
export interface StoredRow {
  readonly reference: string;
  readonly stored: string;
  readonly isOpen: boolean;
}

/** Yields the entries of a table, read in pages. A table of 0.4 has no `is_open`. */
export async function* readTable(run: Query, table: string): AsyncGenerator<StoredRow, void> {
  let last: string | undefined = '';
  while (last !== undefined) {
    const sql = `SELECT * FROM ${table} WHERE reference > $1 ORDER BY reference LIMIT ${pageSize}`;
    const rows: Awaited<ReturnType<Query>> = await run(sql, [last]);
    for (const { reference, entry, is_open: isOpen } of rows) {
      yield { reference: String(reference), stored: String(entry), isOpen: Boolean(isOpen) };
    }
    last = rows.length < pageSize ? undefined : String(rows.at(-1)?.['reference']);
  }
}

/** Reads all entries of a journal in Redis, by their references. */
export async function readEntries(command: RedisCommand): Promise<Map<string, string>> {
  const stored = new Map<string, string>();
  for await (const references of listReferences(command)) {
    const read = (reference: string) => command('GET', `${entryPrefix}${reference}`);
    const texts = await Promise.all(references.map(read));
    for (const [at, text] of texts.entries()) {
      if (typeof text === 'string') stored.set(references[at] ?? '', text);
    }
  }
  return stored;
}

/** Connects to a PostgreSQL server, and returns the full name of the journal's table. */
export async function connectPostgres({ address, table: name = defaultTable }: StoreAddress) {
  checkUrl('postgres', address, /^postgres(ql)?:\/\//, 'postgres://user@host/database');
  const table = addSchema(name, address);
  const { Client } = loadDriver('pg', 'postgres') as PostgresDriver;
  const client = new Client({
    connectionString: address,
    connectionTimeoutMillis: connectTimeoutMs,
    application_name: 'payments-journal',
  });
  // Throws for a wrong table before there is a connection to end.
  const journal = postgresJournal((text, values) => client.query(text, values), { table });
  // If the connection fails, the pending query rejects, so the error event needs no handling.
  client.on('error', () => {});
  await client.connect();
  const run: Query = async (sql, values = []) => (await client.query(sql, values)).rows;
  return { run, table, journal, close: () => client.end() };
}

/** Adds the schema of a Prisma URL to the table's name, because the driver ignores that schema. */
function addSchema(table: string, url: string): string {
  const schema = new URL(url).searchParams.get('schema');
  const hasSchema = /^(?:"[^"]+"|\w+)\./.test(table);
  return schema === null || schema === '' || hasSchema ? table : `"${schema}".${table}`;
}

export interface RedisConnection {
  readonly options: Readonly<Record<string, unknown>>;
  on(event: 'error' | 'end', listener: (error: Error) => void): unknown;
  connect(): Promise<void>;
  call(...args: [string, ...string[]]): Promise<unknown>;
  disconnect(): void;
}

interface RedisDriver {
  Redis: new (url: string, options: object) => RedisConnection;
  Cluster: new (nodes: readonly object[], options: object) => RedisConnection;
}

/**
 * Connects to a Redis server without retries. If the server belongs to a cluster, the connection is
 * a client of the whole cluster.
 */
export async function connectRedis({ address: url, prefix: keyPrefix = '' }: StoreAddress) {
  checkUrl('redis', url, /^rediss?:\/\//, 'redis://host:6379');
  const { Redis, Cluster } = loadDriver('ioredis', 'redis') as RedisDriver;
  const withoutRetries = { maxRetriesPerRequest: 0, retryStrategy: () => null };
  const options = { keyPrefix, lazyConnect: true, connectTimeout: connectTimeoutMs };
  const server = await connect(new Redis(url, { ...options, ...withoutRetries }));
  await checkDatabase(server);
  if (!String(await server.call('INFO', 'cluster')).includes('cluster_enabled:1')) {
    return {
      connection: server,
      server,
      close: () => {
        server.disconnect();
      },
    };
  }
  const { host, port, username, password, tls } = server.options;
  const redisOptions = { username, password, tls, connectTimeout: connectTimeoutMs };
  const cluster = new Cluster([{ host, port }], {
    keyPrefix,
    lazyConnect: true,
    clusterRetryStrategy: () => null,
    redisOptions,
  });
  const close = () => {
    cluster.disconnect();
    server.disconnect();
  };
  try {
    return { connection: await connect(cluster), server, close };
  } catch (error) {
    close();
    throw error;
  }
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

/** Connects to Redis. If that fails, throws the error that ioredis emits, because that error names the cause. */
async function connect(connection: RedisConnection): Promise<RedisConnection> {
  let cause: Error | undefined;
  connection.on('error', (error) => (cause ??= error));
  // The client of a cluster that is not ready ends, but its connect() never settles.
  const ended = new Promise<never>((_, reject) => {
    connection.on('end', () => {
      reject(new Error('Redis ended the connection. If it is a cluster, look at CLUSTER INFO.'));
    });
  });
  ended.catch(() => undefined);
  try {
    await Promise.race([connection.connect(), ended]);
    return connection;
  } catch (error) {
    connection.disconnect();
    throw cause ?? error;
  }
}

/** Checks the URL of a store. The message does not show the URL, because it may contain a password. */
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
