import { expect, test } from 'vitest';
import { clientOfSeededSandbox } from '../support/platform.ts';

test('settings.update changes only the fields of its input', async () => {
  const { payments, sandbox, requests } = clientOfSeededSandbox();
  const before = sandbox.settings.get();
  const after = await payments.settings.update({ defaultChain: 'optimism' });
  expect(after).toEqual({ ...before, defaultChain: 'optimism', updatedAt: after.updatedAt });
  expect(requests[0]?.body).toBe('{"defaultChain":"optimism"}');
});

test('null disables webhooks and undefined keeps them', async () => {
  const { payments, requests } = clientOfSeededSandbox();
  const webhookUrl = 'https://hooks.example.com/payments';
  await payments.settings.update({ webhookUrl });

  const untouched = await payments.settings.update({ defaultChain: 'base', webhookUrl: undefined });
  expect(requests[1]?.body).toBe('{"defaultChain":"base"}');
  expect(untouched.webhookUrl).toBe(webhookUrl);

  const disabled = await payments.settings.update({ webhookUrl: null });
  expect(requests[2]?.body).toBe('{"webhookUrl":null}');
  expect(disabled.webhookUrl).toBeNull();
});

test('an empty update is sent', async () => {
  const { payments, requests } = clientOfSeededSandbox();
  await payments.settings.update({});
  expect(requests[0]).toMatchObject({ method: 'PATCH', body: '{}' });
});
