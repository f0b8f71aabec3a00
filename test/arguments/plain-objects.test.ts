import { createContext, runInContext } from 'node:vm';
import {
  ConfigurationError,
  PaymentsClient,
  ValidationError,
  type ClientOptions,
} from 'payments-platform-sdk';
import { describe, expect, test, vi } from 'vitest';
import { failureOf, newTransfer } from '../support/answers.ts';
import { endpoints, invoke } from '../support/interface.ts';
import { apiKey, jwt, observed } from '../support/recorder.ts';
import { refusal } from './refusal.ts';

/*
 * A copy of an object has its own fields only. What keeps them elsewhere would be sent without them: a
 * list of everybody's transfers, a PATCH that changes nothing, a payment with another tenant's key.
 */

type Fields = Readonly<Record<string, unknown>>;

/** An object of a class whose fields are accessors. */
function withAccessors(fields: Fields): object {
  const prototype = Object.defineProperties(
    {},
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, { get: () => value }])),
  );
  return Object.create(prototype) as object;
}

const hiding: readonly (readonly [string, (fields: Fields) => object])[] = [
  ['a Map', (fields) => new Map(Object.entries(fields))],
  ['a Set', (fields) => new Set(Object.values(fields))],
  ['URLSearchParams', () => new URLSearchParams('limit=1')],
  ['FormData', () => new FormData()],
  ['a Headers', () => new Headers({ 'x-key': 'stored' })],
  ['a Headers that is not the global one', () => new (class extends Headers {})()],
  ['a Date', () => new Date(0)],
  ['a regular expression', () => /a/],
  ['a promise', (fields) => Promise.resolve(fields)],
  ['an object with inherited fields', (fields) => Object.create(fields) as object],
  ['an object of a class with accessors', withAccessors],
];

const plain: readonly (readonly [string, (fields: Fields) => object])[] = [
  ['an object without a prototype', (fields) => Object.assign(Object.create(null), fields)],
  [
    'an object of another realm',
    (fields) => Object.assign(runInContext('({})', createContext()), fields),
  ],
  ['a proxy', (fields) => new Proxy({ ...fields }, {})],
  [
    'an object of a class with fields and methods',
    (fields) =>
      Object.assign(
        new (class {
          describe() {
            return 'a method';
          }
        })(),
        fields,
      ),
  ],
];

const taking = endpoints.flatMap(({ operation, examples: [example] }) =>
  example.query === undefined && example.body === undefined
    ? []
    : [
        {
          operation,
          id: example.id === undefined ? [] : [example.id],
          fields: { ...example.query, ...example.body },
        },
      ],
);

describe.each(taking)('the input of $operation', ({ operation, id, fields }) => {
  test.each(hiding)('cannot be %s', async (_, make) => {
    const error = await refusal((payments) => invoke(payments, operation, [...id, make(fields)]));
    expect(error.issues).toMatchObject([{ path: '', message: /expected a plain object/ }]);
  });

  test.each(plain)('may be %s', async (_, make) => {
    const sentFor = async (input: object) => {
      const { payments, sent } = observed(() => Response.json({}));
      await Promise.resolve(invoke(payments, operation, [...id, input])).catch(() => undefined);
      return sent.map(({ url, body }) => ({ url, body }));
    };
    const sent = await sentFor(make(fields));
    expect(sent).toHaveLength(1);
    expect(sent).toEqual(await sentFor(fields));
  });
});

describe('the options of a call', () => {
  test.each(hiding)('cannot be %s', async (_, make) => {
    const options = make({ timeout: 5 });
    const at = { path: 'options', message: /expected a plain object/ };
    for (const call of [
      (payments: PaymentsClient) => payments.transfers.create(newTransfer, options),
      (payments: PaymentsClient) => payments.transfers.list({}, options),
      (payments: PaymentsClient) => payments.transactions.list({ address: '0x0a' }, options),
      (payments: PaymentsClient) => payments.transfers.waitFor('txfr_1', options),
    ]) {
      expect((await refusal(call)).issues).toMatchObject([at]);
    }
    const { payments, sent } = observed();
    const error = await failureOf(
      payments.transfers.reconcile(newTransfer, options),
      ValidationError,
    );
    expect(error).toMatchObject({ outcome: 'unknown', issues: [at] });
    expect(sent).toEqual([]);
  });

  test.each(hiding)('cannot hold %s', async (_, make) => {
    for (const name of ['query', 'body', 'headers']) {
      const options = { [name]: make({ field: 'x' }) };
      for (const call of [
        (payments: PaymentsClient) => payments.transfers.create(newTransfer, options),
        (payments: PaymentsClient) => payments.transfers.list({}, options),
      ]) {
        const { issues } = await refusal(call);
        expect(issues).toMatchObject([
          { path: `options.${name}`, message: /expected a plain object/ },
        ]);
      }
    }
  });

  test.each(plain)('may be and hold %s', async (_, make) => {
    const { payments, sent } = observed();
    const options = make({ query: make({ a: 1 }), headers: make({ 'x-b': '2' }) });
    await payments.transfers.list({}, options).catch(() => undefined);
    expect(sent).toMatchObject([{ url: /a=1$/, headers: { 'x-b': '2' } }]);
  });
});

describe('request', () => {
  const fields = { method: 'GET', path: '/reports', api: 'versioned' };

  test.each(hiding)('cannot be asked with %s', async (_, make) => {
    const error = await refusal((payments) => payments.request(make(fields) as never));
    expect(error.issues).toMatchObject([{ path: '', message: /expected a plain object/ }]);
  });

  test.each(hiding)('cannot have a query or a body that is %s', async (_, make) => {
    for (const name of ['query', 'body']) {
      const asked = { ...fields, method: 'POST', [name]: make({ a: 1 }) };
      const { issues } = await refusal((payments) => payments.request(asked as never));
      expect(issues).toMatchObject([{ path: name, message: /expected a plain object/ }]);
    }
  });

  test('asks a getter once: what was checked is what is sent', async () => {
    const { payments, sent } = observed();
    const answers = { method: ['GET', 'BREW'], api: ['versioned', 'root'], path: ['/a', '/b'] };
    const asked = Object.defineProperties(
      {},
      Object.fromEntries(
        Object.entries(answers).map(([name, values]) => [
          name,
          { enumerable: true, get: () => values.shift() },
        ]),
      ),
    );
    await payments.request(asked as never);
    expect(sent).toMatchObject([{ method: 'GET', url: 'https://api.example.com/v0/a' }]);
  });
});

describe('the options of a client', () => {
  const given = { apiKey: 'sk_of_tenant_b', baseUrl: 'https://b.example.com/v0' };

  test.each(hiding)('cannot be %s', (_, make) => {
    vi.stubEnv('PAYMENTS_API_KEY', apiKey);
    vi.stubEnv('PAYMENTS_BASE_URL', 'https://a.example.com/v0');
    const { payments } = observed();
    for (const act of [
      () => new PaymentsClient(make(given)),
      () => payments.withOptions(make(given)),
    ]) {
      expect(act).toThrow(ConfigurationError);
      expect(act).toThrow(/must be a plain object/);
    }
    vi.unstubAllEnvs();
  });

  test.each(plain)('may be %s', async (_, make) => {
    const { payments, sent } = observed();
    await payments
      .withOptions(make(given) as ClientOptions)
      .request({ method: 'GET', path: '/x', api: 'versioned' });
    expect(sent).toMatchObject([
      { url: 'https://b.example.com/v0/x', headers: { authorization: 'Bearer sk_of_tenant_b' } },
    ]);
  });

  test('cannot have a credential or a fetch that is a method', () => {
    vi.stubEnv('PAYMENTS_API_KEY', apiKey);
    class Tenant {
      baseUrl = 'https://b.example.com/v0';
      apiKey() {
        return 'sk_of_tenant_b';
      }
    }
    const { payments } = observed();
    for (const act of [
      () => new PaymentsClient(new Tenant()),
      () => payments.withOptions(new Tenant()),
    ]) {
      expect(act).toThrow(/must be a plain object/);
    }
    vi.unstubAllEnvs();
  });

  test.each(hiding)('cannot have headers that are %s', (_, make) => {
    const options = { ...given, headers: make({ 'x-key': 'stored' }) as never };
    expect(() => new PaymentsClient(options)).toThrow(/option headers .*plain object/);
  });
});

describe('what cannot be read', () => {
  const broken = (): never => {
    throw new Error(`cannot be read, with ${jwt}`);
  };
  const revoked = (): object => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  };
  const unreadable: readonly (readonly [string, () => object])[] = [
    [
      'an object with a getter that throws',
      () => ({
        get limit() {
          return broken();
        },
      }),
    ],
    [
      'an object with a cursor that throws',
      () => ({
        get cursor() {
          return broken();
        },
      }),
    ],
    ['a proxy that throws', () => new Proxy({}, { ownKeys: broken, get: broken })],
    ['a revoked proxy', revoked],
  ];

  test.each(unreadable)('%s rejects as an input and as options', async (_, make) => {
    for (const { operation, id } of taking) {
      for (const args of [
        [...id, make()],
        [...id, {}, make()],
      ]) {
        const { payments, sent } = observed();
        const error = await failureOf(invoke(payments, operation, args), ValidationError);
        expect(error.outcome).toBe('not_sent');
        expect(`${String(error)}${String(error.cause)}`).not.toContain(jwt);
        expect(sent).toEqual([]);
      }
    }
    for (const args of [[make()], [{ method: 'GET', path: '/x', api: 'versioned' }, make()]]) {
      const { payments } = observed();
      const request = (): PromiseLike<unknown> =>
        Reflect.apply(payments.request, payments, args) as PromiseLike<unknown>;
      await failureOf(request(), ValidationError);
    }
  });

  test.each(unreadable)('%s leaves a transfer in doubt', async (_, make) => {
    for (const args of [[make()], [newTransfer, make()]]) {
      const { payments, sent } = observed();
      const { transfers } = payments;
      const looked = Reflect.apply(transfers.reconcile, transfers, args) as Promise<unknown>;
      expect(await failureOf(looked, ValidationError)).toMatchObject({ outcome: 'unknown' });
      expect(sent).toEqual([]);
    }
  });

  test.each([
    ['with more mistakes than anybody reads', 60_000],
    ['that is longer than the stack is deep', 200_000],
  ])('a list %s is told of in part, and soon', async (_, length) => {
    const instructionIds = Array.from({ length }, () => 'not hexadecimal') as never;
    const { payments, sent } = observed();
    const error = await failureOf(
      payments.transactions.list({ address: '0x0a', instructionIds }),
      ValidationError,
    );
    expect(error).toMatchObject({ outcome: 'not_sent' });
    expect(error.issues.length).toBeLessThanOrEqual(1_000);
    expect(error.message.length).toBeLessThan(2_000);
    expect(sent).toEqual([]);
  });
});

test('a Date may be of another realm', async () => {
  const since = runInContext('new Date(0)', createContext()) as Date;
  const { payments, sent } = observed(({ method }) =>
    Response.json(method === 'GET' ? { data: [], hasMore: false, nextCursor: null } : []),
  );
  await payments.transfers.reconcile(newTransfer, { since });
  await payments.transactions.list({ address: '0x0a', from: since }).catch(() => undefined);
  await payments.request({ method: 'POST', path: '/x', api: 'versioned', body: { since } });
  const epoch = '1970-01-01T00:00:00.000Z';
  expect(sent.map(({ body }) => body)).toEqual([
    '',
    JSON.stringify({ address: '0x0a', from: epoch }),
    JSON.stringify({ since: epoch }),
  ]);
  for (const wrong of [
    runInContext('new Date(NaN)', createContext()) as Date,
    { [Symbol.toStringTag]: 'Date' } as unknown as Date,
  ]) {
    const error = await failureOf(
      payments.transfers.reconcile(newTransfer, { since: wrong }),
      ValidationError,
    );
    expect(error.issues).toMatchObject([{ path: 'options.since' }]);
  }
});
