/** Enough for every connection, and for a platform that recognises duplicates by their terms within minutes. */
const maxIds = 10_000;

/** The ids that the platform has given to the latest creations of a client, each with its idempotency key. */
export class CreatedIds {
  #latest = new Map<string, string | undefined>();
  #earlier: ReadonlyMap<string, string | undefined> = new Map();

  /** Adds an id. False if another creation has it: without a key, two creations cannot be one. */
  add(id: string, key: string | undefined): boolean {
    for (const keys of [this.#latest, this.#earlier]) {
      if (keys.has(id)) return key !== undefined && keys.get(id) === key;
    }
    // A Map from which the oldest one is removed each time searches for it among those removed before.
    if (this.#latest.size === maxIds) {
      this.#earlier = this.#latest;
      this.#latest = new Map();
    }
    this.#latest.set(id, key);
    return true;
  }
}
