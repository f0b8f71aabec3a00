import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { ClientOptions, PaymentsClient, PaymentsError } from '../../src/index.ts';
import { successBody } from '../drivers/bodies.ts';
import {
  responseBytes,
  type Exchange,
  listen,
  type RawServer,
  type Step,
} from '../support/loopback.ts';
import { closedPort } from '../support/closed-port.ts';
import { transportOf, type Coding, type Sdk, type ClientTransport } from './client-transports.ts';

/*
 * The common behaviour of all transports on a server that writes bytes. It imports no test runner
 * and takes the package as an argument: vitest runs it on the source, test/runtimes/transports.mjs
 * on the installed package, on every runtime.
 */

/** What a behaviour needs. */
interface Bench {
  readonly sdk: Sdk;
  readonly transport: ClientTransport;
  serve(...steps: readonly Step[]): Promise<RawServer>;
  client(server: { readonly baseUrl: string }, options?: ClientOptions): PaymentsClient;
  /** A read by a client without retries. */
  read(server: RawServer, options?: ClientOptions): Promise<unknown>;
}

interface Behaviour {
  readonly name: string;
  /** Set for behaviours that need more than one read. */
  readonly writes?: true;
  run(bench: Bench): Promise<void>;
}

const apiKey = 'sk_canary_h7Qz0Wm4';
const jwt = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJjYW5hcnlKM3Z4In0.c2ln';
const secrets = [apiKey, jwt, 'canary_h7Qz0Wm4', 'eyJzdWIiOiJjYW5hcnlKM3Z4In0'];
const newTransfer = {
  sourceAccountId: 'acc_1',
  destinationAccountId: 'acc_2',
  amount: '1.00',
} as const;

const lastPart = (target: string): string => target.slice(target.lastIndexOf('/') + 1);

/** The requested record: by the path, or by the body if the path has no id. */
const nameIn = ({ target, body }: Exchange): string =>
  target.startsWith('/instructions')
    ? (JSON.parse(body) as { note: string }).note
    : lastPart(target);

const bodyFor = (exchange: Exchange): string =>
  successBody(
    { method: exchange.method, path: exchange.target, nonce: nameIn(exchange) },
    'txfr_0',
  );

/** The name of the record in the response to a read. */
const nameOf = (data: unknown): unknown =>
  Array.isArray(data) ? (data as { nickname: string }[])[0]?.nickname : (data as { id: string }).id;

const succeed: Step = (exchange) => {
  exchange.reply(responseBytes(200, Buffer.from(bodyFor(exchange))));
};

const partialResponse = (headers: string): string =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${headers}\r\n`;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

type ErrorClass<E> = abstract new (...facts: never[]) => E;

async function failureOf<E extends PaymentsError>(
  call: PromiseLike<unknown>,
  kind: ErrorClass<E>,
): Promise<E> {
  let error: unknown = 'nothing was thrown';
  try {
    await call;
  } catch (thrown) {
    error = thrown;
  }
  assert.ok(error instanceof kind, `expected ${kind.name}, got ${inspect(error)}`);
  return error;
}

/** The named facts of an error, to be compared at once. */
const facts = (error: object, ...names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(names.map((name) => [name, Reflect.get(error, name) as unknown]));

const compress: Readonly<Record<Coding, (bytes: Uint8Array) => Uint8Array>> = {
  gzip: (bytes) => gzipSync(bytes),
  br: (bytes) => brotliCompressSync(bytes),
  deflate: (bytes) => deflateSync(bytes),
};

/** Small when compressed, and one byte too long when decompressed. */
const bomb = (): Uint8Array => (packedSpaces ??= gzipSync(Buffer.alloc(2 ** 24 + 1, ' ')));
let packedSpaces: Uint8Array | undefined;

const inCoding = (coding: Coding): Behaviour => ({
  name: `a read decodes a response in ${coding}, or rejects it as not JSON where the transport cannot decode it`,
  async run({ transport, sdk, serve, read }) {
    const server = await serve((exchange) => {
      const content = compress[coding](Buffer.from(bodyFor(exchange)));
      exchange.reply(responseBytes(200, content, { 'content-encoding': coding }));
    });
    if (transport.codings.includes(coding)) {
      assert.equal(nameOf(await read(server)), 'txfr_0');
      return;
    }
    const error = await failureOf(read(server), sdk.InvalidResponseError);
    assert.deepEqual(facts(error, 'reason', 'status'), { reason: 'not_json', status: 200 });
  },
});

/** A response that no transport can parse. */
const unusable = (
  name: string,
  step: Step,
  reason: string | ((transport: ClientTransport) => string),
): Behaviour => ({
  name,
  async run({ sdk, transport, serve, read }) {
    const server = await serve(step);
    const error = await failureOf(read(server), sdk.InvalidResponseError);
    assert.deepEqual(facts(error, 'reason', 'status', 'outcome'), {
      reason: typeof reason === 'string' ? reason : reason(transport),
      status: 200,
      outcome: 'unknown',
    });
    assert.equal(server.arrivals.length, 1);
  },
});

const writes: readonly Behaviour[] = [
  {
    name: 'a POST sends the expected path, headers and body',
    writes: true,
    async run({ serve, client }) {
      const server = await serve((exchange) => {
        exchange.reply(responseBytes(201, Buffer.from(bodyFor(exchange))));
      });
      const description = 'Grüße, 5 €, 🧾';
      const made = await client(server).transfers.create({ ...newTransfer, description });
      assert.equal(made.id, 'txfr_0');
      const body = `{"sourceAccountId":"acc_1","amount":"1.00","destinationAccountId":"acc_2","description":"${description}"}`;
      const [arrival] = server.arrivals;
      assert.ok(arrival !== undefined);
      assert.deepEqual(
        [arrival.method, arrival.target, arrival.body],
        ['POST', '/v0/transfers', body],
      );
      const { 'content-length': length, 'content-type': type, authorization } = arrival.headers;
      assert.deepEqual(
        [length, type, authorization],
        [String(Buffer.byteLength(body)), 'application/json', `Bearer ${apiKey}`],
      );
    },
  },
  {
    name: 'a PATCH sends the expected path and body',
    writes: true,
    async run({ serve, client }) {
      const server = await serve(succeed);
      const account = await client(server).accounts.update('acc_1', { name: 'Über' });
      assert.equal(account.id, 'acc_1');
      const seen = server.arrivals.map(({ method, target, body }) => [method, target, body]);
      assert.deepEqual(seen, [['PATCH', '/v0/accounts/acc_1', '{"name":"Über"}']]);
    },
  },
  {
    name: 'a DELETE is sent without a body, and resolves after a 204',
    writes: true,
    async run({ serve, client }) {
      const server = await serve('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n');
      assert.equal(await client(server).counterparties.delete('cpty_1'), undefined);
      const seen = server.arrivals.map(({ method, target, body }) => [method, target, body]);
      assert.deepEqual(seen, [['DELETE', '/v0/counterparties/cpty_1', '']]);
    },
  },
  {
    name: 'transfers.list yields every transfer of 20 pages, and requests each page once',
    writes: true,
    async run({ serve, client }) {
      const server = await serve(({ target, write }) => {
        const place = Number(new URL(target, 'http://x').searchParams.get('cursor') ?? 0);
        const { id, ...rest } = JSON.parse(
          successBody({ method: 'GET', path: '/v0/transfers/txfr_0', nonce: 'listed' }, 'txfr_0'),
        ) as { id: string };
        const data = [0, 1].map((index) => ({ ...rest, id: `${id}${2 * place + index}` }));
        const more = place < 19;
        const page = { data, hasMore: more, nextCursor: more ? String(place + 1) : null };
        write(responseBytes(200, Buffer.from(JSON.stringify(page)), { connection: 'keep-alive' }));
      });
      const listed: string[] = [];
      for await (const transfer of client(server).transfers.list()) listed.push(transfer.id);
      assert.deepEqual(
        listed,
        Array.from({ length: 40 }, (_, number) => `txfr_0${number}`),
      );
      assert.equal(server.arrivals.length, 20);
    },
  },
  {
    name: 'a POST has the outcome unknown and arrives once if its connection is reset',
    writes: true,
    async run({ sdk, serve, client }) {
      const server = await serve((exchange) => {
        exchange.reset();
      });
      const call = client(server, { maxRetries: 2 }).transfers.create(newTransfer);
      const error = await failureOf(call, sdk.ConnectionError);
      assert.deepEqual(facts(error, 'outcome', 'retryable'), {
        outcome: 'unknown',
        retryable: false,
      });
      assert.equal(server.arrivals.length, 1);
    },
  },
  {
    name: 'a POST is not sent again after a 503',
    writes: true,
    async run({ sdk, serve, client }) {
      const server = await serve(responseBytes(503, { error: 'Later.' }, { 'retry-after': '0' }));
      const call = client(server, { maxRetries: 2 }).transfers.create(newTransfer);
      const error = await failureOf(call, sdk.ServerError);
      assert.equal(error.outcome, 'unknown');
      assert.equal(server.arrivals.length, 1);
    },
  },
  {
    name: 'a POST over a refused connection has the outcome not_sent only if the transport proves that nothing was sent',
    writes: true,
    async run({ sdk, transport, client }) {
      const call = client({ baseUrl: closedPort.baseUrl }).transfers.create(newTransfer);
      const error = await failureOf(call, sdk.ConnectionError);
      assert.equal(error.outcome, transport.refused.write);
    },
  },
  {
    name: 'a POST has the outcome unknown if the caller aborts after the POST has arrived',
    writes: true,
    async run({ sdk, serve, client }) {
      const server = await serve(() => undefined);
      const controller = new AbortController();
      const call = client(server).transfers.create(newTransfer, { signal: controller.signal });
      void server.arrived(1).then(() => {
        controller.abort();
      });
      assert.equal((await failureOf(call, sdk.AbortError)).outcome, 'unknown');
      await server.closed(0);
    },
  },
];

const reads: readonly Behaviour[] = [
  {
    name: 'a GET sends the expected path, headers and body, and no further byte',
    async run({ transport, serve, read }) {
      const server = await serve(succeed);
      assert.equal(nameOf(await read(server)), 'txfr_0');
      const [arrival] = server.arrivals;
      assert.ok(arrival !== undefined);
      const { body, target } = transport.read;
      assert.deepEqual([arrival.method, arrival.target, arrival.body], ['GET', target, body]);
      const { headers } = arrival;
      const framed = body === '' ? undefined : String(Buffer.byteLength(body));
      assert.deepEqual(
        [headers['content-length'], headers['transfer-encoding'], headers['accept']],
        [framed, undefined, 'application/json'],
      );
      assert.equal(headers['content-type'], body === '' ? undefined : 'application/json');
      // No bytes may follow that a server would read as another request.
      assert.equal(server.connections[0]?.bytes.length, arrival.bytes.length);
    },
  },
  {
    name: 'a request over https sends no byte in clear text',
    async run({ sdk, transport, serve, client }) {
      // The getWithBody of these tests supports http only.
      if (transport.transportName === 'getWithBody') return;
      const server = await serve(() => undefined);
      const caller = new AbortController();
      const secure = client({ baseUrl: server.baseUrl.replace('http:', 'https:') });
      let error: unknown;
      const call = transport.read
        .send(secure, { signal: caller.signal })
        .catch((thrown: unknown) => {
          error = thrown;
        });
      const heard = (): Buffer | undefined => server.connections[0]?.bytes;
      while (error === undefined && !heard()?.length) await pause(5);
      caller.abort();
      await call;
      assert.ok(error instanceof sdk.AbortError, inspect(error));
      const handshake = 0x16;
      assert.equal(heard()?.[0], handshake);
    },
  },
  {
    name: 'a read decodes a chunked response even if a chunk ends within a character',
    async run({ transport, serve, client }) {
      const server = await serve((exchange) => {
        const text = bodyFor(exchange).replace(/"(?:nickname|description)":"[^"]*"/, (field) =>
          field.replace(/:".*"/, ':"Grüße"'),
        );
        const bytes = Buffer.from(text);
        const within = bytes.indexOf(Buffer.from('ü')) + 1;
        exchange.write(partialResponse('transfer-encoding: chunked\r\n'));
        const [first, second] = [bytes.subarray(0, within), bytes.subarray(within)];
        exchange.write(`${first.length.toString(16)}\r\n`);
        exchange.write(first);
        setTimeout(() => {
          exchange.write(`\r\n${second.length.toString(16)}\r\n`);
          exchange.write(second);
          exchange.write('\r\n0\r\n\r\n');
        }, 10);
      });
      const data = await transport.read.send(client(server));
      assert.match(JSON.stringify(data), /"(?:nickname|description)":"Grüße"/);
    },
  },
  inCoding('gzip'),
  inCoding('br'),
  inCoding('deflate'),
  {
    name: 'a read skips an informational response before the final response',
    async run({ serve, read }) {
      const server = await serve((exchange) => {
        exchange.write('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n');
        exchange.reply(responseBytes(200, Buffer.from(bodyFor(exchange))));
      });
      assert.equal(nameOf(await read(server)), 'txfr_0');
    },
  },
  {
    name: 'a read rejects a 204 with an InvalidResponseError',
    async run({ sdk, serve, read }) {
      const server = await serve('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n');
      const error = await failureOf(read(server), sdk.InvalidResponseError);
      assert.deepEqual(facts(error, 'reason', 'status'), { reason: 'empty', status: 204 });
    },
  },
  {
    name: 'an error has the code and details of its body',
    async run({ sdk, serve, read }) {
      const body = { error: 'Zu wenig Geld.', code: 'too_little', details: { missing: '1.00' } };
      const server = await serve(responseBytes(422, body, { 'x-request-id': 'req_7' }));
      const error = await failureOf(read(server), sdk.UnprocessableEntityError);
      assert.deepEqual(facts(error, 'status', 'code', 'details', 'requestId', 'outcome'), {
        status: 422,
        code: 'too_little',
        details: { missing: '1.00' },
        requestId: 'req_7',
        outcome: 'rejected',
      });
      assert.ok(error instanceof sdk.ApiError);
      assert.match(error.message, /Zu wenig Geld\./);
      assert.equal(error.headers['x-request-id'], 'req_7');
    },
  },
  {
    name: 'a read does not follow a redirect',
    async run({ sdk, serve, read }) {
      const elsewhere = await serve(succeed);
      for (const status of [302, 307]) {
        const location = `${elsewhere.origin}/v0/here`;
        const server = await serve(responseBytes(status, undefined, { location }));
        const error = await failureOf(read(server), sdk.ApiError);
        assert.deepEqual([error.status, error.headers['location']], [status, location]);
      }
      assert.equal(elsewhere.connections.length, 0);
    },
  },
  unusable(
    'a read rejects a response that is not JSON with an InvalidResponseError',
    responseBytes(200, '<!doctype html><h1>Hi</h1>'),
    'not_json',
  ),
  unusable(
    'a read rejects a response that is not UTF-8 with an InvalidResponseError',
    responseBytes(200, Buffer.from('{"id":"\xff"}', 'latin1')),
    'not_json',
  ),
  unusable(
    'a read rejects JSON that stops in the middle as truncated',
    responseBytes(200, Buffer.from('{"id":"txfr_0","sta')),
    'truncated',
  ),
  // These bodies are complete documents: only the framing shows that they are truncated.
  unusable(
    'a read rejects a body that is shorter than its content-length as truncated',
    (exchange) => {
      exchange.reply(partialResponse('content-length: 5000\r\n') + bodyFor(exchange));
    },
    'truncated',
  ),
  unusable(
    'a read rejects a chunked body that a reset cuts off as truncated',
    (exchange) => {
      const text = bodyFor(exchange);
      const size = text.length.toString(16);
      exchange.write(`${partialResponse('transfer-encoding: chunked\r\n')}${size}\r\n${text}\r\n`);
      // A reset discards the bytes in flight.
      setTimeout(exchange.reset, 50);
    },
    'truncated',
  ),
  unusable(
    'a read rejects gzip that stops in the middle as truncated, or as not JSON where the transport cannot decode gzip',
    (exchange) => {
      const whole = gzipSync(bodyFor(exchange));
      const half = whole.subarray(0, whole.length / 2);
      exchange.reply(responseBytes(200, half, { 'content-encoding': 'gzip' }));
    },
    ({ codings }) => (codings.includes('gzip') ? 'truncated' : 'not_json'),
  ),
  {
    name: 'a read rejects gzip without its checksum as truncated, unless the transport accepts such gzip',
    async run({ sdk, transport, serve, read }) {
      const server = await serve((exchange) => {
        const whole = gzipSync(bodyFor(exchange));
        exchange.reply(responseBytes(200, whole.subarray(0, -4), { 'content-encoding': 'gzip' }));
      });
      if (transport.forgivesGzip) {
        assert.equal(nameOf(await read(server)), 'txfr_0');
        return;
      }
      const error = await failureOf(read(server), sdk.InvalidResponseError);
      assert.equal(error.reason, transport.codings.includes('gzip') ? 'truncated' : 'not_json');
    },
  },
  {
    name: 'an endless body is read up to 16 MiB, and its connection is closed',
    async run({ sdk, serve, read }) {
      const chunk = Buffer.alloc(2 ** 18, 'x');
      const server = await serve(({ socket }) => {
        const pour = (): void => {
          while (!socket.destroyed && socket.write(chunk));
        };
        socket.on('drain', pour);
        socket.write(partialResponse('connection: close\r\n'));
        pour();
      });
      const error = await failureOf(read(server), sdk.InvalidResponseError);
      assert.equal(error.reason, 'too_large');
      await server.closed(0);
    },
  },
  {
    name: 'the limit of 16 MiB counts the size of a compressed body after it is decompressed',
    async run({ sdk, transport, serve, read }) {
      const server = await serve(responseBytes(200, bomb(), { 'content-encoding': 'gzip' }));
      const error = await failureOf(read(server), sdk.InvalidResponseError);
      assert.equal(error.reason, transport.codings.includes('gzip') ? 'too_large' : 'not_json');
    },
  },
  {
    name: 'a read rejects with a TimeoutError if the server sends no headers',
    async run({ sdk, serve, read }) {
      const server = await serve(() => undefined);
      const error = await failureOf(read(server, { timeout: 250 }), sdk.TimeoutError);
      assert.deepEqual(facts(error, 'phase', 'outcome'), { phase: 'headers', outcome: 'unknown' });
      await server.closed(0);
    },
  },
  {
    name: 'a read rejects with a TimeoutError if the body stops in the middle and the connection stays open',
    async run({ sdk, serve, read }) {
      const server = await serve(({ write }) => {
        write(partialResponse('content-length: 500\r\nx-request-id: req_9\r\n') + '{"id"');
      });
      const error = await failureOf(read(server, { timeout: 2_000 }), sdk.TimeoutError);
      assert.deepEqual(facts(error, 'phase', 'outcome'), { phase: 'body', outcome: 'unknown' });
      assert.equal(error.attempts[0]?.requestId, 'req_9');
      await server.closed(0);
    },
  },
  {
    name: 'totalTimeout ends a read whose body arrives byte by byte',
    async run({ sdk, serve, read }) {
      const server = await serve(({ write, socket }) => {
        write(partialResponse('content-length: 5000\r\n'));
        const timer = setInterval(() => {
          write(' ');
        }, 20);
        socket.on('close', () => {
          clearInterval(timer);
        });
      });
      const start = performance.now();
      const call = read(server, { timeout: 60_000, totalTimeout: 250 });
      const error = await failureOf(call, sdk.TimeoutError);
      assert.equal(error.phase, 'total');
      const took = performance.now() - start;
      assert.ok(took >= 240 && took < 2_000, `it took ${took} ms`);
      await server.closed(0);
    },
  },
  {
    name: 'a read over a refused connection has the outcome not_sent only if the transport proves that nothing was sent',
    async run({ sdk, transport, client }) {
      const error = await failureOf(
        transport.read.send(client({ baseUrl: closedPort.baseUrl })),
        sdk.ConnectionError,
      );
      assert.deepEqual(facts(error, 'outcome', 'retryable'), {
        outcome: transport.refused.read,
        retryable: true,
      });
    },
  },
  {
    name: 'a read has the outcome unknown if its connection is reset',
    async run({ sdk, serve, read }) {
      const server = await serve((exchange) => {
        exchange.reset();
      });
      const error = await failureOf(read(server), sdk.ConnectionError);
      assert.equal(error.outcome, 'unknown');
      assert.equal(server.arrivals.length, 1);
    },
  },
  {
    name: 'a read has the outcome not_sent if its signal was aborted before the call',
    async run({ sdk, transport, serve, client }) {
      const server = await serve(succeed);
      const call = transport.read.send(client(server), { signal: AbortSignal.abort('gone') });
      const error = await failureOf(call, sdk.AbortError);
      assert.deepEqual(facts(error, 'outcome', 'attempts', 'cause'), {
        outcome: 'not_sent',
        attempts: [],
        cause: 'gone',
      });
      assert.equal(server.connections.length, 0);
    },
  },
  {
    name: 'a read that the caller aborts before the response closes its connection',
    async run({ sdk, transport, serve, client }) {
      const server = await serve(() => undefined);
      const controller = new AbortController();
      const call = transport.read.send(client(server), { signal: controller.signal });
      void server.arrived(1).then(() => {
        controller.abort();
      });
      const error = await failureOf(call, sdk.AbortError);
      assert.deepEqual(
        error.attempts.map(({ status }) => status),
        [undefined],
      );
      await server.closed(0);
    },
  },
  {
    name: 'a read that the caller aborts while the body arrives closes its connection',
    async run({ sdk, transport, serve, client }) {
      const server = await serve(({ write }) => {
        write(partialResponse('content-length: 500\r\n') + '{"id"');
      });
      const controller = new AbortController();
      const call = transport.read.send(client(server), { signal: controller.signal });
      void server
        .arrived(1)
        .then(() => pause(400))
        .then(() => {
          controller.abort();
        });
      const error = await failureOf(call, sdk.AbortError);
      assert.deepEqual(
        error.attempts.map(({ status }) => status),
        [200],
      );
      await server.closed(0);
    },
  },
  {
    name: 'a read is sent again after a 503, and hooks report every attempt',
    async run({ transport, serve, client }) {
      const server = await serve(
        responseBytes(503, { error: 'Later.' }, { 'retry-after': '0', 'x-request-id': 'req_1' }),
        (exchange) => {
          const bytes = Buffer.from(bodyFor(exchange));
          exchange.reply(responseBytes(200, bytes, { 'x-request-id': 'req_2' }));
        },
      );
      const events: unknown[] = [];
      const numbers = new Set<unknown>();
      // Durations and call numbers differ between runs.
      const note = (hook: string) => (event: object) => {
        const {
          durationMs: _,
          delayMs: __,
          call: number,
          ...same
        } = event as Record<string, unknown>;
        numbers.add(number);
        events.push({ hook, ...same });
      };
      const hooks = {
        onRequest: note('onRequest'),
        onResponse: note('onResponse'),
        onRetry: note('onRetry'),
        onDrift: note('onDrift'),
      };
      const data = await transport.read.send(client(server, { hooks, maxRetries: 2 }));
      assert.equal(nameOf(data), 'txfr_0');
      assert.equal(server.arrivals.length, 2);
      assert.deepEqual([...numbers].map(Number.isInteger), [true]);
      const { operation, path, target, body } = transport.read;
      const call = { operation, method: 'GET', path };
      const requestEvent = {
        ...call,
        hook: 'onRequest',
        url: `${server.origin}${target}`,
        headers: {
          accept: 'application/json',
          'user-agent': server.arrivals[0]?.headers['user-agent'],
          'cache-control': 'no-cache',
          ...(body === '' ? {} : { 'content-type': 'application/json' }),
        },
      };
      const ended = { ...call, hook: 'onResponse' };
      assert.deepEqual(events, [
        { ...requestEvent, attempt: 1 },
        {
          ...ended,
          attempt: 1,
          status: 503,
          requestId: 'req_1',
          outcome: 'unknown',
          reason: 'status 503',
        },
        { ...call, hook: 'onRetry', attempt: 2, reason: 'status 503' },
        { ...requestEvent, attempt: 2 },
        {
          ...ended,
          attempt: 2,
          status: 200,
          requestId: 'req_2',
          outcome: 'ok',
          reason: undefined,
        },
      ]);
    },
  },
  {
    name: 'a credential that the server repeats in a response appears in no error and in no event of a hook',
    async run({ sdk, serve, read }) {
      const echo =
        (status: number): Step =>
        ({ headers, reply }) => {
          const authorization = headers['authorization'] ?? '';
          const token = authorization.replace('Bearer ', '');
          const body = {
            error: `No ${authorization}`,
            code: token,
            details: { [token]: [authorization] },
          };
          const echoed = { 'x-echo': authorization, 'x-request-id': token };
          reply(responseBytes(status, status === 200 ? `<p>${authorization}</p>` : body, echoed));
        };
      const events: unknown[] = [];
      const note = (event: object): void => {
        events.push(event);
      };
      const hooks = { onRequest: note, onResponse: note };
      for (const status of [200, 404, 500]) {
        const server = await serve(echo(status));
        const error = await failureOf(read(server, { hooks }), sdk.PaymentsError);
        assert.match(String(Reflect.get(error, 'body')), /\[redacted\]/);
        const views = [
          String(error),
          String(error.stack),
          JSON.stringify(error),
          inspect(error, { depth: 9, showHidden: true, getters: true }),
          inspect(events, { depth: 9 }),
        ];
        for (const text of views) {
          for (const secret of secrets) assert.ok(!text.includes(secret), `${secret} in ${text}`);
        }
      }
      assert.equal(events.length, 6);
    },
  },
  {
    name: 'withResponse() returns a Response that can be read',
    async run({ transport, serve, client }) {
      const server = await serve((exchange) => {
        const packed = transport.codings.includes('gzip');
        const bytes = Buffer.from(bodyFor(exchange));
        const headers = { 'x-request-id': 'req_3', 'x-more': 'a' };
        exchange.reply(
          responseBytes(200, packed ? gzipSync(bytes) : bytes, {
            ...headers,
            ...(packed ? { 'content-encoding': 'gzip' } : {}),
          }),
        );
      });
      const { data, response } = await transport.read.send(client(server)).withResponse();
      assert.equal(nameOf(data), 'txfr_0');
      assert.ok(response instanceof Response);
      assert.deepEqual([response.status, response.ok, response.bodyUsed], [200, true, false]);
      assert.deepEqual(
        [response.headers.get('x-request-id'), response.headers.get('X-More')],
        ['req_3', 'a'],
      );
      assert.equal(nameOf(await response.clone().json()), 'txfr_0');
      assert.equal(nameOf(JSON.parse(await response.text())), 'txfr_0');
    },
  },
  {
    name: 'fifty concurrent reads each receive their own response',
    async run({ transport, serve, client }) {
      const waiting: Exchange[] = [];
      const server = await serve((exchange) => {
        waiting.push(exchange);
        // The responses are sent in another order than the requests, after all have arrived.
        if (waiting.length < 50) return;
        for (const each of waiting.toReversed())
          each.reply(responseBytes(200, Buffer.from(bodyFor(each))));
      });
      const payments = client(server);
      const numbers = Array.from({ length: 50 }, (_, number) => number);
      const seen = await Promise.all(
        numbers.map(async (number) => nameOf(await transport.read.send(payments, {}, number))),
      );
      assert.deepEqual(
        seen,
        numbers.map((number) => `txfr_${number}`),
      );
      assert.equal(server.arrivals.length, 50);
    },
  },
];

/** A behaviour of a transport. */
export const behavioursOf = (transport: ClientTransport): Behaviour[] =>
  [...writes, ...reads].filter((behaviour) => behaviour.writes !== true || transport.writes);

/** Runs one behaviour on one installed transport. */
export async function runBehaviour(
  sdk: Sdk,
  transport: ClientTransport,
  behaviour: Behaviour,
): Promise<void> {
  const servers: RawServer[] = [];
  const client: Bench['client'] = ({ baseUrl }, options) =>
    new sdk.PaymentsClient({
      baseUrl,
      apiKey,
      jwt,
      maxRetries: 0,
      timeout: 8_000,
      ...transport.options,
      ...options,
    });
  try {
    await behaviour.run({
      sdk,
      transport,
      client,
      read: (server, options) => transport.read.send(client(server, options)),
      async serve(...steps) {
        const server = await listen(...steps);
        servers.push(server);
        return server;
      },
    });
    const left = servers.flatMap(({ arrivals }) =>
      arrivals.map(({ headers }) => transportOf(headers)),
    );
    assert.deepEqual(
      [...new Set([transport.transportName, ...left])],
      [transport.transportName],
      'it left another way',
    );
  } finally {
    await Promise.all(servers.map((server) => server.close()));
  }
}
