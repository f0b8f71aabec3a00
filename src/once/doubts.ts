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
/** If more terms than this are in doubt, the platform is down, and the oldest are forgotten. */
const maxTerms = 10_000;

/** Payments with the same key may be one payment under two references. */
const keyOf = ({ input, platform }: Terms): string =>
  JSON.stringify([
    platform,
    input.sourceAccountId,
    input.destinationAccountId ?? input.counterpartyId,
    canonicalAmount(input.amount),
    (input.currency ?? defaultCurrency).toUpperCase(),
  ]);

/** The references that are in doubt in one journal, by the terms of their payments. */
export class Doubts {
  readonly #references = new Map<string, Set<string>>();

  /** Gets the doubts of a journal. Clients that share the journal share its doubts. */
  static of(journal: Journal): Doubts {
    const doubts = doubtsOf.get(journal) ?? new Doubts();
    doubtsOf.set(journal, doubts);
    return doubts;
  }

  /** Notes that the outcome of a payment is not known. */
  add(terms: Terms): void {
    const key = keyOf(terms);
    const references = this.#references.get(key) ?? new Set();
    this.#references.set(key, references.add(terms.input.description));
    const [oldest = key] = this.#references.keys();
    if (this.#references.size > maxTerms) this.#references.delete(oldest);
  }

  /** Notes that the payment with this reference and these terms is decided. */
  remove(terms: Terms, reference = terms.input.description): void {
    const key = keyOf(terms);
    const references = this.#references.get(key);
    references?.delete(reference);
    if (references?.size === 0) this.#references.delete(key);
  }

  /** Other references with these terms that were left in doubt. Some may be decided by now. */
  find(terms: Terms): readonly string[] {
    const references = this.#references.get(keyOf(terms)) ?? [];
    return [...references].filter((reference) => reference !== terms.input.description);
  }
}
