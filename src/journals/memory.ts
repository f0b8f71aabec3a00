import { isEqual } from '../internal/objects.ts';
import { termsOf } from '../internal/terms.ts';
import {
  columnsOf,
  dropTerms,
  isUndecided,
  maxSimilar,
  readPaidBefore,
  rejectOthers,
  transferOf,
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
export function memoryJournal({
  now = Date.now,
  ...others
}: { now?: () => number } = {}): FullJournal {
  rejectOthers('memoryJournal', others, 'now');
  const entries = new Map<string, JournalEntry>();
  /** The reference of each paid entry, by its platform and transfer. */
  const owners = new Map<string, string>();
  let firstEntryAt: number | undefined;
  const write = (reference: string, after: JournalEntry | undefined): void => {
    const before = transferKeyOf(entries.get(reference));
    if (before !== undefined) owners.delete(before);
    if (after === undefined) {
      entries.delete(reference);
      return;
    }
    entries.set(reference, cloneEntry(after));
    const transfer = transferKeyOf(after);
    if (transfer !== undefined) owners.set(transfer, reference);
  };
  const journal: FullJournal = {
    read: (reference) => Promise.resolve(cloneEntry(entries.get(reference))),
    swap: (reference, before, after) => {
      if (!isEqual(entries.get(reference), before)) return Promise.resolve(false);
      const owner = owners.get(transferKeyOf(after) ?? '') ?? reference;
      if (owner !== reference) return Promise.resolve(false);
      firstEntryAt ??= now();
      write(reference, after);
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
        const pruned = dropTerms(entry, paidBefore);
        const isOld = entry.state === 'paid' && entry.paidAt < paidBefore;
        if (options.keepReferences === true ? pruned === undefined : !isOld) continue;
        write(reference, options.keepReferences === true ? pruned : undefined);
        count += 1;
      }
      return count;
    },
    find: (platform, transferId) => Promise.resolve(owners.get(transferKey(platform, transferId))),
    similar: async ({ platform, input }, since) => {
      const terms = termsOf(platform, input);
      const rows = [...entries].flatMap(([reference, entry]) => {
        const { terms: found, claimedAt } = columnsOf(entry);
        return found === terms && claimedAt >= since
          ? [{ reference, entry: cloneEntry(entry), claimedAt }]
          : [];
      });
      return rows.toSorted((one, other) => other.claimedAt - one.claimedAt).slice(0, maxSimilar);
    },
    firstClaimAt: () => Promise.resolve(firstEntryAt),
    searchFirst: 'never',
  };
  return Object.assign(journal, { [memoryMark]: true });
}

/** Symbol that marks a journal whose entries are lost when the process ends. */
export const memoryMark = Symbol.for('payments-platform-sdk:memory-journal');

const transferKey = (platform: string, id: string): string => `${platform} ${id}`;

const transferKeyOf = (entry: JournalEntry | undefined): string | undefined => {
  const transfer = transferOf(entry);
  return transfer && transferKey(transfer.platform, transfer.transferId);
};

/** Copies a journal entry, because a caller may change the entry that it passed or got. */
const cloneEntry = <T extends JournalEntry | undefined>(entry: T): T =>
  entry && { ...entry, input: { ...entry.input } };
