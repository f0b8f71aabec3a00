import type * as NodeFs from 'node:fs';
import {
  LastingJournalError,
  pageSize,
  parseEntry,
  readPaidBefore,
  serializeEntry,
  storedTextOf,
  type FullJournal,
  type SearchFirst,
  type OpenEntry,
} from './journal.ts';
import { memoryMark } from './memory.ts';

/** The interface that node:sqlite and bun:sqlite have in common. */
interface Database {
  prepare(sql: string): {
    get(...values: string[]): unknown;
    all(...values: string[]): unknown[];
    run(...values: (string | number)[]): { changes: number | bigint };
  };
  close(): void;
}

interface Row {
  readonly reference: string;
  readonly entry: string;
}

interface EndOfPage {
  readonly last: string | null;
}

type DatabaseConstructor = new (path: string) => Database;

type Path = {
  readonly resolve: (path: string) => string;
  readonly isAbsolute: (path: string) => boolean;
};

const lockTimeoutMs = 5_000;
const lockRetryMs = 10;

const getBuiltin = (id: string): Readonly<Record<string, unknown>> | undefined => {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  return process?.getBuiltinModule?.(id) as Record<string, unknown> | undefined;
};

/** Opens the file, and throws for a file with which two processes might pay twice. */
function openDatabase(path: string, create: boolean): Database {
  // A JavaScript caller may pass undefined, and Bun would then open a database in memory.
  if (!path) {
    throw new Error(
      'sqliteJournal: path is empty. SQLite would open a private temporary database that ends with this process, and the next process would pay again.\nPass an absolute path, and check the variable that holds it.',
    );
  }
  const Constructor =
    getBuiltin('node:sqlite')?.['DatabaseSync'] ?? getBuiltin('bun:sqlite')?.['Database'];
  if (Constructor === undefined) {
    throw new Error(
      'sqliteJournal needs the SQLite of the runtime: Node.js from 22.13 on, Bun or Deno.',
    );
  }
  if (!create && !(getBuiltin('node:fs') as typeof NodeFs).existsSync(path)) {
    throw new Error(
      `sqliteJournal: there is no file at ${path}, and create is false. An empty journal would pay again what the lost one holds.\nCheck the path and that its volume is mounted.`,
    );
  }
  rejectSharedFile(path);
  warnOfRelativePath(path);
  try {
    return new (Constructor as DatabaseConstructor)(path);
  } catch (error) {
    throw cannotOpen(path, error);
  }
}

const cannotOpen = (path: string, cause: unknown): Error => {
  const reason = (Object(cause) as { message?: unknown }).message ?? cause;
  return new Error(
    `sqliteJournal: ${path} cannot be used: ${String(reason)}.\nCheck that its folder exists, and that this process may write to the folder and the file.`,
    { cause },
  );
};

/** Warns of a relative path, because a process in another folder would use another file. */
function warnOfRelativePath(path: string): void {
  const { existsSync } = getBuiltin('node:fs') as typeof NodeFs;
  const { isAbsolute, resolve } = getBuiltin('node:path') as Path;
  if (path === ':memory:' || isAbsolute(path) || existsSync(path)) return;
  // oxlint-disable-next-line no-console -- stderr on every runtime
  console.warn(
    `payments-platform-sdk: sqliteJournal creates ${resolve(path)}. From another folder this program uses another journal, and pays again: pass an absolute path.`,
  );
}

/**
 * SQLite keeps the latest claims in a write-ahead log beside the file. A container that mounts only
 * the file, or a process that uses another hard link, has another log without those claims.
 */
function rejectSharedFile(path: string): void {
  const fs = getBuiltin('node:fs') as typeof NodeFs;
  const stats = fs.statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  const hasTwoNames = stats.isFile() && stats.nlink > 1;
  if (!hasTwoNames && !readMountPoints(fs).includes(fs.realpathSync(path))) return;
  const reason = hasTwoNames ? 'has more than one hard link' : 'is a mount point of its own';
  throw new Error(
    `sqliteJournal: the file ${path} ${reason}, so another process may keep the latest claims in another ${path}-wal, and would pay again.\nMount the folder that holds the file, and use one name for it.`,
  );
}

/**
 * Returns a function that throws if the path no longer names the file that was opened, for example
 * after a deploy has moved the folder. Otherwise this process would use the old file and another
 * process the new one, and both would pay.
 */
function createFileCheck(path: string): () => void {
  const { statSync } = getBuiltin('node:fs') as typeof NodeFs;
  // The path of the file is resolved now, because the working directory may change later.
  const { resolve } = getBuiltin('node:path') as Path;
  const file = resolve(path);
  /** Device and inode of the file, which change if another file gets this path. */
  const identify = (): string | undefined => {
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
    return stats && `${stats.dev} ${stats.ino}`;
  };
  const openedFile = identify();
  return () => {
    // A database in memory has no file that could be replaced.
    if (openedFile === undefined || identify() === openedFile) return;
    throw new LastingJournalError(
      `sqliteJournal: the file ${file} was removed or replaced after this process opened it, so other processes do not see its claims.\nStop the processes that pay, put the file with its -wal back, and start them again.`,
    );
  };
}

/** The mount points of this process, as Linux lists them. Empty on other systems. */
function readMountPoints({ readFileSync }: typeof NodeFs): string[] {
  try {
    const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
    return lines.map((line) =>
      (line.split(' ')[4] ?? '').replaceAll(/\\(\d{3})/g, (_, code: string) =>
        String.fromCharCode(Number.parseInt(code, 8)),
      ),
    );
  } catch {
    return [];
  }
}

/**
 * Sets up the connection and, with `create`, the table, and returns the statements of the journal.
 * Uses `prepare` for each SQL statement, because errors of `exec` have no code on Deno.
 */
function prepareStatements(database: Database, create: boolean) {
  // Turns off SQLite's own wait for a lock, because that wait would block the event loop.
  database.prepare('PRAGMA busy_timeout = 0').get();
  database.prepare('PRAGMA journal_mode = WAL').get();
  // Without synchronous = FULL, a power cut may remove the latest claims.
  database.prepare('PRAGMA synchronous = FULL').get();
  if (create) {
    const table = 'payments_journal (reference TEXT PRIMARY KEY, entry TEXT NOT NULL)';
    database.prepare(`CREATE TABLE IF NOT EXISTS ${table}`).run();
  }
  // Checks json_valid first, because json_extract throws if the text of one entry is not JSON.
  const stateSql = "CASE json_valid(entry) WHEN 1 THEN json_extract(entry, '$.state') END";
  const isOpenSql = `coalesce(${stateSql}, '') NOT IN ('paid', 'not_paid')`;
  const index = 'payments_journal_open ON payments_journal (reference)';
  database.prepare(`CREATE INDEX IF NOT EXISTS ${index} WHERE ${isOpenSql}`).run();
  return {
    read: database.prepare('SELECT entry FROM payments_journal WHERE reference = ?'),
    insert: database.prepare(
      'INSERT INTO payments_journal (reference, entry) VALUES (?, ?) ON CONFLICT DO NOTHING',
    ),
    update: database.prepare(
      'UPDATE payments_journal SET entry = ? WHERE reference = ? AND entry = ?',
    ),
    remove: database.prepare('DELETE FROM payments_journal WHERE reference = ? AND entry = ?'),
    // Without INDEXED BY, SQLite would use the primary key and read every row.
    open: database.prepare(
      `SELECT reference, entry FROM payments_journal INDEXED BY payments_journal_open WHERE ${isOpenSql} AND reference > ? ORDER BY reference LIMIT ${pageSize}`,
    ),
    endOfPage: database.prepare(
      `SELECT max(reference) AS last FROM (SELECT reference FROM payments_journal WHERE reference > ? ORDER BY reference LIMIT ${pageSize})`,
    ),
    prune: database.prepare(
      "DELETE FROM payments_journal WHERE reference > ? AND reference <= ? AND CASE json_valid(entry) WHEN 1 THEN json_extract(entry, '$.paidAt') END < ?",
    ),
  };
}

/** Whether an error says that another process has the lock: SQLITE_BUSY or an extension of it. */
function isBusy(error: unknown): boolean {
  const { errcode, errno } = error as { errcode?: unknown; errno?: unknown };
  return Number(errcode ?? errno) % 256 === 5;
}

/** Runs an SQL statement, and retries for up to five seconds while another process has the lock. */
async function retryWhileBusy<T>(run: () => T): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    try {
      return run();
    } catch (error) {
      if (!isBusy(error) || performance.now() - startedAt >= lockTimeoutMs) throw error;
    }
    await sleep(lockRetryMs);
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * A journal in one SQLite file, or `':memory:'` in tests. All processes of one machine can share
 * it. Needs Node.js 22.13, Bun or Deno. Throws if the file cannot be opened, and rejects claims
 * after the file was replaced.
 * @example
 * ```ts
 * import { sqliteJournal } from 'payments-platform-sdk/journals';
 *
 * const journal = sqliteJournal(':memory:'); // or an absolute path
 * console.log(await journal.read('invoice 4711'));
 * journal.close();
 * ```
 */
export function sqliteJournal(
  path: string,
  {
    create = true,
    searchFirst = 'first_day',
  }: {
    /** Whether to create the file and its table. With false, both must exist. Default: true. */
    create?: boolean | undefined;
    /**
     * Whether the file may have lost entries, for example if you restored a backup. If so,
     * `createOnce` searches the platform's list before every first claim. Default: false.
     */
    searchFirst?: SearchFirst | undefined;
  } = {},
): FullJournal & { close(): void } {
  const database = openDatabase(path, create);
  const checkFile = createFileCheck(path);
  /** Undefined until no other process has locked the file. */
  let statements: ReturnType<typeof prepareStatements> | undefined;
  const prepare = () => (statements ??= prepareStatements(database, create));
  try {
    prepare();
  } catch (error) {
    // If another process has the lock, the first call prepares the statements again, because only a
    // call can wait.
    if (!isBusy(error)) {
      database.close();
      throw cannotOpen(path, error);
    }
  }
  const hasChanged = ({ changes }: { changes: number | bigint }): boolean => Number(changes) === 1;
  return {
    ...(path === ':memory:' && { [memoryMark]: true }),
    searchFirst,
    find: () => Promise.resolve(undefined),
    firstClaimAt: () => Promise.resolve(0),
    read: async (reference) => {
      const row = await retryWhileBusy(() => prepare().read.get(reference));
      return row ? parseEntry((row as { entry: string }).entry) : undefined;
    },
    swap: (reference, before, after) =>
      retryWhileBusy(() => {
        const { read, insert, update, remove } = prepare();
        if (after?.state === 'sending') checkFile();
        if (before === undefined) {
          return after === undefined
            ? !read.get(reference)
            : hasChanged(insert.run(reference, serializeEntry(after)));
        }
        return hasChanged(
          after === undefined
            ? remove.run(reference, storedTextOf(before))
            : update.run(serializeEntry(after), reference, storedTextOf(before)),
        );
      }),
    now: () => Promise.resolve(Date.now()),
    open: async function* () {
      let last: string | undefined = '';
      while (last !== undefined) {
        const start: string = last;
        const rows = (await retryWhileBusy(() => prepare().open.all(start))) as Row[];
        for (const { reference, entry } of rows) {
          yield { reference, entry: parseEntry(entry) as OpenEntry };
        }
        last = rows.length < pageSize ? undefined : rows.at(-1)?.reference;
      }
    },
    prune: async (options) => {
      const paidBefore = readPaidBefore(options);
      let count = 0;
      // The last reference of the page. SQL's max() is null after the last page.
      let last: string | null = '';
      for (;;) {
        const start: string = last;
        ({ last } = (await retryWhileBusy(() => prepare().endOfPage.get(start))) as EndOfPage);
        if (last === null) return count;
        const end: string = last;
        const { changes } = await retryWhileBusy(() => prepare().prune.run(start, end, paidBefore));
        count += Number(changes);
        // Lets the event loop run between two steps of `prune`.
        await sleep(0);
      }
    },
    close: () => {
      database.close();
    },
  };
}
