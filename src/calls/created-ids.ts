/**
 * How many ids each of the two maps keeps. That is enough for late responses on every connection,
 * and for a platform that for some minutes takes equal terms for one creation.
 */
const maxIds = 10_000;

/** The ids that the platform gave a client's latest creations, with their idempotency keys. */
export class CreatedIds {
  #latest = new Map<string, string | undefined>();
  #earlier: ReadonlyMap<string, string | undefined> = new Map();

  /** Adds an id. Returns false if another creation has it, unless both have the same key. */
  add(id: string, key: string | undefined): boolean {
    for (const keys of [this.#latest, this.#earlier]) {
      if (keys.has(id)) return key !== undefined && keys.get(id) === key;
    }
    // Two maps take turns, because a Map gets slow if its oldest key is removed each time.
    if (this.#latest.size === maxIds) {
      this.#earlier = this.#latest;
      this.#latest = new Map();
    }
    this.#latest.set(id, key);
    return true;
  }
}
