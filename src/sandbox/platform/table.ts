import { notFound } from './sandbox-error.ts';

export type ListOrder = 'oldest_first' | 'newest_first' | 'shuffled';

/** For each order of a list, the number by which a row is sorted, computed from the row's id. */
const ranks: Readonly<Record<ListOrder, (position: number) => number>> = {
  oldest_first: (position) => position,
  newest_first: (position) => -position,
  // The factor is odd, so no two positions get the same sort key in the shuffled order.
  shuffled: (position) => Math.imul(position, 0x9e3779b1) >>> 0,
};
export const listOrders: readonly string[] = Object.keys(ranks);

/**
 * The records of one noun in the order of their creation. A row's position is the number in its id,
 * and no number is assigned twice, so cursors stay valid after an insertion, a deletion or a
 * restart.
 */
export class Table<Row extends { readonly id: string }> {
  readonly #prefix: string;
  readonly #noun: string;
  readonly #next: () => number;
  #rows: (Row | undefined)[] = [];
  /** The position (the number in the id) of each row, in the same order as the rows. */
  #positions: number[] = [];
  readonly #places = new Map<string, number>();
  /** Indexes of the rows in shuffled order; computed again after rows were added. */
  #shuffled: readonly number[] = [];

  constructor(prefix: string, noun: string, next: () => number) {
    this.#prefix = prefix;
    this.#noun = noun;
    this.#next = next;
  }

  /** Adds the row that `make` creates with the next id. */
  add<Made extends Row>(make: (id: string) => Made): Made {
    const position = this.#next();
    const row = make(`${this.#prefix}${String(position).padStart(6, '0')}`);
    this.#put(row, position);
    return row;
  }

  #put(row: Row, position: number): void {
    this.#places.set(row.id, this.#rows.length);
    this.#rows.push(row);
    this.#positions.push(position);
  }

  /** Replaces all rows, sorted by the numbers in their ids. */
  replace(rows: readonly Row[]): void {
    this.#rows = [];
    this.#positions = [];
    this.#places.clear();
    this.#shuffled = [];
    const rowsWithPositions = rows.map((row): [Row, number] => [
      row,
      Number(row.id.slice(this.#prefix.length)),
    ]);
    for (const [row, position] of rowsWithPositions.toSorted(([, one], [, other]) => one - other)) {
      this.#put(row, position);
    }
  }

  find(id: string): Row | undefined {
    const place = this.#places.get(id);
    return place === undefined ? undefined : this.#rows[place];
  }

  /** Returns the row with this id. @throws SandboxError with status 404 when there is none. */
  get(id: string): Row {
    const row = this.find(id);
    if (row === undefined) throw notFound(this.#noun, id, this.#prefix);
    return row;
  }

  /** Removes and returns a row by its id. @throws SandboxError with status 404 if there is none. */
  remove(id: string): Row {
    const row = this.get(id);
    this.#rows[Number(this.#places.get(id))] = undefined;
    this.#places.delete(id);
    return row;
  }

  /**
   * Yields each row after `position` in this order, with the row's own position. Position 0 is
   * before the first row in every order.
   */
  *after(position: number, order: ListOrder): Generator<[position: number, row: Row]> {
    const rank = ranks[order];
    const toPlace = this.#sortPlaces(order);
    const rankAt = (at: number): number => rank(this.#positions[toPlace(at)] ?? 0);
    // A binary search for the first row whose rank is above that of the position.
    let low = 0;
    let high = position === 0 ? 0 : this.#positions.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rankAt(middle) > rank(position)) high = middle;
      else low = middle + 1;
    }
    for (let at = low; at < this.#rows.length; at += 1) {
      const place = toPlace(at);
      const row = this.#rows[place]; // undefined if the row was deleted
      if (row !== undefined) yield [this.#positions[place] ?? 0, row];
    }
  }

  /** Returns a function that turns a place in the sorted list into an index of the table's rows. */
  #sortPlaces(order: ListOrder): (at: number) => number {
    if (order === 'oldest_first') return (at) => at;
    const { length } = this.#rows;
    if (order === 'newest_first') return (at) => length - 1 - at;
    if (this.#shuffled.length !== length) {
      const rankOf = (place: number): number => ranks.shuffled(this.#positions[place] ?? 0);
      const places = this.#positions.map((_, place) => place);
      this.#shuffled = places.toSorted((one, other) => rankOf(one) - rankOf(other));
    }
    return (at) => this.#shuffled[at] ?? 0;
  }

  /** Returns every row, oldest first. */
  all(): Row[] {
    return this.#rows.filter((row) => row !== undefined);
  }
}
