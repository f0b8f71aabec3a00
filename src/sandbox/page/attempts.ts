import { stringifyJson } from '../../internal/json.ts';
import type { SandboxLogEntry } from '../log.ts';

/** The result of an attempt: a success, an error, or no complete response. */
export type Result = 'responded' | 'rejected' | 'lost';

/** A request and its retries. */
export interface Call {
  /** The id of the first attempt's entry. */
  readonly id: number;
  readonly signature: string;
  /** Everything that the log contains about the call, as JSON in lower case. */
  text: string;
  /** Each attempt leads to a new array, because the page redraws a call only for a new array. */
  attempts: readonly [SandboxLogEntry, ...SandboxLogEntry[]];
}

/** A retry comes within this time of the attempt before. */
const retriedWithinMs = 90_000;

/** As many entries as the server keeps. */
const maxEntries = 10_000;

const getLastAttempt = ({ attempts }: Call): SandboxLogEntry => attempts.at(-1) ?? attempts[0];

/** Whether an entry is a try of a delivery to the `webhookUrl`. */
export const isDelivery = ({ operation }: SandboxLogEntry): boolean => operation === 'webhook';

export function getResult(entry: SandboxLogEntry): Result {
  const { status, fault } = entry;
  if (status === undefined || fault === 'truncated_body' || fault === 'stalled_body') return 'lost';
  const firstRejected = isDelivery(entry) ? 300 : 400;
  return status >= firstRejected || fault === 'html' ? 'rejected' : 'responded';
}

/** Groups the entries of a log into calls. */
export class Calls {
  /** In the order of their latest attempts. */
  readonly #calls = new Map<number, Call>();
  readonly #latest = new Map<string, Call>();
  #entries = 0;

  /** Returns the calls, latest first. */
  list(): Call[] {
    return [...this.#calls.values()].toReversed();
  }

  /** Adds an entry with its JSON, in which the page searches. */
  add(entry: SandboxLogEntry, json: string): void {
    const { id = 0, method, path, query, body, key, requestId } = entry;
    // All tries of a delivery have the same request id. Two deliveries may have the same body.
    const signature = isDelivery(entry)
      ? requestId
      : stringifyJson([method, path, query, body, key ?? 0]);
    const previousCall = this.#latest.get(signature);
    if (previousCall !== undefined && isRetry(entry, getLastAttempt(previousCall))) {
      previousCall.attempts = [...previousCall.attempts, entry];
      previousCall.text += json.toLowerCase();
      this.#calls.delete(previousCall.id);
      this.#calls.set(previousCall.id, previousCall);
    } else {
      const call: Call = { id, signature, text: json.toLowerCase(), attempts: [entry] };
      this.#calls.set(id, call);
      this.#latest.set(signature, call);
    }
    this.#entries += 1;
    if (this.#entries > maxEntries) this.#dropOldest();
  }

  clear(): void {
    this.#calls.clear();
    this.#latest.clear();
    this.#entries = 0;
  }

  #dropOldest(): void {
    for (const call of this.#calls.values()) {
      this.#calls.delete(call.id);
      if (this.#latest.get(call.signature) === call) this.#latest.delete(call.signature);
      this.#entries -= call.attempts.length;
      return;
    }
  }
}

const isRetry = (entry: SandboxLogEntry, previous: SandboxLogEntry): boolean =>
  isDelivery(entry) ||
  (getResult(previous) !== 'responded' &&
    Math.abs(Date.parse(entry.time) - Date.parse(previous.time)) <= retriedWithinMs);

/** Returns a predicate for calls that name a record, except lists that only contain it. */
export function createRecordFilter(recordId: string): (call: Call) => boolean {
  const pattern = new RegExp(String.raw`\b${recordId.toLowerCase()}\b`);
  return ({ text, attempts: [{ operation }] }) =>
    operation?.endsWith('.list') !== true && pattern.test(text);
}

const quoteForShell = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** A command that sends the request again. The log has no credentials, so the shell provides them. */
export function formatCurl(entry: SandboxLogEntry, origin: string): string {
  const { method, path, query, body } = entry;
  const search = new URLSearchParams(query).toString();
  // The path of a delivery is its whole URL, and its receiver has another credential or none.
  const isWebhook = isDelivery(entry);
  // curl treats brackets and braces as patterns.
  const escapedPath = path.replaceAll(/[[\]{}]/g, encodeURIComponent);
  const key = path.startsWith('/v0') ? 'PAYMENTS_API_KEY' : 'PAYMENTS_JWT';
  const parts = [
    `curl -X ${method} ${quoteForShell(`${isWebhook ? '' : origin}${escapedPath}${search && `?${search}`}`)}`,
    ...(isWebhook ? [] : [`-H "authorization: Bearer $${key}"`]),
  ];
  if (body !== undefined) {
    // --data would read a file for a string that starts with @.
    const text = typeof body === 'string' ? body : stringifyJson(body);
    parts.push(`-H 'content-type: application/json'`, `--data-raw ${quoteForShell(text)}`);
  }
  return parts.join(' \\\n  ');
}
