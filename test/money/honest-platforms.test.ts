import type { Sandbox } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import { gracePeriod, input, minute, setup, totalTimeout } from './doubtful-platform.ts';

/* The careful searches of createOnce stop no platform that does nothing wrong. */

const first = { searchFirst: 'always' } as const;
test('createOnce pays on a platform that ignores the filter by account', async () => {
  const { sandbox, pay } = setup({
    journalOptions: first,
    show: (data, _, { transfers }) => ({
      data: [...data, ...transfers.list().filter((each) => each.sourceAccountId === 'acc_000002')],
    }),
  });
  const { id: entityId } = sandbox.entities.create({ email: 'bob@example.com' });
  const { id } = sandbox.accounts.create({ entityId, name: 'Third' });
  sandbox.accounts.fund('acc_000002', '1000');
  for (let at = 0; at < 5; at += 1) {
    const others = { sourceAccountId: 'acc_000002', destinationAccountId: id, amount: '1.00' };
    sandbox.transfers.create(others);
  }
  for (let at = 0; at < 20; at += 1) {
    expect(await pay({ description: `payment ${at}` })).toMatchObject({ result: 'created' });
  }
});

/** A list that shows the latest `length` transfers, fewer at each of its scans. */
const shrinking = (length: number, step: number) => {
  let shown = length + step;
  return (url: URL, sandbox: Sandbox): object => {
    const cursor = Number(url.searchParams.get('cursor') ?? 0);
    if (cursor === 0) shown -= step;
    const limit = Number(url.searchParams.get('limit'));
    const rows = sandbox.transfers.list().toReversed().slice(0, shown);
    const hasMore = cursor + limit < rows.length;
    return {
      data: rows.slice(cursor, cursor + limit),
      hasMore,
      nextCursor: hasMore ? String(cursor + limit) : null,
    };
  };
};

test('createOnce pays although old transfers disappear from the list meanwhile', async () => {
  const list = shrinking(900, 5);
  const store = setup({ journalOptions: first, list });
  await store.payOthers(1_000, minute);
  expect(await store.pay()).toMatchObject({ result: 'created' });
  expect(store.counts.lists).toBe(9 + 10);
  const { clock, counts, leaveInDoubt, pay, payOthers } = setup({ list: shrinking(900, 5) });
  await payOthers(1_000, minute);
  await leaveInDoubt('before_commit');
  await clock.advance(totalTimeout + gracePeriod);
  counts.lists = 0;
  expect(await pay()).toMatchObject({ result: 'created' });
  expect(counts.lists).toBe(9 + 10);
});

test.each([0, 60_000, 130_000, 180_000, 600_000, -600_000])(
  "a takeover pays despite others' payments and a clock %i ms ahead",
  async (ahead) => {
    const facts = { platform: { transfersNewestFirst: true } };
    const { clock, counts, leaveInDoubt, pay, payOthers, shiftMachine } = setup(
      {
        // Others pay while the list is read.
        show: (data, _, { transfers }) => {
          transfers.create({ ...input, amount: '1.00', description: 'meanwhile' });
          return { data };
        },
      },
      facts,
    );
    shiftMachine(ahead);
    await payOthers(300, minute);
    await leaveInDoubt('before_commit');
    await clock.advance(totalTimeout + gracePeriod);
    counts.lists = 0;
    expect(await pay()).toMatchObject({ result: 'created' });
    expect(counts.lists).toBeLessThan(10);
  },
);

test("on a new store's first day each payment needs two scans", async () => {
  const { clock, counts, payments, payOthers } = setup({
    journalOptions: { searchFirst: 'first_day' },
  });
  await payOthers(10_000, 1);
  const countOf = async (call: () => Promise<unknown>) => {
    counts.lists = 0;
    await clock.stepTimersDuring(call(), 1);
    return counts.lists;
  };
  expect(await countOf(() => payments.transfers.createOnce(input))).toBe(100 + 104);
  const inputs = Array.from({ length: 50 }, (_, at) => ({ ...input, description: `row ${at}.` }));
  expect(await countOf(async () => await payments.transfers.createAllOnce(inputs))).toBe(101 + 104);
  await clock.advance(24 * 60 * minute);
  const last = { ...input, description: 'the next day' };
  expect(await countOf(() => payments.transfers.createOnce(last))).toBe(0);
});

test('a batch on a day-old store scans only for payments in doubt', async () => {
  const { clock, counts, leaveInDoubt, payments, payOthers } = setup({
    journalOptions: { searchFirst: 'first_day' },
  });
  await payOthers(150, 1);
  await clock.stepTimersDuring(
    payments.transfers.createOnce({ ...input, description: 'the first' }),
    1,
  );
  await clock.advance(25 * 60 * minute);
  await leaveInDoubt('before_commit');
  counts.lists = 0;
  const inputs = [input, { ...input, description: 'another' }];
  const batch = payments.transfers.createAllOnce(inputs, { retryTimeout: 1 });
  await clock.stepTimersDuring((async () => await batch)(), 1);
  expect([batch.counts.created, batch.counts.inDoubt, counts.lists]).toEqual([1, 1, 2]);
});
