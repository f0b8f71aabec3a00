import * as fc from 'fast-check';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import { createAccounts } from '../support/platform.ts';
import { responseOf, aString, authorised, call, matching } from './calls.ts';
import { errorBodySchema } from '../../src/schemas/error-body.ts';

const key = (sandbox: Sandbox) => ({ authorization: `Bearer ${sandbox.apiKey}` });
const jwt = (sandbox: Sandbox) => ({ authorization: `Bearer ${sandbox.jwt}` });

test.each([
  'https://api.example.com/v0/entities',
  'http://127.0.0.1:4010/v0/entities',
  'https://h/some/prefix/v0/entities',
  'https://h/v0/v0/entities',
  'https://h/v0/entities?limit=3#fragment',
])('fetch of a sandbox accepts any host and path prefix: %s', async (url) => {
  const sandbox = new Sandbox();
  for (const input of [url, new URL(url), new Request(url)]) {
    const response = await sandbox.fetch(input, { headers: key(sandbox) });
    expect(response.status).toBe(200);
  }
});

test.each(['https://h/instruction/build', 'https://h/a/b/instruction/build'])(
  'fetch of a sandbox accepts root paths after any prefix: %s',
  async (url) => {
    const sandbox = new Sandbox();
    const init = { method: 'POST', headers: jwt(sandbox), body: '{}' };
    expect((await sandbox.fetch(url, init)).status).toBe(422);
  },
);

test.each([
  'https://h/',
  'https://h/v0',
  'https://h/v0/',
  'https://h/v0/nothing',
  'https://h/v0/entities/',
  'https://h/v0/entities/ent_1/more',
  'https://h/entities',
  'https://h/v1/entities',
  'https://h/xv0/entities',
  'https://h/v0x/entities',
  'https://h/v0/transactions',
  'https://h/v0/prefix/transactions',
  'https://h/instructions',
  'https://h/instructions/all/more',
])('the response 404 of a sandbox to %s names the path', async (url) => {
  const sandbox = new Sandbox();
  const { status, body, headers } = await responseOf(
    await sandbox.fetch(url, { headers: key(sandbox) }),
  );
  expect(status).toBe(404);
  expect(body).toMatchObject({ code: 'not_found', details: null });
  expect((body as { error: string }).error).toContain(`path ${new URL(url).pathname}.`);
  expect(headers.get('content-type')).toBe('application/json');
  expect(errorBodySchema().safeParse(body).success).toBe(true);
});

test.each([
  ['PUT', '/entities', 'POST, GET'],
  ['DELETE', '/entities/ent_000001', 'GET'],
  ['POST', '/accounts/acc_000001', 'GET, PATCH'],
  ['POST', '/counterparties', 'GET'],
  ['GET', '/platform/settings', 'PATCH'],
  ['HEAD', '/ibans/iban_1', 'GET, DELETE'],
  ['GET', '/instruction/build', 'POST'],
  ['POST', '/transactions', 'GET'],
])(
  'the sandbox responds to %s %s with status 405 and allowed methods',
  async (method, path, allow) => {
    const { status, body, headers } = await call(new Sandbox(), method, path);
    expect(status).toBe(405);
    expect(headers.get('allow')).toBe(allow);
    expect(body).toMatchObject({ code: 'method_not_allowed' });
  },
);

test.each([
  ['/entities/ent_9', 'entity_not_found'],
  ['/accounts/ent_000001', 'account_not_found'],
  ['/transfers/%E0%A4%A', 'transfer_not_found'],
  ['/transfers/a%2Fb', 'transfer_not_found'],
  ['/counterparties/cpty_9', 'counterparty_not_found'],
  [`/ibans/${'x'.repeat(300)}`, 'iban_not_found'],
])('GET %s of the sandbox with an unknown id receives status 404', async (path, code) => {
  const { status, body } = await call(new Sandbox(), 'GET', path);
  expect(status).toBe(404);
  expect(body).toMatchObject({ code });
  expect((body as { error: string }).error.length).toBeLessThan(200);
});

test('the sandbox decodes the percent-encoding of an id once', async () => {
  const sandbox = new Sandbox();
  createAccounts(sandbox);
  expect((await call(sandbox, 'GET', '/accounts/acc%5F000001')).status).toBe(200);
  expect((await call(sandbox, 'GET', '/accounts/acc%255F000001')).status).toBe(404);
});

test('request ids and dates of a sandbox are equal in every run', async () => {
  const ids = async () => {
    const sandbox = new Sandbox({ clock: () => Date.UTC(2026, 0, 1) });
    const responses = [
      await call(sandbox, 'GET', '/entities'),
      await call(sandbox, 'GET', '/nothing'),
      await call(sandbox, 'GET', '/entities/ent_9'),
    ];
    return responses.map(({ headers }) => [headers.get('x-request-id'), headers.get('date')]);
  };
  const date = 'Thu, 01 Jan 2026 00:00:00 GMT';
  expect(await ids()).toEqual([
    ['req_000001', date],
    ['req_000002', date],
    ['req_000003', date],
  ]);
  expect(await ids()).toEqual(await ids());
});

test.each(['{', '', 'undefined', "{'a':1}", '[1,]', `${'['.repeat(100)}${']'.repeat(100)}`])(
  'a request body that is not JSON receives status 400: %o',
  async (body) => {
    const sandbox = new Sandbox();
    const headers = key(sandbox);
    const response = await responseOf(
      await sandbox.fetch('https://h/v0/entities', { method: 'POST', headers, body }),
    );
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({
      code: body === '' ? 'body_required' : 'invalid_json',
      error: matching(/^(The body is not JSON: .|entities.create needs a JSON body)/),
    });
  },
);

test.each([null, [], 'text', 7])(
  'a request body that is not an object receives status 422: %o',
  async (body) => {
    const response = await call(new Sandbox(), 'POST', '/entities', body);
    expect(response.status).toBe(422);
    expect(response.body).toMatchObject({
      code: 'validation_failed',
      error: 'The body of entities.create is not valid. expected an object.',
    });
  },
);

test('a response 422 names every invalid field and what was expected', async () => {
  const { status, body } = await call(new Sandbox(), 'POST', '/instruction/build', {
    address: 'abc',
    salt: '1',
    maxExecutions: 1,
    actionArguments: { refuelERC20: { fee: 3, tokn: 'x' } },
    extra: true,
  });
  expect(status).toBe(422);
  expect((body as { details: { fields: Record<string, string> } }).details.fields).toEqual({
    address: 'expected an address: "0x" and hexadecimal digits',
    chainId: 'this field is required; expected a whole number (number or bigint)',
    salt: 'expected a whole number (number or bigint)',
    'actionArguments.refuelERC20.token': matching(/^this field is required; expected/),
    'actionArguments.refuelERC20.target': aString,
    'actionArguments.refuelERC20.threshold': aString,
    'actionArguments.refuelERC20.endBalance': aString,
    'actionArguments.refuelERC20.fee': 'expected an object',
    'actionArguments.refuelERC20.tokn': 'this field is not known',
    extra: 'this field is not known',
  });
  expect((body as { error: string }).error).toContain('extra: this field is not known');
});

test.each([
  ['POST', '/entities', { email: 'nobody', fullName: null, businessName: 7 }],
  ['POST', '/accounts', { entityId: 'acc_1', metadata: [], name: null }],
  ['POST', '/transfers', { amount: '0', currency: '', description: 5 }],
])('the response 422 to %s %s explains each wrong field', async (method, path, wrong) => {
  const { status, body } = await call(new Sandbox(), method, path, wrong);
  expect(status).toBe(422);
  const { error, details } = body as { error: string; details: { fields: object } };
  for (const field of Object.keys(wrong)) expect(details.fields).toHaveProperty(field);
  for (const message of Object.values(details.fields)) expect(error).toContain(message);
});

test('a random JSON body receives a success or a clear 422', async () => {
  const names =
    'email fullName businessName entityId name metadata sourceAccountId amount destinationAccountId counterpartyId currency description address autoEarnEnabled autoEarnVault defaultChain webhookUrl chainId salt maxExecutions actionArguments refuelERC20 fee instructionIds from take'.split(
      ' ',
    );
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom('ent_000001', 'acc_000001', 'acc_000002', '1.50', '', 'x', null, true),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.bigInt(),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...names), tie('any'), { maxKeys: 5 }),
    ),
  })).any;
  const body = fc.oneof(fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 8 }), value);
  const operation = fc.constantFrom(
    ['POST', '/entities'],
    ['POST', '/accounts'],
    ['PATCH', '/accounts/acc_000001'],
    ['POST', '/transfers'],
    ['PATCH', '/platform/settings'],
    ['POST', '/instruction/build'],
    ['GET', '/instructions/all'],
    ['GET', '/transactions'],
  );
  const sandbox = new Sandbox();
  createAccounts(sandbox);
  await fc.assert(
    fc.asyncProperty(operation, body, async ([method = '', path = ''], sent) => {
      const response = await call(sandbox, method, path, sent);
      expect([200, 201, 422]).toContain(response.status);
      if (response.status !== 422) return;
      expect(errorBodySchema().safeParse(response.body).success).toBe(true);
      expect((response.body as { error: string }).error).not.toMatch(/Invalid|undefined|\[object/);
    }),
    { numRuns: 400 },
  );
});

test('the error for a GET without body says how to send one', async () => {
  const sandbox = new Sandbox();
  for (const path of ['/instructions/all', '/transactions']) {
    const response = await sandbox.fetch(`https://h${path}`, { headers: jwt(sandbox) });
    const { status, body } = await responseOf(response);
    expect(status).toBe(400);
    expect(body).toMatchObject({
      code: 'body_required',
      error: matching(/fetch cannot carry one.*msw.*getWithBody.*sandbox\/server/),
    });
  }
});

test('the sandbox ignores the body of a GET that needs none', async () => {
  const sandbox = new Sandbox();
  const headers = key(sandbox);
  const request = new Request('https://h/v0/entities', { headers });
  expect((await sandbox.getWithBody(request, '{')).status).toBe(200);
});

test('fetch of a sandbox ignores the server object that Bun passes', async () => {
  const sandbox = new Sandbox();
  const request = () =>
    new Request('https://sandbox.invalid/v0/entities', {
      headers: { authorization: `Bearer ${sandbox.apiKey}` },
    });
  class Server {
    readonly url = new URL('http://localhost:3000/');
    readonly method = 'PUT';
  }
  const handler: (request: Request, server: Server) => Promise<Response> = sandbox.fetch as never;
  expect((await handler(request(), new Server())).status).toBe(200);
  expect((await sandbox.fetch(request(), { method: 'DELETE' })).status).toBe(405);
});

test('fetch and getWithBody of a sandbox work when destructured', async () => {
  const sandbox = new Sandbox();
  const { fetch, getWithBody } = sandbox;
  expect(sandbox.clientOptions).toEqual({
    baseUrl: 'https://sandbox.invalid/v0',
    rootUrl: 'https://sandbox.invalid',
    apiKey: sandbox.apiKey,
    jwt: sandbox.jwt,
    fetch,
    getWithBody,
    validation: 'strict',
  });
  const { baseUrl, rootUrl } = sandbox.clientOptions;
  expect((await fetch(`${baseUrl}/entities`, { headers: key(sandbox) })).status).toBe(200);
  const listed = await getWithBody(
    new Request(`${rootUrl}/instructions/all`, { headers: jwt(sandbox) }),
    JSON.stringify({ address: `0x${'1'.repeat(40)}` }),
  );
  expect(await listed.json()).toEqual([]);
});

test('fetch of a sandbox rejects what the global fetch rejects', async () => {
  const sandbox = new Sandbox();
  const request = new Request('https://h/v0/entities', {
    method: 'POST',
    headers: key(sandbox),
    body: '{"email":"a@b.example"}',
  });
  expect((await sandbox.fetch(request)).status).toBe(201);
  await expect(sandbox.fetch(request)).rejects.toThrow(TypeError);
  await expect(sandbox.fetch('not a url')).rejects.toThrow(TypeError);
  await expect(sandbox.fetch('https://h/', { method: 'GET', body: 'x' })).rejects.toThrow(
    TypeError,
  );
});

test('fetch of a sandbox changes nothing if its signal is already aborted', async () => {
  const sandbox = new Sandbox();
  const reason = new Error('changed my mind');
  const init = { method: 'POST', headers: key(sandbox), body: '{"email":"a@b.example"}' };
  const url = 'https://h/v0/entities';
  await expect(sandbox.fetch(url, { ...init, signal: AbortSignal.abort(reason) })).rejects.toBe(
    reason,
  );
  const late = new AbortController();
  const pending = sandbox.fetch(new Request(url, { ...init, signal: late.signal }));
  late.abort(reason);
  await expect(pending).rejects.toBe(reason);
  await expect(
    sandbox.getWithBody(new Request(url, { signal: AbortSignal.abort(reason) }), ''),
  ).rejects.toBe(reason);
  expect(sandbox.entities.list()).toEqual([]);
  expect(sandbox.log).toEqual([]);
});

test('two new sandboxes respond alike to the same requests', async () => {
  const story = async () => {
    const sandbox = new Sandbox({ clock: () => 0 });
    const { source, destination } = createAccounts(sandbox);
    const terms = { sourceAccountId: source.id, amount: '1' };
    const responses = [
      await call(sandbox, 'POST', '/transfers', { ...terms, destinationAccountId: destination.id }),
      await call(sandbox, 'POST', '/transfers', { ...terms, amount: 'x' }),
      await call(sandbox, 'GET', '/accounts?limit=1'),
    ];
    return responses.map(({ status, headers, body }) => ({ status, headers: [...headers], body }));
  };
  expect(await story()).toEqual(await story());
});

test('the sandbox ignores every header except the credential', async () => {
  const sandbox = new Sandbox();
  const headers = { ...authorised(sandbox, '/entities'), 'idempotency-key': 'same' };
  const init = { method: 'POST', headers, body: '{"email":"a@b.example"}' };
  await sandbox.fetch('https://h/v0/entities', init);
  await sandbox.fetch('https://h/v0/entities', init);
  expect(sandbox.entities.list()).toHaveLength(2);
});
