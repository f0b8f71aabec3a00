import { brotliCompressSync, gzipSync } from 'node:zlib';
import { ConnectionError, PaymentsClient } from 'payments-platform-sdk';
import { expect, onTestFinished, test } from 'vitest';
import type { Handler } from '../../src/transports/undici.ts';
import { apiKey, clientAt, failureOf } from '../support/clients.ts';
import { closedPort } from '../support/closed-port.ts';
import { rawServer } from '../support/raw-server.ts';
import { newTransfer, transferCreated } from '../support/values.ts';
import { flushPromises } from '../support/virtual-clock.ts';

// Node 22 calls the older half of the handler. These tests call it on Node 24; test/runtimes covers Node 22.

/** The part of the handler that undici 6 calls. */
type OlderHandler = Pick<Handler, 'onConnect' | 'onHeaders' | 'onData' | 'onComplete' | 'onError'>;

/** Makes every dispatcher of fetch call `respond` with its handlers. Returns a function that undoes it. */
function replaceDispatcher(respond: (handler: OlderHandler) => void): () => void {
  void new Headers();
  const originals = [1, 2]
    .map((generation) => Symbol.for(`undici.globalDispatcher.${generation}`))
    .map((symbol) => [symbol, Reflect.get(globalThis, symbol) as unknown] as const)
    .filter(([, original]) => original !== undefined);
  const dispatch = (_: object, handler: OlderHandler) => {
    respond(handler);
    return true;
  };
  for (const [symbol] of originals) Reflect.set(globalThis, symbol, { dispatch });
  return () => {
    for (const [symbol, original] of originals) Reflect.set(globalThis, symbol, original);
  };
}

/** A client over a dispatcher that calls `respond` with the handler of each request. */
function clientOver(respond: (handler: OlderHandler) => void): PaymentsClient {
  onTestFinished(replaceDispatcher(respond));
  return new PaymentsClient({ baseUrl: 'http://127.0.0.1:9/v0', apiKey, maxRetries: 0 });
}

/** Removes the newer half of the handler, so that the dispatcher of Node calls the older half. */
async function removeNewerHandler(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<OlderHandler>();
  const restore = replaceDispatcher((handler) => {
    resolve(handler);
    handler.onError(new Error('only the handler is needed'));
  });
  const payments = new PaymentsClient({ baseUrl: 'http://127.0.0.1:9/v0', apiKey, maxRetries: 0 });
  await failureOf(payments.transfers.create(newTransfer));
  restore();
  const prototype = Object.getPrototypeOf(await promise) as object;
  const names = Object.getOwnPropertyNames(prototype).filter((name) =>
    /^on(Request|Response)/.test(name),
  );
  expect(names).toHaveLength(5);
  for (const name of names) {
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name) ?? {};
    Reflect.deleteProperty(prototype, name);
    onTestFinished(() => void Object.defineProperty(prototype, name, descriptor));
  }
}

/** Headers in the form of undici 6: names and values in turn, as bytes. */
const raw = (headers: Readonly<Record<string, string>>): Uint8Array[] =>
  Object.entries(headers)
    .flat()
    .map((text) => Buffer.from(text, 'latin1'));
const nothing = (): void => undefined;
const created = Buffer.from(JSON.stringify(transferCreated));

test('a response is read in chunks after an early hint', async () => {
  const taken: boolean[] = [];
  const payments = clientOver((handler) => {
    queueMicrotask(() => {
      handler.onConnect(nothing);
      taken.push(
        handler.onHeaders(103, raw({ link: '</x>' }), nothing, 'Early Hints'),
        handler.onHeaders(
          201,
          raw({ 'Content-Type': 'application/json', 'X-Request-Id': 'r\u00e9q_1' }),
          nothing,
          'Created',
        ),
        handler.onData(created.subarray(0, 9)),
        handler.onData(created.subarray(9)),
      );
      handler.onComplete();
    });
  });
  const { data, response } = await payments.transfers.create(newTransfer).withResponse();
  expect(data).toEqual(transferCreated);
  expect([response.status, response.statusText]).toEqual([201, 'Created']);
  expect([...response.headers]).toEqual([
    ['content-type', 'application/json'],
    ['x-request-id', 'r\u00e9q_1'],
  ]);
  // undici pauses the response when a call returns false.
  expect(taken).toEqual([true, true, true, true]);
});

test('a compressed response that arrives at once is unpacked', async () => {
  const payments = clientOver((handler) => {
    handler.onConnect(nothing);
    handler.onHeaders(201, raw({ Server: 'x', 'Content-Encoding': 'gzip' }), nothing, 'Created');
    handler.onData(gzipSync(created));
    handler.onComplete();
  });
  expect(await payments.transfers.create(newTransfer)).toEqual(transferCreated);
});

test('invalid headers are omitted from the response', async () => {
  const payments = clientOver((handler) => {
    handler.onConnect(nothing);
    handler.onHeaders(201, raw({ '': 'x', 'x y': 'z', 'x-ok': 'yes' }), nothing, 'Created');
    handler.onData(created);
    handler.onComplete();
  });
  const { data, response } = await payments.transfers.create(newTransfer).withResponse();
  expect(data).toEqual(transferCreated);
  expect([...response.headers]).toEqual([['x-ok', 'yes']]);
});

test('two content-encoding headers are one list', async () => {
  const lines = [...raw({ 'Content-Encoding': 'gzip' }), ...raw({ 'content-encoding': 'br' })];
  const payments = clientOver((handler) => {
    handler.onConnect(nothing);
    handler.onHeaders(201, lines, nothing, 'Created');
    handler.onData(brotliCompressSync(gzipSync(created)));
    handler.onComplete();
  });
  expect(await payments.transfers.create(newTransfer)).toEqual(transferCreated);
});

test('a connection that breaks after onConnect leaves a creation unknown', async () => {
  await removeNewerHandler();
  const server = await rawServer(({ reset }) => {
    reset();
  });
  const payments = clientAt(server, { maxRetries: 0 });
  const error = await failureOf(payments.transfers.create(newTransfer), ConnectionError);
  expect(error).toMatchObject({ code: 'ECONNRESET', outcome: 'unknown' });
  expect(server.arrivals).toHaveLength(1);
});

test('a refused connection without onConnect is not_sent', async () => {
  await removeNewerHandler();
  const payments = clientAt(closedPort, { maxRetries: 0 });
  const error = await failureOf(payments.transfers.create(newTransfer), ConnectionError);
  expect(error).toMatchObject({ code: 'ECONNREFUSED', outcome: 'not_sent' });
});

test.each(['on its way', 'before it begins'])(
  'a request that is aborted %s is cancelled',
  async (when) => {
    const reasons: unknown[] = [];
    const starters: (() => void)[] = [];
    const payments = clientOver((handler) => {
      starters.push(() => {
        handler.onConnect((reason) => reasons.push(reason));
      });
    });
    const controller = new AbortController();
    const call = payments.transfers.create(newTransfer, { signal: controller.signal });
    const failed = failureOf(call);
    await flushPromises();
    if (when === 'on its way') starters[0]?.();
    controller.abort();
    expect((await failed).outcome).toBe('unknown');
    if (when === 'before it begins') starters[0]?.();
    expect(reasons).toEqual([expect.any(Error)]);
  },
);
