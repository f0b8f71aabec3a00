import * as schemas from 'payments-platform-sdk/schemas';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { errorBodySchema } from '../../src/schemas/error-body.ts';
import { builtInstructionSchema } from '../../src/schemas/instruction.ts';
import { clientOf } from '../support/clients.ts';

// Responses may have additional fields: a new field must not break the client.

const transfer = {
  id: 'txfr_1',
  sourceAccountId: 'acc_1',
  amount: '1.00',
  currency: 'USDC',
  type: 'book',
  status: 'pending',
  direction: 'outgoing',
  createdAt: '2026-01-01T00:00:00Z',
};

test('TransferSchema accepts and keeps unknown fields and enum values', () => {
  const grown = { ...transfer, status: 'paused', type: 'pigeon', fee: { amount: '0.01' } };
  expect(schemas.TransferSchema.parse(grown)).toEqual(grown);
});

test('an optional field of TransferSchema may be absent or null', () => {
  const fields = ['destinationAccountId', 'counterpartyId', 'description'];
  expect(schemas.TransferSchema.safeParse(transfer).success).toBe(true);
  for (const field of fields) {
    expect(schemas.TransferSchema.safeParse({ ...transfer, [field]: null }).success).toBe(true);
  }
});

test.each(Object.keys(transfer))('TransferSchema rejects a missing or odd %s', (field) => {
  expect(schemas.TransferSchema.safeParse({ ...transfer, [field]: undefined }).success).toBe(false);
  expect(schemas.TransferSchema.safeParse({ ...transfer, [field]: null }).success).toBe(false);
  expect(schemas.TransferSchema.safeParse({ ...transfer, [field]: 1 }).success).toBe(false);
});

test('TransferSchema accepts an id, amount and time of any format', () => {
  const odd = { ...transfer, id: 'T-1', amount: '1,00', createdAt: 'yesterday' };
  expect(schemas.TransferSchema.safeParse(odd).success).toBe(true);
});

test('BuiltInstructionSchema accepts a salt of any size, but no fraction', () => {
  const built = { salt: 1n << 80n, maxExecutions: 1, action: '0x', arguments: '0x' };
  expect(builtInstructionSchema().parse(built)).toEqual(built);
  for (const salt of [1.5, '1', null, Number.NaN]) {
    expect(builtInstructionSchema().safeParse({ ...built, salt }).success).toBe(false);
  }
});

test('pageSchema rejects a page with an invalid item or hasMore', () => {
  const page = schemas.pageSchema(schemas.TransferSchema);
  const good = { data: [transfer], hasMore: false, nextCursor: null };
  expect(page.parse(good)).toEqual(good);
  expect(page.safeParse({ ...good, data: [transfer, {}] }).success).toBe(false);
  expect(page.safeParse({ ...good, hasMore: 'no' }).success).toBe(false);
});

test('ErrorBodySchema rejects a body without the string code', () => {
  expect(errorBodySchema().safeParse({ error: 'no', code: 'x', details: null }).success).toBe(true);
  expect(errorBodySchema().safeParse({ error: 'no' }).success).toBe(false);
});

test('each id schema accepts only ids with its prefix', () => {
  for (const [schema, good] of [
    [schemas.AccountIdSchema, 'acc_1'],
    [schemas.CounterpartyIdSchema, 'cpty_1'],
    [schemas.EntityIdSchema, 'ent_1'],
    [schemas.IbanIdSchema, 'iban_1'],
    [schemas.TransferIdSchema, 'txfr_1'],
  ] as const) {
    for (const value of [good, `x${good}`, good.slice(0, 4), `${good}/..`, '', null, 7]) {
      expect([value, schema.safeParse(value).success]).toEqual([value, value === good]);
    }
  }
});

test('the JSON Schemas of payment inputs require exactly one destination', () => {
  for (const schema of [schemas.TransferCreateInputSchema, schemas.OnceInputSchema]) {
    const { properties, oneOf } = z.toJSONSchema(schema);
    expect(properties).toMatchObject({
      sourceAccountId: { pattern: expect.stringMatching(/^\^acc_/) },
      counterpartyId: { pattern: expect.stringMatching(/^\^cpty_/) },
    });
    expect(oneOf).toEqual([
      { required: ['destinationAccountId'] },
      { required: ['counterpartyId'] },
    ]);
  }
  const ids = z.object({ account: schemas.AccountIdSchema });
  expect(JSON.stringify(z.toJSONSchema(ids))).toContain('"pattern":"^acc_');
});

test('the JSON Schema of AccountIdSchema accepts the same ids as zod', () => {
  const { pattern = '' } = z.toJSONSchema(schemas.AccountIdSchema);
  const suffixes = [
    '1',
    'a'.repeat(252),
    'é',
    '',
    'a'.repeat(253),
    '/..',
    'a b',
    'a?',
    'a#',
    '%2e',
  ];
  for (const id of suffixes.map((suffix) => `acc_${suffix}`)) {
    const { success } = schemas.AccountIdSchema.safeParse(id);
    expect([id, new RegExp(pattern, 'u').test(id)]).toEqual([id, success]);
  }
});

test('OnceInputSchema requires a reference and exactly one destination', () => {
  const payment = { sourceAccountId: 'acc_1', counterpartyId: 'cpty_1', amount: '1.00' };
  const check = (input: object) =>
    schemas.OnceInputSchema.safeParse(input).error?.issues.map(({ path }) => path.join('.'));
  expect(check({ ...payment, description: 'INV-7' })).toBeUndefined();
  expect(check(payment)).toEqual(['description']);
  for (const description of ['', ' INV', '…', '--', 'x'.repeat(141)]) {
    expect(check({ ...payment, description })).toEqual(['description']);
  }
  const { counterpartyId, ...incomplete } = payment;
  expect(check({ ...incomplete, description: 'INV-7' })).toEqual(['destinationAccountId']);
  const both = { ...payment, destinationAccountId: 'acc_2', description: 'INV-7' };
  expect([counterpartyId, check(both)]).toEqual(['cpty_1', ['destinationAccountId']]);
});

test('EntityCreateInputSchema names unknown fields in its issue', () => {
  const input = { email: 'ada@example.com', emial: 1, kyc: true };
  const { error } = schemas.EntityCreateInputSchema.safeParse(input);
  expect(error?.issues.map(({ message }) => message)).toEqual([
    'unknown field: emial, kyc; check the spelling',
  ]);
});

test('pageSchema accepts an item schema that contains TransferSchema', () => {
  const page = schemas.pageSchema(z.object({ transfer: schemas.TransferSchema }));
  const good = { data: [{ transfer }], hasMore: false, nextCursor: null };
  expect(page.parse(good).data[0]?.transfer.amount).toBe('1.00');
  expect(page.safeParse({ ...good, data: [transfer] }).success).toBe(false);
});

// Copies of zod in a process share `z.config`, and an error map may throw.
test("the application's zod error map does not change messages of the client", async () => {
  const before = z.config().customError;
  z.config({
    customError: () => {
      throw new Error('of the application');
    },
  });
  try {
    let body: unknown;
    const { payments, requests } = clientOf(() => Response.json(body), {
      maxRetries: 0,
      validation: 'strict',
    });
    const input = {
      sourceAccountId: 'acc_1',
      destinationAccountId: 'acc_2',
      amount: '1.00',
    } as const;
    // Generated code checks the second and the third item.
    for (const id of ['txfr_1', 'txfr_2', 'txfr_3'] as const) {
      body = { id, status: 7 };
      expect(await payments.transfers.create(input)).toEqual(body);
      const refused = { name: 'InvalidResponseError', reason: 'shape' };
      await expect(payments.transfers.get(id)).rejects.toMatchObject({
        ...refused,
        issues: expect.arrayContaining([
          { path: 'status', message: 'got a number; expected a string' },
        ]),
      });
    }
    body = { data: [transfer, { ...transfer, amount: 1 }], hasMore: false, nextCursor: null };
    await expect(payments.transfers.list()).rejects.toMatchObject({
      issues: [{ path: 'data[1].amount', message: 'got a number; expected a string' }],
    });
    const sentBefore = requests.length;
    await expect(payments.transfers.create(7 as never)).rejects.toMatchObject({
      name: 'ValidationError',
      issues: [{ path: '', message: 'got a number; expected an object' }],
    });
    expect(requests).toHaveLength(sentBefore);
  } finally {
    z.config({ customError: before });
  }
});
