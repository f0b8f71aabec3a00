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

/**
 * What a dispatcher proves when a request fails in it. `silence`: until it has told of the beginning, no
 * byte was written. `codes`: its error is that of the one time that it sent the request. `nothing`: it may
 * have sent it before, and told nobody.
 */
export type Trust = 'silence' | 'codes' | 'nothing';

/*
 * A dispatcher that somebody has put in the place of Node's may tell of the beginning of a request
 * late or never, whatever it did the last time, so its silence proves nothing. Node's own is known by
 * its source, as its fetch is (runtime.ts), and by where its errors come from: a bundler that keeps names
 * gives an installed undici the same source. Any undici's own dispatch() sends a write once; one that
 * wraps it, as an interceptor for retries does, tells of the last time only.
 */
const ownClass = /__name\(this, "(?:Agent|EnvHttpProxyAgent)"\)/;
const plainDispatch = /return this\[k(?:Intercepted)?Dispatch\]\(opts, handler\)/;

/** What each proved with which dispatch(): another may be put in its place at any time. */
const judged = new WeakMap<Dispatcher, { readonly dispatch: unknown; readonly trust: Trust }>();

/** What may be concluded from a failure in this dispatcher. */
export function trustIn(dispatcher: Dispatcher): Trust {
  const dispatch: unknown = Reflect.get(dispatcher, 'dispatch');
  const before = judged.get(dispatcher);
  if (before !== undefined && before.dispatch === dispatch) return before.trust;
  const trust = judge(dispatcher, dispatch);
  judged.set(dispatcher, { dispatch, trust });
  return trust;
}

function judge(dispatcher: Dispatcher, dispatch: unknown): Trust {
  if (!plainDispatch.test(sourceOf(dispatch))) return 'nothing';
  const own = ownClass.test(sourceOf(dispatcher.constructor)) && isInsideNode(dispatcher);
  return own ? 'silence' : 'codes';
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
