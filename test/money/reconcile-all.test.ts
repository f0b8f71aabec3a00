import {
  AbortError,
  AuthenticationError,
  httpStatusOf,
  PaymentsClient,
  PaymentsError,
  ValidationError,
  type ClientOptions,
  type OnceInput,
  type ReconciledRow,
  type Transfer,
} from 'payments-platform-sdk';
import { memoryJournal, type Journal } from 'payments-platform-sdk/journals';
import { describe, expect, test, vi } from 'vitest';
import { apiKey, failureOf, respond } from '../support/clients.ts';
import { collect, otherCompany, salaryOf } from './batches.ts';
import type { ReconcileAllOptions } from '../../src/books/reconcile-all.ts';

const baseUrl = 'https://api.example.com/v0';
const day = (hour: number): string => new Date(Date.UTC(2026, 0, 15, hour)).toISOString();
const none = { count: 0, amounts: {}, unreadable: 0 };
const noTotals = {
  completed: none,
  pending: none,
  failed: none,
  ambiguous: none,
  missing: none,
  unexpected: none,
};

/** A listed transfer with the terms of a salary. */
function listedAs(
  number: number,
  changes: Partial<Record<keyof Transfer, unknown>> = {},
): Transfer {
  return {
    id: `txfr_${String(number).padStart(6, '0')}`,
    ...salaryOf(number),
    currency: 'USDC',
    status: 'completed',
    type: 'book',
    direction: 'outgoing',
    createdAt: day(12),
    ...changes,
  } as Transfer;
}

/** One page for each list of transfers. The cursor is the index of the next page. */
const pagesOf = (...pages: readonly (readonly Transfer[])[]) => pages;

type Lists = (scan: number, source: string) => readonly (readonly Transfer[])[];

/** A client of a platform that shows the pages of `lists` in each scan, or always one page. */
function setup(
  lists: Lists | readonly Transfer[],
  options: ClientOptions & { stored?: readonly Transfer[] } = {},
) {
  const { stored = [], ...clientOptions } = options;
  const requests: string[] = [];
  const scans = new Map<string, number>();
  const headers: Record<string, string> = {};
  const fetch = async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    requests.push(`${request.method} ${url.pathname.slice('/v0'.length)}${url.search}`);
    const id = /\/transfers\/(.+)$/.exec(url.pathname)?.[1];
    if (id !== undefined) {
      const transfer = stored.find((each) => each.id === id);
      return transfer === undefined
        ? respond(404, { error: 'No such transfer.', code: 'not_found' })
        : respond(200, transfer);
    }
    const source = url.searchParams.get('accountId') ?? '';
    const at = Number(url.searchParams.get('cursor') ?? 0);
    const scan = (scans.get(source) ?? 0) + (at === 0 ? 1 : 0);
    scans.set(source, scan);
    const pages = typeof lists === 'function' ? lists(scan, source) : [lists];
    const hasMore = at + 1 < pages.length;
    const page = { data: pages[at] ?? [], hasMore, nextCursor: hasMore ? String(at + 1) : null };
    return respond(200, page, headers);
  };
  const payments = new PaymentsClient({ baseUrl, apiKey, fetch, maxRetries: 0, ...clientOptions });
  const rowsOf = (
    inputs: Iterable<OnceInput> | AsyncIterable<OnceInput>,
    callOptions?: ReconcileAllOptions,
  ): Promise<ReconciledRow[]> => collect(payments.transfers.reconcileAll(inputs, callOptions));
  const linesOf = async (...args: Parameters<typeof rowsOf>) => outline(await rowsOf(...args));
  return { payments, rowsOf, linesOf, requests, headers, scans };
}

/** Each row in short: the last digits of the salary, the result, and the transfers. */
const outline = (rows: readonly ReconciledRow[]) =>
  rows.map(({ reference, result, transfer, candidates }) =>
    [
      reference?.slice(-1),
      result,
      transfer?.id.slice(-1),
      candidates?.map(({ id }) => id.slice(-1)).join(''),
    ]
      .filter((part) => part !== undefined)
      .join(' '),
  );

const unexpected = { unexpected: true };

/** A journal that records the transfers with these ids as the salaries with these numbers. */
function journalOf(
  ids: Readonly<Record<number, Transfer['id']>>,
  platform = baseUrl,
): Journal & { reads: string[] } {
  const reads: string[] = [];
  return {
    ...memoryJournal(),
    reads,
    read: async (reference) => {
      reads.push(reference);
      const number = Number(/\d+$/.exec(reference)?.[0]);
      const transferId = ids[number];
      if (transferId === undefined) return undefined;
      return { state: 'paid', transferId, paidAt: 0, platform, input: salaryOf(number) };
    },
  };
}

describe('the results of reconcileAll', () => {
  test("each result has the transfer's state and the caller's input", async () => {
    const { rowsOf, requests } = setup(() =>
      pagesOf(
        [listedAs(1), listedAs(2, { status: 'processing' }), listedAs(3, { status: 'failed' })],
        [listedAs(4, { status: 'cancelled' }), listedAs(5, { status: 'on_hold' })],
      ),
    );
    const inputs = [1, 2, 3, 4, 5, 6].map((number) => salaryOf(number));
    const rows = await rowsOf(inputs);
    expect(outline(rows)).toEqual([
      '1 completed 1',
      '2 pending 2',
      '3 failed 3',
      '4 failed 4',
      '5 pending 5',
      '6 missing',
    ]);
    for (const [at, { input }] of rows.entries()) expect(input).toBe(inputs[at]);
    expect(rows[0]?.transfer).toEqual(listedAs(1));
    expect(requests).toEqual([
      'GET /transfers?limit=100&accountId=acc_000001',
      'GET /transfers?cursor=1&limit=100&accountId=acc_000001',
      'GET /transfers?limit=99&accountId=acc_000001',
      'GET /transfers?cursor=1&limit=99&accountId=acc_000001',
    ]);
  });

  test('await of reconcileAll resolves to totals and the payments not completed', async () => {
    const { payments } = setup([listedAs(1), listedAs(2), listedAs(3, { status: 'failed' })]);
    const books = payments.transfers.reconcileAll([1, 2, 3, 4].map((number) => salaryOf(number)));
    expect(books.totals).toEqual(noTotals);
    const { totals, open } = await books;
    expect(totals).toEqual({
      ...noTotals,
      completed: { count: 2, amounts: { USDC: '25' }, unreadable: 0 },
      failed: { count: 1, amounts: { USDC: '12.5' }, unreadable: 0 },
      missing: { count: 1, amounts: { USDC: '12.5' }, unreadable: 0 },
    });
    expect(books.totals).toEqual(totals);
    expect(outline(open)).toEqual(['3 failed 3', '4 missing']);
  });

  test('the totals of reconcileAll are exact sums, separate for each currency', async () => {
    const amounts = ['0.1', '0.2', '123456789012345678901234567890.000000000000000001'];
    const inputs = amounts.map((amount, at) => ({ ...salaryOf(at + 1), amount }));
    const euros = { ...salaryOf(4), amount: '7', currency: 'eurc' };
    const { payments } = setup([listedAs(9, { amount: '5', currency: 'EURC' })]);
    const { totals } = await payments.transfers.reconcileAll([...inputs, euros], {
      unexpected: true,
    });
    const USDC = '123456789012345678901234567890.300000000000000001';
    expect(totals.missing).toEqual({ ...none, count: 4, amounts: { USDC, EURC: '7' } });
    expect(totals.unexpected).toEqual({ ...none, count: 1, amounts: { EURC: '5' } });
  });

  test('the totals add the amounts that inputs had when they were read', async () => {
    const { payments } = setup([listedAs(1, { amount: '1' })]);
    function* readRows() {
      const row = { ...salaryOf(1), description: '', amount: '' };
      for (const number of [1, 2, 3]) {
        row.description = salaryOf(number).description;
        row.amount = `${number}`;
        yield row;
      }
    }
    const { totals, open } = await payments.transfers.reconcileAll(readRows());
    expect(totals.completed).toEqual({ ...none, count: 1, amounts: { USDC: '1' } });
    expect(totals.missing).toEqual({ ...none, count: 2, amounts: { USDC: '5' } });
    expect(open.map(({ reference }) => reference)).toEqual(
      [2, 3].map((n) => salaryOf(n).description),
    );
    expect(open[0]?.input).toBe(open[1]?.input);
  });

  test('await and loops over one reconcileAll call have separate totals', async () => {
    const { payments } = setup([listedAs(1), listedAs(2)]);
    const books = payments.transfers.reconcileAll([salaryOf(1), salaryOf(2)]);
    const [{ totals }] = await Promise.all([books, collect(books)]);
    for await (const _ of books) break;
    expect([totals.completed.count, books.totals.completed.count]).toEqual([2, 1]);
  });

  test.each([
    ['a group separator in the amount', { amount: '1,250.00' }],
    ['a number as the amount', { amount: 1_250 }],
    ['a minus in the amount', { amount: '-1250.00' }],
    ['an exponent in the amount', { amount: '1.25e3' }],
    ['19 decimals in the amount', { amount: '1.0000000000000000001' }],
    ['a currency in the amount', { amount: '1250.00 USDC' }],
    ['no amount', { amount: null }],
    ['the currency null', { currency: null }],
    ['no currency', { currency: undefined }],
    ['a currency that is an object', { currency: { code: 'USDC' } }],
  ])('the totals count the amount of a transfer with %s as unreadable', async (_, changes) => {
    const strays = [changes, { id: 'txfr_9', amount: '50.00' }].map((each, at) =>
      listedAs(2, { description: `stray ${at}`, destinationAccountId: 'acc_9', ...each }),
    );
    const { payments } = setup([listedAs(1), ...strays]);
    const { totals } = await payments.transfers.reconcileAll([salaryOf(1)], unexpected);
    expect(totals.unexpected).toEqual({ count: 2, amounts: { USDC: '50' }, unreadable: 1 });
    expect(totals.completed.unreadable).toBe(0);
  });

  test('each loop over reconcileAll starts again, and its totals grow meanwhile', async () => {
    const { payments, scans } = setup([listedAs(1), listedAs(2)]);
    const books = payments.transfers.reconcileAll([salaryOf(1), salaryOf(2)]);
    for (let loop = 1; loop <= 2; loop += 1) {
      const counts: number[] = [];
      for await (const _ of books) counts.push(books.totals.completed.count);
      expect(counts).toEqual([1, 2]);
    }
    expect([...scans.values()]).toEqual([2]);
  });

  test('reconcileAll reads the list of each source account once', async () => {
    const { rowsOf, scans } = setup((_, source) =>
      pagesOf(
        source === otherCompany ? [listedAs(2, { sourceAccountId: otherCompany })] : [listedAs(1)],
      ),
    );
    const rows = await rowsOf([salaryOf(1), salaryOf(2, otherCompany), salaryOf(3)]);
    expect(outline(rows)).toEqual(['1 completed 1', '3 missing', '2 completed 2']);
    expect(scans).toEqual(
      new Map([
        ['acc_000001', 1],
        [otherCompany, 1],
      ]),
    );
  });

  test('reconcileAll compares inputs as they were before it read the list', async () => {
    const input = { ...salaryOf(1), amount: '12.50' as string };
    const { linesOf } = setup(() => {
      input.amount = '99';
      return pagesOf([listedAs(1)]);
    });
    async function* readBooks() {
      yield input as OnceInput;
    }
    expect(await linesOf(readBooks())).toEqual(['1 completed 1']);
  });

  test('reconcileAll without inputs sends no request', async () => {
    const { payments, requests } = setup([]);
    expect(await payments.transfers.reconcileAll([])).toEqual({ totals: noTotals, open: [] });
    expect(requests).toEqual([]);
  });
});

describe("a listed transfer with exactly a payment's reference in reconcileAll", () => {
  test.each([
    ['another amount', { amount: '12.51' }],
    ['another currency', { currency: 'EURC' }],
    ['another source', { sourceAccountId: 'acc_000009' }],
    ['another destination', { destinationAccountId: 'acc_000009' }],
    ['no amount', { amount: null }],
    ['an empty id', { id: '' }],
  ])('makes the payment ambiguous if the transfer has %s', async (_, changes) => {
    const { rowsOf } = setup([listedAs(1, changes)], { validation: 'report' });
    const [row] = await rowsOf([salaryOf(1)]);
    expect(row).toMatchObject({ result: 'ambiguous', candidates: [listedAs(1, changes)] });
    expect(row?.transfer).toBeUndefined();
  });

  test('makes the payment ambiguous if a second transfer has the reference', async () => {
    for (const changes of [{}, { amount: '99' }]) {
      const second = listedAs(1, { id: 'txfr_9', ...changes });
      const { linesOf } = setup([listedAs(1), second]);
      expect(await linesOf([salaryOf(1)])).toEqual(['1 ambiguous 19']);
    }
  });

  test('completes the payment even if its incoming side is listed, too', async () => {
    for (const id of ['txfr_000001', 'txfr_9']) {
      const other = listedAs(1, { id, direction: 'incoming' });
      const { linesOf } = setup([listedAs(1), other]);
      expect(await linesOf([salaryOf(1)], unexpected)).toEqual(['1 completed 1']);
    }
  });

  test('makes the payment ambiguous if it is listed only as incoming', async () => {
    const { linesOf } = setup([listedAs(1, { direction: 'incoming' })]);
    expect(await linesOf([salaryOf(1)])).toEqual(['1 ambiguous 1']);
  });

  test('does not match payroll-1 if the description is payroll-10', async () => {
    const short = { ...salaryOf(1), description: 'payroll-1' };
    const long = { ...short, description: 'payroll-10' };
    const { linesOf } = setup([listedAs(2, { description: long.description })]);
    expect(await linesOf([short, long])).toEqual(['1 missing', '0 completed 2']);
  });
});

describe('a listed transfer with a similar reference in reconcileAll', () => {
  const rewritten = listedAs(9, { description: 'SALARY000001' });

  test('makes the payment ambiguous if no transfer has the exact reference', async () => {
    const { linesOf } = setup([rewritten]);
    expect(await linesOf([salaryOf(1)], unexpected)).toEqual(['1 ambiguous 9']);
  });

  test.each([
    ['before', [rewritten, listedAs(1)]],
    ['after', [listedAs(1), rewritten]],
  ])('is reported as unexpected %s a transfer with the exact reference', async (_, page) => {
    const { linesOf } = setup(page);
    expect(await linesOf([salaryOf(1)], unexpected)).toEqual(['1 completed 1', 'unexpected 9']);
  });

  test('is one of at most ten candidates of the payment', async () => {
    const similar = Array.from({ length: 30 }, (_, at) => ({ ...rewritten, id: `txfr_${at}` }));
    const { rowsOf } = setup(similar as Transfer[]);
    const rows = await rowsOf([salaryOf(1)], unexpected);
    expect(rows).toHaveLength(1);
    expect(rows[0]?.candidates).toHaveLength(10);
  });

  test('is no candidate if it is another payment in the journal', async () => {
    const neighbour = listedAs(9, { description: 'salary 000001 b 000009' });
    const { linesOf } = setup([neighbour], { journal: journalOf({ 9: 'txfr_000009' }) });
    expect(await linesOf([salaryOf(1)], unexpected)).toEqual(['1 missing', 'unexpected 9']);
  });
});

describe('a payment in reconcileAll that has a journal entry', () => {
  test('does not match an input whose reference is in capitals', async () => {
    const { linesOf } = setup([listedAs(1, { description: null, amount: '9.99' })], {
      journal: journalOf({ 1: 'txfr_000001' }),
    });
    const books = [{ ...salaryOf(1), description: 'SALARY 000001' }];
    expect(await linesOf(books)).toEqual(['1 missing']);
  });

  test('is found by its transfer id even if the description was rewritten', async () => {
    const journal = journalOf({ 1: 'txfr_000001', 2: 'txfr_000002' });
    const rewritten = listedAs(2, { description: 'SALARY 000002' });
    const { linesOf } = setup([listedAs(1, { description: null }), rewritten], { journal });
    expect(await linesOf([salaryOf(1), salaryOf(2)])).toEqual(['1 completed 1', '2 completed 2']);
    expect(journal.reads).toEqual([salaryOf(1).description, salaryOf(2).description]);
  });

  /** A journal that records the transfers with these ids under these references. */
  async function journalWith(ids: Readonly<Record<string, Transfer['id']>>): Promise<Journal> {
    const journal = memoryJournal();
    for (const [description, transferId] of Object.entries(ids)) {
      const input = { ...salaryOf(1), description };
      const paid = { state: 'paid', transferId, paidAt: 0, platform: baseUrl, input } as const;
      await journal.swap(description, undefined, paid);
    }
    return journal;
  }
  const firstReference = salaryOf(1).description;

  test.each([
    ['another text', 'Your salary'],
    ['a number of the platform', '4711'],
    ['a reference that no payment has', 'rent 2026-01'],
    ['the reference in capitals', 'SALARY 000001'],
    ['the reference and more words', `${firstReference} and more`],
  ])('has the status of its transfer if the description became %s', async (_, description) => {
    const journal = await journalWith({ [firstReference]: 'txfr_000001' });
    const { linesOf } = setup([listedAs(1, { description, status: 'failed' })], { journal });
    expect(await linesOf([salaryOf(1)], unexpected)).toEqual(['1 failed 1']);
  });

  test.each([
    ['has another amount', { amount: '12.51' }],
    ['has another amount and description', { amount: '12.51', description: 'Your salary' }],
    ['has the reference of another payment in the journal', { description: 'rent 2026-01' }],
    ['has the reference of another payment in capitals', { description: 'RENT 2026-01' }],
  ])('is ambiguous if the recorded transfer %s', async (_, changes) => {
    const journal = await journalWith({
      [firstReference]: 'txfr_000001',
      'rent 2026-01': 'txfr_000009',
    });
    const { linesOf } = setup([listedAs(1, changes)], { journal });
    expect(await linesOf([salaryOf(1)])).toEqual(['1 ambiguous 1']);
  });

  test("is ambiguous if its transfer has another input's reference", async () => {
    const journal = await journalWith({ [firstReference]: 'txfr_000001' });
    const transfer = listedAs(1, { description: salaryOf(2).description });
    const { linesOf } = setup([transfer], { journal });
    const books = [salaryOf(1), salaryOf(2)];
    expect(await linesOf(books)).toEqual(['1 ambiguous 1', '2 ambiguous 1']);
  });

  test("is ambiguous if its transfer has another account's reference", async () => {
    const journal = await journalWith({ [firstReference]: 'txfr_000001' });
    const transfer = listedAs(1, { description: salaryOf(2).description });
    const { linesOf } = setup((_, source) => pagesOf(source === otherCompany ? [] : [transfer]), {
      journal,
    });
    const books = [salaryOf(1), salaryOf(2, otherCompany)];
    expect(await linesOf(books)).toEqual(['1 ambiguous 1', '2 missing']);
  });

  test.each([
    ['has the reference of the other payment', firstReference, ['1 completed 1', '2 ambiguous 1']],
    ['has a changed description', 'Your salary', ['1 ambiguous 1', '2 ambiguous 1']],
  ])(
    'is ambiguous if two entries record its transfer, which %s',
    async (_, description, expected) => {
      // Our stores keep no second entry with one transfer id, but a store of the caller may.
      const journal = journalOf({ 1: 'txfr_000001', 2: 'txfr_000001' });
      const { linesOf } = setup([listedAs(1, { description })], { journal });
      expect(await linesOf([salaryOf(1), salaryOf(2)])).toEqual(expected);
    },
  );

  test('is ambiguous if another transfer has the reference, too', async () => {
    const journal = journalOf({ 1: 'txfr_000001' });
    const twice = listedAs(1, { id: 'txfr_9' });
    const { linesOf } = setup([twice, listedAs(1)], { journal });
    expect(await linesOf([salaryOf(1)])).toEqual(['1 ambiguous 91']);
  });

  test('is read by its transfer id if the list lacks the transfer', async () => {
    const journal = journalOf({ 1: 'txfr_000001', 2: 'txfr_000002' });
    const { linesOf, requests } = setup([], { journal, stored: [listedAs(1)] });
    expect(await linesOf([salaryOf(1), salaryOf(2)])).toEqual(['1 completed 1', '2 missing']);
    expect(requests.slice(1)).toEqual(['GET /transfers/txfr_000001', 'GET /transfers/txfr_000002']);
  });

  test('is searched for in the list if its entry names another platform', async () => {
    const journal = journalOf({ 1: 'txfr_000009' }, 'https://other.example.com/v0');
    const { linesOf } = setup([listedAs(1), listedAs(9, { description: 'rent 2026-01' })], {
      journal,
    });
    expect(await linesOf([salaryOf(1)])).toEqual(['1 completed 1']);
  });

  test('does not match a listed transfer that an operator dismissed', async () => {
    const journal: Journal = {
      ...memoryJournal(),
      read: async () => ({
        state: 'not_paid',
        resolvedAt: 0,
        firstClaimedAt: 0,
        platform: baseUrl,
        input: salaryOf(1),
        dismissed: ['txfr_000001'],
      }),
    };
    const { linesOf } = setup([listedAs(1)], { journal });
    expect(await linesOf([salaryOf(1)], unexpected)).toEqual(['unexpected 1', '1 missing']);
  });

  test('makes reconcileAll reject as unknown if journal or transfer cannot be read', async () => {
    const failing = { ...memoryJournal(), read: () => Promise.reject(new Error('down')) };
    const broken = setup([], { journal: failing });
    const error = await failureOf(broken.rowsOf([salaryOf(1)]));
    expect(error).toMatchObject({
      reason: 'journal',
      outcome: 'unknown',
      operation: 'transfers.reconcileAll',
    });
    const requested: string[] = [];
    const gateway = new PaymentsClient({
      baseUrl,
      apiKey,
      journal: journalOf({ 1: 'txfr_000001' }),
      fetch: async ({ url }) => {
        requested.push(url);
        return url.includes('?')
          ? respond(200, { data: [], hasMore: false, nextCursor: null })
          : respond(404, '<html>', { 'content-type': 'text/html' });
      },
    });
    const { errors = [] } = await failureOf(gateway.transfers.reconcileAll([salaryOf(1)]));
    expect(errors).toMatchObject([{ status: 404, outcome: 'unknown' }]);
    expect(requested).toHaveLength(2);
  });
});

describe('a transfer in reconcileAll that belongs to no input', () => {
  const other = (number: number, changes: Partial<Record<keyof Transfer, unknown>> = {}) =>
    listedAs(number, {
      description: `by hand ${number}`,
      destinationAccountId: 'acc_9',
      ...changes,
    });

  test('is reported only if option `unexpected` is true and it is outgoing', async () => {
    const page = [
      other(1),
      other(2, { sourceAccountId: 'acc_9', direction: 'incoming' }),
      other(3, { sourceAccountId: 'acc_9' }),
      other(4, { sourceAccountId: null }),
      other(5, { sourceAccountId: null, direction: 'incoming' }),
      listedAs(6),
    ];
    const { linesOf } = setup(page, { validation: 'report' });
    expect(await linesOf([salaryOf(6)])).toEqual(['6 completed 6']);
    expect(await linesOf([salaryOf(6)], unexpected)).toEqual([
      'unexpected 1',
      'unexpected 4',
      '6 completed 6',
    ]);
  });

  test('is reported only between `since` and `until`, unlike payments of inputs', async () => {
    const page = [
      other(1, { createdAt: day(0) }),
      other(2, { createdAt: day(10) }),
      other(3, { createdAt: day(19) }),
      other(4, { createdAt: day(20) }),
      other(5, { createdAt: 'yesterday' }),
      listedAs(6, { createdAt: day(1) }),
    ];
    const { rowsOf } = setup(page);
    const bounded = await rowsOf([salaryOf(6)], {
      since: day(10),
      until: new Date(day(20)),
      unexpected: true,
    });
    expect(outline(bounded)).toEqual([
      'unexpected 2',
      'unexpected 3',
      'unexpected 5',
      '6 completed 6',
    ]);
    const all = await rowsOf([salaryOf(6)], unexpected);
    expect(all).toHaveLength(6);
  });

  test('is not reported if it is another payment in the journal', async () => {
    const journal = memoryJournal();
    const paid = { state: 'paid', paidAt: 0, platform: baseUrl } as const;
    const [today, yesterday, elsewhere] = [salaryOf(2), salaryOf(1), salaryOf(3)];
    for (const [input, transferId] of [
      [yesterday, 'txfr_000001'],
      [today, 'txfr_000002'],
      [elsewhere, 'txfr_000007'],
    ] as const) {
      await journal.swap(input.description, undefined, { ...paid, transferId, input });
    }
    const rewritten = other(7, { amount: salaryOf(3).amount });
    const page = [listedAs(1), listedAs(2), rewritten, other(4)];
    const { linesOf } = setup(page, { journal });
    expect(await linesOf([today], unexpected)).toEqual(['unexpected 4', '2 completed 2']);
    const alone = setup(page);
    expect(await alone.linesOf([today], unexpected)).toEqual([
      'unexpected 1',
      'unexpected 7',
      'unexpected 4',
      '2 completed 2',
    ]);
  });

  const dayOfJanuary = { since: day(0), until: day(24), unexpected: true };

  test.each<unknown>([
    1_768_435_200,
    '1768435200',
    1_768_435_200_000,
    null,
    undefined,
    '',
    'Wed, 14 Jan 2026 10:00:00 GMT',
    '2026-01-14',
    '20260114T100000Z',
    '14.01.2026 10:00',
    '2026-01-14 10:00:00 UTC',
    '2026-01-14T24:30:00Z',
    '2026-01-14T10:00:00+01:00[Europe/Paris]',
    '2026-13-14T10:00:00Z',
    '2025-11-31T10:00:00Z',
    { seconds: 1_768_435_200 },
  ])('is reported for every range if its createdAt is unreadable: %j', async (createdAt) => {
    const { rowsOf } = setup([other(1, { createdAt }), listedAs(6)]);
    const rows = await rowsOf([salaryOf(6)], dayOfJanuary);
    expect(outline(rows)).toEqual(['unexpected 1', '6 completed 6']);
  });

  test.each([
    ['2026-01-14 23:59:59', '2026-01-15 00:00:00', '2026-01-16 00:00:00'],
    ['2026-01-14 23:59:59+00', '2026-01-15 01:00:00+01', '2026-01-16 01:00:00+01'],
    ['2026-01-15T05:29:59,999+05:30', '2026-01-15T05:30:00,001+0530', '2026-01-15 19:00:00,0-05'],
    ['2026-01-14t23:59z', '2026-01-15t00:00z', '2026-01-16T00:00Z'],
  ])('is reported only within the range: not %s, but %s, not %s', async (before, inside, after) => {
    const page = [before, inside, after].map((createdAt, at) => other(at + 1, { createdAt }));
    const { linesOf } = setup(page);
    expect(await linesOf([salaryOf(6)], dayOfJanuary)).toEqual(['unexpected 2', '6 missing']);
  });

  test('is reported if its createdAt without seconds may be in range', async () => {
    const page = ['2026-01-15T10:00Z', '2026-01-15T10:00:29Z', '2026-01-15T10:00:30Z'].map(
      (createdAt, at) => other(at + 1, { createdAt }),
    );
    const { linesOf } = setup(page);
    const since = '2026-01-15T10:00:30.500Z';
    expect(await linesOf([salaryOf(6)], { since, unexpected: true })).toEqual([
      'unexpected 1',
      'unexpected 3',
      '6 missing',
    ]);
    const until = { until: '2026-01-15T10:00:00.000Z', unexpected: true };
    expect(await linesOf([salaryOf(6)], until)).toEqual(['6 missing']);
    const untilLater = { until: '2026-01-15T10:00:29.001Z', unexpected: true };
    expect(await linesOf([salaryOf(6)], untilLater)).toEqual([
      'unexpected 1',
      'unexpected 2',
      '6 missing',
    ]);
  });

  test('is reported for each account of option `accounts`, even without inputs', async () => {
    const { rowsOf, linesOf, scans } = setup((_, source) =>
      source === otherCompany ? pagesOf([other(1, { sourceAccountId: source })]) : pagesOf([]),
    );
    const accounts = [otherCompany, 'acc_000001', otherCompany] as const;
    const rows = await rowsOf([salaryOf(6)], { unexpected: true, accounts: [...accounts] });
    expect(outline(rows)).toEqual(['6 missing', 'unexpected 1']);
    expect(Object.fromEntries(scans)).toEqual({ acc_000001: 1, [otherCompany]: 1 });
    expect(await linesOf([], { unexpected: true, accounts: [otherCompany] })).toEqual([
      'unexpected 1',
    ]);
  });
});

describe('the list of transfers that reconcileAll reads', () => {
  /** A list that hides a transfer in its first scan and shows another one twice. */
  const moving: Lists = (scan) =>
    scan === 1 ? pagesOf([listedAs(1)], [listedAs(1)]) : pagesOf([listedAs(1)], [listedAs(2)]);

  test('is read again with another page size if it changed', async () => {
    const { linesOf, requests } = setup(moving);
    expect(await linesOf([salaryOf(1), salaryOf(2)])).toEqual(['1 completed 1', '2 completed 2']);
    expect(requests.filter((request) => !request.includes('cursor'))).toEqual([
      'GET /transfers?limit=100&accountId=acc_000001',
      'GET /transfers?limit=99&accountId=acc_000001',
    ]);
  });

  /** A list that loses the last of several rows with one time at the end of a page. */
  const lossy = (request: Request, rows: readonly Transfer[]): Response => {
    const { searchParams } = new URL(request.url);
    const after = searchParams.get('cursor') ?? '';
    const rest = rows.filter(({ createdAt }) => createdAt > after);
    const data = rest.slice(0, Number(searchParams.get('limit')));
    const hasMore = data.length < rest.length;
    return respond(200, { data, hasMore, nextCursor: hasMore ? data.at(-1)?.createdAt : null });
  };

  test.each([
    // 99 rows of one time before, so that the page of 100 ends among them.
    ['loses rows with equal times', 60, 'rejects'],
    ['holds every row', 0, 'missing'],
  ])('needs two agreeing scans before a payment is missing: it %s', async (_, equal, ends) => {
    const rows = Array.from({ length: 150 }, (_row, at) => {
      const second = at >= 60 && at < 60 + equal ? 60 : at;
      const createdAt = new Date(Date.UTC(2026, 0, 15, 10, 0, second)).toISOString();
      return listedAs(at + 1, { createdAt });
    });
    const scans: string[] = [];
    const fetch = async (request: Request) => {
      if (!request.url.includes('cursor')) scans.push(request.url);
      return lossy(request, rows);
    };
    const payments = new PaymentsClient({ baseUrl, apiKey, fetch, maxRetries: 0 });
    const books = payments.transfers.reconcileAll([salaryOf(110), salaryOf(900)]);
    if (ends === 'rejects') {
      expect((await failureOf(books, PaymentsError)).message).toContain('showed other transfers');
    } else {
      expect(outline((await books).open)).toEqual(['0 missing']);
      expect(scans).toHaveLength(2);
    }
  });

  test('is read a third time if the second scan has one page', async () => {
    const { linesOf, scans } = setup((scan) =>
      scan === 1 ? pagesOf([listedAs(1)], [listedAs(2)]) : pagesOf([listedAs(2)]),
    );
    expect(await linesOf([salaryOf(1), salaryOf(3)])).toEqual(['1 completed 1', '3 missing']);
    expect([...scans.values()]).toEqual([3]);
  });

  test('is read once if it shows every payment, even while it changes', async () => {
    const { rowsOf, scans } = setup(moving);
    await rowsOf([salaryOf(1)]);
    expect([...scans.values()]).toEqual([1]);
  });

  test('shows an unexpected transfer once even if it is read again', async () => {
    const { linesOf } = setup(moving);
    expect(await linesOf([salaryOf(3)], unexpected)).toEqual([
      'unexpected 1',
      'unexpected 2',
      '3 missing',
    ]);
  });

  test.each<[string, Lists]>([
    ['changes', (scan) => pagesOf([listedAs(1)], [listedAs(10 + scan, { description: 'stray' })])],
    ['has an empty page before its end', () => pagesOf([listedAs(1)], [], [listedAs(2)])],
    ['has an item that is no transfer', () => pagesOf(['x' as unknown as Transfer])],
  ])('makes reconcileAll reject if it %s in three scans', async (way, lists) => {
    const { payments, scans } = setup(lists, { validation: 'report' });
    const books = payments.transfers.reconcileAll([salaryOf(1), salaryOf(3)]);
    const error = await failureOf(books);
    expect(error).toMatchObject({
      outcome: 'unknown',
      operation: 'transfers.reconcileAll',
      startedAt: expect.any(String) as string,
    });
    expect(error.message).toContain('Call reconcileAll again: it sends no payment.');
    if (way === 'changes')
      expect(error.message).toContain('showed other transfers in each of 3 scans');
    expect(books.totals).toEqual(noTotals);
    expect([...scans.values()]).toEqual([3]);
  });

  test('is read again if an empty page comes before the end', async () => {
    const { linesOf } = setup((scan) =>
      scan === 1
        ? pagesOf([listedAs(1)], [], [listedAs(2)])
        : pagesOf([listedAs(1)], [listedAs(2)]),
    );
    expect(await linesOf([salaryOf(2)])).toEqual(['2 completed 2']);
  });

  test('makes reconcileAll reject if a page comes from a cache', async () => {
    const { rowsOf, headers, scans } = setup([listedAs(1)]);
    headers['age'] = '7';
    const error = await failureOf(rowsOf([salaryOf(1)]), PaymentsError);
    expect(error.message).toContain('has a page from a cache (header age)');
    expect([...scans.values()]).toEqual([1]);
  });

  test('makes reconcileAll reject if the request for a page fails', async () => {
    const { payments } = setup(() => {
      throw new Error('reset');
    });
    const error = await failureOf(payments.transfers.reconcileAll([salaryOf(1)]));
    expect(error).toMatchObject({ outcome: 'unknown', operation: 'transfers.reconcileAll' });
    expect(error.stack).toContain('reconcile-all.test.ts');
  });
});

/** Salaries from three accounts, and a platform that refuses to list the second of them. */
function setupRefusal(refuse: (source: string) => Response, options: ClientOptions = {}) {
  const inputs = [1, 2, 3].map((number) => salaryOf(number, `acc_00000${number}`));
  const fetch = async (request: Request): Promise<Response> => {
    const source = new URL(request.url).searchParams.get('accountId') ?? '';
    if (source === 'acc_000002') return refuse(source);
    const own = inputs.flatMap((input, at) =>
      input.sourceAccountId === source ? [listedAs(at + 1, { ...input })] : [],
    );
    return respond(200, { data: own, hasMore: false, nextCursor: null });
  };
  const payments = new PaymentsClient({ baseUrl, apiKey, fetch, maxRetries: 0, ...options });
  return { payments, inputs };
}

const closed = () => respond(403, { error: 'Closed.', code: 'account_closed', details: null });

describe('an account that reconcileAll cannot read', () => {
  test.each<[string, () => Response, string]>([
    ['is refused', closed, 'PermissionDeniedError'],
    ['is unknown', () => respond(404, { error: 'No.', code: 'not_found' }), 'NotFoundError'],
    ['is not available', () => respond(503, 'busy'), 'ServerError'],
    [
      'has a list that contradicts itself',
      () => respond(200, { data: [], hasMore: true, nextCursor: 'c' }),
      'PaymentsError',
    ],
  ])('does not stop other accounts: one error names it if it %s', async (_, refuse, name) => {
    const warned = vi.spyOn(console, 'warn').mockReturnValue();
    const { payments, inputs } = setupRefusal(refuse);
    const books = payments.transfers.reconcileAll(inputs);
    const rows: (ReconciledRow | string)[] = [];
    const read = async (): Promise<void> => {
      for await (const row of books) rows.push(row, ...warned.mock.calls.flat().map(String));
    };
    const error = await failureOf(read(), PaymentsError);
    expect(rows).toEqual([
      expect.objectContaining({ reference: inputs[0]?.description, result: 'completed' }),
      expect.objectContaining({ reference: inputs[2]?.description, result: 'completed' }),
      expect.stringContaining('reconcileAll could not read account acc_000002'),
    ]);
    expect(books.totals.completed.count).toBe(2);
    expect(error).toMatchObject({ outcome: 'unknown', operation: 'transfers.reconcileAll' });
    expect(error.message).toContain('1 account could not be read: acc_000002');
    expect(error.errors).toHaveLength(1);
    expect(error.errors?.[0]).toMatchObject({ name, accountId: 'acc_000002', outcome: 'unknown' });
    expect(error.stack).toContain('reconcile-all.test.ts');
  });

  test('is named in the error even if only option `accounts` contains it', async () => {
    vi.spyOn(console, 'warn').mockReturnValue();
    const { payments, inputs } = setupRefusal(closed);
    const books = payments.transfers.reconcileAll(inputs.slice(2), {
      accounts: ['acc_000002'],
      unexpected: true,
    });
    const error = await failureOf(books, PaymentsError);
    expect(books.totals.completed.count).toBe(1);
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({
      errors: [{ name: 'PermissionDeniedError', accountId: 'acc_000002', status: 403 }],
    });
  });

  test('ends reconcileAll at once if the status is 401', async () => {
    const { payments, inputs } = setupRefusal(() => respond(401, { error: 'No.', code: 'no' }));
    const error = await failureOf(payments.transfers.reconcileAll(inputs), AuthenticationError);
    expect(error.errors).toBeUndefined();
    expect(error).toMatchObject({ outcome: 'unknown', operation: 'transfers.reconcileAll' });
  });
});

test('the sums of unexpected transfers leave out failed and cancelled transfers', async () => {
  const stray = { description: 'stray' };
  const { payments } = setup([
    listedAs(1, { ...stray, amount: '500.00', status: 'failed' }),
    listedAs(2, { ...stray, amount: '70.00', status: 'cancelled' }),
    listedAs(3, { ...stray, amount: '50.00', status: 'pending' }),
    listedAs(4, { ...stray, amount: '8.00', status: 'completed' }),
    listedAs(5, { ...stray, amount: '-1.00', status: 'completed' }),
  ]);
  const books = payments.transfers.reconcileAll([], { ...unexpected, accounts: ['acc_000001'] });
  const { totals } = await books;
  expect(totals.unexpected).toEqual({ count: 5, amounts: { USDC: '58' }, unreadable: 1 });
});

test('with transfersNewestFirst reconcileAll stops reading at transfers older than `since`', async () => {
  const page = (first: number, hour: number) =>
    Array.from({ length: 100 }, (_, at) =>
      listedAs(first + at, {
        createdAt: new Date(Date.parse(day(hour)) - at * 10_000).toISOString(),
      }),
    );
  const lists = () =>
    pagesOf(page(100, 20), page(200, 12), page(300, 6), page(400, 3), page(500, 1));
  const { rowsOf, requests, headers } = setup(lists, { platform: { transfersNewestFirst: true } });
  headers['date'] = new Date().toUTCString();
  const rows = await rowsOf([salaryOf(110)], { since: day(10), until: day(21), unexpected: true });
  expect(rows.filter(({ result }) => result === 'unexpected')).toHaveLength(199);
  expect(requests.filter((request) => request.includes('cursor=4'))).toEqual([]);
});

test.each([
  ['inputs that are not iterable', { description: 'x' }, {}, ['inputs']],
  ['an invalid amount', [salaryOf(1), { ...salaryOf(2), amount: '0' }], {}, ['inputs[1].amount']],
  ['an input of null', [null], {}, ['inputs[0]']],
  ['no reference', [{ ...salaryOf(1), description: undefined }], {}, ['inputs[0].description']],
  ['a reference of spaces', [{ ...salaryOf(1), description: ' ' }], {}, ['inputs[0].description']],
  ['one reference twice', [salaryOf(1), salaryOf(1, otherCompany)], {}, ['inputs[1].description']],
  ['the option since if it is no time', [], { since: 'yesterday' }, ['options.since']],
  ['the option until without an offset', [], { until: '2026-01-15T00:00:00' }, ['options.until']],
  ['the option until before since', [], { since: day(2), until: day(1) }, ['options.until']],
  ['the option accounts if it is no array', [], { accounts: 'acc_000001' }, ['options.accounts']],
  ['an invalid account', [], { accounts: ['acc_1', 'ent_1'] }, ['options.accounts[1]']],
  ['the option unexpected if it is a string', [], { unexpected: 'yes' }, ['options.unexpected']],
  ['an unknown option', [], { sinse: day(1) }, ['options.sinse']],
])('reconcileAll rejects %s before it reads anything', async (_, inputs, options, paths) => {
  const journal = journalOf({});
  const { rowsOf, requests } = setup([], { journal });
  const error = await failureOf(rowsOf(inputs as never, options as never), ValidationError);
  expect(error.issues.map(({ path }) => path)).toEqual(paths);
  expect(error).toMatchObject({ operation: 'transfers.reconcileAll', outcome: 'not_sent' });
  expect(httpStatusOf(error)).toBe(400);
  expect([requests, journal.reads]).toEqual([[], []]);
});

test('the error for a repeated reference names both inputs of reconcileAll', async () => {
  const { rowsOf } = setup([]);
  const books = [salaryOf(1), salaryOf(2), { ...salaryOf(3), description: 'SALARY 000001' }];
  const error = await failureOf(rowsOf(books), ValidationError);
  expect(error.message).toMatch(
    /inputs\[2\]\.description .*: inputs\[0\] has the reference "SALARY 000001", too/,
  );
});

test('an abort of the signal ends reconcileAll', async () => {
  const controller = new AbortController();
  const { rowsOf } = setup(() => {
    controller.abort(new Error('enough'));
    return pagesOf([listedAs(1)], [listedAs(2)]);
  });
  const error = await failureOf(rowsOf([salaryOf(2)], { signal: controller.signal }), AbortError);
  expect(error.cause).toMatchObject({ message: 'enough' });
});

test('`break` in a loop over reconcileAll ends the reading', async () => {
  const { payments, requests } = setup(() =>
    Array.from({ length: 50 }, (_, at) => [listedAs(at, { description: `by hand ${at}` })]),
  );
  const books = payments.transfers.reconcileAll([salaryOf(1)], unexpected);
  for await (const { result } of books) {
    expect(result).toBe('unexpected');
    break;
  }
  expect(requests.length).toBeLessThan(4);
});
