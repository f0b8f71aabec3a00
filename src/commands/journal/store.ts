import type { FullJournal } from '../../journals/journal.ts';
import { isRedisEmpty, redisJournal } from '../../journals/redis.ts';
import { sqliteJournal } from '../../journals/sqlite.ts';
import type { Finding } from './checks/findings.ts';
import { checkCollation } from './checks/postgres.ts';
import { checkEviction } from './checks/redis.ts';
import { connectPostgres, connectRedis, findFile, openDatabase, runSqlite } from './connect.ts';
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

const anyEntrySql = (table: string) => `SELECT 1 FROM ${table} WHERE reference <> '' LIMIT 1`;

/** @throws UsageError if a package is missing, Error if the store cannot be reached */
export async function openStore(store: StoreAddress): Promise<OpenedStore> {
  if (store.name === 'sqlite') return openSqlite(store.address);
  if (store.name === 'postgres') return openPostgres(store);
  return openRedis(store);
}

/** Brings a store of 0.3 or 0.4 up to date. With `isDryRun`, only lists the statements. */
export async function migrateStore(store: StoreAddress, isDryRun: boolean): Promise<Report> {
  if (store.name === 'sqlite') return migrateSqlite(store.address, isDryRun);
  if (store.name === 'postgres') {
    const { run, table, close } = await connectPostgres(store);
    try {
      return await migrateSql(describePostgres(run, table), isDryRun);
    } finally {
      await close();
    }
  }
  const { connection, close } = await connectRedis(store);
  try {
    return await migrateRedis((...args) => connection.call(...args), isDryRun);
  } finally {
    close();
  }
}

async function migrateSqlite(file: string, isDryRun: boolean): Promise<Report> {
  const database = openDatabase(findFile(file), isDryRun);
  try {
    const run = runSqlite(database);
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
      return Promise.resolve(database.prepare(anyEntrySql('payments_journal')).get() === undefined);
    } finally {
      database.close();
    }
  };
  return { journal, isEmpty, close: () => journal.close() };
}

async function openPostgres(store: StoreAddress): Promise<OpenedStore> {
  const { run, table, journal, close } = await connectPostgres(store);
  // If the collation cannot be read, there is no warning, and the command goes on.
  const finding = await checkCollation(run, table).catch(() => undefined);
  return {
    journal,
    isEmpty: async () => (await run(anyEntrySql(table))).length === 0,
    warning: describeFinding(finding),
    close,
  };
}

const describeFinding = (finding: Finding | undefined): string | undefined =>
  finding?.problem && `Warning, ${finding.name}: ${finding.problem}`;

async function openRedis(store: StoreAddress): Promise<OpenedStore> {
  const { connection, server, close } = await connectRedis(store);
  const command = (...args: [string, ...string[]]) => connection.call(...args);
  return {
    journal: redisJournal(command),
    isEmpty: () => isRedisEmpty(command),
    warning: describeFinding(await checkEviction(server)),
    close,
  };
}
