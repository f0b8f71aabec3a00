import { stringifyJson } from '../../internal/json.ts';
import { isDocumentedErrorBody, statusOutcome } from '../../internal/status-outcome.ts';
import type { SandboxLogEntry } from '../log.ts';

/**
 * The result of an attempt: a success, a delivery that did not arrive, or what a failure proves in
 * the words of the client's errors: `rejected`, or `unknown` if the request may have had effect.
 */
export type Result = 'responded' | 'not delivered' | ReturnType<typeof statusOutcome>;

/** A call in the page's log: a request and its retries. */
export interface Call {
  /** The id of the log entry of the call's first attempt. */
  readonly id: number;
  readonly signature: string;
  /** The JSON of all log entries of the call, in lower case, for the search field of the page. */
  text: string;
  /** Each attempt creates a new array, because the page redraws a call only for a new array. */
  attempts: readonly [SandboxLogEntry, ...SandboxLogEntry[]];
}

/** An equal request within this time after a failed attempt counts as a retry of that attempt. */
const retriedWithinMs = 90_000;

/** The maximum of log entries on the page, which is also the server's maximum. */
const maxEntries = 10_000;

const getLastAttempt = ({ attempts }: Call): SandboxLogEntry => attempts.at(-1) ?? attempts[0];

/** Whether a log entry is a try of a delivery to the `webhookUrl`. */
export const isDelivery = ({ operation }: SandboxLogEntry): boolean => operation === 'webhook';

/** Whether the caller got no complete response to an attempt. */
export const isLost = ({ status, fault }: SandboxLogEntry): boolean =>
  status === undefined || fault === 'truncated_body' || fault === 'stalled_body';

export function getResult(entry: SandboxLogEntry): Result {
  const { status, fault } = entry;
  if (isDelivery(entry)) return Number(status) < 300 ? 'responded' : 'not delivered';
  if (status === undefined || isLost(entry)) return 'unknown';
  if (status < 300) return fault === 'html' ? 'unknown' : 'responded';
  const isRead = entry.method === 'GET' || entry.operation === 'instructions.build';
  const hasErrorBody = isDocumentedErrorBody(entry.response);
  return statusOutcome(status, isRead ? 'safe' : 'once', { hasErrorBody });
}

/** Groups the entries of the log into calls, each with its retries. */
export class Calls {
  /** The calls in the order of their latest attempts. */
  readonly #calls = new Map<number, Call>();
  readonly #latestBySignature = new Map<string, Call>();
  #entryCount = 0;

  /** How many log entries the calls have together. */
  get entryCount(): number {
    return this.#entryCount;
  }

  /** Returns the calls of the log, latest first. */
  list(): Call[] {
    return [...this.#calls.values()].toReversed();
  }

  /**
   * Adds a log entry to the call that the entry retries, or creates a call. `json` is the text of
   * the entry for the page's search field.
   */
  add(entry: SandboxLogEntry, json: string): void {
    const { id = 0, method, path, query, body, key, requestId } = entry;
    // Compare request ids, because two different webhook deliveries can have the same body.
    const signature = isDelivery(entry)
      ? requestId
      : stringifyJson([method, path, query, body, key ?? 0]);
    const previousCall = this.#latestBySignature.get(signature);
    if (previousCall !== undefined && isRetry(entry, getLastAttempt(previousCall))) {
      previousCall.attempts = [...previousCall.attempts, entry];
      previousCall.text += json.toLowerCase();
      // The map keeps the order of insertion, so insert the call again to move it to the end.
      this.#calls.delete(previousCall.id);
      this.#calls.set(previousCall.id, previousCall);
    } else {
      const call: Call = { id, signature, text: json.toLowerCase(), attempts: [entry] };
      this.#calls.set(id, call);
      this.#latestBySignature.set(signature, call);
    }
    this.#entryCount += 1;
    if (this.#entryCount > maxEntries) this.#dropOldest();
  }

  clear(): void {
    this.#calls.clear();
    this.#latestBySignature.clear();
    this.#entryCount = 0;
  }

  #dropOldest(): void {
    for (const call of this.#calls.values()) {
      this.#calls.delete(call.id);
      if (this.#latestBySignature.get(call.signature) === call)
        this.#latestBySignature.delete(call.signature);
      this.#entryCount -= call.attempts.length;
      return;
    }
  }
}

const isRetry = (entry: SandboxLogEntry, previous: SandboxLogEntry): boolean =>
  isDelivery(entry) ||
  (getResult(previous) !== 'responded' &&
    Math.abs(Date.parse(entry.time) - Date.parse(previous.time)) <= retriedWithinMs);

/** Returns a function that tells whether a call mentions a record. Calls that list records are left out. */
export function createRecordFilter(recordId: string): (call: Call) => boolean {
  const pattern = new RegExp(String.raw`\b${recordId.toLowerCase()}\b`);
  return ({ text, attempts: [{ operation }] }) =>
    operation?.endsWith('.list') !== true && pattern.test(text);
}
