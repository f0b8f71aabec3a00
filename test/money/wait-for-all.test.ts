import {
  AbortError,
  ApiError,
  PaymentsError,
  ValidationError,
  type OnceInput,
  type ReconciledRow,
  type Transfer,
} from 'payments-platform-sdk';
import { memoryJournal, type Journal } from 'payments-platform-sdk/journals';
import { beforeEach, expect, test, vi } from 'vitest';
import { clientOf, failureOf, respond } from '../support/clients.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { collect, createSalaries, otherCompany, salaryOf } from './batches.ts';
import type { WaitForAllOptions } from '../../src/books/wait-for-all.ts';

const minute = 60_000;
const start = Date.UTC(2026, 0, 15);
const baseUrl = 'https://api.example.com/v0';

/** What a platform shows of a payment at a time. */
type StatusAt = (number: number, ms: number) => string | undefined;

interface World {
  readonly count?: number;
  readonly history?: number;
  /** Transfers that the list shows after the history. */
  readonly oldest?: readonly object[];
  /** Undefined while the platform does not show the transfer. */
  readonly statusAt: StatusAt;
  readonly order?: 'newest first' | 'oldest first';
  /** Whether the journal has the id of each payment. */
  readonly isRecorded?: boolean;
  readonly transfersNewestFirst?: boolean;
  /** Responds instead of the platform. */
  readonly fail?: (url: URL, round: number) => Response | undefined;
}

const idOf = (number: number): Transfer['id'] => `txfr_${String(number).padStart(6, '0')}`;

/** A platform whose transfers change with the time, and a client that follows them. */
function setup({
  count = 1,
  history = 0,
  oldest = [],
  statusAt,
  order = 'newest first',
  isRecorded = false,
  transfersNewestFirst = false,
  fail,
}: World) {
  const clock = new VirtualClock(start);
  const requests: { readonly at: number; readonly line: string }[] = [];
  const common = { currency: 'USDC', type: 'book', direction: 'outgoing' };
  const others = Array.from({ length: history }, (_, at) => ({
    ...salaryOf(1),
    ...common,
    id: idOf(500_000 + at),
    description: `other ${at}`,
    status: 'completed',
    createdAt: new Date(start - 86_400_000 - at * 1_000).toISOString(),
  }));
  const describe = (number: number, source?: OnceInput['sourceAccountId']) => {
    const status = statusAt(number, clock.passed);
    if (status === undefined) return undefined;
    const createdAt = new Date(start - 3_600_000 + number * 1_000).toISOString();
    return { ...salaryOf(number, source), ...common, id: idOf(number), status, createdAt };
  };
  const list = (source: OnceInput['sourceAccountId']): readonly object[] => {
    const own = Array.from({ length: count }, (_, at) => describe(count - at, source));
    const newestFirst = [...own.filter((each) => each !== undefined), ...others, ...oldest];
    return order === 'newest first' ? newestFirst : newestFirst.toReversed();
  };
  const { payments } = clientOf(
    (request) => {
      const url = new URL(request.url);
      const { searchParams, pathname } = url;
      const line = `${request.method} ${pathname.slice('/v0'.length)}`;
      requests.push({ at: clock.passed, line });
      const failure = fail?.(url, new Set(requests.map(({ at }) => at)).size);
      if (failure !== undefined) return failure;
      const headers = { date: new Date(clock.now()).toUTCString() };
      const id = /\/transfers\/txfr_(\d+)$/.exec(pathname)?.[1];
      if (id !== undefined) {
        const transfer = describe(Number(id));
        if (transfer !== undefined) return respond(200, transfer, headers);
        return respond(404, { error: 'No such transfer.', code: 'not_found' });
      }
      const [from, limit] = ['cursor', 'limit'].map((name) => Number(searchParams.get(name) ?? 0));
      const all = list(searchParams.get('accountId') as OnceInput['sourceAccountId']);
      const next = (from ?? 0) + (limit ?? 0);
      const hasMore = next < all.length;
      const data = all.slice(from, next);
      return respond(200, { data, hasMore, nextCursor: hasMore ? String(next) : null }, headers);
    },
    {
      baseUrl,
      clock,
      maxRetries: 0,
      platform: { transfersNewestFirst },
      ...(isRecorded && { journal: recordedJournal() }),
    },
  );
  const follow = (inputs: Iterable<OnceInput>, options?: WaitForAllOptions) =>
    clock.runTimersDuring(collect(payments.transfers.waitForAll(inputs, options)));
  return { payments, clock, requests, follow };
}

/** A journal that records each salary as paid, with a transfer id that `shift` changes. */
const recordedJournal = (shift = 0): Journal => ({
  ...memoryJournal(),
  read: async (reference) => {
    const number = Number(/\d+$/.exec(reference)?.[0]);
    const input = { ...salaryOf(number), description: reference };
    return { state: 'paid', transferId: idOf(number + shift), paidAt: 0, input, platform: baseUrl };
  },
});

const outline = (rows: readonly ReconciledRow[]): string[] =>
  rows.map(({ reference, result }) => `${Number(reference?.slice(-6))} ${result}`);

/** The transfer of the salary with number n completes after n minutes. */
const endsByNumber: StatusAt = (number, ms) => (ms < number * minute ? 'pending' : 'completed');

// Without jitter, each pause has its mean length.
beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
});

test('waitForAll reports each payment once, as soon as the payment ended', async () => {
  const statusAt: StatusAt = (number, ms) =>
    ms < number * minute ? 'processing' : (['completed', 'failed', 'cancelled'][number - 1] ?? '');
  const { follow, requests } = setup({ count: 3, statusAt });
  expect(outline(await follow(createSalaries(3)))).toEqual(['1 completed', '2 failed', '3 failed']);
  expect(requests.every(({ line }) => line.startsWith('GET '))).toBe(true);
});

test('waitForAll reports each open payment once when its timeout is over', async () => {
  const statusAt: StatusAt = (number) => ['completed', 'pending', 'settled'][number - 1];
  const { follow, clock } = setup({ count: 4, statusAt });
  const rows = await follow(createSalaries(4), { timeout: 10 * minute });
  expect(outline(rows)).toEqual(['1 completed', '2 pending', '3 pending', '4 missing']);
  expect(clock.passed).toBe(10 * minute);
});

test('the timeout of waitForAll is a day by default', async () => {
  const late = setup({ statusAt: endsByNumber });
  expect(outline(await late.follow([salaryOf(2_000)]))).toEqual(['2000 missing']);
  expect(late.clock.passed).toBe(24 * 60 * minute);
  const statusAt: StatusAt = (_, ms) => (ms < 5_000 * minute ? 'pending' : 'failed');
  const { follow, clock } = setup({ statusAt });
  expect(outline(await follow([salaryOf(1)], { timeout: Infinity }))).toEqual(['1 failed']);
  expect(clock.passed).toBeGreaterThan(5_000 * minute);
});

test('the pauses of waitForAll grow from 30 seconds to 5 minutes', async () => {
  const { follow, requests } = setup({ statusAt: () => 'pending' });
  await follow([salaryOf(1)], { timeout: 40 * minute });
  const times = requests.map(({ at }) => at / 1_000);
  const pauses = times.slice(1).map((at, index) => at - (times[index] ?? 0));
  expect(pauses.slice(0, 3)).toEqual([30, 45, 67.5]);
  expect(Math.max(...pauses)).toBeCloseTo(300);
  const first = setup({ statusAt: () => 'pending' });
  await first.follow([salaryOf(1)], { timeout: 5_000, interval: 1_000 });
  expect(first.requests.map(({ at }) => at)).toEqual([0, 1_000, 2_500, 4_750, 5_000]);
});

test('waitForAll never pauses for less than an `interval` above 5 minutes', async () => {
  const { follow, requests } = setup({ statusAt: () => 'pending' });
  await follow([salaryOf(1)], { timeout: 60 * minute, interval: 20 * minute });
  expect(requests.map(({ at }) => at / minute)).toEqual([0, 20, 40, 60]);
});

const isShortly: StatusAt = (number, ms) =>
  ms < (number / 200) * 30 * minute ? 'processing' : 'completed';

test('waitForAll follows 200 recorded payments in under 70 requests', async () => {
  const { follow, requests, clock } = setup({
    count: 200,
    history: 100_000,
    statusAt: isShortly,
    isRecorded: true,
    transfersNewestFirst: true,
  });
  const rows = await follow(createSalaries(200));
  expect(rows.map(({ result }) => result)).toEqual(Array.from({ length: 200 }, () => 'completed'));
  expect(new Set(rows.map(({ reference }) => reference)).size).toBe(200);
  expect(clock.passed).toBeGreaterThanOrEqual(30 * minute);
  expect(requests.length).toBeLessThan(70);
});

test('waitForAll reports each end despite 200 random restarts', async () => {
  vi.mocked(Math.random).mockRestore();
  const { payments, clock } = setup({ count: 200, statusAt: isShortly, isRecorded: true });
  const told = new Map<string, string>();
  /** Follows until a kill, which comes in a pause, or before the caller is told of the last end. */
  const follow = async (endsLeft: number, signal?: AbortSignal): Promise<void> => {
    let left = endsLeft;
    for await (const { reference, result } of payments.transfers.waitForAll(createSalaries(200), {
      signal,
    })) {
      if (left === 0) return;
      left -= 1;
      told.set(reference, result);
    }
  };
  for (let kill = 1; kill <= 200; kill += 1) {
    const controller = new AbortController();
    const run = follow(Math.floor(Math.random() * 300), controller.signal).catch(() => undefined);
    await clock.advance(Math.random() * 20_000);
    controller.abort();
    await run;
  }
  await clock.runTimersDuring(follow(200));
  expect([...told.values()]).toEqual(Array.from({ length: 200 }, () => 'completed'));
});

test('waitForAll without a journal reads the whole list only once', async () => {
  const { follow, requests } = setup({ count: 200, history: 10_000, statusAt: isShortly });
  await follow(createSalaries(200));
  const [first = [], ...later] = Object.values(Object.groupBy(requests, ({ at }) => at));
  // 10,200 transfers in pages of 99.
  expect(first).toHaveLength(104);
  expect(Math.max(...later.map((round) => round?.length ?? 0))).toBeLessThanOrEqual(4);
});

test('waitForAll reads a payment on the last pages by transfer id', async () => {
  const { follow, requests } = setup({
    count: 5,
    history: 10_000,
    order: 'oldest first',
    isRecorded: true,
    statusAt: endsByNumber,
  });
  await follow(createSalaries(5));
  const [lists, reads] = ['GET /transfers', `GET /transfers/${idOf(5)}`].map(
    (line) => requests.filter((request) => request.line === line).length,
  );
  // The pager requests one page ahead.
  expect(lists).toBeLessThanOrEqual(6);
  expect(reads).toBe(new Set(requests.map(({ at }) => at)).size);
});

test('waitForAll finds a payment whose recorded transfer id the platform lacks', async () => {
  const statusAt: StatusAt = (number) => (number === 1 ? 'completed' : undefined);
  const order = 'oldest first';
  const { payments, clock, requests } = setup({ statusAt, history: 150, order });
  const client = payments.withOptions({ journal: recordedJournal(900_000) });
  const rows = await clock.runTimersDuring(collect(client.transfers.waitForAll([salaryOf(1)])));
  expect(outline(rows)).toEqual(['1 completed']);
  expect(requests.map(({ line }) => line)).toContain(`GET /transfers/${idOf(900_001)}`);
});

test('waitForAll rereads a contradictory list with another page size', async () => {
  const limits: (string | null)[] = [];
  const { follow } = setup({
    statusAt: () => 'completed',
    fail: ({ searchParams }) => {
      limits.push(searchParams.get('limit'));
      // The fourth list, which is the first of the second round, does not contradict itself.
      const contradiction = { data: [], hasMore: true, nextCursor: '1' };
      return limits.length > 3 ? undefined : respond(200, contradiction);
    },
  });
  expect(outline(await follow([salaryOf(1)]))).toEqual(['1 completed']);
  expect(limits).toEqual(['99', '98', '97', '98']);
});

test('waitForAll reads the list twice only before it returns missing', async () => {
  const { follow, requests } = setup({ history: 150, statusAt: () => undefined });
  const rows = await follow([salaryOf(1)], { timeout: 2 * minute, interval: minute });
  expect(outline(rows)).toEqual(['1 missing']);
  const requestsAt = new Map<number, number>();
  for (const { at } of requests) requestsAt.set(at, (requestsAt.get(at) ?? 0) + 1);
  // One scan of two pages in each round, and two scans in the last one.
  expect([...requestsAt]).toEqual([
    [0, 2],
    [minute, 2],
    [2 * minute, 4],
  ]);
});

const unavailable = (): Response => respond(503, { error: 'Later.', code: 'unavailable' });

test('waitForAll continues after four failed rounds in a row', async () => {
  const statusAt: StatusAt = (_, ms) => (ms < 25 * minute ? 'pending' : 'completed');
  const { follow } = setup({
    statusAt,
    fail: (_, round) => (round % 5 === 0 ? undefined : unavailable()),
  });
  expect(outline(await follow([salaryOf(1)]))).toEqual(['1 completed']);
});

test('waitForAll rejects after five failed rounds in a row', async () => {
  vi.spyOn(console, 'warn').mockReturnValue();
  const { payments, clock, requests } = setup({ statusAt: endsByNumber, fail: unavailable });
  const followed = payments.transfers.waitForAll([salaryOf(1)]);
  const error = await clock.runTimersDuring(failureOf(followed, PaymentsError));
  expect([error.outcome, error.operation]).toEqual(['unknown', 'transfers.waitForAll']);
  expect(error.errors).toEqual([expect.any(ApiError)]);
  expect(error.errors?.[0]).toMatchObject({ status: 503, accountId: 'acc_000001' });
  expect(error.message).toContain('Call waitForAll again');
  expect(requests).toHaveLength(5);
});

test('if the last round fails, waitForAll repeats it one second later', async () => {
  const { follow, clock } = setup({
    statusAt: () => 'pending',
    fail: (_, round) => (round === 3 ? unavailable() : undefined),
  });
  const rows = await follow([salaryOf(1)], { timeout: 31_000 });
  expect(outline(rows)).toEqual(['1 pending']);
  expect(clock.passed).toBe(31_000 + 1_000);
});

const refused = (): Response => respond(403, { error: 'Closed.', code: 'account_closed' });
const unknown = (): Response => respond(404, { error: 'No account.', code: 'not_found' });
const ofGateway = (): Response => respond(403, '<html>');

test.each<[string, () => Response, number]>([
  ['at once if the platform refuses the account', refused, 1],
  ['at once if the platform does not know the account', unknown, 1],
  ['after five rounds if a gateway refuses the account', ofGateway, 5],
  ['after five rounds if the platform is not available', unavailable, 5],
])('waitForAll stops reading an account %s, and follows the others', async (...row) => {
  const [, fail, rounds] = row;
  const warned = vi.spyOn(console, 'warn').mockReturnValue();
  const isOther = ({ searchParams }: URL) => searchParams.get('accountId') === otherCompany;
  let reads = 0;
  const { payments, clock } = setup({
    count: 9,
    statusAt: (_, ms) => (ms < 60 * minute ? 'pending' : 'completed'),
    fail: (url) => {
      reads += isOther(url) ? 1 : 0;
      return isOther(url) ? fail() : undefined;
    },
  });
  const rows: ReconciledRow[] = [];
  const run = async (): Promise<void> => {
    const inputs = [salaryOf(9, otherCompany), salaryOf(1), salaryOf(2)];
    for await (const each of payments.transfers.waitForAll(inputs)) rows.push(each);
  };
  const error = await clock.runTimersDuring(failureOf(run(), PaymentsError));
  expect(outline(rows)).toEqual(['1 completed', '2 completed']);
  expect(clock.passed).toBeGreaterThanOrEqual(60 * minute);
  expect(error.errors?.map(({ accountId }) => accountId)).toEqual([otherCompany]);
  expect(reads).toBe(rounds);
  const lines = warned.mock.calls.flat().filter((line) => String(line).includes(otherCompany));
  expect(lines).toHaveLength(1);
});

test.each([1, 50, 29_999])(
  'waitForAll ends after a timeout of %i ms, shorter than its interval',
  async (timeout) => {
    const clock = new VirtualClock(start);
    const { payments } = clientOf(
      async () => {
        await new Promise<void>((resolve) => clock.setTimeout(resolve, 20));
        return respond(200, { data: [], hasMore: false, nextCursor: null });
      },
      { clock },
    );
    const books = payments.transfers.waitForAll([salaryOf(1)], { timeout });
    const rows = await clock.runTimersDuring(collect(books));
    expect(outline(rows)).toEqual(['1 missing']);
    expect(clock.passed).toBeLessThanOrEqual(timeout + 40);
  },
);

test.each([
  ['Infinity', Infinity, 2],
  ['a week', 7 * 24 * 60 * minute, 3],
])('waitForAll (timeout %s) warns once of payments missing for a day', async (_, timeout, late) => {
  const warned = vi.spyOn(console, 'warn').mockReturnValue();
  const { payments, clock } = setup({
    count: 3,
    statusAt: (number, ms) => (number === 1 || ms > 3_000 * minute ? 'completed' : undefined),
  });
  const inputs = [salaryOf(1), salaryOf(late)];
  const followed = collect(payments.transfers.waitForAll(inputs, { timeout }));
  const toldAt: number[] = [];
  warned.mockImplementation((line) => {
    if (String(line).includes('for a day')) toldAt.push(clock.passed);
  });
  expect(outline(await clock.runTimersDuring(followed))).toEqual([
    '1 completed',
    `${late} completed`,
  ]);
  expect(toldAt).toHaveLength(1);
  expect(toldAt[0]).toBeGreaterThanOrEqual(24 * 60 * minute);
  expect(toldAt[0]).toBeLessThan(24 * 60 * minute + 6 * minute);
});

/** A second transfer of the first salary, which the list shows after 150 others. */
const again = (changes: object = {}): object => ({
  ...salaryOf(1),
  currency: 'USDC',
  type: 'book',
  direction: 'outgoing',
  id: idOf(900_000),
  status: 'completed',
  createdAt: new Date(start - 3 * 86_400_000).toISOString(),
  ...changes,
});

test.each<[string, StatusAt, object, number]>([
  ['was cancelled before', () => 'cancelled', {}, 0],
  ['fails later', (_, ms) => (ms < 10 * minute ? 'pending' : 'failed'), { status: 'pending' }, 10],
  ['failed, and the other has another amount', () => 'failed', { amount: '13.00' }, 0],
])(
  'waitForAll returns ambiguous beside another listed transfer if its own %s',
  async (_, statusAt, changes, minutes) => {
    const { follow, payments, clock } = setup({
      statusAt,
      history: 150,
      oldest: [again(changes)],
      isRecorded: true,
    });
    const rows = await follow([salaryOf(1)]);
    expect(outline(rows)).toEqual(['1 ambiguous']);
    expect(rows[0]?.candidates).toHaveLength(2);
    expect(clock.passed).toBeLessThanOrEqual((minutes * 1.5 + 1) * minute);
    const books = await clock.runTimersDuring(
      collect(payments.transfers.reconcileAll([salaryOf(1)])),
    );
    expect(outline(books)).toEqual(['1 ambiguous']);
  },
);

test('waitForAll reads whole lists for failed payments every 30 minutes at most', async () => {
  const statusAt: StatusAt = (number, ms) =>
    ms < (number - 1) * 5 * minute ? 'pending' : 'failed';
  const { payments, clock, requests } = setup({
    count: 4,
    statusAt,
    history: 500,
    isRecorded: true,
  });
  const toldAt: [number, string][] = [];
  const run = async (): Promise<void> => {
    for await (const { result } of payments.transfers.waitForAll(createSalaries(4)))
      toldAt.push([clock.passed / minute, result]);
  };
  await clock.runTimersDuring(run());
  expect(toldAt.map(([at, result]) => [at >= 30, result])).toEqual([
    [false, 'failed'],
    [true, 'failed'],
    [true, 'failed'],
    [true, 'failed'],
  ]);
  const lists = requests.filter(({ line }) => line === 'GET /transfers');
  const rounds = new Set(requests.map(({ at }) => at)).size;
  // Two whole readings of six pages, and one page or two in each of the other rounds.
  expect(lists.length).toBeLessThanOrEqual(2 * 6 + 2 * rounds);
});

test('waitForAll reports a failed payment as pending if lists are unreadable', async () => {
  const statusAt: StatusAt = (number) => (number === 1 ? 'failed' : 'completed');
  const { follow, clock } = setup({
    count: 2,
    statusAt,
    history: 300,
    isRecorded: true,
    fail: ({ searchParams }) => (searchParams.has('cursor') ? unavailable() : undefined),
  });
  const rows = await follow(createSalaries(2), { timeout: 5 * minute });
  expect(outline(rows)).toEqual(['2 completed', '1 pending']);
  expect(rows[1]?.transfer?.status).toBe('failed');
  expect(clock.passed).toBe(5 * minute);
});

test('waitForAll returns a failed payment only after reading the whole list', async () => {
  const statusAt: StatusAt = (number, ms) => (number === 1 || ms > minute ? 'failed' : 'pending');
  const { payments, clock } = setup({ count: 2, statusAt, history: 300, isRecorded: true });
  const seen: unknown[] = [];
  const run = async (): Promise<void> => {
    const options = { timeout: 5 * minute };
    for await (const row of payments.transfers.waitForAll(createSalaries(2), options))
      seen.push([clock.passed / minute, row.reference.slice(-1), row.result]);
  };
  await clock.runTimersDuring(run());
  // The last round reads the whole list again.
  expect(seen).toEqual([
    [0, '1', 'failed'],
    [5, '2', 'failed'],
  ]);
});

test('waitForAll rejects at once if the platform responds with 401', async () => {
  const { payments, clock, requests } = setup({
    statusAt: endsByNumber,
    fail: () => respond(401, { error: 'No.', code: 'unauthorized' }),
  });
  const followed = payments.transfers.waitForAll([salaryOf(1)]);
  const error = await clock.runTimersDuring(failureOf(followed, ApiError));
  expect([error.status, requests.length]).toEqual([401, 1]);
});

test('an abort ends waitForAll during a pause', async () => {
  const { payments, clock, requests } = setup({ statusAt: () => 'pending' });
  const controller = new AbortController();
  clock.setTimeout(() => {
    controller.abort(new Error('deploy'));
  }, minute);
  const followed = payments.transfers.waitForAll([salaryOf(1)], { signal: controller.signal });
  const error = await clock.runTimersDuring(failureOf(followed, AbortError));
  expect([error.outcome, error.operation]).toEqual(['unknown', 'transfers.waitForAll']);
  expect(error.cause).toEqual(new Error('deploy'));
  expect(requests).toHaveLength(2);
});

test('waitForAll rejects invalid options and repeated references before any request', async () => {
  const { payments, requests } = setup({ statusAt: endsByNumber });
  const twice = payments.transfers.waitForAll([salaryOf(1), salaryOf(1)]);
  expect((await failureOf(twice, ValidationError)).message).toContain('inputs[1].description');
  const options = { interval: 0, timeout: 0 };
  const invalid = await failureOf(
    payments.transfers.waitForAll([salaryOf(1)], options),
    ValidationError,
  );
  expect(invalid.issues.map(({ path }) => path)).toEqual(['options.timeout', 'options.interval']);
  expect(requests).toEqual([]);
});

test('await of waitForAll resolves to totals and the payments not completed', async () => {
  const statusAt: StatusAt = (number) => (number === 1 ? 'completed' : 'failed');
  const { payments, clock } = setup({ count: 2, statusAt });
  const followed = payments.transfers.waitForAll(createSalaries(2));
  const { totals, open } = await clock.runTimersDuring(Promise.resolve(followed));
  expect(totals.completed).toEqual({ count: 1, amounts: { USDC: '12.5' }, unreadable: 0 });
  expect(outline(open)).toEqual(['2 failed']);
  expect(followed.totals).toEqual(totals);
});

test('waitForAll names no candidate that is listed no longer', async () => {
  const similar = { ...again({ description: `${salaryOf(1).description} copy` }) };
  const oldest: object[] = [similar];
  const { follow, clock } = setup({ statusAt: () => undefined, oldest });
  const rows = follow([salaryOf(1)], { timeout: 10 * minute });
  clock.setTimeout(() => oldest.splice(0), 5 * minute);
  expect(outline(await rows)).toEqual(['1 missing']);
});

test('waitForAll returns missing for a transfer that disappears from the list', async () => {
  const statusAt: StatusAt = (_, ms) => (ms < 2 * minute ? 'pending' : undefined);
  const { follow } = setup({ statusAt });
  expect(outline(await follow([salaryOf(1)], { timeout: 10 * minute }))).toEqual(['1 missing']);
});
