import { Sandbox } from 'payments-platform-sdk/sandbox';
import { AccountCreatedSchema, AccountSchema } from 'payments-platform-sdk/schemas';
import { expect, test } from 'vitest';
import { createAccounts } from '../support/platform.ts';
import { aString, call, containing } from './calls.ts';

function ticking() {
  let now = Date.UTC(2026, 0, 1);
  return () => (now += 1000);
}

test('creates an Account and responds with the listed fields only', async () => {
  const sandbox = new Sandbox({ clock: () => 0 });
  const entity = sandbox.entities.create({ email: 'a@b.example' });
  const { status, body } = await call(sandbox, 'POST', '/accounts', {
    entityId: entity.id,
    name: 'Till',
    metadata: { shop: 7 },
  });
  expect(status).toBe(201);
  expect(body).toEqual({
    id: 'acc_000001',
    entityId: 'ent_000001',
    name: 'Till',
    type: 'wallet',
    chain: 'base',
    status: 'active',
    autoEarn: false,
    availableBalance: '0.00',
    currency: 'USDC',
    createdAt: '1970-01-01T00:00:00.000Z',
  });
  expect(AccountCreatedSchema.safeParse(body).success).toBe(true);
});

test('copies chain and auto-earn from the Settings when an Account is created', async () => {
  const sandbox = new Sandbox();
  const { id: entityId } = sandbox.entities.create({ email: 'a@b.example' });
  await call(sandbox, 'POST', '/accounts', { entityId });
  await call(sandbox, 'PATCH', '/platform/settings', {
    autoEarnEnabled: true,
    autoEarnVault: 'some_usds',
    defaultChain: 'polygon',
  });
  await call(sandbox, 'POST', '/accounts', { entityId });
  const [before, after] = sandbox.accounts.list();
  expect(before).toMatchObject({ chain: 'base', autoEarn: false, name: 'Account' });
  expect(after).toMatchObject({ chain: 'polygon', autoEarn: true });
});

test('rejects an Account when its Entity does not exist', async () => {
  const { status, body } = await call(new Sandbox(), 'POST', '/accounts', { entityId: 'ent_1' });
  expect(status).toBe(422);
  expect(body).toMatchObject({
    code: 'unknown_entity',
    error: containing('entityId'),
    details: { fields: { entityId: aString } },
  });
});

test('gets and lists Accounts with all their fields', async () => {
  const sandbox = new Sandbox();
  const { source } = createAccounts(sandbox);
  const one = await call(sandbox, 'GET', `/accounts/${source.id}`);
  expect(one.status).toBe(200);
  expect(one.body).toEqual(sandbox.accounts.get(source.id));
  expect(AccountSchema.safeParse(one.body).success).toBe(true);
  expect(one.body).toMatchObject({
    availableBalance: '100.00',
    pendingBalance: '0.00',
    lockedBalance: '0.00',
    holdingBalance: '0.00',
    metadata: {},
  });
  const all = await call(sandbox, 'GET', '/accounts');
  expect(all.body).toEqual({ data: sandbox.accounts.list(), hasMore: false, nextCursor: null });
});

test('PATCH changes the fields of its body, replaces metadata and updates updatedAt', async () => {
  const sandbox = new Sandbox({ clock: ticking() });
  const { source } = createAccounts(sandbox);
  const patch = (body: unknown) => call(sandbox, 'PATCH', `/accounts/${source.id}`, body);

  const first = await patch({ metadata: { a: 1, b: { c: [2n ** 70n] } } });
  expect(first.status).toBe(200);
  expect(AccountSchema.safeParse(first.body).success).toBe(true);
  expect(first.body).toMatchObject({ name: 'Source', metadata: { a: 1, b: { c: [2n ** 70n] } } });

  const second = await patch({ metadata: { d: null } });
  expect(second.body).toMatchObject({ name: 'Source', metadata: { d: null } });
  expect(second.body).not.toHaveProperty('metadata.a');

  const third = await patch({ name: 'Safe' });
  expect(third.body).toMatchObject({ name: 'Safe', metadata: { d: null } });
  expect(third.body).toEqual(sandbox.accounts.get(source.id));

  const { createdAt, updatedAt } = sandbox.accounts.get(source.id);
  expect(Date.parse(updatedAt)).toBeGreaterThan(Date.parse(createdAt));
  expect(second.body).not.toMatchObject({ updatedAt });
});

test('funding adds exactly and shows two decimals at least', () => {
  const sandbox = new Sandbox({ clock: ticking() });
  const { source, destination } = createAccounts(sandbox);
  expect(sandbox.accounts.fund(source.id, '0.1').availableBalance).toBe('100.10');
  expect(sandbox.accounts.fund(source.id, '0.2').availableBalance).toBe('100.30');
  expect(sandbox.accounts.fund(source.id, '0.000000000000000001').availableBalance).toBe(
    '100.300000000000000001',
  );
  expect(sandbox.accounts.fund(source.id, '0.699999999999999999').availableBalance).toBe('101.00');
  const { createdAt, updatedAt } = sandbox.accounts.get(source.id);
  expect(updatedAt > createdAt).toBe(true);
  expect(sandbox.accounts.get(destination.id).availableBalance).toBe('5.00');
});

test.each(['0', '0.00', '-1', '1e3', '', ' 1', '1.', '.5', '1.0000000000000000001', 'ten', '1,5'])(
  'funding rejects %o',
  (amount) => {
    const sandbox = new Sandbox();
    const { source } = createAccounts(sandbox);
    expect(() => sandbox.accounts.fund(source.id, amount)).toThrow(/amount/);
    expect(sandbox.accounts.get(source.id).availableBalance).toBe('100.00');
  },
);

test('funding rejects a number and an unknown Account', () => {
  const sandbox = new Sandbox();
  const { source } = createAccounts(sandbox);
  // @ts-expect-error: amounts are strings
  expect(() => sandbox.accounts.fund(source.id, 5)).toThrow('got number');
  expect(() => sandbox.accounts.fund('acc_9', '5')).toThrow('No account "acc_9" exists');
});

test('the sandbox creates Accounts of types, currencies and chains that the API cannot', () => {
  const sandbox = new Sandbox();
  const { entity } = createAccounts(sandbox);
  const account = sandbox.accounts.create({
    entityId: entity.id,
    type: 'bank',
    currency: 'EUR',
    chain: 'ethereum',
  });
  expect(account).toMatchObject({ type: 'bank', currency: 'EUR', chain: 'ethereum' });
  expect(() => sandbox.accounts.create({ entityId: 'ent_9' })).toThrow('no Entity "ent_9"');
  expect(() =>
    // @ts-expect-error: there is no such type
    sandbox.accounts.create({ entityId: entity.id, type: 'shoe' }),
  ).toThrow('type: expected one of wallet, bank');
});

test('the sandbox makes an Account inactive and active again', () => {
  const sandbox = new Sandbox();
  const { source } = createAccounts(sandbox);
  expect(sandbox.accounts.update(source.id, { status: 'inactive' }).status).toBe('inactive');
  expect(sandbox.accounts.update(source.id, { name: 'Old' })).toMatchObject({
    status: 'inactive',
    name: 'Old',
  });
  expect(sandbox.accounts.update(source.id, { status: 'active' }).status).toBe('active');
});

test('metadata does not change when the caller changes its object', () => {
  const sandbox = new Sandbox();
  const { entity } = createAccounts(sandbox);
  const metadata = { list: [1] };
  const { id } = sandbox.accounts.create({ entityId: entity.id, metadata });
  metadata.list.push(2);
  const seen = sandbox.accounts.get(id).metadata;
  expect(seen).toEqual({ list: [1] });
  Object.assign(seen ?? {}, { extra: true });
  expect(sandbox.accounts.get(id).metadata).toEqual({ list: [1] });
});
