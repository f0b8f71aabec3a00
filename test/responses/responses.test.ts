import { gzipSync } from 'node:zlib';
import {
  ApiError,
  InvalidResponseError,
  type ClientOptions,
  type PaymentsClient,
} from 'payments-platform-sdk';
import { expect, test, vi } from 'vitest';
import { clientAt, clientOf, failureOf, respond } from '../support/clients.ts';
import { responseBytes, type Exchange, type RawServer } from '../support/loopback.ts';
import { rawServer } from '../support/raw-server.ts';
import { instruction, settings, transactionNumber } from '../support/records.ts';
import {
  address,
  errorBody,
  html,
  newTransfer,
  page,
  transfer,
  transferCreated,
} from '../support/values.ts';
import type { DriftEvent } from '../../src/calls/hooks.ts';
import { openRegistry } from '../../src/internal/doubt-registry.ts';

const bytes = (...parts: (string | number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));

const good = JSON.stringify(transfer);
const gzip = { 'content-encoding': 'gzip' };
const packed = gzipSync(good);
/** The checksum is in its last eight bytes. */
const corrupt = Buffer.concat([packed.subarray(0, -8), Buffer.alloc(8)]);

/** A success body, and the reason why it cannot be used. */
const unusable: readonly [string, InvalidResponseError['reason'], Buffer][] = [
  ['empty', 'empty', responseBytes(200)],
  ['empty, status 204', 'empty', bytes('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n')],
  ['white space', 'empty', responseBytes(200, ' \r\n\t ')],
  ['an HTML page', 'not_json', responseBytes(200, html)],
  ['a word that is not JSON', 'not_json', responseBytes(200, 'OK')],
  ['not UTF-8', 'not_json', responseBytes(200, bytes('{"id":"', [0xff, 0xfe], '"}'))],
  ['JSON with a character behind it', 'not_json', responseBytes(200, `${good}}`)],
  ['JSON without its last brace', 'truncated', responseBytes(200, good.slice(0, -1))],
  ['JSON that ends within a string', 'truncated', responseBytes(200, good.slice(0, 9))],
  ['short of content-length', 'truncated', responseBytes(200, good, { 'content-length': '999' })],
  ['empty, in gzip', 'empty', responseBytes(200, undefined, gzip)],
  [
    'empty, in gzip with status 204',
    'empty',
    bytes('HTTP/1.1 204 No Content\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\n'),
  ],
  ['plain JSON that is declared as gzip', 'not_json', responseBytes(200, transfer, gzip)],
  ['gzip with a wrong checksum', 'not_json', responseBytes(200, corrupt, gzip)],
  ['gzip that is cut', 'truncated', responseBytes(200, packed.subarray(0, -12), gzip)],
  ['null', 'shape', responseBytes(200, null)],
  ['an array', 'shape', responseBytes(200, [transfer])],
  ['a JSON string', 'shape', responseBytes(200, '"txfr_1"')],
  ['a number', 'shape', responseBytes(200, 7)],
  ['an object without an id', 'shape', responseBytes(200, { ...transfer, id: undefined })],
  ['an object whose id is a number', 'shape', responseBytes(200, { ...transfer, id: 1 })],
  [
    'JSON with a hundred thousand nested levels',
    'too_large',
    responseBytes(200, `{"id":${'['.repeat(100_000)}${']'.repeat(100_000)}}`),
  ],
];

test.each(unusable)(
  'a read rejects a successful response whose body is %s',
  async (_, reason, sent) => {
    const server = await rawServer(sent);
    const error = await failureOf(
      clientAt(server).transfers.get('txfr_1', { maxRetries: 0 }),
      InvalidResponseError,
    );
    expect(error).toMatchObject({
      reason,
      status: Number(sent.subarray(9, 12).toString()),
      outcome: 'unknown',
      retryable: reason === 'truncated',
    });
    expect(error.issues.length > 0).toBe(reason === 'shape');
  },
);

test.each(unusable)(
  'a creation has outcome unknown if the response body is %s',
  async (_, reason, sent) => {
    const server = await rawServer(sent);
    const drifts: DriftEvent[] = [];
    const payments = clientAt(server, { hooks: { onDrift: (event) => drifts.push(event) } });
    const error = await failureOf(payments.transfers.create(newTransfer), InvalidResponseError);
    expect(error).toMatchObject({ reason, outcome: 'unknown', retryable: false });
    expect(error.message).toContain('The status shows that the platform accepted the call.');
    expect(error.message).toContain('payments.transfers.reconcile');
    expect(server.arrivals).toHaveLength(1);
    expect(drifts).toEqual([]);
  },
);

test('a creation resolves if its response has an id', async () => {
  const drifted = { id: 'txfr_9', status: 7, surprise: [true] };
  const drifts: DriftEvent[] = [];
  const hooks = { onDrift: (event: DriftEvent) => drifts.push(event) };
  const server = await rawServer(responseBytes(202, drifted, { 'x-request-id': 'req_1' }));
  const created = await clientAt(server, { hooks }).transfers.create(newTransfer);
  expect(created).toEqual(drifted);
  expect(drifts).toMatchObject([
    { operation: 'transfers.create', status: 202, requestId: 'req_1' },
  ]);
  expect(drifts[0]?.issues.map(({ path }) => path).toSorted()).toEqual([
    'createdAt',
    'status',
    'type',
  ]);
});

test('with strict validation a read returns unknown fields and enum values', async () => {
  const newer = { ...transfer, status: 'on_hold', type: 'pigeon', fee: { amount: 1 }, tags: [] };
  const { payments } = clientOf(() => respond(200, newer), { validation: 'strict' });
  expect(await payments.transfers.get('txfr_1')).toEqual(newer);
});

test('a read accepts a response with a byte order mark', async () => {
  const repeated = good.replace('{', '{"id":"txfr_0",');
  const server = await rawServer(responseBytes(200, bytes([0xef, 0xbb, 0xbf], repeated)));
  expect(await clientAt(server).transfers.get('txfr_1')).toEqual(transfer);
});

test('a __proto__ key in a response does not change a prototype', async () => {
  const proto = '"__proto__":{"polluted":1}';
  const evil = good.replace('{', `{${proto},"metadata":{${proto}},`);
  const { payments } = clientOf(() => respond(200, evil));
  const got = await payments.transfers.get('txfr_1');
  expect(Object.getPrototypeOf(got)).toBe(Object.prototype);
  expect(Object.assign({}, got)).not.toHaveProperty('polluted');
  expect(({} as { polluted?: 1 }).polluted).toBeUndefined();
});

test.each([200, 201, 202, 204, 299])(
  'a deletion ignores the body of a response %i',
  async (status) => {
    for (const body of [undefined, html, '{"cut":', null]) {
      if (status === 204 && body !== undefined) continue;
      const server = await rawServer(responseBytes(status, body));
      expect(await clientAt(server).counterparties.delete('cpty_1')).toBeUndefined();
    }
  },
);

test('an InvalidResponseError has the request id and a shortened body', async () => {
  const long = `<p>${'x'.repeat(50_000)}</p>`;
  const { payments } = clientOf(() => respond(200, long, { 'request-id': 'req_9' }));
  const error = await failureOf(payments.transfers.get('txfr_1'), InvalidResponseError);
  expect(error.requestId).toBe('req_9');
  expect(error.message).toContain('request req_9');
  expect(error.body).toBe(`${long.slice(0, 2_048)}… [cut]`);
  expect(error.message.length).toBeLessThan(500);
});

const mebibyte = 2 ** 20;

/** Writes without end; `sent` returns the number of bytes that the client took. */
function endless(
  head: string,
  chunk: Buffer,
): { step: (exchange: Exchange) => void; sent: () => number } {
  let sent = 0;
  const step = ({ socket }: Exchange): void => {
    const more = (): void => {
      while (!socket.destroyed) {
        sent += chunk.length;
        if (!socket.write(chunk)) return;
      }
    };
    socket.on('drain', more);
    socket.write(head);
    more();
  };
  return { step, sent: () => sent };
}

/** The memory that a call takes while it runs, in MiB. */
async function growth(call: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage().rss;
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 2);
  await call();
  clearInterval(watch);
  return (Math.max(most, process.memoryUsage().rss) - before) / mebibyte;
}

const ownFetch = (request: Request, init?: RequestInit): Promise<Response> => fetch(request, init);
const get = (payments: PaymentsClient): PromiseLike<unknown> => payments.transfers.get('txfr_1');
const list = (payments: PaymentsClient): PromiseLike<unknown> =>
  payments.instructions.list({ address });
const transports = [
  ['node:http', {}, get],
  ['node:http, with a body', {}, list],
  ['fetch', { fetch: ownFetch }, get],
  // A GET with a body uses this transport when fetch was replaced.
  ['node:http', 'replace', list],
] as const;
function clientOver(server: RawServer, options: ClientOptions | 'replace'): PaymentsClient {
  if (options === 'replace') vi.stubGlobal('fetch', vi.fn<typeof fetch>());
  return clientAt(server, options === 'replace' ? {} : options);
}

test.each(transports)('an endless response over %s is read up to 16 MiB', async (_, way, send) => {
  const { step, sent } = endless('HTTP/1.1 200 OK\r\n\r\n["', Buffer.alloc(mebibyte, 'a'));
  const server = await rawServer(step);
  let error: InvalidResponseError | undefined;
  const grown = await growth(async () => {
    error = await failureOf(send(clientOver(server, way)), InvalidResponseError);
  });
  expect(error).toMatchObject({ reason: 'too_large', outcome: 'unknown', retryable: false });
  expect(server.arrivals).toHaveLength(1);
  await server.closed(0);
  // Beyond the limit only the socket buffers are filled.
  expect(sent() / mebibyte).toBeLessThan(28);
  expect(grown).toBeLessThan(160);
});

/** 256 MiB compressed to less than 0.25 MiB. */
const bomb = (): Buffer => {
  const member = gzipSync(Buffer.alloc(mebibyte, 'a'));
  return Buffer.concat([gzipSync('["'), ...Array<Buffer>(256).fill(member)]);
};

test.each(transports)('a response over %s is decompressed up to 16 MiB', async (_, way, send) => {
  const packed = bomb();
  expect(packed.length).toBeLessThan(mebibyte);
  const server = await rawServer(responseBytes(200, packed, { 'content-encoding': 'gzip' }));
  let error: InvalidResponseError | undefined;
  const grown = await growth(async () => {
    error = await failureOf(send(clientOver(server, way)), InvalidResponseError);
  });
  expect(error).toMatchObject({ reason: 'too_large', outcome: 'unknown' });
  expect(grown).toBeLessThan(160);
});

test('an endless compressed error body is read up to 1 MiB', async () => {
  // The head of a zlib stream, then empty blocks.
  const { step, sent } = endless(
    'HTTP/1.1 422 No\r\ncontent-encoding: deflate\r\n\r\nx\x01',
    Buffer.alloc(5 * 2 ** 16, '\0\0\0\xff\xff', 'latin1'),
  );
  const server = await rawServer(step);
  const payments = clientAt(server, { timeout: 10_000 });
  await failureOf(payments.transfers.create(newTransfer), ApiError);
  await server.closed(0);
  expect(sent() / mebibyte).toBeLessThan(12);
});

test('a response of just below 16 MiB is read completely', async () => {
  const description = 'x'.repeat(16 * mebibyte - good.length - 20);
  const server = await rawServer(responseBytes(200, { ...transfer, description }));
  const got = await clientAt(server).transfers.get('txfr_1');
  expect(got.description).toHaveLength(description.length);
});

test('an endless error body is read up to 1 MiB', async () => {
  const { step, sent } = endless('HTTP/1.1 422 No\r\n\r\n', Buffer.alloc(mebibyte / 4, 'a'));
  const server = await rawServer(step);
  const error = await failureOf(clientAt(server).transfers.create(newTransfer));
  expect(error).toMatchObject({ status: 422, outcome: 'unknown' });
  await server.closed(0);
  expect(sent() / mebibyte).toBeLessThan(12);
});

test('an endless error body from `fetch` is read up to 1 MiB', async () => {
  const chunk = new Uint8Array(2 ** 16);
  let chunks = 0;
  const pull = (body: ReadableStreamDefaultController): void => {
    chunks += 1;
    body.enqueue(chunk);
  };
  const { payments } = clientOf(
    () => new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), { status: 422 }),
  );
  const error = await failureOf(payments.transfers.create(newTransfer), ApiError);
  expect(error).toMatchObject({ status: 422, outcome: 'unknown' });
  // The last chunk may cross the limit.
  expect((chunks - 1) * chunk.length).toBeLessThanOrEqual(mebibyte);
});

test('withResponse() returns a response whose body is still readable', async () => {
  const headers = { 'x-request-id': 'req_1', 'x-more': 'yes' };
  const { payments, requests } = clientOf(() => respond(200, transfer, headers));
  const call = payments.transfers.get('txfr_1');
  const { data, response } = await call.withResponse();
  expect(data).toEqual(transfer);
  expect(data).toBe(await call);
  expect(response.status).toBe(200);
  expect(response.headers.get('x-more')).toBe('yes');
  expect(response.bodyUsed).toBe(false);
  expect(await response.json()).toEqual(transfer);
  expect(requests).toHaveLength(1);
  const deletion = clientOf(() => new Response(null, { status: 204 })).payments;
  const gone = await deletion.counterparties.delete('cpty_1').withResponse();
  expect([gone.data, gone.response.status]).toEqual([undefined, 204]);
});

test('a creation resolves despite forbidden characters in the status line', async () => {
  const body = JSON.stringify(transferCreated);
  const server = await rawServer(
    Buffer.from(`HTTP/1.1 201 创建\r\ncontent-length: ${body.length}\r\n\r\n${body}`),
  );
  const { data, response } = await clientAt(server).transfers.create(newTransfer).withResponse();
  expect(data).toEqual(transferCreated);
  expect(response.status).toBe(201);
});

test.each([300, 304, 399])('a response with status %i rejects with an ApiError', async (status) => {
  const received = (body: unknown) => () =>
    new Response(status === 304 ? null : JSON.stringify(body), { status });
  const read = clientOf(received(transfer)).payments.transfers.get('txfr_1');
  expect(await failureOf(read, ApiError)).toMatchObject({ status, outcome: 'rejected' });
  const write = clientOf(received(transferCreated)).payments.transfers.create(newTransfer);
  expect(await failureOf(write, ApiError)).toMatchObject({ status, outcome: 'unknown' });
});

const lists: readonly {
  readonly of: string;
  readonly item: unknown;
  /** The path of the items in a response. */
  readonly at: string;
  readonly list: (payments: PaymentsClient) => PromiseLike<unknown>;
}[] = [
  { of: 'transfers', item: transfer, at: 'data', list: ({ transfers }) => transfers.list() },
  {
    of: 'transactions',
    item: transactionNumber(1),
    at: '',
    list: ({ transactions }) => transactions.list({ address }),
  },
  {
    of: 'instructions',
    item: instruction,
    at: '',
    list: ({ instructions }) => instructions.list({ address }),
  },
];
const respondWith = (items: readonly unknown[], at: string): Response =>
  respond(200, at === 'data' ? page(items) : items);

test.each(lists)('the error for a long list of $of has few issues', async ({ at, list }) => {
  const items = Array.from({ length: 300_000 }, () => ({}));
  const { payments } = clientOf(() => respondWith(items, at), { validation: 'strict' });
  // The first response is checked in another way than later ones.
  for (const turn of [1, 2]) {
    const { issues } = await failureOf(list(payments), InvalidResponseError);
    expect(issues.length, `turn ${turn}`).toBeGreaterThanOrEqual(100);
    expect(issues.length, `turn ${turn}`).toBeLessThan(2_000);
  }
});

test.each(lists)(
  "the error for a list of $of names the wrong item's position",
  async ({ item, at, list }) => {
    const items = Array.from({ length: 450 }, () => item);
    const { payments } = clientOf(() => respondWith(items, at));
    await list(payments);
    items[333] = 'not an object';
    const { issues } = await failureOf(list(payments), InvalidResponseError);
    expect(issues).toEqual([{ path: `${at}[333]`, message: 'got a string; expected an object' }]);
  },
);

test('the error for a large page names a wrong hasMore', async () => {
  const items = Array.from({ length: 450 }, () => transfer);
  const { payments } = clientOf(() => respond(200, { ...page(items), hasMore: 'yes' }));
  for (let turn = 0; turn < 2; turn += 1) {
    const { issues } = await failureOf(payments.transfers.list(), InvalidResponseError);
    expect(issues).toEqual([{ path: 'hasMore', message: 'got a string; expected a boolean' }]);
  }
});

test('the validation of 50,000 fields and items takes linear time', async () => {
  const fields = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`k${at}`, 1]));
  const data = Array.from({ length: 50_000 }, () => 1);
  const { payments } = clientOf((request) =>
    respond(200, {
      ...fields,
      ...(request.method === 'PATCH' ? { ...settings, data } : page(data.map(() => transfer))),
    }),
  );
  for (let turn = 0; turn < 2; turn += 1) {
    await payments.settings.update({ defaultChain: 'base' });
    await payments.transfers.list();
  }
});

test.each(['node:http', 'fetch'])(
  'the client remembers the latest Date over %s for each base URL',
  async (transport) => {
    const dates = ['Sun, 06 Nov 1994 08:49:37 GMT', 'Sun, 06 Nov 1994 08:49:38 GMT'];
    const server = await rawServer(
      responseBytes(200, transfer, { date: dates[0] ?? '' }),
      responseBytes(200, transfer, { date: dates[1] ?? '' }),
      responseBytes(200, transfer),
      responseBytes(404, errorBody, { date: 'Sun, 06 Nov 1994 08:49:39 GMT' }),
    );
    const payments = clientAt(server, transport === 'fetch' ? { fetch: globalThis.fetch } : {});
    const { baseUrl } = payments.toJSON();
    await payments.transfers.get('txfr_1');
    expect(openRegistry().dates.get(baseUrl)).toBe(dates[0]);
    for (let count = 0; count < 2; count += 1) await payments.transfers.get('txfr_1');
    await failureOf(payments.transfers.get('txfr_1'));
    expect(openRegistry().dates.get(baseUrl)).toBe(dates[1]);
  },
);
