import { afterAll, beforeAll, expect, test } from 'vitest';
import * as sdk from '../../src/index.ts';
import { usual, type Fault } from '../drivers/faults.ts';
import { findViolations } from '../drivers/violations.ts';
import { play, type Played } from '../drivers/play.ts';
import type { Operation } from '../drivers/plans.ts';
import { FaultPlatform } from '../drivers/server.ts';
import { faults } from '../drivers/status-faults.ts';

// Every fault on Node, with a creation and with a read.

const { random } = Math;

beforeAll(() => {
  Math.random = () => 0.02;
});
afterAll(() => {
  Math.random = random;
});

/** Long enough for a busy machine. */
const limits = { timeout: 2_000, totalTimeout: 20_000, maxRetries: 2 };

/** Makes one call with one fault, on a new platform. */
async function playFault(operation: Operation, fault: Fault): Promise<Played> {
  const platform = new FaultPlatform(usual);
  await platform.start();
  try {
    const call = {
      operation,
      faults: [fault.name],
      startsAt: 0,
      abort: null,
      asksForResponse: false,
    };
    const plan = { calls: [call], key: 'text', keyed: false } as const;
    const [played] = await play(plan, sdk, platform, limits);
    if (played === undefined) throw new Error('no call was made');
    await platform.waitForEffects();
    expect(findViolations(played, sdk, platform)).toEqual([]);
    expect(platform.trespasses).toEqual([]);
    return played;
  } finally {
    platform.stop();
  }
}

const outcomeOf = ({ ending }: Played): string =>
  ending.result === 'error' && ending.error instanceof sdk.PaymentsError
    ? ending.error.outcome
    : ending.result;

test('this test tries more than a hundred faults with unique names', () => {
  expect(new Set(faults.map(({ name }) => name)).size).toBe(faults.length);
  expect(faults.length).toBeGreaterThan(100);
});

const rows = faults.map((fault) => [fault.name, fault] as const);
// Expensive faults run one after another, because they would delay the others.
const cheap = rows.filter(([, { heavy }]) => heavy !== true);
const costly = rows.filter(([, { heavy }]) => heavy === true);

async function checkCreation(fault: Fault): Promise<void> {
  const played = await playFault('create', fault);
  // Node may know that a connection that is reset this early accepted no byte.
  const once = fault.endpoint === 'rst' && played.sent.length === 2 ? 'resent' : fault.once;
  expect(outcomeOf(played)).toBe(once === 'resent' ? 'ok' : once);
  expect(played.sent).toHaveLength(once === 'resent' ? 2 : 1);
}

async function checkRead(fault: Fault): Promise<void> {
  const played = await playFault('get', fault);
  expect(played.ending.result).toBe(fault.read === 'fails' ? 'error' : 'ok');
  expect(played.sent).toHaveLength(fault.read === 'resent' ? 2 : 1);
}

test.concurrent.each(cheap)('a creation ends as expected after the fault: %s', (_, fault) =>
  checkCreation(fault),
);
test.concurrent.each(cheap)('a read ends as expected after the fault: %s', (_, fault) =>
  checkRead(fault),
);
test.each(costly)('a creation ends as expected after the fault: %s', (_, fault) =>
  checkCreation(fault),
);
test.each(costly)('a read ends as expected after the fault: %s', (_, fault) => checkRead(fault));

const longThrottles = faults.filter(({ holds }) => holds === 60_000);

test.each(longThrottles.map((fault) => [fault.name, fault] as const))(
  'a creation rejects at once instead of waiting too long: %s',
  async (_, fault) => {
    const { ending, elapsed } = await playFault('create', fault);
    const error = ending.result === 'error' ? ending.error : undefined;
    expect(error).toBeInstanceOf(sdk.RateLimitError);
    expect(error).toHaveProperty('retryAfterMs', expect.any(Number));
    expect(elapsed).toBeLessThan(limits.timeout);
  },
);

test('a creation waits as long as the Retry-After of a 429 says', async () => {
  const shortThrottles = faults.filter(({ holds = 0 }) => holds > 0 && holds < 1_000);
  expect(shortThrottles.length).toBeGreaterThan(0);
  for (const fault of shortThrottles) {
    const [first = 0, second = 0] = (await playFault('create', fault)).sent;
    expect(second - first).toBeGreaterThanOrEqual(fault.holds ?? 0);
  }
});

test('reads of endless and compressed responses take less than 200 MB', async () => {
  const before = process.memoryUsage().rss;
  for (const [, fault] of costly) await playFault('get', fault);
  expect((process.memoryUsage().rss - before) / 2 ** 20).toBeLessThan(200);
});
