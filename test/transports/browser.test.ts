import { ConfigurationError, PaymentsClient } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { expect, test, vi } from 'vitest';
import { apiKey, clientAt, failureOf } from '../support/clients.ts';
import { calls, kinds } from '../support/kinds.ts';
import { responseBytes } from '../support/loopback.ts';
import { rawServer } from '../support/raw-server.ts';
import { newTransfer, transferCreated } from '../support/values.ts';

// A browser resends a POST after a reset of its connection, as test/runtimes saw in Chromium. These tests
// emulate a browser with its globals; test/runtimes runs real ones.

const { process } = globalThis;
const withoutNode = () => vi.stubGlobal('process', { env: {} });
const browsers: [string, () => void][] = [
  [
    'a page',
    () => {
      withoutNode();
      vi.stubGlobal('document', {});
    },
  ],
  [
    'a worker of a browser',
    () => {
      withoutNode();
      vi.stubGlobal('WorkerNavigator', {});
    },
  ],
  [
    'a page whose bundler defines process',
    () => {
      vi.stubGlobal('process', { env: {}, versions: {}, browser: true });
      vi.stubGlobal('document', {});
    },
  ],
  [
    'a window of Electron',
    () => {
      vi.stubGlobal('process', { versions: process.versions, type: 'renderer', env: {} });
      vi.stubGlobal('document', {});
    },
  ],
];
const writes = kinds.filter((kind) => !kind.startsWith('safe'));

test.each(browsers)('a write in %s is rejected before it is sent', async (_, pretend) => {
  const server = await rawServer(responseBytes(201, transferCreated));
  const payments = clientAt(server);
  pretend();
  expect(writes).toHaveLength(3);
  for (const kind of writes) {
    const error = await failureOf(calls[kind].send(payments), ConfigurationError);
    expect(error).toMatchObject({ outcome: 'not_sent', attempts: [], retryable: false });
    expect(error.message).toContain('browser');
  }
  expect(server.connections).toHaveLength(0);
});

test.each(browsers)('a read in %s is sent', async (_, pretend) => {
  const server = await rawServer(
    responseBytes(200, { data: [], hasMore: false, nextCursor: null }),
  );
  const payments = clientAt(server);
  pretend();
  expect((await payments.transfers.list()).data).toEqual([]);
});

test('the error for a write in a browser names the alternatives', async () => {
  browsers[0]?.[1]();
  const payments = new PaymentsClient({ baseUrl: 'https://api.example.com/v0', apiKey });
  const messages: string[] = [];
  for (const call of [
    () => payments.transfers.create(newTransfer),
    () => payments.counterparties.delete('cpty_1'),
  ]) {
    messages.push((await failureOf(call(), ConfigurationError)).message);
  }
  expect(messages).toMatchInlineSnapshot(`
    [
      "transfers.create is not sent from a browser, which may send it twice.
    Browsers silently resend a request when its connection dies. Send it from a server or Electron's main process, or pass a fetch that is not the browser's, or the option platform.idempotencyHeader if the platform honours such a header.
    Nothing was sent.",
      "counterparties.delete is not sent from a browser, which may send it twice.
    Browsers silently resend a request when its connection dies. Send it from a server or Electron's main process, or pass a fetch that is not the browser's.
    Nothing was sent.",
    ]
  `);
});

test.each<[string, () => void]>([
  ['jsdom in Node', () => vi.stubGlobal('document', {}).stubGlobal('window', globalThis)],
  ['a worker polyfill in Node', () => vi.stubGlobal('WorkerNavigator', {})],
  [
    'Cloudflare Workers',
    () => {
      withoutNode();
      vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
      vi.stubGlobal('WorkerGlobalScope', {});
    },
  ],
  [
    'Cloudflare Workers without navigator',
    () => {
      withoutNode();
      vi.stubGlobal('navigator', undefined);
      vi.stubGlobal('WorkerGlobalScope', {});
    },
  ],
  ['Bun with happy-dom', () => vi.stubGlobal('Bun', {}).stubGlobal('document', {})],
  ['Deno', () => vi.stubGlobal('Deno', {}).stubGlobal('WorkerNavigator', {})],
])('a write is sent in %s, which is not a browser', async (_, pretend) => {
  const server = await rawServer(responseBytes(201, transferCreated));
  const payments = clientAt(server);
  pretend();
  expect((await payments.transfers.create(newTransfer)).id).toBe(transferCreated.id);
});

test("a browser's write uses the option `fetch`, not the global one", async () => {
  const server = await rawServer(responseBytes(201, transferCreated));
  browsers[0]?.[1]();
  const customFetch = clientAt(server, { fetch: (request, init) => fetch(request, init) });
  expect((await customFetch.transfers.create(newTransfer)).id).toBe(transferCreated.id);
  await failureOf(clientAt(server, { fetch }).transfers.create(newTransfer), ConfigurationError);
  // A framework that wraps the global fetch still sends through the browser.
  const { fetch: original } = globalThis;
  vi.stubGlobal('fetch', (input: Request, init?: RequestInit) => original(input, init));
  await failureOf(clientAt(server).transfers.create(newTransfer), ConfigurationError);
});

test('idempotencyHeader lets a browser send a POST, but no DELETE', async () => {
  const server = await rawServer(responseBytes(201, transferCreated));
  browsers[0]?.[1]();
  const payments = clientAt(server, { platform: { idempotencyHeader: 'Idempotency-Key' } });
  expect((await payments.transfers.create(newTransfer)).id).toBe(transferCreated.id);
  // Only a POST carries the key, so a DELETE is still rejected.
  await failureOf(payments.counterparties.delete('cpty_1'), ConfigurationError);
});

test('a browser may write to a Sandbox in memory', async () => {
  browsers[0]?.[1]();
  const payments = new PaymentsClient(new Sandbox().clientOptions);
  expect((await payments.entities.create({ email: 'ada@example.com' })).id).toMatch(/^ent_/);
});
