import { mkdtempSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import {
  postgresJournal,
  redisJournal,
  sqliteJournal,
  type FullJournal,
  type JournalEntry,
} from 'payments-platform-sdk/journals';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { collectOpen, createClaim, newInput } from '../stores/scenarios.ts';
import { missing, startPostgres, startRedis } from '../stores/servers.ts';
import { commandIn, fileOfCommand } from '../support/commands.ts';

// payments-journal migrate, as a child process, on stores that 0.4 has written.

const bin = fileOfCommand('journals');
const folder = mkdtempSync(join(tmpdir(), 'payments-migrate-'));
const { start, run } = commandIn(folder, bin, onTestFinished);
const startTimeoutMs = 60_000;

interface OldStore {
  readonly flags: readonly string[];
  /** Writes an entry as 0.4 did. */
  write(reference: string, entry: string): Promise<unknown>;
  open(): FullJournal;
}

const platform = 'https://api.example.com/v0';
const createEntry = (description: string) => createClaim({ ...newInput(), description });
const createPaidBy = (description: string, transferId: string): JournalEntry => ({
  state: 'paid',
  transferId,
  paidAt: 3,
  platform,
  input: { ...newInput(), description },
});

/** The entries of an old store, each of a kind that the migration treats in its own way. */
function createEntries(): Map<string, JournalEntry | string> {
  const notPaid = { at: 1, state: 'not_paid' } as const;
  return new Map<string, JournalEntry | string>([
    ['inv-1', createEntry('inv-1')],
    ['INV-2', createPaidBy('INV-2', 'txfr_2')],
    ['INV-3', createPaidBy('INV-3', 'txfr_3')],
    ['inv-3', createEntry('inv-3')],
    ['inv-4a', createPaidBy('inv-4a', 'txfr_4')],
    ['inv-4b', createPaidBy('inv-4b', 'txfr_4')],
    ['inv-5', { ...createEntry('inv-5'), history: [notPaid] } as JournalEntry],
    ['inv-6', 'no JSON'],
  ]);
}

describe.skipIf(missing.length > 0)('payments-journal migrate', () => {
  const stores = new Map<string, () => Promise<OldStore>>();
  const closers: (() => unknown)[] = [];
  beforeAll(async () => {
    const [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
    closers.push(
      () => postgres.close(),
      () => redisServer.close(),
    );
    let count = 0;
    stores.set('SQLite', async () => {
      const path = join(folder, `${(count += 1)}.db`);
      const database = new DatabaseSync(path);
      closers.push(() => {
        database.close();
      });
      database.exec(
        `CREATE TABLE payments_journal (reference TEXT PRIMARY KEY, entry TEXT NOT NULL);
         CREATE INDEX payments_journal_open ON payments_journal (reference) WHERE coalesce(CASE json_valid(entry) WHEN 1 THEN json_extract(entry, '$.state') END, '') NOT IN ('paid', 'not_paid')`,
      );
      const insert = database.prepare('INSERT INTO payments_journal VALUES (?, ?)');
      return {
        flags: ['--sqlite', path],
        write: async (reference, entry) => insert.run(reference, entry),
        open: () => {
          const journal = sqliteJournal(path, { create: false });
          closers.unshift(() => {
            journal.close();
          });
          return journal;
        },
      };
    });
    const url = `postgres://postgres@127.0.0.1:${postgres.port}/postgres`;
    const pool = new Pool({ connectionString: url });
    pool.on('error', () => {});
    closers.unshift(() => pool.end());
    for (const [name, tableOf] of [
      ['PostgreSQL', (id: number) => `old_${id}.payments_journal`],
      ['PostgreSQL with another table', (id: number) => `old_${id}."Journal"`],
    ] as const) {
      stores.set(name, async () => {
        count += 1;
        const table = tableOf(count);
        await pool.query(`CREATE SCHEMA old_${count}`);
        await pool.query(
          `CREATE TABLE ${table} (reference text COLLATE "C" PRIMARY KEY, entry text NOT NULL, changed_at timestamptz NOT NULL DEFAULT clock_timestamp())`,
        );
        await pool.query(
          `CREATE INDEX payments_journal_open ON ${table} (reference) WHERE entry !~ '"state" *: *"(paid|not_paid)"'`,
        );
        return {
          flags: ['--postgres', url, '--table', table],
          write: (reference, entry) =>
            pool.query(`INSERT INTO ${table} (reference, entry) VALUES ($1, $2)`, [
              reference,
              entry,
            ]),
          open: () => postgresJournal((text, values) => pool.query(text, values), { table }),
        };
      });
    }
    const redis = new Redis(redisServer.port);
    closers.unshift(() => {
      redis.disconnect();
    });
    stores.set('Redis', async () => {
      const keyPrefix = `app${(count += 1)}:`;
      const prefixed = redis.duplicate({ keyPrefix });
      closers.unshift(() => {
        prefixed.disconnect();
      });
      return {
        flags: ['--redis', `redis://127.0.0.1:${redisServer.port}`, '--prefix', keyPrefix],
        write: (reference, entry) => prefixed.set(`payments:journal:${reference}`, entry),
        open: () => redisJournal((name, ...args) => prefixed.call(name, ...args)),
      };
    });
  }, startTimeoutMs);
  afterAll(async () => {
    for (const close of closers) await close();
    rmSync(folder, { recursive: true, force: true });
  });

  const names = ['SQLite', 'PostgreSQL', 'PostgreSQL with another table', 'Redis'];
  const openStore = (name: string) => (stores.get(name) as () => Promise<OldStore>)();
  const fill = async ({ write }: OldStore, entries: Map<string, JournalEntry | string>) => {
    for (const [reference, entry] of entries) {
      await write(reference, typeof entry === 'string' ? entry : JSON.stringify(entry));
    }
  };
  const claimOn = async (open: () => FullJournal) => {
    const input = newInput();
    return open().swap(input.description, undefined, createClaim(input));
  };

  test.each(names)('updates a store of version 0.4: %s', async (name) => {
    const store = await openStore(name);
    const entries = createEntries();
    await fill(store, entries);
    await expect((async () => claimOn(store.open))()).rejects.toMatchObject({
      retryable: false,
      message: expect.stringContaining('run once: payments-journal migrate'),
    });

    const dry = await run(['migrate', '--dry-run', ...store.flags]);
    expect(dry).toMatchObject({ status: 3, err: '' });
    expect(dry.out).toMatch(name === 'Redis' ? /ZADD payments:journal:Open;\n/ : /ALTER TABLE/);
    expect(dry.out).toContain('8 entries would be migrated, 4 of them open. 1 references');
    await expect((async () => claimOn(store.open))()).rejects.toMatchObject({ retryable: false });

    for (let turn = 0; turn < 2; turn += 1) {
      const { status, out, err } = await run(['migrate', ...store.flags]);
      expect({ status, err }).toEqual({ status: 3, err: '' });
      expect(out).toContain('INV-3 and inv-3 are two entries of one reference');
      expect(out).toMatch(/txfr_4 stands in the entries of inv-4[ab], inv-4[ab],/);
    }
    const journal = store.open();
    const listed = (await collectOpen(journal, '')).map(({ reference }) => reference);
    expect(listed.toSorted()).toEqual(['inv-1', 'inv-3', 'inv-5', 'inv-6']);
    expect(await journal.read('inv-2')).toEqual(entries.get('INV-2'));
    expect(await journal.read('INV-2')).toBeUndefined();
    expect(await journal.read('INV-3')).toEqual(entries.get('INV-3'));
    expect(await journal.find(platform, 'txfr_2')).toBe('inv-2');
    expect(await journal.find(platform, 'txfr_4')).toBeUndefined();
    expect(await journal.firstClaimAt()).toBe(0);
    const terms = { platform, input: { ...newInput(), amount: '12.5' } };
    const similar = await journal.similar?.(terms, 0);
    expect(similar?.map(({ reference, claimedAt }) => [reference, claimedAt]).toSorted()).toEqual(
      name === 'Redis'
        ? undefined
        : ['INV-3', 'inv-2', 'inv-4a', 'inv-4b'].map((each) => [each, 3]),
    );
    expect(await claimOn(store.open)).toBe(true);
    const paid = createPaidBy('inv-1', 'txfr_2');
    expect(await journal.swap('inv-1', entries.get('inv-1') as JournalEntry, paid)).toBe(false);
    expect(await journal.prune({ paidBefore: new Date(4) })).toBe(4);
  });

  test.each(names)('prints nothing about a store without entries: %s', async (name) => {
    const store = await openStore(name);
    expect(await run(['migrate', ...store.flags])).toMatchObject({ status: 0, err: '' });
    expect(await store.open().firstClaimAt()).toBeUndefined();
    expect(await claimOn(store.open)).toBe(true);
  });

  test.each(names)('loses no entry although it is killed 20 times: %s', async (name) => {
    const store = await openStore(name);
    const entries = new Map(
      Array.from({ length: 400 }, (_, at) => [
        `${at % 2 === 0 ? 'INV' : 'inv'}-${at}`,
        at % 3 === 0 ? createEntry(`r-${at}`) : createPaidBy(`r-${at}`, `txfr_${at}`),
      ]),
    );
    await fill(store, entries);
    const startedAt = performance.now();
    await run(['migrate', '--dry-run', ...store.flags]);
    const duration = performance.now() - startedAt;
    for (let turn = 0; turn < 20; turn += 1) {
      const { child, ended } = start(process.execPath, [bin, 'migrate', ...store.flags]);
      // The first half is the start of Node.
      setTimeout(() => child.kill('SIGKILL'), duration * (0.4 + 0.8 * Math.random()));
      await ended;
    }
    expect(await run(['migrate', ...store.flags])).toMatchObject({ status: 0 });
    const journal = store.open();
    for (const [reference, entry] of entries) {
      expect(await journal.read(reference.toLowerCase())).toEqual(entry);
    }
    expect(await collectOpen(journal, '')).toHaveLength(134);
    expect(await journal.find(platform, 'txfr_398')).toBe('inv-398');
  });
});
