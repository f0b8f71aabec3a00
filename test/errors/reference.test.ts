import {
  ConfigurationError,
  isPaymentsError,
  PaymentsClient,
  PaymentsError,
  paymentsErrorFrom,
  type CallEvent,
  type ClientOptions,
} from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import { closedPort } from '../support/closed-port.ts';
import { failureOf } from '../support/clients.ts';
import type { OnceEvent } from '../../src/calls/hooks.ts';

// A queue or an alert receives only the error, so the error has to say which payment it belongs to.

const reference = 'invoice 4711';
const payment = {
  sourceAccountId: 'acc_000001',
  counterpartyId: 'cpty_000001',
  amount: '12.50',
  description: reference,
} as const;

function setup(options: ClientOptions = {}) {
  const sandbox = seedDemo(new Sandbox());
  const calls: CallEvent[] = [];
  const decisions: OnceEvent[] = [];
  const payments = new PaymentsClient({
    ...sandbox.clientOptions,
    maxRetries: 0,
    journal: memoryJournal(),
    hooks: {
      onCall: (event) => calls.push(event),
      onOnce: (event) => decisions.push(event),
    },
    ...options,
  });
  return { sandbox, payments, calls, decisions };
}
type Setup = ReturnType<typeof setup>;
type Rule = Parameters<Sandbox['faults']['add']>[0];

const withFault =
  (fault: Rule['fault'], operation: Rule['operation'] = 'transfers.create') =>
  ({ sandbox, payments }: Setup) => {
    sandbox.faults.add({ operation, fault });
    return payments.transfers.createOnce(payment);
  };
const pay = ({ payments }: Setup) => payments.transfers.createOnce(payment);

const calls: readonly (readonly [string, (world: Setup) => Promise<unknown>, ClientOptions?])[] = [
  ['ValidationError', ({ payments }) => payments.transfers.createOnce({ ...payment, amount: '0' })],
  ['ValidationError', ({ payments }) => payments.transfers.createOnce(payment, { timeout: -1 })],
  ['UnprocessableEntityError', withFault({ kind: 'status', status: 422 })],
  ['AuthenticationError', pay, { apiKey: 'sk_of_nobody' }],
  [
    'ConnectionError',
    pay,
    { baseUrl: closedPort.baseUrl, fetch: undefined, getWithBody: undefined },
  ],
  [
    'AbortError',
    ({ payments }) => payments.transfers.createOnce(payment, { signal: AbortSignal.abort() }),
  ],
  ['PaymentVetoedError', pay, { authorize: () => false }],
  ['ConfigurationError', pay, { apiKey: () => '' }],
  ['PaymentInDoubtError', withFault({ kind: 'reset', when: 'before_commit' })],
  [
    'PaymentInDoubtError',
    pay,
    { journal: { ...memoryJournal(), read: () => Promise.reject(new Error('down')) } },
  ],
  [
    'InvalidResponseError',
    async (world) => {
      await pay(world);
      return withFault({ kind: 'truncated_body' }, 'transfers.get')(world);
    },
  ],
  ['ValidationError', ({ payments }) => payments.transfers.decide(reference, 'not_paid')],
  [
    'NotFoundError',
    async (world) => {
      await withFault({ kind: 'reset', when: 'before_commit' })(world).catch(() => undefined);
      return world.payments.transfers.decide(reference, 'txfr_999999');
    },
  ],
];

test.each(calls.map(([name, call, options = {}]) => [name, call, options] as const))(
  'error.reference is set on a %s of createOnce or `decide`',
  async (name, call, options) => {
    const world = setup(options);
    const error = await failureOf(call(world));
    expect(error).toMatchObject({ name, reference });
    expect(error.toJSON()).toMatchObject({ name, reference });
    expect(paymentsErrorFrom(JSON.parse(JSON.stringify(error)))).toMatchObject({ name, reference });
    expect(world.calls.at(-1)?.error).toBe(error);
  },
);

test('error.reference is set if createOnce has no journal', async () => {
  const error = await failureOf(pay(setup({ journal: undefined })), ConfigurationError);
  expect(error.reference).toBe(reference);
});

test('each error of a batch has the reference of its payment', async () => {
  const shared = new PaymentsError('No.', { outcome: 'not_sent', reference: 'of the caller' });
  const { payments, decisions } = setup({
    authorize: ({ input }) => {
      if (input.amount === '99.00') throw shared;
      return true;
    },
  });
  const vetoed = { ...payment, amount: '99.00' };
  const inputs = [
    { ...payment, description: 'a' },
    { ...payment, description: 'A' },
    { ...payment, description: 'b', amount: '-1' },
    { ...vetoed, description: 'c' },
    { ...vetoed, description: 'd' },
  ];
  const { unpaid } = await payments.transfers.createAllOnce(inputs, { concurrency: 1 });
  const names = unpaid.map(({ error }) => [error?.name, error?.reference]);
  expect(names).toEqual([
    ['PaymentInDoubtError', 'A'],
    ['ValidationError', 'b'],
    ['PaymentVetoedError', 'c'],
    ['PaymentVetoedError', 'd'],
  ]);
  expect(shared.reference).toBe('of the caller');
  expect(decisions.map(({ error }) => error?.reference)).toEqual([undefined, 'A', 'b', 'c', 'd']);
});

test('each error of a batch has its reference despite a failing list', async () => {
  const { payments, sandbox } = setup({ journal: { ...memoryJournal(), searchFirst: 'always' } });
  const fault = { kind: 'status', status: 400 } as const;
  sandbox.faults.add({ operation: 'transfers.list', fault, times: 'always' });
  const inputs = ['a', 'b', 'c'].map((description) => ({ ...payment, description }));
  const batch = payments.transfers.createAllOnce(inputs, { retryTimeout: 1 });
  const { unpaid } = await batch;
  expect(unpaid.map(({ error }) => error?.reference).toSorted()).toEqual(['a', 'b', 'c']);
});

test('error.reference redacts a credential that the reference contains', async () => {
  const world = setup();
  const description = `key ${world.sandbox.apiKey}`;
  const input = { ...payment, description, amount: '0' };
  const error = await failureOf(world.payments.transfers.createOnce(input));
  expect(error.reference).toBe('key [redacted]');
});

test('errors of create, get and reconcile have no field `reference`', async () => {
  const { payments } = setup();
  const errors = [
    failureOf(payments.transfers.create({ ...payment, amount: '0' })),
    failureOf(payments.transfers.get('txfr_none')),
    failureOf(payments.transfers.reconcile({ ...payment, amount: '0' })),
    failureOf(payments.transfers.createOnce({ ...payment, description: 'Müller' })),
    failureOf(payments.transfers.createOnce(undefined as never)),
  ];
  for (const error of await Promise.all(errors)) {
    expect(isPaymentsError(error)).toBe(true);
    expect(error).not.toHaveProperty('reference');
  }
});
