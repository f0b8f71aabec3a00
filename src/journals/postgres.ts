import {
  pageSize,
  parseEntry,
  readPaidBefore,
  serializeEntry,
  type FullJournal,
  type OpenEntry,
} from './journal.ts';

/** By the text, because a function for JSON rejects some strings, and the index would then reject a claim. */
const isOpenSql = `entry !~ '"state" *: *"(paid|not_paid)"'`;
const paidAtSql = `substring(entry from '"paidAt" *: *([0-9.]+)')::numeric`;

/**
 * The table that {@link postgresJournal} needs, and the index of what is open: two statements. Both do
 * nothing if they exist.
 */
export const postgresJournalTable = `CREATE TABLE IF NOT EXISTS payments_journal (
  reference text PRIMARY KEY,
  entry text NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX IF NOT EXISTS payments_journal_open ON payments_journal (reference)
  WHERE ${isOpenSql}`;

/** Rows by the names of their columns. */
export type PostgresRows = readonly Readonly<Record<string, unknown>>[];

/** Runs one statement; resolves to its rows, or to an object that has them as `rows`. */
export type PostgresQuery = (
  text: string,
  values: string[],
) => PromiseLike<
  | PostgresRows
  | {
      /** The rows of the statement. */
      readonly rows: PostgresRows;
    }
>;

/** A {@link PostgresQuery}; the argument is an example, which the compiler prints if the type does not match. */
export interface PostgresQuerySuchAs<_Example extends string> extends PostgresQuery {}

/**
 * A journal in a PostgreSQL table ({@link postgresJournalTable}), with one primary or synchronous standbys.
 * Asynchronous fail-over loses claims and needs `forgets: true`. `query` runs statements outside of
 * transactions, which could be rolled back.
 * @example
 * ```ts
 * import { PaymentsClient } from 'payments-platform-sdk';
 * import { postgresJournal, type PostgresQuery } from 'payments-platform-sdk/journals';
 *
 * // pg: (text, values) => pool.query(text, values); postgres.js: (text, values) => sql.unsafe(text, values)
 * const query: PostgresQuery = async () => [];
 * const payments = new PaymentsClient({ journal: postgresJournal(query) });
 * console.log(payments.toJSON().baseUrl);
 * ```
 */
export function postgresJournal(
  query: PostgresQuerySuchAs<'(text, values) => pool.query(text, values)'>,
  {
    forgets = false,
  }: {
    /** Whether a fail-over may lose an entry. `createOnce` then searches before every first claim. Default: false. */
    forgets?: boolean | undefined;
  } = {},
): FullJournal {
  // A client would be noticed only when a payment needs the journal.
  if (typeof query !== 'function') {
    throw new Error(
      'postgresJournal: query is no function; expected one that runs one statement, such as (text, values) => pool.query(text, values).',
    );
  }
  const queryRows = async (sql: string, ...values: string[]): Promise<PostgresRows> => {
    const result = await query(sql, values);
    return 'rows' in result ? result.rows : result;
  };
  const hasChanged = async (sql: string, ...values: string[]): Promise<boolean> =>
    (await queryRows(`${sql} RETURNING reference`, ...values)).length === 1;
  return {
    forgets,
    read: async (reference) => {
      const [row] = await queryRows(
        'SELECT entry FROM payments_journal WHERE reference = $1',
        reference,
      );
      return row === undefined ? undefined : parseEntry(String(row['entry']));
    },
    swap: async (reference, before, after) => {
      if (before === undefined) {
        if (after === undefined) {
          const sql = 'SELECT reference FROM payments_journal WHERE reference = $1';
          return (await queryRows(sql, reference)).length === 0;
        }
        const sql =
          'INSERT INTO payments_journal (reference, entry) VALUES ($1, $2) ON CONFLICT (reference) DO NOTHING';
        return hasChanged(sql, reference, serializeEntry(after));
      }
      if (after === undefined) {
        const sql = 'DELETE FROM payments_journal WHERE reference = $1 AND entry = $2';
        return hasChanged(sql, reference, serializeEntry(before));
      }
      const sql =
        'UPDATE payments_journal SET entry = $3, changed_at = clock_timestamp() WHERE reference = $1 AND entry = $2';
      return hasChanged(sql, reference, serializeEntry(before), serializeEntry(after));
    },
    now: async () => {
      // now() would be the start of a transaction.
      const sql = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now';
      const [row] = await queryRows(sql);
      return Number(row?.['now']);
    },
    open: async function* () {
      const sql = `SELECT reference, entry FROM payments_journal WHERE ${isOpenSql} AND reference > $1 ORDER BY reference LIMIT ${pageSize}`;
      let last: string | undefined = '';
      while (last !== undefined) {
        const rows: PostgresRows = await queryRows(sql, last);
        for (const { reference, entry } of rows) {
          yield { reference: String(reference), entry: parseEntry(String(entry)) as OpenEntry };
        }
        last = rows.length < pageSize ? undefined : String(rows.at(-1)?.['reference']);
      }
    },
    prune: async (options) => {
      const paidBefore = String(readPaidBefore(options));
      const sql = `WITH page AS (
  SELECT reference FROM payments_journal WHERE reference > $1 ORDER BY reference LIMIT ${pageSize}
), pruned AS (
  DELETE FROM payments_journal USING page
  WHERE payments_journal.reference = page.reference AND ${paidAtSql} < $2::numeric
  RETURNING 1
) SELECT (SELECT max(reference) FROM page) AS last, (SELECT count(*) FROM pruned) AS count`;
      let count = 0;
      let last: unknown = '';
      while (typeof last === 'string') {
        const [row] = await queryRows(sql, last, paidBefore);
        count += Number(row?.['count']);
        last = row?.['last'];
      }
      return count;
    },
  };
}
