import { channel as diagnosticsChannel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import http, { Agent, type AgentOptions } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { connect, createServer, type AddressInfo } from 'node:net';
import { Duplex } from 'node:stream';
import { mock } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { connect as connectTls } from 'node:tls';
import {
  ConfigurationError,
  ConnectionError,
  InvalidResponseError,
  PaymentsClient,
  TimeoutError,
  type ClientOptions,
} from 'payments-platform-sdk';
import { expect, onTestFinished, test, vi } from 'vitest';
import { apiKey, failureOf } from '../support/clients.ts';
import { responseBytes, type Exchange } from '../support/loopback.ts';
import { rawServer } from '../support/raw-server.ts';
import { closedPort } from '../support/closed-port.ts';
import { createdNumber, newTransfer, transfer, transferCreated } from '../support/values.ts';

// On Node.js, an error before the request has a connection proves that nothing was sent.

const clientFor = (origin: string, options: ClientOptions = {}) =>
  new PaymentsClient({ baseUrl: `${origin}/v0`, apiKey, timeout: 20_000, ...options });

const keepAlive = { connection: 'keep-alive' };
const created = responseBytes(201, transferCreated, keepAlive);
const createdBytes = (number: number): Buffer =>
  responseBytes(201, createdNumber(number), keepAlive);
/** A step of a server that creates the next transfer. */
function createNext(): (exchange: Exchange) => void {
  let count = 0;
  return ({ write }) => {
    write(createdBytes((count += 1)));
  };
}
/** Clocks that a test sets forward, so that a connection is silent for as long. */
function stoppedClocks(): { advance: (ms: number) => void } {
  const now = vi.spyOn(Date, 'now');
  const elapsed = vi.spyOn(performance, 'now');
  const start = Date.now();
  let passed = 0;
  now.mockImplementation(() => start + passed);
  elapsed.mockImplementation(() => passed);
  return {
    advance: (ms) => {
      passed += ms;
    },
  };
}
const keep =
  (bytes: Buffer) =>
  ({ write }: Exchange): void => {
    write(bytes);
  };
/** An agent that never closes an idle connection by itself. */
function lastingAgent(limits: AgentOptions = {}): Agent {
  const agent = new Agent({ keepAlive: true, ...limits });
  onTestFinished(() => {
    agent.destroy();
  });
  return agent;
}

test('a call over node:http constructs Headers only for withResponse()', async () => {
  const append = vi.spyOn(Headers.prototype, 'append');
  onTestFinished(() => append.mockRestore());
  const appendedNames = () => append.mock.calls.map(([name]) => name.toLowerCase());
  const server = await rawServer(responseBytes(201, transferCreated));
  const call = clientFor(server.origin).transfers.create(newTransfer);
  await call;
  expect(appendedNames()).not.toContain('content-length');
  await call.withResponse();
  expect(appendedNames()).toContain('content-length');
});

test('a response header that Headers rejects does not fail a call', async () => {
  const server = await rawServer(
    Buffer.concat([
      Buffer.from('HTTP/1.1 201 Created\r\nx-odd: a\tb\x85c\r\nx-ok: yes\r\n', 'latin1'),
      responseBytes(201, transferCreated).subarray('HTTP/1.1 201 Status\r\n'.length),
    ]),
  );
  const call = clientFor(server.origin).transfers.create(newTransfer);
  const { data, response } = await call.withResponse();
  expect(data).toEqual(transferCreated);
  expect(response.headers.get('x-ok')).toBe('yes');
});

test('node:http receives the headers as an object, which tracers expect', async () => {
  const server = await rawServer(responseBytes(201, transferCreated));
  const request = vi.spyOn(http, 'request');
  await clientFor(server.origin).transfers.create(newTransfer);
  expect(request.mock.calls.map(([options]) => (options as http.RequestOptions).headers)).toEqual([
    expect.objectContaining({ authorization: `Bearer ${apiKey}`, accept: 'application/json' }),
  ]);
});

test.each(['a stub of fetch that throws', 'no fetch'])(
  'a refused creation over node:http has outcome not_sent with %s',
  async (which) => {
    const stub = vi.fn(() => Promise.reject(new Error('not called')));
    vi.stubGlobal('fetch', which === 'no fetch' ? undefined : stub);
    vi.spyOn(console, 'warn').mockReturnValue();
    const error = await failureOf(
      clientFor(closedPort.origin, { maxRetries: 0 }).transfers.create(newTransfer),
      ConnectionError,
    );
    expect(error).toMatchObject({ code: 'ECONNREFUSED', outcome: 'not_sent', retryable: true });
    expect(stub).not.toHaveBeenCalled();
  },
);

test.each([
  ['a test run', { VITEST: 'true' }, 1],
  ['production', { NODE_ENV: 'production', VITEST: undefined, JEST_WORKER_ID: undefined }, 0],
])('a replaced global fetch causes a warning only in tests: %s', async (_, environment, count) => {
  vi.resetModules();
  const { PaymentsClient: Fresh } = await import('payments-platform-sdk');
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const server = await rawServer(keep(responseBytes(200, transfer, keepAlive)));
  const payments = new Fresh({ baseUrl: server.baseUrl, apiKey });
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  await payments.transfers.get('txfr_1');
  expect(warn).not.toHaveBeenCalled();
  for (const stub of [vi.fn<typeof fetch>(), vi.fn<typeof fetch>()]) {
    vi.stubGlobal('fetch', stub);
    await payments.transfers.get('txfr_1');
  }
  expect(warn).toHaveBeenCalledTimes(count);
  for (const [message] of warn.mock.calls) expect(message).toMatch(/option fetch.*sandbox/);
});

test('a call over node:http constructs no Headers, Request or Response', async () => {
  const server = await rawServer(keep(responseBytes(200, transfer, keepAlive)));
  const payments = clientFor(server.origin);
  const create = vi.fn();
  for (const name of ['Headers', 'Request', 'Response']) vi.stubGlobal(name, create);
  expect((await payments.transfers.get('txfr_1')).id).toBe(transfer.id);
  expect(create).not.toHaveBeenCalled();
});

/** The port of a server that resets each connection after its first bytes, and calls `onReset`. */
async function resettingPort(onReset = (): void => undefined): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      onReset();
      socket.resetAndDestroy();
    });
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

test('a broken TLS handshake has outcome not_sent, even in the first call', async () => {
  const onReset = vi.fn();
  const payments = clientFor(`https://127.0.0.1:${await resettingPort(onReset)}`);
  const error = await failureOf(payments.transfers.create(newTransfer), ConnectionError);
  expect(error).toMatchObject({ code: 'ECONNRESET', outcome: 'not_sent' });
  expect(onReset).toHaveBeenCalledTimes(3);
});

test.each([
  ['http', 'an address', 'http://127.0.0.1:9', new Agent({ localAddress: '203.0.113.7' })],
  ['https', 'an address', 'https://127.0.0.1:9', new HttpsAgent({ localAddress: '203.0.113.7' })],
  ['http', 'a name', 'http://localhost:9', new Agent({ localAddress: '203.0.113.7', family: 4 })],
])('a creation over %s to %s has outcome not_sent if connecting fails', async (...row) => {
  const [, , origin, agent] = row;
  const payments = clientFor(origin, { agent, maxRetries: 0 });
  const error = await failureOf(payments.transfers.create(newTransfer), ConnectionError);
  expect(error).toMatchObject({ code: 'EADDRNOTAVAIL', outcome: 'not_sent', retryable: true });
});

test('a creation has outcome not_sent if its agent returns a destroyed connection', async () => {
  const agent = new Agent();
  agent.createConnection = () => new Duplex().destroy();
  const payments = clientFor('http://127.0.0.1:9', { agent, maxRetries: 0 });
  const error = await failureOf(payments.transfers.create(newTransfer), ConnectionError);
  expect(error).toMatchObject({ outcome: 'not_sent', retryable: true });
});

test("a broken TLS handshake of the agent's connection has outcome not_sent", async () => {
  const port = await resettingPort();
  const agent = new HttpsAgent();
  agent.createConnection = (_, callback) => {
    const socket = connect(port, '127.0.0.1', () => {
      callback?.(null, connectTls({ socket }));
    });
    return undefined;
  };
  const payments = clientFor(`https://127.0.0.1:${port}`, { agent, maxRetries: 0 });
  const error = await failureOf(payments.transfers.create(newTransfer), ConnectionError);
  expect(error).toMatchObject({ code: 'ECONNRESET', outcome: 'not_sent' });
});

test.each(['new', 'used'])(
  'a write has outcome unknown after a reset of a %s connection',
  async (which) => {
    const reset = (exchange: Exchange): void => {
      exchange.reset();
    };
    const server = await rawServer(...(which === 'used' ? [keep(created), reset] : [reset]));
    const payments = clientFor(server.origin, { agent: lastingAgent() });
    const { advance } = stoppedClocks();
    if (which === 'used') await payments.transfers.create(newTransfer);
    advance(100);
    const error = await failureOf(payments.transfers.create(newTransfer), ConnectionError);
    expect(error).toMatchObject({ outcome: 'unknown', attempts: [{ outcome: 'unknown' }] });
    expect(server.arrivals).toHaveLength(which === 'used' ? 2 : 1);
    expect(server.connections).toHaveLength(1);
  },
);

const poison = responseBytes(201, { ...transferCreated, id: 'txfr_poison' }, keepAlive);
const events: Readonly<Record<string, (exchange: Exchange) => void>> = {
  'was reset': ({ reset }) => {
    reset();
  },
  'was closed': ({ socket }) => {
    socket.end();
  },
  'holds a response that nobody requested': ({ write }) => {
    write(poison);
  },
  'holds half a response that nobody requested': ({ write }) => {
    write(poison.subarray(0, 20));
  },
};
test.each(Object.entries(events))('a write avoids an idle connection that %s', async (_, apply) => {
  const exchanges: Exchange[] = [];
  const server = await rawServer((exchange) => {
    exchanges.push(exchange);
    exchange.write(createdBytes(exchanges.length));
  });
  const payments = clientFor(server.origin, { agent: lastingAgent(), maxRetries: 0 });
  const { advance } = stoppedClocks();
  await payments.transfers.create(newTransfer);
  advance(100);
  // No turn of the event loop lies between these events and the next creation.
  for (const exchange of exchanges) apply(exchange);
  expect((await payments.transfers.create(newTransfer)).id).toBe('txfr_2');
  expect(server.arrivals.map(({ connection }) => connection)).toEqual([0, 1]);
});

const read = responseBytes(200, transfer, keepAlive);

test.each(['reset', 'end'] as const)(
  'a read succeeds even if the server closes connections by %s',
  async (end) => {
    let requests = 0;
    const server = await rawServer(({ write, reset, socket }) => {
      requests += 1;
      write(read);
      const close = end === 'reset' ? reset : () => socket.end();
      // Closes the connection at once, in the next turn, or about when the next read arrives.
      if (requests % 4 === 0) close();
      else if (requests % 4 === 1) setImmediate(close);
      else if (requests % 4 === 2) setTimeout(close, 1);
    });
    const events: string[] = [];
    const payments = clientFor(server.origin, {
      agent: lastingAgent(),
      maxRetries: 0,
      hooks: {
        onRequest: ({ attempt }) => events.push(`request ${attempt}`),
        onResponse: ({ attempt }) => events.push(`response ${attempt}`),
      },
    });
    const count = 300;
    for (let call = 0; call < count; call += 1) await payments.transfers.get('txfr_1');
    expect(events).toEqual(Array.from({ length: count }, () => ['request 1', 'response 1']).flat());
  },
);

const silentEnd = ({ socket }: Exchange): void => {
  socket.end();
};

test.each<[string, AgentOptions, number[]]>([
  ['a new connection', {}, [2]],
  ['any connection of an agent at its limit', { maxSockets: 2 }, [0, 1]],
])('a read whose connection ends is sent once more over %s', async (_, limits, again) => {
  const server = await rawServer(keep(read), keep(read), silentEnd);
  const payments = clientFor(server.origin, { agent: lastingAgent(limits), maxRetries: 0 });
  await Promise.all([payments.transfers.get('txfr_1'), payments.transfers.get('txfr_1')]);
  const error = await failureOf(payments.transfers.get('txfr_1'), ConnectionError);
  expect(error).toMatchObject({ outcome: 'unknown', attempts: [{ outcome: 'unknown' }] });
  expect(server.arrivals).toHaveLength(4);
  expect([0, 1]).toContain(server.arrivals[2]?.connection);
  expect(again).toContain(server.arrivals[3]?.connection);
});

test('a read is not repeated after the first byte of a response', async () => {
  const server = await rawServer(keep(read), ({ write, socket }) => {
    write(read.subarray(0, 1));
    socket.end();
  });
  const payments = clientFor(server.origin, { agent: lastingAgent(), maxRetries: 0 });
  await payments.transfers.get('txfr_1');
  await failureOf(payments.transfers.get('txfr_1'), ConnectionError);
  expect(server.arrivals).toHaveLength(2);
});

test('a repeated read has outcome unknown if its new connection is refused', async () => {
  const server = await rawServer(keep(read), silentEnd);
  const agent = lastingAgent();
  const payments = clientFor(server.origin, { agent, maxRetries: 0 });
  await payments.transfers.get('txfr_1');
  vi.spyOn(agent, 'createConnection').mockImplementation(() => connect(1, '127.0.0.1'));
  const error = await failureOf(payments.transfers.get('txfr_1'), ConnectionError);
  expect(error).toMatchObject({ code: 'ECONNREFUSED', outcome: 'unknown' });
});

test('a write leaves an idle connection of other requests open', async () => {
  const server = await rawServer(createNext());
  const agent = lastingAgent();
  const other = http.get(`${server.origin}/other`, { agent });
  const [response] = (await once(other, 'response')) as [http.IncomingMessage];
  response.resume();
  await once(response, 'end');
  await new Promise((resolve) => setImmediate(resolve));
  await clientFor(server.origin, { agent }).transfers.create(newTransfer);
  expect(server.arrivals.map(({ connection }) => connection)).toEqual([0, 1]);
  expect(other.socket?.destroyed).toBe(false);
});

test('a write avoids a connection that was idle over 800 ms', async () => {
  const server = await rawServer(createNext());
  const payments = clientFor(server.origin, { agent: lastingAgent() });
  const { advance } = stoppedClocks();
  for (const ms of [0, 800, 801]) {
    advance(ms);
    await payments.transfers.create(newTransfer);
  }
  // The wall clock is set back.
  vi.spyOn(Date, 'now').mockReturnValue(0);
  vi.spyOn(performance, 'now').mockReturnValue(1_000_000);
  await payments.transfers.create(newTransfer);
  expect(server.arrivals.map(({ connection }) => connection)).toEqual([0, 0, 1, 2]);
});

test('a connection pauses 40 ms plus the longer of two round trips', async () => {
  const { advance } = stoppedClocks();
  const roundTrips = [100, 10, 10, 10];
  const server = await rawServer(({ write }) => {
    advance(roundTrips[server.arrivals.length - 1] ?? 10);
    write(createdBytes(server.arrivals.length));
  });
  const payments = clientFor(server.origin);
  // After its two exchanges, the first connection needs more than 140 ms, and the second one 50.
  for (const silence of [0, 140, 1, 60, 0]) {
    advance(silence);
    await payments.transfers.create(newTransfer);
  }
  expect(server.arrivals.map(({ connection }) => connection)).toEqual([0, 1, 0, 1, 2]);
});

test('a write measures idle time by the monotonic clock', async () => {
  const server = await rawServer(createNext());
  const payments = clientFor(server.origin);
  stoppedClocks();
  await payments.transfers.create(newTransfer);
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 200);
  await payments.transfers.create(newTransfer);
  expect(server.arrivals.map(({ connection }) => connection)).toEqual([0, 1]);
});

test('consecutive writes alternate between two connections', async () => {
  const { advance } = stoppedClocks();
  const server = await rawServer(createNext());
  const payments = clientFor(server.origin);
  for (let count = 0; count < 8; count += 1) {
    await payments.transfers.create(newTransfer);
    advance(21);
  }
  expect(server.arrivals.map(({ connection }) => connection)).toEqual([0, 1, 0, 1, 0, 1, 0, 1]);
  expect(server.connections.some(({ closed }) => closed)).toBe(false);
});

test.each<[string, AgentOptions]>([
  ['maxSockets', { maxSockets: 1 }],
  ['maxTotalSockets', { maxTotalSockets: 1 }],
  ['maxFreeSockets', { maxFreeSockets: 1 }],
  ['no limit', {}],
])('each write over an agent with %s uses its own connection', async (_, limits) => {
  const server = await rawServer(createNext());
  const payments = clientFor(server.origin, { agent: lastingAgent(limits) });
  stoppedClocks();
  const lanes = Array.from({ length: 10 }, () => payments.transfers.create(newTransfer));
  await Promise.all(lanes);
  await payments.transfers.create(newTransfer);
  expect(server.arrivals).toHaveLength(11);
  expect(new Set(server.arrivals.map(({ connection }) => connection)).size).toBe(11);
});

/** A server and a call of this kind. */
async function serveKind(kind: string) {
  const server = await rawServer(kind === 'read' ? keep(read) : createNext());
  const agent = lastingAgent();
  const { transfers } = clientFor(server.origin, { agent });
  const call = () => (kind === 'read' ? transfers.get('txfr_1') : transfers.create(newTransfer));
  return { server, agent, call };
}

test.each(['write', 'read'])(
  'a %s avoids a connection that received bytes while idle',
  async (kind) => {
    const { server, agent, call } = await serveKind(kind);
    const { advance } = stoppedClocks();
    await call();
    await vi.waitUntil(() => Object.keys(agent.freeSockets).length > 0);
    const [socket] = Object.values(agent.freeSockets).flat();
    // Older versions of Node leave the bytes, and this one closes the connection.
    Object.defineProperty(socket, 'bytesRead', { value: 1_000 });
    advance(100);
    await call();
    expect(server.arrivals.map(({ connection }) => connection)).toEqual([0, 1]);
  },
);

test.each(['write', 'read'])('a %s avoids a connection over four minutes old', async (kind) => {
  const { server, call } = await serveKind(kind);
  const { advance } = stoppedClocks();
  const start = Date.now();
  for (const until of [240_000, 241_000]) {
    while (Date.now() - start < until) {
      await call();
      advance(200);
    }
    expect(server.connections).toHaveLength(until === 240_000 ? 1 : 2);
  }
});

test('the client closes an idle connection that the server keeps', async () => {
  const server = await rawServer(keep(created));
  await clientFor(server.origin).transfers.create(newTransfer);
  await server.closed(0);
});

test('a write reuses no connection that a read has used', async () => {
  const server = await rawServer(keep(responseBytes(200, transfer, keepAlive)), keep(created));
  const payments = clientFor(server.origin);
  const { advance } = stoppedClocks();
  await payments.transfers.get('txfr_1');
  // After such a silence, a write would take the connection if a write had used it before.
  advance(100);
  await payments.transfers.create(newTransfer);
  expect(server.arrivals.map(({ connection }) => connection)).toEqual([0, 1]);
});

test('a creation ignores an unrequested status 100', async () => {
  const hint = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n');
  const server = await rawServer(Buffer.concat([hint, hint, responseBytes(201, transferCreated)]));
  const payments = clientFor(server.origin);
  expect(await payments.transfers.create(newTransfer)).toEqual(transferCreated);
});

test('a creation has outcome unknown after an unrequested status 101', async () => {
  const server = await rawServer(
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
  );
  const error = await failureOf(
    clientFor(server.origin).transfers.create(newTransfer),
    ConnectionError,
  );
  expect(error.outcome).toBe('unknown');
  expect(server.arrivals).toHaveLength(1);
});

test.each<[string, ClientOptions]>([
  ['timeout', { timeout: 5_000 }],
  ['totalTimeout', { totalTimeout: 5_000 }],
])('a suspended process sends nothing once its %s has passed', async (_, limits) => {
  const server = await rawServer(keep(created));
  let frozen = 0;
  const payments = clientFor(server.origin, {
    timeout: 60_000,
    ...limits,
    agent: lastingAgent(),
    maxRetries: 0,
    clock: {
      now: () => Date.now() + frozen,
      setTimeout: (callback, ms) => setTimeout(callback, ms),
      clearTimeout: (handle) => {
        clearTimeout(handle as NodeJS.Timeout);
      },
    },
  });
  await payments.transfers.create(newTransfer);
  // Time passes without a timer firing before the connection is ready.
  const { request } = http;
  vi.spyOn(http, 'request').mockImplementation(((options: http.RequestOptions) => {
    frozen = 10_000;
    return request(options);
  }) as typeof http.request);
  const error = await failureOf(payments.transfers.create(newTransfer), TimeoutError);
  expect(error).toMatchObject({ outcome: 'not_sent', retryable: true });
  expect(server.arrivals).toHaveLength(1);
});

/** An agent with connections that receive these bytes when a request is written. */
const agentWithBytes = (bytes: Uint8Array): Agent =>
  Object.assign(new Agent(), {
    createConnection: () =>
      new Duplex({
        read: () => undefined,
        write(_, __, done) {
          this.push(bytes);
          done();
        },
      }),
  });
const mebibyte = 2 ** 20;
/** The head of a gzip file with an endless file name. */
const endlessName = Buffer.from([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3]);

test.each<[string, Buffer]>([
  ['arrives at once', responseBytes(201, Buffer.alloc(16 * mebibyte + 1, 0x20))],
  [
    'unpacks to nothing',
    responseBytes(201, Buffer.concat([endlessName, Buffer.alloc(17 * mebibyte, 'a')]), {
      'content-encoding': 'gzip',
    }),
  ],
])('a creation rejects a response above 16 MiB that %s', async (_, bytes) => {
  const payments = clientFor('http://127.0.0.1:9', { agent: agentWithBytes(bytes) });
  expect(
    await failureOf(payments.transfers.create(newTransfer), InvalidResponseError),
  ).toMatchObject({ reason: 'too_large', outcome: 'unknown' });
});

test.each(['create', 'get'] as const)(
  'transfers.%s reads a deflate body without zlib header',
  async (name) => {
    const packed = deflateRawSync(JSON.stringify(name === 'get' ? transfer : transferCreated));
    const server = await rawServer(responseBytes(200, packed, { 'content-encoding': 'deflate' }));
    const { transfers } = clientFor(server.origin);
    const result = name === 'get' ? transfers.get('txfr_1') : transfers.create(newTransfer);
    expect(await result).toEqual(name === 'get' ? transfer : transferCreated);
  },
);

test('a DELETE resolves even before its response body has ended', async () => {
  const server = await rawServer(({ write }) => {
    write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{');
  });
  await expect(clientFor(server.origin).ibans.delete('iban_1')).resolves.toBeUndefined();
  await server.closed(0);
});

test('an empty DELETE response leaves the connection open for the next request', async () => {
  const server = await rawServer(keep(Buffer.from('HTTP/1.1 204 No Content\r\n\r\n')));
  const { advance } = stoppedClocks();
  const payments = clientFor(server.origin, { agent: lastingAgent() });
  await payments.ibans.delete('iban_1');
  advance(100);
  await payments.ibans.delete('iban_2');
  expect(server.arrivals.map(({ connection }) => connection)).toEqual([0, 0]);
});

test('a call with an aborted signal does not call the credential function', async () => {
  const source = vi.fn(() => apiKey);
  const payments = clientFor('http://127.0.0.1:9', { apiKey: source });
  const signal = AbortSignal.abort();
  const error = await failureOf(payments.transfers.create(newTransfer, { signal }));
  expect(error).not.toBeInstanceOf(TimeoutError);
  expect(error).toMatchObject({ name: 'AbortError', outcome: 'not_sent' });
  expect(source).not.toHaveBeenCalled();
});

/** An agent with a socket like that of nock 14 and msw 2, which connects when it has received the request. */
const mockingAgent = (respond: (socket: Duplex, request: string) => void): Agent =>
  Object.assign(new Agent({ keepAlive: true }), {
    createConnection: () => {
      let sent = '';
      const socket = new Duplex({
        read: () => undefined,
        write(chunk, _, done) {
          this.emit('connect');
          // Node.js 22 writes the headers, the body and an empty text one after the other.
          sent += String(chunk);
          if (String(chunk).includes('{')) respond(this, sent);
          done();
        },
      });
      return Object.assign(socket, { connecting: true });
    },
  });

test('a mock socket may connect late and respond without content-length', async () => {
  const agent = mockingAgent((socket, request) => {
    socket.push(`HTTP/1.1 201 Created\r\n\r\n${JSON.stringify(transferCreated)}`);
    if (request.includes('connection: close')) socket.push(null);
  });
  const { transfers } = clientFor('http://127.0.0.1:9', { agent, timeout: 2_000 });
  expect(await transfers.create(newTransfer)).toEqual(transferCreated);
});

test('a creation has outcome unknown if a mock socket refuses the connection', async () => {
  const agent = mockingAgent((socket) => {
    socket.destroy(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
  });
  const { transfers } = clientFor('http://127.0.0.1:9', { agent, timeout: 2_000 });
  const error = await failureOf(transfers.create(newTransfer), ConnectionError);
  expect(error).toMatchObject({ code: 'ECONNREFUSED', outcome: 'unknown' });
});

test("a mock socket gets the whole request after a tracer's flush", async () => {
  const flush = (message: unknown): void => {
    (message as { request: http.ClientRequest }).request.flushHeaders();
  };
  const channel = diagnosticsChannel('http.client.request.created');
  channel.subscribe(flush);
  onTestFinished(() => {
    channel.unsubscribe(flush);
  });
  const agent = mockingAgent((socket) => {
    socket.push(responseBytes(201, transferCreated));
  });
  const { transfers } = clientFor('http://127.0.0.1:9', { agent, timeout: 2_000 });
  expect(await transfers.create(newTransfer)).toEqual(transferCreated);
});

test("the client ends a mock library's request before its connection exists", async () => {
  const server = await rawServer(created);
  class MockRequest extends http.ClientRequest {}
  const request = vi.spyOn(http, 'request');
  request.mockImplementation(((options: http.RequestOptions) => {
    const mocked = new MockRequest(options);
    mocked.once('socket', () => {
      expect(mocked.writableEnded).toBe(true);
    });
    return mocked;
  }) as typeof http.request);
  const { transfers } = clientFor(server.origin);
  expect(await transfers.create(newTransfer)).toEqual(transferCreated);
  expect.assertions(2);
});

/** Loads the SDK again, and creates transfers with a client, each on a connection that is silent. */
async function freshCreations(): Promise<() => Promise<unknown>> {
  vi.resetModules();
  const { PaymentsClient: Fresh } = await import('payments-platform-sdk');
  const { baseUrl } = await rawServer(createNext());
  const { transfers } = new Fresh({ baseUrl, apiKey, timeout: 2_000, maxRetries: 0 });
  const { advance } = stoppedClocks();
  return () => {
    advance(200);
    return transfers.create(newTransfer);
  };
}

test('creations work if node:test replaced setImmediate before the SDK loaded', async () => {
  mock.timers.enable({ apis: ['setImmediate'] });
  const create = await freshCreations();
  await create();
  mock.timers.reset();
  for (const _ of [1, 2]) await create();
});

test('creations work if node:test replaces setImmediate after the SDK loaded', async () => {
  const create = await freshCreations();
  mock.timers.enable({ apis: ['setImmediate'] });
  onTestFinished(() => {
    mock.timers.reset();
  });
  for (const _ of [1, 2]) await create();
});

test('a timeout has outcome not_sent if the agent never connects', async () => {
  const payments = clientFor('http://127.0.0.1:9', {
    agent: Object.assign(new Agent(), { createConnection: () => undefined }),
    timeout: 200,
    maxRetries: 0,
  });
  const error = await failureOf(payments.transfers.create(newTransfer), TimeoutError);
  expect(error).toMatchObject({ phase: 'connect', outcome: 'not_sent' });
});

test.each<[string, ClientOptions, string]>([
  ['fetch', { agent: new Agent(), fetch: globalThis.fetch }, 'fetch'],
  ['an agent of another protocol', { agent: new Agent() }, 'it is one for http:'],
])('the client rejects the option `agent` together with %s', (_, options, text) => {
  const create = () =>
    new PaymentsClient({ baseUrl: 'https://api.example.com/v0', apiKey, ...options });
  expect(create).toThrow(ConfigurationError);
  expect(create).toThrow(text);
});

test('the client rejects the option `agent` outside Node.js', () => {
  vi.stubGlobal('Bun', {});
  const options = { baseUrl: 'http://127.0.0.1:9/v0', apiKey, agent: new Agent() };
  expect(() => new PaymentsClient(options)).toThrow('Node.js only');
});
