import { Sandbox, SandboxError } from 'payments-platform-sdk/sandbox';
import { TransferSchema } from 'payments-platform-sdk/schemas';
import { expect, test } from 'vitest';
import { createAccounts } from '../support/platform.ts';
import { call, matching } from './calls.ts';
import { transferCreatedSchema } from '../../src/schemas/transfer.ts';

function setup() {
  const sandbox = new Sandbox({ clock: () => Date.UTC(2026, 1, 1) });
  const parts = createAccounts(sandbox);
  const { id: entityId } = parts.entity;
  const wallet = sandbox.counterparties.create({ entityId, type: 'wallet' });
  const bank = sandbox.counterparties.create({ entityId, type: 'bank_account' });
  const balances = (id: string) => {
    const account = sandbox.accounts.get(id);
    return [account.availableBalance, account.pendingBalance, account.lockedBalance];
  };
  return {
    ...parts,
    sandbox,
    wallet,
    bank,
    balances,
    bothBalances: () => [balances(parts.source.id), balances(parts.destination.id)],
    book: (amount: string) =>
      sandbox.transfers.create({
        sourceAccountId: parts.source.id,
        destinationAccountId: parts.destination.id,
        amount,
      }),
  };
}

test('POST /transfers creates a book transfer and returns four fields', async () => {
  const { sandbox, source, destination } = setup();
  const { status, body } = await call(sandbox, 'POST', '/transfers', {
    sourceAccountId: source.id,
    destinationAccountId: destination.id,
    amount: '12.50',
    description: 'Rent',
  });
  expect(status).toBe(201);
  expect(body).toEqual({
    id: 'txfr_000001',
    status: 'pending',
    type: 'book',
    createdAt: '2026-02-01T00:00:00.000Z',
  });
  expect(transferCreatedSchema().safeParse(body).success).toBe(true);
  const one = await call(sandbox, 'GET', '/transfers/txfr_000001');
  expect(one.body).toEqual({
    id: 'txfr_000001',
    sourceAccountId: source.id,
    destinationAccountId: destination.id,
    amount: '12.50',
    currency: 'USDC',
    type: 'book',
    status: 'pending',
    direction: 'outgoing',
    description: 'Rent',
    createdAt: '2026-02-01T00:00:00.000Z',
  });
  expect(TransferSchema.safeParse(one.body).success).toBe(true);
});

test('a Counterparty’s type decides the type of the transfer', async () => {
  const { sandbox, source, wallet, bank } = setup();
  const terms = { sourceAccountId: source.id, amount: '1' };
  await call(sandbox, 'POST', '/transfers', { ...terms, counterpartyId: wallet.id });
  await call(sandbox, 'POST', '/transfers', { ...terms, counterpartyId: bank.id });
  const [toWallet, toBank] = sandbox.transfers.list();
  expect(toWallet).toMatchObject({ type: 'on_chain', counterpartyId: wallet.id });
  expect(toBank).toMatchObject({ type: 'wire', counterpartyId: bank.id });
  expect(toWallet).not.toHaveProperty('destinationAccountId');
  expect(toWallet).not.toHaveProperty('description');
});

test('transfers.advance moves money between two Accounts step by step', () => {
  const { sandbox, book, bothBalances } = setup();
  const { id } = book('12.345');
  expect(bothBalances()).toEqual([
    ['87.655', '0.00', '12.345'],
    ['5.00', '12.345', '0.00'],
  ]);
  expect(sandbox.transfers.advance(id).status).toBe('processing');
  expect(bothBalances()[0]).toEqual(['87.655', '0.00', '12.345']);
  expect(sandbox.transfers.advance(id).status).toBe('completed');
  expect(bothBalances()).toEqual([
    ['87.655', '0.00', '0.00'],
    ['17.345', '0.00', '0.00'],
  ]);
  expect(sandbox.transfers.get(id).amount).toBe('12.345');
});

test('money to a Counterparty leaves the sandbox at completion', () => {
  const { sandbox, source, bank, balances } = setup();
  const { id } = sandbox.transfers.create({
    sourceAccountId: source.id,
    counterpartyId: bank.id,
    amount: '100.00',
  });
  expect(balances(source.id)).toEqual(['0.00', '0.00', '100.00']);
  sandbox.transfers.advance(id);
  sandbox.transfers.advance(id);
  expect(balances(source.id)).toEqual(['0.00', '0.00', '0.00']);
});

test.each([
  ['a pending transfer fails', 0, 'fail', 'failed'],
  ['a processing transfer fails', 1, 'fail', 'failed'],
  ['a pending transfer is cancelled', 0, 'cancel', 'cancelled'],
] as const)('the source Account gets its money back if %s', (_name, steps, move, status) => {
  const { sandbox, book, bothBalances } = setup();
  const before = bothBalances();
  const { id } = book('40');
  for (let step = 0; step < steps; step += 1) sandbox.transfers.advance(id);
  expect(sandbox.transfers[move](id).status).toBe(status);
  expect(sandbox.transfers.get(id).status).toBe(status);
  expect(bothBalances()).toEqual(before);
});

test('transfers.advance, transfers.fail and transfers.cancel reject a transfer that has ended', () => {
  const { sandbox, book, bothBalances } = setup();
  const completed = book('1').id;
  sandbox.transfers.advance(completed);
  sandbox.transfers.advance(completed);
  const failed = book('1').id;
  sandbox.transfers.fail(failed);
  const cancelled = book('1').id;
  sandbox.transfers.cancel(cancelled);
  const before = bothBalances();
  for (const id of [completed, failed, cancelled]) {
    for (const move of ['advance', 'fail', 'cancel'] as const) {
      expect(() => sandbox.transfers[move](id)).toThrow(/can no longer be/);
    }
  }
  expect(bothBalances()).toEqual(before);
});

test('transfers.cancel rejects a transfer that is already processing', () => {
  const { sandbox, book, bothBalances } = setup();
  const { id } = book('1');
  sandbox.transfers.advance(id);
  const before = bothBalances();
  expect(() => sandbox.transfers.cancel(id)).toThrow(
    `The transfer "${id}" is processing; only a pending one can be cancelled.`,
  );
  expect(bothBalances()).toEqual(before);
  try {
    sandbox.transfers.cancel(id);
  } catch (error) {
    expect(error).toBeInstanceOf(SandboxError);
    expect(error).toMatchObject({ name: 'SandboxError', code: 'invalid_transition', status: 409 });
  }
});

test('POST /transfers rejects an amount just above the available balance', async () => {
  const { sandbox, source, destination, bothBalances } = setup();
  const before = bothBalances();
  const terms = { sourceAccountId: source.id, destinationAccountId: destination.id };
  const { status, body } = await call(sandbox, 'POST', '/transfers', {
    ...terms,
    amount: '100.000000000000000001',
  });
  expect(status).toBe(422);
  expect(body).toMatchObject({
    code: 'insufficient_funds',
    details: { availableBalance: '100.00', amount: '100.000000000000000001' },
  });
  expect(bothBalances()).toEqual(before);
  expect(sandbox.transfers.list()).toEqual([]);
  expect((await call(sandbox, 'POST', '/transfers', { ...terms, amount: '100' })).status).toBe(201);
  expect((await call(sandbox, 'POST', '/transfers', { ...terms, amount: '0.01' })).status).toBe(
    422,
  );
});

test('a transfer cannot spend the locked or pending balance', async () => {
  const { sandbox, source, destination, book } = setup();
  book('60');
  const back = await call(sandbox, 'POST', '/transfers', {
    sourceAccountId: destination.id,
    destinationAccountId: source.id,
    amount: '6',
  });
  expect(back.body).toMatchObject({ code: 'insufficient_funds' });
  expect(() => book('41')).toThrow(/available balance/);
});

test.each([
  [
    'both destinations',
    { destinationAccountId: 'acc_000002', counterpartyId: 'cpty_000001' },
    /^got counterpartyId, too/,
  ],
  ['no destination', {}, /^expected destinationAccountId or/],
])('POST /transfers of the sandbox rejects a body with %s', async (_name, destinations, says) => {
  const { sandbox, source } = setup();
  const { status, body } = await call(sandbox, 'POST', '/transfers', {
    sourceAccountId: source.id,
    amount: '1',
    ...destinations,
  });
  expect(status).toBe(422);
  expect(body).toMatchObject({
    code: 'validation_failed',
    details: { fields: { destinationAccountId: matching(says) } },
  });
});

test('a response 422 to POST /transfers names the unsuitable Account or Counterparty', async () => {
  const { sandbox, entity, source, destination } = setup();
  const euros = sandbox.accounts.create({ entityId: entity.id, currency: 'EUR' });
  const closed = sandbox.accounts.create({ entityId: entity.id });
  sandbox.accounts.update(closed.id, { status: 'inactive' });
  const rejection = async (terms: Record<string, string>) => {
    const response = await call(sandbox, 'POST', '/transfers', {
      sourceAccountId: source.id,
      amount: '1',
      ...terms,
    });
    expect(response.status).toBe(422);
    const { code, error, details } = response.body as {
      code: string;
      error: string;
      details: { fields: Record<string, string> };
    };
    const [field = ''] = Object.keys(details.fields);
    expect(error).toContain(field);
    return [code, field];
  };
  const to = { destinationAccountId: destination.id };
  for (const [terms, code, field] of [
    [{ ...to, sourceAccountId: 'acc_9' }, 'unknown_account', 'sourceAccountId'],
    [{ destinationAccountId: 'acc_9' }, 'unknown_account', 'destinationAccountId'],
    [{ counterpartyId: 'cpty_9' }, 'unknown_counterparty', 'counterpartyId'],
    [{ destinationAccountId: source.id }, 'same_account', 'destinationAccountId'],
    [{ ...to, sourceAccountId: closed.id }, 'inactive_account', 'sourceAccountId'],
    [{ destinationAccountId: closed.id }, 'inactive_account', 'destinationAccountId'],
    [{ ...to, sourceAccountId: euros.id }, 'currency_mismatch', 'sourceAccountId'],
    [{ destinationAccountId: euros.id }, 'currency_mismatch', 'destinationAccountId'],
    [{ ...to, currency: 'EUR' }, 'currency_mismatch', 'sourceAccountId'],
  ] as const) {
    expect(await rejection(terms)).toEqual([code, field]);
  }
  expect(sandbox.transfers.list()).toEqual([]);
});

test('a transfer in EUR is possible between EUR Accounts', () => {
  const { sandbox, entity } = setup();
  const [one, two] = [1, 2].map(() =>
    sandbox.accounts.create({ entityId: entity.id, currency: 'EUR' }),
  );
  if (one === undefined || two === undefined) throw new Error('two Accounts were created');
  sandbox.accounts.fund(one.id, '3');
  const { currency } = sandbox.transfers.create({
    sourceAccountId: one.id,
    destinationAccountId: two.id,
    amount: '3',
    currency: 'EUR',
  });
  expect(currency).toBe('EUR');
});

test('GET /transfers?accountId lists the transfers that an Account sent or received', async () => {
  const { sandbox, entity, source, destination, bank, book } = setup();
  const third = sandbox.accounts.create({ entityId: entity.id });
  const toDestination = book('1').id;
  const toBank = sandbox.transfers.create({
    sourceAccountId: source.id,
    counterpartyId: bank.id,
    amount: '1',
  }).id;
  const toThird = sandbox.transfers.create({
    sourceAccountId: destination.id,
    destinationAccountId: third.id,
    amount: '1',
  }).id;
  const idsOf = async (query: string) => {
    const { body } = await call(sandbox, 'GET', `/transfers${query}`);
    return (body as { data: { id: string }[] }).data.map(({ id }) => id);
  };
  expect(await idsOf('')).toEqual([toDestination, toBank, toThird]);
  expect(await idsOf(`?accountId=${source.id}`)).toEqual([toDestination, toBank]);
  expect(await idsOf(`?accountId=${destination.id}`)).toEqual([toDestination, toThird]);
  expect(await idsOf(`?accountId=${third.id}`)).toEqual([toThird]);
  expect(await idsOf('?accountId=acc_9')).toEqual([]);
});

test('a transfer that changes balances changes updatedAt of both Accounts', () => {
  let now = 0;
  const sandbox = new Sandbox({ clock: () => (now += 1000) });
  const { source, destination } = createAccounts(sandbox);
  const stamps = () => [source, destination].map(({ id }) => sandbox.accounts.get(id).updatedAt);
  let last = stamps();
  const moved = (step: () => unknown) => {
    step();
    const next = stamps();
    expect(next[0]).not.toBe(last[0]);
    expect(next[0]).toBe(next[1]);
    last = next;
  };
  const create = () =>
    sandbox.transfers.create({
      sourceAccountId: source.id,
      destinationAccountId: destination.id,
      amount: '1',
    });
  moved(create);
  moved(() => sandbox.transfers.fail('txfr_000001'));
  moved(create);
  sandbox.transfers.advance('txfr_000002');
  moved(() => sandbox.transfers.advance('txfr_000002'));
});

test('sandbox.transfers.advance, get and create reject invalid input', () => {
  const { sandbox } = setup();
  expect(() => sandbox.transfers.advance('txfr_9')).toThrow('No transfer "txfr_9" exists');
  expect(() => sandbox.transfers.get('acc_000001')).toThrow('its id would start with "txfr_"');
  expect(() =>
    // @ts-expect-error: a destination is missing, and an amount is no number
    sandbox.transfers.create({ sourceAccountId: 'acc_000001', amount: 1 }),
  ).toThrow(/amount: expected a decimal string above zero/);
});
