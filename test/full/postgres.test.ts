import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool, type PoolClient } from 'pg';
import { PaymentInDoubtError, PaymentsClient } from 'payments-platform-sdk';
import {
  postgresJournal,
  postgresJournalTable,
  type FullJournal,
  type PostgresQuery,
} from 'payments-platform-sdk/journals';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { failureOf } from '../support/clients.ts';
import { createClaim, createPaid, createPlatform, newInput } from '../stores/scenarios.ts';
import { missing, startPostgres } from '../stores/servers.ts';

// How a journal in PostgreSQL meets applications: their transactions, schemas and locales.

const startTimeoutMs = 60_000;

const poolOf = (port: number, database = 'postgres', max = 10): Pool => {
  const pool = new Pool({ host: '127.0.0.1', port, user: 'postgres', database, max });
  // An idle connection reports that its server has ended.
  pool.on('error', () => {});
  return pool;
};

const queryOf =
  (target: Pool | PoolClient): PostgresQuery =>
  (text, values) =>
    target.query(text, values);

test('the programs for the tests of postgresJournal are installed', () => {
  expect(missing, `apt-get install ${missing.join(' ')}`).toEqual([]);
});

describe.skipIf(missing.length > 0)('postgresJournal with a real server', () => {
  let server: Awaited<ReturnType<typeof startPostgres>>;
  let pool: Pool;
  beforeAll(async () => {
    server = await startPostgres();
    pool = poolOf(server.port);
    await pool.query(postgresJournalTable);
  }, startTimeoutMs);
  afterAll(async () => {
    await pool.end();
    await server.close();
  });

  const createPayments = (journal: FullJournal) => {
    const sandbox = createPlatform();
    const { transfers } = new PaymentsClient({ ...sandbox.clientOptions, journal });
    const count = (reference: string) =>
      sandbox.transfers.list().filter(({ description }) => description === reference).length;
    return { transfers, count };
  };

  test('the column reference of postgresJournalTable has the collation C', async () => {
    const { rows } = await pool.query(
      `SELECT collname FROM pg_attribute JOIN pg_collation ON pg_collation.oid = attcollation
       WHERE attrelid = 'payments_journal'::regclass AND attname = 'reference'`,
    );
    expect(rows).toEqual([{ collname: 'C' }]);
  });

  /** A connection that ends with the test, as does its transaction. */
  const connect = async () => {
    const client = await pool.connect();
    onTestFinished(() => {
      client.release(true);
    });
    return client;
  };

  describe('createOnce with postgresJournal in the caller’s transaction', () => {
    /** Runs statements and a call on one connection three times, as a queue repeats a job. */
    const deliver = async (
      start: readonly string[],
      end: 'COMMIT' | 'ROLLBACK',
      isUsedOutside: boolean,
    ) => {
      let query = queryOf(pool);
      const { transfers, count } = createPayments(
        postgresJournal((text, values) => query(text, values)),
      );
      if (isUsedOutside) await transfers.createOnce(newInput());
      const input = newInput();
      const errors: PaymentInDoubtError[] = [];
      const client = await connect();
      for (let turn = 0; turn < 3; turn += 1) {
        for (const sql of start) await client.query(sql);
        query = queryOf(client);
        errors.push(await failureOf(transfers.createOnce(input), PaymentInDoubtError));
        await client.query(end);
      }
      query = queryOf(pool);
      const { rowCount } = await pool.query('SELECT 1 FROM payments_journal WHERE reference = $1', [
        input.description,
      ]);
      return { transfers, input, count, errors, left: rowCount };
    };

    test.each(
      [
        ['BEGIN'],
        ['BEGIN', 'SAVEPOINT one', 'SAVEPOINT two'],
        ['BEGIN', 'SELECT pg_current_xact_id()', 'SAVEPOINT one'],
        ['BEGIN ISOLATION LEVEL SERIALIZABLE'],
      ].flatMap((start) =>
        [true, false].flatMap((isUsedOutside) =>
          (['COMMIT', 'ROLLBACK'] as const).map((end) => ({ start, end, isUsedOutside })),
        ),
      ),
    )(
      'rejects and pays nothing ($start, then $end; journal used before: $isUsedOutside)',
      async ({ start, end, isUsedOutside }) => {
        const { transfers, input, count, errors, left } = await deliver(start, end, isUsedOutside);
        for (const error of errors) {
          expect(error).toMatchObject({ reason: 'journal', retryable: false, outcome: 'unknown' });
          expect(error.message).toMatch(/inside a transaction of the caller[^]*pool of its own/);
        }
        expect([count(input.description), left]).toEqual([0, 0]);
        await transfers.createOnce(input);
        await transfers.createOnce(input);
        expect(count(input.description)).toBe(1);
      },
    );

    test('pays nothing if the transaction is read-only', async () => {
      const start = ['BEGIN', 'SET TRANSACTION READ ONLY'];
      const { input, count, errors, left } = await deliver(start, 'ROLLBACK', false);
      expect(errors.map(({ reason }) => reason)).toEqual(['journal', 'journal', 'journal']);
      expect([count(input.description), left]).toEqual([0, 0]);
    });

    test('pays nothing and keeps another caller’s expired claim', async () => {
      const input = newInput();
      const claim = createClaim(input);
      await postgresJournal(queryOf(pool)).swap(input.description, undefined, claim);
      const client = await connect();
      await client.query('BEGIN');
      const journal = postgresJournal(queryOf(client));
      const { transfers, count } = createPayments(journal);
      await expect(transfers.createOnce(input)).rejects.toMatchObject({ retryable: false });
      await client.query('COMMIT');
      expect(await journal.read(input.description)).toEqual(claim);
      expect(count(input.description)).toBe(0);
    });
  });

  // Another user of the shared connection begins a transaction just before the claim is inserted.
  test('postgresJournal warns once if its connection is used for another transaction', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const client = await connect();
    let isShared = false;
    const { transfers } = createPayments(
      postgresJournal(async (text, values) => {
        if (isShared && text.startsWith('INSERT')) await client.query('BEGIN');
        return client.query(text, values);
      }),
    );
    await transfers.createOnce(newInput());
    expect(warn).not.toHaveBeenCalled();
    isShared = true;
    for (let turn = 0; turn < 2; turn += 1) {
      await transfers.createOnce(newInput());
      await client.query('COMMIT');
    }
    expect(warn.mock.calls).toEqual([[expect.stringContaining('inside a transaction')]]);
  });

  test('postgresJournal does not warn during 1,000 payments outside of transactions', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    let statements = 0;
    const query: PostgresQuery = (text, values) => {
      statements += 1;
      return pool.query(text, values);
    };
    const journal = postgresJournal(query, { searchFirst: 'never' });
    const { transfers, count } = createPayments(journal);
    await transfers.createOnce({ ...newInput(), amount: '0.01' });
    // The first claim takes more statements: for the time of the first claim, which the table may
    // have, for a transaction, and for what was kept.
    const first = statements;
    expect(first).toBeLessThanOrEqual(9);
    const inputs = Array.from({ length: 1_000 }, () => ({ ...newInput(), amount: '0.01' }));
    for await (const { result } of transfers.createAllOnce(inputs)) expect(result).toBe('created');
    expect(inputs.filter(({ description }) => count(description) !== 1)).toEqual([]);
    expect(statements).toBe(first + 4 * inputs.length);
    expect(warn).not.toHaveBeenCalled();
  });

  test('postgresJournal repeats a statement that a serializable transaction rolls back', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const options = '-c default_transaction_isolation=serializable';
    const strict = new Pool({ ...pool.options, options, max: 16 });
    onTestFinished(() => strict.end());
    let conflicts = 0;
    const journal = postgresJournal((text, values) =>
      strict.query(text, values).catch((error: { code?: unknown }) => {
        if (error.code === '40001') conflicts += 1;
        throw error;
      }),
    );
    const { transfers, count } = createPayments(journal);
    const inputs = Array.from({ length: 60 }, () => ({ ...newInput(), amount: '0.01' }));
    await transfers.createAllOnce(inputs);
    expect(inputs.filter(({ description }) => count(description) !== 1)).toEqual([]);
    expect(conflicts).toBeGreaterThan(0);
    expect(warn).not.toHaveBeenCalled();
  });

  describe('the option table of postgresJournal', () => {
    const createSchema = async (name: string) => {
      await pool.query(`CREATE SCHEMA ${name}`);
      await pool.query(
        postgresJournalTable.replaceAll(' payments_journal ', ` ${name}.payments_journal `),
      );
    };
    /** Pays the same payment before and after a statement of the connection's other user. */
    const payAround = async (sql: string, table?: string) => {
      const shared = poolOf(server.port, 'postgres', 1);
      onTestFinished(() => shared.end());
      const { transfers, count } = createPayments(
        postgresJournal(queryOf(shared), { table, searchFirst: 'never' }),
      );
      const input = newInput();
      await transfers.createOnce(input);
      await shared.query(sql);
      await transfers.createOnce(input);
      return count(input.description);
    };

    test.each([
      ['search_path', 'SET search_path TO tenant_a'],
      ['a temp table', 'CREATE TEMP TABLE payments_journal (LIKE payments_journal INCLUDING ALL)'],
    ])('makes createOnce pay once even if %s hides the table', async (_, sql) => {
      await pool.query('DROP SCHEMA IF EXISTS tenant_a CASCADE');
      await createSchema('tenant_a');
      expect(await payAround(sql, 'public.payments_journal')).toBe(1);
      // Without the option, the payment is made twice.
      expect(await payAround(sql)).toBe(2);
    });

    test('makes open() and prune() use a table in another schema', async () => {
      await createSchema('"Tenant-B"');
      const journal = postgresJournal(queryOf(pool), { table: '"Tenant-B".payments_journal' });
      const [open, paid] = [newInput(), newInput()];
      await journal.swap(open.description, undefined, createClaim(open));
      await journal.swap(paid.description, undefined, createPaid(paid, 3));
      const listed = [];
      for await (const { reference } of journal.open()) listed.push(reference);
      expect(listed).toEqual([open.description]);
      expect(await journal.prune({ paidBefore: new Date(4) })).toBe(1);
      const { rows } = await pool.query(
        "SELECT indexname FROM pg_indexes WHERE schemaname = 'Tenant-B' ORDER BY 1",
      );
      expect(rows).toEqual([
        { indexname: 'payments_journal_open' },
        { indexname: 'payments_journal_pkey' },
        { indexname: 'payments_journal_terms' },
        { indexname: 'payments_journal_transfer' },
      ]);
    });
  });
});

/** Builds a locale in which a hyphen is ignored at first, as before glibc 2.28, or counts. */
function buildLocale(folder: string, hyphen: 'ignored' | 'counted'): void {
  const weights = {
    ignored: 'IGNORE;IGNORE;IGNORE;<U002D>',
    counted: '<S002D>;<BASE>;<MIN>;<U002D>',
  };
  const lines = [
    ...['comment_char %', 'escape_char /', 'LC_CTYPE', 'copy "en_US"', 'END LC_CTYPE'],
    ...['LC_COLLATE', 'copy "iso14651_t1"', 'reorder-after <U0020>'],
    ...[`<U002D> ${weights[hyphen]}`, 'reorder-end', 'END LC_COLLATE', ''],
  ];
  const source = join(folder, 'source');
  const locale = join(folder, 'locales', 'payments');
  writeFileSync(source, lines.join('\n'));
  rmSync(locale, { recursive: true, force: true });
  try {
    execFileSync('localedef', ['-c', '-i', source, '-f', 'UTF-8', locale], { stdio: 'ignore' });
  } catch {
    // localedef fails because other categories are missing, but the database needs only these two.
  }
}

describe.skipIf(missing.length > 0)(
  'if a system upgrade changes the sort order of PostgreSQL',
  () => {
    const inputs = Array.from({ length: 1_760 }, (_, index) => ({
      ...newInput(),
      amount: '0.01',
      description: `payroll-2026-${1 + (index % 11)}-${1 + Math.floor(index / 11)}`,
    }));
    const folder = mkdtempSync(join(tmpdir(), 'payments-locale-'));
    let server: Awaited<ReturnType<typeof startPostgres>> | undefined;
    const results = new Map<string, number>();
    let lost = 0;
    let lostAfterRepair = 0;
    beforeAll(async () => {
      mkdirSync(join(folder, 'locales'));
      chmodSync(folder, 0o755);
      buildLocale(folder, 'ignored');
      const env = { LOCPATH: join(folder, 'locales'), LC_ALL: 'C' };
      server = await startPostgres(undefined, env);
      const admin = poolOf(server.port);
      await admin.query(
        "CREATE DATABASE payroll TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'payments' LC_CTYPE 'payments'",
      );
      await admin.end();
      let pool = poolOf(server.port, 'payroll');
      const query: PostgresQuery = (text, values) => pool.query(text, values);
      const journal = postgresJournal(query);
      const older = postgresJournal(query, { table: 'older_journal' });
      await pool.query(postgresJournalTable);
      await pool.query(
        postgresJournalTable
          .replaceAll('payments_journal', 'older_journal')
          .replace(' COLLATE "C"', ''),
      );
      const { transfers } = new PaymentsClient({ ...createPlatform().clientOptions, journal });
      await transfers.createAllOnce(inputs);
      for (const input of inputs) {
        await older.swap(input.description, undefined, createPaid(input, 3));
      }
      await pool.end();

      buildLocale(folder, 'counted');
      await server.restart();
      pool = poolOf(server.port, 'payroll');
      // Without the collation, some payments are in doubt until their claims expire.
      for await (const { result } of transfers.createAllOnce(inputs, { retryTimeout: 1_000 })) {
        results.set(result, (results.get(result) ?? 0) + 1);
      }
      const countLost = async () => {
        const reads = await Promise.all(inputs.map(({ description }) => older.read(description)));
        return reads.filter((entry) => entry === undefined).length;
      };
      lost = await countLost();
      await pool.query('ALTER TABLE older_journal ALTER COLUMN reference TYPE text COLLATE "C"');
      lostAfterRepair = await countLost();
      await pool.end();
    }, 2 * startTimeoutMs);
    afterAll(async () => {
      await server?.close();
      rmSync(folder, { recursive: true });
    });

    test('createAllOnce finds every paid payment with the collation C', () => {
      expect([...results]).toEqual([['recorded', inputs.length]]);
    });

    // Shows why the column needs the collation C.
    test('a table with the database’s collation loses entries', () => {
      expect(lost).toBeGreaterThan(100);
    });

    test('the ALTER TABLE of the changelog makes every entry found again', () => {
      expect(lostAfterRepair).toBe(0);
    });
  },
);
