import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import dns from 'node:dns/promises';
import { text } from 'node:stream/consumers';
import { Sandbox, type SandboxOptions } from 'payments-platform-sdk/sandbox';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createAccounts } from '../support/platform.ts';
import { closedPort } from '../support/closed-port.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { call, containing, matching } from './calls.ts';

type Handle = (request: IncomingMessage, response: ServerResponse, body: string) => void;

const accept: Handle = (_request, response) => response.writeHead(204).end();

async function receive(handle: Handle = accept) {
  const bodies: string[] = [];
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      requests.push(request);
      bodies.push(body);
      handle(request, response, body);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { bodies, requests, port, url: `http://127.0.0.1:${port}/hooks` };
}

/** Delivers only changes of an Account's name, one for each call of `rename`. */
const shape: SandboxOptions['webhook'] = ({ type, after }) =>
  type === 'account.updated' ? { body: after?.name } : undefined;

function setup(options: SandboxOptions = {}) {
  const clock = new VirtualClock();
  const sandbox = new Sandbox({ clock, webhook: shape, ...options });
  const { source, destination } = createAccounts(sandbox);
  const rename = (...names: string[]) => {
    for (const name of names) sandbox.accounts.update(source.id, { name });
  };
  const deliveries = () => sandbox.log.filter(({ operation }) => operation === 'webhook');
  const completed = () => deliveries().filter(({ ms }) => ms !== undefined);
  const completes = (count: number) => expect.poll(() => completed().length).toBe(count);
  const point = (webhookUrl: string | null) => sandbox.settings.update({ webhookUrl });
  return { clock, sandbox, source, destination, rename, deliveries, completed, completes, point };
}

test('the default body of a webhook contains "sandbox": true', async () => {
  const { sandbox, source, destination, point, completes, completed } = setup({
    webhook: undefined,
  });
  const { bodies, requests, url } = await receive();
  sandbox.accounts.fund(source.id, '1');
  point(url);
  const { id } = sandbox.transfers.create({
    sourceAccountId: source.id,
    destinationAccountId: destination.id,
    amount: '1',
  });
  await completes(3);
  point(null);
  sandbox.transfers.advance(id);
  expect(bodies.map((body): unknown => JSON.parse(body))).toEqual([
    { sandbox: true, type: 'transfer.created', id, status: 'pending' },
    { sandbox: true, type: 'account.balance', id: source.id, status: 'active' },
    { sandbox: true, type: 'account.balance', id: destination.id, status: 'active' },
  ]);
  expect(requests[0]).toMatchObject({
    method: 'POST',
    url: '/hooks',
    headers: { 'content-type': 'application/json', host: new URL(url).host },
  });
  expect(completed()[0]).toEqual({
    id: 1,
    time: '2026-01-01T00:00:00.000Z',
    method: 'POST',
    path: url,
    query: {},
    body: { sandbox: true, type: 'transfer.created', id, status: 'pending' },
    operation: 'webhook',
    fault: undefined,
    status: 204,
    response: undefined,
    note: undefined,
    ms: 0,
    requestId: matching(/^hook_\d{6}$/),
  });
});

test('a webhook has the body and headers that option `webhook` returns', async () => {
  const { point, rename, completes, deliveries, sandbox } = setup({
    webhook: (change) =>
      change.type === 'account.updated'
        ? { body: { event: change.type, n: 2n ** 60n }, headers: { 'x-signature': 's1' } }
        : undefined,
  });
  const { bodies, requests, url } = await receive((_request, response) =>
    response.writeHead(200).end(`{"echo":"${sandbox.apiKey}"}`),
  );
  point(url);
  rename('a');
  await completes(1);
  expect(bodies).toEqual(['{"event":"account.updated","n":1152921504606846976}']);
  expect(requests[0]?.headers['x-signature']).toBe('s1');
  expect(deliveries()).toMatchObject([{ response: { echo: '[redacted]' } }]);
});

test('sandbox.log says why the option `webhook` failed', async () => {
  for (const [webhook, note] of [
    [() => ({ text: 1 }), 'expected { body } or undefined'],
    [
      () => {
        throw new Error('a mistake');
      },
      'a mistake',
    ],
  ] as const) {
    const { sandbox, point, completed } = setup({ webhook: webhook as never });
    point((await receive()).url);
    expect(sandbox.settings.get().webhookUrl).toContain('127.0.0.1');
    expect(completed()).toMatchObject([{ note: containing(note), status: undefined }]);
  }
});

test('a failed webhook is repeated after 1, 2, 4, 8, 16 seconds', async () => {
  const { clock, point, rename, completes, completed } = setup();
  const { bodies, url } = await receive((_request, response) => response.writeHead(500).end('no'));
  point(url);
  rename('a');
  await completes(1);
  for (const [at, seconds] of [1, 2, 4, 8, 16].entries()) {
    await clock.advance(seconds * 1000 - 1);
    expect(completed()).toHaveLength(at + 1);
    await clock.advance(1);
    await completes(at + 2);
  }
  await clock.advance(3_600_000);
  expect(bodies).toEqual(['a', 'a', 'a', 'a', 'a', 'a']);
  expect(completed().map(({ note }) => note)).toEqual([
    'The handler responded 500. The next try follows in 1 s.',
    'The handler responded 500. The next try follows in 2 s.',
    'The handler responded 500. The next try follows in 4 s.',
    'The handler responded 500. The next try follows in 8 s.',
    'The handler responded 500. The next try follows in 16 s.',
    'The handler responded 500. The sandbox gave up after 6 tries.',
  ]);
  expect(new Set(completed().map(({ requestId }) => requestId)).size).toBe(1);
});

test('one advanceClock call sends every repetition of a webhook that is due', async () => {
  const { sandbox, point, rename, completes, completed } = setup();
  point(`${closedPort.origin}/`);
  rename('a');
  await completes(1);
  sandbox.advanceClock(7_000);
  await completes(4);
  sandbox.advanceClock(60_000);
  await completes(6);
  expect(completed()[0]?.note).toContain('ECONNREFUSED');
  expect(completed()[5]?.note).toContain('gave up');
});

test('a handler that is down for a minute misses webhooks', async () => {
  const { clock, point, rename, completes, completed } = setup();
  let isDown = true;
  const { bodies, url } = await receive((_request, response) => {
    if (isDown) response.destroy();
    else response.writeHead(204).end();
  });
  point(url);
  rename('early');
  await completes(1);
  for (const [at, seconds] of [1, 2, 4, 8, 16].entries()) {
    await clock.advance(seconds * 1000);
    await completes(at + 2);
  }
  rename('late');
  await completes(7);
  for (const [at, seconds] of [1, 2, 4, 8].entries()) {
    await clock.advance(seconds * 1000);
    await completes(at + 8);
  }
  await clock.advance(60_000 - clock.passed);
  isDown = false;
  bodies.length = 0;
  await clock.advance(60_000);
  await completes(12);
  expect(bodies).toEqual(['late']);
  expect(completed().filter(({ note }) => note?.includes('gave up'))).toMatchObject([
    { body: 'early', status: undefined },
  ]);
});

test('a webhook is repeated if its response takes 5 seconds', async () => {
  const { clock, point, rename, completes, completed, sandbox } = setup();
  let isHanging = true;
  const { bodies, url } = await receive((_request, response) => {
    if (isHanging) response.writeHead(200).write('half');
    else response.end('done');
  });
  point(url);
  rename('a', 'b');
  await expect.poll(() => bodies).toEqual(['a']);
  // A delivery to a handler that hangs does not hold up other deliveries.
  await clock.advance(100);
  await expect.poll(() => bodies).toEqual(['a', 'b']);
  await clock.advance(4_899);
  expect(completed()).toEqual([]);
  await clock.advance(1);
  await completes(1);
  isHanging = false;
  expect(completed()).toMatchObject([
    { ms: 5000, status: undefined, note: containing('No complete response within 5 s.') },
  ]);
  await clock.advance(2_000);
  await completes(4);
  expect(sandbox.log.map(({ response }) => response)).toEqual([
    undefined,
    undefined,
    'done',
    'done',
  ]);
});

test('a repeated webhook goes to the current webhookUrl', async () => {
  const { sandbox, clock, point, rename, completes, completed } = setup();
  point(`${closedPort.origin}/`);
  rename('a');
  await completes(1);
  const { bodies, url } = await receive();
  point(url);
  await clock.advance(1000);
  await completes(2);
  expect(bodies).toEqual(['a']);
  point(`${closedPort.origin}/`);
  rename('b');
  await completes(3);
  point(null);
  await clock.advance(60_000);
  expect(completed().slice(3)).toMatchObject([{ note: 'Not sent: webhookUrl is null by now.' }]);
  point(`${closedPort.origin}/`);
  rename('c');
  await completes(5);
  sandbox.reset();
  expect(clock.pending).toBe(0);
  await clock.advance(60_000);
  expect(completed()).toEqual([]);
});

test('a webhook is not repeated to a forbidden host', async () => {
  const lookup = vi.spyOn(dns, 'lookup');
  const { clock, point, rename, completes, completed } = setup();
  point(`${closedPort.origin}/`);
  rename('a');
  await completes(1);
  point('http://hooks.example/x');
  await clock.advance(60_000);
  expect(completed().slice(1)).toMatchObject([
    { path: 'http://hooks.example/x', note: containing('Not called: hooks.example') },
  ]);
  expect(lookup).not.toHaveBeenCalled();
});

test('reset() during a webhook prevents further tries', async () => {
  const { sandbox, clock, point, rename } = setup();
  const { bodies, url } = await receive(() => {});
  point(url);
  rename('a');
  await expect.poll(() => bodies).toEqual(['a']);
  sandbox.reset();
  point(url);
  await clock.advance(600_000);
  expect(bodies).toEqual(['a']);
});

test.each([
  ['http://203.0.113.9/hooks', '203.0.113.9'],
  ['https://hooks.example/x', 'hooks.example'],
  ['http://localhost.hooks.example/x', 'localhost.hooks.example'],
  ['http://10.0.0.1/x', '10.0.0.1'],
  ['http://[::2]/x', '[::2]'],
  ['http://0.0.0.0/x', '0.0.0.0'],
])('the sandbox stores the webhookUrl %s but does not call the URL', async (url, host) => {
  const lookup = vi.spyOn(dns, 'lookup');
  const { point, rename, deliveries, clock, sandbox } = setup();
  point(url);
  rename('a', 'b');
  await clock.advance(60_000);
  expect(sandbox.settings.get().webhookUrl).toBe(url);
  expect(deliveries()).toMatchObject([
    {
      path: url,
      status: undefined,
      note: containing(`Not called: ${host} is neither localhost`),
    },
  ]);
  expect(lookup).not.toHaveBeenCalled();
});

test('a webhook goes to a host that webhookHosts allows', async () => {
  const lookup = vi.spyOn(dns, 'lookup');
  lookup.mockResolvedValue([{ address: '127.0.0.1', family: 4 }] as never);
  const { port, requests } = await receive();
  const { point, rename, completes } = setup({ webhookHosts: ['Payments-Service:80'] });
  point(`http://payments-service:${port}/hooks?a=1`);
  rename('a');
  await completes(1);
  expect(requests).toMatchObject([
    { url: '/hooks?a=1', headers: { host: `payments-service:${port}` } },
  ]);
  expect(lookup).toHaveBeenCalledTimes(1);
});

test('no webhook goes to localhost if localhost has a public address', async () => {
  const lookup = vi.spyOn(dns, 'lookup');
  lookup.mockResolvedValue([{ address: '203.0.113.9', family: 4 }] as never);
  const { point, rename, completes, completed } = setup();
  point('http://localhost:9/hooks');
  rename('a');
  await completes(1);
  expect(completed()).toMatchObject([
    { status: undefined, note: containing('Not called: localhost resolves to 203.0.113.9') },
  ]);
});

test('a webhook tries the second local address of localhost', async () => {
  const lookup = vi.spyOn(dns, 'lookup');
  lookup.mockResolvedValue([
    { address: '203.0.113.9', family: 4 },
    { address: '127.0.0.9', family: 4 },
    { address: '127.0.0.1', family: 4 },
  ] as never);
  const { port, bodies } = await receive();
  const { point, rename, completes } = setup();
  point(`http://localhost:${port}/`);
  rename('a');
  await completes(1);
  expect(bodies).toEqual(['a']);
});

test('a webhook follows no redirect', async () => {
  const target = await receive();
  const { url, bodies } = await receive((_request, response) =>
    response.writeHead(302, { location: target.url }).end(),
  );
  const { point, rename, completes, completed, clock } = setup();
  point(url);
  rename('a');
  await completes(1);
  await clock.advance(1000);
  await completes(2);
  expect(completed()[0]).toMatchObject({
    status: 302,
    note: containing('no redirect is followed'),
  });
  expect([bodies, target.bodies]).toEqual([['a', 'a'], []]);
});

test('sandbox.log hides the credentials that a webhook sends from its webhookUrl', async () => {
  const { requests, port } = await receive();
  const { point, rename, completes, sandbox } = setup();
  point(`http://user:pass@127.0.0.1:${port}/x`);
  rename('a');
  await completes(1);
  expect(requests[0]?.headers.authorization).toBe(`Basic ${btoa('user:pass')}`);
  expect(JSON.stringify(sandbox.log)).not.toContain('pass');
});

test.each([
  ['drop', ['b', 'c'], 0],
  ['duplicate', ['a', 'a', 'b', 'c'], 0],
  ['reorder', ['b', 'a', 'c'], 0],
  ['delay', ['b', 'c', 'a'], 5000],
] as const)('the fault "%s" makes webhooks a, b, c arrive as %j', async (kind, expected, ms) => {
  const { bodies, url } = await receive();
  const { sandbox, clock, point, rename, deliveries } = setup();
  sandbox.faults.add({ operation: 'webhook', fault: kind === 'delay' ? { kind, ms } : { kind } });
  point(url);
  rename('a', 'b', 'c');
  await expect.poll(() => bodies.includes('c')).toBe(true);
  await clock.advance(ms);
  await expect.poll(() => bodies).toEqual(expected);
  const faults = deliveries().filter(({ fault }) => fault === kind);
  expect(faults.map(({ body }) => body)).toEqual(kind === 'duplicate' ? ['a', 'a'] : ['a']);
  if (kind === 'drop') expect(faults[0]?.note).toBe('Not sent: a fault dropped it.');
  expect(sandbox.faults.list()).toEqual([]);
});

test('the fault "reorder" delays a webhook by at most a second', async () => {
  const { bodies, url } = await receive();
  const { sandbox, clock, point, rename } = setup();
  sandbox.faults.add({ operation: 'webhook', times: 'always', fault: { kind: 'reorder' } });
  point(url);
  rename('a', 'b', 'c');
  await expect.poll(() => bodies).toEqual(['b', 'a']);
  await clock.advance(999);
  expect(bodies).toEqual(['b', 'a']);
  await clock.advance(1);
  await expect.poll(() => bodies).toEqual(['b', 'a', 'c']);
});

test('the fault "drop" affects only webhooks, "hang" only requests', async () => {
  const { sandbox } = setup();
  const { faults } = sandbox;
  faults.add({ operation: 'webhook', fault: { kind: 'drop' } });
  expect((await call(sandbox, 'GET', '/entities')).status).toBe(200);
  expect(faults.list()).toHaveLength(1);
  const add = (operation: 'webhook' | '*', kind: 'drop' | 'hang') => () =>
    faults.add({ operation, fault: { kind } });
  expect(add('*', 'drop')).toThrow('drop does not affect *');
  expect(add('webhook', 'hang')).toThrow('hang does not affect webhook');
});

test('the option webhookHosts accepts only host names', () => {
  expect(() => new Sandbox({ webhookHosts: ['http://a/'] })).toThrow('must be names of hosts');
});
