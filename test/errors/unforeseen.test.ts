import { inspect } from 'node:util';
import { PaymentsClient, PaymentsError, type Clock } from 'payments-platform-sdk';
import { expect, onTestFinished, test } from 'vitest';
import { apiKey, failureOf } from '../support/clients.ts';
import { responseBytes } from '../support/loopback.ts';
import { rawServer } from '../support/raw-server.ts';
import { createdNumber, errorBody, newTransfer } from '../support/values.ts';
import { flushPromises } from '../support/virtual-clock.ts';

// Options of the caller may fail in ways that no type describes. The error of a payment in flight must
// still report its outcome.

const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  clearTimeout: (handle) => {
    clearTimeout(handle as NodeJS.Timeout);
  },
};
const serving = () =>
  rawServer(...[1, 2].map((number) => responseBytes(201, createdNumber(number))));

test('a creation has outcome unknown if the clock throws after sending', async () => {
  const server = await serving();
  const clock: Clock = {
    ...systemClock,
    now: () => {
      if (server.arrivals.length > 0) throw new Error(`no time for ${apiKey}`);
      return Date.now();
    },
  };
  const payments = new PaymentsClient({ baseUrl: server.baseUrl, apiKey, clock });
  const error = await failureOf(payments.transfers.create(newTransfer));
  expect(error).toBeInstanceOf(PaymentsError);
  expect(error).toMatchObject({
    outcome: 'unknown',
    operation: 'transfers.create',
    retryable: false,
  });
  expect(error.message).toContain('unexpected error: no time for [redacted]');
  expect(error.message).toContain('Outcome unknown');
  expect(inspect(error)).not.toContain(apiKey);
  expect(server.arrivals).toHaveLength(1);
});

test('a creation has outcome not_sent if the clock throws before sending', async () => {
  const server = await serving();
  let reads = 0;
  const clock = {
    ...systemClock,
    elapsed: () => {
      reads += 1;
      if (reads > 1) throw new Error('no time');
      return 0;
    },
  };
  const payments = new PaymentsClient({ baseUrl: server.baseUrl, apiKey, clock });
  const error = await failureOf(payments.transfers.create(newTransfer));
  expect(error).toMatchObject({ outcome: 'not_sent', retryable: false });
  expect(error.message).toContain('Nothing was sent.');
  expect(server.arrivals).toHaveLength(0);
});

test('a clock that cannot set retry timers leaves no unhandled rejection', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  const server = await rawServer(responseBytes(503, errorBody));
  let timers = 0;
  const clock: Clock = {
    ...systemClock,
    elapsed: () => performance.now(),
    setTimeout: (callback, ms) => {
      timers += 1;
      if (timers > 1) throw new Error('the timers are gone');
      return setTimeout(callback, ms);
    },
  };
  const payments = new PaymentsClient({ baseUrl: server.baseUrl, apiKey, clock });
  const error = await failureOf(payments.transfers.get('txfr_1'));
  expect(error.message).toContain('the timers are gone');
  await flushPromises();
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

test.each<[string, unknown]>([
  ['undefined', undefined],
  ['an object that is not a Response', { ok: true, status: 201 }],
  [
    'an object whose headers throw',
    {
      ok: false,
      status: 400,
      get headers() {
        throw new Error('x');
      },
    },
  ],
])('a creation has outcome unknown if the option `fetch` returns %s', async (_, received) => {
  const payments = new PaymentsClient({
    baseUrl: 'https://api.example.com/v0',
    apiKey,
    fetch: () => Promise.resolve(received as Response),
  });
  const error = await failureOf(payments.transfers.create(newTransfer));
  expect(error).toBeInstanceOf(PaymentsError);
  expect(error.outcome).toBe('unknown');
});

test.each([
  ['failure', { outcome: 'not_sent', transient: true, reason: 'spoilt' }],
  ['reason', 'truncated'],
])('a creation succeeds if other code added %s to Object.prototype', async (name, value) => {
  const server = await serving();
  const payments = new PaymentsClient({ baseUrl: server.baseUrl, apiKey });
  await payments.transfers.create(newTransfer);
  Object.defineProperty(Object.prototype, name, { value, configurable: true });
  onTestFinished(() => void Reflect.deleteProperty(Object.prototype, name));
  await expect(payments.transfers.create(newTransfer)).resolves.toEqual(createdNumber(2));
  expect(server.arrivals).toHaveLength(2);
});
