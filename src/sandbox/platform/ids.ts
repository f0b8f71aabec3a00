/** What is numbered. */
const initialCounts = {
  entities: 0,
  accounts: 0,
  transfers: 0,
  counterparties: 0,
  ibans: 0,
  requests: 0,
  log: 0,
};
export type IdName = keyof typeof initialCounts;
/** The last number that was given to each. */
export type IdCounts = Readonly<Record<IdName, number>>;

/**
 * Numbers that only ever grow: an id that somebody was told must never mean something else, whatever
 * was reset, brought in or lost meanwhile.
 */
export class Ids {
  readonly #counts = { ...initialCounts };
  /** Called before a number is given. Whoever keeps the state of a process has to know beforehand. */
  reserve: (name: IdName, number: number) => void = () => {};

  next(name: IdName): number {
    const number = this.#counts[name] + 1;
    this.reserve(name, number);
    this.#counts[name] = number;
    return number;
  }

  get counts(): IdCounts {
    return { ...this.#counts };
  }

  /** Goes on after these numbers, unless it is further already. */
  raiseTo(counts: Readonly<Record<string, number | undefined>>): void {
    // It has these keys and no other.
    for (const name of Object.keys(initialCounts) as IdName[]) {
      this.#counts[name] = Math.max(this.#counts[name], counts[name] ?? 0);
    }
  }
}
