import { memoryJournal } from 'payments-platform-sdk/journals';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { expect, test, vi } from 'vitest';
import { VirtualClock } from '../support/virtual-clock.ts';
import { createSalaries } from './batches.ts';

/** A client of a fresh copy of the SDK, and what it prints when the process exits. */
async function setup() {
  const before = new Set(process.listeners('exit'));
  vi.resetModules();
  const { PaymentsClient } = await import('payments-platform-sdk');
  const clock = new VirtualClock();
  const now = (): number => clock.now();
  const sandbox = seedDemo(new Sandbox({ clock: now }));
  const journal = memoryJournal({ now });
  const { transfers } = new PaymentsClient({ ...sandbox.clientOptions, clock, journal });
  const print = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const exit = (): unknown[] => {
    const added = process.listeners('exit').filter((listener) => !before.has(listener));
    for (const listener of added) {
      listener(0);
      process.off('exit', listener);
    }
    return print.mock.calls.flat();
  };
  return { transfers, sandbox, clock, exit };
}

const inputs = createSalaries(1);

test('calls that were never awaited or iterated are printed when the process exits', async () => {
  const { transfers, exit } = await setup();
  void transfers.createAllOnce(inputs);
  void transfers.createAllOnce(inputs);
  void transfers.waitForAll(inputs);
  void transfers.reconcileAll(inputs);
  expect(exit()).toEqual([
    expect.stringContaining('2 calls of transfers.createAllOnce did nothing'),
    expect.stringContaining('1 call of transfers.waitForAll did nothing'),
    expect.stringContaining('1 call of transfers.reconcileAll did nothing'),
  ]);
});

test('calls that were awaited or iterated print nothing when the process exits', async () => {
  const { transfers, exit } = await setup();
  await transfers.createAllOnce([]);
  for await (const _ of transfers.waitForAll([])) throw new Error('nothing to wait for');
  await transfers.reconcileAll([]);
  const batch = transfers.createAllOnce([]);
  await batch;
  for await (const _ of batch) throw new Error('nothing to pay');
  expect(exit()).toEqual([]);
});

test('a payment that was left in doubt or not finished is printed when the process exits', async () => {
  const { transfers, sandbox, exit } = await setup();
  const [input] = inputs;
  if (input === undefined) throw new Error('no payment');
  sandbox.faults.add({
    operation: 'transfers.create',
    times: 2,
    fault: { kind: 'reset', when: 'before_commit' },
  });
  await transfers.createOnce(input).catch(() => undefined);
  const running = transfers.createOnce({ ...input, amount: '2.00', description: 'running' });
  expect(exit()).toEqual([expect.stringContaining('knowing whether 2 payments took effect')]);
  await running.catch(() => undefined);
});

test('a payment that was made or rejected prints nothing when the process exits', async () => {
  const { transfers, sandbox, exit } = await setup();
  const [input] = inputs;
  if (input === undefined) throw new Error('no payment');
  await transfers.createOnce(input);
  sandbox.faults.add({ operation: 'transfers.create', fault: { kind: 'status', status: 422 } });
  await transfers.createOnce({ ...input, description: 'rejected' }).catch(() => undefined);
  expect(exit()).toEqual([]);
});

test('an awaited batch prints how many of its payments it did not make', async () => {
  const { transfers, sandbox, exit } = await setup();
  sandbox.faults.add({ operation: 'transfers.create', fault: { kind: 'status', status: 422 } });
  await transfers.createAllOnce(inputs);
  expect(exit()).toEqual([expect.stringContaining('did not pay 1 of its payments')]);
});

test('a call for a payment that was made a month ago is printed, but not for one of six days ago', async () => {
  const { transfers, clock, exit } = await setup();
  const [input] = inputs;
  if (input === undefined) throw new Error('no payment');
  await transfers.createOnce(input);
  clock.jump(6 * 86_400_000);
  await transfers.createOnce(input);
  expect(exit()).toEqual([]);
  clock.jump(24 * 86_400_000);
  await transfers.createOnce(input);
  expect(exit()).toEqual([expect.stringContaining('made more than a week ago')]);
});
