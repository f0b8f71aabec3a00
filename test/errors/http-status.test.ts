import { httpStatusOf, PaymentsClient, type ClientOptions } from 'payments-platform-sdk';
import { memoryJournal, type Journal } from 'payments-platform-sdk/journals';
import { Sandbox, seedDemo, type SandboxFault } from 'payments-platform-sdk/sandbox';
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

const pay =
  (change: object = {}): Case[2] =>
  ({ payments }) =>
    payments.transfers.createOnce({ ...payment, ...change });
const listAccounts: Case[2] = ({ payments }) => payments.accounts.list();
const getUnknown: Case[2] = ({ payments }) => payments.transfers.get('txfr_unknown');
const refusing = (status: number) => responding(status, { error: 'No.', code: 'no' });

/** Makes a call whose operation has a fault. */
const withFault =
  (
    operation: `${'transfers' | 'accounts'}.create` | `transfers.${'list' | 'get'}`,
    fault: SandboxFault,
    call: Case[2],
  ): Case[2] =>
  (context) => {
    context.sandbox.faults.add({ operation, fault });
    return call(context);
  };
const lost = (when: 'before_commit' | 'after_commit') => ({ kind: 'reset', when }) as const;
const forgetful: ClientOptions = { journal: { ...memoryJournal(), searchFirst: 'always' } };
const busy = { kind: 'status', status: 503 } as const;

const cases: readonly Case[] = [
  ['an invalid payment', 400, pay({ amount: '0' })],
  ['a payment to an unknown counterparty', 422, pay({ counterpartyId: 'cpty_unknown' })],
  ['a payment without enough funds', 422, pay({ amount: '999999999.00' })],
  [
    'a payment that the platform does not understand',
    422,
    ({ payments }) => payments.transfers.create(payment),
    refusing(400),
  ],
  [
    'another payment with the reference of an earlier one',
    409,
    async (context) => {
      await pay()(context);
      await pay({ amount: '13.00' })(context);
    },
  ],
  ['a payment that the option authorize vetoes', 403, pay(), { authorize: () => false }],
  [
    'an ambiguous payment',
    409,
    (context) => {
      context.sandbox.transfers.create(payment);
      context.sandbox.transfers.create(payment);
      return pay()(context);
    },
    forgetful,
  ],
  ['a payment in doubt', 202, withFault('transfers.create', lost('before_commit'), pay())],
  [
    'a payment that another call is making',
    202,
    withFault('transfers.create', { kind: 'hang' }, (context) => {
      void pay()(context).then(undefined, () => undefined);
      return pay()(context);
    }),
  ],
  ['a payment whose journal has failed', 202, pay(), { journal: failedJournal }],
  ['a payment whose search has failed', 202, withFault('transfers.list', busy, pay()), forgetful],
  [
    'a creation with an unknown outcome',
    202,
    withFault('accounts.create', lost('after_commit'), ({ payments }) =>
      payments.accounts.create({ entityId: 'ent_000001' }),
    ),
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
    refusing(401),
  ],
  ['deleting an unknown id', 404, ({ payments }) => payments.counterparties.delete('cpty_unknown')],
  ['an id that does not exist', 404, getUnknown],
  ['a path that does not exist', 502, getUnknown, responding(404, '<html>')],
  ['a wrong API key', 500, listAccounts, refusing(401)],
  ['an API key without permission', 500, listAccounts, refusing(403)],
  ['too many requests', 503, listAccounts, responding(429)],
  ['a platform that fails', 502, listAccounts, responding(503)],
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
    withFault('transfers.get', { kind: 'hang' }, ({ payments }) =>
      payments.transfers.get('txfr_000001', { timeout: 10 }),
    ),
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
  const wrappers = [new Error('x', { cause: error }), new AggregateError([new Error('x'), error])];
  expect(wrappers.map(httpStatusOf)).toEqual([status, status]);
  // A copy of the fields has no name. The fields of these two classes do not show the class.
  const isNameNeeded = ['AbortError', 'PaymentVetoedError'].includes((error as Error).name);
  expect(httpStatusOf({ ...Object(error) })).toBe(isNameNeeded ? 502 : status);
});

test('httpStatusOf returns 500 for a value that is no PaymentsError', () => {
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

test.each([undefined, null, 'toString', 5])(
  'httpStatusOf maps a WaitError with reason %o to 202',
  (reason) => {
    const error = { name: 'WaitError', message: 'x', outcome: 'unknown', reason };
    expect(httpStatusOf(error)).toBe(202);
  },
);
