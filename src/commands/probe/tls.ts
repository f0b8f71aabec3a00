import { connect } from 'node:tls';

const timeoutMs = 5_000;

/** Facts of a TLS connection that no response shows. */
export interface TlsFacts {
  readonly protocol: string;
  readonly certificate?: string;
}

/**
 * Reads the TLS version and the certificate of a server, over a connection without a request. If
 * the server cannot be reached, the text in `protocol` says so.
 */
export function readTls(baseUrl: string): Promise<TlsFacts> {
  const { hostname, port } = new URL(baseUrl);
  const host = hostname.replaceAll(/[[\]]/g, '');
  return new Promise((resolve) => {
    // Accepts any certificate, because the probe only reports it, and sends no request here.
    const options = {
      host,
      port: Number(port || 443),
      servername: host,
      rejectUnauthorized: false,
    };
    const socket = connect(options);
    const finish = (facts: TlsFacts): void => {
      socket.destroy();
      resolve(facts);
    };
    socket.once('secureConnect', () => {
      const { issuer, valid_to: end } = socket.getPeerCertificate();
      const days = Math.floor((Date.parse(end) - Date.now()) / 86_400_000);
      const name = issuer.O ?? issuer.CN;
      const certificate = `A certificate of ${String(name)} for another ${days} days`;
      finish({ protocol: socket.getProtocol() ?? 'TLS', certificate });
    });
    socket.setTimeout(timeoutMs, () => {
      finish({ protocol: 'TLS that did not respond' });
    });
    socket.on('error', () => {
      finish({ protocol: 'TLS that could not be read' });
    });
  });
}
