import { PaymentInDoubtError, PaymentsClient, type ClientOptions } from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import { failureOf } from '../support/clients.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { collect } from './batches.ts';
import { invoice as input, fixedTimes } from '../support/values.ts';
import { defaultGracePeriod } from '../../src/calls/options.ts';

const minute = 60_000;
/** A client whose first request was lost. */
async function setup(options: ClientOptions = { gracePeriod: Infinity }) {
  const clock = new VirtualClock();
  const sandbox = seedDemo(new Sandbox({ clock: () => clock.now() }));
  const journal = memoryJournal({ now: () => clock.now() });
  const common = { ...sandbox.clientOptions, ...fixedTimes, clock, journal };
  const payments = new PaymentsClient({ ...common, ...options });
  const endless = new PaymentsClient({ ...common, gracePeriod: Infinity });
  const run = <T>(promise: Promise<T>): Promise<T> => clock.stepTimersDuring(promise, 1_000);
  const pay = (client = payments) => run(client.transfers.createOnce(input));
  const doubt = (client = payments) =>
    run(failureOf(client.transfers.createOnce(input), PaymentInDoubtError));
  sandbox.faults.add({
    operation: 'transfers.create',
    fault: { kind: 'reset', when: 'before_commit' },
  });
  await doubt();
  return { clock, sandbox, journal, payments, endless, run, pay, doubt };
}

test('`gracePeriod: Infinity` writes a claim with `expiresAt: null`', async () => {
  const { journal, payments, run } = await setup();
  expect(await journal.read('invoice 4711')).toMatchObject({ state: 'sending', expiresAt: null });
  const open = await run(collect(payments.transfers.listUndecided()));
  expect(open[0]).toMatchObject({ state: 'sending', expiresAt: null });
});

test('`gracePeriod: Infinity` never resends, but finds a listed payment', async () => {
  const { clock, sandbox, pay, doubt } = await setup();
  clock.jump(365 * 24 * 60 * minute);
  const error = await doubt();
  expect(error).toMatchObject({
    reason: 'in_doubt',
    retryable: true,
    retryAfterMs: defaultGracePeriod,
  });
  expect(error.message).toContain('never sent again by itself');
  sandbox.transfers.create(input);
  clock.jump(defaultGracePeriod);
  expect((await pay()).result).toBe('found');
});

test('a claim without expiry is in_progress for totalTimeout, then in_doubt', async () => {
  const { clock, doubt, endless } = await setup();
  expect((await doubt(endless)).reason).toBe('in_progress');
  clock.jump(2 * minute);
  expect((await doubt(endless)).reason).toBe('in_doubt');
});

test("`gracePeriod: Infinity` does not resend after another call's claim expires", async () => {
  const { clock, endless, doubt, pay } = await setup({ gracePeriod: minute });
  expect((await doubt(endless)).reason).toBe('in_progress');
  clock.jump(60 * minute);
  expect((await doubt(endless)).reason).toBe('in_doubt');
  expect((await pay()).result).toBe('created');
});

test('a caller with a short gracePeriod takes over no claim without expiry', async () => {
  const { clock, payments, doubt } = await setup();
  clock.jump(365 * 24 * 60 * minute);
  const hasty = payments.withOptions({ gracePeriod: minute });
  expect((await doubt(hasty)).reason).toBe('in_doubt');
});

test('`gracePeriod: Infinity` does not take over an expired 0.4.0 claim', async () => {
  const { clock, endless, doubt, pay, journal } = await setup({ gracePeriod: minute });
  const claim = await journal.read(input.description);
  if (claim?.state !== 'sending') throw new Error('The payment is not in doubt.');
  const { deadline: _deadline, ...old } = claim;
  expect(await journal.swap(input.description, claim, old)).toBe(true);
  clock.jump(60 * minute);
  expect((await doubt(endless)).reason).toBe('in_doubt');
  expect((await pay()).result).toBe('created');
});

test('a claim without expiry can be decided not_paid after the default times', async () => {
  const { clock, payments, run, pay } = await setup();
  const decide = () => run(payments.transfers.decide('invoice 4711', 'not_paid'));
  clock.jump(fixedTimes.totalTimeout + defaultGracePeriod - minute);
  const error = await failureOf(decide(), PaymentInDoubtError);
  expect(error.reason).toBe('in_doubt');
  expect(error.retryAfterMs).toBeLessThanOrEqual(minute);
  clock.jump(minute);
  await decide();
  expect((await pay()).result).toBe('created');
});

test('`decide` with `gracePeriod: Infinity` waits for the default gracePeriod', async () => {
  const { clock, endless, run } = await setup({ gracePeriod: minute });
  const decide = () => run(endless.transfers.decide('invoice 4711', 'not_paid'));
  clock.jump(fixedTimes.totalTimeout + 5 * minute);
  const error = await failureOf(decide(), PaymentInDoubtError);
  expect(error.retryAfterMs).toBeGreaterThan(9 * minute);
  clock.jump(10 * minute);
  await decide();
});
