// A journal for createOnce in MySQL or MariaDB, over a pool of mysql2. testJournal checks it on a
// real server in test/runtimes/recipes.mjs.
import type { Pool, ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import type { Journal } from 'payments-platform-sdk/journals';

/** Both columns are compared byte by byte. The index makes `open` fast. */
export const mysqlJournalTable = `CREATE TABLE IF NOT EXISTS payments_journal (
  reference VARCHAR(140) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY,
  entry MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  state VARCHAR(9) AS (JSON_UNQUOTE(JSON_EXTRACT(entry, '$.state'))) STORED,
  INDEX (state)
) ENGINE = InnoDB`;

const parse = (text: string | undefined) => (text === undefined ? undefined : JSON.parse(text));

/** JSON with sorted fields, because a migration may write the same entry in another order. */
const normalize = (entry: unknown) =>
  JSON.stringify(entry, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );

/** Needs `innodb_flush_log_at_trx_commit = 1`. With asynchronous fail-over, add `searchFirst: 'always'`. */
export function mysqlJournal(pool: Pool): Journal {
  const query = async (sql: string, ...values: string[]) =>
    (await pool.execute<RowDataPacket[]>(sql, values))[0];
  const change = async (sql: string, ...values: (string | number)[]) =>
    (await pool.execute<ResultSetHeader>(sql, values))[0].affectedRows;
  const readText = async (reference: string): Promise<string | undefined> => {
    const [row] = await query('SELECT entry FROM payments_journal WHERE reference = ?', reference);
    return row?.['entry'];
  };
  const insert = async (...values: string[]) => {
    try {
      return await change(
        'INSERT INTO payments_journal (reference, entry) VALUES (?, ?)',
        ...values,
      );
    } catch (error) {
      // Not INSERT IGNORE, which also ignores text that is cut.
      if ((error as { code?: string }).code === 'ER_DUP_ENTRY') return 0;
      throw error;
    }
  };
  return {
    read: async (reference) => parse(await readText(reference)),
    swap: async (reference, before, after) => {
      const old = await readText(reference);
      if (normalize(parse(old)) !== normalize(before)) return false;
      const next = JSON.stringify(after);
      if (old === undefined) {
        if (after === undefined) return true;
        return (await insert(reference, next)) === 1;
      }
      const where = 'WHERE reference = ? AND entry = ?';
      const count =
        after === undefined
          ? await change(`DELETE FROM payments_journal ${where}`, reference, old)
          : await change(`UPDATE payments_journal SET entry = ? ${where}`, next, reference, old);
      return count === 1;
    },
    now: async () => {
      // UNIX_TIMESTAMP(NOW(3)) goes through a time zone, and jumps by an hour when summer time ends.
      const [row] = await query(
        `SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) / 1000 AS now`,
      );
      return Number(row?.['now']);
    },
    open: async function* () {
      const sql = `SELECT reference, entry FROM payments_journal WHERE state IN ('sending', 'ambiguous')`;
      for (const { reference, entry } of await query(sql)) {
        yield { reference, entry: JSON.parse(entry) };
      }
    },
    prune: async ({ paidBefore, keepReferences }) => {
      const where = "WHERE state = 'paid' AND JSON_EXTRACT(entry, '$.paidAt') + 0 < ?";
      const reference = "JSON_OBJECT('description', JSON_EXTRACT(entry, '$.input.description'))";
      // In steps, because both statements lock what they read.
      const sql = keepReferences
        ? `UPDATE payments_journal SET entry = JSON_SET(entry, '$.input', ${reference}) ${where} AND JSON_EXTRACT(entry, '$.input.amount') IS NOT NULL LIMIT 1000`
        : `DELETE FROM payments_journal ${where} LIMIT 1000`;
      for (let total = 0; ;) {
        const count = await change(sql, paidBefore.getTime());
        if (count === 0) return total;
        total += count;
      }
    },
  };
}
