import {
  LastingJournalError,
  pageSize,
  parseEntry,
  readPaidBefore,
  serializeEntry,
  storedTextOf,
  type FullJournal,
  type SearchFirst,
  type JournalEntry,
  type OpenEntry,
} from './journal.ts';

/** SQL that finds open entries by their text, as JSON functions would throw on some entries. */
const isOpenSql = `entry !~ '"state" *: *"(paid|not_paid)"'`;
const paidAtSql = `substring(entry from '"paidAt" *: *([0-9.]+)')::numeric`;

/**
 * SQL that creates the table and the index of {@link postgresJournal} if they do not exist: two
 * statements, which `.split(';')` separates. Keep the collation `C`, because an upgrade of the
 * operating system does not change that collation.
 */
export const postgresJournalTable = `CREATE TABLE IF NOT EXISTS payments_journal (
  reference text COLLATE "C" PRIMARY KEY,
  entry text NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX IF NOT EXISTS payments_journal_open ON payments_journal (reference)
  WHERE ${isOpenSql}`;

/** Whether a text is the name of a table as SQL spells names, with or without a schema. */
export const isTableName = (text: unknown): boolean =>
  typeof text === 'string' && /^(?:"[^"\0]+"|[a-z_]\w*)(?:\.(?:"[^"\0]+"|[a-z_]\w*))?$/i.test(text);

/** Describes the form of what a query returned instead of rows, without values of a payment. */
function describeReply(reply: unknown): string {
  if (Array.isArray(reply)) return `[${reply.slice(0, 2).map(describeReply).join(', ')}]`;
  if (typeof reply !== 'object' || reply === null) return reply === null ? 'null' : typeof reply;
  if ('rows' in reply) return `{ rows: ${describeReply(reply.rows)} }`;
  return `{ ${Object.keys(reply).slice(0, 5).join(', ')} }`;
}

/** Rows that a query returned, each with its values by the names of the columns. */
export type PostgresRows = readonly Readonly<Record<string, unknown>>[];

/** Runs one SQL statement, and resolves to its rows or to an object with the field `rows`. */
export type PostgresQuery = (
  text: string,
  values: string[],
) => PromiseLike<
  | PostgresRows
  | {
      /** The rows that the statement returned. */
      readonly rows: PostgresRows;
    }
>;

/** SQL that reads the time at which the database transaction started, in milliseconds. */
const startedSql = '(extract(epoch FROM now()) * 1000)::float8 AS started';

const insideTransaction =
  'postgresJournal: query runs inside a transaction of the caller, as typeorm-transactional and the CLS of Sequelize arrange without being asked. If that transaction is rolled back, the journal forgets the payment and the next call pays again.\nGive the journal a pool of its own, or call createOnce outside of the transaction.';

/**
 * A journal in a PostgreSQL table, see {@link postgresJournalTable}. If you fail over to an
 * asynchronous standby, pass `forgets: true`. `query` must run each statement outside of
 * transactions, because a claim inside a transaction is rejected.
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
    searchFirst = 'first_day',
    table = 'payments_journal',
  }: {
    /**
     * Whether a fail-over may lose an entry. If so, `createOnce` searches the platform's list
     * before every first claim. Default: false.
     */
    searchFirst?: SearchFirst | undefined;
    /**
     * Name of the table, as SQL spells it. Add the schema, so that no `search_path` selects another
     * table of that name. Default: `payments_journal`.
     */
    table?: string | undefined;
  } = {},
): FullJournal {
  // Without this check, a wrong `query` would show only when a payment needs the journal.
  if (typeof query !== 'function') {
    throw new Error(
      'postgresJournal: query is no function; expected one that runs one statement, such as (text, values) => pool.query(text, values).',
    );
  }
  if (!isTableName(table)) {
    throw new Error(
      `postgresJournal: table is ${JSON.stringify(table)}; expected the name of a table as SQL has it, such as payments.payments_journal or "Payments"."Journal".`,
    );
  }
  /** Runs a statement, and resolves to its rows, which must have this column. */
  const queryRows = async (
    column: string,
    sql: string,
    ...values: string[]
  ): Promise<PostgresRows> => {
    const result: unknown = await query(sql, values);
    const rows: unknown = (Object(result) as { rows?: unknown }).rows ?? result;
    if (Array.isArray(rows) && rows.every((row) => column in Object(row))) {
      // Checks only that each row has the expected column. Code that uses a value checks its type.
      return rows as PostgresRows;
    }
    throw new LastingJournalError(
      `postgresJournal: query returned ${describeReply(result)}; expected an array of rows with the column ${column}, or an object that has them as rows.\nReturn the rows alone: docs/journals.md has the function for each client.`,
    );
  };
  /** Runs a statement, and resolves to the row that the statement changed, or to undefined. */
  const change = async (sql: string, ...values: string[]) => {
    const [row] = await queryRows('reference', sql, ...values);
    return row;
  };
  /**
   * Replaces the entry by `after` if the stored entry still is `before`. Resolves to the row, or to
   * undefined if nothing was written. After an update, `age` is 0 or less if this transaction also
   * wrote `before`.
   */
  const write = (
    reference: string,
    before: JournalEntry | undefined,
    after: JournalEntry | undefined,
  ) => {
    if (before === undefined) {
      const sql = `INSERT INTO ${table} (reference, entry) VALUES ($1, $2) ON CONFLICT (reference) DO NOTHING RETURNING reference, ${startedSql}`;
      return change(sql, reference, serializeEntry(after));
    }
    if (after === undefined) {
      const sql = `DELETE FROM ${table} WHERE reference = $1 AND entry = $2 RETURNING reference`;
      return change(sql, reference, storedTextOf(before));
    }
    const ageSql = `(SELECT age(xmin) FROM ${table} WHERE reference = $1) AS age`;
    const sql = `UPDATE ${table} SET entry = $3, changed_at = clock_timestamp() WHERE reference = $1 AND entry = $2 RETURNING reference, ${startedSql}, ${ageSql}`;
    return change(sql, reference, storedTextOf(before), serializeEntry(after));
  };
  /** Whether a claim has shown that `query` runs outside of transactions. */
  let hasProof = false;
  /** The latest reading of the database's clock, in milliseconds. */
  let latestTime = 0;
  /**
   * Writes a claim, and withdraws it if the claim is part of a transaction of the caller, because a
   * rollback would remove the claim. Only in such a transaction is age(xmin) of the written row 0
   * or less. The first claim is always checked, because the check also shows what `query` returns
   * for an UPDATE. A later claim is checked if its transaction started before the latest reading of
   * the clock.
   */
  const claim = async (
    reference: string,
    before: JournalEntry | undefined,
    after: JournalEntry,
  ): Promise<boolean> => {
    let problem: LastingJournalError;
    try {
      const timeBefore = latestTime;
      const row = await write(reference, before, after);
      if (row === undefined) return false;
      if (hasProof && !(Number(row['started']) < timeBefore)) return true;
      const sql = `UPDATE ${table} SET changed_at = clock_timestamp() WHERE reference = $1 AND entry = $2 AND age(xmin) > 0 RETURNING reference`;
      if ((await change(sql, reference, serializeEntry(after))) !== undefined) {
        hasProof = true;
        return true;
      }
      problem = new LastingJournalError(insideTransaction);
    } catch (error) {
      // Any other error leaves the claim in doubt, so the caller reads the payment's entry again.
      if (!(error instanceof LastingJournalError)) throw error;
      problem = error;
    }
    // If there is no claim to withdraw, the claim was not written. Otherwise the caller gets the
    // problem, even if withdrawing fails.
    const withdrawn = await write(reference, after, before).catch(() => problem);
    if (withdrawn === undefined) return false;
    throw problem;
  };
  return {
    searchFirst,
    find: () => Promise.resolve(undefined),
    firstClaimAt: () => Promise.resolve(0),
    read: async (reference) => {
      const sql = `SELECT entry FROM ${table} WHERE reference = $1`;
      const [row] = await queryRows('entry', sql, reference);
      return row === undefined ? undefined : parseEntry(String(row['entry']));
    },
    swap: async (reference, before, after) => {
      // A swap of nothing for nothing writes nothing, and checks that there is no entry.
      if (before === undefined && after === undefined) {
        const sql = `SELECT reference FROM ${table} WHERE reference = $1`;
        return (await change(sql, reference)) === undefined;
      }
      if (after?.state === 'sending') return claim(reference, before, after);
      const row = await write(reference, before, after);
      // Rejects a paid entry in the same transaction as its claim, as a rollback would remove both.
      if (after?.state === 'paid' && Number(row?.['age']) <= 0) {
        throw new LastingJournalError(insideTransaction);
      }
      return row !== undefined;
    },
    now: async () => {
      // Uses clock_timestamp(), because now() returns when the transaction started.
      const sql = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now';
      const [row] = await queryRows('now', sql);
      const now = Number(row?.['now']);
      if (now > latestTime) latestTime = now;
      return now;
    },
    open: async function* () {
      const sql = `SELECT reference, entry FROM ${table} WHERE ${isOpenSql} AND reference > $1 ORDER BY reference LIMIT ${pageSize}`;
      // The last reference of the page before. Undefined after the last page.
      let last: string | undefined = '';
      while (last !== undefined) {
        const rows: PostgresRows = await queryRows('entry', sql, last);
        for (const { reference, entry } of rows) {
          yield { reference: String(reference), entry: parseEntry(String(entry)) as OpenEntry };
        }
        last = rows.length < pageSize ? undefined : String(rows.at(-1)?.['reference']);
      }
    },
    prune: async (options) => {
      const paidBefore = String(readPaidBefore(options));
      const sql = `WITH page AS (
  SELECT reference FROM ${table} WHERE reference > $1 ORDER BY reference LIMIT ${pageSize}
), pruned AS (
  DELETE FROM ${table} AS journal USING page
  WHERE journal.reference = page.reference AND ${paidAtSql} < $2::numeric
  RETURNING 1
) SELECT (SELECT max(reference) FROM page) AS last, (SELECT count(*) FROM pruned) AS count`;
      let count = 0;
      // The last reference of the page before. SQL's max() is null after the last page.
      let last: unknown = '';
      while (typeof last === 'string') {
        const [row] = await queryRows('count', sql, last, paidBefore);
        count += Number(row?.['count']);
        last = row?.['last'];
      }
      return count;
    },
  };
}
