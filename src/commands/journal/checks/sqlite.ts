import { existsSync, realpathSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { EntryChecks, findingOf, isOldTable, versionFinding, type Finding } from './findings.ts';
import type { StoreAddress } from '../flags.ts';
import { findFile, openDatabase, readTable, runSqlite } from '../connect.ts';
import { describeSqlite } from '../migrate.ts';

const lockTimeoutMs = 5_000;
const secondLookMs = 1_000;

/** Checks a SQLite file. Looks at the files first, because opening them would change them. */
export async function* checkSqlite(store: StoreAddress): AsyncGenerator<Finding, void> {
  const path = realpathSync(findFile(store.address));
  // If a shell or a backup removes the -wal under a process, SQLite leaves the -shm.
  const isLost = () => existsSync(`${path}-shm`) && !existsSync(`${path}-wal`);
  // Looks again, because a process that starts or ends now makes or removes the files one after the other.
  if (isLost()) await setTimeout(secondLookMs);
  const isStillLost = isLost();
  yield findingOf(
    'the -wal beside the file',
    !isStillLost,
    `${path}-wal is gone, so the latest claims may be lost. Stop what pays, put the file and its -wal back together, and follow "The journal is lost" of docs/operate.md.`,
  );
  // Opening the file now would begin another -wal.
  if (isStillLost) return;
  const database = openDatabase(path, false);
  try {
    const run = runSqlite(database);
    // A process that pays has the lock for some milliseconds.
    await run(`PRAGMA busy_timeout = ${lockTimeoutMs}`);
    const columns = await run(describeSqlite(run).columnsSql);
    const isOld = isOldTable(columns.map(({ name }) => String(name)));
    if (columns.length === 0) throw new Error(`${path} has no table payments_journal.`);
    yield versionFinding(isOld, store);
    yield await checkWriting(run);
    if (isOld) return;
    const checks = new EntryChecks();
    for await (const row of readTable(run, 'payments_journal')) checks.add(row, Date.now());
    yield* checks.findings(store);
  } finally {
    database.close();
  }
}

async function checkWriting(run: ReturnType<typeof runSqlite>): Promise<Finding> {
  try {
    await run('BEGIN IMMEDIATE');
    await run('ROLLBACK');
    return { name: 'permission to write' };
  } catch (error) {
    return {
      name: 'permission to write',
      problem: `${(error as Error).message}. If it is read-only, check the owner and the permissions of the file and of its folder.`,
    };
  }
}
