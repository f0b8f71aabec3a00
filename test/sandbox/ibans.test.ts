import { Sandbox } from 'payments-platform-sdk/sandbox';
import { IbanSchema } from 'payments-platform-sdk/schemas';
import { expect, test } from 'vitest';
import { createAccounts } from '../support/platform.ts';
import { aString, call, matching } from './calls.ts';

/** The check that every bank makes: letters become numbers, and the whole leaves 1 modulo 97. */
function isValidIban(iban: string): boolean {
  const moved = iban.slice(4) + iban.slice(0, 4);
  const digits = moved.replaceAll(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  return BigInt(digits) % 97n === 1n;
}

test('creates an IBAN with valid check digits', async () => {
  const sandbox = new Sandbox({ clock: () => 0 });
  const { entity, source } = createAccounts(sandbox);
  const created = sandbox.ibans.create({ accountId: source.id });
  expect(created).toEqual({
    id: 'iban_000001',
    entityId: entity.id,
    accountId: source.id,
    iban: matching(/^DE\d{20}$/),
    bic: matching(/^[A-Z]{6}[A-Z0-9]{5}$/),
    bankName: aString,
    currency: 'EUR',
    status: 'active',
    createdAt: '1970-01-01T00:00:00.000Z',
  });
  for (let count = 0; count < 200; count += 1) {
    expect(sandbox.ibans.create({ accountId: source.id }).iban).toSatisfy(isValidIban);
  }
  expect(new Set(sandbox.ibans.list().map(({ iban }) => iban)).size).toBe(201);
  const one = await call(sandbox, 'GET', `/ibans/${created.id}`);
  expect(one.status).toBe(200);
  expect(one.body).toEqual(created);
  expect(IbanSchema.safeParse(one.body).success).toBe(true);
});

test('uses the fields of the input', () => {
  const sandbox = new Sandbox();
  const { entity, source } = createAccounts(sandbox);
  const input = {
    accountId: source.id,
    entityId: entity.id,
    iban: 'GB33BUKB20201555555555',
    bic: 'BUKBGB22XXX',
    bankName: 'An Example Bank',
    currency: 'GBP',
  };
  expect(sandbox.ibans.create(input)).toMatchObject(input);
});

test('rejects an IBAN when its Entity is not approved', () => {
  const sandbox = new Sandbox();
  const { id: entityId } = sandbox.entities.create({ email: 'a@b.example' });
  const { id: accountId } = sandbox.accounts.create({ entityId });
  for (const kycStatus of ['not_started', 'pending', 'under_review', 'rejected'] as const) {
    sandbox.entities.update(entityId, { kycStatus, tosStatus: 'approved' });
    expect(() => sandbox.ibans.create({ accountId })).toThrow(
      `has the KYC status ${kycStatus}; an IBAN needs approved`,
    );
  }
  sandbox.entities.approve(entityId);
  expect(sandbox.ibans.create({ accountId }).entityId).toBe(entityId);
});

test('rejects an Account of another Entity', () => {
  const sandbox = new Sandbox();
  const { source } = createAccounts(sandbox);
  const other = sandbox.entities.create({ email: 'b@example.com' });
  sandbox.entities.approve(other.id);
  const { ibans } = sandbox;
  expect(() => ibans.create({ accountId: 'acc_9' })).toThrow('no Account "acc_9" exists');
  expect(() => ibans.create({ accountId: source.id, entityId: other.id })).toThrow(
    'belongs to "ent_000001", not to "ent_000002"',
  );
  expect(() => ibans.create({ accountId: source.id, entityId: 'ent_9' })).toThrow('no Entity');
  // @ts-expect-error: an Account is needed
  expect(() => ibans.create({})).toThrow('accountId: this field is required');
  expect(ibans.list()).toEqual([]);
});

test('lists IBANs, filtered by Entity and by Account', async () => {
  const sandbox = new Sandbox();
  const { entity, source, destination } = createAccounts(sandbox);
  const other = sandbox.entities.create({ email: 'b@example.com' });
  sandbox.entities.approve(other.id);
  const theirs = sandbox.accounts.create({ entityId: other.id });
  const [one, two, three] = [source, destination, theirs].map(({ id }) =>
    sandbox.ibans.create({ accountId: id }),
  );
  const dataOf = async (query: string) => {
    const { body } = await call(sandbox, 'GET', `/ibans${query}`);
    return (body as { data: unknown }).data;
  };
  expect(await dataOf('')).toEqual([one, two, three]);
  expect(await dataOf(`?entityId=${entity.id}`)).toEqual([one, two]);
  expect(await dataOf(`?accountId=${destination.id}`)).toEqual([two]);
  expect(await dataOf(`?entityId=${entity.id}&accountId=${theirs.id}`)).toEqual([]);
});

test('accepts deposits until the IBAN is deleted', async () => {
  const sandbox = new Sandbox();
  const { source } = createAccounts(sandbox);
  const { id } = sandbox.ibans.create({ accountId: source.id });
  expect(sandbox.ibans.deposit(id, '0.25').availableBalance).toBe('100.25');
  expect(() => sandbox.ibans.deposit(id, '-1')).toThrow('Expected a decimal amount');

  const deleted = await call(sandbox, 'DELETE', `/ibans/${id}`);
  expect(deleted.status).toBe(204);
  expect(deleted.body).toBeUndefined();
  expect(() => sandbox.ibans.deposit(id, '1')).toThrow('was deleted, so deposits are rejected');
  expect(() => sandbox.ibans.deposit('iban_9', '1')).toThrow('No iban "iban_9" exists');
  expect(sandbox.accounts.get(source.id).availableBalance).toBe('100.25');
  for (const method of ['GET', 'DELETE']) {
    const { status, body } = await call(sandbox, method, `/ibans/${id}`);
    expect(status).toBe(404);
    expect(body).toMatchObject({ code: 'iban_not_found' });
  }
  expect(() => sandbox.ibans.get(id)).toThrow('No iban');
  expect(() => sandbox.ibans.delete(id)).toThrow('No iban');
});

test('a deposit updates updatedAt of the Account', () => {
  let now = 0;
  const sandbox = new Sandbox({ clock: () => (now += 1000) });
  const { source } = createAccounts(sandbox);
  const { id } = sandbox.ibans.create({ accountId: source.id });
  const { updatedAt } = sandbox.accounts.get(source.id);
  expect(sandbox.ibans.deposit(id, '1').updatedAt > updatedAt).toBe(true);
});
