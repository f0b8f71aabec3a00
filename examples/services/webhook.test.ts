// Tests of the webhook service. The second hears of 10,000 changes from a sandbox that loses, repeats,
// delays and reorders notifications.
import { PaymentsClient, type Transfer } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { expect, onTestFinished, test } from 'vitest';
import { buildWebhookService } from './webhook.ts';

test('ends its wait and sends one receipt when two notifications come at the same time', async () => {
  // Both read the transfer before either has its response.
  const sandbox = new Sandbox({ latency: 50 });
  const { id: entityId } = sandbox.entities.create({ email: 'ada@example.com' });
  const sourceAccountId = sandbox.accounts.create({ entityId }).id;
  const destinationAccountId = sandbox.accounts.create({ entityId }).id;
  sandbox.accounts.fund(sourceAccountId, '1.00');
  const input = { sourceAccountId, destinationAccountId, amount: '1.00' };
  const { id } = sandbox.transfers.create(input);
  const receipts: Transfer[] = [];
  const { service, follow } = buildWebhookService(
    new PaymentsClient(sandbox.clientOptions),
    (transfer) => receipts.push(transfer),
  );
  onTestFinished(() => service.close());
  // The next poll is ten seconds after the first.
  const wait = follow(id);
  await expect.poll(() => sandbox.log.length).toBe(1);
  sandbox.transfers.advance(id);
  sandbox.transfers.advance(id);
  const notify = async (payload: string) => {
    const headers = { 'content-type': 'text/plain' };
    return (await service.inject({ method: 'POST', url: '/webhooks', payload, headers }))
      .statusCode;
  };
  const texts = [`<id>${id}</id>`, `id=${id}`, 'txfr_unknown', 'nothing'];
  expect(await Promise.all(texts.map(notify))).toEqual([204, 204, 204, 204]);
  await wait;
  expect(receipts).toMatchObject([{ id, status: 'completed' }]);
});

test('sends a second receipt when a transfer fails after it was completed', async () => {
  const transfer = { id: 'txfr_1', type: 'wire', createdAt: '2026-11-24T10:00:00Z' };
  let status = 'completed';
  const payments = new PaymentsClient({
    baseUrl: 'https://platform.invalid/v0',
    apiKey: 'sk_test',
    fetch: async () => Response.json({ ...transfer, status }),
  });
  const receipts: string[] = [];
  const { service } = buildWebhookService(payments, (ended) => receipts.push(ended.status));
  onTestFinished(() => service.close());
  const notify = () => service.inject({ method: 'POST', url: '/webhooks', payload: 'txfr_1' });
  for (const next of ['completed', 'completed', 'failed', 'failed']) {
    status = next;
    await notify();
  }
  expect(receipts).toEqual(['completed', 'failed']);
});

test('sends each receipt once when notifications are lost, late, repeated and reordered', async () => {
  const sandbox = new Sandbox({ autoAdvance: 200 });
  const { id: entityId } = sandbox.entities.create({ email: 'ada@example.com' });
  const sourceAccountId = sandbox.accounts.create({ entityId }).id;
  const destinationAccountId = sandbox.accounts.create({ entityId }).id;
  sandbox.accounts.fund(sourceAccountId, '1500.00');

  const receipts: Transfer[] = [];
  const payments = new PaymentsClient(sandbox.clientOptions);
  const { service, follow } = buildWebhookService(
    payments,
    (transfer) => receipts.push(transfer),
    1_000,
  );
  onTestFinished(() => service.close());
  let notifications = 0;
  service.addHook('onRequest', async () => {
    notifications += 1;
  });
  const address = await service.listen({ host: '127.0.0.1', port: 0 });
  sandbox.settings.update({ webhookUrl: `${address}/webhooks` });
  for (const fault of [
    { kind: 'drop' },
    { kind: 'duplicate' },
    { kind: 'delay', ms: 300 },
    { kind: 'reorder' },
  ] as const) {
    sandbox.faults.add({ operation: 'webhook', percent: 10, fault });
  }
  let changes = 0;
  sandbox.onChange(() => (changes += 1));

  const waits: Promise<void>[] = [];
  for (let number = 0; number < 1_500; number += 1) {
    const description = number % 5 === 0 ? 'sandbox:fail' : `invoice ${number}`;
    const input = { sourceAccountId, destinationAccountId, amount: '1.00', description };
    const { id } = await payments.transfers.create(input);
    waits.push(follow(id));
  }
  await Promise.all(waits);
  // Notifications that are still under way repeat no receipt.
  await expect.poll(() => notifications, { timeout: 20_000 }).toBeGreaterThan(9_000);
  await expect
    .poll(() => sandbox.log.every(({ ms }) => ms !== undefined), { timeout: 10_000 })
    .toBe(true);

  expect(changes).toBeGreaterThan(10_000);
  expect(notifications).toBeGreaterThan(9_000);
  const actual = new Map(receipts.map(({ id, status }) => [id, status]));
  expect([receipts.length, actual.size]).toEqual([1_500, 1_500]);
  for (const { id, status } of sandbox.transfers.list()) expect(actual.get(id)).toBe(status);
  expect([...actual.values()].filter((status) => status === 'failed')).toHaveLength(300);
}, 60_000);
