import type * as NodeDns from 'node:dns/promises';
import type * as NodeHttp from 'node:http';
import type * as NodeNet from 'node:net';
import { builtinModule } from '../../internal/runtime.ts';
import { fieldOf } from '../../internal/thrown.ts';

/** A POST to the `webhookUrl` of the Settings. */
export interface WebhookRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
  /** Whether the host may have any address. Otherwise only loopback addresses are allowed. */
  readonly isAllowedHost: boolean;
}

export interface WebhookResponse {
  readonly status: number;
  /** The body of the webhook handler's response, cut after about 64 KiB. */
  readonly body: string;
}

/** About how many characters of a webhook handler's response are kept. */
const maxResponseBytes = 65_536;

const isLoopbackAddress = (address: string): boolean => /^(::ffff:)?127\.|^::1$/i.test(address);

/**
 * Looks up the addresses of a webhook's host once and sends the webhook to an allowed address,
 * because a second look-up could return an address that was not checked. Follows no redirect, and
 * uses no proxy.
 * @throws Error with a message for the log.
 */
export async function sendWebhook(request: WebhookRequest): Promise<WebhookResponse> {
  const dns = builtinModule('node:dns/promises') as typeof NodeDns | undefined;
  const net = builtinModule('node:net') as typeof NodeNet | undefined;
  if (dns === undefined || net === undefined) {
    throw new Error('Deliveries need Node.js, Bun or Deno.');
  }
  const name = request.url.hostname.replaceAll(/[[\]]/g, '');
  const isAddress = net.isIP(name) !== 0;
  const resolvedAddresses = isAddress
    ? [name]
    : (await dns.lookup(name, { all: true })).map(({ address }) => address);
  const allowedAddresses = request.isAllowedHost
    ? resolvedAddresses
    : resolvedAddresses.filter(isLoopbackAddress);
  // The error if no address is allowed.
  let problem: unknown = new Error(
    `Not called: ${name} resolves to ${resolvedAddresses.join(', ')}, which is no address of the loopback interface.`,
  );
  for (const address of allowedAddresses) {
    try {
      return await post(request, address, isAddress ? '' : name);
    } catch (cause) {
      problem = cause;
      // If an address refuses the connection, try the next, because localhost has two addresses and
      // a webhook handler may listen on only one of them.
      if (fieldOf(cause, 'code') !== 'ECONNREFUSED') break;
    }
  }
  throw problem;
}

/** Sends a webhook to an address. `servername` is the host name for TLS, '' if there is none. */
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
    // Each webhook has a connection of its own. The default agent could use a proxy, or reuse an
    // idle connection that the handler has closed.
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
    // The connection of a webhook handler that hangs does not keep the sandbox's process running.
    .on('socket', (socket) => socket.unref())
    .end(body);
  return promise;
}
