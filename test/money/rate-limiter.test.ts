import fc from 'fast-check';
import {
  AbortError,
  RateLimitError,
  type ClientOptions,
  type PaymentsClient,
} from 'payments-platform-sdk';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { clientOf, failureOf, respond } from '../support/clients.ts';
import { errorBody, newTransfer, transfer, transferCreated } from '../support/values.ts';
import { flushPromises, VirtualClock } from '../support/virtual-clock.ts';

// The effect of a 429 on the other calls of the client, in virtual time.

const throttled = (retryAfter?: string): Response =>
  respond(429, errorBody, retryAfter === undefined ? {} : { 'retry-after': retryAfter });
const good = (request: Request): Response =>
  request.method === 'POST' ? respond(201, transferCreated) : respond(200, transfer);

interface Setup {
  readonly clock: VirtualClock;
  readonly payments: PaymentsClient;
  /** When each request arrived. */
  readonly arrivals: number[];
}
import { defaultTotalTimeout } from '../../src/calls/options.ts';
import type { WaitEvent } from '../../src/calls/hooks.ts';

/**
 * A client whose requests receive `response(count, now)`, where `count` begins with 1 and undefined
 * stands for a success.
 */
function setup(
  response: (count: number, now: number) => Response | undefined,
  options: ClientOptions = {},
): Setup {
  const clock = new VirtualClock();
  const arrivals: number[] = [];
  const { payments } = clientOf(
    (request) => {
      arrivals.push(clock.passed);
      return response(arrivals.length, clock.passed) ?? good(request);
    },
    { clock, ...options },
  );
  return { clock, payments, arrivals };
}
const once = (response: Response) => (count: number) => (count === 1 ? response : undefined);
const read = (payments: PaymentsClient) => payments.transfers.get('txfr_1');

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
});

describe('a response with status 429 and Retry-After', () => {
  test('holds back every later call until the Retry-After is over', async () => {
    const { clock, payments, arrivals } = setup(once(throttled('5')));
    const first = read(payments);
    await flushPromises();
    const others = Array.from({ length: 20 }, () => read(payments));
    await clock.advance(4_999);
    expect(arrivals).toEqual([0]);
    await clock.advance(5_000);
    await Promise.all([first, ...others]);
    expect(arrivals).toHaveLength(22);
    expect(arrivals[1]).toBeGreaterThanOrEqual(5_000);
  });

  test('releases waiting calls one after another', async () => {
    const { clock, payments, arrivals } = setup(once(throttled('1')), { maxRetries: 0 });
    void read(payments).catch(() => undefined);
    await flushPromises();
    const others = Array.from({ length: 5 }, () => read(payments));
    await clock.advance(2_000);
    await Promise.all(others);
    const gaps = arrivals.slice(2).map((at, index) => at - (arrivals[index + 1] ?? 0));
    expect(gaps).toHaveLength(4);
    for (const gap of gaps) expect(gap).toBeGreaterThan(2);
  });

  test('holds calls back until the longest Retry-After of several is over', async () => {
    for (const waits of [
      ['3', '1'],
      ['1', '3'],
    ]) {
      const { clock, payments, arrivals } = setup((count) => {
        const wait = waits[count - 1];
        return wait === undefined ? undefined : throttled(wait);
      });
      const calls = [read(payments), read(payments)];
      await flushPromises();
      const third = read(payments);
      await clock.advance(2_999);
      // The call that received a Retry-After of one second is held back, too.
      expect(arrivals).toEqual([0, 0]);
      await clock.advance(3_000);
      await Promise.all([...calls, third]);
    }
  });

  test('holds calls back for at most a minute', async () => {
    const { clock, payments, arrivals } = setup(once(throttled('3600')), {
      timeout: 90_000,
    });
    await failureOf(read(payments), RateLimitError);
    const next = read(payments);
    await clock.advance(60_000);
    await next;
    expect(arrivals).toEqual([0, 60_000]);
  });
});

describe('a call that the rate limiter holds back', () => {
  test('rejects at once with a RateLimitError if its deadline is short', async () => {
    const { payments, arrivals } = setup(once(throttled('30')), { maxRetries: 0 });
    await failureOf(read(payments), RateLimitError);
    const error = await failureOf(
      payments.transfers.create(newTransfer, { totalTimeout: 10_000 }),
      RateLimitError,
    );
    expect(error).toMatchObject({
      outcome: 'not_sent',
      retryable: true,
      retryAfterMs: 30_000,
      status: 429,
      code: errorBody.code,
      operation: 'transfers.create',
      attempts: [],
    });
    expect(error.message).toBe(
      [
        'The platform asked this client to slow down (429), and this call may not wait so long.',
        'Call again in 30000 ms (retryAfterMs).',
        'Nothing was sent.',
        'Request: POST https://api.example.com/v0/transfers (transfers.create).',
      ].join('\n'),
    );
    expect(arrivals).toHaveLength(1);
  });

  test('never waits for longer than its own timeout', async () => {
    const { payments } = setup(once(throttled('40')), { maxRetries: 0, timeout: 30_000 });
    await failureOf(read(payments), RateLimitError);
    await failureOf(read(payments), RateLimitError);
  });

  /** The response to the first call is held back, and the second call gets a 429. */
  const holdFirst = async () => {
    const held = Promise.withResolvers<Response>();
    const clock = new VirtualClock();
    let count = 0;
    const respond = (request: Request) => {
      count += 1;
      if (count === 1) return held.promise;
      return count === 2 ? throttled('2') : good(request);
    };
    const { payments } = clientOf(respond, { clock, maxRetries: 0 });
    const slow = failureOf(read(payments), RateLimitError);
    await flushPromises();
    await failureOf(read(payments), RateLimitError);
    return { held, clock, payments, slow };
  };

  test('rejects with a RateLimitError if another 429 exceeds its totalTimeout', async () => {
    const { held, payments, slow } = await holdFirst();
    const waiting = failureOf(
      payments.transfers.get('txfr_1', { totalTimeout: 5_000 }),
      RateLimitError,
    );
    await flushPromises();
    held.resolve(throttled('20'));
    expect(await waiting).toMatchObject({ outcome: 'not_sent', retryAfterMs: 20_000 });
    await slow;
  });

  test('rejects at once if earlier calls leave it no time', async () => {
    const { held, clock, payments, slow } = await holdFirst();
    const before = [read(payments), read(payments)];
    const last = failureOf(payments.transfers.get('txfr_1', { totalTimeout: 4_005 }));
    await flushPromises();
    held.resolve(throttled('4'));
    await slow;
    expect(await last).toBeInstanceOf(RateLimitError);
    expect(clock.passed).toBe(0);
    await clock.advance(5_000);
    await Promise.all(before);
  });

  test('is reported to onWait with its duration and reason', async () => {
    const events: WaitEvent[] = [];
    const { clock, payments } = setup(once(throttled('5')), {
      maxRetries: 0,
      hooks: { onWait: (event) => events.push(event) },
    });
    await failureOf(read(payments), RateLimitError);
    const next = read(payments);
    await clock.advance(5_000);
    await next;
    expect(events).toEqual([
      {
        operation: 'transfers.get',
        method: 'GET',
        path: '/transfers/{id}',
        call: expect.any(Number),
        attempt: 1,
        delayMs: 5_000,
        reason: 'the platform responded with 429',
      },
    ]);
  });

  test('can be aborted, which sends nothing and leaves no timer', async () => {
    const { clock, payments, arrivals } = setup(once(throttled('5')), { maxRetries: 0 });
    await failureOf(read(payments), RateLimitError);
    const caller = new AbortController();
    const waiting = failureOf(
      payments.transfers.create(newTransfer, { signal: caller.signal }),
      AbortError,
    );
    await flushPromises();
    caller.abort();
    expect(await waiting).toMatchObject({ outcome: 'not_sent' });
    expect(clock.pending).toBe(0);
    expect(arrivals).toHaveLength(1);
  });

  test('is not sent if the machine was suspended past its deadline', async () => {
    const { clock, payments, arrivals } = setup(once(throttled('5')), { maxRetries: 0 });
    await failureOf(read(payments), RateLimitError);
    const waiting = failureOf(payments.transfers.create(newTransfer));
    await flushPromises();
    clock.jump(defaultTotalTimeout + 80_000);
    await clock.advance(1_000);
    expect(await waiting).toMatchObject({ outcome: 'not_sent' });
    expect(arrivals).toHaveLength(1);
  });
});

test('an abort of a waiting call lets the next call be sent', async () => {
  const { clock, payments, arrivals } = setup(once(throttled('5')), { maxRetries: 0 });
  await failureOf(read(payments), RateLimitError);
  const caller = new AbortController();
  const first = failureOf(payments.transfers.get('txfr_1', { signal: caller.signal }), AbortError);
  const second = read(payments);
  await flushPromises();
  caller.abort();
  await first;
  await clock.advance(5_000);
  await second;
  expect(arrivals).toEqual([0, 5_000]);
});

test('status 503 does not make the rate limiter hold calls back', async () => {
  const { payments, arrivals } = setup(once(respond(503, errorBody)), { maxRetries: 0 });
  await failureOf(read(payments));
  await read(payments);
  expect(arrivals).toEqual([0, 0]);
});

test('a pause after status 429 applies only to its credential and URL', async () => {
  const { payments, arrivals } = setup(once(throttled('5')), { maxRetries: 0 });
  await failureOf(read(payments), RateLimitError);
  await read(payments.withOptions({ apiKey: 'sk_another' }));
  await read(payments.withOptions({ baseUrl: 'https://elsewhere.example.com/v0' }));
  expect(arrivals).toEqual([0, 0, 0]);
  const same = payments.withOptions({ timeout: 1_000 });
  await failureOf(read(same), RateLimitError);
  expect(arrivals).toEqual([0, 0, 0]);
});

test.each([
  ['429s of requests that ran at the same time lengthen the pause once', [50, 60, 70], 10],
  ['a 429 of a request that was sent after another 429 lengthens the pause', [0, 0], 15],
])('%s', async (_, times, pause) => {
  const clock = new VirtualClock();
  const arrivals: number[] = [];
  const { payments } = clientOf(
    (request) => {
      const ms = times[arrivals.push(clock.passed) - 1];
      if (ms === undefined) return good(request);
      if (ms === 0) return throttled();
      return new Promise<Response>((resolve) => {
        clock.setTimeout(() => {
          resolve(throttled());
        }, ms);
      });
    },
    { clock, maxRetries: 0 },
  );
  const refuse = () => failureOf(read(payments), RateLimitError);
  if (times[0] === 0) for (const _ of times) await refuse();
  else await clock.runTimersDuring(Promise.all(times.map(refuse)));
  const others = Array.from({ length: 3 }, () => read(payments));
  await clock.advance(1_000);
  await Promise.all(others);
  const [before = 0, last = 0] = arrivals.slice(-2);
  expect(Math.abs(last - before - pause)).toBeLessThan(1);
});

test('a creation is resent once after the pause of status 429', async () => {
  const { clock, payments, arrivals } = setup(once(throttled('5')));
  const created = payments.transfers.create(newTransfer);
  await clock.advance(6_000);
  expect(await created).toEqual(transferCreated);
  expect(arrivals).toEqual([0, 5_000]);
});

test('the limiter is at full speed a minute after status 429', async () => {
  const { clock, payments, arrivals } = setup((count) => (count <= 3 ? throttled() : undefined), {
    maxRetries: 0,
  });
  for (let call = 0; call < 3; call += 1) {
    const refused = failureOf(read(payments), RateLimitError);
    await clock.advance(100);
    await refused;
  }
  await clock.advance(60_000);
  await Promise.all(Array.from({ length: 50 }, () => read(payments)));
  expect(new Set(arrivals.slice(3)).size).toBe(1);
});

// Like nginx limit_req without burst, which sends no Retry-After and rejects each request that
// comes sooner after the last accepted request than the rate allows.
test.each([
  [20, 16],
  [20, 64],
  [5, 16],
  [100, 16],
])('the limiter reaches half of %d calls per second with %d workers', async (rate, workers) => {
  vi.mocked(Math.random).mockRestore();
  let accepted = 0;
  let last = Number.NEGATIVE_INFINITY;
  const { clock, payments, arrivals } = setup((_, now) => {
    if (now - last < 1_000 / rate) return throttled();
    last = now;
    accepted += 1;
    return undefined;
  });
  let isOver = false;
  const work = async (): Promise<void> => {
    while (!isOver) {
      // A round trip takes time.
      await new Promise<void>((resolve) => void clock.setTimeout(resolve, 4));
      await payments.transfers.create(newTransfer).catch(() => undefined);
    }
  };
  const working = Array.from({ length: workers }, work);
  await clock.advance(10_000);
  isOver = true;
  expect(accepted / 10).toBeGreaterThanOrEqual(rate / 2);
  expect(arrivals.length / accepted).toBeLessThan(2);
  await clock.advance(60_000);
  await Promise.all(working);
});

test('no call is released during the pause after status 429', async () => {
  const plan = fc.record({
    comes: fc.nat(400),
    // A 429 with a Retry-After in seconds, a 429 without one, or a success.
    ends: fc.oneof(fc.constantFrom('0', '1', '2'), fc.constant(undefined), fc.constant('ok')),
    totalTimeout: fc.oneof(fc.integer({ min: 1, max: 3_000 }), fc.constant(100_000)),
    leaves: fc.option(fc.nat(1_500), { nil: undefined, freq: 4 }),
  });
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(plan, { minLength: 1, maxLength: 10 }), async (plans) => {
      let closedUntil = 0;
      const early: number[] = [];
      const ends = [...plans];
      const { clock, payments } = setup((_, now) => {
        if (now < closedUntil) early.push(now);
        const { ends: end = '' } = ends.shift() ?? {};
        if (end === 'ok') return undefined;
        if (end !== '') closedUntil = Math.max(closedUntil, now + Number(end) * 1_000);
        return throttled(end === '' ? undefined : end);
      });
      let open = plans.length;
      for (const { comes, totalTimeout, leaves } of plans) {
        clock.setTimeout(() => {
          const caller = new AbortController();
          if (leaves !== undefined) clock.setTimeout(() => caller.abort(), leaves);
          void payments.transfers
            .get('txfr_1', { totalTimeout, signal: caller.signal })
            .then(
              () => 'ok',
              (error: unknown) => (error as Error).name,
            )
            .then((end) => {
              seen.add(end);
              open -= 1;
            });
        }, comes);
      }
      await clock.advance(200_000);
      expect([open, early, clock.pending]).toEqual([0, [], 0]);
    }),
    { numRuns: 60 },
  );
  // A run in which no call is held back would prove nothing.
  expect([...seen]).toEqual(expect.arrayContaining(['AbortError', 'RateLimitError', 'ok']));
});
