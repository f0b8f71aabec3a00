import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseJson, stringifyJson } from '../../internal/json.ts';
import { fieldOf } from '../../internal/thrown.ts';
import type { IdCounts, IdName } from '../platform/ids.ts';
import { getMessage } from '../platform/sandbox-error.ts';
import type { StateObserver, Sandbox } from '../sandbox.ts';

/**
 * How many ids of each kind the file reserves in advance. So an id that a caller has seen is never
 * assigned again, even if the process dies before the next write.
 */
const reservedIds = 1000;
/** How long changes are collected. A change has to be on the disk a second after its response. */
const minWriteDelayMs = 200;
const maxWriteDelayMs = 500;

/**
 * Imports a state from a file, which a person may have written.
 * @throws Error that names the file and the invalid place in it.
 */
export function readState(sandbox: Sandbox, path: string): void {
  try {
    sandbox.importState(parseJson(readFileSync(path, 'utf8')));
  } catch (cause) {
    throw new Error(`The state in ${path} cannot be read: ${getMessage(cause)}`, { cause });
  }
}

/** The folder beside a state file that contains a file for each world. */
const getWorldFolder = (path: string): string => `${path}.worlds`;

/** Returns the path of a world's file, and creates its folder. */
export function getWorldPath(path: string, name: string): string {
  const folder = getWorldFolder(path);
  mkdirSync(folder, { recursive: true });
  return join(folder, `${name}.json`);
}

/** The names of the worlds that have a file. */
export function listWorlds(path: string): string[] {
  const folder = getWorldFolder(path);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((file) => /^([a-z0-9-]{1,40})\.json$/.exec(file)?.[1] ?? []);
}

/** Keeps the state of a sandbox in a file, which is complete at every moment. */
export class StateFile implements StateObserver {
  readonly #sandbox: Sandbox;
  readonly #path: string;
  /** Ids up to these may be assigned, because the file reserves them. */
  #reserved: IdCounts | undefined;
  /** Number of the latest write. An earlier write that ends later is discarded. */
  #latestWrite = 0;
  #isDirty = false;
  #isWriting = false;
  #timer: NodeJS.Timeout | undefined;
  #writeDelayMs = minWriteDelayMs;
  #isClosed = false;

  /**
   * Restores the state in the file. If there is no file, writes what the sandbox contains.
   * @throws Error when the file is broken, cannot be written, or belongs to another process.
   */
  constructor(sandbox: Sandbox, path: string) {
    this.#sandbox = sandbox;
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
    this.#isDirty = true;
    if (this.#isWriting || this.#isClosed) return;
    this.#timer ??= setTimeout(() => void this.#write(), this.#writeDelayMs).unref();
  }

  reserve(name: IdName, number: number): void {
    const remaining = (this.#reserved?.[name] ?? 0) - number;
    if (remaining < 0) this.#writeNow();
    else if (remaining < reservedIds / 2) this.onChange();
  }

  /** Writes the state with the exact ids, and releases the lock. */
  close(): void {
    clearTimeout(this.#timer);
    this.#writeNow(0);
    unlock(this.#path);
  }

  /** Removes the file with its lock. */
  remove(): void {
    this.#isClosed = true;
    // A write in progress is discarded.
    this.#latestWrite += 1;
    clearTimeout(this.#timer);
    rmSync(this.#path, { force: true });
    unlock(this.#path);
  }

  #createSnapshot(reservedAhead: number): { text: string; reserved: IdCounts } {
    const state = this.#sandbox.exportState();
    const counts = Object.entries(state.ids).map(([name, count = 0]) => [
      name,
      count + reservedAhead,
    ]);
    const reserved = Object.fromEntries(counts) as IdCounts;
    return { text: `${stringifyJson({ ...state, ids: reserved })}\n`, reserved };
  }

  #writeNow(reservedAhead = reservedIds): void {
    const { text, reserved } = this.#createSnapshot(reservedAhead);
    this.#latestWrite += 1;
    const temporary = `${this.#path}.now.tmp`;
    writeFileSync(temporary, text);
    renameSync(temporary, this.#path);
    this.#reserved = reserved;
  }

  async #write(): Promise<void> {
    this.#timer = undefined;
    this.#isWriting = true;
    this.#isDirty = false;
    const started = performance.now();
    try {
      const { text, reserved } = this.#createSnapshot(reservedIds);
      // The sandbox sends no response while it serializes, so large states are written less often.
      this.#writeDelayMs = Math.min(
        maxWriteDelayMs,
        minWriteDelayMs + 4 * (performance.now() - started),
      );
      this.#latestWrite += 1;
      const thisWrite = this.#latestWrite;
      const temporary = `${this.#path}.tmp`;
      await writeFile(temporary, text);
      if (thisWrite === this.#latestWrite) {
        renameSync(temporary, this.#path);
        this.#reserved = reserved;
      } else {
        rmSync(temporary, { force: true });
      }
    } catch (cause) {
      process.stderr.write(`The state cannot be kept in ${this.#path}: ${getMessage(cause)}\n`);
      this.#isDirty = true;
    }
    this.#isWriting = false;
    if (this.#isDirty) this.onChange();
  }
}

/** Identifies a process by its number and start time, because numbers are used again. */
function identifyProcess(pid: number): string {
  try {
    // The start time is field 22 on Linux. The name in field 2 may contain spaces, but field 3
    // always follows the last parenthesis.
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
    // EPERM means that the process exists and belongs to another user.
    if (fieldOf(cause, 'code') !== 'EPERM') return false;
  }
  return identifyProcess(pid) === identity;
}

const getLockPath = (path: string): string => `${path}.lock`;

/** @throws Error when a running process holds the file. */
function lock(path: string): void {
  const ownLockPath = `${getLockPath(path)}.${process.pid}`;
  writeFileSync(ownLockPath, identifyProcess(process.pid));
  try {
    // Creating a link is atomic, so only one process gets the lock.
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

/** Removes the lock of a dead process. If another process has just taken the lock, restores it. */
function removeStale(path: string, holder: string | undefined): void {
  const stalePath = `${getLockPath(path)}.stale.${process.pid}`;
  try {
    renameSync(getLockPath(path), stalePath);
    if (readFileSync(stalePath, 'utf8') !== holder) linkSync(stalePath, getLockPath(path));
  } catch {
    // Another process was first; the next attempt reads its lock.
  }
  rmSync(stalePath, { force: true });
}

function unlock(path: string): void {
  rmSync(getLockPath(path), { force: true });
}
