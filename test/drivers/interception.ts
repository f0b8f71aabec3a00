import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer, request as ask } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type * as msw_ from 'msw';
import type * as mswNode from 'msw/node';
import { successBody } from './bodies.ts';
import { responseBytes, listen, type RawServer } from '../support/loopback.ts';
import { closedPort } from '../support/closed-port.ts';
import type { Sdk } from '../transports/client-transports.ts';

/*
 * Mocks and proxies that intercept requests on Node. This file imports no test runner, because
 * test/runtimes/interception.mjs also runs it on the installed package on every Node.
 *
 * A server listens at the real address. It must receive nothing.
 */

const body = (method: string, path: string): string =>
  successBody({ method, path, nonce: 'intercepted' }, 'txfr_intercepted');
const address = '0x52908400098527886e0f7030069857d2e4169ee7';
const instructions = '/instructions/all';

/** Makes some calls with a client, and returns the names in the responses. */
type Calls = () => Promise<string[]>;
const expectedNames = ['txfr_0', 'txfr_intercepted', 'intercepted'];

const createCalls = (sdk: Sdk, baseUrl: string): Calls => {
  const payments = new sdk.PaymentsClient({
    baseUrl,
    apiKey: 'sk_intercepted',
    jwt: 'a.b.c',
    maxRetries: 0,
    timeout: 5_000,
  });
  return async () => {
    const read = await payments.transfers.get('txfr_0');
    const made = await payments.transfers.create({
      sourceAccountId: 'acc_1',
      destinationAccountId: 'acc_2',
      amount: '1.00',
    });
    const [listed] = await payments.instructions.list({ address });
    return [read.id, made.id, listed?.nickname ?? ''];
  };
};

/** Uses every transport once, because state that it keeps must not bypass an interception. */
async function warmUp(sdk: Sdk): Promise<void> {
  const server = await listen(({ method, target, reply }) => {
    reply(responseBytes(200, Buffer.from(body(method, target))));
  });
  await createCalls(sdk, server.baseUrl)();
  await server.close();
}

/** Runs a check with a server that must not receive a request. */
async function expectNoRequest(run: (server: RawServer) => Promise<void>): Promise<void> {
  const server = await listen(responseBytes(500, { error: 'not intercepted' }));
  try {
    await run(server);
    assert.deepEqual(server.arrivals, [], 'a request was not intercepted');
  } finally {
    await server.close();
  }
}

/** The parts of msw that this file uses. */
interface Msw {
  readonly http: typeof msw_.http;
  readonly HttpResponse: typeof msw_.HttpResponse;
  readonly setupServer: typeof mswNode.setupServer;
}

export const checkMsw = (sdk: Sdk, { http, HttpResponse, setupServer }: Msw): Promise<void> =>
  expectNoRequest(async ({ baseUrl, origin }) => {
    const requests: string[] = [];
    const mocked = setupServer(
      http.all(`${origin}/*`, ({ request: { method, url } }) => {
        requests.push(`${method} ${new URL(url).pathname}`);
        return HttpResponse.text(body(method, new URL(url).pathname));
      }),
    );
    const calls = createCalls(sdk, baseUrl);
    await warmUp(sdk);
    mocked.listen({ onUnhandledFrame: 'error' });
    try {
      assert.deepEqual(await calls(), expectedNames);
    } finally {
      mocked.close();
    }
    assert.deepEqual(requests, [
      'GET /v0/transfers/txfr_0',
      'POST /v0/transfers',
      `GET ${instructions}`,
    ]);
  });

/**
 * Checks that requests use the proxy of the environment. Requests go to a closed port, and the
 * proxy forwards them to another server.
 */
export async function checkEnvironmentProxy(sdkUrl: string): Promise<void> {
  const upstreamServer = await listen(({ method, target, reply }) => {
    reply(responseBytes(200, Buffer.from(body(method, target))));
  });
  const forwarded: string[] = [];
  const proxy = createServer((incoming, outgoing) => {
    forwarded.push(incoming.method ?? '');
    const { pathname } = new URL(incoming.url ?? '');
    const options = { port: upstreamServer.port, method: incoming.method, path: pathname };
    const upstream = ask({ ...options, headers: incoming.headers }, (received) => {
      outgoing.writeHead(received.statusCode ?? 0, received.headers);
      received.pipe(outgoing);
    });
    incoming.pipe(upstream);
  });
  proxy.on('connect', (incoming, socket) => {
    const authority = incoming.url ?? '';
    forwarded.push(`CONNECT ${authority}`);
    if (!authority.startsWith('127.0.0.1:')) {
      socket.end('HTTP/1.1 502 No such place\r\n\r\n');
      return;
    }
    const upstream = connect(upstreamServer.port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n');
      socket.pipe(upstream).pipe(socket);
    });
    for (const end of [socket, upstream]) end.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => {
    proxy.listen(0, '127.0.0.1', resolve);
  });
  const { port } = proxy.address() as AddressInfo;
  try {
    const url = `http://127.0.0.1:${port}`;
    const env = {
      PATH: process.env['PATH'],
      NODE_USE_ENV_PROXY: '1',
      HTTP_PROXY: url,
      HTTPS_PROXY: url,
    };
    const script = fileURLToPath(new URL('proxied.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [script, sdkUrl, closedPort.baseUrl, 'https://api.payments.invalid/v0'],
      { env },
    );
    assert.deepEqual(JSON.parse(stdout), {
      GET: 'ok',
      POST: 'ok',
      'GET with a body': 'ok',
      https: 'ConnectionError',
    });
    assert.deepEqual(
      upstreamServer.arrivals.map(({ method, target }) => `${method} ${target}`),
      ['GET /v0/transfers/txfr_0', 'POST /v0/transfers', `GET ${instructions}`],
    );
    assert.ok(forwarded.includes('CONNECT api.payments.invalid:443'), forwarded.join(', '));
  } finally {
    proxy.closeAllConnections();
    proxy.close();
    await upstreamServer.close();
  }
}
