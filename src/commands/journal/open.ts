import { journalKey } from '../../internal/formats.ts';
import { isObject } from '../../internal/objects.ts';
import { isOpen } from '../../once/entries.ts';
import type { FullJournal, JournalEntry, OpenEntry } from '../../journals/journal.ts';
import { createReader } from './client.ts';
import type { OpenPayments } from './report.ts';

/** Reads the open payments as `transfers.listUndecided` does, and their entries. */
export async function readOpen(journal: FullJournal, olderThan?: number): Promise<OpenPayments> {
  const entries = new Map<string, OpenEntry>();
  const watched = {
    ...journal,
    open: async function* () {
      for await (const payment of journal.open()) {
        if (isOpen(payment.entry)) entries.set(payment.reference, payment.entry);
        yield payment;
      }
    },
  };
  const { transfers } = await createReader(watched);
  const listed = [];
  for await (const payment of transfers.listUndecided({ olderThan })) listed.push(payment);
  const now = await journal.now(journalKey(listed[0]?.reference ?? ''));
  return { listed, entries, now };
}

/** Reads an entry. Throws if the commands could not print its fields. */
export async function findEntry(
  journal: FullJournal,
  reference: string,
): Promise<JournalEntry | undefined> {
  let entry: JournalEntry | undefined;
  try {
    entry = await journal.read(journalKey(reference));
    // A missing entry passes this check.
    const { input, state, candidates } = Object(entry ?? { input: {} }) as Record<string, unknown>;
    if (!isObject(input) || (state === 'ambiguous' && !Array.isArray(candidates))) {
      throw new Error('It is no entry of a journal.');
    }
  } catch (cause) {
    const advice = 'Restore the entry from a backup: docs/operate.md.';
    throw new Error(`The entry of "${reference}" cannot be read. ${advice}`, { cause });
  }
  return entry;
}

export async function readEntry(journal: FullJournal, reference: string): Promise<JournalEntry> {
  const entry = await findEntry(journal, reference);
  if (entry !== undefined) return entry;
  throw new Error(
    `The journal has no entry for "${reference}". Check its spelling and the journal.`,
  );
}
