import { NotFoundError, UnprocessableEntityError } from 'payments-platform-sdk';
import { expect, test } from 'vitest';
import { failureOf } from '../support/clients.ts';
import { clientOfSeededSandbox } from '../support/platform.ts';

const book = {
  sourceAccountId: 'acc_000001',
  destinationAccountId: 'acc_000002',
  amount: '12.50',
} as const;

test('transfers.create moves money between two accounts', async () => {
  const { payments, sandbox } = clientOfSeededSandbox();
  const created = await payments.transfers.create({ ...book, description: 'Rent' });
  expect(created).toEqual({
    id: 'txfr_000003',
    status: 'pending',
    type: 'book',
    createdAt: '2026-01-15T00:00:00.000Z',
  });
  expect(await payments.transfers.get(created.id)).toEqual({
    ...created,
    ...book,
    currency: 'USDC',
    direction: 'outgoing',
    description: 'Rent',
  });
  sandbox.transfers.advance(created.id);
  sandbox.transfers.advance(created.id);
  expect(await payments.accounts.get('acc_000002')).toMatchObject({ availableBalance: '1012.50' });
});

test('transfers.create sends money to a counterparty', async () => {
  const { payments } = clientOfSeededSandbox();
  const created = await payments.transfers.create({
    sourceAccountId: 'acc_000001',
    counterpartyId: 'cpty_000001',
    amount: '1',
  });
  expect(created.type).toBe('on_chain');
  expect(await payments.transfers.get(created.id)).toMatchObject({
    counterpartyId: 'cpty_000001',
    amount: '1',
  });
});

test('an amount is sent with all its digits', async () => {
  const { payments, requests } = clientOfSeededSandbox();
  for (const amount of ['0.10', '7', '100.000000000000000001']) {
    await payments.transfers.create({ ...book, amount });
    expect(requests.at(-1)?.body).toContain(`"amount":"${amount}"`);
    const { data } = await payments.transfers.list({ limit: 100 });
    expect(data.at(-1)?.amount).toBe(amount);
  }
});

test('transfers.create accepts the largest and the smallest amount', async () => {
  const { payments } = clientOfSeededSandbox();
  const largest = `${'9'.repeat(30)}.${'9'.repeat(18)}`;
  await expect(payments.transfers.create({ ...book, amount: largest })).rejects.toThrow(
    UnprocessableEntityError,
  );
  const smallest = `0.${'0'.repeat(17)}1`;
  await expect(payments.transfers.create({ ...book, amount: smallest })).resolves.toMatchObject({
    status: 'pending',
  });
});

test('each call of transfers.create sends one transfer', async () => {
  const { payments, sandbox, requests } = clientOfSeededSandbox();
  const before = sandbox.transfers.list().length;
  const call = payments.transfers.create(book);
  // A call is sent once although its promise is awaited twice.
  await Promise.all([call, call, call.withResponse(), call.then(({ id }) => id)]);
  expect(sandbox.transfers.list()).toHaveLength(before + 1);
  expect(requests).toHaveLength(1);
});

test('transfers.list returns the transfers of an account', async () => {
  const { payments, sandbox } = clientOfSeededSandbox();
  const { id } = sandbox.accounts.create({ entityId: 'ent_000002' });
  sandbox.accounts.fund(id, '5');
  sandbox.transfers.create({ ...book, sourceAccountId: id, amount: '5' });
  const ofThatAccount = await payments.transfers.list({ accountId: id });
  expect(ofThatAccount.data.map(({ sourceAccountId }) => sourceAccountId)).toEqual([id]);
  const all = await payments.transfers.list();
  expect(all.data).toHaveLength(3);
});

test('transfers.create rejects missing funds and moves no money', async () => {
  const { payments, sandbox } = clientOfSeededSandbox();
  const before = sandbox.accounts.get('acc_000001');
  const error = await failureOf(
    payments.transfers.create({ ...book, amount: '1000000' }),
    UnprocessableEntityError,
  );
  expect(error).toMatchObject({
    status: 422,
    code: 'insufficient_funds',
    details: { availableBalance: '997.00', amount: '1000000' },
    outcome: 'rejected',
    retryable: false,
  });
  expect(sandbox.accounts.get('acc_000001')).toEqual(before);
});

test('transfers.get rejects with NotFoundError when the transfer does not exist', async () => {
  const { payments } = clientOfSeededSandbox();
  await expect(payments.transfers.get('txfr_999999')).rejects.toThrow(NotFoundError);
});
