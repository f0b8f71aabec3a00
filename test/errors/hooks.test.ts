import { runInNewContext } from 'node:vm';
import { ServerError, type Hooks } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { describe, expect, test, vi } from 'vitest';
import { apiKey, clientAt, clientOf, failureOf, jwt, respond } from '../support/clients.ts';
import { closedPort } from '../support/closed-port.ts';
import {
  errorBody,
  newInstruction,
  newTransfer,
  transfer,
  transferCreated,
} from '../support/values.ts';
import { flushPromises, VirtualClock } from '../support/virtual-clock.ts';
import { version } from '../../src/version.ts';
import type { DriftEvent, RequestEvent, ResponseEvent, RetryEvent } from '../../src/calls/hooks.ts';

type HookEvent =
  | ['request', RequestEvent]
  | ['response', ResponseEvent]
  | ['retry', RetryEvent]
  | ['drift', DriftEvent];

function recordHooks(): { events: HookEvent[]; hooks: Hooks } {
  const events: HookEvent[] = [];
  return {
    events,
    hooks: {
      onRequest: (event) => events.push(['request', event]),
      onResponse: (event) => events.push(['response', event]),
      onRetry: (event) => events.push(['retry', event]),
      onDrift: (event) => events.push(['drift', event]),
    },
  };
}

test('the hooks report requests, responses and retries in order', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const clock = new VirtualClock();
  const { events, hooks } = recordHooks();
  const { payments } = clientOf(
    async (_, __, count) => {
      await new Promise<void>((resolve) => {
        clock.setTimeout(resolve, 40);
      });
      return count === 1
        ? respond(503, errorBody, { 'x-request-id': 'req_1' })
        : respond(200, transfer, { 'x-request-id': 'req_2' });
    },
    { clock, hooks, headers: { 'x-tenant': 'blue' } },
  );
  await clock.runTimersDuring(payments.transfers.get('txfr_1', { query: { expand: 'all' } }));
  const call = {
    operation: 'transfers.get',
    method: 'GET',
    path: '/transfers/{id}',
    call: events[0]?.[1].call,
  };
  const request = {
    url: 'https://api.example.com/v0/transfers/txfr_1?expand=all',
    headers: {
      accept: 'application/json',
      'user-agent': `payments-platform-sdk/${version}`,
      'cache-control': 'no-cache',
      'x-tenant': 'blue',
    },
  };
  expect(events).toEqual([
    ['request', { ...call, attempt: 1, ...request }],
    [
      'response',
      {
        ...call,
        attempt: 1,
        status: 503,
        requestId: 'req_1',
        durationMs: 40,
        outcome: 'unknown',
        reason: 'status 503',
      },
    ],
    ['retry', { ...call, attempt: 2, delayMs: 125, reason: 'status 503' }],
    ['request', { ...call, attempt: 2, ...request }],
    [
      'response',
      {
        ...call,
        attempt: 2,
        status: 200,
        requestId: 'req_2',
        durationMs: 40,
        outcome: 'ok',
        reason: undefined,
      },
    ],
  ]);
});

test('hook events of concurrent calls have different call numbers', async () => {
  const clock = new VirtualClock();
  const { events, hooks } = recordHooks();
  const { payments } = clientOf(
    (_, __, count) =>
      count <= 2 ? respond(503, errorBody) : respond(200, { ...transfer, direction: 5 }),
    { clock, hooks },
  );
  const other = payments.withOptions({ headers: { 'x-tenant': 'blue' } });
  await clock.runTimersDuring(
    Promise.all([payments.transfers.get('txfr_1'), other.transfers.get('txfr_1')]),
  );
  const perCall = Map.groupBy(events, ([, { call }]) => call);
  expect([...perCall.keys()].every((call) => Number.isSafeInteger(call))).toBe(true);
  expect([...perCall.values()].map((events) => events.map(([kind]) => kind))).toEqual(
    Array(2).fill(['request', 'response', 'retry', 'request', 'drift', 'response']),
  );
});

test('the hooks report a request that received no response', async () => {
  const { events, hooks } = recordHooks();
  const payments = clientAt(closedPort, { hooks, maxRetries: 0 });
  await failureOf(payments.transfers.create(newTransfer));
  expect(events.map(([kind]) => kind)).toEqual(['request', 'response']);
  expect(events[1]?.[1]).toMatchObject({
    status: undefined,
    requestId: undefined,
    outcome: 'not_sent',
    reason: 'ECONNREFUSED',
  });
});

test('the hooks report nothing for a call that sends no request', async () => {
  const { events, hooks } = recordHooks();
  const { payments } = clientOf(() => respond(200), { hooks });
  await failureOf(payments.transfers.create({ ...newTransfer, amount: '-1' }));
  await failureOf(payments.transfers.get('txfr_1', { signal: AbortSignal.abort() }));
  expect(events).toEqual([]);
});

test('the events of hooks contain no credential', async () => {
  const { events, hooks } = recordHooks();
  let count = 0;
  const { payments } = clientOf(
    (request) =>
      respond(
        request.headers.get('authorization')?.endsWith('2') === true ? 500 : 401,
        { error: apiKey, code: jwt, details: null },
        { 'x-request-id': `echo ${request.headers.get('authorization') ?? ''}` },
      ),
    {
      hooks,
      maxRetries: 1,
      clock: new VirtualClock(),
      apiKey: () => {
        count += 1;
        return `sk_number_${count}`;
      },
    },
  );
  vi.spyOn(Math, 'random').mockReturnValue(0);
  await failureOf(payments.transfers.get('txfr_1'), ServerError);
  await failureOf(payments.instructions.build(newInstruction));
  expect(events.filter(([kind]) => kind === 'request').length).toBeGreaterThan(3);
  const everything = JSON.stringify(events);
  expect(everything).toContain('echo [redacted]');
  for (const secret of [apiKey, jwt, 'sk_number', 'Bearer', 'authorization']) {
    expect(everything).not.toContain(secret);
  }
});

test('hook events contain no secret header of the caller', async () => {
  const { events, hooks } = recordHooks();
  const { payments, requests } = clientOf(() => respond(200, transfer), {
    hooks,
    headers: { cookie: 'session=C4N4RY', 'x-team': 'payouts', 'idempotency-key': 'k1' },
  });
  const secretHeaders = {
    'proxy-authorization': 'Basic C4N4RY',
    'X-Api-Key': 'C4N4RY',
    apikey: 'C4N4RY',
    'x-amz-security-token': 'C4N4RY',
    'client-secret': 'C4N4RY',
    x_api_key: 'C4N4RY',
    'x-auth': 'C4N4RY',
    'x-access-key': 'C4N4RY',
    'ocp-apim-subscription-key': 'C4N4RY',
    'x-session-id': 'C4N4RY',
    'cb-access-passphrase': 'C4N4RY',
    'x-authentication': 'C4N4RY',
    'x-authn': 'C4N4RY',
    'x-credentials': 'C4N4RY',
    'x-signing-key': 'C4N4RY',
    'x-master-key': 'C4N4RY',
    authkey: 'C4N4RY',
    'x-pwd': 'C4N4RY',
    'x-user-jwt': 'C4N4RY',
    dpop: 'C4N4RY',
  };
  await payments.transfers.get('txfr_1', { headers: secretHeaders });
  expect(JSON.stringify(events)).not.toContain('C4N4RY');
  expect(events[0]?.[1]).toMatchObject({
    headers: {
      'proxy-authorization': '[redacted]',
      'x-api-key': '[redacted]',
      'x-team': 'payouts',
      'idempotency-key': 'k1',
    },
  });
  expect(requests[0]?.headers['x-api-key']).toBe('C4N4RY');
  events.length = 0;
  await payments.transfers.get('txfr_1', { headers: { [apiKey]: 'a key for a name' } });
  expect(JSON.stringify(events)).not.toContain(apiKey);
});

test('a hook that modifies its event does not change the request', async () => {
  const { payments, requests } = clientOf(() => respond(201, transferCreated), {
    hooks: {
      onRequest: (event) => {
        Object.assign(event, { url: 'https://evil.example.com' });
        Object.assign(event.headers, { authorization: 'none', 'content-type': 'text/plain' });
      },
    },
  });
  await payments.transfers.create(newTransfer);
  expect(requests[0]?.url).toBe('https://api.example.com/v0/transfers');
  expect(requests[0]?.headers['authorization']).toBe(`Bearer ${apiKey}`);
  expect(requests[0]?.headers['content-type']).toBe('application/json');
});

test.each<[string, () => unknown]>([
  [
    'throws',
    () => {
      throw new Error('hook');
    },
  ],
  ['rejects', () => Promise.reject(new Error('hook'))],
  ['rejects in another realm', () => runInNewContext("Promise.reject(new Error('hook'))")],
  ['never ends', () => new Promise(() => undefined)],
])('a call succeeds even if a hook %s', async (_, hook) => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => {
    unhandled.push(reason);
  };
  process.on('unhandledRejection', note);
  vi.spyOn(console, 'warn').mockReturnValue();
  vi.spyOn(Math, 'random').mockReturnValue(0);
  // A vi.fn is not used, because a vi.fn would handle the rejected promise itself.
  let count = 0;
  const called = (): unknown => {
    count += 1;
    return hook();
  };
  const { payments } = clientOf(
    (_request, __, requests) => (requests === 1 ? respond(429) : respond(201, { id: 'txfr_1' })),
    {
      clock: new VirtualClock(),
      hooks: { onRequest: called, onResponse: called, onRetry: called, onDrift: called },
    },
  );
  expect(await payments.transfers.create(newTransfer)).toEqual({ id: 'txfr_1' });
  // The hooks were called for two requests, two responses, a retry and a drift.
  expect(count).toBe(6);
  await flushPromises();
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

describe('an error of a hook', () => {
  /** Lets hooks of two clients fail, and returns what was printed. */
  async function readReports(
    createHooks: (count: () => number) => Hooks,
    onPoll?: () => unknown,
  ): Promise<string[]> {
    const printed: string[] = [];
    vi.spyOn(console, 'warn').mockImplementation((text) => void printed.push(String(text)));
    // Each report is printed once in a process, and another test may have caused the report.
    vi.resetModules();
    const { PaymentsClient } = await import('payments-platform-sdk');
    let count = 0;
    const hooks = createHooks(() => (count += 1));
    const { baseUrl } = new Sandbox().clientOptions;
    for (const _ of [1, 2]) {
      const fetch = () => Promise.resolve(respond(200, { ...transfer, status: 'completed' }));
      const payments = new PaymentsClient({ baseUrl, apiKey, fetch, hooks });
      await payments.transfers.get('txfr_1');
      await payments.transfers.waitFor('txfr_1', { onPoll });
    }
    await flushPromises();
    return printed;
  }
  const report = (name: string, reason: string) =>
    `payments-platform-sdk: ${name} threw, and no payment was affected: ${reason}\nIts later errors are not printed.`;

  test('is printed once for each hook, with its message', async () => {
    const printed = await readReports((count) => ({
      onRequest: () => {
        throw new Error(`full, request ${count()}`);
      },
      onCall: () => Promise.reject(new Error('no disk')),
    }));
    expect(printed).toEqual([report('onRequest', 'full, request 1'), report('onCall', 'no disk')]);
  });

  test('is also printed for the option onPoll of waitFor', async () => {
    const printed = await readReports(
      () => ({}),
      () => Promise.reject(new Error('poll')),
    );
    expect(printed).toEqual([report('onPoll', 'poll')]);
  });

  test('is printed on one line and without a credential', async () => {
    const printed = await readReports(() => ({
      onRequest: () => {
        throw new Error(`rejected:\n\u001b[2J ${apiKey} ${jwt}`);
      },
    }));
    expect(printed).toEqual([report('onRequest', 'rejected: [2J [redacted] [redacted]')]);
  });

  test.each<[string, unknown, string]>([
    ['an error of another realm', runInNewContext("new RangeError('range')"), 'range'],
    ['a string', 'text', 'text'],
    ['undefined', undefined, 'undefined'],
  ])('is printed if the hook throws %s', async (_, thrown, reason) => {
    const printed = await readReports(() => ({
      onResponse: () => {
        throw thrown;
      },
    }));
    expect(printed).toEqual([report('onResponse', reason)]);
  });

  test('does not make a call fail, even if unreadable', async () => {
    const unreadable = Object.defineProperty(new Error('a hook'), 'message', {
      get: () => {
        throw new Error('unreadable');
      },
    });
    const printed = await readReports(() => ({
      onRequest: () => {
        throw unreadable;
      },
      onResponse: () => Promise.reject(unreadable),
      onCall: () => ({
        get then(): never {
          throw unreadable;
        },
      }),
    }));
    expect(printed).toEqual([]);
  });
});

test('the hooks report the request with a renewed token, but no retry', async () => {
  const { events, hooks } = recordHooks();
  const { payments } = clientOf(
    (_, __, count) => (count === 1 ? respond(401, errorBody) : respond(201, transferCreated)),
    { hooks, apiKey: () => 'sk_same_again' },
  );
  await payments.transfers.create(newTransfer);
  const heard = events.map(([kind, event]) => [
    kind,
    'attempt' in event ? event.attempt : undefined,
  ]);
  expect(heard).toEqual([
    ['request', 1],
    ['response', 1],
    ['request', 2],
    ['response', 2],
  ]);
  expect(events[1]?.[1]).toMatchObject({ status: 401, outcome: 'rejected' });
});
