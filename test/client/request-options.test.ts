import { ValidationError, type PaymentsClient } from 'payments-platform-sdk';
import { expect, test } from 'vitest';
import { failureOf, clientOf } from '../support/clients.ts';
import { buildInput, clientOfSeededSandbox, owner } from '../support/platform.ts';
import { account } from '../support/records.ts';
import { newTransfer } from '../support/values.ts';
import { rejection } from '../arguments/invalid-arguments.ts';

const book = {
  sourceAccountId: 'acc_000001',
  destinationAccountId: 'acc_000002',
  amount: '1',
} as const;

const isDouble = 'the input already has this field; set it only there';

test('options.query is sent in addition to the documented parameters', async () => {
  const { payments, requests } = clientOf(() => Response.json({ data: [], hasMore: false }));
  await payments.transfers.list(
    { limit: 5 },
    { query: { account: 'acc 1', big: 2n ** 60n, flag: false, none: undefined, zero: 0 } },
  );
  expect(new URL(requests[0]?.url ?? '').search).toBe(
    '?limit=5&account=acc+1&big=1152921504606846976&flag=false&zero=0',
  );
});

test('an array in options.query becomes one parameter for each value', async () => {
  const { payments, requests } = clientOf(() => Response.json({ data: [], hasMore: false }));
  const query = { status: ['failed', 'a&b', 2n ** 60n], last: 1 };
  const search = '?status=failed&status=a%26b&status=1152921504606846976&last=1';
  await payments.transfers.list({}, { query });
  await payments.request({ method: 'GET', path: '/transfers', api: 'versioned', query });
  expect(requests.map(({ url }) => new URL(url).search)).toEqual([search, search]);
});

test.each(['acc_2', ['acc_2'], []])(
  'accountId in input and query is rejected, even as %o',
  async (accountId) => {
    const { payments, requests } = clientOf();
    const listing = payments.transfers.list({ accountId: 'acc_1' }, { query: { accountId } });
    const { issues } = await failureOf(listing, ValidationError);
    expect(issues).toEqual([{ path: 'options.query.accountId', message: isDouble }]);
    expect(requests).toEqual([]);
  },
);

test('error.issues names an invalid array in options.query once', async () => {
  const { payments, requests } = clientOf();
  const query = { ids: Array(10_000).fill(null), none: [], gap: ['x', undefined] } as never;
  const { issues } = await failureOf(payments.transfers.list({}, { query }), ValidationError);
  expect(issues.map(({ path }) => path)).toEqual(
    ['ids', 'none', 'gap'].map((name) => `options.query.${name}`),
  );
  expect(issues[1]?.message).toContain('at least one value');
  expect(requests).toEqual([]);
});

test('an undefined field in options.query or options.body is not sent', async () => {
  const { payments, requests } = clientOf(() => Response.json({ data: [], hasMore: false }));
  await payments.transfers.list({ accountId: 'acc_1' }, { query: { accountId: undefined } });
  expect(new URL(requests[0]?.url ?? '').search).toBe('?accountId=acc_1');
  const { payments: writing, requests: written } = clientOf(() => Response.json({ id: 'txfr_1' }));
  await writing.transfers.create(book, { body: { amount: undefined, memo: undefined } });
  expect(JSON.parse(written[0]?.body ?? '')).toEqual(book);
});

test.each(['description', 'currency'])(
  'options.body of create may not contain `%s`',
  async (name) => {
    const { payments, requests } = clientOf();
    const sending = payments.transfers.create(newTransfer, { body: { [name]: 'EUR' } });
    const { issues } = await failureOf(sending, ValidationError);
    const message = 'set it in the input, where transfers.reconcile looks for it';
    expect(issues).toEqual([{ path: `options.body.${name}`, message }]);
    expect(requests).toEqual([]);
  },
);

test('options.query is sent for every page of a list', async () => {
  const { payments, requests } = clientOf((request) => {
    const isSecond = new URL(request.url).searchParams.has('cursor');
    return Response.json({ data: [], hasMore: !isSecond, nextCursor: isSecond ? null : 'c2' });
  });
  const all = payments.accounts.list({ limit: 5 }, { query: { entityId: 'ent_1' } });
  expect(await all.toArray({ max: 10 })).toEqual([]);
  expect(requests.map(({ url }) => new URL(url).search)).toEqual([
    '?limit=5&entityId=ent_1',
    '?cursor=c2&limit=5&entityId=ent_1',
  ]);
});

test('options.query is sent even for a call without documented parameters', async () => {
  const { payments, requests } = clientOf(() => new Response(null, { status: 204 }));
  await payments.ibans.delete('iban_1', { query: { reason: 'closed' } });
  expect(requests[0]?.url).toBe('https://api.example.com/v0/ibans/iban_1?reason=closed');
});

test('options.body is sent in addition to the input', async () => {
  const { payments, requests } = clientOf(() => Response.json({ id: 'txfr_1' }));
  await payments.transfers.create(book, { body: { memo: 'x', fee: { max: 3n }, none: undefined } });
  expect(requests[0]?.body).toBe(
    '{"sourceAccountId":"acc_000001","amount":"1","destinationAccountId":"acc_000002","memo":"x","fee":{"max":3}}',
  );
});

test('options.body may have a field named like a member of Object.prototype', async () => {
  const { payments, requests } = clientOf(() => Response.json({ id: 'txfr_1' }));
  await payments.transfers.create(book, { body: { constructor: 1, toString: 2 } });
  expect(JSON.parse(requests[0]?.body ?? '')).toEqual({ ...book, constructor: 1, toString: 2 });
});

test('options.body never replaces a field of the input', async () => {
  const { payments, requests } = clientOf(() => Response.json({ id: 'txfr_1' }));
  const error = await failureOf(
    payments.transfers.create(book, { body: { amount: 0.1 + 0.2, memo: 'x' } }),
    ValidationError,
  );
  expect(error.issues).toEqual([{ path: 'options.body.amount', message: isDouble }]);
  expect(requests).toEqual([]);
});

test('a DELETE sends options.body as its body', async () => {
  const { payments, requests } = clientOf(() => new Response(null, { status: 204 }));
  await payments.counterparties.delete('cpty_1', { body: { force: true } });
  expect(requests[0]).toMatchObject({ method: 'DELETE', body: '{"force":true}' });
  expect(requests[0]?.headers['content-type']).toBe('application/json');
});

test('options.body is merged into the body of a GET', async () => {
  const { payments, requests } = clientOf(() => Response.json([]));
  await payments.instructions.list({ address: owner }, { body: { chainId: 1 } });
  expect(JSON.parse(requests[0]?.body ?? '')).toEqual({ address: owner, chainId: 1 });
});

test('transfers.create rejects an undocumented field and suggests options.body', async () => {
  const { payments, requests } = clientOfSeededSandbox();
  const input = { ...book, memo: 'x' };
  await expect(payments.transfers.create(input)).rejects.toMatchObject({
    issues: [{ path: 'memo', message: expect.stringContaining('options.body') }],
  });
  expect(requests).toEqual([]);
});

test('the headers of a call are added to the client’s', async () => {
  const { payments, requests } = clientOf(() => Response.json({ id: 'ent_1' }), {
    headers: { 'X-Team': 'treasury', 'X-Trace': 'client', 'User-Agent': 'till/2' },
  });
  await payments.entities.get('ent_1', { headers: { 'x-trace': 'call', 'X-None': undefined } });
  expect(requests[0]?.headers).toMatchObject({
    'x-team': 'treasury',
    'x-trace': 'call',
    'user-agent': 'till/2',
  });
  expect(requests[0]?.headers).not.toHaveProperty('x-none');
});

test('withResponse returns the parsed data and the response', async () => {
  const { payments, requests } = clientOfSeededSandbox();
  const got = await payments.entities.get('ent_000001').withResponse();
  expect(got.response.headers.get('x-request-id')).toBe('req_000001');
  const created = await payments.transfers.create(book).withResponse();
  const list = payments.accounts.list({ limit: 1 });
  const listed = await list.withResponse();
  expect(listed.data.data).toHaveLength(1);
  // The awaited page and the response are of the same request.
  expect(await list).toBe(listed.data);
  for (const { data, response } of [got, created, listed]) {
    expect(response.status).toBe(data === created.data ? 201 : 200);
    expect(await response.json()).toEqual(data);
  }
  const root = await payments.transactions.list({ address: owner }).withResponse();
  expect(await root.response.json()).toEqual(root.data.data);
  const { data, response } = await payments.ibans.delete('iban_000001').withResponse();
  expect([data, response.status, await response.text()]).toEqual([undefined, 204, '']);
  expect(requests).toHaveLength(5);
});

test('withResponse of a failed call leaves no unhandled rejection', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', note);
  try {
    const { payments } = clientOfSeededSandbox();
    const call = payments.entities.get('ent_999999');
    await expect(call.withResponse()).rejects.toMatchObject({ status: 404 });
    await expect(payments.entities.list({ limit: 0 }).withResponse()).rejects.toMatchObject({
      name: 'ValidationError',
    });
    // Node reports unhandled rejections after the microtasks.
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', note);
  }
});

test('transfers.create resolves after a response with any 2xx status', async () => {
  for (const status of [200, 201, 202, 207, 299]) {
    const response = { id: 'txfr_1', status: 'pending', type: 'book', createdAt: 'now' };
    const { payments } = clientOf(() => Response.json(response, { status }));
    expect(await payments.transfers.create(book)).toEqual(response);
  }
});

test('instructions.build sends the input as it was when it was called', async () => {
  const { payments, requests } = clientOf(() => Response.json({}));
  const input = { ...buildInput, salt: 1 };
  const call = payments.instructions.build(input);
  input.salt = 2;
  await call;
  expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({ salt: 1 });
});

const api = 'versioned';
test.each<[string, (payments: PaymentsClient) => PromiseLike<unknown>]>([
  ['options.body.n[0]', ({ transfers }) => transfers.create(book, { body: { n: [2 ** 60] } })],
  [
    'actionArguments.sweep.max',
    ({ instructions }) =>
      instructions.build({ ...buildInput, actionArguments: { sweep: { max: 2 ** 60 } } }),
  ],
  ['body.n', (sdk) => sdk.request({ method: 'POST', path: '/x', api, body: { n: -(2 ** 53) } })],
  ['query.n', (sdk) => sdk.request({ method: 'GET', path: '/x', api, query: { n: 2 ** 60 } })],
  [
    'options.query.after',
    ({ transfers }) => transfers.get('txfr_1', { query: { after: 2 ** 60 } }),
  ],
])('an integer beyond the safe range is rejected in %s', async (path, call) => {
  const error = await rejection(call);
  expect(error.issues).toEqual([{ path, message: expect.stringMatching(/expected a bigint/) }]);
});

test.each<[string, string, (payments: PaymentsClient) => PromiseLike<unknown>]>([
  ['query', 'cursor', ({ entities }) => entities.list({}, { query: { cursor: 'c2' } })],
  ['body', 'skip', (sdk) => sdk.transactions.list({ address: owner }, { body: { skip: 1 } })],
])('a list rejects options.%s.%s', async (place, name, list) => {
  const error = await rejection(list);
  const message = expect.stringContaining(`to choose the first page, use list({ ${name} })`);
  expect(error.issues).toEqual([{ path: `options.${place}.${name}`, message }]);
});

test('the message of a ValidationError names only the first twenty mistakes', async () => {
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`field${n}`, 1]));
  const { payments, requests } = clientOf();
  const error = await failureOf(payments.transfers.create({ ...book, ...many }), ValidationError);
  expect(requests).toEqual([]);
  expect(error.issues).toHaveLength(1_000);
  expect(error.message).toContain('field19: ');
  expect(error.message).not.toContain('field20: ');
  expect(error.message).toContain('and 980 more, which are in error.issues');
});

test('options.body is rejected if the request body is an array', async () => {
  const { payments, requests } = clientOf();
  const call = payments.request(
    { method: 'POST', path: '/batches', api: 'versioned', body: [1] },
    { body: { more: true } },
  );
  const error = await failureOf(call, ValidationError);
  const message = 'the body is not an object, so options.body cannot be merged into it';
  expect(error.issues).toEqual([{ path: 'options.body', message }]);
  expect(requests).toEqual([]);
});

test('a decimal from JSON.rawJSON is sent with its digits unchanged', async () => {
  const { payments, requests } = clientOf(() => Response.json(account));
  const exact = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON('1.10');
  await payments.accounts.update('acc_1', { name: 'x' }, { body: { exact } });
  expect(requests[0]?.body).toBe('{"name":"x","exact":1.10}');
});
