import { invalidArguments } from '../calls/arguments.ts';
import {
  AbortError,
  PaymentInDoubtError,
  PaymentsError,
  type CallIdentity,
  type InDoubtReason,
} from '../errors/errors.ts';
import { reattribute } from '../errors/message.ts';
import { redactError, type Redact } from '../errors/redact.ts';
import { formatTime } from '../internal/text.ts';
import { fieldOf, innermostMessageOf, messageOf } from '../internal/thrown.ts';
import type { OpenEntry } from '../journals/journal.ts';
import type { JournalContext } from './context.ts';
import { findRetryDelay, inProgressRetryMs } from './decision.ts';

/** Creates the errors of one call of createOnce, decide or listUndecided. */
export class PaymentErrors {
  readonly #call: CallIdentity;
  readonly #reference: string;
  readonly #pipeline: JournalContext['pipeline'];
  readonly #startedAt: number;
  readonly #journalTime: () => number | undefined;

  /** `journalTime` returns the journal's present time, or undefined if that is not known. */
  constructor(
    call: CallIdentity,
    reference: string,
    { pipeline, clock }: JournalContext,
    journalTime: () => number | undefined = () => undefined,
  ) {
    this.#call = call;
    this.#reference = reference;
    this.#pipeline = pipeline;
    this.#startedAt = clock.now();
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

  /** Creates the error if another call has claimed the payment. Omit `claim` if it was not read. */
  createInProgressError(claim?: OpenEntry): PaymentInDoubtError {
    const description = 'Another call is making this payment, or was interrupted';
    return this.createError('in_progress', description, {
      retryAfterMs: claim ? findRetryDelay(claim, this.#journalTime()) : inProgressRetryMs,
      claimedAt: claim?.claimedAt,
      expiresAt: claim?.expiresAt,
    });
  }

  /**
   * Creates the error if the outcome is not known. `cause` is the error that has left the payment
   * in doubt, and `detail` is one more line of the message.
   */
  createInDoubtError(
    claim: OpenEntry | undefined,
    cause?: unknown,
    detail = '',
    retryAfterMs = findRetryDelay(claim, this.#journalTime()),
  ): PaymentInDoubtError {
    const reason =
      cause instanceof PaymentsError ? (cause.attempts.at(-1)?.reason ?? cause.name) : '';
    const lines = [
      'Whether the payment was made is not known yet',
      reason && `The cause: ${reason}`,
      detail,
    ];
    return this.createError('in_doubt', lines.filter(Boolean).join('.\n'), {
      retryAfterMs,
      cause,
      claimedAt: claim?.claimedAt,
      expiresAt: claim?.expiresAt,
    });
  }

  /** Creates the error if the caller's arguments contradict the journal or the platform. */
  createConflictError(description: string, cause?: unknown): PaymentInDoubtError {
    return this.createError('conflict', description, { cause });
  }

  createReferenceError(): Error {
    const message = 'the journal has no entry for it';
    const hint = 'Check its spelling and the journal';
    const issue = { path: 'reference', message, hint };
    return invalidArguments(this.#call, [issue], this.#pipeline.redact);
  }

  /** Creates the error if `since` is after `claimedAt`, the first claim by this machine's clock. */
  createSinceError(claimedAt: number): Error {
    const message = `expected the time at which this payment was first requested; an earlier call claimed it at ${formatTime(claimedAt)}`;
    const hint = 'Pass the timestamp of its job, the same at every call';
    const issue = { path: 'options.since', message, hint };
    const error = invalidArguments(this.#call, [issue], this.#pipeline.redact);
    const parts = {
      what: 'Whether the payment was made is not known yet',
      hint: 'Fix the arguments and call createOnce again',
    };
    return reattribute(error, parts, { ...this.commonFields, retryable: false });
  }

  /**
   * Creates the error of a payment in doubt. The message consists of `description`, the reference
   * and advice on when to call again. If `cause` is an error of the SDK, its attempts are copied.
   */
  createError(
    reason: InDoubtReason,
    description: string,
    {
      claimedAt,
      expiresAt,
      // A retry is no use if an operator has to decide or the caller has to pass another input.
      retryable = reason !== 'ambiguous' && reason !== 'conflict',
      ...otherFields
    }: Partial<Pick<PaymentInDoubtError, 'retryAfterMs' | 'candidates' | 'cause' | 'retryable'>> & {
      /** The time of the payment's claim, by the journal's clock. */
      readonly claimedAt?: number | undefined;
      readonly expiresAt?: number | null | undefined;
    } = {},
  ): PaymentInDoubtError {
    const { redact, redactOwn } = this.#pipeline;
    const { cause } = otherFields;
    const retryAfterMs = otherFields.retryAfterMs && Math.ceil(otherFields.retryAfterMs);
    const reference = redactOwn(this.#reference);
    const firstLine = `${redact(description)}.`;
    const message = [firstLine, reference && `Reference: ${reference}.`].concat(
      this.#adviseOnTime(retryAfterMs, expiresAt),
    );
    const fields = {
      ...this.#call,
      ...this.commonFields,
      retryable,
      reason,
      reference,
      ...(claimedAt === undefined ? {} : { claimedAt: formatTime(claimedAt) }),
      ...otherFields,
      retryAfterMs,
      ...(cause instanceof PaymentsError
        ? { cause, attempts: cause.attempts }
        : { cause: redactError(cause, createPasswordRedactor(redact)) }),
    };
    return new PaymentInDoubtError(message.filter(Boolean).join('\n'), fields);
  }

  /** Lines of an error message: when to call again, and how long a request may take effect. */
  #adviseOnTime(retryAfterMs: number | undefined, expiresAt: number | null | undefined): string[] {
    const [, method = ''] = this.#call.operation.split('.');
    const advice: string[] = [];
    if (retryAfterMs !== undefined) {
      advice.push(
        `Call ${method} again in ${retryAfterMs} ms (retryAfterMs) with this reference; a new one pays again.`,
      );
    }
    if (expiresAt === null) {
      advice.push('It is never sent again by itself: an operator decides with transfers.decide.');
    } else if (expiresAt !== undefined) {
      advice.push(`Until ${formatTime(expiresAt)}, an earlier request may still take effect.`);
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
    const copy = redactError(cause, createPasswordRedactor(this.#pipeline.redact));
    const reason = copy && `The cause: ${describeCause(copy)}`;
    const lines = [description, reason].filter(Boolean).join('.\n');
    return this.createError('journal', lines, { cause, retryable });
  }
}

/** The message of a store's error. ORMs wrap their drivers' errors, and some have only a code. */
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
