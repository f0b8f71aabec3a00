import { host, runtime } from '../internal/runtime.ts';

/** A proxy that the environment names: its host and port, without credentials. */
export interface EnvironmentProxy {
  readonly address: string;
  readonly variable: string;
}

/** The proxy through which a request to this URL goes by the environment; undefined when by none. */
export function proxyFor(url: string): EnvironmentProxy | undefined {
  const { env, execArgv = [] } = host.process ?? {};
  if (env === undefined) return undefined;
  // Node asks the environment only when it is told to; Bun and Deno always do.
  const asks = env['NODE_USE_ENV_PROXY'] === '1' || execArgv.includes('--use-env-proxy');
  if (runtime() === 'node' && !asks) return undefined;
  const { protocol, hostname } = new URL(url);
  const exempt = (env['NO_PROXY'] ?? env['no_proxy'] ?? '').split(/[\s,]+/).filter(Boolean);
  if (
    exempt.some((name) => name === '*' || `.${hostname}`.endsWith(`.${name.replace(/^\*?\./, '')}`))
  )
    return undefined;
  const name = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  for (const variable of [name, name.toLowerCase()]) {
    const value = env[variable];
    if (value && URL.canParse(value)) return { address: new URL(value).host, variable };
  }
  return undefined;
}
