import type { Kind } from '../errors/outcome.ts';
import { host, isNativeFetch, runtime, type Runtime } from '../internal/runtime.ts';
import type { Fetch, GetWithBody, Transport, TransportResponse } from './transport.ts';

/** The wire for everything but GET with a body, over the user's own fetch or the global one. */
export function fetchTransport(send: Fetch, kind: Kind): Transport {
  const here = runtime();
  return {
    // Node's own fetch is on this wire only when the global one was replaced. It hands its requests to a
    // dispatcher, which may be anybody's, and tells of the last time only.
    runtime: (here === 'bun' || here === 'deno') && isNativeFetch(send) ? here : 'other',
    // Bun and Deno repeat a request whose reused connection turns out dead, unless it is sent as below.
    sendsOnce: kind !== 'safe',
    wantsRequest: true,
    send: async ({ stop }, built) =>
      asReply(await send(built, { signal: stop.signal, ...noStore(), ...seal(here, kind) })),
  };
}

/** What a fetch gave, if that is an answer to this request. One of the user's own may give anything. */
function asReply(given: Partial<Response> | null | undefined): TransportResponse {
  if (typeof given?.status !== 'number' || typeof given.headers?.get !== 'function') {
    throw new TypeError('the custom fetch returned something that is not a Response');
  }
  if (given.redirected === true) {
    // What the first address made of the request, nobody knows.
    throw new TypeError('the custom fetch followed a redirect');
  }
  const { body } = given;
  const isStream = body === null || typeof body?.getReader === 'function';
  return isStream ? (given as Response) : withStream(given as Response);
}

/**
 * node-fetch gives a stream of another kind, and what was made for a test often none. It is read when
 * somebody asks: the status says something of a body that never ends, too.
 */
function withStream(given: Partial<Response> & Omit<TransportResponse, 'body'>): TransportResponse {
  const { status, statusText, headers } = given;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const read = await (given.arrayBuffer?.() ?? given.text?.() ?? '');
        const isText = typeof read === 'string';
        controller.enqueue(isText ? new TextEncoder().encode(read) : new Uint8Array(read));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return { ok: status >= 200 && status < 300, status, statusText, headers, body };
}

/** A seam of the user's own for GET with a body. */
export const givenGetWithBody = (send: GetWithBody): Transport => ({
  runtime: 'other',
  sendsOnce: false,
  wantsRequest: true,
  send: async ({ body = '' }, built) => asReply(await send(built, body)),
});

/**
 * The body in the form in which this runtime does not send it twice. Deno replays text on a dead
 * connection, even a POST; a Blob it does not.
 */
export const sealedBody = (text: string): string | Blob =>
  runtime() === 'deno' ? new Blob([text]) : text;

let freshConnections: object | undefined;

function seal(here: Runtime, kind: Kind): object {
  if (kind === 'safe') return {};
  if (here === 'bun') return { keepalive: false };
  if (here !== 'deno') return {};
  freshConnections ??= { client: host.Deno?.createHttpClient?.({ poolMaxIdlePerHost: 0 }) };
  return freshConnections;
}

let noStoreInit: RequestInit | undefined;

/**
 * Some frameworks cache what fetch answers; a balance must be current. Older Workers refuse the
 * option, so it is tried once.
 */
function noStore(): RequestInit {
  if (noStoreInit !== undefined) return noStoreInit;
  try {
    void new Request('https://probe.invalid', { cache: 'no-store' });
    noStoreInit = { cache: 'no-store' };
  } catch {
    noStoreInit = {};
  }
  return noStoreInit;
}
