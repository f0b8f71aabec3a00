import { canonicalAmount } from './amounts.ts';

/** The currency that the platform uses if a payment's request names none. */
export const defaultCurrency = 'USDC';

/** The fields of a payment's input that say who pays whom how much. */
interface TermFields {
  readonly sourceAccountId: string;
  readonly destinationAccountId?: string | undefined;
  readonly counterpartyId?: string | undefined;
  readonly amount: string;
  /** A number only in an entry that another program has written. */
  readonly currency?: string | number | undefined;
}

/** Returns the terms of a payment as text. Two payments with equal text may be one payment, requested twice. */
export const termsOf = (platform: string, input: TermFields): string =>
  JSON.stringify([
    platform,
    input.sourceAccountId,
    input.destinationAccountId ?? input.counterpartyId,
    canonicalAmount(input.amount),
    String(input.currency ?? defaultCurrency).toUpperCase(),
  ]);
