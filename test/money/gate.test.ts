import {
  AbortError,
  RateLimitError,
  TimeoutError,
  type ClientOptions,
  type PaymentsClient,
} from 'payments-platform-sdk';
import { beforeEach, expect, test, vi } from 'vitest';
import { clientOf, failureOf, respond } from '../support/clients.ts';
import { address, errorBody, newTransfer, transfer, transferCreated } from '../support/values.ts';
import { settle, VirtualClock } from '../support/virtual-clock.ts';

const throttled = (retryAfter?: string): Response =>
  respond(429, errorBody, retryAfter === undefined ? {} : { 'retry-after': retryAfter });

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
});

/** A client in virtual time whose requests wait until the test answers them. */
function heldClient(options: ClientOptions = {}): {
  clock: VirtualClock;
  payments: PaymentsClient;
  /** When each request arrived. */
  arrivals: number[];
  /** Answers the oldest request that waits. */
  answerNext: (response: Response) => Promise<void>;
  /** Answers every request that waits, and those to come, with success. */
  open: () => Promise<void>;
} {
  const clock = new VirtualClock();
  const arrivals: number[] = [];
  const waiting: { request: Request; resolve: (response: Response) => void }[] = [];
  let isOpen = false;
  const good = (request: Request): Response =>
    request.url.includes('/transfers') ? respond(200, transfer) : respond(200, []);
  const { payments } = clientOf(
    (request) => {
      arrivals.push(clock.passed);
      if (isOpen) return good(request);
      return new Promise((resolve) => {
        waiting.push({ request, resolve });
      });
    },
    { clock, ...options },
  );
  return {
    clock,
    payments,
    arrivals,
    answerNext: async (response) => {
      waiting.shift()?.resolve(response);
      await settle();
    },
    open: async () => {
      isOpen = true;
      for (const { request, resolve } of waiting.splice(0)) resolve(good(request));
      await settle();
    },
  };
}

const get = (payments: PaymentsClient): Promise<unknown> => payments.transfers.get('txfr_1');

/** Closes the gate of a client with one call that is not sent again. */
async function close(
  { payments, answerNext }: ReturnType<typeof heldClient>,
  retryAfter: string,
): Promise<void> {
  const first = failureOf(payments.transfers.get('txfr_1', { maxRetries: 0 }), RateLimitError);
  await settle();
  await answerNext(throttled(retryAfter));
  await first;
}

test('after a 429 a hundred callers wait for its time, then one goes first', async () => {
  const held = heldClient();
  const { clock, payments, arrivals, answerNext, open } = held;
  await close(held, '10');
  const callers = Array.from({ length: 100 }, () => get(payments));
  await clock.advance(9_999);
  expect(arrivals).toEqual([0]);
  await clock.advance(1);
  expect(arrivals).toEqual([0, 10_000]);
  // The probe is on its way, and nobody follows before it has been answered.
  await clock.advance(3_000);
  expect(arrivals).toHaveLength(2);
  await answerNext(respond(200, transfer));
  expect(arrivals).toHaveLength(101);
  await open();
  expect(await Promise.all(callers)).toHaveLength(100);
  expect(clock.pending).toBe(0);
});

test('a probe that is refused closes the gate again', async () => {
  const held = heldClient({ maxRetries: 0 });
  const { clock, payments, arrivals, answerNext, open } = held;
  await close(held, '10');
  const probe = failureOf(get(payments), RateLimitError);
  const callers = Array.from({ length: 20 }, () => get(payments));
  await clock.advance(10_000);
  await answerNext(throttled('5'));
  await probe;
  await clock.advance(4_999);
  expect(arrivals).toEqual([0, 10_000]);
  await clock.advance(1);
  expect(arrivals).toEqual([0, 10_000, 15_000]);
  await open();
  expect(await Promise.all(callers)).toHaveLength(20);
});

test('a hundred callers who are refused together come back one first', async () => {
  const { clock, payments, arrivals, answerNext, open } = heldClient({ maxRetries: 1 });
  const callers = Array.from({ length: 100 }, () => get(payments));
  await settle();
  expect(arrivals).toHaveLength(100);
  for (let caller = 0; caller < 100; caller += 1) await answerNext(throttled('2'));
  await clock.advance(1_999);
  expect(arrivals).toHaveLength(100);
  await clock.advance(1);
  expect(arrivals).toHaveLength(101);
  await open();
  expect(await Promise.all(callers)).toHaveLength(100);
  expect(arrivals).toHaveLength(200);
});

test('a probe that succeeds does not undercut what another call was told meanwhile', async () => {
  const { clock, payments, arrivals, answerNext, open } = heldClient({ maxRetries: 0 });
  const first = failureOf(get(payments), RateLimitError);
  const slow = failureOf(get(payments), RateLimitError);
  await settle();
  await answerNext(throttled('1'));
  await first;
  const probe = get(payments);
  await clock.advance(1_000);
  expect(arrivals).toEqual([0, 0, 1_000]);
  await answerNext(throttled('30'));
  await slow;
  await answerNext(respond(200, transfer));
  await probe;
  const later = get(payments);
  await clock.advance(29_999);
  expect(arrivals).toHaveLength(3);
  await clock.advance(1);
  expect(arrivals).toEqual([0, 0, 1_000, 31_000]);
  await open();
  await later;
});

test('of two 429s the longer wait counts, whichever comes last', async () => {
  for (const [one, other] of [
    ['30', '1'],
    ['1', '30'],
  ] as const) {
    const { clock, payments, arrivals, answerNext, open } = heldClient({ maxRetries: 0 });
    const refused = [get(payments), get(payments)].map((call) => failureOf(call, RateLimitError));
    await settle();
    await answerNext(throttled(one));
    await answerNext(throttled(other));
    await Promise.all(refused);
    const later = get(payments);
    await clock.advance(29_999);
    expect(arrivals).toHaveLength(2);
    await clock.advance(1);
    expect(arrivals).toHaveLength(3);
    await open();
    await later;
  }
});

test('a 429 without a Retry-After holds back for a second at most', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.999);
  const { clock, payments, arrivals, answerNext, open } = heldClient({ maxRetries: 0 });
  const first = failureOf(get(payments), RateLimitError);
  await settle();
  await answerNext(throttled());
  await first;
  const second = get(payments);
  await clock.advance(998);
  expect(arrivals).toEqual([0]);
  await clock.advance(1);
  expect(arrivals).toEqual([0, 999]);
  await open();
  await second;
});

test('a Retry-After beyond a minute holds back for a minute', async () => {
  const held = heldClient();
  await close(held, '3600');
  const call = get(held.payments);
  await held.clock.advance(60_000);
  expect(held.arrivals).toEqual([0, 60_000]);
  await held.open();
  await call;
});

test('a call that may not last until the gate opens is told so at once', async () => {
  const held = heldClient({ totalTimeout: 9_000 });
  await close(held, '10');
  const error = await failureOf(held.payments.transfers.create(newTransfer), TimeoutError);
  expect(error).toMatchObject({
    phase: 'gate',
    outcome: 'not_sent',
    retryAfterMs: 10_000,
    retryable: true,
    attempts: [],
  });
  expect(held.clock.passed).toBe(0);
  expect(held.clock.pending).toBe(0);
  expect(held.arrivals).toHaveLength(1);
});

test('a call whose time runs out behind a slow probe was not sent', async () => {
  const held = heldClient();
  await close(held, '10');
  const probe = get(held.payments);
  const waiting = failureOf(
    held.payments.transfers.create(newTransfer, { totalTimeout: 12_000 }),
    TimeoutError,
  );
  await held.clock.advance(12_000);
  expect(await waiting).toMatchObject({ phase: 'total', outcome: 'not_sent', attempts: [] });
  await held.open();
  await probe;
  expect(held.arrivals).toHaveLength(2);
});

test('a wait at the gate can be aborted', async () => {
  const held = heldClient();
  await close(held, '10');
  const controller = new AbortController();
  const probe = get(held.payments);
  const options = { signal: controller.signal };
  const call = failureOf(held.payments.transfers.create(newTransfer, options), AbortError);
  await settle();
  controller.abort('enough');
  expect(await call).toMatchObject({ outcome: 'not_sent', cause: 'enough', attempts: [] });

  // The same behind the probe.
  await held.clock.advance(10_000);
  const second = new AbortController();
  const behind = failureOf(
    held.payments.transfers.create(newTransfer, { signal: second.signal }),
    AbortError,
  );
  await settle();
  second.abort();
  expect(await behind).toMatchObject({ outcome: 'not_sent', attempts: [] });
  await held.open();
  await probe;
  expect(held.arrivals).toHaveLength(2);
});

test('other failures do not close the gate', async () => {
  const { payments, arrivals, answerNext, open } = heldClient({ maxRetries: 0 });
  for (const status of [408, 425, 500, 503]) {
    const failed = failureOf(get(payments));
    await settle();
    await answerNext(respond(status, errorBody, { 'retry-after': '30' }));
    await failed;
  }
  const call = get(payments);
  await settle();
  expect(arrivals).toEqual([0, 0, 0, 0, 0]);
  await open();
  await call;
});

test('a probe that fails in another way opens the gate', async () => {
  const held = heldClient({ maxRetries: 0 });
  await close(held, '10');
  const probe = failureOf(get(held.payments));
  const callers = [get(held.payments), get(held.payments)];
  await held.clock.advance(10_000);
  await held.answerNext(respond(500, errorBody));
  await probe;
  expect(held.arrivals).toHaveLength(4);
  await held.open();
  await Promise.all(callers);
});

test('the pause belongs to the credential and the address it was told to', async () => {
  const held = heldClient({ maxRetries: 0 });
  await close(held, '10');
  const { payments, arrivals } = held;
  const calls = [
    get(payments.withOptions({ apiKey: 'sk_another_tenant' })),
    get(payments.withOptions({ baseUrl: 'https://eu.example.com/v0' })),
    payments.instructions.list({ address }),
  ];
  await settle();
  expect(arrivals).toHaveLength(4);

  const held10s = [
    get(payments),
    get(payments.withOptions({})),
    get(payments.withOptions({ timeout: 5_000, maxRetries: 1, headers: { 'x-tenant': '1' } })),
    get(payments.withOptions({ jwt: 'another.jwt.x' })),
    get(payments.withOptions({}).withOptions({ validation: 'report' })),
  ];
  await settle();
  expect(arrivals).toHaveLength(4);
  await held.open();
  await held.clock.advance(10_000);
  await Promise.all([...calls, ...held10s]);
  expect(arrivals).toHaveLength(9);
});

test('a refused creation is sent again at the gate’s time, once', async () => {
  const { clock, payments, arrivals, answerNext } = heldClient();
  const call = payments.transfers.create(newTransfer);
  await settle();
  await answerNext(throttled('10'));
  await clock.advance(10_000);
  expect(arrivals).toEqual([0, 10_000]);
  await answerNext(respond(201, transferCreated));
  expect(await call).toEqual(transferCreated);
});

test('a probe without an answer opens nothing: the next in line takes its place', async () => {
  const held = heldClient({ maxRetries: 0 });
  const { clock, payments, arrivals, answerNext, open } = held;
  await close(held, '10');
  const caller = new AbortController();
  const aborted = failureOf(
    payments.transfers.get('txfr_1', { signal: caller.signal }),
    AbortError,
  );
  const late = failureOf(payments.transfers.get('txfr_1', { timeout: 5_000 }), TimeoutError);
  const callers = Array.from({ length: 20 }, () => get(payments));
  await clock.advance(10_000);
  expect(arrivals).toEqual([0, 10_000]);
  caller.abort();
  await aborted;
  await settle();
  expect(arrivals).toEqual([0, 10_000, 10_000]);
  await clock.advance(5_000);
  expect(await late).toMatchObject({ phase: 'headers' });
  expect(arrivals).toEqual([0, 10_000, 10_000, 15_000]);
  // Somebody who comes now stands behind the others.
  const last = get(payments);
  await settle();
  expect(arrivals).toHaveLength(4);
  // Those two are still held by the test.
  await answerNext(respond(200, transfer));
  await answerNext(respond(200, transfer));
  expect(arrivals).toHaveLength(4);
  await answerNext(respond(200, transfer));
  expect(arrivals).toHaveLength(24);
  await open();
  await Promise.all([...callers, last]);
  expect(clock.pending).toBe(0);
});

test('without anybody in line, the next call after an aborted probe is the probe', async () => {
  const held = heldClient({ maxRetries: 0 });
  await close(held, '10');
  await held.clock.advance(10_000);
  const caller = new AbortController();
  const probe = failureOf(held.payments.transfers.get('txfr_1', { signal: caller.signal }));
  await settle();
  caller.abort();
  await probe;
  const calls = [get(held.payments), get(held.payments)];
  await settle();
  expect(held.arrivals).toHaveLength(3);
  await held.open();
  await Promise.all(calls);
  expect(held.arrivals).toHaveLength(4);
});

test('when more are refused than answered, fewer follow the next time, and few stand in line', async () => {
  const held = heldClient({ maxRetries: 0 });
  const { clock, payments, arrivals, answerNext, open } = held;
  await close(held, '10');
  const first = Array.from({ length: 10 }, () => get(payments).catch((error: unknown) => error));
  await clock.advance(10_000);
  await answerNext(respond(200, transfer));
  expect(arrivals).toHaveLength(11);
  await answerNext(respond(200, transfer));
  for (let refused = 0; refused < 8; refused += 1) await answerNext(throttled('10'));
  await Promise.all(first);

  // Nine followed the probe; one was answered, eight were refused: two may follow, six may wait.
  const next = Array.from({ length: 20 }, () => get(payments).catch((error: unknown) => error));
  await settle();
  const turnedAway = (await Promise.all(next.slice(6))) as TimeoutError[];
  expect(turnedAway).toHaveLength(14);
  for (const error of turnedAway) {
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({
      phase: 'gate',
      outcome: 'not_sent',
      retryable: true,
      retryAfterMs: 10_000,
      attempts: [],
    });
  }
  await clock.advance(10_000);
  expect(arrivals).toHaveLength(12);
  await answerNext(respond(200, transfer));
  // The probe was answered, too: three.
  expect(arrivals).toHaveLength(15);
  for (let waiting = 0; waiting < 5; waiting += 1) await answerNext(respond(200, transfer));
  expect(await Promise.all(next.slice(0, 6))).toEqual(Array(6).fill(transfer));
  expect(arrivals).toHaveLength(17);

  // All is well again, and what was is forgotten.
  await close(held, '10');
  const again = Array.from({ length: 50 }, () => get(payments));
  await clock.advance(10_000);
  await open();
  expect(await Promise.all(again)).toHaveLength(50);
  expect(clock.pending).toBe(0);
});

test('a line that has become too long for the pace is cut from its end', async () => {
  const held = heldClient({ maxRetries: 0 });
  const { clock, payments, arrivals, answerNext, open } = held;
  await close(held, '10');
  const refused = Array.from({ length: 10 }, () => get(payments).catch((error: unknown) => error));
  await clock.advance(10_000);
  await answerNext(respond(200, transfer));
  const outcomes: string[] = [];
  const behind = Array.from({ length: 10 }, (_, place) =>
    get(payments).then(
      () => outcomes.push(`${place} served`),
      (error: unknown) => outcomes.push(`${place} ${(error as TimeoutError).phase}`),
    ),
  );
  await settle();
  expect(arrivals).toHaveLength(11);
  for (let count = 0; count < 9; count += 1) await answerNext(throttled('10'));
  await Promise.all(refused);
  expect(outcomes.toSorted()).toEqual([3, 4, 5, 6, 7, 8, 9].map((place) => `${place} gate`));
  await clock.advance(10_000);
  await open();
  await Promise.all(behind);
  expect(outcomes.slice(7)).toEqual(['0 served', '1 served', '2 served']);
});

test('who turns up while the gate is ajar and the line is full is told the last pause', async () => {
  const held = heldClient({ maxRetries: 0 });
  const { clock, payments, arrivals, answerNext, open } = held;
  await close(held, '10');
  const first = Array.from({ length: 3 }, () => get(payments).catch((error: unknown) => error));
  await clock.advance(10_000);
  await answerNext(respond(200, transfer));
  await answerNext(throttled('10'));
  await answerNext(throttled('10'));
  await Promise.all(first);
  // Room for one at a time, and three in line.
  const next = Array.from({ length: 3 }, () => get(payments));
  await clock.advance(10_000);
  const fourth = get(payments);
  await settle();
  expect(arrivals).toHaveLength(5);
  expect(await failureOf(payments.transfers.get('txfr_1'), TimeoutError)).toMatchObject({
    phase: 'gate',
    retryAfterMs: 10_000,
  });
  await open();
  await Promise.all([...next, fourth]);
});

test.each([0, 3_600_000])(
  'those who cannot wait for a second pause are told when it begins, after %i ms of life',
  async (age) => {
    const held = heldClient({ maxRetries: 0 });
    const { clock, payments, answerNext, open } = held;
    await clock.advance(age);
    await close(held, '10');
    const probe = failureOf(get(payments), RateLimitError);
    const hasty = failureOf(
      payments.transfers.get('txfr_1', { totalTimeout: 15_000 }),
      TimeoutError,
    );
    const patient = get(payments);
    await clock.advance(10_000);
    await answerNext(throttled('10'));
    await probe;
    expect(await hasty).toMatchObject({ phase: 'gate', retryAfterMs: 10_000, outcome: 'not_sent' });
    expect(clock.passed).toBe(age + 10_000);
    await clock.advance(10_000);
    await open();
    await patient;
    expect(clock.pending).toBe(0);
  },
);

test('a machine that slept past a deadline does not send what stood at the gate', async () => {
  const held = heldClient({ maxRetries: 0 });
  const { clock, payments, arrivals, open } = held;
  await close(held, '10');
  const stale = failureOf(
    payments.transfers.create(newTransfer, { totalTimeout: 20_000 }),
    TimeoutError,
  );
  const fresh = get(payments);
  await settle();
  clock.jump(60_000);
  await clock.advance(0);
  expect(await stale).toMatchObject({ phase: 'total', outcome: 'not_sent', attempts: [] });
  expect(arrivals).toEqual([0, 60_000]);
  await open();
  await fresh;
});

test('a probe that breaks on the caller’s own clock does not leave the gate shut', async () => {
  const held = heldClient({ maxRetries: 0 });
  const { clock, payments, arrivals, open } = held;
  await close(held, '10');
  await clock.advance(10_000);
  const now = vi.spyOn(clock, 'now').mockImplementation(() => {
    throw new Error('no clock');
  });
  await expect(get(payments)).rejects.toThrow();
  now.mockRestore();
  const next = get(payments);
  await settle();
  expect(arrivals).toHaveLength(2);
  await open();
  await next;
});

test('a 429 on a write is a refusal, also for a clock that minds what it is given', async () => {
  const { payments } = clientOf(() => throttled('1'), { clock: new VirtualClock(), maxRetries: 0 });
  const failed = await failureOf(payments.transfers.create(newTransfer), RateLimitError);
  expect(failed.outcome).toBe('rejected');
});
