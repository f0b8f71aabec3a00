import { AbortError, PaymentInDoubtError, PaymentsClient } from 'payments-platform-sdk';
import { memoryJournal, type Journal, type JournalEntry } from 'payments-platform-sdk/journals';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import { failureOf } from '../support/clients.ts';
import { invoice as input, fixedTimes } from '../support/values.ts';
import { flushPromises, VirtualClock } from '../support/virtual-clock.ts';

// createOnce makes these checks of the journal in production, too, before it sends a payment.

function setup(change: (journal: Journal, clock: VirtualClock) => Partial<Journal>) {
  const clock = new VirtualClock();
  const sandbox = seedDemo(new Sandbox({ clock: () => clock.now() }));
  const memory = memoryJournal({ now: () => clock.now() });
  const journal: Journal = { ...memory, ...change(memory, clock) };
  const options = { ...sandbox.clientOptions, ...fixedTimes, clock, journal };
  const { transfers } = new PaymentsClient(options);
  const seeded = sandbox.transfers.list().length;
  return {
    clock,
    memory,
    pay: (reference: string = input.description, signal?: AbortSignal) =>
      transfers.createOnce({ ...input, description: reference }, { signal }),
    made: () => sandbox.transfers.list().length - seeded,
  };
}

test.each<[string, (entry: JournalEntry) => JournalEntry | undefined]>([
  ['expiresAt', (entry) => ({ ...entry, expiresAt: 0 }) as JournalEntry],
  ['claimId', (entry) => ({ ...entry, claimId: 'of another' }) as JournalEntry],
  ['input', (entry) => ({ ...entry, input: { ...input, amount: '1.00' } })],
  ['it is gone', () => undefined],
])('createOnce sends nothing if the journal alters its claim: %s', async (field, change) => {
  let isChanged = true;
  const { pay, made, memory } = setup((journal) => ({
    read: async (reference) => {
      const entry = await journal.read(reference);
      return entry && isChanged ? change(entry) : entry;
    },
  }));
  const error = await failureOf(pay(), PaymentInDoubtError);
  expect(error).toMatchObject({ reason: 'journal', retryable: false });
  expect(error.message).toContain(`not kept as it was written: ${field}`);
  expect(made()).toBe(0);
  expect(await memory.read(input.description)).toBeUndefined();
  isChanged = false;
  await pay();
  expect(made()).toBe(1);
});

test('createOnce sends nothing if the journal does not return its claim', async () => {
  const { pay, made } = setup(() => ({ read: () => Promise.resolve(undefined) }));
  const calls = ['one', 'two', 'three'].map((reference) =>
    failureOf(pay(reference), PaymentInDoubtError),
  );
  for (const error of await Promise.all(calls)) expect(error.reason).toBe('journal');
  expect(made()).toBe(0);
});

test("an abort during the journal's check does not stop another createOnce", async () => {
  const reading = Promise.withResolvers<undefined>();
  let claims = 0;
  const { pay, made } = setup((journal) => ({
    read: async (reference) => {
      const entry = await journal.read(reference);
      // Holds up the check of the first claim, so that its caller can abort.
      if (entry !== undefined && (claims += 1) === 1) await reading.promise;
      return entry;
    },
  }));
  const caller = new AbortController();
  const first = failureOf(pay('first', caller.signal), AbortError);
  await flushPromises();
  const second = pay('second');
  await flushPromises();
  caller.abort();
  expect((await first).reference).toBe('first');
  expect((await second).result).toBe('created');
  expect(made()).toBe(1);
});

test('createOnce sends nothing if its claim was written after its expiry', async () => {
  let isSuspended = false;
  const { pay, made } = setup((journal, clock) => ({
    swap: async (...change) => {
      if (isSuspended) clock.jump(fixedTimes.totalTimeout + fixedTimes.gracePeriod);
      return await journal.swap(...change);
    },
  }));
  await pay('first');
  isSuspended = true;
  const error = await failureOf(pay(), PaymentInDoubtError);
  expect(error).toMatchObject({ reason: 'journal', retryable: false });
  expect(error.message).toContain('claim has ended');
  expect(made()).toBe(1);
});
