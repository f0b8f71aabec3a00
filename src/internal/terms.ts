import { canonicalAmount } from './amounts.ts';

/** The currency that the platform uses if a payment's request names none. */
export const defaultCurrency = 'USDC';

/** The fields of a payment's input that say who pays whom how much. */
interface TermFields {
  readonly sourceAccountId: string;
  readonly destinationAccountId?: string | undefined;
  readonly counterpartyId?: string | undefined;
  readonly amount: string;
  /** Another program may have written the entry of a journal, with a currency of another type. */
  readonly currency?: unknown;
}

/** Two payments with one text may be one payment, requested twice. */
export const termsOf = (platform: string, input: TermFields): string =>
  JSON.stringify([
    platform,
    input.sourceAccountId,
    input.destinationAccountId ?? input.counterpartyId,
    canonicalAmount(input.amount),
    String(input.currency ?? defaultCurrency).toUpperCase(),
  ]);
