/** The runtimes whose network errors are known, told apart by what only they have. */
export type Runtime = 'node' | 'bun' | 'deno' | 'workerd' | 'other';

interface DenoGlobal {
  readonly createHttpClient?: (options: { poolMaxIdlePerHost: number }) => unknown;
}
interface ProcessGlobal {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly execArgv?: readonly string[];
  readonly versions?: Readonly<Record<string, string | undefined>>;
  /** Electron's word for the kind of process. */
  readonly type?: string;
  readonly getBuiltinModule?: (id: string) => unknown;
}

/** What a runtime may or may not have on its global object. */
export const host = globalThis as unknown as {
  readonly Deno?: DenoGlobal;
  readonly Bun?: unknown;
  readonly process?: ProcessGlobal;
  readonly navigator?: { readonly userAgent?: string };
  readonly document?: unknown;
  readonly WorkerNavigator?: unknown;
};

/** Which runtime this is. Bun and Deno also look like Node, so they are asked first. */
export function runtime(): Runtime {
  if (host.navigator?.userAgent === 'Cloudflare-Workers') return 'workerd';
  if (host.Deno !== undefined) return 'deno';
  if (host.Bun !== undefined) return 'bun';
  return host.process?.versions?.['node'] === undefined ? 'other' : 'node';
}

/** Whether a stack shows who awaits: V8's do. */
export const showsAwaiting = (): boolean => runtime() !== 'bun' && runtime() !== 'other';

/** The oldest Node that this package is tried on: `engines` in package.json. */
const oldestNode = 22;
const said = new Set<string>();

/** Says something once, where whoever runs this looks. */
export function warn(text: string): void {
  if (said.has(text)) return;
  said.add(text);
  // oxlint-disable-next-line no-console -- stderr on every runtime
  console.warn(text);
}

/** Says that this Node is too old: npm only warns while it installs. */
export function warnOfOldNode(): void {
  const version = host.process?.versions?.['node'] ?? '';
  if (runtime() !== 'node' || Number.parseInt(version, 10) >= oldestNode) return;
  warn(
    `payments-platform-sdk needs Node.js ${oldestNode} or later and is not tested on ${version}.`,
  );
}

/**
 * Whether the global fetch is a browser's. A document in Node, Bun or Deno is jsdom's or happy-dom's,
 * and the runtime sends all the same; in Electron's windows Chromium sends, although Node is there.
 * Workers of browsers have no document, and a class that Cloudflare's have not.
 */
export function isBrowser(): boolean {
  const here = runtime();
  if (here === 'node') return host.process?.type === 'renderer';
  return here === 'other' && (host.document !== undefined || host.WorkerNavigator !== undefined);
}

const firstFetch = globalThis.fetch;

/**
 * Whether a fetch is the runtime's own. One that a test, a framework or the user has put in its
 * place may do anything before it fails, so its errors prove nothing. Each runtime's own is known by
 * its source; that it was there when this module was loaded says little, because whoever replaces it
 * usually does so earlier. A fetch of unknown source is not believed.
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

/**
 * A module of Node without an import, so that bundlers for browsers and Workers have nothing to
 * resolve.
 */
export const builtinModule = (id: string): unknown => host.process?.getBuiltinModule?.(id);
