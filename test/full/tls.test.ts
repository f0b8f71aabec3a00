import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { isPaymentsError, PaymentsClient, type PaymentsError } from '../../src/index.ts';
import { accountId } from './bodies.ts';

// What goes wrong with TLS, on Node: nothing leaves before the handshake is done, and the wire knows.

const folder = mkdtempSync(join(tmpdir(), 'payments-tls-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

// The dispatcher's word counts from the first request on whose beginning it told and that was
// answered.
beforeAll(async () => {
  const server = createHttp((_, response) => response.end('{}')).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const payments = new PaymentsClient({
    baseUrl: `http://127.0.0.1:${port}/v0`,
    apiKey: 'sk_warm',
    validation: 'report',
  });
  await payments.accounts.get(accountId);
  server.close();
  server.closeAllConnections();
});

const makes = [
  ...['req', '-x509', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1'],
  ...['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
  ...['-addext', 'subjectAltName=IP:127.0.0.1'],
];

function certificate(): { key: string; cert: string } | undefined {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  try {
    execFileSync('openssl', [...makes, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  } catch (error) {
    // Only a machine without the program may go on without these tests.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
}

const pair = certificate();
const withCertificate = test.skipIf(pair === undefined);

interface Secure {
  readonly payments: PaymentsClient;
  /** How many requests were read. */
  readonly read: () => number;
}

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});
beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0.02);
});

/** A platform behind TLS whose first connections are treated otherwise. */
async function secure(
  first: (socket: Socket) => void,
  options: {
    readonly connections?: number;
    readonly onRead?: (socket: Socket, underneath: Socket) => void;
  } = {},
  tls: object = {},
): Promise<Secure> {
  const { connections = 1, onRead } = options;
  let read = 0;
  let met = 0;
  const raw = new Map<number, Socket>();
  const https = createHttps({ ...pair, ...tls }, (request, response) => {
    request.resume().on('end', () => {
      read += 1;
      if (onRead !== undefined) {
        const underneath = raw.get(request.socket.remotePort ?? 0);
        if (underneath === undefined) throw new Error('a request without a connection');
        onRead(request.socket, underneath);
        return;
      }
      response.setHeader('content-type', 'application/json');
      response.end(
        '{"id":"txfr_1","status":"pending","type":"book","createdAt":"2026-01-02T03:04:05Z"}',
      );
    });
  });
  https.on('tlsClientError', () => undefined);
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    met += 1;
    raw.set(socket.remotePort ?? 0, socket);
    if (met <= connections) first(socket);
    else https.emit('connection', socket);
  });
  servers.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const baseUrl = `https://127.0.0.1:${port}/v0`;
  const timeouts = { timeout: 400, totalTimeout: 3_000 };
  return {
    payments: new PaymentsClient({ baseUrl, apiKey: 'sk_tls', ...timeouts }),
    read: () => read,
  };
}

const create = (payments: PaymentsClient): Promise<unknown> =>
  payments.transfers.create({
    sourceAccountId: accountId,
    destinationAccountId: 'acc_2',
    amount: '1.00',
  });

async function failure(payments: PaymentsClient): Promise<PaymentsError> {
  const error: unknown = await create(payments).catch((cause: unknown) => cause);
  if (isPaymentsError(error)) return error;
  throw new Error('it did not fail as it should', { cause: error });
}

withCertificate('a certificate that nobody vouches for is not_sent, and tried once', async () => {
  const { payments, read } = await secure(() => undefined, { connections: 0 });
  const error = await failure(payments);
  expect(error).toMatchObject({
    outcome: 'not_sent',
    code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    retryable: false,
  });
  expect(error.attempts).toHaveLength(1);
  expect(read()).toBe(0);
});

const notTls = (socket: Socket): void => {
  socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
};
const breaks: Readonly<Record<string, (socket: Socket) => void>> = {
  FIN: (socket) => socket.end(),
  RST: (socket) => socket.resetAndDestroy(),
  'an answer that is not TLS': notTls,
  silence: () => undefined,
};

test.each(Object.entries(breaks))(
  '%s in the handshake is not_sent, and sent again if it may pass',
  async (_, act) => {
    const { payments, read } = await secure(act, { connections: 3 });
    const error = await failure(payments);
    expect(error.outcome).toBe('not_sent');
    // Another protocol on the port will be there the next time, too.
    expect(error.attempts).toHaveLength(act === notTls ? 1 : 3);
    expect(read()).toBe(0);
  },
);

withCertificate.each(Object.entries(breaks).filter(([, act]) => act !== notTls))(
  'after %s in the handshake the next attempt may succeed',
  async (_, act) => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const { payments, read } = await secure(act);
    await expect(create(payments)).resolves.toMatchObject({ id: 'txfr_1' });
    expect(read()).toBe(1);
  },
);

const ends: Readonly<Record<string, (socket: Socket, underneath: Socket) => void>> = {
  FIN: (socket) => socket.end(),
  RST: (socket) => socket.destroy(),
  silence: () => undefined,
  'bytes that are not TLS': (_, underneath) => underneath.write('BANANA split'.repeat(9)),
  'a record that cannot be decrypted': (_, underneath) =>
    underneath.write(new Uint8Array([23, 3, 3, 0, 20, ...Array(20).fill(7)])),
  'an alert in the clear': (_, underneath) =>
    underneath.end(new Uint8Array([21, 3, 3, 0, 2, 2, 40])),
};

withCertificate.each(Object.entries(ends))(
  '%s after the request has been read is unknown',
  async (_, act) => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const { payments, read } = await secure(() => undefined, { connections: 0, onRead: act });
    expect((await failure(payments)).outcome).toBe('unknown');
    expect(read()).toBe(1);
  },
);

withCertificate(
  'a server that wants a certificate of the client says so too late to prove it',
  async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const wants = { requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.3' };
    const { payments, read } = await secure(() => undefined, { connections: 0 }, wants);
    expect((await failure(payments)).outcome).toBe('unknown');
    expect(read()).toBe(0);
  },
);
