import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, createServer as createHttps, globalAgent, type AgentOptions } from 'node:https';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SecureVersion } from 'node:tls';
import {
  afterAll,
  afterEach,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { isPaymentsError, PaymentsClient, type PaymentsError } from '../../src/index.ts';
import { memoryJournal } from '../../src/journals/index.ts';
import { accountId } from '../drivers/bodies.ts';
import { createCertificate } from '../drivers/certificate.ts';

// Failures of TLS on Node: the transport knows that nothing is sent before the handshake has finished.

const folder = mkdtempSync(join(tmpdir(), 'payments-tls-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const files = createCertificate(folder);
const pair = files && {
  key: readFileSync(files.key, 'utf8'),
  cert: readFileSync(files.cert, 'utf8'),
};
const readPair = (name: string) => {
  const path = join(folder, name);
  mkdirSync(path);
  const others = createCertificate(path);
  return others && { key: readFileSync(others.key), cert: readFileSync(others.cert) };
};
/** A certificate that no server of these tests knows. */
const stranger = readPair('stranger');
const withCertificate = test.skipIf(pair === undefined);

interface Secure {
  readonly payments: PaymentsClient;
  /** The number of requests that the server read. */
  readonly read: () => number;
}

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});
beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0.02);
});

/** Starts a platform behind TLS that treats its first connections differently. */
async function startTlsPlatform(
  first: (socket: Socket) => void,
  connections = 1,
  onRead?: (socket: Socket, underneath: Socket) => void,
  tls: object = {},
): Promise<Secure> {
  let countRequests = 0;
  let connectionCount = 0;
  const raw = new Map<number, Socket>();
  const https = createHttps({ ...pair, ...tls }, (request, response) => {
    request.resume().on('end', () => {
      countRequests += 1;
      if (onRead !== undefined) {
        const underneath = raw.get(request.socket.remotePort ?? 0);
        if (underneath === undefined) throw new Error('the request has no connection');
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
    connectionCount += 1;
    raw.set(socket.remotePort ?? 0, socket);
    if (connectionCount <= connections) first(socket);
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
    read: () => countRequests,
  };
}

const input = { sourceAccountId: accountId, destinationAccountId: 'acc_2', amount: '1.00' };
const create = (payments: PaymentsClient): Promise<unknown> => payments.transfers.create(input);

const ignore = (): void => undefined;

async function expectFailure(payments: PaymentsClient): Promise<PaymentsError> {
  const error: unknown = await create(payments).catch((cause: unknown) => cause);
  if (isPaymentsError(error)) return error;
  throw new Error('expected a PaymentsError', { cause: error });
}

withCertificate('a creation is not_sent if the platform’s certificate is untrusted', async () => {
  const { payments, read: countRequests } = await startTlsPlatform(ignore, 0);
  const error = await expectFailure(payments);
  expect(error).toMatchObject({ outcome: 'not_sent', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  expect(error.retryable).toBe(false);
  expect(error.attempts).toHaveLength(1);
  expect(countRequests()).toBe(0);
});

const sendPlainText = (socket: Socket): void => {
  socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
};
const breaks: Readonly<Record<string, (socket: Socket) => void>> = {
  FIN: (socket) => socket.end(),
  RST: (socket) => socket.resetAndDestroy(),
  'a response that is not TLS': sendPlainText,
  silence: ignore,
};

test.each(Object.entries(breaks))(
  'a creation has outcome not_sent if the TLS handshake ends in %s',
  async (_, breakHandshake) => {
    const { payments, read: countRequests } = await startTlsPlatform(breakHandshake, 3);
    const error = await expectFailure(payments);
    expect(error.outcome).toBe('not_sent');
    // A port with another protocol is not retried.
    expect(error.attempts).toHaveLength(breakHandshake === sendPlainText ? 1 : 3);
    expect(countRequests()).toBe(0);
  },
);

withCertificate.each(
  Object.entries(breaks).filter(([, breakHandshake]) => breakHandshake !== sendPlainText),
)('a creation succeeds after %s in the first TLS handshake', async (_, breakHandshake) => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  const { payments, read: countRequests } = await startTlsPlatform(breakHandshake);
  await expect(create(payments)).resolves.toMatchObject({ id: 'txfr_1' });
  expect(countRequests()).toBe(1);
});

const ends: Readonly<Record<string, (socket: Socket, underneath: Socket) => void>> = {
  FIN: (socket) => socket.end(),
  RST: (socket) => socket.destroy(),
  silence: ignore,
  'bytes that are not TLS': (_, underneath) => underneath.write('BANANA split'.repeat(9)),
  'a record that cannot be decrypted': (_, underneath) =>
    underneath.write(new Uint8Array([23, 3, 3, 0, 20, ...Array(20).fill(7)])),
  'an unencrypted TLS alert': (_, underneath) =>
    underneath.end(new Uint8Array([21, 3, 3, 0, 2, 2, 40])),
  'an unencrypted TLS alert about a certificate': (_, underneath) =>
    underneath.end(new Uint8Array([21, 3, 3, 0, 2, 2, 42])),
};

withCertificate.each(Object.entries(ends))(
  'a creation is unknown if TLS ends in %s after the request',
  async (_, breakHandshake) => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const { payments, read: countRequests } = await startTlsPlatform(ignore, 0, breakHandshake);
    expect((await expectFailure(payments)).outcome).toBe('unknown');
    expect(countRequests()).toBe(1);
  },
);

describe.skipIf(pair === undefined)('a server that requires a client certificate', () => {
  beforeEach(() => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  });
  const wants = { requestCert: true, rejectUnauthorized: true, ca: pair?.cert };
  /** A client with this agent, of a platform that wants a certificate and this version of TLS. */
  const start = async (version: SecureVersion, options: AgentOptions | undefined) => {
    const tls = { ...wants, minVersion: version, maxVersion: version };
    const { payments, read } = await startTlsPlatform(ignore, 0, undefined, tls);
    if (options === undefined) return { payments, read };
    const agent = new Agent({ keepAlive: true, ...options });
    onTestFinished(() => agent.destroy());
    const { baseUrl } = payments.toJSON();
    const own = { baseUrl, apiKey: 'sk_tls', agent, totalTimeout: 3_000 };
    return { payments: new PaymentsClient(own), read };
  };

  test.each([
    ['TLSv1.3', 'no agent', undefined],
    ['TLSv1.3', 'an agent without a certificate', {}],
    ['TLSv1.2', 'an agent without a certificate', {}],
  ] as const)(
    'receives nothing, and the creation is not retried: %s, %s',
    async (version, _, options) => {
      const { payments, read } = await start(version, options);
      const error = await expectFailure(payments);
      expect(error).toMatchObject({ outcome: 'not_sent', retryable: false });
      expect(error.attempts).toHaveLength(1);
      expect(error.message).toContain('certificate');
      expect(read()).toBe(0);
    },
  );

  // Node as a server closes the connection without an alert.
  test('receives nothing of a write whose certificate has an unknown issuer', async () => {
    const { payments, read } = await start('TLSv1.3', stranger);
    const error = await expectFailure(payments);
    expect(error).toMatchObject({ outcome: 'not_sent', code: 'ECONNRESET' });
    expect(read()).toBe(0);
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'receives the payment over %s if the certificate is right',
    async (version) => {
      const { payments, read } = await start(version, pair);
      await create(payments);
      await create(payments);
      expect(read()).toBe(2);
    },
  );
});

test.each<[string, AgentOptions]>([
  ['a key of another certificate', { cert: pair?.cert, key: stranger?.key }],
  ['a certificate that is no PEM', { cert: 'no PEM', key: pair?.key }],
  ['a broken pfx', { pfx: 'no PKCS 12' }],
  ['a cipher that does not exist', { ciphers: 'ROT13' }],
])('a batch ends at once, without requests, if its agent has %s', async (_, options) => {
  const agent = new Agent(options);
  const payments = new PaymentsClient({
    baseUrl: 'https://127.0.0.1:9/v0',
    apiKey: 'sk_tls',
    agent,
    journal: memoryJournal(),
  });
  const inputs = ['r-1', 'r-2', 'r-3'].map((description) => ({ ...input, description }));
  const { counts, unpaid } = await payments.transfers.createAllOnce(inputs);
  expect(counts).toMatchObject({ notPaid: 3 });
  for (const { error } of unpaid) {
    expect(error).toMatchObject({ outcome: 'not_sent', retryable: false });
    expect(error?.attempts).toHaveLength(1);
    expect(error?.message).toContain('of the option agent');
  }
});

withCertificate('the client trusts the certificate authority of https.globalAgent', async () => {
  const { payments, read } = await startTlsPlatform(ignore, 0);
  const { options } = globalAgent;
  options.ca = pair?.cert;
  onTestFinished(() => {
    delete options.ca;
  });
  await create(payments);
  expect(read()).toBe(1);
});
