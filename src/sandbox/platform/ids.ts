import { nounTable, type Noun } from '../../internal/formats.ts';

export type { Noun };
export const nouns = Object.keys(nounTable) as readonly Noun[];
/** How the ids of each kind of record with numbered ids begin. */
export const idPrefixes = Object.fromEntries(
  nouns.map((noun) => [noun, nounTable[noun].prefix]),
) as { readonly [One in Noun]: (typeof nounTable)[One]['prefix'] };

/** The name of one record of a noun in codes and in the types of changes, such as `account`. */
export type Singular<One extends Noun> =
  (typeof nounTable)[One]['name'] extends `${string} ${infer Name}` ? Lowercase<Name> : never;

export const idNames = [...nouns, 'requests', 'log', 'changes'] as const;
export type IdName = (typeof idNames)[number];
/** The last number that was assigned to each kind of id. */
export type IdCounts = Readonly<Record<IdName, number>>;

/**
 * Counters for ids. They only grow, because an id that a caller has seen must not be assigned
 * again, even after a reset, an import or a crash.
 */
export class Ids {
  readonly #counts = Object.fromEntries(idNames.map((name) => [name, 0])) as Record<IdName, number>;
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
    for (const name of idNames) {
      this.#counts[name] = Math.max(this.#counts[name], counts[name] ?? 0);
    }
  }
}
