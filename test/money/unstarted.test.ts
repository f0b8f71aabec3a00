import { memoryJournal } from 'payments-platform-sdk/journals';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { expect, test, vi } from 'vitest';
import { VirtualClock } from '../support/virtual-clock.ts';
import { createSalaries } from './batches.ts';

/** A client of a fresh copy of the SDK, and what it prints when the process exits. */
async function setup() {
  const before = new Set(process.listeners('exit'));
  Reflect.deleteProperty(globalThis, Symbol.for('payments-platform-sdk:doubts'));
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

test('a process warns at exit of calls never awaited or iterated', async () => {
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

test('a process does not warn of calls that were awaited or iterated', async () => {
  const { transfers, exit } = await setup();
  await transfers.createAllOnce([]);
  for await (const _ of transfers.waitForAll([])) throw new Error('nothing to wait for');
  await transfers.reconcileAll([]);
  const batch = transfers.createAllOnce([]);
  await batch;
  for await (const _ of batch) throw new Error('nothing to pay');
  expect(exit()).toEqual([]);
});

test('the warning at exit counts each unknown payment once', async () => {
  const { transfers, sandbox, exit } = await setup();
  const [input] = inputs;
  if (input === undefined) throw new Error('no payment');
  const operation = 'transfers.create';
  const lost = { kind: 'reset', when: 'before_commit' } as const;
  sandbox.faults.add({ operation, fault: lost });
  for (let tries = 1; tries <= 3; tries += 1) {
    await transfers.createOnce(input).catch(() => undefined);
  }
  sandbox.faults.add({ operation, fault: { kind: 'hang' } });
  const end = new AbortController();
  const { signal } = end;
  const running = transfers.createOnce({ ...input, description: 'running' }, { signal });
  const sent = { body: { description: 'running' } };
  await vi.waitFor(() => expect(sandbox.log.at(-1)).toMatchObject(sent));
  const unreadable = { ...memoryJournal(), read: () => Promise.reject(new Error('down')) };
  const unsent = { ...input, description: 'unsent' };
  await transfers.createOnce(unsent, { journal: unreadable }).catch(() => undefined);
  expect(exit()).toContainEqual(
    expect.stringMatching(/knowing whether 2 payments took effect\. The journal was in memory, /),
  );
  end.abort();
  await running.catch(() => undefined);
});

test('a process does not warn of createOnce calls with known outcomes', async () => {
  const { transfers, sandbox, exit } = await setup();
  const [input] = inputs;
  if (input === undefined) throw new Error('no payment');
  await transfers.createOnce(input);
  sandbox.faults.add({ operation: 'transfers.create', fault: { kind: 'status', status: 422 } });
  await transfers.createOnce({ ...input, description: 'rejected' }).catch(() => undefined);
  // Other terms under the reference of a payment that was made are a conflict.
  const conflict = transfers.createOnce({ ...input, amount: '9.00' });
  await expect(conflict).rejects.toMatchObject({ reason: 'conflict' });
  expect(exit()).toEqual([]);
});

test('a process warns at exit of unpaid payments of an awaited batch', async () => {
  const { transfers, sandbox, exit } = await setup();
  sandbox.faults.add({ operation: 'transfers.create', fault: { kind: 'status', status: 422 } });
  await transfers.createAllOnce(inputs);
  expect(exit()).toEqual([expect.stringContaining('did not pay 1 of its payments')]);
});

test('a process warns at exit of a payment made 30 days ago', async () => {
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
