import { expect, test } from 'vitest';
import {
  AbortError,
  ConnectionError,
  PaymentsError,
  RateLimitError,
  TimeoutError,
  type ClientOptions,
} from 'payments-platform-sdk';
import { clientAt, clientOf, failureOf } from '../support/clients.ts';
import type { Step } from '../support/loopback.ts';
import { rawServer } from '../support/raw-server.ts';
import { closedPort } from '../support/closed-port.ts';
import { address, newTransfer } from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { apiKey, jwt, leaksOf } from './scan.ts';

const credentials = { apiKey, jwt, maxRetries: 0 };

test('the error of a refused connection shows no credential over fetch and node:http', async () => {
  const payments = clientAt(closedPort, credentials);
  for (const call of [
    () => payments.transfers.create(newTransfer),
    () => payments.transactions.list({ address }),
  ]) {
    const error = await failureOf(call(), ConnectionError);
    expect(error.code).toBe('ECONNREFUSED');
    expect(leaksOf(error)).toEqual([]);
  }
});

const broken: readonly (readonly [string, Step])[] = [
  ['resets', (exchange) => exchange.reset()],
  ['closes', (exchange) => exchange.reply('')],
  // Parsers keep the unreadable part on their errors.
  ['speaks no HTTP', `${apiKey} ${jwt}\r\n\r\n`],
  ['sends a status line of its own', `HTTP/1.1 ${apiKey} ${jwt}\r\n\r\n`],
  ['sends a header without a name', `HTTP/1.1 200 OK\r\n: ${apiKey}\r\n${jwt}\r\n\r\n`],
  ['sends an impossible length', `HTTP/1.1 200 OK\r\ncontent-length: ${apiKey}\r\n\r\n`],
];

test.for(broken)('no error shows a credential when a server %s', async ([, step]) => {
  const payments = clientAt(await rawServer(step), credentials);
  for (const call of [
    () => payments.transfers.create(newTransfer),
    () => payments.instructions.list({ address }),
  ]) {
    expect(leaksOf(await failureOf(call(), ConnectionError))).toEqual([]);
  }
});

const both = `${apiKey} and ${jwt}`;
const request = new Request('https://api.example.com/v0', {
  headers: { authorization: `Bearer ${apiKey}`, 'x-jwt': jwt },
});
const config = { headers: { Authorization: `Bearer ${apiKey}` }, tokens: [jwt] };

class Talkative extends Error {
  readonly request = request;
  override toString(): string {
    return both;
  }
  toJSON(): object {
    return config;
  }
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return both;
  }
}

const withAll = Object.assign(new Error(both, { cause: new Error(both) }), {
  name: `Error of ${apiKey}`,
  code: `E_${apiKey}`,
  syscall: jwt,
  stack: `Error: ${both}\n    at ${apiKey}:1:1`,
  errors: [new Error(both), new AggregateError([new Error(jwt)], apiKey), both],
  request,
  config,
  [apiKey]: jwt,
  [Symbol(jwt)]: apiKey,
});

/** Values that a custom fetch may throw. */
const thrown: readonly (readonly [string, unknown])[] = [
  ['an error that says it', new TypeError(`fetch failed for Bearer ${both}`)],
  ['an error that says it in a URL', new Error(encodeURIComponent(both))],
  ['an error that says it in JSON', new Error(JSON.stringify(config).replaceAll('/', '\\/'))],
  ['an error that says it in HTML', new Error(both.replaceAll('&', '&amp;'))],
  ['an error that holds the Request', Object.assign(new Error('failed'), { request, config })],
  ['an error of its own kind', new Talkative('failed')],
  ['an error with it in every field', withAll],
  ['an error that it caused', new Error('a', { cause: new Error('b', { cause: withAll }) })],
  ['an error whose cause is a text', new Error('failed', { cause: both })],
  ['an error whose cause is the Request', new Error('failed', { cause: request })],
  ['an error whose cause is an object', new Error('failed', { cause: { message: both, config } })],
  ['several errors', new AggregateError([withAll, both, request], both)],
  ['a DOMException', new DOMException(both, 'NetworkError')],
  ['an error whose message is no text', Object.assign(new Error('x'), { message: { both } })],
  ['an error whose name is no text', Object.assign(new Error('x'), { name: [both] })],
  ['an error whose stack is no text', Object.assign(new Error('x'), { stack: { both } })],
  ['an error whose code is no text', Object.assign(new Error('x'), { code: { both } })],
  ['an error that is its own cause', ownCause()],
  ['an error among its own errors', ownMember()],
  ['a text', both],
  ['an object', { message: both, code: apiKey, cause: withAll }],
  ['the Request', request],
  ['nothing', undefined],
];

test.for(thrown)('no error shows a credential when a custom fetch throws %s', async ([, value]) => {
  const fail = (): Promise<Response> => Promise.reject(value);
  const { payments } = clientOf(fail, credentials);
  for (const call of [
    () => payments.transfers.create(newTransfer),
    () => payments.transfers.list(),
    () => payments.transactions.list({ address }),
  ]) {
    expect(leaksOf(await failureOf(call(), ConnectionError))).toEqual([]);
  }
});

const returned: readonly (readonly [string, unknown])[] = [
  ['nothing', undefined],
  ['a text', both],
  ['the Request', request],
  ['an object', { status: 200, ok: true, headers: config, body: both }],
  ['an answer that was read', readAlready()],
];

test.for(returned)(
  'no error shows a credential when a custom fetch returns %s',
  async ([, value]) => {
    const { payments } = clientOf(() => value as Response, credentials);
    expect(leaksOf(await failureOf(payments.transfers.get('txfr_1'), PaymentsError))).toEqual([]);
  },
);

test('no error shows a credential when a body fails with an error that contains it', async () => {
  const body = new ReadableStream({
    pull: (controller) => {
      controller.error(withAll);
    },
  });
  for (const status of [200, 400]) {
    const { payments } = clientOf(() => new Response(body, { status }), credentials);
    expect(leaksOf(await failureOf(payments.transfers.get('txfr_1')))).toEqual([]);
  }
});

const hanging = (): Promise<Response> => new Promise(() => undefined);

const timeouts: readonly (readonly [TimeoutError['phase'], ClientOptions])[] = [
  ['headers', { timeout: 50 }],
  ['total', { totalTimeout: 50 }],
];

test.for(timeouts)(
  'the error of a call without a response shows no credential: %s',
  async ([phase, options]) => {
    const clock = new VirtualClock();
    const { payments } = clientOf(hanging, { ...credentials, ...options, clock });
    const error = await clock.runTimersDuring(
      failureOf(payments.transfers.create(newTransfer), TimeoutError),
    );
    expect(error.phase).toBe(phase);
    expect(leaksOf(error)).toEqual([]);
  },
);

test('the error of a call that an earlier 429 holds back shows no credential', async () => {
  const clock = new VirtualClock();
  const { payments } = clientOf(
    () => new Response(both, { status: 429, headers: { 'retry-after': '50' } }),
    { ...credentials, totalTimeout: 1_000, clock },
  );
  await failureOf(payments.transfers.get('txfr_1'));
  const error = await clock.runTimersDuring(
    failureOf(payments.transfers.get('txfr_1'), RateLimitError),
  );
  expect(error.outcome).toBe('not_sent');
  expect(leaksOf(error)).toEqual([]);
});

test('the error of an aborted call shows no credential', async () => {
  // The reason is passed on unchanged, so no secret is planted there.
  const controller = new AbortController();
  const { payments } = clientOf(() => {
    controller.abort(new Error('enough'));
    return Promise.reject(withAll);
  }, credentials);
  const call = payments.transfers.get('txfr_1', { signal: controller.signal });
  expect(leaksOf(await failureOf(call, AbortError))).toEqual([]);
});

test('no error shows a credential from the error of an aborted fetch', async () => {
  const clock = new VirtualClock();
  const { payments } = clientOf(
    (outgoing) =>
      new Promise((_, reject) => {
        outgoing.signal.addEventListener('abort', () => {
          reject(withAll);
        });
      }),
    { ...credentials, timeout: 50, clock },
  );
  const error = await clock.runTimersDuring(
    failureOf(payments.transfers.get('txfr_1'), TimeoutError),
  );
  expect(leaksOf(error)).toEqual([]);
});

function ownCause(): Error {
  const error = new Error(both);
  error.cause = error;
  return error;
}

function ownMember(): Error {
  const error = new AggregateError([], both);
  error.errors.push(error, error);
  return error;
}

function readAlready(): Response {
  const response = new Response(both);
  void response.text();
  return response;
}
