import { isObject } from '../../internal/guards.ts';
import type { Clock } from '../../calls/clock.ts';
import { Deadline, Stopped } from '../../calls/deadline.ts';
import type { RequestPipeline } from '../../calls/pipeline.ts';
import {
  AbortError,
  PaymentInDoubtError,
  PaymentsError,
  type CallIdentity,
  type InDoubtReason,
} from '../../errors/errors.ts';
import { redactError, type Redact } from '../../errors/redact.ts';
import type { AmbiguousEntry, Journal, JournalEntry, PaidEntry } from '../../journals/journal.ts';
import { isTransferId } from '../../schemas/transfer.ts';

/** How one call of createOnce or resolveOnce is made. */
export interface OnceSettings {
  readonly journal: Journal;
  /** How long a request may take effect after it has left, in milliseconds. */
  readonly gracePeriod: number;
  readonly totalTimeout: number;
  /** The platform that the journal's entries belong to. */
  readonly baseUrl: string;
  readonly signal: AbortSignal | undefined;
  readonly clock: Required<Clock>;
  /** Which of the two it is. */
  readonly call: CallIdentity;
  readonly api: Pick<RequestPipeline, 'redact' | 'redactOwn'>;
}

/** When to call again while another call is in progress; most end sooner. */
export const inProgressRetryMs = 1_000;

interface InDoubtFacts extends Partial<
  Pick<PaymentInDoubtError, 'retryAfterMs' | 'candidates' | 'cause'>
> {
  /** By the journal's clock. */
  readonly claimedAt?: number | undefined;
  readonly expiresAt?: number | undefined;
}

/** The caller's journal: every result is checked and has a deadline. It also makes the errors of the call. */
export class GuardedJournal {
  readonly #reference: string;
  readonly #settings: OnceSettings;
  readonly #startedAt: number;
  #deadline: Deadline;
  /** The journal's time minus the time that this process has measured. */
  #offset: number | undefined;

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

  /** Gives the next steps a new deadline; without a signal, they also run for an aborted caller. */
  extend(signal?: AbortSignal): void {
    this.close();
    this.#deadline = this.#newDeadline(signal);
  }

  forgets(): boolean {
    try {
      return this.#settings.journal.forgets === true;
    } catch (error) {
      throw this.#failed('forgets failed', error);
    }
  }

  read(reference = this.#reference): Promise<JournalEntry | undefined> {
    return this.#ask('read', (journal) => journal.read(reference), isEntry);
  }

  /** Undefined also when the journal failed. */
  tryToRead(): Promise<JournalEntry | undefined> {
    return this.read().catch(() => undefined);
  }

  swap(before: JournalEntry | undefined, after: JournalEntry | undefined): Promise<boolean> {
    const swap = (journal: Journal) => journal.swap(this.#reference, before, after);
    return this.#ask('swap', swap, (result) => typeof result === 'boolean');
  }

  async now(): Promise<number> {
    const readTime = (journal: Journal) => journal.now(this.#reference);
    const now = await this.#ask('now', readTime, Number.isFinite);
    this.#offset = now - this.#settings.clock.elapsed();
    return now;
  }

  /** The journal's time, from its last reading in this call. */
  estimatedTime(): number | undefined {
    return this.#offset === undefined ? undefined : this.#offset + this.#settings.clock.elapsed();
  }

  /** The journal's time; this machine's if the journal fails, for an entry that must be written. */
  async time(): Promise<number> {
    return this.estimatedTime() ?? (await this.now().catch(() => this.#settings.clock.now()));
  }

  /** Undefined when the journal failed. */
  tryToSwap(
    before: JournalEntry | undefined,
    after: JournalEntry | undefined,
  ): Promise<boolean | undefined> {
    return this.swap(before, after).catch(() => undefined);
  }

  async #ask<T>(
    method: string,
    ask: (journal: Journal) => Promise<T>,
    isResult: (result: unknown) => boolean,
  ): Promise<T> {
    const result = await this.inTime(
      () => ask(this.#settings.journal),
      () => this.#failed(`${method} did not return in time`),
      (error) => this.#failed(`${method} failed`, error),
    );
    if (isResult(result)) return result;
    throw this.#failed(`${method} returned a value that this SDK cannot read`);
  }

  /** Runs one step within the deadline, until the caller aborts. */
  async inTime<T>(
    run: (deadline: Deadline) => Promise<T>,
    onTimeout: () => Error,
    onError: (error: unknown) => Error,
  ): Promise<T> {
    const deadline = this.#deadline;
    try {
      deadline.check();
      return await deadline.race(run(deadline));
    } catch (error) {
      if (!(error instanceof Stopped)) throw onError(error);
      throw error.why.by === 'caller' ? this.#aborted(error.why.reason) : onTimeout();
    }
  }

  /** What every error of the call holds. */
  get facts() {
    const { operation } = this.#settings.call;
    const startedAt = new Date(this.#startedAt).toISOString();
    return { operation, outcome: 'unknown', retryable: true, startedAt } as const;
  }

  #aborted(cause: unknown): AbortError {
    return new AbortError(
      'The call was aborted by its signal.\nThis or an earlier call may have paid: call createOnce again to find out.',
      { ...this.#settings.call, ...this.facts, cause },
    );
  }

  inDoubtError(
    reason: InDoubtReason,
    description: string,
    { claimedAt, expiresAt, ...facts }: InDoubtFacts = {},
  ): PaymentInDoubtError {
    const { api, call } = this.#settings;
    const { cause } = facts;
    const retryAfterMs = facts.retryAfterMs && Math.ceil(facts.retryAfterMs);
    const reference = api.redactOwn(this.#reference);
    const [, method = ''] = call.operation.split('.');
    const hints = [
      retryAfterMs !== undefined &&
        `Call ${method} again in ${retryAfterMs} ms (retryAfterMs); it sends nothing twice.`,
      expiresAt !== undefined &&
        `Until ${isoTime(expiresAt)}, an earlier request may still take effect.`,
    ];
    const message = [`${api.redact(description)}.`, `Reference: ${reference}.`, ...hints];
    const known = {
      ...call,
      ...this.facts,
      // These two need an operator, or another input.
      retryable: reason !== 'ambiguous' && reason !== 'conflict',
      reason,
      reference,
      ...(claimedAt === undefined ? {} : { claimedAt: isoTime(claimedAt) }),
      ...facts,
      retryAfterMs,
      ...(cause instanceof PaymentsError
        ? { cause, attempts: cause.attempts }
        : { cause: redactError(cause, withoutPasswords(api.redact)) }),
    };
    return new PaymentInDoubtError(message.filter(Boolean).join('\n'), known);
  }

  #failed(what: string, cause?: unknown): PaymentInDoubtError {
    const description = `The journal's ${what}, so nothing more was sent; an earlier call may have paid`;
    return this.inDoubtError('journal', description, { cause });
  }
}

/** A time that a journal's entry may hold, which need not be one that a Date can. */
const isoTime = (ms: number): string =>
  Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : String(ms);

/** A store's own error may name its connection string. */
const withoutPasswords =
  (redact: Redact): Redact =>
  (text) =>
    redact(text).replaceAll(/:\/\/[^\s/@]*:[^\s/]*@/g, '://[redacted]@');

function isEntry(entry: unknown): boolean {
  if (!isObject(entry)) return entry === undefined;
  const { state, claimedAt, expiresAt, candidates, transferId, input } = entry as Partial<
    Record<keyof AmbiguousEntry | keyof PaidEntry, unknown>
  >;
  if (!isObject(input)) return false;
  const isClaim = Number.isFinite(claimedAt) && Number.isFinite(expiresAt);
  switch (state) {
    case 'paid':
      return isTransferId(transferId);
    case 'sending':
      return isClaim;
    case 'ambiguous':
      return isClaim && Array.isArray(candidates);
    default:
      return state === 'not_paid';
  }
}
