import { Agent } from 'node:https';
import {
  ConfigurationError,
  ConnectionError,
  PaymentsClient,
  RateLimitError,
  TimeoutError,
  type ClientOptions,
} from 'payments-platform-sdk';
import { memoryJournal, type Journal } from 'payments-platform-sdk/journals';
import { describe, expect, test, vi } from 'vitest';
import { failureOf, recorder, type ReceivedResponse } from '../support/clients.ts';
import { owner } from '../support/platform.ts';
import { entity } from '../support/records.ts';
import { newInstruction, newTransfer, transfer } from '../support/values.ts';
import { flushPromises, VirtualClock } from '../support/virtual-clock.ts';

const clock = new VirtualClock();
const base: ClientOptions = {
  baseUrl: 'https://api.example.com/v0',
  apiKey: 'sk_base',
  jwt: 'b.a.se',
  fetch: () => Promise.reject(new Error('no fetch was given')),
  getWithBody: () => Promise.reject(new Error('no getWithBody was given')),
  maxRetries: 0,
  clock,
};

/** A named fetch and getWithBody with the requests that they received. */
const named = (name: string, response: ReceivedResponse = () => Response.json(entity)) => {
  const { requests, fetch, getWithBody } = recorder(response);
  return { requests, options: { fetch, getWithBody }, name };
};
/** The requests of a read of the versioned API. */
const sentFor = async (
  payments: PaymentsClient,
  requests: { url: string; headers: Readonly<Record<string, string>> }[],
) => {
  requests.length = 0;
  await payments.entities.get('ent_1').catch(() => undefined);
  return requests;
};
/** The milliseconds until a call without a response times out. */
const timeoutOf = async (payments: PaymentsClient): Promise<number> => {
  const startedAt = clock.passed;
  await failureOf(clock.runTimersDuring(payments.entities.get('ent_1')), TimeoutError);
  return clock.passed - startedAt;
};
const silent = named('silent', () => new Promise<never>(() => undefined)).options;

/** Makes the effect of one option visible through a call. */
interface Effect {
  /** Two values of the option. */
  readonly values: readonly [one: unknown, other: unknown];
  /** What differs between the two values. */
  shows(payments: PaymentsClient): Promise<unknown>;
  /** Options that make the effect visible. */
  readonly common?: ClientOptions;
}
const plain = named('plain');
const failing = named('failing', () => new Response('{}', { status: 503 }));
const listing = named('listing', () => Response.json([]));
const missing = named('missing', () => Response.json({}, { status: 404 }));
const odd = named('odd', () => Response.json({ ...entity, email: 5 }));
/** Two pages of old transfers, newest first. */
const history = named('history', ({ url }) => {
  const isLast = url.includes('cursor=');
  const data = Array.from({ length: 100 }, (_, index) => ({
    ...transfer,
    id: `txfr_${index + (isLast ? 100 : 0)}`,
    createdAt: new Date(-3_600_000 * (index + (isLast ? 100 : 0))).toISOString(),
  }));
  const page = { data, hasMore: !isLast, nextCursor: isLast ? null : 'next' };
  return Response.json(page, { headers: { date: new Date(clock.now()).toUTCString() } });
});
/** The last request of a read of the root API. */
const sentToRoot = async (payments: PaymentsClient) => {
  await payments.instructions.list({ address: owner });
  return listing.requests.at(-1);
};
/** The requests of a search. */
const listedFor = async (payments: PaymentsClient) => {
  history.requests.length = 0;
  await payments.transfers.reconcile(once, { since: new Date(clock.now()) });
  return history.requests;
};
/** An agent with connections that fail with this code. */
const agentNamed = (code: string): Agent =>
  Object.assign(new Agent(), {
    createConnection: () => {
      throw Object.assign(new Error('no connection'), { code });
    },
  });
const heard: string[] = [];
const otherClock = new VirtualClock(Date.UTC(2030, 0, 1));

/** A journal with one payment. */
const paidAs = (transferId: string): Journal => ({
  read: async () => ({ state: 'paid', transferId, paidAt: 0, platform: '', input: once }),
  swap: async () => false,
  now: async () => 0,
});
const once = { ...newTransfer, description: 'invoice 4711' };

type Fact = Exclude<keyof NonNullable<ClientOptions['platform']>, 'descriptions'>;
/** An option of a client, or a field of its option `platform`. */
type Name = Exclude<keyof ClientOptions, 'platform'> | `platform.${Fact}`;

const effects: Readonly<Record<Name, Effect>> = {
  baseUrl: {
    values: ['https://one.example.com/v0', 'https://other.example.com/v0'],
    common: plain.options,
    shows: async (payments) => (await sentFor(payments, plain.requests))[0]?.url,
  },
  rootUrl: {
    values: ['https://one.example.com/r', 'https://other.example.com/r'],
    common: listing.options,
    shows: async (payments) => (await sentToRoot(payments))?.url,
  },
  apiKey: {
    values: ['sk_one', 'sk_other'],
    common: plain.options,
    shows: async (payments) =>
      (await sentFor(payments, plain.requests))[0]?.headers['authorization'],
  },
  jwt: {
    values: ['o.n.e', () => 'o.t.her'],
    common: listing.options,
    shows: async (payments) => (await sentToRoot(payments))?.headers['authorization'],
  },
  allowHttp: {
    values: [true, false],
    shows: async (payments) => {
      try {
        return payments.withOptions({ baseUrl: 'http://sandbox:4010/v0' }).toJSON().baseUrl;
      } catch (error) {
        return (error as Error).name;
      }
    },
  },
  timeout: { values: [1_000, 2_000], common: silent, shows: timeoutOf },
  totalTimeout: { values: [3_000, 4_000], common: silent, shows: timeoutOf },
  maxRetries: {
    values: [1, 3],
    common: failing.options,
    shows: async (payments) => {
      failing.requests.length = 0;
      await clock.runTimersDuring(payments.entities.get('ent_1').catch(() => undefined));
      return failing.requests.length;
    },
  },
  headers: {
    values: [{ 'x-team': 'one' }, { 'X-Team': 'other' }],
    common: plain.options,
    shows: async (payments) => (await sentFor(payments, plain.requests))[0]?.headers['x-team'],
  },
  fetch: {
    values: [
      () => Promise.resolve(Response.json({ ...entity, email: 'one' })),
      () => Promise.resolve(Response.json({ ...entity, email: 'other' })),
    ],
    shows: async (payments) => (await payments.entities.get('ent_1')).email,
  },
  getWithBody: {
    values: [
      () => Promise.resolve(Response.json([])),
      () => Promise.resolve(new Response('{}', { status: 403 })),
    ],
    shows: async (payments) => {
      const call = payments.instructions.list({ address: owner });
      return call.catch((error: unknown) => String(error));
    },
  },
  agent: {
    values: [agentNamed('ONE'), agentNamed('OTHER')],
    common: { fetch: undefined },
    shows: async (payments) =>
      (await failureOf(payments.entities.get('ent_1'), ConnectionError)).code,
  },
  validation: {
    values: ['report', 'strict'],
    common: odd.options,
    shows: async (payments) =>
      payments.entities.get('ent_1').then(
        () => 'handed out',
        () => 'refused',
      ),
  },
  authorize: {
    values: [() => false, () => true],
    common: plain.options,
    shows: async (payments) => payments.transfers.create(newTransfer).catch(String),
  },
  hooks: {
    values: [{ onRequest: () => heard.push('one') }, { onResponse: () => heard.push('other') }],
    common: plain.options,
    shows: async (payments) => {
      heard.length = 0;
      await payments.entities.get('ent_1');
      return heard.join();
    },
  },
  'platform.idempotencyHeader': {
    values: ['Idempotency-Key', 'X-Once'],
    common: plain.options,
    shows: async (payments) => {
      plain.requests.length = 0;
      await payments.transfers.create(newTransfer).catch(() => undefined);
      return Object.keys(plain.requests[0]?.headers ?? {}).filter((name) => /idem|once/.test(name));
    },
  },
  'platform.isErrorBody': {
    values: [() => true, () => false],
    common: missing.options,
    shows: async (payments) => {
      const { outcome } = await failureOf(payments.transfers.create(newTransfer));
      return outcome;
    },
  },
  journal: {
    values: [paidAs('txfr_1'), paidAs('txfr_2')],
    common: plain.options,
    shows: async (payments) => {
      plain.requests.splice(0);
      await payments.transfers.createOnce(once).catch(() => undefined);
      return plain.requests[0]?.url;
    },
  },
  gracePeriod: {
    values: [1_000, 2_000],
    common: silent,
    shows: async (payments) => {
      const journal = memoryJournal();
      const left = new AbortController();
      const { signal } = left;
      const call = payments.transfers.createOnce(once, { journal, signal, totalTimeout: 1 });
      while ((await journal.read(once.description)) === undefined) await flushPromises();
      left.abort();
      await call.catch(() => undefined);
      const entry = await journal.read(once.description);
      return entry?.state === 'sending' ? Number(entry.expiresAt) - entry.claimedAt : undefined;
    },
  },
  'platform.transfersNewestFirst': {
    values: [true, false],
    common: history.options,
    shows: async (payments) => (await listedFor(payments)).length,
  },
  'platform.transfersFilter': {
    values: ['account', false],
    common: history.options,
    shows: async (payments) => {
      const [request] = await listedFor(payments);
      return [...new URL(request?.url ?? '').searchParams.keys()];
    },
  },
  clock: {
    values: [clock, otherClock],
    common: failing.options,
    shows: async (payments) => {
      const { startedAt } = await failureOf(payments.entities.get('ent_1'));
      return startedAt?.slice(0, 4);
    },
  },
};

const names = Object.keys(effects) as Name[];
const decisive = ['apiKey', 'jwt', 'journal'] as const;
const isDecisive = (name: Name): boolean => decisive.some((each) => each === name);
/** Options in which only the option or fact of this name has a value. */
const setOnly = (name: Name, value?: unknown): ClientOptions => {
  const [option, fact] = name.split('.');
  return { [String(option)]: fact === undefined ? value : { [fact]: value } };
};

test.each(decisive)('withOptions throws if the option %s is undefined', (name) => {
  const payments = new PaymentsClient({ ...base, journal: memoryJournal() });
  // A tenant that is not found leaves the option undefined.
  const tenants = new Map<string, ClientOptions>();
  const options = { [name]: tenants.get('acme')?.[name] };
  expect(() => payments.withOptions(options)).toThrow(ConfigurationError);
  expect(() => payments.withOptions(options)).toThrow(`Invalid option ${name} in withOptions`);
});

test('withOptions throws if its class instance leaves apiKey undefined', () => {
  class Tenant {
    apiKey: string | undefined;
  }
  const payments = new PaymentsClient(base);
  expect(() => payments.withOptions({ ...new Tenant(), maxRetries: 1 })).toThrow(
    ConfigurationError,
  );
});

test.each(names)('withOptions keeps the option %s if other options change', async (name) => {
  const { values, common, shows } = effects[name];
  const [one, other] = [setOnly(name, values[0]), setOnly(name, values[1])] as const;
  const payments = new PaymentsClient({ ...base, ...common, ...one });
  const expected = await shows(payments);
  // Each other option is set to its current value.
  const settings: ClientOptions = { ...base, ...common };
  for (const otherName of names.filter((each) => each !== name)) {
    const value: unknown = Reflect.get(settings, otherName);
    if (isDecisive(otherName) && value === undefined) continue;
    const clone = payments.withOptions(setOnly(otherName, value));
    expect(await shows(clone), `after withOptions({ ${otherName} })`).toEqual(expected);
  }
  if (!isDecisive(name)) {
    expect(await shows(payments.withOptions(setOnly(name)))).toEqual(expected);
    expect(await shows(payments.withOptions({ platform: undefined }))).toEqual(expected);
  }
  // The test could not fail if both values of the option had the same effect.
  const differs = await shows(new PaymentsClient({ ...base, ...common, ...other }));
  expect(differs).not.toEqual(expected);
});

test.each(names)('withOptions replaces the option %s in the clone only', async (name) => {
  const { values, common, shows } = effects[name];
  const [one, other] = [setOnly(name, values[0]), setOnly(name, values[1])] as const;
  const payments = new PaymentsClient({ ...base, ...common, ...one });
  const before = await shows(payments);
  const clone = payments.withOptions(other);
  const expected = await shows(new PaymentsClient({ ...base, ...common, ...other }));
  expect(await shows(clone)).toEqual(expected);
  expect(await shows(payments)).toEqual(before);
  // A clone of a clone keeps its options.
  expect(await shows(clone.withOptions({}))).toEqual(expected);
  expect(await shows(clone.withOptions(one))).toEqual(before);
});

describe('a credential from a function', () => {
  const start = (options: ClientOptions = {}) => {
    const apiKey = vi.fn(() => Promise.resolve('sk_fetched'));
    const jwt = vi.fn(() => 'f.etch.ed');
    const { requests, fetch, getWithBody } = recorder((request) =>
      Response.json(new URL(request.url).pathname.startsWith('/v0') ? entity : []),
    );
    const payments = new PaymentsClient({ ...base, fetch, getWithBody, apiKey, jwt, ...options });
    const useBoth = async (client: PaymentsClient): Promise<void> => {
      await Promise.all([
        client.entities.get('ent_1'),
        client.instructions.list({ address: owner }),
      ]);
    };
    return { payments, apiKey, jwt, requests, useBoth };
  };

  test('a client and its clones call a credential function once', async () => {
    const { payments, apiKey, jwt, useBoth } = start();
    const clone = payments.withOptions({ timeout: 5_000 });
    const clones = [payments, clone, clone.withOptions({ headers: {} }), payments.withOptions({})];
    await Promise.all(clones.map(useBoth));
    await useBoth(clone);
    expect(apiKey).toHaveBeenCalledTimes(1);
    expect(jwt).toHaveBeenCalledTimes(1);
  });

  test('a clone with another credential function calls that function', async () => {
    const { payments, apiKey, jwt, requests, useBoth } = start();
    await useBoth(payments);
    const tenant = vi.fn(() => 'sk_tenant');
    await useBoth(payments.withOptions({ apiKey: tenant }));
    expect(requests.map(({ headers }) => headers['authorization']).toSorted()).toEqual([
      'Bearer f.etch.ed',
      'Bearer f.etch.ed',
      'Bearer sk_fetched',
      'Bearer sk_tenant',
    ]);
    expect(tenant).toHaveBeenCalledTimes(1);
    expect(apiKey).toHaveBeenCalledTimes(1);
    // The clone keeps the JWT and its token.
    expect(jwt).toHaveBeenCalledTimes(1);
  });

  test('a clone with another host calls the credential function again', async () => {
    const { payments, apiKey, jwt, useBoth } = start();
    await useBoth(payments);
    await useBoth(payments.withOptions({ rootUrl: 'https://root.example.com' }));
    expect([apiKey.mock.calls.length, jwt.mock.calls.length]).toEqual([1, 2]);
    await useBoth(payments.withOptions({ baseUrl: 'https://other.example.com/v0' }));
    expect([apiKey.mock.calls.length, jwt.mock.calls.length]).toEqual([2, 3]);
  });
});

test('a clone shares the retry budget of its client', async () => {
  const { requests, options } = named('down', () => new Response('{}', { status: 503 }));
  const payments = new PaymentsClient({ ...base, ...options, maxRetries: 5 });
  // Two thirds of 500 tokens at 14 a retry are 23 retries.
  for (let call = 0; call < 7; call += 1) {
    await clock.runTimersDuring(payments.entities.get('ent_1').catch(() => undefined));
  }
  expect(requests).toHaveLength(7 + 23);
  const clone = payments.withOptions({ apiKey: 'sk_tenant' });
  const error = await failureOf(clock.runTimersDuring(clone.entities.get('ent_1')));
  expect(error.message).toContain('retry budget');
  expect(requests).toHaveLength(7 + 23 + 1);
});

test.each<[string, (payments: PaymentsClient) => Promise<unknown>, ClientOptions]>([
  ['API key', (payments) => payments.entities.get('ent_1'), { apiKey: 'sk_tenant' }],
  ['JWT', (payments) => payments.instructions.list({ address: owner }), { jwt: 't.en.ant' }],
])('a clone waits after status 429 unless its %s or clock differs', async (_, call, tenant) => {
  let isThrottling = true;
  const { requests, options } = named('busy', (request) => {
    if (isThrottling) return new Response('{}', { status: 429, headers: { 'retry-after': '20' } });
    return Response.json(new URL(request.url).pathname.startsWith('/v0') ? entity : []);
  });
  const payments = new PaymentsClient({ ...base, ...options });
  await failureOf(call(payments), RateLimitError);
  isThrottling = false;

  await call(payments.withOptions(tenant));
  expect(requests).toHaveLength(2);
  // Another clock cannot measure the remaining wait.
  await call(payments.withOptions({ clock: otherClock }));
  expect(requests).toHaveLength(3);

  const startedAt = clock.passed;
  const held = call(payments.withOptions({ timeout: 60_000 }));
  await flushPromises();
  expect(requests).toHaveLength(3);
  await clock.runTimersDuring(held);
  expect(clock.passed - startedAt).toBeGreaterThanOrEqual(20_000);
});

test('withOptions throws if an option is invalid', () => {
  const payments = new PaymentsClient({ ...base, jwt: undefined });
  for (const options of [
    { apiKey: 'pk_1' },
    { baseUrl: 'http://api.example.com/v0' },
    { timeouts: 5 },
    { maxRetries: -1 },
  ]) {
    expect(() => payments.withOptions(options)).toThrow(ConfigurationError);
  }
});

test('a client is not affected by later changes to its options', async () => {
  const { requests, options } = named('plain');
  const headers: Record<string, string> = { 'x-team': 'first' };
  const settings: ClientOptions = { ...base, ...options, headers };
  const payments = new PaymentsClient(settings);
  headers['x-team'] = 'changed';
  settings.apiKey = 'sk_changed';
  await payments.entities.get('ent_1');
  await payments.instructions.build(newInstruction).catch(() => undefined);
  expect(requests[0]?.headers).toMatchObject({
    'x-team': 'first',
    authorization: 'Bearer sk_base',
  });
  expect(requests[1]?.headers).toMatchObject({ 'x-team': 'first', authorization: 'Bearer b.a.se' });
});

test('toJSON works even after the caller adds an invalid hook', () => {
  const hooks: Record<string, unknown> = {};
  const payments = new PaymentsClient({ ...base, hooks });
  hooks['onRequests'] = () => undefined;
  expect(payments.toJSON()).toEqual({
    baseUrl: 'https://api.example.com/v0',
    rootUrl: 'https://api.example.com',
  });
});

test('withOptions with apiKey: null or jwt: null removes the credential', async () => {
  const { requests, options } = named('tenant', () => Response.json([]));
  const payments = new PaymentsClient({ ...base, ...options });
  const keyOnly = payments.withOptions({ apiKey: 'sk_tenant', jwt: null });
  const error = await failureOf(keyOnly.instructions.list({ address: owner }));
  expect(error).toMatchObject({ name: 'ConfigurationError', outcome: 'not_sent' });
  expect(requests).toEqual([]);
  await payments.withOptions({ apiKey: 'sk_tenant' }).instructions.list({ address: owner });
  const jwtOnly = payments.withOptions({ apiKey: null });
  await jwtOnly.instructions.list({ address: owner });
  expect(requests.map(({ headers }) => headers['authorization'])).toEqual([
    'Bearer b.a.se',
    'Bearer b.a.se',
  ]);
  expect((await failureOf(jwtOnly.entities.get('ent_1'))).name).toBe('ConfigurationError');
  expect(() => keyOnly.withOptions({ apiKey: null })).toThrow(ConfigurationError);
});

test('a client is not affected by later changes to `platform`', async () => {
  const { requests, options } = named('later', ({ headers }) =>
    Response.json({ ...transfer, id: `txfr_${headers.get('x-once')?.slice(0, 8)}` }),
  );
  const platform = { idempotencyHeader: 'X-Once', descriptions: 'as_sent' as const };
  const payments = new PaymentsClient({ ...base, ...options, platform });
  platform.idempotencyHeader = 'X-Other';
  for (const client of [payments, payments.withOptions({})]) {
    await client.transfers.create(newTransfer);
    expect(requests.at(-1)?.headers).toHaveProperty('x-once');
  }
});

test('isErrorBody: null makes a clone accept only the documented Error body', async () => {
  const { options } = named('odd', () => Response.json({ fault: 'no' }, { status: 422 }));
  const platform = { isErrorBody: () => true };
  const odd = new PaymentsClient({ ...base, ...options, platform });
  const plainOne = odd.withOptions({ platform: { isErrorBody: null } });
  expect((await failureOf(odd.transfers.create(newTransfer))).outcome).toBe('rejected');
  expect((await failureOf(plainOne.transfers.create(newTransfer))).outcome).toBe('unknown');
});

test('a clone with idempotencyHeader: null does not send a creation again', async () => {
  const { requests, options } = named('other', () => Promise.reject(new TypeError('reset')));
  const keyed = new PaymentsClient({
    ...base,
    ...options,
    maxRetries: 2,
    platform: { idempotencyHeader: 'Idempotency-Key' },
  });
  await failureOf(clock.runTimersDuring(keyed.transfers.create(newTransfer)));
  expect(requests).toHaveLength(3);
  requests.length = 0;
  const plainOne = keyed.withOptions({ platform: { idempotencyHeader: null } });
  const error = await failureOf(clock.runTimersDuring(plainOne.transfers.create(newTransfer)));
  expect(error.outcome).toBe('unknown');
  expect(error.idempotencyKey).toBeUndefined();
  expect(requests).toHaveLength(1);
  expect(requests[0]?.headers).not.toHaveProperty('idempotency-key');
});

test('withOptions of a subclass returns a plain PaymentsClient with its options', () => {
  class TenantClient extends PaymentsClient {
    constructor(tenant: string) {
      super({ ...base, baseUrl: `https://${tenant}.example.com/v0` });
    }
  }
  const copy = new TenantClient('ada').withOptions({ maxRetries: 0 });
  expect(Object.getPrototypeOf(copy)).toBe(PaymentsClient.prototype);
  expect(copy.toJSON().baseUrl).toBe('https://ada.example.com/v0');
});
