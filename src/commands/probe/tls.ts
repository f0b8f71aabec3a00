import { connect } from 'node:tls';

const timeoutMs = 5_000;

/** The protocol and the certificate of a server, which no response shows: a connection without a request. */
export function describeTls(baseUrl: string): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  const host = hostname.replaceAll(/[[\]]/g, '');
  return new Promise((resolve) => {
    // The client has its own checks of the certificate; this connection carries nothing.
    const options = {
      host,
      port: Number(port || 443),
      servername: host,
      rejectUnauthorized: false,
    };
    const socket = connect(options, () => {
      const { issuer, valid_to: end } = socket.getPeerCertificate();
      const days = Math.floor((Date.parse(end) - Date.now()) / 86_400_000);
      const name = issuer?.O ?? issuer?.CN ?? 'an unnamed issuer';
      finish(`${socket.getProtocol()}, a certificate of ${String(name)} for ${days} more days`);
    });
    const finish = (text: string): void => {
      socket.destroy();
      resolve(text);
    };
    socket.setTimeout(timeoutMs, () => {
      finish('TLS that did not respond');
    });
    socket.on('error', () => {
      finish('TLS that could not be read');
    });
  });
}
