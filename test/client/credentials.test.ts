import { AsyncLocalStorage } from 'node:async_hooks';
import { inspect } from 'node:util';
import {
  AbortError,
  AuthenticationError,
  BadRequestError,
  ConfigurationError,
  PaymentsError,
  TimeoutError,
} from 'payments-platform-sdk';
import { expect, test, vi } from 'vitest';
import { apiKey, clientOf, failureOf, jwt, respond } from '../support/clients.ts';
import { instruction } from '../support/records.ts';
import {
  address,
  createdNumber,
  errorBody,
  newTransfer,
  transfer,
  transferCreated,
} from '../support/values.ts';
import { flushPromises, VirtualClock } from '../support/virtual-clock.ts';
import { defaultTimeout } from '../../src/calls/options.ts';

const tokenOf = (request: Request): string =>
  request.headers.get('authorization')?.replace('Bearer ', '') ?? '';

/** A JWT with an expiry in milliseconds since 1970. */
const expiring = (at: number, name = 'x'): string => {
  const claims = Buffer.from(JSON.stringify({ exp: at / 1_000, name })).toString('base64url');
  return `eyJhbGciOiJub25lIn0.${claims}.c2ln`;
};

/** A function that returns a new token for each call. */
const numbered = (prefix = 'sk_number_') => {
  let count = 0;
  return vi.fn(() => Promise.resolve(`${prefix}${(count += 1)}`));
};

const bearersOf = (requests: readonly { readonly headers: Readonly<Record<string, string>> }[]) =>
  requests.map(({ headers }) => headers['authorization']?.replace('Bearer ', ''));

/** What a function that never ends returns. */
const never = (): Promise<string> => new Promise(() => undefined);

/** A platform that accepts one key only. */
const accepting =
  (good: string) =>
  (request: Request, _ = '', count = 1): Response =>
    tokenOf(request) === good
      ? respond(200, request.method === 'POST' ? createdNumber(count) : transfer)
      : respond(401, errorBody);

const list = { address } as const;

test('versioned paths receive the API key, root paths the JWT', async () => {
  const tokens: string[] = [];
  const { payments } = clientOf((request) => {
    tokens.push(`${new URL(request.url).pathname} ${tokenOf(request)}`);
    return respond(200, request.url.endsWith('/all') ? [instruction] : transfer);
  });
  await payments.transfers.get('txfr_1');
  await payments.instructions.list(list);
  expect(tokens).toEqual([`/v0/transfers/txfr_1 ${apiKey}`, `/instructions/all ${jwt}`]);
});

test.each([
  ['at once', () => 'sk_from_function'],
  ['in a promise', () => Promise.resolve('sk_from_function')],
])('ten calls run a credential function once if it returns %s', async (_, give) => {
  const source = vi.fn(give);
  const { payments, requests } = clientOf(() => respond(200, transfer), { apiKey: source });
  expect(source).not.toHaveBeenCalled();
  for (let turn = 0; turn < 10; turn += 1) await payments.transfers.get('txfr_1');
  expect(source).toHaveBeenCalledTimes(1);
  expect(bearersOf(requests)).toEqual(Array(10).fill('sk_from_function'));
});

test('fifty concurrent calls call the credential function once', async () => {
  const rateLimiter = Promise.withResolvers<string>();
  const source = vi.fn(() => rateLimiter.promise);
  const { payments, requests } = clientOf(() => respond(200, transfer), { apiKey: source });
  const callers = Array.from({ length: 50 }, () => payments.transfers.get('txfr_1'));
  await flushPromises();
  expect(requests).toHaveLength(0);
  rateLimiter.resolve('sk_shared');
  await Promise.all(callers);
  expect(source).toHaveBeenCalledTimes(1);
  expect(requests).toHaveLength(50);
});

test.each([
  ['half a minute before the JWT expires', 100_000, 70_000],
  ['after half of the lifetime of the JWT, if the lifetime is short', 10_000, 5_000],
])('the client calls the credential function for a new JWT %s', async (_, life, replacedAfter) => {
  const clock = new VirtualClock();
  const source = vi.fn(() => expiring(clock.now() + life, String(clock.now())));
  const { payments } = clientOf(() => respond(200, []), { clock, jwt: source });
  await payments.instructions.list(list);
  await clock.advance(replacedAfter - 1);
  await payments.instructions.list(list);
  expect(source).toHaveBeenCalledTimes(1);
  await clock.advance(1);
  await payments.instructions.list(list);
  expect(source).toHaveBeenCalledTimes(2);
  await payments.instructions.list(list);
  expect(source).toHaveBeenCalledTimes(2);
});

test('an expired or unreadable JWT from a function stays in use', async () => {
  const clock = new VirtualClock();
  for (const token of [
    expiring(clock.now() - 3_600_000),
    expiring(clock.now() + 10_000),
    'not-a-jwt',
    'a.b.c',
    `a.${Buffer.from('null').toString('base64url')}.c`,
    `a.${Buffer.from('{"exp":"soon"}').toString('base64url')}.c`,
    `a.${Buffer.from('{"exp":-1}').toString('base64url')}.c`,
  ]) {
    const source = vi.fn(() => token);
    const { payments, requests } = clientOf(() => respond(200, []), { clock, jwt: source });
    for (let turn = 0; turn < 3; turn += 1) await payments.instructions.list(list);
    expect([token, source.mock.calls.length, requests.length]).toEqual([token, 1, 3]);
  }
});

test('fifty concurrent responses 401 cause a single new token', async () => {
  const source = numbered();
  const { payments, requests } = clientOf(accepting('sk_number_2'), { apiKey: source });
  await Promise.all(Array.from({ length: 50 }, () => payments.transfers.create(newTransfer)));
  expect(source).toHaveBeenCalledTimes(2);
  const sent = ['sk_number_1', 'sk_number_2'].flatMap((token) => Array<string>(50).fill(token));
  expect(bearersOf(requests).toSorted()).toEqual(sent);
});

test('a late 401 for an old token keeps the new one', async () => {
  const source = numbered();
  const late = Promise.withResolvers<Response>();
  const { payments, requests } = clientOf(
    (request, _, count) => (count === 1 ? late.promise : accepting('sk_number_2')(request)),
    { apiKey: source },
  );
  const slow = payments.transfers.get('txfr_1');
  await flushPromises();
  await payments.transfers.get('txfr_1');
  expect(source).toHaveBeenCalledTimes(2);
  late.resolve(respond(401, errorBody));
  expect(await slow).toEqual(transfer);
  expect(source).toHaveBeenCalledTimes(2);
  expect(requests).toHaveLength(4);
});

test('a creation is resent once after status 401, even with maxRetries 0', async () => {
  const onRetry = vi.fn();
  const { payments, requests } = clientOf(accepting('sk_number_2'), {
    apiKey: numbered(),
    maxRetries: 0,
    hooks: { onRetry },
  });
  expect(await payments.transfers.create(newTransfer)).toEqual(createdNumber(2));
  expect(requests).toHaveLength(2);
  expect(requests[0]?.body).toBe(requests[1]?.body);
  expect(onRetry).not.toHaveBeenCalled();
});

test('a resend after status 401 does not count as a retry', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  const responses = [401, 429, 429, 201];
  const clock = new VirtualClock();
  const { payments, requests } = clientOf(
    (_, __, count) => respond(responses[count - 1] ?? 500, count < 4 ? errorBody : transferCreated),
    { clock, apiKey: numbered() },
  );
  expect(await clock.runTimersDuring(payments.transfers.create(newTransfer))).toEqual(
    transferCreated,
  );
  expect(requests).toHaveLength(4);
});

test('a call that received 401 twice sends no third request', async () => {
  const source = numbered();
  const { payments, requests } = clientOf(() => respond(401, errorBody), { apiKey: source });
  const error = await failureOf(payments.transfers.create(newTransfer), AuthenticationError);
  expect(error).toMatchObject({
    outcome: 'rejected',
    retryable: false,
    attempts: [{ status: 401 }, { status: 401 }],
  });
  expect(source).toHaveBeenCalledTimes(2);
  expect(requests).toHaveLength(2);
});

test('status 401 for a string credential causes no second request', async () => {
  const { payments, requests } = clientOf(() => respond(401, errorBody));
  await failureOf(payments.transfers.create(newTransfer), AuthenticationError);
  expect(requests).toHaveLength(1);
});

test.each<[string, () => string | Promise<string>]>([
  ['rejects', () => Promise.reject(new Error('vault is sealed, token sk_secret_of_vault'))],
  [
    'throws at once',
    () => {
      throw new Error('vault is sealed, token sk_secret_of_vault');
    },
  ],
  ['rejects with undefined', () => Promise.reject(undefined as unknown as Error)],
])('a call sends nothing if the credential function %s', async (_, give) => {
  const source = vi.fn(give);
  const { payments, requests } = clientOf(() => respond(200), { apiKey: source });
  const error = await failureOf(payments.transfers.create(newTransfer), ConfigurationError);
  expect(error).toMatchObject({ operation: 'transfers.create', outcome: 'not_sent', attempts: [] });
  expect(inspect(error, { depth: 9 })).not.toContain('sk_secret_of_vault');
  expect(requests).toHaveLength(0);
  // A failure is not cached: the next call runs the function again.
  await failureOf(payments.transfers.get('txfr_1'), ConfigurationError);
  expect(source).toHaveBeenCalledTimes(2);
});

test("error.cause is a copy of the credential function's rejection", async () => {
  const thrown = Object.assign(new TypeError('no route'), { code: 'EHOSTUNREACH', request: {} });
  const { payments } = clientOf(() => respond(200), { apiKey: () => Promise.reject(thrown) });
  const error = await failureOf(payments.transfers.get('txfr_1'), ConfigurationError);
  expect(error.cause).not.toBe(thrown);
  const copied = { name: 'TypeError', message: 'no route', code: 'EHOSTUNREACH' };
  expect(error.cause).toMatchObject(copied);
  expect(error.cause).not.toHaveProperty('request');
});

test.each([
  ['apiKey', undefined, 'returned nothing; expected an API key'],
  ['apiKey', 42, 'returned a number; expected an API key'],
  ['apiKey', '', 'returned an empty string; expected an API key'],
  ['apiKey', 'pk_live_1', 'returned a string without "sk_"'],
  ['apiKey', 'sk_', 'returned a string without "sk_"'],
  ['apiKey', 'sk_live_1\r\nx-evil: 1', 'a line break'],
  ['apiKey', 'sk_live_ 1', 'a space'],
  ['apiKey', `sk_${'x'.repeat(9_000)}`, 'returned 9003 characters; expected 8192 at most'],
  ['jwt', 'sk_live_1', 'returned an API key; expected a JWT'],
  ['jwt', null, 'returned null; expected a JWT'],
] as const)('the error says what is wrong if option %s returns %j', async (name, value, words) => {
  const { payments, requests } = clientOf(() => respond(200), {
    [name]: () => Promise.resolve(value as string),
  });
  const call = name === 'jwt' ? payments.instructions.list(list) : payments.transfers.get('txfr_1');
  const error = await failureOf(call, ConfigurationError);
  expect(error.message).toContain(words);
  expect(error.outcome).toBe('not_sent');
  if (typeof value === 'string' && value.length > 3) {
    expect(inspect(error, { depth: 9 })).not.toContain(value);
  }
  expect(requests).toHaveLength(0);
});

test.each([
  [{}, defaultTimeout],
  [{ timeout: 2_000 }, 2_000],
  [{ totalTimeout: 1_000 }, 1_000],
])(
  'a call whose credential function never returns rejects with TimeoutError: %j',
  async (options, ms) => {
    const clock = new VirtualClock();
    const source = { clock, apiKey: never, ...options };
    const { payments, requests } = clientOf(() => respond(200), source);
    const call = failureOf(payments.transfers.create(newTransfer), TimeoutError);
    await clock.advance(ms - 1);
    expect(clock.pending).toBeGreaterThan(0);
    await clock.advance(1);
    const error = await call;
    expect(error).toMatchObject({ phase: 'credential', outcome: 'not_sent', attempts: [] });
    expect(error.message).toContain(`within ${ms} ms`);
    expect(requests).toHaveLength(0);
    expect(clock.pending).toBe(0);
  },
);

test('the next call retries a credential function that never returned', async () => {
  const clock = new VirtualClock();
  const first = Promise.withResolvers<string>();
  const source = vi.fn(() => Promise.resolve('sk_second')).mockReturnValueOnce(first.promise);
  const { payments, requests } = clientOf(() => respond(200, transfer), { clock, apiKey: source });
  const hung = failureOf(payments.transfers.get('txfr_1'), TimeoutError);
  await clock.advance(defaultTimeout);
  await hung;
  expect(await clock.runTimersDuring(payments.transfers.get('txfr_1'))).toEqual(transfer);
  expect(source).toHaveBeenCalledTimes(2);
  // The late result of the first call is older than the token in use.
  first.resolve('sk_first');
  await flushPromises();
  await payments.transfers.get('txfr_1');
  expect(bearersOf(requests)).toEqual(['sk_second', 'sk_second']);
});

test('a hanging credential function is called again after one timeout', async () => {
  const clock = new VirtualClock();
  const first = Promise.withResolvers<string>();
  const second = Promise.withResolvers<string>();
  const source = vi
    .fn<() => Promise<string>>()
    .mockReturnValueOnce(first.promise)
    .mockReturnValueOnce(second.promise);
  const options = { clock, apiKey: source, timeout: 300 };
  const { payments, requests } = clientOf(() => respond(200, transfer), options);
  const get = () => payments.transfers.get('txfr_1');
  const hung = failureOf(get(), TimeoutError);
  await clock.advance(200);
  // Concurrent calls share the call of the function.
  const meanwhile = failureOf(get(), TimeoutError);
  await clock.advance(100);
  await hung;
  expect(source).toHaveBeenCalledTimes(1);
  const late = failureOf(get(), TimeoutError);
  await clock.advance(200);
  await meanwhile;
  expect(source).toHaveBeenCalledTimes(2);
  // A function that is only slow is not called repeatedly: its first result serves the next call.
  first.resolve('sk_first');
  await flushPromises();
  expect(await clock.runTimersDuring(get())).toEqual(transfer);
  await clock.advance(100);
  await late;
  expect(source).toHaveBeenCalledTimes(2);
  expect(bearersOf(requests)).toEqual(['sk_first']);
});

test('an invalid token that comes late does not disturb newer calls', async () => {
  const clock = new VirtualClock();
  const first = Promise.withResolvers<string>();
  const source = vi
    .fn<() => Promise<string>>(() => new Promise(() => undefined))
    .mockReturnValueOnce(first.promise);
  const options = { clock, apiKey: source, totalTimeout: 100 };
  const { payments } = clientOf(() => respond(200), options);
  const get = () => failureOf(payments.transfers.get('txfr_1'), PaymentsError);
  const hung = get();
  await clock.advance(100);
  await hung;
  const second = get();
  await flushPromises();
  expect(source).toHaveBeenCalledTimes(2);
  first.resolve('rubbish');
  await flushPromises();
  const third = get();
  await flushPromises();
  expect(source).toHaveBeenCalledTimes(2);
  await clock.advance(100);
  const phase = 'credential';
  expect(await Promise.all([second, third])).toMatchObject([{ phase }, { phase }]);
});

test('an error redacts the current token although older tokens arrived later', async () => {
  const clock = new VirtualClock();
  const late = Array.from({ length: 6 }, () => Promise.withResolvers<string>());
  const source = vi.fn(() => Promise.resolve('opaque-live-token'));
  for (const { promise } of late) source.mockReturnValueOnce(promise);
  const echo = { error: 'seen opaque-live-token', code: 'x', details: null };
  const { payments } = clientOf(
    (request) =>
      request.url.includes('/v0/') ? respond(400, echo) : respond(200, { instructions: [] }),
    { clock, jwt: source, timeout: 100 },
  );
  const ask = () => payments.instructions.list(list);
  while (source.mock.calls.length <= late.length) {
    const call = ask().catch((error: unknown) => error);
    await clock.advance(100);
    await call;
  }
  for (const [index, { resolve }] of late.entries()) resolve(`opaque-late-${index}`);
  await flushPromises();
  const error = await failureOf(payments.transfers.get('txfr_1'), BadRequestError);
  expect(error.message).toContain('seen [redacted]');
});

test('an error redacts every token that its call has used', async () => {
  const secret = (number: number): string => `Opaque-${number}-Zx81mQ77`;
  let made = 0;
  const slow = Promise.withResolvers<void>();
  const tokens: string[] = [];
  const { payments } = clientOf(
    async (request) => {
      if (!request.url.endsWith('/slow')) return respond(401, {});
      tokens.push(tokenOf(request));
      await slow.promise;
      return tokens.length === 1 ? respond(401, {}) : respond(400, { error: `not ${tokens[0]}` });
    },
    { jwt: () => secret((made += 1)) },
  );
  const ask = (path: string): Promise<PaymentsError> =>
    failureOf(payments.request({ method: 'GET', path, api: 'root' }));
  const failed = ask('/slow');
  await vi.waitFor(() => {
    expect(tokens).toHaveLength(1);
  });
  for (let turn = 0; turn < 7; turn += 1) await ask('/other');
  slow.resolve();
  const error = await failed;
  expect(tokens).toEqual([secret(1), secret(made)]);
  expect(error.message).toContain('not [redacted]');
  expect(JSON.stringify(error)).not.toContain('Zx81mQ77');
});

test('an abort during the credential function causes an AbortError', async () => {
  const { payments } = clientOf(() => respond(200), { apiKey: never });
  const controller = new AbortController();
  const { signal } = controller;
  const call = failureOf(payments.transfers.create(newTransfer, { signal }), AbortError);
  await flushPromises();
  controller.abort('enough');
  expect(await call).toMatchObject({ outcome: 'not_sent', cause: 'enough', attempts: [] });
});

test.each<[string, () => string | Promise<string>, string]>([
  ['rejects', () => Promise.reject(new Error('sealed')), 'sealed'],
  ['returns an invalid token', () => 'rubbish', 'apiKey'],
  ['never returns', () => new Promise(() => undefined), 'apiKey'],
])('a call rejects with its 401 if the credential function %s', async (_, give, reason) => {
  const clock = new VirtualClock();
  const source = vi.fn<() => string | Promise<string>>(give).mockReturnValueOnce('sk_first');
  const options = { clock, apiKey: source };
  const { payments, requests } = clientOf(() => respond(401, errorBody), options);
  const error = await clock.runTimersDuring(
    failureOf(payments.transfers.create(newTransfer), AuthenticationError),
  );
  expect(error).toMatchObject({ status: 401, outcome: 'rejected', attempts: [{ status: 401 }] });
  expect(error.message).toContain('did not return a new credential: The ');
  expect(error.message).toContain(reason);
  expect(requests).toHaveLength(1);
  expect(clock.pending).toBe(0);
});

test('an abort while the client renews a token causes an AbortError', async () => {
  const source = vi.fn<() => string | Promise<string>>(() => new Promise(() => undefined));
  source.mockReturnValueOnce('sk_first');
  const { payments } = clientOf(() => respond(401, errorBody), { apiKey: source });
  const controller = new AbortController();
  const { signal } = controller;
  const call = failureOf(payments.transfers.create(newTransfer, { signal }), AbortError);
  await flushPromises();
  controller.abort();
  expect(await call).toMatchObject({ outcome: 'rejected', attempts: [{ status: 401 }] });
});

test('if the credential function fails, every waiting call rejects', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => {
    unhandled.push(reason);
  };
  process.on('unhandledRejection', note);
  const source = vi.fn(() => Promise.resolve('sk_good'));
  source.mockReturnValueOnce(Promise.reject(new Error('sealed')));
  const { payments } = clientOf(() => respond(200, transfer), { apiKey: source });
  const pair = [payments.transfers.get('txfr_1'), payments.transfers.get('txfr_1')];
  for (const call of pair) await failureOf(call, ConfigurationError);
  expect(source).toHaveBeenCalledTimes(1);
  expect(await payments.transfers.get('txfr_1')).toEqual(transfer);
  expect(source).toHaveBeenCalledTimes(2);
  await flushPromises();
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

test('an error after a renewal shows neither old nor new token', async () => {
  const { payments } = clientOf(
    () => respond(401, { error: 'not token-1 nor token-2', code: 'token-1', details: ['token-2'] }),
    { jwt: numbered('token-') },
  );
  const error = await failureOf(payments.instructions.list(list), AuthenticationError);
  expect(inspect(error, { depth: 9 })).not.toMatch(/token-\d/);
  expect(JSON.stringify(error)).not.toMatch(/token-\d/);
  expect(error.message).toContain('not [redacted] nor [redacted]');
});

test('an error redacts every part of a token above 1,000 characters', async () => {
  const long = `abc.${Array.from({ length: 300 }, (_, index) => index.toString(36)).join('-_')}.end`;
  expect(long.length).toBeGreaterThan(1_000);
  const echoedText = `${long} ${encodeURIComponent(`${long}+/=`)} "${long}"`;
  const body = { error: echoedText, code: long, details: [long] };
  const { payments } = clientOf(() => respond(401, body), { jwt: long });
  const error = await failureOf(payments.instructions.list(list), AuthenticationError);
  for (const view of [inspect(error, { depth: 9 }), JSON.stringify(error)]) {
    for (const piece of [long.slice(0, 20), long.slice(500, 520), long.slice(-20)]) {
      expect(view).not.toContain(piece);
    }
  }
});

test('a call without its credential rejects before it sends a request', async () => {
  vi.stubEnv('PAYMENTS_JWT', '');
  const { payments, requests } = clientOf(() => respond(200), { jwt: undefined });
  const error = await failureOf(payments.instructions.list(list), ConfigurationError);
  expect(error).toMatchObject({ operation: 'instructions.list', outcome: 'not_sent' });
  expect(error.message).toContain('PAYMENTS_JWT');
  expect(requests).toHaveLength(0);
});

test('a clone with the same credential function uses the same token', async () => {
  const source = numbered();
  const { payments, requests } = clientOf(() => respond(200, transfer), { apiKey: source });
  await payments.transfers.get('txfr_1');
  await payments.withOptions({ timeout: 1_000 }).transfers.get('txfr_1');
  expect(source).toHaveBeenCalledTimes(1);
  await payments.withOptions({ apiKey: () => 'sk_other' }).transfers.get('txfr_1');
  await payments.transfers.get('txfr_1');
  const one = 'sk_number_1';
  expect(bearersOf(requests)).toEqual([one, one, 'sk_other', one]);
});

test('an error redacts the last four tokens of a credential function', async () => {
  const words = Array.from({ length: 6 }, (_, at) => `token-${at + 1}`).join(' ');
  const options = { clock: new VirtualClock(), jwt: numbered('token-') };
  const { payments } = clientOf(() => respond(401, { error: words }), options);
  const messages: string[] = [];
  for (let turn = 0; turn < 4; turn += 1) {
    messages.push((await failureOf(payments.instructions.list(list))).message);
  }
  expect(messages.at(-1)).toContain('token-1 [redacted] [redacted] [redacted] [redacted] token-6');
});

test('an error redacts an earlier token after many equal newer tokens', async () => {
  const source = vi.fn(() => 'token-b').mockReturnValueOnce('token-a');
  const { payments } = clientOf(() => respond(401, { error: 'not token-a' }), { jwt: source });
  for (let turn = 0; turn < 5; turn += 1) await failureOf(payments.instructions.list(list));
  expect(source).toHaveBeenCalledTimes(6);
  const error = await failureOf(payments.transfers.get('txfr_1'), AuthenticationError);
  expect(error.message).toContain('not [redacted]');
});

test.each(['apiKey', 'jwt'] as const)(
  "a function in option %s does not see the caller's AsyncLocalStorage",
  async (option) => {
    const tenants = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const source = async (): Promise<string> => {
      seen.push(tenants.getStore());
      await Promise.resolve();
      seen.push(tenants.getStore());
      return option === 'jwt' ? expiring(Date.now(), `${seen.length}`) : `sk_${seen.length}`;
    };
    let rejections = 0;
    const { payments } = clientOf(
      ({ url }) => {
        // The first token expires.
        if ((rejections += 1) === 2) return respond(401, errorBody);
        return respond(200, url.endsWith('/all') ? [instruction] : transfer);
      },
      { [option]: source },
    );
    const call = (): PromiseLike<unknown> =>
      option === 'jwt' ? payments.instructions.list(list) : payments.transfers.get('txfr_1');
    await tenants.run('tenant A', call);
    await tenants.run('tenant B', call);
    expect(seen).toEqual([undefined, undefined, undefined, undefined]);
  },
);

test("the error of a tenant's credential function suggests withOptions", async () => {
  const tenants = new AsyncLocalStorage<{ key: string }>();
  const sources = [
    () => tenants.getStore()?.key as string,
    () => {
      const tenant = tenants.getStore();
      if (tenant === undefined) throw new Error('no tenant');
      return tenant.key;
    },
  ];
  for (const source of sources) {
    const { payments, requests } = clientOf(undefined, { apiKey: source });
    const error = await tenants.run({ key: 'sk_of_tenant_a' }, () =>
      failureOf(payments.transfers.create(newTransfer), ConfigurationError),
    );
    expect(error.message).toContain('For several tenants, use withOptions({ apiKey })');
    expect(error.outcome).toBe('not_sent');
    expect(requests).toEqual([]);
  }
});
