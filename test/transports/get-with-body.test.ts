import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import {
  AbortError,
  ApiError,
  ConfigurationError,
  ConnectionError,
  InvalidResponseError,
  TimeoutError,
  type PaymentsClient,
  type RequestOptions,
} from 'payments-platform-sdk';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { clientAt, failureOf, jwt, respond } from '../support/clients.ts';
import { responseBytes, type Exchange } from '../support/loopback.ts';
import { headersReceived, rawServer } from '../support/raw-server.ts';
import { closedPort } from '../support/closed-port.ts';
import { instruction, transactionNumber } from '../support/records.ts';
import { address } from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { version } from '../../src/version.ts';
import { defaultTimeout } from '../../src/calls/options.ts';

const text = 'Grüße, 5 €, 日本, 🧾';
const both = [
  {
    operation: 'instructions.list',
    target: '/instructions/all',
    sent: `{"address":"${address}","note":"${text}"}`,
    good: [instruction],
    send: (payments: PaymentsClient, options: RequestOptions = {}) =>
      payments.instructions.list({ address }, { body: { note: text }, ...options }),
  },
  {
    operation: 'transactions.list',
    target: '/transactions',
    sent: `{"address":"${address}","take":2,"note":"${text}"}`,
    good: [transactionNumber(1)],
    send: async (payments: PaymentsClient, options: RequestOptions = {}) => {
      const pager = payments.transactions.list(
        { address, take: 2 },
        { body: { note: text }, ...options },
      );
      return (await pager).data;
    },
  },
] as const;

const headers = (body: string): string[] => [
  'accept: application/json',
  `user-agent: payments-platform-sdk/${version}`,
  'cache-control: no-cache',
  'content-type: application/json',
  `authorization: Bearer ${jwt}`,
  `content-length: ${new TextEncoder().encode(body).length}`,
];

const expectedBytes = (port: number, target: string, body: string): string =>
  [
    `GET ${target} HTTP/1.1`,
    'accept-encoding: gzip, deflate, br',
    ...headers(body),
    'connection: close',
    `Host: 127.0.0.1:${port}`,
    '',
    body,
  ].join('\r\n');

const beginBody = ({ write }: Exchange): void => {
  write('HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n[');
};
const once = { maxRetries: 0 };

const transports = [
  { transport: 'node:http on Node', isNode: true, choose: () => undefined },
  { transport: 'node:http on Bun', isNode: false, choose: () => vi.stubGlobal('Bun', {}) },
] as const;

describe.each(transports)('a GET with a body over $transport', (transport) => {
  beforeEach(() => {
    transport.choose();
  });

  test.each(both)('$operation sends exactly the expected bytes', async (call) => {
    const server = await rawServer(responseBytes(200, call.good));
    expect(await call.send(clientAt(server))).toEqual(call.good);
    expect(server.connections).toHaveLength(1);
    const [connection] = server.connections;
    // Every byte of the connection: a body without a length would appear as a second request.
    expect(connection?.bytes.toString()).toBe(expectedBytes(server.port, call.target, call.sent));
    expect(server.arrivals[0]?.headers).not.toHaveProperty('transfer-encoding');
  });

  test.each(both)('$operation sends the same bytes again after status 503', async (call) => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const onRetry = vi.fn<(event: object) => void>();
    const server = await rawServer(responseBytes(503, 'Busy'), responseBytes(200, call.good));
    expect(await call.send(clientAt(server, { hooks: { onRetry } }))).toEqual(call.good);
    const bytes = server.connections.map((connection) => connection.bytes.toString());
    expect(bytes).toEqual(Array(2).fill(expectedBytes(server.port, call.target, call.sent)));
    expect(onRetry).toHaveBeenCalledExactlyOnceWith({
      operation: call.operation,
      method: 'GET',
      call: expect.any(Number) as number,
      path: call.target,
      attempt: 2,
      delayMs: 0,
      reason: 'status 503',
    });
  });

  test('each call uses a new connection, whatever the server keeps', async () => {
    const kept = responseBytes(200, [instruction], { connection: 'keep-alive' });
    const server = await rawServer(({ write }) => {
      write(kept);
    });
    const payments = clientAt(server);
    for (const call of [both[0], both[0], both[0]]) await call.send(payments);
    expect(server.arrivals.map(({ connection }) => connection)).toEqual([0, 1, 2]);
    await Promise.all([0, 1, 2].map((connection) => server.closed(connection)));
  });

  test.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
  ] as const)('the client reads the content-encoding %s', async (coding, compress) => {
    const content = compress(JSON.stringify([{ ...instruction, nickname: text }]));
    const server = await rawServer(responseBytes(200, content, { 'content-encoding': coding }));
    const [first] = await both[0].send(clientAt(server));
    expect(first).toMatchObject({ nickname: text });
  });

  test.each(['gzip', 'br', 'deflate'])(
    'a plain response that declares content-encoding %s is rejected',
    async (coding) => {
      const server = await rawServer(
        responseBytes(200, 'not compressed', { 'content-encoding': coding }),
      );
      const error = await failureOf(both[0].send(clientAt(server), once), InvalidResponseError);
      expect(error).toMatchObject({ reason: 'not_json', status: 200, outcome: 'unknown' });
    },
  );

  test('an abort before the response closes the connection', async () => {
    const server = await rawServer(() => undefined);
    const controller = new AbortController();
    const reason = new Error('changed my mind');
    const call = both[0].send(clientAt(server), { signal: controller.signal });
    await server.arrived(1);
    controller.abort(reason);
    const error = await failureOf(call, AbortError);
    expect(error.cause).toBe(reason);
    expect(error.outcome).toBe('unknown');
    await server.closed(0);
  });

  test('an abort while the body arrives closes the connection', async () => {
    const server = await rawServer(beginBody);
    const controller = new AbortController();
    const headersArrived = headersReceived();
    const call = both[0].send(clientAt(server), { signal: controller.signal });
    await headersArrived;
    controller.abort();
    const error = await failureOf(call, AbortError);
    expect(error.attempts).toMatchObject([{ status: 200, reason: 'aborted by the caller' }]);
    await server.closed(0);
  });

  test('a timeout before the headers closes the connection', async () => {
    const clock = new VirtualClock();
    const server = await rawServer(() => undefined);
    const call = both[0].send(clientAt(server, { clock, maxRetries: 0 }));
    const failed = failureOf(call, TimeoutError);
    await server.arrived(1);
    await clock.advance(defaultTimeout);
    expect(await failed).toMatchObject({ phase: 'headers', outcome: 'unknown', retryable: true });
    await server.closed(0);
    expect(clock.pending).toBe(0);
  });

  test('a timeout while the body arrives closes the connection', async () => {
    const clock = new VirtualClock();
    const server = await rawServer(beginBody);
    const headersArrived = headersReceived();
    const failed = failureOf(both[0].send(clientAt(server, { clock }), once), TimeoutError);
    await headersArrived;
    await clock.advance(defaultTimeout);
    expect(await failed).toMatchObject({ phase: 'body', outcome: 'unknown' });
    await server.closed(0);
  });

  test.each<[string, (exchange: Exchange) => void]>([
    ['a short body', ({ reply }) => reply('HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n[')],
    [
      'a chunked body that ends early',
      ({ reply }) => reply('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n[{"ac'),
    ],
    ['a body without length that ends', ({ reply }) => reply('HTTP/1.1 200 OK\r\n\r\n[{"ac')],
    [
      'gzip that ends early',
      ({ reply }) => {
        const whole = gzipSync(JSON.stringify([instruction]));
        reply(responseBytes(200, whole.subarray(0, 60), { 'content-encoding': 'gzip' }));
      },
    ],
  ])('a call is retried twice if its response is %s', async (_, step) => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const server = await rawServer(step);
    const error = await failureOf(both[0].send(clientAt(server)), InvalidResponseError);
    expect(error).toMatchObject({ reason: 'truncated', outcome: 'unknown', retryable: true });
    expect(server.arrivals).toHaveLength(3);
    const healed = await rawServer(step, responseBytes(200, [instruction]));
    expect(await both[0].send(clientAt(healed))).toEqual([instruction]);
  });

  test.each([
    ['a 101', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
    ['a response that is not HTTP', 'SSH-2.0-OpenSSH_9.9\r\n'],
  ])('%s rejects the call with a ConnectionError', async (_, bytes) => {
    const server = await rawServer(bytes);
    const error = await failureOf(both[0].send(clientAt(server), once), ConnectionError);
    expect(error.outcome).toBe('unknown');
  });

  test('the JWT is not sent to the target of a redirect', async () => {
    const elsewhere = await rawServer(responseBytes(200, [instruction]));
    for (const status of [301, 302, 303, 307, 308]) {
      const location = `${elsewhere.origin}/instructions/all`;
      const server = await rawServer(responseBytes(status, undefined, { location }));
      const error = await failureOf(both[0].send(clientAt(server)), ApiError);
      expect(error).toMatchObject({ status, outcome: 'rejected', retryable: false });
      expect(server.arrivals).toHaveLength(1);
    }
    expect(elsewhere.connections).toHaveLength(0);
  });

  test('a refused call has outcome not_sent on Node.js, unknown on Bun', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const error = await failureOf(both[0].send(clientAt(closedPort)), ConnectionError);
    // Bun may have sent the request earlier, over a connection that was closed.
    const outcome = transport.isNode ? 'not_sent' : 'unknown';
    expect(error).toMatchObject({ code: 'ECONNREFUSED', outcome, retryable: true });
    expect(error.attempts).toHaveLength(3);
  });

  test.each<[string, () => void]>([
    ['Cloudflare Workers', () => vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' })],
    ['no node:http', () => vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined)],
  ])('on %s a GET with a body is rejected without getWithBody', async (_, pretend) => {
    const server = await rawServer(responseBytes(200, [instruction]));
    const payments = clientAt(server);
    pretend();
    for (const call of both) {
      const error = await failureOf(call.send(payments), ConfigurationError);
      expect(error).toMatchObject({ operation: call.operation, outcome: 'not_sent' });
      expect(error.message).toContain('getWithBody');
    }
    expect(server.connections).toHaveLength(0);
    // The alternative in the message works there, too.
    const getWithBody = () => Promise.resolve(respond(200, [instruction]));
    const helped = clientAt(server, { getWithBody });
    expect(await both[0].send(helped)).toEqual([instruction]);
  });

  test('the option getWithBody sends the call, and option `fetch` does not', async () => {
    const server = await rawServer(responseBytes(200, [instruction]));
    const fetch = vi.fn<(request: Request) => Promise<Response>>();
    const customRequests: object[] = [];
    const payments = clientAt(server, {
      fetch,
      getWithBody: (request, body) => {
        const { method, url, headers } = request;
        customRequests.push({ method, url, body, authorization: headers.get('authorization') });
        return Promise.resolve(respond(200, [instruction]));
      },
    });
    expect(await both[0].send(payments)).toEqual([instruction]);
    expect(customRequests).toEqual([
      {
        method: 'GET',
        url: `${server.origin}/instructions/all`,
        body: both[0].sent,
        authorization: `Bearer ${jwt}`,
      },
    ]);
    expect(server.connections).toHaveLength(0);

    // With only a custom fetch the call is still sent over node:http.
    expect(await both[0].send(clientAt(server, { fetch }))).toEqual([instruction]);
    vi.stubGlobal('fetch', fetch);
    expect(await both[0].send(clientAt(server))).toEqual([instruction]);
    expect(server.arrivals).toHaveLength(2);
    expect(fetch).not.toHaveBeenCalled();
  });

  test('a rejection of getWithBody has outcome unknown, even a refused connection', async () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), {
      code: 'ECONNREFUSED',
      syscall: 'connect',
    });
    const server = await rawServer();
    const payments = clientAt(server, {
      maxRetries: 0,
      getWithBody: () => Promise.reject(new TypeError('fetch failed', { cause: refused })),
    });
    const error = await failureOf(both[0].send(payments), ConnectionError);
    expect(error).toMatchObject({ code: 'ECONNREFUSED', outcome: 'unknown' });
  });
});
