import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { closedPort } from '../support/closed-port.ts';
import { usual } from './faults.ts';
import { FaultPlatform } from './server.ts';

// A proxy as Node uses one. NODE_USE_ENV_PROXY is read when a process starts, so each call has a new
// process.

const script = fileURLToPath(new URL('proxied-faults.ts', import.meta.url));

let platform: FaultPlatform;
const servers: Server[] = [];
const sockets = new Set<Socket>();
beforeEach(async () => {
  platform = new FaultPlatform(usual);
  await platform.start();
});
afterEach(() => {
  platform.stop();
  for (const server of servers.splice(0)) server.close();
  for (const socket of sockets) socket.destroy();
  sockets.clear();
});

/** How a proxy treats a CONNECT request. */
type Treatment = (socket: Socket, host: string, port: number) => void;

const forward: Treatment = (socket, host, port) => {
  const upstream = connect(port, host, () => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    socket.pipe(upstream).pipe(socket);
  });
  sockets.add(upstream);
  upstream.on('error', () => socket.destroy());
};

const respondWith =
  (status: string): Treatment =>
  (socket) =>
    socket.end(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`);

/** Starts a proxy that treats connections to the platform in one way, and forwards all others. */
async function startProxy(
  treat: Treatment,
): Promise<{ port: number; countRequests: () => number }> {
  let requestCount = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', (head) => {
      const [, host = '', port = ''] = /^CONNECT ([^ :]+):(\d+) /.exec(head.toString()) ?? [];
      const isForPlatform = Number(port) === platform.shared.port;
      if (isForPlatform) requestCount += 1;
      (isForPlatform ? treat : forward)(socket, host, Number(port));
    });
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, countRequests: () => requestCount };
}

interface Ending {
  readonly name?: string;
  readonly outcome: string;
  readonly code?: string;
  readonly attempts: readonly { readonly outcome: string; readonly durationMs: number }[];
}

/** Makes a creation in a process that uses this proxy. */
async function createThrough(
  proxyPort: number,
  options: {
    readonly isWarm: boolean;
    /** Milliseconds for one attempt. */
    readonly timeout?: number;
    readonly onOutput?: () => void;
  },
): Promise<Ending> {
  const proxyUrl = `http://127.0.0.1:${proxyPort}`;
  const args = [
    script,
    String(options.timeout ?? 500),
    platform.shared.baseUrl,
    ...(options.isWarm ? [platform.otherOrigin.baseUrl] : []),
  ];
  const child = spawn(process.execPath, args, {
    env: { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxyUrl, NO_PROXY: '' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk);
      options.onOutput?.();
    });
  }
  await once(child, 'close');
  return JSON.parse(output) as Ending;
}

test('a creation arrives once through a working proxy', async () => {
  const { port, countRequests } = await startProxy(forward);
  // Long enough for a busy machine, because a timeout would cause a second attempt.
  const ending = await createThrough(port, { isWarm: false, timeout: 10_000 });
  expect(ending).toMatchObject({ outcome: 'ok' });
  expect(platform.idsOf('proxied')).toHaveLength(1);
  expect(countRequests()).toBe(1);
});

test('a proxy that refuses connections proves that nothing was sent', async () => {
  expect(await createThrough(closedPort.port, { isWarm: false })).toMatchObject({
    name: 'ConnectionError',
    code: 'ECONNREFUSED',
    outcome: 'not_sent',
    attempts: [{ outcome: 'not_sent' }, { outcome: 'not_sent' }],
  });
});

const rejections: Readonly<Record<string, Treatment>> = {
  'responds with 407': respondWith('407 Proxy Authentication Required'),
  'responds with 502': respondWith('502 Bad Gateway'),
  'closes the connection': (socket) => socket.end(),
  'resets the connection': (socket) => socket.resetAndDestroy(),
  'sends nothing': () => undefined,
};

test.each(
  Object.entries(rejections).flatMap(([name, treat]) => [
    { name, treat, isWarm: true },
    { name, treat, isWarm: false },
  ]),
)(
  'a proxy that $name after CONNECT proves that nothing was sent, warm $isWarm',
  async ({ treat, isWarm }) => {
    const { port, countRequests } = await startProxy(treat);
    const ending = await createThrough(port, { isWarm });
    const once = { outcome: 'not_sent' };
    // A rejection with a 4xx is not retried.
    const attempts = treat === rejections['responds with 407'] ? [once] : [once, once];
    expect(ending).toMatchObject({ outcome: 'not_sent', attempts });
    // undici repeats CONNECT after a closed connection; only the timeout of the SDK ends the call.
    for (const { durationMs } of ending.attempts) expect(durationMs).toBeLessThan(1_500);
    expect(countRequests()).toBeGreaterThanOrEqual(1);
    expect(platform.arrivalsOf('proxied')).toBe(isWarm ? 1 : 0);
    expect(platform.idsOf('proxied')).toEqual([]);
  },
);

test.each([true, false])(
  'a proxy that receives the request and hangs up proves nothing, warm %s',
  async (isWarm) => {
    const { port } = await startProxy((socket) => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.once('data', () => socket.resetAndDestroy());
    });
    expect(await createThrough(port, { isWarm })).toMatchObject({
      outcome: 'unknown',
      attempts: [{ outcome: 'unknown' }],
    });
  },
);

// undici keeps repeating CONNECT, as it does for Node's fetch. A request without a connection cannot be
// withdrawn, so it has to be stopped when it starts.
test('a request that timed out before CONNECT succeeded is not sent afterwards', async () => {
  let isOver = false;
  let connectionCount = 0;
  const { port } = await startProxy((socket, host, target) => {
    if (isOver) connectionCount += 1;
    (isOver ? forward : (each: Socket) => each.end())(socket, host, target);
  });
  const ending = await createThrough(port, {
    isWarm: true,
    onOutput: () => {
      isOver = true;
    },
  });
  expect(ending.outcome).toBe('not_sent');
  expect(connectionCount).toBeGreaterThan(0);
  expect(platform.arrivalsOf('proxied')).toBe(1);
  expect(platform.idsOf('proxied')).toEqual([]);
});
