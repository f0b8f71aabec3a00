import { redactDeep, redactor } from '../errors/redact.ts';
import { parseJson } from '../internal/json.ts';
import type { SandboxLogOperation } from './api/operations.ts';
import type { SandboxFault } from './faults/rule.ts';

/**
 * One request as it arrived, or one delivery to the `webhookUrl` as it was sent: no headers, and
 * `[redacted]` instead of any credential.
 */
export interface SandboxLogEntry {
  /** Number in the order in which requests were completed; undefined while the request runs. */
  readonly id: number | undefined;
  /** When the request arrived: ISO 8601 date-time, UTC, by the clock of the sandbox. */
  readonly time: string;
  /** The HTTP method. */
  readonly method: string;
  /** The path with its prefix, without the query. For a delivery: the whole URL. */
  readonly path: string;
  /** The query parameters. If a parameter is repeated, its last value. */
  readonly query: Readonly<Record<string, string>>;
  /**
   * The JSON value that arrived, or a string when it is not JSON or was cut at 64 KiB; undefined
   * when there was none.
   */
  readonly body: unknown;
  /** Undefined when the path and method belong to no operation. */
  readonly operation: SandboxLogOperation | undefined;
  /** The status of the response; undefined before it is sent, and when a fault prevented it. */
  readonly status: number | undefined;
  /**
   * The body of the response: a JSON value, or a string when it is not JSON or was cut at 10 kB;
   * undefined when there is none.
   */
  readonly response: unknown;
  /** The id of the record that the request created, also when the response was lost. */
  readonly created: string | undefined;
  /** Why a delivery failed or was not sent, and what follows. */
  readonly note: string | undefined;
  /** The time to the response, in milliseconds; undefined before the end. */
  readonly ms: number | undefined;
  /** The `x-request-id` of the response; the same for all tries of a delivery. */
  readonly requestId: string;
  /**
   * Number of the credential that arrived; credentials are numbered by their first appearance.
   * Undefined when none arrived. The log never contains the credential itself.
   */
  readonly key: number | undefined;
  /** The kind of the fault that was applied. */
  readonly fault: SandboxFault['kind'] | undefined;
}

/** Beyond this many entries the oldest are dropped, so that memory is bounded. */
const maxEntries = 10_000;

/** How many characters of a body are kept, so that the bodies of all entries fit into memory. */
const maxBodyLength = 65_536;
const maxResponseLength = 10_000;

/** Copies the start of a text, because a substring would keep the whole text in memory. */
const copyStart = (text: string, length: number): string =>
  new TextDecoder().decode(new TextEncoder().encode(text.slice(0, length)));

/** Shortens a text. Redact credentials before, because half a credential would not be found. */
const truncate = (text: string, length: number): string =>
  text.length > length ? `${copyStart(text, length)}… (${text.length} characters)` : text;

/** Parses JSON. Returns the text itself if it is not JSON. */
function parse(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : parseJson(text);
  } catch {
    return text;
  }
}

/** What is known only at the end of a request. */
export interface LogEnd {
  ms: number;
  status?: number | undefined;
  /** The text of the body. */
  response?: string | undefined;
  created?: string | undefined;
  note?: string | undefined;
}

type MutableEntry = { -readonly [Key in keyof SandboxLogEntry]: SandboxLogEntry[Key] };

/** The requests that arrived, without credentials. */
export class Log {
  readonly entries: SandboxLogEntry[] = [];
  readonly #nextId: () => number;
  readonly #listeners = new Set<(entry: SandboxLogEntry) => void>();
  /** The numbers of the latest credentials. */
  readonly #keys = new Map<string, number>();
  #lastKey = 0;
  /** Called after the log was cleared. */
  readonly onClear = new Set<() => void>();

  constructor(nextId: () => number) {
    this.#nextId = nextId;
  }

  /** Adds an entry; the returned function completes it. */
  add(
    {
      body: fullBody,
      ...request
    }: Pick<
      SandboxLogEntry,
      'time' | 'method' | 'path' | 'query' | 'operation' | 'requestId' | 'fault'
    > & { readonly body: string | undefined },
    secrets: readonly string[],
    credential?: string,
  ): (end: LogEnd) => void {
    const redact = redactor(credential === undefined ? secrets : [...secrets, credential]);
    // An empty body counts as no body.
    const body = fullBody ? truncate(redact(fullBody), maxBodyLength) : undefined;
    let responseText: string | undefined;
    const entry: MutableEntry = {
      id: undefined,
      ...request,
      path: redact(request.path),
      query: redactDeep(request.query, redact),
      // Each read parses the text, because few bodies are read and a text takes less memory.
      get body() {
        return parse(body);
      },
      status: undefined,
      get response() {
        return parse(responseText);
      },
      created: undefined,
      note: undefined,
      ms: undefined,
      key: credential === undefined ? undefined : this.#numberKey(credential),
    };
    this.entries.push(entry);
    if (this.entries.length > maxEntries) this.entries.shift();
    return ({ ms, status, response, created, note }) => {
      entry.id = this.#nextId();
      entry.ms = ms;
      entry.status = status;
      entry.created = created;
      entry.note = note;
      if (response !== undefined) responseText = truncate(redact(response), maxResponseLength);
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

  #numberKey(credential: string): number {
    let number = this.#keys.get(credential);
    if (number === undefined) {
      if (this.#keys.size === maxEntries) this.#keys.clear();
      number = this.#lastKey += 1;
      this.#keys.set(credential, number);
    }
    return number;
  }

  clear(): void {
    this.entries.length = 0;
    for (const listener of this.onClear) listener();
  }
}
