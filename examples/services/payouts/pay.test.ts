// The moments that a batch meets by chance only: two workers with the same job, a worker that dies
// between its claim and its request, a request that arrives late.
import { PaymentsClient } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import type { Entry, Journal } from './journal.ts';
import { pay, type Payout, type Verdict } from './pay.ts';

const limits = { sending: 2_000, settled: 6_000 };

/** A platform with a payout to make, and a journal whose clock the test moves. */
function world(
  fetch?: (request: Request, sandbox: Sandbox) => Promise<Response>,
  funds = '100.00',
) {
  const sandbox = new Sandbox();
  const { id: entityId } = sandbox.entities.create({ email: 'ada@example.com' });
  const from = sandbox.accounts.create({ entityId }).id;
  const to = sandbox.accounts.create({ entityId }).id;
  sandbox.accounts.fund(from, funds);
  const payments = new PaymentsClient({
    ...sandbox.clientOptions,
    ...(fetch === undefined ? {} : { fetch: (request) => fetch(request, sandbox) }),
  });
  const payout: Payout = { reference: 'payroll/1', from, to, amount: '10.00' };
  const texts = new Map<string, string>();
  const textOf = (entry: Entry | undefined) => entry && JSON.stringify(entry);
  let now = Date.now();
  const journal: Journal = {
    read: async (reference) => {
      const text = texts.get(reference);
      return text === undefined ? undefined : (JSON.parse(text) as Entry);
    },
    swap: async (reference, before, after) => {
      if (texts.get(reference) !== textOf(before)) return false;
      const text = textOf(after);
      if (text === undefined) texts.delete(reference);
      else texts.set(reference, text);
      return true;
    },
    now: async () => now,
  };
  return {
    sandbox,
    journal,
    payout,
    pay: (): Promise<Verdict> => pay(payments, journal, payout, limits),
    pass: (ms: number) => (now += ms),
    made: () => sandbox.transfers.list().length,
  };
}

test('two workers with the same job pay once', async () => {
  const { pay, made } = world();
  const verdicts = await Promise.all([pay(), pay()]);
  expect(verdicts.map(({ state }) => state).toSorted()).toEqual(['paid', 'wait']);
  expect(await pay()).toMatchObject({ state: 'paid', how: 'known' });
  expect(made()).toBe(1);
});

test('what a killed worker has claimed is sent when its request can no longer arrive', async () => {
  const { pay, made, pass, journal, payout } = world();
  const begun = await journal.now();
  await journal.swap(payout.reference, undefined, { state: 'sending', by: 'the dead', begun });
  pass(5_000);
  expect(await pay()).toEqual({ state: 'wait', ms: 1_000 });
  expect(made()).toBe(0);
  pass(1_000);
  expect(await pay()).toMatchObject({ state: 'paid', how: 'answered' });
  expect(made()).toBe(1);
});

test('a request that arrives late is found, not made again', async () => {
  const held: Request[] = [];
  const { pay, made, sandbox } = world(async (request, { fetch }) => {
    if (request.method !== 'POST') return fetch(request);
    held.push(request.clone());
    throw new TypeError('the connection was reset');
  });
  expect(await pay()).toMatchObject({ state: 'wait' });
  expect(await pay()).toMatchObject({ state: 'wait' });
  for (const request of held) await sandbox.fetch(request);
  expect(await pay()).toMatchObject({ state: 'paid', how: 'reconciled' });
  expect(made()).toBe(1);
});

test('a look that breaks off is repeated later, and nothing is sent for it', async () => {
  const { pay, made, pass, sandbox } = world();
  const isDown = { kind: 'status', status: 503 } as const;
  const reset = { kind: 'reset', when: 'after_commit' } as const;
  sandbox.faults.add({ operation: 'transfers.create', times: 1, fault: reset });
  sandbox.faults.add({ operation: 'transfers.list', times: 6, fault: isDown });
  expect(await pay()).toEqual({ state: 'wait', ms: 6_000 });
  pass(6_000);
  expect(await pay()).toEqual({ state: 'wait', ms: 6_000 });
  expect(await pay()).toMatchObject({ state: 'paid', how: 'reconciled' });
  expect(made()).toBe(1);
});

test('a refusal gives the claim back', async () => {
  const { pay, made, sandbox } = world();
  sandbox.faults.add({
    operation: 'transfers.create',
    fault: { kind: 'status', status: 422 },
  });
  await expect(pay()).rejects.toMatchObject({ outcome: 'rejected' });
  expect(await pay()).toMatchObject({ state: 'paid', how: 'answered' });
  expect(made()).toBe(1);
});

test('a refusal that an earlier request has caused, by arriving late, is none', async () => {
  const held: Request[] = [];
  const { pay, made, pass } = world(async (request, { fetch }) => {
    if (request.method === 'POST' && held.length === 0) {
      held.push(request.clone());
      throw new TypeError('the connection was reset');
    }
    // Between the look and the second request the first one arrives, and takes the money.
    if (request.method === 'POST') for (const late of held) await fetch(late);
    return fetch(request);
  }, '10.00');
  expect(await pay()).toMatchObject({ state: 'wait' });
  pass(6_000);
  expect(await pay()).toMatchObject({ state: 'paid', how: 'reconciled' });
  expect(made()).toBe(1);
});

test('a second request that is refused leaves the first one in doubt', async () => {
  const { pay, made, pass, sandbox, journal, payout } = world();
  const begun = await journal.now();
  const claim: Entry = { state: 'sending', by: 'the dead', begun };
  await journal.swap(payout.reference, undefined, claim);
  pass(6_000);
  sandbox.faults.add({ operation: 'transfers.create', fault: { kind: 'status', status: 422 } });
  await expect(pay()).rejects.toMatchObject({ outcome: 'rejected' });
  expect(await journal.read(payout.reference)).toEqual(claim);
  expect(await pay()).toMatchObject({ state: 'paid', how: 'answered' });
  expect(made()).toBe(1);
});

test('two transfers that fit are for a person', async () => {
  const { pay, made, sandbox, payout } = world();
  const { from: sourceAccountId, to: destinationAccountId, amount, reference } = payout;
  const input = { sourceAccountId, destinationAccountId, amount, description: reference };
  sandbox.transfers.create(input);
  sandbox.faults.add({
    operation: 'transfers.create',
    fault: { kind: 'reset', when: 'after_commit' },
  });
  expect(await pay()).toMatchObject({ state: 'unclear' });
  expect(await pay()).toMatchObject({ state: 'unclear' });
  expect(made()).toBe(2);
});
