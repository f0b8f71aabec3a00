import {
  checkClock,
  EntryChecks,
  findingOf,
  isOldTable,
  versionFinding,
  type Finding,
} from './findings.ts';
import type { StoreAddress } from '../flags.ts';
import { connectPostgres, readTable, type Query } from '../connect.ts';
import { describePostgres } from '../migrate.ts';

/** For how many seconds a transaction that has written to the journal may be open. */
const longTransaction = 5;

/** Checks a table in PostgreSQL, and the server that has it. */
export async function* checkPostgres(store: StoreAddress): AsyncGenerator<Finding, void> {
  const { run, table, close } = await connectPostgres(store);
  try {
    const literal = `'${table.replaceAll("'", "''")}'`;
    const columns = await run(describePostgres(run, table).columnsSql);
    if (columns.length === 0) {
      throw new Error(`There is no table ${table}. Check the database, and --table.`);
    }
    const isOld = isOldTable(columns.map(({ name }) => String(name)));
    yield versionFinding(isOld, store);
    yield await checkCollation(run, table);
    yield* checkServer(run, table, literal);
    yield* checkTable(run, literal);
    const now = async () =>
      Number((await run('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now'))[0]?.['now']);
    yield checkClock(await now());
    if (isOld) return;
    const checks = new EntryChecks();
    const readAt = await now();
    for await (const row of readTable(run, table)) checks.add(row, readAt);
    yield* checks.findings(store);
  } finally {
    await close();
  }
}

/** Checks the collation, because an upgrade of the operating system may damage an index with another collation than C. */
export async function checkCollation(run: Query, table: string): Promise<Finding> {
  const [row] = await run(
    `SELECT collname FROM pg_attribute JOIN pg_collation ON pg_collation.oid = attcollation
 WHERE attrelid = to_regclass($1) AND attname = 'reference'`,
    [table],
  );
  const collation = row?.['collname'];
  return findingOf(
    'collation of the column reference',
    collation === undefined || collation === 'C',
    `it is ${JSON.stringify(collation)} instead of "C". After an upgrade of the operating system its index may not find a payment, which is then made again. Stop what pays, and run: ALTER TABLE ${table} ALTER COLUMN reference TYPE text COLLATE "C"`,
  );
}

async function* checkServer(
  run: Query,
  table: string,
  literal: string,
): AsyncGenerator<Finding, void> {
  const [server] = await run(
    "SELECT pg_is_in_recovery() AS replica, current_setting('transaction_read_only') = 'on' AS read_only, current_setting('synchronous_commit') = 'off' OR current_setting('fsync') = 'off' AS lossy",
  );
  yield findingOf(
    'primary',
    server?.['replica'] !== true,
    'this server is a replica, which lags behind and accepts no claim. Give your service and this command the address of the primary.',
  );
  const [rights] = await run(
    `SELECT coalesce(bool_and(has_table_privilege(${literal}::regclass, name)), false) AS all_rights FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS name`,
  );
  yield findingOf(
    'permission to write',
    rights?.['all_rights'] === true &&
      (server?.['read_only'] !== true || server['replica'] === true),
    `this role may only read. If your service has the same: GRANT SELECT, INSERT, UPDATE, DELETE ON ${table} TO it, and no default_transaction_read_only.`,
  );
  yield findingOf(
    'durability of the server',
    server?.['lossy'] !== true,
    'synchronous_commit or fsync is off, so a crash loses the latest claims, whose payments are then made again. Turn both on.',
  );
  const [standbys] = await run(
    "SELECT count(*) FILTER (WHERE sync_state IS NULL OR sync_state = 'async')::int AS async FROM pg_stat_replication",
  );
  const unknown = `${String(standbys?.['async'])} may be asynchronous. A fail-over to one loses the latest claims, unless postgresJournal has searchFirst: 'always', which this command does not see.`;
  yield standbys?.['async'] === 0 ? { name: 'standbys' } : { name: 'standbys', unknown };
}

async function* checkTable(run: Query, literal: string): AsyncGenerator<Finding, void> {
  const [table] = await run(
    `SELECT relpersistence <> 'p' AS lossy, EXISTS (SELECT 1 FROM pg_index WHERE indrelid = pg_class.oid AND indisunique AND indisvalid AND indnkeyatts = 1 AND indpred IS NULL AND indkey[0] = (SELECT attnum FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'reference')) AS has_key FROM pg_class WHERE oid = to_regclass(${literal})`,
  );
  yield findingOf(
    'durability of the table',
    table?.['lossy'] !== true,
    'it is UNLOGGED or temporary, so a crash empties it. Run ALTER TABLE … SET LOGGED.',
  );
  yield findingOf(
    'one entry for each reference',
    table?.['has_key'] === true,
    'the column reference is no primary key, so two calls may both claim a payment. Stop what pays, and add the key.',
  );
  const [holder] = await run(
    `SELECT activity.pid, extract(epoch FROM clock_timestamp() - xact_start)::int AS seconds FROM pg_locks JOIN pg_stat_activity AS activity USING (pid) WHERE relation = to_regclass(${literal}) AND mode = 'RowExclusiveLock' AND coalesce(clock_timestamp() - xact_start > interval '${longTransaction} seconds', activity.pid <> pg_backend_pid()) ORDER BY xact_start LIMIT 1`,
  );
  if (holder !== undefined && holder['seconds'] === null) {
    const unknown = `a session of another role (${String(holder['pid'])}) has written an entry, and this role may not see since when. Run this command as the role of your service.`;
    yield { name: 'transactions around claims', unknown };
    return;
  }
  yield findingOf(
    'transactions around claims',
    holder === undefined,
    `the session ${String(holder?.['pid'])} has had a transaction with an entry of the journal open for ${String(holder?.['seconds'])} s. If it is rolled back, the payment is made again: give the journal a pool of its own, outside of transactions.`,
  );
}
