import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { runInThisContext } from 'node:vm';
import {
  ConnectionError,
  InvalidResponseError,
  NotFoundError,
  PaymentsClient,
  TimeoutError,
  type ClientOptions,
} from 'payments-platform-sdk';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { apiKey, failureOf } from '../support/clients.ts';
import { responseBytes } from '../support/loopback.ts';
import { rawServer } from '../support/raw-server.ts';
import { closedPort } from '../support/closed-port.ts';
import { errorBody, newTransfer, transferCreated } from '../support/values.ts';

// The dispatcher of Node reports the start of a request, which proves that an earlier failure was not sent. A
// foreign dispatcher may not report it.

interface Dispatcher {
  dispatch(options: object, handler: Record<string, unknown>): boolean;
}
const symbols = [1, 2].map((generation) => Symbol.for(`undici.globalDispatcher.${generation}`));
const globals = globalThis as unknown as Record<symbol, Dispatcher | undefined>;
let originals: (Dispatcher | undefined)[] = [];

beforeEach(() => {
  void new Headers();
  originals = symbols.map((symbol) => globals[symbol]);
});
afterEach(() => {
  for (const [index, symbol] of symbols.entries()) {
    const original = originals[index];
    if (original !== undefined) Reflect.set(globalThis, symbol, original);
  }
});

type Handler = Record<string, unknown>;
type Call = () => unknown;

/** A handler that passes its calls to `pass`, which may make, drop or delay them. */
const between = (handler: Handler, pass: (name: string, call: Call) => unknown): Handler =>
  new Proxy(handler, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) =>
        pass(String(name), () => Reflect.apply(value, target, args) as unknown);
    },
  });

/** Replaces the dispatcher of Node by the result of `make`. */
function replace(make: (inner: Dispatcher) => Dispatcher): void {
  for (const [index, symbol] of symbols.entries()) {
    const inner = originals[index];
    if (inner !== undefined) Reflect.set(globalThis, symbol, make(inner));
  }
}

const isBeginning = (name: string): boolean => name === 'onRequestStart' || name === 'onConnect';
const isFailure = (name: string): boolean => name === 'onResponseError' || name === 'onError';

/** A handler that never receives the start of its request. */
const withoutBeginning = (handler: Handler): Handler =>
  between(handler, (name, call) => (isBeginning(name) ? undefined : call()));

/** Replaces the dispatcher of Node by one that reports no start. */
function silence(): void {
  replace((inner) => ({
    dispatch: (options, handler) => inner.dispatch(options, withoutBeginning(handler)),
  }));
}

const clientFor = (origin: string) =>
  new PaymentsClient({ baseUrl: `${origin}/v0`, apiKey, timeout: 2_000 });

test('creates no Headers of a response when nothing reads them', async () => {
  const append = vi.spyOn(Headers.prototype, 'append');
  onTestFinished(() => append.mockRestore());
  const appendedNames = () => append.mock.calls.map(([name]) => name.toLowerCase());
  const server = await rawServer(responseBytes(201, transferCreated));
  const call = clientFor(server.origin).transfers.create(newTransfer);
  await call;
  expect(appendedNames()).not.toContain('content-length');
  await call.withResponse();
  expect(appendedNames()).toContain('content-length');
});

test('a dispatcher that hides the start of requests proves nothing', async () => {
  silence();
  const server = await rawServer(({ reset }) => {
    reset();
  });
  const error = await failureOf(clientFor(server.origin).transfers.create(newTransfer));
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error.outcome).toBe('unknown');
  expect(server.arrivals).toHaveLength(1);
});

test('a dispatcher of a class derived from that of Node proves nothing', async () => {
  replace((inner) => {
    const Own = inner.constructor as new () => Dispatcher;
    return new (class extends Own {})();
  });
  const call = clientFor(closedPort.origin).transfers.create(newTransfer);
  expect((await failureOf(call, ConnectionError)).outcome).toBe('unknown');
});

test('a dispatcher that hides the start of requests proves nothing after a response', async () => {
  silence();
  const server = await rawServer(responseBytes(201, transferCreated), ({ reset }) => {
    reset();
  });
  const payments = clientFor(server.origin);
  await payments.transfers.create(newTransfer);
  const error = await failureOf(payments.transfers.create(newTransfer));
  expect(error.outcome).toBe('unknown');
  expect(server.arrivals).toHaveLength(2);
});

test('a dispatcher that reports the start with the response proves nothing', async () => {
  replace((inner) => ({
    dispatch(options, handler) {
      const held: Call[] = [];
      const late = between(handler, (name, call) => {
        if (isBeginning(name)) return void held.push(call);
        if (!isFailure(name)) for (const each of held.splice(0)) each();
        return call();
      });
      return inner.dispatch(options, late);
    },
  }));
  const server = await rawServer(responseBytes(201, transferCreated), ({ reset }) => {
    reset();
  });
  const payments = clientFor(server.origin);
  await payments.transfers.create(newTransfer);
  const error = await failureOf(payments.transfers.create(newTransfer));
  expect(error).toMatchObject({ outcome: 'unknown', attempts: [{ outcome: 'unknown' }] });
  expect(server.arrivals).toHaveLength(2);
});

test('a dispatcher with a copy of the source of Node’s dispatch() proves nothing', async () => {
  const kDispatch = Symbol('dispatch');
  replace((inner) => {
    class Agent implements Dispatcher {
      dispatch(opts: object, handler: Handler): boolean {
        return this[kDispatch](opts, handler);
      }
      [kDispatch](options: object, handler: Handler): boolean {
        return inner.dispatch(options, withoutBeginning(handler));
      }
    }
    return new Agent();
  });
  const server = await rawServer(({ reset }) => {
    reset();
  });
  const error = await failureOf(clientFor(server.origin).transfers.create(newTransfer));
  expect(error.outcome).toBe('unknown');
});

test('the dispatcher of Node proves nothing with an interceptor', async () => {
  replace((inner) => {
    const composed: unknown = (
      inner as Dispatcher & { compose(interceptor: unknown): unknown }
    ).compose(
      (dispatch: Dispatcher['dispatch']): Dispatcher['dispatch'] =>
        (options, handler) =>
          dispatch(options, withoutBeginning(handler)),
    );
    return composed as Dispatcher;
  });
  const server = await rawServer(({ reset }) => {
    reset();
  });
  const error = await failureOf(clientFor(server.origin).transfers.create(newTransfer));
  expect(error.outcome).toBe('unknown');
  expect(server.arrivals).toHaveLength(1);
});

test('the dispatcher of Node proves nothing when its dispatch() was replaced', async () => {
  const server = await rawServer(responseBytes(201, transferCreated), ({ reset }) => {
    reset();
  });
  const payments = clientFor(server.origin);
  await payments.transfers.create(newTransfer);
  const patched = originals.filter((inner) => inner !== undefined);
  for (const inner of patched) {
    const dispatch = inner.dispatch.bind(inner);
    inner.dispatch = (options, handler) => dispatch(options, withoutBeginning(handler));
  }
  onTestFinished(() => {
    for (const inner of patched) Reflect.deleteProperty(inner, 'dispatch');
  });
  const error = await failureOf(payments.transfers.create(newTransfer));
  expect(error).toMatchObject({ outcome: 'unknown', attempts: [{ outcome: 'unknown' }] });
  expect(server.arrivals).toHaveLength(2);
});

test('a dispatcher that switches to another address proves nothing with its last error', async () => {
  replace((inner) => {
    const composed: unknown = (
      inner as Dispatcher & { compose(interceptor: unknown): unknown }
    ).compose((dispatch: Dispatcher['dispatch']): Dispatcher['dispatch'] => {
      return (options, handler) =>
        dispatch(
          options,
          between(handler, (name, call) => {
            if (isBeginning(name)) return undefined;
            return isFailure(name)
              ? dispatch({ ...options, origin: closedPort.origin }, handler)
              : call();
          }),
        );
    });
    return composed as Dispatcher;
  });
  const server = await rawServer(({ reset }) => {
    reset();
  });
  const error = await failureOf(clientFor(server.origin).transfers.create(newTransfer));
  expect(error).toMatchObject({ code: 'ECONNREFUSED', outcome: 'unknown' });
  expect(server.arrivals).toHaveLength(1);
});

test('a request that was reported as failed does not start afterwards', async () => {
  const starters: (() => void)[] = [];
  replace((inner) => ({
    dispatch(options, handler) {
      const fail = (handler['onResponseError'] ?? handler['onError']) as (
        ...args: unknown[]
      ) => void;
      const error = Object.assign(new Error('too slow'), { code: 'UND_ERR_CONNECT_TIMEOUT' });
      // undici 7 and later pass a controller first.
      fail.call(handler, ...('onResponseError' in handler ? [undefined, error] : [error]));
      starters.push(() => inner.dispatch(options, handler));
      return true;
    },
  }));
  const server = await rawServer(responseBytes(201, transferCreated));
  const error = await failureOf(clientFor(server.origin).transfers.create(newTransfer));
  expect(error).toMatchObject({ outcome: 'unknown', attempts: [{ outcome: 'unknown' }] });
  for (const start of starters) start();
  await server.closed(0);
  expect(starters).toHaveLength(1);
  expect(server.arrivals).toHaveLength(0);
});

test('an installed undici with the names of Node proves nothing', async () => {
  const make = runInThisContext(`(__name, kDispatch, inner, silent) => new (class Agent {
    static { __name(this, "Agent"); }
    dispatch(opts, handler) { return this[kDispatch](opts, handler); }
    [kDispatch](opts, handler) { return inner.dispatch(opts, silent(handler)); }
  })()`) as (...args: unknown[]) => Dispatcher;
  replace((inner) => make(() => undefined, Symbol('dispatch'), inner, withoutBeginning));
  const server = await rawServer(({ reset }) => {
    reset();
  });
  const error = await failureOf(clientFor(server.origin).transfers.create(newTransfer));
  expect(error).toMatchObject({ outcome: 'unknown', attempts: [{ outcome: 'unknown' }] });
  expect(server.arrivals).toHaveLength(1);
});

test('a permissive dispatcher that reads like that of Node proves nothing', async () => {
  const make = runInThisContext(`(__name, kDispatch, send) => new (class Agent {
    static { __name(this, "Agent"); }
    dispatch(opts, handler) { return this[kDispatch](opts, handler); }
    [kDispatch](opts, handler) { return send(handler); }
  })()`) as (...args: unknown[]) => Dispatcher;
  const refused = Object.assign(new Error('no'), { code: 'ECONNREFUSED', syscall: 'connect' });
  const send = (
    handler: { onResponseError(controller: object, error: Error): void } | undefined,
  ) => {
    handler?.onResponseError({}, refused);
    return true;
  };
  replace(() => make(() => undefined, Symbol('dispatch'), send));
  const error = await failureOf(clientFor('http://127.0.0.1:9').transfers.create(newTransfer));
  expect(error.outcome).toBe('unknown');
});

/** The response of a custom dispatcher to a request. */
type Action = (handler: {
  onRequestStart(controller: object): void;
  onResponseStart(controller: object, status: number, headers: object, text: string): void;
  onResponseData(controller: object, chunk: Uint8Array): void;
  onResponseEnd(): void;
}) => void;
const act = (action: Action): void => {
  replace(() => ({
    dispatch(_, handler) {
      action(handler as unknown as Parameters<Action>[0]);
      return true;
    },
  }));
};

test.each<[string, Action]>([
  [
    'throws',
    () => {
      throw new Error('the dispatcher is closed');
    },
  ],
  [
    'ends an answer that has not begun',
    (handler) => {
      handler.onRequestStart({ abort: () => undefined });
      handler.onResponseEnd();
    },
  ],
])('a dispatcher that %s does not make the call hang', async (_, action) => {
  act(action);
  const payments = clientFor('http://127.0.0.1:9');
  const error = await failureOf(payments.transfers.create(newTransfer), ConnectionError);
  expect(error).not.toBeInstanceOf(TimeoutError);
  expect(error.outcome).toBe('unknown');
});

const mebibyte = 2 ** 20;
/** The head of a gzip file with an endless file name. */
const endlessName = Buffer.from([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3]);

test.each<[string, object, readonly Uint8Array[], end?: true]>([
  ['is there before anybody reads', {}, [Buffer.alloc(16 * mebibyte + 1, 0x20)]],
  ['is there to its end before anybody reads', {}, [Buffer.alloc(16 * mebibyte + 1, 0x20)], true],
  [
    'unpacks to nothing',
    { 'content-encoding': 'gzip' },
    [endlessName, ...Array.from({ length: 17 }, () => Buffer.alloc(mebibyte, 'a'))],
  ],
])(
  'a response of excessive size that %s is rejected and cancelled',
  async (_, headers, chunks, end) => {
    const abort = vi.fn();
    act((handler) => {
      handler.onRequestStart({ abort });
      handler.onResponseStart({ abort }, 201, headers, 'Created');
      for (const chunk of chunks) handler.onResponseData({ abort }, chunk);
      if (end) handler.onResponseEnd();
    });
    const call = clientFor('http://127.0.0.1:9').transfers.create(newTransfer);
    expect(await failureOf(call, InvalidResponseError)).toMatchObject({
      reason: 'too_large',
      outcome: 'unknown',
    });
    expect(abort).toHaveBeenCalledOnce();
  },
);

test('the fetch of Node proves nothing over another dispatcher given as an option', async () => {
  // The caller sees only the result of the second request.
  replace((inner) => ({
    dispatch: (options, handler) =>
      inner.dispatch(
        options,
        between(handler, (name, call) => {
          if (isBeginning(name)) return undefined;
          if (!isFailure(name)) return call();
          const again = { ...options, origin: closedPort.origin };
          return inner.dispatch(again, withoutBeginning(handler));
        }),
      ),
  }));
  const server = await rawServer(({ reset }) => {
    reset();
  });
  const payments = clientFor(server.origin).withOptions({ fetch: globalThis.fetch });
  vi.stubGlobal('fetch', () => Promise.reject(new Error('nobody asks this one')));
  onTestFinished(() => void vi.unstubAllGlobals());
  const error = await failureOf(payments.transfers.create(newTransfer));
  expect(error).toMatchObject({ code: 'ECONNREFUSED', outcome: 'unknown' });
  expect(server.arrivals).toHaveLength(1);
});

test('the dispatcher of Node proves from the first call on that nothing was sent', async () => {
  let met = 0;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      met += 1;
      socket.resetAndDestroy();
    });
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const payments = clientFor(`https://127.0.0.1:${port}`);
  const error = await failureOf(payments.transfers.create(newTransfer), ConnectionError);
  expect(error).toMatchObject({ code: 'ECONNRESET', outcome: 'not_sent' });
  expect(met).toBe(3);
});

test.each<[string, ClientOptions]>([
  ['timeout', { timeout: 5_000 }],
  ['totalTimeout', { totalTimeout: 5_000 }],
])('a process that was frozen before the first byte sends nothing after %s', async (_, limits) => {
  const server = await rawServer(responseBytes(201, transferCreated));
  let frozen = 0;
  const payments = clientFor(server.origin).withOptions({
    timeout: 60_000,
    ...limits,
    maxRetries: 0,
    clock: {
      now: () => Date.now() + frozen,
      setTimeout: (callback, ms) => setTimeout(callback, ms),
      clearTimeout: (handle) => {
        clearTimeout(handle as NodeJS.Timeout);
      },
    },
  });
  await payments.transfers.create(newTransfer);
  // Time passes without a timer firing before the connection is ready.
  replace((inner) => ({
    dispatch(options, handler) {
      frozen = 10_000;
      return inner.dispatch(options, handler);
    },
  }));
  const error = await failureOf(payments.transfers.create(newTransfer), TimeoutError);
  // A foreign dispatcher that reports no start proves nothing.
  expect(error).toMatchObject({ outcome: 'unknown', retryable: false });
  expect(server.arrivals).toHaveLength(1);
});

test('a DELETE resolves before its endless body ends', async () => {
  const server = await rawServer(({ write }) => {
    write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{');
  });
  await expect(clientFor(server.origin).ibans.delete('iban_1')).resolves.toBeUndefined();
  await server.closed(0);
});

test('an aborted call does not fetch a credential', async () => {
  let credentialCalls = 0;
  const payments = new PaymentsClient({
    baseUrl: 'http://127.0.0.1:9/v0',
    apiKey: () => {
      credentialCalls += 1;
      return apiKey;
    },
  });
  const signal = AbortSignal.abort();
  const error = await failureOf(payments.transfers.create(newTransfer, { signal }));
  expect(error).not.toBeInstanceOf(TimeoutError);
  expect(error).toMatchObject({ name: 'AbortError', outcome: 'not_sent' });
  expect(credentialCalls).toBe(0);
});

// Two copies of undici in one application may write to either symbol.
test.each(symbols)(
  'a dispatcher at %s receives the calls exactly when it receives those of fetch',
  async (symbol) => {
    const inner = globals[symbol];
    if (inner === undefined) throw new Error('nothing is there');
    let credentialCalls = 0;
    const counting: Dispatcher = {
      dispatch: (options, handler) => {
        credentialCalls += 1;
        return inner.dispatch(options, handler);
      },
    };
    Reflect.set(globalThis, symbol, counting);
    const server = await rawServer(responseBytes(201, transferCreated));
    await fetch(server.origin);
    const byFetch = credentialCalls;
    await clientFor(server.origin).transfers.create(newTransfer);
    expect(credentialCalls).toBe(byFetch * 2);
    expect(server.arrivals).toHaveLength(2);
  },
);

/** Replaces the dispatcher of Node by one that resends a failed request once. */
function installReplaying(): void {
  for (const [index, symbol] of symbols.entries()) {
    const inner = originals[index];
    if (inner === undefined) continue;
    const outer: Dispatcher = {
      dispatch(options, handler) {
        let isSecond = false;
        const watched: Record<string, unknown> = new Proxy(handler, {
          get(target, name) {
            const value: unknown = Reflect.get(target, name, target);
            if (typeof value !== 'function') return value;
            if (isSecond || (name !== 'onResponseError' && name !== 'onError')) {
              return value.bind(target);
            }
            return () => {
              isSecond = true;
              inner.dispatch(options, watched);
            };
          },
        });
        return inner.dispatch(options, watched);
      },
    };
    Reflect.set(globalThis, symbol, outer);
  }
}

test('a write is held back when a dispatcher is about to resend it', async () => {
  installReplaying();
  const writes: ((payments: PaymentsClient) => Promise<unknown>)[] = [
    (payments) => payments.transfers.create(newTransfer),
    (payments) => payments.counterparties.delete('cpty_1'),
  ];
  for (const write of writes) {
    const server = await rawServer(
      ({ reset }) => {
        // The second request would have taken effect.
        reset();
      },
      responseBytes(201, transferCreated),
    );
    const error = await failureOf(write(clientFor(server.origin)), ConnectionError);
    expect(error).toMatchObject({ outcome: 'unknown', attempts: [{ outcome: 'unknown' }] });
    expect(error.message).toContain('Outcome unknown');
    expect(server.arrivals).toHaveLength(1);
  }
});

test('a read that a dispatcher sent twice is classified by its response', async () => {
  installReplaying();
  const server = await rawServer(
    ({ reset }) => {
      reset();
    },
    responseBytes(404, errorBody),
  );
  const error = await failureOf(clientFor(server.origin).transfers.get('txfr_1'), NotFoundError);
  expect(error.outcome).toBe('rejected');
});
