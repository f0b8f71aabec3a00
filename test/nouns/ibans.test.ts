import { NotFoundError } from 'payments-platform-sdk';
import { SandboxError } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import { clientOfSeededSandbox } from '../support/platform.ts';

test('ibans.get returns an IBAN with the destination of its deposits', async () => {
  const { payments } = clientOfSeededSandbox();
  expect(await payments.ibans.get('iban_000001')).toMatchObject({
    entityId: 'ent_000001',
    accountId: 'acc_000001',
    currency: 'EUR',
    status: 'active',
  });
});

test('ibans.list filters by entity and by account', async () => {
  const { payments, sandbox } = clientOfSeededSandbox();
  const { id: accountId } = sandbox.accounts.create({ entityId: 'ent_000002' });
  const { id } = sandbox.ibans.create({ accountId });
  const idsOf = async (query?: Parameters<typeof payments.ibans.list>[0]) =>
    (await payments.ibans.list(query)).data.map((iban) => iban.id);
  expect(await idsOf({ entityId: 'ent_000002' })).toEqual([id]);
  expect(await idsOf({ accountId: 'acc_000001' })).toEqual(['iban_000001', 'iban_000002']);
  expect(await idsOf({ accountId: 'acc_000001', entityId: 'ent_000002' })).toEqual([]);
  expect(await idsOf()).toHaveLength(3);
});

test('a deposit to an IBAN is rejected after its deletion', async () => {
  const { payments, sandbox } = clientOfSeededSandbox();
  expect(await payments.ibans.delete('iban_000001')).toBeUndefined();
  await expect(payments.ibans.get('iban_000001')).rejects.toThrow(NotFoundError);
  expect(() => sandbox.ibans.deposit('iban_000001', '10')).toThrow(SandboxError);
  await expect(payments.ibans.delete('iban_000001')).rejects.toMatchObject({
    name: 'NotFoundError',
    operation: 'ibans.delete',
    code: 'iban_not_found',
  });
});
