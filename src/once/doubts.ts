import { isOutcomeUnknown } from '../errors/errors.ts';
import type { Redact } from '../errors/redact.ts';
import { doubtKey, forgetDoubt, openRegistry, type Doubt } from '../internal/doubt-registry.ts';
import { isReference } from '../internal/formats.ts';
import { warn } from '../internal/runtime.ts';
import { termsOf } from '../internal/terms.ts';
import type { TransferCreateInput } from '../schemas/transfer.ts';
import type { Terms } from './entries.ts';

/*
 * The payments that this process is making or has left in doubt. A call of `create` with the
 * reference of one of them would pay again, so it is stopped. A payment with equal terms under
 * another reference may be a retry or another payment, so it is sent, and a line names both. When
 * the process exits, a line says how many payments may have been made.
 */

/** The most payments to remember. If there are more, the oldest are forgotten. */
const maxPayments = 10_000;

/** What one call of createOnce adds to what the process remembers of its payment. */
export class CallDoubt {
  readonly #doubt: Doubt;
  readonly #terms: Terms;
  #mayHavePaid = false;
  #isSending = false;

  constructor(terms: Terms, redact: Redact, isInMemory = false) {
    const { payments } = openRegistry();
    const { platform, input } = terms;
    const key = doubtKey(platform, input.description);
    const doubt = payments.get(key) ?? {
      key,
      reference: redact(input.description),
      isInMemory,
      calls: 0,
      requests: 0,
      isInDoubt: false,
      termsKey: undefined,
      isSaid: false,
    };
    doubt.calls += 1;
    payments.set(key, doubt);
    this.#doubt = doubt;
    this.#terms = terms;
    const [oldest] = payments.values();
    if (payments.size > maxPayments && oldest !== undefined) forgetDoubt(oldest);
  }

  /** The journal has a claim of the payment, whose request may have paid. */
  addClaim(): void {
    this.#mayHavePaid = true;
  }

  /** The call begins to send the payment. */
  addRequest(): void {
    this.#isSending = true;
    this.#doubt.requests += 1;
  }

  /** The outcome of the call's request is unknown. The search for the payment may take long. */
  addUnknown(): void {
    this.#mayHavePaid = true;
    const { payments, inDoubt } = openRegistry();
    const doubt = this.#doubt;
    // Another call may have found out meanwhile that the payment was made.
    if (payments.get(doubt.key) !== doubt) return;
    doubt.termsKey ??= termsOf(this.#terms.platform, this.#terms.input);
    inDoubt.set(doubt.termsKey, (inDoubt.get(doubt.termsKey) ?? new Set()).add(doubt));
  }

  /** Ends the call. Without `error` the payment is made, and no call is in doubt about it. */
  end(error?: unknown): void {
    const doubt = this.#doubt;
    doubt.calls -= 1;
    if (this.#isSending) doubt.requests -= 1;
    if (error !== undefined && isOutcomeUnknown(error)) {
      doubt.isInDoubt = true;
      if (this.#mayHavePaid) this.addUnknown();
      return;
    }
    // A certain failure of one call proves nothing about the requests of another.
    if (error === undefined || (doubt.calls === 0 && !doubt.isInDoubt)) forgetDoubt(doubt);
  }
}

/** Forgets a payment about which an operator has decided, unless a call is making it. */
export function forgetPayment(platform: string, reference: string): void {
  const doubt = openRegistry().payments.get(doubtKey(platform, reference));
  if (doubt === undefined) return;
  doubt.isInDoubt = false;
  if (doubt.calls === 0) forgetDoubt(doubt);
}

/** Whether this process is making any payment, or has left any in doubt. */
export const hasDoubts = (): boolean => openRegistry().payments.size > 0;

/** Whether this process is making the payment with a reference, or has left it in doubt. */
export const hasDoubt = (platform: string, reference: unknown): boolean =>
  typeof reference === 'string' && openRegistry().payments.has(doubtKey(platform, reference));

/** Prints a line for each payment in doubt, once, that may be the payment to be sent now. */
export function warnOfEqualTerms(
  platform: string,
  input: TransferCreateInput,
  redact: Redact,
): void {
  const { inDoubt } = openRegistry();
  if (inDoubt.size === 0) return;
  const { description } = input;
  const key = doubtKey(platform, String(description));
  const name = isReference(description) ? redact(description) : 'a payment';
  for (const doubt of inDoubt.get(termsOf(platform, input)) ?? []) {
    if (doubt.isSaid || doubt.key === key) continue;
    doubt.isSaid = true;
    warn(
      `payments-platform-sdk: ${name} is sent although ${redact(doubt.reference)}, with the same terms, is in doubt. If it is a retry, both may pay: a retry keeps its reference.`,
    );
  }
}
