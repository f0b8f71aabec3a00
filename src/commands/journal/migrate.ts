import { journalKey } from '../../internal/formats.ts';
import { columnsOf, describeStore, isUndecided, parseEntry } from '../../journals/journal.ts';
import { postgresJournalTable } from '../../journals/postgres.ts';
import {
  buildIndex,
  indexKey,
  keyPrefix,
  nameTransfer,
  storeKey,
  transferKey,
  type RedisCommand,
} from '../../journals/redis.ts';
import { sqliteIndexes } from '../../journals/sqlite.ts';
import { readEntries, readTable, type Query, type StoredRow } from './connect.ts';

/*
 * Brings a journal of 0.3 or 0.4 up to date: in SQL in one transaction, in Redis in steps. The
 * steps can be repeated, so run a migration that was killed again.
 */

type StoredEntry = Pick<StoredRow, 'reference' | 'stored'>;

/** What a migration found. Only collisions and shared transfers need an operator. */
export interface Report {
  readonly statements: readonly string[];
  readonly entries: number;
  readonly open: number;
  readonly renamed: number;
  /** References whose entry could not get its lower-case key, because that key has an entry. */
  readonly collisions: readonly string[];
  /** For each transfer that several entries name, the references of these entries. */
  readonly shared: ReadonlyMap<string, readonly string[]>;
}

/** Plans which key each entry gets, and which transfers several entries name. */
function planMigration(rows: readonly StoredEntry[]) {
  const references = new Set(rows.map(({ reference }) => reference));
  const owners = new Map<string, string[]>();
  const collisions: string[] = [];
  const changes = rows.map(({ reference, stored }) => {
    const entry = parseEntry(stored);
    const lowerCase = journalKey(reference);
    let key = reference;
    if (lowerCase !== reference && references.has(lowerCase)) collisions.push(reference);
    else references.add((key = lowerCase));
    const transfer = nameTransfer(entry);
    if (transfer !== '') owners.set(transfer, [...(owners.get(transfer) ?? []), key]);
    return { reference, key, entry, stored, transfer };
  });
  const shared = new Map([...owners].filter(([, each]) => each.length > 1));
  const counts = {
    entries: rows.length,
    open: changes.filter(({ entry }) => isUndecided(entry)).length,
    renamed: changes.filter(({ reference, key }) => reference !== key).length,
  };
  return { changes, shared, report: { ...counts, collisions, shared } };
}

/** Collects the texts of statements, each with how often it runs. */
function createLog() {
  const counts = new Map<string, number>();
  return {
    add: (text: string): void => void counts.set(text, (counts.get(text) ?? 0) + 1),
    list: () =>
      [...counts].map(([text, count]) => (count > 1 ? `${text} -- ${count} times` : text)),
  };
}

/** A database of SQL, and how its statements differ. */
export interface SqlStore {
  readonly run: Query;
  readonly table: string;
  readonly begin: readonly string[];
  /** Statement that reads the names of the table's columns. */
  readonly columnsSql: string;
  /** Statement that reads the names of the partial indexes of the table. */
  readonly indexesSql: string;
  readonly columns: Readonly<Record<string, string>>;
  readonly indexes: readonly string[];
}

export const describeSqlite = (run: Query): SqlStore => ({
  run,
  table: 'payments_journal',
  begin: ['BEGIN IMMEDIATE'],
  columnsSql: "SELECT name FROM pragma_table_info('payments_journal')",
  indexesSql: "SELECT name FROM pragma_index_list('payments_journal') WHERE partial = 1",
  columns: {
    is_open: 'INTEGER NOT NULL DEFAULT 1',
    platform: 'TEXT',
    transfer_id: 'TEXT',
    paid_at: 'REAL',
    terms: 'TEXT',
    claimed_at: 'REAL',
  },
  indexes: sqliteIndexes,
});

export const describePostgres = (run: Query, table: string): SqlStore => {
  const literal = `'${table.replaceAll("'", "''")}'`;
  const [, ...indexes] = postgresJournalTable.split(';\n');
  // The indexes are in the schema of the table, and named after the table.
  const name = table.replace(/^(?:"[^"]+"|\w+)\./, '').replaceAll('"', '');
  return {
    run,
    table,
    begin: ['BEGIN', `LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`],
    columnsSql: `SELECT attname AS name FROM pg_attribute WHERE attrelid = to_regclass(${literal}) AND attnum > 0 AND NOT attisdropped`,
    indexesSql: `SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indrelid = to_regclass(${literal}) AND indpred IS NOT NULL`,
    columns: {
      is_open: 'boolean NOT NULL DEFAULT true',
      platform: 'text',
      transfer_id: 'text',
      paid_at: 'double precision',
      terms: 'text',
      claimed_at: 'double precision',
    },
    indexes: indexes.map((sql) =>
      sql
        .replace(/payments_journal(_\w+)/, `"${name}$1"`)
        .replace(' ON payments_journal ', ` ON ${table} `),
    ),
  };
};

/** Migrates a table in one transaction. With `isDryRun`, reads, and lists the statements. */
export async function migrateSql(store: SqlStore, isDryRun: boolean): Promise<Report> {
  const { run, table } = store;
  const log = createLog();
  const change = async (sql: string, values: readonly unknown[] = []): Promise<void> => {
    log.add(sql);
    if (!isDryRun) await run(sql, values);
  };
  const readNames = async (sql: string) => (await run(sql)).map(({ name }) => String(name));
  try {
    for (const sql of store.begin) await change(sql);
    const columns = await readNames(store.columnsSql);
    if (columns.length === 0) throw new Error(`There is no table ${table}.`);
    const rows: StoredEntry[] = [];
    for await (const row of readTable(run, table)) rows.push(row);
    for (const name of await readNames(store.indexesSql)) await change(`DROP INDEX ${name}`);
    for (const [name, type] of Object.entries(store.columns)) {
      if (!columns.includes(name)) await change(`ALTER TABLE ${table} ADD COLUMN ${name} ${type}`);
    }
    const { changes, shared, report } = planMigration(rows);
    for (const { reference, key, entry, transfer } of changes) {
      const { isOpen, platform, transferId, paidAt, terms, claimedAt } = columnsOf(entry);
      const sql = `UPDATE ${table} SET reference = $1, is_open = $2, platform = $3, transfer_id = $4, paid_at = $5, terms = $6, claimed_at = $7 WHERE reference = $8`;
      const id = shared.has(transfer) ? null : transferId;
      await change(sql, [key, isOpen, platform, id, paidAt, terms, claimedAt, reference]);
    }
    for (const sql of store.indexes) await change(sql);
    if (rows.length > 0) {
      const sql = `INSERT INTO ${table} (reference, entry, is_open) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`;
      await change(sql, ['', describeStore(0), false]);
    }
    await change('COMMIT');
    return { statements: log.list(), ...report };
  } catch (error) {
    // The connection may have ended, and the transaction with it.
    if (!isDryRun) await run('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** Removes a key if it still has this value. */
const removeScript =
  "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

/** Migrates a journal in Redis, in steps that can be repeated. */
export async function migrateRedis(command: RedisCommand, isDryRun: boolean): Promise<Report> {
  const log = createLog();
  const change = (name: string, key: string, ...rest: string[]): PromiseLike<unknown> => {
    log.add([name, name === 'EVAL' ? removeScript : key].join(' '));
    return isDryRun ? Promise.resolve('OK') : command(name, key, ...rest);
  };
  const read = async (reference: string): Promise<string | undefined> => {
    const stored = await command('GET', `${keyPrefix}${reference}`);
    return typeof stored === 'string' ? stored : undefined;
  };
  const stored = await readEntries(command);
  const remove = async (reference: string, text: string): Promise<void> => {
    await change('EVAL', removeScript, '1', `${keyPrefix}${reference}`, text);
    stored.delete(reference);
  };
  // A migration that was killed between its two steps has left an entry under both keys.
  for (const [reference, text] of stored) {
    const key = journalKey(reference);
    if (key !== reference && stored.get(key) === text) await remove(reference, text);
  }
  const rows = [...stored].map(([reference, text]) => ({ reference, stored: text }));
  const { changes, shared, report } = planMigration(rows);
  for (const { reference, key, stored: text } of changes) {
    if (reference === key) continue;
    const timeLeft = Number(await command('PTTL', `${keyPrefix}${reference}`));
    const expiry = timeLeft > 0 ? ['PX', String(timeLeft)] : [];
    await change('SET', `${keyPrefix}${key}`, text, 'NX', ...expiry);
    if ((isDryRun ? text : await read(key)) === text) await remove(reference, text);
  }
  for (const { key, transfer } of changes) {
    if (transfer !== '' && !shared.has(transfer)) await change('SET', transferKey(transfer), key);
  }
  for (const transfer of shared.keys()) await change('DEL', transferKey(transfer));
  log.add(`ZADD ${indexKey}`);
  if (!isDryRun) await buildIndex(command);
  await change('DEL', 'payments:journal-open');
  // The version comes last, because it says that all of the above was done.
  if (rows.length > 0) await change('SET', storeKey, describeStore(0), 'NX');
  return { statements: log.list(), ...report };
}

/** Describes what was migrated, and what an operator has to decide. */
export function formatReport(report: Report, isDryRun: boolean): string {
  const { statements, entries, open, renamed, collisions, shared } = report;
  const lines = isDryRun ? statements.map((each) => `${each};`) : [];
  const would = isDryRun ? 'would be' : 'were';
  lines.push(
    `${entries} entries ${would} migrated, ${open} of them open. ${renamed} references ${would} written in lower case.`,
  );
  for (const reference of collisions) {
    lines.push(
      `${reference} and ${journalKey(reference)} are two entries of one reference, and both were kept. Payments use the second. Compare both, and delete the first when you know what was paid.`,
    );
  }
  for (const [transfer, references] of shared) {
    lines.push(
      `The transfer ${transfer} stands in the entries of ${references.join(', ')}, and was left out of the column that is unique. Only one of them was paid by it: look which.`,
    );
  }
  return `${lines.join('\n')}\n`;
}
