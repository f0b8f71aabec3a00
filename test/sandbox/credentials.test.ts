import { AuthenticationError, PaymentsClient } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import { responseOf } from './calls.ts';
import { errorBodySchema } from '../../src/schemas/error-body.ts';

const versioned = 'https://h/v0/entities';
const root = 'https://h/instruction/build';

async function ask(sandbox: Sandbox, url: string, authorization?: string) {
  const method = url === root ? 'POST' : 'GET';
  const headers = authorization === undefined ? {} : { authorization };
  const { status, body } = await responseOf(await sandbox.fetch(url, { method, headers }));
  return { status, ...(body as { error: string; code: string }), body };
}

test('the sandbox requires the API key under /v0, the JWT elsewhere', async () => {
  const sandbox = new Sandbox();
  expect((await ask(sandbox, versioned, `Bearer ${sandbox.apiKey}`)).status).toBe(200);
  expect((await ask(sandbox, versioned, `bearer  ${sandbox.apiKey}`)).status).toBe(200);
  // The request is authorised, so the error is about the missing body.
  expect((await ask(sandbox, root, `Bearer ${sandbox.jwt}`)).code).toBe('body_required');
});

test.each([
  [versioned, undefined, 'No credential arrived'],
  [versioned, 'Basic abc', 'No credential arrived'],
  [versioned, 'Bearer', 'No credential arrived'],
  [versioned, 'Bearer sk_other', 'is not known'],
  [root, 'Bearer a.b.c', 'is not known'],
  [root, '', 'No credential arrived'],
])(
  'a request to %s with the credential %o receives status 401',
  async (url, authorization, words) => {
    const response = await ask(new Sandbox(), url, authorization);
    expect(response).toMatchObject({ status: 401, code: 'unauthorized' });
    expect(response.error).toContain(words);
    expect(response.error).not.toContain('sk_other');
    expect(response.body).toMatchObject({ details: null });
    expect(errorBodySchema().safeParse(response.body).success).toBe(true);
  },
);

test('the error for a misplaced credential says where the credential belongs', async () => {
  const sandbox = new Sandbox();
  const jwt = await ask(sandbox, versioned, `Bearer ${sandbox.jwt}`);
  expect(jwt.status).toBe(401);
  expect(jwt.error).toBe(
    'The JWT arrived where the API key belongs. Endpoints under /v0 need the API key in the Authorization header, after the word "Bearer".',
  );
  const key = await ask(sandbox, root, `Bearer ${sandbox.apiKey}`);
  expect(key.status).toBe(401);
  expect(key.error).toBe(
    'The API key arrived where the JWT belongs. Endpoints without a version segment need the JWT in the Authorization header, after the word "Bearer".',
  );
});

test('an AuthenticationError shows the whole message of the sandbox', async () => {
  const sandbox = new Sandbox();
  const { clientOptions, apiKey, jwt } = sandbox;
  const readMessage = async (call: PromiseLike<unknown>) =>
    Promise.resolve(call).catch((error: unknown) => error);
  const payments = new PaymentsClient({ ...clientOptions, apiKey: `${apiKey}0`, jwt: `${jwt}0` });
  const address = `0x${'a'.repeat(40)}` as const;
  for (const call of [
    () => payments.entities.list(),
    () => payments.instructions.list({ address }),
  ]) {
    const error = await readMessage(call());
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(String(error)).toContain('in the Authorization header, after the word "Bearer".');
    expect(String(error)).not.toContain('[redacted]');
  }
});

test('a request without a credential receives status 401 despite invalid JSON', async () => {
  const sandbox = new Sandbox();
  const response = await sandbox.fetch(versioned, { method: 'POST', body: '{"email":"a@b.c"}' });
  expect(response.status).toBe(401);
  expect(sandbox.entities.list()).toEqual([]);
  expect((await sandbox.fetch(versioned, { method: 'POST', body: '{' })).status).toBe(401);
});

test('a sandbox has fixed credentials in the platform’s format', () => {
  const sandbox = new Sandbox();
  expect(sandbox.apiKey).toMatch(/^sk_sandbox_\w+$/);
  const parts = sandbox.jwt.split('.');
  expect(parts).toHaveLength(3);
  for (const part of parts) expect(part).toMatch(/^[\w-]+$/);
  expect(JSON.parse(Buffer.from(String(parts[0]), 'base64url').toString())).toHaveProperty('alg');
  expect(new Sandbox().clientOptions.apiKey).toBe(sandbox.apiKey);
});

test('a sandbox with its own apiKey rejects the default key', async () => {
  const sandbox = new Sandbox({ apiKey: 'sk_mine', jwt: 'a.b.' });
  expect(sandbox.clientOptions).toMatchObject({ apiKey: 'sk_mine', jwt: 'a.b.' });
  expect((await ask(sandbox, versioned, 'Bearer sk_mine')).status).toBe(200);
  expect((await ask(sandbox, root, 'Bearer a.b.')).code).toBe('body_required');
  const { apiKey } = new Sandbox();
  expect((await ask(sandbox, versioned, `Bearer ${apiKey}`)).status).toBe(401);
});

test.each([{ apiKey: 'key' }, { apiKey: 'sk_with space' }, { jwt: 'a.b' }, { jwt: 'é.b.c' }])(
  'a sandbox rejects malformed credentials in its options: %o',
  (options) => {
    expect(() => new Sandbox(options)).toThrow(TypeError);
    expect(() => new Sandbox(options)).not.toThrow(Object.values(options)[0]);
  },
);
