import type * as NodeTimers from 'node:timers';
import { builtinModule, isNativeFetch, runtime } from '../internal/runtime.ts';
import { DispatcherResponse } from './dispatcher-response.ts';
import {
  getDispatcher,
  getWriteDispatcher,
  isNodeDispatcher,
  type Controller,
  type Handler,
  type RawHeaders,
} from './undici.ts';
import type { Trace, Transport, TransportResponse, TransportRequest } from './transport.ts';

/*
 * Node's fetch uses undici, which keeps its dispatcher (the connection pool, or its replacement from
 * setGlobalDispatcher) on the global object. Compared with fetch, the dispatcher costs a third, sends
 * the body of a GET, and reports when the first byte is about to be written: an error before that
 * proves that nothing was sent.
 */

let lastChecked: { readonly fetch: unknown; readonly isNative: boolean } | undefined;

/** Finds the transport on the dispatcher of Node; undefined without one or when fetch was replaced. */
export function findDispatcherTransport(): Transport | undefined {
  const { fetch } = globalThis;
  if (runtime() !== 'node' || builtinModule('node:zlib') === undefined) return undefined;
  if (lastChecked === undefined || lastChecked.fetch !== fetch) {
    lastChecked = { fetch, isNative: isNativeFetch(fetch) };
  }
  if (!lastChecked.isNative) return undefined;
  const dispatcher = getDispatcher();
  if (dispatcher === undefined) return undefined;
  return isNodeDispatcher(dispatcher) ? nodeTransport : foreignTransport;
}

const createTransport = (rest: Pick<Transport, 'flush'>): Transport => ({
  runtime: 'node',
  sendsOnce: true,
  wantsRequest: false,
  send: (request, _, trace) => new Exchange(request, trace).response,
  ...rest,
});
const foreignTransport = /* @__PURE__ */ createTransport({});

// Not from the global object, where fake timers may replace it and never call back. Only on Node, because
// Deno loads a large part of its Node layer for the first module.
const nodeSetImmediate = /* @__PURE__ */ (() => {
  const timers = runtime() === 'node' ? builtinModule('node:timers') : undefined;
  return (timers as typeof NodeTimers | undefined)?.setImmediate;
})();

/**
 * Waits two turns of the event loop: ky takes one to call the transport, and undici takes one to check
 * a used socket for stray bytes before it writes.
 */
const waitTwoTurns = (schedule: typeof NodeTimers.setImmediate): Promise<void> =>
  new Promise((resolve) => {
    schedule(() => schedule(resolve));
  });

const nodeTransport = /* @__PURE__ */ createTransport(
  nodeSetImmediate === undefined ? {} : { flush: () => waitTwoTurns(nodeSetImmediate) },
);

/** One request and its response. */
class Exchange implements Handler {
  readonly response: Promise<TransportResponse>;
  readonly #trace: Trace;
  readonly #stop: TransportRequest['stop'];
  readonly #mayRepeat: boolean;
  #removeListener = doNothing;
  #hasFailed = false;
  #resolve: (response: TransportResponse) => void = doNothing;
  #reject: (error: unknown) => void = doNothing;
  #abort: ((reason: Error) => void) | undefined;
  #received: DispatcherResponse | undefined;

  constructor(request: TransportRequest, trace: Trace) {
    this.#trace = trace;
    this.#stop = request.stop;
    this.#mayRepeat = request.method === 'GET';
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    trace.started = false;
    this.#removeListener = request.stop.onStop((reason) => {
      this.#abort?.(reason);
      this.#fail(reason);
    });
    if (this.#hasFailed) return;
    // Without new URL(), which is slow: prepare.ts has normalized it.
    const pathAt = request.url.indexOf('/', request.url.indexOf('//') + 2);
    try {
      const dispatcher = getDispatcher();
      if (dispatcher === undefined) throw new Error('the dispatcher of fetch is gone');
      const isNodes = isNodeDispatcher(dispatcher);
      if (!isNodes) {
        trace.started = undefined;
        trace.foreign = true;
      }
      const isNodesWrite = isNodes && !this.#mayRepeat;
      const chosen = isNodesWrite ? getWriteDispatcher(dispatcher) : dispatcher;
      chosen.dispatch(
        {
          origin: request.url.slice(0, pathAt),
          path: request.url.slice(pathAt),
          method: request.method,
          headers: { 'accept-encoding': 'gzip, br', ...request.headers },
          body: request.body ?? null,
          // The SDK has its own deadlines; those of undici would end a call after 300 seconds.
          headersTimeout: 0,
          bodyTimeout: 0,
        },
        this,
      );
    } catch (error) {
      this.#fail(error);
    }
  }

  onRequestStart(controller: Controller): void {
    this.#start((reason) => {
      controller.abort(reason);
    });
  }

  onConnect(abort: (reason?: Error) => void): void {
    this.#start(abort);
  }

  /** Called before the first byte is written: the last moment to stop the request. */
  #start(abort: (reason: Error) => void): void {
    try {
      // When a suspended process resumes, its sockets are served before its timers.
      this.#stop.check();
    } catch {
      // The listener in the constructor was called.
    }
    if (this.#hasFailed) {
      // The caller has the error already, and may be trying again.
      abort(new Error('the request ended before it started'));
      return;
    }
    if (this.#trace.started === true) {
      this.#trace.repeated = true;
      if (!this.#mayRepeat) {
        // HTTP/2 and custom dispatchers start a request again by themselves. Only retry.ts decides
        // whether a write is sent again.
        const error = new Error('the request broke off and was about to be sent again');
        abort(error);
        this.#fail(error);
        return;
      }
    }
    this.#trace.started = true;
    this.#abort = abort;
  }

  onResponseStart(
    _: Controller,
    status: number,
    headers: RawHeaders,
    statusText: string = '',
  ): void {
    this.#receiveHeaders(status, headers, statusText);
  }

  onHeaders(
    status: number,
    headers: readonly Uint8Array[],
    _: () => void,
    statusText: string,
  ): boolean {
    this.#receiveHeaders(status, headers, statusText);
    return true;
  }

  #receiveHeaders(status: number, headers: RawHeaders, statusText: string): void {
    // 1xx is not the final response.
    if (status < 200) return;
    this.#received = new DispatcherResponse(status, statusText, headers, (reason) => {
      this.#abort?.(reason);
    });
    this.#resolve(this.#received);
  }

  onResponseData(_: Controller, chunk: Uint8Array): void {
    this.#received?.addChunk(chunk);
  }

  onData(chunk: Uint8Array): boolean {
    this.#received?.addChunk(chunk);
    return true;
  }

  onResponseEnd(): void {
    this.onComplete();
  }

  onComplete(): void {
    this.#removeListener();
    if (this.#received === undefined) this.#fail(new Error('the response ended before it started'));
    else this.#received.end();
  }

  onResponseError(_: Controller, error: Error): void {
    this.#fail(error);
  }

  onError(error: Error): void {
    this.#fail(error);
  }

  #fail(error: unknown): void {
    this.#hasFailed = true;
    this.#removeListener();
    this.#received?.cut();
    this.#reject(error);
  }
}

const doNothing = (): void => undefined;
