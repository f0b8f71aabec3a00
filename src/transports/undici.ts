import { host } from '../internal/runtime.ts';

/* What of undici, which Node's fetch is built on, can be reached from outside. */

/** What undici hands to a handler to stop a request with. */
export interface Controller {
  abort(reason: Error): void;
}

/** Headers as undici tells them: by name, or names and values in turn. */
export type RawHeaders =
  Record<string, string | string[] | undefined> | readonly (Uint8Array | string)[];

/** undici's handler, in both of its generations: Node 22 calls the second, Node 24 and 26 the first. */
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

/** undici's connection pool, or whatever stands in its place. */
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
 * undici keeps its dispatcher under the number of its interface, and a copy of it that an application
 * has installed may write under numbers that this Node's fetch never looks at. Going by any other
 * than fetch does would be going around a proxy or a mock.
 */
const generation = Number.parseInt(host.process?.versions?.['undici'] ?? '', 10) < 8 ? 1 : 2;
const dispatcherKey = Symbol.for(`undici.globalDispatcher.${generation}`);

/** The dispatcher that fetch uses right now; undefined where undici keeps none. */
export function currentDispatcher(): Dispatcher | undefined {
  let found: unknown = Reflect.get(globalThis, dispatcherKey);
  if (found === undefined) {
    // undici is loaded with the first class of fetch that is used.
    void new Headers();
    found = Reflect.get(globalThis, dispatcherKey);
  }
  return isDispatcher(found) ? found : undefined;
}

const isDispatcher = (value: unknown): value is Dispatcher =>
  typeof value === 'object' &&
  value !== null &&
  typeof Reflect.get(value, 'dispatch') === 'function';

/*
 * A dispatcher that somebody has put in the place of Node's may send a request before it tells of it, or
 * more than once, and tell of the last time only. So what fails in it proves nothing. Node's own is known
 * by its source, as its fetch is (runtime.ts), and by where its errors come from: a bundler that keeps names
 * gives an installed undici the same source.
 */
const ownClass = /__name\(this, "(?:Agent|EnvHttpProxyAgent)"\)/;
const plainDispatch = /return this\[k(?:Intercepted)?Dispatch\]\(opts, handler\)/;

/** The dispatch() with which each was found to be Node's own: another may be put in its place. */
const own = new WeakMap<Dispatcher, unknown>();

/** Whether this is Node's own dispatcher, with nothing around it. */
export function isNodesOwn(dispatcher: Dispatcher): boolean {
  const dispatch: unknown = Reflect.get(dispatcher, 'dispatch');
  if (own.get(dispatcher) === dispatch) return true;
  const found =
    plainDispatch.test(sourceOf(dispatch)) &&
    ownClass.test(sourceOf(dispatcher.constructor)) &&
    isInsideNode(dispatcher);
  if (found) own.set(dispatcher, dispatch);
  return found;
}

/** How long a connection may have been idle when a write takes it, in milliseconds. */
const freshFor = 300;

const forWrites = new WeakMap<Dispatcher, Dispatcher>();

/**
 * Where writes go that would go to Node's own dispatcher: to one like it that keeps idle connections for
 * a moment only. A server that closes an idle connection just when a write goes out on it leaves that
 * write in doubt. A proxy of the environment keeps its connections as they are.
 */
export function dispatcherForWrites(dispatcher: Dispatcher): Dispatcher {
  let found = forWrites.get(dispatcher);
  if (found === undefined) {
    const constructor = Reflect.get(dispatcher, 'constructor') as new (
      options: object,
    ) => Dispatcher;
    found = /__name\(this, "Agent"\)/.test(sourceOf(constructor))
      ? new constructor({ keepAliveTimeout: freshFor, keepAliveMaxTimeout: freshFor })
      : dispatcher;
    forWrites.set(dispatcher, found);
  }
  return found;
}

/** Whether it is Node's copy of undici that refuses to dispatch nothing. */
function isInsideNode(dispatcher: object): boolean {
  try {
    Reflect.apply(Reflect.get(dispatcher, 'dispatch') as () => unknown, dispatcher, []);
    return false;
  } catch (error) {
    const stack = error instanceof Error ? error.stack : undefined;
    return /^[^\n]*\n[^\n]*\(node:internal\/deps\/undici\/undici:/.test(stack ?? '');
  }
}

const sourceOf = (value: unknown): string =>
  typeof value === 'function' ? Function.prototype.toString.call(value) : '';
