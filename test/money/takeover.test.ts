import { memoryJournal, type Journal } from 'payments-platform-sdk/journals';
import type { Sandbox } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import type { Transfer } from '../../src/schemas/transfer.ts';
import {
  gracePeriod,
  inDoubtErrorOf,
  input,
  minute,
  setup,
  start,
  totalTimeout,
} from './doubtful-platform.ts';

/*
 * A takeover sends what an earlier call may have sent already, so its search is the most careful
 * one: it believes neither a description, nor this machine's clock, nor a single scan.
 */

const showAs = (change: (description: string) => string | undefined) => (data: Transfer[]) => ({
  data: data.map((transfer) => ({
    ...transfer,
    description: change(String(transfer.description)),
  })),
});

test.each<[string, (reference: string) => string | undefined]>([
  ['masked', (text) => `${text.slice(0, 4)}****${text.slice(-2)}`],
  ['without its middle', (text) => `${text.slice(0, 8)}...${text.slice(-4)}`],
  ['digits only', (text) => text.replaceAll(/\D/g, '')],
  ['letters only', (text) => text.replaceAll(/[^a-z]/g, '')],
  ['in hex', (text) => Buffer.from(text).toString('hex')],
  ['reversed', (text) => [...text].toReversed().join('')],
  ['a text of the platform', () => 'OUTGOING PAYMENT'],
  ['behind a long prefix, and cut', (text) => `PAYMENT TO VENDOR ${text}`.slice(0, 22)],
  // Two forms that no report has.
  ['a hash', (text) => String(text.length * 7919)],
  ['the end of another word', () => 'salary'],
])('a takeover sends nothing while its transfer is listed %s', async (_, change) => {
  const { clock, leaveInDoubt, pay, sandbox } = setup({ show: showAs(change) });
  await clock.advance(60 * minute);
  await leaveInDoubt();
  await clock.advance(totalTimeout + gracePeriod);
  const { id } = sandbox.transfers.list()[0] ?? { id: '' };
  await expect(pay()).rejects.toMatchObject({ reason: 'ambiguous', candidates: [id] });
  expect(sandbox.transfers.list()).toHaveLength(1);
});

test("descriptions: 'as_sent' makes a transfer with another description another payment", async () => {
  const facts = { platform: { descriptions: 'as_sent' as const } };
  const { clock, leaveInDoubt, pay, sandbox } = setup({ show: showAs(() => 'salary') }, facts);
  await leaveInDoubt('before_commit');
  sandbox.transfers.create({ ...input, description: 'fee of another service' });
  await clock.advance(totalTimeout + gracePeriod);
  expect(await pay()).toMatchObject({ result: 'created' });
});

test.each<[string, (world: ReturnType<typeof setup>) => Promise<unknown>]>([
  ['is older than the claim', async ({ payOthers }) => payOthers(2, 10 * minute, input.amount)],
  ['is another payment of the journal', ({ pay }) => pay({ description: 'payroll-0018' })],
  [
    'has exactly the reference of another payment in doubt',
    ({ leaveInDoubt }) => leaveInDoubt('after_commit', { description: 'payroll-0018' }),
  ],
])('a takeover pays beside a transfer with equal terms that %s', async (title, add) => {
  const world = setup();
  const { clock, leaveInDoubt, pay, made } = world;
  if (title.includes('older')) {
    await add(world);
    await clock.advance(10 * minute);
  }
  await leaveInDoubt('before_commit');
  if (!title.includes('older')) await add(world);
  await clock.advance(totalTimeout + gracePeriod);
  expect(await pay()).toMatchObject({ result: 'created' });
  expect(made()).toHaveLength(1);
});

test('a takeover pays if a masked transfer belongs to another payment', async () => {
  const asked: string[] = [];
  const store = memoryJournal();
  const find: typeof store.find = (platform, transferId) => {
    asked.push(transferId);
    return store.find(platform, transferId);
  };
  const journalOptions = { read: store.read, swap: store.swap, find };
  const show = showAs(() => 'Überweisung');
  const { clock, leaveInDoubt, pay, made } = setup({ show, journalOptions });
  await leaveInDoubt('before_commit');
  const { id } = await pay({ description: 'payroll-0018' });
  await clock.advance(totalTimeout + gracePeriod);
  expect(await pay()).toMatchObject({ result: 'created' });
  expect(made()).toHaveLength(1);
  expect(asked).toEqual([id]);
});

test.each(['has another transfer', 'is of another platform'])(
  'a takeover ignores the result of find() if its entry %s',
  async (title) => {
    const other = 'payroll-0018';
    const journalOptions = { find: () => Promise.resolve(other) };
    const show = showAs(() => 'OUTGOING');
    const { clock, journal, leaveInDoubt, pay, sandbox } = setup({ show, journalOptions });
    await leaveInDoubt();
    const [{ id } = { id: '' }] = sandbox.transfers.list();
    if (title.includes('platform')) {
      const platform = 'https://elsewhere.example.com/v0';
      const paid = { platform, transferId: id, paidAt: clock.now() };
      const entry = { state: 'paid', ...paid, input: { ...input, description: other } } as const;
      await journal.swap(other, undefined, entry);
    } else {
      await pay({ description: other });
    }
    await clock.advance(totalTimeout + gracePeriod);
    expect((await inDoubtErrorOf(pay())).candidates).toContain(id);
  },
);

test.each<[string, string, { readonly amount?: string; readonly isDismissed?: boolean }]>([
  ['that has other terms', 'payroll-0018', { amount: '99.00' }],
  ['in other capitals', 'PAYROLL-0018', {}],
  ['that has dismissed the transfer', 'payroll-0018', { isDismissed: true }],
])(
  'a takeover is ambiguous if a transfer names a payment %s',
  async (_, shown, { amount = input.amount, isDismissed = false }) => {
    const { clock, leaveInDoubt, pay, payments, run, sandbox } = setup({
      show: showAs(() => shown),
    });
    const other = { description: 'payroll-0018', amount };
    await leaveInDoubt('before_commit', other);
    await leaveInDoubt();
    await clock.advance(totalTimeout + gracePeriod);
    if (isDismissed) {
      await run(payments.transfers.decide(other.description, 'not_paid', { force: true }));
    }
    const [{ id } = { id: '' }] = sandbox.transfers.list();
    expect((await inDoubtErrorOf(pay())).candidates).toEqual([id]);
  },
);

test.each<[string, Partial<Transfer>]>([
  ['without an id, under another description', { id: '' as 'txfr_', description: 'OUTGOING' }],
  ['with exactly its reference, without an amount', { amount: '' }],
])('a takeover sends nothing if its transfer is listed %s', async (_, fields) => {
  const show = (data: Transfer[]) => ({ data: data.map((each) => ({ ...each, ...fields })) });
  const { clock, leaveInDoubt, pay, sandbox } = setup({ show });
  await leaveInDoubt();
  await clock.advance(totalTimeout + gracePeriod);
  expect(await inDoubtErrorOf(pay())).toMatchObject({ reason: 'ambiguous' });
  expect(sandbox.transfers.list()).toHaveLength(1);
});

test('a takeover does not look up a description that is no reference', async () => {
  const store = memoryJournal();
  const read: Journal['read'] = (reference) =>
    /^[ -~]+$/.test(reference)
      ? store.read(reference)
      : Promise.reject(new Error('invalid byte sequence'));
  const journalOptions = { read, swap: store.swap, find: store.find };
  const { clock, leaveInDoubt, pay } = setup({ show: showAs(() => 'Überweisung'), journalOptions });
  await leaveInDoubt();
  await clock.advance(totalTimeout + gracePeriod);
  expect(await inDoubtErrorOf(pay())).toMatchObject({ reason: 'ambiguous' });
});

test('a batch pays none of 60 payments in doubt beside masked transfers', async () => {
  const { clock, leaveInDoubt, payments, run, sandbox } = setup({ show: showAs(() => 'OUTGOING') });
  const inputs = Array.from({ length: 60 }, (_, at) => {
    return { ...input, description: `fee-${at}` };
  });
  for (const each of inputs) await leaveInDoubt('after_commit', each);
  await clock.advance(totalTimeout + gracePeriod);
  const { unpaid } = await run(payments.transfers.createAllOnce(inputs, { retryTimeout: 1 }));
  const reasons = unpaid.map(({ error }) => Reflect.get(Object(error), 'reason') as unknown);
  expect(reasons).toEqual(Array(60).fill('ambiguous'));
  expect(sandbox.transfers.list()).toHaveLength(60);
});

test('a takeover in a batch repeats a search that predates its claim', async () => {
  const show = showAs(() => 'OUTGOING');
  const { clock, journal, leaveInDoubt, payments, run, sandbox } = setup({ show });
  await leaveInDoubt();
  Object.assign(journal, { searchFirst: 'always' });
  await clock.advance(totalTimeout + gracePeriod);
  const inputs = [{ ...input, amount: '1.00', description: 'the first' }, input];
  const options = { concurrency: 1, retryTimeout: 1 };
  const { unpaid } = await run(payments.transfers.createAllOnce(inputs, options));
  expect(unpaid.map(({ error }) => error)).toMatchObject([{ reason: 'ambiguous' }]);
  expect(sandbox.transfers.list()).toHaveLength(2);
});

test('a batch ends six equal payments in doubt, whichever were made', async () => {
  for (let mask = 0; mask < 64; mask += 7) {
    const { clock, leaveInDoubt, payments, run, sandbox } = setup();
    const inputs = Array.from({ length: 6 }, (_, at) => {
      return { ...input, description: `fee-${String(at).padStart(4, '0')}` };
    });
    for (const [at, each] of inputs.entries()) {
      await leaveInDoubt((mask >> at) % 2 === 0 ? 'before_commit' : 'after_commit', each);
    }
    await clock.advance(totalTimeout + gracePeriod);
    const { counts, unpaid } = await run(payments.transfers.createAllOnce(inputs));
    expect([counts.paid, unpaid]).toEqual([6, []]);
    expect(sandbox.transfers.list()).toHaveLength(6);
  }
});

test.each([
  ['60 minutes ahead', 60 * minute, 120 * minute],
  ['6 minutes ahead', 6 * minute, 30 * minute],
  // Two that no report has.
  ['a day ahead', 24 * 60 * minute, 26 * 60 * minute],
  ['20 minutes behind', -20 * minute, 90 * minute],
])('a newest-first takeover pays once after a clock was %s', async (_, lead, wait) => {
  for (const isPlatformKnown of [true, false]) {
    const facts = { platform: { transfersNewestFirst: true } };
    const { clock, leaveInDoubt, pay, payOthers, made, shiftMachine, payments, run } = setup(
      {},
      facts,
    );
    await payOthers(150, 3 * minute);
    if (isPlatformKnown) await run(payments.accounts.list());
    shiftMachine(lead);
    await leaveInDoubt();
    shiftMachine(0);
    await payOthers(300, wait / 300);
    await clock.advance(24 * 60 * minute);
    expect(await pay()).toMatchObject({ result: 'found' });
    expect(made()).toHaveLength(1);
  }
});

test('a newest-first takeover reads only transfers since the claim', async () => {
  const facts = { platform: { transfersNewestFirst: true } };
  const { clock, leaveInDoubt, pay, payOthers, sandbox, payments, run } = setup({}, facts);
  await payOthers(450, 3 * minute);
  await run(payments.accounts.list());
  await leaveInDoubt('before_commit');
  await payOthers(20, minute);
  await clock.advance(gracePeriod);
  const before = sandbox.log.length;
  await pay();
  const lists = sandbox.log.slice(before).filter(({ operation }) => operation === 'transfers.list');
  // Each scan reads two pages and has begun to read the next one.
  expect(lists.length).toBeLessThanOrEqual(6);
});

/** A list whose cursor is a time, so that it loses transfers with equal times at a page's end. */
function listByTime(url: URL, sandbox: Sandbox): object {
  const limit = Number(url.searchParams.get('limit'));
  const cursor = url.searchParams.get('cursor');
  const rows = sandbox.transfers.list().toReversed();
  const left = rows.filter(({ createdAt }) => cursor === null || createdAt < cursor);
  const data = left.slice(0, limit);
  const hasMore = left.length > limit;
  return { data, hasMore, nextCursor: hasMore ? data.at(-1)?.createdAt : null };
}

test.each([3, 5, 16, 50])(
  'a takeover never believes a list that loses %i equal times',
  async (burst) => {
    for (const place of [0, 1, burst - 1]) {
      const { clock, sandbox, leaveInDoubt, pay, made, payments, run } = setup({
        list: listByTime,
      });
      const add = (count: number) => {
        for (let at = 0; at < count; at += 1) {
          sandbox.transfers.create({ ...input, amount: '1.00', description: `other ${at}` });
        }
      };
      await clock.advance(minute);
      // Whatever the page size is, a page ends within one of these bursts.
      for (let at = 0; at < 60; at += 1) {
        add(at === 20 ? place : burst);
        if (at === 20) {
          await leaveInDoubt();
          add(burst - place);
        }
        await clock.advance(at === 20 ? 0 : 1);
      }
      await clock.advance(totalTimeout + gracePeriod);
      await run(payments.transfers.reconcile(input, { since: new Date(start) })).then(
        ({ result }) => expect(result).not.toBe('not_found'),
        (error: unknown) => expect(error).toMatchObject({ outcome: 'unknown' }),
      );
      await pay().catch(() => undefined);
      expect(made()).toHaveLength(1);
    }
  },
);

test('eight workers that search pay although each payment moves the list', async () => {
  const { clock, sandbox, payments, payOthers } = setup({
    journalOptions: { searchFirst: 'always' },
  });
  await payOthers(300, minute);
  await clock.advance(minute);
  const queue = Array.from({ length: 48 }, (_, at) => `job ${String(at).padStart(4, '0')}`);
  const results: string[] = [];
  const work = async (): Promise<void> => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      const { result } = await payments.transfers.createOnce({ ...input, description: job });
      results.push(result);
    }
  };
  await clock.stepTimersDuring(Promise.all(Array.from({ length: 8 }, work)), 1);
  expect(results).toEqual(Array(48).fill('created'));
  expect(sandbox.transfers.list()).toHaveLength(348);
  const lists = sandbox.log.filter(({ operation }) => operation === 'transfers.list').length;
  // Two scans of four or five pages for each payment, and hardly a third one.
  expect(lists / 48).toBeLessThan(12);
});

test('a longer gracePeriod also applies to an open claim', async () => {
  const { clock, leaveInDoubt, payments, run, made } = setup();
  await leaveInDoubt('before_commit');
  const patient = payments.withOptions({ gracePeriod: 120 * minute }).transfers;
  await clock.advance(totalTimeout + 30 * minute);
  const error = await inDoubtErrorOf(run(patient.createOnce(input)));
  expect(error).toMatchObject({
    reason: 'in_doubt',
    until: new Date(start + 122 * minute).toISOString(),
  });
  const early = inDoubtErrorOf(run(patient.decide(input.description, 'not_paid')));
  expect(await early).toMatchObject({ reason: 'in_doubt', retryAfterMs: 90 * minute });
  expect(made()).toHaveLength(0);
  await clock.advance(90 * minute);
  expect(await run(patient.createOnce(input))).toMatchObject({ result: 'created' });
});

test('a shorter gracePeriod does not apply to an open claim', async () => {
  const { clock, leaveInDoubt, payments, run, made } = setup();
  await leaveInDoubt('before_commit');
  const { transfers } = payments.withOptions({ gracePeriod: minute });
  await clock.advance(totalTimeout + 5 * minute);
  const error = await inDoubtErrorOf(run(transfers.createOnce(input)));
  expect(error).toMatchObject({
    reason: 'in_doubt',
    until: new Date(start + totalTimeout + gracePeriod).toISOString(),
  });
  const early = inDoubtErrorOf(run(transfers.decide(input.description, 'not_paid')));
  expect(await early).toMatchObject({ reason: 'in_doubt', retryAfterMs: 10 * minute });
  expect(made()).toHaveLength(0);
});

test('a claim that expires during the search of `decide` stays in doubt', async () => {
  let searchMs = 0;
  const { clock, leaveInDoubt, pay, payments, run, sandbox, made } = setup({
    show: (data) => {
      clock.jump(searchMs);
      return { data };
    },
  });
  await leaveInDoubt('before_commit');
  await clock.advance(totalTimeout + gracePeriod - 10_000 - clock.passed);
  searchMs = 6_000;
  const decision = payments.transfers.decide(input.description, 'not_paid');
  expect(await inDoubtErrorOf(run(decision))).toMatchObject({ reason: 'in_doubt' });
  // The request of the claim takes effect after the last page was read.
  sandbox.transfers.create(input);
  expect(await pay()).toMatchObject({ result: 'found' });
  expect(made()).toHaveLength(1);
});

test('with `gracePeriod: Infinity` an operator waits 15 minutes after the deadline', async () => {
  const hour = 60 * minute;
  const { clock, leaveInDoubt, payments, run } = setup(
    {},
    { gracePeriod: Infinity, totalTimeout: hour },
  );
  await leaveInDoubt('before_commit');
  // The operator's own client has the default time limits.
  const { transfers } = payments.withOptions({ totalTimeout, gracePeriod });
  const decide = (force = false) => run(transfers.decide(input.description, 'not_paid', { force }));
  await clock.advance(18 * minute);
  expect(await inDoubtErrorOf(decide())).toMatchObject({ retryAfterMs: 57 * minute });
  expect(await inDoubtErrorOf(decide(true))).toMatchObject({ retryAfterMs: 42 * minute });
  await clock.advance(50 * minute);
  expect(await inDoubtErrorOf(decide())).toMatchObject({ retryAfterMs: 7 * minute });
  await clock.advance(7 * minute);
  await decide();
});

test("decide('not_paid') is a conflict if the list masks a transfer's description", async () => {
  const masked = showAs((text) => `${text.slice(0, 4)}****${text.slice(-2)}`);
  const { clock, leaveInDoubt, payments, run, sandbox, pay } = setup({ show: masked });
  await leaveInDoubt();
  const { id } = sandbox.transfers.list()[0] ?? { id: '' };
  await clock.advance(totalTimeout + gracePeriod);
  const decision = payments.transfers.decide(input.description, 'not_paid', { by: 'ada' });
  const error = await inDoubtErrorOf(run(decision));
  expect(error).toMatchObject({ reason: 'conflict' });
  expect(error.message).toContain(id);
  await run(payments.transfers.decide(input.description, id, { by: 'ada' }));
  expect(await pay()).toMatchObject({ id, result: 'recorded' });
});

test.each([
  ['paid', async ({ pay, short }: Cut) => pay({ description: short })],
  [
    'in doubt',
    ({ leaveInDoubt, short }: Cut) => leaveInDoubt('before_commit', { description: short }),
  ],
] as const)(
  'a takeover is ambiguous if a cut description names a payment %s',
  async (_, makeOther) => {
    for (const [long, short] of [
      ['rent-2026-11', 'rent-2026-1'],
      ['fee 1000', 'fee 100'],
    ] as const) {
      const world = setup({ show: showAs((text) => text.slice(0, short.length)) });
      const { clock, leaveInDoubt, pay, payments, run, sandbox } = world;
      await makeOther({ ...world, short });
      await leaveInDoubt('after_commit', { description: long });
      const count = sandbox.transfers.list().length;
      await clock.advance(totalTimeout + gracePeriod);
      await expect(pay({ description: long })).rejects.toMatchObject({ reason: 'ambiguous' });
      const error = await inDoubtErrorOf(run(payments.transfers.decide(long, 'not_paid')));
      expect(error.reason).toBe('conflict');
      expect(sandbox.transfers.list()).toHaveLength(count);
    }
  },
);
type Cut = ReturnType<typeof setup> & { readonly short: string };

test.each<[string, (createdAt: string) => string]>([
  [
    'in local time without an offset',
    (time) => new Date(Date.parse(time) - 8 * 60 * minute).toISOString().slice(0, -1),
  ],
  ['as the day of booking', (time) => `${time.slice(0, 10)}T00:00:00Z`],
])('a takeover is ambiguous about a masked transfer whose time is listed %s', async (_, change) => {
  const { clock, leaveInDoubt, pay, payments, run, sandbox } = setup({
    show: (data) => ({
      data: data.map((row) => ({
        ...row,
        description: 'salary',
        createdAt: change(row.createdAt),
      })),
    }),
  });
  await clock.advance(10 * 60 * minute);
  await run(payments.accounts.list());
  await leaveInDoubt();
  await clock.advance(totalTimeout + gracePeriod);
  await expect(pay()).rejects.toMatchObject({ reason: 'ambiguous' });
  expect(sandbox.transfers.list()).toHaveLength(1);
});

test('a takeover finds a masked transfer although Date is an hour ahead', async () => {
  const world = setup({ show: showAs(() => 'salary') });
  const { clock, leaveInDoubt, pay, payments, run, sandbox } = world;
  const ahead = new Date(clock.now() + 60 * minute).toUTCString();
  const answer = () =>
    Promise.resolve(
      Response.json({ data: [], hasMore: false, nextCursor: null }, { headers: { date: ahead } }),
    );
  await run(payments.withOptions({ fetch: answer }).accounts.list());
  await leaveInDoubt();
  await clock.advance(totalTimeout + gracePeriod);
  await expect(pay()).rejects.toMatchObject({ reason: 'ambiguous' });
  expect(sandbox.transfers.list()).toHaveLength(1);
});
