import { brotliCompressSync, gzipSync } from 'node:zlib';
import { ConnectionError, PaymentsClient } from 'payments-platform-sdk';
import { expect, onTestFinished, test } from 'vitest';
import type { Handler } from '../../src/transports/undici.ts';
import { apiKey, failureOf } from '../support/clients.ts';
import { newTransfer, transferCreated } from '../support/values.ts';
import { settle } from '../support/virtual-clock.ts';

// Node 22 calls the older half of the handler. A dispatcher of the test's own does so on every Node;
// the real ones are in test/runtimes.

/** The half of undici's handler that its version 6 knows. */
type OlderHandler = Pick<Handler, 'onConnect' | 'onHeaders' | 'onData' | 'onComplete' | 'onError'>;

/** A client over a dispatcher that does this with its requests. */
function clientOver(deed: (handler: OlderHandler) => void): PaymentsClient {
  void new Headers();
  for (const generation of [1, 2]) {
    const symbol = Symbol.for(`undici.globalDispatcher.${generation}`);
    const original: unknown = Reflect.get(globalThis, symbol);
    if (original === undefined) continue;
    const dispatch = (_: object, handler: OlderHandler) => {
      deed(handler);
      return true;
    };
    Reflect.set(globalThis, symbol, { dispatch });
    onTestFinished(() => void Reflect.set(globalThis, symbol, original));
  }
  return new PaymentsClient({ baseUrl: 'http://127.0.0.1:9/v0', apiKey, maxRetries: 0 });
}

/** Headers as the older undici tells them: names and values in turn, as bytes. */
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
  // What is not taken, undici holds back.
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
  const payments = clientOver((handler) => {
    queueMicrotask(() => {
      handler.onConnect(nothing);
      handler.onError(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
    });
  });
  const error = await failureOf(payments.transfers.create(newTransfer), ConnectionError);
  expect(error).toMatchObject({ code: 'ECONNRESET', outcome: 'unknown' });
});

test.each(['on its way', 'before it begins'])(
  'a request that is aborted %s is cancelled',
  async (when) => {
    const reasons: unknown[] = [];
    const begin: (() => void)[] = [];
    const payments = clientOver((handler) => {
      begin.push(() => {
        handler.onConnect((reason) => reasons.push(reason));
      });
    });
    const controller = new AbortController();
    const call = payments.transfers.create(newTransfer, { signal: controller.signal });
    const failed = failureOf(call);
    await settle();
    if (when === 'on its way') begin[0]?.();
    controller.abort();
    expect((await failed).outcome).toBe('unknown');
    if (when === 'before it begins') begin[0]?.();
    expect(reasons).toEqual([expect.any(Error)]);
  },
);
