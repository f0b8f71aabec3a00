import { termsOf } from '../internal/terms.ts';
import { fieldOf } from '../internal/thrown.ts';
import {
  columnsOf,
  describeStore,
  dropTerms,
  LastingJournalError,
  listOpen,
  maxSimilar,
  needsMigration,
  pageSize,
  parseEntry,
  parseSimilar,
  readFirstRow,
  readPaidBefore,
  rejectOthers,
  serializeEntry,
  swapByValues,
  termsMark,
  warnOfNewStore,
  type FullJournal,
  type SearchFirst,
  type JournalEntry,
} from './journal.ts';

/**
 * SQL that creates the table and the indexes of {@link postgresJournal} if they do not exist: four
 * statements, separated by `;`. Keep the collation `C`, because an upgrade of the operating system
 * does not change that collation.
 */
export const postgresJournalTable = `CREATE TABLE IF NOT EXISTS payments_journal (
  reference text COLLATE "C" PRIMARY KEY,
  entry text NOT NULL,
  is_open boolean NOT NULL DEFAULT true,
  platform text,
  transfer_id text,
  paid_at double precision,
  terms text,
  claimed_at double precision,
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX IF NOT EXISTS payments_journal_open ON payments_journal (reference) WHERE is_open;
CREATE UNIQUE INDEX IF NOT EXISTS payments_journal_transfer ON payments_journal (platform, transfer_id)
  WHERE transfer_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS payments_journal_terms ON payments_journal (terms, claimed_at)
  WHERE terms IS NOT NULL`;

/** SQL that reads a parameter as a number, because the journal passes all values as text. */
const toNumberSql = (parameter: string): string =>
  `CAST(CAST(${parameter} AS text) AS double precision)`;

/** Codes of PostgreSQL: a column that does not exist, and a value that has to be unique. */
const undefinedColumn = '42703';
const uniqueViolation = '23505';
/** Codes of a statement that conflicted with another transaction, and may be repeated. */
const conflicts = ['40001', '40P01'];
/** How often such a statement is repeated, and the longest first wait, which doubles each time. */
const maxRepeats = 8;
const repeatDelayMs = 20;

/** Whether PostgreSQL has reported an error with this SQLSTATE. ORMs wrap the driver's error. */
const hasState = (error: unknown, state: string): boolean =>
  [error, ...['original', 'cause', 'meta'].map((name) => fieldOf(error, name))].some(
    (each) => fieldOf(each, 'code') === state,
  );

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
 * A journal in a PostgreSQL table, see {@link postgresJournalTable}; `query` must run each
 * statement outside of transactions. If you fail over to an asynchronous standby, pass
 * `searchFirst: 'always'`.
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
    ...others
  }: {
    /**
     * When `createOnce` searches the platform's list before a first claim. Pass `always` if a
     * fail-over may lose an entry. Default: `first_day`.
     */
    searchFirst?: SearchFirst | undefined;
    /**
     * Name of the table, as SQL spells it. Add the schema, so that no `search_path` selects another
     * table of that name. Default: `payments_journal`.
     */
    table?: string | undefined;
  } = {},
): FullJournal {
  rejectOthers('postgresJournal', others, 'searchFirst, table');
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
  const runQuery = async (sql: string, values: string[], repeats = 0): Promise<unknown> => {
    try {
      return await query(sql, values);
    } catch (error) {
      if (hasState(error, undefinedColumn)) throw needsMigration(`The table ${table}`);
      const isConflict = conflicts.some((state) => hasState(error, state));
      if (!isConflict || repeats === maxRepeats) throw error;
    }
    // The wait is random, so that two calls do not conflict again.
    await new Promise((resolve) =>
      setTimeout(resolve, Math.random() * repeatDelayMs * 2 ** repeats),
    );
    return runQuery(sql, values, repeats + 1);
  };
  /** Runs a statement, and resolves to its rows. Rejects if a row lacks the column. */
  const queryRows = async (
    column: string,
    sql: string,
    ...values: string[]
  ): Promise<PostgresRows> => {
    const result: unknown = await runQuery(sql, values);
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
   * Replaces the stored entry `before` by `after`, and resolves to the row, or to undefined if
   * nothing was written. After an update, `age` is 0 or less if the same transaction wrote
   * `before`.
   */
  const write = (
    reference: string,
    before: JournalEntry | undefined,
    after: JournalEntry | undefined,
  ) => {
    const columns = after && describeColumns(after);
    if (before === undefined) {
      const sql = `INSERT INTO ${table} (reference, entry, is_open, platform, transfer_id, paid_at, terms, claimed_at) VALUES ($1, $2, ${columns?.sql.join(', ')}) ON CONFLICT DO NOTHING RETURNING reference, ${startedSql}`;
      return change(sql, reference, serializeEntry(after), ...(columns?.values ?? []));
    }
    return swapByValues(
      before,
      (stored) => {
        if (columns === undefined) {
          const sql = `DELETE FROM ${table} WHERE reference = $1 AND entry = $2 RETURNING reference`;
          return change(sql, reference, stored);
        }
        const [isOpen, platform, transferId, paidAt, terms, claimedAt] = columns.sql;
        const ageSql = `(SELECT age(xmin) FROM ${table} WHERE reference = $1) AS age`;
        const sql = `UPDATE ${table} SET entry = $2, is_open = ${isOpen}, platform = ${platform}, transfer_id = ${transferId}, paid_at = ${paidAt}, terms = ${terms}, claimed_at = ${claimedAt}, changed_at = clock_timestamp() WHERE reference = $1 AND entry = $${columns.values.length + 3} RETURNING reference, ${startedSql}, ${ageSql}`;
        const values = [reference, serializeEntry(after), ...columns.values, stored];
        return change(sql, ...values).catch(ignoreTakenTransfer);
      },
      () => readStored(reference),
    );
  };
  const readStored = async (reference: string): Promise<string | undefined> => {
    const sql = `SELECT entry FROM ${table} WHERE reference = $1`;
    const [row] = await queryRows('entry', sql, reference);
    return row && String(row['entry']);
  };
  const readNow = async (): Promise<number> => {
    // Uses clock_timestamp(), because now() returns when the transaction started.
    const sql = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now';
    const [row] = await queryRows('now', sql);
    return Number(row?.['now']);
  };
  /** Reads the reserved row that describes the store. Its empty reference sorts first. */
  const firstClaimAt = async (): Promise<number | undefined> => {
    // Names a column that a table of 0.4 lacks, so that its error comes before the first swap.
    const sql = `SELECT reference, entry, claimed_at FROM ${table} ORDER BY reference LIMIT 1`;
    const [row] = await queryRows('entry', sql);
    return readFirstRow(row);
  };
  /** Writes the time of the first claim if the table is new. */
  const describeNewStore = async (): Promise<void> => {
    if ((await firstClaimAt()) !== undefined) return;
    const sql = `INSERT INTO ${table} (reference, entry, is_open) VALUES ($1, $2, false) ON CONFLICT DO NOTHING RETURNING reference`;
    const text = describeStore(Math.floor(await readNow()));
    if ((await change(sql, '', text)) !== undefined) warnOfNewStore(`the table ${table}`);
  };
  /** Whether a claim has shown that `query` runs outside of transactions. */
  let hasProof = false;
  /** The latest reading of the database's clock, in milliseconds. */
  let latestTime = 0;
  /**
   * Writes a claim, but withdraws it if age(xmin) of 0 or less shows a transaction of the caller,
   * because a rollback would remove the claim. After a first proof, checks only a claim whose
   * transaction started before the latest reading of the clock.
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
  /**
   * Removes the terms from the page of entries after a reference. Resolves to how many entries it
   * changed, and to the last reference, which is undefined after the last page.
   */
  const dropTermsAfter = async (start: string, paidBefore: number) => {
    const isOld = `paid_at < ${toNumberSql('$2')} AND strpos(entry, '${termsMark}') > 0`;
    const page = `SELECT reference, CASE WHEN ${isOld} THEN entry END AS entry FROM ${table} WHERE reference > $1 ORDER BY reference LIMIT ${pageSize}`;
    const rows = await queryRows('entry', page, start, String(paidBefore));
    const changes = rows.flatMap(({ reference, entry: before }) => {
      const pruned =
        typeof before === 'string' ? dropTerms(parseEntry(before), paidBefore) : undefined;
      return pruned ? [{ reference, before, after: serializeEntry(pruned) }] : [];
    });
    const last = rows.at(-1)?.['reference'];
    if (changes.length === 0) return { count: 0, last };
    // Sends the page as one JSON text, because a statement for each entry would take 1,000 round trips.
    const sql = `UPDATE ${table} AS journal SET entry = page.after, terms = NULL, claimed_at = NULL, changed_at = clock_timestamp()
FROM json_to_recordset(CAST(CAST($1 AS text) AS json)) AS page (reference text, before text, after text)
WHERE journal.reference = page.reference AND journal.entry = page.before RETURNING journal.reference`;
    const changed = await queryRows('reference', sql, JSON.stringify(changes));
    return { count: changed.length, last };
  };
  return {
    searchFirst,
    find: async (platform, transferId) => {
      const sql = `SELECT reference FROM ${table} WHERE platform = $1 AND transfer_id = $2`;
      const row = await change(sql, platform, transferId);
      return row && String(row['reference']);
    },
    similar: async ({ platform, input }, since) => {
      const sql = `SELECT reference, entry, claimed_at FROM ${table} WHERE terms = $1 AND claimed_at >= ${toNumberSql('$2')} ORDER BY claimed_at DESC LIMIT ${maxSimilar}`;
      const rows = await queryRows('claimed_at', sql, termsOf(platform, input), String(since));
      return rows.map(parseSimilar);
    },
    firstClaimAt,
    read: async (reference) => {
      const stored = await readStored(reference);
      return stored === undefined ? undefined : parseEntry(stored);
    },
    swap: async (reference, before, after) => {
      // A swap of nothing for nothing writes nothing, and checks that there is no entry.
      if (before === undefined && after === undefined) {
        const sql = `SELECT reference FROM ${table} WHERE reference = $1`;
        return (await change(sql, reference)) === undefined;
      }
      // A rollback would also remove the row that describes the store, so that row is looked for
      // until a claim has shown that there is no transaction.
      if (after !== undefined && !hasProof) await describeNewStore();
      if (after?.state === 'sending') return claim(reference, before, after);
      const row = await write(reference, before, after);
      // Rejects a paid entry in the same transaction as its claim, because a rollback would remove both.
      if (after?.state === 'paid' && Number(row?.['age']) <= 0) {
        throw new LastingJournalError(insideTransaction);
      }
      return row !== undefined;
    },
    now: async () => {
      const now = await readNow();
      if (now > latestTime) latestTime = now;
      return now;
    },
    open: () => {
      const sql = `SELECT reference, entry FROM ${table} WHERE is_open AND reference > $1 ORDER BY reference LIMIT ${pageSize}`;
      return listOpen((last) => queryRows('entry', sql, last));
    },
    prune: async (options) => {
      const paidBefore = String(readPaidBefore(options));
      const sql = `WITH page AS (
  SELECT reference FROM ${table} WHERE reference > $1 ORDER BY reference LIMIT ${pageSize}
), pruned AS (
  DELETE FROM ${table} AS journal USING page
  WHERE journal.reference = page.reference AND journal.paid_at < ${toNumberSql('$2')}
  RETURNING 1
) SELECT (SELECT max(reference) FROM page) AS last, (SELECT count(*) FROM pruned) AS count`;
      let count = 0;
      // The last reference of the page before. SQL's max() is null after the last page.
      let last: unknown = '';
      while (typeof last === 'string') {
        const row: Readonly<Record<string, unknown>> | undefined =
          options.keepReferences === true
            ? await dropTermsAfter(last, Number(paidBefore))
            : (await queryRows('count', sql, last, paidBefore))[0];
        count += Number(row?.['count']);
        last = row?.['last'];
      }
      return count;
    },
  };
}

/** The SQL of an entry's columns, and the values of the parameters from `$3` on. */
function describeColumns(entry: JournalEntry) {
  const { isOpen, platform, transferId, paidAt, terms, claimedAt } = columnsOf(entry);
  const sql = [String(isOpen)];
  const values: string[] = [];
  for (const value of [platform, transferId, paidAt, terms, claimedAt]) {
    // Not a parameter, because some drivers cannot tell the type of null.
    if (value === null) sql.push('NULL');
    else {
      values.push(String(value));
      const parameter = `$${values.length + 2}`;
      sql.push(typeof value === 'number' ? toNumberSql(parameter) : parameter);
    }
  }
  return { sql, values };
}

/** Turns the error of the unique index into a lost swap, because another reference has the transfer. */
function ignoreTakenTransfer(error: unknown): undefined {
  if (!hasState(error, uniqueViolation)) throw error;
}
