import { PaymentsClient, version } from 'payments-platform-sdk';
import { Sandbox, seedDemo, type SandboxOptions } from 'payments-platform-sdk/sandbox';
import { listen } from 'payments-platform-sdk/sandbox/server';
import { expect, onTestFinished, test } from 'vitest';
import { VirtualClock } from '../support/virtual-clock.ts';
import { containing, responseOf } from './calls.ts';

async function setup(options: SandboxOptions & { worlds?: boolean } = {}) {
  const { worlds = true, ...rest } = options;
  const sandbox = seedDemo(new Sandbox(rest));
  const server = await listen(sandbox, { worlds });
  onTestFinished(() => server.close());
  const control = async (method: string, path: string, body?: string) =>
    responseOf(
      await fetch(`${server.rootUrl}/_sandbox/${path}`, {
        method,
        ...(body === undefined ? {} : { body }),
      }),
    );
  const clientOf = (name: string) =>
    new PaymentsClient({
      ...server.clientOptions,
      apiKey: `sk_sandbox_${name}`,
      jwt: `jwt_sandbox_${name}`,
      maxRetries: 0,
    });
  const statusOf = async (key: string) =>
    (
      await fetch(`${server.baseUrl}/entities`, {
        headers: { authorization: `Bearer ${key}` },
      })
    ).status;
  return { sandbox, server, control, clientOf, statusOf };
}

test('on a sandbox server with worlds, each API key works on its own copy of the initial records', async () => {
  const { sandbox, clientOf, control } = await setup();
  sandbox.entities.create({ email: 'later@example.com' });
  const [one, two] = [clientOf('one'), clientOf('two')];
  const { id } = await one.entities.create({ email: 'one@example.com' });
  expect(id).toBe('ent_000003');
  await expect(two.entities.get(id)).rejects.toThrow('No entity');
  expect((await two.entities.list()).data).toHaveLength(2);
  expect(sandbox.entities.get(id).email).toBe('later@example.com');
  expect((await control('GET', 'worlds')).body).toEqual(['one', 'two']);
  expect((await control('GET', 'worlds/one/log')).body).toMatchObject([
    { id: 1, operation: 'entities.create', status: 201 },
  ]);
  expect(sandbox.log).toEqual([]);
});

test('on a sandbox server with worlds, root endpoints use the world that the JWT names', async () => {
  const { clientOf, control } = await setup();
  const address = '0x00000000000000000000000000000000000000aa';
  const list = await clientOf('one').transactions.list({ address });
  expect(list.data).toHaveLength(3);
  expect((await control('GET', 'worlds/one/log')).body).toMatchObject([{ status: 200 }]);
  expect((await control('GET', 'worlds')).body).toEqual(['one']);
});

test('on a sandbox server with worlds, the default API key and a path under /_sandbox/ without a world use the default world', async () => {
  const { sandbox, statusOf, control } = await setup();
  expect(await statusOf(sandbox.apiKey)).toBe(200);
  expect((await control('GET', 'worlds')).body).toEqual([]);
  expect((await control('GET', 'log')).body).toHaveLength(1);
  expect((await control('GET', 'worlds/0000000000000000/log')).body).toHaveLength(1);
});

test.each([
  ['sk_sandbox_One', 401],
  [`sk_sandbox_${'a'.repeat(40)}`, 200],
  [`sk_sandbox_${'a'.repeat(41)}`, 401],
  ['sk_sandbox_a_b', 401],
  ['sk_sandbox_', 401],
  ['sk_live_one', 401],
  ['jwt_sandbox_one', 401],
  ['sk_sandbox_a-1', 200],
])(
  'a sandbox server with worlds responds to the API key %s with status %i',
  async (key, status) => {
    const { statusOf, sandbox } = await setup();
    expect(await statusOf(key)).toBe(status);
    expect(JSON.stringify(sandbox.log)).not.toContain(key);
  },
);

test('a sandbox server without worlds rejects other API keys, and responds to /_sandbox/worlds with a hint at --worlds', async () => {
  const { statusOf, control } = await setup({ worlds: false });
  expect(await statusOf('sk_sandbox_one')).toBe(401);
  for (const path of ['worlds', 'worlds/one', 'worlds/one/state']) {
    expect(await control('GET', path)).toMatchObject({
      status: 404,
      body: { error: containing('--worlds') },
    });
  }
});

test('a request to /_sandbox/worlds/one leaves the records of every other world of the sandbox server unchanged', async () => {
  const { sandbox, control, clientOf } = await setup();
  const before = sandbox.exportState();
  const funded = await control('POST', 'worlds/one/accounts/acc_000001/fund', '{"amount":"1"}');
  expect(funded).toMatchObject({ status: 200, body: { availableBalance: '19920.60' } });
  const advanced = await control('POST', 'worlds/one/transfers/txfr_000001/advance');
  expect(advanced).toMatchObject({ status: 200, body: { status: 'processing' } });
  const fault = '{"operation":"accounts.list","fault":{"kind":"status","status":503}}';
  expect((await control('POST', 'worlds/one/faults', fault)).status).toBe(201);
  expect((await control('POST', 'worlds/one/clock', '{"advanceMs":5}')).status).toBe(200);
  expect(sandbox.exportState()).toEqual(before);
  const { data } = await clientOf('two').accounts.list();
  expect(data[0]?.availableBalance).toBe('19919.60');
  await expect(clientOf('one').accounts.list()).rejects.toThrow('503');
  expect((await control('GET', 'worlds/one/changes')).body).toMatchObject([
    { type: 'account.balance' },
    { type: 'transfer.status' },
  ]);
  expect((await control('GET', 'worlds/two/changes')).body).toEqual([]);
});

test('DELETE /_sandbox/worlds/{name} removes a world, and its API key then works on a new copy of the initial records', async () => {
  const clock = new VirtualClock();
  const { control, clientOf } = await setup({ clock, autoAdvance: 1000 });
  const pending = clock.pending;
  await clientOf('one').entities.create({ email: 'one@example.com' });
  expect(clock.pending).toBe(pending + 1);
  expect((await control('DELETE', 'worlds/one')).status).toBe(204);
  expect(clock.pending).toBe(pending);
  expect((await control('GET', 'worlds')).body).toEqual([]);
  expect(await control('DELETE', 'worlds/one')).toMatchObject({
    status: 404,
    body: { code: 'world_not_found' },
  });
  const { id } = await clientOf('one').entities.create({ email: 'one@example.com' });
  expect(id).toBe('ent_000003');
});

test.each([
  ['GET', 'worlds/One/state', 422, 'validation_failed'],
  ['GET', 'worlds//state', 422, 'validation_failed'],
  ['GET', `worlds/${'a'.repeat(41)}/state`, 422, 'validation_failed'],
  ['POST', 'worlds', 405, 'method_not_allowed'],
  ['POST', 'worlds/one', 405, 'method_not_allowed'],
  ['GET', 'worlds/one/nothing', 404, 'not_found'],
  ['GET', 'worlds/one/worlds/two/state', 404, 'not_found'],
])(
  'the sandbox server responds to %s /_sandbox/%s with %i %s',
  async (method, path, status, code) => {
    const { control } = await setup();
    expect(await control(method, path)).toMatchObject({ status, body: { code } });
  },
);

test('a request to /_sandbox/worlds/{name} from a page of another origin gets 403', async () => {
  const { server } = await setup();
  const response = await fetch(`${server.rootUrl}/_sandbox/worlds/one/state`, {
    headers: { origin: 'https://evil.example' },
  });
  expect(response.status).toBe(403);
});

test('POST /_sandbox/reset with the seed "start" restores the initial records with their ids', async () => {
  const { sandbox, control } = await setup();
  const before = sandbox.exportState();
  for (const prefix of ['', 'worlds/one/']) {
    await control('POST', `${prefix}transfers/txfr_000001/fail`);
    await control('POST', `${prefix}counterparties`, '{"entityId":"ent_000001"}');
    expect((await control('POST', `${prefix}reset`, '{"seed":"start"}')).status).toBe(204);
    const { body } = await control('GET', `${prefix}state`);
    expect(body).toEqual({
      ...before,
      ids: { ...before.ids, counterparties: 3, changes: Number(before.ids['changes']) + 3 },
    });
    await control('POST', `${prefix}reset`);
    expect((await control('GET', `${prefix}state`)).body).toMatchObject({ entities: [] });
  }
});

test('a state that is exported from one world and imported into another world is exported from there as the same text', async () => {
  const { server, control, clientOf } = await setup();
  await clientOf('one').settings.update({ webhookUrl: 'https://hooks.example/x' });
  const urlOf = (name: string) => `${server.rootUrl}/_sandbox/worlds/${name}/state`;
  const exported = await (await fetch(urlOf('one'))).text();
  expect((await fetch(urlOf('two'), { method: 'PUT', body: exported })).status).toBe(204);
  expect(await (await fetch(urlOf('two'))).text()).toBe(exported);
  const large = exported + ' '.repeat(2 ** 21);
  expect((await fetch(urlOf('two'), { method: 'PUT', body: large })).status).toBe(204);
  expect((await control('GET', 'worlds')).body).toEqual(['one', 'two']);
});

test('GET /_sandbox/health responds as soon as the server listens', async () => {
  const { control } = await setup({ worlds: false });
  expect(await control('GET', 'health')).toMatchObject({
    status: 200,
    body: { ok: true, version },
  });
});

test('fifty clients with an API key each see no record of each other on a sandbox server with worlds', async () => {
  const { clientOf, sandbox } = await setup();
  const before = sandbox.exportState();
  const use = async (name: string) => {
    const payments = clientOf(name);
    for (let count = 0; count < 5; count += 1) {
      await payments.entities.create({ email: `${name}@example.com` });
    }
    const emails = (await payments.entities.list().toArray({ max: 100 })).slice(2);
    return emails.map(({ email }) => email);
  };
  const names = Array.from({ length: 50 }, (_, at) => `test-${at}`);
  expect(await Promise.all(names.map(use))).toEqual(
    names.map((name) => Array.from({ length: 5 }, () => `${name}@example.com`)),
  );
  expect(sandbox.exportState()).toEqual(before);
});
