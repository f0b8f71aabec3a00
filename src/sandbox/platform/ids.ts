/** What is numbered. */
const names = [
  'entities',
  'accounts',
  'transfers',
  'counterparties',
  'ibans',
  'requests',
  'log',
] as const;
export type IdName = (typeof names)[number];
/** The last number that was given to each. */
export type IdCounts = Readonly<Record<IdName, number>>;

/**
 * Numbers that only ever grow: an id that somebody was told must never mean something else, whatever
 * was reset, brought in or lost meanwhile.
 */
export class Ids {
  readonly #given: Record<IdName, number> = {
    entities: 0,
    accounts: 0,
    transfers: 0,
    counterparties: 0,
    ibans: 0,
    requests: 0,
    log: 0,
  };
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
    for (const name of names) {
      this.#given[name] = Math.max(this.#given[name], counts[name] ?? 0);
    }
  }
}
