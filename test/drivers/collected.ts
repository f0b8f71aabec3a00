// garbage.test.ts runs this script with `node --expose-gc`. It prints the result of each call.
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { PaymentsClient } from '../../src/index.ts';

const { gc } = globalThis as { gc?: () => void };
const [, , transport] = process.argv;
const { fetch } = globalThis;
const customFetch = (request: Request, init?: RequestInit): Promise<Response> =>
  fetch(request, init);

interface CallResult {
  readonly case: string;
  readonly name: string;
  readonly phase: unknown;
  readonly status: unknown;
  readonly closed: boolean;
}

/** A server that sends nothing, or headers and half a body. */
async function startSilentServer(phase: string): Promise<{ baseUrl: string; gone: Promise<void> }> {
  const gone = Promise.withResolvers<void>();
  const server = createServer((socket: Socket) => {
    socket.on('error', () => undefined);
    socket.on('close', () => {
      gone.resolve();
      server.close();
    });
    socket.once('data', () => {
      if (phase === 'body') socket.write('HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n[');
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}/v0`, gone: gone.promise };
}

async function stopCall(stop: string, phase: string): Promise<CallResult> {
  const { baseUrl, gone } = await startSilentServer(phase);
  const payments = new PaymentsClient({
    baseUrl,
    apiKey: 'sk_test_1',
    jwt: 'a.b.c',
    maxRetries: 0,
    ...(transport === 'fetch' ? { fetch: customFetch } : {}),
    timeout: stop === 'timeout' ? 400 : 60_000,
  });
  const controller = new AbortController();
  if (stop === 'abort') setTimeout(() => controller.abort(), 400);
  const { signal } = controller;
  const address = '0x52908400098527886e0f7030069857d2e4169ee7';
  const call =
    transport === 'node:http with a body'
      ? payments.instructions.list({ address }, { signal })
      : payments.transfers.get('txfr_1', { signal });
  const error: unknown = await call.catch((thrown: unknown) => thrown);
  const late = new Promise((resolve) => {
    setTimeout(resolve, 3_000, 'late').unref();
  });
  const closed = (await Promise.race([gone, late])) !== 'late';
  const facts = error as { name: string; phase?: unknown; attempts: { status?: unknown }[] };
  return {
    case: `${stop} ${phase}`,
    name: facts.name,
    phase: facts.phase,
    status: facts.attempts[0]?.status,
    closed,
  };
}

const collecting = setInterval(() => gc?.(), 5);
const results = await Promise.all(
  ['timeout', 'abort'].flatMap((stop) => ['headers', 'body'].map((phase) => stopCall(stop, phase))),
);
clearInterval(collecting);
console.log(JSON.stringify({ results, collected: gc !== undefined }));
