import { describe, expect, test } from 'vitest';
import { PaymentsClient, type ClientOptions } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { clientOf } from '../support/clients.ts';
import { namespaces } from '../support/interface.ts';
import { clientOfSandbox } from '../support/platform.ts';
import { transactionNumber } from '../support/records.ts';
import { address, page, transfer } from '../support/values.ts';
import { apiKey, jwt, leaksOf } from './scan.ts';

/** A client after several calls, with both credentials. */
function workedWith(options: ClientOptions = {}): PaymentsClient {
  const { payments } = clientOf(
    (request) =>
      request.url.includes('/transactions')
        ? Response.json([transactionNumber(1)])
        : Response.json(request.url.includes('txfr_1') ? transfer : page([transfer])),
    { apiKey, jwt, headers: { 'x-key': apiKey }, ...options },
  );
  return payments;
}

const clients: readonly (readonly [string, ClientOptions])[] = [
  ['strings', {}],
  ['functions', { apiKey: () => apiKey, jwt: () => Promise.resolve(jwt) }],
];

describe('console.log, JSON.stringify and the properties of an object', () => {
  test.for(clients)(
    'show no credential of a client whose credentials are %s',
    async ([, options]) => {
      const payments = workedWith(options);
      expect(leaksOf(payments)).toEqual([]);
      await payments.transfers.get('txfr_1');
      await payments.transactions.list({ address });
      expect(leaksOf(payments)).toEqual([]);
      expect(leaksOf(payments.withOptions({ timeout: 1_000 }))).toEqual([]);
      expect(leaksOf({ deep: [{ payments }] })).toEqual([]);
    },
  );

  test.for(namespaces)('show no credential in payments.%s', async (name) => {
    const payments = workedWith();
    await payments.transfers.get('txfr_1');
    expect(leaksOf(Reflect.get(payments, name))).toEqual([]);
  });

  test('show no credential in a list, whether read or not', async () => {
    const payments = workedWith();
    for (const list of [payments.transfers.list(), payments.transactions.list({ address })]) {
      expect(leaksOf(list)).toEqual([]);
      const [pages, items] = [list.pages(), list[Symbol.asyncIterator]()];
      expect([pages, items, pages[Symbol.asyncIterator]()].flatMap(leaksOf)).toEqual([]);
      const { data, response } = await list.withResponse();
      await items.next();
      expect([data, response, list, pages, items].flatMap(leaksOf)).toEqual([]);
    }
  });

  test('show no credential in the promise of a call', async () => {
    const payments = workedWith({});
    const call = payments.transfers.get('txfr_1');
    const withResponse = call.withResponse();
    expect([call, withResponse].flatMap(leaksOf)).toEqual([]);
    await call;
    const { response } = await withResponse;
    expect([call, withResponse, response, [...response.headers]].flatMap(leaksOf)).toEqual([]);

    const failing = clientOf(() => Promise.reject(new Error(apiKey)), {
      apiKey,
      jwt,
      maxRetries: 0,
    });
    const broken = failing.payments.transfers.get('txfr_1');
    await broken.catch(() => undefined);
    expect(leaksOf(broken)).toEqual([]);
  });

  test('show no credential of a client that calls a Sandbox', () => {
    const sandbox = new Sandbox({ apiKey, jwt });
    expect(leaksOf(new PaymentsClient(sandbox.clientOptions))).toEqual([]);
  });

  const arrivals: readonly (readonly [string, string])[] = [
    ['a path with a credential', `/echo/${encodeURI(apiKey)}`],
    ['a path with an encoded credential', `/echo/${encodeURIComponent(apiKey)}/${jwt}`],
    ['a path in lower-case codes', `/echo/${encodeURIComponent(apiKey).replaceAll('%2F', '%2f')}`],
  ];

  test.for(arrivals)(
    'show no credential in sandbox.log after a request to %s',
    async ([, path]) => {
      const sandbox = new Sandbox({ apiKey, jwt });
      const { payments } = clientOfSandbox(sandbox, { maxRetries: 0 });
      for (const api of ['versioned', 'root'] as const) {
        await payments.request({ method: 'GET', path, api }).catch(() => undefined);
      }
      expect(sandbox.log).toHaveLength(2);
      expect(leaksOf(sandbox.log)).toEqual([]);
    },
  );

  test('show no credential of a query or body in sandbox.log', async () => {
    const sandbox = new Sandbox({ apiKey, jwt });
    const { payments } = clientOfSandbox(sandbox, { maxRetries: 0 });
    const body = { [apiKey]: [{ [jwt]: apiKey }], text: `Bearer ${apiKey}` };
    const query = { [apiKey]: jwt, url: encodeURIComponent(apiKey) };
    const post = { method: 'POST', path: '/transfers', api: 'versioned' } as const;
    await payments.request({ ...post, body, query }).catch(() => undefined);
    await payments.transactions.list({ address }, { body }).then(undefined, () => undefined);
    expect(sandbox.log).toHaveLength(2);
    expect(leaksOf(sandbox.log)).toEqual([]);
  });

  test.for([
    ['not JSON', `key=${encodeURIComponent(apiKey)}&jwt=${jwt}`],
    ['JSON that is cut in the middle', `{"key":"${apiKey.replaceAll('/', '\\/')}","jwt":"${jwt}"`],
    ['JSON within JSON', JSON.stringify({ a: `{"k":"${apiKey.replaceAll('/', '\\/')}"}` })],
  ] as const)('show no credential of a body (%s) in sandbox.log', async ([, body]) => {
    const sandbox = new Sandbox({ apiKey, jwt });
    const headers = { authorization: `Bearer ${apiKey}` };
    await sandbox.fetch('https://sandbox.invalid/v0/transfers', {
      method: 'POST',
      headers,
      body,
    });
    expect(sandbox.log).toHaveLength(1);
    expect(leaksOf(sandbox.log)).toEqual([]);
  });

  test('show no credential in sandbox.log, even a foreign one', async () => {
    const sandbox = new Sandbox();
    const { payments } = clientOfSandbox(sandbox, { apiKey, jwt, maxRetries: 0 });
    const body = { entityId: 'ent_1', name: apiKey, metadata: { [apiKey]: apiKey } } as const;
    await payments.accounts.create(body).catch(() => undefined);
    await payments.instructions.list({ address }, { body: { jwt } }).catch(() => undefined);
    expect(sandbox.log).toHaveLength(2);
    expect(leaksOf(sandbox.log)).toEqual([]);
  });
});
