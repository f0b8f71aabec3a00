import { createHash } from 'node:crypto';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { version } from 'payments-platform-sdk';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { listen, type ListenOptions } from 'payments-platform-sdk/sandbox/server';
import { expect, onTestFinished, test } from 'vitest';
import { createPageReply } from '../../src/sandbox/control/page-reply.ts';
import { parseJson } from '../../src/internal/json.ts';
import { createAccounts } from '../support/platform.ts';
import { aString, containing, having } from './calls.ts';

// Any language can use the control endpoints without a key, but no page of another origin can.

const atNewYear = () => new Sandbox({ clock: () => Date.UTC(2026, 0, 1) });

async function setup(options?: ListenOptions, sandbox = atNewYear()) {
  const server = await listen(sandbox, options);
  onTestFinished(() => server.close());
  /** As `curl -d` sends it: with a content type that is not JSON's. */
  const ask = async (method: string, path: string, body?: string, headers = {}) => {
    const request = httpRequest(`${server.rootUrl}${path}`, {
      method,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    }).end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const reply = await text(response);
    const isJson = response.headers['content-type'] === 'application/json';
    return {
      status: response.statusCode,
      headers: response.headers,
      body: isJson ? parseJson(reply) : reply,
    };
  };
  return { sandbox, server, ask, key: { authorization: `Bearer ${sandbox.apiKey}` } };
}

test('endpoints under /_sandbox/ respond with the record that they changed', async () => {
  const { sandbox, ask } = await setup();
  const { source, destination, entity } = createAccounts(sandbox);
  const pay = () =>
    sandbox.transfers.create({
      sourceAccountId: source.id,
      destinationAccountId: destination.id,
      amount: '10',
    }).id;
  const [done, failed, cancelled] = [pay(), pay(), pay()];
  const move = async (id: string, verb: string) => {
    const { status, body } = await ask('POST', `/_sandbox/transfers/${id}/${verb}`);
    return [status, body];
  };
  expect(await move(done, 'advance')).toMatchObject([200, { id: done, status: 'processing' }]);
  expect(await move(done, 'advance')).toMatchObject([200, { id: done, status: 'completed' }]);
  expect(await move(failed, 'fail')).toMatchObject([200, { id: failed, status: 'failed' }]);
  expect(await move(cancelled, 'cancel')).toMatchObject([200, { status: 'cancelled' }]);
  expect(await move(done, 'advance')).toMatchObject([409, { code: 'invalid_transition' }]);
  expect(await move('txfr_9', 'fail')).toMatchObject([404, { code: 'transfer_not_found' }]);

  const fund = await ask('POST', `/_sandbox/accounts/${source.id}/fund`, '{"amount":"5.5"}');
  expect(fund).toMatchObject({ status: 200, body: { id: source.id, availableBalance: '95.50' } });

  const other = sandbox.entities.create({ email: 'b@example.com' });
  expect(await ask('POST', `/_sandbox/entities/${other.id}/approve`)).toMatchObject({
    status: 200,
    body: { id: other.id, kycStatus: 'approved', tosStatus: 'approved' },
  });

  const payee = JSON.stringify({ entityId: entity.id, name: 'Roaster', type: 'bank_account' });
  expect(await ask('POST', '/_sandbox/counterparties', payee)).toMatchObject({
    status: 201,
    body: { id: 'cpty_000001', name: 'Roaster', accountNumber: containing('****') },
  });
  const iban = await ask('POST', '/_sandbox/ibans', JSON.stringify({ accountId: source.id }));
  expect(iban).toMatchObject({ status: 201, body: { id: 'iban_000001', iban: aString } });
  const deposit = await ask('POST', '/_sandbox/ibans/iban_000001/deposit', '{"amount":"1"}');
  expect(deposit).toMatchObject({ status: 200, body: { availableBalance: '96.50' } });
});

test('POST /_sandbox/entities, accounts and transfers create without an API key', async () => {
  const { sandbox, ask } = await setup();
  const { entity, source, destination } = createAccounts(sandbox);
  const create = async (noun: string, input: unknown) =>
    ask('POST', `/_sandbox/${noun}`, JSON.stringify(input));
  expect(await create('entities', { email: 'b@example.com', fullName: 'B' })).toMatchObject({
    status: 201,
    body: sandbox.entities.get('ent_000002'),
  });
  expect(await create('accounts', { entityId: entity.id, name: 'Third' })).toMatchObject({
    status: 201,
    body: { name: 'Third', availableBalance: '0.00' },
  });
  const accounts = { sourceAccountId: source.id, destinationAccountId: destination.id };
  expect(await create('transfers', { ...accounts, amount: '1' })).toMatchObject({
    status: 201,
    body: { ...accounts, status: 'pending' },
  });
});

test.each([
  ['POST', '/_sandbox/accounts/acc_000001/fund', '', 400, 'body_required'],
  ['POST', '/_sandbox/accounts/acc_000001/fund', '{"amount"', 400, 'invalid_json'],
  ['POST', '/_sandbox/accounts/acc_000001/fund', '{"amount":5}', 422, 'validation_failed'],
  ['POST', '/_sandbox/accounts/acc_000001/fund', '{"amount":"-5"}', 422, 'invalid_amount'],
  ['POST', '/_sandbox/accounts/acc_000009/fund', '{"amount":"5"}', 404, 'account_not_found'],
  ['POST', '/_sandbox/accounts/%zz/fund', '{"amount":"5"}', 404, 'account_not_found'],
  ['POST', '/_sandbox/counterparties', '{"name":"x"}', 422, 'validation_failed'],
  ['POST', '/_sandbox/ibans', '{"accountId":"acc_000009"}', 422, 'unknown_account'],
  ['POST', '/_sandbox/entities', '{}', 422, 'validation_failed'],
  ['POST', '/_sandbox/accounts', '{"entityId":"ent_000009"}', 422, 'unknown_entity'],
  ['POST', '/_sandbox/transfers', '{"amount":1}', 422, 'validation_failed'],
  ['POST', '/_sandbox/faults', '{"operation":"x"}', 422, 'validation_failed'],
  ['POST', '/_sandbox/faults', 'null', 422, 'validation_failed'],
  ['POST', '/_sandbox/clock', '{"advanceMs":-1}', 422, 'validation_failed'],
  ['POST', '/_sandbox/reset', '{"seed":"x"}', 422, 'validation_failed'],
  ['PUT', '/_sandbox/state', '{"version":2}', 422, 'validation_failed'],
  ['GET', '/_sandbox/log?after=x', undefined, 400, 'invalid_query'],
  ['GET', '/_sandbox/nothing', undefined, 404, 'not_found'],
  ['GET', '/_sandbox/reset', undefined, 405, 'method_not_allowed'],
])(
  'the invalid request %s %s (%j) receives %i %s and changes nothing',
  async (method, path, body, status, code) => {
    const { sandbox, ask } = await setup();
    createAccounts(sandbox);
    const before = sandbox.exportState();
    expect(await ask(method, path, body)).toMatchObject({
      status,
      body: { error: aString, code },
    });
    expect(sandbox.exportState()).toEqual(before);
  },
);

test('/_sandbox/faults adds, lists and removes fault rules', async () => {
  const { ask, key } = await setup();
  const always = {
    operation: 'entities.list',
    times: 'always',
    fault: { kind: 'status', status: 503 },
  };
  const added = await ask('POST', '/_sandbox/faults', JSON.stringify(always));
  expect(added).toMatchObject({ status: 201, body: always });
  const twice = { operation: '*', times: 2, fault: { kind: 'html' } };
  await ask('POST', '/_sandbox/faults', JSON.stringify(twice));
  for (let call = 0; call < 3; call += 1) {
    expect((await ask('GET', '/v0/entities', undefined, key)).status).toBe(503);
  }
  expect((await ask('GET', '/v0/accounts', undefined, key)).status).toBe(502);
  expect((await ask('GET', '/_sandbox/faults')).body).toEqual([
    { ...always, after: 0 },
    { ...twice, times: 1, after: 0 },
  ]);
  expect((await ask('DELETE', '/_sandbox/faults')).status).toBe(204);
  expect((await ask('GET', '/_sandbox/faults')).body).toEqual([]);
  expect((await ask('GET', '/v0/entities', undefined, key)).status).toBe(200);
});

test('GET /_sandbox/log leaves out requests to /_sandbox/', async () => {
  const { ask, key } = await setup();
  await ask('POST', '/v0/entities', '{"email":"a@b.example"}', key);
  await ask('POST', '/_sandbox/entities/ent_000001/approve');
  await ask('GET', '/v0/entities?limit=1', undefined, key);
  const all = await ask('GET', '/_sandbox/log');
  const first = {
    id: 1,
    time: '2026-01-01T00:00:00.000Z',
    method: 'POST',
    path: '/v0/entities',
    query: {},
    body: { email: 'a@b.example' },
    operation: 'entities.create',
    requestId: 'req_000001',
    key: 1,
    status: 201,
    response: having({ id: 'ent_000001' }),
    created: 'ent_000001',
    ms: 0,
  };
  expect(all.body).toEqual([first, having({ id: 2, query: { limit: '1' }, status: 200 })]);
  expect((await ask('GET', '/_sandbox/log?after=1')).body).toMatchObject([{ id: 2 }]);
  expect((await ask('GET', '/_sandbox/log?after=2')).body).toEqual([]);
  expect(all.headers['cache-control']).toBe('no-store');
});

test('GET /_sandbox/log streams old entries, then new ones and resets', async () => {
  const { sandbox, server, ask, key } = await setup();
  await ask('GET', '/v0/entities', undefined, key);
  await ask('GET', '/v0/accounts', undefined, key);
  const request = httpRequest(`${server.rootUrl}/_sandbox/log?after=1`, {
    headers: { accept: 'text/event-stream' },
  }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  expect(response.headers['content-type']).toBe('text/event-stream');
  let stream = '';
  response.setEncoding('utf8').on('data', (chunk: string) => (stream += chunk));
  await expect.poll(() => stream).toContain('\n\n');
  sandbox.faults.add({ operation: '*', fault: { kind: 'reset', when: 'before_commit' } });
  await ask('GET', '/v0/ibans', undefined, key).catch(() => {});
  await ask('GET', '/_sandbox/state');
  await expect.poll(() => stream).toContain('id: 3\n');
  const events = stream
    .trim()
    .split('\n\n')
    .map((event) => event.split('\n'));
  expect(events.map(([id]) => id)).toEqual(['id: 2', 'id: 3']);
  const data = events.map(([, line = '']) => parseJson(line.slice('data: '.length)));
  expect(data).toMatchObject([
    { id: 2, operation: 'accounts.list', status: 200 },
    { id: 3, operation: 'ibans.list', fault: 'reset', requestId: 'req_000003' },
  ]);
  expect(data[1]).not.toHaveProperty('status');
  await ask('POST', '/_sandbox/reset');
  await expect.poll(() => stream).toMatch(/\n\nevent: reset\ndata: \{\}\n\n$/);
  response.destroy();
});

test('GET /_sandbox/log?latest counts the entries that the stream leaves out', async () => {
  const { server, ask, key } = await setup();
  for (let call = 0; call < 5; call += 1) await ask('GET', '/v0/entities', undefined, key);
  const request = httpRequest(`${server.rootUrl}/_sandbox/log?latest=2`, {
    headers: { accept: 'text/event-stream' },
  }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const [chunk] = (await once(response.setEncoding('utf8'), 'data')) as [string];
  response.destroy();
  expect(chunk).toMatch(/^event: start\ndata: \{"leftOut":3\}\n\nid: 4\n/);
});

test('GET /_sandbox/log resumes a stream after last-event-id without a gap', async () => {
  const { server, ask, key } = await setup();
  for (let call = 0; call < 3; call += 1) await ask('GET', '/v0/entities', undefined, key);
  const request = httpRequest(`${server.rootUrl}/_sandbox/log`, {
    headers: { accept: 'text/event-stream', 'last-event-id': '2' },
  }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const [chunk] = (await once(response.setEncoding('utf8'), 'data')) as [string];
  expect(chunk).toMatch(/^id: 3\n/);
  response.destroy();
});

test('PUT /_sandbox/state restores an exported state with its ids', async () => {
  const { sandbox, ask, key } = await setup();
  createAccounts(sandbox);
  const saved = await ask('GET', '/_sandbox/state');
  expect(saved.body).toMatchObject({ version: 1, entities: [{ id: 'ent_000001' }] });
  expect(await ask('POST', '/_sandbox/reset')).toMatchObject({ status: 204, body: '' });
  expect(sandbox.accounts.list()).toEqual([]);
  const put = await ask('PUT', '/_sandbox/state', JSON.stringify(saved.body));
  expect(put.status).toBe(204);
  expect(sandbox.accounts.list()).toHaveLength(2);
  const { body } = await ask('POST', '/v0/entities', '{"email":"a@b.example"}', key);
  expect(body).toMatchObject({ id: 'ent_000002' });
});

test('POST /_sandbox/reset with seed "demo" creates demo records with new ids', async () => {
  const { sandbox, ask } = await setup();
  await ask('POST', '/_sandbox/reset', '{"seed":"demo"}');
  await ask('POST', '/_sandbox/reset', '{"seed":"demo"}');
  expect(sandbox.entities.list().map(({ id }) => id)).toEqual(['ent_000003', 'ent_000004']);
});

test('POST /_sandbox/reset with seed "start" restores the first records', async () => {
  const sandbox = seedDemo(new Sandbox());
  const before = sandbox.exportState();
  const { ask } = await setup(undefined, sandbox);
  await ask('POST', '/_sandbox/transfers/txfr_000001/fail');
  await ask('POST', '/_sandbox/counterparties', '{"entityId":"ent_000001"}');
  expect((await ask('POST', '/_sandbox/reset', '{"seed":"start"}')).status).toBe(204);
  const changes = Number(before.ids['changes']) + 3;
  const ids = { ...before.ids, counterparties: 3, changes };
  expect((await ask('GET', '/_sandbox/state')).body).toEqual({ ...before, ids });
});

test('GET /_sandbox/health responds with the version', async () => {
  const { ask } = await setup();
  const health = await ask('GET', '/_sandbox/health');
  expect(health).toMatchObject({ status: 200, body: { ok: true, version } });
});

test('POST /_sandbox/clock advances the clock of the sandbox', async () => {
  const { ask, key } = await setup();
  expect(await ask('POST', '/_sandbox/clock', '{"advanceMs":60000}')).toMatchObject({
    status: 200,
    body: { now: '2026-01-01T00:01:00.000Z', offsetMs: 60_000 },
  });
  const { body } = await ask('POST', '/v0/entities', '{"email":"a@b.example"}', key);
  expect(body).toMatchObject({ createdAt: '2026-01-01T00:01:00.000Z' });
});

test('GET /_sandbox/log?latest returns the latest entries, oldest first', async () => {
  const { ask, key } = await setup();
  for (let count = 0; count < 5; count += 1) await ask('GET', '/v0/entities', undefined, key);
  const reply = await ask('GET', '/_sandbox/log?latest=2');
  expect(reply.body).toMatchObject([{ id: 4 }, { id: 5 }]);
  const wrong = await ask('GET', '/_sandbox/log?latest=all');
  expect(wrong).toMatchObject({ status: 400, body: { code: 'invalid_query' } });
});

test.each([
  ['cross-site', 403],
  ['same-site', 403],
  ['same-origin', 200],
  ['none', 200],
])('a control request with Sec-Fetch-Site %s receives status %i', async (site, status) => {
  const { ask } = await setup();
  const reply = await ask('GET', '/_sandbox/log', undefined, { 'sec-fetch-site': site });
  expect(reply.status).toBe(status);
  if (status === 403) expect(reply.body).toMatchObject({ code: 'origin_refused' });
});

test.each([
  ['empty records', '{}'],
  ['records of an unknown account', '{"id":"iban_1","accountId":"acc_9","entityId":"ent_9"}'],
])('PUT /_sandbox/state reports a hundred mistakes in 20,000 %s', async (_, record) => {
  const { ask } = await setup();
  const records = Array(20_000).fill(record).join();
  const reply = await ask('PUT', '/_sandbox/state', `{"version":1,"closedIbans":[${records}]}`);
  expect(reply.status).toBe(422);
  const { error, details } = reply.body as { error: string; details: { fields: object } };
  expect(Object.keys(details.fields)).toHaveLength(100);
  expect(error).toMatch(/; there may be more\.$/);
});

test('PUT /_sandbox/state reports a hundred of 150 Accounts without an Entity', async () => {
  const { sandbox, ask } = await setup();
  createAccounts(sandbox);
  const state = sandbox.exportState();
  const [account] = state.accounts;
  const accounts = Array.from({ length: 150 }, (_, at) => ({
    ...account,
    id: `acc_1${String(at).padStart(5, '0')}`,
    entityId: 'ent_999999',
  }));
  const reply = await ask('PUT', '/_sandbox/state', JSON.stringify({ ...state, accounts }));
  expect(reply.status).toBe(422);
  const { details } = reply.body as { details: { fields: object } };
  expect(Object.keys(details.fields)).toHaveLength(100);
});

test('PUT /_sandbox/state accepts 64 MiB, POST /_sandbox/reset only 1 MiB', async () => {
  const { sandbox, ask } = await setup();
  const state = JSON.stringify(sandbox.exportState());
  expect((await ask('PUT', '/_sandbox/state', state + ' '.repeat(20_000_000))).status).toBe(204);
  expect(await ask('PUT', '/_sandbox/state', ' '.repeat(64 * 2 ** 20 + 1))).toMatchObject({
    status: 413,
    body: { error: 'The body is larger than 64 MiB.' },
  });
  expect((await ask('POST', '/_sandbox/reset', ' '.repeat(2 ** 20 + 1))).status).toBe(413);
});

test('GET /_sandbox/state includes every autoAdvance change that is due', async () => {
  let now = 0;
  const sandbox = new Sandbox({ clock: () => now, autoAdvance: 1000 });
  const server = await listen(sandbox);
  onTestFinished(() => server.close());
  sandbox.entities.create({ email: 'a@b.example' });
  now = 2000;
  const state = await (await fetch(`${server.rootUrl}/_sandbox/state`)).json();
  expect(state).toMatchObject({ entities: [{ kycStatus: 'approved' }] });
});

test.each([
  ['evil.example', 403],
  ['evil.example:80', 403],
  ['127.0.0.1.evil.example', 403],
  ['localhost.evil.example', 403],
  ['evil-localhost', 403],
  ['pay.localhost', 200],
  ['evil.example@localhost', 403],
  ['127.0.0.1', 200],
  ['127.9.9.9:1', 200],
  ['LOCALHOST:4010', 200],
  ['[::1]:4010', 200],
])('every server path responds to the Host header %j with status %i', async (host, status) => {
  const { ask, key } = await setup();
  for (const path of ['/', '/v0/entities', '/_sandbox/state', '/_sandbox/log']) {
    const reply = await ask('GET', path, undefined, { ...key, host });
    expect(reply.status).toBe(status);
    if (status === 403) expect(reply.body).toMatchObject({ code: 'host_refused' });
  }
});

test('the sandbox server accepts the hosts in allowHosts', async () => {
  const { ask } = await setup({ allowHosts: ['Platform', 'two.example:4010'] });
  const statusUnder = async (host: string) =>
    (await ask('GET', '/_sandbox/state', undefined, { host })).status;
  expect(await statusUnder('platform:4010')).toBe(200);
  expect(await statusUnder('two.example')).toBe(200);
  expect(await statusUnder('three.example')).toBe(403);
});

test('endpoints under /_sandbox/ reject requests from pages of other origins', async () => {
  const { sandbox, server, ask } = await setup();
  const { port } = server;
  const { source } = createAccounts(sandbox);
  const fund = async (origin: string) =>
    (await ask('POST', `/_sandbox/accounts/${source.id}/fund`, '{"amount":"1"}', { origin }))
      .status;
  for (const origin of [
    'https://evil.example',
    'null',
    `http://localhost:${port + 1}`,
    `http://localhost:${port}`,
    `https://127.0.0.1:${port}`,
  ]) {
    expect([origin, await fund(origin)]).toEqual([origin, 403]);
    const preflight = await ask('OPTIONS', '/_sandbox/reset', undefined, { origin });
    expect(preflight.headers).not.toHaveProperty('access-control-allow-origin');
    const stream = { origin, accept: 'text/event-stream' };
    expect((await ask('GET', '/_sandbox/log', undefined, stream)).status).toBe(403);
  }
  expect(sandbox.accounts.get(source.id).availableBalance).toBe('100.00');
  expect(await fund(`http://127.0.0.1:${port}`)).toBe(200);
});

test('the sandbox server lets pages on other local ports read the API', async () => {
  const { ask, key } = await setup();
  const origin = 'http://localhost:5173';
  const preflight = await ask('OPTIONS', '/v0/transfers', undefined, {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
  });
  expect(preflight).toMatchObject({
    status: 204,
    headers: {
      'access-control-allow-origin': origin,
      'access-control-allow-methods': containing('PATCH'),
      'access-control-allow-headers': 'authorization,content-type',
    },
  });
  for (const path of ['/v0/entities', '/v0/entities/ent_9', '/wrong/v0/entities']) {
    const reply = await ask('GET', path, undefined, { ...key, origin });
    expect(reply.headers['access-control-allow-origin']).toBe(origin);
    expect(reply.headers['access-control-expose-headers']).toContain('x-request-id');
  }
  const foreign = { ...key, origin: 'https://evil.example' };
  const read = await ask('GET', '/v0/entities', undefined, foreign);
  expect(read.headers).not.toHaveProperty('access-control-allow-origin');
  const preflightResponse = await ask('OPTIONS', '/v0/entities', undefined, foreign);
  expect(preflightResponse.headers).not.toHaveProperty('access-control-allow-methods');
});

test('the response 404 to a wrong path prefix names the correct path', async () => {
  const { sandbox, ask, key } = await setup();
  sandbox.accounts.list();
  for (const [wrong, right] of [
    ['/x/y/v0/accounts', '/v0/accounts'],
    ['/v0/v0/accounts/acc_1', '/v0/accounts/acc_1'],
    ['/api/transactions', '/transactions'],
  ]) {
    const { status, body } = await ask('GET', String(wrong), undefined, key);
    expect([status, body]).toMatchObject([
      404,
      { code: 'not_found', error: containing(`The correct one is ${right}:`) },
    ]);
  }
  expect(sandbox.log).toMatchObject([{ status: 404 }, { status: 404 }, { status: 404 }]);
});

test('the sandbox page’s security policy forbids frames', async () => {
  const { ask } = await setup();
  const { status, headers } = await ask('GET', '/');
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  const policy = headers['content-security-policy'];
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/https?:|\*|script-src[^;]*unsafe/);
});

test('the sandbox page’s security policy allows only its scripts', async () => {
  const { headers } = await createPageReply(
    '<script>alert(1)</script><p>text</p><script>2</script>',
  );
  const hash = (script: string) => createHash('sha256').update(script).digest('base64');
  expect(headers['content-security-policy']).toContain(
    `script-src 'sha256-${hash('alert(1)')}' 'sha256-${hash('2')}';`,
  );
});

test('GET /_sandbox/log disconnects a reader that reads too slowly', async () => {
  const { server, ask, key } = await setup();
  const request = httpRequest(`${server.rootUrl}/_sandbox/log`, {
    headers: { accept: 'text/event-stream' },
  }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const gone = once(response, 'error');
  const body = JSON.stringify({ email: 'x'.repeat(65_000) });
  // Sockets buffer more on some machines than on others, so send until the server disconnects.
  for (let count = 0; count < 600 && !response.destroyed; count += 1) {
    await ask('POST', '/v0/entities', body, key);
  }
  response.resume();
  expect(await gone).toMatchObject([{ code: 'ECONNRESET' }]);
});
