import { isUndecided, parseEntry } from '../../../journals/journal.ts';
import type { JournalEntry } from '../../../journals/journal.ts';
import { defaultClockSkew } from '../../../calls/options.ts';
import { readHistory } from '../../../once/entries.ts';
import { clean } from '../../table.ts';
import type { StoredRow } from '../connect.ts';
import type { StoreAddress } from '../flags.ts';
import { formatAge, formatCommand, isKnownTime } from '../words.ts';

/** What one question about a store has shown. */
export interface Finding {
  readonly name: string;
  /** What is wrong and what to do. Absent if nothing is wrong. */
  readonly problem?: string | undefined;
  /** Why the question has no answer here. */
  readonly unknown?: string | undefined;
}

/** A finding with a problem, unless the store is fit in this respect. */
export const findingOf = (name: string, isFit: boolean, problem: string): Finding =>
  isFit ? { name } : { name, problem };

/** Checks entries: whether the index has all open payments, and whether a clock was ahead. */
export class EntryChecks {
  #entries = 0;
  #open = 0;
  readonly #hidden: string[] = [];
  readonly #future: string[] = [];

  /** Looks at one entry. `now` is the store's time. */
  add({ reference, stored, isOpen }: StoredRow, now: number): void {
    const entry = parseEntry(stored);
    this.#entries += 1;
    if (isUndecided(entry)) {
      this.#open += 1;
      if (!isOpen) this.#hidden.push(reference);
    }
    if (latestTime(entry) > now + defaultClockSkew) this.#future.push(reference);
  }

  /** Returns what the entries have shown. */
  findings(store: StoreAddress): Finding[] {
    const counts = `${this.#entries} entries, ${this.#open} of them open`;
    const migrate = formatCommand('migrate', [], store);
    return [
      findingOf(
        `index of open payments (${counts})`,
        this.#hidden.length === 0,
        `it lacks ${nameSome(this.#hidden)}, so list does not show them. Stop what pays, and run: ${migrate}`,
      ),
      findingOf(
        'times of the entries',
        this.#future.length === 0,
        `${nameSome(this.#future)} were written by a clock that was ahead, or the clock is behind now. Set the clocks of the machines and of the store by NTP.`,
      ),
    ];
  }
}

/** The latest time at which an entry says that something has happened. */
function latestTime(entry: JournalEntry): number {
  const { claimedAt, paidAt } = Object(entry) as Record<string, unknown>;
  const times = [
    claimedAt,
    paidAt,
    ...readHistory(Object(entry) as JournalEntry).map(({ at }) => at),
  ];
  return Math.max(0, ...times.filter(isKnownTime));
}

const nameSome = (references: readonly string[]): string => {
  const more = references.length > 3 ? ` and ${references.length - 3} more` : '';
  return references.slice(0, 3).map(clean).join(', ') + more;
};

/** Compares the store's clock with this machine's, because nobody knows which of them is right. */
export function checkClock(now: number): Finding {
  const difference = now - Date.now();
  const side = difference > 0 ? 'ahead of' : 'behind';
  return findingOf(
    "the store's clock",
    Math.abs(difference) <= defaultClockSkew,
    `it is ${formatAge(Math.abs(difference))} ${side} this machine's. Set both by NTP: claims expire by the store's clock.`,
  );
}

export const isOldTable = (columns: readonly string[]): boolean => !columns.includes('claimed_at');

export const versionFinding = (isOld: boolean, store: StoreAddress): Finding =>
  findingOf(
    'version of the store',
    !isOld,
    `it was made by 0.3 or 0.4, and rejects every claim. Stop what pays, and run: ${formatCommand('migrate', [], store)}`,
  );
