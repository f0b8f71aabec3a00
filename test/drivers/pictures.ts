import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium } from 'playwright-core';
import { PaymentsClient } from '../../src/index.ts';
import { memoryJournal } from '../../src/journals/index.ts';
import { seedDemo } from '../../src/sandbox/control/demo.ts';
import { Sandbox } from '../../src/sandbox/sandbox.ts';
import { listen } from '../../src/sandbox/server.ts';

/*
 * Makes the pictures of docs/images after a build: node test/drivers/pictures.ts [folder]
 * pngquant reduces them to 64 colours.
 */

const [folder = 'docs/images'] = process.argv.slice(2);
const setup = new URL('../runtimes/setup.mjs', import.meta.url).href;
const { chromium: findChromium } = (await import(setup)) as { chromium: () => Promise<string> };

const sandbox = seedDemo(
  new Sandbox({
    webhook: ({ type, after }) =>
      type.startsWith('transfer.') ? { body: { event: type, data: after } } : undefined,
  }),
);
const server = await listen(sandbox, { port: 4010 });
const hook = createServer((request, response) => {
  request.resume();
  response.statusCode = 204;
  response.end();
}).listen();
await once(hook, 'listening');
const { port } = hook.address() as AddressInfo;

const browser = await chromium.launch({
  executablePath: await findChromium(),
  args: ['--no-sandbox', '--disable-gpu'],
});
const context = await browser.newContext({
  viewport: { width: 1240, height: 860 },
  colorScheme: 'light',
});
const page = await context.newPage();
await page.goto(server.rootUrl);

const payments = new PaymentsClient({
  baseUrl: server.baseUrl,
  apiKey: sandbox.apiKey,
  journal: memoryJournal(),
});
const pay = async (amount: string, description: string) => {
  const parties = { sourceAccountId: 'acc_000001', destinationAccountId: 'acc_000002' };
  await payments.transfers.createOnce({ ...parties, amount, description });
  await page.waitForTimeout(1_100);
};

await pay('120.00', 'Invoice 1043');
sandbox.transfers.advance('txfr_000006');
sandbox.transfers.advance('txfr_000006');
await pay('570.00', 'Invoice 1044');
sandbox.settings.update({ webhookUrl: `http://127.0.0.1:${port}/payments` });
sandbox.transfers.advance('txfr_000007');
await pay('1020.00', 'Invoice 1045');
// The platform responds with 502 after it has made the transfer, and createOnce finds it in the list.
sandbox.faults.add({
  operation: 'transfers.create',
  fault: { kind: 'status', status: 502, when: 'after_commit' },
});
await pay('1470.00', 'Invoice 1046');
// Only a read is repeated after a 503 and a lost response.
sandbox.faults.add({ operation: 'transfers.get', fault: { kind: 'status', status: 503 } });
sandbox.faults.add({
  operation: 'transfers.get',
  fault: { kind: 'reset', when: 'before_commit' },
});
await payments.transfers.get('txfr_000007');
sandbox.faults.add({
  operation: 'transfers.create',
  times: 2,
  fault: { kind: 'reset', when: 'after_commit' },
});
await page.waitForTimeout(1_500);

const save = async (
  name: string,
  clip: { x: number; y: number; width: number; height: number },
) => {
  const path = `${folder}/sandbox-${name}.png`;
  await page.screenshot({ path, clip });
  execFileSync('pngquant', ['64', '--force', '--strip', '--output', path, path]);
};
const whole = { x: 0, y: 0, width: 1240, height: 860 };
await save('page', whole);

const attempts = page.locator('#log li', { hasText: '3 attempts' });
await attempts.locator('summary').first().click();
await page.setViewportSize({ width: 1240, height: 1600 });
const log = await page.locator('#log').boundingBox();
if (log !== null) await save('log', { ...log, height: Math.min(log.height, 700) });

await page.setViewportSize({ width: 1000, height: 700 });
await page.locator('#transfers').getByRole('link', { name: 'txfr_000007' }).click();
await page.waitForTimeout(1_000);
const record = await page.locator('dialog.record').boundingBox();
if (record !== null) await save('transfer', record);

await browser.close();
hook.close();
await server.close();
