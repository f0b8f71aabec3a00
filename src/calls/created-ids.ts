/** Enough for every connection, and for a platform that recognises duplicates by their terms within minutes. */
const maxIds = 10_000;

/** The ids that the platform has given to the latest creations of a client, each with its idempotency key. */
export class CreatedIds {
  readonly #keys = new Map<string, string | undefined>();

  /** Adds an id. False if another creation has it: without a key, two creations cannot be one. */
  add(id: string, key: string | undefined): boolean {
    if (this.#keys.has(id)) return key !== undefined && this.#keys.get(id) === key;
    this.#keys.set(id, key);
    const [oldest] = this.#keys.keys();
    if (this.#keys.size > maxIds && oldest !== undefined) this.#keys.delete(oldest);
    return true;
  }
}
