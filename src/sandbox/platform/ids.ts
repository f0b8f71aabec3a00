/** What is numbered. */
const none = {
  entities: 0,
  accounts: 0,
  transfers: 0,
  counterparties: 0,
  ibans: 0,
  requests: 0,
  log: 0,
};
export type IdName = keyof typeof none;
/** The last number that was given to each. */
export type IdCounts = Readonly<Record<IdName, number>>;

/**
 * Numbers that only ever grow: an id that somebody was told must never mean something else, whatever
 * was reset, brought in or lost meanwhile.
 */
export class Ids {
  readonly #given = { ...none };
  /** Called before a number is given. Whoever keeps the state of a process has to know beforehand. */
  reserve: (name: IdName, number: number) => void = () => {};

  next(name: IdName): number {
    const number = this.#given[name] + 1;
    this.reserve(name, number);
    this.#given[name] = number;
    return number;
  }

  get counts(): IdCounts {
    return { ...this.#given };
  }

  /** Goes on after these numbers, unless it is further already. */
  atLeast(counts: Readonly<Record<string, number | undefined>>): void {
    // It has these keys and no other.
    for (const name of Object.keys(none) as IdName[]) {
      this.#given[name] = Math.max(this.#given[name], counts[name] ?? 0);
    }
  }
}
