import { notFound } from './problem.ts';

/**
 * The rows of one noun in the order of their creation. A row's position never changes and is never
 * given away again, which is what makes cursors stable under insertion and deletion.
 */
export class Table<Prefix extends string, Row extends { readonly id: `${Prefix}${string}` }> {
  readonly #prefix: Prefix;
  readonly #noun: string;
  readonly #rows: (Row | undefined)[] = [];
  readonly #positions = new Map<string, number>();

  constructor(prefix: Prefix, noun: string) {
    this.#prefix = prefix;
    this.#noun = noun;
  }

  /** Adds the row that `make` returns for the next id. */
  add<Made extends Row>(make: (id: `${Prefix}${string}`) => Made): Made {
    const count = this.#rows.length + 1;
    const row = make(`${this.#prefix}${String(count).padStart(6, '0')}`);
    this.#rows.push(row);
    this.#positions.set(row.id, count);
    return row;
  }

  find(id: string): Row | undefined {
    const position = this.#positions.get(id);
    return position === undefined ? undefined : this.#rows[position - 1];
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
    this.#rows[Number(this.#positions.get(id)) - 1] = undefined;
    this.#positions.delete(id);
    return row;
  }

  /** Positions and rows after a position, oldest first. */
  *after(position: number): Generator<[position: number, row: Row]> {
    for (let at = position; at < this.#rows.length; at += 1) {
      const row = this.#rows[at];
      if (row !== undefined) yield [at + 1, row];
    }
  }

  /** Every row, oldest first. */
  all(): Row[] {
    return this.#rows.filter((row) => row !== undefined);
  }
}
