import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  memoryJournal,
  postgresJournal,
  redisJournal,
  sqliteJournal,
} from 'payments-platform-sdk/journals';
import { afterAll, expect, test, vi } from 'vitest';
import { scenarios } from '../stores/scenarios.ts';

// PostgreSQL and Redis as real servers: test/full/journals.test.ts.
const folder = mkdtempSync(join(tmpdir(), 'payments-journals-'));
const opened: { close(): void }[] = [];
afterAll(() => {
  for (const each of opened) each.close();
  rmSync(folder, { recursive: true, force: true });
});
const open = (name = 'journal.db') => {
  const journal = sqliteJournal(join(folder, name));
  opened.push(journal);
  return journal;
};

const memory = memoryJournal();
scenarios('memory', () => ({ open: () => memory }));
scenarios('SQLite', () => ({ open }));

test('the database reports that a claim is on disk before it answers', () => {
  const asked = vi.spyOn(DatabaseSync.prototype, 'exec');
  open('settings.db');
  const [database] = asked.mock.contexts as DatabaseSync[];
  const reported = (name: string) => Object.values(database?.prepare(`PRAGMA ${name}`).get() ?? {});
  expect(reported('synchronous')).toEqual([2]);
  expect(reported('journal_mode')).toEqual(['wal']);
  expect(reported('busy_timeout')).toEqual([5_000]);
});

test('a file that cannot be written is refused when it is opened', () => {
  expect(() => sqliteJournal(join(folder, 'none', 'journal.db'))).toThrow(/unable to open/);
  writeFileSync(join(folder, 'text.db'), 'this is not a database, and was never one before');
  expect(() => sqliteJournal(join(folder, 'text.db'))).toThrow(/not a database/);
});

test('where the runtime has no SQLite, the error says what is needed', () => {
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never);
  expect(() => sqliteJournal(join(folder, 'other.db'))).toThrow(/Node\.js from 22\.13/);
});

test('Redis may forget, the others may not', () => {
  expect(redisJournal(async () => null).forgets).toBe(true);
  expect([memory, open(), postgresJournal(async () => [])].map(({ forgets }) => forgets)).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test.each([
  ['rows', async () => [{ reference: 'a' }]],
  ['a result that has them', async () => ({ rows: [{ reference: 'a' }] })],
])('a query for PostgreSQL may give %s', async (_, query) => {
  const input = { sourceAccountId: 'acc_1', counterpartyId: 'cpty_1', amount: '1' } as const;
  const paid = { state: 'paid', transferId: 'txfr_1', input } as const;
  expect(await postgresJournal(query).swap('a', undefined, paid)).toBe(true);
});

test.each([null, 'OK', 2, undefined])('a reply of %o from Redis is no verdict', async (reply) => {
  const journal = redisJournal(async () => reply);
  await expect(journal.swap('a', undefined, undefined)).rejects.toThrow('another reply');
});
