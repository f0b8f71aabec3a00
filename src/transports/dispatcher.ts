import type * as NodeTimers from 'node:timers';
import { builtinModule, isNativeFetch, runtime } from '../internal/runtime.ts';
import { Reply } from './reply.ts';
import {
  currentDispatcher,
  dispatcherForWrites,
  isNodesOwn,
  type Controller,
  type Handler,
  type RawHeaders,
} from './undici.ts';
import type { Trace, Transport, TransportResponse, TransportRequest } from './transport.ts';

/*
 * Node's fetch is built on undici, and undici keeps the dispatcher that fetch uses (the connection
 * pool, or whatever setGlobalDispatcher has put in its place) on the global object. Asked directly,
 * it costs a third of what fetch costs, carries the body of a GET, and says when the first byte of a
 * request is about to be written: until then, nothing was sent, whatever the error is.
 */

let checked: { readonly fetch: unknown; readonly own: boolean } | undefined;

/** The wire on Node's own dispatcher; undefined where there is none or fetch was replaced. */
export function dispatcherTransport(): Transport | undefined {
  const { fetch } = globalThis;
  if (runtime() !== 'node' || builtinModule('node:zlib') === undefined) return undefined;
  if (checked === undefined || checked.fetch !== fetch) {
    checked = { fetch, own: isNativeFetch(fetch) };
  }
  const dispatcher = checked.own ? currentDispatcher() : undefined;
  if (dispatcher === undefined) return undefined;
  return isNodesOwn(dispatcher) ? nodeTransport : transport;
}

const transportWith = (rest: Pick<Transport, 'flush'>): Transport => ({
  runtime: 'node',
  sendsOnce: true,
  wantsRequest: false,
  send: (request, _, trace) => new Exchange(request, trace).response,
  ...rest,
});
const transport = /* @__PURE__ */ transportWith({});

// At once, and not from the global object: fake timers that are installed later would hold it for ever.
// Elsewhere this wire is not used, and asking for a module of Node makes Deno load a good part of Node.
const immediate = /* @__PURE__ */ (() => {
  const timers = runtime() === 'node' ? builtinModule('node:timers') : undefined;
  return (timers as typeof NodeTimers | undefined)?.setImmediate;
})();

/**
 * undici looks for stray bytes on a used socket for one turn of the event loop before it writes. That
 * turn is taken up behind the first of these two, because ky needs a moment to come to the wire.
 */
const nextTurns = (setImmediate: typeof NodeTimers.setImmediate): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(() => setImmediate(resolve));
  });

const nodeTransport = /* @__PURE__ */ transportWith(
  immediate === undefined ? {} : { flush: () => nextTurns(immediate) },
);

/** One request and its answer. */
class Exchange implements Handler {
  readonly response: Promise<TransportResponse>;
  readonly #trace: Trace;
  readonly #stop: TransportRequest['stop'];
  readonly #mayRepeat: boolean;
  #forget = ignore;
  #hasFailed = false;
  #resolve: (response: TransportResponse) => void = ignore;
  #reject: (error: unknown) => void = ignore;
  #abort: ((reason: Error) => void) | undefined;
  #reply: Reply | undefined;

  constructor(request: TransportRequest, trace: Trace) {
    this.#trace = trace;
    this.#stop = request.stop;
    this.#mayRepeat = request.method === 'GET';
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    trace.started = false;
    this.#forget = request.stop.onStop((reason) => {
      this.#abort?.(reason);
      this.#fail(reason);
    });
    if (this.#hasFailed) return;
    // Not through new URL(): prepare.ts has written it as a URL would.
    const pathAt = request.url.indexOf('/', request.url.indexOf('//') + 2);
    try {
      const dispatcher = currentDispatcher();
      if (dispatcher === undefined) throw new Error('the dispatcher of fetch is gone');
      const isOwn = isNodesOwn(dispatcher);
      if (!isOwn) {
        trace.started = undefined;
        trace.foreign = true;
      }
      const chosen = isOwn && !this.#mayRepeat ? dispatcherForWrites(dispatcher) : dispatcher;
      chosen.dispatch(
        {
          origin: request.url.slice(0, pathAt),
          path: request.url.slice(pathAt),
          method: request.method,
          headers: { 'accept-encoding': 'gzip, br', ...request.headers },
          body: request.body ?? null,
          // The deadline is the caller's; undici's own would end a call after 300 seconds.
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
    this.#begin((reason) => {
      controller.abort(reason);
    });
  }

  onConnect(abort: (reason?: Error) => void): void {
    this.#begin(abort);
  }

  /** Called before the first byte is written: the last moment to keep the request back. */
  #begin(abort: (reason: Error) => void): void {
    try {
      // After a pause of the whole process, its sockets are served before its timers.
      this.#stop.check();
    } catch {
      // The listener above has heard of it, too.
    }
    if (this.#hasFailed) {
      // The caller has been told, and may be trying again.
      abort(new Error('the request was over before it began'));
      return;
    }
    if (this.#trace.started === true) {
      this.#trace.repeated = true;
      if (!this.#mayRepeat) {
        // HTTP/2 and dispatchers of others begin a request again by themselves. Whether a write is
        // sent again is decided in one place, and not here.
        const held = new Error('the request broke off and was about to be sent again');
        abort(held);
        this.#fail(held);
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
    this.#headersArrived(status, headers, statusText);
  }

  onHeaders(
    status: number,
    headers: readonly Uint8Array[],
    _: () => void,
    statusText: string,
  ): boolean {
    this.#headersArrived(status, headers, statusText);
    return true;
  }

  #headersArrived(status: number, headers: RawHeaders, statusText: string): void {
    // 1xx is not the answer.
    if (status < 200) return;
    this.#reply = new Reply(status, statusText, headers, (reason) => {
      this.#abort?.(reason);
    });
    this.#resolve(this.#reply);
  }

  onResponseData(_: Controller, chunk: Uint8Array): void {
    this.#reply?.add(chunk);
  }

  onData(chunk: Uint8Array): boolean {
    this.#reply?.add(chunk);
    return true;
  }

  onResponseEnd(): void {
    this.onComplete();
  }

  onComplete(): void {
    this.#forget();
    if (this.#reply === undefined) this.#fail(new Error('the answer ended before it began'));
    else this.#reply.end();
  }

  onResponseError(_: Controller, error: Error): void {
    this.#fail(error);
  }

  onError(error: Error): void {
    this.#fail(error);
  }

  #fail(error: unknown): void {
    this.#hasFailed = true;
    this.#forget();
    this.#reply?.cut();
    this.#reject(error);
  }
}

const ignore = (): void => undefined;
