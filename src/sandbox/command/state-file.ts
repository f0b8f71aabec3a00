import {
  existsSync,
  linkSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseJson, stringifyJson } from '../../internal/json.ts';
import type { IdCounts, IdName } from '../platform/ids.ts';
import { wordsOf } from '../platform/sandbox-error.ts';
import type { Keeper, Sandbox } from '../sandbox.ts';

/**
 * The file says that so many more ids were given than were: an id that somebody was told is then
 * never given again, although the process died before the file was written once more.
 */
const block = 1000;
/** How long changes are gathered; what was answered has to be on the disk within a second. */
const shortestWait = 200;
const longestWait = 500;

/**
 * Takes a state from a file, which may have been written by hand.
 * @throws Error that names the file and the place in it.
 */
export function readState(sandbox: Sandbox, path: string): void {
  try {
    sandbox.importState(parseJson(readFileSync(path, 'utf8')));
  } catch (cause) {
    throw new Error(`The state in ${path} cannot be read: ${wordsOf(cause)}`, { cause });
  }
}

/** Keeps the state of a sandbox in a file, which is whole at every moment. */
export class StateFile implements Keeper {
  readonly #sandbox: Sandbox;
  readonly #path: string;
  /** Ids up to these may be given, because the file says that they were. */
  #reserved: IdCounts | undefined;
  /** Which write is the latest: an earlier one that ends later is thrown away. */
  #turn = 0;
  #isDirty = false;
  #isWriting = false;
  #timer: NodeJS.Timeout | undefined;
  #wait = shortestWait;

  /**
   * Goes on from the file; if there is none, from what the sandbox holds.
   * @throws Error when the file is broken, cannot be written, or belongs to another process.
   */
  constructor(sandbox: Sandbox, path: string, seed: () => void) {
    this.#sandbox = sandbox;
    this.#path = existsSync(path) ? realpathSync(path) : resolve(path);
    lock(this.#path);
    try {
      if (existsSync(this.#path)) readState(sandbox, this.#path);
      else seed();
      this.#writeNow();
    } catch (cause) {
      unlock(this.#path);
      throw cause;
    }
    sandbox.keepWith(this);
  }

  changed(): void {
    this.#isDirty = true;
    if (this.#isWriting) return;
    this.#timer ??= setTimeout(() => void this.#write(), this.#wait).unref();
  }

  reserve(name: IdName, number: number): void {
    const left = (this.#reserved?.[name] ?? 0) - number;
    if (left < 0) this.#writeNow();
    else if (left < block / 2) this.changed();
  }

  /** Writes what is left to write, with the ids as they are, and lets the next process in. */
  close(): void {
    clearTimeout(this.#timer);
    this.#writeNow(0);
    unlock(this.#path);
  }

  #snapshot(ahead: number): { text: string; reserved: IdCounts } {
    const state = this.#sandbox.exportState();
    const counts = Object.entries(state.ids).map(([name, count = 0]) => [name, count + ahead]);
    const reserved = Object.fromEntries(counts) as IdCounts;
    return { text: `${stringifyJson({ ...state, ids: reserved })}\n`, reserved };
  }

  #writeNow(ahead = block): void {
    const { text, reserved } = this.#snapshot(ahead);
    this.#turn += 1;
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
      const { text, reserved } = this.#snapshot(block);
      // While everything is turned into text, nobody is answered: large worlds are written less often.
      this.#wait = Math.min(longestWait, shortestWait + 4 * (performance.now() - started));
      this.#turn += 1;
      const turn = this.#turn;
      const temporary = `${this.#path}.tmp`;
      await writeFile(temporary, text);
      if (turn === this.#turn) {
        renameSync(temporary, this.#path);
        this.#reserved = reserved;
      } else {
        rmSync(temporary, { force: true });
      }
    } catch (cause) {
      process.stderr.write(`The state cannot be kept in ${this.#path}: ${wordsOf(cause)}\n`);
      this.#isDirty = true;
    }
    this.#isWriting = false;
    if (this.#isDirty) this.changed();
  }
}

/** Which process a lock belongs to; when it began tells it from a later one of the same number. */
function identityOf(pid: number): string {
  try {
    // Field 22 on Linux; the name in field 2 may hold spaces, and ends at the last parenthesis.
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
    // It is there, and somebody else's.
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'EPERM')) return false;
  }
  return identityOf(pid) === identity;
}

const lockOf = (path: string): string => `${path}.lock`;

/** @throws Error when a living process has the file. */
function lock(path: string): void {
  const own = `${lockOf(path)}.${process.pid}`;
  writeFileSync(own, identityOf(process.pid));
  try {
    // A link is there at once and whole, or not at all.
    for (;;) {
      try {
        linkSync(own, lockOf(path));
        return;
      } catch (cause) {
        if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')) throw cause;
      }
      const holder = holderOf(path);
      if (holder !== undefined && isAlive(holder)) {
        throw new Error(
          `Another sandbox (process ${holder.split(' ')[0]}) keeps its state in ${path}. Stop it, or choose another file.`,
        );
      }
      removeStale(path, holder);
    }
  } finally {
    rmSync(own, { force: true });
  }
}

function holderOf(path: string): string | undefined {
  try {
    return readFileSync(lockOf(path), 'utf8');
  } catch {
    return undefined;
  }
}

/** Takes a dead process's lock away, and puts back what turns out to be somebody else's new one. */
function removeStale(path: string, holder: string | undefined): void {
  const aside = `${lockOf(path)}.stale.${process.pid}`;
  try {
    renameSync(lockOf(path), aside);
    if (readFileSync(aside, 'utf8') !== holder) linkSync(aside, lockOf(path));
  } catch {
    // Somebody else was first; the next look says who.
  }
  rmSync(aside, { force: true });
}

function unlock(path: string): void {
  rmSync(lockOf(path), { force: true });
}
