import type { Clock } from '../calls/clock.ts';
import { Deadline, Stopped } from '../calls/deadline.ts';
import {
  AbortError,
  PaymentsError,
  UnsettledError,
  type CallIdentity,
  type UnsettledReason,
} from '../errors/errors.ts';
import { redactError, type Redact } from '../errors/redact.ts';
import type { Journal, JournalEntry, PaidEntry, SendingEntry } from '../journals/journal.ts';
import { isTransferId, type TransferId } from '../schemas/transfer.ts';

/** How one call of createOnce or settleOnce is made. */
export interface OnceSettings {
  readonly journal: Journal;
  /** How long a request may take effect after it has left, in milliseconds. */
  readonly settle: number;
  readonly totalTimeout: number;
  readonly signal: AbortSignal | undefined;
  readonly clock: Required<Clock>;
  /** Which of the two it is. */
  readonly call: CallIdentity;
  readonly startedAt: string;
  readonly redact: Redact;
  /** For the reference: in the caller's own data only the credentials themselves are touched. */
  readonly redactOwn: Redact;
}

interface UnsettledFacts {
  readonly retryAfterMs?: number | undefined;
  readonly candidates?: readonly TransferId[];
  readonly cause?: unknown;
}

export function unsettled(
  { call, startedAt, redact, redactOwn }: OnceSettings,
  reference: string,
  reason: UnsettledReason,
  sentence: string,
  { retryAfterMs, candidates, cause }: UnsettledFacts = {},
): UnsettledError {
  const ms = retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs);
  const again =
    ms === undefined
      ? ''
      : `\nCall createOnce again in ${ms} ms (retryAfterMs); it sends nothing twice.`;
  const name = redactOwn(reference);
  return new UnsettledError(`${redact(sentence)}.\nReference: ${name}.${again}`, {
    ...call,
    outcome: 'unknown',
    // What only a person can decide, calling again does not settle.
    retryable: reason !== 'ambiguous' && reason !== 'conflict',
    startedAt,
    reason,
    reference: name,
    retryAfterMs: ms,
    candidates,
    cause: cause instanceof PaymentsError ? cause : redactError(cause, redact),
  });
}

export const abortedOnce = ({ call, startedAt }: OnceSettings, cause: unknown): AbortError =>
  new AbortError(
    'The call was aborted by its signal. This or an earlier call may have made the payment: call createOnce again to find out.',
    { ...call, outcome: 'unknown', retryable: true, startedAt, cause },
  );

/** The caller's journal, whose every answer is checked and has to come in time. */
export class GuardedJournal {
  readonly #reference: string;
  readonly #settings: OnceSettings;
  #deadline: Deadline;

  constructor(reference: string, settings: OnceSettings) {
    this.#reference = reference;
    this.#settings = settings;
    this.#deadline = this.#newDeadline();
  }

  #newDeadline(): Deadline {
    const { clock, totalTimeout, signal } = this.#settings;
    return new Deadline(clock, totalTimeout, 'total', { signals: [signal] });
  }

  close(): void {
    this.#deadline.close();
  }

  /** The last steps have time of their own, and are done for a caller who has left, too. */
  extend(): void {
    this.#deadline.close();
    const { clock, totalTimeout } = this.#settings;
    this.#deadline = new Deadline(clock, totalTimeout, 'total');
  }

  async read(reference: string): Promise<JournalEntry | undefined> {
    const entry = await this.#ask('read', (journal) => journal.read(reference));
    if (entry === undefined || isEntry(entry)) return entry;
    throw this.#broken('holds an entry that this version of the SDK cannot read');
  }

  async swap(before: JournalEntry | undefined, after: JournalEntry | undefined): Promise<boolean> {
    const done = await this.#ask('swap', (journal) => journal.swap(this.#reference, before, after));
    if (typeof done === 'boolean') return done;
    throw this.#broken('did not answer true or false to swap');
  }

  async now(): Promise<number> {
    const now = await this.#ask('now', (journal) => journal.now());
    if (Number.isFinite(now)) return now;
    throw this.#broken('gave no time');
  }

  /** Undefined when the journal failed. */
  async tryToSwap(
    before: JournalEntry | undefined,
    after: JournalEntry | undefined,
  ): Promise<boolean | undefined> {
    try {
      return await this.swap(before, after);
    } catch {
      return undefined;
    }
  }

  async tryToRead(): Promise<JournalEntry | undefined | 'unreadable'> {
    try {
      return await this.read(this.#reference);
    } catch {
      return 'unreadable';
    }
  }

  async #ask<T>(what: string, ask: (journal: Journal) => Promise<T>): Promise<T> {
    try {
      this.#deadline.check();
      return await this.#deadline.race(ask(this.#settings.journal));
    } catch (error) {
      if (!(error instanceof Stopped)) throw this.#broken(`failed (${what})`, error);
      if (error.why.by !== 'caller') throw this.#broken(`did not answer in time (${what})`);
      throw abortedOnce(this.#settings, error.why.reason);
    }
  }

  #broken(what: string, cause?: unknown): UnsettledError {
    const sentence = `The journal ${what}, so this call sent nothing; an earlier one may have`;
    return unsettled(this.#settings, this.#reference, 'journal', sentence, { cause });
  }
}

function isEntry(entry: unknown): entry is JournalEntry {
  if (typeof entry !== 'object' || entry === null) return false;
  const { state, by, begun, until, transferId, input } = entry as Partial<
    Omit<SendingEntry & PaidEntry, 'state' | 'input'>
  > & { readonly state?: unknown; readonly input?: unknown };
  if (typeof input !== 'object' || input === null) return false;
  if (state === 'paid') return isTransferId(transferId);
  if (state === 'not_paid') return true;
  const times = Number.isFinite(begun) && Number.isFinite(until);
  return state === 'sending' && typeof by === 'string' && times;
}
