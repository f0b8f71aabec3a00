import { invalidArguments } from '../calls/arguments.ts';
import {
  AbortError,
  PaymentInDoubtError,
  PaymentsError,
  TimeoutError,
  type CallIdentity,
  type InDoubtReason,
} from '../errors/errors.ts';
import { createError, reattribute, summaryOf } from '../errors/message.ts';
import { redactError, type Redact } from '../errors/redact.ts';
import { formatTime, formatWait } from '../internal/text.ts';
import { fieldOf, innermostMessageOf, messageOf } from '../internal/thrown.ts';
import type { OpenEntry } from '../journals/journal.ts';
import type { JournalContext } from './context.ts';
import { findRetryDelay, inProgressRetryMs, minRetryMs } from './decision.ts';
import { findTimeLeft } from './entries.ts';

/** When to call again about a payment in doubt, and the times of its claim by the journal's clock. */
export interface DoubtTimes {
  readonly retryAfterMs?: number | undefined;
  readonly claimedAt?: number | undefined;
  /** Until when an earlier request may take effect; `Infinity` if that has no end. */
  readonly endsAt?: number | undefined;
}

/** Creates the errors of one call about a payment in doubt, such as createOnce or decide. */
export class PaymentErrors {
  /** The payment's reference, as the caller has passed it. */
  readonly reference: string;
  readonly #call: CallIdentity;
  readonly #context: JournalContext;
  readonly #startedAt: number;
  readonly #journalTime: () => number | undefined;

  /** `journalTime` returns the journal's present time, or undefined if that is not known. */
  constructor(
    call: CallIdentity,
    reference: string,
    context: JournalContext,
    journalTime: () => number | undefined = () => undefined,
  ) {
    this.#call = call;
    this.reference = reference;
    this.#context = context;
    this.#startedAt = context.clock.now();
    this.#journalTime = journalTime;
  }

  get commonFields() {
    const { operation } = this.#call;
    const startedAt = new Date(this.#startedAt).toISOString();
    return { operation, outcome: 'unknown', retryable: true, startedAt } as const;
  }

  createAbortError(cause: unknown): AbortError {
    return new AbortError(
      'The call was aborted by its signal.\nThis or an earlier call may have paid: call createOnce again to find out.',
      { ...this.#call, ...this.commonFields, cause },
    );
  }

  /** Creates the error of a payment that another call has claimed. Omit `claim` if it was not read. */
  createInProgressError(claim?: OpenEntry, times?: DoubtTimes): PaymentInDoubtError {
    const description = 'An earlier call has claimed this payment, and its request may still run';
    const known = claim ? this.#timesOf(claim) : { retryAfterMs: inProgressRetryMs };
    return this.createError('in_progress', description, { ...known, ...times });
  }

  /**
   * Creates the error of a payment with an unknown outcome. The message has `detail` before the
   * summary of `cause`, the error that left the payment in doubt.
   */
  createInDoubtError(
    claim: OpenEntry | undefined,
    cause?: unknown,
    detail = '',
    others: DoubtTimes & { readonly retryable?: boolean } = {},
  ): PaymentInDoubtError {
    const why = [detail, cause instanceof PaymentsError && summaryOf(cause)].filter(Boolean);
    const description = `Whether the payment was made is not known yet. ${why.join('.\n')}`;
    return this.createError('in_doubt', description.replace(/[. ]+$/, ''), {
      ...this.#timesOf(claim),
      ...others,
      cause,
    });
  }

  /** When to call again about a claim, and how long its request may still take effect. */
  #timesOf(claim: OpenEntry | undefined): DoubtTimes {
    const now = this.#journalTime();
    if (claim === undefined || now === undefined) {
      return { retryAfterMs: minRetryMs, claimedAt: claim?.claimedAt };
    }
    const left = findTimeLeft(claim, now, this.#context);
    const endsAt = now + left.toTakeEffect;
    return {
      retryAfterMs: findRetryDelay(now - claim.claimedAt, left),
      claimedAt: claim.claimedAt,
      endsAt: left.toTakeEffect > 0 ? endsAt : undefined,
    };
  }

  /** Creates the error of a payment that could not be sent in time and has no claim. */
  createNotSentError(problem: string, hint: string, retryable = true): TimeoutError {
    const { operation, method, path } = this.#call;
    const { startedAt } = this.commonFields;
    return createError(
      TimeoutError,
      {
        what: `${operation} did not send the payment, and the journal has no claim of it: ${problem}`,
        hint,
        consequence: 'Nothing was sent.',
      },
      { operation, method, path, outcome: 'not_sent', retryable, startedAt, phase: 'total' },
    );
  }

  /** Creates the error if the caller's arguments contradict the journal or the platform. */
  createConflictError(description: string, cause?: unknown): PaymentInDoubtError {
    return this.createError('conflict', description, { cause });
  }

  createReferenceError(): Error {
    const message = 'the journal has no entry for it';
    const hint = 'Check its spelling and the journal';
    const issue = { path: 'reference', message, hint };
    return invalidArguments(this.#call, [issue], this.#context.pipeline.redact);
  }

  /** Creates the error if `since` is after `claimedAt`, the first claim by this machine's clock. */
  createSinceError(claimedAt: number): Error {
    const message = `expected the time at which this payment was first requested; an earlier call claimed it at ${formatTime(claimedAt)}`;
    const hint = 'Pass the timestamp of its job, the same at every call';
    const issue = { path: 'options.since', message, hint };
    const error = invalidArguments(this.#call, [issue], this.#context.pipeline.redact);
    const parts = {
      what: 'Whether the payment was made is not known yet',
      hint: 'Fix the arguments and call createOnce again',
    };
    return reattribute(error, parts, { ...this.commonFields, retryable: false });
  }

  /**
   * Creates the error of a payment in doubt. Its message adds the reference and advice on when to
   * call again to `description`, and its `attempts` are those of `cause`, if that is an SDK error.
   */
  createError(
    reason: InDoubtReason,
    description: string,
    {
      claimedAt,
      endsAt,
      // A retry is no use if an operator has to decide or the caller has to pass another input.
      retryable = reason !== 'ambiguous' && reason !== 'conflict',
      ...otherFields
    }: DoubtTimes & Partial<Pick<PaymentInDoubtError, 'candidates' | 'cause' | 'retryable'>> = {},
  ): PaymentInDoubtError {
    const { redact, redactOwn } = this.#context.pipeline;
    const { cause } = otherFields;
    const retryAfterMs = otherFields.retryAfterMs && Math.ceil(otherFields.retryAfterMs);
    const reference = redactOwn(this.reference);
    const firstLine = `${redact(description)}.`;
    const message = [
      firstLine,
      reference && `Reference: ${reference}. See docs/operate.md.`,
    ].concat(this.#adviseOnTime(retryAfterMs, endsAt));
    const fields = {
      ...this.#call,
      ...this.commonFields,
      retryable,
      reason,
      reference,
      ...(claimedAt === undefined ? {} : { claimedAt: formatTime(claimedAt) }),
      ...(Number.isFinite(endsAt) ? { until: formatTime(Number(endsAt)) } : {}),
      ...otherFields,
      retryAfterMs,
      ...(cause instanceof PaymentsError
        ? { cause, attempts: cause.attempts }
        : { cause: redactError(cause, createPasswordRedactor(redact)) }),
    };
    return new PaymentInDoubtError(message.filter(Boolean).join('\n'), fields);
  }

  /** Lines of an error message: when to call again, and how long a request may take effect. */
  #adviseOnTime(retryAfterMs: number | undefined, endsAt: number | undefined): string[] {
    const [, method] = this.#call.operation.split('.');
    const advice: string[] = [];
    if (retryAfterMs !== undefined) {
      const wait = formatWait(retryAfterMs);
      advice.push(
        // An operator at a terminal reads this, so the message names no method or field.
        method === 'decide'
          ? `Decide again in ${wait}.`
          : `Call ${method} again in ${wait} (retryAfterMs) with this reference; a new one pays again.`,
      );
    }
    if (endsAt === Number.POSITIVE_INFINITY) {
      advice.push('It is never sent again by itself: an operator decides with transfers.decide.');
    } else if (endsAt !== undefined) {
      advice.push(`Until ${formatTime(endsAt)}, an earlier request may still take effect.`);
    }
    return advice;
  }

  /** Creates the error if the journal failed. The journal's error may set `retryable: false`. */
  createJournalError(
    problem: string,
    cause?: unknown,
    retryable = fieldOf(cause, 'retryable') !== false,
  ): PaymentInDoubtError {
    const description = `The journal's ${problem}, so nothing more was sent; an earlier call may have paid`;
    const copy = redactError(cause, createPasswordRedactor(this.#context.pipeline.redact));
    const reason = copy && `The cause: ${describeCause(copy)}`;
    const lines = [description, reason].filter(Boolean).join('.\n');
    return this.createError('journal', lines, { cause, retryable });
  }
}

/** Returns the message of a store's error. An ORM may wrap its driver's error, and some errors have only a code. */
export function describeCause(cause: Error): string {
  const { code = cause.name } = cause as Error & { readonly code?: string };
  const message = innermostMessageOf(cause) || messageOf(cause) || code;
  return message.replace(/\.$/, '');
}

/** Redacts like `redact`, and also the password in a connection string of the journal's store. */
const createPasswordRedactor =
  (redact: Redact): Redact =>
  (text) =>
    redact(text).replaceAll(/:\/\/[^\s/@]*:[^\s/]*@/g, '://[redacted]@');
