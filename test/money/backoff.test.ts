import fc from 'fast-check';
import { AbortError, RateLimitError, ServerError, type PaymentsError } from 'payments-platform-sdk';
import { expect, test, vi } from 'vitest';
import { parseRetryAfter } from '../../src/calls/retry.ts';
import { clientAt, clientOf, failureOf, respond } from '../support/clients.ts';
import { calls } from '../support/kinds.ts';
import { closedPort } from '../support/closed-port.ts';
import { errorBody, newTransfer, transfer, transferCreated } from '../support/values.ts';
import { flushPromises, VirtualClock } from '../support/virtual-clock.ts';
import type { RetryEvent } from '../../src/calls/hooks.ts';

interface Course {
  readonly error: PaymentsError;
  /** Milliseconds between one request and the next. */
  readonly gaps: readonly number[];
  readonly elapsed: number;
}

/** Sends one read in virtual time. Each attempt gets the same response. */
async function course(
  status: number,
  headers: Record<string, string>,
  options: { maxRetries?: number; totalTimeout?: number; clock?: VirtualClock } = {},
): Promise<Course> {
  const clock = options.clock ?? new VirtualClock();
  const arrivals: number[] = [];
  const { payments } = clientOf(
    () => {
      arrivals.push(clock.passed);
      return respond(status, errorBody, headers);
    },
    { totalTimeout: 3_600_000, maxRetries: 1, ...options, clock },
  );
  const error = await clock.runTimersDuring(failureOf(payments.transfers.get('txfr_1')));
  const gaps = arrivals.slice(1).map((at, index) => at - (arrivals[index] ?? 0));
  expect(clock.pending).toBe(0);
  return { error, gaps, elapsed: clock.passed };
}

const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test('each wait is random, below a bound doubling up to 8 s', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom([500, 250], [503, 250], [408, 250], [425, 250], [429, 1_000]),
      unit,
      fc.integer({ min: 1, max: 8 }),
      async ([status = 0, base = 0], random, maxRetries) => {
        vi.spyOn(Math, 'random').mockReturnValue(random);
        const { gaps } = await course(status, {}, { maxRetries });
        const expected = Array.from({ length: maxRetries }, (_, index) =>
          Math.ceil(random * Math.min(8_000, base * 2 ** index)),
        );
        // After a 429 the rate limiter may hold a retry back until 200 ms have passed.
        const least = status === 429 ? 200 : 0;
        for (const [index, gap] of gaps.entries()) {
          const wait = expected[index] ?? Number.NaN;
          expect(gap === wait || (gap > wait && gap <= least), `${gap} of ${wait}`).toBe(true);
        }
        expect(gaps).toHaveLength(maxRetries);
      },
    ),
    { numRuns: 40, examples: [[[503, 250], 0.9, 8]] },
  );
});

test('calls that fail at the same time retry at different times', async () => {
  const gaps = new Set<number>();
  for (let caller = 0; caller < 20; caller += 1) {
    for (const gap of (await course(503, {})).gaps) gaps.add(gap);
  }
  expect(gaps.size).toBeGreaterThan(5);
});

test('the wait between attempts is never shorter than Retry-After', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 60_000 }),
      fc.constantFrom(408, 425, 429, 500, 502, 503, 504),
      unit,
      async (ms, status, random) => {
        vi.spyOn(Math, 'random').mockReturnValue(random);
        const base = status === 429 ? 1_000 : 250;
        const { error, gaps } = await course(status, { 'retry-after': String(ms / 1_000) });
        const most = Math.max(base, ms + Math.min(1_000, ms / 10));
        expect(gaps).toHaveLength(1);
        expect(gaps[0]).toBeGreaterThanOrEqual(ms);
        expect(gaps[0]).toBeLessThanOrEqual(Math.ceil(most));
        expect(error).toMatchObject({ retryAfterMs: ms });
      },
    ),
    { numRuns: 60 },
  );
});

const day = 86_400_000;
const httpDate = (ms: number): string => new Date(ms).toUTCString();

test.each([
  ['seconds', { 'retry-after': '7' }, 7_000],
  ['seconds with decimals', { 'retry-after': '1.25' }, 1_250],
  ['0', { 'retry-after': '0' }, 0],
  ['the longest time that the client waits', { 'retry-after': '60' }, 60_000],
])('the client waits for a Retry-After given as %s', async (_, headers, ms) => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  expect((await course(429, headers)).gaps).toEqual([ms]);
});

test.each([-day, -5_000, 0, 5_000, day])(
  'a Retry-After date counts from the header Date (%i ms)',
  async (skew) => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const clock = new VirtualClock();
    const theirs = clock.now() + skew;
    const headers = { date: httpDate(theirs), 'retry-after': httpDate(theirs + 12_000) };
    expect((await course(503, headers, { clock })).gaps).toEqual([12_000]);
  },
);

test('a Retry-After date counts from the local clock without a Date', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  for (const extra of [{}, { date: 'yesterday' }]) {
    const clock = new VirtualClock();
    const headers = { ...extra, 'retry-after': httpDate(clock.now() + 12_000) };
    expect((await course(503, headers, { clock })).gaps).toEqual([12_000]);
  }
});

test('a Retry-After in the past counts as zero', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const clock = new VirtualClock();
  const headers = {
    date: httpDate(clock.now()),
    'retry-after': httpDate(clock.now() - day),
  };
  const { gaps, error } = await course(429, headers, { clock });
  expect(gaps).toEqual([500]);
  expect(error).toMatchObject({ retryAfterMs: 0 });
});

test.each([
  'soon',
  '-1',
  '+1',
  '1e10',
  '1, 2',
  '1;2',
  '0x10',
  '5s',
  'NaN',
  'Infinity',
  '99999999999999999999',
  '1.2345',
  '2026-01-01T00:00:30Z',
  'Thu, 99 Jan 2026 00:00:30 GMT',
  'Thursday, 01-Jan-26 00:00:30 GMT',
])('an invalid Retry-After header counts as absent: %s', async (junk) => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const { gaps, error } = await course(429, { 'retry-after': junk });
  expect(gaps).toEqual([500]);
  expect(error).toMatchObject({ retryAfterMs: undefined });
});

test('parseRetryAfter returns undefined or a finite wait of at least 0', () => {
  const text = fc.oneof(
    fc.string(),
    fc.integer().map(String),
    fc.double().map(String),
    fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
  );
  fc.assert(
    fc.property(text, text, fc.integer(), (value, date, now) => {
      const headers = { get: (name: string) => (name === 'date' ? date : value) };
      const wait = parseRetryAfter(headers as unknown as Headers, now);
      expect(wait === undefined || (Number.isFinite(wait) && wait >= 0)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test.each([
  ['61', 61_000],
  ['3600', 3_600_000],
  ['999999999', 999_999_999_000],
  ['Fri, 31 Dec 9999 23:59:59 GMT', Date.UTC(9999, 11, 31, 23, 59, 59) - Date.UTC(2026, 0, 1)],
])('a call rejects at once if Retry-After is %s, beyond 60 s', async (value, retryAfterMs) => {
  const { error, gaps, elapsed } = await course(429, { 'retry-after': value });
  expect(error).toBeInstanceOf(RateLimitError);
  expect(error).toMatchObject({ retryAfterMs, outcome: 'rejected', retryable: true });
  expect(error.message).toContain('the SDK waits 60000 ms at most');
  expect({ gaps, elapsed }).toEqual({ gaps: [], elapsed: 0 });
});

test('a call rejects at once if Retry-After exceeds totalTimeout', async () => {
  const options = { totalTimeout: 9_000 };
  const { error, gaps, elapsed } = await course(503, { 'retry-after': '10' }, options);
  expect(error).toBeInstanceOf(ServerError);
  expect(error).toMatchObject({ retryAfterMs: 10_000 });
  expect(error.message).toContain('exceed totalTimeout');
  expect({ gaps, elapsed }).toEqual({ gaps: [], elapsed: 0 });
});

test('a creation that receives 503 reports the Retry-After, without a retry', async () => {
  const clock = new VirtualClock();
  const { payments, requests } = clientOf(() => respond(503, errorBody, { 'retry-after': '1' }), {
    clock,
  });
  const error = await clock.runTimersDuring(
    failureOf(payments.transfers.create(newTransfer), ServerError),
  );
  expect(error).toMatchObject({ retryAfterMs: 1_000, outcome: 'unknown', retryable: false });
  expect(requests).toHaveLength(1);
});

test.each([
  ['safe GET', 503, 'unknown'],
  ['once POST', 429, 'rejected'],
] as const)(
  'a call (%s) can be aborted while it waits for a retry',
  async (kind, status, outcome) => {
    vi.spyOn(Math, 'random').mockReturnValue(0.9);
    const clock = new VirtualClock();
    const { payments, requests } = clientOf(() => respond(status, errorBody), { clock });
    const controller = new AbortController();
    const call = failureOf(calls[kind].send(payments, { signal: controller.signal }), AbortError);
    await flushPromises();
    controller.abort('enough');
    expect(await call).toMatchObject({ outcome, cause: 'enough', attempts: [{ status }] });
    expect(requests).toHaveLength(1);
    expect({ pending: clock.pending, elapsed: clock.passed }).toEqual({ pending: 0, elapsed: 0 });
  },
);

test('the retry budget limits 200 calls that fail at the same time', async () => {
  const clock = new VirtualClock();
  const { payments, requests } = clientOf(() => respond(500, errorBody), { clock });
  const errors = await clock.runTimersDuring(
    Promise.all(
      Array.from({ length: 200 }, () => failureOf(payments.transfers.get('txfr_1'), ServerError)),
    ),
  );
  // A third of the 500 tokens is reserved for retries after failures without work, such as a 429.
  expect(requests).toHaveLength(200 + Math.floor((500 - 167) / 14));
  expect(errors.filter((error) => error.message.includes('retry budget')).length).toBeGreaterThan(
    0,
  );

  // A first attempt is never held back, and a clone shares the budget.
  requests.length = 0;
  const clone = payments.withOptions({ maxRetries: 5, apiKey: 'sk_another_tenant' });
  await clock.runTimersDuring(failureOf(payments.transfers.get('txfr_1')));
  await clock.runTimersDuring(failureOf(clone.transfers.get('txfr_1')));
  expect(requests).toHaveLength(2);
});

test('a retry that succeeds returns its tokens to the retry budget', async () => {
  const clock = new VirtualClock();
  const { payments, requests } = clientOf(
    (_, __, count) => (count % 2 === 1 ? respond(503) : respond(200, transfer)),
    { clock },
  );
  for (let turn = 0; turn < 60; turn += 1)
    await clock.runTimersDuring(payments.transfers.get('txfr_1'));
  expect(requests).toHaveLength(120);
});

test('an empty retry budget regains one token for each successful call', async () => {
  const clock = new VirtualClock();
  let good = false;
  const { payments, requests } = clientOf(
    () => (good ? respond(200, transfer) : respond(500, errorBody)),
    { clock },
  );
  const ask = () => clock.runTimersDuring(payments.transfers.get('txfr_1').catch(() => undefined));
  for (let turn = 0; turn < 20; turn += 1) await ask();
  const requestsOf = async (): Promise<number> => {
    const before = requests.length;
    await ask();
    return requests.length - before;
  };
  // After 23 retries of 14 tokens 11 spendable tokens remain.
  expect(await requestsOf()).toBe(1);
  good = true;
  for (let turn = 0; turn < 2; turn += 1) await ask();
  good = false;
  expect(await requestsOf()).toBe(1);
  good = true;
  await ask();
  good = false;
  expect(await requestsOf()).toBe(2);
});

test('successful calls do not raise the retry budget above its size', async () => {
  const spendAll = async (successes: number): Promise<number> => {
    let isDown = false;
    let requests = 0;
    const clock = new VirtualClock();
    const { payments } = clientOf(
      () => {
        requests += 1;
        return isDown ? respond(503, errorBody) : respond(200, transfer);
      },
      { clock },
    );
    for (let call = 0; call < successes; call += 1) await payments.transfers.get('txfr_1');
    [isDown, requests] = [true, 0];
    const calls = Array.from({ length: 100 }, () => failureOf(payments.transfers.get('txfr_1')));
    await clock.runTimersDuring(Promise.all(calls));
    return requests;
  };
  expect(await spendAll(200)).toBe(await spendAll(0));
});

test('a retry after ECONNREFUSED or 429 costs 5 retry budget tokens', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  const payments = clientAt(closedPort);
  let attempts = 0;
  for (let turn = 0; turn < 60; turn += 1) {
    attempts += (await failureOf(payments.transfers.get('txfr_1'))).attempts.length;
  }
  expect(attempts).toBe(60 + 500 / 5);

  const clock = new VirtualClock();
  const { payments: throttled, requests } = clientOf(() => respond(429, errorBody), { clock });
  for (let turn = 0; turn < 60; turn += 1) {
    await clock.runTimersDuring(failureOf(throttled.transfers.create(newTransfer), RateLimitError));
  }
  expect(requests).toHaveLength(60 + 500 / 5);
});

test('the hook onRetry reports a wait before the wait starts', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const clock = new VirtualClock();
  const events: RetryEvent[] = [];
  const { payments } = clientOf(
    (_, __, count) => (count < 3 ? respond(429, errorBody) : respond(201, transferCreated)),
    {
      clock,
      hooks: {
        onRetry: (event) => {
          events.push({ ...event, reason: `${event.reason}, at ${clock.passed}` });
        },
      },
    },
  );
  await clock.runTimersDuring(payments.transfers.create(newTransfer));
  const number = events[0]?.call;
  const call = { operation: 'transfers.create', method: 'POST', path: '/transfers', call: number };
  expect(number).toBeGreaterThan(0);
  expect(events).toEqual([
    { ...call, attempt: 2, delayMs: 500, reason: 'status 429, at 0' },
    { ...call, attempt: 3, delayMs: 1_000, reason: 'status 429, at 500' },
  ]);
});
