// A temporary Redis server for the demonstration.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** Starts redis-server on a free port, with the settings that a journal needs: no entry is lost. */
export async function startRedis(): Promise<{ url: string; stop: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'payouts-redis-'));
  const port = await findFreePort();
  const options = {
    '--port': String(port),
    '--bind': '127.0.0.1',
    '--dir': folder,
    '--save': '',
    '--appendonly': 'yes',
    '--appendfsync': 'always',
    '--maxmemory-policy': 'noeviction',
  };
  const server = spawn('redis-server', Object.entries(options).flat(), { stdio: 'ignore' });
  const failed = once(server, 'exit').then(([code]) => {
    throw new Error(`redis-server ended with ${String(code)}`);
  });
  const url = `redis://127.0.0.1:${port}`;
  const probe = new Redis(url, { maxRetriesPerRequest: null });
  // The connection is refused until the server listens; the client retries.
  probe.on('error', () => undefined);
  try {
    await Promise.race([probe.ping(), failed]);
  } finally {
    probe.disconnect();
  }
  return {
    url,
    stop: async () => {
      server.kill();
      await failed.catch(() => undefined);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
