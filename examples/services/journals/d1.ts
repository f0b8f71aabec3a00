// A journal for createOnce in Cloudflare D1. testJournal checks it on the local D1 of workerd in
// test/runtimes/recipes.mjs.
import type { D1Database } from '@cloudflare/workers-types';
import type { Journal } from 'payments-platform-sdk/journals';

/** For a migration. The index makes `open` fast. */
export const d1JournalTable = [
  'CREATE TABLE IF NOT EXISTS payments_journal (reference TEXT PRIMARY KEY, entry TEXT NOT NULL)',
  "CREATE INDEX IF NOT EXISTS payments_journal_state ON payments_journal (json_extract(entry, '$.state'))",
];

export function d1Journal(db: D1Database): Journal {
  const run = (sql: string, ...values: (string | number)[]) =>
    db
      .prepare(sql)
      .bind(...values)
      .run<{ reference: string; entry: string; now: number }>();
  const change = async (...args: Parameters<typeof run>) => (await run(...args)).meta.changes;
  const read: Journal['read'] = async (reference) => {
    const sql = 'SELECT entry FROM payments_journal WHERE reference = ?';
    const [row] = (await run(sql, reference)).results;
    return row && JSON.parse(row.entry);
  };
  return {
    read,
    swap: async (reference, before, after) => {
      const [old, next] = [JSON.stringify(before), JSON.stringify(after)];
      if (before === undefined) {
        if (after === undefined) return (await read(reference)) === undefined;
        const sql = 'INSERT INTO payments_journal VALUES (?, ?) ON CONFLICT DO NOTHING';
        return (await change(sql, reference, next)) === 1;
      }
      const where = 'WHERE reference = ? AND entry = ?';
      const count =
        after === undefined
          ? await change(`DELETE FROM payments_journal ${where}`, reference, old)
          : await change(`UPDATE payments_journal SET entry = ? ${where}`, next, reference, old);
      return count === 1;
    },
    // The clock of a Worker does not advance while it computes.
    now: async () => (await run("SELECT unixepoch('subsec') * 1000 AS now")).results[0]?.now ?? NaN,
    open: async function* () {
      const isOpen = "json_extract(entry, '$.state') IN ('sending', 'ambiguous')";
      const sql = `SELECT reference, entry FROM payments_journal WHERE ${isOpen}`;
      for (const { reference, entry } of (await run(sql)).results) {
        yield { reference, entry: JSON.parse(entry) };
      }
    },
    prune: ({ paidBefore }) =>
      change(
        "DELETE FROM payments_journal WHERE json_extract(entry, '$.paidAt') < ?",
        paidBefore.getTime(),
      ),
  };
}
