import type { Endpoint } from './server.ts';

/*
 * An application may replace Node's dispatcher by one that repeats failed requests, as undici's
 * RetryAgent does. The last error is then a refused connection although the first try took effect, so
 * an error code alone proves nothing: the transport has to remember that it started.
 */

interface Dispatcher {
  dispatch(options: { readonly origin: string }, handler: Handler): boolean;
}
type Handler = Record<string, (...args: readonly unknown[]) => unknown>;

const endpoints = new Map<string, Endpoint>();

/** Repeats failed requests to this endpoint once, after it has stopped listening. */
export function replayTo(endpoint: Endpoint): () => void {
  const { origin } = new URL(endpoint.baseUrl);
  endpoints.set(origin, endpoint);
  return () => {
    endpoints.delete(origin);
  };
}

/** Replaces Node's dispatcher by one that repeats requests; undefined where there is no dispatcher. */
export function installReplay(): (() => void) | undefined {
  // The first use of a class of fetch creates the dispatcher.
  void new Headers();
  const undoSteps = [1, 2].flatMap((version) => {
    const symbol = Symbol.for(`undici.globalDispatcher.${version}`);
    const native = Reflect.get(globalThis, symbol) as Dispatcher | undefined;
    if (native === undefined) return [];
    Reflect.set(globalThis, symbol, withReplay(native));
    return [
      () => {
        Reflect.set(globalThis, symbol, native);
      },
    ];
  });
  return undoSteps.length === 0
    ? undefined
    : () => {
        for (const undo of undoSteps) undo();
      };
}

const withReplay = (native: Dispatcher): Dispatcher => ({
  dispatch(options, handler) {
    const endpoint = endpoints.get(options.origin);
    if (endpoint === undefined) return native.dispatch(options, handler);
    return native.dispatch(
      options,
      resendOnFailure(
        handler,
        () => !endpoint.isListening,
        (second) => native.dispatch(options, second),
      ),
    );
  },
});

/** The handler, except that its first failure before a response causes a second request. */
function resendOnFailure(
  handler: Handler,
  shouldResend: () => boolean,
  send: (handler: Handler) => boolean,
): Handler {
  let hasResponse = false;
  const watched: Handler = {};
  for (const name of [
    'onRequestStart',
    'onResponseStart',
    'onResponseData',
    'onResponseEnd',
    'onResponseError',
    'onConnect',
    'onHeaders',
    'onData',
    'onComplete',
    'onError',
  ]) {
    watched[name] = (...args) => {
      if (name === 'onResponseStart' || name === 'onHeaders') hasResponse = true;
      const isFailure = name === 'onResponseError' || name === 'onError';
      return isFailure && !hasResponse && shouldResend() ? send(handler) : handler[name]?.(...args);
    };
  }
  return watched;
}
