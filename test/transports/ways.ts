import { Agent, request as ask } from 'node:http';
import type * as package_ from '../../src/index.ts';
import type { ClientOptions, PaymentsClient, RequestOptions } from '../../src/index.ts';

/*
 * Every way out of the SDK on the runtime that this is, and what the ways do not have in common. It
 * imports no test runner.
 */

/** The package, or a copy of it. */
export type Sdk = typeof package_;

type Outcome = package_.PaymentsError['outcome'];
type Fetch = NonNullable<ClientOptions['fetch']>;
type GetWithBody = NonNullable<ClientOptions['getWithBody']>;

/** A call that reads, and what goes out for it. */
interface Read {
  readonly operation: string;
  readonly path: string;
  readonly target: string;
  readonly body: string;
  /** Reads one thing; another one for every number. */
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

/** By what a request shows how it left; the functions below mark theirs. */
const mark = 'x-way';

export type Coding = 'gzip' | 'br' | 'deflate';

/** One way out. */
export interface Way {
  readonly name: string;
  readonly read: Read;
  /** Whether it carries anything beside that read. */
  readonly writes: boolean;
  readonly options: Pick<ClientOptions, 'fetch' | 'getWithBody'>;
  /** Makes this way the one that is taken; the function that it gives undoes that. */
  install(): () => void;
  /** How its requests left, as `leftBy` tells it. */
  readonly leaves: string;
  /** What a connection that was refused proves, for a read and for a creation. */
  readonly refused: { readonly read: Outcome; readonly write: Outcome };
  /** The codings that it undoes. */
  readonly codings: readonly Coding[];
  /** Whether the checksum of gzip may be missing: Node's fetch asks for none. */
  readonly forgivesGzip: boolean;
}

/** How a request left, by its headers. */
export function leftBy(headers: Readonly<Record<string, string>>): string {
  const marked = headers[mark];
  if (marked !== undefined) return marked;
  switch (headers['accept-encoding']) {
    case 'gzip, br':
      return 'dispatcher';
    case 'gzip, deflate, br':
      return 'node:http';
    default:
      return 'fetch';
  }
}

const marking =
  (word: string): Fetch =>
  (request, init) => {
    request.headers.set(mark, word);
    return runtimesFetch(request, init);
  };
const runtimesFetch = globalThis.fetch;

/** What somebody may write who has no need of compression: it asks for none and undoes none. */
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
  globalThis.fetch = marking('replaced fetch') as typeof fetch;
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
/** What a function of somebody's own did before it failed is not known. */
const provesNothing = { read: 'unknown', write: 'unknown' } as const;
const provesAll = { read: 'not_sent', write: 'not_sent' } as const;
/** Bun and Deno may have sent a read before, over a connection that was dead. */
const provesWrites = { read: 'unknown', write: 'not_sent' } as const;

/** The ways that this runtime has. */
export function waysHere(): Way[] {
  const global = globalThis as { readonly Bun?: unknown; readonly Deno?: unknown };
  const onDeno = global.Deno !== undefined;
  const onNode = !onDeno && global.Bun === undefined;
  // Deno asks for gzip and br, and leaves anything else as it is.
  const ofFetch = onDeno ? (['gzip', 'br'] as const) : everyCoding;
  const functions: Way[] = [
    {
      ...usual,
      name: 'a fetch that was given',
      options: { fetch: marking('given fetch') },
      leaves: 'given fetch',
      refused: provesNothing,
      codings: ofFetch,
      forgivesGzip: onNode,
    },
    {
      ...usual,
      name: 'a global fetch that was replaced',
      install: replaceFetch,
      leaves: 'replaced fetch',
      refused: provesNothing,
      codings: ofFetch,
      forgivesGzip: onNode,
    },
    {
      ...bodied,
      name: 'GET with a body over a getWithBody that was given',
      options: { getWithBody: ownGetWithBody },
      leaves: 'getWithBody',
      refused: provesNothing,
      codings: [],
    },
  ];
  const nodeHttp: Way = {
    ...bodied,
    name: 'GET with a body over node:http',
    // On Node it is what is left when somebody has replaced fetch.
    install: onNode ? replaceFetch : asItIs,
    leaves: 'node:http',
    refused: onNode ? provesAll : provesNothing,
    codings: everyCoding,
  };
  if (!onNode) {
    const usualFetch = { ...usual, name: 'the runtime’s fetch', leaves: 'fetch' };
    return [{ ...usualFetch, refused: provesWrites, codings: ofFetch }, nodeHttp, ...functions];
  }
  const dispatcher = { leaves: 'dispatcher', refused: provesAll, codings: everyCoding };
  return [
    { ...usual, ...dispatcher, name: 'the dispatcher' },
    { ...bodied, ...dispatcher, name: 'GET with a body over the dispatcher' },
    {
      ...usual,
      name: 'Node’s own fetch, given beside one that replaced it',
      options: { fetch: runtimesFetch as Fetch },
      install: replaceFetch,
      leaves: 'fetch',
      refused: provesNothing,
      codings: everyCoding,
      forgivesGzip: true,
    },
    nodeHttp,
    ...functions,
  ];
}
