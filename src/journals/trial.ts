import {
  isObjectOrArray,
  type Journal,
  type JournalEntry,
  type OpenEntry,
  type SimilarEntry,
} from './journal.ts';

/** Error for a journal that behaves wrongly in a case. `hint` replaces the hint of that case. */
export class Mismatch extends Error {
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

export function describeValue(value: unknown): string {
  const text =
    typeof value === 'string' || isObjectOrArray(value) ? JSON.stringify(value) : String(value);
  return text.length > 100 ? `${text.slice(0, 100)}… (${text.length} characters)` : text;
}

/** Names an entry in a message by its claim id, because the test cases choose short, readable ids. */
function nameEntry(entry: JournalEntry | undefined): string {
  if (entry === undefined) return 'undefined';
  return 'claimId' in entry ? `${entry.claimId} (${entry.state})` : entry.state;
}

/** Describes the first field in which two entries differ. Fields may be in another order. */
function findDifference(expected: unknown, got: unknown, path: string): string | undefined {
  if (Object.is(expected, got)) return undefined;
  const areObjects = isObjectOrArray(expected) && isObjectOrArray(got);
  if (!areObjects || Array.isArray(expected) !== Array.isArray(got)) {
    return `${path} is ${describeValue(got)} instead of ${describeValue(expected)}`;
  }
  for (const name of Object.keys({ ...expected, ...got })) {
    const values = [Reflect.get(expected, name), Reflect.get(got, name)] as const;
    const difference = findDifference(...values, `${path}.${name}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

/** An error's message without passwords, because a store may put its connection string there. */
const describeError = (error: unknown): string =>
  String((Object(error) as { message?: unknown }).message ?? error)
    .replaceAll(/:\/\/[^\s/@]*:[^\s/]*@/g, '://[redacted]@')
    .slice(0, 300);

/** One run of a case. Calls the journal's handles in turn, and removes its entries at the end. */
export class Trial {
  readonly handles: readonly Journal[];
  readonly #start = `testJournal ${crypto.randomUUID()} `;
  readonly #references: string[] = [];
  /** References for which the journal may have an entry. */
  readonly #written = new Set<string>();
  #calls = 0;

  constructor(handles: readonly Journal[]) {
    this.handles = handles;
  }

  /** Creates a reference that only this trial uses, of at most 140 characters with its `end`. */
  newReference(end = ''): string {
    const reference = `${this.#start}${end || this.#references.length}`;
    this.#references.push(reference);
    return reference;
  }

  /** Shortens a reference to its end, because all references of a trial start alike. */
  nameReference(reference: string): string {
    return `'…${reference.slice(this.#start.length).slice(-30)}'`;
  }

  async call<T>(name: string, run: () => Promise<T> | T): Promise<T> {
    try {
      return await run();
    } catch (error) {
      if (error instanceof Mismatch) throw error;
      throw new Mismatch(`${name} rejected: ${describeError(error)}.`);
    }
  }

  nextHandle(): Journal {
    this.#calls += 1;
    return this.handles[this.#calls % this.handles.length] as Journal;
  }

  /** Calls a method of every handle, and compares what each call returns. */
  async expect(
    name: string,
    run: (handle: Journal) => unknown,
    expected: unknown,
    path = `what ${name} returned`,
  ): Promise<void> {
    for (const handle of this.handles) {
      const value = await this.call(name, () => run(handle));
      const difference = findDifference(expected, value, path);
      if (difference === undefined) continue;
      const isText = typeof value === 'string' && isObjectOrArray(expected);
      const hint = isText ? 'Parse the stored string: JSON.parse.' : undefined;
      throw new Mismatch(`${difference}.`, hint);
    }
  }

  /** Compares the entry that each handle reads, to detect a handle that caches. */
  read(reference: string, expected: JournalEntry | undefined): Promise<void> {
    const name = `read(${this.nameReference(reference)})`;
    return this.expect(name, (handle) => handle.read(reference), expected, `the entry of ${name}`);
  }

  /** Calls swap through the next handle. Returns the name of the call for messages, and whether the swap won. */
  async trySwap(
    reference: string,
    before: JournalEntry | undefined,
    after: JournalEntry | undefined,
  ): Promise<{ name: string; isWon: boolean }> {
    if (after) this.#written.add(reference);
    const entries = `${nameEntry(before)}, ${nameEntry(after)}`;
    const name = `swap(${this.nameReference(reference)}, ${entries})`;
    const isWon: unknown = await this.call(name, () =>
      this.nextHandle().swap(reference, before, after),
    );
    if (isWon === true && !after) this.#written.delete(reference);
    if (typeof isWon === 'boolean') return { name, isWon };
    throw new Mismatch(
      `${name} resolved to ${describeValue(isWon)} instead of true or false.`,
      'Resolve to true if the statement changed one row, and to false if it changed none.',
    );
  }

  /** Swaps an entry through the next handle, and reads the result through every handle. */
  async swap(
    reference: string,
    before: JournalEntry | undefined,
    after: JournalEntry | undefined,
  ): Promise<void> {
    const { name, isWon } = await this.trySwap(reference, before, after);
    if (!isWon) throw new Mismatch(`${name} resolved to false instead of true.`);
    await this.read(reference, after);
  }

  /** Writes an entry, and removes it after every handle has read it. */
  async keep(reference: string, entry: JournalEntry): Promise<void> {
    await this.swap(reference, undefined, entry);
    await this.swap(reference, entry, undefined);
  }

  /** Makes a swap that must change nothing, because `before` is not the current entry. */
  async swapInVain(
    reference: string,
    before: JournalEntry | undefined,
    after: JournalEntry | undefined,
    current: JournalEntry | undefined,
  ): Promise<void> {
    const { name, isWon } = await this.trySwap(reference, before, after);
    if (isWon)
      throw new Mismatch(
        `${name} resolved to true while ${current ? nameEntry(current) : 'no entry'} was there.`,
      );
    await this.read(reference, current);
  }

  /** Calls swap for all these entries at the same time, and returns the entry whose call won. */
  async race<T extends JournalEntry | undefined>(
    reference: string,
    before: JournalEntry | undefined,
    afters: readonly T[],
  ): Promise<T> {
    const results = await Promise.all(
      afters.map((after) => this.trySwap(reference, before, after)),
    );
    const winners = afters.filter((_, index) => results[index]?.isWon);
    if (winners.length !== 1) {
      throw new Mismatch(`${winners.length} of ${afters.length} calls at once resolved to true.`);
    }
    await this.read(reference, winners[0]);
    return winners[0] as T;
  }

  /**
   * Returns the entries that `open` of this handle yields for references of this trial. Calls
   * `onEntry` with each entry before reading the next one.
   */
  async listOpen(handle: Journal, onEntry?: OnOpenEntry): Promise<Map<string, JournalEntry>> {
    const listed = new Map<string, JournalEntry>();
    await this.call('open()', async () => {
      for await (const { reference, entry } of handle.open?.() ?? []) {
        if (!this.#references.includes(reference)) continue;
        if (listed.has(reference)) {
          throw new Mismatch(`open() listed ${this.nameReference(reference)} twice.`);
        }
        listed.set(reference, entry);
        await onEntry?.(reference, entry);
      }
    });
    return listed;
  }

  /** Checks that `open` of every handle lists the expected entries. */
  async expectOpen(expected: ReadonlyMap<string, JournalEntry>): Promise<void> {
    for (const handle of this.handles) {
      const listed = await this.listOpen(handle);
      for (const reference of new Set([...expected.keys(), ...listed.keys()])) {
        const name = `the entry that open() listed for ${this.nameReference(reference)}`;
        const difference = findDifference(expected.get(reference), listed.get(reference), name);
        if (difference !== undefined) throw new Mismatch(`${difference}.`);
      }
    }
  }

  /** Checks that `similar` of every handle lists the expected entries in this order. */
  async expectSimilar(
    terms: Parameters<NonNullable<Journal['similar']>>[0],
    since: number,
    expected: readonly (readonly [reference: string, entry: JournalEntry])[],
  ): Promise<readonly SimilarEntry[]> {
    let rows: readonly SimilarEntry[] = [];
    const list = async (handle: Journal) => {
      rows = (await handle.similar?.(terms, since)) ?? [];
      return rows.map(({ reference, entry }) => [reference, entry]);
    };
    await this.expect('similar', list, expected);
    return rows;
  }

  /** Removes the entries of this trial, as far as a faulty journal can. */
  async removeAll(): Promise<void> {
    const [handle] = this.handles;
    for (const reference of this.#written) {
      try {
        const entry = await handle?.read(reference);
        if (entry !== undefined) await handle?.swap(reference, entry, undefined);
      } catch {
        // Ignores the error, because the report already has the failure that left the entry.
      }
    }
  }
}

export type OnOpenEntry = (reference: string, entry: OpenEntry) => Promise<unknown>;
