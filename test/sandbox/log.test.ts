import { Sandbox } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import { call } from './calls.ts';

test('keeps what arrived, in order', async () => {
  const sandbox = new Sandbox();
  await call(sandbox, 'POST', '/entities', { email: 'a@b.example' });
  await call(sandbox, 'GET', '/entities?limit=2');
  await call(sandbox, 'PUT', '/entities/ent_000001', { a: 1 });
  await call(sandbox, 'GET', '/transactions', { address: '0x1', take: 2n ** 70n });
  expect(sandbox.log).toEqual([
    {
      method: 'POST',
      path: '/v0/entities',
      query: {},
      body: { email: 'a@b.example' },
      operation: 'entities.create',
      fault: undefined,
      status: 201,
    },
    {
      method: 'GET',
      path: '/v0/entities',
      query: { limit: '2' },
      body: undefined,
      operation: 'entities.list',
      fault: undefined,
      status: 200,
    },
    {
      method: 'PUT',
      path: '/v0/entities/ent_000001',
      query: {},
      body: { a: 1 },
      operation: undefined,
      fault: undefined,
      status: 405,
    },
    {
      method: 'GET',
      path: '/transactions',
      query: {},
      body: { address: '0x1', take: 2n ** 70n },
      operation: 'transactions.list',
      fault: undefined,
      status: 422,
    },
  ]);
});

test('notes the fault, and a status only if one was sent', async () => {
  const sandbox = new Sandbox();
  sandbox.faults.add({ operation: '*', fault: { kind: 'status', status: 503 } });
  sandbox.faults.add({ operation: '*', fault: { kind: 'reset', when: 'after_commit' } });
  await call(sandbox, 'GET', '/entities');
  await expect(call(sandbox, 'GET', '/nothing')).rejects.toThrow('fetch failed');
  expect(sandbox.log).toMatchObject([
    { fault: 'status', status: 503 },
    { fault: 'reset', status: undefined, operation: undefined },
  ]);
});

test('keeps a body that is not JSON as text', async () => {
  const sandbox = new Sandbox();
  await sandbox.fetch('https://h/v0/entities', { method: 'POST', body: '{"half' });
  expect(sandbox.log[0]?.body).toBe('{"half');
});

test('holds no headers and no credential, wherever one was put', async () => {
  const sandbox = new Sandbox();
  const { apiKey, jwt } = sandbox;
  const foreign = 'sk_live_somebody_elses_key';
  await sandbox.fetch(`https://h/v0/entities/${apiKey}?a=x${jwt}&${foreign}=1`, {
    method: 'POST',
    headers: { authorization: `Bearer ${foreign}`, 'x-note': 'header' },
    body: JSON.stringify({
      text: `<${apiKey}>`,
      list: [{ deep: jwt }, 1, null, true],
      [foreign]: foreign,
    }),
  });
  await sandbox.fetch('https://h/', { method: 'POST', body: `not json: ${apiKey}` });
  const text = JSON.stringify(sandbox.log);
  for (const secret of [apiKey, jwt, foreign, 'header']) expect(text).not.toContain(secret);
  expect(sandbox.log[0]).toMatchObject({
    path: '/v0/entities/[redacted]',
    query: { a: 'x[redacted]', '[redacted]': '1' },
    body: {
      text: '<[redacted]>',
      list: [{ deep: '[redacted]' }, 1, null, true],
      '[redacted]': '[redacted]',
    },
  });
  expect(sandbox.log[1]?.body).toBe('not json: [redacted]');
});

test('a credential too short to be one is left alone', async () => {
  const sandbox = new Sandbox();
  await sandbox.fetch('https://h/v0/entities', { headers: { authorization: 'Bearer e' } });
  expect(sandbox.log[0]?.path).toBe('/v0/entities');
});

test('an entry stays as it arrived', async () => {
  const sandbox = new Sandbox();
  sandbox.entities.create({ email: 'a@b.example' });
  const metadata = { a: 1 };
  await call(sandbox, 'POST', '/accounts', { entityId: 'ent_000001', metadata });
  await call(sandbox, 'PATCH', '/accounts/acc_000001', { metadata: { a: 2 } });
  expect(sandbox.log[0]?.body).toEqual({ entityId: 'ent_000001', metadata: { a: 1 } });
});

test('keeps the latest ten thousand requests', async () => {
  const sandbox = new Sandbox();
  const request = { headers: new Headers(), method: 'GET' };
  for (let count = 0; count < 10_005; count += 1) {
    await sandbox.handle({ ...request, url: `https://h/${count}` });
  }
  expect(sandbox.log).toHaveLength(10_000);
  expect(sandbox.log[0]?.path).toBe('/5');
  expect(sandbox.log.at(-1)?.path).toBe('/10004');
});
