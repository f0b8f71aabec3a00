import { PaymentsClient, type ClientOptions } from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import { failureOf } from '../support/clients.ts';
import { invoice as input, fixedTimes } from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
/** Counts the transfers when the first request takes effect late and the caller goes on calling. */
async function countTransfers(lateMs: number, options: ClientOptions = {}): Promise<number> {
  const clock = new VirtualClock();
  const sandbox = seedDemo(new Sandbox({ clock: () => clock.now() }));
  const { fetch: platform, ...clientOptions } = sandbox.clientOptions;
  let isFirst = true;
  const fetch = async (request: Request, init?: RequestInit): Promise<Response> => {
    if (!isFirst || request.method !== 'POST') return await platform(request, init);
    isFirst = false;
    const copy = request.clone();
    const body = await copy.text();
    clock.setTimeout(() => {
      void platform(new Request(copy.url, { method: 'POST', headers: copy.headers, body }));
    }, lateMs);
    // Its response never comes.
    return await new Promise((_, reject) => {
      const { signal } = request;
      signal.addEventListener('abort', () => {
        reject(signal.reason as Error);
      });
    });
  };
  const journal = memoryJournal({ now: () => clock.now() });
  const payments = new PaymentsClient({
    ...clientOptions,
    clock,
    fetch,
    journal,
    ...options,
  });
  let isPaid = false;
  const pay = (): Promise<unknown> =>
    payments.transfers.createOnce(input).then(
      () => {
        isPaid = true;
      },
      () => undefined,
    );
  while (clock.passed < lateMs + hour) {
    const call = isPaid ? Promise.resolve() : pay();
    await clock.stepTimersDuring(call, 5 * second);
    await clock.advance(lateMs > hour ? hour : 5 * minute);
  }
  return sandbox.transfers.list().filter(({ description }) => description === input.description)
    .length;
}

const times = [1, 60, 300, 425, 600, 900, 1_000].map((seconds) => seconds * second);

test.each(times)('createOnce pays once if its request takes effect after %i ms', async (late) => {
  expect(await countTransfers(late)).toBe(1);
});

test.each([...times, 17 * minute, hour, 24 * hour])(
  '`gracePeriod: Infinity` pays once if a request takes effect after %i ms',
  async (late) => {
    expect(await countTransfers(late, { gracePeriod: Infinity })).toBe(1);
  },
);

test('createOnce pays twice if a request takes effect after gracePeriod (A2)', async () => {
  expect(await countTransfers(25 * minute, fixedTimes)).toBe(2);
});

test('by default a claim expires 15 minutes after its request was aborted', async () => {
  const clock = new VirtualClock();
  const sandbox = seedDemo(new Sandbox({ clock: () => clock.now() }));
  const journal = memoryJournal({ now: () => clock.now() });
  const signals: AbortSignal[] = [];
  const fetch = (request: Request): Promise<Response> => {
    signals.push(request.signal);
    return new Promise(() => undefined);
  };
  const payments = new PaymentsClient({ ...sandbox.clientOptions, clock, journal, fetch });
  await clock.runTimersDuring(failureOf(payments.transfers.createOnce(input)));
  expect(signals.length).toBeGreaterThan(0);
  expect(signals.every(({ aborted }) => aborted)).toBe(true);
  const entry = await journal.read(input.description);
  if (entry?.state !== 'sending') throw new Error('the payment is not open');
  expect(Number(entry.expiresAt) - Number(entry.deadline)).toBe(15 * minute);
});
