import {
  AbortError,
  ServerError,
  type ClientOptions,
  type PaymentsClient,
} from 'payments-platform-sdk';
import { expect, onTestFinished, test } from 'vitest';
import { clientAt, clientOf, failureOf, respond } from '../support/clients.ts';
import { rawServer } from '../support/raw-server.ts';
import { errorBody, page, transferNumber } from '../support/values.ts';
import { failOnUnhandledRejections } from '../support/unhandled.ts';
import { flushPromises } from '../support/virtual-clock.ts';

failOnUnhandledRejections();

/** A request for a page that the test releases. */
interface Held {
  readonly cursor: string | null;
  readonly signal: AbortSignal;
  /** Responds with two transfers, and with a cursor unless it is the last page. */
  give(last?: boolean): Promise<void>;
  fail(status: number): Promise<void>;
}

/** A platform that holds back its pages c1, c2, … until the test releases them. */
function heldPlatform(options: ClientOptions = {}): {
  payments: PaymentsClient;
  heldRequests: Held[];
} {
  const heldRequests: Held[] = [];
  const { payments } = clientOf(
    (request) =>
      new Promise((resolve, reject) => {
        const cursor = new URL(request.url).searchParams.get('cursor');
        const number = Number(cursor?.slice(1) ?? 0);
        request.signal.addEventListener('abort', () => {
          reject(request.signal.reason as Error);
        });
        heldRequests.push({
          cursor,
          signal: request.signal,
          give: (last = false) => {
            const data = [2 * number, 2 * number + 1].map(transferNumber);
            resolve(respond(200, page(data, last ? null : `c${number + 1}`)));
            return flushPromises();
          },
          fail: (status) => {
            resolve(respond(status, errorBody));
            return flushPromises();
          },
        });
      }),
    { maxRetries: 0, ...options },
  );
  return { payments, heldRequests };
}

/** A loop over a list that the test advances. */
const stepping = <T>(list: AsyncIterable<T>): AsyncIterator<T> => list[Symbol.asyncIterator]();

test('a list prefetches pages only from the third page on', async () => {
  const { payments, heldRequests } = heldPlatform();
  const iterator = stepping(payments.transfers.list());
  const take = async (): Promise<string | undefined> => {
    const result = await iterator.next();
    await flushPromises();
    return result.done === true ? undefined : result.value.id;
  };
  const first = take();
  await flushPromises();
  expect(heldRequests).toHaveLength(1);
  await heldRequests[0]?.give();
  expect(await first).toBe('txfr_0');
  expect(await take()).toBe('txfr_1');
  // Reading one page costs one request only.
  expect(heldRequests).toHaveLength(1);

  const third = take();
  await flushPromises();
  expect(heldRequests.map(({ cursor }) => cursor)).toEqual([null, 'c1']);
  await heldRequests[1]?.give();
  expect(await third).toBe('txfr_2');
  // The third page is in flight while the second page is read.
  expect(heldRequests.map(({ cursor }) => cursor)).toEqual([null, 'c1', 'c2']);
  await heldRequests[2]?.give();
  expect(await take()).toBe('txfr_3');
  // The third page was not read, so the fourth is not requested.
  expect(heldRequests).toHaveLength(3);
  expect(await take()).toBe('txfr_4');
  expect(heldRequests).toHaveLength(4);
  await heldRequests[3]?.give(true);
  expect(await take()).toBe('txfr_5');
  expect(await take()).toBe('txfr_6');
  expect(await take()).toBe('txfr_7');
  expect(await take()).toBeUndefined();
  expect(heldRequests).toHaveLength(4);
});

/** Reads two pages, with the third one in flight. */
async function inFlight(options?: ClientOptions, signal?: AbortSignal) {
  const { payments, heldRequests } = heldPlatform(options);
  const iterator = stepping(payments.transfers.list({}, { signal }).pages());
  for (const turn of [0, 1]) {
    const next = iterator.next();
    await flushPromises();
    await heldRequests[turn]?.give();
    await next;
    await flushPromises();
  }
  expect(heldRequests).toHaveLength(3);
  expect(heldRequests[2]?.signal.aborted).toBe(false);
  return { payments, heldRequests, iterator };
}

test("return() of a list's iterator cancels the prefetch", async () => {
  const { heldRequests, iterator } = await inFlight();
  expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
  await flushPromises();
  expect(heldRequests[2]?.signal.aborted).toBe(true);
  expect(await iterator.next()).toEqual({ done: true, value: undefined });
  expect(heldRequests).toHaveLength(3);
});

test.each<[string, () => void]>([
  ['break', () => undefined],
  [
    'throw',
    () => {
      throw new Error('mine');
    },
  ],
])('%s in a loop over a list cancels the prefetch', async (name, leave) => {
  const { payments, heldRequests } = heldPlatform();
  const loop = (async () => {
    for await (const transfer of payments.transfers.list()) {
      if (transfer.id !== 'txfr_3') continue;
      await flushPromises();
      leave();
      break;
    }
    return 'left';
  })();
  const ended = loop.catch((error: unknown) => String(error));
  await flushPromises();
  await heldRequests[0]?.give();
  await heldRequests[1]?.give();
  await flushPromises(60);
  expect(heldRequests).toHaveLength(3);
  expect(await ended).toBe(name === 'break' ? 'left' : 'Error: mine');
  await flushPromises();
  expect(heldRequests[2]?.signal.aborted).toBe(true);
});

test("return() of a list's iterator ends a pending next() at once", async () => {
  const { heldRequests, iterator } = await inFlight();
  const waiting = iterator.next();
  await flushPromises();
  await iterator.return?.();
  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(heldRequests[2]?.signal.aborted).toBe(true);
});

test("`break` in a loop over a list closes the prefetch's connection", async () => {
  const server = await rawServer((exchange) => {
    const number = Number(new URL(exchange.target, 'http://x').searchParams.get('cursor') ?? 0);
    if (number === 2) return;
    const body = JSON.stringify(page([transferNumber(number)], String(number + 1)));
    exchange.reply(
      `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
  });
  for await (const { id } of clientAt(server).transfers.list()) {
    if (id !== 'txfr_1') continue;
    await server.arrived(3);
    break;
  }
  await server.closed(2);
});

test("an abort cancels a list's prefetch and rejects with an AbortError", async () => {
  const controller = new AbortController();
  const { heldRequests, iterator } = await inFlight({}, controller.signal);
  controller.abort('enough');
  await flushPromises();
  expect(heldRequests[2]?.signal.aborted).toBe(true);
  expect(await failureOf(iterator.next(), AbortError)).toMatchObject({
    cause: 'enough',
    resume: { cursor: 'c2', itemsYielded: 4 },
  });
});

test('a list ignores a failed prefetch if the caller leaves', async () => {
  const { heldRequests, iterator } = await inFlight();
  await heldRequests[2]?.fail(500);
  await iterator.return?.();
  expect(heldRequests).toHaveLength(3);
});

test('a failed prefetch ends a loop only when the page is needed', async () => {
  const { heldRequests, iterator } = await inFlight();
  await heldRequests[2]?.fail(500);
  const error = await failureOf(iterator.next(), ServerError);
  expect(error.resume).toEqual({ cursor: 'c2', limit: undefined, itemsYielded: 4 });
  expect(await iterator.next()).toEqual({ done: true, value: undefined });
  expect(heldRequests).toHaveLength(3);
});

test('concurrent next() calls of a list request no page twice', async () => {
  for (const what of ['items', 'pages'] as const) {
    const { payments, heldRequests } = heldPlatform();
    const list = payments.transfers.list();
    const iterator: AsyncIterator<unknown> =
      what === 'items' ? stepping(list) : stepping(list.pages());
    const count = what === 'items' ? 9 : 5;
    const results = Array.from({ length: count }, () => iterator.next());
    for (let turn = 0; turn < 4; turn += 1) {
      await flushPromises();
      await heldRequests[turn]?.give(turn === 3);
    }
    const got = (await Promise.all(results)).map(({ value }) =>
      value === undefined
        ? undefined
        : what === 'items'
          ? (value as { id: string }).id
          : (value as { data: { id: string }[] }).data[0]?.id,
    );
    const ids = Array.from({ length: 8 }, (_, index) => `txfr_${index}`);
    const expected = what === 'items' ? ids : ids.filter((_, index) => index % 2 === 0);
    expect(got).toEqual([...expected, undefined]);
    expect(heldRequests.map(({ cursor }) => cursor)).toEqual([null, 'c1', 'c2', 'c3']);
  }
});

test('a list prefetches one page only, however long the loop waits', async () => {
  const { heldRequests, iterator } = await inFlight();
  await heldRequests[2]?.give();
  await flushPromises(100);
  expect(heldRequests).toHaveLength(3);
  await iterator.return?.();
});

test('`for await` accepts an iterator of a list', async () => {
  const { payments, heldRequests } = heldPlatform();
  const list = payments.transfers.list();
  const collect = async (iterable: AsyncIterable<unknown>): Promise<number> => {
    let count = 0;
    for await (const _ of iterable) count += 1;
    return count;
  };
  const items = collect(list[Symbol.asyncIterator]() as AsyncIterableIterator<unknown>);
  await flushPromises();
  await heldRequests[0]?.give(true);
  expect(await items).toBe(2);
  const pages = collect(list.pages()[Symbol.asyncIterator]() as AsyncIterableIterator<unknown>);
  await flushPromises();
  await heldRequests[1]?.give(true);
  expect(await pages).toBe(1);
});

test('a list works with frozen generator prototypes, as under SES', async () => {
  const methods: object = Object.getPrototypeOf(async function* () {}.prototype);
  const names = ['next', 'return'];
  const allow = (writable: boolean): void => {
    for (const name of names) Object.defineProperty(methods, name, { writable });
  };
  allow(false);
  onTestFinished(() => {
    allow(true);
  });
  const { payments } = clientOf(() => respond(200, page([transferNumber(1)])));
  expect(await payments.transfers.list().toArray({ max: 2 })).toEqual([transferNumber(1)]);
});
