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
      // An input is also indexed without its amount or destination, which the list may leave out.
      for (const money of [canonicalAmount(amount), undefined]) {
        append(this.#byTerms, termsKey(money, party), item);
        append(this.#byTerms, termsKey(money, undefined), item);
      }
    }
  }

  find(transfer: Transfer): Iterable<T> {
    if (this.#all.length < minIndexed) return this.#all;
    const { description } = transfer;
    const items = this.#findByTerms(transfer).flatMap((sameTerms) =>
      this.#findByDescription(sameTerms, description),
    );
    if (typeof description !== 'string' || description === '') return new Set(items);
    return new Set([...(this.#byReference.get(extractLetters(description)) ?? []), ...items]);
  }

  /** Finds the inputs whose terms a listed transfer may have, whatever its description is. */
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

  #findByDescription(items: readonly T[], listed: unknown): readonly T[] {
    if (items.length < minIndexed || typeof listed !== 'string' || isTooLong(listed)) return items;
    const letters = extractLetters(listed);
    if (letters === '') return items;
    let index = this.#byDescription.get(items);
    if (index === undefined) {
      index = new DescriptionIndex(items);
      this.#byDescription.set(items, index);
    }
    return index.find(letters);
  }
}

/** Finds the inputs whose description a platform may have changed into the listed one. */
class DescriptionIndex<T extends HasInput> {
  readonly #bySpelling = new Map<string, T[]>();
  readonly #spellingLengths = new Set<number>();
  /** Maps the first letters of a description, as many as an overlap needs, to the inputs. */
  readonly #byHead = new Map<string, T[]>();
  readonly #byTail = new Map<string, T[]>();
  readonly #overlaps = new Set<number>();
  /** All descriptions in one text, letters only, to find those that contain a listed one. */
  readonly #text: string;
  #maxLength = 0;
  /** Where each description begins in `#text`. At the same place, `#items` has its input. */
  readonly #starts: number[] = [];
  readonly #items: T[] = [];

  constructor(items: readonly T[]) {
    const texts: string[] = [];
    let start = 0;
    for (const item of items) {
      const { plain, encoded } = spellDescription(item.input.description ?? '');
      for (const spelling of plain) {
        const letters = extractLetters(spelling);
        this.#add(letters, item);
        texts.push(letters);
        this.#maxLength = Math.max(this.#maxLength, letters.length);
        this.#starts.push(start);
        this.#items.push(item);
        start += letters.length + 1;
      }
      const letters = extractLetters(encoded);
      const overlap = this.#add(letters, item);
      // The list may show only the start or the end of a description in base64. A key with `^` has
      // to be at the start of the listed description, and a key with `$` at its end.
      append(this.#byHead, `^${letters.slice(0, overlap)}`, item);
      append(this.#byTail, `${letters.slice(-overlap)}$`, item);
    }
    this.#text = texts.join('\n');
  }

  #add(letters: string, item: T): number {
    const overlap = minOverlapOf(letters);
    append(this.#bySpelling, letters, item);
    this.#spellingLengths.add(letters.length);
    append(this.#byHead, letters.slice(0, overlap), item);
    append(this.#byTail, letters.slice(-overlap), item);
    this.#overlaps.add(overlap);
    return overlap;
  }

  /**
   * Returns the inputs that a listed description may belong to, given its letters. Looks up every
   * part of `listed` that is as long as an indexed description, head or tail. At the end, searches
   * the descriptions that contain all of `listed`.
   */
  find(listed: string): readonly T[] {
    const matches: T[] = [];
    const add = (items: readonly T[] = []): void => {
      for (const item of items) matches.push(item);
    };
    for (const length of this.#spellingLengths) {
      for (let end = length; end <= listed.length; end += 1) {
        add(this.#bySpelling.get(listed.slice(end - length, end)));
      }
    }
    for (const length of this.#overlaps) {
      for (let end = length; end <= listed.length; end += 1) {
        const letters = listed.slice(end - length, end);
        // At the two ends of the listed description, look up only base64 descriptions, because many
        // plain descriptions begin alike, and the search in `#text` finds them.
        add(this.#byHead.get(end === length ? `^${letters}` : letters));
        add(this.#byTail.get(end === listed.length ? `${letters}$` : letters));
      }
    }
    if (listed.length >= this.#maxLength) return matches;
    for (let at = 0; at < this.#starts.length; at += 1) {
      const place = this.#text.indexOf(listed, this.#starts[at]);
      if (place < 0) break;
      // One match per description is enough, so the search goes on after the description found.
      at = this.#findSpellingAt(place);
      add(this.#items.slice(at, at + 1));
    }
    return matches;
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

const termsKey = (amount: string | undefined, party: string | undefined): string =>
  `${amount ?? '*'} ${party ?? '*'}`;

function append<K, T>(map: Map<K, T[]>, key: K, item: T): void {
  const items = map.get(key);
  if (items === undefined) map.set(key, [item]);
  else items.push(item);
}
