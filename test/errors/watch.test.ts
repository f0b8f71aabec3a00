import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import {
  isPaymentsError,
  NotFoundError,
  PaymentInDoubtError,
  PaymentsClient,
  ValidationError,
  type CallEvent,
  type ClientOptions,
} from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { listen } from 'payments-platform-sdk/sandbox/server';
import { expect, onTestFinished, test } from 'vitest';
import { clientOf, failureOf, respond } from '../support/clients.ts';
import { invoice as payment, page, transfer } from '../support/values.ts';
import { apiKey, jwt, leaksOf } from '../secrets/scan.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import type { HookCall } from '../../src/calls/hooks.ts';

function setup(options: ClientOptions = {}) {
  const clock = new VirtualClock();
  const sandbox = seedDemo(new Sandbox({ clock }));
  const calls: CallEvent[] = [];
  const seeded = sandbox.transfers.list().length;
  const payments = new PaymentsClient({
    ...sandbox.clientOptions,
    clock,
    journal: memoryJournal({ now: () => clock.now() }),
    hooks: { onCall: (event) => calls.push(event) },
    ...options,
  });
  const made = () => sandbox.transfers.list().length - seeded;
  return { clock, sandbox, payments, calls, made };
}

const lost = {
  operation: 'transfers.create',
  fault: { kind: 'reset', when: 'after_commit' },
} as const;

interface Message {
  readonly operation: string;
  readonly error?: Error;
  readonly [field: string]: unknown;
}
type Event = readonly [name: string, message: Message];

const channel = tracingChannel<unknown, Message>('payments-platform-sdk:call');

/** Records copies of what the channel publishes, because the SDK changes a message later. */
function subscribe(change: (message: Message) => void = () => undefined): Event[] {
  const events: Event[] = [];
  const names = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const;
  const subscribers = Object.fromEntries(
    names.map((name) => [
      name,
      (message: Message) => {
        events.push([name, { ...message }]);
        change(message);
      },
    ]),
  );
  channel.subscribe(subscribers as never);
  onTestFinished(() => {
    channel.unsubscribe(subscribers as never);
  });
  return events;
}

const startsOf = (events: readonly Event[]): string[] =>
  events.filter(([name]) => name === 'start').map(([, { operation }]) => operation);
const endsOf = (events: readonly Event[]): Message[] =>
  events.filter(([name]) => name === 'asyncEnd').map(([, message]) => message);

test('hooks.onCall reports each call once, with the number of attempts', async () => {
  const { payments, sandbox, clock, calls } = setup();
  const fault = { kind: 'status', status: 503 } as const;
  sandbox.faults.add({ operation: 'accounts.get', fault });
  await clock.runTimersDuring(payments.accounts.get('acc_000001'));
  const error = await failureOf(payments.accounts.get('acc_unknown'), NotFoundError);
  const invalid = await failureOf(payments.accounts.get('x' as never), ValidationError);
  expect(calls).toEqual([
    {
      operation: 'accounts.get',
      outcome: 'ok',
      attempts: 2,
      durationMs: clock.now() - Date.parse('2026-01-01'),
      requestId: expect.stringContaining('req_'),
    },
    {
      operation: 'accounts.get',
      outcome: 'rejected',
      attempts: 1,
      durationMs: 0,
      requestId: error.requestId,
      error,
    },
    { operation: 'accounts.get', outcome: 'not_sent', attempts: 0, durationMs: 0, error: invalid },
  ]);
});

test('hooks.onCall reports each createOnce, batch attempt and page once', async () => {
  const { payments, sandbox, clock, calls } = setup();
  sandbox.faults.add(lost);
  await payments.transfers.createOnce(payment);
  const made = { operation: 'transfers.createOnce', outcome: 'ok' };
  expect(calls).toEqual([
    {
      ...made,
      reference: 'invoice 4711',
      attempts: 2,
      durationMs: 0,
      requestId: expect.stringContaining('req_'),
    },
  ]);
  calls.length = 0;
  sandbox.faults.add({ ...lost, fault: { kind: 'reset', when: 'before_commit' } });
  const inputs = ['a 1', 'a 2'].map((description) => ({ ...payment, description }));
  await clock.runTimersDuring(Promise.resolve(payments.transfers.createAllOnce(inputs)));
  const tries = calls.filter(({ operation }) => operation === 'transfers.createOnce');
  expect(tries.filter(({ outcome }) => outcome === 'ok').map(({ reference }) => reference)).toEqual(
    ['a 2', 'a 1'],
  );
  expect(tries[1]).toMatchObject({ reference: 'a 1', outcome: 'unknown' });
  expect(tries.length).toBeGreaterThan(2);
  // The operation transfers.list is the scan that serves the whole batch.
  expect(new Set(calls.map(({ operation }) => operation))).toEqual(
    new Set(['transfers.createOnce', 'transfers.list']),
  );
  calls.length = 0;
  await payments.transfers.list({ limit: 5 }).toArray({ max: 100 });
  await payments.transfers.reconcile(payment);
  await payments.transfers.waitFor('txfr_000001', { until: () => true });
  await failureOf(payments.transfers.decide('unknown', 'not_paid'));
  expect(calls.map(({ operation, outcome }) => `${operation} ${outcome}`)).toEqual([
    'transfers.list ok',
    'transfers.list ok',
    'transfers.reconcile ok',
    'transfers.waitFor ok',
    expect.stringMatching(/^transfers.decide /),
  ]);
});

test('hooks.onCall reports outcome unknown without an error if `until` throws', async () => {
  const { payments, calls } = setup();
  const until = () => {
    throw new Error('a bug');
  };
  await expect(payments.transfers.waitFor('txfr_000001', { until })).rejects.toThrow('a bug');
  expect(calls).toEqual([
    expect.objectContaining({ operation: 'transfers.waitFor', outcome: 'unknown' }),
  ]);
  expect(calls[0]).not.toHaveProperty('error');
});

test.each(['throws', 'rejects'])('createOnce succeeds even if hooks.onCall %s', async (name) => {
  const onCall = () => {
    if (name === 'throws') throw new Error('the metrics are down');
    return Promise.reject(new Error('the metrics are down'));
  };
  const { payments } = setup({ hooks: { onCall } });
  await expect(payments.transfers.createOnce(payment)).resolves.toHaveProperty('id');
});

test('hook events of createOnce have the reference, those of lists none', async () => {
  const events: HookCall[] = [];
  const keep = (event: HookCall) => events.push(event);
  const { payments, sandbox, clock } = setup({
    hooks: { onRequest: keep, onResponse: keep, onRetry: keep, onWait: keep },
  });
  sandbox.faults.add({
    operation: 'transfers.create',
    fault: { kind: 'status', status: 429 },
  });
  sandbox.faults.add(lost);
  await clock.runTimersDuring(payments.transfers.createOnce(payment));
  await clock.runTimersDuring(payments.transfers.createOnce(payment));
  expect(new Set(events.map(({ operation, reference }) => `${operation} ${reference}`))).toEqual(
    new Set([
      'transfers.create invoice 4711',
      'transfers.list invoice 4711',
      'transfers.get invoice 4711',
    ]),
  );
  expect(events.length).toBeGreaterThanOrEqual(8);
  events.length = 0;
  await clock.runTimersDuring(Promise.resolve(payments.transfers.list()));
  expect(events.every((event) => !('reference' in event))).toBe(true);
});

test('the tracing channel publishes one trace for a createOnce', async () => {
  const { payments, sandbox } = setup();
  const events = subscribe();
  sandbox.faults.add(lost);
  await payments.transfers.createOnce(payment);
  const call = {
    operation: 'transfers.createOnce',
    method: 'POST',
    path: '/transfers',
    reference: 'invoice 4711',
  };
  const ended = {
    ...call,
    outcome: 'ok',
    attempts: 2,
    requestId: expect.stringContaining('req_'),
  };
  expect(events).toEqual([
    ['start', call],
    ['end', call],
    ['asyncStart', ended],
    ['asyncEnd', ended],
  ]);
});

test('the tracing channel publishes errors without the content of responses', async () => {
  const { payments } = clientOf(
    () => respond(404, { error: 'C4N4RY', code: 'C4N4RY', details: 'C4N4RY' }, { date: 'C4N4RY' }),
    {},
  );
  const events = subscribe();
  const error = await failureOf(payments.transfers.get('txfr_1'), NotFoundError);
  expect(events.map(([name]) => name)).toEqual(['start', 'end', 'error', 'asyncStart', 'asyncEnd']);
  const [message] = endsOf(events);
  expect(message).toMatchObject({ operation: 'transfers.get', outcome: 'rejected', attempts: 1 });
  expect(message?.error).toBeInstanceOf(NotFoundError);
  expect(message?.error).toMatchObject({
    message: 'transfers.get: status 404',
    status: 404,
    outcome: 'rejected',
    attempts: error.attempts,
  });
  expect(message?.error?.stack).toContain('watch.test.ts');
});

test('the tracing channel publishes one trace per payment, page and waitFor', async () => {
  const { payments } = setup();
  const events = subscribe();
  const inputs = ['a 1', 'a 2', 'a 3'].map((description) => ({ ...payment, description }));
  await payments.transfers.createAllOnce(inputs);
  await payments.transfers.list({ limit: 5 }).toArray({ max: 8 });
  await payments.transfers.waitFor('txfr_000001', { until: () => true });
  for await (const _ of payments.transfers.listUndecided());
  await payments.request({ method: 'GET', path: '/transfers/txfr_000001', api: 'versioned' });
  expect(startsOf(events)).toEqual([
    ...Array(3).fill('transfers.createOnce'),
    ...Array(2).fill('transfers.list'),
    'transfers.waitFor',
    'request',
  ]);
  expect(endsOf(events)).toHaveLength(7);
});

test('the tracing channel shows no input, result, body or credential', async () => {
  const input = { ...payment, description: 'ref 1', metadata: { note: 'C4N4RY' } } as never;
  const responses = [201, 422, 401, 500, 200].map(
    (status) => () =>
      Response.json(
        { ...transfer, error: `C4N4RY ${apiKey} ${jwt}`, code: 'C4N4RY', memo: 'C4N4RY' },
        { status, headers: { 'x-request-id': apiKey, 'x-note': 'C4N4RY' } },
      ),
  );
  const events = subscribe();
  for (const response of [
    ...responses,
    () => respond(200, 'C4N4RY'),
    () => respond(200, page([])),
  ]) {
    const clock = new VirtualClock();
    const journal = memoryJournal();
    const { payments } = clientOf(response, { apiKey, jwt, clock, journal, validation: 'report' });
    const { transfers } = payments;
    for (const call of [
      () => transfers.create(payment),
      () => transfers.create(input),
      () => transfers.createOnce(payment),
      () => transfers.createOnce({ ...payment, description: apiKey }),
      () => transfers.createAllOnce([payment], { retryTimeout: 0 }),
      () => transfers.list(),
      () => transfers.waitFor('txfr_1', { timeout: 5 }),
      () => payments.request({ method: 'GET', path: `/a/${apiKey}`, api: 'versioned' }),
      () => payments.instructions.list({ address: 'C4N4RY' as never }),
    ]) {
      await clock.runTimersDuring(Promise.resolve(call()).catch(() => undefined));
    }
  }
  expect(endsOf(events).length).toBeGreaterThan(50);
  expect(endsOf(events).some(({ error }) => isPaymentsError(error))).toBe(true);
  expect(leaksOf(events)).toEqual([]);
  const { inspect } = await import('node:util');
  const text = inspect(events, { depth: 20, maxArrayLength: null, showHidden: true });
  for (const canary of ['C4N4RY', '12.50', 'acc_000001', 'cpty_000001', 'authorization']) {
    expect(text).not.toContain(canary);
  }
});

test('hooks run in the AsyncLocalStorage context in which the call was made', async () => {
  const store = new AsyncLocalStorage<string>();
  const seen = new Set<string | undefined>();
  const { payments } = setup({ hooks: { onRequest: () => seen.add(store.getStore()) } });
  const byMaker = <T>(make: () => T): T => store.run('its maker', make);
  const lists = Array.from({ length: 4 }, () =>
    byMaker(() => payments.transfers.list({ limit: 2 })),
  );
  const batches = [1, 2].map((number) =>
    byMaker(() =>
      payments.transfers.createAllOnce([{ ...payment, description: `batch ${number}` }]),
    ),
  );
  const comparisons = [1, 2].map(() => byMaker(() => payments.transfers.reconcileAll([payment])));
  await store.run('another', async () => {
    const [first, second, third, fourth] = lists;
    await first;
    await second?.toArray({ max: 5 });
    for await (const _ of third ?? []) continue;
    for await (const _ of fourth?.pages() ?? []) continue;
    for (const [awaited, looped] of [batches, comparisons]) {
      await awaited;
      for await (const _ of looped ?? []) continue;
    }
  });
  expect([...seen]).toEqual(['its maker']);
});

test('hooks run in the AsyncLocalStorage that a channel subscriber bound', async () => {
  const store = new AsyncLocalStorage<string>();
  let spans = 0;
  channel.start.bindStore(
    store,
    ({ operation }) => `${operation} ${(spans += 1)} < ${store.getStore()}`,
  );
  onTestFinished(() => void channel.start.unbindStore(store));
  subscribe();
  const seen: string[] = [];
  const sandbox = seedDemo(new Sandbox());
  // Over node:http, the response to a page starts the request for the next page.
  const server = await listen(sandbox, { port: 0 });
  onTestFinished(() => server.close());
  const payments = new PaymentsClient({
    baseUrl: server.baseUrl,
    apiKey: sandbox.apiKey,
    journal: { ...memoryJournal(), searchFirst: 'always' },
    hooks: { onRequest: ({ method }) => seen.push(`${method} in ${store.getStore()}`) },
  });
  sandbox.faults.add(lost);
  await store.run('request 1', () => payments.transfers.createOnce(payment));
  expect(seen).toEqual(
    Array(3)
      .fill(0)
      .map((_, at) => `${at === 1 ? 'POST' : 'GET'} in transfers.createOnce 1 < request 1`),
  );
  for (let count = 0; count < 5; count += 1)
    sandbox.transfers.create({ ...payment, description: `b ${count}` });
  seen.length = 0;
  const pages = () => payments.transfers.list({ limit: 1 }).toArray({ max: 5 });
  await store.run('request 2', pages);
  expect(seen.length).toBeGreaterThanOrEqual(5);
  expect(seen.filter((each) => !/^GET in transfers.list \d+ < request 2$/.test(each))).toEqual([]);
  seen.length = 0;
  const inputs = ['a 1', 'a 2'].map((description) => ({ ...payment, description }));
  await store.run('request 3', async () => await payments.transfers.createAllOnce(inputs));
  expect(seen.filter((each) => !/^\w+ in [\w.]+ \d+ < request 3$/.test(each))).toEqual([]);
  expect(seen.map((each) => each.replaceAll(/ \d+ <.*/g, '')).toSorted()).toEqual([
    'GET in transfers.list',
    'POST in transfers.createOnce',
    'POST in transfers.createOnce',
  ]);
});

test('createOnce pays even if a subscriber of the tracing channel throws', async () => {
  const { payments, made } = setup();
  const events = subscribe((message) => {
    Object.freeze(message);
    throw new Error('the tracer has a bug');
  });
  // Node reports what a subscriber throws as an uncaught exception of the process.
  const uncaught: unknown[] = [];
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', (error) => uncaught.push(error));
  try {
    await expect(payments.transfers.createOnce(payment)).resolves.toHaveProperty('id');
    await expect(
      payments.transfers.createOnce({ ...payment, amount: '1.00' }),
    ).rejects.toBeInstanceOf(PaymentInDoubtError);
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.removeAllListeners('uncaughtException');
    for (const listener of others) process.on('uncaughtException', listener);
  }
  expect(made()).toBe(1);
  expect(events.map(([name]) => name)).toEqual([
    ...['start', 'end', 'asyncStart', 'asyncEnd'],
    ...['start', 'end', 'error', 'asyncStart', 'asyncEnd'],
  ]);
  expect(uncaught).toHaveLength(events.length);
});

test('createOnce pays once if the tracing channel throws at start', async () => {
  const { payments, made } = setup();
  subscribe();
  const { runStores } = channel.start;
  Object.assign(channel.start, {
    runStores: (message: Message, run: () => void) => {
      run();
      throw new Error(`no trace of ${message.operation}`);
    },
  });
  onTestFinished(() => void Object.assign(channel.start, { runStores }));
  await payments.transfers.createOnce(payment);
  Object.assign(channel.start, {
    runStores: () => {
      throw new Error('no trace');
    },
  });
  await payments.transfers.createOnce({ ...payment, description: 'invoice 4712' });
  expect(made()).toBe(2);
});

test('the client reads no request id without a subscriber or hook', async () => {
  let reads = 0;
  const respondWatched = () => {
    const response = respond(200, transfer, { 'x-request-id': 'req_1' });
    const { headers } = response;
    Object.defineProperty(response, 'headers', {
      get: () => {
        reads += 1;
        return headers;
      },
    });
    return response;
  };
  const { payments } = clientOf(respondWatched, {});
  await payments.transfers.get('txfr_1');
  const before = reads;
  const events = subscribe();
  await payments.transfers.get('txfr_1');
  expect(reads).toBe(before * 2 + 1);
  expect(endsOf(events)[0]).toMatchObject({ requestId: 'req_1' });
});
