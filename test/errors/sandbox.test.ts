import {
  ApiError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  isApiError,
  isPaymentsError,
  NotFoundError,
  PaymentsClient,
  PaymentsError,
  PermissionDeniedError,
  RateLimitError,
  ServerError,
  UnprocessableEntityError,
} from 'payments-platform-sdk';
import { expect, test } from 'vitest';
import { clientOf } from '../support/clients.ts';
import { seededSandbox, clientOfSandbox, owner } from '../support/platform.ts';

const caught = (call: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(call).then(
    () => undefined,
    (error: unknown) => error,
  );

const allClasses = [
  BadRequestError,
  AuthenticationError,
  PermissionDeniedError,
  NotFoundError,
  ConflictError,
  UnprocessableEntityError,
  RateLimitError,
  ServerError,
];

test.each([
  [400, BadRequestError],
  [401, AuthenticationError],
  [403, PermissionDeniedError],
  [404, NotFoundError],
  [409, ConflictError],
  [422, UnprocessableEntityError],
  [429, RateLimitError],
  [500, ServerError],
  [501, ServerError],
  [503, ServerError],
  [599, ServerError],
  [402, ApiError],
  [405, ApiError],
  [418, ApiError],
  [499, ApiError],
  [302, ApiError],
] as const)('a response of status %i is an error of its own class', async (status, expected) => {
  const sandbox = seededSandbox();
  const { payments } = clientOfSandbox(sandbox, { maxRetries: 0 });
  sandbox.faults.add({
    operation: 'accounts.get',
    fault: { kind: 'status', status, code: 'some_code', error: 'Some words' },
  });
  const error = await caught(payments.accounts.get('acc_000001'));
  if (!isApiError(error)) throw new Error('expected an ApiError');
  expect(error).toBeInstanceOf(PaymentsError);
  expect(error).toBeInstanceOf(ApiError);
  expect(isPaymentsError(error)).toBe(true);
  expect(error.name).toBe(expected.name);
  expect(allClasses.filter((other) => error instanceof other)).toEqual(
    expected === ApiError ? [] : [expected],
  );
  expect(error).toMatchObject({
    status,
    code: 'some_code',
    details: null,
    requestId: 'req_000001',
    operation: 'accounts.get',
    method: 'GET',
    path: '/accounts/{id}',
    attempts: [{ status, requestId: 'req_000001', reason: `status ${status}` }],
  });
  expect(error.headers['content-type']).toBe('application/json');
  expect(JSON.parse(error.body)).toEqual({ error: 'Some words', code: 'some_code', details: null });
});

test('the message of an error has the cause, the request and a hint', async () => {
  const { payments } = clientOfSandbox(seededSandbox(), { maxRetries: 0 });
  const error = await caught(payments.counterparties.delete('cpty_999999'));
  expect(String(error)).toMatchInlineSnapshot(`
    "NotFoundError: The platform responded with 404 (counterparty_not_found): No counterparty "cpty_999999" exists on this Platform.
    Check the id, and that the credential belongs to the platform that has it.
    It did not take effect.
    Request: DELETE https://api.example.com/v0/counterparties/{id} (counterparties.delete), request req_000001."
  `);
});

test('a wrong API key or JWT is an AuthenticationError', async () => {
  const sandbox = seededSandbox();
  const payments = new PaymentsClient({
    ...sandbox.clientOptions,
    apiKey: 'sk_somebody_else',
    jwt: 'not.the.one',
  });
  for (const call of [
    payments.entities.list(),
    payments.entities.get('ent_000001'),
    payments.ibans.delete('iban_000001'),
    payments.instructions.list({ address: owner }),
    payments.transactions.list({ address: owner }),
  ]) {
    const error = await caught(call);
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({ status: 401, code: 'unauthorized', outcome: 'rejected' });
    expect(String(error)).toMatch(/Check the (API key|JWT) \(option (apiKey|jwt)\)/);
  }
});

test('a call without its credential is rejected before anything is sent', async () => {
  const { payments, requests } = clientOf(undefined, { jwt: undefined });
  const error = await caught(payments.instructions.list({ address: owner }));
  expect(error).toMatchObject({ name: 'ConfigurationError', outcome: 'not_sent' });
  expect(String(error)).toContain('PAYMENTS_JWT');
  const keyless = clientOf(undefined, { apiKey: undefined });
  await expect(keyless.payments.entities.list()).rejects.toMatchObject({
    name: 'ConfigurationError',
    outcome: 'not_sent',
  });
  expect([...requests, ...keyless.requests]).toEqual([]);
});

test.each([
  ['{"error":5,"code":["a"],"details":"text"}', { code: undefined, details: 'text' }],
  ['{"error":"","code":""}', { code: undefined, details: undefined }],
  [
    '{"code":"c","details":{"n":12345678901234567890}}',
    { code: 'c', details: { n: 12345678901234567890n } },
  ],
  ['[1,2]', { code: undefined, details: undefined }],
  ['null', { code: undefined, details: undefined }],
  ['"text"', { code: undefined, details: undefined }],
  ['', { code: undefined, details: undefined }],
  ['<html><h1>Bad gateway</h1></html>', { code: undefined, details: undefined }],
])('an error body of another form is kept as a string: %s', async (body, expected) => {
  const { payments } = clientOf(() => new Response(body, { status: 422 }));
  const error = await caught(payments.entities.get('ent_1'));
  expect(error).toBeInstanceOf(UnprocessableEntityError);
  expect(error).toMatchObject({ ...expected, body });
  // JSON.stringify must accept the error, bigints included.
  expect(JSON.parse(JSON.stringify(error))).toMatchObject({
    name: 'UnprocessableEntityError',
    status: 422,
    operation: 'entities.get',
  });
});

test('the error of a rate limit has the time to wait', async () => {
  const sandbox = seededSandbox();
  const { payments } = clientOfSandbox(sandbox, { maxRetries: 0 });
  sandbox.faults.add({
    operation: 'transfers.create',
    fault: { kind: 'status', status: 429, retryAfter: 7 },
  });
  const error = await caught(
    payments.transfers.create({
      sourceAccountId: 'acc_000001',
      destinationAccountId: 'acc_000002',
      amount: '1',
    }),
  );
  expect(error).toBeInstanceOf(RateLimitError);
  expect(error).toMatchObject({ retryAfterMs: 7_000, outcome: 'rejected', retryable: true });
});

test('a creation is unknown and not retryable after a 500', async () => {
  const sandbox = seededSandbox();
  const { payments, requests } = clientOfSandbox(sandbox);
  sandbox.faults.add({
    operation: 'transfers.create',
    fault: { kind: 'status', status: 500, when: 'after_commit' },
  });
  const before = sandbox.transfers.list().length;
  const error = await caught(
    payments.transfers.create({
      sourceAccountId: 'acc_000001',
      destinationAccountId: 'acc_000002',
      amount: '1',
    }),
  );
  expect(error).toBeInstanceOf(ServerError);
  expect(error).toMatchObject({ outcome: 'unknown', retryable: false });
  expect(String(error)).toContain('payments.transfers.reconcile');
  expect(requests).toHaveLength(1);
  expect(sandbox.transfers.list()).toHaveLength(before + 1);
});
