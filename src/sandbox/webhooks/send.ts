import type * as NodeDns from 'node:dns/promises';
import type * as NodeHttp from 'node:http';
import type * as NodeNet from 'node:net';
import { builtinModule } from '../../internal/runtime.ts';
import { fieldOf } from '../../internal/thrown.ts';

/** A POST to the `webhookUrl`. */
export interface WebhookRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Ends the request. */
  readonly signal: AbortSignal;
  /** Whether any address of the host is allowed, and not only those of the loopback interface. */
  readonly isAllowedHost: boolean;
}

/** The response of a handler. */
export interface WebhookResponse {
  readonly status: number;
  /** The response body, cut after about 64 KiB. */
  readonly body: string;
}

/** More of a response is not kept. */
const maxResponseBytes = 65_536;

const isLoopbackAddress = (address: string): boolean => /^(::ffff:)?127\.|^::1$/i.test(address);

/**
 * Sends a request to an address that was checked, not to a name that may resolve to another one the next
 * time. It follows no redirect and uses no proxy.
 * @throws Error with a message for the log.
 */
export async function sendWebhook(request: WebhookRequest): Promise<WebhookResponse> {
  const dns = builtinModule('node:dns/promises') as typeof NodeDns | undefined;
  const net = builtinModule('node:net') as typeof NodeNet | undefined;
  if (dns === undefined || net === undefined) {
    throw new Error('Deliveries need Node.js, Bun or Deno.');
  }
  const name = request.url.hostname.replaceAll(/[[\]]/g, '');
  const resolved =
    net.isIP(name) === 0
      ? (await dns.lookup(name, { all: true })).map(({ address }) => address)
      : [name];
  const addresses = request.isAllowedHost ? resolved : resolved.filter(isLoopbackAddress);
  let problem: unknown = new Error(
    `Not called: ${name} resolves to ${resolved.join(', ')}, which is no address of the loopback interface.`,
  );
  for (const address of addresses) {
    try {
      return await post(request, address, net.isIP(name) === 0 ? name : '');
    } catch (cause) {
      problem = cause;
      // localhost has two addresses, and a handler may listen on one of them.
      if (fieldOf(cause, 'code') !== 'ECONNREFUSED') break;
    }
  }
  throw problem;
}

function post(
  { url, headers, body, signal }: WebhookRequest,
  address: string,
  servername: string,
): Promise<WebhookResponse> {
  const http = builtinModule(`node:${url.protocol.slice(0, -1)}`) as typeof NodeHttp;
  const { promise, resolve, reject } = Promise.withResolvers<WebhookResponse>();
  const options = {
    method: 'POST',
    host: address,
    port: url.port,
    path: url.pathname + url.search,
    headers: {
      host: url.host,
      'content-type': 'application/json',
      'user-agent': 'payments-sandbox',
      'content-length': new TextEncoder().encode(body).length,
      ...headers,
    },
    signal,
    // Its own connection: an agent of the process may use a proxy, or an idle connection that is closed.
    agent: false,
    servername,
    ...(url.username === '' ? {} : { auth: decodeURIComponent(`${url.username}:${url.password}`) }),
  } as const;
  http
    .request(options, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        if (text.length < maxResponseBytes) text += chunk;
      });
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, body: text });
      });
      response.on('error', reject);
    })
    .on('error', reject)
    // A handler that hangs does not keep a sandbox alive that is ending.
    .on('socket', (socket) => socket.unref())
    .end(body);
  return promise;
}
