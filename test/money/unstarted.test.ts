import { memoryJournal } from 'payments-platform-sdk/journals';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { expect, test, vi } from 'vitest';
import { createSalaries } from './batches.ts';

/** A client of a fresh copy of the SDK, and what it prints when the process exits. */
async function setup() {
  const before = new Set(process.listeners('exit'));
  vi.resetModules();
  const { PaymentsClient } = await import('payments-platform-sdk');
  const { clientOptions } = seedDemo(new Sandbox());
  const { transfers } = new PaymentsClient({ ...clientOptions, journal: memoryJournal() });
  const print = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const exit = (): unknown[] => {
    const added = process.listeners('exit').filter((listener) => !before.has(listener));
    for (const listener of added) {
      listener(0);
      process.off('exit', listener);
    }
    return print.mock.calls.flat();
  };
  return { transfers, exit };
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

test('calls that were awaited or iterated are not', async () => {
  const { transfers, exit } = await setup();
  await transfers.createAllOnce([]);
  for await (const _ of transfers.waitForAll([])) throw new Error('nothing to wait for');
  await transfers.reconcileAll([]);
  const batch = transfers.createAllOnce([]);
  await batch;
  for await (const _ of batch) throw new Error('nothing to pay');
  expect(exit()).toEqual([]);
});
