import { redactDeep, redactor } from '../../errors/redact.ts';
import type { SandboxOperation } from '../api/calls.ts';
import type { SandboxFault } from './rule.ts';

/** One request as it arrived: no headers, and `[redacted]` in place of any credential. */
export interface SandboxLogEntry {
  /** The HTTP method. */
  readonly method: string;
  /** The path with whatever prefix it came with, without the query. */
  readonly path: string;
  /** The query parameters; of one that was given twice, the last. */
  readonly query: Readonly<Record<string, string>>;
  /** The JSON value that arrived, or its text when it is not JSON; undefined when there was none. */
  readonly body: unknown;
  /** Undefined when the path and method belong to no operation. */
  readonly operation: SandboxOperation | undefined;
  /** The kind of the fault that was applied. */
  readonly fault: SandboxFault['kind'] | undefined;
  /** The status of the answer; undefined before it is sent, and when a fault kept it away. */
  readonly status: number | undefined;
}

/** Memory is bounded: beyond this many entries the oldest are dropped. */
const most = 10_000;

/** Keeps what arrived, without credentials. */
export class Log {
  readonly entries: SandboxLogEntry[] = [];

  /** Adds an entry; the returned function notes the status of the answer. */
  add(
    entry: Omit<SandboxLogEntry, 'status'>,
    credentials: readonly (string | undefined)[],
  ): (status: number) => void {
    const secrets = credentials.filter((text) => text !== undefined);
    const redact = redactor(secrets);
    const noted: { -readonly [Key in keyof SandboxLogEntry]: SandboxLogEntry[Key] } = {
      ...entry,
      path: redact(entry.path),
      query: redactDeep(entry.query, redact),
      body: redactDeep(entry.body, redact),
      status: undefined,
    };
    this.entries.push(noted);
    if (this.entries.length > most) this.entries.shift();
    return (status) => {
      noted.status = status;
    };
  }
}
