import { NotFoundError } from 'payments-platform-sdk';
import { expect, test } from 'vitest';
import { failureOf } from '../support/clients.ts';
import { clientOfSeededSandbox } from '../support/platform.ts';

test('counterparties.get returns a counterparty with a masked account number', async () => {
  const { payments, sandbox } = clientOfSeededSandbox();
  const { id } = sandbox.counterparties.create({
    entityId: 'ent_000001',
    bankName: 'First Example Bank',
    accountNumber: '000123456789',
    routingNumber: '110000000',
  });
  const counterparty = await payments.counterparties.get(id);
  expect(counterparty).toMatchObject({
    type: 'bank_account',
    bankName: 'First Example Bank',
    routingNumber: '110000000',
    walletAddress: null,
    chain: null,
  });
  expect(counterparty.accountNumber).toMatch(/6789$/);
  expect(counterparty.accountNumber).not.toContain('12345');
});

test('counterparties.list returns the counterparties of an entity', async () => {
  const { payments, sandbox } = clientOfSeededSandbox();
  const { id } = sandbox.counterparties.create({ entityId: 'ent_000002' });
  const page = await payments.counterparties.list({ entityId: 'ent_000002' });
  expect(page.data.map((counterparty) => counterparty.id)).toEqual([id]);
  expect(await payments.counterparties.list().toArray({ max: 10 })).toHaveLength(3);
});

test('counterparties.delete makes a pending transfer to the counterparty fail', async () => {
  const { payments } = clientOfSeededSandbox();
  const transfer = await payments.transfers.create({
    sourceAccountId: 'acc_000001',
    counterpartyId: 'cpty_000001',
    amount: '1',
  });
  expect(await payments.counterparties.delete('cpty_000001')).toBeUndefined();
  expect(await payments.transfers.get(transfer.id)).toMatchObject({ status: 'failed' });
  await expect(payments.counterparties.get('cpty_000001')).rejects.toThrow(NotFoundError);
});

test('a second deletion rejects with NotFoundError', async () => {
  const { payments } = clientOfSeededSandbox();
  await payments.counterparties.delete('cpty_000002');
  const error = await failureOf(payments.counterparties.delete('cpty_000002'), NotFoundError);
  expect(error).toMatchObject({
    code: 'counterparty_not_found',
    operation: 'counterparties.delete',
    path: '/counterparties/{id}',
    outcome: 'rejected',
  });
});
