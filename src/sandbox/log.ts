import { redactDeep, redactor } from '../errors/redact.ts';
import { parseJson } from '../internal/json.ts';
import type { SandboxLogOperation } from './api/operations.ts';
import type { SandboxFault } from './faults/rule.ts';

/**
 * An entry of `sandbox.log`: a request that arrived, or a delivery to the `webhookUrl`. The entry
 * contains no headers, and `[redacted]` instead of credentials.
 */
export interface SandboxLogEntry {
  /** Number of the entry, in the order in which requests end; undefined while the request runs. */
  readonly id: number | undefined;
  /** When the request arrived: ISO 8601 date-time, UTC, by the clock of the sandbox. */
  readonly time: string;
  /** The HTTP method of the request. */
  readonly method: string;
  /** The path of the request with any prefix, without the query. For a delivery: the whole URL. */
  readonly path: string;
  /** The query parameters of the request. If a parameter is repeated, its last value. */
  readonly query: Readonly<Record<string, string>>;
  /**
   * The request body: its JSON value, or a string when the body is not JSON or was cut at 64 KiB;
   * undefined when there was none.
   */
  readonly body: unknown;
  /** The operation that the request's method and path belong to; undefined if there is none. */
  readonly operation: SandboxLogOperation | undefined;
  /** The status of the response; undefined before the response, and if a fault prevented it. */
  readonly status: number | undefined;
  /**
   * The response body: its JSON value, or a string when the body is not JSON or was cut at 10 kB;
   * undefined when there is none.
   */
  readonly response: unknown;
  /** The id of the record that the request created, even if the response was lost. */
  readonly created: string | undefined;
  /** Why a webhook delivery failed or was not sent, and whether the sandbox tries again. */
  readonly note: string | undefined;
  /** Milliseconds from the request to its response; undefined while the request runs. */
  readonly ms: number | undefined;
  /** The `x-request-id` of the response. All tries of one webhook delivery have the same id. */
  readonly requestId: string;
  /**
   * Number of the request's credential, in the order in which the sandbox first saw each
   * credential; undefined when the request had none. The log never contains the credential itself.
   */
  readonly key: number | undefined;
  /** The kind of the fault that the sandbox applied to the request. */
  readonly fault: SandboxFault['kind'] | undefined;
}

/** The maximum of entries in the log. The oldest are dropped, so that memory is bounded. */
const maxEntries = 10_000;

/** How many characters of a body the log keeps, so that the bodies of all entries fit in memory. */
const maxBodyLength = 65_536;
const maxResponseLength = 10_000;

/** Copies the start of a text, because a substring would keep the whole text in memory. */
const copyStart = (text: string, length: number): string =>
  new TextDecoder().decode(new TextEncoder().encode(text.slice(0, length)));

/** Shortens a text. Redact credentials first, because half a credential is not recognised. */
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

/** The parts of a log entry that are known only at the end of a request. */
export interface LogEnd {
  ms: number;
  status?: number | undefined;
  response?: string | undefined;
  created?: string | undefined;
  note?: string | undefined;
}

type MutableEntry = { -readonly [Key in keyof SandboxLogEntry]: SandboxLogEntry[Key] };

/** The log of requests that arrived at a sandbox, without credentials. */
export class Log {
  readonly entries: SandboxLogEntry[] = [];
  readonly #nextId: () => number;
  readonly #listeners = new Set<(entry: SandboxLogEntry) => void>();
  /** Numbers that stand for the latest credentials in the log. */
  readonly #keys = new Map<string, number>();
  #lastKey = 0;
  /** Functions to call after the log was cleared. */
  readonly onClear = new Set<() => void>();

  constructor(nextId: () => number) {
    this.#nextId = nextId;
  }

  /**
   * Adds an entry to the log, with `[redacted]` instead of the secrets and the request's
   * credential. Call the returned function when the request is complete, because only then does the
   * entry get its id, status and response, and go to the listeners.
   */
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
    const body = fullBody ? truncate(redact(fullBody), maxBodyLength) : undefined;
    let responseText: string | undefined; // set when the request is complete
    const entry: MutableEntry = {
      id: undefined,
      ...request,
      path: redact(request.path),
      query: redactDeep(request.query, redact),
      // A text takes less memory than its parsed value and few bodies are ever read, so each read
      // of an entry parses the text again.
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

  /** Calls the listener for each new entry of the log, until you call the returned function. */
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
