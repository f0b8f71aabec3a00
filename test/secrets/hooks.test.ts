import { describe, expect, test } from 'vitest';
import type {
  CallEvent,
  ClientOptions,
  Hooks,
  OnceInput,
  PaymentsClient,
  RequestOptions,
} from 'payments-platform-sdk';
import { memoryJournal, type Journal } from 'payments-platform-sdk/journals';
import { clientOf } from '../support/clients.ts';
import { address, newTransfer, page, transfer } from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { apiKey, jwt, leaksOf } from './scan.ts';
import type { ResponseSchema } from '../../src/calls/raw-call.ts';

/** Hooks that record their events. */
function recordHooks(): { hooks: Required<Hooks>; events: Record<keyof Hooks, unknown[]> } {
  const events: Record<keyof Hooks, unknown[]> = {
    onRequest: [],
    onResponse: [],
    onRetry: [],
    onWait: [],
    onDrift: [],
    onCall: [],
    onOnce: [],
  };
  const keep = (name: keyof Hooks) => (event: unknown) => events[name].push(event);
  const hooks = {
    onRequest: keep('onRequest'),
    onResponse: keep('onResponse'),
    onRetry: keep('onRetry'),
    onWait: keep('onWait'),
    onDrift: keep('onDrift'),
    onCall: keep('onCall'),
    onOnce: keep('onOnce'),
  };
  return { hooks, events };
}

type Act = (payments: PaymentsClient) => PromiseLike<unknown>;

/** All events of a client during an action, failures included. */
async function eventsDuring(
  response: () => Response | Promise<Response>,
  act: Act,
  options: ClientOptions = {},
): Promise<Record<keyof Hooks, unknown[]>> {
  const { hooks, events } = recordHooks();
  const clock = new VirtualClock();
  const { payments } = clientOf(response, { apiKey, jwt, hooks, clock, ...options });
  const done = Promise.resolve(act(payments)).then(
    () => undefined,
    () => undefined,
  );
  await clock.runTimersDuring(done);
  return events;
}

const echoing = (status: number): Response =>
  Response.json(
    { error: `Bearer ${apiKey} ${jwt}`, code: apiKey },
    { status, headers: { 'x-request-id': `req-${apiKey}`, 'cf-ray': jwt } },
  );

describe('the events of hooks', () => {
  test('no event shows a credential that a response repeats', async () => {
    for (const act of [
      (payments: PaymentsClient) => payments.transfers.get('txfr_1'),
      (payments: PaymentsClient) => payments.instructions.list({ address }),
    ]) {
      const events = await eventsDuring(() => echoing(503), act);
      expect(events.onRequest).toHaveLength(3);
      expect(events.onResponse).toHaveLength(3);
      expect(events.onRetry).toHaveLength(2);
      expect(leaksOf(events)).toEqual([]);
    }
  });

  test.each([
    ['the error', (error: Error) => error],
    ['one of the errors of several addresses', (error: Error) => new AggregateError([error])],
  ])('no event shows a credential in %s of a broken connection', async (_, wrap) => {
    const error = wrap(Object.assign(new Error(`${apiKey} ${jwt}`), { code: `E_${apiKey}` }));
    const events = await eventsDuring(
      () => Promise.reject(error),
      (payments) => payments.transfers.get('txfr_1'),
    );
    expect(events.onRetry).toHaveLength(2);
    expect(leaksOf(events)).toEqual([]);
  });

  const get =
    (options: RequestOptions) =>
    ({ transfers }: PaymentsClient) =>
      transfers.get('txfr_1', options);

  /** Requests in which the caller sends the secret in another place than the SDK. */
  const requests: readonly (readonly [string, Act])[] = [
    ['a header of the call', get({ headers: { 'x-api-key': apiKey, 'x-jwt': jwt } })],
    [
      'a header of the call, after the word Bearer',
      get({ headers: { 'x-forwarded': `Bearer ${apiKey}` } }),
    ],
    ['a query', get({ query: { key: apiKey, jwt } })],
    ['the name of a query', get({ query: { [apiKey]: 1 } })],
    ['a cursor', ({ transfers }) => transfers.list({ cursor: apiKey })],
    [
      'a path',
      (payments) => payments.request({ method: 'GET', path: `/a/${apiKey}`, api: 'versioned' }),
    ],
    [
      'an encoded path',
      (payments) =>
        payments.request({
          method: 'GET',
          path: `/a/${encodeURIComponent(apiKey).replaceAll('%2F', '%2f')}/${jwt}`,
          api: 'root',
        }),
    ],
    [
      'an idempotency key',
      ({ transfers }) => transfers.create(newTransfer, { headers: { 'x-once': apiKey } }),
    ],
  ];

  test.for(requests)('no event shows a secret that the caller puts in %s', async ([name, act]) => {
    const options: ClientOptions =
      name === 'an idempotency key'
        ? { platform: { idempotencyHeader: 'x-once' }, headers: { 'x-key': jwt } }
        : {};
    const events = await eventsDuring(() => echoing(503), act, options);
    expect(events.onRequest).toHaveLength(3);
    // The error keeps the idempotency key of the caller, who may need the key for another try.
    const onCall = events.onCall.map((event) => ({ ...(event as CallEvent), error: undefined }));
    expect(leaksOf({ ...events, onCall })).toEqual([]);
  });

  test.each([401, 422, 500])(
    'no event of a batch shows a credential from a response %i',
    async (status) => {
      const failing = (name: string) => new Error(`${name}: redis://user:${apiKey}@host ${jwt}`);
      const journals: readonly Journal[] = [
        memoryJournal(),
        { ...memoryJournal(), searchFirst: 'always' },
        { ...memoryJournal(), read: () => Promise.reject(failing('read')) },
        { ...memoryJournal(), swap: () => Promise.reject(failing('swap')) },
      ];
      const inputs: OnceInput[] = [
        { ...newTransfer, description: 'salary 1' },
        { ...newTransfer, description: 'salary 2', amount: apiKey },
        { ...newTransfer, description: 'salary 1' },
      ];
      for (const journal of journals) {
        const seen: unknown[] = [];
        const act = async (payments: PaymentsClient): Promise<void> => {
          const batch = payments.transfers.createAllOnce(inputs, { retryTimeout: 1 });
          try {
            for await (const { input: _, ...result } of batch) seen.push(result);
          } catch (error) {
            seen.push(error);
          }
          seen.push(batch);
        };
        const events = await eventsDuring(() => echoing(status), act, { journal });
        expect(seen.length).toBeGreaterThan(1);
        expect(events.onOnce.length).toBeGreaterThan(0);
        expect(leaksOf([seen, events])).toEqual([]);
      }
    },
  );

  const quoting: ResponseSchema<unknown> = {
    '~standard': {
      version: 1,
      vendor: 'canary',
      validate: (value) => ({
        issues: Object.entries(value as object).map(([key, seen]) => ({
          message: `did not expect ${String(seen)}`,
          path: [key],
        })),
      }),
    },
  };

  const drifting: readonly (readonly [string, unknown, Act])[] = [
    ['a field of a record', { ...transfer, direction: { [apiKey]: jwt } }, get({})],
    [
      'an item of a page',
      { ...page([{ ...transfer, direction: { [apiKey]: jwt }, [apiKey]: jwt }]), [apiKey]: jwt },
      ({ transfers }) => transfers.list(),
    ],
    [
      'the response to a creation',
      { id: 'txfr_1', [apiKey]: jwt },
      ({ transfers }) => transfers.create(newTransfer),
    ],
    [
      'the messages of a schema of the caller',
      { [apiKey]: jwt, a: apiKey },
      (payments) =>
        payments.request({ method: 'PUT', path: '/a', api: 'versioned', schema: quoting }),
    ],
  ];

  test.for(drifting)(
    'no onDrift event shows a credential from a response in %s',
    async ([, body, act]) => {
      const events = await eventsDuring(
        () => Response.json(body, { headers: { 'x-request-id': apiKey } }),
        act,
      );
      expect(events.onDrift).toHaveLength(1);
      expect(leaksOf(events)).toEqual([]);
    },
  );
});
