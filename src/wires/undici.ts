import { host } from '../runtime.ts';

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
 * A dispatcher that somebody has put in the place of Node's may tell of the beginning of a request
 * late or never, whatever it did the last time, so its silence proves nothing. Node's own is known by
 * its source, as its fetch is (runtime.ts): by the name that only the copy inside Node has in it, and by
 * a dispatch() that nobody has wrapped.
 */
const ownClass = /__name\(this, "(?:Agent|EnvHttpProxyAgent)"\)/;
const ownDispatch = /return this\[k(?:Intercepted)?Dispatch\]\(opts, handler\)/;
/** The dispatch() with which each was believed: one may be put in its place at any time. */
const believed = new WeakMap<Dispatcher, unknown>();

/** Whether this is Node's own dispatcher, which never keeps a beginning to itself. */
export function isBelieved(dispatcher: Dispatcher): boolean {
  const dispatch: unknown = Reflect.get(dispatcher, 'dispatch');
  if (believed.get(dispatcher) === dispatch) return true;
  const own =
    ownClass.test(sourceOf(dispatcher.constructor)) && ownDispatch.test(sourceOf(dispatch));
  if (own) believed.set(dispatcher, dispatch);
  return own;
}

const sourceOf = (value: unknown): string =>
  typeof value === 'function' ? Function.prototype.toString.call(value) : '';
