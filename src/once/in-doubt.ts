import {
  AbortError,
  PaymentInDoubtError,
  PaymentsError,
  type CallIdentity,
  type InDoubtReason,
} from '../errors/errors.ts';
import { redactError, type Redact } from '../errors/redact.ts';
import { fieldOf, innermostMessageOf, messageOf } from '../internal/thrown.ts';
import type { JournalContext } from './context.ts';

/** Creates the errors of one call of createOnce, resolveOnce or openOnce. */
export class PaymentErrors {
  readonly #call: CallIdentity;
  readonly #reference: string;
  readonly #pipeline: JournalContext['pipeline'];
  readonly #startedAt: number;

  constructor(call: CallIdentity, reference: string, { pipeline, clock }: JournalContext) {
    this.#call = call;
    this.#reference = reference;
    this.#pipeline = pipeline;
    this.#startedAt = clock.now();
  }

  /** Fields of every error of the call. */
  get commonFields() {
    const { operation } = this.#call;
    const startedAt = new Date(this.#startedAt).toISOString();
    return { operation, outcome: 'unknown', retryable: true, startedAt } as const;
  }

  /** The caller's signal was aborted. */
  createAbortError(cause: unknown): AbortError {
    return new AbortError(
      'The call was aborted by its signal.\nThis or an earlier call may have paid: call createOnce again to find out.',
      { ...this.#call, ...this.commonFields, cause },
    );
  }

  createInDoubtError(
    reason: InDoubtReason,
    description: string,
    {
      claimedAt,
      expiresAt,
      // These two need an operator, or another input.
      retryable = reason !== 'ambiguous' && reason !== 'conflict',
      ...otherFields
    }: Partial<Pick<PaymentInDoubtError, 'retryAfterMs' | 'candidates' | 'cause' | 'retryable'>> & {
      /** By the journal's clock. */
      readonly claimedAt?: number | undefined;
      readonly expiresAt?: number | undefined;
    } = {},
  ): PaymentInDoubtError {
    const { redact, redactOwn } = this.#pipeline;
    const { cause } = otherFields;
    const retryAfterMs = otherFields.retryAfterMs && Math.ceil(otherFields.retryAfterMs);
    const reference = redactOwn(this.#reference);
    const [, method = ''] = this.#call.operation.split('.');
    const hints = [
      retryAfterMs !== undefined &&
        `Call ${method} again in ${retryAfterMs} ms (retryAfterMs) with this reference; a new one pays again.`,
      expiresAt !== undefined &&
        `Until ${formatTime(expiresAt)}, an earlier request may still take effect.`,
    ];
    const referenceLine = reference && `Reference: ${reference}.`;
    const message = [`${redact(description)}.`, referenceLine, ...hints];
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

  /** The caller's journal failed. Its error may say that another call would fail as well: see Journal. */
  createJournalError(
    problem: string,
    cause?: unknown,
    retryable = fieldOf(cause, 'retryable') !== false,
  ): PaymentInDoubtError {
    const description = `The journal's ${problem}, so nothing more was sent; an earlier call may have paid`;
    const copy = redactError(cause, createPasswordRedactor(this.#pipeline.redact));
    const reason = copy && `The cause: ${describeCause(copy)}`;
    const lines = [description, reason].filter(Boolean).join('.\n');
    return this.createInDoubtError('journal', lines, { cause, retryable });
  }
}

/** What a store reports. An ORM wraps the error of its driver, and a failed connection may have a code alone. */
export function describeCause(cause: Error): string {
  const { code = cause.name } = cause as Error & { readonly code?: string };
  const message = innermostMessageOf(cause) || messageOf(cause) || code;
  return message.replace(/\.$/, '');
}

/** A time of a journal's entry, which may be out of the range of a Date. */
export const formatTime = (ms: number): string =>
  Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : String(ms);

/** The error of a store may contain its connection string. */
const createPasswordRedactor =
  (redact: Redact): Redact =>
  (text) =>
    redact(text).replaceAll(/:\/\/[^\s/@]*:[^\s/]*@/g, '://[redacted]@');
