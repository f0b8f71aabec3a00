/**
 * A sandbox behind a port, for Node.js, Bun and Deno.
 *
 * @module payments-platform-sdk/sandbox/server
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { problemReply, type Reply, type SandboxAnswer } from './api/answer.ts';
import type { SandboxCredentials } from './api/credentials.ts';
import { SandboxError, wordsOf } from './platform/problem.ts';
import type { Sandbox } from './sandbox.ts';

/** More than any documented request needs. */
const mostBytes = 1024 * 1024;

/** Where a sandbox is to listen. */
export interface ListenOptions {
  /** 0 takes any free port. @default 0 */
  port?: number | undefined;
  /** The address to listen on. @default '127.0.0.1' */
  host?: string | undefined;
}

/** A sandbox that listens on a port. */
export interface SandboxServer {
  /** URL of the versioned API; ends in `/v0`. */
  readonly baseUrl: string;
  /** The root of the instruction and transaction endpoints. */
  readonly rootUrl: string;
  /** The port that was taken. */
  readonly port: number;
  /** Options for `new PaymentsClient(…)`. */
  readonly clientOptions: SandboxCredentials & {
    /** URL of the versioned API on this server. */
    readonly baseUrl: string;
    /** The other root of this server. */
    readonly rootUrl: string;
  };
  /** Stops listening and ends every open connection at once. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Puts a sandbox on a port, with faults on a real socket: a reset is a reset.
 * @throws SandboxError with the code `cannot_listen` when the port is taken or not allowed;
 *   RangeError when it is not a port at all.
 *
 * @example
 * ```ts
 * import { PaymentsClient } from 'payments-platform-sdk';
 * import { listen } from 'payments-platform-sdk/sandbox/server';
 *
 * const server = await listen(sandbox, { port: 0 });
 * const client = new PaymentsClient(server.clientOptions);
 * console.log((await client.accounts.list()).data.length);
 * await server.close();
 * ```
 */
export async function listen(
  sandbox: Sandbox,
  options: ListenOptions = {},
): Promise<SandboxServer> {
  const { port: wanted = 0, host = '127.0.0.1' } = options;
  // Node would take a text for the path of a socket.
  if (typeof wanted !== 'number') throw new RangeError('The port has to be a number.');
  const server = createServer((request, response) => {
    void serve(sandbox, request, response);
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      reject(cannotListen(wanted, host, cause));
    });
    server.listen(wanted, host, () => {
      resolve((server.address() as AddressInfo).port);
    });
  });
  const rootUrl = `http://${reachable(host)}:${port}`;
  const baseUrl = `${rootUrl}/v0`;
  const close = () =>
    new Promise<void>((resolve) => {
      // Closing a server twice is not an error.
      server.close(() => {
        resolve();
      });
      server.closeAllConnections();
    });
  const { apiKey, jwt } = sandbox;
  const clientOptions = { baseUrl, rootUrl, apiKey, jwt };
  return { baseUrl, rootUrl, port, clientOptions, close, [Symbol.asyncDispose]: close };
}

async function serve(
  sandbox: Sandbox,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => {
    gone.abort();
  });
  try {
    const body = await bodyOf(request);
    if (body === undefined) {
      send(response, tooLarge());
      return;
    }
    const answer = await sandbox.handle({
      method: request.method ?? '',
      url: urlOf(request),
      headers: new Headers({ authorization: request.headers.authorization ?? '' }),
      body,
      signal: gone.signal,
    });
    show(response, answer);
  } catch (cause) {
    // If the caller has left, which ends a delay, this goes nowhere.
    send(response, defect(cause));
  }
}

function show(response: ServerResponse, answer: SandboxAnswer): void {
  switch (answer.kind) {
    case 'complete':
      send(response, answer);
      return;
    case 'truncated':
      sendHalf(response, answer, () => response.socket?.destroy());
      return;
    case 'stalled':
      sendHalf(response, answer, () => {});
      return;
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'hang':
    // No answer, ever.
  }
}

function send(response: ServerResponse, { status, headers, body }: Reply): void {
  const length = body === null ? {} : { 'content-length': Buffer.byteLength(body) };
  response.writeHead(status, { ...headers, ...length }).end(body);
}

function sendHalf(
  response: ServerResponse,
  { status, headers, body }: Reply,
  then: () => void,
): void {
  const bytes = Buffer.from(body ?? '');
  response.writeHead(status, { ...headers, 'content-length': bytes.length });
  response.write(bytes.subarray(0, bytes.length >> 1), then);
}

/** The body as text, or undefined when it is too large. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    // The rest is still read: many clients never see an answer that comes in the middle of an upload.
    if (length <= mostBytes) chunks.push(chunk);
  }
  return length > mostBytes ? undefined : Buffer.concat(chunks).toString('utf8');
}

/** Proxies send the whole URL, everybody else the path alone; the host does not matter. */
const urlOf = ({ url = '' }: IncomingMessage) =>
  url.startsWith('/') || !URL.canParse(url)
    ? `http://sandbox.invalid/${url.replace(/^\/+/, '')}`
    : url;

const tooLarge = () =>
  problemReply(
    new SandboxError('The body is larger than 1 MiB.', { code: 'body_too_large', status: 413 }),
  );

const defect = (cause: unknown) =>
  problemReply(
    new SandboxError(`The sandbox itself failed: ${wordsOf(cause)}`, {
      code: 'sandbox_defect',
      status: 500,
    }),
  );

function cannotListen(port: number, host: string, cause: NodeJS.ErrnoException): SandboxError {
  const why =
    cause.code === 'EADDRINUSE'
      ? 'something else listens there. Choose another port, or 0 for any free one.'
      : `${cause.message}.`;
  return new SandboxError(`The sandbox cannot listen on port ${port} of ${host}: ${why}`, {
    code: 'cannot_listen',
    status: 500,
    cause,
  });
}

/** A server on every interface is reached through the loopback one; a machine may lack `::1`. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
