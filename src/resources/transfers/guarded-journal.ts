import { isObject } from '../../internal/guards.ts';
import { cannotSend } from '../../calls/call.ts';
import { Deadline, Stopped } from '../../calls/deadline.ts';
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
import type { OnceContext } from './once-context.ts';

/** When to call again while another call is in progress; most end sooner. */
export const inProgressRetryMs = 1_000;

/** The caller's journal: every result is checked and has a deadline. It also makes the errors of the call. */
export class GuardedJournal {
  readonly #call: CallIdentity;
  readonly #reference: string;
  readonly #context: OnceContext;
  readonly #journal: Journal;
  readonly #startedAt: number;
  #deadline: Deadline;
  /** The journal's time minus the time that this process has measured. */
  #offset: number | undefined;

  constructor(call: CallIdentity, reference: string, context: OnceContext) {
    const { journal, clock, signal } = context;
    if (journal === undefined) {
      throw cannotSend(
        call,
        'needs a journal; this client has none.\nPass the option journal: sqliteJournal, postgresJournal, redisJournal or, for tests, memoryJournal, from payments-platform-sdk/journals.',
      );
    }
    this.#call = call;
    this.#reference = reference;
    this.#context = context;
    this.#journal = journal;
    this.#startedAt = clock.now();
    this.#deadline = this.#createDeadline(signal);
  }

  #createDeadline(signal: AbortSignal | undefined): Deadline {
    const { clock, totalTimeout } = this.#context;
    return new Deadline(clock, totalTimeout, 'total', { signals: [signal] });
  }

  close(): void {
    this.#deadline.close();
  }

  /** Gives the next steps a new deadline; without a signal, they also run for an aborted caller. */
  extend(signal?: AbortSignal): void {
    this.close();
    this.#deadline = this.#createDeadline(signal);
  }

  forgets(): boolean {
    try {
      return this.#journal.forgets === true;
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
    this.#offset = now - this.#context.clock.elapsed();
    return now;
  }

  /** The journal's time, from its last reading in this call. */
  estimatedTime(): number | undefined {
    return this.#offset === undefined ? undefined : this.#offset + this.#context.clock.elapsed();
  }

  /** The journal's time; this machine's if the journal fails, for an entry that must be written. */
  async time(): Promise<number> {
    return this.estimatedTime() ?? (await this.now().catch(() => this.#context.clock.now()));
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
      () => ask(this.#journal),
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
    const { operation } = this.#call;
    const startedAt = new Date(this.#startedAt).toISOString();
    return { operation, outcome: 'unknown', retryable: true, startedAt } as const;
  }

  #aborted(cause: unknown): AbortError {
    return new AbortError(
      'The call was aborted by its signal.\nThis or an earlier call may have paid: call createOnce again to find out.',
      { ...this.#call, ...this.facts, cause },
    );
  }

  inDoubtError(
    reason: InDoubtReason,
    description: string,
    {
      claimedAt,
      expiresAt,
      ...facts
    }: Partial<Pick<PaymentInDoubtError, 'retryAfterMs' | 'candidates' | 'cause'>> & {
      /** By the journal's clock. */
      readonly claimedAt?: number | undefined;
      readonly expiresAt?: number | undefined;
    } = {},
  ): PaymentInDoubtError {
    const { redact, redactOwn } = this.#context.pipeline;
    const { cause } = facts;
    const retryAfterMs = facts.retryAfterMs && Math.ceil(facts.retryAfterMs);
    const reference = redactOwn(this.#reference);
    const [, method = ''] = this.#call.operation.split('.');
    const hints = [
      retryAfterMs !== undefined &&
        `Call ${method} again in ${retryAfterMs} ms (retryAfterMs); it sends nothing twice.`,
      expiresAt !== undefined &&
        `Until ${isoTime(expiresAt)}, an earlier request may still take effect.`,
    ];
    const message = [`${redact(description)}.`, `Reference: ${reference}.`, ...hints];
    const fields = {
      ...this.#call,
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
        : { cause: redactError(cause, withoutPasswords(redact)) }),
    };
    return new PaymentInDoubtError(message.filter(Boolean).join('\n'), fields);
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
