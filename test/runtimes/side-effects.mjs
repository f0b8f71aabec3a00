// What importing a module does to its surroundings. Call watch() before the import and what it
// returns after it.

const watched = (host) =>
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
 * What others put there: zod its configuration, so that two copies share it, and Node the pool of
 * fetch, when somebody first looks at a class such as Request, as ky does to learn what it can do.
 */
const known = new Set([
  '__zod_globalConfig',
  '__zod_globalRegistry',
  Symbol.for('undici.globalDispatcher.1'),
  Symbol.for('undici.globalDispatcher.2'),
]);

/** Starts to watch; the returned function stops and lists what happened. */
export function watch() {
  const keys = new Set(Reflect.ownKeys(globalThis));
  const shapes = builtIns.map((object) => Reflect.ownKeys(object).length);
  const seen = [];
  const undo = watched(globalThis).map(({ label, object, method }) => {
    const original = Object.getOwnPropertyDescriptor(object, method);
    const call = object[method];
    Object.defineProperty(object, method, {
      configurable: true,
      writable: true,
      value(...given) {
        seen.push(`${label}()`);
        return call.apply(this, given);
      },
    });
    return () => {
      if (original === undefined) delete object[method];
      else Object.defineProperty(object, method, original);
    };
  });
  return () => {
    for (const restore of undo) restore();
    const added = Reflect.ownKeys(globalThis).filter((key) => !keys.has(key) && !known.has(key));
    const changed = builtIns.filter((object, at) => Reflect.ownKeys(object).length !== shapes[at]);
    return [
      ...seen,
      ...added.map((key) => `global ${String(key)}`),
      ...changed.map((object) => `a change of ${object.name ?? object.constructor.name}`),
    ];
  };
}
