import { canonicalAmount } from '../internal/amounts.ts';
import type { Journal } from '../journals/journal.ts';
import { defaultCurrency } from '../search/compare.ts';
import type { Terms } from './entries.ts';

/*
 * The payments that this process has left in doubt. A caller that makes a new reference for each retry (an id of its
 * queue's message, a random one) would pay again with each of them.
 */

const doubtsOf = new WeakMap<Journal, Doubts>();
/** With more terms in doubt, the platform is down, and the oldest are forgotten. */
const maxTerms = 10_000;

/** What two payments have in common that may be one. */
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

  /** Those of a journal: clients that share it share their payments. */
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

  /** Notes that the payment of a reference with these terms is decided. */
  remove(terms: Terms, reference = terms.input.description): void {
    const key = keyOf(terms);
    const references = this.#references.get(key);
    references?.delete(reference);
    if (references?.size === 0) this.#references.delete(key);
  }

  /** Other references with these terms that were left in doubt, and perhaps decided since. */
  find(terms: Terms): readonly string[] {
    const references = this.#references.get(keyOf(terms)) ?? [];
    return [...references].filter((reference) => reference !== terms.input.description);
  }
}
