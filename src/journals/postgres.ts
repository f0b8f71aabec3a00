import { parseEntry, serializeEntry, type Journal } from './journal.ts';

/** The table that {@link postgresJournal} needs. */
export const postgresJournalTable = `CREATE TABLE IF NOT EXISTS payments_journal (
  reference text PRIMARY KEY,
  entry text NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
)`;

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
  query: PostgresQuery,
  {
    forgets = false,
  }: {
    /** Whether a fail-over may lose an entry. `createOnce` then searches before every first claim. Default: false. */
    forgets?: boolean | undefined;
  } = {},
): Journal {
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
  };
}
