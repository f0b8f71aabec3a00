import type { Clock } from '../calls/clock.ts';
import { Deadline, Stopped } from '../calls/deadline.ts';
import type { Transport } from '../calls/transport.ts';
import {
  AbortError,
  PaymentsError,
  PaymentInDoubtError,
  type CallIdentity,
  type InDoubtReason,
} from '../errors/errors.ts';
import { redactError } from '../errors/redact.ts';
import type { Journal, JournalEntry, PaidEntry, SendingEntry } from '../journals/journal.ts';
import { isObject } from '../schemas/primitives.ts';
import { isTransferId } from '../schemas/transfer.ts';

/** How one call of createOnce or resolveOnce is made. */
export interface OnceSettings {
  readonly journal: Journal;
  /** How long a request may take effect after it has left, in milliseconds. */
  readonly gracePeriod: number;
  readonly totalTimeout: number;
  readonly signal: AbortSignal | undefined;
  readonly clock: Required<Clock>;
  /** Which of the two it is. */
  readonly call: CallIdentity;
  readonly api: Pick<Transport, 'redact' | 'redactOwn'>;
}

/** When to ask again about a call that is at it; most are done sooner. */
export const soon = 1_000;

type InDoubtFacts = Partial<Pick<PaymentInDoubtError, 'retryAfterMs' | 'candidates' | 'cause'>>;

/** The caller's journal, whose every answer is checked and has to come in time; and what the call ends with. */
export class GuardedJournal {
  readonly #reference: string;
  readonly #settings: OnceSettings;
  readonly #startedAt: number;
  #deadline: Deadline;

  constructor(reference: string, settings: OnceSettings) {
    this.#reference = reference;
    this.#settings = settings;
    this.#startedAt = settings.clock.now();
    this.#deadline = this.#newDeadline(settings.signal);
  }

  #newDeadline(signal: AbortSignal | undefined): Deadline {
    const { clock, totalTimeout } = this.#settings;
    return new Deadline(clock, totalTimeout, 'total', { signals: [signal] });
  }

  close(): void {
    this.#deadline.close();
  }

  /** Gives the next steps time of their own; without a signal, they are done for a caller who has left, too. */
  extend(signal?: AbortSignal): void {
    this.close();
    this.#deadline = this.#newDeadline(signal);
  }

  read(reference = this.#reference): Promise<JournalEntry | undefined> {
    return this.#ask('read', (journal) => journal.read(reference), isEntry);
  }

  swap(before: JournalEntry | undefined, after: JournalEntry | undefined): Promise<boolean> {
    const swap = (journal: Journal) => journal.swap(this.#reference, before, after);
    return this.#ask('swap', swap, (done) => typeof done === 'boolean');
  }

  now(): Promise<number> {
    return this.#ask('now', (journal) => journal.now(), Number.isFinite);
  }

  /** Undefined when the journal failed. */
  tryToSwap(
    before: JournalEntry | undefined,
    after: JournalEntry | undefined,
  ): Promise<boolean | undefined> {
    return this.swap(before, after).catch(() => undefined);
  }

  async #ask<T>(
    what: string,
    ask: (journal: Journal) => Promise<T>,
    isAnswer: (answer: unknown) => boolean,
  ): Promise<T> {
    const answer = await this.inTime(
      () => ask(this.#settings.journal),
      () => this.#broken(`${what} did not answer in time`),
      (error) => this.#broken(`${what} failed`, error),
    );
    if (isAnswer(answer)) return answer;
    throw this.#broken(`${what} gave what this SDK cannot read`);
  }

  /** What is asked for, as long as there is time and the caller has not left. */
  async inTime<T>(
    ask: (deadline: Deadline) => Promise<T>,
    late: () => Error,
    failed: (error: unknown) => Error,
  ): Promise<T> {
    const deadline = this.#deadline;
    try {
      deadline.check();
      return await deadline.race(ask(deadline));
    } catch (error) {
      if (!(error instanceof Stopped)) throw failed(error);
      throw error.why.by === 'caller' ? this.aborted(error.why.reason) : late();
    }
  }

  /** What every error of the call says. */
  get facts() {
    const { operation } = this.#settings.call;
    const startedAt = new Date(this.#startedAt).toISOString();
    return { operation, outcome: 'unknown', retryable: true, startedAt } as const;
  }

  aborted(cause: unknown): AbortError {
    return new AbortError(
      'The call was aborted by its signal.\nThis or an earlier call may have paid: call createOnce again to find out.',
      { ...this.#settings.call, ...this.facts, cause },
    );
  }

  inDoubtError(
    reason: InDoubtReason,
    sentence: string,
    more: InDoubtFacts = {},
  ): PaymentInDoubtError {
    const { api, call } = this.#settings;
    const { cause } = more;
    const retryAfterMs = more.retryAfterMs && Math.ceil(more.retryAfterMs);
    const again =
      retryAfterMs === undefined
        ? ''
        : `\nCall createOnce again in ${retryAfterMs} ms (retryAfterMs); it sends nothing twice.`;
    const reference = api.redactOwn(this.#reference);
    const facts = {
      ...call,
      ...this.facts,
      // What only a person can decide, calling again does not settle.
      retryable: reason !== 'ambiguous' && reason !== 'conflict',
      reason,
      reference,
      ...more,
      retryAfterMs,
      ...(cause instanceof PaymentsError
        ? { cause, attempts: cause.attempts }
        : { cause: redactError(cause, api.redact) }),
    };
    return new PaymentInDoubtError(
      `${api.redact(sentence)}.\nReference: ${reference}.${again}`,
      facts,
    );
  }

  inProgress(retryAfterMs: number): PaymentInDoubtError {
    const sentence = 'Another call is making this payment, or was cut off at it';
    return this.inDoubtError('in_progress', sentence, { retryAfterMs });
  }

  #broken(what: string, cause?: unknown): PaymentInDoubtError {
    const sentence = `The journal's ${what}, so nothing more was sent; an earlier call may have paid`;
    return this.inDoubtError('journal', sentence, { cause });
  }
}

function isEntry(entry: unknown): boolean {
  if (!isObject(entry)) return entry === undefined;
  const { state, expiresAt, transferId, input } = entry as Partial<
    Record<keyof SendingEntry | keyof PaidEntry, unknown>
  >;
  if (!isObject(input)) return false;
  if (state === 'paid') return isTransferId(transferId);
  return state === 'not_paid' || (state === 'sending' && Number.isFinite(expiresAt));
}
