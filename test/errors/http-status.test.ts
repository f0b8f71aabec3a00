import { httpStatusOf, PaymentsClient, type ClientOptions } from 'payments-platform-sdk';
import { memoryJournal, type Journal } from 'payments-platform-sdk/journals';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import { apiKey, clientOf, respond } from '../support/clients.ts';
import { invoice as payment, newInstruction, transfer } from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

function setup(options: ClientOptions = {}) {
  const clock = new VirtualClock();
  const sandbox = seedDemo(new Sandbox({ clock }));
  const journal = memoryJournal({ now: () => clock.now() });
  const payments = new PaymentsClient({
    ...sandbox.clientOptions,
    clock,
    journal,
    maxRetries: 0,
    totalTimeout: 1_000,
    ...options,
  });
  return { clock, sandbox, payments };
}

type Setup = ReturnType<typeof setup>;

const failedJournal: Journal = {
  ...memoryJournal(),
  read: () => Promise.reject(new Error('The store is down.')),
};
const failingRows: AsyncIterable<never> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('The store is down.')) }),
};
const responding = (status: number, body?: unknown): ClientOptions => ({
  fetch: () => Promise.resolve(respond(status, body)),
});

/** Responds with a transfer of the next status, and then of the last one. */
function respondWithStatuses(...statuses: string[]): ClientOptions {
  const next = () => (statuses.length > 1 ? statuses.shift() : statuses[0]);
  return { fetch: () => Promise.resolve(Response.json({ ...transfer, status: next() })) };
}

type Case = [
  title: string,
  status: number,
  fail: (context: Setup) => PromiseLike<unknown>,
  options?: ClientOptions,
];

const cases: readonly Case[] = [
  ['bad amount', 400, ({ payments }) => payments.transfers.createOnce({ ...payment, amount: '0' })],
  [
    'a payment to an unknown counterparty',
    422,
    ({ payments }) => payments.transfers.createOnce({ ...payment, counterpartyId: 'cpty_unknown' }),
  ],
  [
    'a payment without enough funds',
    422,
    ({ payments }) => payments.transfers.createOnce({ ...payment, amount: '999999999.00' }),
  ],
  [
    'a payment that the platform does not understand',
    422,
    ({ payments }) => payments.transfers.create(payment),
    responding(400, { error: 'No.', code: 'no' }),
  ],
  [
    'another payment with the reference of an earlier one',
    409,
    async ({ payments }) => {
      await payments.transfers.createOnce(payment);
      await payments.transfers.createOnce({ ...payment, amount: '13.00' });
    },
  ],
  [
    'a payment that the option authorize vetoes',
    403,
    ({ payments }) => payments.transfers.createOnce(payment),
    { authorize: () => false },
  ],
  [
    'an ambiguous payment',
    409,
    async ({ payments, sandbox }) => {
      sandbox.transfers.create(payment);
      sandbox.transfers.create(payment);
      await payments.transfers.createOnce(payment);
    },
    { journal: { ...memoryJournal(), forgets: true } },
  ],
  [
    'a payment in doubt',
    202,
    ({ payments, sandbox }) => {
      const fault = { kind: 'reset', when: 'before_commit' } as const;
      sandbox.faults.add({ operation: 'transfers.create', fault });
      return payments.transfers.createOnce(payment);
    },
  ],
  [
    'a payment that another call is making',
    202,
    ({ payments, sandbox }) => {
      sandbox.faults.add({ operation: 'transfers.create', fault: { kind: 'hang' } });
      void payments.transfers.createOnce(payment).then(undefined, () => undefined);
      return payments.transfers.createOnce(payment);
    },
  ],
  [
    'a payment whose journal has failed',
    202,
    ({ payments }) => payments.transfers.createOnce(payment),
    { journal: failedJournal },
  ],
  [
    'a payment whose search has failed',
    202,
    ({ payments, sandbox }) => {
      sandbox.faults.add({ operation: 'transfers.list', fault: { kind: 'status', status: 503 } });
      return payments.transfers.createOnce(payment);
    },
    { journal: { ...memoryJournal(), forgets: true } },
  ],
  [
    'a creation with an unknown outcome',
    202,
    ({ payments, sandbox }) => {
      const fault = { kind: 'reset', when: 'after_commit' } as const;
      sandbox.faults.add({ operation: 'accounts.create', fault });
      return payments.accounts.create({ entityId: 'ent_000001' });
    },
  ],
  ['no end yet', 202, ({ payments }) => payments.transfers.waitFor('txfr_000001', { timeout: 10 })],
  [
    'a transfer that has failed',
    422,
    ({ payments, sandbox }) => {
      const { id } = sandbox.transfers.create(payment);
      sandbox.transfers.fail(id);
      return payments.transfers.waitFor(id);
    },
  ],
  [
    'a transfer that was completed and is pending again',
    409,
    ({ payments }) => payments.transfers.waitFor('txfr_1', { until: () => false, interval: 10 }),
    respondWithStatuses('completed', 'pending'),
  ],
  [
    'a waitFor with a wrong API key',
    500,
    ({ payments }) => payments.transfers.waitFor('txfr_000001'),
    responding(401, { error: 'No.', code: 'no' }),
  ],
  ['deleting an unknown id', 404, ({ payments }) => payments.counterparties.delete('cpty_unknown')],
  ['an id that does not exist', 404, ({ payments }) => payments.transfers.get('txfr_unknown')],
  [
    'a path that does not exist',
    502,
    ({ payments }) => payments.transfers.get('txfr_unknown'),
    responding(404, '<html>'),
  ],
  [
    'a wrong API key',
    500,
    ({ payments }) => payments.accounts.list(),
    responding(401, { error: 'No.', code: 'no' }),
  ],
  [
    'an API key without permission',
    500,
    ({ payments }) => payments.accounts.list(),
    responding(403, { error: 'No.', code: 'no' }),
  ],
  ['too many requests', 503, ({ payments }) => payments.accounts.list(), responding(429)],
  ['a platform that fails', 502, ({ payments }) => payments.accounts.list(), responding(503)],
  [
    'a path of `request` on a platform that fails',
    502,
    ({ payments }) => payments.request({ method: 'GET', path: '/accounts', api: 'versioned' }),
    responding(503),
  ],
  [
    'a list of open payments whose journal has failed',
    502,
    async ({ payments }) => {
      for await (const _ of payments.transfers.listUndecided()) break;
    },
    { journal: { ...memoryJournal(), open: () => failingRows } },
  ],
  [
    'an instruction whose response cannot be read',
    502,
    ({ payments }) => payments.instructions.build(newInstruction),
    responding(200, '{'),
  ],
  [
    'a read without a response',
    504,
    ({ payments, sandbox }) => {
      sandbox.faults.add({ operation: 'transfers.get', fault: { kind: 'hang' } });
      return payments.transfers.get('txfr_000001', { timeout: 10 });
    },
  ],
  [
    'a call that was aborted',
    503,
    ({ payments }) => payments.transfers.get('txfr_000001', { signal: AbortSignal.abort() }),
  ],
];

test.each<Case>(cases)('httpStatusOf maps %s to %i', async (_, status, fail, options) => {
  const context = setup(options);
  const failing = Promise.resolve(fail(context)).then(
    () => 'resolved',
    (reason: unknown) => reason,
  );
  const error = await context.clock.stepTimersDuring(failing);
  expect([error, httpStatusOf(error)]).toEqual([expect.any(Error), status]);
});

test('httpStatusOf returns 500 for a value that is not an error of this package', () => {
  const values = [undefined, null, 'no', new Error('no'), { status: 404 }];
  expect(values.map(httpStatusOf)).toEqual(values.map(() => 500));
});

test('httpStatusOf returns 500 for the error of an invalid client option', () => {
  expect.assertions(1);
  try {
    clientOf(undefined, { baseUrl: 'no url', apiKey });
  } catch (error) {
    expect(httpStatusOf(error)).toBe(500);
  }
});

test.each([undefined, null, 'toString', 5])('a WaitError with reason %o maps to 202', (reason) => {
  const error = { name: 'WaitError', message: 'x', outcome: 'unknown', reason };
  expect(httpStatusOf(error)).toBe(202);
});
