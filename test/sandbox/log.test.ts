import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { describe, expect, test } from 'vitest';
import { flushPromises } from '../support/virtual-clock.ts';
import { call, having } from './calls.ts';

test('sandbox.log lists the requests in their order', async () => {
  const sandbox = new Sandbox({ clock: () => 0 });
  const time = '1970-01-01T00:00:00.000Z';
  await call(sandbox, 'POST', '/entities', { email: 'a@b.example' });
  await call(sandbox, 'GET', '/entities?limit=2');
  await call(sandbox, 'PUT', '/entities/ent_000001', { a: 1 });
  await call(sandbox, 'GET', '/transactions', { address: '0x1', take: 2n ** 70n });
  const same = { time, ms: 0, query: {}, body: undefined, fault: undefined, key: 1 };
  const number = (id: number) => ({ id, requestId: `req_00000${id}` });
  expect(sandbox.log).toEqual([
    {
      ...same,
      ...number(1),
      method: 'POST',
      path: '/v0/entities',
      body: { email: 'a@b.example' },
      operation: 'entities.create',
      status: 201,
      response: having({ id: 'ent_000001' }),
      created: 'ent_000001',
    },
    {
      ...same,
      ...number(2),
      method: 'GET',
      path: '/v0/entities',
      query: { limit: '2' },
      operation: 'entities.list',
      status: 200,
      response: having({ data: [having({ id: 'ent_000001' })] }),
    },
    {
      ...same,
      ...number(3),
      method: 'PUT',
      path: '/v0/entities/ent_000001',
      body: { a: 1 },
      operation: undefined,
      status: 405,
      response: having({ code: 'method_not_allowed' }),
    },
    {
      ...same,
      ...number(4),
      key: 2,
      method: 'GET',
      path: '/transactions',
      body: { address: '0x1', take: 2n ** 70n },
      operation: 'transactions.list',
      status: 422,
      response: having({ code: 'validation_failed' }),
    },
  ]);
});

test('sandbox.log shows the same number for the same credential', async () => {
  const sandbox = new Sandbox();
  const send = (authorization: string) =>
    sandbox.fetch('https://h/v0/entities', { headers: { authorization } });
  await send('Bearer sk_wrong_1');
  await send('Bearer sk_wrong_2');
  await send(`Bearer ${sandbox.apiKey}`);
  await send('');
  await send('Bearer sk_wrong_1');
  expect(sandbox.log.map(({ key }) => key)).toEqual([1, 2, 3, undefined, 1]);
});

test('sandbox.log shows no status if no response was sent', async () => {
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

test('sandbox.log names a created record even if the response was lost', async () => {
  const sandbox = new Sandbox();
  const { id: entityId } = sandbox.entities.create({ email: 'a@b.example' });
  const { id: sourceAccountId } = sandbox.accounts.create({ entityId });
  const { id: destinationAccountId } = sandbox.accounts.create({ entityId });
  sandbox.accounts.fund(sourceAccountId, '5');
  const pay = (amount: string) =>
    call(sandbox, 'POST', '/transfers', { sourceAccountId, destinationAccountId, amount });
  for (const when of ['after_commit', 'before_commit'] as const) {
    sandbox.faults.add({ operation: 'transfers.create', fault: { kind: 'reset', when } });
    await expect(pay('1')).rejects.toThrow('fetch failed');
  }
  await pay('100');
  await pay('1');
  await call(sandbox, 'GET', '/transfers/txfr_000001');
  expect(sandbox.log.map(({ status, created }) => [status, created])).toEqual([
    [undefined, 'txfr_000001'],
    [undefined, undefined],
    [422, undefined],
    [201, 'txfr_000002'],
    [200, undefined],
  ]);
});

test('sandbox.log holds no headers and no credential', async () => {
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

test('sandbox.log does not redact a one-letter credential within paths', async () => {
  const sandbox = new Sandbox();
  await sandbox.fetch('https://h/v0/entities', { headers: { authorization: 'Bearer e' } });
  expect(sandbox.log[0]?.path).toBe('/v0/entities');
});

test('sandbox.log keeps the request body when the record later changes', async () => {
  const sandbox = new Sandbox();
  sandbox.entities.create({ email: 'a@b.example' });
  const metadata = { a: 1 };
  await call(sandbox, 'POST', '/accounts', { entityId: 'ent_000001', metadata });
  await call(sandbox, 'PATCH', '/accounts/acc_000001', { metadata: { a: 2 } });
  expect(sandbox.log[0]?.body).toEqual({ entityId: 'ent_000001', metadata: { a: 1 } });
});

test('sandbox.log keeps the latest ten thousand requests', async () => {
  const sandbox = new Sandbox();
  const request = { headers: new Headers(), method: 'GET' };
  for (let count = 0; count < 10_005; count += 1) {
    await sandbox.handle({ ...request, url: `https://h/${count}` });
  }
  expect(sandbox.log).toHaveLength(10_000);
  expect(sandbox.log[0]?.path).toBe('/5');
  expect(sandbox.log.at(-1)?.path).toBe('/10004');
});

test('sandbox.log numbers requests in the order in which they end', async () => {
  const timers: (() => void)[] = [];
  const sandbox = new Sandbox({ clock: { now: () => 0, setTimeout: (run) => timers.push(run) } });
  const heard: unknown[] = [];
  const stop = sandbox.onLog(({ id, requestId, status }) => heard.push([id, requestId, status]));
  sandbox.faults.add({ operation: '*', fault: { kind: 'delay', ms: 50 } });
  sandbox.faults.add({ operation: '*', fault: { kind: 'reset', when: 'before_commit' } });
  const slow = call(sandbox, 'GET', '/entities');
  await expect.poll(() => timers.length).toBe(1);
  await expect(call(sandbox, 'GET', '/entities')).rejects.toThrow('fetch failed');
  expect(sandbox.log.map(({ id }) => id)).toEqual([undefined, 1]);
  timers[0]?.();
  await slow;
  expect(heard).toEqual([
    [1, 'req_000002', undefined],
    [2, 'req_000001', 200],
  ]);
  stop();
  await call(sandbox, 'GET', '/entities');
  expect(heard).toHaveLength(2);
});

test('sandbox.log redacts credentials before it cuts a long body', async () => {
  const sandbox = new Sandbox();
  const text = `${'x'.repeat(65_500)} ${sandbox.apiKey} ${'y'.repeat(1000)}`;
  await call(sandbox, 'POST', '/entities', { email: text });
  const { body } = sandbox.log[0] ?? {};
  expect(String(body).length).toBeLessThan(65_600);
  expect(body).toMatch(/^\{"email":"x+ .*… \(\d+ characters\)$/);
  expect(body).not.toContain('sk_sandbox');
  await call(sandbox, 'POST', '/entities', { email: 'x'.repeat(60_000) });
  expect(sandbox.log[1]?.body).toEqual({ email: 'x'.repeat(60_000) });
});

test('sandbox.log cuts a response of more than 10 kB', async () => {
  const sandbox = new Sandbox();
  const { id: entityId } = sandbox.entities.create({ email: 'a@b.example' });
  const create = (name: string) => call(sandbox, 'POST', '/accounts', { entityId, name });
  await create('x'.repeat(9_000));
  await create('x'.repeat(10_000));
  sandbox.faults.add({ operation: '*', fault: { kind: 'html' } });
  await expect(create('other')).rejects.toThrow('<!doctype');
  const [short, long, page] = sandbox.log.map(({ response }) => response);
  expect(short).toMatchObject({ name: 'x'.repeat(9_000) });
  expect(long).toMatch(/^\{"id":"acc_000002",.*"name":"x+… \(\d+ characters\)$/);
  expect(String(long).length).toBeLessThan(10_030);
  expect(page).toContain('<html>');
  expect(JSON.parse(JSON.stringify(sandbox.log[0]))).toMatchObject({
    response: { type: 'wallet' },
  });
});

describe('the memory that sandbox.log uses', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const measureMebibytes = async () => {
    // The objects that read a body are finalised in a later turn.
    for (const _ of [1, 2]) {
      await flushPromises(1);
      collectGarbage();
    }
    const { heapUsed, external } = process.memoryUsage();
    return (heapUsed + external) / 2 ** 20;
  };
  const long = () => 'x'.repeat(2 ** 20);

  test.each([
    ['JSON', () => JSON.stringify({ email: long() })],
    ['text that is not JSON', () => `no JSON ${long()}`],
    ['a list of short strings', () => JSON.stringify(Array(2 ** 17).fill('12345'))],
  ])('retains no memory for what it has cut: %s', async (_, createBody) => {
    const sandbox = new Sandbox();
    const before = await measureMebibytes();
    for (let count = 0; count < 20; count += 1) {
      await sandbox.fetch('https://h/v0/entities', { method: 'POST', body: createBody() });
    }
    expect((await measureMebibytes()) - before).toBeLessThan(10);
    expect(sandbox.log).toHaveLength(20);
  });
});
