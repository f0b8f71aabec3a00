import { PaymentsClient } from 'payments-platform-sdk';
import { Sandbox, VirtualClock } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';

test('advance() of a VirtualClock fires the due timers in order', async () => {
  const clock = new VirtualClock();
  const fired: [string, number][] = [];
  for (const [name, ms] of [
    ['late', 30],
    ['second', 20],
    ['first', 10],
  ] as const) {
    clock.setTimeout(() => fired.push([name, clock.now()]), ms);
  }
  await clock.advance(20);
  const start = Date.UTC(2026, 0, 1);
  expect(fired).toEqual([
    ['first', start + 10],
    ['second', start + 20],
  ]);
  expect([clock.now(), clock.pending]).toEqual([start + 20, 1]);
});

test('advance() of a VirtualClock also fires timers that timers set', async () => {
  const clock = new VirtualClock(0);
  let firedAt = Number.NaN;
  const setNext = async (): Promise<void> => {
    await Promise.resolve();
    clock.setTimeout(() => (firedAt = clock.now()), 5);
  };
  clock.setTimeout(() => void setNext(), 10);
  await clock.advance(15);
  expect(firedAt).toBe(15);
});

test('a cleared timer of a VirtualClock does not fire', async () => {
  const clock = new VirtualClock();
  let hasFired = false;
  clock.clearTimeout(clock.setTimeout(() => (hasFired = true), 10));
  await clock.advance(10);
  expect(hasFired).toBe(false);
});

test('a 0 ms timer of a VirtualClock fires without advance()', async () => {
  const clock = new VirtualClock(7);
  await new Promise<void>((resolve) => {
    clock.setTimeout(resolve, 0);
  });
  expect(clock.now()).toBe(7);
});

test('one VirtualClock drives client retries and sandbox responses', async () => {
  const clock = new VirtualClock();
  const sandbox = new Sandbox({ clock, latency: 1_000 });
  sandbox.faults.add({ operation: 'accounts.list', fault: { kind: 'status', status: 503 } });
  const payments = new PaymentsClient({ ...sandbox.clientOptions, clock });
  let isDone = false;
  const list = payments.accounts.list().then(() => (isDone = true));
  await clock.advance(999);
  expect([sandbox.log.length, isDone]).toEqual([1, false]);
  await clock.advance(20_000);
  await list;
  expect(sandbox.log.map(({ status }) => status)).toEqual([503, 200]);
});
