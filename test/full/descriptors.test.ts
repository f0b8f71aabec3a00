import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { transfer } from '../support/values.ts';

test('2,000 concurrent reads succeed if the process may open 256 files', async () => {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    // A delay keeps all connections busy at the same time, so that no read can reuse one early.
    setTimeout(() => response.end(JSON.stringify(transfer)), 20);
  });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const driver = fileURLToPath(new URL('../drivers/many-reads.ts', import.meta.url));
  const command = 'ulimit -n 256 && exec "$0" "$@"';
  const { stdout } = await promisify(execFile)('sh', [
    ...['-c', command, process.execPath, driver],
    `http://127.0.0.1:${port}/v0`,
  ]);
  expect(stdout.trim()).toBe('2000');
});
