import type * as NodeHttp from 'node:http';
import type * as NodeStream from 'node:stream';
import { builtinModule, runtime } from '../internal/runtime.ts';
import { decodingStreams } from './decode.ts';
import {
  bodylessStatuses,
  type Transport,
  type TransportResponse,
  type TransportRequest,
} from './transport.ts';

/**
 * The wire for GET with a JSON body, which no fetch can send. Undefined where there is no node:http,
 * and on Cloudflare Workers, whose node:http drops the body of a GET without a word.
 */
export function nodeHttpTransport(): Transport | undefined {
  const here = runtime();
  if (here === 'workerd' || here === 'other') return undefined;
  if (
    typeof (builtinModule('node:http') as Partial<typeof NodeHttp> | undefined)?.request !==
    'function'
  )
    return undefined;
  return {
    runtime: here,
    // Deno's node:http repeats a request as its fetch does; what it reports proves nothing.
    sendsOnce: here === 'node',
    wantsRequest: false,
    send: (request) => send(request),
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
  // Without an explicit length node:http writes the body of a GET unframed: the server would read
  // it as the next request.
  headers['content-length'] = String(payload.byteLength);
  headers['accept-encoding'] ??= 'gzip, deflate, br';

  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const outgoing = http.request(url, { method: 'GET', headers, agent: freshAgent(http) });
    let incomingBody: NodeStream.Readable | undefined;
    const stop = (): void => {
      outgoing.destroy();
      incomingBody?.destroy(signal.reason as Error);
      reject(signal.reason as Error);
    };
    const release = (): void => {
      signal.removeEventListener('abort', stop);
    };
    signal.addEventListener('abort', stop);
    outgoing.on('error', (error) => {
      release();
      reject(error);
    });
    outgoing.on('close', () => {
      // After a response this changes nothing; an unasked-for 101 closes without an error.
      if (incomingBody === undefined) release();
      reject(new Error('The connection was closed without an answer.'));
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
          release();
        } else {
          incomingBody = decoded(incoming, responseHeaders.get('content-encoding'));
          incomingBody.once('close', release);
        }
        const response = new Response(incomingBody === undefined ? null : webStream(incomingBody), {
          status,
          statusText: incoming.statusMessage ?? '',
          headers: responseHeaders,
        });
        resolve(response);
      } catch (error) {
        // A status such as 999 cannot be put into a Response; thrown here, it would end the process.
        release();
        outgoing.destroy();
        reject(error);
      }
    });
    outgoing.end(payload);
  });
}

/**
 * The body as a stream of the web. Deno's own bridge throws where nobody can catch it, and ends the
 * process, when a chunk comes out of a decoder after the reader has cancelled.
 */
function webStream(body: NodeStream.Readable): ReadableStream<Uint8Array> {
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
 * A connection of its own for each call: bytes that a server left on a pooled one would be taken
 * for the answer. The proxy that the environment names is kept.
 */
function freshAgent(http: typeof NodeHttp): NodeHttp.Agent {
  const { options } = http.globalAgent as { options?: { proxyEnv?: NodeJS.ProcessEnv } };
  const proxyEnv = options?.proxyEnv;
  return new http.Agent({ keepAlive: false, ...(proxyEnv === undefined ? {} : { proxyEnv }) });
}

function decoded(incoming: NodeHttp.IncomingMessage, encoding: string | null): NodeStream.Readable {
  const { pipeline } = builtinModule('node:stream') as typeof NodeStream;
  const [first, ...rest] = decodingStreams(encoding ?? '') ?? [];
  if (first === undefined) return incoming;
  const last = rest.at(-1) ?? first;
  // The error of any of them reaches the reader of the last, so the callback has nothing to do.
  pipeline([incoming, first, ...rest], () => undefined);
  return last;
}
