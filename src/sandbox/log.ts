import { redactDeep, redactor } from '../errors/redact.ts';
import type { SandboxOperation } from './api/operations.ts';
import type { SandboxFault } from './faults/rule.ts';

/** One request as it arrived: no headers, and `[redacted]` instead of any credential. */
export interface SandboxLogEntry {
  /** Number in the order in which requests are completed; undefined before that. */
  readonly id: number | undefined;
  /** When it arrived: ISO 8601 date-time, UTC, by the clock of the sandbox. */
  readonly time: string;
  /** The HTTP method. */
  readonly method: string;
  /** The path with its prefix, without the query. */
  readonly path: string;
  /** The query parameters; the last value of a repeated one. */
  readonly query: Readonly<Record<string, string>>;
  /**
   * The JSON value that arrived, or a string when it is not JSON; cut when it is longer than 64 KiB;
   * undefined when there was none.
   */
  readonly body: unknown;
  /** Undefined when the path and method belong to no operation. */
  readonly operation: SandboxOperation | undefined;
  /** The status of the response; undefined before it is sent, and when a fault prevented it. */
  readonly status: number | undefined;
  /** The time to the response, in milliseconds; undefined before the end. */
  readonly ms: number | undefined;
  /** The `x-request-id` of the response. */
  readonly requestId: string;
  /** The kind of the fault that was applied. */
  readonly fault: SandboxFault['kind'] | undefined;
}

/** Beyond this many entries the oldest are dropped, so that memory is bounded. */
const maxEntries = 10_000;

/** A body for each entry has to fit into memory. */
const maxBodyLength = 65_536;
export const isLong = (text = ''): boolean => text.length > maxBodyLength;

/** Shortens a body after its credentials were redacted: half of one would no longer match. */
const truncateBody = (body: unknown): unknown =>
  typeof body === 'string' && isLong(body)
    ? `${body.slice(0, maxBodyLength)}… (${body.length} characters)`
    : body;

type MutableEntry = { -readonly [Key in keyof SandboxLogEntry]: SandboxLogEntry[Key] };

/** The requests that arrived, without credentials. */
export class Log {
  readonly entries: SandboxLogEntry[] = [];
  readonly #nextId: () => number;
  readonly #listeners = new Set<(entry: SandboxLogEntry) => void>();
  /** Called after the log was cleared. */
  readonly onClear = new Set<() => void>();

  constructor(nextId: () => number) {
    this.#nextId = nextId;
  }

  /** Adds an entry; the returned function completes it, with the status if there was a response. */
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

  /** Calls back for every completed request, until the returned function is called. */
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
