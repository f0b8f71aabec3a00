import { existsSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import {
  EntryChecks,
  findingOf,
  isOldTable,
  readTable,
  versionFinding,
  type Finding,
} from './findings.ts';
import type { StoreAddress } from '../flags.ts';
import { findFile, openDatabase, runSqlite } from '../connect.ts';

const lockTimeoutMs = 5_000;
const secondLookMs = 1_000;

/** Checks a SQLite file. Looks at the files first, because opening them would change them. */
export async function* checkSqlite(store: StoreAddress): AsyncGenerator<Finding, void> {
  const path = realpathSync(findFile(store.address));
  let lost = findLostFiles(path);
  // A process that begins or ends at this moment makes and removes the files one after the other.
  if (lost !== undefined) {
    await setTimeout(secondLookMs);
    lost = findLostFiles(path);
  }
  yield findingOf(
    'the -wal beside the file',
    lost === undefined,
    `${lost}, so the latest claims may be lost. Stop what pays, put the file and its -wal back together, and follow "The journal is lost" of docs/operate.md.`,
  );
  // Opening the file now would begin another -wal.
  if (lost !== undefined) return;
  const database = openDatabase(path, false);
  try {
    const run = runSqlite(database);
    // A process that pays has the lock for some milliseconds.
    await run(`PRAGMA busy_timeout = ${lockTimeoutMs}`);
    const columns = await run("SELECT name FROM pragma_table_info('payments_journal')");
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

/**
 * How the -wal was lost while a process uses the file: a shell or a backup has removed it (SQLite
 * then leaves the -shm), or the process has a file open that no longer has a name. The second can
 * be seen on Linux, for processes of the same user.
 */
function findLostFiles(path: string): string | undefined {
  if (existsSync(`${path}-shm`) && !existsSync(`${path}-wal`)) return `${path}-wal is gone`;
  for (const pid of list('/proc').filter((name) => /^\d+$/.test(name))) {
    for (const fd of list(`/proc/${pid}/fd`)) {
      const target = readLink(`/proc/${pid}/fd/${fd}`);
      const removed = ['', '-wal', '-shm'].find((end) => target === `${path}${end} (deleted)`);
      if (removed !== undefined)
        return `the process ${pid} uses a ${path}${removed} that was removed`;
    }
  }
  return undefined;
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
