/**
 * The maximum number of ids in each of the two maps of created ids. This is enough for late
 * responses on every connection, and for a platform that for some minutes treats two equal
 * creations as one.
 */
const maxIds = 10_000;

/** The ids of the latest creations, to recognise a response that arrives a second time. */
export class CreatedIds {
  #latest = new Map<string, string | undefined>();
  #earlier: ReadonlyMap<string, string | undefined> = new Map();

  /**
   * Adds the id of a created resource. Returns false if an earlier creation got the same id, unless
   * both sent the same idempotency key.
   */
  add(id: string, key: string | undefined): boolean {
    for (const keys of [this.#latest, this.#earlier]) {
      if (keys.has(id)) return key !== undefined && keys.get(id) === key;
    }
    // Two maps of ids take turns, because a Map gets slow if its oldest key is removed each time.
    if (this.#latest.size === maxIds) {
      this.#earlier = this.#latest;
      this.#latest = new Map();
    }
    this.#latest.set(id, key);
    return true;
  }
}

/**
 * The ids that this process's creations got, each with the base URL of its platform in front. All
 * clients share connections, so the response to one client may arrive again at another.
 */
export const idsOfProcess = /* @__PURE__ */ new CreatedIds();
