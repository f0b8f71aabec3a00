import type * as NodeZlib from 'node:zlib';
import { builtin, host, isRuntimesOwn, runtime } from '../runtime.ts';
import { decoderFor, type Decoder } from './decode.ts';
import type { Body, BodyFault, Trace, Wire, WireAnswer, WireRequest } from './wire.ts';

/*
 * Node's fetch is built on undici, and undici keeps the dispatcher that fetch uses (the connection
 * pool, or whatever setGlobalDispatcher has put in its place) on the global object. Asked directly,
 * it costs a third of what fetch costs, carries the body of a GET, and says when the first byte of a
 * request is about to be written: until then, nothing was sent, whatever the error is.
 */

/** What undici hands to a handler to stop a request with. */
interface Controller {
  abort(reason: Error): void;
}

type RawHeaders = Record<string, string | string[] | undefined> | readonly (Uint8Array | string)[];

/** undici's handler, in both of its generations: Node 22 calls the second, Node 24 and 26 the first. */
interface Handler {
  onRequestStart(controller: Controller): void;
  onResponseStart(
    controller: Controller,
    status: number,
    headers: RawHeaders,
    statusText?: string,
  ): void;
  onResponseData(controller: Controller, chunk: Uint8Array): void;
  onResponseEnd(): void;
  onResponseError(controller: Controller, error: Error): void;

  onConnect(abort: (reason?: Error) => void): void;
  onHeaders(
    status: number,
    headers: readonly Uint8Array[],
    resume: () => void,
    statusText: string,
  ): boolean;
  onData(chunk: Uint8Array): boolean;
  onComplete(): void;
  onError(error: Error): void;
}

interface Dispatcher {
  dispatch(
    options: {
      origin: string;
      path: string;
      method: string;
      headers: Readonly<Record<string, string>>;
      body: string | null;
      headersTimeout: number;
      bodyTimeout: number;
    },
    handler: Handler,
  ): boolean;
}

/*
 * undici keeps its dispatcher under the number of its interface, and a copy of it that an application
 * has installed may write under numbers that this Node's fetch never looks at. Going by any other
 * than fetch does would be going around a proxy or a mock.
 */
const generation = Number.parseInt(host.process?.versions?.['undici'] ?? '', 10) < 8 ? 1 : 2;
const dispatcherKey = Symbol.for(`undici.globalDispatcher.${generation}`);

/** The dispatcher that fetch uses right now; undefined before fetch was loaded, and elsewhere. */
function currentDispatcher(): Dispatcher | undefined {
  const found: unknown = Reflect.get(globalThis, dispatcherKey);
  return isDispatcher(found) ? found : undefined;
}

const isDispatcher = (value: unknown): value is Dispatcher =>
  typeof value === 'object' &&
  value !== null &&
  typeof Reflect.get(value, 'dispatch') === 'function';

let checked: { readonly fetch: unknown; readonly own: boolean } | undefined;

/** The wire on Node's own dispatcher; undefined where there is none or fetch was replaced. */
export function dispatcherWire(): Wire | undefined {
  const { fetch } = globalThis;
  if (runtime() !== 'node' || zlib() === undefined) return undefined;
  if (checked?.fetch !== fetch) checked = { fetch, own: isRuntimesOwn(fetch) };
  if (!checked.own) return undefined;
  if (currentDispatcher() === undefined) {
    // undici is loaded with the first class of fetch that is used.
    void new Headers();
    if (currentDispatcher() === undefined) return undefined;
  }
  return wire;
}

const wire: Wire = {
  runtime: 'node',
  sealed: true,
  wantsRequest: false,
  send: (request, _, trace) => new Exchange(request, trace).answer,
};

/*
 * A dispatcher that somebody has put in the place of Node's may tell of the beginning of a request
 * late or never, whatever it did the last time, so its silence proves nothing. Node's own is known by
 * its source, as its fetch is (runtime.ts): by the name that only the copy inside Node has in it, and by
 * a dispatch() that nobody has wrapped.
 */
const ownClass = /__name\(this, "(?:Agent|EnvHttpProxyAgent)"\)/;
const ownDispatch = /return this\[k(?:Intercepted)?Dispatch\]\(opts, handler\)/;
/** The dispatch() with which each was believed: one may be put in its place at any time. */
const believed = new WeakMap<Dispatcher, unknown>();

function isBelieved(dispatcher: Dispatcher): boolean {
  const dispatch: unknown = Reflect.get(dispatcher, 'dispatch');
  if (believed.get(dispatcher) === dispatch) return true;
  const own =
    ownClass.test(sourceOf(dispatcher.constructor)) && ownDispatch.test(sourceOf(dispatch));
  if (own) believed.set(dispatcher, dispatch);
  return own;
}

const sourceOf = (value: unknown): string =>
  typeof value === 'function' ? Function.prototype.toString.call(value) : '';

/** One request and its answer. */
class Exchange implements Handler {
  readonly answer: Promise<WireAnswer>;
  readonly #trace: Trace;
  readonly #stop: WireRequest['stop'];
  readonly #mayRepeat: boolean;
  #forget = ignore;
  #stopped: Error | undefined;
  #resolve: (answer: WireAnswer) => void = ignore;
  #reject: (error: unknown) => void = ignore;
  #abort: ((reason: Error) => void) | undefined;
  #reply: Reply | undefined;

  constructor(request: WireRequest, trace: Trace) {
    this.#trace = trace;
    this.#stop = request.stop;
    this.#mayRepeat = request.method === 'GET';
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    trace.started = false;
    this.#forget = request.stop.onStop((reason) => {
      this.#stopped = reason;
      this.#abort?.(reason);
      this.#fail(reason);
    });
    if (this.#stopped !== undefined) return;
    // Not through new URL(): prepare.ts has written it as a URL would.
    const pathAt = request.url.indexOf('/', request.url.indexOf('//') + 2);
    try {
      const dispatcher = currentDispatcher();
      if (dispatcher === undefined) throw new Error('the dispatcher of fetch is gone');
      if (!isBelieved(dispatcher)) trace.started = undefined;
      dispatcher.dispatch(
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
      // The listener above has put it into #stopped.
    }
    if (this.#stopped !== undefined) {
      abort(this.#stopped);
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
    this.#forget();
    this.#reply?.cut();
    this.#reject(error);
  }
}

const ignore = (): void => undefined;
const zlib = (): typeof NodeZlib | undefined => builtin('node:zlib') as typeof NodeZlib | undefined;

/** As much of a Response as ky and the reading of an answer need. */
class Reply implements WireAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly ok: boolean;
  readonly #raw: RawHeaders;
  readonly #abort: (reason: Error) => void;
  readonly #decoder: Decoder | undefined;
  readonly #chunks: Uint8Array[] = [];
  #headers: Headers | undefined;
  #arrived = 0;
  #size = 0;
  #limit = Number.POSITIVE_INFINITY;
  #done: { readonly fault: BodyFault | undefined } | undefined;
  #whenDone: ((body: Body) => void) | undefined;

  constructor(
    status: number,
    statusText: string,
    headers: RawHeaders,
    abort: (reason: Error) => void,
  ) {
    this.status = status;
    this.statusText = statusText;
    this.ok = status >= 200 && status < 300;
    this.#raw = headers;
    this.#abort = abort;
    const coding = headerValue(headers, 'content-encoding');
    this.#decoder =
      coding === undefined
        ? undefined
        : decoderFor(coding, {
            data: (chunk) => {
              this.#keep(chunk);
            },
            end: () => {
              this.#finish(undefined);
            },
            error: () => {
              this.#finish('cut');
            },
          });
  }

  /** What ky recognises a Response by. */
  get [Symbol.toStringTag](): string {
    return 'Response';
  }

  /** Made when somebody looks: most answers are read without. */
  get headers(): Headers {
    this.#headers ??= headersFrom(this.#raw);
    return this.#headers;
  }

  whole(limit: number): Body | undefined {
    this.#limit = limit;
    if (this.#size > limit) this.#overflow();
    return this.#done === undefined ? undefined : { bytes: this.soFar(), fault: this.#done.fault };
  }

  collect(limit: number): Promise<Body> {
    return new Promise((resolve) => {
      const whole = this.whole(limit);
      if (whole === undefined) this.#whenDone = resolve;
      else resolve(whole);
    });
  }

  discard(): void {
    if (this.#done === undefined) this.#abort(new Error('nobody wants the body'));
  }

  soFar(): Uint8Array {
    const [only] = this.#chunks;
    return only !== undefined && this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks);
  }

  add(chunk: Uint8Array): void {
    if (this.#done !== undefined) return;
    if (this.#decoder === undefined) {
      this.#keep(chunk);
      return;
    }
    // What is packed counts as well: an endless stream may unpack to nothing.
    this.#arrived += chunk.byteLength;
    if (this.#arrived > this.#limit) this.#overflow();
    else this.#decoder.write(chunk);
  }

  end(): void {
    if (this.#decoder === undefined) this.#finish(undefined);
    else this.#decoder.end();
  }

  cut(): void {
    this.#finish('cut');
  }

  #keep(chunk: Uint8Array): void {
    if (this.#done !== undefined) return;
    this.#size += chunk.byteLength;
    this.#chunks.push(chunk);
    if (this.#size > this.#limit) this.#overflow();
  }

  #overflow(): void {
    this.#finish('too_large');
    this.#abort(new Error('the answer is too large'));
  }

  #finish(fault: BodyFault | undefined): void {
    if (this.#done !== undefined) return;
    this.#done = { fault };
    if (fault !== undefined) this.#decoder?.destroy();
    this.#whenDone?.({ bytes: this.soFar(), fault });
  }
}

const text = (value: Uint8Array | string): string =>
  typeof value === 'string' ? value : Buffer.from(value).toString('latin1');

const isList = (headers: RawHeaders): headers is readonly (Uint8Array | string)[] =>
  Array.isArray(headers);

function headerValue(headers: RawHeaders, name: string): string | undefined {
  if (!isList(headers)) {
    const value = headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }
  for (let at = 0; at + 1 < headers.length; at += 2) {
    if (text(headers[at] ?? '').toLowerCase() === name) return text(headers[at + 1] ?? '');
  }
  return undefined;
}

function headersFrom(raw: RawHeaders): Headers {
  const headers = new Headers();
  if (isList(raw)) {
    for (let at = 0; at + 1 < raw.length; at += 2) {
      headers.append(text(raw[at] ?? ''), text(raw[at + 1] ?? ''));
    }
    return headers;
  }
  for (const [name, value] of Object.entries(raw)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) headers.append(name, one);
    }
  }
  return headers;
}
