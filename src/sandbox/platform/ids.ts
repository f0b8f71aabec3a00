/** The kinds of records with numbered ids. */
export const nouns = ['entities', 'accounts', 'transfers', 'counterparties', 'ibans'] as const;
export type Noun = (typeof nouns)[number];

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
/** The last number that was assigned to each kind of id. */
export type IdCounts = Readonly<Record<IdName, number>>;

/**
 * Counters for ids, which only grow. An id that a caller has seen must never be assigned again,
 * even after a reset, an import or a crash.
 */
export class Ids {
  readonly #counts = { ...initialCounts };
  /** Called before a number is assigned to an id, so that a state file can reserve the number. */
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

  /** Raises each counter of ids that is lower than the given number. */
  raiseTo(counts: Readonly<Record<string, number | undefined>>): void {
    // `Object.keys` returns exactly the keys of IdName here, but the compiler infers `string`.
    for (const name of Object.keys(initialCounts) as IdName[]) {
      this.#counts[name] = Math.max(this.#counts[name], counts[name] ?? 0);
    }
  }
}
