import { canonicalAmount } from '../internal/amounts.ts';
import type { Transfer, TransferCreateInput } from '../schemas/transfer.ts';
import { extractLetters, isFilled, isTooLong, minOverlapOf, spellDescription } from './compare.ts';

interface HasInput {
  readonly input: TransferCreateInput;
}

/** If there are fewer inputs than this, comparing all of them is faster than building an index. */
const minIndexed = 8;

/**
 * Finds the inputs that a listed transfer may belong to, without comparing each of them. Leaves out
 * only inputs for which `compareTransfer` returns `other`.
 */
export class InputIndex<T extends HasInput> {
  readonly #all: readonly T[];
  readonly #byReference = new Map<string, T[]>();
  readonly #byTerms = new Map<string, T[]>();
  readonly #byDescription = new Map<readonly T[], DescriptionIndex<T>>();

  constructor(all: readonly T[]) {
    this.#all = all;
    if (all.length < minIndexed) return;
    for (const item of all) {
      const { amount, destinationAccountId, counterpartyId, description = '' } = item.input;
      append(this.#byReference, extractLetters(description), item);
      const party = extractLetters(destinationAccountId ?? counterpartyId);
      // An input is also indexed without its amount or destination, because the list may leave these out.
      for (const money of [canonicalAmount(amount), undefined]) {
        append(this.#byTerms, termsKey(money, party), item);
        append(this.#byTerms, termsKey(money, undefined), item);
      }
    }
  }

  find(transfer: Transfer): Iterable<T> {
    if (this.#all.length < minIndexed) return this.#all;
    const { description } = transfer;
    const isComparable = typeof description === 'string' && !isTooLong(description);
    const letters = typeof description === 'string' ? extractLetters(description) : '';
    const found = new Set(this.#byReference.get(letters));
    for (const sameTerms of this.#findByTerms(transfer)) {
      const isNarrow = isComparable && letters !== '' && sameTerms.length >= minIndexed;
      const items = isNarrow ? this.#indexOf(sameTerms).find(letters) : sameTerms;
      for (const item of items) found.add(item);
    }
    return found;
  }

  /** Finds the inputs whose terms a listed transfer may have. Ignores its description. */
  findByTerms(transfer: Transfer): readonly T[] {
    return this.#all.length < minIndexed ? this.#all : this.#findByTerms(transfer).flat();
  }

  #findByTerms({ amount, destinationAccountId, counterpartyId }: Transfer): readonly T[][] {
    const parties: readonly unknown[] = [destinationAccountId, counterpartyId].filter(isFilled);
    const isComparable = parties.length > 0 && parties.every((party) => typeof party === 'string');
    return (isComparable ? parties : [undefined]).map((party) => {
      const letters = typeof party === 'string' ? extractLetters(party) : undefined;
      return this.#byTerms.get(termsKey(canonicalAmount(amount), letters)) ?? [];
    });
  }

  #indexOf(items: readonly T[]): DescriptionIndex<T> {
    let index = this.#byDescription.get(items);
    if (index === undefined) {
      index = new DescriptionIndex(items);
      this.#byDescription.set(items, index);
    }
    return index;
  }
}

/** Finds the inputs whose description a platform may have changed into the listed one. */
class DescriptionIndex<T extends HasInput> {
  readonly #bySpelling = new Map<string, T[]>();
  /** The spellings that are not in Base64, each with its input. */
  readonly #plain: (readonly [letters: string, item: T])[] = [];
  /**
   * All plain spellings in one text, so that one search finds out whether any of them contains the
   * listed letters.
   */
  readonly #text: string;
  readonly #lengths: ReadonlySet<number>;
  readonly #maxLength: number;
  readonly #forwards: SortedSpellings<T>;
  readonly #backwards: SortedSpellings<T>;

  constructor(items: readonly T[]) {
    for (const item of items) {
      const { plain, encoded } = spellDescription(item.input.description ?? '');
      for (const spelling of plain) {
        const letters = extractLetters(spelling);
        append(this.#bySpelling, letters, item);
        this.#plain.push([letters, item]);
      }
      append(this.#bySpelling, extractLetters(encoded), item);
    }
    this.#text = this.#plain.map(([letters]) => letters).join(' ');
    this.#lengths = new Set([...this.#bySpelling.keys()].map(({ length }) => length));
    this.#maxLength = Math.max(...new Set(this.#plain.map(([{ length }]) => length)));
    this.#forwards = new SortedSpellings(this.#bySpelling, (letters) => letters);
    this.#backwards = new SortedSpellings(this.#bySpelling, reverse);
  }

  /** Returns the inputs that a listed description may belong to, given its letters. */
  find(listed: string): readonly T[] {
    const matches: T[] = [];
    const add = (items: readonly T[] = []): void => {
      for (const item of items) matches.push(item);
    };
    const backwards = reverse(listed);
    for (let start = 0; start < listed.length; start += 1) {
      for (const length of this.#lengths) {
        if (start + length > listed.length) continue;
        add(this.#bySpelling.get(listed.slice(start, start + length)));
      }
      // Fewer letters at the end or start are too few for an overlap.
      if (listed.length - start < minOverlapOf('')) continue;
      add(this.#forwards.findAll(listed.slice(start)));
      add(this.#backwards.findAll(backwards.slice(start)));
    }
    if (listed.length >= this.#maxLength || !this.#text.includes(listed)) return matches;
    for (const [letters, item] of this.#plain) if (letters.includes(listed)) matches.push(item);
    return matches;
  }
}

const reverse = (letters: string): string => letters.split('').toReversed().join('');

/** Sorted spellings, to find those with the same first letters by binary search. */
class SortedSpellings<T> {
  readonly #sorted: readonly (readonly [key: string, items: readonly T[]])[];

  constructor(bySpelling: ReadonlyMap<string, readonly T[]>, keyOf: (letters: string) => string) {
    const entries = [...bySpelling].map(([letters, items]) => [keyOf(letters), items] as const);
    this.#sorted = entries.toSorted(([one], [other]) => (one < other ? -1 : 1));
  }

  /** Finds the items whose key starts with these letters. */
  findAll(start: string): readonly T[] {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#sorted[middle]?.[0] ?? '') < start) low = middle + 1;
      else high = middle;
    }
    const found: T[] = [];
    for (let at = low; this.#sorted[at]?.[0].startsWith(start) === true; at += 1) {
      for (const item of this.#sorted[at]?.[1] ?? []) found.push(item);
    }
    return found;
  }
}

const termsKey = (amount: string | undefined, party: string | undefined): string =>
  `${amount ?? '*'} ${party ?? '*'}`;

function append<K, T>(map: Map<K, T[]>, key: K, item: T): void {
  const items = map.get(key);
  if (items === undefined) map.set(key, [item]);
  else items.push(item);
}
