import {
  AbortError,
  PaginationError,
  ValidationError,
  type ClientOptions,
  type PaymentsClient,
} from 'payments-platform-sdk';
import { expect, test } from 'vitest';
import { clientOf, failureOf, respond } from '../support/clients.ts';
import { page, transferNumber } from '../support/values.ts';
import { flushPromises } from '../support/virtual-clock.ts';

/** A platform with `count` transfers in pages of the requested size. */
function platformOf(
  count: number,
  options: ClientOptions = {},
): { payments: PaymentsClient; queries: URLSearchParams[] } {
  const queries: URLSearchParams[] = [];
  const { payments } = clientOf((request) => {
    const { searchParams } = new URL(request.url);
    queries.push(searchParams);
    const start = Number(searchParams.get('cursor')?.slice(1) ?? 0);
    const end = start + Number(searchParams.get('limit') ?? 50);
    const data = numbers(start, Math.min(end, count)).map(transferNumber);
    return respond(200, page(data, end < count ? `c${end}` : null));
  }, options);
  return { payments, queries };
}

const numbers = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
const idsOf = (items: readonly { id: string }[]): number[] =>
  items.map(({ id }) => Number(id.slice('txfr_'.length)));

/** A platform that returns scripted pages; it repeats the last page. */
function scripted(...pages: readonly unknown[]): { payments: PaymentsClient; queries: URL[] } {
  const queries: URL[] = [];
  const { payments } = clientOf((request, _, count) => {
    queries.push(new URL(request.url));
    return respond(200, pages[Math.min(count, pages.length) - 1]);
  });
  return { payments, queries };
}

test('a list sends no request before it is awaited or iterated', async () => {
  const { payments, queries } = platformOf(5);
  const list = payments.transfers.list({ limit: 2 });
  const pages = list.pages();
  const iterator = list[Symbol.asyncIterator]();
  await flushPromises();
  expect(queries).toHaveLength(0);
  await list;
  expect(queries).toHaveLength(1);
  await iterator.next();
  expect(queries).toHaveLength(2);
  await pages[Symbol.asyncIterator]().next();
  expect(queries).toHaveLength(3);
});

test('a second await of a list sends no second request', async () => {
  const { payments, queries } = platformOf(5);
  const list = payments.transfers.list({ limit: 2 });
  const first = await list;
  expect(first).toMatchObject({ hasMore: true, nextCursor: 'c2' });
  expect(idsOf(first.data)).toEqual([0, 1]);
  expect(await list).toBe(first);
  expect(await list.then((got) => got.data.length)).toBe(2);
  expect(await list.catch(() => undefined)).toBe(first);
  let ended = 0;
  expect(
    await list.finally(() => {
      ended += 1;
    }),
  ).toBe(first);
  expect(ended).toBe(1);
  const { data, response } = await list.withResponse();
  expect(data).toBe(first);
  expect(await response.json()).toMatchObject({ hasMore: true });
  expect(queries).toHaveLength(1);
});

test('every await of a list rejects if its first page fails', async () => {
  const { payments } = clientOf(() => respond(404, {}));
  const list = payments.transfers.list();
  expect(await list.catch(() => 'caught')).toBe('caught');
  expect(
    await list.then(
      () => 'came',
      () => 'rejected',
    ),
  ).toBe('rejected');
  await expect(list.withResponse()).rejects.toMatchObject({ status: 404 });
});

test('`for await` over a list yields every item in order', async () => {
  const { payments, queries } = platformOf(7);
  const list = payments.transfers.list({ limit: 3 });
  const seen: number[] = [];
  for await (const transfer of list) seen.push(...idsOf([transfer]));
  expect(seen).toEqual(numbers(0, 7));
  expect(queries).toHaveLength(3);

  const sizes: number[] = [];
  for await (const { data } of list.pages()) sizes.push(data.length);
  expect(sizes).toEqual([3, 3, 1]);
});

test('concurrent loops over a list each start at its first page', async () => {
  const { payments, queries } = platformOf(6);
  const list = payments.transfers.list({ limit: 2 });
  const all = numbers(0, 6);
  expect(idsOf(await list.toArray({ max: 99 }))).toEqual(all);
  const twice = await Promise.all([list.toArray({ max: 99 }), list.toArray({ max: 99 })]);
  expect(twice.map(idsOf)).toEqual([all, all]);
  expect(queries).toHaveLength(9);
});

test("every page keeps the list's filters, whatever the caller changes later", async () => {
  const { payments, queries } = platformOf(5);
  const query: { limit: number; accountId: `acc_${string}`; cursor?: string } = {
    limit: 2,
    accountId: 'acc_1',
  };
  const list = payments.transfers.list(query, { query: { expand: 'all' } });
  query.limit = 100;
  const seen: number[] = [];
  for await (const transfer of list) {
    seen.push(...idsOf([transfer]));
    query.accountId = 'acc_9';
    query.cursor = 'c0';
  }
  expect(seen).toEqual(numbers(0, 5));
  expect(queries.map((search) => Object.fromEntries(search))).toEqual([
    { limit: '2', accountId: 'acc_1', expand: 'all' },
    { limit: '2', accountId: 'acc_1', expand: 'all', cursor: 'c2' },
    { limit: '2', accountId: 'acc_1', expand: 'all', cursor: 'c4' },
  ]);
});

test('a list starts at the cursor that the caller gives', async () => {
  const { payments, queries } = platformOf(6);
  const list = payments.transfers.list({ limit: 2, cursor: 'c2' });
  expect(idsOf(await list.toArray({ max: 99 }))).toEqual([2, 3, 4, 5]);
  expect(queries[0]?.get('cursor')).toBe('c2');
  // `await` on the same list starts at the cursor, too.
  expect(idsOf((await list).data)).toEqual([2, 3]);
});

test('a list with cursor null starts at its first page', async () => {
  const { payments, queries } = platformOf(3);
  const { nextCursor } = await payments.transfers.list();
  expect(nextCursor).toBeNull();
  expect(idsOf((await payments.transfers.list({ cursor: nextCursor })).data)).toEqual([0, 1, 2]);
  expect(queries[1]?.has('cursor')).toBe(false);
});

test('a list continues after an empty page with hasMore: true', async () => {
  const { payments, queries } = scripted(
    page([transferNumber(0)], 'a'),
    page([], 'b'),
    page([], 'c'),
    page([transferNumber(1)]),
  );
  const items = await payments.transfers.list().toArray({ max: 99 });
  expect(idsOf(items)).toEqual([0, 1]);
  expect(queries).toHaveLength(4);
});

test('a list without items ends after one request', async () => {
  const { payments, queries } = scripted(page([]));
  expect(await payments.transfers.list().toArray({ max: 99 })).toEqual([]);
  expect(queries).toHaveLength(1);
});

test('a list stops at hasMore: false, even with a cursor', async () => {
  const { payments, queries } = scripted(page([transferNumber(0)], 'onwards', false));
  const list = payments.transfers.list();
  expect(await list).toMatchObject({ hasMore: false, nextCursor: 'onwards' });
  expect(idsOf(await list.toArray({ max: 99 }))).toEqual([0]);
  expect(queries).toHaveLength(2);
});

test.each<[string, object]>([
  ['missing', {}],
  ['null', { nextCursor: null }],
  ['empty', { nextCursor: '' }],
  ['a number', { nextCursor: 5 }],
  ['an object', { nextCursor: {} }],
])('a list ends in an error at hasMore: true with nextCursor %s', async (_, cursor) => {
  const last = { data: [transferNumber(1), transferNumber(2)], hasMore: true, ...cursor };
  const { payments, queries } = scripted(page([transferNumber(0)], 'a'), last);
  const seen: number[] = [];
  const loop = (async () => {
    for await (const transfer of payments.transfers.list({ limit: 2 })) {
      seen.push(...idsOf([transfer]));
    }
  })();
  const error = await failureOf(loop, PaginationError);
  expect(error).toMatchObject({
    reason: 'missing_cursor',
    operation: 'transfers.list',
    outcome: 'rejected',
    retryable: false,
    resume: { cursor: 'a', limit: 2, itemsYielded: 3 },
  });
  // All items of the last page have been yielded.
  expect(seen).toEqual([0, 1, 2]);
  expect(queries).toHaveLength(2);
});

test.each<[string, string | undefined, readonly string[], number]>([
  ['the same again', undefined, ['a', 'a'], 2],
  ['an earlier cursor', undefined, ['a', 'b', 'c', 'a'], 4],
  ['the cursor at which the list began', 's', ['a', 's'], 2],
  ['the cursor at which the list began, on its first page', 's', ['s'], 1],
])('a list ends in an error after a page with cursor %s', async (_, cursor, cursors, requests) => {
  const pages = cursors.map((next, index) => page([transferNumber(index)], next));
  const { payments, queries } = scripted(...pages);
  const seen: number[] = [];
  const loop = (async () => {
    for await (const { data } of payments.transfers.list({ cursor }).pages()) {
      seen.push(...idsOf(data));
    }
  })();
  const error = await failureOf(loop, PaginationError);
  expect(error).toMatchObject({ reason: 'cursor_loop' });
  expect(seen).toEqual(numbers(0, cursors.length));
  expect(queries).toHaveLength(requests);
});

/** A platform with a new cursor for each page. Fails after 3,000 pages, so that a test ends. */
const endless = (itemsAt: (count: number) => readonly number[]) =>
  clientOf(
    (_, __, count) =>
      count > 3_000
        ? respond(500, {})
        : respond(200, page(itemsAt(count).map(transferNumber), `c${count}`)),
    { maxRetries: 0 },
  );

/** A platform with so many empty pages before each item. */
const dry = (empty: number) => endless((count) => (count % (empty + 1) === 0 ? [count] : []));

test('a list ends after a thousand empty pages, and can be resumed', async () => {
  const { payments, requests } = dry(1e9);
  const error = await failureOf(
    payments.transfers.list({ limit: 2 }).toArray({ max: 1 }),
    PaginationError,
  );
  expect(error).toMatchObject({
    reason: 'cursor_loop',
    outcome: 'rejected',
    resume: { cursor: 'c999', limit: 2, itemsYielded: 0 },
  });
  expect(error.message).toContain('sent 1000 pages in a row that are empty');
  expect(requests).toHaveLength(1_000);
});

test('a list yields items after 999 empty pages in a row', async () => {
  const { payments, requests } = dry(999);
  const items = await payments.transfers.list().toArray({ max: 2 });
  expect(idsOf(items)).toEqual([1_000, 2_000]);
  expect(requests.length).toBeGreaterThanOrEqual(2_000);
});

test('a list ends in an error if the same page keeps coming', async () => {
  const platforms: ((count: number) => readonly number[])[] = [
    () => [0],
    // Other pages come before the repeated page, or empty pages lie between.
    (count) => [Math.max(0, 3 - count)],
    (count) => (count % 2 === 0 ? [] : [0]),
  ];
  for (const idsAt of platforms) {
    const { payments, requests } = endless(idsAt);
    const seen: number[] = [];
    const loop = (async () => {
      for await (const transfer of payments.transfers.list()) seen.push(...idsOf([transfer]));
    })();
    const error = await failureOf(loop, PaginationError);
    expect(error).toMatchObject({ reason: 'cursor_loop', outcome: 'rejected' });
    expect(error.message).toContain('end with the same item as the one before');
    expect(seen.slice(-500)).toEqual(Array(500).fill(0));
    expect(requests.length).toBeLessThan(1_010);
  }
});

test('a list continues if new items push one page back', async () => {
  const pages = [[4, 3], [4, 3], [2, 1], [0]].map((ids) => ids.map(transferNumber));
  const { payments } = scripted(
    ...pages.map((data, at) => page(data, at + 1 < pages.length ? `c${at}` : null)),
  );
  const items = await payments.transfers.list({ limit: 2 }).toArray({ max: 99 });
  expect(idsOf(items)).toEqual([4, 3, 4, 3, 2, 1, 0]);
});

test('pages that share only their first item do not count as repeated', async () => {
  const ends = [1, 2, 3, 4, 5];
  const { payments } = scripted(
    ...ends.map((end) => page([0, end].map(transferNumber), end < 5 ? `c${end}` : null)),
  );
  expect(await payments.transfers.list().toArray({ max: 99 })).toHaveLength(10);
});

test('items that differ only in a large integer are not repeats', async () => {
  const { payments, queries } = scripted(
    ...[1, 2, 3, 4].map((number) =>
      JSON.stringify(page([transferNumber(0)], number < 4 ? `c${number}` : null)).replace(
        '"amount"',
        `"block":1234567890123456789${number},"amount"`,
      ),
    ),
  );
  expect(await payments.transfers.list().toArray({ max: 99 })).toHaveLength(4);
  expect(queries).toHaveLength(4);
});

test('the iterator of a list sends nothing after an error', async () => {
  const { payments, queries } = scripted(page([transferNumber(0)], null, true));
  const iterator = payments.transfers.list()[Symbol.asyncIterator]();
  await iterator.next();
  await failureOf(iterator.next(), PaginationError);
  expect(await iterator.next()).toEqual({ done: true, value: undefined });
  expect(queries).toHaveLength(1);
});

test.each([undefined, 0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '5', null])(
  'toArray rejects the option `max` if its value is %o',
  async (max) => {
    const { payments, queries } = platformOf(5);
    const list = payments.transfers.list();
    const error = await failureOf(list.toArray({ max: max as number }), ValidationError);
    expect(error).toMatchObject({ operation: 'transfers.list', issues: [{ path: 'max' }] });
    await failureOf(list.toArray(undefined as unknown as { max: number }), ValidationError);
    expect(queries).toHaveLength(0);
  },
);

test('toArray sends no request after the list has yielded `max` items', async () => {
  for (const max of [1, 2, 3, 4, 7, 10, 11]) {
    const { payments, queries } = platformOf(10);
    const items = await payments.transfers.list({ limit: 2 }).toArray({ max });
    expect(idsOf(items)).toEqual(numbers(0, Math.min(max, 10)));
    const needed = Math.ceil(Math.min(max, 10) / 2);
    // From the second page on, a prefetch may have been sent before it was cancelled.
    const ahead = needed > 1 && needed < 5 ? 1 : 0;
    expect(queries.length).toBeGreaterThanOrEqual(needed);
    expect(queries.length).toBeLessThanOrEqual(needed + ahead);
  }
});

test('a list with invalid arguments does not reject before it is read', async () => {
  const { payments, queries } = platformOf(5);
  const list = payments.transfers.list({ limit: 101, accountId: 'ent_1' as 'acc_1' });
  const error = await failureOf(list, ValidationError);
  expect(error.issues.map(({ path }) => path).toSorted()).toEqual(['accountId', 'limit']);
  await failureOf(list.toArray({ max: 1 }), ValidationError);
  await failureOf(list.pages()[Symbol.asyncIterator]().next(), ValidationError);
  expect(queries).toHaveLength(0);
});

test('a list with an aborted signal sends no request', async () => {
  const { payments, queries } = platformOf(5);
  const signal = AbortSignal.abort('no');
  const error = await failureOf(
    payments.transfers.list({}, { signal }).toArray({ max: 5 }),
    AbortError,
  );
  expect(error).toMatchObject({ cause: 'no', outcome: 'not_sent' });
  expect(queries).toHaveLength(0);
});
