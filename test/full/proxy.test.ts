import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { closedPort } from '../support/closed-port.ts';
import { usual } from './faults.ts';
import { FaultPlatform } from './server.ts';

// A proxy on the way, as Node itself uses one: NODE_USE_ENV_PROXY is read when a process starts, so
// each call has a process of its own.

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

/** What a proxy does when it is asked for a way to the platform. */
type Meets = (socket: Socket, host: string, port: number) => void;

const letThrough: Meets = (socket, host, port) => {
  const onward = connect(port, host, () => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    socket.pipe(onward).pipe(socket);
  });
  sockets.add(onward);
  onward.on('error', () => socket.destroy());
};

const says =
  (status: string): Meets =>
  (socket) =>
    socket.end(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`);

/** A proxy that treats the way to the platform's own port so, and lets everything else through. */
async function proxy(meets: Meets): Promise<{ port: number; asked: () => number }> {
  let asked = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', (head) => {
      const [, host = '', port = ''] = /^CONNECT ([^ :]+):(\d+) /.exec(head.toString()) ?? [];
      const isMeant = Number(port) === platform.shared.port;
      if (isMeant) asked += 1;
      (isMeant ? meets : letThrough)(socket, host, Number(port));
    });
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, asked: () => asked };
}

interface Told {
  readonly name?: string;
  readonly outcome: string;
  readonly code?: string;
  readonly attempts: readonly { readonly outcome: string; readonly durationMs: number }[];
}

/** How a creation ends in a process that has to go through this proxy. */
async function proxied(
  proxyPort: number,
  options: {
    readonly isWarm: boolean;
    /** Milliseconds for one attempt. */
    readonly timeout?: number;
    readonly onTold?: () => void;
  },
): Promise<Told> {
  const proxyUrl = `http://127.0.0.1:${proxyPort}`;
  const args = [
    script,
    String(options.timeout ?? 500),
    platform.shared.baseUrl,
    ...(options.isWarm ? [platform.beside.baseUrl] : []),
  ];
  const child = spawn(process.execPath, args, {
    env: { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxyUrl, NO_PROXY: '' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk);
      options.onTold?.();
    });
  }
  await once(child, 'close');
  return JSON.parse(output) as Told;
}

test('through a proxy that works, a creation arrives once', async () => {
  const { port, asked } = await proxy(letThrough);
  // A busy machine takes its time, and this one must not become a second attempt.
  const told = await proxied(port, { isWarm: false, timeout: 10_000 });
  expect(told).toMatchObject({ outcome: 'ok' });
  expect(platform.idsOf('proxied')).toHaveLength(1);
  expect(asked()).toBe(1);
});

test('a proxy that refuses connections proves that nothing was sent', async () => {
  expect(await proxied(closedPort.port, { isWarm: false })).toMatchObject({
    name: 'ConnectionError',
    code: 'ECONNREFUSED',
    outcome: 'not_sent',
    attempts: [{ outcome: 'not_sent' }, { outcome: 'not_sent' }],
  });
});

const rejections: Readonly<Record<string, Meets>> = {
  'answers 407': says('407 Proxy Authentication Required'),
  'answers 502': says('502 Bad Gateway'),
  'closes the connection': (socket) => socket.end(),
  'resets the connection': (socket) => socket.resetAndDestroy(),
  'says nothing': () => undefined,
};

test.each(
  Object.entries(rejections).flatMap(([name, meets]) => [
    { name, meets, isWarm: true },
    { name, meets, isWarm: false },
  ]),
)(
  'a proxy that $name when asked for the way, warm $isWarm: nothing was sent, and the wire knows',
  async ({ meets, isWarm }) => {
    const { port, asked } = await proxy(meets);
    const told = await proxied(port, { isWarm });
    const once = { outcome: 'not_sent' };
    // What a proxy refuses with a 4xx, it refuses again.
    const attempts = meets === rejections['answers 407'] ? [once] : [once, once];
    expect(told).toMatchObject({ outcome: 'not_sent', attempts });
    // undici asks a proxy that hangs up again and again; only our timeout ends the call.
    for (const { durationMs } of told.attempts) expect(durationMs).toBeLessThan(1_500);
    expect(asked()).toBeGreaterThanOrEqual(1);
    expect(platform.arrivalsOf('proxied')).toBe(isWarm ? 1 : 0);
    expect(platform.idsOf('proxied')).toEqual([]);
  },
);

test.each([true, false])(
  'a proxy that takes the request and hangs up proves nothing, warm %s',
  async (isWarm) => {
    const { port } = await proxy((socket) => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.once('data', () => socket.resetAndDestroy());
    });
    expect(await proxied(port, { isWarm })).toMatchObject({
      outcome: 'unknown',
      attempts: [{ outcome: 'unknown' }],
    });
  },
);

// undici goes on asking such a proxy, as it does for Node's own fetch: a request that has no
// connection yet cannot be taken back from it, only kept back when its turn comes.
test('what was given up before there was a way is not sent when there is one', async () => {
  let isOver = false;
  let ways = 0;
  const { port } = await proxy((socket, host, target) => {
    if (isOver) ways += 1;
    (isOver ? letThrough : (each: Socket) => each.end())(socket, host, target);
  });
  const told = await proxied(port, {
    isWarm: true,
    onTold: () => {
      isOver = true;
    },
  });
  expect(told.outcome).toBe('not_sent');
  expect(ways).toBeGreaterThan(0);
  expect(platform.arrivalsOf('proxied')).toBe(1);
  expect(platform.idsOf('proxied')).toEqual([]);
});
