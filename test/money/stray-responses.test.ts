import { InvalidResponseError, type PaymentsClient } from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { beforeEach, expect, test, vi } from 'vitest';
import { CreatedIds } from '../../src/calls/created-ids.ts';
import { apiKey, clientAt, clientOf, failureOf, respond } from '../support/clients.ts';
import { responseBytes, type Exchange } from '../support/loopback.ts';
import { rawServer } from '../support/raw-server.ts';
import { createdNumber, newTransfer, page, transfer, transferNumber } from '../support/values.ts';

// A faulty server or proxy answers a request with the response to another request.

beforeEach(() => {
  // A retry does not wait.
  vi.spyOn(Math, 'random').mockReturnValue(0);
});

const keepAlive = { connection: 'keep-alive' };
const keep =
  (status: number, body: unknown) =>
  ({ write }: Exchange): void => {
    write(responseBytes(status, body, keepAlive));
  };

const gets: Readonly<Record<string, (payments: PaymentsClient) => PromiseLike<unknown>>> = {
  acc: ({ accounts }) => accounts.get('acc_1'),
  cpty: ({ counterparties }) => counterparties.get('cpty_1'),
  ent: ({ entities }) => entities.get('ent_1'),
  iban: ({ ibans }) => ibans.get('iban_1'),
  txfr: ({ transfers }) => transfers.get('txfr_1'),
};

test.each(Object.entries(gets))(
  'get() of the id %s_1 rejects a response with another id',
  async (prefix, get) => {
    const { payments, requests } = clientOf(() => respond(200, { id: `${prefix}_2` }));
    const error = await failureOf(get(payments), InvalidResponseError);
    expect(error).toMatchObject({ reason: 'shape', outcome: 'unknown', retryable: true });
    expect(error.issues).toEqual([
      { path: 'id', message: `got ${prefix}_2; expected ${prefix}_1` },
    ]);
    expect(requests).toHaveLength(3);
  },
);

test('get() sends its request again on another connection if the response has another id', async () => {
  const server = await rawServer(keep(200, transferNumber(2)), keep(200, transferNumber(1)));
  const payments = clientAt(server);
  expect(await payments.transfers.get('txfr_1')).toEqual(transferNumber(1));
  expect(server.arrivals.map(({ connection }) => connection)).toEqual([0, 1]);
  await server.closed(0);
});

const creations: Readonly<Record<string, (payments: PaymentsClient) => PromiseLike<unknown>>> = {
  acc: ({ accounts }) => accounts.create({ entityId: 'ent_1' }),
  ent: ({ entities }) => entities.create({ email: 'ada@example.com' }),
  txfr: ({ transfers }) => transfers.create(newTransfer),
};

test.each(Object.entries(creations))(
  'a creation is sent once and ends as unknown if its response has the id %s_1 of an earlier creation',
  async (prefix, create) => {
    const server = await rawServer(keep(201, { ...createdNumber(1), id: `${prefix}_1` }));
    const payments = clientAt(server);
    await create(payments);
    const error = await failureOf(create(payments), InvalidResponseError);
    expect(error).toMatchObject({ reason: 'shape', outcome: 'unknown', retryable: false });
    expect(error.message).toContain(`${prefix}_1, which an earlier creation has`);
    expect(error.message).not.toContain('the platform accepted the call');
    expect(server.arrivals).toHaveLength(2);
    await server.closed(server.arrivals[1]?.connection ?? -1);
  },
);

test('a clone of a client with the same API key rejects a creation whose response has the id of the client’s earlier creation', async () => {
  const { payments } = clientOf(() => respond(201, createdNumber(1)));
  await payments.transfers.create(newTransfer);
  const clone = payments.withOptions({ timeout: 1_000 });
  await failureOf(clone.transfers.create(newTransfer), InvalidResponseError);
  const tenant = payments.withOptions({ apiKey: `${apiKey}_tenant` });
  expect(await tenant.transfers.create(newTransfer)).toEqual(createdNumber(1));
});

test.each([
  ['the option idempotencyHeader', { platform: { idempotencyHeader: 'X-Key' } }, 'x-key'],
  ['a header of the caller', {}, 'Idempotency-Key'],
])(
  'two creations with the same idempotency key in %s may receive the same id',
  async (_, options, name) => {
    const { payments, requests } = clientOf(() => respond(201, createdNumber(1)), {
      maxRetries: 0,
      ...options,
    });
    const create = (key: string) =>
      payments.transfers.create(newTransfer, { headers: { [name]: key } });
    await create('one');
    expect(await create('one')).toEqual(createdNumber(1));
    expect((await failureOf(create('two'), InvalidResponseError)).outcome).toBe('unknown');
    expect(requests).toHaveLength(3);
  },
);

test('createOnce finds its own transfer in the list if its response has the id of an earlier creation', async () => {
  const made: { id: string }[] = [];
  const { payments, requests } = clientOf(
    (request, body) => {
      if (request.method === 'GET') return respond(200, page(made));
      made.push({ ...transfer, ...(JSON.parse(body) as object), id: `txfr_${made.length + 1}` });
      return respond(201, made[0]);
    },
    { journal: memoryJournal() },
  );
  const pay = (description: string) =>
    payments.transfers.createOnce({ ...newTransfer, description });
  expect((await pay('payout-1')).id).toBe('txfr_1');
  expect((await pay('payout-2')).id).toBe('txfr_2');
  expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(2);
});

test('CreatedIds remembers the last 10,000 ids, and never more than 20,000', () => {
  const ids = new CreatedIds();
  const isNew = (number: number): boolean => ids.add(`txfr_${number}`, undefined);
  for (let number = 0; number < 20_000; number += 1) isNew(number);
  expect(isNew(0)).toBe(false);
  expect(isNew(20_000)).toBe(true);
  expect(isNew(0)).toBe(true);
  expect(isNew(10_001)).toBe(false);
});
