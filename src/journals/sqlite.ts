import type * as NodeFs from 'node:fs';
import { builtinModule } from '../internal/runtime.ts';
import { termsOf } from '../internal/terms.ts';
import {
  columnsOf,
  describeStore,
  dropTerms,
  LastingJournalError,
  listOpen,
  maxSimilar,
  needsMigration,
  pageSize,
  parseEntry,
  parseSimilar,
  readFirstRow,
  readPaidBefore,
  rejectOthers,
  serializeEntry,
  swapByValues,
  termsMark,
  warnOfNewStore,
  type FullJournal,
  type JournalEntry,
  type SearchFirst,
  type StoredRow,
} from './journal.ts';
import { memoryMark } from './memory.ts';

/** The interface that node:sqlite and bun:sqlite have in common. */
interface Database {
  prepare(sql: string): Statement;
  close(): void;
}

interface Statement {
  get(...values: string[]): unknown;
  all(...values: (string | number)[]): unknown[];
  run(...values: (string | number | null)[]): { changes: number | bigint };
}

type Row = Readonly<Record<'reference' | 'entry', string>>;

type EndOfPage = { readonly last: string | null };
type DatabaseConstructor = new (path: string) => Database;

type Path = {
  readonly resolve: (path: string) => string;
  readonly isAbsolute: (path: string) => boolean;
  readonly sep: string;
};

const lockTimeoutMs = 5_000;
const lockRetryMs = 10;

const getBuiltin = (id: string) =>
  builtinModule(id) as Readonly<Record<string, unknown>> | undefined;

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
  if (/^file:/i.test(path)) {
    throw new Error(
      `sqliteJournal: ${path} is a URL. SQLite would open its file, but nobody would notice if that file is replaced.\nPass the absolute path of the file, here probably ${readFileUrl(path)}.`,
    );
  }
  if (path !== ':memory:') checkFile(path, create);
  return wrapErrors(path, () => new (Constructor as DatabaseConstructor)(path));
}

/** Adds the path to an error of the runtime, such as an error about a missing permission. */
function wrapErrors<T>(path: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw cannotOpen(path, error);
  }
}

const cannotOpen = (path: string, cause: unknown): Error => {
  const reason = (Object(cause) as { message?: unknown }).message ?? cause;
  return new Error(
    `sqliteJournal: ${path} cannot be used: ${String(reason).replace(/\.$/, '')}.\nCheck that its folder exists, and that this process may read and write the folder and the file.`,
    { cause },
  );
};

/** Returns the path that a `file:` URL probably means, from the working directory. */
function readFileUrl(url: string): string {
  const { resolve, sep } = getBuiltin('node:path') as Path;
  const path = url.replace(/^file:(?:\/\/(?:localhost)?(?=\/))?/i, '').replace(/[?#].*$/, '');
  if (path === ':memory:' || /[?&]mode=memory/.test(url)) return ':memory:';
  // On Windows the slash before the drive belongs to the URL.
  return resolve(sep === '/' ? path : path.replace(/^\/+(?=[a-z]:)/i, ''));
}

/**
 * Throws if the file is missing and may not be created, or if another process may use another
 * write-ahead log beside it. The latest claims are in that log, and a mount of only the file, or a
 * second hard link, has a log of its own.
 */
function checkFile(path: string, create: boolean): void {
  const fs = getBuiltin('node:fs') as typeof NodeFs;
  const stats = wrapErrors(path, () => fs.statSync(path, { throwIfNoEntry: false }));
  if (stats === undefined) {
    if (create) return;
    throw new Error(
      `sqliteJournal: there is no file at ${path}, and create is false. An empty journal would pay again what the lost one holds.\nCheck the path and that its volume is mounted.`,
    );
  }
  const hasTwoNames = stats.isFile() && stats.nlink > 1;
  const isMounted = () => readMountPoints(fs).includes(fs.realpathSync(path));
  if (!hasTwoNames && !wrapErrors(path, isMounted)) return;
  const reason = hasTwoNames ? 'has more than one hard link' : 'is a mount point of its own';
  throw new Error(
    `sqliteJournal: the file ${path} ${reason}, so another process may keep the latest claims in another ${path}-wal, and would pay again.\nMount the folder that holds the file, and use one name for it.`,
  );
}

/**
 * Returns a function that throws if the path no longer names the files that were opened. Otherwise
 * this process would use the old files and another process the new ones, and both would pay.
 */
function createFileCheck(path: string): () => void {
  // A database in memory has no file that could be replaced.
  if (path === ':memory:') return () => {};
  const { realpathSync, statSync } = getBuiltin('node:fs') as typeof NodeFs;
  // The path of the file is resolved now, because the working directory may change later.
  const file = (getBuiltin('node:path') as Path).resolve(path);
  // SQLite puts the other two files beside the file that a symbolic link names.
  const real = realpathSync(file);
  /** Returns a file's device and inode, because they change if another file gets its path. */
  const identify = (each: string): string | undefined => {
    const stats = statSync(each, { bigint: true, throwIfNoEntry: false });
    return stats && `${stats.dev} ${stats.ino}`;
  };
  const opened = new Map([[file, identify(file)]]);
  return () => {
    for (const each of [file, `${real}-wal`, `${real}-shm`]) {
      const [known, found] = [opened.get(each), identify(each)];
      if (known === undefined) opened.set(each, found);
      else if (found !== known) throw createFileError(each);
    }
  };
}

const createFileError = (file: string): LastingJournalError =>
  new LastingJournalError(
    `sqliteJournal: the file ${file} was removed or replaced after this process opened it, so other processes do not see its claims.\nStop the processes that pay. If you moved the journal, put it back with its -wal. Start them again, with searchFirst: 'always' for as long as their latest payments may be repeated. Never read the file in a process that pays: docs/journals.md.`,
  );

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

const sqliteTable = `CREATE TABLE IF NOT EXISTS payments_journal (
  reference TEXT PRIMARY KEY,
  entry TEXT NOT NULL,
  is_open INTEGER NOT NULL DEFAULT 1,
  platform TEXT,
  transfer_id TEXT,
  paid_at REAL,
  terms TEXT,
  claimed_at REAL
)`;
/** The indexes of the table of {@link sqliteJournal}. */
export const sqliteIndexes = [
  'CREATE INDEX IF NOT EXISTS payments_journal_open ON payments_journal (reference) WHERE is_open = 1',
  'CREATE UNIQUE INDEX IF NOT EXISTS payments_journal_transfer ON payments_journal (platform, transfer_id) WHERE transfer_id IS NOT NULL',
  'CREATE INDEX IF NOT EXISTS payments_journal_terms ON payments_journal (terms, claimed_at) WHERE terms IS NOT NULL',
] as const;

/**
 * Sets up the connection and, with `create`, the table, and returns the statements of the journal.
 * Uses `prepare` for each SQL statement, because errors of `exec` have no code on Deno.
 */
function prepareStatements(database: Database, path: string, create: boolean) {
  // Turns off SQLite's own wait for a lock, because that wait would block the event loop.
  database.prepare('PRAGMA busy_timeout = 0').get();
  database.prepare('PRAGMA journal_mode = WAL').get();
  // Without synchronous = FULL, a power cut may remove the latest claims.
  database.prepare('PRAGMA synchronous = FULL').get();
  const columns = database.prepare("SELECT name FROM pragma_table_info('payments_journal')").all();
  if (columns.length === 0 && create) {
    database.prepare(sqliteTable).run();
    if (path !== ':memory:') sayNewFile(path);
  } else if (columns.length > 0 && !columns.some(isClaimedAt)) {
    throw needsMigration(`The SQLite file ${path}`);
  }
  for (const sql of sqliteIndexes) database.prepare(sql).run();
  const entries = Object.entries(statementTexts).map(
    ([name, sql]) => [name, database.prepare(sql)] as const,
  );
  return Object.fromEntries(entries) as Record<keyof typeof statementTexts, Statement>;
}

const statementTexts = {
  read: 'SELECT entry FROM payments_journal WHERE reference = ?',
  // The reserved row that describes the store has the empty reference, and so comes first.
  first: 'SELECT reference, entry FROM payments_journal ORDER BY reference LIMIT 1',
  describe:
    "INSERT INTO payments_journal (reference, entry, is_open) VALUES ('', ?, 0) ON CONFLICT DO NOTHING",
  // Both statements change nothing if another reference has the transfer.
  insert:
    'INSERT INTO payments_journal (entry, is_open, platform, transfer_id, paid_at, terms, claimed_at, reference) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  update:
    'UPDATE OR IGNORE payments_journal SET entry = ?, is_open = ?, platform = ?, transfer_id = ?, paid_at = ?, terms = ?, claimed_at = ? WHERE reference = ? AND entry = ?',
  remove: 'DELETE FROM payments_journal WHERE reference = ? AND entry = ?',
  find: 'SELECT reference FROM payments_journal WHERE platform = ? AND transfer_id = ?',
  similar: `SELECT reference, entry, claimed_at FROM payments_journal WHERE terms = ? AND claimed_at >= ? ORDER BY claimed_at DESC LIMIT ${maxSimilar}`,
  // Without INDEXED BY, SQLite would use the primary key and read every row.
  open: `SELECT reference, entry FROM payments_journal INDEXED BY payments_journal_open WHERE is_open = 1 AND reference > ? ORDER BY reference LIMIT ${pageSize}`,
  endOfPage: `SELECT max(reference) AS last FROM (SELECT reference FROM payments_journal WHERE reference > ? ORDER BY reference LIMIT ${pageSize})`,
  // Reads the entry only if its terms have to go.
  terms: `SELECT reference, entry FROM payments_journal WHERE reference > ? AND reference <= ? AND paid_at < ? AND instr(entry, '${termsMark}') > 0`,
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',
  // Keeps the transfer columns. After a migration they are empty if two entries name one transfer.
  strip:
    'UPDATE payments_journal SET entry = ?, terms = NULL, claimed_at = NULL WHERE reference = ? AND entry = ?',
  prune: 'DELETE FROM payments_journal WHERE reference > ? AND reference <= ? AND paid_at < ?',
};

const isClaimedAt = (column: unknown): boolean =>
  (column as { name: string }).name === 'claimed_at';

function sayNewFile(path: string): void {
  const { isAbsolute, resolve } = getBuiltin('node:path') as Path;
  const problem = ' From another folder this program uses another journal: pass an absolute path.';
  warnOfNewStore(`the SQLite file ${resolve(path)}`, isAbsolute(path) ? '' : problem);
}

/** The values of an entry and of its columns, in the order of the statements. */
const valuesOf = (entry: JournalEntry) => {
  const { isOpen, platform, transferId, paidAt, terms, claimedAt } = columnsOf(entry);
  const columns = [isOpen ? 1 : 0, platform, transferId, paidAt, terms, claimedAt] as const;
  return [serializeEntry(entry), ...columns] as const;
};

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
 * A journal in one SQLite file that all processes of one machine can share, or in `':memory:'` in
 * tests. Needs Node.js 22.13, Bun or Deno, and throws if the file cannot be opened.
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
    ...others
  }: {
    /** Whether to create the file and its table. With false, both must exist. Default: true. */
    create?: boolean | undefined;
    /**
     * When `createOnce` searches the platform's list before a first claim. Pass `always` after you
     * restored a backup, for as long as the lost payments may be repeated. Default: `first_day`.
     */
    searchFirst?: SearchFirst | undefined;
  } = {},
): FullJournal & { close(): void } {
  rejectOthers('sqliteJournal', others, 'create, searchFirst');
  const database = openDatabase(path, create);
  const checkFiles = wrapErrors(path, () => createFileCheck(path));
  let isClosed = false;
  const requireOpen = (): void => {
    if (isClosed) throw new LastingJournalError(`sqliteJournal: ${path} was closed by close().`);
  };
  const check = (): void => {
    requireOpen();
    checkFiles();
  };
  /** The prepared statements; undefined if another process has locked the file so far. */
  let statements: ReturnType<typeof prepareStatements> | undefined;
  const prepare = () => {
    requireOpen();
    if (statements !== undefined) return statements;
    statements = prepareStatements(database, path, create);
    // From here on, SQLite has all three files open.
    check();
    return statements;
  };
  try {
    prepare();
  } catch (error) {
    // If another process has the lock, the first call prepares the statements again, because only a
    // call can wait.
    if (!isBusy(error)) {
      database.close();
      throw error instanceof LastingJournalError ? error : cannotOpen(path, error);
    }
  }
  const hasChanged = ({ changes }: { changes: number | bigint }): boolean => Number(changes) === 1;
  const readStored = async (reference: string): Promise<string | undefined> => {
    const row = await retryWhileBusy(() => prepare().read.get(reference));
    return row ? (row as Row).entry : undefined;
  };
  const readFirst = () => readFirstRow(prepare().first.get() as StoredRow | undefined);
  /** Removes the terms of the entries of one page, in one transaction, and counts these entries. */
  const dropTermsOf = (start: string, end: string, paidBefore: number): number => {
    const { terms, begin, commit, rollback, strip } = prepare();
    let count = 0;
    begin.run();
    try {
      for (const row of terms.all(start, end, paidBefore) as Row[]) {
        const pruned = dropTerms(parseEntry(row.entry), paidBefore);
        if (pruned === undefined) continue;
        const { changes } = strip.run(serializeEntry(pruned), row.reference, row.entry);
        count += Number(changes);
      }
      commit.run();
    } catch (error) {
      try {
        rollback.run();
      } catch {
        // On a full disk SQLite has rolled back already, and the first error says why.
      }
      throw error;
    }
    return count;
  };
  /** Whether this journal has found or written the row that describes the store. */
  let isDescribed = false;
  return {
    ...(path === ':memory:' && { [memoryMark]: true }),
    searchFirst,
    check,
    find: async (platform, transferId) => {
      const row = await retryWhileBusy(() => prepare().find.get(platform, transferId));
      return row ? (row as Row).reference : undefined;
    },
    similar: async ({ platform, input }, since) => {
      const terms = termsOf(platform, input);
      const rows = await retryWhileBusy(() => prepare().similar.all(terms, since));
      return (rows as StoredRow[]).map(parseSimilar);
    },
    firstClaimAt: () => retryWhileBusy(readFirst),
    read: async (reference) => {
      const stored = await readStored(reference);
      return stored === undefined ? undefined : parseEntry(stored);
    },
    swap: async (reference, before, after) => {
      if (before === undefined && after === undefined) {
        return (await readStored(reference)) === undefined;
      }
      const change = (stored: string): Promise<boolean> =>
        retryWhileBusy(() => {
          const { describe, insert, update, remove } = prepare();
          if (after?.state === 'sending') check();
          if (!isDescribed && after !== undefined) {
            if (readFirst() === undefined) describe.run(describeStore(Date.now()));
            isDescribed = true;
          }
          if (after === undefined) return hasChanged(remove.run(reference, stored));
          const values = [...valuesOf(after), reference] as const;
          return hasChanged(
            before === undefined ? insert.run(...values) : update.run(...values, stored),
          );
        });
      return swapByValues(before, change, () => readStored(reference));
    },
    now: () => Promise.resolve(Date.now()),
    open: () =>
      listOpen(
        async (last) => (await retryWhileBusy(() => prepare().open.all(last))) as StoredRow[],
      ),
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
        count += await retryWhileBusy(() =>
          options.keepReferences === true
            ? dropTermsOf(start, end, paidBefore)
            : Number(prepare().prune.run(start, end, paidBefore).changes),
        );
        // Lets the event loop run between two steps of `prune`.
        await sleep(0);
      }
    },
    close: () => {
      isClosed = true;
      database.close();
    },
  };
}
