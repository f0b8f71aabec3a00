import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const args = [
  ...['req', '-x509', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1'],
  ...['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
  ...['-addext', 'subjectAltName=IP:127.0.0.1'],
];

/** Writes a certificate for loopback into a folder. Returns undefined if openssl is missing. */
export function createCertificate(folder: string): { key: string; cert: string } | undefined {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  try {
    execFileSync('openssl', [...args, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  return { key, cert };
}
