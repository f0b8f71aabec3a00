import { afterAll, beforeAll, expect, test } from 'vitest';
import * as sdk from '../../src/index.ts';
import { usual, type Fault } from './faults.ts';
import { judge } from './judge.ts';
import { play, type Played } from './play.ts';
import type { Operation } from './plans.ts';
import { FaultPlatform } from './server.ts';
import { faults } from './status-faults.ts';

// The plan of faults, row by row, on Node: what a creation and a read make of each.

const { random } = Math;

beforeAll(() => {
  Math.random = () => 0.02;
});
afterAll(() => {
  Math.random = random;
});

/** A busy machine must not turn an answer into a timeout. */
const limits = { timeout: 2_000, totalTimeout: 20_000, maxRetries: 2 };

/** One call that meets the fault first and is answered well after it, on a platform of its own. */
async function meets(operation: Operation, fault: Fault): Promise<Played> {
  const platform = new FaultPlatform(usual);
  await platform.start();
  try {
    const call = {
      operation,
      faults: [fault.name],
      begins: 0,
      leave: null,
      asksForResponse: false,
    };
    const plan = { calls: [call], key: 'text', keyed: false } as const;
    const [played] = await play(plan, sdk, platform, false, limits);
    if (played === undefined) throw new Error('nothing was played');
    await platform.settled();
    expect(judge(played, sdk, platform)).toEqual([]);
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

test('the plan has more than a hundred faults, each with its own name', () => {
  expect(new Set(faults.map(({ name }) => name)).size).toBe(faults.length);
  expect(faults.length).toBeGreaterThan(100);
});

const rows = faults.map((fault) => [fault.name, fault] as const);
// What keeps the machine busy would make the others late.
const light = rows.filter(([, { heavy }]) => heavy !== true);
const costly = rows.filter(([, { heavy }]) => heavy === true);

async function creation(fault: Fault): Promise<void> {
  const played = await meets('create', fault);
  // A connection that is reset this early may never have taken a byte, and then Node knows.
  const once = fault.door === 'rst' && played.sent.length === 2 ? 'resent' : fault.once;
  expect(outcomeOf(played)).toBe(once === 'resent' ? 'ok' : once);
  expect(played.sent).toHaveLength(once === 'resent' ? 2 : 1);
}

async function read(fault: Fault): Promise<void> {
  const played = await meets('get', fault);
  expect(played.ending.result).toBe(fault.read === 'fails' ? 'error' : 'ok');
  expect(played.sent).toHaveLength(fault.read === 'resent' ? 2 : 1);
}

test.concurrent.each(light)('a creation that meets: %s', (_, fault) => creation(fault));
test.concurrent.each(light)('a read that meets: %s', (_, fault) => read(fault));
test.each(costly)('a creation that meets: %s', (_, fault) => creation(fault));
test.each(costly)('a read that meets: %s', (_, fault) => read(fault));

const endless = faults.filter(({ holds }) => holds === 60_000);

test.each(endless.map((fault) => [fault.name, fault] as const))(
  '%s is told at once, with how long to wait',
  async (_, fault) => {
    const { ending, elapsed } = await meets('create', fault);
    const error = ending.result === 'error' ? ending.error : undefined;
    expect(error).toBeInstanceOf(sdk.RateLimitError);
    expect(error).toHaveProperty('retryAfterMs', expect.any(Number));
    expect(elapsed).toBeLessThan(limits.timeout);
  },
);

test('a refused creation waits for the time that it was told', async () => {
  const patient = faults.filter(({ holds = 0 }) => holds > 0 && holds < 1_000);
  expect(patient.length).toBeGreaterThan(0);
  for (const fault of patient) {
    const [first = 0, second = 0] = (await meets('create', fault)).sent;
    expect(second - first).toBeGreaterThanOrEqual(fault.holds ?? 0);
  }
});

test('a bomb and a stream without end cost no more memory than the limit of an answer', async () => {
  const before = process.memoryUsage().rss;
  for (const [, fault] of costly) await meets('get', fault);
  expect((process.memoryUsage().rss - before) / 2 ** 20).toBeLessThan(200);
});
