import { entryOf, textOf, type Journal } from './journal.ts';

/** What node:sqlite and bun:sqlite have in common. */
interface Database {
  exec(sql: string): unknown;
  prepare(sql: string): {
    get(...values: string[]): unknown;
    run(...values: string[]): { changes: number | bigint };
  };
  close(): void;
}

type Open = new (path: string) => Database;

const builtin = (id: string): Readonly<Record<string, unknown>> | undefined => {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  return process?.getBuiltinModule?.(id) as Record<string, unknown> | undefined;
};

function open(path: string): Database {
  const Found = builtin('node:sqlite')?.['DatabaseSync'] ?? builtin('bun:sqlite')?.['Database'];
  if (Found === undefined) {
    throw new Error(
      'sqliteJournal needs the SQLite of the runtime: Node.js from 22.13 on, Bun or Deno.',
    );
  }
  return new (Found as Open)(path);
}

/**
 * A journal in one SQLite file (`':memory:'` in tests), which processes of one machine may share. Needs
 * Node.js 22.13, Bun or Deno. Throws when the file cannot be opened or written.
 * @example
 * ```ts
 * import { sqliteJournal } from 'payments-platform-sdk/journals';
 *
 * const journal = sqliteJournal(':memory:'); // or a path
 * console.log(await journal.read('invoice 4711'));
 * journal.close();
 * ```
 */
export function sqliteJournal(path: string): Journal & { close(): void } {
  const database = open(path);
  // Another process may be writing.
  database.exec('PRAGMA busy_timeout = 5000');
  database.exec('PRAGMA journal_mode = WAL');
  // Without FULL, a power cut may take the latest claims along.
  database.exec('PRAGMA synchronous = FULL');
  database.exec(
    'CREATE TABLE IF NOT EXISTS payments_journal (reference TEXT PRIMARY KEY, entry TEXT NOT NULL)',
  );
  const read = database.prepare('SELECT entry FROM payments_journal WHERE reference = ?');
  const insert = database.prepare(
    'INSERT INTO payments_journal (reference, entry) VALUES (?, ?) ON CONFLICT DO NOTHING',
  );
  const update = database.prepare(
    'UPDATE payments_journal SET entry = ? WHERE reference = ? AND entry = ?',
  );
  const remove = database.prepare('DELETE FROM payments_journal WHERE reference = ? AND entry = ?');
  const changed = ({ changes }: { changes: number | bigint }): boolean => Number(changes) === 1;
  return {
    read: async (reference) => {
      const row = read.get(reference) as { entry: string } | null | undefined;
      return row === null || row === undefined ? undefined : entryOf(row.entry);
    },
    swap: async (reference, before, after) => {
      if (before === undefined) {
        return after === undefined
          ? (read.get(reference) ?? undefined) === undefined
          : changed(insert.run(reference, textOf(after)));
      }
      return changed(
        after === undefined
          ? remove.run(reference, textOf(before))
          : update.run(textOf(after), reference, textOf(before)),
      );
    },
    now: async () => Date.now(),
    close: () => {
      database.close();
    },
  };
}
