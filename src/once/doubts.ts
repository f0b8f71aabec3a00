import { isOutcomeUnknown } from '../errors/errors.ts';
import { canonicalAmount } from '../internal/amounts.ts';
import { doubtKey, forgetDoubt, openRegistry, type Doubt } from '../internal/doubt-registry.ts';
import { warn } from '../internal/runtime.ts';
import type { TransferCreateInput } from '../schemas/transfer.ts';
import { defaultCurrency } from '../search/compare.ts';
import type { Terms } from './entries.ts';

/*
 * The payments that this process is making or has left in doubt. A call of `create` with the
 * reference of one of them would pay again, so it is stopped. A payment with equal terms under
 * another reference may be a retry or another payment, so it is sent, and a line names both. When
 * the process exits, a line says how many payments may have been made.
 */

/** The most payments to remember. If there are more, the oldest are forgotten. */
const maxPayments = 10_000;

/** Two payments with one key may be one payment, requested twice. */
const termsKeyOf = (platform: string, input: TransferCreateInput): string =>
  JSON.stringify([
    platform,
    input.sourceAccountId,
    input.destinationAccountId ?? input.counterpartyId,
    canonicalAmount(input.amount),
    (input.currency ?? defaultCurrency).toUpperCase(),
  ]);

/** Remembers that a call is making a payment, until `endCall`. */
export function beginCall({ platform, input }: Terms): Doubt {
  const { payments } = openRegistry();
  const reference = input.description;
  const key = doubtKey(platform, reference);
  const termsKey = termsKeyOf(platform, input);
  const doubt = payments.get(key) ?? {
    key,
    termsKey,
    reference,
    calls: 0,
    mayHavePaid: false,
    isSaid: false,
  };
  doubt.calls += 1;
  payments.set(key, doubt);
  const [oldest] = payments.values();
  if (payments.size > maxPayments && oldest !== undefined) forgetDoubt(oldest);
  return doubt;
}

/** Remembers that a payment is in doubt, so that a payment with equal terms is noticed. */
export function markInDoubt(doubt: Doubt): void {
  doubt.mayHavePaid = true;
  const { payments, inDoubt } = openRegistry();
  // Another call may have found out meanwhile that the payment was made.
  if (payments.get(doubt.key) !== doubt) return;
  inDoubt.set(doubt.termsKey, (inDoubt.get(doubt.termsKey) ?? new Set()).add(doubt));
}

/** Ends a call that was making a payment. Without `error` the payment is made. */
export function endCall(doubt: Doubt, error?: unknown): void {
  doubt.calls -= 1;
  if (error !== undefined && isOutcomeUnknown(error)) {
    if (doubt.mayHavePaid) markInDoubt(doubt);
    else if (doubt.calls === 0) forgetDoubt(doubt);
    return;
  }
  // A certain failure is told only if no call has paid, but another call may be paying just now.
  if (error !== undefined && doubt.calls > 0) doubt.mayHavePaid = false;
  else forgetDoubt(doubt);
}

/** Forgets a payment about which an operator has decided. */
export function forgetPayment(platform: string, reference: string): void {
  const doubt = openRegistry().payments.get(doubtKey(platform, reference));
  if (doubt !== undefined) forgetDoubt(doubt);
}

/** Whether this process is making any payment, or has left any in doubt. */
export const hasDoubts = (): boolean => openRegistry().payments.size > 0;

/** Whether this process is making the payment with a reference, or has left it in doubt. */
export function hasDoubt(platform: string, reference: unknown): boolean {
  const { payments } = openRegistry();
  return typeof reference === 'string' && payments.has(doubtKey(platform, reference));
}

/** Prints a line for each payment in doubt, once, that may be the payment to be sent now. */
export function warnOfEqualTerms(
  platform: string,
  input: TransferCreateInput,
  redact: (text: string) => string,
): void {
  const { inDoubt } = openRegistry();
  if (inDoubt.size === 0) return;
  const key = doubtKey(platform, String(input.description));
  for (const doubt of inDoubt.get(termsKeyOf(platform, input)) ?? []) {
    if (doubt.isSaid || doubt.key === key) continue;
    doubt.isSaid = true;
    const name = input.description === undefined ? 'a payment' : redact(input.description);
    const other = redact(doubt.reference);
    warn(
      `payments-platform-sdk: ${name} is sent although ${other}, with the same terms, is in doubt. If it is a retry, both may pay: a retry keeps its reference.`,
    );
  }
}
