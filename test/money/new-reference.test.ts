import {
  PaymentInDoubtError,
  PaymentsClient,
  type ClientOptions,
  type OnceInput,
} from 'payments-platform-sdk';
import { memoryJournal, type Journal } from 'payments-platform-sdk/journals';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { failureOf } from '../support/clients.ts';

const inputOf = (description: string, changes: Partial<OnceInput> = {}) =>
  ({
    sourceAccountId: 'acc_000001',
    counterpartyId: 'cpty_000001',
    amount: '125.50',
    description,
    ...changes,
  }) as OnceInput;

/** A platform that loses the response to the first creation, and whose list cannot be read. */
function setup(options: ClientOptions = {}) {
  const sandbox = seedDemo(new Sandbox());
  sandbox.faults.add({
    operation: 'transfers.create',
    fault: { kind: 'reset', when: 'after_commit' },
  });
  const listFault = sandbox.faults.add({
    operation: 'transfers.list',
    times: 'always',
    fault: { kind: 'status', status: 503 },
  });
  const journal = memoryJournal();
  const seeded = sandbox.transfers.list().length;
  const payments = new PaymentsClient({
    ...sandbox.clientOptions,
    journal,
    maxRetries: 0,
    ...options,
  });
  const pay = (input: OnceInput, client = payments) => client.transfers.createOnce(input);
  const references = (): string[] =>
    sandbox.transfers
      .list()
      .slice(seeded)
      .map(({ description }) => String(description));
  return { sandbox, payments, pay, references, listFault, journal };
}

test('createOnce pays once even if the caller passes a new reference in each retry of a payment in doubt', async () => {
  const { pay, references } = setup();
  for (let tries = 1; tries <= 5; tries += 1)
    await failureOf(pay(inputOf(randomUUID())), PaymentInDoubtError);
  expect(references()).toHaveLength(1);
});

test('createOnce with a new reference rejects with an error that names the payment in doubt with the same terms', async () => {
  const { pay } = setup();
  await failureOf(pay(inputOf('invoice 4711')), PaymentInDoubtError);
  const error = await failureOf(pay(inputOf('message 2')), PaymentInDoubtError);
  expect(error).toMatchObject({ reason: 'in_doubt', retryable: true, outcome: 'unknown' });
  expect(error.retryAfterMs).toBeGreaterThan(0);
  expect(error.reference).toBe('message 2');
  expect(error.message).toContain('A payment with the same terms is in doubt: invoice 4711.');
});

test.each([
  ['source', { sourceAccountId: 'acc_000002' }],
  ['destination', { counterpartyId: 'cpty_000002' }],
  ['amount', { amount: '125.51' }],
  ['currency', { currency: 'USDT' }],
] as const)(
  'createOnce does not refuse a payment because of a payment in doubt with another %s',
  async (_, changes) => {
    const { pay, payments } = setup();
    await failureOf(pay(inputOf('invoice 4711')), PaymentInDoubtError);
    const error: unknown = await pay(inputOf('invoice 4712', changes)).catch(
      (reason: unknown) => reason,
    );
    expect(String(error)).not.toContain('invoice 4711');
    expect(payments).toBeDefined();
  },
);

test('createOnce refuses a new reference for a payment in doubt without a request even if the journal may lose entries', async () => {
  const { pay, payments, journal, sandbox } = setup();
  const forgetful = payments.withOptions({ journal: { ...journal, forgets: true } });
  sandbox.faults.clear();
  sandbox.faults.add({
    operation: 'transfers.create',
    fault: { kind: 'reset', when: 'before_commit' },
  });
  await failureOf(pay(inputOf('invoice 4711'), forgetful), PaymentInDoubtError);
  const before = sandbox.log.length;
  await failureOf(pay(inputOf('invoice 4712'), forgetful), PaymentInDoubtError);
  expect(sandbox.log).toHaveLength(before);
});

test('createOnce compares a payment with the payment in doubt by value, so the amount 125.5 equals 125.50', async () => {
  const { pay } = setup();
  await failureOf(pay(inputOf('invoice 4711')), PaymentInDoubtError);
  const same = inputOf('invoice 4712', { amount: '125.5', currency: 'USDC' });
  expect((await failureOf(pay(same), PaymentInDoubtError)).message).toContain('invoice 4711');
});

test('a payment in doubt makes createOnce refuse equal payments of a clone of the client, but not of a client with another journal', async () => {
  const { pay, payments, references } = setup();
  await failureOf(pay(inputOf('invoice 4711')), PaymentInDoubtError);
  const clone = payments.withOptions({ maxRetries: 1 });
  await failureOf(pay(inputOf('invoice 4712'), clone), PaymentInDoubtError);
  const other = payments.withOptions({ journal: memoryJournal() });
  await pay(inputOf('invoice 4713'), other);
  expect(references().toSorted()).toEqual(['invoice 4711', 'invoice 4713']);
});

test('createOnce accepts another payment with the same terms once any process has found out whether the payment in doubt was made', async () => {
  const { pay, references, sandbox, payments, journal } = setup();
  await failureOf(pay(inputOf('invoice 4711')), PaymentInDoubtError);
  sandbox.faults.clear();
  await pay(inputOf('invoice 4711'));
  await pay(inputOf('invoice 4712'));
  expect(references()).toHaveLength(2);
  // Another process decides the next payment by removing its claim.
  const fault = { kind: 'reset', when: 'after_commit' } as const;
  sandbox.faults.add({ operation: 'transfers.create', fault });
  sandbox.faults.add({ operation: 'transfers.list', fault: { kind: 'status', status: 503 } });
  await failureOf(pay(inputOf('invoice 4713')), PaymentInDoubtError);
  const entry = await journal.read('invoice 4713');
  await journal.swap('invoice 4713', entry, undefined);
  sandbox.faults.clear();
  await pay(inputOf('invoice 4714'), payments);
  expect(references()).toContain('invoice 4714');
});

test('createOnce allows an equal payment again after the payment in doubt is found, even if the journal could not record it', async () => {
  const { pay, references, sandbox, payments, journal } = setup();
  let isBroken = false;
  const swap: Journal['swap'] = (...swapped) =>
    isBroken ? Promise.reject(new Error('no connection')) : journal.swap(...swapped);
  const client = payments.withOptions({ journal: { ...journal, swap } });
  await failureOf(pay(inputOf('invoice 4711'), client), PaymentInDoubtError);
  sandbox.faults.clear();
  isBroken = true;
  expect((await pay(inputOf('invoice 4711'), client)).result).toBe('found');
  isBroken = false;
  await pay(inputOf('invoice 4712'), client);
  expect(references()).toEqual(['invoice 4711', 'invoice 4712']);
});

test('createOnce allows an equal payment again after the claim of the payment in doubt has expired', async () => {
  const { pay, references } = setup({ totalTimeout: 50, gracePeriod: 50 });
  await failureOf(pay(inputOf('invoice 4711')), PaymentInDoubtError);
  await new Promise((resolve) => setTimeout(resolve, 150));
  await pay(inputOf('invoice 4712'));
  expect(references()).toContain('invoice 4712');
});

test('createAllOnce makes 10,000 payments on a healthy platform even if 1,000 of them have equal terms', async () => {
  const sandbox = seedDemo(new Sandbox());
  const payments = new PaymentsClient({ ...sandbox.clientOptions, journal: memoryJournal() });
  sandbox.accounts.fund('acc_000001', '1000000');
  const equal = Array.from({ length: 1_000 }, (_, at) =>
    inputOf(`equal ${at}`, { amount: '1.00' }),
  );
  const others = Array.from({ length: 9_000 }, (_, at) =>
    inputOf(`other ${at}`, { amount: `${2 + at}.00` }),
  );
  sandbox.accounts.fund('acc_000001', '100000000');
  const { counts, unpaid } = await payments.transfers.createAllOnce([...equal, ...others]);
  expect(unpaid).toEqual([]);
  expect(counts.paid).toBe(10_000);
});
