import { execFileSync } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  cpSync,
  createReadStream,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join, relative, resolve, win32 } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { PaymentInDoubtError, PaymentsClient } from 'payments-platform-sdk';
import {
  memoryJournal,
  postgresJournal,
  postgresJournalTable,
  redisJournal,
  sqliteJournal,
  type Journal,
  type JournalEntry,
  type PostgresQuery,
  type RedisCommand,
} from 'payments-platform-sdk/journals';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { failureOf } from '../support/clients.ts';
import {
  createClaim,
  createPaid,
  createPlatform,
  newInput,
  scenarios,
} from '../stores/scenarios.ts';
import type { SearchFirst } from '../../src/journals/journal.ts';
import type { PostgresRows } from '../../src/journals/postgres.ts';

// test/full/journals.test.ts runs the same scenarios on real servers of PostgreSQL and Redis.
const folder = mkdtempSync(join(tmpdir(), 'payments-journals-'));
const opened: { close(): void }[] = [];
afterAll(() => {
  for (const each of opened) each.close();
  rmSync(folder, { recursive: true, force: true });
});
const close = <T extends { close(): void }>(closable: T): T => {
  opened.push(closable);
  return closable;
};
const open = (name = 'journal.db') => close(sqliteJournal(join(folder, name)));

const memory = memoryJournal();
scenarios('memory', () => ({ open: () => memory }));
scenarios('SQLite', () => ({ open }));

test('sqliteJournal writes a claim to disk before swap() resolves', () => {
  const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare');
  open('settings.db');
  const [database] = prepare.mock.contexts as DatabaseSync[];
  const reported = (name: string) => Object.values(database?.prepare(`PRAGMA ${name}`).get() ?? {});
  expect(reported('synchronous')).toEqual([2]);
  expect(reported('journal_mode')).toEqual(['wal']);
});

test('sqliteJournal throws when the file cannot be opened', () => {
  expect(() => sqliteJournal(join(folder, 'none', 'journal.db'))).toThrow(/unable to open/);
  writeFileSync(join(folder, 'text.db'), 'this is not a database, and was never one before');
  expect(() => sqliteJournal(join(folder, 'text.db'))).toThrow(/not a database/);
});

// An environment variable may be empty or missing.
test.each(['', undefined])('sqliteJournal throws if its path is %o', (path) => {
  expect(() => sqliteJournal(path as string)).toThrow(
    /path is empty.*private temporary database that ends with this process.*\nPass an absolute path/,
  );
});

describe('sqliteJournal with create: false', () => {
  test('throws and creates nothing when the file does not exist', () => {
    const path = join(folder, 'unmounted.db');
    expect(() => sqliteJournal(path, { create: false })).toThrow(
      `there is no file at ${path}, and create is false`,
    );
    expect(existsSync(path)).toBe(false);
  });

  test('throws if the file contains no journal', () => {
    const path = join(folder, 'no-journal.db');
    writeFileSync(path, '');
    expect(() => sqliteJournal(path, { create: false })).toThrow(/no such table/);
  });

  test('opens a journal that exists', async () => {
    const paid = newInput();
    const claim = createClaim(paid);
    await open('existing.db').swap(paid.description, undefined, claim);
    const journal = close(sqliteJournal(join(folder, 'existing.db'), { create: false }));
    expect(await journal.read(paid.description)).toEqual(claim);
  });
});

describe('sqliteJournal with unreadable entries', () => {
  const createFile = async (name: string) => {
    const path = join(folder, name);
    const journal = close(sqliteJournal(path));
    const [claimed, paid] = [newInput(), newInput()];
    const claim = createClaim(claimed);
    await journal.swap(claimed.description, undefined, claim);
    await journal.swap(paid.description, undefined, createPaid(paid, 3));
    const database = close(new DatabaseSync(path));
    const insert = database.prepare(
      'INSERT INTO payments_journal (reference, entry) VALUES (?, ?)',
    );
    const unreadable = ['no JSON', '', 'null', '[]', '{"state":"paused"}'];
    for (const [at, entry] of unreadable.entries()) insert.run(`zz ${at}`, entry);
    // The columns of another program's row are not filled.
    const other = newInput();
    insert.run(other.description, JSON.stringify(createPaid(other, 3)));
    return { path, database, claimed, claim, count: unreadable.length };
  };

  test.each([true, false])('opens, lists and prunes with create: %o', async (create) => {
    const { path, claimed, claim, count } = await createFile(`unreadable-${create}.db`);
    const journal = close(sqliteJournal(path, { create }));
    const listed = [];
    for await (const row of journal.open()) listed.push(row);
    expect(listed).toHaveLength(count + 1);
    expect(listed[0]).toEqual({ reference: claimed.description, entry: claim });
    expect(await journal.prune({ paidBefore: new Date() })).toBe(1);
    const { clientOptions } = createPlatform();
    const payments = new PaymentsClient({ ...clientOptions, journal });
    const states = [];
    for await (const { state } of payments.transfers.listUndecided()) states.push(state);
    expect(states).toEqual(['sending', ...Array(count).fill('unreadable')]);
    for (let at = 0; at < count; at += 1) {
      const input = { ...newInput(), description: `zz ${at}` };
      const error = await failureOf(payments.transfers.createOnce(input), PaymentInDoubtError);
      expect(error).toMatchObject({ reason: 'journal', retryable: false });
    }
  });

  test('uses an index to list the open payments', async () => {
    const { path, database } = await createFile('index.db');
    const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare');
    close(sqliteJournal(path));
    const sql = prepare.mock.calls
      .map(([each]) => each)
      .find((each) => each.includes('is_open = 1 AND'));
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all('');
    expect(JSON.stringify(plan)).toContain('INDEX payments_journal_open (reference>?)');
  });
});

test('sqliteJournal stores in a column whether an entry is open', async () => {
  const journal = open('column.db');
  const input = newInput();
  const claim = createClaim(input);
  const database = close(new DatabaseSync(join(folder, 'column.db')));
  const readColumn = () =>
    database.prepare('SELECT max(is_open) AS is_open FROM payments_journal').get();
  await journal.swap(input.description, undefined, claim);
  expect(readColumn()).toMatchObject({ is_open: 1 });
  await journal.swap(input.description, claim, createPaid(input, 1));
  expect(readColumn()).toMatchObject({ is_open: 0 });
});

test('similar() of sqliteJournal uses an index', async () => {
  const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare');
  open('similar.db');
  const sql = prepare.mock.calls
    .map(([each]) => each)
    .find((each) => each.includes('terms = ? AND'));
  const database = close(new DatabaseSync(join(folder, 'similar.db')));
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all('', 0);
  expect(plan.map(({ detail }) => detail)).toEqual([
    'SEARCH payments_journal USING INDEX payments_journal_terms (terms=? AND claimed_at>?)',
  ]);
});

test('similar() of sqliteJournal lists a payment that another handle claimed', async () => {
  const input = newInput();
  const claim = createClaim(input);
  await open('handles.db').swap(input.description, undefined, claim);
  const { platform } = claim;
  expect(await open('handles.db').similar?.({ platform, input }, 0)).toEqual([
    { reference: input.description, entry: claim, claimedAt: 1 },
  ]);
});

describe('a SQLite journal file that several containers may open', () => {
  test('is rejected when it has a second hard link', () => {
    const path = join(folder, 'linked.db');
    sqliteJournal(path).close();
    linkSync(path, join(folder, 'second.db'));
    expect(() => sqliteJournal(path)).toThrow(
      /linked\.db has more than one hard link[^]*Mount the folder/,
    );
  });

  // Skipped without the right to mount.
  test('is rejected when it is a mount point of its own', (context) => {
    const directory = join(folder, 'a folder with spaces');
    mkdirSync(directory);
    const [path, mounted] = [join(folder, 'host.db'), join(directory, 'mounted.db')];
    sqliteJournal(path).close();
    writeFileSync(mounted, '');
    try {
      execFileSync('mount', ['--bind', path, mounted], { stdio: 'ignore' });
    } catch {
      context.skip();
    }
    try {
      expect(() => sqliteJournal(mounted)).toThrow(
        /mounted\.db is a mount point of its own[^]*Mount the folder/,
      );
    } finally {
      execFileSync('umount', [mounted]);
    }
  });
});

test.each([
  [
    'whose functions throw, as in the edge runtime of Next.js',
    () => {
      throw new Error('not supported');
    },
  ],
  ['without a function', undefined],
])('sqliteJournal names the runtimes it needs if `process` is %s', (_, getBuiltinModule) => {
  vi.stubGlobal('process', { env: {}, getBuiltinModule });
  expect(() => sqliteJournal('/payments.db')).toThrow('needs the SQLite of the runtime: Node.js');
});

test('a sqliteJournal that is closed rejects every claim and says why', async () => {
  const sandbox = createPlatform();
  const journal = sqliteJournal(':memory:');
  journal.close();
  const { transfers } = new PaymentsClient({ ...sandbox.clientOptions, journal });
  const error = await failureOf(transfers.createOnce(newInput()), PaymentInDoubtError);
  expect(error).toMatchObject({ reason: 'journal', retryable: false });
  expect(error.message).toContain('sqliteJournal: :memory: was closed by close()');
  expect(sandbox.transfers.list()).toEqual([]);
});

test('memoryJournal warns once if the platform may move money', async () => {
  const write = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  for (const name of ['NODE_ENV', 'VITEST']) vi.stubEnv(name, undefined);
  // Another test may have caused the warning, so this test imports a fresh copy of the SDK.
  vi.resetModules();
  const sdk = await import('payments-platform-sdk');
  const pay = (baseUrl: string) => {
    const { clientOptions } = createPlatform();
    const options = { ...clientOptions, baseUrl, journal: memoryJournal(), maxRetries: 0 };
    const fetch = () => Promise.reject(new Error('offline'));
    const { transfers } = new sdk.PaymentsClient({ ...options, fetch });
    return transfers.createOnce(newInput()).catch(() => undefined);
  };
  await pay('https://sandbox.invalid/v0');
  expect(write).not.toHaveBeenCalled();
  // A loopback address may be a tunnel to the real platform.
  await pay('http://127.0.0.1:4010/v0');
  await pay('https://api.example.com/v0');
  expect(write).toHaveBeenCalledOnce();
  expect(write.mock.calls[0]?.[0]).toContain('a journal in memory ends with this process');
});

test('open() of memoryJournal lists a payment once even if claimed again', async () => {
  const journal = memoryJournal();
  const inputs = [newInput(), newInput()];
  for (const each of inputs) await journal.swap(each.description, undefined, createClaim(each));
  const listed: string[] = [];
  for await (const { reference, entry } of journal.open()) {
    listed.push(reference);
    await journal.swap(reference, entry, undefined);
    await journal.swap(reference, undefined, entry);
  }
  expect(listed).toEqual(inputs.map(({ description }) => description));
});

test.each(['host', 'dismissed'])(
  'swap() of memoryJournal fails if one entry lacks the field %s',
  async (field) => {
    const journal = memoryJournal();
    const mine = newInput();
    const full = { ...createClaim(mine), dismissed: ['txfr_1'] };
    const fields = Object.entries(full).filter(([name]) => name !== field);
    const rest = Object.fromEntries(fields) as unknown as JournalEntry;
    for (const [stored, other] of [
      [full, rest],
      [rest, full],
    ] as const) {
      await journal.swap(mine.description, undefined, stored);
      expect(await journal.swap(mine.description, other, undefined)).toBe(false);
      expect(await journal.swap(mine.description, stored, undefined)).toBe(true);
    }
  },
);

describe('sqliteJournal while another process holds the lock', () => {
  const lock = (name: string) => {
    const holder = close(new DatabaseSync(join(folder, name)));
    holder.exec('BEGIN EXCLUSIVE');
    return holder;
  };
  const nextTurn = () => new Promise((resolve) => setTimeout(resolve, 0));
  const swap = (journal: Journal) => {
    const paid = newInput();
    return journal.swap(paid.description, undefined, createClaim(paid));
  };

  test('lets a swap wait without blocking the event loop', async () => {
    const journal = open('locked.db');
    const holder = lock('locked.db');
    const swapped = swap(journal);
    await nextTurn();
    holder.exec('COMMIT');
    expect(await swapped).toBe(true);
  });

  test('opens at once, and its first call waits', async () => {
    const holder = lock('locked-at-first.db');
    const swapped = swap(open('locked-at-first.db'));
    await nextTurn();
    holder.exec('COMMIT');
    expect(await swapped).toBe(true);
  });

  test('rejects a swap after five seconds', async () => {
    const journal = open('locked-long.db');
    const holder = lock('locked-long.db');
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const outcome = swap(journal).catch((error: unknown) => error);
    const isOver = vi.fn();
    void outcome.then(isOver);
    await vi.advanceTimersByTimeAsync(4_900);
    expect(isOver).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(200);
    vi.useRealTimers();
    expect(await outcome).toMatchObject({ errcode: 5 });
    holder.exec('COMMIT');
    expect(await swap(journal)).toBe(true);
  });

  // bun:sqlite names the code differently, and 261 occurs while another process recovers the file.
  test.each([{ errcode: 261 }, { errno: 5, code: 'SQLITE_BUSY' }])(
    'repeats a read if SQLite throws the error %o',
    async (fields) => {
      const journal = open();
      const { description } = newInput();
      vi.spyOn(StatementSync.prototype, 'get').mockImplementationOnce(() => {
        throw Object.assign(new Error('another wording'), fields);
      });
      expect(await journal.read(description)).toBeUndefined();
    },
  );
});

/** The same JSON as after a conversion to jsonb: with other spaces and another order of keys. */
const rewrite = (stored: string): string => {
  const reorder = (_: string, value: unknown): unknown =>
    typeof value !== 'object' || value === null || Array.isArray(value)
      ? value
      : Object.fromEntries(Object.entries(value).toReversed());
  return JSON.stringify(JSON.parse(stored, reorder), null, 1);
};

test('createOnce pays with a journal that reorders fields', async () => {
  const inner = memoryJournal();
  const journal: Journal = {
    now: inner.now,
    read: async (reference) => {
      const entry = await inner.read(reference);
      return entry && (JSON.parse(rewrite(JSON.stringify(entry))) as JournalEntry);
    },
    swap: async (reference, before, after) => {
      const stored = await inner.read(reference);
      return isDeepStrictEqual(stored, before) && inner.swap(reference, stored, after);
    },
  };
  const sandbox = createPlatform();
  const { transfers } = new PaymentsClient({ ...sandbox.clientOptions, journal });
  expect(await transfers.createOnce(newInput())).toMatchObject({ result: 'created' });
});

test('sqliteJournal accepts an entry rewritten with other spaces and key order', async () => {
  const path = join(folder, 'rewritten.db');
  const journal = close(sqliteJournal(path));
  const platform = createPlatform();
  const { transfers } = new PaymentsClient({ ...platform.clientOptions, journal });
  const migrate = (): void => {
    const database = new DatabaseSync(path);
    for (const { reference, entry } of database.prepare('SELECT * FROM payments_journal').all()) {
      database
        .prepare('UPDATE payments_journal SET entry = ? WHERE reference = ?')
        .run(rewrite(String(entry)), reference ?? null);
    }
    database.close();
  };
  const [first, second] = [newInput(), { ...newInput(), amount: '2.00' }];
  for (const each of [first, second]) {
    await journal.swap(each.description, undefined, createClaim(each));
  }
  migrate();
  await transfers.decide(second.description, 'not_paid');
  migrate();
  await transfers.createOnce(first);
  await transfers.createOnce(second);
  migrate();
  expect(await transfers.createOnce(first)).toMatchObject({ result: 'recorded' });
  expect(platform.transfers.list().map(({ description }) => description)).toEqual([
    first.description,
    second.description,
  ]);
});

describe('sqliteJournal', () => {
  const input = newInput();
  const setupFile = () => {
    const place = mkdtempSync(join(folder, 'place-'));
    const path = join(place, 'data', 'a.db');
    mkdirSync(join(place, 'data'));
    const platform = createPlatform();
    const clientOf = () =>
      new PaymentsClient({ ...platform.clientOptions, journal: close(sqliteJournal(path)) });
    const made = () =>
      platform.transfers.list().filter(({ description }) => description === input.description);
    return { place, path, clientOf, made };
  };
  type Files = ReturnType<typeof setupFile>;

  test.each<readonly [string, (files: Files) => void]>([
    ['was removed', ({ path }) => rmSync(path)],
    [
      'was replaced by a copy',
      ({ path }) => {
        cpSync(path, `${path}.copy`);
        renameSync(`${path}.copy`, path);
      },
    ],
    [
      'is in a folder that was renamed',
      ({ place, path }) => {
        renameSync(join(place, 'data'), join(place, 'before'));
        mkdirSync(join(place, 'data'));
        close(sqliteJournal(path));
      },
    ],
  ])('rejects every claim if its open file %s', async (_, change) => {
    const files = setupFile();
    const { clientOf, made } = files;
    const payments = clientOf();
    await payments.transfers.createOnce(newInput());
    change(files);
    const error = await failureOf(payments.transfers.createOnce(input), PaymentInDoubtError);
    expect(error).toMatchObject({ reason: 'journal', retryable: false });
    expect(error.message).toContain('was removed or replaced');
    expect(made()).toEqual([]);
    await clientOf().transfers.createOnce(input);
    expect(made()).toHaveLength(1);
  });

  /** Runs SQL in another process, as a backup or an operator does. */
  const runShell = (path: string, sql: string) =>
    execFileSync('sqlite3', [path, sql], { encoding: 'utf8' });
  const count = 'SELECT count(*) FROM payments_journal';

  // A process that closes any descriptor of a file loses all of its locks on that file. Then the
  // next shell believes that nobody uses the journal, and removes the -wal.
  test.each<readonly [string, (path: string) => unknown]>([
    ['copies the file, and a shell reads it', (path) => copyFileSync(path, `${path}.backup`)],
    ['reads the file, and a shell copies it', (path) => readFileSync(path)],
    ['opens and closes the file, and a shell reads it', (path) => closeSync(openSync(path, 'r'))],
    ['streams the file, and a shell reads it', (path) => createReadStream(path).toArray()],
  ])('rejects every claim after this process %s', async (title, read) => {
    const files = setupFile();
    const { path, clientOf, made } = files;
    const payments = clientOf();
    await payments.transfers.createOnce(newInput());
    await read(path);
    runShell(path, title.includes('copies it') ? `VACUUM INTO '${path}.copy'` : count);
    const error = await failureOf(payments.transfers.createOnce(input), PaymentInDoubtError);
    expect(error).toMatchObject({ reason: 'journal', retryable: false });
    expect(error.message).toContain('.db-wal was removed or replaced');
    expect(made()).toEqual([]);
  });

  test.each<readonly [string, (path: string) => void]>([
    ['the -wal was removed', (path) => rmSync(`${path}-wal`)],
    ['the -shm was removed', (path) => rmSync(`${path}-shm`)],
    ['the -wal was moved', (path) => renameSync(`${path}-wal`, `${path}-wal.bak`)],
    [
      'a backup was restored in its place',
      (path) => {
        runShell(path, `VACUUM INTO '${path}.copy'`);
        for (const end of ['-wal', '-shm']) rmSync(`${path}${end}`);
        cpSync(`${path}.copy`, path);
      },
    ],
  ])('rejects every claim, and its check() throws, if %s', async (_, change) => {
    const { path } = setupFile();
    const journal = close(sqliteJournal(path));
    const [first, second] = [newInput(), newInput()];
    expect(await journal.swap(first.description, undefined, createClaim(first))).toBe(true);
    expect(() => journal.check?.()).not.toThrow();
    change(path);
    const swapped = journal.swap(second.description, undefined, createClaim(second));
    await expect(swapped).rejects.toMatchObject({ retryable: false });
    expect(() => journal.check?.()).toThrow('was removed or replaced');
  });

  test('accepts claims after a checkpoint, VACUUM or backup', async () => {
    const { path } = setupFile();
    const journal = close(sqliteJournal(path));
    const claim = async () => {
      const mine = newInput();
      expect(await journal.swap(mine.description, undefined, createClaim(mine))).toBe(true);
      journal.check?.();
    };
    await claim();
    for (const sql of [
      'PRAGMA wal_checkpoint(TRUNCATE)',
      'VACUUM',
      `VACUUM INTO '${path}.copy'`,
      count,
    ]) {
      runShell(path, sql);
      await claim();
    }
    sqliteJournal(path).close();
    await claim();
    close(sqliteJournal(path));
    await claim();
  });

  test('pays 100 references once if the file was backed up meanwhile', async () => {
    const { path } = setupFile();
    const platform = createPlatform();
    const inputs = Array.from({ length: 100 }, () => ({ ...newInput(), amount: '0.01' }));
    const payWith = async (from: number, to: number) => {
      const journal = sqliteJournal(path);
      const { transfers } = new PaymentsClient({ ...platform.clientOptions, journal });
      await transfers.createAllOnce(inputs.slice(from, to));
      return { journal, transfers };
    };
    const old = await payWith(0, 50);
    await createReadStream(path).toArray();
    runShell(path, `VACUUM INTO '${path}.copy'`);
    const results = [];
    for await (const { result } of old.transfers.createAllOnce(inputs.slice(50))) {
      results.push(result);
    }
    expect(new Set(results)).toEqual(new Set(['in_doubt']));
    old.journal.close();
    (await payWith(0, 100)).journal.close();
    expect(platform.transfers.list()).toHaveLength(100);
  });

  test.each([
    ['file:/data/p.db', '/data/p.db'],
    ['file:///data/p.db?mode=ro', '/data/p.db'],
    ['file:./dev.db', resolve('dev.db')],
    ['file::memory:', ':memory:'],
    ['FILE:x?mode=memory', ':memory:'],
  ])('throws for %s, and names the path', (url, path) => {
    expect(() => sqliteJournal(url)).toThrow(`${url} is a URL`);
    expect(() => sqliteJournal(url)).toThrow(`here probably ${path}.`);
  });

  /** Replaces modules of Node for the journal. */
  const stubModules = (modules: Readonly<Record<string, object>>): void => {
    const { getBuiltinModule } = process;
    const find = (id: string): unknown => modules[id] ?? getBuiltinModule(id);
    vi.spyOn(process, 'getBuiltinModule').mockImplementation(find as typeof getBuiltinModule);
  };

  test.each([
    ['file:///C:/data/payments.db', String.raw`C:\data\payments.db`],
    ['file:c:/data/payments.db', String.raw`c:\data\payments.db`],
    ['file://nas/share/payments.db', String.raw`\\nas\share\payments.db`],
  ])('the error for %s names the Windows path', (url, path) => {
    stubModules({ 'node:path': win32 });
    expect(() => sqliteJournal(url)).toThrow(`here probably ${path}.`);
  });

  test.each([
    ['C:/x/payments.db', String.raw`C:\x\payments.db`, true],
    [String.raw`C:\data\payments.db`, String.raw`C:\data\payments.db`, true],
    [String.raw`\\nas\share\payments.db`, String.raw`\\nas\share\payments.db`, true],
    ['C:payments.db', 'payments.db', false],
  ])('the warning for the new file %s shows the Windows path %s', (path, shown, isAbsolute) => {
    const print = vi.spyOn(console, 'warn').mockReturnValue();
    for (const name of ['VITEST', 'NODE_ENV', 'VITEST_MODE']) vi.stubEnv(name, undefined);
    onTestFinished(() => void vi.unstubAllEnvs());
    const fs = { statSync: () => undefined, realpathSync: (file: string) => file };
    const inMemory = class extends DatabaseSync {
      constructor() {
        super(':memory:');
      }
    };
    const modules = {
      'node:path': win32,
      'node:fs': fs,
      'node:sqlite': { DatabaseSync: inMemory },
    };
    stubModules(modules);
    sqliteJournal(path).close();
    const [line] = print.mock.calls.map(String);
    expect(line).toContain(`${shown} is a new journal`);
    expect(line?.includes('pass an absolute path')).toBe(!isAbsolute);
  });

  test.each([
    ['statSync', 'FileSystemRead'],
    ['realpathSync', 'FileSystemRead'],
  ])('names the path if %s lacks the permission %s', (name, permission) => {
    const { path } = setupFile();
    writeFileSync(path, '');
    const text = 'Access to this API has been restricted. Use --allow-fs-read';
    const denied = (): never => {
      throw Object.assign(new Error(text), { code: 'ERR_ACCESS_DENIED', permission });
    };
    stubModules({ 'node:fs': { ...process.getBuiltinModule('node:fs'), [name]: denied } });
    expect(() => sqliteJournal(path)).toThrow(`sqliteJournal: ${path} cannot be used: ${text}.`);
    expect(() => sqliteJournal(path, { create: false })).toThrow(`${path} cannot be used: ${text}`);
    if (name === 'statSync') sqliteJournal(':memory:').close();
  });

  test.each([true, false])(
    'asks for a migration of a version 0.4 file with create: %o',
    (create) => {
      const { path } = setupFile();
      const database = close(new DatabaseSync(path));
      database.exec(
        'CREATE TABLE payments_journal (reference TEXT PRIMARY KEY, entry TEXT NOT NULL)',
      );
      expect(() => sqliteJournal(path, { create })).toThrow(
        expect.objectContaining({
          retryable: false,
          message: expect.stringContaining('run once: payments-journal migrate'),
        }),
      );
    },
  );

  test('keeps the time of its first claim even if that is withdrawn', async () => {
    const { path } = setupFile();
    const journal = close(sqliteJournal(path));
    expect(await journal.firstClaimAt()).toBeUndefined();
    const claim = createClaim(input);
    await journal.swap('r-1', undefined, claim);
    const time = await journal.firstClaimAt();
    await journal.swap('r-1', claim, undefined);
    expect(await close(sqliteJournal(path)).firstClaimAt()).toBe(time);
    expect(Math.abs(Number(time) - Date.now())).toBeLessThan(60_000);
    runShell(path, 'DELETE FROM payments_journal');
    expect(await journal.firstClaimAt()).toBeUndefined();
    await journal.swap('r-1', undefined, claim);
    expect(await journal.firstClaimAt()).toBe(0);
  });

  test('warns once that it creates a file, and suggests absolute paths', () => {
    const print = vi.spyOn(console, 'warn').mockReturnValue();
    for (const name of ['VITEST', 'NODE_ENV', 'VITEST_MODE']) vi.stubEnv(name, undefined);
    onTestFinished(() => void vi.unstubAllEnvs());
    const name = `relative-${process.pid}.db`;
    const absolute = join(folder, 'absolute.db');
    for (const path of [name, name, absolute, absolute, ':memory:']) sqliteJournal(path).close();
    for (const end of ['', '-wal', '-shm']) rmSync(`${name}${end}`, { force: true });
    expect(print.mock.calls).toEqual([
      [expect.stringMatching(`SQLite file ${resolve(name)} is a new .*pass an absolute path`)],
      [expect.stringMatching(`SQLite file ${absolute} is a new journal .* put that back: .*s\\.$`)],
    ]);
  });

  test('opened by a relative path survives a change of working directory', async () => {
    const { place } = setupFile();
    const journal = close(sqliteJournal(relative(process.cwd(), join(place, 'relative.db'))));
    vi.spyOn(process, 'cwd').mockReturnValue(tmpdir());
    expect(await journal.swap('r-1', undefined, createClaim(input))).toBe(true);
    vi.restoreAllMocks();
  });
});

test('sqliteJournal names the required Node.js if SQLite is missing', () => {
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never);
  expect(() => sqliteJournal(join(folder, 'other.db'))).toThrow(/Node\.js from 22\.13/);
});

test('docs/journals.md contains the SQL statements of the constant postgresJournalTable', () => {
  const guide = readFileSync(new URL('../../docs/journals.md', import.meta.url), 'utf8');
  expect(guide).toContain(`\`\`\`sql\n${postgresJournalTable}\n\`\`\``);
});

// With the collation of the database, an index loses entries when the operating system is upgraded.
test('the reference column of postgresJournalTable has the collation C', () => {
  expect(postgresJournalTable).toContain('reference text COLLATE "C" PRIMARY KEY');
});

test('searchFirst defaults to always (redisJournal), never (memoryJournal), else first_day', () => {
  expect(redisJournal(async () => null).searchFirst).toBe('always');
  expect(postgresJournal(async () => []).searchFirst).toBe('first_day');
  expect([memory.searchFirst, open().searchFirst]).toEqual(['never', 'first_day']);
});

test.each(['always', 'first_day', 'never'] as const)(
  'each store accepts the option searchFirst: %s',
  (searchFirst) => {
    expect(redisJournal(async () => null, { searchFirst }).searchFirst).toBe(searchFirst);
    expect(postgresJournal(async () => [], { searchFirst }).searchFirst).toBe(searchFirst);
    const sqlite = sqliteJournal(join(folder, 'first.db'), { searchFirst });
    expect(sqlite.searchFirst).toBe(searchFirst);
    sqlite.close();
  },
);

// Redis would report a wrong keepPaidFor only after a payment was made.
test.each([0, -1, 1.5, Number.NaN, 2 ** 60])('redisJournal rejects the keepPaidFor %o', (ms) => {
  expect(() => redisJournal(async () => null, { keepPaidFor: ms })).toThrow(
    /^redisJournal: keepPaidFor is .*; expected whole milliseconds above 0/,
  );
});

test('redisJournal and postgresJournal throw for a client instead of a function', () => {
  // @ts-expect-error: not a function
  expect(() => redisJournal(new Map())).toThrow(
    'redisJournal: command is no function; expected one that sends one command, such as (name, ...args) => redis.call(name, ...args) of ioredis, (...args) => client.sendCommand(args) of node-redis.',
  );
  // @ts-expect-error: not a function
  expect(() => postgresJournal({})).toThrow(
    'postgresJournal: query is no function; expected one that runs one statement, such as (text, values) => pool.query(text, values).',
  );
});

test('redisJournal with keepPaidFor expires a paid entry, never a claim', async () => {
  const command = vi.fn<RedisCommand>(async () => 1);
  const journal = redisJournal(command, { keepPaidFor: 86_400_000 });
  const input = newInput();
  await journal.swap(input.description, undefined, createClaim(input));
  await journal.swap(input.description, undefined, createPaid(input, 3));
  const times = command.mock.calls.map((call) => call.includes('86400000'));
  expect(times).toEqual([false, true]);
});

test('redisJournal marks its index complete only after reading all entries', async () => {
  const calls: string[] = [];
  const journal = redisJournal(async (name, ...args) => {
    calls.push([name, ...args].join(' '));
    if (name === 'ZSCORE') return null;
    if (name === 'INFO') return 'cluster_enabled:0';
    throw new Error('the connection was closed');
  });
  await expect(journal.open()[Symbol.asyncIterator]().next()).rejects.toThrow('closed');
  expect(calls.filter((call) => call.startsWith('ZADD'))).toEqual([]);
});

test("redisJournal asks the payment's own Redis node for the time", async () => {
  const command = vi.fn<RedisCommand>(async () => ['1700000000', '123456']);
  expect(await redisJournal(command).now('inv-1')).toBe(1_700_000_000_123);
  const time = "return redis.call('TIME')";
  expect(command.mock.calls).toEqual([['EVAL', time, '1', 'payments:journal:inv-1']]);
});

/** A PostgreSQL server in memory, which knows only the statements of the journal. */
function createServer() {
  const entries = new Map<string, string>();
  let time = 1_764_000_000_000;
  let description: string | undefined;
  const server = {
    entries,
    statements: [] as string[],
    /** When the caller started a transaction that all statements run in. */
    startedAt: undefined as number | undefined,
    start: () => (server.startedAt = time += 1),
    query: async (text: string, values: string[]) => {
      server.statements.push(text);
      time += 1;
      const [reference = '', first = ''] = values;
      const entry = entries.get(reference);
      const row = { reference, started: server.startedAt ?? time, age: server.startedAt ? 0 : 1 };
      if (text.includes('AS now')) return [{ now: time }];
      if (text.endsWith('ORDER BY reference LIMIT 1')) {
        return description === undefined ? [] : [{ reference: '', entry: description }];
      }
      if (text.startsWith('SELECT')) return entry === undefined ? [] : [{ reference, entry }];
      if (text.startsWith('INSERT')) {
        if (entry !== undefined) return [];
        if (reference === '') description = first;
        else entries.set(reference, first);
        return [row];
      }
      const isProof = text.includes('age(xmin) > 0');
      if (entry !== values.at(-1) || (isProof && row.age <= 0)) return [];
      if (text.startsWith('DELETE')) entries.delete(reference);
      else entries.set(reference, first);
      return [row];
    },
  };
  return server;
}

test.each([
  ['an array of rows', (query: PostgresQuery) => query],
  [
    'an object with the property rows',
    (query: PostgresQuery): PostgresQuery =>
      async (text, values) => ({ rows: (await query(text, values)) as PostgresRows }),
  ],
])('postgresJournal accepts a query function that returns %s', async (_, reshape) => {
  const journal = postgresJournal(reshape(createServer().query));
  expect(await journal.swap('a', undefined, createClaim(newInput()))).toBe(true);
});

const createPayments = (query: PostgresQuery, searchFirst?: SearchFirst) => {
  const sandbox = createPlatform();
  const journal = postgresJournal(query, { searchFirst });
  const { transfers } = new PaymentsClient({ ...sandbox.clientOptions, journal });
  return { transfers, journal, made: () => sandbox.transfers.list().length };
};

describe('postgresJournal inside a transaction of the caller', () => {
  test.each(['first', 'later'])('rejects the %s claim, so nothing is sent', async (which) => {
    const server = createServer();
    const { transfers, made } = createPayments(server.query);
    if (which === 'later') await transfers.createOnce(newInput());
    const [already, entries] = [made(), server.entries.size];
    server.start();
    const error = await failureOf(transfers.createOnce(newInput()), PaymentInDoubtError);
    expect(error).toMatchObject({ reason: 'journal', retryable: false, outcome: 'unknown' });
    expect(error.message).toMatch(/inside a transaction of the caller[^]*a pool of its own/);
    expect([made(), server.entries.size]).toEqual([already, entries]);
  });

  test("restores another process's expired claim", async () => {
    const server = createServer();
    const { transfers, journal, made } = createPayments(server.query);
    const input = newInput();
    const claim = createClaim(input);
    server.entries.set(input.description, JSON.stringify(claim));
    server.start();
    await expect(transfers.createOnce(input)).rejects.toMatchObject({ retryable: false });
    expect(await journal.read(input.description)).toEqual(claim);
    expect(made()).toBe(0);
  });

  test('warns once if it notices the transaction only after a payment', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const server = createServer();
    const { transfers, made } = createPayments((text, values) => {
      // Another user of the connection starts a transaction after the last look at the clock.
      if (text.startsWith('INSERT') && made() > 0) server.start();
      return server.query(text, values);
    });
    await transfers.createOnce(newInput());
    expect(warn).not.toHaveBeenCalled();
    for (let turn = 0; turn < 2; turn += 1) {
      await transfers.createOnce(newInput());
      server.startedAt = undefined;
    }
    expect(made()).toBe(3);
    expect(warn.mock.calls).toEqual([
      [expect.stringContaining("the journal's swap failed: postgresJournal")],
      [expect.stringContaining('sdk: postgresJournal: query runs inside a transaction')],
    ]);
  });
});

test('postgresJournal runs extra statements only for its first claim', async () => {
  const server = createServer();
  const { transfers } = createPayments(server.query, 'never');
  const counts = [];
  for (let turn = 0; turn < 3; turn += 1) {
    server.statements.length = 0;
    await transfers.createOnce(newInput());
    counts.push(server.statements.length);
  }
  // They look for a transaction of the caller and for the time of the first claim, write that time,
  // and read the claim again.
  expect(counts).toEqual([9, 4, 4]);
});

test("firstClaimAt() of postgresJournal is its first row's time, or 0", async () => {
  const { query } = createServer();
  const journal = postgresJournal(query);
  expect(await journal.firstClaimAt()).toBeUndefined();
  const mine = newInput();
  await journal.swap(mine.description, undefined, createClaim(mine));
  expect(await journal.firstClaimAt()).toBeGreaterThan(1_764_000_000_000);
  const older = postgresJournal(async () => [{ reference: 'a', entry: '{}' }]);
  expect(await older.firstClaimAt()).toBe(0);
});

type Rows = Awaited<ReturnType<ReturnType<typeof createServer>['query']>>;

describe('a query function of postgresJournal that returns a wrong shape', () => {
  test.each<[string, (rows: Rows, text: string) => unknown, string]>([
    [
      'the result of TypeORM',
      (rows, text) => (/^(UPDATE|DELETE)/.test(text) ? [rows, rows.length] : rows),
      '[[{ reference, started, age }], number]',
    ],
    ['the result of Sequelize', (rows) => [rows, { rowCount: rows.length }], '[[], { rowCount }]'],
    ['the number of rows', (rows) => rows.length, 'number'],
    ['the first row', ([row]) => row, 'undefined'],
    ['nothing', () => undefined, 'undefined'],
    ['null', () => null, 'null'],
    ['text', () => 'OK', 'string'],
    ['rows that are null', () => ({ rows: null }), '{ rows: null }'],
    ['rows of values', (rows) => ({ rows: rows.map(Object.values) }), '{ rows: [[number]] }'],
  ])('makes createOnce reject before it sends a payment: %s', async (_, reshape, shape) => {
    const server = createServer();
    const { transfers, made } = createPayments(
      async (text, values) => reshape(await server.query(text, values), text) as PostgresRows,
    );
    const error = await failureOf(transfers.createOnce(newInput()), PaymentInDoubtError);
    expect(error).toMatchObject({ reason: 'journal', retryable: false });
    expect(error.message).toContain(`query returned ${shape}; expected an array of rows`);
    expect([made(), server.entries.size]).toEqual([0, 0]);
  });

  test('claims nothing if another process has claimed the payment meanwhile', async () => {
    const server = createServer();
    const input = newInput();
    const other = JSON.stringify(createClaim(input));
    const journal = postgresJournal(async (text, values) => {
      if (!text.startsWith('INSERT') || values[0] === '') return server.query(text, values);
      server.entries.set(input.description, other);
      return undefined as never;
    });
    expect(await journal.swap(input.description, undefined, createClaim(input))).toBe(false);
    expect(server.entries.get(input.description)).toBe(other);
  });
});

describe('the option table of postgresJournal', () => {
  test.each(['journal_b', 'payments.payments_journal', '"Tenant-1".journal', 'A."b c"'])(
    'names the table in every SQL statement: %s',
    async (table) => {
      const server = createServer();
      const journal = postgresJournal(server.query, { table });
      const input = newInput();
      const [claim, paid] = [createClaim(input), createPaid(input, 3)];
      await journal.swap(input.description, undefined, claim);
      await journal.swap(input.description, claim, paid);
      await journal.swap(input.description, paid, undefined);
      await journal.swap(input.description, undefined, undefined);
      await journal.read(input.description);
      for await (const _ of journal.open()) break;
      await journal.prune({ paidBefore: new Date(4) });
      const pages = [[{ reference: 'a', entry: JSON.stringify(paid) }], []];
      const query: PostgresQuery = async (text, values) =>
        text.includes('CASE WHEN')
          ? (server.statements.push(text), pages.shift() ?? [])
          : server.query(text, values);
      const options = { paidBefore: new Date(4), keepReferences: true };
      await postgresJournal(query, { table }).prune(options);
      expect(server.statements.join()).toContain('json_to_recordset');
      const names = server.statements.flatMap((sql) =>
        [
          ...sql.matchAll(
            /(?:FROM|INTO|UPDATE) ((?!clock|now|page|pruned|json_)\S.*?) (?:\(|SET|WHERE|AS)/g,
          ),
        ].map(([, name]) => name),
      );
      expect(names.length).toBeGreaterThanOrEqual(server.statements.length);
      expect(new Set(names)).toEqual(new Set([table]));
    },
  );

  test.each(['', 'a b', 'a; DROP TABLE b', 'a.b.c', '"a', '"a"b"', 'a.', '1a', '"a\0b"', 'a\n'])(
    'makes postgresJournal throw at once if the table is %j',
    (table) => {
      expect(() => postgresJournal(async () => [], { table })).toThrow(
        `postgresJournal: table is ${JSON.stringify(table)}; expected the name of a table as SQL has it`,
      );
    },
  );
});

test('sqliteJournal lists an entry of an unknown state as open', async () => {
  const journal = sqliteJournal(':memory:');
  onTestFinished(() => journal.close());
  await journal.swap('r-1', undefined, { state: 'paused' } as never);
  const listed: string[] = [];
  for await (const { reference } of journal.open()) listed.push(reference);
  expect(listed).toEqual(['r-1']);
});

test.each([
  [{ keepReferences: 'true' }, 'prune: keepReferences is no boolean'],
  [{ keepReference: true }, 'prune: keepReference is unknown'],
  [{ paidBefore: new Date('12/45/2026') }, 'prune: paidBefore is not a valid date'],
])('prune() removes nothing if its options are %j', async (wrong, message) => {
  const sqlite = sqliteJournal(':memory:');
  onTestFinished(() => sqlite.close());
  for (const journal of [memoryJournal(), sqlite]) {
    const input = newInput();
    await journal.swap(input.description, undefined, createPaid(input, 3));
    const options = { paidBefore: new Date(4), ...wrong } as never;
    await expect((async () => journal.prune(options))()).rejects.toThrow(message);
    expect(await journal.read(input.description)).toMatchObject({ state: 'paid', input });
  }
});

describe('a journal that throws an error with retryable: false', () => {
  const failure = Object.assign(new Error('The file db://ada:hunter2@host was replaced.'), {
    retryable: false,
  });

  test('ends a batch without a retry, and the error shows its message', async () => {
    const { clientOptions } = createPlatform();
    const journal: Journal = { ...memoryJournal(), swap: () => Promise.reject(failure) };
    const { transfers } = new PaymentsClient({ ...clientOptions, journal });
    for await (const { error } of transfers.createAllOnce([newInput()])) {
      expect(error).toMatchObject({ reason: 'journal', retryable: false });
      expect(error?.message).toContain('The file db://[redacted]@host was replaced.\nReference');
    }
  });

  test('causes a warning if it cannot record a payment', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const { clientOptions } = createPlatform();
    const memory = memoryJournal();
    const swap: Journal['swap'] = (reference, before, after) =>
      after?.state === 'paid' ? Promise.reject(failure) : memory.swap(reference, before, after);
    const { transfers } = new PaymentsClient({ ...clientOptions, journal: { ...memory, swap } });
    expect(await transfers.createOnce(newInput())).toMatchObject({ id: 'txfr_000001' });
    expect(warn.mock.calls).toEqual([
      [
        "payments-platform-sdk: the journal's swap failed: The file db://[redacted]@host was replaced.",
      ],
      ['payments-platform-sdk: The file db://[redacted]@host was replaced.'],
    ]);
  });
});

test.each([null, 'OK', 4, undefined])(
  'swap() of redisJournal rejects the Redis reply %o',
  async (reply) => {
    const journal = redisJournal(async () => reply);
    await expect(journal.swap('a', undefined, undefined)).rejects.toThrow(
      'a reply other than 0 or 1',
    );
  },
);

// createOnce pays if the journal has no entry, so an unreadable reply must not count as no entry.
test.each([
  ['undefined', undefined],
  ['object', { state: 'paid' }],
  ['number', 7],
])('read() of redisJournal is not retryable if GET returns %s', async (name, reply) => {
  const journal = redisJournal(async () => reply);
  await expect(journal.read('a')).rejects.toMatchObject({
    retryable: false,
    message: expect.stringMatching(`^redisJournal: command returned ${name} for GET; expected `),
  });
});

describe('if a concurrent statement makes PostgreSQL roll back', () => {
  const wrappers: readonly ((error: Error) => Error)[] = [
    (error) => error,
    (cause) => new Error('Failed query', { cause }),
    (original) => Object.assign(new Error('Sequelize'), { original }),
    (error) => Object.assign(new Error('P2010'), { code: 'P2010', meta: error }),
  ];
  const failing = (times: number, wrap: (error: Error) => Error, code: string) => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    let calls = 0;
    const journal = postgresJournal(() => {
      calls += 1;
      if (calls > times) return Promise.resolve([]);
      throw wrap(Object.assign(new Error('rolled back'), { code }));
    });
    return { journal, count: () => calls };
  };

  test.each(['40001', '40P01'])('postgresJournal repeats the statement: %s', async (code) => {
    for (const wrap of wrappers) {
      const { journal, count } = failing(2, wrap, code);
      expect(await journal.read('r-1')).toBeUndefined();
      expect(count()).toBe(3);
    }
  });

  test('postgresJournal rejects in the end, and repeats no other error', async () => {
    const lasting = failing(100, (error) => error, '40001');
    await expect(lasting.journal.read('r-1')).rejects.toThrow('rolled back');
    expect(lasting.count()).toBe(9);
    const other = failing(1, (error) => error, '40002');
    await expect(other.journal.read('r-1')).rejects.toThrow('rolled back');
    expect(other.count()).toBe(1);
  });
});
