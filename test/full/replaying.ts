import type { Door } from './server.ts';

/*
 * Somebody may put a dispatcher in the place of Node's own that sends a failed request again, as
 * undici's RetryAgent does. The last error is then a refused connection although the first try was
 * acted on, so an error code alone proves nothing: the wire has to remember that it started.
 */

interface Dispatcher {
  dispatch(options: { readonly origin: string }, handler: Handler): boolean;
}
type Handler = Record<string, (...args: readonly unknown[]) => unknown>;

const doors = new Map<string, Door>();

/** Failed requests to this door are sent again, once, when nobody listens behind it any more. */
export function replayTo(door: Door): () => void {
  const { origin } = new URL(door.baseUrl);
  doors.set(origin, door);
  return () => {
    doors.delete(origin);
  };
}

/** Puts the replaying dispatcher in the place of Node's own; undefined where there is none. */
export function installReplay(): (() => void) | undefined {
  // The dispatcher comes with the first class of fetch that is used.
  void new Headers();
  const undo = [1, 2].flatMap((version) => {
    const symbol = Symbol.for(`undici.globalDispatcher.${version}`);
    const own = Reflect.get(globalThis, symbol) as Dispatcher | undefined;
    if (own === undefined) return [];
    Reflect.set(globalThis, symbol, replaying(own));
    return [
      () => {
        Reflect.set(globalThis, symbol, own);
      },
    ];
  });
  return undo.length === 0
    ? undefined
    : () => {
        for (const each of undo) each();
      };
}

const replaying = (own: Dispatcher): Dispatcher => ({
  dispatch(options, handler) {
    const door = doors.get(options.origin);
    if (door === undefined) return own.dispatch(options, handler);
    return own.dispatch(
      options,
      again(
        handler,
        () => !door.listening,
        (second) => own.dispatch(options, second),
      ),
    );
  },
});

/** The handler, but that its first failure before an answer leads to a second request. */
function again(
  handler: Handler,
  isDue: () => boolean,
  send: (handler: Handler) => boolean,
): Handler {
  let received = false;
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
      if (name === 'onResponseStart' || name === 'onHeaders') received = true;
      const failed = name === 'onResponseError' || name === 'onError';
      return failed && !received && isDue() ? send(handler) : handler[name]?.(...args);
    };
  }
  return watched;
}
