import { PaymentsClient } from 'payments-platform-sdk';
import {
  memoryJournal,
  testJournal,
  type FullJournal,
  type Journal,
  type JournalEntry,
} from 'payments-platform-sdk/journals';
import { describe, expect, test, vi } from 'vitest';
import { createClaim, createPlatform, newInput } from '../stores/scenarios.ts';
import { isEqual } from '../../src/internal/objects.ts';
import type { OpenEntry, PaidEntry, PruneOptions } from '../../src/journals/journal.ts';

// test/stores/scenarios.ts checks that testJournal passes for the journals of this package.

type Read = Journal['read'];
type Swap = Journal['swap'];
type Entry = Parameters<Swap>[1];

/** Makes a handle with a wrong `read`, `swap` or `now` from a right journal. */
type WrongJournal = (right: Journal) => Partial<Journal>;

const mapReference =
  (map: (reference: string) => string): WrongJournal =>
  ({ read, swap }) => ({
    read: (reference) => read(map(reference)),
    swap: (reference, before, after) => swap(map(reference), before, after),
  });

/** Changes the stored JSON of each entry, as a column of the wrong type does. */
const replaceText = (find: RegExp, replacement: string): WrongJournal => {
  const change = (entry: Entry): Entry =>
    entry && JSON.parse(JSON.stringify(entry).replace(find, replacement));
  return ({ swap }) => ({
    swap: (reference, before, after) => swap(reference, change(before), change(after)),
  });
};

/** Writes without a comparison. */
async function write({ read, swap }: Journal, reference: string, after: Entry): Promise<true> {
  while (!(await swap(reference, await read(reference), after)));
  return true;
}

const removed = createClaim(newInput());
const stored = new Map<string, Entry>();
/** Stores the caller's own objects. */
const keepObjects =
  (copy: (entry: Entry) => Entry): WrongJournal =>
  () => ({
    read: async (reference) => copy(stored.get(reference)),
    swap: async (reference, before, after) => {
      if (!isEqual(stored.get(reference), before)) return false;
      if (after === undefined) stored.delete(reference);
      else stored.set(reference, after);
      return true;
    },
  });
let clocks = 0;
const keepsText = /an entry keeps its text/;
const distinguishes = /differ in one character/;

const wrongJournals: readonly (readonly [title: string, make: WrongJournal, report: RegExp])[] = [
  [
    'swap compares only the reference',
    (right) => ({
      swap: async (reference, before, after) => {
        const current = await right.read(reference);
        if ((current === undefined) !== (before === undefined)) return false;
        return right.swap(reference, current, after);
      },
    }),
    /writes only if the entry still is `before`[^]*removes the entry only if/,
  ],
  [
    'swap compares only the claim id',
    (right) => ({
      swap: async (reference, before, after) => {
        const current = await right.read(reference);
        const idOf = (entry: object = {}) => Reflect.get(entry, 'claimId') as unknown;
        return idOf(current) === idOf(before) && right.swap(reference, current, after);
      },
    }),
    /writes only if the entry still is `before`/,
  ],
  [
    'swap reads and writes in two steps',
    (right) => ({
      swap: async (reference, before, after) => {
        if (!isEqual(await right.read(reference), before)) return false;
        return write(right, reference, after);
      },
    }),
    /of 20 calls of swap at once[^]*Happened: \d+ of 20 calls/,
  ],
  [
    'swap is atomic only if there is no entry yet',
    (right) => ({
      swap: async (reference, before, after) => {
        if (before === undefined) return right.swap(reference, before, after);
        return isEqual(await right.read(reference), before) && write(right, reference, after);
      },
    }),
    /of 20 calls of swap at once/,
  ],
  [
    'each process has a clock of its own',
    ({ now }) => {
      const offset = (clocks += 3_600_000);
      return { now: async (reference) => (await now(reference)) + (offset % 70_000) };
    },
    /by one clock for all handles[^]*after another handle's/,
  ],
  [
    'now is five minutes ahead',
    ({ now }) => ({ now: async (r) => (await now(r)) + 300_000 }),
    /now resolved to \d+ instead of about \d+/,
  ],
  ['now in seconds', ({ now }) => ({ now: async (r) => (await now(r)) / 1_000 }), /to seconds/],
  ['now returns a string', () => ({ now: async () => String(Date.now()) as never }), /a string/],
  ['coarse times', () => ({ now: async () => Math.floor(Date.now() / 1e6) * 1e6 }), /now advances/],
  [
    'now always returns the start of the transaction',
    () => {
      const startedAt = Date.now();
      return { now: async () => startedAt };
    },
    /now advances between two calls[^]*now advanced by 0 in 50 ms/,
  ],
  [
    'a handle reads from its cache',
    ({ read }) => {
      const cache = new Map<string, ReturnType<Read>>();
      return {
        read: (reference) => {
          const entry = cache.get(reference) ?? read(reference);
          cache.set(reference, entry);
          return entry;
        },
      };
    },
    /every handle reads what a swap by any handle wrote/,
  ],
  [
    'a handle reads from a replica',
    (right) => {
      const replica = new Map<string, ReturnType<Read>>();
      return {
        read: (reference) => {
          const late = replica.get(reference) ?? right.read(reference);
          replica.set(reference, right.read(reference));
          return late;
        },
      };
    },
    /every handle reads what a swap by any handle wrote/,
  ],
  ['every handle has a store of its own', () => memoryJournal(), /every handle reads/],
  [
    'the text of an entry is cut at 1 kB',
    ({ read }) => ({
      read: async (reference) => {
        const text = JSON.stringify(await read(reference));
        return text && JSON.parse(text.slice(0, 1_024));
      },
    }),
    keepsText,
  ],
  [
    'the text of an entry loses its non-ASCII characters',
    replaceText(/[^\x20-\x7f]/g, '?'),
    keepsText,
  ],
  [
    'the text of an entry loses its emoji',
    replaceText(/\p{Extended_Pictographic}/gu, '?'),
    keepsText,
  ],
  ['the text of an entry loses the spaces at its end', replaceText(/ +"/g, '"'), keepsText],
  [
    'numbers in an entry lose their decimals',
    replaceText(/\.\d+(?=[,}])/g, ''),
    /the entry of read\('…0'\)\.claimedAt is 1764000000123 instead of 1764000000123\.456/,
  ],
  [
    'large numbers in an entry lose their last digit',
    replaceText(/(\d{15})\d\b/g, '$10'),
    /keeps every digit/,
  ],
  [
    'an ambiguous entry loses its candidates',
    replaceText(/,"candidates":\[.*\]/, ''),
    /every state is kept[^]*candidates is undefined instead of/,
  ],
  [
    'an array in an entry becomes an object',
    replaceText(/\["(\w+)","(\w+)"\]/, '{"0":"$1","1":"$2"}'),
    /every state is kept[^]*candidates is {"0":"txfr_000001","1":"txfr_000002"} instead of \[/,
  ],
  [
    'references are compared without case',
    mapReference((name) => name.toLowerCase()),
    /differ in one character[^]*swap\('…INV-1', undefined, one \(sending\)\) resolved to false/,
  ],
  [
    'references are cut at 128 characters',
    mapReference((name) => name.slice(0, 128)),
    distinguishes,
  ],
  [
    'references lose double spaces',
    mapReference((name) => name.trim().replaceAll(/ +/g, ' ')),
    distinguishes,
  ],
  [
    'references lose the characters that file names cannot have',
    mapReference((name) => name.replaceAll(/[^\w. %*-]/g, '_')),
    distinguishes,
  ],
  [
    'a reference cannot contain a quote',
    ({ read }) => ({
      read: async (reference) => {
        if (reference.includes("'")) throw new Error('syntax error at or near "\'"');
        return read(reference);
      },
    }),
    /every printable ASCII character[^]*rejected: syntax error/,
  ],
  ...[undefined, 1, 'OK', { changes: 1 }].map(
    (result) =>
      [
        `swap returns ${JSON.stringify(result)}`,
        ({ swap }: Journal) => ({
          swap: async (...args: Parameters<Swap>) => (await swap(...args)) && (result as never),
        }),
        /instead of true or false[^]*Resolve to true/,
      ] as const,
  ),
  [
    'swap returns 0 when it changes nothing',
    ({ swap }) => ({ swap: async (...args) => (await swap(...args)) || (0 as never) }),
    /resolved to 0 instead of true or false/,
  ],
  [
    'swap always returns true',
    ({ swap }) => ({ swap: async (...a) => (await swap(...a)) || true }),
    /Happened: 20 of 20/,
  ],
  [
    'swap(undefined → entry) overwrites',
    (right) => ({
      swap: async (reference, before, after) =>
        before === undefined && after !== undefined
          ? write(right, reference, after)
          : right.swap(reference, before, after),
    }),
    /writes only if there is no entry/,
  ],
  [
    'swap(entry → entry) inserts',
    (right) => ({
      swap: async (reference, before, after) =>
        right.swap(reference, (await right.read(reference)) && before, after),
    }),
    /writes only if the entry still is `before`[^]*resolved to true while no entry was there/,
  ],
  [
    'swap(entry → undefined) removes nothing',
    ({ read, swap }) => ({
      swap: async (reference, before, after) =>
        after === undefined
          ? isEqual(await read(reference), before)
          : swap(reference, before, after),
    }),
    /an entry of every state is kept and removed/,
  ],
  [
    'swap(undefined → undefined) returns true although there is an entry',
    ({ swap }) => ({
      swap: async (reference, before, after) =>
        (before === undefined && after === undefined) || swap(reference, before, after),
    }),
    /resolves to whether there is no entry/,
  ],
  [
    'a removed reference cannot be used again',
    ({ read, swap }) => ({
      read: async (reference) => {
        const entry = await read(reference);
        return isEqual(entry, removed) ? undefined : entry;
      },
      swap: (reference, before, after) => swap(reference, before, after ?? (before && removed)),
    }),
    /an entry of every state is kept and removed/,
  ],
  [
    'read returns a string',
    ({ read }) => ({ read: async (r) => JSON.stringify(await read(r)) as never }),
    /JSON\.parse/,
  ],
  [
    'read returns null',
    ({ read }) => ({ read: async (r) => (await read(r)) ?? (null as never) }),
    /null instead of undefined/,
  ],
  [
    'read returns the same object that the caller passed to swap',
    keepObjects((entry) => entry),
    /the caller may change an entry/,
  ],
  [
    'swap keeps the object that the caller passed, and read returns a copy',
    keepObjects((entry) => structuredClone(entry)),
    /the caller may change an entry/,
  ],
];

/** The report of testJournal, or an empty string if it passes. */
const readReport = (makeJournal: () => Journal | Promise<Journal>): Promise<string> =>
  testJournal(makeJournal).then(
    () => '',
    (error: unknown) => (error as Error).message,
  );

describe('testJournal rejects a wrong journal', () => {
  test.concurrent.each(wrongJournals)('%s', async (_name, makeWrong, report) => {
    const { find: _, firstClaimAt: _time, similar: _similar, ...right } = memoryJournal();
    expect(await readReport(() => ({ ...right, ...makeWrong(right) }))).toMatch(report);
  });
});

test('testJournal rejects a journal whose simultaneous claims all fail', async () => {
  const right = memoryJournal();
  let running = 0;
  const swap: Swap = async (...args) => {
    running += 1;
    await Promise.resolve();
    const isAlone = running === 1;
    await Promise.resolve();
    running -= 1;
    return isAlone && right.swap(...args);
  };
  const { read, now } = right;
  expect(await readReport(() => ({ read, swap, now }))).toContain('0 of 20 calls at once resolved');
});

type Entries = Map<string, JournalEntry>;

/** A right journal, and the entries that it holds. */
function createStore(): { right: Journal; entries: Entries } {
  const { read, swap, now } = memoryJournal();
  const entries: Entries = new Map();
  const mirrorSwap: Swap = async (reference, before, after) => {
    const isWon = await swap(reference, before, after);
    if (isWon && after) entries.set(reference, after);
    if (isWon && !after) entries.delete(reference);
    return isWon;
  };
  return { right: { read, swap: mirrorSwap, now }, entries };
}

type Listing = [reference: string, entry: JournalEntry][];
const isOpen = ({ state }: JournalEntry) => state === 'sending' || state === 'ambiguous';
const listOpen = (entries: Entries): Listing => [...entries].filter(([, entry]) => isOpen(entry));

async function* yieldAll(listing: Listing): ReturnType<FullJournal['open']> {
  for (const [reference, entry] of listing) yield { reference, entry: entry as OpenEntry };
}

/** What `open` lists, and what the report contains. */
const wrongListings: readonly (readonly [string, (entries: Entries) => Listing, RegExp])[] = [
  [
    'looks for the state in the whole text, which has a history',
    (entries) =>
      listOpen(entries).filter(([, entry]) => !JSON.stringify(entry).includes('"not_paid"')),
    /not at the states in its history/,
  ],
  [
    'leaves out an ambiguous payment',
    (entries) => [...entries].filter(([, { state }]) => state === 'sending'),
    /is undefined instead of {"state":"ambiguous"/,
  ],
  [
    'lists a paid payment',
    (entries) => [...entries].filter(([, { state }]) => state !== 'not_paid'),
    /is {"state":"paid".* instead of undefined/,
  ],
  [
    'lists a payment with the state not_paid',
    (entries) => [...entries].filter(([, { state }]) => state !== 'paid'),
    /is {"state":"not_paid".* instead of undefined/,
  ],
  [
    'lists only the first 200 payments',
    (entries) => listOpen(entries).slice(0, 200),
    /each of 250 payments once[^]*is undefined instead of {"state":"sending"/,
  ],
  [
    'lists a payment twice',
    (entries) => listOpen(entries).flatMap((each) => [each, each]),
    /listed '….*' twice/,
  ],
  [
    'lists strings',
    (entries) => listOpen(entries).map(([name, entry]) => [name, JSON.stringify(entry) as never]),
    /open\(\) listed for '….*' is "{.* instead of {/,
  ],
  [
    'lists references in lower case',
    (entries) => listOpen(entries).map(([name, entry]) => [name.toLowerCase(), entry]),
    /is undefined instead of {/,
  ],
  ['lists nothing', () => [], /is undefined instead of {/],
];

describe('testJournal rejects a journal whose method open()', () => {
  test.concurrent.each(wrongListings)('%s', async (_, list, report) => {
    const { right, entries } = createStore();
    const open = () => yieldAll(list(entries));
    expect(await readReport(() => ({ ...right, open }))).toMatch(report);
  });

  test('skips payments because it reads pages by number', async () => {
    const { right, entries } = createStore();
    const open = async function* () {
      for (let page = 0; page < 25; page += 1) {
        yield* yieldAll(listOpen(entries).slice(10 * page, 10 * page + 10));
      }
    };
    expect(await readReport(() => ({ ...right, open }))).toContain(
      'open() listed 130 of 250 that were decided meanwhile',
    );
  });

  test('lists only the payments that its own process has claimed', async () => {
    const { right, entries } = createStore();
    const makeJournal = (): Journal => {
      const claimed = new Set<string>();
      const swap: Swap = (reference, ...args) =>
        right.swap(claimed.add(reference) && reference, ...args);
      const open = () =>
        yieldAll(listOpen(entries).filter(([reference]) => claimed.has(reference)));
      return { ...right, swap, open };
    };
    expect(await readReport(makeJournal)).toMatch(/is undefined instead of {/);
  });

  test('keeps its database connection if the caller stops reading early', async () => {
    const { right, entries } = createStore();
    let connections = 5;
    const open = async function* () {
      if (connections === 0) throw new Error('the pool is empty');
      connections -= 1;
      yield* yieldAll(listOpen(entries));
      connections += 1;
    };
    expect(await readReport(() => ({ ...right, open }))).toMatch(
      /may stop reading from open\(\)\.\n.*the pool is empty/,
    );
  });
});

/** Whether `prune` removes an entry. */
const wrongPrunes: readonly (readonly [
  string,
  (entry: JournalEntry, paidBefore: number) => boolean,
])[] = [
  ['an undecided claim', (entry, time) => entry.state === 'sending' || isPaid(entry, time)],
  ['an ambiguous payment', (entry, time) => entry.state === 'ambiguous' || isPaid(entry, time)],
  ['a not_paid payment', (entry, time) => entry.state === 'not_paid' || isPaid(entry, time)],
  ['a payment that was made exactly at paidBefore', (entry, time) => isPaid(entry, time + 1)],
  ['every paid payment', (entry) => isPaid(entry, Infinity)],
  ['nothing because it takes paidBefore for seconds', (entry, time) => isPaid(entry, time / 1_000)],
  ['no payment of the last half millisecond', (entry, time) => isPaid(entry, time - 0.5)],
  [
    'an entry whose text contains the word paid',
    (entry, time) => isPaid(entry, time) || JSON.stringify(entry).includes('"state\\":\\"paid'),
  ],
  ['nothing', () => false],
];
const isPaid = (entry: JournalEntry, paidBefore: number) =>
  entry.state === 'paid' && entry.paidAt < paidBefore;

/** A prune that removes what `shouldRemove` accepts. `count` makes its result. */
const createPrune =
  (
    { right, entries }: ReturnType<typeof createStore>,
    shouldRemove: (entry: JournalEntry, paidBefore: number) => boolean,
    count = (removed: number): unknown => removed,
  ): FullJournal['prune'] =>
  async ({ paidBefore, keepReferences }) => {
    const isNew = (entry: JournalEntry) => !keepReferences || entry.input.amount !== undefined;
    const pruned = [...entries].filter(
      ([, entry]) => shouldRemove(entry, paidBefore.getTime()) && isNew(entry),
    );
    for (const [reference, entry] of pruned) {
      const { description } = entry.input;
      const after = keepReferences && { ...entry, input: { description } };
      await right.swap(reference, entry, after ? (after as PaidEntry) : undefined);
    }
    return count(pruned.length) as number;
  };

describe('testJournal rejects a journal whose method prune() removes', () => {
  test.concurrent.each(wrongPrunes)('%s', async (_, shouldRemove) => {
    const store = createStore();
    const prune = createPrune(store, shouldRemove);
    expect(await readReport(() => ({ ...store.right, prune }))).toMatch(/removes what was paid/);
  });
});

test('testJournal rejects a journal whose prune() removes entries despite keepReferences', async () => {
  const store = createStore();
  const prune = createPrune(store, isPaid);
  const ignore = ({ paidBefore }: PruneOptions) => prune({ paidBefore });
  expect(await readReport(() => ({ ...store.right, prune: ignore }))).toMatch(
    /with keepReferences only the terms/,
  );
});

test.each([undefined, true, '2', 1, 2])('testJournal rejects prune() of %o', async (count) => {
  const store = createStore();
  const prune = createPrune(store, isPaid, () => count);
  expect(await readReport(() => ({ ...store.right, prune }))).toMatch(
    /resolved to .* instead of [02]/,
  );
});

test('testJournal accepts a journal with correct methods open() and prune()', async () => {
  const store = createStore();
  const open = () => yieldAll(listOpen(store.entries));
  await testJournal(() => ({ ...store.right, open, prune: createPrune(store, isPaid) }));
});

/** A journal in a Map that compares as told, and finds transfers without a unique index. */
function createMapJournal(isSame: (one: unknown, other: unknown) => boolean): Journal {
  const entries: Entries = new Map();
  return {
    read: async (reference) => structuredClone(entries.get(reference)),
    swap: async (reference, before, after) => {
      if (!isSame(entries.get(reference), before)) return false;
      if (after === undefined) entries.delete(reference);
      else entries.set(reference, structuredClone(after));
      return true;
    },
    now: async () => Date.now(),
    find: async (platform, id) =>
      [...entries].find(
        ([, entry]) =>
          entry.state === 'paid' && entry.platform === platform && entry.transferId === id,
      )?.[0],
    firstClaimAt: async () => (entries.size > 0 ? 1 : undefined),
  };
}

test('testJournal rejects a journal whose find() has no unique index', async () => {
  const journal = createMapJournal(isEqual);
  const report = await readReport(() => journal);
  expect(report).toContain('Cases of testJournal that failed: 3.');
  expect(report).toContain('only one is paid by one transfer of a platform');
  expect(report).toContain('20 of 20 calls at once resolved to true');
  expect(report).toContain('firstClaimAt resolved to undefined instead of 1');
});

type Similar = NonNullable<Journal['similar']>;

/** Each journal with a wrong `similar`, made from a right one. */
const wrongSimilars: readonly (readonly [string, (right: Similar) => Similar])[] = [
  ['ignores since', (right) => (terms) => right(terms, 0)],
  [
    'lists the oldest first',
    (right) =>
      async (...call) =>
        (await right(...call)).toReversed(),
  ],
  [
    'compares amounts as text',
    (right) => async (terms, since) =>
      (await right(terms, since)).filter(({ entry }) => entry.input.amount === terms.input.amount),
  ],
  [
    'lists seconds',
    (right) => async (terms, since) =>
      (await right(terms, since)).map((row) => ({ ...row, claimedAt: row.claimedAt / 1_000 })),
  ],
  [
    'lists other amounts, too',
    (right) => async (terms, since) => {
      const input = { ...terms.input, amount: '12.51' };
      return [...(await right({ ...terms, input }, since)), ...(await right(terms, since))];
    },
  ],
];

test.concurrent.each(wrongSimilars)(
  'testJournal rejects a journal whose similar() %s',
  async (_, makeWrong) => {
    const right = memoryJournal();
    const similar = makeWrong((...call) => right.similar?.(...call) ?? Promise.resolve([]));
    const report = await readReport(() => ({ ...right, similar }));
    expect(report).toContain('Cases of testJournal that failed: 1.');
    expect(report).toContain('similar lists the payments with these terms, newest first');
  },
);

test('testJournal rejects a journal whose similar() lists a not_paid payment', async () => {
  const journal = createMapJournal(isEqual);
  const { read, swap, now } = journal;
  const seen = new Map<string, number>();
  const makeSimilar =
    (isListed: (entry: JournalEntry) => boolean): Similar =>
    async ({ platform }) => {
      const rows = await Promise.all(
        [...seen].map(async ([reference, claimedAt]) => {
          const entry = await read(reference);
          const isFound = entry?.platform === platform && isListed(entry);
          return isFound ? [{ reference, entry, claimedAt }] : [];
        }),
      );
      return rows.flat().toSorted((one, other) => other.claimedAt - one.claimedAt);
    };
  const remembering: Swap = async (reference, before, after) => {
    if (!seen.has(reference)) seen.set(reference, Date.now());
    return swap(reference, before, after);
  };
  for (const isListed of [() => true, (entry: JournalEntry) => entry.state !== 'not_paid']) {
    const wrong = { read, swap: remembering, now, similar: makeSimilar(isListed) };
    expect(await readReport(() => wrong)).toContain('similar lists the payments with these terms');
  }
});

test('testJournal rejects a journal that compares entries as text', async () => {
  const { read, swap, now } = createMapJournal(
    (one, other) => JSON.stringify(one) === JSON.stringify(other),
  );
  const report = await readReport(() => ({ read, swap, now }));
  expect(report).toContain('Cases of testJournal that failed: 1.');
  expect(report).toContain('compared by its values, in whatever order its fields are');
});

/** Orders the fields by their length, as a column of the type jsonb does. */
const toJsonb = <T>(value: T): T =>
  JSON.parse(JSON.stringify(value), (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => a.length - b.length))
      : each,
  ) as T;

test('testJournal accepts a journal that reorders fields, as jsonb does', async () => {
  const { read, swap, now } = createMapJournal(isEqual);
  const journal: Journal = {
    read: async (reference) => {
      const entry = await read(reference);
      return entry && toJsonb(entry);
    },
    swap,
    now,
  };
  await testJournal(() => journal);
  const { clientOptions, transfers } = createPlatform();
  const payments = new PaymentsClient({ ...clientOptions, journal });
  expect(await payments.transfers.createOnce(newInput())).toMatchObject({ result: 'created' });
  expect(transfers.list()).toHaveLength(1);
});

test('testJournal accepts a journal that has only read(), swap() and now()', async () => {
  const { read, swap, now } = memoryJournal();
  await testJournal(async () => ({ read, swap, now }));
});

test('testJournal reports what it expected, what happened, and a remedy', async () => {
  const right = memoryJournal();
  const swap: Swap = async (reference, before, after) =>
    right.swap(reference, (await right.read(reference)) && before, after);
  expect(await readReport(() => ({ ...right, swap }))).toMatchInlineSnapshot(`
    "Cases of testJournal that failed: 2. Do not pay with this journal until it passes.
    1. Expected: swap(reference, before, after) writes only if the entry still is \`before\`.
       Happened: swap('…0', one (sending), other (sending)) resolved to true while no entry was there.
       To do: Compare the whole entry in the statement that writes: WHERE reference = ? AND entry = ?.
    2. Expected: swap(reference, before, undefined) removes the entry only if it still is \`before\`.
       Happened: swap('…0', one (sending), undefined) resolved to true while no entry was there.
       To do: Delete in one statement: DELETE … WHERE reference = ? AND entry = ?."
  `);
});

test('testJournal reports only one failure if the journal is unreadable', async () => {
  const right = memoryJournal();
  const read = () => Promise.reject(new Error('connect to db://ops:hunter2@db failed'));
  expect(await readReport(() => ({ ...right, read }))).toMatchInlineSnapshot(`
    "Cases of testJournal that failed: 1. Do not pay with this journal until it passes.
    1. Expected: every handle reads what a swap by any handle wrote.
       Happened: read('…0') rejected: connect to db://[redacted]@db failed.
       To do: Check that the store can be reached and has its table. Store the entry in the one store that all processes share, under its reference. Do not cache, and do not read from a replica. Resolve to undefined if there is no entry."
  `);
});

test('testJournal rejects with the error that makeJournal throws', async () => {
  const error = new Error('the store is down');
  await expect(testJournal(() => Promise.reject(error))).rejects.toBe(error);
});

test.each([true, false])('testJournal removes only its own entries (%o)', async (passes) => {
  const right = memoryJournal();
  const input = newInput();
  const claim = createClaim(input);
  await right.swap(input.description, undefined, claim);
  const references = new Set<string>();
  const swap = vi.fn<Swap>((reference, ...entries) => {
    references.add(reference);
    return right.swap(reference, ...entries);
  });
  const now = passes ? right.now : async () => 1;
  expect((await readReport(() => ({ ...right, swap, now }))) === '').toBe(passes);
  expect(references.size).toBeGreaterThan(15);
  expect(references).not.toContain(input.description);
  for (const reference of references) expect(await right.read(reference)).toBeUndefined();
  expect(await right.read(input.description)).toEqual(claim);
});

test('testJournal uses new references in each run', async () => {
  const right = memoryJournal();
  const runs = [new Set<string>(), new Set<string>()] as const;
  for (const references of runs) {
    const read: Read = (reference) => {
      references.add(reference);
      return right.read(reference);
    };
    await testJournal(() => ({ ...right, read }));
  }
  expect([...runs[0]].filter((reference) => runs[1].has(reference))).toEqual([]);
  expect(runs[0].size).toBeGreaterThan(15);
});
