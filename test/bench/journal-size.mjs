import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { Pool } from 'pg';
import { postgresJournal, postgresJournalTable, sqliteJournal } from '../../dist/journals/index.js';
import { startPostgres } from '../stores/servers.ts';

/*
 * The size and speed of a journal with many paid entries and 20 open ones, for docs/operate.md:
 * node test/bench/journal-size.mjs --rows 10000000
 */

const { values } = parseArgs({ options: { rows: { type: 'string', default: '100000' } } });
const rows = Number(values.rows);
const tries = 200;
const platform = 'https://api.example.com/v0';
const at = Date.UTC(2026, 0, 1);

/** Entries as createOnce writes them, of a payment that was made at the first try. */
function entriesOf(reference, transferId) {
  const input = {
    sourceAccountId: 'acc_01JCQ8Z5T7',
    counterpartyId: 'cpty_01JCQ8Z6V9',
    amount: '1250.00',
    currency: 'USDC',
    description: reference,
  };
  const host = 'payroll-worker-7f9c5d-x2x4q';
  const claimId = crypto.randomUUID();
  const claimed = { at, state: 'sending', claimId, host };
  const sending = {
    state: 'sending',
    claimId,
    host,
    claimedAt: at,
    deadline: at + 120_000,
    expiresAt: at + 1_020_000,
    firstClaimedAt: at,
    platformTime: at,
    input,
    platform,
    history: [claimed],
  };
  const made = { at: at + 400, state: 'paid', transferId, host };
  const paid = { state: 'paid', input, platform, transferId, paidAt: at + 400 };
  return { sending, paid: { ...paid, history: [claimed, made] } };
}

// The texts of a template row, in which each row has its number.
const template = JSON.stringify(entriesOf('payroll-#', 'txfr_01JCQ#').paid);
const [number, text] = ['lpad(n::text, 8, $$0$$)', `$$${template}$$`];

async function time(run) {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}

function describe(times) {
  const sorted = times.toSorted((one, other) => one - other);
  const quantile = (share) => sorted[Math.floor(sorted.length * share)]?.toFixed(2);
  return `p50 ${quantile(0.5)} ms, p95 ${quantile(0.95)} ms`;
}

async function measure(name, journal, readSize) {
  const print = (what, result) => console.log(`${name.padEnd(11)} ${what.padEnd(22)} ${result}`);
  print('on disk', `${(readSize() / 1e9).toFixed(2)} GB for ${rows.toLocaleString('en')} entries`);
  const lists = [];
  for (let count = 0; count < tries; count += 1) {
    let open = 0;
    lists.push(
      await time(async () => {
        for await (const _ of journal.open()) open += 1;
      }),
    );
    if (open !== 20) throw new Error(`${open} open payments instead of 20`);
  }
  print('open()', describe(lists));
  const [payments, reads] = [[], []];
  for (let count = 0; count < tries; count += 1) {
    const reference = `payroll-${crypto.randomUUID()}`;
    const { sending, paid } = entriesOf(reference, `txfr_${crypto.randomUUID()}`);
    payments.push(
      await time(async () => {
        const isClaimed = await journal.swap(reference, undefined, sending);
        if (!isClaimed || !(await journal.swap(reference, sending, paid))) throw new Error('lost');
      }),
    );
    const known = `payroll-${String(1 + Math.floor(Math.random() * rows)).padStart(8, '0')}`;
    reads.push(
      await time(async () => {
        if ((await journal.read(known))?.state !== 'paid') throw new Error(`no ${known}`);
      }),
    );
  }
  print('claim and paid', describe(payments));
  print('read', describe(reads));
}

async function addOpen(journal) {
  for (let count = 0; count < 20; count += 1) {
    const reference = `open-${count}`;
    await journal.swap(reference, undefined, entriesOf(reference, '').sending);
  }
}

async function measurePostgres() {
  const server = await startPostgres();
  const pool = new Pool({ host: '127.0.0.1', port: server.port, user: 'postgres' });
  try {
    await pool.query(postgresJournalTable);
    const journal = postgresJournal((sql, params) => pool.query(sql, params));
    await addOpen(journal);
    await pool.query(
      `INSERT INTO payments_journal (reference, entry, is_open, platform, transfer_id, paid_at)
SELECT 'payroll-' || number, replace(${text}, '#', number), false, '${platform}', 'txfr_01JCQ' || number, ${at} + n
FROM generate_series(1, ${rows}) AS n, LATERAL (SELECT ${number}) AS row (number)`,
    );
    await pool.query('VACUUM ANALYZE payments_journal');
    await pool.query('CHECKPOINT');
    const sql = "SELECT pg_total_relation_size('payments_journal')::float8 AS size";
    const { size } = (await pool.query(sql)).rows[0];
    await measure('PostgreSQL', journal, () => size);
  } finally {
    await pool.end();
    await server.close();
  }
}

async function measureSqlite() {
  const folder = mkdtempSync(join(tmpdir(), 'payments-journal-size-'));
  const path = join(folder, 'payments.db');
  try {
    const journal = sqliteJournal(path);
    await addOpen(journal);
    const database = new DatabaseSync(path);
    database.exec(`PRAGMA cache_size = -500000;
INSERT INTO payments_journal (reference, entry, is_open, platform, transfer_id, paid_at)
WITH RECURSIVE rows (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM rows WHERE n < ${rows})
SELECT 'payroll-' || printf('%08d', n), replace('${template}', '#', printf('%08d', n)), 0, '${platform}', 'txfr_01JCQ' || printf('%08d', n), ${at} + n FROM rows;
PRAGMA wal_checkpoint(TRUNCATE)`);
    database.close();
    await measure('SQLite', journal, () => statSync(path).size);
    journal.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
}

console.log(`${template.length} characters an entry, ${execFileSync('uname', ['-srm'])}`);
await measureSqlite();
await measurePostgres();
