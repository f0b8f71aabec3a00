import {
  ValidationError,
  type SettingsUpdateInput,
  type TransferCreateInput,
} from 'payments-platform-sdk';
import { describe, expect, test } from 'vitest';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { clientOf, failureOf, respond } from '../support/clients.ts';
import { endpoints, invoke } from '../support/interface.ts';
import { newTransfer, transferCreated } from '../support/values.ts';
import { rejection, table, type Row } from './invalid-arguments.ts';

describe('transfers.create', () => {
  const message = /expected a decimal string above zero, such as "12\.50"/;
  const amounts: readonly (readonly [string, unknown, RegExp])[] = [
    ['a number', 12.5, /Write it as a string: a number loses digits/],
    ['a whole number', 12, /Write it as a string/],
    ['a bigint', 12n, /Write it as a string/],
    ['NaN', Number.NaN, /Write it as a string/],
    ['nothing', undefined, /^missing; expected a decimal string/],
    ['null', null, /^got null; expected a decimal string/],
    ['null', null, message],
    ['an object with a text of its own', { toString: () => '1' }, message],
    ['a String object', new String('1'), message],
    ...[
      '1e3',
      '1E3',
      '-1',
      '+1',
      '1.',
      '.5',
      '',
      ' 1',
      '1 ',
      '1\n',
      '01',
      '00.1',
      '1,5',
      '1,000.00',
      '1_000',
      '0x10',
      'NaN',
      'Infinity',
      '١٢',
      '１',
      '$1',
      '1 USDC',
      '1'.repeat(31),
      '1.2.3',
    ].map((text) => [JSON.stringify(text), text, message] as const),
    ['19 decimals', `1.${'1'.repeat(19)}`, /^got 19 decimals; expected 18 at most/],
    ...['0', '0.0', '0.000', `0.${'0'.repeat(18)}`].map(
      (text) => [JSON.stringify(text), text, /above zero/] as const,
    ),
  ];
  table(
    'transfers.create rejects every amount that is not a decimal string above zero',
    amounts.map(([what, amount, says]): Row => [
      `an amount of ${what}`,
      { ...newTransfer, amount },
      'amount',
      says,
    ]),
    'transfers.create',
  );

  const { destinationAccountId: _, ...nowhere } = newTransfer;
  const none = /^missing; expected destinationAccountId or counterpartyId/;
  const two = /^got counterpartyId, too; expected one destination/;
  table(
    'transfers.create rejects a field other than the amount if the platform would not accept the value',
    [
      ['two recipients', { ...newTransfer, counterpartyId: 'cpty_1' }, 'destinationAccountId', two],
      ['no destination', nowhere, 'destinationAccountId', none],
      [
        'a destination of undefined',
        { ...newTransfer, destinationAccountId: undefined },
        'destinationAccountId',
        none,
      ],
      ['a counterparty of null', { ...nowhere, counterpartyId: null }, 'counterpartyId', /cpty_…/],
      ['no source', { ...newTransfer, sourceAccountId: undefined }, 'sourceAccountId', /^missing;/],
      ['an empty currency', { ...newTransfer, currency: '' }, 'currency', /such as "USDC"/],
      ['a currency of null', { ...newTransfer, currency: null }, 'currency', /currency code/],
      ...['USDC\r', ' USDC', '\uFEFFUSDC'].map((currency): Row => [
        `the currency ${JSON.stringify(currency)}`,
        { ...newTransfer, currency },
        'currency',
        /^got white space at the start or end; expected a currency code of 2 to 12 letters/,
      ]),
      ...['€', 'U', '$', 'USD C', 'USDC.e', 'USDC/JPYC', 'ＵＳＤＣ', 'A'.repeat(13), 840].map(
        (currency): Row => [
          `the currency ${currency}`,
          { ...newTransfer, currency },
          'currency',
          /expected a currency code of 2 to 12 letters and digits, such as "USDC"/,
        ],
      ),
      ['a number as the description', { ...newTransfer, description: 7 }, 'description', /string/],
      ['half a character', { ...newTransfer, description: 'a\ud800b' }, 'description', /surrogate/],
      [
        'a misspelt field',
        { ...newTransfer, ammount: '1' },
        'ammount',
        /unknown field; did you mean amount\?/,
      ],
      ['a body key', { ...newTransfer, idempotencyKey: 'k' }, 'idempotencyKey', /unknown field/],
      ['nothing', undefined, '', /got nothing; expected an object/],
      ['null', null, '', /got null; expected an object/],
      ['text', '{"amount":"1"}', '', /got a string; expected an object/],
      ['a function', () => newTransfer, '', /got a function; expected an object/],
    ],
    'transfers.create',
  );

  test('every method that pays rejects a currency with a line break', async () => {
    const input = { ...newTransfer, currency: 'USDC\r', description: 'invoice 4711' };
    const { payments, requests } = clientOf(undefined, { journal: memoryJournal() });
    const { transfers } = payments;
    const { unpaid } = await transfers.createAllOnce([input]);
    const errors = [
      unpaid[0]?.error,
      await failureOf(transfers.createOnce(input)),
      await failureOf(transfers.reconcile(input)),
      await failureOf(Promise.resolve(transfers.reconcileAll([input]))),
      await failureOf(Promise.resolve(transfers.waitForAll([input]))),
    ];
    for (const error of errors) {
      expect(error).toBeInstanceOf(ValidationError);
      expect(error?.message).toMatch(/currency( in .+)?: got white space at the start or end/);
    }
    expect(requests).toEqual([]);
  });

  test.each(['USDC', 'usdc', '1INCH', 'EUR', 'A1', 'A'.repeat(12)])(
    'transfers.create sends the currency %s unchanged',
    async (currency) => {
      const { payments, requests } = clientOf(() => respond(201, transferCreated));
      await payments.transfers.create({ ...newTransfer, currency });
      expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({ currency });
    },
  );

  test('the error of transfers.create names all mistakes at once', async () => {
    const input = { sourceAccountId: 'cpty_1', amount: 1, memo: '', counterpartyId: 'cpty_/' };
    const error = await rejection((payments) =>
      payments.transfers.create(input as unknown as TransferCreateInput, {
        timeout: -1,
        headers: { host: 'x' },
      }),
    );
    expect(error.issues.map(({ path }) => path).toSorted()).toEqual([
      'amount',
      'counterpartyId',
      'memo',
      'options.headers.host',
      'options.timeout',
      'sourceAccountId',
    ]);
  });

  test('the error for an invalid amount shows a valid amount', async () => {
    const input = { ...newTransfer, amount: 0.1 + 0.2 } as unknown as TransferCreateInput;
    const error = await rejection((payments) => payments.transfers.create(input));
    expect(String(error)).toMatchInlineSnapshot(`
      "ValidationError: Invalid amount in transfers.create: got 0.30000000000000004; expected a decimal string above zero, such as "12.50".
      Write it as a string: a number loses digits, as 0.1 + 0.2 is 0.30000000000000004.
      Nothing was sent."
    `);
  });
});

describe('entities.create', () => {
  const message = /expected an email address, such as "ada@example\.com"/;
  table(
    'entities.create rejects an input that the platform would not accept',
    [
      ...['', 'ada', 'ada@', '@example.com', 'a b@example.com', 'a@b@c', 'ada@example.com\n'].map(
        (email): Row => [`the email ${JSON.stringify(email)}`, { email }, 'email', message],
      ),
      ['an email that is too long', { email: `${'a'.repeat(320)}@example.com` }, 'email', message],
      ['an email that is a number', { email: 5 }, 'email', message],
      ['no email', {}, 'email', /^missing; expected an email address/],
      ['a name of null', { email: 'a@b.c', fullName: null }, 'fullName', /expected a name/],
      ['a business that is a number', { email: 'a@b.c', businessName: 1 }, 'businessName', /name/],
      ['a type', { email: 'a@b.c', type: 'business' }, 'type', /unknown field/],
      ['nothing', undefined, '', /expected an object/],
    ],
    'entities.create',
  );
});

describe('accounts.create', () => {
  table(
    'accounts.create rejects an input that the platform would not accept',
    [
      ['no entity', { name: 'Main' }, 'entityId', /^missing; expected the id of an Entity, ent_…/],
      ['a name of null', { entityId: 'ent_1', name: null }, 'name', /display name/],
      ['a chain, which cannot be chosen', { entityId: 'ent_1', chain: 'base' }, 'chain', /unknown/],
    ],
    'accounts.create',
  );
});

describe('accounts.update', () => {
  table(
    'accounts.update rejects an input that the platform would not accept',
    [
      ['a balance, which cannot be set', { availableBalance: '9' }, 'availableBalance', /unknown/],
      ['nothing', undefined, '', /expected an object/],
    ],
    'accounts.update',
    ['acc_1'],
  );
});

describe('settings.update', () => {
  const vault = /"<protocol>_usdc" or "<protocol>_usds"/;
  table(
    'settings.update rejects an input that the platform would not accept',
    [
      ['no earning vault', { autoEarnEnabled: true }, 'autoEarnVault', /missing; expected a vault/],
      [
        'auto-earn with a vault of undefined',
        { autoEarnEnabled: true, autoEarnVault: undefined },
        'autoEarnVault',
        /missing; expected a vault/,
      ],
      ...[
        '',
        'usdc',
        '_usdc',
        'Example_usdc',
        'example_usdt',
        'ex-ample_usdc',
        'x_usdc ',
        'x_usdc_usdc',
      ].map((name): Row => [
        `the vault ${JSON.stringify(name)}`,
        { autoEarnEnabled: true, autoEarnVault: name },
        'autoEarnVault',
        vault,
      ]),
      ['a vault of null', { autoEarnVault: null }, 'autoEarnVault', vault],
      ['a switch that is text', { autoEarnEnabled: 'true' }, 'autoEarnEnabled', /true or false/],
      ['another chain', { defaultChain: 'solana' }, 'defaultChain', /ethereum, base, arbitrum/],
      ['a chain in capitals', { defaultChain: 'Base' }, 'defaultChain', /expected one of/],
      ...[
        '',
        'hooks',
        '/hooks',
        'ftp://x.example',
        'javascript:alert(1)',
        'https://',
        'http//x',
        5,
      ].map((webhookUrl): Row => [
        `the webhook ${JSON.stringify(webhookUrl)}`,
        { webhookUrl },
        'webhookUrl',
        /expected an http\(s\) URL, or null for none/,
      ]),
      ['an unknown setting', { autoEarn: true }, 'autoEarn', /unknown field/],
    ],
    'settings.update',
  );

  test('settings.update sends every field of the API reference', async () => {
    const { payments, requests } = clientOf(undefined);
    const allowed: SettingsUpdateInput[] = [
      { autoEarnEnabled: true, autoEarnVault: 'a1_usds' },
      { autoEarnEnabled: false },
      { autoEarnVault: 'x_usdc' },
      { webhookUrl: 'http://localhost:8080/x?y#z' },
      { webhookUrl: 'HTTPS://hooks.example/x' },
    ];
    for (const patch of allowed) {
      await payments.settings.update(patch).catch(() => undefined);
      expect(JSON.parse(requests.at(-1)?.body ?? '')).toEqual(patch);
    }
    expect(requests).toHaveLength(allowed.length);
  });
});

test('entities.create, accounts.create and accounts.update send an empty name unchanged', async () => {
  const { payments, requests } = clientOf(undefined);
  const ignore = (): undefined => undefined;
  await payments.entities.create({ email: 'a@b.c', fullName: '', businessName: '' }).catch(ignore);
  await payments.accounts.create({ entityId: 'ent_1', name: '' }).catch(ignore);
  await payments.accounts.update('acc_1', { name: '' }).catch(ignore);
  expect(requests.map(({ body }) => JSON.parse(body) as object)).toEqual([
    { email: 'a@b.c', fullName: '', businessName: '' },
    { entityId: 'ent_1', name: '' },
    { name: '' },
  ]);
});

test.each(endpoints.filter(({ body }) => body.length > 0))(
  '$operation rejects an invalid input and does not throw',
  async ({ operation, path }) => {
    for (const input of [undefined, null, 5, 'x', [], () => 1, Symbol('x')]) {
      const first = path.includes('{id}') ? ['acc_1'] : [];
      await rejection((payments) => invoke(payments, operation, [...first, input]));
    }
  },
);

test.each([
  ['createOnce', /^unknown field\. It is an option/],
  ['create', /^unknown field\. Check the spelling/],
] as const)(
  'the error of transfers.%s for the unknown field `since` gives advice',
  async (method, hint) => {
    const { payments } = clientOf(undefined, { journal: memoryJournal() });
    const input = { ...newTransfer, description: 'invoice 4711', since: '2026-11-01T00:00:00Z' };
    const error: unknown = await payments.transfers[method](input).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({
      issues: [{ path: 'since', message: expect.stringMatching(hint) }],
    });
  },
);
