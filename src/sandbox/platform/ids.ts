/** The nouns whose records have numbered ids. The compiler checks lists of nouns against this. */
export const nouns = ['entities', 'accounts', 'transfers', 'counterparties', 'ibans'] as const;
export type Noun = (typeof nouns)[number];

/** The counters of a new Platform. */
const initialCounts = {
  entities: 0,
  accounts: 0,
  transfers: 0,
  counterparties: 0,
  ibans: 0,
  requests: 0,
  log: 0,
  changes: 0,
} satisfies Record<Noun | 'requests' | 'log' | 'changes', number>;
export type IdName = keyof typeof initialCounts;
/** The last number of each counter. */
export type IdCounts = Readonly<Record<IdName, number>>;

/**
 * Counters that only grow: an id that a caller has seen must never be assigned again, even after a
 * reset, an import or a crash.
 */
export class Ids {
  readonly #counts = { ...initialCounts };
  /** Called before a number is assigned, so that a state file can reserve it. */
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

  /** Raises the counters to these numbers, where they are lower. */
  raiseTo(counts: Readonly<Record<string, number | undefined>>): void {
    // The object has exactly the keys of IdName, but the compiler infers `string`.
    for (const name of Object.keys(initialCounts) as IdName[]) {
      this.#counts[name] = Math.max(this.#counts[name], counts[name] ?? 0);
    }
  }
}
