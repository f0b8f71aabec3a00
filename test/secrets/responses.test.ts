import { expect, test } from 'vitest';
import {
  ApiError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  InvalidResponseError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  ServerError,
  TimeoutError,
  UnprocessableEntityError,
  type PaymentsClient,
} from 'payments-platform-sdk';
import { clientAt, clientOf, failureOf } from '../support/clients.ts';
import { rawServer } from '../support/raw-server.ts';
import { address, newTransfer } from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { whichFail } from '../support/which-fail.ts';
import { apiKey, jwt, leaksOf } from './scan.ts';
import { spellings } from './spellings.ts';
import type { ResponseSchema } from '../../src/calls/raw-call.ts';

const credentials = { apiKey, jwt, maxRetries: 0 };

/** A call for each credential, and the other credential: a proxy may echo either. */
const apis: readonly (readonly [string, (payments: PaymentsClient) => PromiseLike<unknown>])[] = [
  ['versioned', (payments) => payments.transfers.get('txfr_1')],
  ['root', (payments) => payments.transactions.list({ address })],
];

/** Each part of a response that an error shows. */
const places: readonly (readonly [string, (text: string) => Response])[] = [
  ['the field error', (text) => rejection({ error: `The key ${text} is not known.` })],
  ['the field code', (text) => rejection({ error: 'No.', code: text })],
  ['the field details', (text) => rejection({ error: 'No.', details: `saw ${text}` })],
  ['a value deep in details', (text) => rejection({ details: { a: [{ b: ['x', { c: text }] }] } })],
  ['a key of details', (text) => rejection({ details: { [text]: 1 } })],
  ['a key deep in details', (text) => rejection({ details: [{ a: { [`${text}!`]: [text] } }] })],
  [
    'JSON inside of details',
    (text) => rejection({ details: JSON.stringify({ headers: { authorization: text } }) }),
  ],
  ['JSON, no type', (text) => page(400, `{"error":"${text}","details":{"${text}":["${text}"]}}`)],
  [
    'an HTML page',
    (text) => page(502, `<html><body><h1>Bad gateway</h1><p>${text}</p></body></html>`),
  ],
  ['an attribute of an HTML page', (text) => page(502, `<a href="/retry?key=${text}">Retry</a>`)],
  ['a body of plain text', (text) => page(500, text)],
  ['a header', (text) => page(400, '{}', { 'x-echo': `a, ${text}; q=1` })],
  ['the header x-request-id', (text) => page(503, '', { 'x-request-id': text })],
  ['the header cf-ray', (text) => page(503, '', { 'cf-ray': text })],
  ['a redirect', (text) => page(302, '', { location: `https://elsewhere.example/?key=${text}` })],
];

test.for(places)(
  'no error shows a secret in %s of a response, however encoded',
  async ([, response]) => {
    const failing = await whichFail(spellings, async (spell) => {
      for (const [, call] of apis) {
        for (const secret of [apiKey, jwt]) {
          const { payments } = clientOf(() => response(spell(secret)), credentials);
          expect(leaksOf(await failureOf(call(payments), ApiError))).toEqual([]);
        }
      }
    });
    expect(failing).toEqual([]);
  },
);

/** Every visible character but the quote, around the parts that the scanner searches. */
const awkward = `${apiKey}!#$%'()*,-.:;<>?@[]^_\`{|}~Tk1Wo0Qi\\Hd6Ys3Lp$&Gf9Cu5Ae`;

test.for(places)('no error shows an API key of unusual characters in %s', async ([, response]) => {
  const failing = await whichFail(spellings, async (spell) => {
    const respond = (): Response => response(spell(awkward));
    const { payments } = clientOf(respond, { ...credentials, apiKey: awkward });
    expect(leaksOf(await failureOf(payments.transfers.get('txfr_1'), ApiError))).toEqual([]);
  });
  expect(failing).toEqual([]);
});

const classes = [
  [400, BadRequestError],
  [401, AuthenticationError],
  [403, PermissionDeniedError],
  [404, NotFoundError],
  [409, ConflictError],
  [418, ApiError],
  [422, UnprocessableEntityError],
  [429, RateLimitError],
  [500, ServerError],
  [503, ServerError],
] as const;

test.for(classes)(
  'the error for status %d shows no credential of an echoed request',
  async ([status, kind]) => {
    for (const secret of [apiKey, jwt]) {
      const { payments, requests } = clientOf(() => echo(status, secret), credentials);
      const calls = [
        payments.transfers.create(newTransfer),
        payments.transfers.get('txfr_1'),
        payments.counterparties.delete('cpty_1'),
        payments.instructions.list({ address }),
      ];
      // Concurrent calls, so that the pause after a 429 does not hold them back.
      const errors = await Promise.all(calls.map((call) => failureOf(call, kind)));
      expect(requests).toHaveLength(calls.length);
      expect(errors.flatMap((error) => leaksOf(error))).toEqual([]);
    }
  },
);

test('error.attempts shows no credential from a response', async () => {
  const clock = new VirtualClock();
  const { payments } = clientOf(() => echo(503, apiKey), { apiKey, jwt, clock, maxRetries: 2 });
  const error = await clock.runTimersDuring(
    failureOf(payments.transfers.get('txfr_1'), ServerError),
  );
  expect(error.attempts).toHaveLength(3);
  expect(leaksOf(error)).toEqual([]);
});

test('an error redacts a secret that arrives in two chunks', async () => {
  const [first, second] = [apiKey.slice(0, 20), apiKey.slice(20)];
  const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
  const server = await rawServer((exchange) => {
    const head = `HTTP/1.1 400 ${apiKey}\r\nx-request-id: ${apiKey}\r\nset-cookie: k=${apiKey}`;
    exchange.write(`${head}\r\ntransfer-encoding: chunked\r\n\r\n${chunk(`{"error":"${first}`)}`);
    // The second half is sent separately, after the first.
    setImmediate(() => {
      exchange.reply(`${chunk(`${second}"}`)}0\r\n\r\n`);
    });
  });
  const error = await failureOf(
    clientAt(server, credentials).transfers.get('txfr_1'),
    BadRequestError,
  );
  expect(error.body).toContain('redacted');
  expect(leaksOf(error)).toEqual([]);
});

test('the error of a GET with a body redacts its credential', async () => {
  const server = await rawServer(
    `HTTP/1.1 400 Bad\r\nconnection: close\r\nx-request-id: ${jwt}\r\n\r\n{"error":"${jwt}","details":"${apiKey}"}`,
  );
  const { instructions } = clientAt(server, credentials);
  const error = await failureOf(instructions.list({ address }), BadRequestError);
  expect(leaksOf(error)).toEqual([]);
});

test('an error with a cut body shows no part of a secret', async () => {
  for (const padding of [2_000, 2_020, 2_040, 2_047, 4_080]) {
    const text = `${'x '.repeat(padding / 2)}${apiKey} ${jwt}`;
    const { payments } = clientOf(
      () => Response.json({ error: text, details: [text] }, { status: 400 }),
      credentials,
    );
    const error = await failureOf(payments.transfers.get('txfr_1'), BadRequestError);
    expect(leaksOf(error)).toEqual([]);
  }
});

const unusable: readonly (readonly [string, string, () => Response])[] = [
  ['not JSON', 'not_json', () => page(200, `<p>${apiKey} and ${jwt}</p>`)],
  ['cut JSON', 'truncated', () => page(200, `{"id":"txfr_1","a":"${apiKey}","b":"${jwt}`)],
  ['JSON cut within the API key', 'truncated', () => page(200, `{"id":"${apiKey.slice(0, -4)}`)],
  ['empty', 'empty', () => page(200, '', { 'x-request-id': apiKey, 'request-id': jwt })],
  ['an odd object', 'shape', () => Response.json({ id: 7, a: apiKey, [jwt]: [apiKey] })],
  ['an array instead of an object', 'shape', () => Response.json([apiKey, jwt])],
  ['deep JSON', 'too_large', () => page(200, `${'['.repeat(80)}"${apiKey}"${']'.repeat(80)}`)],
  ['not UTF-8', 'not_json', () => new Response(Buffer.from(`\xFF${apiKey}${jwt}`, 'latin1'))],
  ['escaped slashes', 'shape', () => page(200, `{"a":"${apiKey.replaceAll('/', '\\/')}"}`)],
];

test.for(unusable)(
  'the error for a success response that is %s shows no secret',
  async ([, reason, response]) => {
    const { payments } = clientOf(response, credentials);
    for (const call of [
      () => payments.transfers.get('txfr_1'),
      () => payments.transfers.list(),
      () => payments.transactions.list({ address }),
    ]) {
      const error = await failureOf(call(), InvalidResponseError);
      expect(error.reason).toBe(reason);
      expect(leaksOf(error)).toEqual([]);
    }
  },
);

test('the error for a response 201 without JSON shows no secret', async () => {
  const { payments } = clientOf(() => page(201, `created ${apiKey} ${jwt}`), credentials);
  const error = await failureOf(payments.transfers.create(newTransfer), InvalidResponseError);
  expect(leaksOf(error)).toEqual([]);
});

test('the error for a too large body shows no secret', async () => {
  const block = new TextEncoder().encode(`"${apiKey}",`.repeat(20_000));
  const { payments } = clientOf(
    () =>
      new Response(
        new ReadableStream({
          pull: (controller) => {
            controller.enqueue(block);
          },
        }),
      ),
    credentials,
  );
  const error = await failureOf(payments.transfers.get('txfr_1'), InvalidResponseError);
  expect(error.reason).toBe('too_large');
  expect(leaksOf(error)).toEqual([]);
});

/** Credentials with long patterns for all their spellings. */
const backslashes = `tok${'\\'.repeat(6)}x`;
const slashes = `${'\\/'.repeat(9)}x`;
const percents = `${'%25'.repeat(20)}x`;

const tedious: readonly (readonly [string, string])[] = [
  ...['eyJ-', '\\', 'sk_', 'Bearer ', '&amp;', '%25', 'eyJ', '%32%35', '&#0', '\\u{0', '\0', '\n']
    .concat(apiKey.slice(0, -1))
    .map((text) => [text, jwt] as const),
  [`tok${'\\'.repeat(2_000)}`, backslashes],
  ['tok\\\\\\\\', backslashes],
  [`${'\\'.repeat(20)}/`, slashes],
  ['%25', percents],
  ['a', 'a'.repeat(8_192)],
];

test.for(tedious)(
  'redaction of a repetitive body takes linear time: %s',
  async ([text, otherCredential]) => {
    const { payments } = clientOf(() => page(400, text.repeat(2 ** 17 / text.length)), {
      ...credentials,
      jwt: otherCredential,
    });
    const startedAt = performance.now();
    await failureOf(payments.transfers.get('txfr_1'), BadRequestError);
    // Linear time takes milliseconds, quadratic time takes seconds.
    expect(performance.now() - startedAt).toBeLessThan(1_500);
  },
);

/** A custom schema that quotes its input, as many do. */
const quoting: ResponseSchema<unknown> = {
  '~standard': {
    version: 1,
    vendor: 'canary',
    validate: (value) => {
      const seen = value as Record<string, unknown>;
      return {
        issues: Object.keys(seen).map((key) => ({
          message: `unexpected ${JSON.stringify(seen[key])}`,
          path: ['data', key],
        })),
      };
    },
  },
};

test("an error shows no secret that a caller's schema quotes", async () => {
  const { payments } = clientOf(() => Response.json({ [apiKey]: jwt, a: apiKey }), credentials);
  const call = payments.request({
    method: 'GET',
    path: '/echo',
    api: 'versioned',
    schema: quoting,
  });
  const error = await failureOf(call, InvalidResponseError);
  expect(error.issues).toHaveLength(2);
  expect(leaksOf(error)).toEqual([]);
});

test('the error for a stalled body does not show its secret', async () => {
  const clock = new VirtualClock();
  const { payments } = clientOf(
    () =>
      new Response(
        new ReadableStream({
          start: (controller) => {
            controller.enqueue(new TextEncoder().encode(`{"a":"${apiKey}`));
          },
        }),
        { headers: { 'x-request-id': apiKey } },
      ),
    { ...credentials, clock },
  );
  const error = await clock.runTimersDuring(
    failureOf(payments.transfers.get('txfr_1'), TimeoutError),
  );
  expect(error.phase).toBe('body');
  expect(leaksOf(error)).toEqual([]);
});

const keyInUrl = 'sk_test_4242424242';
test.each([
  ['host', `https://${keyInUrl}.example.com/v0`],
  ['path', `https://api.example.com/${keyInUrl}/v0`],
])("an error redacts an API key in the base URL's %s", async (_, baseUrl) => {
  for (const status of [302, 400, 502]) {
    const options = { baseUrl, apiKey: keyInUrl, maxRetries: 0 };
    const { payments } = clientOf(() => page(status, 'no'), options);
    const error = await failureOf(payments.transfers.get('txfr_1'), ApiError);
    expect(error.message).not.toContain(keyInUrl);
    expect(error.message).toContain('[redacted]');
  }
});

function rejection(body: object): Response {
  return Response.json(body, { status: 400 });
}

function page(status: number, text: string, headers: Record<string, string> = {}): Response {
  return new Response(text, { status, headers });
}

/** A debug response that echoes the whole request. */
function echo(status: number, secret: string): Response {
  return Response.json(
    {
      error: `Bearer ${secret} was refused`,
      code: `refused_${secret}`,
      details: { authorization: [`Bearer ${secret}`], [secret]: { [secret]: secret } },
    },
    {
      status,
      statusText: secret,
      headers: { 'x-request-id': `req-${secret}`, 'x-authorization': `Bearer ${secret}` },
    },
  );
}
