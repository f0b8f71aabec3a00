import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { closedPort } from '../support/closed-port.ts';
import { createCertificate } from '../drivers/certificate.ts';
import { usual } from '../drivers/faults.ts';
import { FaultPlatform } from '../drivers/server.ts';

// A proxy as Node uses one for https: with CONNECT. NODE_USE_ENV_PROXY is read when a process starts, so
// each call has a new process.

const script = fileURLToPath(new URL('../drivers/proxied-faults.ts', import.meta.url));

const folder = mkdtempSync(join(tmpdir(), 'payments-proxy-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});
const files = createCertificate(folder);
const withCertificate = test.skipIf(files === undefined);

let platform: FaultPlatform;
/** The port of the platform behind TLS. */
let securePort = 0;
/** Whether the platform's end of TLS hangs up when it has received a request. */
let hangsUp = false;
const servers: Server[] = [];
const sockets = new Set<Socket>();
beforeEach(async () => {
  hangsUp = false;
  platform = new FaultPlatform(usual);
  await platform.start();
  const pair = files && { key: readFileSync(files.key), cert: readFileSync(files.cert) };
  const secure = createTlsServer({ ...pair }, (socket) => {
    sockets.add(socket);
    if (hangsUp) {
      socket.on('error', () => undefined).once('data', () => socket.destroy());
      return;
    }
    const upstream = connect(platform.shared.port, '127.0.0.1');
    sockets.add(upstream);
    for (const end of [socket, upstream]) end.on('error', () => undefined);
    socket.pipe(upstream).pipe(socket);
  }).listen(0, '127.0.0.1');
  secure.on('tlsClientError', () => undefined);
  servers.push(secure);
  await once(secure, 'listening');
  securePort = (secure.address() as AddressInfo).port;
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
      const isForPlatform = Number(port) === securePort;
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
  readonly attempts: readonly { readonly outcome: string }[];
}

/** Makes a creation in a process that uses this proxy. */
async function createThrough(
  proxyPort: number,
  options: {
    readonly isWarm: boolean;
    /** Milliseconds for one attempt. */
    readonly timeout?: number;
    /** @default the platform behind TLS */
    readonly baseUrl?: string;
  },
): Promise<Ending> {
  const proxyUrl = `http://127.0.0.1:${proxyPort}`;
  const args = [
    script,
    String(options.timeout ?? 500),
    options.baseUrl ?? `https://127.0.0.1:${securePort}/v0`,
    ...(options.isWarm ? [platform.otherOrigin.baseUrl] : []),
  ];
  const child = spawn(process.execPath, args, {
    // Less than the 30 s that a tunnel may take: a tunnel that never comes must not keep a finished process alive.
    timeout: 20_000,
    env: {
      NODE_USE_ENV_PROXY: '1',
      HTTPS_PROXY: proxyUrl,
      ...(options.baseUrl === undefined ? {} : { HTTP_PROXY: proxyUrl }),
      NODE_EXTRA_CA_CERTS: files?.cert,
    },
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk) => {
      output[name] += String(chunk);
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  expect(code, output.stderr).toBe(0);
  return JSON.parse(output.stdout) as Ending;
}

withCertificate('a creation arrives once through a working proxy', async () => {
  const { port, countRequests } = await startProxy(forward);
  // Long enough for a busy machine, because a timeout would cause a second attempt.
  const ending = await createThrough(port, { isWarm: false, timeout: 10_000 });
  expect(ending).toMatchObject({ outcome: 'ok' });
  expect(platform.idsOf('proxied')).toHaveLength(1);
  expect(countRequests()).toBe(1);
});

withCertificate('a creation is not_sent if the proxy refuses the connection', async () => {
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

withCertificate.each(
  Object.entries(rejections).flatMap(([name, treat]) => [
    { name, treat, isWarm: true },
    { name, treat, isWarm: false },
  ]),
)('a POST is not_sent if the proxy $name after CONNECT ($isWarm)', async ({ treat, isWarm }) => {
  const { port, countRequests } = await startProxy(treat);
  const ending = await createThrough(port, { isWarm });
  const once = { outcome: 'not_sent' };
  // A rejection with a 4xx is not retried.
  const attempts = treat === rejections['responds with 407'] ? [once] : [once, once];
  expect(ending).toMatchObject({ outcome: 'not_sent', attempts });
  expect(countRequests()).toBe(attempts.length);
  expect(platform.arrivalsOf('proxied')).toBe(isWarm ? 1 : 0);
  expect(platform.idsOf('proxied')).toEqual([]);
});

withCertificate.each([true, false])('a broken tunnel means unknown (warm: %s)', async (isWarm) => {
  const { port } = await startProxy(forward);
  hangsUp = true;
  expect(await createThrough(port, { isWarm })).toMatchObject({
    outcome: 'unknown',
    attempts: [{ outcome: 'unknown' }],
  });
});

withCertificate('a creation is not sent after a timeout before CONNECT', async () => {
  const { port, countRequests } = await startProxy((socket, host, target) => {
    setTimeout(() => {
      forward(socket, host, target);
    }, 700);
  });
  const ending = await createThrough(port, { isWarm: true });
  expect(ending).toMatchObject({ name: 'TimeoutError', outcome: 'not_sent' });
  expect(countRequests()).toBe(2);
  expect(platform.arrivalsOf('proxied')).toBe(1);
  expect(platform.idsOf('proxied')).toEqual([]);
});

withCertificate('an http:// base URL uses the proxy without CONNECT', async () => {
  const lines: string[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', (head) => {
      lines.push(head.toString().split('\r\n')[0] ?? '');
      socket.resetAndDestroy();
    });
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const ending = await createThrough((server.address() as AddressInfo).port, {
    isWarm: false,
    baseUrl: platform.shared.baseUrl,
  });
  // The outcome is unknown, because the proxy has received the request.
  expect(ending).toMatchObject({ outcome: 'unknown', attempts: [{ outcome: 'unknown' }] });
  expect(lines).toEqual([`POST ${platform.shared.baseUrl}/transfers HTTP/1.1`]);
});
