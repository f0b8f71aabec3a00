import { NotFoundError, PaymentsClient } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import { failureOf } from '../support/clients.ts';

const setup = () => {
  const sandbox = new Sandbox({ clock: () => Date.UTC(2026, 0, 1) });
  return { sandbox, payments: new PaymentsClient(sandbox.clientOptions) };
};

test('entities.create creates an individual with a verification that has not started', async () => {
  const { payments } = setup();
  const entity = await payments.entities.create({ email: 'ada@example.com', fullName: 'Ada' });
  expect(entity).toMatchObject({
    id: 'ent_000001',
    email: 'ada@example.com',
    type: 'individual',
    kycStatus: 'not_started',
    tosStatus: 'not_started',
    createdAt: '2026-01-01T00:00:00.000Z',
  });
  expect(entity.kycLink).toMatch(/^https:/);
  expect(entity.tosLink).toMatch(/^https:/);
  // The API reference leaves the status out of this response only.
  expect(entity).not.toHaveProperty('status');
});

test('entities.create creates a business', async () => {
  const { payments } = setup();
  const entity = await payments.entities.create({
    email: 'till@example.com',
    businessName: 'Corner Shop Ltd',
  });
  expect(entity.type).toBe('business');
});

test('entities.get returns the current verification of an entity', async () => {
  const { payments, sandbox } = setup();
  const { id } = await payments.entities.create({ email: 'ada@example.com' });
  expect(await payments.entities.get(id)).toMatchObject({
    status: 'active',
    kycStatus: 'not_started',
  });
  sandbox.entities.approve(id);
  expect(await payments.entities.get(id)).toMatchObject({
    kycStatus: 'approved',
    tosStatus: 'approved',
  });
});

test('entities.list returns every entity once', async () => {
  const { payments, sandbox } = setup();
  const made = ['a', 'b', 'c', 'd', 'e'].map(
    (name) => sandbox.entities.create({ email: `${name}@example.com` }).id,
  );
  const first = await payments.entities.list({ limit: 2 });
  expect(first.data.map(({ id }) => id)).toEqual(made.slice(0, 2));
  expect(first.hasMore).toBe(true);
  const all = await payments.entities.list({ limit: 2 }).toArray({ max: 100 });
  expect(all.map(({ id }) => id)).toEqual(made);
});

test('entities.get rejects with NotFoundError when the entity does not exist', async () => {
  const { payments } = setup();
  const error = await failureOf(payments.entities.get('ent_999999'), NotFoundError);
  expect(error).toMatchObject({ status: 404, code: 'entity_not_found', outcome: 'rejected' });
});
