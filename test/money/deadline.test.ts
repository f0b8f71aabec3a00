import { getEventListeners, once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import {
  AbortError,
  BadRequestError,
  ConnectionError,
  PaymentsClient,
  PaymentsError,
  ApiError,
  TimeoutError,
  type ClientOptions,
  type Clock,
} from 'payments-platform-sdk';
import { expect, onTestFinished, test, vi } from 'vitest';
import { apiKey, clientAt, clientOf, failureOf, respond } from '../support/clients.ts';
import { calls, kinds } from '../support/kinds.ts';
import { responseBytes, type RawServer } from '../support/loopback.ts';
import { headersReceived, rawServer } from '../support/raw-server.ts';
import { closedPort } from '../support/closed-port.ts';
import { address, errorBody, newTransfer, transfer, transferCreated } from '../support/values.ts';
import { clockFrom, Deadline, Stopped } from '../../src/calls/time.ts';
import { flushPromises, VirtualClock } from '../support/virtual-clock.ts';
import { defaultTimeout, defaultTotalTimeout } from '../../src/calls/options.ts';

const stalled = (status: number): Promise<RawServer> =>
  rawServer(({ write }) => {
    write(`HTTP/1.1 ${status} Status\r\ncontent-length: 500\r\n\r\n{"error":`);
  });

test('the option `timeout` covers the wait for the response headers', async () => {
  const clock = new VirtualClock();
  const server = await rawServer(() => undefined);
  const failed = failureOf(
    clientAt(server, { clock, timeout: 700, maxRetries: 0 }).transfers.create(newTransfer),
    TimeoutError,
  );
  await server.arrived(1);
  await clock.advance(699);
  expect(server.connections[0]?.closed).toBe(false);
  await clock.advance(1);
  expect(await failed).toMatchObject({
    phase: 'headers',
    code: 'ETIMEDOUT',
    outcome: 'unknown',
    attempts: [{ durationMs: 700, reason: 'timeout (headers)' }],
  });
  await server.closed(0);
});

test("the option `timeout` also covers the body, from the attempt's start", async () => {
  const clock = new VirtualClock();
  const server = await stalled(201);
  const headersArrived = headersReceived();
  const failed = failureOf(
    clientAt(server, { clock }).transfers.create(newTransfer, { timeout: 700 }),
    TimeoutError,
  );
  await headersArrived;
  await clock.advance(700);
  expect(await failed).toMatchObject({
    phase: 'body',
    outcome: 'unknown',
    attempts: [{ status: 201, durationMs: 700, reason: 'timeout (body)' }],
  });
  await server.closed(0);
});

test.each([
  [413, ApiError, 'rejected'],
  [400, BadRequestError, 'unknown'],
] as const)(
  'the outcome of status %i is kept if its body is endless',
  async (status, errorClass, outcome) => {
    const clock = new VirtualClock();
    const server = await stalled(status);
    const headersArrived = headersReceived();
    const failed = failureOf(
      clientAt(server, { clock }).transfers.create(newTransfer),
      errorClass as typeof PaymentsError,
    );
    await headersArrived;
    await clock.advance(defaultTimeout);
    expect(await failed).toMatchObject({ status, outcome, body: '{"error":' });
    await server.closed(0);
  },
);

test.each([
  [201, 'unknown'],
  [413, 'rejected'],
  [400, 'unknown'],
] as const)('an abort in the body of status %i has outcome %s', async (status, outcome) => {
  const server = await stalled(status);
  const headersArrived = headersReceived();
  const caller = new AbortController();
  const { signal } = caller;
  const left = failureOf(clientAt(server).transfers.create(newTransfer, { signal }), AbortError);
  await headersArrived;
  caller.abort();
  expect(await left).toMatchObject({ outcome, attempts: [{ status, outcome }] });
});

test('a timeout before TLS is established has outcome not_sent', async () => {
  // The server accepts connections without a response, so TLS never completes.
  const server = createServer((socket) => socket.on('error', () => undefined));
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const payments = new PaymentsClient({ baseUrl: `https://127.0.0.1:${port}/v0`, apiKey });
  const options = { timeout: 200, maxRetries: 0 };
  const error = await failureOf(payments.transfers.create(newTransfer, options), TimeoutError);
  expect(error).toMatchObject({
    phase: 'connect',
    outcome: 'not_sent',
    attempts: [{ reason: 'timeout (connect)' }],
  });
  expect(error.message).toContain(
    'No connection to the platform was made within 200 ms (option timeout)',
  );
});

test('totalTimeout covers all attempts and the waits between them', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.99);
  const clock = new VirtualClock();
  const { payments, requests } = clientOf(
    (request, _, count) =>
      count === 1
        ? respond(503, errorBody)
        : new Promise((_resolve, reject) => {
            request.signal.addEventListener('abort', () => {
              reject(request.signal.reason as Error);
            });
          }),
    { clock, totalTimeout: 1_000 },
  );
  const failed = failureOf(payments.transfers.get('txfr_1'), TimeoutError);
  await clock.advance(999);
  expect(requests).toHaveLength(2);
  await clock.advance(1);
  expect(await failed).toMatchObject({
    phase: 'total',
    outcome: 'unknown',
    attempts: [{ status: 503 }, { reason: 'timeout (total)' }],
  });
  expect(clock.pending).toBe(0);
});

test('the option totalTimeout also covers the wait for the response body', async () => {
  const clock = new VirtualClock();
  const server = await stalled(200);
  const headersArrived = headersReceived();
  const failed = failureOf(
    clientAt(server, { clock, totalTimeout: 1_000 }).transfers.get('txfr_1'),
    TimeoutError,
  );
  await headersArrived;
  await clock.advance(1_000);
  expect(await failed).toMatchObject({ phase: 'total', attempts: [{ status: 200 }] });
  expect(server.arrivals).toHaveLength(1);
  await server.closed(0);
});

test('nothing is sent after totalTimeout, even after a suspension', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const clock = new VirtualClock();
  const { payments, requests } = clientOf(() => respond(503, errorBody), { clock });
  const failed = failureOf(payments.transfers.get('txfr_1'), TimeoutError);
  await flushPromises();
  // The machine is suspended during the wait before a retry, so the timer of that wait fires first.
  clock.jump(defaultTotalTimeout + 80_000);
  await clock.advance(0);
  expect(await failed).toMatchObject({ phase: 'total', attempts: [{ status: 503 }] });
  expect(requests).toHaveLength(1);
});

test('totalTimeout ends a call even if its clock is set back', async () => {
  const clock = new VirtualClock();
  const wall: Clock = {
    now: () => clock.now(),
    setTimeout: (callback, ms) => clock.setTimeout(callback, ms),
    clearTimeout: (handle) => {
      clock.clearTimeout(handle);
    },
  };
  const { payments } = clientOf(() => new Promise(() => undefined), {
    clock: wall,
    timeout: 200,
    totalTimeout: 500,
    maxRetries: 20,
  });
  const failed = failureOf(payments.transfers.get('txfr_1'), TimeoutError);
  await flushPromises();
  clock.shiftWall(-3_600_000);
  await clock.advance(600);
  expect((await failed).phase).toBe('total');
});

test('a creation has outcome unknown if timeout and totalTimeout end together', async () => {
  const clock = new VirtualClock();
  const { payments } = clientOf(() => new Promise(() => undefined), {
    clock,
    timeout: 1_000,
    totalTimeout: 1_000,
  });
  const failed = failureOf(payments.transfers.create(newTransfer), TimeoutError);
  await clock.advance(1_000);
  expect(await failed).toMatchObject({ phase: 'total', outcome: 'unknown' });
});

test('a successful call leaves no timer and no listener', async () => {
  const clock = new VirtualClock();
  const { signal } = new AbortController();
  const { payments } = clientOf(() => respond(200, transfer), { clock });
  await payments.transfers.get('txfr_1', { signal });
  expect(clock.pending).toBe(0);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('a very long `timeout` does not fire at once', async () => {
  const clock = new VirtualClock();
  const far = { timeout: 1e12, totalTimeout: 1e13 };
  const { payments } = clientOf(() => respond(200, transfer), { clock, ...far });
  await payments.transfers.get('txfr_1');
  expect(clock.lengths.length).toBeGreaterThan(0);
  expect(Math.max(...clock.lengths)).toBe(2 ** 31 - 1);

  // The system clock would warn about a timer that is too long and fire it after a millisecond.
  const warnings: Error[] = [];
  const note = (warning: Error): void => {
    warnings.push(warning);
  };
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const received = Promise.withResolvers<Response>();
  const { payments: waiting } = clientOf(() => received.promise, far);
  const call = waiting.transfers.get('txfr_1');
  // Timers fire in order, so a timer of one millisecond would have fired before this one.
  await new Promise((resolve) => {
    setTimeout(resolve, 5);
  });
  received.resolve(respond(200, transfer));
  expect(await call).toEqual(transfer);
  expect(warnings).toEqual([]);
});

test.each(kinds)('a call (%s) whose signal is already aborted is not sent', async (kind) => {
  const server = await rawServer(responseBytes(200));
  const reason = new Error('too late');
  const error = await failureOf(
    calls[kind].send(clientAt(server), { signal: AbortSignal.abort(reason) }),
    AbortError,
  );
  expect(error).toMatchObject({ name: 'AbortError', outcome: 'not_sent', attempts: [] });
  expect(error.cause).toBe(reason);
  expect(server.connections).toHaveLength(0);
});

test.each(['node:http', 'fetch'])('onRequest can still abort a call over %s', async (transport) => {
  const server = await rawServer(responseBytes(200));
  const controller = new AbortController();
  // This function ignores its signal.
  const ownFetch = vi.fn((request: Request) => fetch(request.url));
  const payments = clientAt(server, {
    ...(transport === 'fetch' ? { fetch: ownFetch } : {}),
    hooks: {
      onRequest: () => {
        controller.abort();
      },
    },
  });
  const { signal } = controller;
  const error = await failureOf(payments.transfers.create(newTransfer, { signal }), AbortError);
  expect(error).toMatchObject({ outcome: 'not_sent', attempts: [{ outcome: 'not_sent' }] });
  await flushPromises();
  expect(ownFetch).not.toHaveBeenCalled();
  expect(server.connections).toHaveLength(0);
});

test.each([
  ['node:http', {}],
  ['fetch', { fetch: (request: Request) => fetch(request) }],
])('no request arrives if an aborted call is not_sent over %s', async (_, transport) => {
  const server = await rawServer(() => undefined);
  const payments = clientAt(server, transport);
  const unsent: string[] = [];
  const outcomes = new Set<string>();
  for (let step = 0; step < 80; step += 1) {
    const description = `step ${step}`;
    const caller = new AbortController();
    const { signal } = caller;
    const call = failureOf(
      payments.transfers.create({ ...newTransfer, description }, { signal }),
      AbortError,
    );
    // Aborts after each of forty microtasks, then after each of forty turns of the event loop.
    for (let tick = 0; tick < Math.min(step, 40); tick += 1) await Promise.resolve();
    if (step > 40) await flushPromises(step - 40);
    caller.abort();
    const { outcome } = await call;
    outcomes.add(outcome);
    if (outcome === 'not_sent') unsent.push(description);
  }
  await flushPromises();
  const arrived = server.arrivals.map(
    ({ body }) => (JSON.parse(body) as { description: string }).description,
  );
  expect(arrived.filter((description) => unsent.includes(description))).toEqual([]);
  expect(outcomes).toEqual(new Set(['not_sent', 'unknown']));
  expect(arrived.length).toBeGreaterThan(0);
});

test('a timeout or abort cancels a response body that ignores the signal', async () => {
  const clock = new VirtualClock();
  const cancel = vi.fn();
  const endless = (): Response =>
    new Response(
      new ReadableStream({
        start(body) {
          body.enqueue(new TextEncoder().encode('{"id":'));
        },
        cancel,
      }),
      { status: 201 },
    );
  const { payments } = clientOf(endless, { clock });
  const failed = failureOf(payments.transfers.create(newTransfer), TimeoutError);
  await clock.advance(defaultTimeout);
  expect(await failed).toMatchObject({ phase: 'body', attempts: [{ status: 201 }] });
  expect(cancel).toHaveBeenCalledTimes(1);

  const controller = new AbortController();
  const { signal } = controller;
  const left = failureOf(payments.transfers.create(newTransfer, { signal }), AbortError);
  await flushPromises();
  controller.abort();
  expect(await left).toMatchObject({ outcome: 'unknown', attempts: [{ status: 201 }] });
  expect(cancel).toHaveBeenCalledTimes(2);
});

test.each([
  ['an error', new Error('mine')],
  ['a string', 'mine'],
  ['null', null],
  ['nothing', undefined],
])('the reason of abort() is the cause of the error: %s', async (_, reason) => {
  const { payments } = clientOf(() => new Promise(() => undefined));
  const controller = new AbortController();
  const call = failureOf(
    payments.transfers.create(newTransfer, { signal: controller.signal }),
    AbortError,
  );
  await flushPromises();
  controller.abort(reason);
  const error = await call;
  expect(error.cause).toBe(controller.signal.reason);
  expect(error).toMatchObject({ name: 'AbortError', outcome: 'unknown', retryable: false });
});

test('AbortSignal.timeout() aborts a call like an AbortController', async () => {
  const server = await rawServer(() => undefined);
  const signal = AbortSignal.timeout(5);
  const error = await failureOf(clientAt(server).transfers.get('txfr_1', { signal }), AbortError);
  expect(error.cause).toBe(signal.reason);
});

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

test('no listener stays on the caller’s signal after hundreds of calls', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  const warnings: Error[] = [];
  const note = (warning: Error): void => {
    warnings.push(warning);
  };
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const { signal } = new AbortController();
  const outcomes = [
    () => respond(200, transfer),
    () => respond(404, errorBody),
    () => respond(503, errorBody),
    () => Promise.reject(new Error('no')),
  ];
  const { payments } = clientOf((_, __, count) => (outcomes[count % 4] ?? respond)(200));
  const ask = (): Promise<unknown> =>
    payments.transfers.get('txfr_1', { signal }).catch(() => undefined);
  for (let turn = 0; turn < 500; turn += 1) await ask();
  expect(listeners(signal)).toBe(0);
  await Promise.all(Array.from({ length: 200 }, ask));
  expect(listeners(signal)).toBe(0);
  await payments.transfers.get('txfr_' as 'txfr_1', { signal }).catch(() => undefined);
  expect(listeners(signal)).toBe(0);
  await flushPromises();
  expect(warnings).toEqual([]);
});

const ownFetch = (request: Request, init?: RequestInit): Promise<Response> => fetch(request, init);

test.each([
  ['node:http', {}],
  ['fetch', { fetch: ownFetch }],
] as const)('no listener stays on the signal after a call over %s', async (_, transport) => {
  for (const send of [calls['safe GET'].send, calls['once POST'].send]) {
    const clock = new VirtualClock();
    const server = await rawServer(() => undefined);
    const timedOut = new AbortController();
    const options = { signal: timedOut.signal, maxRetries: 0 };
    const call = failureOf(send(clientAt(server, { clock, ...transport }), options), TimeoutError);
    await server.arrived(1);
    expect(listeners(timedOut.signal)).toBe(1);
    await clock.advance(defaultTimeout);
    await call;
    expect(listeners(timedOut.signal)).toBe(0);

    const aborted = new AbortController();
    const second = failureOf(
      send(clientAt(server, transport), { signal: aborted.signal }),
      AbortError,
    );
    await server.arrived(2);
    aborted.abort();
    await second;
    expect(listeners(aborted.signal)).toBe(0);
    expect(clock.pending).toBe(0);
  }
});

test('a failed call leaves no timer and no unhandled rejection', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => {
    unhandled.push(reason);
  };
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  const ends: (() => Promise<void>)[] = [];
  const run = (options: ClientOptions, after: (clock: VirtualClock) => Promise<void>): void => {
    ends.push(async () => {
      const clock = new VirtualClock();
      const controller = new AbortController();
      const payments = clientAt(closedPort, { clock, ...options });
      const { signal } = controller;
      const pending = [
        ...kinds.map((kind) => calls[kind].send(payments, { signal })),
        payments.instructions.list({ address }, { signal }),
        payments.transfers.get('txfr_1', { signal }).withResponse(),
        payments.transfers.list({}, { signal }).withResponse(),
        payments.transfers.list({}, { signal }).toArray({ max: 3 }),
      ].map((call) => failureOf(call, PaymentsError));
      await flushPromises();
      await after(clock);
      controller.abort();
      await Promise.all(pending);
      await flushPromises();
      expect(clock.pending).toBe(0);
      expect(listeners(signal)).toBe(0);
    });
  };
  const failLate: (() => void)[] = [];
  const late = (): Promise<Response> =>
    new Promise((_, reject) => {
      failLate.push(() => {
        reject(new Error('late'));
      });
    });
  run({}, (clock) => clock.advance(300_000));
  run({}, () => Promise.resolve());
  // These functions ignore their signal, and fail when the call is already over.
  run({ fetch: late, getWithBody: late }, (clock) => clock.advance(300_000));
  run({ fetch: late, getWithBody: late }, () => Promise.resolve());
  run({ apiKey: late as never, jwt: late as never }, (clock) => clock.advance(300_000));
  run({ apiKey: late as never, jwt: late as never }, () => Promise.resolve());
  run({ hooks: { onRequest: () => Promise.reject(new Error('hook')) } }, (clock) =>
    clock.advance(300_000),
  );
  await Promise.all(ends.map((end) => end()));
  expect(failLate).not.toEqual([]);
  for (const fail of failLate) fail();
  await flushPromises();
  expect(unhandled).toEqual([]);
});

test('a failed call and its withResponse() reject with the same error', async () => {
  const { payments } = clientOf(() => Promise.reject(new Error('no')));
  const call = payments.transfers.create(newTransfer);
  const both = await Promise.all([
    failureOf(call, ConnectionError),
    failureOf(call.withResponse()),
  ]);
  expect(both[0]).toBe(both[1]);
});

test('race() and sleep() of a Deadline reject if its signal is aborted', async () => {
  const over = [AbortSignal.abort('enough')];
  const deadline = new Deadline(clockFrom(undefined), 60_000, 'total', { signals: over });
  await expect(deadline.race(new Promise(() => undefined))).rejects.toBeInstanceOf(Stopped);
  await expect(deadline.sleep(1)).rejects.toBeInstanceOf(Stopped);
  deadline.close();
});

test('a response that arrived while the process was suspended is read', async () => {
  const clock = new VirtualClock();
  const response = Promise.withResolvers<Response>();
  const { payments } = clientOf(() => response.promise, { clock, timeout: 1_000, maxRetries: 0 });
  const call = payments.transfers.create(newTransfer);
  await flushPromises();
  clock.jump(60_000);
  const passing = clock.advance(100);
  await flushPromises();
  response.resolve(respond(201, transferCreated));
  await passing;
  expect(await call).toEqual(transferCreated);
});

test('a creation without response has outcome unknown after the process resumes', async () => {
  const clock = new VirtualClock();
  const { payments } = clientOf(() => new Promise(() => undefined), {
    clock,
    timeout: 1_000,
    maxRetries: 0,
  });
  const failed = failureOf(payments.transfers.create(newTransfer), TimeoutError);
  await flushPromises();
  clock.jump(60_000);
  await clock.advance(300);
  expect(await failed).toMatchObject({ phase: 'headers', outcome: 'unknown' });
});
