import { Agent, request as ask } from 'node:http';
import type * as package_ from '../../src/index.ts';
import type { ClientOptions, PaymentsClient, RequestOptions } from '../../src/index.ts';

/*
 * Every transport of the SDK on the current runtime, and the differences between them. It imports
 * no test runner.
 */

/** The package, or a copy of it. */
export type Sdk = typeof package_;

type Outcome = package_.PaymentsError['outcome'];
type Fetch = NonNullable<ClientOptions['fetch']>;
type GetWithBody = NonNullable<ClientOptions['getWithBody']>;

/** A read and the request that it sends. */
interface Read {
  readonly operation: string;
  readonly path: string;
  readonly target: string;
  readonly body: string;
  /** Reads one record; each number is another record. */
  send(
    client: PaymentsClient,
    options?: RequestOptions,
    number?: number,
  ): package_.ApiCall<unknown>;
}

const plainRead: Read = {
  operation: 'transfers.get',
  path: '/transfers/{id}',
  target: '/v0/transfers/txfr_0',
  body: '',
  send: (client, options, number = 0) => client.transfers.get(`txfr_${number}`, options),
};

const address = '0x52908400098527886e0f7030069857d2e4169ee7';
const readWithBody: Read = {
  operation: 'instructions.list',
  path: '/instructions/all',
  target: '/instructions/all',
  body: `{"address":"${address}","note":"txfr_0"}`,
  send: (client, options, number = 0) =>
    client.instructions.list({ address }, { ...options, body: { note: `txfr_${number}` } }),
};

/** The header that shows the transport of a request. The functions below set this header. */
const mark = 'x-way';

export type Coding = 'gzip' | 'br' | 'deflate';

/** One transport. */
export interface ClientTransport {
  readonly name: string;
  readonly read: Read;
  /** Whether the transport also sends other requests than `read`. */
  readonly writes: boolean;
  readonly options: Pick<ClientOptions, 'fetch' | 'getWithBody'>;
  /** Makes the client use this transport; the returned function undoes that. */
  install(): () => void;
  /** The transport of its requests, as `transportOf` returns it. */
  readonly transportName: string;
  /** The outcome of a refused connection, for a read and for a creation. */
  readonly refused: { readonly read: Outcome; readonly write: Outcome };
  /** The content codings that it decodes. */
  readonly codings: readonly Coding[];
  /** Whether it accepts gzip without a checksum, as the fetch of Node does. */
  readonly forgivesGzip: boolean;
}

/** The transport of a request, by its headers. */
export function transportOf(headers: Readonly<Record<string, string>>): string {
  const marked = headers[mark];
  if (marked !== undefined) return marked;
  switch (headers['accept-encoding']) {
    case 'gzip, deflate, br':
      return 'node:http';
    default:
      return 'fetch';
  }
}

const markRequests =
  (word: string): Fetch =>
  (request, init) => {
    request.headers.set(mark, word);
    return runtimesFetch(request, init);
  };
const runtimesFetch = globalThis.fetch;

/** A minimal custom getWithBody without compression. */
const ownGetWithBody: GetWithBody = (request, body) =>
  new Promise((resolve, reject) => {
    const headers: Record<string, string> = { [mark]: 'getWithBody' };
    request.headers.forEach((value, name) => {
      headers[name] = value;
    });
    headers['content-length'] = String(new TextEncoder().encode(body).byteLength);
    const agent = new Agent({ keepAlive: false });
    const outgoing = ask(request.url, { method: 'GET', headers, agent }, (incoming) => {
      const chunks: AsyncIterator<Uint8Array, undefined> = incoming[Symbol.asyncIterator]();
      const status = incoming.statusCode ?? 0;
      const stream = new ReadableStream<Uint8Array>({
        async pull(controller) {
          const { done, value } = await chunks.next();
          if (done === true) controller.close();
          else controller.enqueue(value);
        },
        cancel: () => {
          incoming.destroy();
        },
      });
      const responseHeaders = new Headers();
      for (let at = 0; at + 1 < incoming.rawHeaders.length; at += 2) {
        responseHeaders.append(incoming.rawHeaders[at] ?? '', incoming.rawHeaders[at + 1] ?? '');
      }
      resolve(new Response(status === 204 ? null : stream, { status, headers: responseHeaders }));
    });
    request.signal.addEventListener('abort', () => {
      outgoing.destroy(new Error('called off'));
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });

const asItIs = (): (() => void) => () => undefined;

function replaceFetch(): () => void {
  const before = globalThis.fetch;
  globalThis.fetch = markRequests('replaced fetch') as typeof fetch;
  return () => {
    globalThis.fetch = before;
  };
}

const usual = {
  read: plainRead,
  writes: true,
  options: {},
  install: asItIs,
  forgivesGzip: false,
} as const;
const bodied = { ...usual, read: readWithBody, writes: false } as const;
const everyCoding = ['gzip', 'br', 'deflate'] as const;
/** A custom function may have sent the request before it failed. */
const provesNothing = { read: 'unknown', write: 'unknown' } as const;
const provesAll = { read: 'not_sent', write: 'not_sent' } as const;
/** Bun and Deno may have sent a read earlier, over a connection that was closed. */
const provesWrites = { read: 'unknown', write: 'not_sent' } as const;

/** The transports of this runtime. */
export function availableTransports(): ClientTransport[] {
  const global = globalThis as { readonly Bun?: unknown; readonly Deno?: unknown };
  const onDeno = global.Deno !== undefined;
  const onNode = !onDeno && global.Bun === undefined;
  // Deno decodes gzip and br only.
  const ofFetch = onDeno ? (['gzip', 'br'] as const) : everyCoding;
  const fetchGiven: ClientTransport = {
    ...usual,
    name: 'a fetch that was given',
    options: { fetch: markRequests('given fetch') },
    transportName: 'given fetch',
    refused: provesNothing,
    codings: ofFetch,
    forgivesGzip: onNode,
  };
  const bodyGiven: ClientTransport = {
    ...bodied,
    name: 'GET with a body over a getWithBody that was given',
    options: { getWithBody: ownGetWithBody },
    transportName: 'getWithBody',
    refused: provesNothing,
    codings: [],
  };
  const nodeHttp = { transportName: 'node:http', codings: everyCoding } as const;
  if (onNode) {
    return [
      { ...usual, ...nodeHttp, name: 'node:http', refused: provesAll },
      { ...bodied, ...nodeHttp, name: 'GET with a body over node:http', refused: provesAll },
      {
        ...usual,
        name: 'Node’s own fetch, given',
        options: { fetch: runtimesFetch as Fetch },
        transportName: 'fetch',
        refused: provesNothing,
        codings: everyCoding,
        forgivesGzip: true,
      },
      fetchGiven,
      bodyGiven,
    ];
  }
  return [
    {
      ...usual,
      name: 'the runtime’s fetch',
      transportName: 'fetch',
      refused: provesWrites,
      codings: ofFetch,
    },
    { ...bodied, ...nodeHttp, name: 'GET with a body over node:http', refused: provesNothing },
    fetchGiven,
    {
      ...usual,
      name: 'a global fetch that was replaced',
      install: replaceFetch,
      transportName: 'replaced fetch',
      refused: provesNothing,
      codings: ofFetch,
    },
    bodyGiven,
  ];
}
