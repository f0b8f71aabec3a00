import type * as NodeHttp from 'node:http';
import type * as NodeStream from 'node:stream';
import { builtinModule, runtime } from '../internal/runtime.ts';
import { createDecodingStreams } from './decode.ts';
import {
  bodylessStatuses,
  type Transport,
  type TransportResponse,
  type TransportRequest,
} from './transport.ts';

/**
 * Creates the transport for GET with a JSON body, which fetch cannot send. Undefined without node:http,
 * and on Cloudflare Workers, where node:http silently drops the body of a GET.
 */
export function createNodeHttpTransport(): Transport | undefined {
  const here = runtime();
  if (here === 'workerd' || here === 'other') return undefined;
  const http = builtinModule('node:http') as Partial<typeof NodeHttp> | undefined;
  if (typeof http?.request !== 'function') return undefined;
  return {
    runtime: here,
    // Deno's node:http repeats a request, as its fetch does.
    sendsOnce: here === 'node',
    wantsRequest: false,
    send,
  };
}

function send(request: TransportRequest): Promise<TransportResponse> {
  const url = new URL(request.url);
  const http = builtinModule(
    url.protocol === 'https:' ? 'node:https' : 'node:http',
  ) as typeof NodeHttp;
  const { signal } = request.stop;
  const payload = new TextEncoder().encode(request.body ?? '');
  const headers = { ...request.headers };
  // Without a length, node:http writes the body of a GET unframed, and the server would read it as the
  // next request.
  headers['content-length'] = String(payload.byteLength);
  headers['accept-encoding'] ??= 'gzip, deflate, br';

  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const outgoing = http.request(url, { method: 'GET', headers, agent: createAgent(http) });
    let incomingBody: NodeStream.Readable | undefined;
    const stop = (): void => {
      outgoing.destroy();
      incomingBody?.destroy(signal.reason as Error);
      reject(signal.reason as Error);
    };
    const removeListener = (): void => {
      signal.removeEventListener('abort', stop);
    };
    signal.addEventListener('abort', stop);
    outgoing.on('error', (error) => {
      removeListener();
      reject(error);
    });
    outgoing.on('close', () => {
      // Has no effect after a response. After an unexpected 101 there is no error event.
      if (incomingBody === undefined) removeListener();
      reject(new Error('The connection was closed without a response.'));
    });
    outgoing.on('response', (incoming) => {
      try {
        const status = incoming.statusCode ?? 0;
        const responseHeaders = new Headers();
        for (let at = 0; at + 1 < incoming.rawHeaders.length; at += 2) {
          responseHeaders.append(incoming.rawHeaders[at] ?? '', incoming.rawHeaders[at + 1] ?? '');
        }
        if (bodylessStatuses.has(status)) {
          incoming.resume();
          removeListener();
        } else {
          incomingBody = decodeBody(incoming, responseHeaders.get('content-encoding') ?? '');
          incomingBody.once('close', removeListener);
        }
        const body = incomingBody === undefined ? null : toWebStream(incomingBody);
        const statusText = incoming.statusMessage ?? '';
        resolve(new Response(body, { status, statusText, headers: responseHeaders }));
      } catch (error) {
        // A Response cannot have a status such as 999; uncaught, the error would end the process.
        removeListener();
        outgoing.destroy();
        reject(error);
      }
    });
    outgoing.end(payload);
  });
}

/**
 * Converts a body to a web stream. Deno's own conversion ends the process with an uncaught error when a
 * decoder emits a chunk after the reader has cancelled.
 */
function toWebStream(body: NodeStream.Readable): ReadableStream<Uint8Array> {
  const chunks: AsyncIterator<Uint8Array, undefined> = body[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    cancel() {
      body.destroy();
    },
  });
}

/**
 * Creates an agent with a new connection for each call, because stray bytes on a reused connection would
 * be read as the response. Keeps the proxy of the environment.
 */
function createAgent(http: typeof NodeHttp): NodeHttp.Agent {
  const { options } = http.globalAgent as { options?: { proxyEnv?: NodeJS.ProcessEnv } };
  const proxyEnv = options?.proxyEnv;
  return new http.Agent({ keepAlive: false, ...(proxyEnv && { proxyEnv }) });
}

function decodeBody(incoming: NodeHttp.IncomingMessage, encoding: string): NodeStream.Readable {
  const { pipeline } = builtinModule('node:stream') as typeof NodeStream;
  const streams = createDecodingStreams(encoding);
  const last = streams.at(-1);
  if (last === undefined) return incoming;
  // An error of any of them reaches the reader of the last, so the callback does nothing.
  pipeline([incoming, ...streams], () => undefined);
  return last;
}
