import { fieldOf, isError, maxErrorDepth, messageOf } from '../internal/thrown.ts';

/** Whether a call took effect: the worst outcome of its attempts. */
export type Outcome = 'not_sent' | 'rejected' | 'unknown';

export { statusOutcome, type Kind } from '../internal/status-outcome.ts';

/** From the best outcome to the worst. */
const severity: Readonly<Record<Outcome, number>> = { not_sent: 0, rejected: 1, unknown: 2 };

/** Returns the worst outcome of a call's attempts; `not_sent` if there was none. */
export const worstOutcome = (attempts: readonly { readonly outcome: Outcome }[]): Outcome =>
  attempts.reduce<Outcome>(
    (worst, { outcome }) => (severity[outcome] > severity[worst] ? outcome : worst),
    'not_sent',
  );

/** Whether the header `location` sends an http request to the same URL with https. */
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

/** How a request was sent. This decides what an error of the transport proves. */
export interface TransportFacts {
  /**
   * The runtime that sent the request, if its errors are known. `other` is any other runtime and
   * every custom fetch, because it is not known what such a fetch did before it failed.
   */
  readonly runtime: 'node' | 'bun' | 'deno' | 'other';
  /** Whether the runtime sends a request at most once. */
  readonly sendsOnce: boolean;
}

/** What the transport itself observed while sending. An observation proves more than an error code. */
export interface Evidence {
  /** False until the first byte of the request may have been written, then true; undefined if not observed. */
  started?: boolean | undefined;
  /** Whether the runtime has refused the options of the connection, before it used the network. */
  isRefused?: boolean | undefined;
  /** Whether this is the first request on a TLS 1.3 connection, and no byte of a response has arrived. */
  isFirstByTls13?: boolean | undefined;
}

/**
 * What prevents a connection: the server's certificate, the client's certificate, the options of
 * the connection, a port without TLS, a proxy that rejects the connection, or a permission that the
 * runtime withholds from the process.
 */
type Obstacle =
  'certificate' | 'client_certificate' | 'options' | 'no_tls' | 'proxy' | 'permission';

/** What a failed connection proves, and whether a retry may help. */
export interface Verdict {
  readonly outcome: 'not_sent' | 'unknown';
  /** The error code of the system, such as `ECONNRESET`, when there is one. */
  readonly code: string | undefined;
  /** Whether a retry may help. False, for example, for a wrong certificate. */
  readonly transient: boolean;
  /** Whether the runtime or the system timed out before there was a connection. */
  readonly connectTimedOut: boolean;
  /** What prevented the connection, if the error shows it. */
  readonly obstacle: Obstacle | undefined;
}

/** OpenSSL's codes for a server certificate that the client rejects before it sends anything. */
const certificateCode =
  /^(CERT_\w+|(DEPTH_ZERO_)?SELF_SIGNED_CERT\w*|UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)\w+|INVALID_CA|HOSTNAME_MISMATCH|ERR_TLS_CERT_ALTNAME_INVALID)$/;

/** The error code if a proxy of the environment rejected CONNECT, so that nothing was sent. */
const tunnelCode = 'ERR_PROXY_TUNNEL';

/** Bun's error codes for a failed connect. The codes of a failed DNS lookup are tested separately. */
const bunConnectCodes = new Set([
  'ECONNREFUSED',
  'ConnectionRefused',
  'ENETUNREACH',
  'EHOSTUNREACH',
  tunnelCode,
]);

/** What OpenSSL says if the server has refused the client's certificate, or misses one. */
const certificateAlert =
  /alert[_ ](?:bad[_ ]certificate|unsupported[_ ]certificate|certificate[_ ](?:revoked|expired|unknown|required)|unknown[_ ]ca|access[_ ]denied)\b/i;

/** What OpenSSL says if client and server have no version of TLS or no cipher in common. */
const optionsAlert = /alert (?:handshake failure|protocol version)\b/;

const noTlsCode = /^ERR_SSL_(WRONG_VERSION|PACKET_LENGTH)/;

/**
 * Decides what a failed connection proves, and whether a retry may help. If the transport did not
 * observe whether it wrote the first byte, each of the error's `leaves` (one for each address that
 * was tried) has to prove that nothing was sent.
 */
export function connectionOutcome(
  error: unknown,
  transport: TransportFacts,
  evidence: Readonly<Evidence> = {},
): Verdict {
  const leaves = leavesOf(error);
  const code = leaves.map(codeOf).find((leafCode) => leafCode !== undefined);
  const provedByErrors =
    transport.runtime !== 'other' &&
    // A runtime that may not connect has not sent the request before either.
    (leaves.every(isDenied) ||
      (transport.sendsOnce && leaves.every((leaf) => provesNothingSent(leaf, transport.runtime))));
  // With TLS 1.3 a server refuses the client's certificate after the client's part of the
  // handshake. The alert proves that the server has read no request.
  const isHandshake =
    evidence.isFirstByTls13 === true && leaves.some((leaf) => hasText(leaf, certificateAlert));
  const proven = evidence.started === undefined ? provedByErrors : !evidence.started || isHandshake;
  const obstacle =
    evidence.isRefused === true ? 'options' : findObstacle(leaves, code, proven, transport.runtime);
  return {
    outcome: proven ? 'not_sent' : 'unknown',
    code,
    // Every obstacle needs a fix, except a proxy that did not reject the tunnel with a 4xx.
    transient: obstacle === undefined || (obstacle === 'proxy' && !leaves.some(isFinalTunnelError)),
    obstacle,
    connectTimedOut: leaves.every(isConnectTimeout),
  };
}

const hasMessage = (leaf: unknown, pattern: RegExp): boolean => pattern.test(messageOf(leaf));
const hasText = (leaf: unknown, pattern: RegExp): boolean =>
  pattern.test(codeOf(leaf) ?? '') || hasMessage(leaf, pattern);

/** Whether a proxy refused a tunnel. Node and Bun set a code, Deno's errors have only a message. */
const isTunnelError = (leaf: unknown): boolean =>
  codeOf(leaf) === tunnelCode ||
  hasMessage(leaf, /: proxy authentication required|: unsuccessful tunnel/);

/** Whether a proxy rejected CONNECT with a 4xx. A retry would get the same status. */
function isFinalTunnelError(leaf: unknown): boolean {
  const status = isError(leaf) ? Number(fieldOf(leaf, 'statusCode')) : Number.NaN;
  return (
    (status >= 400 && status < 500) || hasMessage(leaf, /tunnel: 4\d\d|authentication required/)
  );
}

/** Finds what prevented a connection. `proven` says that nothing was sent. */
function findObstacle(
  leaves: readonly unknown[],
  code: string | undefined,
  proven: boolean,
  runtime: TransportFacts['runtime'],
): Obstacle | undefined {
  if (leaves.some((leaf) => isCertificateError(leaf, runtime))) return 'certificate';
  // A custom fetch may lack a permission for a file, after the request was sent.
  if (!proven) return undefined;
  if (leaves.some(isDenied)) return 'permission';
  if (leaves.some((leaf) => hasText(leaf, certificateAlert))) return 'client_certificate';
  if (leaves.some((leaf) => hasMessage(leaf, optionsAlert))) return 'options';
  if (leaves.some(isTunnelError)) return 'proxy';
  const hasNoTls =
    noTlsCode.test(code ?? '') || leaves.some((leaf) => hasMessage(leaf, /InvalidContentType/));
  return hasNoTls ? 'no_tls' : undefined;
}

/** Whether Node or Deno does not permit this process to connect. */
const isDenied = (leaf: unknown): boolean =>
  isError(leaf) &&
  (fieldOf(leaf, 'code') === 'ERR_ACCESS_DENIED' || fieldOf(leaf, 'name') === 'NotCapable');

const isConnectTimeout = (leaf: unknown): boolean =>
  codeOf(leaf) === 'UND_ERR_CONNECT_TIMEOUT' ||
  (codeOf(leaf) === 'ETIMEDOUT' && fieldOf(leaf, 'syscall') === 'connect');

/** Whether an error of this runtime proves by itself that no byte of the request was sent. */
function provesNothingSent(leaf: unknown, runtime: TransportFacts['runtime']): boolean {
  if (isCertificateError(leaf, runtime)) return true;
  const code = codeOf(leaf) ?? '';
  switch (runtime) {
    case 'bun':
      return bunConnectCodes.has(code) || code === 'ENOTFOUND' || code.startsWith('EAI_');
    case 'deno':
      return messageOf(leaf).includes('client error (Connect)');
    // On Node.js the transport itself observes whether a byte was sent, so no code has to prove it.
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

/** Returns the innermost errors of an error: of its causes and of the members of an AggregateError. */
function leavesOf(error: unknown, depth = 0): unknown[] {
  if (!isError(error)) return [error];
  const errors = fieldOf(error, 'errors');
  const inner: unknown[] = Array.isArray(errors) ? [...(errors as unknown[])] : [];
  const cause = fieldOf(error, 'cause');
  if (isError(cause)) inner.push(cause);
  if (inner.length === 0) return [error];
  // An error that is nested deeper than `maxErrorDepth` is dropped and proves nothing.
  return depth > maxErrorDepth ? [undefined] : inner.flatMap((each) => leavesOf(each, depth + 1));
}

function codeOf(error: unknown): string | undefined {
  if (!isError(error)) return undefined;
  const code = fieldOf(error, 'code');
  if (typeof code === 'string') return code;
  // Deno's errors have no code, so derive the code from the message.
  const message = messageOf(error);
  if (!message.includes('client error (Connect)')) return undefined;
  if (message.includes('dns error')) return 'ENOTFOUND';
  return message.includes('Connection refused') ? 'ECONNREFUSED' : undefined;
}
