/** How one run of an exploration goes on: which step is next, and with which fault. */
export interface Choices {
  /** Whether no earlier run has made the choices of this run so far. */
  readonly isNew: boolean;
  /** The option that was chosen each time. */
  readonly taken: readonly number[];
  /** How many options there were each time. */
  readonly counts: readonly number[];
  take<T>(options: readonly [T, ...T[]]): T;
  /** Like `take`, but the first option is the usual one. */
  takeRarely<T>(options: readonly [T, ...T[]]): T;
}

/** The given choices, and then the first option of each. */
export class GivenChoices implements Choices {
  readonly taken: number[] = [];
  readonly counts: number[] = [];
  readonly #given: readonly number[];

  constructor(given: readonly number[]) {
    this.#given = given;
  }

  get isNew(): boolean {
    return this.taken.length >= this.#given.length;
  }

  take<T>(options: readonly [T, ...T[]]): T {
    if (options.length === 1) return options[0];
    const at = this.#given[this.taken.length] ?? 0;
    this.taken.push(at);
    this.counts.push(options.length);
    return options[at] ?? options[0];
  }

  takeRarely<T>(options: readonly [T, ...T[]]): T {
    return this.take(options);
  }

  /** The choices of the next run. Undefined after the last run. */
  next(): number[] | undefined {
    for (let at = this.taken.length - 1; at >= 0; at -= 1) {
      const taken = (this.taken[at] ?? 0) + 1;
      if (taken < (this.counts[at] ?? 0)) return [...this.taken.slice(0, at), taken];
    }
    return undefined;
  }
}

/** Choices at random, which the same seed repeats. */
export class RandomChoices implements Choices {
  readonly isNew = true;
  readonly taken: number[] = [];
  readonly counts: number[] = [];
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  take<T>(options: readonly [T, ...T[]]): T {
    if (options.length === 1) return options[0];
    return this.#note(options, Math.floor(this.#random() * options.length));
  }

  takeRarely<T>(options: readonly [T, ...T[]]): T {
    if (options.length === 1) return options[0];
    const at = this.#random() < 0.85 ? 0 : 1 + Math.floor(this.#random() * (options.length - 1));
    return this.#note(options, at);
  }

  #note<T>(options: readonly [T, ...T[]], at: number): T {
    this.taken.push(at);
    this.counts.push(options.length);
    return options[at] ?? options[0];
  }

  /** Mulberry32. */
  #random(): number {
    this.#state = (this.#state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}
