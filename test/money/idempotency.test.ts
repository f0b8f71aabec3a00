import { ConfigurationError, ServerError, ValidationError } from 'payments-platform-sdk';
import { beforeEach, expect, test, vi } from 'vitest';
import { clientOf, failureOf, respond, type SentRequest } from '../support/clients.ts';
import { calls, kinds } from '../support/kinds.ts';
import {
  built,
  createdNumber,
  errorBody,
  newInstruction,
  newTransfer,
  transferCreated,
} from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import type { RequestEvent } from '../../src/calls/hooks.ts';

const idempotencyHeader = 'Idempotency-Key';
const platform = { idempotencyHeader };
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
});

const keysOf = (requests: readonly SentRequest[]): (string | null)[] =>
  requests.map(({ headers }) => headers[idempotencyHeader.toLowerCase()] ?? null);

test('no idempotency key is sent without the option idempotencyHeader', async () => {
  const { payments, requests } = clientOf(() => respond(500, errorBody));
  const error = await failureOf(payments.transfers.create(newTransfer), ServerError);
  expect(keysOf(requests)).toEqual([null]);
  expect(error).not.toHaveProperty('idempotencyKey');
});

test('with idempotencyHeader each POST, but no other request, has a unique key', async () => {
  const { payments, requests } = clientOf(
    (request, _, count) =>
      request.url.endsWith('/build') ? respond(200, built) : respond(201, createdNumber(count)),
    { platform },
  );
  await payments.transfers.create(newTransfer);
  await payments.transfers.create(newTransfer);
  await payments.instructions.build(newInstruction);
  await payments.request({ method: 'POST', path: '/refunds', api: 'versioned', body: {} });
  const keys = keysOf(requests);
  expect(new Set(keys).size).toBe(4);
  for (const key of keys) expect(key).toMatch(uuid);

  requests.length = 0;
  for (const kind of kinds.filter((name) => !name.endsWith('POST'))) {
    await calls[kind].send(payments).catch(() => undefined);
  }
  await payments.request({ method: 'PUT', path: '/x', api: 'versioned', body: {} });
  expect(keysOf(requests)).toEqual([null, null, null, null]);
});

test('a creation with an idempotency key is resent with that key', async () => {
  const responses = [
    () => Promise.reject(new TypeError('fetch failed')),
    () => respond(503, errorBody),
    () => respond(201, transferCreated),
  ];
  const { payments, requests } = clientOf(
    (_, __, count) => responses[count - 1]?.() ?? respond(500),
    {
      platform,
      clock: new VirtualClock(),
    },
  );
  expect(await payments.transfers.create(newTransfer)).toEqual(transferCreated);
  const [first, ...others] = keysOf(requests);
  expect(first).toMatch(uuid);
  expect(others).toEqual([first, first]);
});

test("a renewed token does not change a creation's idempotency key", async () => {
  const responses = [401, 503, 201];
  const { payments, requests } = clientOf(
    (_, __, count) =>
      respond(responses[count - 1] ?? 500, count === 3 ? transferCreated : errorBody),
    { platform, apiKey: () => 'sk_renewed', clock: new VirtualClock() },
  );
  await payments.transfers.create(newTransfer);
  const keys = keysOf(requests);
  expect(keys).toHaveLength(3);
  expect(new Set(keys).size).toBe(1);
});

test('the error of a creation has its idempotency key, for resending', async () => {
  const { payments, requests } = clientOf(() => respond(500, errorBody), {
    platform,
    clock: new VirtualClock(),
  });
  const error = await failureOf(payments.transfers.create(newTransfer), ServerError);
  expect(requests).toHaveLength(3);
  expect(error.idempotencyKey).toBe(keysOf(requests)[0]);
  expect(JSON.parse(JSON.stringify(error))).toMatchObject({
    idempotencyKey: error.idempotencyKey,
    outcome: 'unknown',
  });

  requests.length = 0;
  const headers = { [idempotencyHeader]: error.idempotencyKey };
  const again = await failureOf(payments.transfers.create(newTransfer, { headers }), ServerError);
  expect(again.idempotencyKey).toBe(error.idempotencyKey);
  expect(new Set(keysOf(requests))).toEqual(new Set([error.idempotencyKey]));
});

test('the error has the idempotency key even after a failed token renewal', async () => {
  const clock = new VirtualClock();
  let keyCalls = 0;
  const { payments, requests } = clientOf(() => respond(503, errorBody, { 'retry-after': '2' }), {
    platform,
    clock,
    jwt: () => {
      keyCalls += 1;
      if (keyCalls > 1) throw new Error('the vault is shut');
      // A token with a short life is renewed in the second half of that life, here after a second.
      const claims = btoa(JSON.stringify({ exp: clock.now() / 1_000 + 2 }));
      return `eyJhbGciOiJub25lIn0.${claims}.c2ln`;
    },
  });
  const error = await clock.runTimersDuring(
    failureOf(payments.instructions.build(newInstruction), ConfigurationError),
  );
  expect(error).toMatchObject({ outcome: 'unknown', attempts: [{ status: 503 }] });
  expect(error.idempotencyKey).toMatch(uuid);
  expect(keysOf(requests)).toEqual([error.idempotencyKey]);
});

test.each(['idempotency-key', 'IDEMPOTENCY-KEY'])(
  "the caller's idempotency key in the header %s is sent unchanged",
  async (name) => {
    const seen: RequestEvent[] = [];
    const { payments, requests } = clientOf(
      (_, __, count) => (count === 1 ? respond(503, errorBody) : respond(201, transferCreated)),
      {
        platform,
        clock: new VirtualClock(),
        hooks: { onRequest: (event) => seen.push(event) },
      },
    );
    await payments.transfers.create(newTransfer, { headers: { [name]: 'order 7' } });
    expect(keysOf(requests)).toEqual(['order 7', 'order 7']);
    expect(seen.map(({ headers }) => headers['idempotency-key'])).toEqual(['order 7', 'order 7']);
  },
);

test("an idempotency key in the client's headers option is rejected", () => {
  const headers = { 'X-Service': 'payroll', [idempotencyHeader.toUpperCase()]: 'constant' };
  const { payments } = clientOf(() => respond(201, transferCreated), { platform });
  for (const make of [
    () => clientOf(() => respond(200), { platform, headers }),
    () => payments.withOptions({ headers }),
  ]) {
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(`Invalid option headers: contains ${idempotencyHeader}`);
  }
});

test("without idempotencyHeader a caller's idempotency key causes no retry", async () => {
  const { payments, requests } = clientOf(() => respond(503, errorBody));
  const headers = { [idempotencyHeader]: 'order 7' };
  await failureOf(payments.transfers.create(newTransfer, { headers }), ServerError);
  expect(keysOf(requests)).toEqual(['order 7']);
});

test.each(['', 'two words', 'x:y', 'naïve', '__proto__'])(
  'idempotencyHeader rejects %j as a header name',
  (name) => {
    const make = () => clientOf(() => respond(200), { platform: { idempotencyHeader: name } });
    expect(make).toThrow(ConfigurationError);
  },
);

test.each(['', ' ', '\t'])('an idempotency key of %j is rejected as empty', async (key) => {
  const { payments, requests } = clientOf(() => respond(500, errorBody), { platform });
  const error = await failureOf(
    payments.transfers.create(newTransfer, { headers: { 'IDEMPOTENCY-KEY': key } }),
    ValidationError,
  );
  expect(error.issues).toMatchObject([{ path: 'options.headers.Idempotency-Key' }]);
  expect(requests).toEqual([]);
});

test.each(['Authorization', 'host', 'Content-Type', 'Connection', 'Content-Length', 'User-Agent'])(
  'idempotencyHeader rejects the reserved header %s',
  (name) => {
    expect(() =>
      clientOf(() => respond(201, transferCreated), { platform: { idempotencyHeader: name } }),
    ).toThrow(ConfigurationError);
  },
);

test('idempotencyHeader accepts the header name `constructor`', async () => {
  const { payments, requests } = clientOf(() => respond(201, transferCreated), {
    platform: { idempotencyHeader: 'constructor' },
  });
  await payments.transfers.create(newTransfer);
  expect(requests[0]?.headers['constructor']).toMatch(uuid);
});
