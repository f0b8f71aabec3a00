// Side effects of an import. Call watch() before the import, and the function that it returns afterwards.

const findWatched = (host) =>
  [
    ['console', console, ['log', 'info', 'warn', 'error', 'debug', 'trace']],
    ['', host, ['fetch', 'setTimeout', 'setInterval', 'addEventListener']],
    ['process', host.process, ['on', 'once', 'emitWarning']],
    ['URL', host.URL, ['createObjectURL']],
  ].flatMap(([name, object, methods]) =>
    methods
      .filter((method) => typeof object?.[method] === 'function')
      .map((method) => ({ label: name === '' ? method : `${name}.${method}`, object, method })),
  );

const builtIns = [Object, Array, String, Number, BigInt, Promise, Error, Date, Function].flatMap(
  (type) => [type, type.prototype],
);

/**
 * Globals of other packages: the configuration that copies of zod share, and the pool of fetch, which
 * Node creates on the first use of a class such as Request.
 */
const allowedGlobals = new Set([
  // Deno sets it when a module of Node.js is loaded for the first time, here node:async_hooks.
  'nodeBootstrap',
  '__zod_globalConfig',
  '__zod_globalRegistry',
  Symbol.for('undici.globalDispatcher.1'),
  Symbol.for('undici.globalDispatcher.2'),
]);

/** Starts to watch. The returned function stops and lists the side effects. */
export function watch() {
  const keys = new Set(Reflect.ownKeys(globalThis));
  const shapes = builtIns.map((object) => Reflect.ownKeys(object).length);
  const calls = [];
  const restorers = findWatched(globalThis).map(({ label, object, method }) => {
    const original = Object.getOwnPropertyDescriptor(object, method);
    const call = object[method];
    Object.defineProperty(object, method, {
      configurable: true,
      writable: true,
      value(...args) {
        calls.push(`${label}()`);
        return call.apply(this, args);
      },
    });
    return () => {
      if (original === undefined) delete object[method];
      else Object.defineProperty(object, method, original);
    };
  });
  return () => {
    for (const restore of restorers) restore();
    const added = Reflect.ownKeys(globalThis).filter(
      (key) => !keys.has(key) && !allowedGlobals.has(key),
    );
    const changedBuiltIns = builtIns.filter(
      (object, at) => Reflect.ownKeys(object).length !== shapes[at],
    );
    return [
      ...calls,
      ...added.map((key) => `global ${String(key)}`),
      ...changedBuiltIns.map((object) => `a change of ${object.name ?? object.constructor.name}`),
    ];
  };
}
