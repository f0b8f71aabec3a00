import { PaymentsClient, PaymentsError } from 'payments-platform-sdk';
import { memoryJournal, type Journal } from 'payments-platform-sdk/journals';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import { failureOf } from '../support/clients.ts';
import { fixedTimes, invoice as input } from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

/*
 * A certain failure ("rejected", "not sent") is told only if nobody else had paid when the claim was
 * withdrawn. One call, `a`, stands still between its claim and its request, and `b` pays meanwhile.
 */

type Breakage = (store: Journal) => Partial<Journal>;
const fails = (): Promise<never> => Promise.reject(new Error('ECONNRESET'));

function setup(
  breakage: Breakage,
  {
    meanwhile = 'pays',
    ...ending
  }: {
    readonly meanwhile?: 'pays' | 'decides' | 'waits';
    readonly status?: number | undefined;
    readonly lateBy?: number;
  } = {},
) {
  const clock = new VirtualClock(Date.UTC(2026, 10, 28, 8));
  const sandbox = seedDemo(new Sandbox({ clock: () => clock.now() }));
  const seeded = sandbox.transfers.list().length;
  const store = memoryJournal({ now: () => clock.now() });
  const options = { ...sandbox.clientOptions, ...fixedTimes, clock, maxRetries: 0 };
  const b = new PaymentsClient({ ...options, journal: store });
  let isBroken = false;
  const broken = (journal: Journal): Journal => {
    const parts = breakage(store);
    return {
      ...journal,
      read: (reference) =>
        isBroken ? (parts.read ?? journal.read)(reference) : journal.read(reference),
      swap: (...change) =>
        isBroken ? (parts.swap ?? journal.swap)(...change) : journal.swap(...change),
    };
  };
  const a = new PaymentsClient({
    ...options,
    journal: broken(store),
    fetch: async (request) => {
      if (request.method !== 'POST') return sandbox.fetch(request);
      clock.jump(fixedTimes.totalTimeout + fixedTimes.gracePeriod + 1_000);
      if (meanwhile === 'pays') await clock.runTimersDuring(b.transfers.createOnce(input));
      const decision = { by: 'ada' };
      if (meanwhile === 'decides') {
        await clock.runTimersDuring(b.transfers.decide(input.description, 'not_paid', decision));
      }
      isBroken = true;
      if (ending.status === undefined)
        throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } });
      return Response.json({ error: 'no', code: 'no' }, { status: ending.status });
    },
  });
  const made = () => sandbox.transfers.list().length - seeded;
  return { clock, store, made, pay: () => clock.runTimersDuring(a.transfers.createOnce(input)) };
}

const breakages: readonly [string, Breakage][] = [
  ['the read after the lost swap fails', () => ({ read: fails })],
  ['the swap and the read fail', () => ({ swap: fails, read: fails })],
  [
    'the swap fails, and its reply is lost',
    (store) => ({ swap: async (...swap) => store.swap(...swap).then(fails) }),
  ],
  // Two that no report has.
  ['the read never returns', () => ({ read: () => new Promise<never>(() => undefined) })],
  ['the read returns another state', () => ({ read: async () => ({ state: 'shared' }) as never })],
];

test.each(
  breakages.flatMap(([name, breakage]) =>
    [422, undefined].map((status) => ({ name, breakage, status })),
  ),
)(
  'a stalled call reports no failure after another call paid: $name ($status)',
  async ({ breakage, status }) => {
    const { pay, made } = setup(breakage, { status });
    const result = await pay().catch((error: unknown) => error);
    if (result instanceof PaymentsError) expect(result.outcome).toBe('unknown');
    else expect(['found', 'recorded']).toContain(Reflect.get(Object(result), 'result'));
    expect(made()).toBe(1);
  },
);

test('createOnce reports a rejection if the journal shows the claim withdrawn', async () => {
  const { pay, store, made } = setup(
    (inner) => ({ swap: (...swap) => inner.swap(...swap).then(fails) }),
    { meanwhile: 'waits', status: 422 },
  );
  expect(await failureOf(pay())).toMatchObject({ outcome: 'rejected', status: 422 });
  expect(await store.read(input.description)).toBeUndefined();
  expect(made()).toBe(0);
});

test('a rejected createOnce has outcome unknown if it cannot withdraw its claim', async () => {
  const { pay, store } = setup(() => ({ swap: fails }), { meanwhile: 'waits', status: 422 });
  expect(await failureOf(pay())).toMatchObject({ outcome: 'unknown', reason: 'in_doubt' });
  expect(await store.read(input.description)).toMatchObject({ state: 'sending' });
});

test("createOnce sends nothing if the journal's files change before the request", async () => {
  const sandbox = seedDemo(new Sandbox());
  const memory = memoryJournal();
  let isRemoved = false;
  const check = (): void => {
    if (isRemoved) throw Object.assign(new Error('the -wal was removed'), { retryable: false });
  };
  const apiKey = async (): Promise<string> => {
    isRemoved = (await memory.read(input.description)) !== undefined;
    return sandbox.clientOptions.apiKey;
  };
  const options = { ...sandbox.clientOptions, apiKey, journal: { ...memory, check } };
  const error = await failureOf(new PaymentsClient(options).transfers.createOnce(input));
  expect(error).toMatchObject({ reason: 'journal', retryable: false });
  expect(sandbox.log.map(({ operation }) => operation)).not.toContain('transfers.create');
  expect(await memory.read(input.description)).toBeUndefined();
});

test('a stalled call resolves to the payment that another call recorded', async () => {
  const { pay, store, made } = setup(() => ({}), { status: 422 });
  expect(await pay()).toMatchObject({ result: 'recorded' });
  const { history = [] } = (await store.read(input.description)) ?? {};
  expect(history.map(({ state }) => state)).toEqual(['sending', 'sending', 'paid']);
  expect(made()).toBe(1);
});

test('a rejected createOnce has outcome unknown if an operator decided meanwhile', async () => {
  const { pay, store } = setup(() => ({}), { meanwhile: 'decides', status: 422 });
  expect(await failureOf(pay())).toMatchObject({ outcome: 'unknown', reason: 'in_doubt' });
  expect(await store.read(input.description)).toMatchObject({ state: 'not_paid' });
});
