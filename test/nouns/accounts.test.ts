import { NotFoundError, UnprocessableEntityError } from 'payments-platform-sdk';
import { expect, test } from 'vitest';
import { failureOf } from '../support/clients.ts';
import { clientOfSeededSandbox } from '../support/platform.ts';

test('accounts.create uses the default chain and the auto-earn of the settings', async () => {
  const { payments } = clientOfSeededSandbox();
  await payments.settings.update({
    autoEarnEnabled: true,
    autoEarnVault: 'example_usds',
    defaultChain: 'arbitrum',
  });
  const account = await payments.accounts.create({ entityId: 'ent_000001', name: 'Payroll' });
  expect(account).toEqual({
    id: 'acc_000003',
    entityId: 'ent_000001',
    name: 'Payroll',
    type: 'wallet',
    chain: 'arbitrum',
    status: 'active',
    autoEarn: true,
    availableBalance: expect.stringMatching(/^0(\.0+)?$/),
    currency: 'USDC',
    createdAt: '2026-01-15T00:00:00.000Z',
  });
});

test('accounts.get returns an account with its four balances', async () => {
  const { payments } = clientOfSeededSandbox();
  const account = await payments.accounts.get('acc_000001');
  // 1000 were received; two pending transfers of 1.00 and 2.00 hold their amounts.
  expect(account).toMatchObject({
    availableBalance: '997.00',
    pendingBalance: '0.00',
    lockedBalance: '3.00',
    holdingBalance: '0.00',
  });
});

test('metadata is returned as it was sent', async () => {
  const { payments } = clientOfSeededSandbox();
  const metadata = {
    text: 'Ünïcode 🦊 "quoted" \\ \u2028',
    none: null,
    flag: false,
    number: -1.5e-7,
    huge: 9_007_199_254_740_993n,
    list: [1, 'two', [true], {}],
    nested: { deeper: { deepest: '' } },
  };
  const { id } = await payments.accounts.create({ entityId: 'ent_000001', metadata });
  const account = await payments.accounts.get(id);
  expect(account.metadata).toEqual(metadata);
});

test('undefined in metadata is dropped and null is kept', async () => {
  const { payments, requests } = clientOfSeededSandbox();
  await payments.accounts.create({
    entityId: 'ent_000001',
    name: undefined,
    metadata: { gone: undefined, kept: null },
  });
  expect(requests[0]?.body).toBe('{"entityId":"ent_000001","metadata":{"kept":null}}');
});

test('a date in metadata is sent as an ISO 8601 string', async () => {
  const { payments, requests } = clientOfSeededSandbox();
  const since = new Date(Date.UTC(2026, 4, 1));
  await payments.accounts.update('acc_000001', { metadata: { since } });
  expect(requests[0]?.body).toBe('{"metadata":{"since":"2026-05-01T00:00:00.000Z"}}');
});

test('accounts.update changes the name and nothing else', async () => {
  const { payments } = clientOfSeededSandbox();
  const { id } = await payments.accounts.create({
    entityId: 'ent_000001',
    name: 'Before',
    metadata: { colour: 'blue' },
  });
  const updated = await payments.accounts.update(id, { name: 'After' });
  expect(updated).toMatchObject({ id, name: 'After', metadata: { colour: 'blue' } });
  expect(await payments.accounts.get(id)).toEqual(updated);
});

test('accounts.list returns accounts with full balances', async () => {
  const { payments } = clientOfSeededSandbox();
  const { data, hasMore, nextCursor } = await payments.accounts.list();
  expect(data.map(({ id }) => id)).toEqual(['acc_000001', 'acc_000002']);
  expect(data[1]).toMatchObject({ availableBalance: '1000.00', pendingBalance: '3.00' });
  expect({ hasMore, nextCursor }).toEqual({ hasMore: false, nextCursor: null });
});

test('accounts.create rejects an entity that does not exist', async () => {
  const { payments } = clientOfSeededSandbox();
  const error = await failureOf(
    payments.accounts.create({ entityId: 'ent_999999' }),
    UnprocessableEntityError,
  );
  expect(error).toMatchObject({ status: 422, code: 'unknown_entity', outcome: 'rejected' });
});

test('accounts.get rejects with NotFoundError when the account does not exist', async () => {
  const { payments } = clientOfSeededSandbox();
  for (const call of [
    payments.accounts.get('acc_999999'),
    payments.accounts.update('acc_999999', { name: 'Nobody' }),
  ]) {
    await expect(call).rejects.toThrow(NotFoundError);
  }
});
