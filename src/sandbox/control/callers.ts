import { createErrorReply, type Reply } from '../api/responses.ts';
import { isLoopback } from '../../internal/http.ts';
import { parseHostName } from '../platform/hosts.ts';

/*
 * The control endpoints need no key, so a foreign web page that is open in a browser on this
 * machine could change the sandbox. If the host name of such a page resolves to 127.0.0.1, the Host
 * header shows that name. If the page sends a request across origins, the Origin header shows that
 * or, for an image, Sec-Fetch-Site.
 */

/** Host names that the server accepts besides loopback names, in lower case, without a port. */
export type Hosts = ReadonlySet<string>;

function isAllowedHost(host: string | undefined, hosts: Hosts): boolean {
  const name = parseHostName(host ?? '');
  return name !== undefined && (isLoopback(name) || hosts.has(name));
}

/** Returns a 403 response if a request's Host header names a foreign host, else undefined. */
export const checkHost = (host: string | undefined, hosts: Hosts): Reply | undefined =>
  isAllowedHost(host, hosts)
    ? undefined
    : createErrorReply(
        403,
        'host_refused',
        `This sandbox is reached under localhost, 127.0.0.1 and [::1], and not under ${JSON.stringify(host?.slice(0, 200) ?? '')}. Start it with --allow-host and that name if it is its own.`,
      );

/** Returns a 403 response if a web page of another origin sent the request, else undefined. */
export function checkOrigin(headers: {
  readonly origin?: string | undefined;
  readonly host?: string | undefined;
  readonly 'sec-fetch-site'?: string | string[] | undefined;
}): Reply | undefined {
  const { origin, host, 'sec-fetch-site': site } = headers;
  const isForeign = origin !== undefined && origin !== `http://${host}`;
  if (!isForeign && site !== 'cross-site' && site !== 'same-site') return undefined;
  return createErrorReply(
    403,
    'origin_refused',
    `A page of ${JSON.stringify(origin?.slice(0, 200) ?? 'another site')} may not control this sandbox; its own page at / may, and so may programs, which send no Origin.`,
  );
}

/** Creates the headers with which a web page on an allowed host may read responses of the API. */
export function createCorsHeaders(
  origin: string | undefined,
  hosts: Hosts,
): Record<string, string> {
  const host = /^https?:\/\/(.+)$/.exec(origin ?? '')?.[1];
  if (origin === undefined || !isAllowedHost(host, hosts)) return {};
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'x-request-id, retry-after, date',
    vary: 'origin',
  };
}

/**
 * Creates the response to a browser's OPTIONS request before a request with Authorization.
 * `corsHeaders` come from `createCorsHeaders`, and are empty for a web page that is not allowed.
 */
export function createPreflightReply(
  corsHeaders: Record<string, string>,
  requestedHeaders: string | undefined,
): Reply {
  const allow = 'GET, POST, PATCH, DELETE, OPTIONS';
  const isAllowed = corsHeaders['access-control-allow-origin'] !== undefined;
  const permissions = isAllowed && {
    ...corsHeaders,
    'access-control-allow-methods': allow,
    'access-control-allow-headers': requestedHeaders ?? 'authorization, content-type',
    'access-control-max-age': '600',
  };
  return { status: 204, headers: { ...permissions, allow }, body: null };
}
