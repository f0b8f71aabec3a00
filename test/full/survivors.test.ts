import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Session, type HeapProfiler } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';
import { PaymentsClient } from 'payments-platform-sdk';
import { expect, test } from 'vitest';

/** Measures the bytes that a call makes survive a minor collection, as V8 samples them. */
async function measureSurvivors(count: number, call: () => Promise<unknown>): Promise<number> {
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.startSampling', {
    samplingInterval: 4_096,
    includeObjectsCollectedByMajorGC: true,
  });
  for (let number = 0; number < count; number += 1) await call();
  const { profile } = await session.post('HeapProfiler.stopSampling');
  session.disconnect();
  const sum = ({ selfSize, children }: HeapProfiler.SamplingHeapProfileNode): number =>
    children.reduce((total, child) => total + sum(child), selfSize);
  return sum(profile.head) / count;
}

// With a closure that is assigned straight to a field of the exchange, V8 keeps 7 kB of each GET.
test('each GET leaves under 4 kB to a full garbage collection', async () => {
  // The server is another process, because its own requests would count.
  const server = fork(fileURLToPath(new URL('../bench/server.mjs', import.meta.url)));
  const [{ port }] = (await once(server, 'message')) as [{ port: number }];
  const baseUrl = `http://127.0.0.1:${port}/v0`;
  const payments = new PaymentsClient({ baseUrl, apiKey: 'sk_example' });
  const id = 'txfr_00000000000000000007';
  const read = () => payments.transfers.get(id);
  try {
    await measureSurvivors(1_500, read);
    expect(await measureSurvivors(3_000, read)).toBeLessThan(4_000);
  } finally {
    server.kill();
  }
});
