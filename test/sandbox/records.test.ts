import { Sandbox, SandboxError } from 'payments-platform-sdk/sandbox';
import {
  AccountSchema,
  CounterpartySchema,
  EntitySchema,
  IbanSchema,
  SettingsSchema,
} from 'payments-platform-sdk/schemas';
import { expect, test } from 'vitest';
import { createAccounts } from '../support/platform.ts';
import { aString, call, matching } from './calls.ts';
import { accountCreatedSchema } from '../../src/schemas/account.ts';
import { entityCreatedSchema } from '../../src/schemas/entity.ts';

const createdAt = '1970-01-01T00:00:00.000Z';
const [entityId, accountId] = ['ent_000001', 'acc_000001'] as const;

/**
 * Entity 1 is verified and has Accounts 1 and 2. Entity 2 is not verified and has Account 3. Each
 * Entity has a Counterparty, and Accounts 1 and 2 have an IBAN. Each reading of the clock takes a tick.
 */
function setup(tick = 0): Sandbox {
  let now = -tick;
  const sandbox = new Sandbox({ clock: () => (now += tick) });
  createAccounts(sandbox);
  sandbox.accounts.create({
    entityId: sandbox.entities.create({ email: 'b@example.com', businessName: 'B Ltd' }).id,
  });
  sandbox.counterparties.create({ entityId, name: 'Imports', accountNumber: '000123456789' });
  sandbox.counterparties.create({ entityId: 'ent_000002' });
  for (const { id } of sandbox.accounts.list().slice(0, 2)) {
    sandbox.ibans.create({ accountId: id });
  }
  return sandbox;
}

test.each([
  [
    'POST /entities creates an Entity without verification and responds without its status',
    ['POST', '/entities', { email: 'ada@example.com', fullName: 'Ada Marsh' }],
    201,
    entityCreatedSchema(),
    {
      id: 'ent_000003',
      email: 'ada@example.com',
      type: 'individual',
      kycStatus: 'not_started',
      tosStatus: 'not_started',
      kycLink: matching(/^https:\/\/.*ent_000003$/),
      tosLink: matching(/^https:\/\/.*ent_000003$/),
      createdAt,
    },
  ],
  [
    'POST /accounts creates an Account and responds without its metadata and other balances',
    ['POST', '/accounts', { entityId, name: 'Till', metadata: { shop: 7 } }],
    201,
    accountCreatedSchema(),
    {
      id: 'acc_000004',
      entityId,
      name: 'Till',
      type: 'wallet',
      chain: 'base',
      status: 'active',
      autoEarn: false,
      availableBalance: '0.00',
      currency: 'USDC',
      createdAt,
    },
  ],
  [
    'GET /counterparties/{id} shows only the last four digits of an account number',
    ['GET', '/counterparties/cpty_000001'],
    200,
    CounterpartySchema,
    {
      id: 'cpty_000001',
      entityId,
      name: 'Imports',
      type: 'bank_account',
      bankName: 'Sandbox Bank',
      accountNumber: '****6789',
      routingNumber: matching(/^\d{9}$/),
      walletAddress: null,
      chain: null,
      createdAt,
    },
  ],
  [
    'GET /ibans/{id} shows an IBAN with the fields that the sandbox made up',
    ['GET', '/ibans/iban_000001'],
    200,
    IbanSchema,
    {
      id: 'iban_000001',
      entityId,
      accountId,
      iban: matching(/^DE\d{20}$/),
      bic: matching(/^[A-Z]{6}[A-Z0-9]{5}$/),
      bankName: aString,
      currency: 'EUR',
      status: 'active',
      createdAt,
    },
  ],
  [
    'PATCH /platform/settings without a field responds with the Settings of a new sandbox',
    ['PATCH', '/platform/settings', {}],
    200,
    SettingsSchema,
    {
      autoEarnEnabled: false,
      autoEarnVault: matching(/^[a-z0-9]+_usdc$/),
      defaultChain: 'base',
      webhookUrl: null,
      updatedAt: createdAt,
    },
  ],
] as const)('%s', async (_title, [method, path, input], status, schema, expected) => {
  const response = await call(setup(), method, path, input);
  expect(response.status).toBe(status);
  expect(response.body).toEqual(expected);
  expect(schema.safeParse(response.body).success).toBe(true);
});

type Act = (sandbox: Sandbox) => object;

const zero = '0.00';
const madeUp = { bankName: 'Sandbox Bank', routingNumber: matching(/^\d{9}$/) };
const wallet = { type: 'wallet', walletAddress: '0xaa', chain: 'optimism' } as const;
const bank = { type: 'bank', currency: 'EUR', chain: 'ethereum' } as const;
const ownIban = {
  iban: 'GB33BUKB20201555555555',
  bic: 'BUKBGB22XXX',
  bankName: 'An Example Bank',
  currency: 'GBP',
};
const masked = (accountNumber: string): Act => {
  return ({ counterparties }) => counterparties.create({ entityId, accountNumber });
};
const changeSettings = ({ settings }: Sandbox) =>
  settings.update({
    autoEarnEnabled: true,
    autoEarnVault: 'some_usds',
    defaultChain: 'polygon',
  });
const nouns = [
  ['ent_', '/entities', EntitySchema],
  ['acc_', '/accounts', AccountSchema],
  ['cpty_', '/counterparties', CounterpartySchema],
  ['iban_', '/ibans', IbanSchema],
] as const;

test.each<[title: string, act: Act, expected: object]>([
  [
    'a business name makes an Entity a business',
    ({ entities }) => entities.create({ email: 'c@example.com', businessName: 'C Ltd' }),
    { type: 'business', status: 'active', kycStatus: 'not_started' },
  ],
  [
    'entities.approve of a sandbox sets kycStatus and tosStatus to approved',
    ({ entities }) => entities.approve('ent_000002'),
    { status: 'active', kycStatus: 'approved', tosStatus: 'approved' },
  ],
  [
    'entities.reject of a sandbox changes kycStatus and not tosStatus',
    ({ entities }) => entities.reject(entityId),
    { status: 'active', kycStatus: 'rejected', tosStatus: 'approved' },
  ],
  [
    'a new Account is a wallet in USDC on the default chain',
    ({ accounts }) => accounts.create({ entityId }),
    { name: 'Account', type: 'wallet', chain: 'base', currency: 'USDC', autoEarn: false },
  ],
  [
    'a new Account has no money and no metadata',
    ({ accounts }) => accounts.create({ entityId }),
    {
      availableBalance: zero,
      pendingBalance: zero,
      lockedBalance: zero,
      holdingBalance: zero,
      metadata: {},
    },
  ],
  [
    'an Account copies chain and auto-earn from the Settings when it is created',
    (sandbox) => {
      changeSettings(sandbox);
      return sandbox.accounts.create({ entityId });
    },
    { chain: 'polygon', autoEarn: true },
  ],
  [
    'an Account keeps its chain and auto-earn when the Settings change',
    (sandbox) => {
      changeSettings(sandbox);
      return sandbox.accounts.get(accountId);
    },
    { chain: 'base', autoEarn: false },
  ],
  [
    'accounts.create of a sandbox accepts a type, a currency and a chain, which the API does not accept',
    ({ accounts }) => accounts.create({ entityId, ...bank }),
    bank,
  ],
  [
    'a Counterparty shows the last four of eight digits of its account number',
    masked('12345678'),
    { accountNumber: '****5678' },
  ],
  [
    'a Counterparty shows the last three of seven digits of its account number',
    masked('1234567'),
    { accountNumber: '****567' },
  ],
  [
    'a Counterparty shows the last two of four digits of its account number',
    masked('1234'),
    { accountNumber: '****34' },
  ],
  [
    'a Counterparty of type wallet has no field of a bank account',
    ({ counterparties }) => counterparties.create({ entityId, ...wallet }),
    { ...wallet, bankName: null, accountNumber: null, routingNumber: null },
  ],
  [
    'a Counterparty that is created with an Entity only is a wallet on the chain of the Settings',
    ({ counterparties, settings }) => {
      settings.update({ defaultChain: 'arbitrum' });
      return counterparties.create({ entityId });
    },
    {
      name: 'Counterparty',
      type: 'wallet',
      chain: 'arbitrum',
      walletAddress: matching(/^0x[0-9a-f]{40}$/),
    },
  ],
  [
    'a Counterparty with the name of a bank is a bank account',
    ({ counterparties }) => counterparties.create({ entityId, bankName: 'B' }),
    { type: 'bank_account', bankName: 'B' },
  ],
  [
    'a Counterparty that is created with the type bank_account only has numbers that the sandbox makes up',
    ({ counterparties }) => counterparties.create({ entityId, type: 'bank_account' }),
    { ...madeUp, accountNumber: matching(/^\*{4}\d{4}$/), walletAddress: null, chain: null },
  ],
  [
    'ibans.create of a sandbox uses the iban, bic, bankName and currency of its input',
    ({ ibans }) => ibans.create({ accountId, entityId, ...ownIban }),
    { accountId, entityId, ...ownIban },
  ],
])('%s', async (_title, act, expected) => {
  const sandbox = setup();
  const record = act(sandbox);
  expect(record).toMatchObject(expected);
  // Nothing that the sandbox makes up is random.
  expect(act(setup())).toEqual(record);
  const { id } = record as { id: string };
  const [, path, schema] = nouns.find(([prefix]) => id.startsWith(prefix)) ?? nouns[0];
  const { status, body } = await call(sandbox, 'GET', `${path}/${id}`);
  expect(status).toBe(200);
  expect(body).toEqual(record);
  expect(schema.safeParse(body).success).toBe(true);
});

test('a generated IBAN has valid check digits and is unique', () => {
  const { ibans } = setup();
  for (let count = 0; count < 200; count += 1) {
    const { iban } = ibans.create({ accountId });
    // Every bank checks an IBAN like this: letters become numbers, and the number modulo 97 is 1.
    const digits = `${iban.slice(4)}${iban.slice(0, 4)}`.replaceAll(/[A-Z]/g, (letter) =>
      String(letter.charCodeAt(0) - 55),
    );
    expect(BigInt(digits) % 97n).toBe(1n);
  }
  expect(new Set(ibans.list().map(({ iban }) => iban)).size).toBe(202);
});

test('two new Counterparties of a sandbox have different routing numbers', () => {
  const { counterparties } = setup();
  const create = () => counterparties.create({ entityId, type: 'bank_account' }).routingNumber;
  expect(create()).not.toBe(create());
});

test.each(['wallet', 'bank_account'] as const)(
  'counterparties.create accepts all fields of an existing %s, even null',
  (type) => {
    const { counterparties } = setup();
    const { id, createdAt: _, ...read } = counterparties.create({ entityId, type });
    const again = counterparties.create({ ...read, type });
    expect(again).toMatchObject(read);
    expect(again.id).not.toBe(id);
  },
);

test.each<
  [
    title: string,
    read: Act,
    update: (sandbox: Sandbox, patch: object) => unknown,
    patches: object[],
  ]
>([
  [
    'PATCH /platform/settings',
    ({ settings }) => settings.get(),
    async (sandbox, patch) => (await call(sandbox, 'PATCH', '/platform/settings', patch)).body,
    [
      { webhookUrl: 'https://hooks.example/x' },
      { defaultChain: 'ethereum' },
      { webhookUrl: null },
      { autoEarnEnabled: true, autoEarnVault: 'lend_usdc' },
      { autoEarnEnabled: false },
      {},
    ],
  ],
  [
    'sandbox.settings.update',
    ({ settings }) => settings.get(),
    ({ settings }, patch) => settings.update(patch),
    [{ defaultChain: 'polygon' }, { webhookUrl: null }],
  ],
  [
    'PATCH /accounts/{id}',
    ({ accounts }) => accounts.get(accountId),
    async (sandbox, patch) => (await call(sandbox, 'PATCH', `/accounts/${accountId}`, patch)).body,
    [
      { metadata: { a: 1, b: { c: [2n ** 70n] } } },
      // Metadata is replaced as a whole.
      { metadata: { d: null } },
      { name: 'Safe' },
      {},
    ],
  ],
  [
    'sandbox.accounts.update',
    ({ accounts }) => accounts.get(accountId),
    ({ accounts }, patch) => accounts.update(accountId, patch),
    [{ status: 'inactive' }, { name: 'Old' }, { status: 'active' }],
  ],
  [
    'sandbox.entities.update',
    ({ entities }) => entities.get(entityId),
    ({ entities }, patch) => entities.update(entityId, patch),
    [{ status: 'inactive', tosStatus: 'pending' }, { kycStatus: 'under_review' }, {}],
  ],
])('%s changes only the given fields and updatedAt', async (...row) => {
  const [, read, update, patches] = row;
  const sandbox = setup(1_000);
  for (const patch of patches) {
    const before = read(sandbox) as { updatedAt?: string };
    const after = (await update(sandbox, patch)) as { updatedAt?: string };
    const { updatedAt } = after;
    expect(after).toEqual({ ...before, ...patch, ...(updatedAt !== undefined && { updatedAt }) });
    expect(read(sandbox)).toEqual(after);
    expect([before.updatedAt, updatedAt]).toSatisfy(
      ([one = '', other = 'an Entity shows no time']: string[]) => one < other,
    );
  }
});

test.each<[title: string, add: (sandbox: Sandbox, amount: string) => { updatedAt: string }]>([
  ['sandbox.accounts.fund', ({ accounts }, amount) => accounts.fund(accountId, amount)],
  ['sandbox.ibans.deposit', ({ ibans }, amount) => ibans.deposit('iban_000001', amount)],
])('%s adds the amount exactly and shows two decimals', (_title, add) => {
  const sandbox = setup(1_000);
  let { updatedAt } = sandbox.accounts.get(accountId);
  const many = '9'.repeat(30);
  for (const [amount, availableBalance] of [
    ['0.1', '100.10'],
    ['0.2', '100.30'],
    ['0.000000000000000001', '100.300000000000000001'],
    ['0.699999999999999999', '101.00'],
    [many, `1${'0'.repeat(27)}100.00`],
  ] as const) {
    const account = add(sandbox, amount);
    expect(account).toMatchObject({ availableBalance });
    expect(account).toEqual(sandbox.accounts.get(accountId));
    expect(account.updatedAt > updatedAt).toBe(true);
    ({ updatedAt } = account);
  }
  expect(sandbox.accounts.get('acc_000002').availableBalance).toBe('5.00');
});

const badAmounts = ['0', '0.00', '-1', '1e3', '', ' 1', '1.', '.5', 'ten', '1,5'];
const unverified = ['not_started', 'pending', 'under_review', 'rejected'] as const;

test.each<[message: string, act: Act]>([
  ...[...badAmounts, '1.0000000000000000001'].map((amount): [string, Act] => [
    amount === '0' || amount === '0.00' ? 'an amount above zero' : `got ${JSON.stringify(amount)}`,
    ({ accounts }) => accounts.fund(accountId, amount),
  ]),
  // @ts-expect-error: amounts are strings
  ['got number', ({ accounts }) => accounts.fund(accountId, 5)],
  ['Expected a decimal amount', ({ ibans }) => ibans.deposit('iban_000001', '-1')],
  ['No account "acc_9" exists', ({ accounts }) => accounts.fund('acc_9', '5')],
  ['No iban "iban_9" exists', ({ ibans }) => ibans.deposit('iban_9', '1')],
  ['No entity "ent_8" exists', ({ entities }) => entities.approve('ent_8')],
  ['No entity "ent_9" exists', ({ entities }) => entities.get('ent_9')],
  ['email: expected an email', ({ entities }) => entities.create({ email: 'nobody' })],
  [
    'kycStatus: expected one of not_started, pending',
    // @ts-expect-error: no such status is documented
    ({ entities }) => entities.update(entityId, { kycStatus: 'done' }),
  ],
  [
    'expected a vault, because autoEarnEnabled is true',
    ({ settings }) => settings.update({ autoEarnEnabled: true }),
  ],
  ['no Entity "ent_8"', ({ accounts }) => accounts.create({ entityId: 'ent_8' })],
  [
    'type: expected one of wallet, bank',
    // @ts-expect-error: there is no such type
    ({ accounts }) => accounts.create({ entityId, type: 'shoe' }),
  ],
  ['no Entity "ent_9"', ({ counterparties }) => counterparties.create({ entityId: 'ent_9' })],
  [
    'expected one of wallet',
    // @ts-expect-error: there is no such type
    ({ counterparties }) => counterparties.create({ entityId, type: 'shoe' }),
  ],
  [
    'bankName: a Counterparty of type wallet has no such field',
    ({ counterparties }) => counterparties.create({ entityId, type: 'wallet', bankName: 'B' }),
  ],
  [
    'walletAddress: a Counterparty of type bank_account has no such field',
    ({ counterparties }) =>
      counterparties.create({ entityId, walletAddress: '0x1', bankName: 'B' }),
  ],
  ['accountNumber: expected an account number of 4 characters or more', masked('123')],
  // @ts-expect-error: an Account is needed
  ['accountId: this field is required', ({ ibans }) => ibans.create({})],
  ['no Account "acc_9" exists', ({ ibans }) => ibans.create({ accountId: 'acc_9' })],
  ['no Entity', ({ ibans }) => ibans.create({ accountId, entityId: 'ent_9' })],
  [
    'belongs to "ent_000002", not to "ent_000001"',
    ({ ibans }) => ibans.create({ accountId: 'acc_000003', entityId }),
  ],
])('the sandbox rejects wrong input with %j and changes nothing', (message, act) => {
  const sandbox = setup();
  const before = sandbox.exportState();
  expect(() => act(sandbox)).toThrow(message);
  expect(() => act(sandbox)).toThrow(SandboxError);
  expect(sandbox.exportState()).toEqual(before);
});

test.each(unverified)('ibans.create rejects an Entity with the KYC status %s', (kycStatus) => {
  const { entities, ibans } = setup();
  entities.update(entityId, { kycStatus });
  expect(() => ibans.create({ accountId })).toThrow(
    `has the KYC status ${kycStatus}; an IBAN needs approved`,
  );
});

test.each([
  ['PATCH', '/platform/settings', { autoEarnEnabled: true }, 'autoEarnVault'],
  ['PATCH', '/platform/settings', { autoEarnVault: 'lend_eth' }, 'autoEarnVault'],
  ['PATCH', '/platform/settings', { autoEarnEnabled: 'yes' }, 'autoEarnEnabled'],
  ['PATCH', '/platform/settings', { defaultChain: 'moon' }, 'defaultChain'],
  ['PATCH', '/platform/settings', { webhookUrl: 'ftp://x' }, 'webhookUrl'],
  ['PATCH', '/platform/settings', { updatedAt: 'now' }, 'updatedAt'],
  ['POST', '/accounts', { entityId: 'ent_1' }, 'entityId'],
])('%s %s rejects the body %o and names the invalid field', async (method, path, input, field) => {
  const sandbox = setup();
  const { ids: _before, ...before } = sandbox.exportState();
  const { status, body } = await call(sandbox, method, path, input);
  expect(status).toBe(422);
  const code = path === '/accounts' ? 'unknown_entity' : 'validation_failed';
  expect(body).toMatchObject({ code, error: matching(new RegExp(field)) });
  expect((body as { details: object }).details).toEqual({ fields: { [field]: aString } });
  const { ids: _after, ...after } = sandbox.exportState();
  expect(after).toEqual(before);
});

test.each([
  ['/entities', ['ent_000001', 'ent_000002']],
  ['/accounts', ['acc_000001', 'acc_000002', 'acc_000003']],
  ['/counterparties', ['cpty_000001', 'cpty_000002']],
  ['/counterparties?entityId=ent_000002', ['cpty_000002']],
  ['/ibans', ['iban_000001', 'iban_000002']],
  ['/ibans?entityId=ent_000001', ['iban_000001', 'iban_000002']],
  ['/ibans?accountId=acc_000002', ['iban_000002']],
  ['/ibans?entityId=ent_000001&accountId=acc_000003', []],
])('GET %s of a sandbox lists the matching records, oldest first', async (path, ids) => {
  const sandbox = setup();
  const { entities, accounts, counterparties, ibans } = sandbox;
  const records = [entities, accounts, counterparties, ibans].flatMap((noun) => [...noun.list()]);
  const { status, body } = await call(sandbox, 'GET', path);
  expect(status).toBe(200);
  const data = ids.map((id) => records.find((record) => record.id === id));
  expect(body).toEqual({ data, hasMore: false, nextCursor: null });
});

test.each([
  ['counterparties', 'cpty', 'counterparty', { entityId }],
  ['ibans', 'iban', 'iban', { accountId }],
] as const)('DELETE /%s/{id} removes one record, and its id is not reused', async (...row) => {
  const [noun, prefix, name, input] = row;
  const sandbox = setup();
  const { [noun]: records } = sandbox;
  const [kept, gone] = [`${prefix}_000001`, `${prefix}_000002`];
  const deleted = await call(sandbox, 'DELETE', `/${noun}/${gone}`);
  expect([deleted.status, deleted.body]).toEqual([204, undefined]);
  for (const method of ['GET', 'DELETE']) {
    const { status, body } = await call(sandbox, method, `/${noun}/${gone}`);
    expect(status).toBe(404);
    expect(body).toMatchObject({ code: `${name}_not_found`, details: null });
  }
  expect(() => records.get(gone)).toThrow(`No ${name}`);
  expect(() => {
    records.delete(gone);
  }).toThrow(`No ${name}`);
  expect(records.list().map(({ id }) => id)).toEqual([kept]);
  expect(records.create(input as never).id).toBe(`${prefix}_000003`);
});

test('ibans.deposit rejects a deposit to a deleted IBAN', () => {
  const { ibans, accounts } = setup();
  ibans.delete('iban_000001');
  expect(() => ibans.deposit('iban_000001', '1')).toThrow('was deleted, so deposits are rejected');
  expect(accounts.get(accountId).availableBalance).toBe('100.00');
});

test('DELETE of a Counterparty fails only its pending transfers', async () => {
  const sandbox = setup();
  const send = (amount: string, to: 'cpty_000001' | 'cpty_000002') =>
    sandbox.transfers.create({ sourceAccountId: accountId, amount, counterpartyId: to }).id;
  send('1', 'cpty_000001');
  sandbox.transfers.advance(send('2', 'cpty_000001'));
  send('4', 'cpty_000002');
  sandbox.transfers.create({
    sourceAccountId: accountId,
    destinationAccountId: 'acc_000002',
    amount: '8',
  });
  expect(sandbox.accounts.get(accountId).lockedBalance).toBe('15.00');
  const statuses = () => sandbox.transfers.list().map(({ status }) => status);
  await call(sandbox, 'DELETE', '/counterparties/cpty_000001');
  expect(statuses()).toEqual(['failed', 'processing', 'pending', 'pending']);
  expect(sandbox.accounts.get(accountId)).toMatchObject({
    availableBalance: '86.00',
    lockedBalance: '14.00',
  });
  sandbox.counterparties.delete('cpty_000002');
  expect(statuses()).toEqual(['failed', 'processing', 'failed', 'pending']);
});

test.each<[title: string, read: Act]>([
  ['settings.get', ({ settings }) => settings.get()],
  ['entities.get', ({ entities }) => entities.get(entityId)],
  ['accounts.get', ({ accounts }) => accounts.get(accountId)],
  ['the metadata of accounts.get', ({ accounts }) => accounts.get(accountId).metadata ?? {}],
  ['counterparties.get', ({ counterparties }) => counterparties.get('cpty_000001')],
  ['ibans.get', ({ ibans }) => ibans.get('iban_000001')],
])('%s returns a copy of the record in the sandbox', (_title, read) => {
  const sandbox = setup();
  const before = { ...read(sandbox) };
  const copy = read(sandbox);
  for (const key of [...Object.keys(copy), 'extra']) Reflect.set(copy, key, 'changed');
  expect(read(sandbox)).toEqual(before);
});

test('accounts.create copies the metadata that the caller gave', () => {
  const { accounts } = setup();
  const metadata = { list: [1] };
  const { id } = accounts.create({ entityId, metadata });
  metadata.list.push(2);
  expect(accounts.get(id).metadata).toEqual({ list: [1] });
});
