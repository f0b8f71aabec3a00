import {
  isOutcomeUnknown,
  PaymentInDoubtError,
  PaymentsClient,
  ValidationError,
  type ClientOptions,
  type OnceInput,
  type OnceOptions,
} from 'payments-platform-sdk';
import {
  memoryJournal,
  type JournalEntry,
  type SendingEntry,
} from 'payments-platform-sdk/journals';
import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { OrderCheck } from '../../src/search/list-order.ts';
import type { Transfer } from '../../src/schemas/transfer.ts';
import { failureOf, respond } from '../support/clients.ts';
import { account } from '../support/records.ts';
import { page, transfer } from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const [totalTimeout, gracePeriod] = [2 * minute, 5 * minute];
const baseUrl = 'https://api.example.com/v0';
/** When the payment was requested, claimed and made. */
const start = Date.UTC(2026, 0, 15, 12);
const since = new Date(start).toISOString();
const input: OnceInput = {
  sourceAccountId: 'acc_1',
  destinationAccountId: 'acc_2',
  amount: '12.50',
  description: 'invoice 4711',
};
const toTime = (ms: number): string => new Date(ms).toISOString();

type Rows = readonly Transfer[];
const newestFirst = (rows: Rows): Rows => rows.toReversed();
const oldestFirst = (rows: Rows): Rows => rows;
const shuffled = (rows: Rows): Rows =>
  rows
    .map((row, at) => ({ row, rank: Math.imul(at + 1, 0x9e3779b1) >>> 0 }))
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ row }) => row);

interface World {
  /** Milliseconds by which a clock is ahead of this machine's. */
  readonly journalLead?: number;
  readonly platformLead?: number;
  readonly hasDate?: boolean;
  readonly forgets?: boolean;
  readonly pageSize?: number;
  /** How many Transfers are older than the payment, one each hour. */
  readonly history?: number;
  /** The order of the list; the rows come oldest first. */
  readonly arrange?: (rows: Rows) => Rows;
  readonly show?: (row: Transfer) => Transfer;
  /** Called before each page of the list, with its number. */
  readonly onList?: (request: number) => void | Promise<void>;
  readonly options?: ClientOptions;
}

/** A platform with a list that the test arranges, and a client that asserts its order. */
function setup(world: World = {}) {
  const { journalLead = 0, platformLead = 0, hasDate = true, forgets = false } = world;
  const { pageSize = 100, arrange = newestFirst, show = (row) => row } = world;
  const clock = new VirtualClock(start);
  let slept = 0;
  const trueTime = (): number => start + clock.passed + slept;
  /** A monotonic clock does not count the time that a machine is suspended. */
  const sleep = (ms: number): void => {
    slept += ms;
    clock.shiftWall(ms);
  };
  const ledger: Transfer[] = [];
  const add = (fields: Partial<Transfer> = {}, at = trueTime()): Transfer => {
    const id = `txfr_${ledger.length + 1}` as const;
    const description = `other ${ledger.length}.`;
    const createdAt = toTime(at + platformLead);
    const row: Transfer = { ...transfer, amount: '1.00', description, createdAt, ...fields, id };
    ledger.push(row);
    return row;
  };
  for (let age = world.history ?? 600; age > 0; age -= 1) add({}, start - age * hour);
  const counts = { lists: 0, creations: 0, drifts: 0 };
  const respondToList = async (url: URL): Promise<object> => {
    counts.lists += 1;
    await world.onList?.(counts.lists);
    const rows = arrange(ledger).map(show);
    const from = Number(url.searchParams.get('cursor') ?? 0);
    const next = from + pageSize;
    return page(rows.slice(from, next), next < rows.length ? String(next) : null);
  };
  const fetch = async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    if (url.pathname.includes('/accounts/')) return respond(200, account);
    const isList = request.method === 'GET';
    const body = isList
      ? await respondToList(url)
      : show(add((await request.json()) as Partial<Transfer>));
    if (!isList) counts.creations += 1;
    const date = new Date(trueTime() + platformLead).toUTCString();
    return respond(200, body, hasDate ? { date } : {});
  };
  const journal = { ...memoryJournal({ now: () => trueTime() + journalLead }), forgets };
  const payments = new PaymentsClient({
    baseUrl,
    apiKey: 'sk_test_0001',
    jwt: null,
    fetch,
    clock,
    journal,
    totalTimeout,
    gracePeriod,
    maxRetries: 0,
    transfersNewestFirst: true,
    hooks: {
      onDrift: ({ issues }) => {
        counts.drifts += issues.filter(({ path }) => path === 'data').length;
      },
    },
    ...world.options,
  });
  const pay = (options?: OnceOptions) => payments.transfers.createOnce(input, options);
  const read = () => journal.read(input.description) as Promise<SendingEntry | undefined>;
  const write = async (after: JournalEntry): Promise<void> => {
    const before = await read();
    expect(await journal.swap(input.description, before, after)).toBe(true);
  };
  /** The claim of a process that died. */
  const claim = (changes: Partial<SendingEntry> = {}): Promise<void> => {
    const claimedAt = trueTime() + journalLead;
    const expiresAt = claimedAt + totalTimeout + gracePeriod;
    const times = { claimedAt, expiresAt, firstClaimedAt: claimedAt };
    const claimId = crypto.randomUUID();
    const common = { state: 'sending', claimId, host: 'h-1', platform: baseUrl, input } as const;
    return write({ ...common, ...times, ...changes });
  };
  /** Eight minutes in which 150 others are paid, at two times, so that the payment is on no first page. */
  const payOthers = (others: readonly [number, number] = [75, 75]): void => {
    for (const count of others) {
      clock.jump(3 * minute);
      for (let at = 0; at < count; at += 1) add();
    }
    clock.jump(2 * minute);
  };
  const paid = () => ledger.filter(({ description }) => description === input.description);
  return { clock, sleep, payments, journal, counts, add, pay, read, write, claim, payOthers, paid };
}

/*
 * The payment was made, and its response lost: its claim is in the journal, or the journal has lost it and
 * the caller states `since`, or reconcile searches for it.
 */
const searches = ['claim', 'since', 'reconcile'] as const;
type SearchName = (typeof searches)[number];

interface Found {
  readonly lists: number;
  readonly drifts: number;
}

async function findPayment(
  name: SearchName,
  world: World,
  payment: Partial<Transfer> = {},
  beforeSearch: (test: ReturnType<typeof setup>) => void = () => undefined,
): Promise<Found> {
  const test = setup({ ...world, forgets: name === 'since' });
  if (name === 'claim') await test.claim();
  const { id } = test.add({ ...input, ...payment } as Partial<Transfer>);
  test.payOthers();
  beforeSearch(test);
  if (name === 'reconcile') {
    const result = await test.payments.transfers.reconcile(input, { since });
    expect(result).toMatchObject({ result: 'found', transfer: { id } });
  } else {
    expect(await test.pay(name === 'since' ? { since } : {})).toMatchObject({ id });
  }
  expect(test.counts.creations).toBe(0);
  return { lists: test.counts.lists, drifts: test.counts.drifts };
}

/** Without the fields that change, a row is shown with another time. */
const withTime =
  (change: (createdAt: string, row: Transfer) => string) =>
  (row: Transfer): Transfer => ({ ...row, createdAt: change(row.createdAt, row) });

/** Rows so many seconds apart; the newest is a day old. */
const withRank = (seconds: number) =>
  withTime((_, { id }) =>
    toTime(start - day - (800 - Number(id.slice('txfr_'.length))) * seconds * second),
  );

/** Puts a row directly before the payment that is so much older than it. */
const withOlderBefore =
  (ms: number) =>
  (rows: Rows): Rows =>
    newestFirst(rows).flatMap((row) => {
      if (row.description !== input.description) return [row];
      const createdAt = toTime(Date.parse(row.createdAt) - ms);
      return [{ ...transfer, id: 'txfr_900', amount: '1.00', createdAt }, row];
    });

/** Puts so many old rows first. */
const withOldGroup =
  (count: number) =>
  (rows: Rows): Rows => [...newestFirst(rows.slice(0, count)), ...newestFirst(rows.slice(count))];

test.each<readonly [string, World & { readonly payment?: Partial<Transfer> }]>([
  ['the list is newest first', {}],
  ['a page has ten items', { pageSize: 10 }],
  ['times have no fractions', { show: withTime((time) => `${time.slice(0, 19)}Z`) }],
  ['times name minutes', { show: withTime((time) => `${time.slice(0, 16)}Z`) }],
  ['times have an offset', { show: withTime((time) => time.replace('Z', '+00:00')) }],
  ['an item is 50 ms out of order', { arrange: withOlderBefore(50), pageSize: 151 }],
  ['an item is two minutes out of order', { arrange: withOlderBefore(2 * minute), pageSize: 151 }],
  [
    'items are two minutes out of order, and creation times as much behind',
    {
      arrange: withOlderBefore(2 * minute),
      pageSize: 151,
      payment: { createdAt: toTime(start - 2 * minute) },
    },
  ],
  ['the platform is a day ahead', { platformLead: day }],
  ['the platform is a day behind', { platformLead: -day }],
  ['the journal is a day ahead', { journalLead: day }],
  ['the journal is a day behind', { journalLead: -day }],
])('a bounded search finds the payment when %s', async (_, { payment, ...world }) => {
  // A prefetched page counts, too; the whole list has 751 items.
  const lists = world.pageSize === 10 ? 17 : 3;
  for (const name of searches) {
    expect(await findPayment(name, world, payment), name).toEqual({ lists, drifts: 0 });
  }
});

const whole = 8;

test.each<readonly [string, World, number]>([
  ['the list is oldest first', { arrange: oldestFirst }, 1],
  ['the list is shuffled', { arrange: shuffled }, 1],
  ['the list is one second apart and oldest first', { arrange: oldestFirst, show: withRank(1) }, 1],
  ['the list rises by less than can be seen', { arrange: oldestFirst, show: withRank(0.1) }, 0],
  ['all times are equal', { show: withTime(() => '2020-01-01T00:00:00Z') }, 0],
  ['no time has an offset', { show: withTime((time) => time.slice(0, -1)) }, 0],
  [
    'one time of the first page has no offset',
    { show: withTime((time, { id }) => (id === 'txfr_750' ? time.slice(0, -1) : time)) },
    0,
  ],
  [
    'one time of the first page cannot be read',
    { show: withTime((time, { id }) => (id === 'txfr_750' ? 'today' : time)) },
    0,
  ],
  ['99 old items come first', { arrange: withOldGroup(99), pageSize: 99 }, 1],
  ['ten old items come first', { arrange: withOldGroup(10), pageSize: 10 }, 1],
  ['no response has a Date', { hasDate: false }, 0],
])('the whole list is read when %s', async (title, world, drifts) => {
  const lists = Math.ceil(751 / (world.pageSize ?? 100));
  // With such times, reconcile takes the payment for another one.
  const isOld = /equal|apart|rises/.test(title);
  for (const name of isOld ? (['claim', 'since'] as const) : searches) {
    expect(await findPayment(name, world), name).toEqual({ lists, drifts });
  }
});

test('the whole list is read when an item is more than two minutes out of order', async () => {
  const world = { arrange: withOlderBefore(2 * minute + 1), pageSize: 151 };
  for (const name of searches) {
    expect(await findPayment(name, world), name).toEqual({ lists: 5, drifts: 1 });
  }
});

test('the whole list is read when the platform is a day behind and sends no Date', async () => {
  const world = { platformLead: -day, hasDate: false };
  for (const name of ['claim', 'since'] as const) {
    expect(await findPayment(name, world), name).toEqual({ lists: whole, drifts: 0 });
  }
});

// The option's hover and docs/gaps.md state it: the user asserts that there are no such groups.
test('a payment behind a group of 100 old items is not seen', async () => {
  const { claim, add, payOthers, pay, paid } = setup({ arrange: withOldGroup(100) });
  await claim();
  add(input as Partial<Transfer>);
  payOthers();
  await pay();
  expect(paid()).toHaveLength(2);
});

test.each([day, -day])(
  'a bounded search finds the payment when the wall clock is set by %i ms after the claim',
  async (ms) => {
    const world = await findPayment('claim', {}, {}, ({ clock }) => {
      clock.shiftWall(ms);
    });
    expect(world).toEqual({ lists: 3, drifts: 0 });
  },
);

test.each<readonly [string, (test: ReturnType<typeof setup>) => void, number]>([
  ['is suspended', ({ sleep }) => sleep(hour), 0],
  ['has its clock set ahead', ({ clock }) => clock.shiftWall(day), 0],
  ['has its clock set back', ({ clock }) => clock.shiftWall(-day), 0],
  ['has a clock that is a day ahead set right', ({ clock }) => clock.shiftWall(-day), day],
])(
  'a bounded search finds the payment when the machine %s while the journal is read',
  async (_, interrupt, ahead) => {
    const test = setup();
    await test.claim();
    test.clock.shiftWall(ahead);
    const { id } = test.add(input as Partial<Transfer>);
    test.payOthers();
    const slow = {
      ...test.journal,
      now: async (reference: string) => {
        const now = await test.journal.now(reference);
        interrupt(test);
        return now;
      },
    };
    expect(await test.pay({ journal: slow })).toMatchObject({ id });
    expect(test.counts.creations).toBe(0);
  },
);

test('a search without the assertion of an order reads the whole list', async () => {
  const options = { transfersNewestFirst: false };
  for (const name of searches) {
    expect(await findPayment(name, { options }), name).toEqual({ lists: whole, drifts: 0 });
  }
});

test('a takeover costs two pages and a prefetched one for each of its two scans', async () => {
  const { claim, payOthers, pay, paid, counts } = setup();
  await claim();
  payOthers();
  await pay();
  expect(paid()).toHaveLength(1);
  expect(counts).toEqual({ lists: 6, creations: 1, drifts: 0 });
});

test('a first claim with a journal that forgets costs one request when nothing is newer', async () => {
  const { pay, counts } = setup({ forgets: true });
  await pay({ since });
  expect(counts).toEqual({ lists: 1, creations: 1, drifts: 0 });
});

test('a claim in a journal that forgets bounds no search', async () => {
  const { claim, payOthers, pay, counts } = setup({ forgets: true });
  await claim();
  payOthers();
  await pay();
  expect(counts.lists).toBe(2 * whole);
});

test.each([{}, { since }])(
  'a claim without the time of its first claim bounds no search when the options are %o',
  async (options) => {
    const { claim, payOthers, pay, counts, read, write, paid } = setup();
    await claim();
    const { firstClaimedAt: _, ...old } = (await read()) as SendingEntry;
    await write(old as JournalEntry);
    payOthers();
    await pay(options);
    expect(counts.lists).toBe(2 * whole);
    expect(paid()).toHaveLength(1);
  },
);

/** A client with creations that fail, so that their claims stay. */
const failingOptions = (): ClientOptions => ({
  fetch: (request) =>
    request.method === 'POST'
      ? Promise.reject(new TypeError('reset'))
      : Promise.resolve(
          respond(200, request.url.includes('/accounts/') ? account : page([]), {
            date: new Date(start).toUTCString(),
          }),
        ),
});

test.each<readonly [string, Partial<SendingEntry> | undefined, OnceOptions, number]>([
  ['a first claim', undefined, {}, start + 8 * minute],
  ['a first claim with since', undefined, { since }, start],
  [
    'a first claim with a since in the near future',
    undefined,
    { since: toTime(start + 9 * minute) },
    start + 8 * minute,
  ],
  ['a takeover', {}, {}, start],
  ['a takeover with the same since', {}, { since }, start],
  ['a takeover with an earlier since', {}, { since: toTime(start - hour) }, start - hour],
  [
    'a takeover with a since within the clock skew',
    {},
    { since: toTime(start + 2 * minute) },
    start,
  ],
  ['a takeover of a takeover', { firstClaimedAt: start - hour }, {}, start - hour],
  [
    'a takeover of a claim from the future',
    { firstClaimedAt: start + day },
    {},
    start + 8 * minute,
  ],
  ['a takeover of an old claim', { firstClaimedAt: undefined as never }, { since }, 0],
])('%s has the earliest time of the payment', async (_, before, options, firstClaimedAt) => {
  const { claim, payOthers, pay, read } = setup({ options: failingOptions() });
  if (before !== undefined) await claim(before);
  payOthers();
  await failureOf(pay(options), PaymentInDoubtError);
  expect(await read()).toMatchObject({ claimedAt: start + 8 * minute, firstClaimedAt });
});

test('the earliest time is by the clock of the journal', async () => {
  const { pay, read } = setup({ journalLead: day, options: failingOptions() });
  await failureOf(pay({ since: toTime(start - hour) }), PaymentInDoubtError);
  expect(await read()).toMatchObject({ firstClaimedAt: start + day - hour });
});

test('not_paid and the claim after it keep the time of the first claim', async () => {
  const { claim, payOthers, pay, payments, read } = setup({ options: failingOptions() });
  await claim({ firstClaimedAt: start - hour });
  payOthers();
  await payments.transfers.resolveOnce(input.description, 'not_paid');
  expect(await read()).toMatchObject({ state: 'not_paid', firstClaimedAt: start - hour });
  await failureOf(pay(), PaymentInDoubtError);
  expect(await read()).toMatchObject({ state: 'sending', firstClaimedAt: start - hour });
});

test('an ambiguous entry without a claim has the since of its caller', async () => {
  const { add, pay, read, payOthers } = setup({ forgets: true });
  add({ ...input, id: 'txfr_1', amount: '99' } as Partial<Transfer>);
  payOthers();
  const error = await failureOf(pay({ since }), PaymentInDoubtError);
  expect(error.reason).toBe('ambiguous');
  expect(await read()).toMatchObject({ state: 'ambiguous', firstClaimedAt: start });
});

test('an ambiguous entry of a call without since keeps every later search from stopping early', async () => {
  const { add, pay, read, payments, payOthers, journal, counts } = setup({ forgets: true });
  add({ ...input, amount: '99' } as Partial<Transfer>);
  payOthers();
  await failureOf(pay(), PaymentInDoubtError);
  expect(await read()).toMatchObject({ state: 'ambiguous', firstClaimedAt: 0 });
  payOthers();
  const trusting = payments.withOptions({ journal: { ...journal, forgets: false } });
  const error = await failureOf(trusting.transfers.createOnce(input), PaymentInDoubtError);
  expect(error.reason).toBe('ambiguous');
  // An unknown first claim contradicts no since.
  const stated = await failureOf(
    trusting.transfers.createOnce(input, { since }),
    PaymentInDoubtError,
  );
  expect([stated.reason, counts.creations]).toEqual(['ambiguous', 0]);
});

/** Two clocks of the platform: `createdAt` is behind `Date`. */
const withLateClock = (ms: number): World => ({
  show: (row) => ({ ...row, createdAt: toTime(Date.parse(row.createdAt) - ms) }),
});

test.each([
  [6 * minute, 1],
  [3 * minute, 1],
  [2 * minute, 0],
])(
  'a creation with a createdAt %i ms behind its Date ends the trust in the order: %i drifts',
  async (ms, drifts) => {
    const reported: string[] = [];
    const onDrift: NonNullable<ClientOptions['hooks']>['onDrift'] = ({ operation, issues }) =>
      reported.push(...issues.map(({ path }) => `${operation} ${path}`));
    const { claim, add, pay, payments, payOthers, counts } = setup({
      ...withLateClock(ms),
      options: { hooks: { onDrift } },
    });
    for (const description of ['other a', 'other b']) {
      await payments.transfers.createOnce({ ...input, description });
    }
    expect(reported).toEqual(Array(drifts).fill('transfers.create createdAt'));
    // The payment is on the second page, and looks older than its claim.
    await claim();
    const { id } = add({ ...input } as Partial<Transfer>);
    payOthers();
    expect(await pay()).toMatchObject({ id });
    expect(counts.creations).toBe(2);
  },
);

// The bound decides only where reading stops.
test.each(searches)('%s: a payment that is older than since and was read counts', async (name) => {
  const { claim, add, pay, payments, counts } = setup({ forgets: name === 'since' });
  const { id } = add({ ...input, createdAt: toTime(start - minute) } as Partial<Transfer>);
  if (name === 'claim') await claim();
  const result =
    name === 'reconcile'
      ? await payments.transfers
          .reconcile(input, { since })
          .then((each) => 'transfer' in each && each.transfer)
      : await pay(name === 'since' ? { since } : {});
  expect(result).toMatchObject({ id });
  expect(counts.creations).toBe(0);
});

test('a payment from an hour before since is found by createOnce when it was read', async () => {
  const { add, pay, counts } = setup({ forgets: true });
  const { id } = add({ ...input, createdAt: toTime(start - hour) } as Partial<Transfer>);
  expect(await pay({ since })).toMatchObject({ id });
  expect(counts.creations).toBe(0);
});

test.each(['sending', 'not_paid'] as const)(
  'a since after the first claim of a %s entry is rejected, and nothing is sent',
  async (state) => {
    const { claim, payOthers, pay, payments, counts, read } = setup();
    await claim();
    payOthers();
    if (state === 'not_paid') await payments.transfers.resolveOnce(input.description, state);
    const before = [counts.lists, await read()];
    const error = await failureOf(pay({ since: toTime(start + 2 * minute + 1) }), ValidationError);
    expect(isOutcomeUnknown(error)).toBe(true);
    expect(error).toMatchObject({
      retryable: false,
      operation: 'transfers.createOnce',
      issues: [{ path: 'options.since' }],
    });
    expect(error.message).toContain(since);
    expect([counts.lists, await read()]).toEqual(before);
    expect(counts.creations).toBe(0);
    await pay({ since: toTime(start + 2 * minute) });
    expect(counts.creations).toBe(1);
  },
);

test.each([
  ['tomorrow', 'expected a valid Date'],
  [toTime(start + 2 * minute + 1), 'in the future'],
  [toTime(start).slice(0, -1), 'expected a valid Date'],
])('a since of %s is rejected before the journal is read', async (moment, problem) => {
  const { payments, counts } = setup();
  const journal = { read: vi.fn(), swap: vi.fn(), now: vi.fn() };
  const error = await failureOf(
    payments.transfers.createOnce(input, { since: moment, journal }),
    ValidationError,
  );
  expect(error.issues).toMatchObject([{ path: 'options.since' }]);
  expect(error.message).toContain(problem);
  expect(journal.read).not.toHaveBeenCalled();
  expect(counts).toEqual({ lists: 0, creations: 0, drifts: 0 });
});

test('an order that is contradicted is reported once per client', async () => {
  const { payments, pay, payOthers, counts } = setup({ arrange: shuffled, forgets: true });
  payOthers();
  await pay({ since });
  await payments.transfers.reconcile({ ...input, description: 'other' }, { since });
  // The payment needs two scans, because its journal forgets.
  expect(counts).toEqual({ lists: 3 * whole, creations: 1, drifts: 1 });
});

test('a list that is moved while it is read is scanned again', async () => {
  let hasMoved = false;
  const { add, pay, payOthers, counts } = setup({
    forgets: true,
    // An item of the first page moves behind the payment, which moves to the page that was read.
    arrange: (rows) => {
      const [first, ...others] = newestFirst(rows);
      if (!hasMoved || first === undefined) return newestFirst(rows);
      return [...others.slice(0, 160), first, ...others.slice(160)];
    },
    pageSize: 150,
    onList: (request) => {
      hasMoved = request >= 2;
    },
  });
  const { id } = add(input as Partial<Transfer>);
  payOthers();
  expect(await pay({ since })).toMatchObject({ id });
  expect(counts).toMatchObject({ creations: 0, drifts: 1 });
});

test('a payment that the first bounded scan misses is found by the second', async () => {
  let scans = 0;
  const { claim, add, pay, payOthers, counts } = setup({
    arrange: (rows) =>
      newestFirst(rows.filter(({ description }) => scans > 3 || description !== input.description)),
    onList: () => {
      scans += 1;
    },
  });
  await claim();
  const { id } = add(input as Partial<Transfer>);
  payOthers();
  expect(await pay()).toMatchObject({ id });
  expect(counts).toEqual({ lists: 6, creations: 0, drifts: 0 });
});

test('a since before the first claim lets a search read further back', async () => {
  const { claim, add, pay, payOthers, counts } = setup();
  const { id } = add(input as Partial<Transfer>, start - 30 * minute);
  for (let at = 0; at < 150; at += 1) add({}, start - 10 * minute);
  await claim();
  payOthers();
  expect(await pay({ since: toTime(start - hour) })).toMatchObject({ id });
  expect(counts.creations).toBe(0);
});

test('an empty page that reports more leaves the payment in doubt', async () => {
  const { claim, payOthers, payments, counts } = setup();
  await claim();
  payOthers();
  const empty = payments.withOptions({
    fetch: () => {
      counts.lists += 1;
      return Promise.resolve(respond(200, page([], '1')));
    },
  });
  const error = await failureOf(empty.transfers.createOnce(input), PaymentInDoubtError);
  expect(error.reason).toBe('in_doubt');
  expect(counts).toMatchObject({ lists: 1, creations: 0 });
});

test('a search that runs out of time names its pages and what helps', async () => {
  const { claim, payOthers, pay, clock, counts } = setup({
    onList: (request) => (request > 3 ? new Promise(() => undefined) : undefined),
    options: { transfersNewestFirst: false, maxRetries: 9, timeout: 90 * second },
  });
  await claim();
  payOthers();
  const error = await failureOf(clock.runTimersDuring(pay()), PaymentInDoubtError);
  expect(error.reason).toBe('in_doubt');
  expect(error.retryAfterMs).toBeGreaterThan(0);
  for (const text of [
    'within 120000 ms (totalTimeout)',
    'read 3 pages',
    'transfersNewestFirst with since',
    'createAllOnce',
    'a journal that does not forget',
    'a larger totalTimeout',
  ]) {
    expect(error.message).toContain(text);
  }
  expect(counts.creations).toBe(0);
});

test('a search of more than 50 pages is logged once', async () => {
  vi.resetModules();
  const sdk = await import('payments-platform-sdk');
  const log = vi.spyOn(console, 'warn').mockReturnValue();
  const read = async (count: number): Promise<void> => {
    const rows = Array.from({ length: count }, (_, at) => ({ ...transfer, id: `txfr_${at}` }));
    const payments = new sdk.PaymentsClient({
      baseUrl,
      apiKey: 'sk_test_0001',
      jwt: null,
      fetch: ({ url }) => {
        const next = Number(new URL(url).searchParams.get('cursor') ?? 0) + 1;
        const cursor = next < count ? String(next) : null;
        return Promise.resolve(respond(200, page(rows.slice(next - 1, next), cursor)));
      },
    });
    await payments.transfers.reconcile(input, { since });
  };
  await read(50);
  expect(log).not.toHaveBeenCalled();
  await read(51);
  await read(60);
  expect(log).toHaveBeenCalledTimes(1);
  expect(log.mock.calls.join()).toMatch(/more than 50 pages.*\n.*transfersNewestFirst with since/);
});

/** To the millisecond: a time without a fraction may be later. */
const moment = start + 1;
const rowsAt = (...times: readonly string[]): Transfer[] =>
  times.map((createdAt) => ({ ...transfer, createdAt }));
const repeat = (count: number, ms: number): string[] =>
  Array.from({ length: count }, () => toTime(ms));

test.each<readonly [string, readonly string[], boolean, boolean]>([
  [
    '100 items fall by more than two minutes',
    [...repeat(99, moment + 2 * minute + 1), toTime(moment)],
    true,
    false,
  ],
  ['99 items do', [...repeat(98, moment + 2 * minute + 1), toTime(moment)], false, false],
  [
    '100 items fall by two minutes',
    [...repeat(99, moment + 2 * minute), toTime(moment)],
    false,
    false,
  ],
  [
    'they rise by two minutes',
    [...repeat(99, moment + hour), toTime(moment), toTime(moment + 2 * minute)],
    true,
    false,
  ],
  [
    'they rise by more',
    [...repeat(99, moment + hour), toTime(moment), toTime(moment + 2 * minute + 1)],
    false,
    true,
  ],
  [
    'they rise by more in two steps',
    [
      ...repeat(99, moment + hour),
      toTime(moment),
      ...repeat(1, moment + minute),
      toTime(moment + 2 * minute + 1),
    ],
    false,
    true,
  ],
  [
    'a time has no offset',
    [...repeat(99, moment + hour), toTime(moment), '2026-01-01T00:00:00'],
    false,
    false,
  ],
])('an order is shown or contradicted when %s', (_, times, isShown, isContradicted) => {
  const order = new OrderCheck();
  order.read(rowsAt(...times));
  expect(order.isContradicted).toBe(isContradicted);
  expect(order.hasReached(moment + 2 * minute + 1)).toBe(isShown);
  // Everything from a time on was read only with a margin.
  expect(order.hasReached(moment + 2 * minute)).toBe(false);
  // Neither page after page.
  const paged = new OrderCheck();
  for (const row of rowsAt(...times)) paged.read([row]);
  expect([paged.isContradicted, paged.hasReached(moment + 2 * minute + 1)]).toEqual([
    isContradicted,
    isShown,
  ]);
});

test('a time without a fraction may be a second later', () => {
  const order = new OrderCheck();
  order.read(rowsAt(...repeat(99, start + hour), `${toTime(start).slice(0, 19)}Z`));
  expect(order.hasReached(start + 2 * minute + 999)).toBe(false);
  expect(order.hasReached(start + 2 * minute + second)).toBe(true);
});

/** A history, and a payment with a known claim or `since`, as a platform lists them. */
interface OrderPlan {
  readonly name: (typeof orders)[number];
  readonly forgets: boolean;
  readonly wasPaid: boolean;
  /** How many others are paid after it, three and six minutes later. */
  readonly others: readonly [number, number];
  readonly pageSize: number;
  readonly platformLead: number;
  readonly hasDate: boolean;
}

const orders = ['oldest first', 'shuffled', 'equal times', 'equal days', 'newest first'] as const;
const worldOf = ({ name, ...world }: OrderPlan): World => {
  switch (name) {
    case 'oldest first':
      return { ...world, arrange: oldestFirst };
    case 'shuffled':
      return { ...world, arrange: shuffled };
    case 'equal times':
      return { ...world, show: withTime(() => '2020-01-01T00:00:00Z') };
    case 'equal days':
      return {
        ...world,
        arrange: shuffled,
        show: withTime((time) => `${time.slice(0, 11)}00:00Z`),
      };
    case 'newest first':
      return world;
  }
};

const orderPlans: fc.Arbitrary<OrderPlan> = fc.record({
  name: fc.constantFrom(...orders),
  forgets: fc.boolean(),
  wasPaid: fc.boolean(),
  others: fc.tuple(fc.nat(150), fc.nat(150)),
  pageSize: fc.constantFrom(100, 99, 50, 10),
  platformLead: fc.constantFrom(0, day, -day, minute, -minute),
  hasDate: fc.boolean(),
});

/** Pays after an earlier call has, or has not; returns how often the payment was made. */
async function playOrder(plan: OrderPlan): Promise<readonly [number, number]> {
  const test = setup({ ...worldOf(plan), history: 200 });
  // A journal that forgets has lost the claim.
  if (!plan.forgets) await test.claim();
  if (plan.wasPaid) test.add(input as Partial<Transfer>);
  test.payOthers(plan.others);
  await test.pay(plan.forgets ? { since } : {});
  return [test.paid().length, test.counts.drifts];
}

// Run with 20,000 plans, it found none that is paid twice.
test('a list in any order pays once in random plans', { timeout: 3_600_000 }, async () => {
  const numRuns = Number(process.env['PAYMENTS_SDK_ORDER_PLANS'] ?? 60);
  const driftCounts = new Map<string, number>();
  const property = fc.asyncProperty(orderPlans, async (plan) => {
    const [payments, drifts] = await playOrder(plan);
    expect(payments).toBe(1);
    driftCounts.set(plan.name, (driftCounts.get(plan.name) ?? 0) + drifts);
  });
  await fc.assert(property, { numRuns });
  for (const name of ['oldest first', 'shuffled', 'equal days'] as const) {
    expect(driftCounts.get(name), name).toBeGreaterThan(0);
  }
  for (const name of ['equal times', 'newest first'] as const) {
    expect(driftCounts.get(name), name).toBe(0);
  }
});
