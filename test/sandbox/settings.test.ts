import { Sandbox } from 'payments-platform-sdk/sandbox';
import { SettingsSchema } from 'payments-platform-sdk/schemas';
import { expect, test } from 'vitest';
import { aString, call, containing, matching } from './calls.ts';

test('a new Platform has default Settings', () => {
  expect(new Sandbox({ clock: () => 0 }).settings.get()).toEqual({
    autoEarnEnabled: false,
    autoEarnVault: matching(/^[a-z0-9]+_usdc$/),
    defaultChain: 'base',
    webhookUrl: null,
    updatedAt: '1970-01-01T00:00:00.000Z',
  });
});

test('PATCH changes the fields of its body and responds with all fields', async () => {
  let now = 0;
  const sandbox = new Sandbox({ clock: () => (now += 1000) });
  const before = sandbox.settings.get();
  const patch = (body: unknown) => call(sandbox, 'PATCH', '/platform/settings', body);

  const first = await patch({ webhookUrl: 'https://hooks.example/x' });
  expect(first.status).toBe(200);
  expect(SettingsSchema.safeParse(first.body).success).toBe(true);
  expect(first.body).toEqual({
    ...before,
    webhookUrl: 'https://hooks.example/x',
    updatedAt: aString,
  });
  expect(sandbox.settings.get().updatedAt > before.updatedAt).toBe(true);

  const second = await patch({ defaultChain: 'ethereum' });
  expect(second.body).toMatchObject({
    defaultChain: 'ethereum',
    webhookUrl: 'https://hooks.example/x',
  });
  expect((await patch({ webhookUrl: null })).body).toMatchObject({ webhookUrl: null });
  expect((await patch({ autoEarnEnabled: true, autoEarnVault: 'lend_usdc' })).body).toMatchObject({
    autoEarnEnabled: true,
    autoEarnVault: 'lend_usdc',
    defaultChain: 'ethereum',
  });
  expect((await patch({ autoEarnEnabled: false })).body).toMatchObject({
    autoEarnEnabled: false,
    autoEarnVault: 'lend_usdc',
  });
  expect((await patch({})).status).toBe(200);
});

test.each([
  [{ autoEarnEnabled: true }, 'autoEarnVault'],
  [{ autoEarnVault: 'lend_eth' }, 'autoEarnVault'],
  [{ autoEarnEnabled: 'yes' }, 'autoEarnEnabled'],
  [{ defaultChain: 'moon' }, 'defaultChain'],
  [{ webhookUrl: 'ftp://x' }, 'webhookUrl'],
  [{ updatedAt: 'now' }, 'updatedAt'],
])('PATCH rejects %o', async (patch, field) => {
  const sandbox = new Sandbox();
  const before = sandbox.settings.get();
  const { status, body } = await call(sandbox, 'PATCH', '/platform/settings', patch);
  expect(status).toBe(422);
  expect(body).toMatchObject({ code: 'validation_failed', error: containing(field) });
  expect(Object.keys((body as { details: { fields: object } }).details.fields)).toEqual([field]);
  expect(sandbox.settings.get()).toEqual(before);
});

test('the direct method changes the same fields', () => {
  const sandbox = new Sandbox();
  expect(sandbox.settings.update({ defaultChain: 'polygon' }).defaultChain).toBe('polygon');
  expect(() => sandbox.settings.update({ autoEarnEnabled: true })).toThrow(
    'expected a vault, because autoEarnEnabled is true',
  );
  const settings = sandbox.settings.get();
  Object.assign(settings, { defaultChain: 'changed' });
  expect(sandbox.settings.get().defaultChain).toBe('polygon');
});
