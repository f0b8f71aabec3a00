import type { Kind } from '../outcome.ts';
import { host, isNativeFetch, runtime, type Runtime } from '../runtime.ts';
import { bodylessStatuses, type Fetch, type GetWithBody, type Wire } from './wire.ts';

/** The wire for everything but GET with a body, over the user's own fetch or the global one. */
export function fetchWire(send: Fetch, kind: Kind): Wire {
  const here = runtime();
  return {
    // Node's own fetch is on this wire only when the global one was replaced. It hands its requests to a
    // dispatcher, which may be anybody's, and tells of the last time only.
    runtime: (here === 'bun' || here === 'deno') && isNativeFetch(send) ? here : 'other',
    // Bun and Deno repeat a request whose reused connection turns out dead, unless it is sent as below.
    sendsOnce: kind !== 'safe',
    wantsRequest: true,
    send: async ({ stop }, built) =>
      asAnswer(await send(built, { signal: stop.signal, ...noStore(), ...seal(here, kind) })),
  };
}

/** What a fetch gave, if that is an answer to this request. One of the user's own may give anything. */
async function asAnswer(given: Partial<Response> | null | undefined): Promise<Response> {
  if (typeof given?.status !== 'number' || typeof given.headers?.get !== 'function') {
    throw new TypeError('the custom fetch returned something that is not a Response');
  }
  if (given.redirected === true) {
    // What the first address made of the request, nobody knows.
    throw new TypeError('the custom fetch followed a redirect');
  }
  const { body, headers } = given;
  const isResponse = body === null || typeof body?.getReader === 'function';
  return isResponse && typeof headers.append === 'function' ? (given as Response) : rebuilt(given);
}

/** node-fetch gives a stream of another kind, and what was made for a test often has none. */
async function rebuilt(given: Partial<Response>): Promise<Response> {
  const { status = 0, statusText = '', headers } = given;
  const body = (await (given.arrayBuffer?.() ?? given.text?.())) ?? null;
  // One made for a test may have `get` alone.
  const fields = headers !== undefined && Symbol.iterator in headers ? [...headers] : [];
  return new Response(bodylessStatuses.has(status) ? null : body, {
    status,
    statusText,
    headers: new Headers(fields),
  });
}

/** A seam of the user's own for GET with a body. */
export const givenGetWithBody = (send: GetWithBody): Wire => ({
  runtime: 'other',
  sendsOnce: false,
  wantsRequest: true,
  send: async ({ body = '' }, built) => asAnswer(await send(built, body)),
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
