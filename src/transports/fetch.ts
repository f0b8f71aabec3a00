import type { Evidence, Kind } from '../errors/outcome.ts';
import { host, isNativeFetch, runtime, type Runtime } from '../internal/runtime.ts';
import type {
  Fetch,
  GetWithBody,
  Transport,
  TransportRequest,
  TransportResponse,
} from './transport.ts';

/** Creates the transport over a custom or global fetch, for all requests but a GET with a body. */
export function createFetchTransport(send: Fetch, kind: Kind): Transport {
  const here = runtime();
  return {
    // On Node, this transport uses only a fetch that is not Node's own. An error of such a fetch
    // proves nothing, because a dispatcher may make several attempts and report only the last one.
    runtime: (here === 'bun' || here === 'deno') && isNativeFetch(send) ? here : 'other',
    // Bun and Deno send a request again if its connection was dead, except for writes: getFreshInit.
    sendsOnce: kind !== 'safe',
    send: async (request, evidence) => {
      const { url, body, scan } = request;
      const init = createInit(request);
      const content = body !== undefined && { body: toUnrepeatableBody(body) };
      const built = createRequest(url, { ...init, ...content }, evidence);
      return toTransportResponse(
        // A fetch of another library takes this Request for a URL, and reads the rest in `init`.
        await send(Object.assign(built, { toString: () => url }), {
          ...init,
          // Libraries for Node.js do not read the body of this Request.
          ...(body !== undefined && here === 'node' && { body: readOnce(body) }),
          // Pass the headers of the Request, because a custom fetch may set a header of that Request.
          headers: built.headers,
          ...getCacheInit(),
          ...(kind === 'safe' && scan === undefined ? {} : getFreshInit(here)),
        }),
      );
    },
  };
}

const createInit = ({ method, headers, stop }: TransportRequest) => ({
  method,
  headers,
  // The API reference mentions no redirects, so none is followed: docs/gaps.md, row 58.
  redirect: 'manual' as const,
  signal: stop.signal,
});

function createRequest(url: string, init: RequestInit, evidence: Evidence): Request {
  Object.assign(evidence, { started: false, isRefused: true });
  const built = new Request(url, init);
  Object.assign(evidence, { started: undefined, isRefused: false });
  return built;
}

/** Creates the transport that sends a GET with a body by the user's own function. */
export const createGetWithBodyTransport = (send: GetWithBody): Transport => ({
  runtime: 'other',
  sendsOnce: false,
  send: async (request, evidence) => {
    const built = createRequest(request.url, createInit(request), evidence);
    return toTransportResponse(await send(built, request.body ?? ''));
  },
});

/** Checks the result of a fetch, because a custom fetch may return anything. */
function toTransportResponse(result: Partial<Response> | null | undefined): TransportResponse {
  if (typeof result?.status !== 'number' || typeof result.headers?.get !== 'function') {
    throw new TypeError('the custom fetch returned something that is not a Response');
  }
  if (result.bodyUsed === true || result.body?.locked === true) {
    throw new TypeError('the custom fetch returned one Response twice; each call needs its own');
  }
  if (result.redirected === true) {
    // The server that redirects may have processed the request before, so the outcome is unknown.
    throw new TypeError('the custom fetch followed a redirect');
  }
  const { body } = result;
  const hasWebStream = body === null || typeof body?.getReader === 'function';
  return hasWebStream ? (result as Response) : withWebStream(result as Response);
}

/**
 * Adds a web stream to a response, because the stream of node-fetch is of another kind, and test
 * doubles often have none. The stream reads the body on demand, because the SDK needs the status
 * even if the body never ends.
 */
function withWebStream(response: Partial<Response> & Omit<TransportResponse, 'body'>) {
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
 * Converts a body to a form that this runtime does not send twice. If a connection is dead, Deno
 * sends a string again, even in a POST, but not a Blob.
 */
const toUnrepeatableBody = (text: string): string | Blob =>
  runtime() === 'deno' ? new Blob([text]) : text;

/**
 * An object that fetch converts to the text of a body, but only once, because a custom fetch may try
 * again. It has no prototype, because ofetch would replace a plain object by its JSON.
 */
function readOnce(text: string): string {
  const unread = [text];
  const toString = () => {
    const [all] = unread.splice(0);
    if (all === undefined) throw new TypeError('the custom fetch sent a request again');
    return all;
  };
  return Object.assign(Object.create(null), { toString }) as string;
}

let freshConnections: object | undefined;

/** Options that make fetch send a request on a new connection, if the runtime has such options. */
function getFreshInit(here: Runtime): object {
  if (here === 'bun') return { keepalive: false };
  if (here !== 'deno') return {};
  freshConnections ??= { client: host.Deno?.createHttpClient?.({ poolMaxIdlePerHost: 0 }) };
  return freshConnections;
}

let cacheInit: RequestInit | undefined;

/**
 * Options that make fetch bypass the caches of frameworks, because for example a balance must be
 * current. Older Workers throw on `cache`, so the first call tries whether that option works.
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
