import { createServer, type Socket } from 'node:net';

/*
 * A server that parses only the framing of HTTP. Step n handles request n, the last step handles
 * all later requests. It imports no test runner, so that every runtime can use it.
 */

/** One request in bytes. */
interface Arrival {
  readonly head: string;
  readonly method: string;
  readonly target: string;
  /** The headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly bytes: Buffer;
  /** The number of its connection, from 0. */
  readonly connection: number;
}

/** A request and its open connection. */
export interface Exchange extends Arrival {
  readonly socket: Socket;
  /** Writes and leaves the connection open. */
  write(bytes: string | Uint8Array): void;
  /** Writes and ends the connection. */
  reply(bytes: string | Uint8Array): void;
  /** Ends the connection with a reset. */
  reset(): void;
}

/** What happens to one request: bytes are sent, or a function runs. */
export type Step = string | Uint8Array | ((exchange: Exchange) => void);

export interface RawServer {
  readonly port: number;
  readonly origin: string;
  /** The URL for the option baseUrl. */
  readonly baseUrl: string;
  readonly arrivals: readonly Arrival[];
  /** All connections, and every byte received over each. */
  readonly connections: readonly { readonly bytes: Buffer; readonly closed: boolean }[];
  /** Resolves when `count` requests have arrived. */
  arrived(count: number): Promise<void>;
  /** Resolves when the client has closed that connection. */
  closed(connection: number): Promise<void>;
  close(): Promise<void>;
}

/** Listens on a loopback port until it is closed. */
export async function listen(...steps: readonly Step[]): Promise<RawServer> {
  const arrivals: Arrival[] = [];
  const connections: { bytes: Buffer; closed: boolean }[] = [];
  const sockets = new Set<Socket>();
  const waiting = new Set<() => void>();
  const notifyWaiting = (): void => {
    for (const check of waiting) check();
  };
  const waitUntil = (holds: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => {
        if (!holds()) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
    });

  const server = createServer((socket) => {
    const connection = connections.length;
    const seen = { bytes: Buffer.alloc(0), closed: false };
    connections.push(seen);
    sockets.add(socket);
    let rest = Buffer.alloc(0);
    // Many tests close the connection from the client side.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      seen.closed = true;
      sockets.delete(socket);
      notifyWaiting();
    });
    socket.on('data', (chunk) => {
      seen.bytes = Buffer.concat([seen.bytes, chunk]);
      rest = Buffer.concat([rest, chunk]);
      for (;;) {
        const request = takeRequest(rest, connection);
        if (request === undefined) break;
        rest = rest.subarray(request.bytes.length);
        const step = steps[Math.min(arrivals.length, steps.length - 1)];
        arrivals.push(request);
        notifyWaiting();
        if (typeof step === 'function') step(exchangeOf(request, socket));
        else if (step !== undefined) socket.end(step);
      }
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    baseUrl: `http://127.0.0.1:${port}/v0`,
    arrivals,
    connections,
    arrived: (count) => waitUntil(() => arrivals.length >= count),
    closed: (connection) => waitUntil(() => connections[connection]?.closed === true),
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => {
          resolve();
        });
      }),
  };
}

/** The bytes of a response; the connection is closed after it unless the headers keep it alive. */
export function responseBytes(
  status: number,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Buffer {
  const content =
    body instanceof Uint8Array
      ? body
      : Buffer.from(typeof body === 'string' ? body : (JSON.stringify(body) ?? ''));
  const all = {
    connection: 'close',
    'content-type': typeof body === 'string' ? 'text/html' : 'application/json',
    'content-length': String(content.length),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status} Status\r\n${lines.join('')}\r\n`, 'latin1'),
    content,
  ]);
}

const exchangeOf = (request: Arrival, socket: Socket): Exchange => ({
  ...request,
  socket,
  write: (bytes) => void socket.write(bytes),
  reply: (bytes) => void socket.end(bytes),
  reset: () => void socket.resetAndDestroy(),
});

/** The first complete request in the bytes, if there is one. */
function takeRequest(bytes: Buffer, connection: number): Arrival | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const head = bytes.subarray(0, end).toString('latin1');
  const [requestLine = '', ...lines] = head.split('\r\n');
  const [method = '', target = ''] = requestLine.split(' ');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const start = end + 4;
  let stop = start + Number(headers['content-length'] ?? 0);
  if (headers['transfer-encoding'] !== undefined) {
    const last = bytes.indexOf('0\r\n\r\n', start);
    if (last === -1) return undefined;
    stop = last + 5;
  }
  if (bytes.length < stop) return undefined;
  return {
    head,
    method,
    target,
    headers,
    body: bytes.subarray(start, stop).toString('utf8'),
    bytes: bytes.subarray(0, stop),
    connection,
  };
}
