import {
  existsSync,
  linkSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { resolve } from 'node:path';
import { parseJson, stringifyJson } from '../../internal/json.ts';
import { fieldOf } from '../../internal/thrown.ts';
import type { IdCounts, IdName } from '../platform/ids.ts';
import { getMessage } from '../platform/sandbox-error.ts';
import type { StateObserver, Sandbox } from '../sandbox.ts';

/**
 * How many ids of each kind the state file reserves in advance. If the process dies before the next
 * write, the restarted sandbox continues after the reserved ids, so it never assigns an id again
 * that a caller has seen.
 */
const reservedIds = 1000;
/** How long a change waits for further changes before the state file is written. */
const writeDelayMs = 500;

/**
 * Imports the state of a sandbox from a JSON file, which a person may have written.
 * @throws Error that names the file and the invalid place in it.
 */
export function readState(sandbox: Sandbox, path: string): void {
  try {
    sandbox.importState(parseJson(readFileSync(path, 'utf8')));
  } catch (cause) {
    throw new Error(`The state in ${path} cannot be read: ${getMessage(cause)}`, { cause });
  }
}

/** Writes the state of a sandbox to a file that contains a whole state even after a crash. */
export class StateFile implements StateObserver {
  readonly #sandbox: Sandbox;
  readonly #path: string;
  /**
   * Per kind of id, the highest number that the file on disk has reserved. An id up to this number
   * can be assigned before the next write of the file.
   */
  #reserved: IdCounts | undefined;
  #timer: NodeJS.Timeout | undefined;

  /**
   * Restores the sandbox from its state file. If there is no file, writes what the sandbox
   * contains.
   * @throws Error when the file is broken, cannot be written, or belongs to another process.
   */
  constructor(sandbox: Sandbox, path: string) {
    this.#sandbox = sandbox;
    // If the path is a symbolic link, lock and write the file that the link leads to.
    this.#path = existsSync(path) ? realpathSync(path) : resolve(path);
    lock(this.#path);
    try {
      if (existsSync(this.#path)) readState(sandbox, this.#path);
      this.#writeNow();
    } catch (cause) {
      unlock(this.#path);
      throw cause;
    }
    sandbox.observeState(this);
  }

  onChange(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      try {
        this.#writeNow();
      } catch (cause) {
        process.stderr.write(`The state cannot be kept in ${this.#path}: ${getMessage(cause)}\n`);
        this.onChange();
      }
    }, writeDelayMs).unref();
  }

  reserve(name: IdName, number: number): void {
    const remaining = (this.#reserved?.[name] ?? 0) - number;
    if (remaining < 0) this.#writeNow();
    else if (remaining < reservedIds / 2) this.onChange();
  }

  /** Writes the state file a last time, without reserved ids, and releases the file's lock. */
  close(): void {
    clearTimeout(this.#timer);
    this.#writeNow(0);
    unlock(this.#path);
  }

  #writeNow(reservedAhead = reservedIds): void {
    const state = this.#sandbox.exportState();
    const counts = Object.entries(state.ids).map(([name, count = 0]) => [
      name,
      count + reservedAhead,
    ]);
    const reserved = Object.fromEntries(counts) as IdCounts;
    const temporary = `${this.#path}.tmp`;
    writeFileSync(temporary, `${stringifyJson({ ...state, ids: reserved })}\n`);
    renameSync(temporary, this.#path);
    this.#reserved = reserved;
  }
}

/** Identifies a process by number and start time, because a later process can get the number. */
function identifyProcess(pid: number): string {
  try {
    // On Linux this file contains the start time in field 22. The name in field 2 may contain
    // spaces, so fields are counted from the last parenthesis, which ends the name.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ');
    return `${pid} ${fields?.[19] ?? ''}`.trim();
  } catch {
    return String(pid);
  }
}

function isAlive(identity: string): boolean {
  const pid = Number(identity.split(' ')[0]);
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch (cause) {
    // The error EPERM means that the process exists and belongs to another user.
    if (fieldOf(cause, 'code') !== 'EPERM') return false;
  }
  return identifyProcess(pid) === identity;
}

const getLockPath = (path: string): string => `${path}.lock`;

/**
 * Creates the lock file, so that no other sandbox uses the same state file.
 * @throws Error when another running process holds the lock.
 */
function lock(path: string): void {
  const ownLockPath = `${getLockPath(path)}.${process.pid}`;
  writeFileSync(ownLockPath, identifyProcess(process.pid));
  try {
    // The operating system never links one name twice, so only one process gets the lock.
    for (;;) {
      try {
        linkSync(ownLockPath, getLockPath(path));
        return;
      } catch (cause) {
        if (fieldOf(cause, 'code') !== 'EEXIST') throw cause;
      }
      const holder = readHolder(path);
      if (holder !== undefined && isAlive(holder)) {
        throw new Error(
          `Another sandbox (process ${holder.split(' ')[0]}) keeps its state in ${path}. Stop it, or choose another file.`,
        );
      }
      // The process that held the lock has ended, so remove its lock and try again.
      removeStale(path, holder);
    }
  } finally {
    rmSync(ownLockPath, { force: true });
  }
}

function readHolder(path: string): string | undefined {
  try {
    return readFileSync(getLockPath(path), 'utf8');
  } catch {
    return undefined;
  }
}

/** Removes the lock file of a dead process, but restores the lock file of another process. */
function removeStale(path: string, holder: string | undefined): void {
  const stalePath = `${getLockPath(path)}.stale.${process.pid}`;
  try {
    renameSync(getLockPath(path), stalePath);
    if (readFileSync(stalePath, 'utf8') !== holder) linkSync(stalePath, getLockPath(path));
  } catch {
    // Another process has changed the lock file meanwhile, so `lock` reads the file again.
  }
  rmSync(stalePath, { force: true });
}

function unlock(path: string): void {
  rmSync(getLockPath(path), { force: true });
}
