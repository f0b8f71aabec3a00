import type { Kind } from '../errors/outcome.ts';
import { host, isNativeFetch, runtime, type Runtime } from '../internal/runtime.ts';
import type { Fetch, GetWithBody, Transport, TransportResponse } from './transport.ts';

/** Creates the transport for all but GET with a body, over a custom fetch or the global one. */
export function createFetchTransport(send: Fetch, kind: Kind): Transport {
  const here = runtime();
  return {
    // On Node, this transport is used only with a fetch that is not Node's. Its dispatcher may be custom
    // and report only the last of several attempts.
    runtime: (here === 'bun' || here === 'deno') && isNativeFetch(send) ? here : 'other',
    // Bun and Deno repeat a request when a reused connection is dead, unless it is sent as below.
    sendsOnce: kind !== 'safe',
    wantsRequest: true,
    send: async ({ stop }, built) =>
      toTransportResponse(
        await send(built, {
          signal: stop.signal,
          ...getCacheInit(),
          ...getConnectionInit(here, kind),
        }),
      ),
  };
}

/** Creates the transport for GET with a body over the caller's function. */
export const createGetWithBodyTransport = (send: GetWithBody): Transport => ({
  runtime: 'other',
  sendsOnce: false,
  wantsRequest: true,
  send: async ({ body = '' }, built) => toTransportResponse(await send(built, body)),
});

/** Checks the result of a fetch: a custom one may return anything. */
function toTransportResponse(result: Partial<Response> | null | undefined): TransportResponse {
  if (typeof result?.status !== 'number' || typeof result.headers?.get !== 'function') {
    throw new TypeError('the custom fetch returned something that is not a Response');
  }
  if (result.redirected === true) {
    // What the first address did with the request is unknown.
    throw new TypeError('the custom fetch followed a redirect');
  }
  const { body } = result;
  const hasWebStream = body === null || typeof body?.getReader === 'function';
  return hasWebStream ? (result as Response) : withWebStream(result as Response);
}

/**
 * Adds a web stream: node-fetch has a stream of another kind, and test doubles often have none. It is
 * read only on demand, because the status counts even when the body never ends.
 */
function withWebStream(
  response: Partial<Response> & Omit<TransportResponse, 'body'>,
): TransportResponse {
  const { status, statusText, headers } = response;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const content = await (response.arrayBuffer?.() ?? response.text?.() ?? '');
        const isText = typeof content === 'string';
        controller.enqueue(isText ? new TextEncoder().encode(content) : new Uint8Array(content));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return { ok: status >= 200 && status < 300, status, statusText, headers, body };
}

/**
 * Converts a body to a form that this runtime does not send twice. Deno replays a string on a dead
 * connection, even for a POST, but not a Blob.
 */
export const toUnrepeatableBody = (text: string): string | Blob =>
  runtime() === 'deno' ? new Blob([text]) : text;

let freshConnections: object | undefined;

/** Options of a fetch that keep a write off reused connections. */
function getConnectionInit(here: Runtime, kind: Kind): object {
  if (kind === 'safe') return {};
  if (here === 'bun') return { keepalive: false };
  if (here !== 'deno') return {};
  freshConnections ??= { client: host.Deno?.createHttpClient?.({ poolMaxIdlePerHost: 0 }) };
  return freshConnections;
}

let cacheInit: RequestInit | undefined;

/**
 * Options of a fetch against the caches of frameworks: a balance must be current. Older Workers throw
 * on the option, so it is tried once.
 */
function getCacheInit(): RequestInit {
  if (cacheInit !== undefined) return cacheInit;
  try {
    void new Request('https://probe.invalid', { cache: 'no-store' });
    cacheInit = { cache: 'no-store' };
  } catch {
    cacheInit = {};
  }
  return cacheInit;
}
