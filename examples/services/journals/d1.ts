// A journal for createOnce in Cloudflare D1. testJournal checks it on the local D1 of workerd in
// test/runtimes/recipes.mjs.
import type { D1Database } from '@cloudflare/workers-types';
import type { Journal } from 'payments-platform-sdk/journals';

/** For a migration. The index makes `open` fast. */
export const d1JournalTable = [
  'CREATE TABLE IF NOT EXISTS payments_journal (reference TEXT PRIMARY KEY, entry TEXT NOT NULL)',
  "CREATE INDEX IF NOT EXISTS payments_journal_state ON payments_journal (json_extract(entry, '$.state'))",
];

const parse = (text: string | undefined) => (text === undefined ? undefined : JSON.parse(text));

/** JSON with sorted fields, because a migration may write the same entry in another order. */
const normalize = (entry: unknown) =>
  JSON.stringify(entry, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );

export function d1Journal(db: D1Database): Journal {
  const run = (sql: string, ...values: (string | number)[]) =>
    db
      .prepare(sql)
      .bind(...values)
      .run<{ reference: string; entry: string; now: number }>();
  const change = async (...args: Parameters<typeof run>) => (await run(...args)).meta.changes;
  const readText = async (reference: string) => {
    const sql = 'SELECT entry FROM payments_journal WHERE reference = ?';
    return (await run(sql, reference)).results[0]?.entry;
  };
  return {
    read: async (reference) => parse(await readText(reference)),
    swap: async (reference, before, after) => {
      const old = await readText(reference);
      if (normalize(parse(old)) !== normalize(before)) return false;
      const next = JSON.stringify(after);
      if (old === undefined) {
        if (after === undefined) return true;
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
    prune: ({ paidBefore, keepReferences }) => {
      const where = "WHERE json_extract(entry, '$.paidAt') < ?";
      const reference = "json_object('description', json_extract(entry, '$.input.description'))";
      const sql = keepReferences
        ? `UPDATE payments_journal SET entry = json_set(entry, '$.input', ${reference}) ${where} AND json_extract(entry, '$.input.amount') IS NOT NULL`
        : `DELETE FROM payments_journal ${where}`;
      return change(sql, paidBefore.getTime());
    },
  };
}
