import {
  isOutcomeUnknown,
  PaymentInDoubtError,
  PaymentsClient,
  ValidationError,
  type ClientOptions,
  type OnceInput,
  type OnceOptions,
} from 'payments-platform-sdk';
import { memoryJournal, type JournalEntry } from 'payments-platform-sdk/journals';
import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { OrderCheck } from '../../src/search/list-order.ts';
import type { Transfer } from '../../src/schemas/transfer.ts';
import { failureOf, respond } from '../support/clients.ts';
import { account } from '../support/records.ts';
import { page, transfer } from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import type { SendingEntry } from '../../src/journals/journal.ts';

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
  /** How many transfers are older than the payment. There is one each hour. */
  readonly history?: number;
  /** Sorts the rows of the list, which come oldest first. */
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
  const journal = {
    ...memoryJournal({ now: () => trueTime() + journalLead }),
    searchFirst: forgets ? ('always' as const) : ('never' as const),
  };
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
    platform: { transfersNewestFirst: true },
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
    const deadline = claimedAt + totalTimeout;
    const times = { claimedAt, deadline, expiresAt: deadline + gracePeriod };
    const history = [{ at: claimedAt, state: 'sending' }] as const;
    const platformTime = hasDate ? { platformTime: trueTime() + platformLead } : {};
    const claimId = crypto.randomUUID();
    const common = { state: 'sending', claimId, host: 'h-1', platform: baseUrl, input } as const;
    const first = { firstClaimedAt: claimedAt, ...platformTime, history };
    return write({ ...common, ...times, ...first, ...changes });
  };
  /** Adds 150 other payments in eight minutes, so that the payment is not on the first page. */
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
 * Three ways to find a payment whose response was lost: createOnce with the claim in the journal,
 * createOnce with `since` after the journal has lost the claim, and reconcile.
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

/** Shows each row with another `createdAt`. */
const withTime =
  (change: (createdAt: string, row: Transfer) => string) =>
  (row: Transfer): Transfer => ({ ...row, createdAt: change(row.createdAt, row) });

/** Shows rows that are `seconds` apart, of which the newest is a day old. */
const withRank = (seconds: number) =>
  withTime((_, { id }) =>
    toTime(start - day - (800 - Number(id.slice('txfr_'.length))) * seconds * second),
  );

/** Puts a row directly before the payment that is `ms` older than the payment. */
const withOlderBefore =
  (ms: number) =>
  (rows: Rows): Rows =>
    newestFirst(rows).flatMap((row) => {
      if (row.description !== input.description) return [row];
      const createdAt = toTime(Date.parse(row.createdAt) - ms);
      return [{ ...transfer, id: 'txfr_900', amount: '1.00', createdAt }, row];
    });

/** Puts the `count` oldest rows first. */
const withOldGroup =
  (count: number) =>
  (rows: Rows): Rows => [...newestFirst(rows.slice(0, count)), ...newestFirst(rows.slice(count))];

test.each<readonly [string, World & { readonly payment?: Partial<Transfer> }]>([
  ['the list is newest first', {}],
  ['a page has ten items', { pageSize: 10 }],
  ['times have no fraction of a second', { show: withTime((time) => `${time.slice(0, 19)}Z`) }],
  ['creation times have no seconds', { show: withTime((time) => `${time.slice(0, 16)}Z`) }],
  ['creation times have an offset', { show: withTime((time) => time.replace('Z', '+00:00')) }],
  ['an item is 50 ms out of order', { arrange: withOlderBefore(50), pageSize: 151 }],
  ['an item is two minutes out of order', { arrange: withOlderBefore(2 * minute), pageSize: 151 }],
  [
    'items are two minutes out of order, and creation times are two minutes behind',
    {
      arrange: withOlderBefore(2 * minute),
      pageSize: 151,
      payment: { createdAt: toTime(start - 2 * minute) },
    },
  ],
  ['the clock of the platform is a day ahead', { platformLead: day }],
  ['the clock of the platform is a day behind', { platformLead: -day }],
  ['the clock of the journal is a day ahead', { journalLead: day }],
  ['the clock of the journal is a day behind', { journalLead: -day }],
])('a newest-first search reads only the first pages if %s', async (_, { payment, ...world }) => {
  // A prefetched page counts, too. The whole list has 751 items.
  const lists = world.pageSize === 10 ? 17 : 3;
  for (const name of searches) {
    expect(await findPayment(name, world, payment), name).toEqual({ lists, drifts: 0 });
  }
});

const whole = 8;

test.each<readonly [string, World, number]>([
  ['the list is oldest first', { arrange: oldestFirst }, 1],
  ['the list is shuffled', { arrange: shuffled }, 1],
  ['items are one second apart and oldest first', { arrange: oldestFirst, show: withRank(1) }, 1],
  ['items are 0.1 s apart and oldest first', { arrange: oldestFirst, show: withRank(0.1) }, 0],
  ['all creation times are equal', { show: withTime(() => '2020-01-01T00:00:00Z') }, 0],
  ['no creation time has an offset', { show: withTime((time) => time.slice(0, -1)) }, 0],
  [
    'one creation time of the first page has no offset',
    { show: withTime((time, { id }) => (id === 'txfr_750' ? time.slice(0, -1) : time)) },
    0,
  ],
  ['a time is odd', { show: withTime((time, { id }) => (id === 'txfr_750' ? 'today' : time)) }, 0],
  ['the 99 oldest items come first', { arrange: withOldGroup(99), pageSize: 99 }, 1],
  ['the ten oldest items come first', { arrange: withOldGroup(10), pageSize: 10 }, 1],
  ['no response has a Date header', { hasDate: false }, 0],
  ['a late clock sends no Date header', { hasDate: false, platformLead: -day }, 0],
  ['an item is too old', { arrange: withOlderBefore(2 * minute + 1), pageSize: 151 }, 1],
  ['the option is false', { options: { platform: { transfersNewestFirst: false } } }, 0],
])('a newest-first search reads the whole list if %s', async (title, world, drifts) => {
  const lists = Math.ceil(751 / (world.pageSize ?? 100));
  // With such times, reconcile takes the payment for another one.
  const isOld = /equal|apart|rises|late clock/.test(title);
  for (const name of isOld ? (['claim', 'since'] as const) : searches) {
    expect(await findPayment(name, world), name).toEqual({ lists, drifts });
  }
});

// The option's docstring and docs/gaps.md say that you must not set the option for such a list.
test('a newest-first search misses a payment behind 100 older transfers', async () => {
  const { claim, add, payOthers, pay, paid } = setup({ arrange: withOldGroup(100) });
  await claim();
  add(input as Partial<Transfer>);
  payOthers();
  await pay();
  expect(paid()).toHaveLength(2);
});

test.each([day, -day])(
  'a newest-first search finds the payment despite a clock %i ms off',
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
  'a newest-first search succeeds even if the machine %s meanwhile',
  async (_, interrupt, ahead) => {
    const test = setup();
    // A takeover would search by the platform's clock.
    await test.claim({ expiresAt: start + 10 * day });
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

test('a newest-first takeover reads three pages in each scan', async () => {
  const { claim, payOthers, pay, paid, counts } = setup();
  await claim();
  payOthers();
  await pay();
  expect(paid()).toHaveLength(1);
  expect(counts).toEqual({ lists: 6, creations: 1, drifts: 0 });
});

test('a first search with `since` reads one page of older transfers', async () => {
  const { pay, counts } = setup({ forgets: true });
  await pay({ since });
  expect(counts).toEqual({ lists: 1, creations: 1, drifts: 0 });
});

test('a first claim without `since` reads the whole list twice', async () => {
  const { payOthers, pay, counts } = setup({ forgets: true });
  payOthers();
  await pay();
  expect(counts.lists).toBe(2 * whole);
});

test('with a searching store an open payment needs the whole list', async () => {
  const { claim, add, pay } = setup({ forgets: true });
  const { id } = add(input as Partial<Transfer>, start - 30 * minute);
  for (let at = 0; at < 150; at += 1) add({}, start - 10 * minute);
  add({}, start);
  // The store has lost an earlier claim, and this one still runs.
  await claim();
  expect(await pay()).toMatchObject({ id, result: 'found' });
});

test('before a claim expires, an earlier `since` makes its search read further back', async () => {
  const { claim, add, pay } = setup();
  const { id } = add(input as Partial<Transfer>, start - 30 * minute);
  for (let at = 0; at < 150; at += 1) add({}, start - 10 * minute);
  add({}, start);
  await claim();
  expect(await pay({ since: toTime(start - hour) })).toMatchObject({ id, result: 'found' });
});

test('a `since` just after the first claim does not shorten a search', async () => {
  const { claim, add, clock, pay } = setup();
  const { id } = add(input as Partial<Transfer>, start - 100 * second);
  for (let at = 0; at < 60; at += 1) add({}, start - 180 * second);
  await claim();
  clock.jump(3 * minute);
  for (let at = 0; at < 60; at += 1) add();
  expect(await pay({ since: toTime(start + 2 * minute) })).toMatchObject({ id, result: 'found' });
});

test.each([{}, { since }])(
  'a takeover without platformTime reads the whole list: %o',
  async (options) => {
    const { claim, payOthers, pay, counts, paid } = setup();
    await claim({ platformTime: undefined });
    payOthers();
    await pay(options);
    expect(counts.lists).toBe(2 * whole);
    expect(paid()).toHaveLength(1);
  },
);

test("a takeover reads two minutes beyond its first claim's time", async () => {
  const { claim, add, payOthers, pay } = setup();
  await claim();
  const { id } = add(input as Partial<Transfer>, start - 100 * second);
  // The list may be out of order by two minutes.
  for (let at = 0; at < 60; at += 1) add({}, start - 180 * second);
  payOthers();
  expect(await pay()).toMatchObject({ id, result: 'found' });
});

test('a takeover after not_paid reads the whole list', async () => {
  const { claim, add, payOthers, pay } = setup();
  const { id } = add(input as Partial<Transfer>, start - 30 * minute);
  for (let at = 0; at < 150; at += 1) add({}, start - 10 * minute);
  const history = [
    { at: start - hour, state: 'sending' },
    { at: start - 40 * minute, state: 'not_paid' },
    { at: start, state: 'sending' },
  ] as const;
  await claim({ history });
  payOthers();
  expect(await pay()).toMatchObject({ id, result: 'found' });
});

const behind = { platformLead: -10 * minute };
const unknown = { platformTime: undefined };
test.each<readonly [string, World, number, Partial<SendingEntry>, string]>([
  ['119 s before the first claim', {}, -119 * second, {}, 'ambiguous'],
  ['122 s before the first claim', {}, -122 * second, {}, 'created'],
  ['5 min before it, on a platform that is behind', behind, -5 * minute, {}, 'created'],
  ['at it, on a platform that is behind', behind, 0, unknown, 'ambiguous'],
  ['3 min before it, on a platform that is behind', behind, -3 * minute, unknown, 'created'],
])(
  'a takeover judges a transfer with equal terms by its time: %s',
  async (_, world, age, changes, result) => {
    const show = (row: Transfer) =>
      row.description === input.description ? { ...row, description: 'OUTGOING' } : row;
    const { claim, add, payOthers, pay } = setup({ ...world, show });
    await claim(changes);
    add(input as Partial<Transfer>, start + age);
    payOthers();
    const outcome = await pay().then(
      (made) => made.result,
      (error: PaymentInDoubtError) => error.reason,
    );
    expect(outcome).toBe(result);
  },
);

test('a takeover is ambiguous if similar transfers have no readable time', async () => {
  const show = (row: Transfer) =>
    row.description === input.description
      ? { ...row, description: 'OUTGOING', createdAt: 'yesterday' }
      : row;
  const { claim, add, payOthers, pay } = setup({ show });
  await claim();
  add(input as Partial<Transfer>);
  payOthers();
  await expect(pay()).rejects.toMatchObject({ reason: 'ambiguous' });
});

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
  ['a first claim with since', undefined, { since }, start + 8 * minute],
  ['a claim that replaces an expired claim', {}, {}, start],
  ['a claim with the same since that replaces an expired claim', {}, { since }, start],
  ['a takeover with an earlier since', {}, { since: toTime(start - hour) }, start],
  ['a takeover with since within the skew', {}, { since: toTime(start + 2 * minute) }, start],
  ['a takeover of a takeover', { firstClaimedAt: start - hour }, {}, start - hour],
  ['a takeover of a future claim', { firstClaimedAt: start + day }, {}, start],
  ['a takeover without firstClaimedAt', { firstClaimedAt: undefined as never }, { since }, start],
])(
  "firstClaimedAt of %s is the time of the payment's first claim",
  async (_, before, options, firstClaimedAt) => {
    const { claim, payOthers, pay, read } = setup({ options: failingOptions() });
    if (before !== undefined) await claim(before);
    payOthers();
    await failureOf(pay(options), PaymentInDoubtError);
    expect(await read()).toMatchObject({ claimedAt: start + 8 * minute, firstClaimedAt });
  },
);

test('a takeover keeps the platformTime of the first claim', async () => {
  const { claim, payOthers, pay, read, payments } = setup({ options: failingOptions() });
  const platformTime = start - hour;
  await claim({ platformTime });
  payOthers();
  await payments.accounts.get('acc_1');
  await failureOf(pay(), PaymentInDoubtError);
  expect(await read()).toMatchObject({ claimedAt: start + 8 * minute, platformTime });
});

test("firstClaimedAt is a time of the journal's clock", async () => {
  const { pay, read } = setup({ journalLead: day, options: failingOptions() });
  await failureOf(pay({ since: toTime(start - hour) }), PaymentInDoubtError);
  expect(await read()).toMatchObject({ firstClaimedAt: start + day });
});

test('firstClaimedAt starts again with the first claim after not_paid', async () => {
  const { claim, payOthers, pay, payments, read } = setup({ options: failingOptions() });
  await claim({ firstClaimedAt: start - hour });
  payOthers();
  await payments.transfers.decide(input.description, 'not_paid');
  expect(await read()).not.toHaveProperty('firstClaimedAt');
  await failureOf(pay(), PaymentInDoubtError);
  expect(await read()).toMatchObject({ state: 'sending', firstClaimedAt: start + 8 * minute });
});

test('firstClaimedAt of an ambiguous entry is the time of writing it', async () => {
  const { add, pay, read, payOthers } = setup({ forgets: true });
  add({ ...input, id: 'txfr_1', amount: '99' } as Partial<Transfer>);
  payOthers();
  const error = await failureOf(pay({ since }), PaymentInDoubtError);
  expect(error.reason).toBe('ambiguous');
  const entry = await read();
  expect(entry).toMatchObject({ state: 'ambiguous', firstClaimedAt: start + 8 * minute });
  expect(entry).not.toHaveProperty('platformTime');
});

test('after an ambiguous call without `since`, searches read the whole list', async () => {
  const { add, pay, read, payments, payOthers, journal, counts } = setup({ forgets: true });
  add({ ...input, amount: '99' } as Partial<Transfer>);
  payOthers();
  await failureOf(pay(), PaymentInDoubtError);
  expect(await read()).toMatchObject({ state: 'ambiguous' });
  payOthers();
  const trusting = payments.withOptions({ journal: { ...journal, searchFirst: 'never' as const } });
  const error = await failureOf(trusting.transfers.createOnce(input), PaymentInDoubtError);
  expect([error.reason, counts.creations]).toEqual(['ambiguous', 0]);
});

/** A platform with two clocks, whose `createdAt` is behind the header `Date`. */
const withLateClock = (ms: number): World => ({
  show: (row) => ({ ...row, createdAt: toTime(Date.parse(row.createdAt) - ms) }),
});

test.each([
  [6 * minute, 1],
  [3 * minute, 1],
  [2 * minute, 0],
])('createOnce finds a payment whose createdAt is %i ms behind (%i drifts)', async (ms, drifts) => {
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
});

// since decides only where reading stops, not which transfers count.
test.each(searches)(
  'a search (%s) finds an earlier payment on the pages it reads',
  async (name) => {
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
  },
);

test('createOnce finds a payment older than `since` on the pages it reads', async () => {
  const { add, pay, counts } = setup({ forgets: true });
  const { id } = add({ ...input, createdAt: toTime(start - hour) } as Partial<Transfer>);
  expect(await pay({ since })).toMatchObject({ id });
  expect(counts.creations).toBe(0);
});

test.each(['sending', 'not_paid'] as const)(
  'createOnce rejects a `since` that is later than a %s claim',
  async (state) => {
    const { claim, payOthers, pay, payments, counts, read } = setup();
    await claim();
    payOthers();
    if (state === 'not_paid') await payments.transfers.decide(input.description, state);
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
])('createOnce rejects `since` %s before it reads the journal', async (moment, problem) => {
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

test('onDrift is called once if the list is not newest first', async () => {
  const { payments, pay, payOthers, counts } = setup({ arrange: shuffled, forgets: true });
  payOthers();
  await pay({ since });
  await payments.transfers.reconcile({ ...input, description: 'other' }, { since });
  expect(counts).toEqual({ lists: 4 * whole, creations: 1, drifts: 1 });
});

test('a newest-first search repeats a scan if the list changes meanwhile', async () => {
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

test('the second newest-first scan finds what the first missed', async () => {
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

test('an earlier `since` finds a payment older than its first claim', async () => {
  const { claim, add, pay, payOthers, counts } = setup();
  const { id } = add(input as Partial<Transfer>, start - 30 * minute);
  for (let at = 0; at < 150; at += 1) add({}, start - 10 * minute);
  await claim();
  payOthers();
  expect(await pay({ since: toTime(start - hour) })).toMatchObject({ id });
  expect(counts.creations).toBe(0);
});

test('createOnce stays in doubt after an empty page with hasMore: true', async () => {
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

test('the error of a search beyond totalTimeout names pages and remedies', async () => {
  const { claim, payOthers, pay, clock, counts } = setup({
    onList: (request) => (request > 3 ? new Promise(() => undefined) : undefined),
    options: { platform: { transfersNewestFirst: false }, maxRetries: 9, timeout: 90 * second },
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
    'a larger totalTimeout',
  ]) {
    expect(error.message).toContain(text);
  }
  expect(counts.creations).toBe(0);
});

test('a search of more than 50 pages causes one warning', async () => {
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

/** Has milliseconds, because a time without a fraction may be up to a second later. */
const moment = start + 1;
const rowsAt = (...times: readonly string[]): Transfer[] =>
  times.map((createdAt) => ({ ...transfer, createdAt }));
const repeat = (count: number, ms: number): string[] =>
  Array.from({ length: count }, () => toTime(ms));
/** Times that fall by an hour, and then rise by these milliseconds. */
const rising = (...steps: readonly number[]): string[] => [
  ...repeat(99, moment + hour),
  ...[0, ...steps].map((ms) => toTime(moment + ms)),
];

test.each<readonly [string, readonly string[], boolean, boolean]>([
  ['100 items fall by more', [...repeat(99, moment + 2 * minute + 1), toTime(moment)], true, false],
  ['99 items fall by more', [...repeat(98, moment + 2 * minute + 1), toTime(moment)], false, false],
  ['100 items fall by 2 min', [...repeat(99, moment + 2 * minute), toTime(moment)], false, false],
  ['the time of an item rises by exactly two minutes', rising(2 * minute), true, false],
  ['the time of an item rises by more than two minutes', rising(2 * minute + 1), false, true],
  ['two items rise by more than two minutes', rising(minute, 2 * minute + 1), false, true],
  ['a time has no offset', [...rising(), '2026-01-01T00:00:00'], false, false],
])('OrderCheck proves or contradicts the order if %s', (_, times, isShown, isContradicted) => {
  const order = new OrderCheck();
  order.read(rowsAt(...times));
  expect(order.isContradicted).toBe(isContradicted);
  expect(order.hasReached(moment + 2 * minute + 1)).toBe(isShown);
  // Items may be two minutes out of order, so a time counts as reached only two minutes later.
  expect(order.hasReached(moment + 2 * minute)).toBe(false);
  // The result is the same when each row is a page of its own.
  const paged = new OrderCheck();
  for (const row of rowsAt(...times)) paged.read([row]);
  expect([paged.isContradicted, paged.hasReached(moment + 2 * minute + 1)]).toEqual([
    isContradicted,
    isShown,
  ]);
});

test('OrderCheck treats whole seconds as up to a second later', () => {
  const order = new OrderCheck();
  order.read(rowsAt(...repeat(99, start + hour), `${toTime(start).slice(0, 19)}Z`));
  expect(order.hasReached(start + 2 * minute + 999)).toBe(false);
  expect(order.hasReached(start + 2 * minute + second)).toBe(true);
});

/** What a random plan decides about the list, the journal and an earlier call. */
interface OrderPlan {
  readonly name: (typeof orders)[number];
  readonly forgets: boolean;
  readonly wasPaid: boolean;
  /** How many other payments follow three and six minutes later. */
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

/** Calls createOnce after an earlier call. Returns the numbers of payments and of drifts. */
async function playOrder(plan: OrderPlan): Promise<readonly [number, number]> {
  const test = setup({ ...worldOf(plan), history: 200 });
  // A journal that forgets has lost the claim.
  if (!plan.forgets) await test.claim();
  if (plan.wasPaid) test.add(input as Partial<Transfer>);
  test.payOthers(plan.others);
  await test.pay(plan.forgets ? { since } : {});
  return [test.paid().length, test.counts.drifts];
}

// A run with 20,000 plans found no payment that was made twice.
test(
  'createOnce pays once on random lists and clocks with transfersNewestFirst',
  { timeout: 3_600_000 },
  async () => {
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
  },
);
