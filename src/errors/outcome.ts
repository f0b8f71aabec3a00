import { fieldOf, isError, maxErrorDepth, messageOf } from '../internal/thrown.ts';
import type { Outcome } from './errors.ts';

/** How often a call may take effect: see the table in `retry.ts`. */
export type Kind = 'safe' | 'idempotent' | 'once';

/** `not_sent` is better than `rejected`, which is better than `unknown`. */
const severity: Readonly<Record<Outcome, number>> = { not_sent: 0, rejected: 1, unknown: 2 };

/** The outcome of a call: the worst over its attempts, `not_sent` when there was none. */
export const worstOutcome = (attempts: readonly { readonly outcome: Outcome }[]): Outcome =>
  attempts.reduce<Outcome>(
    (worst, { outcome }) => (severity[outcome] > severity[worst] ? outcome : worst),
    'not_sent',
  );

/**
 * Statuses that common proxies send only before they forward a request, because of its framing,
 * size, protocol or rate. docs/errors.md has the reason for each status. 401 is missing, because
 * nginx runs `auth_request` again for the page of a 504, and a 401 then replaces the 504.
 */
const sentBeforeForwarding = /* @__PURE__ */ new Set([
  407, 411, 413, 414, 415, 417, 421, 425, 426, 429, 431,
]);

/** Facts of a response other than its status. */
interface ResponseFacts {
  /** Whether the response has an Error body, which only the platform writes. */
  readonly isPlatforms: boolean;
  /** Whether the response redirects the request to the same URL over https. */
  readonly redirectsToHttps?: boolean;
}

/**
 * What a status proves.
 *
 * A proxy may replace the platform's response after the platform has acted. For example, nginx may
 * turn the platform's 504 into a 405, and haproxy its 201 into a 400. So a status proves a
 * rejection only with an Error body, or if proxies send the status only before they forward. A
 * redirect to https proves one, too, because a server that wants https forwards nothing over http.
 *
 * 408 proves nothing, not even with an Error body, because the platform may have processed the
 * request while the connection timed out. 499 proves nothing either, because proxies log 499 for a
 * client that left. 301, 302 and 303 prove nothing, because servers send them after they have
 * processed a POST: docs/gaps.md, row 50.
 */
export function statusOutcome(
  status: number,
  kind: Kind,
  { isPlatforms, redirectsToHttps = false }: ResponseFacts,
): Outcome {
  const isRedirect = status === 307 || status === 308;
  const canReject =
    isRedirect ||
    status === 501 ||
    status === 505 ||
    (status >= 400 && status < 500 && status !== 408 && status !== 499);
  if (kind === 'safe') {
    return canReject || (status >= 300 && status < 400) ? 'rejected' : 'unknown';
  }
  const isProven =
    isPlatforms || sentBeforeForwarding.has(status) || (isRedirect && redirectsToHttps);
  return canReject && isProven ? 'rejected' : 'unknown';
}

/** Whether a `location` is the URL of an http request with https instead of http. */
export function isHttpsRedirect(url: string, location: string | null): boolean {
  if (location === null || !URL.canParse(location, url)) return false;
  const from = new URL(url);
  const to = new URL(location, url);
  return (
    from.protocol === 'http:' &&
    to.protocol === 'https:' &&
    // The ports are not compared, because http and https have different ports.
    to.hostname === from.hostname &&
    to.pathname === from.pathname &&
    to.search === from.search
  );
}

/** How a request was sent. These facts decide which errors prove something. */
export interface TransportFacts {
  /**
   * The errors of `node`, `bun` and `deno` are known. `other` is any other runtime and every custom
   * fetch, because it is not known what such a fetch did before it failed.
   */
  readonly runtime: 'node' | 'bun' | 'deno' | 'other';
  /** Whether the runtime never sends a request again by itself. */
  readonly sendsOnce: boolean;
}

/** What the transport observed. Such an observation counts more than any error code. */
export interface Evidence {
  /** False as long as no byte was written, true as soon as the first byte may have been written. */
  started?: boolean | undefined;
}

/** The server's certificate, a port without TLS, or a proxy that rejects the request. */
type Obstacle = 'certificate' | 'no_tls' | 'proxy';

/** The outcome that a connection failure proves, and whether a retry may help. */
export interface Verdict {
  readonly outcome: 'not_sent' | 'unknown';
  /** The system's code, when there is one. */
  readonly code: string | undefined;
  /** False for a failure that will happen again, such as a wrong certificate. */
  readonly transient: boolean;
  /** Whether the runtime or the system timed out before there was a connection. */
  readonly connectTimedOut: boolean;
  /** What prevented the connection, if the error shows it. */
  readonly obstacle: Obstacle | undefined;
}

/** OpenSSL's codes for a server certificate that the client rejects before it sends anything. */
const certificateCode =
  /^(CERT_\w+|(DEPTH_ZERO_)?SELF_SIGNED_CERT\w*|UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)\w+|INVALID_CA|HOSTNAME_MISMATCH|ERR_TLS_CERT_ALTNAME_INVALID)$/;

/** The code when a proxy from the environment has rejected CONNECT, so that nothing was sent. */
const tunnelCode = 'ERR_PROXY_TUNNEL';

/** Bun's errors do not name the system call, so only codes of a failed connect count. */
const bunConnectCodes = new Set([
  'ECONNREFUSED',
  'ConnectionRefused',
  'ENETUNREACH',
  'EHOSTUNREACH',
  tunnelCode,
]);

const noTlsCode = /^ERR_SSL_(WRONG_VERSION|PACKET_LENGTH)/;

/**
 * What a failed connection proves. Only known errors prove that nothing was sent. An error has
 * several leaves if several addresses were tried, and then every leaf has to prove this.
 */
export function connectionOutcome(
  error: unknown,
  transport: TransportFacts,
  evidence: Readonly<Evidence> = {},
): Verdict {
  const leaves = leavesOf(error);
  const code = leaves.map(codeOf).find((leafCode) => leafCode !== undefined);
  const areProofs =
    transport.runtime !== 'other' &&
    transport.sendsOnce &&
    leaves.every((leaf) => provesNothingSent(leaf, transport.runtime));
  const proven = evidence.started === undefined ? areProofs : !evidence.started;
  const obstacle = findObstacle(leaves, code, proven, transport.runtime);
  return {
    outcome: proven ? 'not_sent' : 'unknown',
    code,
    transient: obstacle === undefined || (obstacle === 'proxy' && !leaves.some(isFinalTunnelError)),
    obstacle,
    connectTimedOut: leaves.every(isConnectTimeout),
  };
}

const hasMessage = (leaf: unknown, pattern: RegExp): boolean => pattern.test(messageOf(leaf));

/** Node and Bun set a code, but Deno's errors have a message only. */
const isTunnelError = (leaf: unknown): boolean =>
  codeOf(leaf) === tunnelCode ||
  hasMessage(leaf, /: proxy authentication required|: unsuccessful tunnel/);

/** A proxy that rejects CONNECT with a 4xx will reject it again. */
function isFinalTunnelError(leaf: unknown): boolean {
  const status = isError(leaf) ? Number(fieldOf(leaf, 'statusCode')) : Number.NaN;
  return (
    (status >= 400 && status < 500) || hasMessage(leaf, /tunnel: 4\d\d|authentication required/)
  );
}

function findObstacle(
  leaves: readonly unknown[],
  code: string | undefined,
  proven: boolean,
  runtime: TransportFacts['runtime'],
): Obstacle | undefined {
  if (leaves.some((leaf) => isCertificateError(leaf, runtime))) return 'certificate';
  if (!proven) return undefined;
  if (leaves.some(isTunnelError)) return 'proxy';
  const hasNoTls =
    noTlsCode.test(code ?? '') || leaves.some((leaf) => hasMessage(leaf, /InvalidContentType/));
  return hasNoTls ? 'no_tls' : undefined;
}

const isConnectTimeout = (leaf: unknown): boolean =>
  codeOf(leaf) === 'UND_ERR_CONNECT_TIMEOUT' ||
  (codeOf(leaf) === 'ETIMEDOUT' && fieldOf(leaf, 'syscall') === 'connect');

function provesNothingSent(leaf: unknown, runtime: TransportFacts['runtime']): boolean {
  if (isCertificateError(leaf, runtime)) return true;
  const code = codeOf(leaf) ?? '';
  switch (runtime) {
    case 'bun':
      return bunConnectCodes.has(code) || code === 'ENOTFOUND' || code.startsWith('EAI_');
    case 'deno':
      return messageOf(leaf).includes('client error (Connect)');
    // On Node, the evidence of the transport decides.
    case 'node':
    case 'other':
      return false;
  }
}

function isCertificateError(leaf: unknown, runtime: TransportFacts['runtime']): boolean {
  if (runtime === 'deno' && /client error \(Connect\).*certificate/.test(messageOf(leaf)))
    return true;
  return certificateCode.test(codeOf(leaf) ?? '');
}

/** The innermost errors, found through every cause and every member of an AggregateError. */
function leavesOf(error: unknown, depth = 0): unknown[] {
  if (!isError(error)) return [error];
  const errors = fieldOf(error, 'errors');
  const inner: unknown[] = Array.isArray(errors) ? [...(errors as unknown[])] : [];
  const cause = fieldOf(error, 'cause');
  if (isError(cause)) inner.push(cause);
  if (inner.length === 0) return [error];
  // An error that is nested deeper proves nothing.
  return depth > maxErrorDepth ? [undefined] : inner.flatMap((each) => leavesOf(each, depth + 1));
}

function codeOf(error: unknown): string | undefined {
  if (!isError(error)) return undefined;
  const code = fieldOf(error, 'code');
  if (typeof code === 'string') return code;
  // Deno's errors have no code, so the message has to show it.
  const message = messageOf(error);
  if (!message.includes('client error (Connect)')) return undefined;
  if (message.includes('dns error')) return 'ENOTFOUND';
  return message.includes('Connection refused') ? 'ECONNREFUSED' : undefined;
}
