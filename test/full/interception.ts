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
 * What applications put in the way of requests, on Node: the wire that goes below fetch must run
 * into it as fetch does. It imports no test runner; vitest runs it on the source, and
 * test/runtimes/interception.mjs on the installed package on every Node.
 *
 * A server stands where the requests would go. It must hear nothing.
 */

const body = (method: string, path: string): string =>
  successBody({ method, path, nonce: 'intercepted' }, 'txfr_intercepted');
const address = '0x52908400098527886e0f7030069857d2e4169ee7';
const instructions = '/instructions/all';

/** Makes the calls of a client, and answers with the names of what they brought. */
type Calls = () => Promise<string[]>;
const all = ['txfr_0', 'txfr_intercepted', 'intercepted'];

const callsOf = (sdk: Sdk, baseUrl: string): Calls => {
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

/** Lets every wire do its work once: what it keeps from then on is no way around either. */
async function warmUp(sdk: Sdk): Promise<void> {
  const server = await listen(({ method, target, reply }) => {
    reply(responseBytes(200, Buffer.from(body(method, target))));
  });
  await callsOf(sdk, server.baseUrl)();
  await server.close();
}

/** Runs something beside a server that must not hear of it. */
async function unheard(run: (server: RawServer) => Promise<void>): Promise<void> {
  const server = await listen(responseBytes(500, { error: 'It went around.' }));
  try {
    await run(server);
    assert.deepEqual(server.arrivals, [], 'it went around');
  } finally {
    await server.close();
  }
}

/** A fetch that is replaced after the client was made. GET with a body never was fetch's. */
export const stubbedFetch = (sdk: Sdk): Promise<void> =>
  unheard(async ({ baseUrl }) => {
    await warmUp(sdk);
    const payments = new sdk.PaymentsClient({ baseUrl, apiKey: 'sk_stubbed', maxRetries: 0 });
    const original = globalThis.fetch;
    const asked: string[] = [];
    globalThis.fetch = (input) => {
      const { method, url } = input as Request;
      asked.push(`${method} ${url}`);
      return Promise.resolve(new Response(body(method, url)));
    };
    try {
      assert.equal((await payments.transfers.get('txfr_0')).id, 'txfr_0');
      const update = { name: 'Main' };
      assert.equal((await payments.accounts.update('acc_1', update)).id, 'acc_1');
    } finally {
      globalThis.fetch = original;
    }
    assert.deepEqual(asked, [`GET ${baseUrl}/transfers/txfr_0`, `PATCH ${baseUrl}/accounts/acc_1`]);
  });

/** As much of msw as is used. */
interface Msw {
  readonly http: typeof msw_.http;
  readonly HttpResponse: typeof msw_.HttpResponse;
  readonly setupServer: typeof mswNode.setupServer;
}

export const mockedByMsw = (sdk: Sdk, { http, HttpResponse, setupServer }: Msw): Promise<void> =>
  unheard(async ({ baseUrl, origin }) => {
    const asked: string[] = [];
    const mocked = setupServer(
      http.all(`${origin}/*`, ({ request: { method, url } }) => {
        asked.push(`${method} ${new URL(url).pathname}`);
        return HttpResponse.text(body(method, new URL(url).pathname));
      }),
    );
    const calls = callsOf(sdk, baseUrl);
    await warmUp(sdk);
    mocked.listen({ onUnhandledFrame: 'error' });
    try {
      assert.deepEqual(await calls(), all);
    } finally {
      mocked.close();
    }
    assert.deepEqual(asked, [
      'GET /v0/transfers/txfr_0',
      'POST /v0/transfers',
      `GET ${instructions}`,
    ]);
  });

interface MockPool {
  intercept(match: { path: string; method: string; body?: (text: string) => boolean }): {
    reply(status: number, text: string): void;
  };
}

/** As much of undici as is used. */
interface Undici {
  readonly MockAgent: new () => {
    get(origin: string): MockPool;
    disableNetConnect(): void;
    assertNoPendingInterceptors(): void;
    close(): Promise<void>;
  };
  setGlobalDispatcher(dispatcher: object): void;
}

/** Where undici keeps its dispatcher. */
const places = [1, 2].map((number) => Symbol.for(`undici.globalDispatcher.${number}`));

/** A MockAgent of a copy of undici whose setGlobalDispatcher reaches this Node's fetch. */
export async function mockedByUndici(sdk: Sdk, undici: Undici): Promise<void> {
  await warmUp(sdk);
  const before = places.map((place): unknown => Reflect.get(globalThis, place));
  const agent = new undici.MockAgent();
  agent.disableNetConnect();
  undici.setGlobalDispatcher(agent);
  try {
    await unheard(async ({ baseUrl, origin }) => {
      const pool = agent.get(origin);
      const reply = (method: string, path: string, sent = ''): void => {
        const match = { path, method, ...(sent === '' ? {} : { body: includes(sent) }) };
        pool.intercept(match).reply(200, body(method, path));
      };
      reply('GET', '/fetch');
      assert.equal(await (await fetch(`${origin}/fetch`)).text(), body('GET', '/fetch'));
      reply('GET', '/v0/transfers/txfr_0');
      reply('POST', '/v0/transfers', '"1.00"');
      reply('GET', instructions, address);
      assert.deepEqual(await callsOf(sdk, baseUrl)(), all);
      agent.assertNoPendingInterceptors();
    });
  } finally {
    for (const [index, place] of places.entries()) Reflect.set(globalThis, place, before[index]);
    await agent.close();
  }
}

const includes =
  (part: string) =>
  (text: string): boolean =>
    text.includes(part);

/**
 * A proxy that the environment names. Nobody listens where the requests are sent; it passes them on
 * to a server of its own.
 */
export async function proxied(sdkUrl: string): Promise<void> {
  const behind = await listen(({ method, target, reply }) => {
    reply(responseBytes(200, Buffer.from(body(method, target))));
  });
  const forwarded: string[] = [];
  const proxy = createServer((incoming, outgoing) => {
    forwarded.push(incoming.method ?? '');
    const { pathname } = new URL(incoming.url ?? '');
    const options = { port: behind.port, method: incoming.method, path: pathname };
    const onward = ask({ ...options, headers: incoming.headers }, (got) => {
      outgoing.writeHead(got.statusCode ?? 0, got.headers);
      got.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  proxy.on('connect', (incoming, socket) => {
    const target = incoming.url ?? '';
    forwarded.push(`CONNECT ${target}`);
    if (!target.startsWith('127.0.0.1:')) {
      socket.end('HTTP/1.1 502 No such place\r\n\r\n');
      return;
    }
    const onward = connect(behind.port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    for (const end of [socket, onward]) end.on('error', () => undefined);
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
      'GET with a body over node:http': 'ok',
      https: 'ConnectionError',
    });
    assert.deepEqual(
      behind.arrivals.map(({ method, target }) => `${method} ${target}`),
      [
        'GET /v0/transfers/txfr_0',
        'POST /v0/transfers',
        `GET ${instructions}`,
        `GET ${instructions}`,
      ],
    );
    assert.ok(forwarded.includes('CONNECT api.payments.invalid:443'), forwarded.join(', '));
  } finally {
    proxy.closeAllConnections();
    proxy.close();
    await behind.close();
  }
}
