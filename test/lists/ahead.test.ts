import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { InvalidResponseError, type ClientOptions } from 'payments-platform-sdk';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { clientAt, failureOf } from '../support/clients.ts';
import { responseBytes, type Exchange, type RawServer } from '../support/loopback.ts';
import { rawServer } from '../support/raw-server.ts';
import { page, transferNumber } from '../support/values.ts';
import { failOnUnhandledRejections } from '../support/unhandled.ts';
import { flushPromises, VirtualClock } from '../support/virtual-clock.ts';

// Over node:http, a list requests the next page before it parses the page that has arrived. The
// cursor comes from the end of the unparsed text, so no text may lead to a wrong cursor.

failOnUnhandledRejections();
// Retries wait for 0 ms.
beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const cursorOf = (target: string): string =>
  new URL(target, 'http://x').searchParams.get('cursor') ?? 'first';
const numberOf = (cursor: string): number => (cursor === 'first' ? 0 : Number(cursor.slice(1)));
const targetsOf = (server: RawServer): string[] =>
  server.arrivals.map(({ target }) => cursorOf(target));
const keepAlive = { connection: 'keep-alive' };

/** Page n of a list of `count` pages with one transfer each. */
const pageText = (number: number, count: number): string =>
  JSON.stringify(page([transferNumber(number)], number + 1 < count ? `c${number + 1}` : null));

/** A platform with such pages. `text` may replace the body of a page, or withhold the response. */
const platformOf = (
  count: number,
  text: (cursor: string, usual: string, times: number) => string | undefined = (_, usual) => usual,
): Promise<RawServer> => {
  const times = new Map<string, number>();
  return rawServer(({ target, write }: Exchange) => {
    const cursor = cursorOf(target);
    times.set(cursor, (times.get(cursor) ?? 0) + 1);
    const content = text(cursor, pageText(numberOf(cursor), count), times.get(cursor) ?? 0);
    if (content !== undefined) write(responseBytes(200, Buffer.from(content), keepAlive));
  });
};

/** Records when a request is written to its socket and when a response has been read. */
function diary(): { readonly events: string[]; readonly options: ClientOptions } {
  const events: string[] = [];
  const sent = (message: unknown): void => {
    const { request } = message as { readonly request: { readonly path: string } };
    events.push(`sent ${cursorOf(request.path)}`);
  };
  // The events of node:http and of fetch.
  const channels = ['http.client.request.start', 'undici:client:sendHeaders'];
  for (const channel of channels) subscribe(channel, sent);
  onTestFinished(() => {
    for (const channel of channels) unsubscribe(channel, sent);
  });
  const cursors = new Map<number, string>();
  return {
    events,
    options: {
      maxRetries: 1,
      hooks: {
        onRequest: ({ call, url }) => cursors.set(call, cursorOf(url)),
        onResponse: ({ call, outcome }) => {
          events.push(`${outcome === 'ok' ? 'read' : outcome} ${cursors.get(call) ?? '?'}`);
        },
      },
    },
  };
}

const ids = async (list: AsyncIterable<{ readonly id: string }>): Promise<string[]> => {
  const all: string[] = [];
  for await (const { id } of list) all.push(id);
  return all;
};
const idsUpTo = (count: number): string[] =>
  Array.from({ length: count }, (_, number) => `txfr_${number}`);

test('from page two on, a list prefetches before it parses a page', async () => {
  const server = await platformOf(5);
  const { events, options } = diary();
  expect(await ids(clientAt(server, options).transfers.list())).toEqual(idsUpTo(5));
  expect(events).toEqual([
    ...['sent first', 'read first'],
    ...['sent c1', 'sent c2', 'read c1', 'sent c3', 'read c2', 'sent c4', 'read c3', 'read c4'],
  ]);
});

test('a list never prefetches more than one page', async () => {
  const server = await platformOf(9);
  const iterator = clientAt(server).transfers.list()[Symbol.asyncIterator]();
  await iterator.next();
  await iterator.next();
  await server.arrived(3);
  await flushPromises(50);
  expect(targetsOf(server)).toEqual(['first', 'c1', 'c2']);
  await iterator.next();
  await server.arrived(4);
  await flushPromises(50);
  expect(targetsOf(server)).toEqual(['first', 'c1', 'c2', 'c3']);
  await iterator.return?.();
});

test('a list over the option `fetch` requests no page ahead', async () => {
  const server = await platformOf(5);
  const { events, options } = diary();
  const custom = { ...options, fetch: (request: Request) => fetch(request) };
  expect(await ids(clientAt(server, custom).transfers.list())).toEqual(idsUpTo(5));
  expect(events.join()).toBe(
    'sent first,read first,sent c1,read c1,sent c2,read c2,sent c3,read c3,sent c4,read c4',
  );
});

test('a list does not follow the cursor in an error response', async () => {
  const step =
    (number: number, status = 200) =>
    ({ write }: Exchange): void => {
      write(responseBytes(status, Buffer.from(pageText(number, 5)), keepAlive));
    };
  const server = await rawServer(step(0), step(1), step(2, 503), step(2), step(3), step(4));
  const payments = clientAt(server, { maxRetries: 1, clock: new VirtualClock() });
  expect(await ids(payments.transfers.list())).toEqual(idsUpTo(5));
  expect(targetsOf(server)).toEqual(['first', 'c1', 'c2', 'c2', 'c3', 'c4']);
});

const spaced = (usual: string): string =>
  usual.replace('],"hasMore":true,', ' ]\n , "hasMore" : true,\t').replace(/\}$/, ' }\r\n');
const cursorFirst = (usual: string): string => {
  const { data, ...rest } = JSON.parse(usual) as Record<string, unknown>;
  return JSON.stringify({ ...rest, data });
};

/** A character of a cursor as a JSON escape. */
const escaped = (_: string, number: string): string => String.raw`"\u0063${number}"}`;

test.each<[form: string, make: (usual: string) => string, isAhead: boolean]>([
  ['with white space', spaced, true],
  ['with its cursor in front', cursorFirst, false],
  ['with an additional field', (usual) => usual.replace(/\}$/, ',"total":5}'), false],
  ['with an escape in its cursor', (usual) => usual.replace(/"c(\d+)"\}$/, escaped), false],
  [
    'whose last item looks like the end of a page',
    (usual) => cursorFirst(usual).replace(/\}\]\}$/, ',"x":[],"hasMore":true,"nextCursor":"c7"}]}'),
    false,
  ],
  [
    'with a field that looks like the end of a page',
    (usual) => usual.replace(/\}$/, ',"more":{"x":[],"hasMore":true,"nextCursor":"c7"}}'),
    false,
  ],
  [
    'with a text that looks like the end of a page',
    (usual) =>
      usual.replace(/\}$/, `,"note":${JSON.stringify('],"hasMore":true,"nextCursor":"c7"}')}}`),
    false,
  ],
  [
    'with a very long cursor',
    (usual) => usual.replace(/"(c\d+)"\}/, (_, cursor: string) => `"${cursor.padEnd(600)}"}`),
    false,
  ],
])('a list requests the right next page, even after a page %s', async (_, make, isAhead) => {
  const server = await platformOf(5, (_cursor, usual) => make(usual));
  const { events, options } = diary();
  expect(await ids(clientAt(server, options).transfers.list())).toEqual(idsUpTo(5));
  expect(targetsOf(server).map((cursor) => cursor.trim())).toEqual([
    'first',
    'c1',
    'c2',
    'c3',
    'c4',
  ]);
  const early = events.map((event) => event.trim());
  expect(early.indexOf('sent c3') < early.indexOf('read c2')).toBe(isAhead);
});

test('a list cancels the prefetch if the current page is invalid', async () => {
  const server = await platformOf(5, (cursor, usual) => {
    if (cursor === 'c3') return undefined;
    return cursor === 'c2' ? usual.replace('"data":[{', '"data":[7,{') : usual;
  });
  const { events, options } = diary();
  const error = await failureOf(
    ids(clientAt(server, options).transfers.list()),
    InvalidResponseError,
  );
  expect(error).toMatchObject({ reason: 'shape', resume: { cursor: 'c2', itemsYielded: 2 } });
  await server.arrived(4);
  expect(targetsOf(server)).toEqual(['first', 'c1', 'c2', 'c3']);
  await server.closed(server.arrivals[3]?.connection ?? -1);
  expect(events).toContain('unknown c3');
});

test('a list continues at the new cursor that a retry receives', async () => {
  const server = await platformOf(5, (cursor, usual, times) => {
    if (cursor === 'c3') return undefined;
    if (cursor !== 'c2') return usual;
    // Unmatched brackets make it a truncated response, which is retried.
    return times === 1 ? usual.replace('"data":[{', '"data":[{{') : usual.replace('"c3"', '"c4"');
  });
  const payments = clientAt(server, { maxRetries: 1, clock: new VirtualClock() });
  expect(await ids(payments.transfers.list())).toEqual(['txfr_0', 'txfr_1', 'txfr_2', 'txfr_4']);
  expect(targetsOf(server)).toEqual(['first', 'c1', 'c2', 'c3', 'c2', 'c4']);
  const held = server.arrivals.find(({ target }) => cursorOf(target) === 'c3');
  await server.closed(held?.connection ?? -1);
});

test('a list keeps the prefetched page if a retry receives its cursor', async () => {
  const server = await platformOf(4, (cursor, usual, times) =>
    cursor === 'c2' && times === 1 ? usual.replace('"data":[{', '"data":[{{') : usual,
  );
  const payments = clientAt(server, { maxRetries: 1, clock: new VirtualClock() });
  expect(await ids(payments.transfers.list())).toEqual(idsUpTo(4));
  expect(targetsOf(server)).toEqual(['first', 'c1', 'c2', 'c3', 'c2']);
});

test('a list prefetches nothing if the caller has left the loop', async () => {
  const server = await platformOf(5, (cursor, usual) => (cursor === 'c3' ? undefined : usual));
  let leave = (): void => undefined;
  const payments = clientAt(server, {
    hooks: {
      onRequest: ({ url }) => {
        if (cursorOf(url) === 'c3') leave();
      },
    },
  });
  const iterator = payments.transfers.list()[Symbol.asyncIterator]();
  leave = () => {
    void iterator.return?.();
  };
  await iterator.next();
  await iterator.next();
  expect(await iterator.next()).toEqual({ done: true, value: undefined });
  expect(await iterator.next()).toEqual({ done: true, value: undefined });
  await flushPromises(50);
  expect(targetsOf(server)).toEqual(['first', 'c1', 'c2']);
});

test('a list ends in an error if a cursor leads back', async () => {
  const server = await platformOf(9, (cursor, usual) =>
    cursor === 'c3' ? usual.replace('"c4"', '"c1"') : usual,
  );
  const error = await failureOf(ids(clientAt(server).transfers.list()));
  expect(error).toMatchObject({ reason: 'cursor_loop', resume: { itemsYielded: 4 } });
  expect(targetsOf(server)).toEqual(['first', 'c1', 'c2', 'c3']);
});

test('a list that prefetches ends at hasMore: false, even with a cursor', async () => {
  const server = await platformOf(9, (cursor, usual) =>
    cursor === 'c3' ? usual.replace('"hasMore":true', '"hasMore":false') : usual,
  );
  expect(await ids(clientAt(server).transfers.list())).toEqual(idsUpTo(4));
  expect(targetsOf(server)).toEqual(['first', 'c1', 'c2', 'c3']);
});
