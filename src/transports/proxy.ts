import { host, readVariable, runtime } from '../internal/runtime.ts';

/** A proxy that an environment variable names. `address` is host and port, without credentials. */
export interface EnvironmentProxy {
  readonly address: string;
  readonly variable: string;
}

/** Finds the proxy that the environment variables name for a request to this URL. */
export function findProxy(url: string): EnvironmentProxy | undefined {
  const { execArgv = [] } = host.process ?? {};
  // Bun and Deno always read the proxy variables, Node only if told to by a variable or flag.
  const isEnabled =
    readVariable('NODE_USE_ENV_PROXY') === '1' || execArgv.includes('--use-env-proxy');
  if (runtime() === 'node' && !isEnabled) return undefined;
  const { protocol, hostname } = new URL(url);
  const exemptions = (readVariable('NO_PROXY') ?? readVariable('no_proxy') ?? '')
    .split(/[\s,]+/)
    .filter(Boolean);
  // An exemption, such as example.com or *.example.com, is for the host and its subdomains.
  const isExempt = exemptions.some(
    (domain) => domain === '*' || `.${hostname}`.endsWith(`.${domain.replace(/^\*?\./, '')}`),
  );
  if (isExempt) return undefined;
  const name = `${protocol.slice(0, -1).toUpperCase()}_PROXY`;
  for (const variable of [name, name.toLowerCase()]) {
    const value = readVariable(variable);
    if (value && URL.canParse(value)) return { address: new URL(value).host, variable };
  }
  return undefined;
}
