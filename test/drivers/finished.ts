// garbage.test.ts runs this script. After its calls nothing may keep the process alive.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PaymentsClient } from '../../src/index.ts';

const server = createServer((request, response) => {
  const exists = request.url?.endsWith('/txfr_2') !== true;
  response.writeHead(exists ? 200 : 404, { 'content-type': 'application/json' });
  response.end(
    JSON.stringify(
      request.url === '/instructions/all'
        ? []
        : { id: 'txfr_1', status: 'pending', type: 'book', createdAt: '2026-01-01T00:00:00Z' },
    ),
  );
});
await new Promise<void>((resolve) => {
  server.listen(0, '127.0.0.1', resolve);
});
const { port } = server.address() as AddressInfo;
const payments = new PaymentsClient({
  baseUrl: `http://127.0.0.1:${port}/v0`,
  apiKey: 'sk_test_1',
  jwt: () => Promise.resolve('a.b.c'),
  validation: 'report',
});
const { signal } = new AbortController();
const address = '0x52908400098527886e0f7030069857d2e4169ee7';
const countTimers = (): number =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
const before = countTimers();
const results = await Promise.allSettled([
  payments.transfers.get('txfr_1', { signal }),
  payments.transfers.get('txfr_2', { signal }),
  payments.counterparties.delete('cpty_1', { signal }),
  payments.instructions.list({ address }, { signal }),
  payments.transfers.create(
    { sourceAccountId: 'acc_1', destinationAccountId: 'acc_2', amount: '1' },
    { signal },
  ),
]);
const after = countTimers();
server.close();
server.closeAllConnections();
const statuses = results.map(({ status }) => status);
console.log(JSON.stringify({ before, after, statuses, doneAt: Date.now() }));
