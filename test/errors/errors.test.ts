import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import * as sdk from 'payments-platform-sdk';
import {
  ApiError,
  ConfigurationError,
  ConnectionError,
  InvalidResponseError,
  isApiError,
  isOutcomeUnknown,
  isPaymentsError,
  NotFoundError,
  PaymentsError,
  UnprocessableEntityError,
} from 'payments-platform-sdk';
import { expect, onTestFinished, test, vi } from 'vitest';
import { apiKey, clientAt, clientOf, failureOf, respond } from '../support/clients.ts';
import { responseBytes } from '../support/loopback.ts';
import { rawServer } from '../support/raw-server.ts';
import { errorBody, html, newTransfer } from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import type { ResponseSchema } from '../../src/calls/raw-call.ts';

/** The error of a creation after a 422 with this body. */
const refusedWith = (body: unknown, headers: Record<string, string> = {}): Promise<ApiError> =>
  failureOf(
    clientOf(() => respond(422, body, headers)).payments.transfers.get('txfr_1'),
    UnprocessableEntityError,
  );

test('an ApiError takes code, details and message from the Error body', async () => {
  const details = { field: 'amount', limits: [1, 2], deep: { null: null } };
  const error = await refusedWith({ error: 'Too much.', code: 'limit', details });
  expect(error).toMatchObject({ code: 'limit', details, status: 422 });
  expect(error.message).toContain('The platform responded with 422 (limit): Too much.');
});

test.each<[string, unknown, { excerpt?: string | undefined; code?: string; details?: unknown }]>([
  [
    'an error that is a number',
    { error: 5, code: 'c', details: null },
    { excerpt: '{"error":5,"code":"c","details":null}', code: 'c', details: null },
  ],
  ['an object as the error', { error: { message: 'm' } }, { excerpt: '{"error":{"message":"m"}}' }],
  ['a code that is a number', { error: 'm', code: 4 }, { excerpt: 'm' }],
  ['a list of details', { error: 'm', details: [1, 'a'] }, { excerpt: 'm', details: [1, 'a'] }],
  ['details that are a text', { error: 'm', details: 'why' }, { excerpt: 'm', details: 'why' }],
  ['an empty object', {}, { excerpt: '{}' }],
  ['null', null, { excerpt: 'null' }],
  ['a list', '["no"]', { excerpt: '["no"]' }],
  ['a text', '"no"', { excerpt: '"no"' }],
  ['nothing', undefined, { excerpt: undefined }],
  ['an HTML page', html, { excerpt: 'Bad gateway' }],
  ['an object that is cut off', '{"error":"m', { excerpt: '{"error":"m' }],
  ['a very deep object', '['.repeat(100_000), { excerpt: '[[[[' }],
])(
  'the message of an ApiError shows the readable response: %s',
  async (_, body, { excerpt, code, details }) => {
    const error = await refusedWith(body);
    expect(error.message).toMatch(
      /^api.example.com responded with 422 \(.*\); expected the platform's/,
    );
    expect(error.message.includes('Message: ')).toBe(excerpt !== undefined);
    expect(error.message).toContain(excerpt === undefined ? '(no body)' : `Message: ${excerpt}`);
    expect(error).toMatchObject({ code, details, outcome: 'rejected' });
    expect(error.message.length).toBeLessThan(400);
  },
);

/** Characters that end a line, move the cursor, set colours or reverse the writing direction. */
const steering = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u;

test('an ApiError shows platform text on one line, without control characters', async () => {
  const lie = 'It did not take effect.';
  const words = `x.\r\n${lie}\n\u001b[2K\u009b1A\u2028\u2029\u0085\u202e\u2066\b\0z\n`;
  const bodies = [{ error: words, code: words, details: words }, words, `<p>${words}</p>`];
  for (const body of bodies) {
    const { payments } = clientOf(() => respond(500, body, { 'x-request-id': 'r\u009b\u00852J' }));
    const error = await failureOf(payments.transfers.create(newTransfer), ApiError);
    const lines = error.message.split('\n');
    expect(lines.filter((line) => steering.test(line))).toEqual([]);
    // The message for a page of a proxy has an additional line.
    expect(lines).toHaveLength(typeof body === 'string' ? 5 : 3);
    expect(lines.at(-1)).toContain('request r2J');
    expect(error.body).toContain('\u202e');
  }
});

test('an error shows text of schemas, credential functions and fetch on one line', async () => {
  const lie = 'gone:\nIt did not take effect.\n\u001b[2A\u202ex';
  const schema: ResponseSchema<unknown> = {
    '~standard': { version: 1, vendor: 'x', validate: () => ({ issues: [{ message: lie }] }) },
  };
  const apiKey = () => Promise.reject(new Error(lie));
  const fetch = () => Promise.reject(Object.assign(new Error(lie), { code: `E\n${lie}` }));
  const call = { method: 'GET', path: '/x', api: 'versioned', schema } as const;
  const quoting = await failureOf(
    clientOf(() => respond(200, {})).payments.request(call),
    InvalidResponseError,
  );
  const locked = clientOf(undefined, { apiKey }).payments.transfers;
  const keyless = await failureOf(locked.get('txfr_1'), ConfigurationError);
  const { transfers } = clientOf(fetch).payments;
  const broken = await failureOf(transfers.create(newTransfer), ConnectionError);
  for (const error of [quoting, keyless, broken]) {
    expect(error.message).toContain('It did not take effect.');
    const reasons = error.attempts.map(({ reason }) => reason);
    for (const text of [...error.message.split('\n'), ...reasons]) {
      expect(text).not.toMatch(steering);
      expect(text).not.toMatch(/^It did not take effect/);
    }
  }
  expect(broken.outcome).toBe('unknown');
  // A stack has several lines.
  for (const line of inspect(keyless).split('\n')) expect(line).not.toMatch(steering);
  expect(keyless.cause).toMatchObject({ message: 'gone:\nIt did not take effect.\n[2Ax' });
});

test('an error does not redact a very short JWT within other words', async () => {
  const { payments } = clientOf(() => respond(422, { error: 'A bad day.', code: 'bad_day' }), {
    jwt: 'day',
  });
  for (const call of [
    payments.transfers.create(newTransfer),
    payments.instructions.list({ address: '0x1' }),
  ]) {
    expect(await failureOf(call, UnprocessableEntityError)).toMatchObject({ code: 'bad_day' });
  }
});

test('the details of an error are cut to a loggable size', async () => {
  const levels = Array.from({ length: 30 });
  const deep = levels.reduce<unknown>((inner) => ({ inner }), 'bottom');
  const nested = levels.reduce<unknown>((inner) => [inner], 'bottom');
  const error = await refusedWith({
    error: 'x'.repeat(100_000),
    code: 'y'.repeat(100_000),
    details: {
      deep,
      nested,
      text: 'z'.repeat(100_000),
      list: Array.from({ length: 5_000 }, (_, index) => index),
      ...Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`key${index}`, index])),
    },
  });
  expect(JSON.stringify(error).length).toBeLessThan(20_000);
  expect(inspect(error, { depth: 20 }).length).toBeLessThan(30_000);
  expect(JSON.stringify(error.details)).toContain('[cut]');
  expect(JSON.stringify(error.details)).not.toContain('bottom');
});

test('error.body shows what can be decoded of a non-UTF-8 body', async () => {
  const server = await rawServer(responseBytes(500, Buffer.from([0x41, 0xff, 0x42])));
  const error = await failureOf(clientAt(server).transfers.create(newTransfer), ApiError);
  expect(error).toMatchObject({ status: 500, body: 'A\u{fffd}B' });
});

test('an error keeps the start of a body above one mebibyte', async () => {
  const server = await rawServer(responseBytes(500, 'a'.repeat(3_000_000)));
  const error = await failureOf(clientAt(server).transfers.create(newTransfer), ApiError);
  expect(error.body).toBe(`${'a'.repeat(2_048)}… [cut]`);
});

test('error.body shows no part of a credential where it is cut', async () => {
  const jwt = 'opaqueC4N4RYtoken';
  // Redaction shortens the first credential, so half of the second would move into the excerpt.
  const echoed = `Bearer ${'a'.repeat(2 ** 16 - 18)} ${jwt}`;
  const server = await rawServer(responseBytes(500, echoed));
  const { transfers } = clientAt(server, { jwt });
  const error = await failureOf(transfers.create(newTransfer), ApiError);
  expect(error.body).toBe('… [cut]');
  expect(inspect(error)).not.toContain('opaque');
});

test.each([
  ['{"block":12345678901234567890}', { block: '12345678901234567890' }],
  [
    '[-9007199254740993,{"deep":[9007199254740992]}]',
    ['-9007199254740993', { deep: ['9007199254740992'] }],
  ],
  ['9007199254740993', '9007199254740993'],
])('error.details contains large integers as strings: %s', async (details, expected) => {
  const error = await refusedWith(`{"error":"m","code":"c","details":${details}}`);
  expect(error.details).toEqual(expected);
  expect(JSON.parse(JSON.stringify(error.details))).toEqual(expected);
});

test('JSON.stringify of an error keeps all digits of large integers', async () => {
  const error = await refusedWith(
    '{"error":"m","code":"c","details":{"block":12345678901234567890}}',
  );
  expect(JSON.parse(JSON.stringify(error))).toMatchObject({
    name: 'UnprocessableEntityError',
    details: { block: '12345678901234567890' },
    attempts: [{ status: 422 }],
  });
});

test('error.requestId comes from the first request id header', async () => {
  const names = ['x-request-id', 'request-id', 'x-amzn-requestid', 'cf-ray'];
  for (let from = 0; from < names.length; from += 1) {
    const headers = Object.fromEntries(names.slice(from).map((name) => [name, `id of ${name}`]));
    const error = await refusedWith(errorBody, headers);
    const requestId = `id of ${names[from] ?? ''}`;
    expect(error).toMatchObject({ requestId, attempts: [{ requestId }] });
    expect(error.message).toContain(`request ${requestId}`);
  }
  expect((await refusedWith(errorBody)).requestId).toBeUndefined();
  expect((await refusedWith(errorBody, { 'x-request-id': '', 'cf-ray': 'ray' })).requestId).toBe(
    'ray',
  );
});

test('an error has the response headers without cookies and credentials', async () => {
  const error = await refusedWith(errorBody, {
    'X-Trace': 'T1',
    'Set-Cookie': 'session=1',
    'X-Echo': `Bearer ${apiKey}`,
    'X-Auth-Token': 'somebody',
  });
  expect(error.headers).toEqual({
    'x-trace': 'T1',
    'x-echo': '[redacted]',
    'x-auth-token': '[redacted]',
  });
  expect(Object.isFrozen(error.headers)).toBe(true);
});

const errorText = JSON.stringify(errorBody);
const rejectedWith = (headers: string, body: string | Uint8Array): Uint8Array =>
  Buffer.concat([
    Buffer.from(`HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\n${headers}\r\n\r\n`),
    Buffer.from(body),
  ]);
test.each([
  [
    'chunked',
    rejectedWith(
      'transfer-encoding: chunked\r\ntrailer: x-end',
      `${errorText.length.toString(16)}\r\n${errorText}\r\n0\r\n\r\n`,
    ),
  ],
  [
    'compressed',
    rejectedWith(
      `content-encoding: gzip\r\ncontent-length: ${gzipSync(errorText).length}`,
      gzipSync(errorText),
    ),
  ],
  [
    'cacheable',
    rejectedWith(
      `cache-control: public\r\nkeep-alive: timeout=9\r\ncontent-length: ${errorText.length}`,
      errorText,
    ),
  ],
])('a server may copy the headers of a %s error response', async (_, response) => {
  const platform = await rawServer(response);
  const error = await failureOf(clientAt(platform).accounts.get('acc_1'), NotFoundError);
  // Copies the headers as the default error handlers of Express and Fastify do.
  const server = createServer((__, outgoing) => {
    for (const [name, value] of Object.entries(error.headers)) outgoing.setHeader(name, value);
    outgoing.statusCode = error.status;
    outgoing.setHeader('content-length', 4).end('Oops');
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const received = await fetch(`http://127.0.0.1:${port}`);
  expect([received.status, await received.text()]).toEqual([404, 'Oops']);
  expect(received.headers.get('cache-control')).toBeNull();
});

test('the list of attempts on an error is frozen', async () => {
  const error = await refusedWith(errorBody);
  expect(Object.isFrozen(error.attempts)).toBe(true);
});

test('an error contains no request, response, credential or object of ky', async () => {
  const failing = (request: Request): Promise<never> => {
    const cause = Object.assign(new Error(`sent ${request.headers.get('authorization') ?? ''}`), {
      request,
      config: { headers: request.headers },
    });
    return Promise.reject(new TypeError('fetch failed', { cause }));
  };
  const { payments } = clientOf(failing);
  const error = await failureOf(payments.transfers.create(newTransfer), sdk.ConnectionError);
  expect(error.cause).toMatchObject({ name: 'TypeError', message: 'fetch failed' });
  const seen = new Set<unknown>();
  const strings: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value === 'string') strings.push(value);
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    expect(value).not.toBeInstanceOf(Request);
    expect(value).not.toBeInstanceOf(Response);
    expect(value).not.toBeInstanceOf(Headers);
    for (const key of Reflect.ownKeys(value)) visit(Reflect.get(value, key));
  };
  visit(error);
  expect(seen.size).toBeGreaterThan(3);
  expect(strings.length).toBeGreaterThan(3);
  expect(strings.filter((text) => text.includes(apiKey))).toEqual([]);
  expect(error.cause).toMatchObject({ cause: { message: 'sent [redacted]' } });
  expect(inspect(error, { depth: 20 })).not.toContain(apiKey);
});

const classes = [
  'PaymentsError',
  'ConfigurationError',
  'ValidationError',
  'ApiError',
  'BadRequestError',
  'AuthenticationError',
  'PermissionDeniedError',
  'NotFoundError',
  'ConflictError',
  'UnprocessableEntityError',
  'RateLimitError',
  'ServerError',
  'ConnectionError',
  'TimeoutError',
  'AbortError',
  'InvalidResponseError',
  'PaginationError',
  'WaitError',
  'PaymentVetoedError',
] as const;
const parents: Readonly<Record<string, readonly string[]>> = {
  ApiError: classes.slice(4, 12),
  ConnectionError: ['TimeoutError'],
};
type Constructor = new (message: string, facts: object) => PaymentsError;
const make = (from: typeof sdk, name: (typeof classes)[number]): PaymentsError =>
  new (from[name] as unknown as Constructor)('x', { outcome: 'unknown', issues: [] });

test('instanceof and the guards recognise errors of another package copy', async () => {
  vi.resetModules();
  const copy = await import('payments-platform-sdk');
  expect(copy.PaymentsError).not.toBe(sdk.PaymentsError);
  for (const [from, to] of [
    [sdk, sdk],
    [sdk, copy],
    [copy, sdk],
  ] as const) {
    for (const one of classes) {
      const error = make(from, one);
      expect(error.name).toBe(one);
      expect(Object.keys(error)).not.toContain('name');
      expect(to.isPaymentsError(error)).toBe(true);
      expect(to.isApiError(error)).toBe(one === 'ApiError' || parents['ApiError']?.includes(one));
      expect(to.isOutcomeUnknown(error)).toBe(true);
      for (const other of classes) {
        const expected =
          one === other || other === 'PaymentsError' || parents[other]?.includes(one) === true;
        expect([one, other, error instanceof to[other]]).toEqual([one, other, expected]);
      }
    }
  }
});

test.each([
  undefined,
  null,
  'x',
  5,
  {},
  new Error('x'),
  { name: 'PaymentsError', outcome: 'unknown' },
])('isPaymentsError, isApiError and instanceof reject %o', (value) => {
  expect(isPaymentsError(value)).toBe(false);
  expect(isApiError(value)).toBe(false);
  expect(isOutcomeUnknown(value)).toBe(false);
  expect(value instanceof PaymentsError).toBe(false);
});

test('instanceof works for a custom class that extends ApiError', async () => {
  class LimitError extends ApiError {
    readonly limit = 5;
  }
  const { status, code, details, requestId, headers, body, retryAfterMs } =
    await refusedWith(errorBody);
  const excerpt = { status, code, details, requestId, headers, body, retryAfterMs };
  const limitError = new LimitError('x', { ...excerpt, outcome: 'rejected' });
  expect(limitError).toBeInstanceOf(LimitError);
  expect(limitError).toBeInstanceOf(ApiError);
  expect(limitError).toBeInstanceOf(PaymentsError);
  expect(limitError).not.toBeInstanceOf(NotFoundError);
  expect(limitError).toMatchObject({ name: 'ApiError', limit: 5, code: 'refused' });
  expect(await refusedWith(errorBody)).not.toBeInstanceOf(LimitError);
  vi.resetModules();
  const copy = await import('payments-platform-sdk');
  expect(limitError).toBeInstanceOf(copy.ApiError);
  expect(make(copy, 'ApiError')).not.toBeInstanceOf(LimitError);
});

test('toJSON of an error summarises the cause', async () => {
  const cause = Object.assign(new Error('deep'), { code: 'EX', secretive: {} });
  const { payments } = clientOf(() => Promise.reject(cause));
  const error = await failureOf(payments.transfers.create(newTransfer));
  expect(String(error)).toMatch(
    /^ConnectionError: The connection to api.example.com failed \(EX\)/,
  );
  expect(JSON.parse(JSON.stringify(error))).toMatchObject({
    name: 'ConnectionError',
    code: 'EX',
    cause: { name: 'Error', message: 'deep', code: 'EX' },
  });
  expect(Object.keys((error.toJSON()['cause'] ?? {}) as object)).toEqual([
    'name',
    'message',
    'code',
  ]);
});

test('error.startedAt is the time when the call started', async () => {
  vi.spyOn(Date, 'now').mockReturnValue(Date.UTC(2026, 5, 1));
  const error = await refusedWith(errorBody);
  expect(error.startedAt).toBe('2026-06-01T00:00:00.000Z');
  const { payments } = clientOf(() => respond(200));
  const refused = await failureOf(payments.instructions.list({ address: '0x' }));
  expect(refused).not.toHaveProperty('startedAt');
});

test('an error after status 429 with Retry-After has retryAfterMs', async () => {
  const { payments } = clientOf(() => respond(429, errorBody, { 'retry-after': '7' }), {
    maxRetries: 0,
  });
  const error: PaymentsError = await failureOf(payments.transfers.get('txfr_1'), PaymentsError);
  expect(error.retryAfterMs).toBe(7_000);
  expect(error.toJSON()).toMatchObject({ retryAfterMs: 7_000 });
});

test('an error has no retryAfterMs unless a response asked to wait', async () => {
  const { payments } = clientOf(() => respond(200));
  const error = await failureOf(payments.transfers.get('' as 'txfr_'), PaymentsError);
  expect(error.retryAfterMs).toBeUndefined();
  expect(error.toJSON()).not.toHaveProperty('retryAfterMs');
});

test('a RateLimitError after status 429 says when to call again', async () => {
  const { payments } = clientOf(() => respond(429, errorBody, { 'retry-after': '50' }), {
    maxRetries: 0,
    clock: new VirtualClock(),
  });
  await failureOf(payments.transfers.get('txfr_1'));
  const call = payments.transfers.create(newTransfer, { totalTimeout: 1_000 });
  expect((await failureOf(call)).message).toMatchInlineSnapshot(`
    "The platform asked this client to slow down (429), and this call may not wait so long.
    Call again in 50000 ms (retryAfterMs).
    Nothing was sent.
    Request: POST https://api.example.com/v0/transfers (transfers.create)."
  `);
});
