// The default import, because msw replaces members of this object.
import http from 'node:http';
import { text } from 'node:stream/consumers';
import { setupServer } from 'msw/node';
import { PaymentsClient } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { handlers, type HandlersOptions } from 'payments-platform-sdk/sandbox/msw';
import { expect, onTestFinished, test, vi } from 'vitest';
import { responseOf } from './calls.ts';
import { flushPromises } from '../support/virtual-clock.ts';

function setup(options?: HandlersOptions) {
  const sandbox = new Sandbox();
  const server = setupServer(...handlers(sandbox, options));
  server.listen({ onUnhandledFrame: 'error' });
  onTestFinished(() => {
    server.close();
  });
  return {
    sandbox,
    key: { authorization: `Bearer ${sandbox.apiKey}` },
    jwt: { authorization: `Bearer ${sandbox.jwt}` },
  };
}

test.each(['https://api.example.com/v0', 'http://127.0.0.1:4010/v0'])(
  'the msw handlers respond to every client request at %s',
  async (baseUrl) => {
    const { sandbox } = setup({ baseUrl });
    const payments = new PaymentsClient({ baseUrl, apiKey: sandbox.apiKey, maxRetries: 0 });
    for (const number of [1, 2, 3]) {
      const { id } = await payments.entities.create({ email: `${number}@example.com` });
      expect((await payments.entities.get(id)).id).toBe(id);
    }
  },
);

// Two tests of one process may each begin with a new sandbox, whose ids begin anew.
test.each([0, 100, 500])('the msw handlers may repeat an id after %i ms', async (ms) => {
  const baseUrl = 'https://again.example.com/v0';
  for (const email of ['one@example.com', 'two@example.com']) {
    const { sandbox } = setup({ baseUrl });
    const payments = new PaymentsClient({ baseUrl, apiKey: sandbox.apiKey, maxRetries: 0 });
    expect((await payments.entities.create({ email })).id).toBe('ent_000001');
    // Real time, because the age of a real connection decides whether it is used again.
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
});

test('an application timer fires between requests to the msw handlers', async () => {
  const { sandbox, key } = setup();
  let calls = 0;
  let firedAfter: number | undefined;
  setTimeout(() => (firedAfter = calls), 0);
  for (; calls < 50; calls += 1) {
    await fetch(`${sandbox.clientOptions.baseUrl}/entities`, { headers: key });
  }
  expect(firedAfter).toBeLessThan(50);
});

test('the msw handlers respond at the URLs of clientOptions', async () => {
  const { sandbox, key, jwt } = setup();
  const { baseUrl, rootUrl } = sandbox.clientOptions;
  const created = await fetch(`${baseUrl}/entities`, {
    method: 'POST',
    headers: key,
    body: '{"email":"a@b.example"}',
  });
  expect(created.status).toBe(201);
  expect(await created.json()).toMatchObject({ id: 'ent_000001' });
  const listed = await responseOf(await fetch(`${baseUrl}/entities?limit=1`, { headers: key }));
  expect(listed.body).toMatchObject({ data: [{ id: 'ent_000001', status: 'active' }] });
  expect(listed.headers.get('x-request-id')).toBe('req_000002');
  const built = await fetch(`${rootUrl}/instruction/build`, {
    method: 'POST',
    headers: jwt,
    body: '{}',
  });
  expect(built.status).toBe(422);
  sandbox.counterparties.create({ entityId: 'ent_000001' });
  const init = { method: 'DELETE', headers: key };
  const deleted = await fetch(`${baseUrl}/counterparties/cpty_000001`, init);
  expect([deleted.status, await deleted.text()]).toEqual([204, '']);
  const unknown = await responseOf(await fetch(`${baseUrl}/nothing`, { headers: key }));
  expect(unknown).toMatchObject({ status: 404, body: { code: 'not_found' } });
});

test.each([
  [{ baseUrl: 'https://api.example.com/v0' }, 'https://api.example.com'],
  [{ baseUrl: 'https://api.example.com/pay/v0/' }, 'https://api.example.com/pay'],
  [
    { baseUrl: 'http://127.0.0.1:4010/v0', rootUrl: 'http://127.0.0.1:4011/' },
    'http://127.0.0.1:4011',
  ],
])('the msw handlers respond at the URLs of their options %j', async (options, rootUrl) => {
  const { key, jwt } = setup(options);
  const baseUrl = options.baseUrl.replace(/\/$/, '');
  expect((await fetch(`${baseUrl}/accounts`, { headers: key })).status).toBe(200);
  const init = { method: 'POST', headers: jwt, body: '{}' };
  expect((await fetch(`${rootUrl}/instruction/build`, init)).status).toBe(422);
});

test.each(['/instructions/all', '/transactions'])(
  'the msw handlers reject GET %s because msw removes its body',
  async (path) => {
    const { sandbox } = setup({ baseUrl: 'http://api.example.com/v0' });
    const body = JSON.stringify({ address: `0x${'1'.repeat(40)}` });
    const request = http.request(`http://api.example.com${path}`, {
      headers: { authorization: `Bearer ${sandbox.jwt}`, 'content-length': body.length },
    });
    const received = new Promise<{ status: number | undefined; body: string }>(
      (resolve, reject) => {
        request.on('error', reject).on('response', (response) => {
          text(response).then((reply) => {
            resolve({ status: response.statusCode, body: reply });
          }, reject);
        });
      },
    );
    request.end(body);
    const { status, body: reply } = await received;
    expect(status).toBe(400);
    expect(JSON.parse(reply)).toMatchObject({ code: 'body_required' });
    expect(reply).toMatch(/neither can msw.*sandbox\.getWithBody/);
  },
);

test('the fault "reset" breaks a connection to the msw handlers', async () => {
  const { sandbox, key } = setup();
  sandbox.faults.add({
    operation: 'entities.create',
    fault: { kind: 'reset', when: 'after_commit' },
  });
  const url = `${sandbox.clientOptions.baseUrl}/entities`;
  const init = { method: 'POST', headers: key, body: '{"email":"a@b.example"}' };
  await expect(fetch(url, init)).rejects.toThrow(TypeError);
  expect(sandbox.entities.list()).toHaveLength(1);
});

test('the fault "hang" behind msw waits until the caller aborts', async () => {
  const { sandbox, key } = setup();
  sandbox.faults.add({ operation: '*', fault: { kind: 'hang' } });
  const target = new AbortController();
  const url = `${sandbox.clientOptions.baseUrl}/entities`;
  const pending = fetch(url, { headers: key, signal: target.signal });
  const seen = pending.catch((reason: unknown) => reason);
  expect(await Promise.race([seen, flushPromises().then(() => 'still waiting')])).toBe(
    'still waiting',
  );
  target.abort(new Error('enough'));
  expect(await seen).toEqual(new Error('enough'));
});

test('msw prints no error if the caller aborts a request', async () => {
  const { sandbox, key } = setup();
  const complaints = vi.spyOn(console, 'error').mockImplementation(() => {});
  const url = `${sandbox.clientOptions.baseUrl}/entities`;
  for (const fault of [{ kind: 'hang' }, { kind: 'delay', ms: 60_000 }] as const) {
    sandbox.faults.add({ operation: '*', fault });
    const target = new AbortController();
    const arrived = sandbox.log.length + 1;
    const pending = fetch(url, { headers: key, signal: target.signal });
    await expect.poll(() => sandbox.log.length).toBe(arrived);
    target.abort(new Error('enough'));
    await expect(pending).rejects.toThrow('enough');
  }
  await flushPromises();
  expect(complaints).not.toHaveBeenCalled();
  expect((await fetch(url, { headers: key })).status).toBe(200);
});

test('a broken sandbox clock makes msw respond with 500', async () => {
  let now = 0;
  const sandbox = new Sandbox({ clock: () => now });
  const server = setupServer(...handlers(sandbox));
  server.listen({ onUnhandledFrame: 'error' });
  onTestFinished(() => {
    server.close();
  });
  vi.spyOn(console, 'error').mockImplementation(() => {});
  now = Number.NaN;
  const response = await fetch(`${sandbox.clientOptions.baseUrl}/entities`);
  expect(response.status).toBe(500);
  expect(await response.text()).toContain('must return a valid Date');
});

test('msw passes on truncated bodies and fault headers', async () => {
  const { sandbox, key } = setup();
  const url = `${sandbox.clientOptions.baseUrl}/entities`;
  sandbox.faults.add({ operation: '*', fault: { kind: 'truncated_body' } });
  const cut = await fetch(url, { headers: key });
  expect(cut.status).toBe(200);
  await expect(cut.text()).rejects.toThrow(TypeError);
  sandbox.faults.add({ operation: '*', fault: { kind: 'status', status: 429, retryAfter: 3 } });
  const limited = await fetch(url, { headers: key });
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '3']);
});
