import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { Sandbox, type SandboxFault } from 'payments-platform-sdk/sandbox';
import { listen, type SandboxServer } from 'payments-platform-sdk/sandbox/server';
import { expect, onTestFinished, test } from 'vitest';
import { createAccounts } from '../support/platform.ts';
import { responseOf, matching } from './calls.ts';
import { flushPromises } from '../support/virtual-clock.ts';

async function setup() {
  const sandbox = new Sandbox({ clock: () => Date.UTC(2026, 0, 1) });
  const server = await listen(sandbox);
  onTestFinished(() => server.close());
  const headers = { authorization: `Bearer ${sandbox.apiKey}` };
  return {
    sandbox,
    server,
    headers,
    list: () => fetch(`${server.baseUrl}/entities`, { headers }),
    create: (body = '{"email":"a@b.example"}') =>
      fetch(`${server.baseUrl}/entities`, { method: 'POST', headers, body }),
    inject: (fault: SandboxFault) => {
      sandbox.faults.add({ operation: '*', fault });
    },
    committed: () => sandbox.entities.list().length,
  };
}

/** Sends the head of a request by hand, and collects what comes back until the connection ends. */
async function byHand({ port }: SandboxServer, head: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(head);
  return text(socket);
}

test('the sandbox server listens on a free loopback port', async () => {
  const { sandbox, server, create, list } = await setup();
  expect(server.port).toBeGreaterThan(0);
  expect(server.rootUrl).toBe(`http://127.0.0.1:${server.port}`);
  expect(server.baseUrl).toBe(`${server.rootUrl}/v0`);
  expect(server.clientOptions).toEqual({
    baseUrl: server.baseUrl,
    rootUrl: server.rootUrl,
    apiKey: sandbox.apiKey,
    jwt: sandbox.jwt,
    validation: 'strict',
  });
  expect((await create()).status).toBe(201);
  const { status, headers, body } = await responseOf(await list());
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('application/json');
  expect(headers.get('x-request-id')).toBe('req_000002');
  expect(headers.get('date')).toBe('Thu, 01 Jan 2026 00:00:00 GMT');
  expect(body).toMatchObject({ data: [{ id: 'ent_000001' }] });
});

test('the sandbox server reads the body of a GET', async () => {
  const { sandbox, server } = await setup();
  const address = `0x${'1'.repeat(40)}` as const;
  const created = sandbox.instructions.create({
    address,
    chainId: 1,
    salt: 2n ** 80n,
    maxExecutions: 1,
    actionArguments: { sweep: 1 },
  });
  const body = JSON.stringify({ address });
  const request = httpRequest(`${server.rootUrl}/instructions/all`, {
    headers: { authorization: `Bearer ${sandbox.jwt}`, 'content-length': body.length },
  }).end(body);
  const [response] = (await once(request, 'response')) as [NodeJS.ReadableStream];
  const reply = await text(response);
  expect(reply).toContain(`"salt":${2n ** 80n},`);
  expect(reply).toContain(created.instructionId);
});

test('the sandbox server sends status 204 without body and content type', async () => {
  const { sandbox, server, headers } = await setup();
  const { entity } = createAccounts(sandbox);
  const { id } = sandbox.counterparties.create({ entityId: entity.id });
  const reply = await byHand(
    server,
    `DELETE /v0/counterparties/${id} HTTP/1.1\r\nhost: localhost\r\nauthorization: ${headers.authorization}\r\nconnection: close\r\n\r\n`,
  );
  expect(reply).toMatch(/^HTTP\/1\.1 204 No Content\r\n/);
  expect(reply).not.toMatch(/content-type|content-length|transfer-encoding/i);
  expect(reply).toMatch(/\r\n\r\n$/);
});

test.each([
  ['the whole URL, as proxies send it', 'http://api.example.com/v0/entities', 200],
  ['a path that begins with two slashes', '//v0/entities', 200],
  ['no path at all', '*', 404],
])('the sandbox server responds to a request line with %s', async (_name, target, status) => {
  const { server, headers } = await setup();
  const reply = await byHand(
    server,
    `GET ${target} HTTP/1.1\r\nhost: localhost\r\nauthorization: ${headers.authorization}\r\nconnection: close\r\n\r\n`,
  );
  expect(reply).toContain(`HTTP/1.1 ${status} `);
});

test('the sandbox server accepts a body of 1 MiB and no more', async () => {
  const { create, committed, list } = await setup();
  const email = '{"email":"a@b.example"}';
  const large = await create(email + ' '.repeat(1024 * 1024 - email.length));
  expect(large.status).toBe(201);
  const { status, body } = await responseOf(await create(email + ' '.repeat(5 * 1024 * 1024)));
  expect(status).toBe(413);
  expect(body).toEqual({
    error: 'The body is larger than 1 MiB.',
    code: 'body_too_large',
    details: null,
  });
  expect(committed()).toBe(1);
  expect((await list()).status).toBe(200);
});

test('the sandbox server keeps the connection after an oversized body', async () => {
  const { server, headers } = await setup();
  const head = `authorization: ${headers.authorization}\r\nhost: localhost\r\n`;
  const socket = connect(server.port, '127.0.0.1');
  const replies = text(socket);
  const half = 'x'.repeat(1_500_000);
  socket.write(`POST /v0/entities HTTP/1.1\r\n${head}content-length: 3000000\r\n\r\n${half}`);
  await flushPromises();
  socket.write(`${half}GET /v0/entities HTTP/1.1\r\n${head}connection: close\r\n\r\n`);
  expect((await replies).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
});

test('the sandbox server decodes a character split between two chunks', async () => {
  const { server, headers, sandbox } = await setup();
  const { entity } = createAccounts(sandbox);
  const body = Buffer.from(JSON.stringify({ entityId: entity.id, name: 'Café' }));
  const request = httpRequest(`${server.baseUrl}/accounts`, { method: 'POST', headers });
  const middle = body.indexOf(0xc3) + 1;
  request.write(body.subarray(0, middle));
  await flushPromises();
  request.end(body.subarray(middle));
  await once(request, 'response');
  expect(sandbox.accounts.list().at(-1)?.name).toBe('Café');
});

test.each([
  ['before_commit', 0],
  ['after_commit', 1],
] as const)('the fault "reset" with %s breaks the server’s connection', async (when, count) => {
  const { inject, create, committed } = await setup();
  inject({ kind: 'reset', when });
  const error: unknown = await create().catch((reason: unknown) => reason);
  expect(error).toMatchObject({ message: 'fetch failed', cause: { code: 'ECONNRESET' } });
  expect(committed()).toBe(count);
  expect((await create()).status).toBe(201);
});

test('the sandbox server ends a "truncated_body" before its announced length', async () => {
  const { inject, create, committed, server, headers } = await setup();
  inject({ kind: 'truncated_body' });
  const response = await create();
  expect(response.status).toBe(201);
  await expect(response.text()).rejects.toThrow('terminated');
  expect(committed()).toBe(1);
  inject({ kind: 'truncated_body' });
  const raw = await byHand(
    server,
    `GET /v0/entities HTTP/1.1\r\nhost: localhost\r\nauthorization: ${headers.authorization}\r\n\r\n`,
  );
  const [head = '', body = ''] = raw.split('\r\n\r\n');
  expect(head).toContain('200 OK');
  const announced = Number(/content-length: (\d+)/.exec(head)?.[1]);
  expect(body.length).toBe(Math.floor(announced / 2));
  expect(body).toMatch(/^\{"data":\[/);
});

test('the sandbox server sends half of a "stalled_body", then waits', async () => {
  const { inject, create, committed } = await setup();
  inject({ kind: 'stalled_body' });
  const response = await create();
  expect(response.status).toBe(201);
  const reader = response.body?.getReader();
  expect((await reader?.read())?.done).toBe(false);
  const rest = reader?.read();
  rest?.catch(() => {});
  expect(await Promise.race([rest, flushPromises().then(() => 'still waiting')])).toBe(
    'still waiting',
  );
  expect(committed()).toBe(1);
  await reader?.cancel();
});

test.each([
  [{ kind: 'hang' }, 0],
  [{ kind: 'hang', when: 'after_commit' }, 1],
] as const)('the fault "hang" of the sandbox server sends no byte: %o', async (fault, count) => {
  const { inject, server, headers, committed, sandbox } = await setup();
  inject(fault);
  const socket = connect(server.port, '127.0.0.1');
  const received: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => received.push(chunk));
  const body = '{"email":"a@b.example"}';
  socket.write(
    `POST /v0/entities HTTP/1.1\r\nhost: localhost\r\nauthorization: ${headers.authorization}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  await expect.poll(() => sandbox.log.length).toBe(1);
  await flushPromises();
  expect(received).toEqual([]);
  expect(socket.readyState).toBe('open');
  expect(committed()).toBe(count);
  socket.destroy();
});

test('the sandbox server sends the faults "status" and "html"', async () => {
  const { inject, create } = await setup();
  inject({ kind: 'status', status: 429, retryAfter: 7 });
  const limited = await create();
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7']);
  inject({ kind: 'html', status: 503 });
  const page = await create();
  expect([page.status, page.headers.get('content-type')]).toEqual([
    503,
    'text/html; charset=utf-8',
  ]);
  expect(await page.text()).toContain('a page of a proxy');
});

test('the fault "delay" of the sandbox server ends when the caller disconnects', async () => {
  const cleared: unknown[] = [];
  const sandbox = new Sandbox({
    clock: {
      now: () => 0,
      setTimeout: () => 'timer',
      clearTimeout: (timer) => cleared.push(timer),
    },
  });
  const server = await listen(sandbox);
  onTestFinished(() => server.close());
  sandbox.faults.add({ operation: '*', fault: { kind: 'delay', ms: 60_000 } });
  const target = new AbortController();
  const pending = fetch(`${server.baseUrl}/entities`, { signal: target.signal });
  await expect.poll(() => sandbox.log.length).toBe(1);
  target.abort();
  await expect(pending).rejects.toThrow('aborted');
  await expect.poll(() => cleared).toEqual(['timer']);
});

test('the sandbox server survives a disconnect during a body', async () => {
  const { server, headers, sandbox, list } = await setup();
  const socket = connect(server.port, '127.0.0.1');
  socket.write(
    `POST /v0/entities HTTP/1.1\r\nhost: localhost\r\nauthorization: ${headers.authorization}\r\ncontent-length: 100\r\n\r\n{"em`,
  );
  await flushPromises();
  socket.resetAndDestroy();
  expect((await list()).status).toBe(200);
  expect(sandbox.log.map(({ method }) => method)).toEqual(['GET']);
});

test('the sandbox server responds with sandbox_defect if its clock is broken', async () => {
  let now = 0;
  const server = await listen(new Sandbox({ clock: () => now }));
  onTestFinished(() => server.close());
  now = Number.NaN;
  const { status, body } = await responseOf(await fetch(`${server.baseUrl}/entities`));
  expect(status).toBe(500);
  expect(body).toMatchObject({ code: 'sandbox_defect', details: null });
  expect((body as { error: string }).error).toContain('must return a valid Date');
});

test('close() of the sandbox server ends open connections at once', async () => {
  const { inject, server, list, create, sandbox } = await setup();
  await list();
  inject({ kind: 'hang' });
  inject({ kind: 'stalled_body' });
  const hanging = create().catch((reason: unknown) => reason);
  await expect.poll(() => sandbox.log.length).toBe(2);
  const stalled = await create();
  const started = performance.now();
  await Promise.all([server.close(), server.close()]);
  expect(performance.now() - started).toBeLessThan(2000);
  expect(await hanging).toBeInstanceOf(TypeError);
  await expect(stalled.text()).rejects.toThrow(TypeError);
  await expect(list()).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
});

test('`await using` closes the sandbox server after its scope', async () => {
  let url: string;
  {
    await using server = await listen(new Sandbox(), { port: 0 });
    url = server.baseUrl;
    expect((await fetch(url)).status).toBe(404);
  }
  await expect(fetch(url)).rejects.toThrow('fetch failed');
});

test('listen() rejects with cannot_listen if the port is in use', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => {
    other.close();
  });
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  await expect(listen(new Sandbox(), { port })).rejects.toMatchObject({
    name: 'SandboxError',
    code: 'cannot_listen',
    message: `The sandbox cannot listen on port ${port} of 127.0.0.1: another process listens there. Choose another port, or 0 for any free one.`,
    cause: { code: 'EADDRINUSE' },
  });
});

test('listen() rejects an invalid host or port', async () => {
  await expect(listen(new Sandbox(), { host: 'no such host' })).rejects.toMatchObject({
    code: 'cannot_listen',
    message: matching(/on port 0 of no such host: getaddrinfo /),
  });
  await expect(listen(new Sandbox(), { port: 65_536 })).rejects.toThrow(RangeError);
  await expect(listen(new Sandbox(), { port: 'x' as never })).rejects.toThrow(RangeError);
});

test.each([
  ['0.0.0.0', '127.0.0.1'],
  ['localhost', 'localhost'],
  ['::1', '[::1]'],
  ['::', 'localhost'],
])('a sandbox server that listens on %s can be reached at %s', async (host, name) => {
  const server = await listen(new Sandbox(), { host }).catch((error: unknown) => {
    // Some machines have no IPv6.
    if (host.includes(':')) return undefined;
    throw error;
  });
  if (server === undefined) return;
  onTestFinished(() => server.close());
  expect(server.rootUrl).toBe(`http://${name}:${server.port}`);
  expect((await fetch(server.baseUrl)).status).toBe(404);
});

test('the sandbox server responds to two requests on one connection', async () => {
  const { sandbox, server, headers } = await setup();
  const socket: Socket = connect(server.port, '127.0.0.1');
  const head = `authorization: ${headers.authorization}\r\nhost: localhost\r\n`;
  socket.write(
    `GET /v0/entities HTTP/1.1\r\n${head}\r\nGET /v0/accounts HTTP/1.1\r\n${head}connection: close\r\n\r\n`,
  );
  const replies = await text(socket);
  expect(replies.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
  expect(sandbox.log.map(({ operation }) => operation)).toEqual(['entities.list', 'accounts.list']);
});
