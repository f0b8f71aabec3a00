import {
  isObjectOrArray,
  isUndecided,
  readPaidBefore,
  type FullJournal,
  type JournalEntry,
} from './journal.ts';

/**
 * A journal in the memory of this process, for tests. For real payments use another journal,
 * because a memory journal is lost when the process ends.
 * @example
 * ```ts
 * import { PaymentsClient } from 'payments-platform-sdk';
 * import { memoryJournal } from 'payments-platform-sdk/journals';
 * import { Sandbox } from 'payments-platform-sdk/sandbox';
 *
 * const { clientOptions } = new Sandbox();
 * const payments = new PaymentsClient({ ...clientOptions, journal: memoryJournal() });
 * console.log(payments.toJSON().baseUrl);
 * ```
 */
export function memoryJournal({ now = Date.now }: { now?: () => number } = {}): FullJournal {
  const entries = new Map<string, JournalEntry>();
  const journal: FullJournal = {
    read: (reference) => Promise.resolve(cloneEntry(entries.get(reference))),
    swap: (reference, before, after) => {
      if (!isSame(entries.get(reference), before)) return Promise.resolve(false);
      if (after === undefined) entries.delete(reference);
      else entries.set(reference, cloneEntry(after));
      return Promise.resolve(true);
    },
    now: () => Promise.resolve(now()),
    open: async function* () {
      // Copies the references, because a payment that is removed and claimed again during the loop
      // would be listed twice.
      const references = [...entries.keys()];
      for (const reference of references) {
        const entry = entries.get(reference);
        if (isUndecided(entry)) yield { reference, entry: cloneEntry(entry) };
      }
    },
    prune: async (options) => {
      const paidBefore = readPaidBefore(options);
      let count = 0;
      for (const [reference, entry] of entries) {
        if (entry.state !== 'paid' || entry.paidAt >= paidBefore) continue;
        entries.delete(reference);
        count += 1;
      }
      return count;
    },
  };
  return Object.assign(journal, { [memoryMark]: true });
}

/** Symbol that marks a journal whose entries are lost when the process ends. */
export const memoryMark = Symbol.for('payments-platform-sdk:memory-journal');

/** Copies a journal entry, because a caller may change the entry that it passed or got. */
const cloneEntry = <T extends JournalEntry | undefined>(entry: T): T =>
  entry && { ...entry, input: { ...entry.input } };

/** Compares entries field by field, because comparing their JSON takes several times as long. */
const isSame = (one: unknown, other: unknown): boolean =>
  one === other ||
  (isObjectOrArray(one) &&
    isObjectOrArray(other) &&
    Object.keys(one).length === Object.keys(other).length &&
    Object.entries(one).every(([name, value]) => isSame(value, Reflect.get(other, name))));
