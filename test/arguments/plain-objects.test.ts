import {
  ConfigurationError,
  PaymentsClient,
  ValidationError,
  type ClientOptions,
} from 'payments-platform-sdk';
import { describe, expect, test, vi } from 'vitest';
import { apiKey, failureOf, clientOf } from '../support/clients.ts';
import { newTransfer } from '../support/values.ts';
import { rejection } from './invalid-arguments.ts';

/*
 * A copy of an object has only its own fields. Inherited fields would be lost: the list would
 * return the transfers of all tenants, a PATCH would change nothing, a payment would use the key
 * of another tenant.
 */

type Fields = Readonly<Record<string, unknown>>;

/** An object of a class with accessors as fields. */
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
  ['a Headers object of another class', () => new (class extends Headers {})()],
  ['a Date', () => new Date(0)],
  ['a regular expression', () => /a/],
  ['a promise', (fields) => Promise.resolve(fields)],
  ['an object with inherited fields', (fields) => Object.create(fields) as object],
  ['an object of a class with accessors', withAccessors],
  ['an instance', (fields) => Object.assign(Object.create({ describe: () => 'a method' }), fields)],
];

const plain: readonly (readonly [string, (fields: Fields) => object])[] = [
  ['an object without a prototype', (fields) => Object.assign(Object.create(null), fields)],
];

describe('the options object of a call', () => {
  test.each(hiding)('is rejected if it is %s instead of a plain object', async (_, make) => {
    const options = make({ timeout: 5 });
    const at = { path: 'options', message: /expected a plain object/ };
    for (const call of [
      (payments: PaymentsClient) => payments.transfers.create(newTransfer, options),
      (payments: PaymentsClient) => payments.transfers.list({}, options),
      (payments: PaymentsClient) => payments.transactions.list({ address: '0x0a' }, options),
      (payments: PaymentsClient) => payments.transfers.waitFor('txfr_1', options),
    ]) {
      expect((await rejection(call)).issues).toMatchObject([at]);
    }
    const { payments, requests } = clientOf();
    const error = await failureOf(
      payments.transfers.reconcile(newTransfer, options),
      ValidationError,
    );
    expect(error).toMatchObject({ outcome: 'unknown', issues: [at] });
    expect(requests).toEqual([]);
  });

  test.each(hiding)('is rejected if `query`, `body` or `headers` is %s', async (_, make) => {
    for (const name of ['query', 'body', 'headers']) {
      const options = { [name]: make({ field: 'x' }) };
      for (const call of [
        (payments: PaymentsClient) => payments.transfers.create(newTransfer, options),
        (payments: PaymentsClient) => payments.transfers.list({}, options),
      ]) {
        const { issues } = await rejection(call);
        expect(issues).toMatchObject([
          { path: `options.${name}`, message: /expected a plain object/ },
        ]);
      }
    }
  });

  test.each(plain)('is accepted if it, its `query` and its `headers` are %s', async (_, make) => {
    const { payments, requests } = clientOf();
    const options = make({ query: make({ a: 1 }), headers: make({ 'x-b': '2' }) });
    await payments.transfers.list({}, options).catch(() => undefined);
    expect(requests).toMatchObject([{ url: /a=1$/, headers: { 'x-b': '2' } }]);
  });
});

describe('the options object of a client', () => {
  const tenantOptions = { apiKey: 'sk_of_tenant_b', baseUrl: 'https://b.example.com/v0' };

  test.each(hiding)('is rejected if it is %s instead of a plain object', (_, make) => {
    vi.stubEnv('PAYMENTS_API_KEY', apiKey);
    vi.stubEnv('PAYMENTS_BASE_URL', 'https://a.example.com/v0');
    const { payments } = clientOf();
    for (const act of [
      () => new PaymentsClient(make(tenantOptions)),
      () => payments.withOptions(make(tenantOptions)),
    ]) {
      expect(act).toThrow(ConfigurationError);
      expect(act).toThrow(/^Invalid options: got .*expected a plain object/);
    }
    vi.unstubAllEnvs();
  });

  test.each(plain)('is accepted if it is %s', async (_, make) => {
    const { payments, requests } = clientOf();
    await payments
      .withOptions(make(tenantOptions) as ClientOptions)
      .request({ method: 'GET', path: '/x', api: 'versioned' });
    expect(requests).toMatchObject([
      { url: 'https://b.example.com/v0/x', headers: { authorization: 'Bearer sk_of_tenant_b' } },
    ]);
  });

  test.each(hiding)('is rejected if its `headers` are %s instead of a plain object', (_, make) => {
    const options = { ...tenantOptions, headers: make({ 'x-key': 'stored' }) as never };
    expect(() => new PaymentsClient(options)).toThrow(/option headers: .*plain object/);
  });
});

describe('the ValidationError for many invalid values', () => {
  test.each([
    ['60,000 values, more than anybody reads', 60_000],
    ['200,000 values, more than the call stack could hold', 200_000],
  ])('has at most 1,000 issues if the array has %s', async (_, length) => {
    const instructionIds = Array.from({ length }, () => 'not hexadecimal') as never;
    const { payments, requests } = clientOf();
    const error = await failureOf(
      payments.transactions.list({ address: '0x0a', instructionIds }),
      ValidationError,
    );
    expect(error).toMatchObject({ outcome: 'not_sent' });
    expect(error.issues.length).toBeLessThanOrEqual(1_000);
    expect(error.message.length).toBeLessThan(2_000);
    expect(requests).toEqual([]);
  });
});
