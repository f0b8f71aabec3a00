import { Sandbox, SandboxError } from 'payments-platform-sdk/sandbox';
import { EntityCreatedSchema, EntitySchema } from 'payments-platform-sdk/schemas';
import { expect, test } from 'vitest';
import { call, matching } from './calls.ts';

const clock = () => Date.UTC(2026, 0, 31, 12);

test('creates an unverified Entity and responds without its status', async () => {
  const sandbox = new Sandbox({ clock });
  const { status, body } = await call(sandbox, 'POST', '/entities', {
    email: 'ada@example.com',
    fullName: 'Ada Marsh',
  });
  expect(status).toBe(201);
  expect(body).toEqual({
    id: 'ent_000001',
    email: 'ada@example.com',
    type: 'individual',
    kycStatus: 'not_started',
    tosStatus: 'not_started',
    kycLink: matching(/^https:\/\/.*ent_000001$/),
    tosLink: matching(/^https:\/\/.*ent_000001$/),
    createdAt: '2026-01-31T12:00:00.000Z',
  });
  expect(EntityCreatedSchema.safeParse(body).success).toBe(true);
});

test('a business name makes an Entity a business', async () => {
  const sandbox = new Sandbox();
  await call(sandbox, 'POST', '/entities', { email: 'a@b.example', businessName: 'B Ltd' });
  expect(sandbox.entities.get('ent_000001').type).toBe('business');
});

test('gets and lists Entities with their status', async () => {
  const sandbox = new Sandbox();
  sandbox.entities.create({ email: 'one@example.com' });
  sandbox.entities.create({ email: 'two@example.com' });
  const one = await call(sandbox, 'GET', '/entities/ent_000001');
  expect(one.status).toBe(200);
  expect(one.body).toMatchObject({ id: 'ent_000001', status: 'active' });
  expect(EntitySchema.safeParse(one.body).success).toBe(true);
  const all = await call(sandbox, 'GET', '/entities');
  expect(all.body).toEqual({ data: sandbox.entities.list(), hasMore: false, nextCursor: null });
  expect(sandbox.entities.list().map(({ email }) => email)).toEqual([
    'one@example.com',
    'two@example.com',
  ]);
});

test('approves and rejects an Entity and sets any documented status', () => {
  const sandbox = new Sandbox();
  const { id } = sandbox.entities.create({ email: 'a@b.example' });
  expect(sandbox.entities.approve(id)).toMatchObject({
    kycStatus: 'approved',
    tosStatus: 'approved',
    status: 'active',
  });
  expect(sandbox.entities.reject(id)).toMatchObject({
    kycStatus: 'rejected',
    tosStatus: 'approved',
  });
  expect(sandbox.entities.update(id, { status: 'inactive', tosStatus: 'pending' })).toMatchObject({
    status: 'inactive',
    kycStatus: 'rejected',
    tosStatus: 'pending',
  });
  expect(sandbox.entities.get(id)).toMatchObject({ status: 'inactive', tosStatus: 'pending' });
  expect(() =>
    // @ts-expect-error: no such status is documented
    sandbox.entities.update(id, { kycStatus: 'done' }),
  ).toThrow(/kycStatus: expected one of not_started, pending/);
});

test('the direct methods reject invalid input and unknown Entities', () => {
  const sandbox = new Sandbox();
  expect(() => sandbox.entities.create({ email: 'nobody' })).toThrow(/email: expected an email/);
  expect(() => sandbox.entities.approve('ent_9')).toThrow(SandboxError);
  expect(() => sandbox.entities.get('ent_9')).toThrow('No entity "ent_9" exists');
  expect(sandbox.entities.list()).toEqual([]);
});

test('a method returns a copy', () => {
  const sandbox = new Sandbox();
  const entity = sandbox.entities.create({ email: 'a@b.example' });
  Object.assign(entity, { email: 'changed' });
  expect(sandbox.entities.get(entity.id).email).toBe('a@b.example');
});
