import { host } from '../internal/runtime.ts';

/* The parts of undici, which Node's fetch uses, that can be reached from outside. */

/** Stops a request; undici passes it to a handler. */
export interface Controller {
  abort(reason: Error): void;
}

/** Headers as undici passes them: by name, or names and values in turn. */
export type RawHeaders =
  Record<string, string | string[] | undefined> | readonly (Uint8Array | string)[];

/** A handler of undici: Node 24 and 26 call the first five methods, Node 22 the others. */
export interface Handler {
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

/** undici's connection pool, or its replacement. */
export interface Dispatcher {
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
 * undici keeps its dispatcher under the number of its interface. An undici that the application installed
 * may use another number; using that dispatcher would bypass a proxy or a mock that fetch uses.
 */
const generation = Number.parseInt(host.process?.versions?.['undici'] ?? '', 10) < 8 ? 1 : 2;
const dispatcherKey = Symbol.for(`undici.globalDispatcher.${generation}`);

/** Gets the dispatcher that fetch uses now; undefined where undici keeps none. */
export function getDispatcher(): Dispatcher | undefined {
  let dispatcher: unknown = Reflect.get(globalThis, dispatcherKey);
  if (dispatcher === undefined) {
    // Node loads undici on the first use of a class of fetch.
    void new Headers();
    dispatcher = Reflect.get(globalThis, dispatcherKey);
  }
  return isDispatcher(dispatcher) ? dispatcher : undefined;
}

const isDispatcher = (value: unknown): value is Dispatcher =>
  typeof value === 'object' &&
  value !== null &&
  typeof Reflect.get(value, 'dispatch') === 'function';

/*
 * A custom dispatcher may send a request before it reports it, or several times, so its errors prove
 * nothing. Node's is recognised by its source, as fetch is (runtime.ts), and by the stack of its errors: a
 * bundler that keeps names gives an installed undici the same source.
 */
const nodeClass = /__name\(this, "(?:Agent|EnvHttpProxyAgent)"\)/;
const plainDispatch = /return this\[k(?:Intercepted)?Dispatch\]\(opts, handler\)/;

/** The dispatch() with which each dispatcher was recognised, because it may be replaced later. */
const recognised = new WeakMap<Dispatcher, unknown>();

/** Whether this is the dispatcher of Node, unwrapped. */
export function isNodeDispatcher(dispatcher: Dispatcher): boolean {
  const dispatch: unknown = Reflect.get(dispatcher, 'dispatch');
  if (recognised.get(dispatcher) === dispatch) return true;
  const isNodes =
    plainDispatch.test(getSource(dispatch)) &&
    nodeClass.test(getSource(dispatcher.constructor)) &&
    isInsideNode(dispatcher);
  if (isNodes) recognised.set(dispatcher, dispatch);
  return isNodes;
}

/** How long a connection may have been idle when a write uses it. */
const maxIdleMs = 300;

const writeDispatchers = new WeakMap<Dispatcher, Dispatcher>();

/**
 * Gets the dispatcher for writes: like Node's, but it keeps idle connections only briefly. When a server
 * closes an idle connection while a write is sent on it, the write's outcome is unknown. The dispatcher
 * for a proxy of the environment stays as it is.
 */
export function getWriteDispatcher(dispatcher: Dispatcher): Dispatcher {
  let forWrites = writeDispatchers.get(dispatcher);
  if (forWrites === undefined) {
    const constructor = Reflect.get(dispatcher, 'constructor') as new (
      options: object,
    ) => Dispatcher;
    forWrites = /__name\(this, "Agent"\)/.test(getSource(constructor))
      ? new constructor({ keepAliveTimeout: maxIdleMs, keepAliveMaxTimeout: maxIdleMs })
      : dispatcher;
    writeDispatchers.set(dispatcher, forWrites);
  }
  return forWrites;
}

/** Whether the error of a call without arguments comes from Node's copy of undici. */
function isInsideNode(dispatcher: object): boolean {
  try {
    Reflect.apply(Reflect.get(dispatcher, 'dispatch') as () => unknown, dispatcher, []);
    return false;
  } catch (error) {
    const stack = error instanceof Error ? error.stack : undefined;
    return /^[^\n]*\n[^\n]*\(node:internal\/deps\/undici\/undici:/.test(stack ?? '');
  }
}

const getSource = (value: unknown): string =>
  typeof value === 'function' ? Function.prototype.toString.call(value) : '';
