/*
 * A sandbox under a steady load, with its page open in a browser:
 * node test/drivers/soak.ts [requests a minute] [minutes] [flags of the command …].
 * Prints the response times, and the memory of the sandbox and of the page.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { PaymentsClient } from 'payments-platform-sdk';
import { chromium } from 'playwright-core';

const [perMinute = '20000', minutes = '5', ...flags] = process.argv.slice(2);
const bin = fileURLToPath(new URL('../../src/sandbox/bin.ts', import.meta.url));
const child = spawn(process.execPath, [bin, '--port', '0', '--seed', 'demo', ...flags], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
let out = '';
child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
  if (out.length < 4096) out += chunk;
});
while (!out.includes('Stop it')) await sleep(20);
const root = /^export PAYMENTS_ROOT_URL=(.+)$/m.exec(out)?.[1] ?? '';
const apiKey = /^export PAYMENTS_API_KEY=(.+)$/m.exec(out)?.[1] ?? '';
const payments = new PaymentsClient({ baseUrl: `${root}/v0`, apiKey });
await fetch(`${root}/_sandbox/accounts/acc_000001/fund`, {
  method: 'POST',
  body: '{"amount":"1000000000"}',
});

const setup = new URL('../runtimes/setup.mjs', import.meta.url).href;
const { chromium: program } = (await import(setup)) as { chromium: () => Promise<string> };
const browser = await chromium.launch({ executablePath: await program(), args: ['--no-sandbox'] });
const page = await browser.newPage();
let problems = 0;
page.on('console', () => (problems += 1));
page.on('pageerror', () => (problems += 1));
await page.goto(root);
const devtools = await page.context().newCDPSession(page);
await devtools.send('Performance.enable');

/** Megabytes that the script of the page holds after a garbage collection. */
async function heap(): Promise<number> {
  await devtools.send('HeapProfiler.collectGarbage');
  const { metrics } = await devtools.send('Performance.getMetrics');
  const used = metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0;
  return Math.round(used / 1024 / 1024);
}

/** Resident megabytes of the sandbox, as Linux reports it. */
const megabytes = () =>
  Math.round(
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
  );

const took: number[] = [];
let failed = 0;
async function one(turn: number): Promise<void> {
  const started = performance.now();
  try {
    if (turn % 10 === 0) {
      await payments.transfers.create({
        sourceAccountId: 'acc_000001',
        destinationAccountId: 'acc_000002',
        amount: '0.01',
        description: `soak ${turn}`,
      });
    } else if (turn % 10 < 4) await payments.transfers.list({ limit: 20 });
    else await payments.accounts.get('acc_000001');
  } catch {
    failed += 1;
  }
  took.push(performance.now() - started);
}

const startedAt = performance.now();
const total = (Number(perMinute) * Number(minutes)) | 0;
const gap = 60_000 / Number(perMinute);
const memory: number[] = [];
const heaps: Promise<number>[] = [];
const under: Promise<void>[] = [];
for (let turn = 0; turn < total; turn += 1) {
  const wait = startedAt + turn * gap - performance.now();
  if (wait > 1) await sleep(wait);
  under.push(one(turn));
  if (turn % Math.ceil(total / 10) === 0) {
    memory.push(megabytes());
    heaps.push(heap());
  }
}
await Promise.all(under);
memory.push(megabytes());
heaps.push(heap());
const shownCount = await page.locator('#log .count').textContent();
const held = await Promise.all(heaps);
await browser.close();
const log = (await (await fetch(`${root}/_sandbox/log`)).json()) as unknown[];
child.kill('SIGKILL');

took.sort((one, other) => one - other);
const at = (share: number) => `${took[Math.floor(took.length * share)]?.toFixed(1)} ms`;
console.log(
  `${total} requests in ${Math.round((performance.now() - startedAt) / 1000)} s, ${failed} failed`,
);
console.log(`half within ${at(0.5)}, 99 % within ${at(0.99)}, all within ${at(0.999999)}`);
console.log(`resident MB: ${memory.join(', ')}; log entries kept ${log.length}`);
console.log(`the page's heap, MB: ${held.join(', ')}; calls in its log ${shownCount}`);
console.log(`lines on its console: ${problems}`);
