import dns from 'node:dns';
import {
  ApiError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  ConnectionError,
  InvalidResponseError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  ServerError,
  TimeoutError,
  UnprocessableEntityError,
  type Outcome,
  type PaymentsError,
} from 'payments-platform-sdk';
import { expect, test, vi } from 'vitest';
import { clientAt, failureOf } from '../support/clients.ts';
import { calls, kinds, type KindName } from '../support/kinds.ts';
import { responseBytes, type Exchange } from '../support/loopback.ts';
import { headersReceived, rawServer } from '../support/raw-server.ts';
import { closedPort } from '../support/closed-port.ts';
import { errorBody, html, newTransfer, transferCreated } from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { defaultTimeout } from '../../src/calls/options.ts';

/** Which calls the SDK sends again: none, the reads, or all. */
type Resend = 'nobody' | 'reads' | 'everybody';
const isRead = (kind: KindName): boolean => kind === 'safe GET' || kind === 'safe POST';
const sendsAgain = (resend: Resend, kind: KindName): boolean =>
  resend === 'everybody' || (resend === 'reads' && isRead(kind));

type ErrorClass = abstract new (...facts: never[]) => PaymentsError;

const statuses: readonly [number, ErrorClass, Outcome, Resend][] = [
  [400, BadRequestError, 'rejected', 'nobody'],
  [401, AuthenticationError, 'rejected', 'nobody'],
  [403, PermissionDeniedError, 'rejected', 'nobody'],
  [404, NotFoundError, 'rejected', 'nobody'],
  [405, ApiError, 'rejected', 'nobody'],
  [408, ApiError, 'unknown', 'reads'],
  [409, ConflictError, 'rejected', 'nobody'],
  [410, ApiError, 'rejected', 'nobody'],
  [413, ApiError, 'rejected', 'nobody'],
  [422, UnprocessableEntityError, 'rejected', 'nobody'],
  [425, ApiError, 'rejected', 'everybody'],
  [429, RateLimitError, 'rejected', 'everybody'],
  [499, ApiError, 'unknown', 'nobody'],
  [500, ServerError, 'unknown', 'reads'],
  [501, ServerError, 'rejected', 'nobody'],
  [502, ServerError, 'unknown', 'reads'],
  [503, ServerError, 'unknown', 'reads'],
  [504, ServerError, 'unknown', 'reads'],
  [505, ServerError, 'rejected', 'nobody'],
  [522, ServerError, 'unknown', 'reads'],
];

/** Every status with an Error body, a proxy page, no body and a truncated body. */
const bodies = [
  ['an Error body', (status: number) => responseBytes(status, errorBody)],
  ['a page', (status: number) => responseBytes(status, html)],
  ['no body', (status: number) => responseBytes(status)],
  [
    'half a body',
    (status: number) => responseBytes(status, '{"error":', { 'content-length': '99' }),
  ],
] as const;

/** Statuses that reject a write only with an Error body. */
const needsErrorBody = new Set([400, 401, 403, 404, 405, 409, 410, 422, 501, 505]);

const statusRows = statuses.flatMap(([status, error, outcome, resend]) =>
  kinds.map((kind) => ({ status, kind, error, outcome, resend })),
);

test.each(statusRows)(
  'a call ($kind) after status $status has outcome $outcome',
  async ({ status, kind, error: errorClass, outcome, resend }) => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    for (const [name, bytes] of bodies) {
      const server = await rawServer(bytes(status));
      const clock = new VirtualClock();
      const payments = clientAt(server, { clock });
      const error = await clock.stepTimersDuring(failureOf(calls[kind].send(payments), errorClass));
      const isOurs = name === 'an Error body' || isRead(kind) || !needsErrorBody.has(status);
      const count = sendsAgain(resend, kind) ? 3 : 1;
      expect([name, server.arrivals.length]).toEqual([name, count]);
      expect(error).toMatchObject({
        status,
        outcome: isOurs ? outcome : 'unknown',
        retryable: resend === 'everybody' || (resend === 'reads' && kind !== 'once POST'),
        attempts: Array.from({ length: count }, () => ({
          outcome: isOurs ? outcome : 'unknown',
          status,
          reason: `status ${status}`,
        })),
      });
    }
  },
);

test.each(kinds)(
  'a call (%s) is not retried after the header x-should-retry: false',
  async (kind) => {
    for (const status of [429, 503]) {
      const server = await rawServer(
        responseBytes(status, errorBody, { 'x-should-retry': 'false' }),
      );
      const payments = clientAt(server, { clock: new VirtualClock() });
      expect(await failureOf(calls[kind].send(payments), ApiError)).toMatchObject({
        status,
        retryable: false,
      });
      expect(server.arrivals).toHaveLength(1);
    }
  },
);

test('a creation is not retried after status 503 with x-should-retry: true', async () => {
  const server = await rawServer(responseBytes(503, errorBody, { 'x-should-retry': 'true' }));
  await failureOf(calls['once POST'].send(clientAt(server)), ServerError);
  expect(server.arrivals).toHaveLength(1);
});

interface Fault {
  readonly name: string;
  readonly step: (exchange: Exchange, clock: VirtualClock) => void;
  readonly error: ErrorClass;
  readonly facts: object;
  readonly resend: Resend;
  /** Whether a 2xx status had arrived, which is enough for a DELETE. */
  readonly accepted?: true;
}

const partialResponse = 'HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"id":';
const sending =
  (bytes: string | Buffer): Fault['step'] =>
  ({ reply }) => {
    reply(bytes);
  };
const disconnected = (name: string, step: Fault['step']): Fault => {
  return { name, step, error: ConnectionError, facts: {}, resend: 'reads' };
};
const truncated = (name: string, step: Fault['step']): Fault => {
  const facts = { reason: 'truncated' };
  return { name, step, error: InvalidResponseError, facts, resend: 'reads', accepted: true };
};
const unusable = (name: string, bytes: Buffer, reason: string): Fault => {
  const step = sending(bytes);
  const facts = { reason };
  return { name, step, error: InvalidResponseError, facts, resend: 'nobody', accepted: true };
};

const faults: readonly Fault[] = [
  disconnected('a reset before the headers', ({ reset }) => {
    reset();
  }),
  disconnected('a connection closed before the headers', sending('')),
  disconnected('headers that break off', sending('HTTP/1.1 200 OK\r\ncontent-le')),
  disconnected('something that is not HTTP', sending('banana\r\n\r\n')),
  {
    name: 'headers that never come',
    step: (_, clock) => {
      void clock.advance(defaultTimeout);
    },
    error: TimeoutError,
    facts: { phase: 'headers', code: 'ETIMEDOUT' },
    resend: 'reads',
  },
  {
    name: 'a body that stalls',
    step: ({ write }, clock) => {
      void headersReceived().then(() => clock.advance(defaultTimeout));
      write(partialResponse);
    },
    error: TimeoutError,
    facts: { phase: 'body' },
    resend: 'reads',
    accepted: true,
  },
  truncated('a reset in the body', ({ write, reset }) => {
    void headersReceived().then(reset);
    write(partialResponse);
  }),
  truncated('a body that is shorter than announced', sending(partialResponse)),
  truncated(
    'a chunk that breaks off',
    sending('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n40\r\n{"id":'),
  ),
  truncated(
    'a body without a length that breaks off',
    sending('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{"id":'),
  ),
  unusable('an HTML page with status 200', responseBytes(200, html), 'not_json'),
  unusable('an empty body with status 200', responseBytes(200), 'empty'),
];

const ownFetch = (request: Request, init?: RequestInit): Promise<Response> => fetch(request, init);
const faultRows = faults.flatMap((fault) =>
  kinds.flatMap((kind) => [
    { ...fault, kind, transport: 'node:http', options: {} },
    { ...fault, kind, transport: 'fetch', options: { fetch: ownFetch } },
  ]),
);

test.each(faultRows)(
  'a call ($kind) over $transport has outcome unknown after $name',
  async ({ step, error: errorClass, facts, resend, accepted, kind, options }) => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const clock = new VirtualClock();
    const server = await rawServer((exchange) => {
      step(exchange, clock);
    });
    const totalTimeout = 4 * defaultTimeout;
    const call = calls[kind].send(clientAt(server, { clock, totalTimeout, ...options }));
    if (accepted && kind === 'DELETE') {
      await call;
      expect(server.arrivals).toHaveLength(1);
      return;
    }
    const error = await failureOf(call, errorClass);
    const count = sendsAgain(resend, kind) ? 3 : 1;
    expect(server.arrivals).toHaveLength(count);
    expect(error).toMatchObject({
      ...facts,
      outcome: 'unknown',
      retryable: resend === 'reads' && kind !== 'once POST',
      attempts: Array.from({ length: count }, () => ({
        outcome: 'unknown',
        ...(accepted ? { status: 200 } : {}),
      })),
    });
    expect(clock.pending).toBe(0);
  },
);

test.each(kinds)('a call (%s) has outcome not_sent if the connection is refused', async (kind) => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  const payments = clientAt(closedPort);
  const error = await failureOf(calls[kind].send(payments), ConnectionError);
  expect(error).toMatchObject({
    code: 'ECONNREFUSED',
    outcome: 'not_sent',
    retryable: true,
    attempts: Array(3).fill({ outcome: 'not_sent', reason: 'ECONNREFUSED' }),
  });
});

type Lookup = (error: Error | null, addresses?: { address: string; family: number }[]) => void;

/** Makes `response` answer the DNS lookup of every host name. */
const namesAre = (response: (host: string, done: Lookup) => void) =>
  vi.spyOn(dns, 'lookup').mockImplementation(((host: string, _: object, done: Lookup) => {
    setImmediate(response, host, done);
  }) as typeof dns.lookup);

const nameRows = ['ENOTFOUND', 'EAI_AGAIN'].flatMap((code) =>
  kinds.map((kind) => ({ code, kind })),
);
test.each(nameRows)(
  'a call ($kind) has outcome not_sent if DNS fails with $code',
  async ({ code, kind }) => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const lookup = namesAre((hostname, done) => {
      const facts = { code, syscall: 'getaddrinfo', hostname };
      done(Object.assign(new Error(`getaddrinfo ${code} ${hostname}`), facts));
    });
    const payments = clientAt({ baseUrl: 'https://nowhere.invalid/v0' });
    const error = await failureOf(calls[kind].send(payments), ConnectionError);
    expect(error).toMatchObject({ code, outcome: 'not_sent', retryable: true });
    expect(lookup).toHaveBeenCalledTimes(3);
  },
);

test.each(kinds)('a call (%s) has outcome not_sent if all addresses refuse', async (kind) => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  namesAre((_, done) => {
    done(null, [
      { address: '127.0.0.1', family: 4 },
      { address: '127.0.0.2', family: 4 },
    ]);
  });
  const payments = clientAt({ baseUrl: `https://twice.invalid:${closedPort.port}/v0` });
  const error = await failureOf(calls[kind].send(payments), ConnectionError);
  expect(error).toMatchObject({
    code: 'ECONNREFUSED',
    outcome: 'not_sent',
    attempts: Array(3).fill({ outcome: 'not_sent', reason: 'ECONNREFUSED' }),
  });
});

test.each(kinds)(
  'a call (%s) arrives once although its first attempt was refused',
  async (kind) => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const clock = new VirtualClock();
    const { good, status, send } = calls[kind];
    const server = await rawServer(responseBytes(status, good));
    // No server listens at the first address of the host name.
    const hosts = ['127.0.0.2', '127.0.0.1'];
    namesAre((_, done) => {
      done(null, [{ address: hosts.shift() ?? '', family: 4 }]);
    });
    const waits = Promise.withResolvers<unknown>();
    const baseUrl = `http://localhost:${server.port}/v0`;
    const call = send(clientAt({ baseUrl }, { clock, hooks: { onRetry: waits.resolve } }));
    expect(await waits.promise).toMatchObject({ reason: 'ECONNREFUSED' });
    await clock.advance(125);
    expect(await call).toEqual(good);
    expect(server.arrivals).toHaveLength(1);
  },
);

test('a creation is not sent again if its retry has outcome unknown', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  const server = await rawServer(
    responseBytes(429, errorBody),
    responseBytes(502, html),
    responseBytes(201, transferCreated),
  );
  const error = await failureOf(clientAt(server).transfers.create(newTransfer), ServerError);
  expect(error).toMatchObject({
    status: 502,
    outcome: 'unknown',
    retryable: false,
    attempts: [
      { outcome: 'rejected', status: 429 },
      { outcome: 'unknown', status: 502 },
    ],
  });
  expect(server.arrivals).toHaveLength(2);
});

test('a call has outcome unknown if only its first attempt does', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  const server = await rawServer(responseBytes(502, html), responseBytes(404, errorBody));
  const error = await failureOf(clientAt(server).transfers.get('txfr_1'), NotFoundError);
  expect(error.outcome).toBe('unknown');
  expect(error.attempts.map(({ outcome }) => outcome)).toEqual(['unknown', 'rejected']);
});

test("maxRetries of a call replaces the client's", async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  for (const [client, call, arrivals] of [
    [0, undefined, 1],
    [undefined, 0, 1],
    [4, 0, 1],
    [0, 1, 2],
    [undefined, 4, 5],
    [undefined, undefined, 3],
  ] as const) {
    const server = await rawServer(responseBytes(503));
    const payments = clientAt(server, { maxRetries: client });
    await failureOf(payments.transfers.get('txfr_1', { maxRetries: call }), ServerError);
    expect([client, call, server.arrivals.length]).toEqual([client, call, arrivals]);
  }
});
