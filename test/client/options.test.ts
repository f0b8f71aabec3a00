import { inspect } from 'node:util';
import {
  ConfigurationError,
  isPaymentsError,
  PaymentsClient,
  type ClientOptions,
} from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { failureOf, clientOf } from '../support/clients.ts';
import { closedPort } from '../support/closed-port.ts';
import { owner } from '../support/platform.ts';

const baseUrl = 'https://api.example.com/v0';
const apiKey = 'sk_test_1';
const variables = [
  'PAYMENTS_BASE_URL',
  'PAYMENTS_ROOT_URL',
  'PAYMENTS_API_KEY',
  'PAYMENTS_JWT',
] as const;

beforeEach(() => {
  // The environment of the test run may have these variables.
  for (const name of variables) vi.stubEnv(name, undefined);
});

/** The ConfigurationError of invalid options. */
function rejection(options: unknown): ConfigurationError {
  try {
    new PaymentsClient(options as ClientOptions);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(isPaymentsError(error)).toBe(true);
    const refused = error as ConfigurationError;
    expect(refused).toMatchObject({ outcome: 'not_sent', attempts: [], retryable: false });
    return refused;
  }
  throw new Error('These options were accepted.');
}

/** Part of a secret value that no message contains by chance. */
const mark = 'Qx7Zk9';

describe('a credential', () => {
  const apiKeys: readonly (readonly [string, unknown])[] = [
    ['is empty', ''],
    ['is the prefix alone', 'sk_'],
    ['has no prefix', `pk_${mark}`],
    ['has the prefix in capitals', `SK_${mark}`],
    ['has the word Bearer in front', `Bearer sk_${mark}`],
    ['is a JWT', `eyJ${mark}.e30.c2ln`],
    ['ends in a line break, as a file does', `sk_${mark}\n`],
    ['has a line break inside', `sk_${mark}\r\nx-evil: 1`],
    ['has a space before it', ` sk_${mark}`],
    ['has a space behind it', `sk_${mark} `],
    ['has a tab inside', `sk_\t${mark}`],
    ['has a null character inside', `sk_\0${mark}`],
    ['has a character beyond ASCII', `sk_é${mark}`],
    ['is too long', `sk_${mark.repeat(2_000)}`],
    ['is a number', 5],
    ['is an object', { key: `sk_${mark}` }],
    ['is a list', [`sk_${mark}`]],
    ['is a String object', new String(`sk_${mark}`)],
    ['is a promise', Promise.resolve(`sk_${mark}`)],
  ];

  test.each(apiKeys)('an API key that %s is rejected and not shown', (_, value) => {
    const error = rejection({ baseUrl, apiKey: value });
    expect(error.message).toMatch(/^Invalid option apiKey: .*expected /);
    expect(inspect(error)).not.toContain(mark);
  });

  test.each<[string, unknown]>([
    ['is empty', ''],
    ['is an API key', `sk_${mark}`],
    ['ends in a line break', `eyJ.${mark}.x\n`],
    ['has the word Bearer in front', `Bearer eyJ.${mark}.x`],
    ['is an object', { token: mark }],
  ])('a JWT that %s is rejected and not shown', (_, value) => {
    const error = rejection({ baseUrl, apiKey, jwt: value });
    expect(error.message).toMatch(/^Invalid option jwt: .*expected /);
    expect(inspect(error)).not.toContain(mark);
  });

  test.each(['PAYMENTS_API_KEY', 'PAYMENTS_JWT'] as const)(
    'the credential in %s is checked like an option',
    (variable) => {
      vi.stubEnv('PAYMENTS_API_KEY', apiKey);
      vi.stubEnv(variable, `sk_${mark} x`);
      const error = rejection({ baseUrl });
      expect(error.message).toContain(variable);
      expect(inspect(error)).not.toContain(mark);
    },
  );

  test('the error for a missing credential names the possible sources', () => {
    expect(rejection({ baseUrl }).message).toMatch(
      /^No credential: pass the option apiKey \(PAYMENTS_API_KEY\)/,
    );
  });

  test('apiKey: null or jwt: null overrides the environment variable', async () => {
    vi.stubEnv('PAYMENTS_API_KEY', apiKey);
    vi.stubEnv('PAYMENTS_JWT', 'e.n.v');
    expect(rejection({ baseUrl, apiKey: null, jwt: null }).message).toContain('No credential: ');
    const { payments, requests } = clientOf(() => Response.json([]), { baseUrl, jwt: null });
    const error = await failureOf(payments.instructions.list({ address: owner }));
    expect(error).toMatchObject({ name: 'ConfigurationError', outcome: 'not_sent' });
    expect(error.message).toContain('needs the JWT');
    expect(requests).toEqual([]);
  });

  test('a client may have only an API key or JWT', () => {
    expect(() => new PaymentsClient({ baseUrl, apiKey })).not.toThrow();
    expect(() => new PaymentsClient({ baseUrl, jwt: 'a.b.c' })).not.toThrow();
  });

  test('a new client does not call its credential function', () => {
    const fetchKey = vi.fn(() => apiKey);
    new PaymentsClient({ baseUrl, apiKey: fetchKey, jwt: () => Promise.resolve('a.b.c') });
    expect(fetchKey).not.toHaveBeenCalled();
  });
});

describe.each([
  ['baseUrl', '/v0'],
  ['rootUrl', ''],
] as const)('the option %s', (name, path) => {
  const refused = (value: unknown): ConfigurationError =>
    rejection({ baseUrl, apiKey, [name]: value });

  test.each<[string, unknown]>([
    ['empty', ''],
    ['relative', path === '' ? '/root' : path],
    ['without a scheme', `${mark}.example.com${path}`],
    ['a number', 5],
    ['null', null],
    ['a URL object', new URL(`https://${mark}.example.com${path}`)],
    ['a scheme without a host', 'https://'],
  ])('%s is rejected as an invalid URL', (_, value) => {
    const error = refused(value);
    expect(error.message).toContain(`expected a URL such as https://api.example.com${path}.`);
    expect(inspect(error)).not.toContain(mark);
  });

  test.each([
    `http://${mark}.example.com`,
    'http://10.0.0.1',
    'http://192.168.1.1',
    'http://0.0.0.0',
    'http://[::]',
    'http://[::2]',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com',
    'http://notlocalhost',
    'ftp://api.example.com',
    'ws://localhost',
    'file:///etc',
  ])('%s is rejected because the credential would travel unencrypted', (origin) => {
    const error = refused(`${origin}${path}`);
    expect(error.message).toMatch(
      /^Invalid option \w+: got (http, which shows the credential to the network; expected https|a string without "https:)/,
    );
    expect(inspect(error)).not.toContain(mark);
  });

  test.each([
    'http://localhost',
    'http://LOCALHOST:8080',
    'http://api.localhost',
    'http://127.0.0.1:3000',
    'http://127.8.9.10',
    'http://[::1]:3000',
    'https://10.0.0.1',
    'https://api.example.com:8443',
  ])('the URL %s is accepted', (origin) => {
    const client = new PaymentsClient({ baseUrl, apiKey, [name]: `${origin}${path}` });
    const json = JSON.parse(JSON.stringify(client)) as Record<string, string>;
    expect(json[name]).toBe(`${origin.toLowerCase()}${path}`);
  });

  test('an http URL to another host is rejected and mentions allowHttp', () => {
    const http = { baseUrl, apiKey, [name]: `http://sandbox:4010${path}` };
    for (const allowHttp of [undefined, false]) {
      expect(rejection({ ...http, allowHttp }).message).toContain('allowHttp: true permits it');
    }
    const client = new PaymentsClient({ ...http, allowHttp: true });
    expect(JSON.stringify(client)).toContain(`http://sandbox:4010${path}"`);
    expect(rejection({ ...http, [name]: `ftp://x${path}`, allowHttp: true }).message).toContain(
      'got a string without "https://"',
    );
  });

  test.each([
    [`https://user:${mark}@api.example.com${path}`, /user name or password/],
    [`https://${mark}@api.example.com${path}`, /user name or password/],
    [`https://api.example.com${path}?key=${mark}`, /query or a fragment/],
    [`https://api.example.com${path}#${mark}`, /query or a fragment/],
    [`https://api.example.com${path}?`, /query or a fragment/],
    [`https://api.example.com${path}#`, /query or a fragment/],
  ])('the URL %s is rejected without showing its secrets', (url, says) => {
    const error = refused(url);
    expect(error.message).toMatch(says);
    expect(error.message).toContain(`Invalid option ${name}: got a URL with a`);
    expect(inspect(error)).not.toContain(mark);
  });
});

test('a baseUrl with v0 only in its host name is rejected', () => {
  for (const baseUrl of ['https://v0', 'https://V0/', 'https://api.v0']) {
    expect(rejection({ baseUrl, apiKey }).message).toContain('no final /v0');
  }
  expect(new PaymentsClient({ baseUrl: 'https://v0/v0', apiKey }).toJSON()).toEqual({
    baseUrl: 'https://v0/v0',
    rootUrl: 'https://v0',
  });
});

test('a baseUrl with 400,000 slashes is checked in linear time', () => {
  const path = `/${'/'.repeat(200_000)}a${'/'.repeat(200_000)}v0`;
  const { baseUrl } = new PaymentsClient({
    baseUrl: `https://x.example${path}//`,
    apiKey,
  }).toJSON();
  expect(baseUrl).toBe(`https://x.example${path}`);
});

test('a baseUrl that is missing or lacks /v0 is rejected', () => {
  for (const path of ['', '/', '/v1', '/V0', '/v00', '/v0/accounts', '/api', '/apiv0', '/v0.']) {
    const { message } = rejection({ baseUrl: `https://api.example.com${path}`, apiKey });
    expect(message).toContain('Invalid option baseUrl: got no final /v0; expected a URL such as');
  }
  expect(rejection({ apiKey }).message).toMatch(
    /^No base URL: pass the option baseUrl, or set PAYMENTS_BASE_URL/,
  );
});

test.each([
  ['https://api.example.com/v0', 'https://api.example.com/v0', 'https://api.example.com'],
  ['https://api.example.com/v0/', 'https://api.example.com/v0', 'https://api.example.com'],
  [
    'https://api.example.com/pay/v0//',
    'https://api.example.com/pay/v0',
    'https://api.example.com/pay',
  ],
  ['https://API.example.com:443/a/../v0', 'https://api.example.com/v0', 'https://api.example.com'],
])('baseUrl %s gives base URL %s and root URL %s', (option, base, root) => {
  expect(new PaymentsClient({ baseUrl: option, apiKey }).toJSON()).toEqual({
    baseUrl: base,
    rootUrl: root,
  });
});

test('the error for invalid options has no operation, method or path', () => {
  const error = rejection({ apiKey });
  expect(inspect(error)).not.toMatch(/undefined|operation|method|path/);
  expect(Object.keys(error.toJSON())).toEqual(
    Object.keys(JSON.parse(JSON.stringify(error)) as object),
  );
});

describe('an option of the client', () => {
  test.each([
    ['apikey', 'apiKey'],
    ['baseURL', 'baseUrl'],
    ['root_url', 'rootUrl'],
    ['maxRetry', undefined],
    ['maxretries', 'maxRetries'],
    ['timeOut', 'timeout'],
    ['hook', 'hooks'],
    ['token', undefined],
    ['accessKeySecret', undefined],
  ])('the unknown option %s is rejected with a hint', (name, meant) => {
    const { message } = rejection({ baseUrl, apiKey, [name]: mark });
    expect(message).toContain(`Invalid option ${name}: unknown option`);
    expect(message).toMatch(
      meant === undefined
        ? /did you mean|The options are baseUrl, rootUrl, allowHttp, apiKey/
        : `did you mean ${meant}?`,
    );
    expect(message).not.toContain(mark);
  });

  const wrongTypes: Readonly<Record<keyof ClientOptions, readonly unknown[]>> = {
    baseUrl: [5],
    rootUrl: [5],
    apiKey: [5],
    jwt: [5],
    timeout: [0, -1, Number.NaN, Number.POSITIVE_INFINITY, '30000', null],
    totalTimeout: [0, -1, Number.NaN, Number.POSITIVE_INFINITY, '30000', null],
    maxRetries: [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, '2', null],
    headers: [
      null,
      'a: b',
      new Headers(),
      [['a', 'b']],
      { 'a b': 'c' },
      { a: `${mark}\n` },
      { a: 1 },
      { Authorization: `Bearer ${mark}` },
      { host: mark },
    ],
    fetch: [null, {}, 'fetch'],
    getWithBody: [null, {}, 'node:http'],
    agent: [null, {}, 'keepAlive', { destroy: () => 1 }],
    validation: [null, 'lax', true],
    authorize: [null, {}, true, 'veto'],
    hooks: [null, 'x', { onRequest: true }, { onrequest: () => 1 }, { onError: () => 1 }],
    journal: [null, 'memory', {}, { read: () => 1, swap: () => true }],
    gracePeriod: [0, -1, Number.NaN, Number.NEGATIVE_INFINITY, '5', null],
    platform: [null, 'stripe', true, [], new Map(), { newestFirst: true }],
    allowHttp: [null, 'true', 1],
    clock: [null, {}, { now: () => 0 }, { now: 0, setTimeout, clearTimeout }],
  };

  test.each(
    Object.entries(wrongTypes).flatMap(([name, values]) =>
      values.map((value) => [name, value] as const),
    ),
  )('the option %s is rejected if its value is %o', (name, value) => {
    const error = rejection({ baseUrl, apiKey, [name]: value });
    expect(error.message).toContain(name === 'hooks' ? 'hook' : name);
    expect(inspect(error)).not.toContain(mark);
  });

  const wrongFacts: Readonly<Record<keyof NonNullable<ClientOptions['platform']>, unknown[]>> = {
    transfersNewestFirst: [null, 'true', 1],
    transfersFilter: [null, true, '', 'account id', 'cursor', 'limit'],
    descriptions: [null, true, 'masked'],
    isErrorBody: [true, {}, 'error'],
    idempotencyHeader: [true, '', 'Idempotency Key', 'a:b'],
  };

  test.each(
    Object.entries(wrongFacts).flatMap(([name, values]) =>
      values.map((value) => [name, value] as const),
    ),
  )('platform.%s is rejected if its value is %o', (name, value) => {
    const { message } = rejection({ baseUrl, apiKey, platform: { [name]: value } });
    expect(message).toContain(`Invalid option platform.${name}: `);
    const payments = new PaymentsClient({ baseUrl, apiKey });
    const change = () => payments.withOptions({ platform: { [name]: value } });
    expect(change).toThrow(`Invalid option platform.${name}: `);
  });

  test.each(Object.keys(wrongFacts))(
    'the error for the old option %s names its replacement',
    (name) => {
      const { message } = rejection({ baseUrl, apiKey, [name]: mark });
      expect(message).toBe(
        `Invalid option ${name}: unknown option; set it as platform.${name}.\nSee docs/reference.md.`,
      );
    },
  );

  test('the error for an unknown field of `platform` suggests the closest', () => {
    const { message } = rejection({ baseUrl, apiKey, platform: { transferFilter: 'account' } });
    expect(message).toBe(
      'Invalid option platform.transferFilter: unknown option; did you mean transfersFilter?\nSee docs/reference.md.',
    );
  });

  test('withOptions rejects a `platform` that is no plain object', () => {
    const payments = new PaymentsClient({ baseUrl, apiKey });
    for (const platform of [null, 'stripe', [], new Map()]) {
      const options = { platform } as ClientOptions;
      expect(() => payments.withOptions(options)).toThrow('Invalid option platform: ');
    }
  });

  test('one error reports all invalid options', () => {
    const { message } = rejection({
      apiKey: mark,
      timeout: 0,
      hooks: { onRequests: 1 },
      retries: 1,
    });
    expect(message.split('\n').toSorted()).toEqual([
      expect.stringContaining('Invalid option apiKey: got a string without "sk_"'),
      'Invalid option hooks.onRequests: unknown option; did you mean onRequest?',
      'Invalid option retries: unknown option.',
      'Invalid option timeout: got 0; expected milliseconds above 0, such as 30_000.',
      expect.stringContaining('No base URL: pass the option baseUrl'),
      'See docs/reference.md.',
      expect.stringMatching(/^The options are baseUrl, .*, clock\.$/),
    ]);
    expect(message).not.toContain(mark);
  });

  test('an option that is undefined counts as absent', () => {
    const names = Object.keys(wrongTypes).filter((name) => !['baseUrl', 'apiKey'].includes(name));
    const nothing = Object.fromEntries(names.map((name) => [name, undefined]));
    expect(() => new PaymentsClient({ baseUrl, apiKey, ...nothing })).not.toThrow();
  });

  test('a client rejects options that are not an object', () => {
    vi.stubEnv('PAYMENTS_BASE_URL', baseUrl);
    vi.stubEnv('PAYMENTS_API_KEY', apiKey);
    expect(() => new PaymentsClient()).not.toThrow();
    for (const options of [null, 5, true, 'sk_test_1']) {
      expect(rejection(options).message).toContain('expected a plain object');
    }
    const payments = new PaymentsClient();
    for (const options of [null, 5, 'sk_test_1', undefined]) {
      expect(() => payments.withOptions(options as ClientOptions)).toThrow(ConfigurationError);
    }
  });
});

describe('the environment', () => {
  /** Sets the variables of a client, where an empty text leaves one unset. */
  const stubVariables = (...values: readonly string[]) => {
    for (const [at, name] of variables.entries()) vi.stubEnv(name, values[at] || undefined);
  };
  const sentBy = async (options: ClientOptions) => {
    const { payments, requests } = clientOf(() => Response.json([]), {
      baseUrl: undefined,
      apiKey: undefined,
      jwt: undefined,
      ...options,
    });
    await payments.entities.get('ent_1').catch(() => undefined);
    await payments.instructions.list({ address: owner });
    return {
      requests: requests.map(({ url, headers }) => `${url} ${headers['authorization']}`),
      payments,
      again: async () => {
        await payments.instructions.list({ address: owner });
        const last = requests.at(-1);
        return `${last?.url} ${last?.headers['authorization']}`;
      },
    };
  };

  test.each([
    ['', 'https://root.example.com/r'],
    [' \r\n', ''],
  ])('environment variables supply missing options, trimmed of %j', async (space, rootUrl) => {
    vi.stubEnv('PAYMENTS_BASE_URL', `${space}https://env.example.com/v0${space}`);
    vi.stubEnv('PAYMENTS_ROOT_URL', `${rootUrl}${space}`);
    vi.stubEnv('PAYMENTS_API_KEY', `sk_env${space}`);
    vi.stubEnv('PAYMENTS_JWT', `${space}e.n.v${space}`);
    expect((await sentBy({})).requests).toEqual([
      'https://env.example.com/v0/entities/ent_1 Bearer sk_env',
      `${rootUrl || 'https://env.example.com'}/instructions/all Bearer e.n.v`,
    ]);
  });

  test('PAYMENTS_ROOT_URL is used only together with PAYMENTS_BASE_URL', async () => {
    stubVariables('https://env.example.com/v0', 'https://root.example.com/r', 'sk_env', 'e.n.v');
    const explicitOptions = { baseUrl: 'https://given.example.com/v0', jwt: 'g.i.ven' };
    const root = 'https://given.example.com/instructions/all Bearer g.i.ven';
    expect((await sentBy(explicitOptions)).requests).toContain(root);
    const { payments } = await sentBy({});
    const kept = { rootUrl: 'https://root.example.com/r' };
    for (const clone of [
      payments.withOptions(explicitOptions),
      payments.withOptions({}).withOptions(explicitOptions),
    ]) {
      expect(clone.toJSON()).toMatchObject({ rootUrl: 'https://given.example.com' });
      expect(clone.withOptions({ timeout: 5_000 }).toJSON()).toEqual(clone.toJSON());
    }
    expect(payments.withOptions({ jwt: 'g.i.ven' }).toJSON()).toMatchObject(kept);
    expect(payments.withOptions({ ...explicitOptions, ...kept }).toJSON()).toMatchObject(kept);
  });

  test('client options take precedence over environment variables', async () => {
    for (const name of variables) vi.stubEnv(name, 'unusable');
    const options = {
      baseUrl: 'https://given.example.com/v0',
      rootUrl: 'https://given.example.com/r',
      apiKey: 'sk_given',
      jwt: 'g.i.ven',
    };
    expect((await sentBy(options)).requests).toEqual([
      'https://given.example.com/v0/entities/ent_1 Bearer sk_given',
      'https://given.example.com/r/instructions/all Bearer g.i.ven',
    ]);
  });

  test('environment variables are read only when a client is created', async () => {
    stubVariables('https://env.example.com/v0', '', 'sk_env', 'e.n.v');
    const { payments, again } = await sentBy({});
    const before = await again();
    const later = 'https://later.example.com';
    stubVariables(`${later}/v0`, later, 'sk_later', 'l.a.ter');
    expect(await again()).toBe(before);
    expect(payments.toJSON()).toEqual({
      baseUrl: 'https://env.example.com/v0',
      rootUrl: 'https://env.example.com',
    });
    expect(payments.withOptions({ timeout: 5 }).toJSON()).toEqual(payments.toJSON());
  });

  test('an empty environment variable counts as absent', () => {
    vi.stubEnv('PAYMENTS_BASE_URL', '');
    vi.stubEnv('PAYMENTS_API_KEY', '');
    vi.stubEnv('PAYMENTS_ROOT_URL', '');
    expect(rejection({ apiKey }).message).toContain('No base URL: ');
    expect(rejection({ baseUrl }).message).toContain('No credential: ');
    expect(new PaymentsClient({ baseUrl, apiKey }).toJSON().rootUrl).toBe(
      'https://api.example.com',
    );
  });
});

test.each([
  ['client', () => new PaymentsClient({ baseUrl: 'https://api.example.com/v0', apiKey })],
  ['sandbox', () => new Sandbox()],
])('without TextDecoder a new %s explains how to fix the environment', (_, create) => {
  vi.stubGlobal('TextDecoder', undefined);
  Reflect.deleteProperty(globalThis, 'TextDecoder');
  expect(create).toThrow('@jest-environment node');
});

test('environment variables that may not be read count as absent', async () => {
  const env = new Proxy(
    {},
    {
      get: () => {
        throw Object.assign(new Error('Requires env access'), { name: 'NotCapable' });
      },
    },
  );
  const { versions, getBuiltinModule } = process;
  vi.stubGlobal('process', { env, versions, getBuiltinModule });
  expect(rejection({}).message).toContain('PAYMENTS_BASE_URL');
  // A call that fails looks for a proxy, and one that works for the runner of the tests.
  const payments = new PaymentsClient({ baseUrl: closedPort.baseUrl, apiKey, maxRetries: 0 });
  expect(await failureOf(payments.accounts.list())).toMatchObject({ outcome: 'not_sent' });
  const sandboxed = new PaymentsClient(new Sandbox().clientOptions);
  expect((await sandboxed.accounts.list()).data).toEqual([]);
});
