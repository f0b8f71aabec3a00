import { redactDeep, redactor } from '../errors/redact.ts';
import type { SandboxOperation } from './api/operations.ts';
import type { SandboxFault } from './faults/rule.ts';

/** One request as it arrived: no headers, and `[redacted]` in place of any credential. */
export interface SandboxLogEntry {
  /** Counts on in the order in which requests come to their ends; undefined before that. */
  readonly id: number | undefined;
  /** When it arrived: ISO 8601 date-time, UTC, by the clock of the sandbox. */
  readonly time: string;
  /** The HTTP method. */
  readonly method: string;
  /** The path with whatever prefix it came with, without the query. */
  readonly path: string;
  /** The query parameters; of one that was given twice, the last. */
  readonly query: Readonly<Record<string, string>>;
  /**
   * The JSON value that arrived, or its text when it is not JSON; the beginning of the text when it
   * is longer than 64 KiB; undefined when there was none.
   */
  readonly body: unknown;
  /** Undefined when the path and method belong to no operation. */
  readonly operation: SandboxOperation | undefined;
  /** The status of the answer; undefined before it is sent, and when a fault kept it away. */
  readonly status: number | undefined;
  /** How long the answer took, in milliseconds; undefined before the end. */
  readonly ms: number | undefined;
  /** The `x-request-id` of the answer. */
  readonly requestId: string;
  /** The kind of the fault that was applied. */
  readonly fault: SandboxFault['kind'] | undefined;
}

/** Memory is bounded: beyond this many entries the oldest are dropped. */
const maxEntries = 10_000;

/** As many bodies as there are entries have to fit into memory. */
const maxBodyLength = 65_536;
export const isLong = (text = ''): boolean => text.length > maxBodyLength;

/** Cut after its credentials were taken out: half of one would no longer be found. */
const truncateBody = (body: unknown): unknown =>
  typeof body === 'string' && isLong(body)
    ? `${body.slice(0, maxBodyLength)}… (${body.length} characters)`
    : body;

type MutableEntry = { -readonly [Key in keyof SandboxLogEntry]: SandboxLogEntry[Key] };

/** Keeps what arrived, without credentials. */
export class Log {
  readonly entries: SandboxLogEntry[] = [];
  readonly #nextId: () => number;
  readonly #listeners = new Set<(entry: SandboxLogEntry) => void>();
  /** Called after everything was forgotten. */
  readonly onClear = new Set<() => void>();

  constructor(nextId: () => number) {
    this.#nextId = nextId;
  }

  /** Adds an entry; the returned function notes its end, with the status if there was an answer. */
  add(
    request: Omit<SandboxLogEntry, 'id' | 'status' | 'ms'>,
    credentials: readonly (string | undefined)[],
  ): (ms: number, status?: number) => void {
    const redact = redactor(credentials.filter((credential) => credential !== undefined));
    const entry: MutableEntry = {
      id: undefined,
      ...request,
      path: redact(request.path),
      query: redactDeep(request.query, redact),
      body: truncateBody(redactDeep(request.body, redact)),
      status: undefined,
      ms: undefined,
    };
    this.entries.push(entry);
    if (this.entries.length > maxEntries) this.entries.shift();
    return (ms, status) => {
      entry.id = this.#nextId();
      entry.ms = ms;
      entry.status = status;
      for (const listener of this.#listeners) listener(entry);
    };
  }

  /** Calls back for every request that comes to its end, until the returned function is called. */
  onEntry(listener: (entry: SandboxLogEntry) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  clear(): void {
    this.entries.length = 0;
    for (const listener of this.onClear) listener();
  }
}
