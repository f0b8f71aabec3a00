import { canonicalAmount } from '../internal/amounts.ts';
import type { Journal } from '../journals/journal.ts';
import { defaultCurrency } from '../search/compare.ts';
import type { Terms } from './entries.ts';

/*
 * This process remembers the payments that it has left in doubt. A caller may make a new reference
 * for each retry (a random one, or the id of a queue message), and each new reference would pay
 * again. So a payment with the same terms is held back until the earlier one is decided.
 */

const doubtsOf = new WeakMap<Journal, Doubts>();
/** The most payments in doubt to remember. If there are more, the oldest are forgotten. */
const maxTerms = 10_000;

/** Key of a payment's terms. Two payments with one key may be one payment, requested twice. */
const keyOf = ({ input, platform }: Terms): string =>
  JSON.stringify([
    platform,
    input.sourceAccountId,
    input.destinationAccountId ?? input.counterpartyId,
    canonicalAmount(input.amount),
    (input.currency ?? defaultCurrency).toUpperCase(),
  ]);

/** Remembers, for one journal, the references of payments in doubt by the terms of the payments. */
export class Doubts {
  readonly #references = new Map<string, Set<string>>();

  /** Gets the payments in doubt of a journal, which all clients with this journal share. */
  static of(journal: Journal): Doubts {
    const doubts = doubtsOf.get(journal) ?? new Doubts();
    doubtsOf.set(journal, doubts);
    return doubts;
  }

  /** Remembers that the outcome of this payment is not known. */
  add(terms: Terms): void {
    const key = keyOf(terms);
    const references = this.#references.get(key) ?? new Set();
    this.#references.set(key, references.add(terms.input.description));
    const [oldest = key] = this.#references.keys();
    if (this.#references.size > maxTerms) this.#references.delete(oldest);
  }

  /** Forgets that this payment is in doubt, because its outcome is now known. */
  remove(terms: Terms, reference = terms.input.description): void {
    const key = keyOf(terms);
    const references = this.#references.get(key);
    references?.delete(reference);
    if (references?.size === 0) this.#references.delete(key);
  }

  /** Other references under which payments with these terms were in doubt, and may still be. */
  find(terms: Terms): readonly string[] {
    const references = this.#references.get(keyOf(terms)) ?? [];
    return [...references].filter((reference) => reference !== terms.input.description);
  }
}
