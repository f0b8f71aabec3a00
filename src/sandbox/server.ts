/**
 * A sandbox that listens on a port, for Node.js, Bun and Deno.
 * @module payments-platform-sdk/sandbox/server
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { stringifyJson } from '../internal/json.ts';
import { createErrorReply, errorReply, type Reply, type SandboxReply } from './api/responses.ts';
import {
  createCorsHeaders,
  createPreflightReply,
  checkHost,
  checkOrigin,
  type Hosts,
} from './control/callers.ts';
import { controlPath, feeds, handleControl, readFeed, type Feed } from './control/endpoints.ts';
import { createPageReply, uncachedHeaders } from './control/page-reply.ts';
import { createOpenApiReply } from './openapi/document.ts';
import { openApi } from './openapi/openapi.ts';
import { page } from './page/page.ts';
import { parseHostName } from './platform/hosts.ts';
import { SandboxError, getMessage } from './platform/sandbox-error.ts';
import type { Sandbox, SandboxClientOptions } from './sandbox.ts';

const mebibyte = 1024 * 1024;
/** Returns the maximum size of a request body. Only PUT state needs more than 1 MiB. */
const getMaxMebibytes = (method: string | undefined, path: string): number =>
  method === 'PUT' && path === `${controlPath}state` ? 64 : 1;

/** Options of {@link listen}. */
export interface ListenOptions {
  /** The port to listen on; 0 takes any free port. @default 0 */
  port?: number | undefined;
  /** The address to listen on. @default '127.0.0.1' */
  host?: string | undefined;
  /**
   * Further host names of the sandbox, besides `host` and loopback names, such as the name of a
   * container. Requests under any other name are rejected, because a foreign page could send them.
   */
  allowHosts?: readonly string[] | undefined;
}

/** A server that makes a sandbox available on a port. */
export interface SandboxServer {
  /** URL of the versioned API on this server, which ends in `/v0`. */
  readonly baseUrl: string;
  /** URL of the instruction and transaction endpoints on this server. */
  readonly rootUrl: string;
  /** The port that the server listens on. */
  readonly port: number;
  /** Options for `new PaymentsClient(…)`, which then calls this server. */
  readonly clientOptions: Omit<SandboxClientOptions, 'fetch' | 'getWithBody'>;
  /** Stops the server, and ends every open connection at once. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts a {@link SandboxServer} on a port of this machine, with faults on real connections.
 * @throws SandboxError with the code `cannot_listen` when the port is taken or not allowed;
 *   RangeError when it is not a valid port.
 *
 * @example
 * ```ts
 * import { PaymentsClient } from 'payments-platform-sdk';
 * import { Sandbox } from 'payments-platform-sdk/sandbox';
 * import { listen } from 'payments-platform-sdk/sandbox/server';
 *
 * const server = await listen(new Sandbox(), { port: 0 });
 * const client = new PaymentsClient(server.clientOptions);
 * console.log((await client.accounts.list()).data.length);
 * await server.close();
 * ```
 */
export async function listen(
  sandbox: Sandbox,
  options: ListenOptions = {},
): Promise<SandboxServer> {
  const { port: requestedPort = 0, host = '127.0.0.1', allowHosts = [] } = options;
  // Node.js would take a port that is a string for the path of a socket.
  if (typeof requestedPort !== 'number') throw new RangeError('The port has to be a number.');
  const hostNames = [bracketAddress(host), ...allowHosts];
  const hosts: Hosts = new Set(hostNames.map((name) => parseHostName(name) ?? name));
  sandbox.setStart();
  const server = createServer((request, response) => {
    void serve(sandbox, hosts, request, response);
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      reject(createListenError(requestedPort, host, cause));
    });
    server.listen(requestedPort, host, () => {
      resolve((server.address() as AddressInfo).port);
    });
  });
  const rootUrl = `http://${getReachableHost(host)}:${port}`;
  const baseUrl = `${rootUrl}/v0`;
  const close = () =>
    new Promise<void>((resolve) => {
      // Ignore the error of `server.close`, because it only says that the server is closed already.
      server.close(() => {
        resolve();
      });
      server.closeAllConnections();
    });
  const { apiKey, jwt } = sandbox;
  const clientOptions = { baseUrl, rootUrl, apiKey, jwt, validation: 'strict' } as const;
  return { baseUrl, rootUrl, port, clientOptions, close, [Symbol.asyncDispose]: close };
}

/** Responds to a request for the API, the control endpoints, the web page or openapi.json. */
async function serve(
  sandbox: Sandbox,
  hosts: Hosts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const disconnection = new AbortController();
  response.once('close', () => {
    disconnection.abort();
  });
  try {
    const url = new URL(getUrl(request));
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const maxMebibytes = getMaxMebibytes(request.method, url.pathname);
    const body = await readRequestBody(request, maxMebibytes * mebibyte);
    const rejection = checkHost(request.headers.host, hosts);
    const corsHeaders = createCorsHeaders(request.headers.origin, hosts);
    if (rejection !== undefined) {
      send(response, rejection);
    } else if (body === undefined) {
      const message = `The body is larger than ${maxMebibytes} MiB.`;
      send(response, createErrorReply(413, 'body_too_large', message));
    } else if (url.pathname.startsWith(controlPath)) {
      serveControl(sandbox, request, response, { url, body });
    } else if (url.pathname === '/' && isRead) {
      send(response, await createPageReply(await page()));
    } else if (url.pathname === '/openapi.json' && isRead) {
      send(response, createOpenApiReply(await openApi(), request.headers.host, corsHeaders));
    } else {
      const { signal } = disconnection;
      await serveApi(sandbox, request, response, { url, body, signal, corsHeaders });
    }
  } catch (cause) {
    // If the caller aborted during a delay, its connection is closed and nobody gets this response.
    send(response, cause instanceof SandboxError ? errorReply(cause) : createDefectReply(cause));
  }
}

/** Serves a request below `/_sandbox/`, by which a test or the page controls the sandbox. */
function serveControl(
  sandbox: Sandbox,
  request: IncomingMessage,
  response: ServerResponse,
  { url, body }: { url: URL; body: string },
): void {
  const { method = '', headers } = request;
  const rejection = checkOrigin(headers);
  const feed = feeds[url.pathname.slice(controlPath.length)];
  if (
    rejection === undefined &&
    method === 'GET' &&
    feed !== undefined &&
    headers.accept?.includes('text/event-stream') === true
  ) {
    // A browser that reconnects names the last event that it has received.
    const lastEventId = headers['last-event-id'];
    if (typeof lastEventId === 'string') url.searchParams.set('after', lastEventId);
    streamFeed(feed, sandbox, response, url.searchParams);
  } else {
    const reply = rejection ?? handleControl(sandbox, { method, url, body });
    send(response, { ...reply, headers: { ...reply.headers, ...uncachedHeaders } });
  }
}

/** Lets the sandbox perform a request for the API, and adds headers for allowed web pages. */
async function serveApi(
  sandbox: Sandbox,
  { method = '', headers }: IncomingMessage,
  response: ServerResponse,
  call: { url: URL; body: string; signal: AbortSignal; corsHeaders: Record<string, string> },
): Promise<void> {
  const { url, body, signal, corsHeaders } = call;
  if (method === 'OPTIONS') {
    send(response, createPreflightReply(corsHeaders, headers['access-control-request-headers']));
    return;
  }
  const used = new Headers({ authorization: headers.authorization ?? '' });
  if ('idempotency-key' in headers) used.set('idempotency-key', 'ignored');
  const reply = await sandbox.handle({
    method,
    url: url.href,
    headers: used,
    atRoot: true,
    body,
    signal,
  });
  sendReply(
    response,
    'status' in reply ? { ...reply, headers: { ...reply.headers, ...corsHeaders } } : reply,
  );
}

/** The server closes the stream of a reader who leaves more than this number of bytes unread. */
const maxUnread = 8 * mebibyte;

/**
 * Streams the log or the changes as server-sent events: items after an id, then each new item and
 * each reset, until the caller disconnects. If the caller reads too slowly, the connection ends.
 */
function streamFeed(
  feed: Feed,
  sandbox: Sandbox,
  response: ServerResponse,
  query: URLSearchParams,
): void {
  const items = readFeed(feed, sandbox, query);
  const startEvent = query.has('latest') ? formatStart(feed, sandbox, query, items.length) : '';
  response.writeHead(200, { ...uncachedHeaders, 'content-type': 'text/event-stream' });
  const formatEvent = (item: (typeof items)[number]) =>
    `id: ${item.id}\ndata: ${stringifyJson(item)}\n\n`;
  response.flushHeaders();
  response.write(startEvent + items.map(formatEvent).join(''));
  // The first items of a stream can exceed the maximum of unread bytes, so do not count them.
  const maxUnreadBytes = maxUnread + response.writableLength;
  const write = (text: string) => {
    response.write(text);
    if (response.writableLength > maxUnreadBytes) response.destroy();
  };
  const stopFeed = feed.listen(sandbox, (item) => {
    write(formatEvent(item));
  });
  const stopReset = sandbox.onReset(() => {
    write('event: reset\ndata: {}\n\n');
  });
  // A line that starts with a colon is a comment, sent so that no proxy closes an idle connection.
  const heartbeat = setInterval(write, 15_000, ':\n\n');
  response.once('close', () => {
    stopFeed();
    stopReset();
    clearInterval(heartbeat);
  });
}

/** Returns the event that begins a stream with `latest`: how many items that has left out. */
function formatStart(feed: Feed, sandbox: Sandbox, query: URLSearchParams, sent: number): string {
  const all = new URLSearchParams(query);
  all.delete('latest');
  const leftOut = readFeed(feed, sandbox, all).length - sent;
  return `event: start\ndata: ${JSON.stringify({ leftOut })}\n\n`;
}

/** Sends a response, whole or cut by a fault, breaks the connection, or sends nothing at all. */
function sendReply(response: ServerResponse, reply: SandboxReply): void {
  if (reply.kind === 'hang') return;
  if (reply.kind === 'reset') response.socket?.resetAndDestroy();
  else if (reply.kind === 'complete') send(response, reply);
  else sendHalf(response, reply, reply.kind === 'truncated');
}

function send(response: ServerResponse, { status, headers, body }: Reply): void {
  const length = body === null ? {} : { 'content-length': Buffer.byteLength(body) };
  response.writeHead(status, { ...headers, ...length }).end(body);
}

function sendHalf(
  response: ServerResponse,
  { status, headers, body }: Reply,
  isCutOff: boolean,
): void {
  const bytes = Buffer.from(body ?? '');
  response.writeHead(status, { ...headers, 'content-length': bytes.length });
  response.write(bytes.subarray(0, bytes.length >> 1), () => {
    if (isCutOff) response.socket?.destroy();
  });
}

/** Returns the text of a request body, or undefined when the body is too large. */
async function readRequestBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    // The rest of a body that is too large is still read, because many clients miss a response that
    // comes in the middle of their upload.
    if (length <= maxBytes) chunks.push(chunk);
  }
  return length > maxBytes ? undefined : Buffer.concat(chunks).toString('utf8');
}

/**
 * Returns the URL of a request, with a made-up host if the request sends only a path. A client that
 * uses the sandbox as its proxy sends a whole URL.
 */
const getUrl = ({ url = '' }: IncomingMessage) =>
  url.startsWith('/') || !URL.canParse(url)
    ? `http://sandbox.invalid/${url.replace(/^\/+/, '')}`
    : url;

const createDefectReply = (cause: unknown) =>
  createErrorReply(500, 'sandbox_defect', `The sandbox itself failed: ${getMessage(cause)}`);

function createListenError(port: number, host: string, cause: NodeJS.ErrnoException): SandboxError {
  const why =
    cause.code === 'EADDRINUSE'
      ? 'another process listens there. Choose another port, or 0 for any free one.'
      : `${cause.message}.`;
  return new SandboxError(`The sandbox cannot listen on port ${port} of ${host}: ${why}`, {
    code: 'cannot_listen',
    status: 500,
    cause,
  });
}

/** Returns the host for the server's URL: a loopback name for a server on every interface. */
function getReachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return 'localhost';
  return bracketAddress(host);
}

/** Writes an IPv6 address as URLs and Host headers do. */
const bracketAddress = (host: string) => (host.includes(':') ? `[${host}]` : host);
