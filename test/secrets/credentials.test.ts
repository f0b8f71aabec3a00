import { expect, test, vi } from 'vitest';
import {
  AuthenticationError,
  ConfigurationError,
  PaymentsClient,
  TimeoutError,
  type ClientOptions,
} from 'payments-platform-sdk';
import { clientOf, failureOf } from '../support/clients.ts';
import { address, transfer } from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { apiKey, jwt, leaksOf } from './scan.ts';

const both = `${apiKey} and ${jwt}`;
const request = new Request('https://vault.example.com', {
  headers: { authorization: `Bearer ${apiKey}` },
});
const holding = Object.assign(new Error(`vault said ${both}`, { cause: new Error(jwt) }), {
  name: apiKey,
  code: apiKey,
  request,
  errors: [new Error(both)],
});

/** Credential functions that fail. The secret is unknown before they fail. */
const sources: readonly (readonly [string, () => unknown])[] = [
  ['rejects', () => Promise.reject(holding)],
  ['throws', () => raise(holding)],
  ['throws a text', () => raise(both)],
  ['throws the Request', () => raise(request)],
  ['throws a secret in a URL', () => raise(new Error(encodeURIComponent(both)))],
  ['throws a secret in JSON', () => raise(new Error(both.replaceAll('/', '\\/')))],
  ['throws a secret in HTML', () => raise(new Error(both.replaceAll('&', '&amp;')))],
  ['throws an error that is its own cause', () => raise(ownCause())],
  ['gives a line break', () => `${apiKey}\n`],
  ['gives a line break and a header', () => `${apiKey}\r\nx-jwt: ${jwt}`],
  ['gives a space', () => ` ${apiKey}`],
  ['gives a whole header', () => `Bearer ${apiKey}`],
  ['gives too much', () => apiKey.repeat(400)],
  ['gives an object', () => ({ token: apiKey, toString: () => both })],
  ['gives a list', () => [apiKey, jwt]],
  ['gives the Request', () => request],
  ['gives a symbol', () => Symbol(apiKey)],
  [
    'gives something thenable that fails',
    () => ({
      then: (_: unknown, no: (e: Error) => void) => {
        no(holding);
      },
    }),
  ],
];

test.for(sources)('no error shows a credential when its function %s', async ([, source]) => {
  const give = source as () => string;
  const { payments, requests } = clientOf(() => Response.json(transfer), {
    apiKey: give,
    jwt: give,
  });
  for (const call of [
    () => payments.transfers.get('txfr_1'),
    () => payments.instructions.list({ address }),
  ]) {
    expect(leaksOf(await failureOf(call(), ConfigurationError))).toEqual([]);
  }
  expect(requests).toEqual([]);
});

test('no error shows the API key when the JWT function returns it', async () => {
  const { payments } = clientOf(() => Response.json([]), { jwt: () => apiKey });
  const error = await failureOf(payments.instructions.list({ address }), ConfigurationError);
  expect(leaksOf(error)).toEqual([]);
});

test('the error of a credential function that hangs shows no credential', async () => {
  const clock = new VirtualClock();
  const { payments } = clientOf(() => Response.json(transfer), {
    apiKey: () => new Promise(() => undefined),
    jwt,
    clock,
  });
  const error = await clock.runTimersDuring(
    failureOf(payments.transfers.get('txfr_1'), TimeoutError),
  );
  expect(error.phase).toBe('credential');
  expect(leaksOf(error)).toEqual([]);
});

test.for(sources)(
  'no error shows a rejected token when its function then %s',
  async ([, source]) => {
    const give = vi.fn(source as () => string).mockReturnValueOnce(apiKey);
    const { payments } = clientOf(
      () => Response.json({ error: `not ${both}`, code: apiKey }, { status: 401 }),
      { apiKey: give, jwt },
    );
    const error = await failureOf(payments.transfers.get('txfr_1'), AuthenticationError);
    expect(give).toHaveBeenCalledTimes(2);
    expect(leaksOf(error)).toEqual([]);
  },
);

test('a replaced token is still redacted in a late response', async () => {
  let count = 0;
  const { payments } = clientOf(
    () => Response.json({ error: apiKey.replaceAll('/', '\\/') }, { status: 401 }),
    { apiKey: () => ((count += 1) === 1 ? apiKey : `sk_other_${count}`) },
  );
  const error = await failureOf(payments.transfers.get('txfr_1'), AuthenticationError);
  expect(error.attempts).toHaveLength(2);
  expect(leaksOf(error)).toEqual([]);
});

const good = { baseUrl: 'https://api.example.com/v0', apiKey, jwt };

/** Invalid options. Each is a ConfigurationError that names the option and not its value. */
const mistakes: readonly (readonly [string, unknown])[] = [
  ['a key with a line break', { ...good, apiKey: `${apiKey}\n` }],
  ['a key with a space', { ...good, apiKey: ` ${apiKey}` }],
  ['a key with a letter beyond ASCII', { ...good, apiKey: `${apiKey}é` }],
  ['a key with its scheme', { ...good, apiKey: `Bearer ${apiKey}` }],
  ['a key of another kind', { ...good, apiKey: apiKey.replace('sk_', 'pk_') }],
  ['a JWT for a key', { ...good, apiKey: jwt }],
  ['a list of keys', { ...good, apiKey: [apiKey] }],
  ['an object for a key', { ...good, apiKey: { value: apiKey } }],
  ['a key for a JWT', { ...good, jwt: apiKey }],
  ['a JWT with a line break', { ...good, jwt: `${jwt}\r\n` }],
  ['a URL with a password', { ...good, baseUrl: `https://me:${jwt}@api.example.com/v0` }],
  ['a URL with a query', { ...good, baseUrl: `https://api.example.com/v0?key=${apiKey}` }],
  ['a URL with a fragment', { ...good, rootUrl: `https://api.example.com/#${apiKey}` }],
  ['a URL without https', { ...good, baseUrl: `http://api.example.com/${apiKey}/v0` }],
  ['a URL without a version', { ...good, baseUrl: `https://api.example.com/${apiKey}` }],
  ['the key for a URL', { ...good, baseUrl: apiKey }],
  ['the JWT for a URL', { ...good, rootUrl: jwt }],
  ['a header for the credential', { ...good, headers: { Authorization: `Bearer ${apiKey}` } }],
  ['a header with a line break', { ...good, headers: { 'x-key': `${apiKey}\n` } }],
  ['a header that is a list', { ...good, headers: { 'x-key': [apiKey] } }],
  ['a whole header for a name', { ...good, headers: { [`authorization: Bearer ${apiKey}`]: '' } }],
  ['a header named after the key', { ...good, headers: { [apiKey]: 'x' } }],
  ['Headers', { ...good, headers: new Headers({ 'x-key': apiKey }) }],
  ['an option named after the key', { ...good, [apiKey]: true }],
  ['an option named after the JWT', { ...good, [jwt]: true }],
  ['a hook named after the key', { ...good, hooks: { [apiKey]: () => undefined } }],
  ['hooks that are a text', { ...good, hooks: apiKey }],
  ['the key for a time', { ...good, timeout: apiKey }],
  ['the key for a count', { ...good, maxRetries: apiKey }],
  ['the key for a mode', { ...good, validation: apiKey }],
  ['the key for a clock', { ...good, clock: apiKey }],
  ['the key for a fetch', { ...good, fetch: apiKey }],
  ['the key for a header name', { ...good, idempotencyHeader: apiKey }],
  ['the key for everything', apiKey],
];

test.for(mistakes)(
  'the error for an invalid client option shows no credential: %s',
  ([, options]) => {
    const error = thrownBy(() => new PaymentsClient(options as ClientOptions));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(leaksOf(error)).toEqual([]);
  },
);

test.for(mistakes)(
  'the error for an invalid clone option shows no credential: %s',
  ([, options]) => {
    const payments = new PaymentsClient(good);
    const error = thrownBy(() => payments.withOptions(options as ClientOptions));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(leaksOf(error)).toEqual([]);
  },
);

test.for([
  ['PAYMENTS_API_KEY', `${apiKey}\nx`],
  ['PAYMENTS_JWT', `Bearer ${jwt}`],
  ['PAYMENTS_JWT', apiKey],
  ['PAYMENTS_BASE_URL', `https://api.example.com/v0?key=${apiKey}`],
  ['PAYMENTS_ROOT_URL', apiKey],
] as const)(
  'the error for an invalid %s in the environment does not show it',
  ([variable, value]) => {
    vi.stubEnv('PAYMENTS_BASE_URL', good.baseUrl);
    vi.stubEnv('PAYMENTS_API_KEY', apiKey);
    vi.stubEnv(variable, value);
    const error = thrownBy(() => new PaymentsClient());
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(leaksOf(error)).toEqual([]);
  },
);

test('the error for a missing credential does not show the other one', async () => {
  const { payments } = clientOf(() => Response.json([]), { apiKey, jwt: undefined });
  const error = await failureOf(payments.instructions.list({ address }), ConfigurationError);
  expect(leaksOf(error)).toEqual([]);
});

function raise(value: unknown): never {
  // Custom functions may throw values that are not errors.
  throw value as Error;
}

function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}

function ownCause(): Error {
  const error = new Error(both);
  error.cause = error;
  return error;
}
