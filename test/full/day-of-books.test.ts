import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  PaymentsClient,
  sumAmounts,
  type OnceInput,
  type ReconciledRow,
} from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { expect, test } from 'vitest';

/*
 * A day of 5,000 payments on a history of 100,000, with planted defects. The platform creates its
 * transfers on request, so that it retains none.
 */

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function measureHeap(): Promise<number> {
  for (let round = 0; round < 3; round += 1) {
    collectGarbage();
    await turn();
  }
  return process.memoryUsage().heapUsed / 2 ** 20;
}

const main = { id: 'acc_000001', payments: 4_900, history: 99_500 } as const;
/** The list of this source moves while it is read. */
const moving = { id: 'acc_000002', payments: 100, history: 500 } as const;
/** The books have no payment from this source, but the platform has one. */
const forgotten = { id: 'acc_000003', payments: 1, history: 500 } as const;
const sources = [main, moving, forgotten];
type Source = (typeof sources)[number];

const day = Date.UTC(2026, 10, 24);
const hour = 3_600_000;

/** The salary of a month. The same staff get the same amounts each month. */
function createSalary({ id }: Source, month: number, number: number) {
  const staff = String(number).padStart(6, '0');
  return {
    sourceAccountId: id,
    counterpartyId: `cpty_${staff}`,
    amount: `${1_000 + (number % 700)}.${10 + (number % 90)}`,
    description: `payroll-2026-${month}-${id.slice(-1)}-${staff}`,
  } as const;
}

type Listed = Readonly<Record<string, unknown>>;

const referenceOf = (number: number) => createSalary(main, 11, number).description;

/** The defects of the main list by the number of their payment: the transfers that are there instead. */
const defects: Readonly<Record<number, (listed: Listed) => readonly Listed[]>> = {
  10: (listed) => [listed, { ...listed, id: 'txfr_by_hand_1', type: 'wire' }],
  2_010: (listed) => [listed, { ...listed, id: 'txfr_by_hand_2', createdAt: at(day + 20 * hour) }],
  20: (listed) => [{ ...listed, amount: '1.00' }],
  2_020: (listed) => [{ ...listed, amount: `${String(listed['amount'])}1` }],
  30: (listed) => [{ ...listed, status: 'failed' }],
  2_030: (listed) => [{ ...listed, status: 'cancelled' }],
  40: () => [],
  2_040: () => [],
  50: (listed) => [listed, { ...listed, id: 'txfr_other', description: 'lunch', amount: '9.00' }],
  60: (listed) => [{ ...listed, currency: 'EURC' }],
  70: (listed) => [{ ...listed, description: 'PAYROLL 2026 11 1 000070' }],
  ...Object.fromEntries(
    [1_764_000_000, 'Tue, 24 Nov 2026 10:00:00 GMT', null].map((createdAt, index) => [
      80 + index,
      (listed: Listed) => [listed, { ...createStray(`undatable ${index}`), createdAt }],
    ]),
  ),
  ...Object.fromEntries(
    [{ amount: '1,250.00' }, { amount: '-1250.00' }, { currency: null }].map((changes, index) => [
      90 + index,
      (listed: Listed) => [listed, { ...createStray(`unreadable ${index}`), ...changes }],
    ]),
  ),
  // The journal has the ids of these payments.
  100: (listed) => [{ ...listed, description: 'Your salary' }],
  101: (listed) => [{ ...listed, description: referenceOf(102) }],
};

const createStray = (description: string): Listed => ({
  id: `txfr_${description.replaceAll(' ', '_')}`,
  sourceAccountId: main.id,
  counterpartyId: 'cpty_stray',
  amount: '5.00',
  currency: 'USDC',
  status: 'completed',
  type: 'wire',
  direction: 'outgoing',
  description,
  createdAt: at(day + hour),
});

const at = (time: number): string => new Date(time).toISOString();

/** The transfers at a place of a list that is oldest first: history, then the day. */
function transfersAt(source: Source, place: number): readonly Listed[] {
  const { id, history, payments } = source;
  const age = history - payments - place;
  const number = age > 0 ? place % payments : -age;
  const month = age > 0 ? 10 : 11;
  const listed = {
    id: `txfr_${id.slice(-1)}_${place}`,
    currency: 'USDC',
    status: 'completed',
    type: 'wire',
    direction: 'outgoing',
    createdAt: at(age > 0 ? day - age * 60_000 : day + number * 10_000),
    ...createSalary(source, month, number),
    // The history has the same staff many times.
    ...(age > 0 && { description: `payroll-2026-10-${place}` }),
  };
  return (source === main && age <= 0 && defects[number]?.(listed)) || [listed];
}

/** A platform that is a `fetch`; after the first page of its second list, an item moves from its end to its start. */
function createPlatform() {
  const counts = { requests: 0, movingScans: 0 };
  const fetch = async (request: Request): Promise<Response> => {
    counts.requests += 1;
    await turn();
    const { searchParams } = new URL(request.url);
    const source = sources.find(({ id }) => id === searchParams.get('accountId')) ?? main;
    const start = Number(searchParams.get('cursor') ?? 0);
    if (source === moving && start === 0) counts.movingScans += 1;
    const limit = Number(searchParams.get('limit'));
    const end = Math.min(source.history, start + limit);
    const hasMoved = source === moving && (counts.movingScans > 1 || start > 0);
    const places = Array.from({ length: end - start }, (_, index) => {
      const place = start + index;
      if (!hasMoved) return place;
      return place === 0 ? moving.history - 1 : place - 1;
    });
    const data = places.flatMap((place) => transfersAt(source, place));
    const hasMore = end < source.history;
    return Response.json({ data, hasMore, nextCursor: hasMore ? String(end) : null });
  };
  return { fetch, counts };
}

async function* createBooks(): AsyncGenerator<OnceInput> {
  for (const source of [main, moving]) {
    for (let number = 0; number < source.payments; number += 1) {
      yield createSalary(source, 11, number);
    }
  }
}

/** A journal that has the ids of two payments of the main source. */
async function createJournal() {
  const journal = memoryJournal();
  const platform = 'https://api.example.com/v0';
  for (const number of [100, 101]) {
    const input = createSalary(main, 11, number);
    const transferId = `txfr_1_${main.history - main.payments + number}` as const;
    const paid = { state: 'paid', transferId, paidAt: day, platform, input } as const;
    await journal.swap(input.description, undefined, paid);
  }
  return journal;
}

test('reconcileAll finds exactly the 20 planted differences among 5,000 payments', async () => {
  const { fetch, counts } = createPlatform();
  const payments = new PaymentsClient({
    baseUrl: 'https://api.example.com/v0',
    apiKey: 'sk_example',
    fetch,
    journal: await createJournal(),
  });
  const options = {
    since: new Date(day),
    until: new Date(day + 24 * hour),
    unexpected: true,
    accounts: [forgotten.id],
  };
  const idle = await measureHeap();
  const books = payments.transfers.reconcileAll(createBooks(), options);
  const rows: ReconciledRow[] = [];
  const heaps: number[] = [];
  let rowCount = 0;
  for await (const row of books) {
    if (rowCount % 2_000 === 0) heaps.push(await measureHeap());
    rowCount += 1;
    if (row.result !== 'completed') rows.push(row);
  }
  const outline = rows.map(({ reference, result, transfer }) => [
    result,
    reference ?? transfer?.description,
  ]);
  expect(outline.toSorted()).toEqual(
    [
      ...[10, 2_010, 20, 2_020, 60, 70, 101, 102].map((number) => [
        'ambiguous',
        referenceOf(number),
      ]),
      ...[30, 2_030].map((number) => ['failed', referenceOf(number)]),
      ...[40, 2_040].map((number) => ['missing', referenceOf(number)]),
      ['unexpected', 'lunch'],
      ...[0, 1, 2].map((index) => ['unexpected', `undatable ${index}`]),
      ...[0, 1, 2].map((index) => ['unexpected', `unreadable ${index}`]),
      ['unexpected', createSalary(forgotten, 11, 0).description],
    ].toSorted(),
  );
  // The last payment of the list that moved was hidden from its first scan.
  expect(counts.movingScans).toBe(2);
  expect(books.totals.completed).toMatchObject({ count: 5_000 - 12, unreadable: 0 });
  // The lunch, three transfers without a time, and the transfer that the books forgot.
  const USDC = sumAmounts(['9.00', '5.00', '5.00', '5.00', createSalary(forgotten, 11, 0).amount]);
  expect(books.totals.unexpected).toEqual({ count: 8, amounts: { USDC }, unreadable: 3 });
  // Two scans, because a payment is missing from the first.
  expect(counts.requests).toBeLessThanOrEqual(2_020);
  const heap = Math.max(...heaps) - idle;
  if (process.env['FIGURES'] !== undefined) {
    console.log(`${counts.requests} requests, ${heap.toFixed(1)} MB above idle`);
  }
  expect(heap).toBeLessThan(100);
});
