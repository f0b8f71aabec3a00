import {
  InvalidResponseError,
  type PaymentsClient,
  type ClientOptions,
} from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { listen } from 'payments-platform-sdk/sandbox/server';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { clientOf, failureOf, respond } from '../support/clients.ts';
import { account, entity, instruction, transactionNumber } from '../support/records.ts';
import {
  address,
  built,
  newInstruction,
  newTransfer,
  page,
  transfer,
  transferNumber,
} from '../support/values.ts';
import type { DriftEvent } from '../../src/calls/hooks.ts';

/** A client of a platform that always sends this body, and the drift that it reports. */
function clientOfBody(body: unknown, options: ClientOptions = {}) {
  const drifts: DriftEvent[] = [];
  const hooks = { onDrift: (event: DriftEvent) => drifts.push(event) };
  const { payments } = clientOf(() => respond(200, JSON.stringify(body)), { hooks, ...options });
  const paths = () => drifts.flatMap(({ issues }) => issues.map(({ path }) => path));
  return { payments, drifts, paths };
}
type Read = (payments: PaymentsClient) => PromiseLike<unknown>;

const counterparty = {
  id: 'cpty_1',
  entityId: 'ent_1',
  name: 'Ada',
  type: 'wallet',
  createdAt: '2026-01-01T00:00:00Z',
};
const iban = {
  ...{ id: 'iban_1', entityId: 'ent_1', accountId: 'acc_1', iban: 'DE02120300000000202051' },
  ...{ bic: 'BYLADEM1001', bankName: 'Bank', currency: 'EUR', status: 'active' },
  createdAt: '2026-01-01T00:00:00Z',
};
const records: readonly [
  operation: string,
  record: Record<string, unknown>,
  get: Read,
  list: Read,
][] = [
  ['entities', entity, (sdk) => sdk.entities.get('ent_1'), (sdk) => sdk.entities.list()],
  ['accounts', account, (sdk) => sdk.accounts.get('acc_1'), (sdk) => sdk.accounts.list()],
  ['transfers', transfer, (sdk) => sdk.transfers.get('txfr_1'), (sdk) => sdk.transfers.list()],
  [
    'counterparties',
    counterparty,
    (sdk) => sdk.counterparties.get('cpty_1'),
    (sdk) => sdk.counterparties.list(),
  ],
  ['ibans', iban, (sdk) => sdk.ibans.get('iban_1'), (sdk) => sdk.ibans.list()],
];
const moneyFields = /^amount$|Balance$/;

test.each(records)('a read of %s reports odd fields and returns the record', async (...row) => {
  const [operation, record, get, list] = row;
  for (const name of Object.keys(record)) {
    if (name === 'id') continue;
    const values = moneyFields.test(name) ? [undefined, null] : [undefined, 7n, [7]];
    for (const value of values) {
      const drifted = JSON.parse(
        JSON.stringify({ ...record, [name]: value }, (_, each: unknown) =>
          typeof each === 'bigint' ? Number(each) : each,
        ),
      ) as object;
      const isOptional = name === 'metadata' || name === 'destinationAccountId';
      const isDrift = !isOptional || (value !== undefined && value !== null);
      const one = clientOfBody(drifted);
      expect(await get(one.payments)).toEqual(drifted);
      expect(one.paths()).toEqual(isDrift ? [name] : []);
      for (const { operation: reported } of one.drifts) expect(reported).toBe(`${operation}.get`);

      const many = clientOfBody(page([record, drifted]));
      expect(await list(many.payments)).toEqual(page([record, drifted]));
      expect(many.paths()).toEqual(isDrift ? [`data[1].${name}`] : []);
      for (const { operation: reported } of many.drifts) expect(reported).toBe(`${operation}.list`);
    }
  }
});

test.each(records)('a read of %s rejects a record without id or amount', async (...row) => {
  const [, record, get, list] = row;
  const money = Object.keys(record).filter((name) => moneyFields.test(name));
  const unusable: unknown[] = [
    ...[undefined, null, 7, {}].map((id) => ({ ...record, id })),
    ...money.flatMap((name) =>
      [5, 0, {}, [], false].map((value) => ({ ...record, [name]: value })),
    ),
    null,
    [record],
    'record',
  ];
  for (const body of unusable) {
    const one = clientOfBody(body);
    const error = await failureOf(get(one.payments), InvalidResponseError);
    expect(error).toMatchObject({ reason: 'shape', outcome: 'unknown', retryable: false });
    const many = clientOfBody(page([record, body]));
    await failureOf(list(many.payments), InvalidResponseError);
    await failureOf(
      (list(many.payments) as ReturnType<PaymentsClient['transfers']['list']>).toArray({
        max: 9,
      }),
      InvalidResponseError,
    );
    expect([...one.drifts, ...many.drifts]).toEqual([]);
  }
});

test('the error for an unusable amount names every wrong field', async () => {
  const { payments } = clientOfBody({ ...transfer, status: undefined, amount: 12.5 });
  const error = await failureOf(payments.transfers.get('txfr_1'), InvalidResponseError);
  expect(error.message).toContain('an undocumented amount: got a number; expected a string');
  expect(error.issues.map(({ path }) => path)).toEqual(['status', 'amount']);
});

test('transfers.list returns every transfer even if one lacks a direction', async () => {
  const items = Array.from({ length: 100 }, (_, number): object => transferNumber(number + 1));
  items[40] = { ...items[40], direction: undefined };
  const { payments, drifts } = clientOfBody(page(items));
  expect((await payments.transfers.list()).data).toHaveLength(100);
  expect(await payments.transfers.list().toArray({ max: 200 })).toHaveLength(100);
  expect(drifts).toMatchObject([
    { operation: 'transfers.list', issues: [{ path: 'data[40].direction' }] },
    { operation: 'transfers.list', issues: [{ path: 'data[40].direction' }] },
  ]);
});

test.each<[string, unknown]>([
  ['a page without hasMore', { data: [transfer], nextCursor: null }],
  ['a page with a string as hasMore', { ...page([transfer]), hasMore: 'false' }],
  ['a page with null as hasMore', { ...page([transfer]), hasMore: null }],
  ['a page with an object as data', { ...page([]), data: {} }],
  ['a page without data', { hasMore: false }],
  ['an array instead of a page', [transfer]],
  ['null instead of a page', null],
])('transfers.list rejects a response that is %s', async (_, body) => {
  const { payments, drifts } = clientOfBody(body);
  await failureOf(payments.transfers.list(), InvalidResponseError);
  await failureOf(payments.transfers.list().toArray({ max: 9 }), InvalidResponseError);
  expect(drifts).toEqual([]);
});

test('instructions.list and transactions.list accept only arrays of objects', async () => {
  const lists: readonly [Record<string, unknown>, Read][] = [
    [instruction, ({ instructions }) => instructions.list({ address })],
    [
      transactionNumber(1),
      ({ transactions }) => transactions.list({ address }).then(({ data }) => data),
    ],
  ];
  for (const [item, list] of lists) {
    for (const body of [{ data: [item] }, null, 'x', [7]]) {
      await failureOf(list(clientOfBody(body).payments), InvalidResponseError);
    }
    const { payments, paths } = clientOfBody([item, { ...item, instructionId: 5 }]);
    expect(await list(payments)).toHaveLength(2);
    expect(paths()).toEqual(['[1].instructionId']);
  }
});

test('instructions.build returns a response with a field of wrong type', async () => {
  const build: Read = ({ instructions }) => instructions.build(newInstruction);
  const { payments, paths } = clientOfBody({ ...built, salt: '7' });
  expect(await build(payments)).toEqual({ ...built, salt: '7' });
  expect(paths()).toEqual(['salt']);
  await failureOf(build(clientOfBody([built]).payments), InvalidResponseError);
});

test('an unknown field in a response is not reported as drift', async () => {
  const newer = { ...transfer, feeAmount: 1.5, availableBalance: 7 };
  const { payments, drifts } = clientOfBody(newer);
  expect(await payments.transfers.get('txfr_1')).toEqual(newer);
  expect(drifts).toEqual([]);
  // availableBalance is a field of another noun, so here it is unknown, even beside a drift.
  const drifted = { ...newer, direction: 7 };
  const other = clientOfBody(drifted);
  expect(await other.payments.transfers.get('txfr_1')).toEqual(drifted);
  expect(other.paths()).toEqual(['direction']);
});

const enums: Readonly<Record<string, readonly string[]>> = {
  entities: ['type', 'status', 'kycStatus', 'tosStatus'],
  accounts: ['type', 'chain', 'status'],
  transfers: ['type', 'status', 'direction'],
  counterparties: ['type'],
  ibans: ['status'],
};

test.each(records)('an undocumented enum value of %s is reported as drift', async (...row) => {
  const [operation, record, get, list] = row;
  for (const name of enums[operation] ?? []) {
    const newer = { ...record, [name]: 'paused' };
    const one = clientOfBody(newer);
    expect(await get(one.payments)).toEqual(newer);
    expect(one.drifts).toMatchObject([{ operation: `${operation}.get`, status: 200 }]);
    expect(one.drifts[0]?.issues).toEqual([
      { path: name, message: expect.stringMatching(/^got "paused"; expected \w+, \w+/) },
    ]);
    const many = clientOfBody(page([record, newer]));
    expect(await list(many.payments)).toEqual(page([record, newer]));
    expect(many.paths()).toEqual([`data[1].${name}`]);
  }
});

test('an undocumented value of every response enum is reported as drift', async () => {
  const created = { id: 'txfr_1', status: 'held', type: 'pigeon', createdAt: transfer.createdAt };
  const creation = clientOfBody(created);
  expect(await creation.payments.transfers.create(newTransfer)).toEqual(created);
  expect(creation.paths()).toEqual(['status', 'type']);
  const settings = { autoEarnEnabled: false, defaultChain: 'solana', updatedAt: '2026-01-01' };
  const update = clientOfBody(settings);
  expect(await update.payments.settings.update({ defaultChain: 'base' })).toEqual(settings);
  expect(update.paths()).toEqual(['defaultChain']);
});

test('a client reports an undocumented value once, whatever call reads it', async () => {
  const items = [1, 2, 3].map((number) => ({ ...transferNumber(number), status: 'held' }));
  const { payments, paths } = clientOfBody(page(items));
  await payments.transfers.list();
  await payments.transfers.list().toArray({ max: 9 });
  expect(paths()).toEqual(['data[0].status']);
  const other = payments.withOptions({ maxRetries: 1 });
  await other.transfers.list();
  expect(paths()).toEqual(['data[0].status', 'data[0].status']);
});

test('a client reports the same undocumented value of two enums twice', async () => {
  const { payments, paths } = clientOfBody({ ...transfer, status: 'odd', type: 'odd' });
  await payments.transfers.get('txfr_1');
  await payments.transfers.get('txfr_1');
  expect(paths()).toEqual(['status', 'type']);
});

test('a client reports at most 100 undocumented values of an enum', async () => {
  const items = Array.from({ length: 150 }, (_, number) => ({
    ...transferNumber(number + 1),
    status: `status_${number}`,
  }));
  const { payments, paths } = clientOfBody(page(items));
  await payments.transfers.list();
  expect(paths()).toHaveLength(100);
});

test('with strict validation a read returns an undocumented value and reports drift', async () => {
  const newer = { ...transfer, status: 'held' };
  const { payments, paths } = clientOfBody(newer, { validation: 'strict' });
  expect(await payments.transfers.get('txfr_1')).toEqual(newer);
  expect(paths()).toEqual(['status']);
});

test('the drift report of a long undocumented value shows its start', async () => {
  const { payments, drifts } = clientOfBody({ ...transfer, status: 'x'.repeat(100_000) });
  await payments.transfers.get('txfr_1');
  expect(drifts[0]?.issues[0]?.message.length).toBeLessThan(200);
});

test('with strict validation a read rejects a record with a wrong field', async () => {
  for (const changes of [{ direction: undefined }, { amount: null }, { status: 7 }]) {
    const drifted = { ...transfer, ...changes };
    const reads: [unknown, Read][] = [
      [drifted, ({ transfers }) => transfers.get('txfr_1')],
      [page([drifted]), ({ transfers }) => transfers.list()],
      [page([drifted]), ({ transfers }) => transfers.list().toArray({ max: 9 })],
    ];
    for (const [body, read] of reads) {
      const { payments, drifts } = clientOfBody(body, { validation: 'strict' });
      const error = await failureOf(read(payments), InvalidResponseError);
      expect(error).toMatchObject({ reason: 'shape', issues: [{}] });
      expect(drifts).toEqual([]);
    }
  }
});

test('the clientOptions of a sandbox set strict validation', async () => {
  const sandbox = new Sandbox();
  await using server = await listen(sandbox);
  for (const { validation } of [sandbox.clientOptions, server.clientOptions]) {
    const { payments } = clientOfBody({ ...transfer, direction: 7 }, { validation });
    await failureOf(payments.transfers.get('txfr_1'), InvalidResponseError);
  }
});

test('payments.request enforces its schema on reads even with validation: report', async () => {
  const { payments, drifts } = clientOfBody({ id: 5 }, { validation: 'report' });
  const schema = z.object({ id: z.string() });
  const get = payments.request({ method: 'GET', path: '/things', api: 'versioned', schema });
  await failureOf(get, InvalidResponseError);
  expect(drifts).toEqual([]);
});
