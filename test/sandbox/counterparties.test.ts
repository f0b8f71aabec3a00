import { Sandbox } from 'payments-platform-sdk/sandbox';
import { CounterpartySchema } from 'payments-platform-sdk/schemas';
import { expect, test } from 'vitest';
import { createAccounts } from '../support/platform.ts';
import { call } from './calls.ts';

test('creates a bank account and masks its number', async () => {
  const sandbox = new Sandbox({ clock: () => 0 });
  const { entity } = createAccounts(sandbox);
  const created = sandbox.counterparties.create({
    entityId: entity.id,
    name: 'Green Bean Imports',
    type: 'bank_account',
    bankName: 'First Example Bank',
    accountNumber: '000123456789',
    routingNumber: '110000000',
  });
  expect(created).toEqual({
    id: 'cpty_000001',
    entityId: entity.id,
    name: 'Green Bean Imports',
    type: 'bank_account',
    bankName: 'First Example Bank',
    accountNumber: '****6789',
    routingNumber: '110000000',
    walletAddress: null,
    chain: null,
    createdAt: '1970-01-01T00:00:00.000Z',
  });
  const one = await call(sandbox, 'GET', '/counterparties/cpty_000001');
  expect(one.status).toBe(200);
  expect(one.body).toEqual(created);
  expect(CounterpartySchema.safeParse(one.body).success).toBe(true);
  expect(sandbox.counterparties.get(created.id)).toEqual(created);
});

test('masks at least half of a short account number', () => {
  const sandbox = new Sandbox();
  const { entity } = createAccounts(sandbox);
  const masked = (accountNumber: string) =>
    sandbox.counterparties.create({ entityId: entity.id, accountNumber }).accountNumber;
  expect(masked('1234')).toBe('****34');
  expect(masked('1234567')).toBe('****567');
  expect(masked('12345678')).toBe('****5678');
});

test('creates a wallet', () => {
  const sandbox = new Sandbox();
  const { entity } = createAccounts(sandbox);
  const wallet = sandbox.counterparties.create({
    entityId: entity.id,
    name: 'Treasury',
    type: 'wallet',
    walletAddress: '0x00000000000000000000000000000000000000aa',
    chain: 'optimism',
  });
  expect(wallet).toMatchObject({
    type: 'wallet',
    walletAddress: '0x00000000000000000000000000000000000000aa',
    chain: 'optimism',
    bankName: null,
    accountNumber: null,
    routingNumber: null,
  });
});

test('makes up absent fields the same way in every sandbox', () => {
  const make = () => {
    const sandbox = new Sandbox({ clock: () => 0 });
    const { entity } = createAccounts(sandbox);
    sandbox.settings.update({ defaultChain: 'arbitrum' });
    return [
      sandbox.counterparties.create({ entityId: entity.id }),
      sandbox.counterparties.create({ entityId: entity.id, bankName: 'B' }),
      sandbox.counterparties.create({ entityId: entity.id, type: 'bank_account' }),
    ];
  };
  const [wallet, bank, other] = make();
  expect(make()).toEqual([wallet, bank, other]);
  expect(wallet).toMatchObject({ type: 'wallet', name: 'Counterparty', chain: 'arbitrum' });
  expect(wallet?.walletAddress).toMatch(/^0x[0-9a-f]{40}$/);
  expect(bank).toMatchObject({ type: 'bank_account', bankName: 'B' });
  expect(other?.accountNumber).toMatch(/^\*{4}\d{4}$/);
  expect(other?.routingNumber).toMatch(/^\d{9}$/);
  expect(other?.routingNumber).not.toBe(bank?.routingNumber);
});

test('rejects fields of the other type, malformed numbers and unknown Entities', () => {
  const sandbox = new Sandbox();
  const { entity } = createAccounts(sandbox);
  const { id: entityId } = entity;
  const { counterparties } = sandbox;
  expect(() => counterparties.create({ entityId, type: 'wallet', bankName: 'B' })).toThrow(
    'bankName: a Counterparty of type wallet has no such field',
  );
  expect(() => counterparties.create({ entityId, walletAddress: '0x1', bankName: 'B' })).toThrow(
    'walletAddress: a Counterparty of type bank_account has no such field',
  );
  expect(() => counterparties.create({ entityId, accountNumber: '123' })).toThrow(
    'accountNumber: expected an account number of 4 characters or more',
  );
  expect(() => counterparties.create({ entityId: 'ent_9' })).toThrow('no Entity "ent_9"');
  // @ts-expect-error: there is no such type
  expect(() => counterparties.create({ entityId, type: 'shoe' })).toThrow('expected one of wallet');
  expect(counterparties.list()).toEqual([]);
});

test('lists Counterparties, filtered by Entity', async () => {
  const sandbox = new Sandbox();
  const { entity } = createAccounts(sandbox);
  const other = sandbox.entities.create({ email: 'b@example.com' });
  const mine = sandbox.counterparties.create({ entityId: entity.id });
  const theirs = sandbox.counterparties.create({ entityId: other.id });
  const all = await call(sandbox, 'GET', '/counterparties');
  expect(all.body).toEqual({ data: [mine, theirs], hasMore: false, nextCursor: null });
  const some = await call(sandbox, 'GET', `/counterparties?entityId=${other.id}`);
  expect(some.body).toMatchObject({ data: [theirs] });
  expect(sandbox.counterparties.list()).toEqual([mine, theirs]);
});

test('DELETE responds with 204 and removes the Counterparty', async () => {
  const sandbox = new Sandbox();
  const { entity } = createAccounts(sandbox);
  const { id } = sandbox.counterparties.create({ entityId: entity.id });
  const kept = sandbox.counterparties.create({ entityId: entity.id });
  const deleted = await call(sandbox, 'DELETE', `/counterparties/${id}`);
  expect(deleted.status).toBe(204);
  expect(deleted.body).toBeUndefined();
  for (const method of ['GET', 'DELETE']) {
    const { status, body } = await call(sandbox, method, `/counterparties/${id}`);
    expect(status).toBe(404);
    expect(body).toMatchObject({ code: 'counterparty_not_found', details: null });
  }
  expect(sandbox.counterparties.list()).toEqual([kept]);
  expect(sandbox.counterparties.create({ entityId: entity.id }).id).toBe('cpty_000003');
});

test('DELETE fails the pending transfers to the Counterparty and no others', async () => {
  const sandbox = new Sandbox();
  const { entity, source, destination } = createAccounts(sandbox);
  const [gone, kept] = ['a', 'b'].map((name) =>
    sandbox.counterparties.create({ entityId: entity.id, name }),
  );
  if (gone === undefined || kept === undefined) throw new Error('two were created');
  const send = (target: { counterpartyId: `cpty_${string}` }, amount: string) =>
    sandbox.transfers.create({ sourceAccountId: source.id, amount, ...target }).id;
  const pending = send({ counterpartyId: gone.id }, '1');
  const processing = send({ counterpartyId: gone.id }, '2');
  sandbox.transfers.advance(processing);
  const elsewhere = send({ counterpartyId: kept.id }, '4');
  const book = sandbox.transfers.create({
    sourceAccountId: source.id,
    destinationAccountId: destination.id,
    amount: '8',
  }).id;
  expect(sandbox.accounts.get(source.id).lockedBalance).toBe('15.00');
  await call(sandbox, 'DELETE', `/counterparties/${gone.id}`);
  const statusOf = (id: string) => sandbox.transfers.get(id).status;
  expect([pending, processing, elsewhere, book].map(statusOf)).toEqual([
    'failed',
    'processing',
    'pending',
    'pending',
  ]);
  expect(sandbox.accounts.get(source.id)).toMatchObject({
    availableBalance: '86.00',
    lockedBalance: '14.00',
  });
  sandbox.counterparties.delete(kept.id);
  expect(statusOf(elsewhere)).toBe('failed');
  expect(() => sandbox.counterparties.delete(kept.id)).toThrow('No counterparty');
});

test('creates a Counterparty from one that was read, with null as absent', () => {
  const sandbox = new Sandbox({ clock: () => new Date('2026-01-01T00:00:00Z') });
  const { entity } = createAccounts(sandbox);
  for (const type of ['wallet', 'bank_account'] as const) {
    const { id, createdAt, ...read } = sandbox.counterparties.create({ entityId: entity.id, type });
    const again = sandbox.counterparties.create({ ...read, type });
    expect(again).toMatchObject({ ...read, id: expect.not.stringMatching(id) });
    expect(createdAt).toBe(again.createdAt);
  }
});
