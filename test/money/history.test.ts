import { PaymentsClient, type ClientOptions } from 'payments-platform-sdk';
import { memoryJournal, type Journal } from 'payments-platform-sdk/journals';
import { Sandbox, seedDemo, type SandboxFault } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import { collect } from './batches.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { fixedTimes } from '../support/values.ts';
import type { SendingEntry } from '../../src/journals/journal.ts';

const input = {
  sourceAccountId: 'acc_000001',
  counterpartyId: 'cpty_000001',
  amount: '125.50',
  description: 'invoice 4711',
} as const;

/** A platform, and a client whose journal has parts of milliseconds. */
function setup(options: ClientOptions = {}) {
  const clock = new VirtualClock();
  const sandbox = seedDemo(new Sandbox({ clock: () => clock.now() }));
  const memory = memoryJournal({ now: () => clock.now() + 0.75 });
  const calls: string[] = [];
  const journal: Journal = {
    ...memory,
    read: (reference) => {
      calls.push('read');
      return memory.read(reference);
    },
    swap: (...swapped) => {
      calls.push('swap');
      return memory.swap(...swapped);
    },
    now: (reference) => {
      calls.push('now');
      return memory.now(reference);
    },
  };
  const payments = new PaymentsClient({
    ...sandbox.clientOptions,
    ...fixedTimes,
    clock,
    journal,
    maxRetries: 0,
    ...options,
  });
  const run = <T>(promise: Promise<T>): Promise<T> => clock.stepTimersDuring(promise, 1_000);
  const pay = () =>
    run(payments.transfers.createOnce(input).catch((error: unknown) => String(error)));
  const fail = (when: 'before_commit' | 'after_commit' = 'before_commit') =>
    sandbox.faults.add({ operation: 'transfers.create', fault: { kind: 'reset', when } });
  const failList = (fault: SandboxFault = { kind: 'status', status: 503 }) =>
    sandbox.faults.add({ operation: 'transfers.list', fault });
  /** The states of the entry, and who changed them. */
  const history = async (): Promise<string[]> => {
    const entry = await memory.read('invoice 4711');
    return (entry?.history ?? []).map(({ state, by = '' }) => `${state} ${by}`.trim());
  };
  return { clock, sandbox, payments, run, pay, fail, failList, history, memory, calls };
}

test("an entry's history has times, host and transfer id", async () => {
  const { pay, memory, clock } = setup();
  const startedAt = clock.now();
  await pay();
  const entry = await memory.read('invoice 4711');
  const [sending, paid] = entry?.history ?? [];
  expect(sending).toMatchObject({ state: 'sending', host: expect.any(String) as string });
  expect(sending?.claimId).toMatch(/^[\da-f-]{36}$/);
  expect(paid).toMatchObject({
    state: 'paid',
    transferId: entry?.state === 'paid' && entry.transferId,
  });
  const times = [sending?.at, paid?.at, entry?.state === 'paid' ? entry.paidAt : undefined];
  expect(times.every(Number.isInteger)).toBe(true);
  expect(sending?.at).toBe(startedAt);
});

test("writing an entry's history needs no further journal call", async () => {
  const { pay, calls } = setup();
  await pay();
  // createOnce reads the first claim of a journal again, to check the journal.
  expect(calls).toEqual(['read', 'now', 'swap', 'read', 'swap']);
});

test("an entry's history keeps an operator's not_paid even after a payment", async () => {
  const { clock, payments, run, pay, fail, history } = setup();
  fail();
  await pay();
  clock.jump(20 * 60_000);
  await run(payments.transfers.decide('invoice 4711', 'not_paid', { by: 'ada' }));
  await pay();
  expect(await history()).toEqual(['sending', 'not_paid ada', 'sending', 'paid']);
});

test("an entry's history has each claim, even one that a rejection restores", async () => {
  const { clock, sandbox, pay, fail, history } = setup();
  fail();
  await pay();
  clock.jump(20 * 60_000);
  sandbox.faults.add({
    operation: 'transfers.create',
    fault: { kind: 'status', status: 422, code: 'insufficient_funds' },
  });
  await pay();
  expect(await history()).toEqual(['sending', 'sending', 'sending']);
  clock.jump(20 * 60_000);
  await pay();
  expect(await history()).toEqual(['sending', 'sending', 'sending', 'sending', 'paid']);
});

test("an entry's history shows that it was ambiguous, and the decision", async () => {
  const { sandbox, payments, run, pay, fail, history, clock } = setup();
  fail();
  const { id } = sandbox.transfers.create({ ...input, description: 'invoice 4711 (1)' });
  await pay();
  expect(await history()).toEqual(['sending', 'ambiguous']);
  clock.jump(20 * 60_000);
  await run(payments.transfers.decide('invoice 4711', id, { by: 'bob' }));
  expect(await history()).toEqual(['sending', 'ambiguous', 'paid bob']);
});

test("an entry's history keeps the first state and the latest 31", async () => {
  const { clock, pay, fail, failList, memory } = setup({ totalTimeout: 1_000, gracePeriod: 1_000 });
  const firstAt = Math.floor(clock.now());
  for (let tries = 1; tries <= 40; tries += 1) {
    fail();
    await pay();
    clock.jump(60_000);
  }
  failList();
  const entry = await memory.read('invoice 4711');
  expect(entry?.history).toHaveLength(32);
  expect(entry?.history?.[0]?.at).toBe(firstAt);
  const times = entry?.history?.map(({ at }) => at) ?? [];
  expect(times).toEqual(times.toSorted((one, other) => one - other));
  expect(times.at(-1)).toBeGreaterThan(clock.now() - 120_000);
});

test('listUndecided shows the history with times in ISO 8601', async () => {
  const { payments, pay, fail, run, memory } = setup();
  fail();
  await pay();
  const entry = await memory.read('invoice 4711');
  const { claimedAt, expiresAt, firstClaimedAt } = entry as SendingEntry;
  expect([claimedAt, expiresAt, firstClaimedAt].every(Number.isInteger)).toBe(true);
  const open = await run(collect(payments.transfers.listUndecided()));
  const at = new Date(claimedAt).toISOString();
  expect(open[0]).toMatchObject({ claimedAt: at, history: [{ at, state: 'sending' }] });
});

test('createOnce pays even if the history of an entry is no array', async () => {
  const { clock, payments, pay, fail, run, memory, history } = setup();
  fail();
  await pay();
  const entry = await memory.read('invoice 4711');
  if (entry === undefined) throw new Error('no entry');
  await memory.swap('invoice 4711', entry, { ...entry, history: 'none' as never });
  const [open] = await run(collect(payments.transfers.listUndecided()));
  expect(open?.history).toEqual([]);
  clock.jump(20 * 60_000);
  await pay();
  expect(await history()).toEqual(['sending', 'paid']);
});
