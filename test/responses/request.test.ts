import { PaymentsClient, type AnyRequest } from 'payments-platform-sdk';
import { SettingsSchema } from 'payments-platform-sdk/schemas';
import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { apiKey, failureOf, jwt, clientOf } from '../support/clients.ts';
import { seededSandbox, clientOfSeededSandbox, owner } from '../support/platform.ts';
import { recordingServer } from '../support/recording-server.ts';
import type { ResponseSchema } from '../../src/calls/raw-call.ts';

test('payments.request sends to each API its own credential', async () => {
  const { payments, requests } = clientOf();
  await payments.request({ method: 'GET', path: '/reports', api: 'versioned' });
  await payments.request({ method: 'GET', path: '/reports', api: 'root' });
  expect(requests.map(({ url, headers }) => [url, headers['authorization']])).toEqual([
    ['https://api.example.com/v0/reports', `Bearer ${apiKey}`],
    ['https://api.example.com/reports', `Bearer ${jwt}`],
  ]);
});

test.each(['', 'plain-1_2.3*', '~', "it's", 'é', 'a&b=c', '100%', '+1 2', '/?#', '\u{1f600}'])(
  'payments.request encodes a query as URLSearchParams does: %j',
  async (text) => {
    const { payments, requests } = clientOf();
    const query = { [text]: text, after: text };
    await payments.request({ method: 'GET', path: '/reports', api: 'versioned', query });
    expect(requests[0]?.url).toBe(
      `https://api.example.com/v0/reports?${new URLSearchParams(query).toString()}`,
    );
  },
);

test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const)(
  'payments.request sends the method %s',
  async (method) => {
    const { payments, requests } = clientOf();
    const query = { a: '1 2', b: 3n, c: undefined };
    const request = { method, path: '/a%20b/c:d@e', api: 'versioned', query } as const;
    expect(await payments.request(request)).toEqual({});
    expect(requests).toMatchObject([
      { method, url: 'https://api.example.com/v0/a%20b/c:d@e?a=1+2&b=3', body: '' },
    ]);
    if (method !== 'GET') {
      await payments.request({ ...request, body: { list: [1, 2n, null], gone: undefined } });
      expect(requests[1]).toMatchObject({ method, body: '{"list":[1,2,null]}' });
      expect(requests[1]?.headers['content-type']).toBe('application/json');
    }
  },
);

test('payments.request sends any JSON value as a body', async () => {
  const { payments, requests } = clientOf();
  for (const body of [[1, 2], 'text', 5, true, null]) {
    await payments.request({ method: 'POST', path: '/x', api: 'versioned', body });
    expect(requests.at(-1)?.body).toBe(JSON.stringify(body));
  }
});

test('payments.request sends a GET with a body over HTTP', async () => {
  const sandbox = seededSandbox();
  const server = await recordingServer((request, body) => sandbox.getWithBody(request, body));
  try {
    const payments = new PaymentsClient({
      baseUrl: `${server.origin}/v0`,
      apiKey: sandbox.apiKey,
      jwt: sandbox.jwt,
    });
    const listed = await payments.request({
      method: 'GET',
      path: '/instructions/all',
      api: 'root',
      body: { address: owner },
    });
    expect(listed).toHaveLength(2);
    expect(server.requests).toMatchObject([{ method: 'GET', body: `{"address":"${owner}"}` }]);
  } finally {
    await server.close();
  }
});

test('payments.request calls any path and returns the fields in the schema', async () => {
  const { payments } = clientOfSeededSandbox();
  const account = await payments.request({
    method: 'GET',
    path: '/accounts/acc_000001',
    api: 'versioned',
    schema: z.object({ id: z.string(), name: z.string() }),
  });
  expect(account).toEqual({ id: 'acc_000001', name: 'Source' });
});

test('payments.request without a schema returns the body unchanged', async () => {
  const text = '{"deep":[{"n":12345678901234567890}],"text":"é"}';
  const { payments } = clientOf(() => new Response(text));
  const { data, response } = await payments
    .request({ method: 'GET', path: '/x', api: 'versioned' })
    .withResponse();
  expect(data).toEqual({ deep: [{ n: 12345678901234567890n }], text: 'é' });
  expect(await response.text()).toBe(text);
});

test('payments.request without a schema returns undefined for an empty response', async () => {
  for (const response of [
    () => new Response(null, { status: 204 }),
    () => new Response(null, { status: 202 }),
    () => new Response(''),
  ]) {
    const { payments } = clientOf(response);
    const request = { method: 'POST', path: '/x', api: 'versioned' } as const;
    expect(await payments.request(request)).toBeUndefined();
  }
});

test('payments.request with a schema rejects an empty response', async () => {
  const { payments } = clientOf(() => new Response(null, { status: 204 }));
  const request = {
    method: 'GET',
    path: '/x',
    api: 'versioned',
    schema: SettingsSchema,
  } as const;
  await expect(payments.request(request)).rejects.toMatchObject({
    name: 'InvalidResponseError',
    reason: 'empty',
  });
});

test('payments.request rejects a read that mismatches the schema, with each path', async () => {
  const { payments } = clientOfSeededSandbox();
  const schema = z.object({ data: z.array(z.object({ id: z.number('a number, please') })) });
  const error: unknown = await payments
    .request({ method: 'GET', path: '/accounts', api: 'versioned', schema })
    .catch((caught: unknown) => caught);
  expect(error).toMatchObject({
    name: 'InvalidResponseError',
    reason: 'shape',
    operation: 'request',
    path: '/accounts',
    issues: [
      { path: 'data[0].id', message: 'a number, please' },
      { path: 'data[1].id', message: 'a number, please' },
    ],
  });
});

test('payments.request returns an accepted write despite a schema mismatch', async () => {
  const drift: unknown[] = [];
  const { payments } = clientOf(() => Response.json({ id: 5 }), {
    hooks: { onDrift: (event) => drift.push(event) },
  });
  const schema = z.object({ id: z.string() });
  const request = { method: 'POST', path: '/things', api: 'versioned', schema } as const;
  expect(await payments.request(request)).toEqual({ id: 5 });
  expect(drift).toMatchObject([{ operation: 'request', issues: [{ path: 'id' }] }]);
});

test('payments.request accepts any implementation of Standard Schema', async () => {
  const { payments } = clientOf(() => Response.json({ n: '5' }));
  const standard = (
    validate: (
      value: unknown,
    ) =>
      | { value: number }
      | { issues: { message: string; path?: (PropertyKey | { key: PropertyKey })[] }[] },
  ) => ({ '~standard': { version: 1, vendor: 'by hand', validate } }) as const;
  const request = { method: 'GET', path: '/x', api: 'versioned' } as const;
  const five: number = await payments.request({
    ...request,
    schema: standard((value) => ({ value: Number(Reflect.get(Object(value), 'n')) })),
  });
  expect(five).toBe(5);
  await expect(
    payments.request({
      ...request,
      schema: standard(() => ({
        issues: [{ message: 'wrong', path: ['list', { key: 0 }, 'n'] }, { message: 'too' }],
      })),
    }),
  ).rejects.toMatchObject({
    issues: [
      { path: 'list[0].n', message: 'wrong' },
      { path: '', message: 'too' },
    ],
  });
});

test('payments.request rejects a schema that validates asynchronously', async () => {
  const { payments } = clientOf();
  const schema = z.object({}).check(z.refine(() => Promise.resolve(true)));
  await expect(
    payments.request({ method: 'GET', path: '/x', api: 'versioned', schema }),
  ).rejects.toMatchObject({
    name: 'InvalidResponseError',
    issues: [{ message: expect.stringContaining('synchronous') }],
  });
});

test('payments.request does not retry a POST', async () => {
  const { payments, requests } = clientOf(() => new Response(null, { status: 503 }));
  const request = { method: 'POST', path: '/x', api: 'versioned' } as const;
  await expect(payments.request(request)).rejects.toMatchObject({
    outcome: 'unknown',
    retryable: false,
  });
  expect(requests).toHaveLength(1);
});

describe('payments.request', () => {
  const good = { method: 'GET', path: '/accounts', api: 'versioned' } as const;
  const paths = [
    '',
    'accounts',
    '//evil.example.com/x',
    'https://evil.example.com/x',
    '\\\\evil.example.com',
    '/\\evil.example.com',
    '/..',
    '/../instructions/all',
    '/a/..%2f..%2fx',
    '/a/..%5C..%5Cx',
    '/a/..;/x',
    '/a/%2E%2e;v=1/x',
    '/a/../../x',
    '/a/..',
    '/./a',
    '/.',
    '/%2e%2e/x',
    '/%2E./x',
    '/.%2e',
    '/a?limit=1',
    '/a#b',
    '/a b',
    '/a\nb',
    '/a\tb',
    '/ä',
    '/\u0000',
    '/\ud800',
    5,
    null,
    undefined,
  ];
  const requests: [string, unknown, string][] = [
    ...paths.map((path): [string, unknown, string] => [
      `the path ${JSON.stringify(path)}`,
      { ...good, path },
      'path',
    ]),
    ['an unknown method', { ...good, method: 'TRACE' }, 'method'],
    ['a method in small letters', { ...good, method: 'get' }, 'method'],
    ['the method "toString", which every object has', { ...good, method: 'toString' }, 'method'],
    ['no method', { path: '/x', api: 'root' }, 'method'],
    ['an unknown API', { ...good, api: 'v0' }, 'api'],
    ['no API', { method: 'GET', path: '/x' }, 'api'],
    ['a query that is a string', { ...good, query: 'a=1' }, 'query'],
    ['a query of null', { ...good, query: null }, 'query'],
    ['a query of URLSearchParams', { ...good, query: new URLSearchParams('a=1') }, 'query'],
    ['a list inside of a query list', { ...good, query: { a: [['1']] } }, 'query.a'],
    ['a query value of null', { ...good, query: { a: null } }, 'query.a'],
    ['a body with a function', { ...good, method: 'POST', body: { f: () => 1 } }, 'body.f'],
    ['a body that is a function', { ...good, method: 'POST', body: () => 1 }, 'body'],
    ['a schema that is no Standard Schema', { ...good, schema: { parse: () => 1 } }, 'schema'],
    ['an unknown field', { ...good, headers: {} }, 'headers'],
    ['no argument', undefined, ''],
    ['null as its argument', null, ''],
    ['a string as its argument', '/accounts', ''],
  ];

  test.each(requests)('rejects %s and sends nothing', async (_, request, at) => {
    const { payments, requests } = clientOf();
    const call = payments.request(request as AnyRequest);
    await expect(call).rejects.toMatchObject({
      name: 'ValidationError',
      outcome: 'not_sent',
      operation: 'request',
      issues: expect.arrayContaining([{ path: at, message: expect.stringMatching(/\w/) }]),
    });
    expect(requests).toEqual([]);
  });
});

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['issues that are no array', { issues: 5 }],
  ['an issue of null', { issues: [null] }],
  ['a path with null in it', { issues: [{ message: 'x', path: [null] }] }],
  ['an object with a then method', { then: () => undefined }],
])('payments.request resolves after a write even if its schema returns %s', async (_, received) => {
  const { payments } = clientOf(() => Response.json({ id: 'thing_1' }, { status: 201 }));
  const schema = {
    '~standard': { version: 1, vendor: 'none', validate: () => received },
  } as unknown as ResponseSchema<unknown>;
  expect(
    await payments.request({ method: 'POST', path: '/things', api: 'versioned', schema }),
  ).toEqual({ id: 'thing_1' });
});

test('error.path of payments.request has at most 200 characters', async () => {
  const { payments } = clientOf(() => Response.json({ error: 'no', code: 'x' }, { status: 400 }));
  const path = `/reports/${'a'.repeat(1_000)}`;
  const error = await failureOf(payments.request({ method: 'GET', path, api: 'versioned' }));
  expect(error.path).toBe(path.slice(0, 200));
});

test('payments.request sends the method POST even if the JWT is `POST`', async () => {
  const { payments, requests } = clientOf(() => Response.json({}), { jwt: 'POST' });
  await payments.request({ method: 'POST', path: '/a%2Fb', api: 'versioned' });
  expect(requests).toMatchObject([{ method: 'POST', url: 'https://api.example.com/v0/a%2Fb' }]);
});
