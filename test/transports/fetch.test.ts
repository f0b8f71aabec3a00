import { Agent as HttpAgent } from 'node:http';
import { Agent } from 'node:https';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { deflateSync, gzipSync } from 'node:zlib';
import {
  AbortError,
  ApiError,
  BadRequestError,
  ConfigurationError,
  ConnectionError,
  PaymentsClient,
  RateLimitError,
  ServerError,
  type ClientOptions,
  type PaymentsError,
} from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { expect, test, vi } from 'vitest';
import { apiKey, clientAt, clientOf, failureOf, respond } from '../support/clients.ts';
import { calls, kinds } from '../support/kinds.ts';
import { responseBytes } from '../support/loopback.ts';
import { rawServer } from '../support/raw-server.ts';
import { closedPort } from '../support/closed-port.ts';
import {
  createdNumber,
  errorBody,
  newTransfer,
  page,
  transfer,
  transferCreated,
} from '../support/values.ts';
import { version } from '../../src/version.ts';

const baseUrl = 'https://api.example.com/v0';
const transports = [
  {
    way: 'node:http',
    options: {},
    lines: (host: string, body: readonly string[]) => [
      'accept-encoding: gzip, deflate, br',
      'accept: application/json',
      `user-agent: payments-platform-sdk/${version}`,
      ...(body.length === 0 ? ['cache-control: no-cache'] : []),
      ...body.slice(0, 1),
      `authorization: Bearer ${apiKey}`,
      ...body.slice(1),
      `Host: ${host}`,
      'Connection: keep-alive',
    ],
  },
  {
    way: 'fetch',
    options: { fetch: (request: Request, init?: RequestInit) => fetch(request, init) },
    lines: (host: string, body: readonly string[]) => [
      `host: ${host}`,
      'connection: keep-alive',
      'accept: application/json',
      `user-agent: payments-platform-sdk/${version}`,
      ...(body.length === 0 ? ['cache-control: no-cache'] : []),
      ...body.slice(0, 1),
      `authorization: Bearer ${apiKey}`,
      'accept-language: *',
      'sec-fetch-mode: cors',
      'pragma: no-cache',
      ...(body.length === 0 ? [] : ['cache-control: no-cache']),
      'accept-encoding: gzip, deflate',
      ...body.slice(1),
    ],
  },
];

test.each(transports)('a POST over $way sends exactly the expected bytes', async (way) => {
  const server = await rawServer(responseBytes(201, transferCreated));
  const description = 'Grüße, 5 €, 🧾';
  await clientAt(server, way.options).transfers.create({ ...newTransfer, description });
  const body = `{"sourceAccountId":"acc_1","amount":"12.50","destinationAccountId":"acc_2","description":"${description}"}`;
  expect(server.connections.map(({ bytes }) => bytes.toString())).toEqual([
    [
      'POST /v0/transfers HTTP/1.1',
      ...way.lines(`127.0.0.1:${server.port}`, [
        'content-type: application/json',
        `content-length: ${new TextEncoder().encode(body).length}`,
      ]),
      '',
      body,
    ].join('\r\n'),
  ]);
});

test.each(transports)('a GET over $way sends exactly the expected bytes', async (way) => {
  const server = await rawServer(
    responseBytes(200, { data: [], hasMore: false, nextCursor: null }),
  );
  await clientAt(server, way.options).transfers.list({
    accountId: 'acc_1',
    limit: 7,
    cursor: 'a b&c=d/é',
  });
  expect(server.connections.map(({ bytes }) => bytes.toString())).toEqual([
    [
      'GET /v0/transfers?cursor=a+b%26c%3Dd%2F%C3%A9&limit=7&accountId=acc_1 HTTP/1.1',
      ...way.lines(`127.0.0.1:${server.port}`, []),
      '',
      '',
    ].join('\r\n'),
  ]);
});

test('the option `fetch` receives the whole request and alone sends it', async () => {
  const server = await rawServer(responseBytes(500));
  const stub = vi.fn<typeof fetch>();
  vi.stubGlobal('fetch', stub);
  const seen: unknown[] = [];
  const payments = clientAt(server, {
    fetch: async (request, init) => {
      const { method, url, headers, redirect } = request;
      seen.push({ method, url, redirect, body: await request.text() });
      expect(headers.get('authorization')).toBe(`Bearer ${apiKey}`);
      expect(headers.get('content-type')).toBe('application/json');
      // A signal inside a Request can be garbage-collected; a signal next to it cannot.
      expect(init?.signal).toBeInstanceOf(AbortSignal);
      expect(init?.cache).toBe('no-store');
      return respond(201, transferCreated);
    },
  });
  expect(await payments.transfers.create(newTransfer)).toEqual(transferCreated);
  expect(seen).toEqual([
    {
      method: 'POST',
      url: `${server.baseUrl}/transfers`,
      redirect: 'manual',
      body: '{"sourceAccountId":"acc_1","amount":"12.50","destinationAccountId":"acc_2"}',
    },
  ]);
  expect(stub).not.toHaveBeenCalled();
  expect(server.connections).toHaveLength(0);
});

/** Fetches of other libraries, which take a Request of the runtime for a URL. */
const foreignFetches: Readonly<
  Record<string, (input: URL, init?: RequestInit) => Promise<Response>>
> = {
  // As undici does, which converts what is no Request of its own to a string.
  'converts its input to a string': (input, init) => fetch(input.toString(), init),
  // As make-fetch-happen does.
  'copies the options': (input, init) => fetch(input.toString(), { ...init }),
  // As node-fetch and minipass-fetch do.
  'parses its input': (input, { method, headers, body, redirect, signal } = {}) =>
    fetch(new URL(input), {
      ...(method !== undefined && { method }),
      ...(headers !== undefined && { headers: [...new Headers(headers)] }),
      ...(body && { body }),
      ...(redirect !== undefined && { redirect }),
      ...(signal && { signal }),
    }),
};

test.each(Object.entries(foreignFetches))(
  'every call works over a fetch that %s',
  async (_, foreign) => {
    for (const kind of kinds) {
      const server = await rawServer(responseBytes(422, errorBody));
      const error = await failureOf(
        calls[kind].send(clientAt(server, { fetch: foreign as unknown as typeof fetch })),
        ApiError,
      );
      const own = await rawServer(responseBytes(422, errorBody));
      await failureOf(calls[kind].send(clientAt(own, { fetch: (...sent) => fetch(...sent) })));
      expect([kind, error.status, error.outcome]).toEqual([kind, 422, 'rejected']);
      const read = ({ arrivals }: typeof server) =>
        arrivals.map(({ method, target, headers, body }) => ({
          sent: [method, target, body],
          headers: [headers['authorization'], headers['content-type'], headers['content-length']],
        }));
      expect(read(server)).toEqual(read(own));
    }
  },
);

test.each<[string, typeof fetch]>([
  ['the same arguments', (...sent) => fetch(...sent)],
  ['a copy of the options', (input, init) => fetch(input, { ...init })],
  ['its URL', (input, init) => fetch((input as Request).url, init)],
  ['a new Request', (input, init) => fetch(new Request((input as Request).clone(), init))],
])('a custom fetch that retries with %s still sends a write once', async (_, send) => {
  const step = (exchange: { reset(): void }) => {
    exchange.reset();
  };
  const server = await rawServer(step, step, step);
  const again: typeof fetch = (...sent) =>
    send(...sent).catch(() => send(...sent).catch(() => send(...sent)));
  const error = await failureOf(clientAt(server, { fetch: again }).transfers.create(newTransfer));
  expect(error.outcome).toBe('unknown');
  expect(server.arrivals).toHaveLength(1);
});

test('a header that the option `fetch` adds is sent', async () => {
  const server = await rawServer(responseBytes(200, transfer));
  const options: ClientOptions = {
    fetch: (request, init) => {
      request.headers.set('x-trace', 'T1');
      return fetch(request, init);
    },
  };
  await clientAt(server, options).transfers.get('txfr_1');
  expect(server.connections[0]?.bytes.toString()).toContain('x-trace: T1');
});

/** Makes this process look like one of a runtime that is not known. */
const leaveNode = () => vi.stubGlobal('process', { env: {} });

test('on an unknown runtime the client uses a fetch installed later', async () => {
  const server = await rawServer(responseBytes(500));
  const payments = clientAt(server);
  leaveNode();
  const stub = vi.fn<typeof fetch>(() => Promise.resolve(respond(200, transfer)));
  vi.stubGlobal('fetch', stub);
  expect(await payments.transfers.get('txfr_1')).toEqual(transfer);
  expect(stub).toHaveBeenCalledTimes(1);
  expect(server.connections).toHaveLength(0);
});

test('on Node.js 22.0 to 22.2 calls without option `fetch` are rejected', async () => {
  const stub = vi.fn<typeof fetch>(() => Promise.resolve(respond(201, transfer)));
  vi.stubGlobal('fetch', stub);
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never);
  const options = { baseUrl, apiKey, jwt: 'a.b.c', journal: memoryJournal() };
  const payments = new PaymentsClient(options);
  const input = { ...newTransfer, description: 'fee-0017' };
  for (const call of [
    () => payments.transfers.create(newTransfer),
    () => payments.transfers.createOnce(input),
    () => payments.transfers.list().toArray({ max: 1 }),
    () => payments.instructions.list({ address: '0x1' }),
    () => payments.withOptions({ agent: new Agent() }).accounts.get('acc_1'),
  ]) {
    const error = await failureOf(call(), ConfigurationError);
    expect(error.outcome).toBe('not_sent');
    expect(error.message).toContain('Use Node.js 22.3 or later');
  }
  expect(stub).not.toHaveBeenCalled();
  expect(await payments.withOptions({ fetch: stub }).transfers.create(newTransfer)).toEqual(
    transfer,
  );
});

test("a read and a batch work in Next.js's edge runtime", async () => {
  const unsupported = (): never => {
    throw new Error('A Node.js API is used which is not supported in the Edge Runtime.');
  };
  vi.stubGlobal('process', { env: {}, getBuiltinModule: unsupported, on: unsupported });
  vi.stubGlobal('fetch', () => Promise.resolve(respond(200, transfer)));
  // Modules of Node are also looked up while the SDK is loaded.
  vi.resetModules();
  const sdk = await import('payments-platform-sdk');
  const options = { baseUrl, apiKey, journal: memoryJournal() };
  const payments = new sdk.PaymentsClient(options);
  expect(await payments.transfers.get('txfr_1')).toEqual(transfer);
  expect((await payments.transfers.createAllOnce([])).counts.total).toBe(0);
});

const refused = (): Promise<never> => {
  const cause = Object.assign(new Error('connect ECONNREFUSED'), {
    code: 'ECONNREFUSED',
    syscall: 'connect',
  });
  return Promise.reject(new TypeError('fetch failed', { cause }));
};

test.each(['option', 'global'])(
  'a refused creation over %s fetch has outcome unknown',
  async (how) => {
    const send = vi.fn<typeof fetch>().mockImplementation(refused);
    if (how === 'global') {
      leaveNode();
      vi.stubGlobal('fetch', send);
    }
    const option = how === 'option' ? { fetch: send } : {};
    const payments = new PaymentsClient({ baseUrl, apiKey, ...option });
    const error = await failureOf(payments.transfers.create(newTransfer), ConnectionError);
    // Such a fetch may have sent the request twice, and report only the second attempt.
    expect(error).toMatchObject({ code: 'ECONNREFUSED', outcome: 'unknown', retryable: false });
    expect(send).toHaveBeenCalledTimes(1);
  },
);

test.each<[string, () => Promise<Response>]>([
  ['rejects with undefined', () => Promise.reject(undefined as unknown as Error)],
  ['rejects with a string', () => Promise.reject('no' as unknown as Error)],
  [
    'rejects with an error whose fields have the wrong types',
    () =>
      Promise.reject(
        Object.assign(new Error(), { message: { no: 1 }, stack: ['no'], name: 7, code: 404 }),
      ),
  ],
  ['resolves to undefined', () => Promise.resolve(undefined as unknown as Response)],
  [
    'throws at once',
    () => {
      throw new Error('no');
    },
  ],
])('a creation over a fetch that %s rejects with a ConnectionError', async (_, fetch) => {
  const { payments } = clientOf(fetch);
  const error = await failureOf(payments.transfers.create(newTransfer), ConnectionError);
  expect(error).toMatchObject({ outcome: 'unknown', attempts: [{ outcome: 'unknown' }] });
});

test.each(transports)('the client does not follow a redirect over $way', async ({ options }) => {
  const elsewhere = await rawServer(responseBytes(200, transfer));
  for (const kind of kinds) {
    for (const status of [301, 302, 303, 307, 308]) {
      const location = `${elsewhere.origin}/v0/here`;
      const server = await rawServer(responseBytes(status, undefined, { location }));
      const error = await failureOf(calls[kind].send(clientAt(server, options)), ApiError);
      const write = kind !== 'safe GET' && kind !== 'safe POST';
      const outcome = write ? 'unknown' : 'rejected';
      expect([kind, error.status, error.outcome]).toEqual([kind, status, outcome]);
      expect(error.retryable).toBe(false);
      expect(error.headers['location']).toBe(location);
      expect(server.arrivals).toHaveLength(1);
    }
  }
  expect(elsewhere.connections).toHaveLength(0);
});

test.each([
  ['gzip', gzipSync],
  ['GZip', gzipSync],
  ['deflate', deflateSync],
] as const)('the client reads the content-encoding %s', async (coding, compress) => {
  const content = compress(JSON.stringify(transfer));
  const server = await rawServer(responseBytes(200, content, { 'content-encoding': coding }));
  expect(await clientAt(server).transfers.get('txfr_1')).toEqual(transfer);
});

test('a creation that receives status 999 rejects with ServerError, outcome unknown', async () => {
  const server = await rawServer(responseBytes(999, 'What?'));
  const error = await failureOf(clientAt(server).transfers.create(newTransfer), ServerError);
  expect(error).toMatchObject({ status: 999, outcome: 'unknown' });
});

test('the client skips an informational response before the final response', async () => {
  const hint = 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n';
  const server = await rawServer(
    Buffer.concat([Buffer.from(hint), responseBytes(201, transferCreated)]),
  );
  expect(await clientAt(server).transfers.create(newTransfer)).toEqual(transferCreated);
});

/** Makes calls under the name of another runtime, over the fetch of this one. */
const refusedEverywhere = async (): Promise<Record<string, PaymentsError['outcome']>> => {
  const payments = clientAt(closedPort, { maxRetries: 0 });
  const outcomes: Record<string, PaymentsError['outcome']> = {};
  for (const kind of kinds) outcomes[kind] = (await failureOf(calls[kind].send(payments))).outcome;
  return outcomes;
};

test('on Node.js every call has outcome not_sent after a refused connection', async () => {
  expect(new Set(Object.values(await refusedEverywhere()))).toEqual(new Set(['not_sent']));
});

/** Makes the global fetch look like that of another runtime. */
function disguise(source: string): void {
  const toString: (this: unknown) => string = Function.prototype.toString;
  vi.spyOn(Function.prototype, 'toString').mockImplementation(function (this: unknown) {
    return this === globalThis.fetch ? source : toString.call(this);
  });
}

test('on Bun a read has outcome unknown after a refused connection', async () => {
  vi.stubGlobal('Bun', {});
  disguise('function fetch() { [native code] }');
  expect(await refusedEverywhere()).toEqual({
    'safe GET': 'unknown',
    'safe POST': 'unknown',
    PATCH: 'not_sent',
    DELETE: 'not_sent',
    'once POST': 'not_sent',
  });
});

test.each(['Bun', 'Deno'])(
  'on %s a refused call over another fetch has outcome unknown',
  async (name) => {
    vi.stubGlobal(name, {});
    disguise(
      'async (input, init) => { try { return await own(input, init) } catch { return again() } }',
    );
    expect(new Set(Object.values(await refusedEverywhere()))).toEqual(new Set(['unknown']));
  },
);

const notCapable = (): Promise<never> =>
  Promise.reject(
    Object.assign(new Error('Requires net access to "api.example.com:443"'), {
      name: 'NotCapable',
    }),
  );
const accessDenied = () =>
  Object.assign(new Error('connect ERR_ACCESS_DENIED'), { code: 'ERR_ACCESS_DENIED' });
/** Connects as Node does without --allow-net, with `error` as the error of the connection. */
class DeniedAgent extends HttpAgent {
  readonly error: Error;
  constructor(error: Error) {
    super();
    this.error = error;
  }
  override createConnection(): Socket {
    const socket = new Socket();
    Object.defineProperty(socket, 'connecting', { value: true });
    queueMicrotask(() => socket.destroy(this.error));
    return socket;
  }
}

test.each([
  ['Deno', {}],
  ['Node.js', { agent: new DeniedAgent(accessDenied()) }],
  ['Node.js, by name', { agent: new DeniedAgent(new AggregateError([accessDenied()])) }],
])('the client does not retry a request that %s does not permit', async (name, options) => {
  if (name === 'Deno') {
    vi.stubGlobal('Deno', {});
    vi.stubGlobal('fetch', notCapable);
    disguise('lazyFetch(');
    vi.resetModules();
  }
  const { PaymentsClient: Fresh } = await import('payments-platform-sdk');
  const payments = new Fresh({ baseUrl: 'http://127.0.0.1:9/v0', apiKey, ...options });
  const errors = [
    await failureOf(payments.transfers.create(newTransfer)),
    await failureOf(payments.transfers.get('txfr_1')),
    await failureOf(payments.counterparties.delete('cpty_1')),
  ];
  for (const error of errors) {
    expect(error).toMatchObject({ outcome: 'not_sent', retryable: false });
    expect(error.attempts).toHaveLength(1);
    expect(error.message).toContain('--allow-net');
  }
});

test("a permission error after sending leaves a call's outcome unknown", async () => {
  const server = await rawServer(responseBytes(200, transfer));
  const send: typeof fetch = async (...sent) => {
    await fetch(...sent);
    throw accessDenied();
  };
  const error = await failureOf(clientAt(server, { fetch: send }).transfers.get('txfr_1'));
  expect(error).toMatchObject({ outcome: 'unknown', retryable: true });
  expect(error.message).not.toContain('--allow-net');
});

test('on Cloudflare Workers every refused call has outcome unknown', async () => {
  vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
  const outcomes = await refusedEverywhere();
  expect(new Set(Object.values(outcomes))).toEqual(new Set(['unknown']));
});

test.each([
  ['Node', undefined, undefined],
  ['Bun', {}, { keepalive: false }],
  ['Deno', { createHttpClient: (options: object) => ({ made: options }) }, 'fresh'],
])('on %s the runtime cannot repeat a write or search', async (name, runtime, sealed) => {
  const inits: (RequestInit | undefined)[] = [];
  const types: (string | null)[] = [];
  const bodies: string[] = [];
  vi.resetModules();
  const { PaymentsClient: Fresh } = await import('payments-platform-sdk');
  if (runtime !== undefined) vi.stubGlobal(name, runtime);
  let blobs = 0;
  class CountedBlob extends Blob {
    constructor(...args: ConstructorParameters<typeof Blob>) {
      super(...args);
      blobs += 1;
    }
  }
  vi.stubGlobal('Blob', CountedBlob);
  const payments = new Fresh({
    baseUrl,
    apiKey,
    fetch: async (request, init) => {
      inits.push(init);
      types.push(request.headers.get('content-type'));
      bodies.push(await request.text());
      if (request.url.includes('accountId')) return respond(200, page([]));
      return respond(201, request.method === 'GET' ? transfer : transferCreated);
    },
  });
  await payments.transfers.create(newTransfer);
  await payments.transfers.get('txfr_1');
  await payments.transfers.reconcile(newTransfer);
  const added = inits.map(({ client, keepalive }: RequestInit & { client?: object } = {}) => ({
    ...(client && { client }),
    ...(keepalive !== undefined && { keepalive }),
  }));
  const fresh = { client: { made: { poolMaxIdlePerHost: 0 } } };
  const init = sealed === 'fresh' ? fresh : (sealed ?? {});
  expect(added).toEqual([init, {}, init]);
  // Deno receives a Blob, which must not set a content type.
  expect(blobs).toBe(name === 'Deno' ? 1 : 0);
  expect(types).toEqual(['application/json', null, null]);
  expect(JSON.parse(bodies[0] ?? '')).toEqual(newTransfer);
});

test('the client omits the field `cache` if the runtime rejects it', async () => {
  const seen: (RequestInit | undefined)[] = [];
  class RejectingRequest extends Request {
    constructor(input: string | URL | Request, init?: RequestInit) {
      if (init?.cache !== undefined) throw new Error('The cache field is not implemented.');
      super(input, init);
    }
  }
  vi.resetModules();
  const { PaymentsClient: Fresh } = await import('payments-platform-sdk');
  vi.stubGlobal('Request', RejectingRequest);
  const payments = new Fresh({
    baseUrl,
    apiKey,
    fetch: (_, init) => {
      seen.push(init);
      return Promise.resolve(respond(200, transfer));
    },
  });
  expect(await payments.transfers.get('txfr_1')).toEqual(transfer);
  expect(seen[0]).toMatchObject({ signal: expect.any(AbortSignal) as AbortSignal });
  expect(seen[0]).not.toHaveProperty('cache');
});

test('a creation without a global fetch rejects with a ConfigurationError', async () => {
  const { payments: sandboxed } = clientOf(() => respond(200, transfer));
  const payments = new PaymentsClient({ baseUrl, apiKey });
  leaveNode();
  vi.stubGlobal('fetch', undefined);
  const error = await failureOf(payments.transfers.create(newTransfer), ConfigurationError);
  expect(error.message).toContain('there is no global fetch');
  expect(error).toMatchObject({ outcome: 'not_sent', operation: 'transfers.create' });
  expect(await sandboxed.transfers.get('txfr_1')).toEqual(transfer);
});

test('an abort of a call closes the connection', async () => {
  const server = await rawServer(() => undefined);
  const controller = new AbortController();
  const call = clientAt(server).transfers.get('txfr_1', { signal: controller.signal });
  await server.arrived(1);
  controller.abort();
  await failureOf(call, AbortError);
  await server.closed(0);
});

test('a DELETE cancels the body of its response without reading', async () => {
  const cancel = vi.fn();
  const { payments } = clientOf(() => new Response(new ReadableStream({ cancel })));
  await payments.ibans.delete('iban_1');
  expect(cancel).toHaveBeenCalledTimes(1);
});

test.each<[string, object]>([
  ['0, as Response.error() has', Response.error()],
  ['status 101', { ok: false, status: 101, headers: new Headers(), text: () => '{"id":"txfr_1"}' }],
])('a response with status %s rejects with an ApiError, outcome unknown', async (_, response) => {
  const { payments } = clientOf(() => response as Response);
  for (const call of [payments.ibans.delete('iban_1'), payments.transfers.create(newTransfer)]) {
    const error = await failureOf(call, ApiError);
    expect(error).toMatchObject({ status: Reflect.get(response, 'status'), outcome: 'unknown' });
  }
});

test('a ConnectionError quotes a fetch error that has no code', async () => {
  const { payments } = clientOf(() => Promise.reject(new TypeError('no way out')));
  const error = await failureOf(payments.transfers.create(newTransfer), ConnectionError);
  expect(error.attempts[0]?.reason).toBe('connection failed: no way out');
  expect(error.message).toContain('The connection to api.example.com failed: no way out.');
});

test.each<[string, unknown, RegExp]>([
  ['resolves to undefined instead of a Response', undefined, /not a Response/],
  ['resolves to a string', '{"id":"txfr_1"}', /not a Response/],
  ['resolves to an object without headers', { ok: true, status: 200 }, /not a Response/],
  [
    'has followed a redirect',
    Object.defineProperty(Response.json(transferCreated), 'redirected', { value: true }),
    /followed a redirect/,
  ],
])('a creation has outcome unknown if the option `fetch` %s', async (_, response, says) => {
  let calls = 0;
  const { payments } = clientOf(() => respond(200), {
    fetch: () => {
      calls += 1;
      return Promise.resolve(response as Response);
    },
  });
  const error = await failureOf(payments.transfers.create(newTransfer), ConnectionError);
  expect(error.outcome).toBe('unknown');
  expect(error.message).toMatch(says);
  expect(calls).toBe(1);
});

const fromNodeFetch = (status: number, text: string) => ({
  ok: status < 300,
  status,
  statusText: '',
  headers: new Map([['x-request-id', 'req_1']]),
  body: Readable.from([text]),
  arrayBuffer: () => Promise.resolve(new TextEncoder().encode(text).buffer),
});

test("the client reads a Response of another class, such as node-fetch's", async () => {
  const responses: unknown[] = [
    fromNodeFetch(201, JSON.stringify(transferCreated)),
    {
      ok: true,
      status: 201,
      headers: { get: () => null },
      text: () => Promise.resolve(JSON.stringify(createdNumber(2))),
    },
    fromNodeFetch(400, JSON.stringify(errorBody)),
    { ...fromNodeFetch(400, ''), arrayBuffer: () => Promise.reject(new Error('cut')) },
  ];
  const { payments } = clientOf(() => respond(200), {
    fetch: () => Promise.resolve(responses.shift() as Response),
  });
  const { data, response } = await payments.transfers.create(newTransfer).withResponse();
  expect(data).toEqual(transferCreated);
  expect(response.headers.get('x-request-id')).toBe('req_1');
  expect(await payments.transfers.create(newTransfer)).toEqual(createdNumber(2));
  expect(await failureOf(payments.transfers.create(newTransfer), BadRequestError)).toMatchObject({
    outcome: 'rejected',
    requestId: 'req_1',
    body: JSON.stringify(errorBody),
  });
  // A 400 without its body may come from a proxy.
  expect(await failureOf(payments.transfers.create(newTransfer), BadRequestError)).toMatchObject({
    outcome: 'unknown',
    body: '',
  });
});

test('the client does not wait for the body of DELETE or 429', async () => {
  const never = () => new Promise<never>(() => undefined);
  const deleted = { ...fromNodeFetch(200, ''), arrayBuffer: never };
  const held = {
    status: 429,
    headers: { get: (name: string) => (name === 'retry-after' ? '30' : null) },
    body: Response.json({}).body,
  };
  const responses: unknown[] = [deleted, held];
  const { payments } = clientOf(() => respond(200), {
    fetch: () => Promise.resolve(responses.shift() as Response),
    maxRetries: 0,
  });
  await payments.counterparties.delete('cpty_1');
  const error = await failureOf(payments.transfers.create(newTransfer), RateLimitError);
  expect(error).toMatchObject({ outcome: 'rejected', retryAfterMs: 30_000 });
});

test('a creation has outcome not_sent if its Request cannot be constructed', async () => {
  const customFetch = vi.fn(() => Promise.resolve(respond(201, transferCreated)));
  const payments = new PaymentsClient({ baseUrl, apiKey, fetch: customFetch });
  vi.stubGlobal('Request', () => {
    throw new TypeError('no request');
  });
  const error = await failureOf(payments.transfers.create(newTransfer));
  expect(error).toMatchObject({ outcome: 'not_sent', retryable: false });
  expect(error.attempts).toHaveLength(1);
  expect(customFetch).not.toHaveBeenCalled();
});
