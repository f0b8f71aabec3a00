import { notFound } from './sandbox-error.ts';

/**
 * The rows of one noun in the order of their creation. A row's position is the number in its id: it
 * never changes and is never assigned again, so cursors stay valid after an insertion, a deletion or a
 * restart.
 */
export class Table<Prefix extends string, Row extends { readonly id: `${Prefix}${string}` }> {
  readonly #prefix: Prefix;
  readonly #noun: string;
  readonly #next: () => number;
  #rows: (Row | undefined)[] = [];
  /** The position of each row, in the same order. */
  #positions: number[] = [];
  readonly #places = new Map<string, number>();

  constructor(prefix: Prefix, noun: string, next: () => number) {
    this.#prefix = prefix;
    this.#noun = noun;
    this.#next = next;
  }

  /** Adds the row that `make` returns for the next id. */
  add<Made extends Row>(make: (id: `${Prefix}${string}`) => Made): Made {
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

  /** Replaces all rows. Their ids are the prefix and a number. */
  replace(rows: readonly Row[]): void {
    this.#rows = [];
    this.#positions = [];
    this.#places.clear();
    const positioned = rows.map((row): [Row, number] => [
      row,
      Number(row.id.slice(this.#prefix.length)),
    ]);
    for (const entry of positioned.toSorted(([, one], [, other]) => one - other)) {
      this.#put(...entry);
    }
  }

  find(id: string): Row | undefined {
    const place = this.#places.get(id);
    return place === undefined ? undefined : this.#rows[place];
  }

  /** @throws SandboxError with status 404 when there is no such row. */
  get(id: string): Row {
    const row = this.find(id);
    if (row === undefined) throw notFound(this.#noun, id, this.#prefix);
    return row;
  }

  /** @throws SandboxError with status 404 when there is no such row. */
  remove(id: string): Row {
    const row = this.get(id);
    this.#rows[Number(this.#places.get(id))] = undefined;
    this.#places.delete(id);
    return row;
  }

  /** Positions and rows after a position, oldest first. */
  *after(position: number): Generator<[position: number, row: Row]> {
    for (let at = this.#findPlaceAfter(position); at < this.#rows.length; at += 1) {
      const row = this.#rows[at];
      if (row !== undefined) yield [this.#positions[at] ?? 0, row];
    }
  }

  /** The index of the first row after a position, by a binary search. */
  #findPlaceAfter(position: number): number {
    let low = 0;
    let high = this.#positions.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#positions[middle] ?? 0) > position) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Every row, oldest first. */
  all(): Row[] {
    return this.#rows.filter((row) => row !== undefined);
  }
}
