import { mkdtempSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import {
  postgresJournal,
  postgresJournalTable,
  redisJournal,
  sqliteJournal,
  type FullJournal,
} from 'payments-platform-sdk/journals';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClaim, createPaid, newInput } from '../stores/scenarios.ts';
import {
  missing,
  startPostgres,
  startRedis,
  startRedisCluster,
  type Server,
} from '../stores/servers.ts';
import { commandIn, fileOfCommand } from '../support/commands.ts';

// payments-journal check on stores that are fit, and on stores that lose or hide payments.

const folder = mkdtempSync(join(tmpdir(), 'payments-check-'));
const closers: (() => unknown)[] = [];
const { run } = commandIn(folder, fileOfCommand('journals'), (end) => closers.push(end));
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
  rmSync(folder, { recursive: true, force: true });
});

/** Writes an open and a paid payment, and returns the reference of the open one. */
async function fill(journal: FullJournal, fields: object = {}): Promise<string> {
  const [input, paid] = [newInput(), newInput()];
  await journal.swap(input.description, undefined, createClaim(input, fields));
  await journal.swap(paid.description, undefined, createPaid(paid, 3));
  return input.description;
}

/** The problems that check prints, each with its name. */
async function findProblems(...flags: string[]): Promise<string[]> {
  const { status, out, err } = await run(['check', ...flags]);
  expect(err).toBe('');
  const problems = out.split('\n').filter((line) => line.startsWith('PROBLEM'));
  expect(status).toBe(problems.length > 0 ? 3 : 0);
  expect(out).toMatch(problems.length > 0 ? /\n\d+ to mend before anything pays\.\n$/ : /is fit/);
  return problems.map((line) => line.replace(/^PROBLEM {2}/, ''));
}

describe('payments-journal check on SQLite', () => {
  let count = 0;
  async function create(fields: object = {}) {
    const path = join(folder, `${(count += 1)}.db`);
    const journal = sqliteJournal(path);
    closers.push(() => {
      journal.close();
    });
    const reference = await fill(journal, fields);
    const execute = (sql: string) => {
      const database = new DatabaseSync(path);
      database.exec(sql);
      database.close();
    };
    return { path, journal, reference, execute };
  }

  test('finds nothing in a store that is in use', async () => {
    const { path } = await create();
    expect(await findProblems('--sqlite', path)).toEqual([]);
  });

  test('finds that the -wal file of a running process was removed', async () => {
    const { path } = await create();
    rmSync(`${path}-wal`);
    expect(await findProblems('--sqlite', path)).toEqual([
      expect.stringContaining('-wal is gone, so the latest claims may be lost. Stop what pays'),
    ]);
  });

  test('finds an entry whose time is in the future', async () => {
    const ahead = Date.now() + 3_600_000;
    const { path, reference } = await create({ claimedAt: ahead, firstClaimedAt: ahead });
    expect(await findProblems('--sqlite', path)).toEqual([
      expect.stringContaining(`times of the entries: ${reference} were written by a clock`),
    ]);
  });

  test('finds a table of version 0.4, and suggests to migrate it', async () => {
    const path = join(folder, 'old.db');
    const database = new DatabaseSync(path);
    database.exec(
      'PRAGMA journal_mode = WAL; CREATE TABLE payments_journal (reference TEXT PRIMARY KEY, entry TEXT NOT NULL)',
    );
    database.close();
    expect(await findProblems('--sqlite', path)).toEqual([
      expect.stringContaining(`npx payments-journal migrate --sqlite ${path}`),
    ]);
  });

  test('finds an open payment that the index lacks, and `migrate` adds it', async () => {
    const { path, reference, execute } = await create();
    execute('UPDATE payments_journal SET is_open = 0');
    expect(await findProblems('--sqlite', path)).toEqual([
      expect.stringContaining(`it lacks ${reference}, so list does not show them`),
    ]);
    expect(await run(['migrate', '--sqlite', path])).toMatchObject({ status: 0 });
    expect(await findProblems('--sqlite', path)).toEqual([]);
  });

  test('finds a file that another process has locked', async () => {
    const { path } = await create();
    const database = new DatabaseSync(path);
    database.exec('BEGIN IMMEDIATE');
    closers.push(() => {
      database.close();
    });
    expect(await findProblems('--sqlite', path)).toEqual([
      expect.stringContaining('permission to write: database is locked'),
    ]);
  });
});

describe.skipIf(missing.length > 0)('payments-journal check on PostgreSQL', () => {
  let primary: Server;
  let count = 0;
  const urlOf = ({ port }: Server, database: string, user = 'postgres') =>
    `postgres://${user}@127.0.0.1:${port}/${database}`;
  beforeAll(async () => {
    primary = await startPostgres();
    closers.push(() => primary.close());
  });

  /** A database of its own with a journal, whose table may differ. */
  async function create(sql = postgresJournalTable) {
    const name = `check_${(count += 1)}`;
    const admin = new Pool({ connectionString: urlOf(primary, 'postgres') });
    await admin.query(`CREATE DATABASE ${name}`);
    await admin.end();
    const pool = new Pool({ connectionString: urlOf(primary, name) });
    pool.on('error', () => {});
    closers.push(() => pool.end());
    await pool.query(sql);
    const journal = postgresJournal((text, values) => pool.query(text, values));
    return { pool, name, journal, url: urlOf(primary, name) };
  }

  test('finds nothing in a store that is in use', async () => {
    const { journal, url } = await create();
    await fill(journal);
    expect(await findProblems('--postgres', url)).toEqual([]);
  });

  test('finds a reference column whose sort order an upgrade may change', async () => {
    const { url } = await create(postgresJournalTable.replace(' COLLATE "C"', ''));
    expect(await findProblems('--postgres', url)).toEqual([
      expect.stringMatching(/^collation of the column reference: it is "default".*ALTER TABLE/),
    ]);
  });

  test('finds an entry that an open transaction has not committed', async () => {
    const { pool, journal, url } = await create();
    const reference = await fill(journal);
    const session = await pool.connect();
    await session.query('BEGIN');
    await session.query('UPDATE payments_journal SET changed_at = now() WHERE reference = $1', [
      reference,
    ]);
    await session.query('SELECT pg_sleep(5.5)');
    expect(await findProblems('--postgres', url)).toEqual([
      expect.stringMatching(/^transactions around claims: the session \d+ has had a transaction/),
    ]);
    // An ordinary role may not see since when another role has had a transaction.
    await pool.query(
      `CREATE ROLE service LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON payments_journal TO service`,
    );
    const asService = await run(['check', '--postgres', url.replace('postgres@', 'service@')]);
    expect(asService).toMatchObject({ status: 0, err: '' });
    expect(asService.out).toMatch(/^unknown {2}transactions around claims: a session of another/m);
    await session.query('ROLLBACK');
    session.release();
    expect(await findProblems('--postgres', url)).toEqual([]);
  });

  test('finds a database role that may only read', async () => {
    const { pool, name } = await create();
    await pool.query(
      `CREATE ROLE reader_${name} LOGIN; GRANT SELECT ON payments_journal TO reader_${name}`,
    );
    const url = urlOf(primary, name, `reader_${name}`);
    expect(await findProblems('--postgres', url)).toEqual([
      expect.stringMatching(/^permission to write: this role may only read/),
    ]);
    await pool.query(
      `ALTER ROLE postgres IN DATABASE ${name} SET default_transaction_read_only = on`,
    );
    expect(await findProblems('--postgres', urlOf(primary, name))).toEqual([
      expect.stringMatching(/^permission to write: /),
    ]);
  });

  test('finds a replica, and an asynchronous standby of its primary', async () => {
    const { journal, name, url } = await create();
    await fill(journal);
    const replica = await startPostgres(primary);
    closers.push(() => replica.close());
    expect(await findProblems('--postgres', urlOf(replica, name))).toEqual([
      expect.stringMatching(/^primary: this server is a replica/),
    ]);
    const { status, out } = await run(['check', '--postgres', url]);
    expect(status).toBe(0);
    expect(out).toMatch(/^unknown {2}standbys: 1 may be asynchronous.*searchFirst: 'always'/m);
    expect(out).toContain('No problem, but look at what is unknown.');
    await replica.close();
    await expect.poll(async () => (await run(['check', '--postgres', url])).out).toMatch(/is fit/);
  });

  test('finds an open payment that the index lacks, and `migrate` adds it', async () => {
    const { pool, journal, url } = await create();
    const reference = await fill(journal);
    await pool.query('UPDATE payments_journal SET is_open = false');
    expect(await findProblems('--postgres', url)).toEqual([
      expect.stringContaining(`it lacks ${reference}, so list does not show them`),
    ]);
    expect(await run(['migrate', '--postgres', url])).toMatchObject({ status: 0 });
    expect(await findProblems('--postgres', url)).toEqual([]);
  });

  test('finds a table of version 0.4, a missing key, lossy settings', async () => {
    const old = await create(
      'CREATE TABLE payments_journal (reference text COLLATE "C", entry text)',
    );
    const problems = await findProblems('--postgres', old.url);
    expect(problems.map((each) => each.split(':')[0])).toEqual([
      'version of the store',
      'one entry for each reference',
    ]);
    const lossy = await create(postgresJournalTable.replace('TABLE', 'UNLOGGED TABLE'));
    await lossy.pool.query(`ALTER DATABASE ${lossy.name} SET synchronous_commit = off`);
    expect(await findProblems('--postgres', lossy.url)).toEqual([
      expect.stringMatching(/^durability of the server: /),
      expect.stringMatching(/^durability of the table: /),
    ]);
  });

  test('exits with status 1 if the table is missing', async () => {
    const { url } = await create('SELECT 1');
    const { status, err } = await run(['check', '--postgres', url]);
    expect({ status, err }).toEqual({
      status: 1,
      err: 'There is no table payments_journal. Check the database, and --table.\n',
    });
  });
});

describe.skipIf(missing.length > 0)('payments-journal check on Redis', () => {
  async function create(...settings: string[]) {
    const server = await startRedis(...settings);
    closers.push(() => server.close());
    const redis = new Redis(server.port);
    closers.push(() => {
      redis.disconnect();
    });
    const journal = redisJournal((name, ...args) => redis.call(name, ...args));
    return { server, redis, journal, url: `redis://127.0.0.1:${server.port}` };
  }

  test('finds nothing in a store or cluster that is in use', async () => {
    const { journal, url } = await create();
    await fill(journal);
    expect(await findProblems('--redis', url)).toEqual([]);
    const nodes = await startRedisCluster();
    closers.push(() => Promise.all(nodes.map((node) => node.close())));
    const port = nodes[0]?.port;
    expect(await findProblems('--redis', `redis://127.0.0.1:${port}`)).toEqual([]);
  });

  test('exits with status 1 on a cluster that is not ready', async () => {
    const { url } = await create('--cluster-enabled', 'yes');
    const { status, err } = await run(['check', '--redis', url]);
    expect({ status, err }).toEqual({
      status: 1,
      err: 'Redis ended the connection. If it is a cluster, look at CLUSTER INFO.\n',
    });
  });

  test('names the database with the journal if its own is empty', async () => {
    const { journal, url } = await create();
    await fill(journal);
    expect(await findProblems('--redis', `${url}/3`)).toEqual([
      'database 3: it has no entry, but database 0 has a journal. Check the number at the end of the URL.',
    ]);
  });

  test('finds eviction, a missing append-only file, and its delayed writes', async () => {
    const { redis, journal, url } = await create();
    await fill(journal);
    await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await redis.config('SET', 'appendfsync', 'everysec');
    await redis.config('SET', 'appendonly', 'no');
    const problems = await findProblems('--redis', url);
    expect(problems.map((each) => each.split(':')[0])).toEqual([
      'maxmemory-policy',
      'append-only file',
      'appendfsync',
    ]);
  });

  test('prints `unknown` for a setting that Redis does not show', async () => {
    const { redis, journal, url } = await create();
    await fill(journal);
    await redis.call('ACL', 'SETUSER', 'default', '-config');
    const { status, out } = await run(['check', '--redis', url]);
    expect(status).toBe(0);
    expect(out).toContain('unknown  appendfsync: CONFIG GET is not permitted here.');
  });

  test('finds a replica', async () => {
    const { journal, server } = await create();
    await fill(journal);
    const replica = await create('--replicaof', '127.0.0.1', String(server.port));
    await expect.poll(() => replica.redis.info('replication')).toContain('link_status:up');
    expect(await findProblems('--redis', replica.url)).toEqual([
      expect.stringMatching(/^primary: this server is a replica/),
    ]);
  });

  test('finds an open payment that the index lacks, and `migrate` adds it', async () => {
    const { redis, journal, url } = await create();
    const reference = await fill(journal);
    await redis.zrem('payments:journal:Open', reference);
    expect(await findProblems('--redis', url)).toEqual([
      expect.stringContaining(`it lacks ${reference}, so list does not show them`),
    ]);
    expect(await run(['migrate', '--redis', url])).toMatchObject({ status: 0 });
    expect(await findProblems('--redis', url)).toEqual([]);
  });

  test('finds a store of version 0.4', async () => {
    const { redis, url } = await create();
    await redis.set('payments:journal:r-1', JSON.stringify(createClaim(newInput())));
    expect(await findProblems('--redis', url)).toEqual([
      expect.stringMatching(/^version of the store: it was made by 0\.3 or 0\.4/),
    ]);
  });
});
