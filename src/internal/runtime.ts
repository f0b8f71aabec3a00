import type * as NodeHttp from 'node:http';
import type * as NodeModule from 'node:module';

/** The JavaScript runtimes that the SDK tells apart. */
export type Runtime = 'node' | 'bun' | 'deno' | 'workerd' | 'other';

interface DenoGlobal {
  readonly createHttpClient?: (options: { poolMaxIdlePerHost: number }) => unknown;
}
interface ProcessGlobal {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly execPath?: string;
  readonly execArgv?: readonly string[];
  readonly versions?: Readonly<Record<string, string | undefined>>;
  /** The kind of process in Electron, such as `renderer`. */
  readonly type?: string;
  readonly stderr?: { readonly on?: (event: 'error', listener: () => void) => unknown };
  readonly getBuiltinModule?: (id: string) => unknown;
  readonly listenerCount?: (event: string) => number;
  readonly on?: (
    event: 'exit' | 'uncaughtExceptionMonitor',
    listener: (error: unknown) => void,
  ) => unknown;
}

/** The global object, with the globals that only some runtimes have. */
export const host = globalThis as unknown as {
  readonly Deno?: DenoGlobal;
  readonly Bun?: unknown;
  readonly process?: ProcessGlobal;
  readonly navigator?: { readonly userAgent?: string };
  readonly document?: unknown;
  readonly WorkerNavigator?: unknown;
};

/** Detects the runtime. Bun and Deno also look like Node, so they are checked first. */
export function runtime(): Runtime {
  if (host.navigator?.userAgent === 'Cloudflare-Workers') return 'workerd';
  if (host.Deno !== undefined) return 'deno';
  if (host.Bun !== undefined) return 'bun';
  return host.process?.versions?.['node'] === undefined ? 'other' : 'node';
}

/** Whether an error's stack also shows the functions that await a call, as stacks of V8 do. */
export const showsAwaiting = (): boolean => runtime() !== 'bun' && runtime() !== 'other';

/** Says what to do if TextDecoder is missing, because the SDK reads responses with it; otherwise undefined. */
export const findMissingGlobal = (): string | undefined =>
  !Reflect.has(globalThis, 'TextDecoder')
    ? 'There is no TextDecoder here, as in jest-environment-jsdom.\nRun the test in the environment node: begin its file with /** @jest-environment node */.'
    : undefined;

/**
 * The oldest supported Node.js version, as in package.json. Node.js 22.0 to 22.2 lack
 * process.getBuiltinModule, so calls there need the option `fetch`.
 */
const oldestNode = '22.3';
export const printedWarnings = new Set<string>();

/** Prints a warning on stderr, each text only once. */
export function warn(text: string): void {
  if (printedWarnings.has(text)) return;
  printedWarnings.add(text);
  printLine('warn', text);
}

/** Marks an object, and returns whether no copy of the package in this process had marked it. */
export function isFirst(target: object, name: string): boolean {
  const key = Symbol.for(`payments-platform-sdk:${name}`);
  return !Reflect.has(target, key) && Reflect.defineProperty(target, key, { value: true });
}

/**
 * Prints a line on stderr, and drops a line that cannot be written, because no payment may end with
 * its log. The listener is necessary, because Node would end the process at the second line after
 * the reader of a pipe is gone.
 */
export function printLine(method: 'warn' | 'error', text: string): void {
  try {
    const stderr = runtime() === 'node' ? host.process?.stderr : undefined;
    if (stderr !== undefined && isFirst(stderr, 'stderr')) stderr.on?.('error', () => undefined);
    // oxlint-disable-next-line no-console -- stderr on every runtime
    console[method](text);
  } catch {
    // The application may have replaced or removed the console.
  }
}

/** Warns that this Node is too old, because npm warns only during installation. */
export function warnOfOldNode(): void {
  const version = host.process?.versions?.['node'] ?? '';
  if (runtime() !== 'node' || Number.parseInt(version, 10) >= Number.parseInt(oldestNode, 10))
    return;
  warn(
    `payments-platform-sdk needs Node.js ${oldestNode} or later and is not tested on ${version}.`,
  );
}

/**
 * Whether a browser sends the requests: Chromium sends in an Electron renderer, although Node is
 * there, and a document in Node, Bun or Deno comes from jsdom. A browser's worker is recognised by
 * WorkerNavigator, because it has no document.
 */
export function isBrowser(): boolean {
  const here = runtime();
  if (here === 'node') return host.process?.type === 'renderer';
  return here === 'other' && (host.document !== undefined || host.WorkerNavigator !== undefined);
}

/** The global fetch when this module was loaded. */
const firstFetch = globalThis.fetch;

/**
 * Whether a fetch is the runtime's own, because the errors of any other fetch prove nothing. The
 * check reads the source text of fetch, because a fetch is usually replaced before this module is
 * loaded.
 */
export function isNativeFetch(fetch: unknown): boolean {
  if (typeof fetch !== 'function') return false;
  const source = Function.prototype.toString.call(fetch);
  switch (runtime()) {
    case 'node':
      return source.includes('internal/deps/undici/undici');
    case 'bun':
      return fetch === firstFetch && /^function fetch\(\) \{\s*\[native code\]\s*\}$/.test(source);
    case 'deno':
      return fetch === firstFetch && /\blazyFetch\(|\bwebidl\.requiredArguments\(/.test(source);
    default:
      return false;
  }
}

/** Reads an environment variable; undefined if the process may not read the variable, as on Deno. */
export function readVariable(name: string): string | undefined {
  try {
    return host.process?.env?.[name];
  } catch {
    return undefined;
  }
}

/** Whether this process runs tests, as the usual test runners show by a variable. */
export const isTestRun = (): boolean =>
  readVariable('NODE_ENV') === 'test' ||
  ['VITEST', 'JEST_WORKER_ID', 'NODE_TEST_CONTEXT'].some(
    (name) => readVariable(name) !== undefined,
  );

let checkedFetch: unknown;

/**
 * Warns once, in a test run, that the SDK does not call a stub of the global fetch. Does not warn
 * under a mock library such as msw, because msw replaces node:http as well and gets the requests.
 */
export function warnOfReplacedFetch(): void {
  const { fetch } = globalThis;
  if (fetch === checkedFetch) return;
  checkedFetch = fetch;
  if (!isTestRun() || typeof fetch !== 'function' || isNativeFetch(fetch)) return;
  const { request, Agent } = builtinModule('node:http') as typeof NodeHttp;
  // Some mock libraries replace only the method by which an agent takes a request.
  const addRequest: unknown = Reflect.get(Object(Agent.prototype), 'addRequest');
  const isNodesOwn = (value: unknown, name: string) =>
    typeof value === 'function' &&
    Function.prototype.toString.call(value).startsWith(`function ${name}(`);
  if (!isNodesOwn(request, 'request') || !isNodesOwn(addRequest, 'addRequest')) return;
  warn(
    'payments-platform-sdk: the global fetch was replaced, and the SDK does not call it on Node.js.\nPass the stub as the option fetch, or use the sandbox: new PaymentsClient(new Sandbox().clientOptions).',
  );
}

/**
 * Returns the global `process`, if its functions can be called. In an unknown runtime `process` is
 * not used, because for example in the edge runtime of Next.js the functions exist but throw.
 */
const callableProcess = (): ProcessGlobal | undefined =>
  runtime() === 'other' ? undefined : host.process;

/** Loads a built-in module without an import, because bundlers for browsers cannot resolve the import. */
export const builtinModule = (id: string): unknown => callableProcess()?.getBuiltinModule?.(id);

/** Calls a listener when the process exits, if the runtime has such an event. */
export function onExit(listener: () => void): void {
  callableProcess()?.on?.('exit', listener);
}

let nodeRequire: ((id: string) => unknown) | undefined;

/**
 * Loads a built-in module by require() of Node, because tracers patch what require() returns, but
 * not what builtinModule returns. For a built-in module, createRequire takes any absolute path.
 */
export function requiredModule(id: string): unknown {
  if (runtime() !== 'node') return builtinModule(id);
  nodeRequire ??= (builtinModule('node:module') as typeof NodeModule).createRequire(
    host.process?.execPath ?? '/',
  );
  return nodeRequire(id);
}

let cachedHostName: string | undefined;

/** The host name, which an entry of the journal shows to operators; empty if unknown. */
export function hostName(): string {
  try {
    const os = builtinModule('node:os') as { hostname?: () => string } | undefined;
    cachedHostName ??= os?.hostname?.() ?? '';
  } catch {
    // Deno throws if the process has no permission to read the host name.
    cachedHostName = '';
  }
  return cachedHostName;
}

/** The longest delay of a timer in milliseconds. With a longer one, setTimeout fires at once. */
export const maxTimerMs = 2 ** 31 - 1;
