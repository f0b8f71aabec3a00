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
  readonly #lengths = new Set<number>();
  readonly #overlaps = new Set<number>();
  readonly #forwards: SortedSpellings<T>;
  readonly #backwards: SortedSpellings<T>;
  /** The first letters of each spelling, and the last, as many as an overlap needs. */
  readonly #ends: PartFilter;
  /** All parts of the plain spellings, by which those that contain a listed one are searched. */
  readonly #parts: PartFilter;
  /** All plain spellings in one text, to find those that contain a listed one. */
  readonly #text: string;
  #maxLength = 0;
  /** Where each plain spelling begins in `#text`. At the same place, `#items` has its input. */
  readonly #starts: number[] = [];
  readonly #items: T[] = [];

  constructor(items: readonly T[]) {
    const plainTexts: string[] = [];
    let start = 0;
    for (const item of items) {
      const { plain, encoded } = spellDescription(item.input.description ?? '');
      for (const spelling of plain) {
        const letters = extractLetters(spelling);
        append(this.#bySpelling, letters, item);
        plainTexts.push(letters);
        this.#maxLength = Math.max(this.#maxLength, letters.length);
        this.#starts.push(start);
        this.#items.push(item);
        start += letters.length + 1;
      }
      append(this.#bySpelling, extractLetters(encoded), item);
    }
    this.#text = plainTexts.join('\n');
    this.#parts = new PartFilter(2 * this.#text.length);
    for (const text of plainTexts) {
      for (const length of partLengths) this.#parts.addAll(text, length);
    }
    const spellings = [...this.#bySpelling.keys()];
    this.#forwards = new SortedSpellings(this.#bySpelling, (letters) => letters);
    this.#backwards = new SortedSpellings(this.#bySpelling, reverse);
    this.#ends = new PartFilter(8 * spellings.length);
    for (const letters of spellings) {
      const overlap = minOverlapOf(letters);
      this.#lengths.add(letters.length);
      this.#overlaps.add(overlap);
      this.#ends.add(letters, 0, overlap);
      this.#ends.add(letters, letters.length - overlap, letters.length);
    }
  }

  /** Returns the inputs that a listed description may belong to, given its letters. */
  find(listed: string): readonly T[] {
    const matches: T[] = [];
    const add = (items: readonly T[] = []): void => {
      for (const item of items) matches.push(item);
    };
    const addSpellingsAt = (start: number): void => {
      for (const length of this.#lengths) {
        if (start + length > listed.length) continue;
        add(this.#bySpelling.get(listed.slice(start, start + length)));
      }
    };
    // A spelling in the listed description, or over its end, has its first letters in it, and one
    // over its start has its last letters in it.
    for (const length of this.#overlaps) {
      for (let start = 0; start + length <= listed.length; start += 1) {
        const end = start + length;
        if (!this.#ends.mayHave(listed, start, end)) continue;
        addSpellingsAt(start);
        add(this.#forwards.findAll(listed.slice(start)));
        add(this.#backwards.findAll(reverse(listed.slice(0, end))));
      }
    }
    // A spelling that is shorter than any overlap has no such letters.
    for (const length of this.#lengths) {
      if (length >= minOverlapOf('')) continue;
      for (let end = length; end <= listed.length; end += 1) {
        add(this.#bySpelling.get(listed.slice(end - length, end)));
      }
    }
    if (listed.length >= this.#maxLength || !this.#mayContain(listed)) return matches;
    for (let at = 0; at < this.#starts.length; at += 1) {
      const place = this.#text.indexOf(listed, this.#starts[at]);
      if (place < 0) break;
      // One match per description is enough, so the search goes on after the description found.
      at = this.#findSpellingAt(place);
      add(this.#items.slice(at, at + 1));
    }
    return matches;
  }

  /**
   * Whether some plain spelling may contain a listed one: none does if one of its parts is in none.
   * The references of a series begin alike, so searching the text compares nearly all of it.
   */
  #mayContain(listed: string): boolean {
    const length = partLengths.find((each) => each <= listed.length);
    if (length === undefined) return true;
    for (let end = length; end <= listed.length; end += 1) {
      if (!this.#parts.mayHave(listed, end - length, end)) return false;
    }
    return true;
  }

  /** Finds by binary search the index of the description that contains a position of `#text`. */
  #findSpellingAt(place: number): number {
    let low = 0;
    let high = this.#starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle] ?? 0) > place) high = middle;
      else low = middle;
    }
    return low;
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

/** The lengths of the parts by which a text is searched. The first one that fits is used. */
const partLengths = [8, 4];

/** A set of parts of texts that may report one which it does not have, but misses none. */
class PartFilter {
  /** One bit for each hash, at least eight for each part, so that few parts share one; 16 MB at most. */
  readonly #bits: Uint32Array;

  constructor(parts: number) {
    const words = Math.min(2 ** 22, Math.max(4, parts) / 4);
    this.#bits = new Uint32Array(2 ** Math.ceil(Math.log2(words)));
  }

  add(text: string, start: number, end: number): void {
    const bit = this.#findBit(text, start, end);
    this.#bits[bit >>> 5] = (this.#bits[bit >>> 5] ?? 0) | (1 << bit);
  }

  addAll(text: string, length: number): void {
    for (let end = length; end <= text.length; end += 1) this.add(text, end - length, end);
  }

  mayHave(text: string, start: number, end: number): boolean {
    const bit = this.#findBit(text, start, end);
    return ((this.#bits[bit >>> 5] ?? 0) & (1 << bit)) !== 0;
  }

  /** Hashes a part as FNV-1a does. */
  #findBit(text: string, start: number, end: number): number {
    let hash = 0x811c9dc5;
    for (let at = start; at < end; at += 1) {
      hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    }
    return (hash ^ (hash >>> 15)) & (this.#bits.length * 32 - 1);
  }
}

const termsKey = (amount: string | undefined, party: string | undefined): string =>
  `${amount ?? '*'} ${party ?? '*'}`;

function append<K, T>(map: Map<K, T[]>, key: K, item: T): void {
  const items = map.get(key);
  if (items === undefined) map.set(key, [item]);
  else items.push(item);
}
