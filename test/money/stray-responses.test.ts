import {
  InvalidResponseError,
  PaymentInDoubtError,
  PaymentsClient,
  type ClientOptions,
} from 'payments-platform-sdk';
import { Agent } from 'node:http';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { beforeEach, expect, test, vi } from 'vitest';
import { CreatedIds } from '../../src/calls/created-ids.ts';
import { apiKey, clientAt, clientOf, failureOf, jwt, respond } from '../support/clients.ts';
import { responseBytes, type Exchange } from '../support/loopback.ts';
import { rawServer } from '../support/raw-server.ts';
import {
  createdNumber,
  errorBody,
  newInstruction,
  newTransfer,
  page,
  transfer,
  transferNumber,
} from '../support/values.ts';

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

/** A write uses a connection again only after a silence. */
const waitForSilence = () => new Promise((resolve) => setTimeout(resolve, 120));

test.each(Object.entries(gets))(
  'get() of %s_1 rejects a response with another id',
  async (prefix, get) => {
    const server = await rawServer(
      keep(200, { ...transfer, id: `${prefix}_1` }),
      keep(200, { ...transfer, id: `${prefix}_2` }),
    );
    const payments = clientAt(server, { maxRetries: 0 });
    await get(payments);
    const error = await failureOf(get(payments), InvalidResponseError);
    expect(error).toMatchObject({ reason: 'shape', outcome: 'unknown', retryable: true });
    const message = `got ${prefix}_2; expected ${prefix}_1, also from a mock`;
    expect(error.message.split('\n')[0]).toContain(message);
    expect(error.issues).toEqual([{ path: 'id', message }]);
    expect(server.arrivals.map(({ connection }) => connection)).toEqual([0, 0]);
    await server.closed(0);
  },
);

test('get() repeats its request on another connection after a wrong id', async () => {
  const server = await rawServer(
    keep(200, transferNumber(1)),
    keep(200, transferNumber(2)),
    keep(200, transferNumber(1)),
  );
  const payments = clientAt(server);
  await payments.transfers.get('txfr_1');
  expect(await payments.transfers.get('txfr_1')).toEqual(transferNumber(1));
  expect(server.arrivals.map(({ connection }) => connection)).toEqual([0, 0, 1]);
});

test('get() accepts a different id on new connections or from option `fetch`', async () => {
  const server = await rawServer(keep(200, transferNumber(2)));
  expect((await clientAt(server).transfers.get('txfr_1')).id).toBe('txfr_2');
  const { payments } = clientOf(() => respond(200, transferNumber(2)));
  for (let count = 0; count < 2; count += 1) {
    expect((await payments.transfers.get('txfr_1')).id).toBe('txfr_2');
  }
});

const creations: Readonly<Record<string, (payments: PaymentsClient) => PromiseLike<unknown>>> = {
  acc: ({ accounts }) => accounts.create({ entityId: 'ent_1' }),
  ent: ({ entities }) => entities.create({ email: 'ada@example.com' }),
  txfr: ({ transfers }) => transfers.create(newTransfer),
};

test.each(Object.entries(creations))(
  'a creation has outcome unknown if its response repeats id %s_1',
  async (prefix, create) => {
    const server = await rawServer(keep(201, { ...createdNumber(1), id: `${prefix}_1` }));
    const payments = clientAt(server);
    await create(payments);
    await waitForSilence();
    const error = await failureOf(create(payments), InvalidResponseError);
    expect(error).toMatchObject({ reason: 'shape', outcome: 'unknown', retryable: false });
    expect(error.message).toContain(`${prefix}_1, which an earlier creation has`);
    expect(error.message).not.toContain('the platform accepted the call');
    expect(server.arrivals.map(({ connection }) => connection)).toEqual([0, 0]);
    await server.closed(0);
  },
);

test.each(Object.entries(creations))(
  'creations on new connections accept the repeated id %s_1',
  async (prefix, create) => {
    const body = { ...createdNumber(1), id: `${prefix}_1` };
    const server = await rawServer(({ reply }) => reply(responseBytes(201, body)));
    const { payments } = clientOf(() => respond(201, body));
    for (const client of [clientAt(server), payments]) {
      for (let count = 0; count < 3; count += 1) {
        expect(await create(client)).toMatchObject({ id: `${prefix}_1` });
      }
    }
  },
);

test.each<[string, (payments: PaymentsClient, options: ClientOptions) => PaymentsClient]>([
  ['a clone', (payments) => payments.withOptions({ timeout: 1_000 })],
  ['a clone with another API key', (payments) => payments.withOptions({ apiKey: `${apiKey}_2` })],
  ['another client', (_, options) => new PaymentsClient(options)],
])('%s rejects an id that an earlier creation received', async (_, makeOther) => {
  const server = await rawServer(keep(201, createdNumber(1)));
  const payments = clientAt(server);
  await payments.transfers.create(newTransfer);
  await waitForSilence();
  const { baseUrl } = payments.toJSON();
  const other = makeOther(payments, { baseUrl, apiKey });
  await failureOf(other.transfers.create(newTransfer), InvalidResponseError);
  expect(server.arrivals.map(({ connection }) => connection)).toEqual([0, 0]);
});

test.each([
  ['the option idempotencyHeader', { platform: { idempotencyHeader: 'X-Key' } }, 'x-key'],
  ['a header of the caller', {}, 'Idempotency-Key'],
])('two creations with one idempotency key in %s may share an id', async (_, options, name) => {
  const server = await rawServer(keep(201, createdNumber(1)));
  const payments = clientAt(server, { maxRetries: 0, ...options });
  const create = (key: string) =>
    payments.transfers.create(newTransfer, { headers: { [name]: key } });
  await create('one');
  await waitForSilence();
  expect(await create('one')).toEqual(createdNumber(1));
  await waitForSilence();
  expect((await failureOf(create('two'), InvalidResponseError)).outcome).toBe('unknown');
  expect(server.arrivals.map(({ connection }) => connection)).toEqual([0, 0, 0]);
});

const payoutOf = (account: string) =>
  ({ ...newTransfer, sourceAccountId: account, description: `payout of ${account}` }) as const;

test.each<[string, Record<string, unknown>, 'created' | 'found']>([
  ['the documented fields', {}, 'created'],
  ['a masked description', { ...payoutOf('acc_1'), description: 'pay****' }, 'created'],
  ['no values', { amount: null, sourceAccountId: '', currency: undefined }, 'created'],
  ['another amount and its description', { ...payoutOf('acc_1'), amount: '13' }, 'created'],
  ['another amount', { amount: '12.51' }, 'found'],
  ['another source', { sourceAccountId: 'acc_9' }, 'found'],
  ['another recipient', { destinationAccountId: 'acc_9', amount: '12.50' }, 'found'],
  [
    'a counterparty instead of the account',
    { counterpartyId: 'cpty_1', destinationAccountId: 'acc_9' },
    'found',
  ],
  ['another currency', { currency: 'EUR' }, 'found'],
  ['all terms of another payment', { ...payoutOf('acc_7') }, 'found'],
])('createOnce resolves to its own transfer if the response shows %s', async (_, shown, result) => {
  const own = { ...transferNumber(2), ...payoutOf('acc_1') };
  const { payments } = clientOf(
    ({ method }) =>
      method === 'GET'
        ? respond(200, page([own]))
        : respond(201, { ...createdNumber(result === 'created' ? 2 : 1), ...shown }),
    { journal: memoryJournal() },
  );
  const paid = await payments.transfers.createOnce(payoutOf('acc_1'));
  expect(paid).toMatchObject({ id: 'txfr_2', result });
});

test('create accepts a response that shows other terms', async () => {
  const { payments } = clientOf(() => respond(201, { ...transfer, amount: '1' }));
  expect(await payments.transfers.create(newTransfer)).toMatchObject({ amount: '1' });
});

test("createOnce closes a connection that returned another payment's terms", async () => {
  const server = await rawServer(
    keep(201, { ...transferNumber(1), ...payoutOf('acc_9') }),
    keep(200, page([])),
  );
  const { transfers } = clientAt(server, { journal: memoryJournal() });
  const error = await failureOf(transfers.createOnce(payoutOf('acc_1')), PaymentInDoubtError);
  expect(error.attempts[0]?.reason).toContain('with the id of another record');
  await server.closed(0);
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

interface Listing {
  readonly transfers: readonly object[];
  readonly pageSize?: number;
  /** Before the response to a request, sends the response to the one before once more. */
  readonly isDoubled?: boolean;
  /** What the server says about each connection before it ends the connection. */
  readonly connection?: string;
}

/** A server that lists the transfers of the account that the query names. */
function listingServer({ transfers, pageSize = 100, isDoubled, connection: end }: Listing) {
  const latest = new Map<number, Uint8Array>();
  return rawServer(({ target, connection, write, reply }) => {
    const query = new URL(target, 'http://localhost').searchParams;
    const from = Number(query.get('cursor'));
    const source = query.get('accountId');
    const rows = transfers.filter((row) => Reflect.get(row, 'sourceAccountId') === source);
    const next = from + pageSize < rows.length ? `${from + pageSize}` : null;
    const response = responseBytes(200, page(rows.slice(from, from + pageSize), next), {
      connection: end ?? 'keep-alive',
    });
    const stray = latest.get(connection);
    latest.set(connection, response);
    if (isDoubled === true && stray !== undefined) write(stray);
    if (end === undefined) write(response);
    else reply(response);
  });
}

const accounts = Array.from({ length: 5 }, (_, number) => `acc_${number + 1}`);
const payouts = accounts.map((account, number) => ({
  ...transferNumber(number),
  ...payoutOf(account),
}));
/** 250 transfers of an account. */
const history = Array.from({ length: 250 }, (_, number) => transferNumber(number));

test.each([
  ['the agents of the SDK', undefined],
  ['an agent of the caller', new Agent({ keepAlive: true })],
  ['an agent with one connection', new Agent({ keepAlive: true, maxSockets: 1 })],
])('a search over %s ignores the copy of another list', async (_, agent) => {
  const server = await listingServer({ transfers: payouts, isDoubled: true });
  const payments = clientAt(server, { agent });
  for (const account of accounts) {
    const { result } = await payments.transfers.reconcile(payoutOf(account));
    expect(result).toBe('found');
  }
});

test('a search fails if it receives one of its pages twice', async () => {
  const server = await listingServer({ transfers: history, isDoubled: true });
  const search = clientAt(server).transfers.reconcile(payoutOf('acc_1'));
  expect(await failureOf(search)).toMatchObject({ reason: 'cursor_loop', outcome: 'unknown' });
});

test.each<[string, Agent | undefined, number[]]>([
  ['the agents of the SDK', undefined, [0, 1, 1, 1, 0, 2, 2, 2]],
  ['an agent of the caller', new Agent({ keepAlive: true }), [0, 1, 1, 1, 1, 2, 2, 2]],
])('a search over %s reads its pages on one new connection', async (_, agent, connections) => {
  const server = await listingServer({ transfers: history });
  const payments = clientAt(server, { agent });
  for (let count = 0; count < 2; count += 1) {
    await payments.transfers.list({ accountId: 'acc_1' });
    await payments.transfers.reconcile(payoutOf('acc_1'));
  }
  expect(server.arrivals.map(({ connection }) => connection)).toEqual(connections);
  // The SDK's own agent soon closes the connection of a search.
  if (agent !== undefined)
    expect(server.connections.map(({ closed }) => closed)).not.toContain(true);
});

test('a search does not wait for reads that use all connections', async () => {
  const server = await rawServer(({ target, write }) => {
    if (target.includes('limit')) write(responseBytes(200, page([]), keepAlive));
  });
  const { transfers } = clientAt(server);
  const end = new AbortController();
  const reads = Array.from({ length: 150 }, () =>
    transfers.get('txfr_1', { signal: end.signal }).catch(() => undefined),
  );
  expect((await transfers.reconcile(payoutOf('acc_1'))).result).toBe('not_found');
  end.abort();
  await Promise.all(reads);
});

test('a search changes its connection if another read has used it', async () => {
  const server = await listingServer({ transfers: history });
  const { transfers } = clientAt(server, { agent: new Agent({ keepAlive: true, maxSockets: 1 }) });
  const search = transfers.reconcile(payoutOf('acc_1'));
  await server.arrived(1);
  await Promise.all([search, transfers.list({ accountId: 'acc_2' })]);
  const arrivals = server.arrivals.map(({ target, connection }) => [
    new URL(target, server.origin).searchParams.get('accountId'),
    connection,
  ]);
  expect(arrivals).toEqual([
    ['acc_1', 0],
    ['acc_2', 0],
    ['acc_1', 1],
    ['acc_1', 1],
  ]);
});

test.each(['close', 'keep-alive'])(
  'a search continues if each connection ends and says %s',
  async (connection) => {
    const server = await listingServer({ transfers: [...history, ...payouts], connection });
    const { result } = await clientAt(server).transfers.reconcile(payoutOf('acc_1'));
    expect(result).toBe('found');
  },
);

type Failing = (payments: PaymentsClient) => PromiseLike<unknown>;
const writes: Readonly<Record<string, Failing>> = {
  'transfers.create': ({ transfers }) => transfers.create(newTransfer),
  'accounts.update': ({ accounts }) => accounts.update('acc_1', { name: 'x' }),
  'counterparties.delete': ({ counterparties }) => counterparties.delete('cpty_1'),
  'instructions.build': ({ instructions }) => instructions.build(newInstruction),
};

test.each(Object.entries(writes))('a failed %s closes its connection', async (_, write) => {
  for (const [status, body] of [
    [422, errorBody],
    [429, errorBody],
    [500, errorBody],
    [204, undefined],
    [200, 'no record'],
  ] as const) {
    const server = await rawServer(keep(status, body));
    const payments = clientAt(server, { maxRetries: 0, jwt, rootUrl: server.origin });
    const isSuccess = await write(payments).then(
      () => true,
      () => false,
    );
    if (!isSuccess) await server.closed(0);
    else expect(server.connections[0]?.closed).toBe(false);
  }
});

const build: Failing = ({ instructions }) => instructions.build(newInstruction);
const get: Failing = ({ transfers }) => transfers.get('txfr_1');
const pay: Failing = ({ transfers }) => transfers.create(newTransfer);

test.each<[string, Failing, Agent?]>([
  ['payment', pay],
  ['payment over an agent of the caller', pay, new Agent({ keepAlive: true })],
  ['instruction', build],
  ['read over an agent of the caller', get, new Agent({ keepAlive: true })],
  ['read over one connection', get, new Agent({ keepAlive: true, maxSockets: 1 })],
])('a late copy of the response to a %s rejects no payment', async (_, send, agent) => {
  const server = await rawServer(keep(422, errorBody), ({ connection, write }) => {
    // The copy was on its way when the payment was sent.
    if (connection === 0) write(responseBytes(422, errorBody, keepAlive));
    write(responseBytes(201, createdNumber(1), keepAlive));
  });
  const payments = clientAt(server, { agent, jwt, rootUrl: server.origin });
  expect(await failureOf(Promise.resolve(send(payments)))).toMatchObject({ status: 422 });
  await waitForSilence();
  expect(await payments.transfers.create(newTransfer)).toEqual(createdNumber(1));
});
