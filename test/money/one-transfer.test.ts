import { PaymentInDoubtError, PaymentsClient, type OnceInput } from 'payments-platform-sdk';
import { memoryJournal, type Journal, type JournalEntry } from 'payments-platform-sdk/journals';
import { isDeepStrictEqual } from 'node:util';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { expect, test, vi } from 'vitest';
import { failureOf } from '../support/clients.ts';
import { fixedTimes } from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

/*
 * One transfer is never the payment of two references. The journal has the transfer of each paid
 * entry, so it sees what a platform that merges equal payments, or a copied response, has done.
 */

const { totalTimeout, gracePeriod } = fixedTimes;
const inputOf = (description: string): OnceInput => ({
  sourceAccountId: 'acc_000001',
  destinationAccountId: 'acc_000002',
  amount: '5.00',
  description,
});

function createPlatform(): Sandbox {
  const sandbox = new Sandbox();
  const { id: entityId } = sandbox.entities.create({ email: 'ada@example.com' });
  for (const name of ['Source', 'Destination']) sandbox.accounts.create({ entityId, name });
  sandbox.accounts.fund('acc_000001', '1000');
  return sandbox;
}

/** A journal of somebody's own, which knows nothing of transfers. */
function withoutFind({ now }: Journal, entries = new Map<string, JournalEntry>()): Journal {
  return {
    read: (reference) => Promise.resolve(entries.get(reference)),
    swap: (reference, before, after) => {
      if (!isDeepStrictEqual(entries.get(reference), before)) return Promise.resolve(false);
      if (after === undefined) entries.delete(reference);
      else entries.set(reference, after);
      return Promise.resolve(true);
    },
    now,
  };
}
const journals: readonly [string, (journal: Journal) => Journal][] = [
  ['of the package', (journal) => journal],
  ['without find', (journal) => withoutFind(journal)],
];

/** A platform that takes equal payments for duplicates, and responds with the first transfer. */
function setup(adapt: (journal: Journal) => Journal = (journal) => journal) {
  const clock = new VirtualClock(Date.UTC(2026, 10, 28, 2));
  const sandbox = createPlatform();
  const journal = adapt(memoryJournal({ now: () => clock.now() }));
  let first: string | undefined;
  const fetch = async (request: Request): Promise<Response> => {
    if (request.method !== 'POST') return sandbox.fetch(request);
    if (first !== undefined) return Response.json({ ...JSON.parse(first) }, { status: 201 });
    const response = await sandbox.fetch(request);
    const { id, status, type, createdAt } = (await response.json()) as Record<string, unknown>;
    first = JSON.stringify({ id, status, type, createdAt });
    return new Response(first, { status: 201 });
  };
  const stopMerging = (): void => {
    first = undefined;
  };
  // Each call has a client of its own, as in two processes.
  const createClient = () =>
    new PaymentsClient({ ...sandbox.clientOptions, ...fixedTimes, fetch, clock, journal });
  const run = <T>(call: PromiseLike<T>) => clock.runTimersDuring(Promise.resolve(call));
  const pay = (reference: string) => run(createClient().transfers.createOnce(inputOf(reference)));
  const wait = () => clock.advance(totalTimeout + gracePeriod);
  const { transfers } = createClient();
  return { sandbox, journal, transfers, pay, run, wait, stopMerging };
}

const ambiguousOf = async (call: PromiseLike<unknown>) => {
  const error = await failureOf(call, PaymentInDoubtError);
  expect(error.reason).toBe('ambiguous');
  return error;
};

test.each(journals)(
  "createOnce rejects as ambiguous about another payment's transfer, in a journal %s",
  async (_, adapt) => {
    const { journal, pay, sandbox } = setup(adapt);
    const { id } = await pay('s-1');
    const error = await ambiguousOf(pay('s-2'));
    expect(error.candidates).toEqual([id]);
    expect(error.message).toContain('for s-1');
    expect(await journal.read('s-1')).toMatchObject({ state: 'paid', transferId: id });
    expect(await journal.read('s-2')).toMatchObject({ state: 'ambiguous', sharedWith: 's-1' });
    expect(sandbox.transfers.list()).toHaveLength(1);
  },
);

test('createOnce does not send a payment that shares a transfer again', async () => {
  const { pay, wait, sandbox, stopMerging } = setup();
  await pay('s-1');
  await ambiguousOf(pay('s-2'));
  stopMerging();
  for (let times = 1; times <= 3; times += 1) {
    await wait();
    expect((await ambiguousOf(pay('s-2'))).message).toContain('for s-1');
  }
  expect(sandbox.transfers.list()).toHaveLength(1);
});

test('a payment stays in doubt if its shared transfer cannot be read', async () => {
  const { pay, journal, sandbox } = setup();
  await pay('s-1');
  const fault = { kind: 'status', status: 503 } as const;
  sandbox.faults.add({ operation: 'transfers.get', times: 9, fault });
  const error = await failureOf(pay('s-2'), PaymentInDoubtError);
  expect(error).toMatchObject({ reason: 'in_doubt', outcome: 'unknown' });
  expect(await journal.read('s-2')).toMatchObject({ state: 'sending' });
});

test('a payment that shared a transfer ends when its own is listed', async () => {
  const { pay, sandbox } = setup();
  await pay('s-1');
  await ambiguousOf(pay('s-2'));
  const { id } = sandbox.transfers.create(inputOf('s-2'));
  expect(await pay('s-2')).toMatchObject({ result: 'found', id });
});

test('an operator may decide not_paid for a payment that shares its transfer', async () => {
  const { pay, wait, run, transfers, sandbox, stopMerging } = setup();
  const { id } = await pay('s-1');
  await ambiguousOf(pay('s-2'));
  await wait();
  const conflict = await failureOf(run(transfers.decide('s-2', id)), PaymentInDoubtError);
  expect(conflict.reason).toBe('conflict');
  await run(transfers.decide('s-2', 'not_paid', { by: 'ada' }));
  stopMerging();
  expect(await pay('s-2')).toMatchObject({ result: 'created' });
  expect(sandbox.transfers.list()).toHaveLength(2);
});

test('if the platform merges two payments, a batch pays only one', async () => {
  const { run, transfers } = setup();
  const inputs = ['s-1', 's-2'].map(inputOf);
  const { counts, unpaid } = await run(
    transfers.createAllOnce(inputs, { concurrency: 1, retryTimeout: 1 }),
  );
  expect(counts).toMatchObject({ created: 1, inDoubt: 1 });
  expect(unpaid[0]?.error).toMatchObject({ reason: 'ambiguous' });
});

test.each(journals)(
  'a journal %s accepts transfer ids that a new sandbox repeats',
  async (_, adapt) => {
    const print = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const journal = adapt(memoryJournal());
    const results: unknown[] = [];
    for (let round = 1; round <= 3; round += 1) {
      const sandbox = createPlatform();
      const { transfers } = new PaymentsClient({ ...sandbox.clientOptions, journal });
      for (let number = 1; number <= 5; number += 1) {
        const { id, result } = await transfers.createOnce(inputOf(`run${round}-${number}`));
        results.push(result);
        expect(await journal.read(`run${round}-${number}`)).toMatchObject({ transferId: id });
      }
      expect(sandbox.transfers.list()).toHaveLength(5);
    }
    expect(results).toEqual(Array(15).fill('created'));
    const lines = print.mock.calls.flat().filter((line) => String(line).includes('reset'));
    expect(lines).toHaveLength(1);
    // A payment of the platform before is a conflict, and not this platform's transfer.
    const { transfers } = new PaymentsClient({ ...createPlatform().clientOptions, journal });
    const old = await failureOf(transfers.createOnce(inputOf('run1-1')), PaymentInDoubtError);
    expect(old.reason).toBe('conflict');
  },
);

test.each(journals)(
  'a transfer that an operator replaced is free again (journal %s)',
  async (_, adapt) => {
    const sandbox = createPlatform();
    const journal = adapt(memoryJournal());
    const { transfers } = new PaymentsClient({ ...sandbox.clientOptions, journal });
    const { id } = sandbox.transfers.create(inputOf('s-2'));
    const byHand = sandbox.transfers.create(inputOf('by hand'));
    await transfers.decide('s-1', byHand.id, { force: true });
    const right = sandbox.transfers.create(inputOf('s-1'));
    await transfers.decide('s-1', right.id, { force: true });
    await transfers.decide('by hand', byHand.id);
    expect(await journal.read('by hand')).toMatchObject({ state: 'paid', transferId: byHand.id });
    await transfers.decide('s-2', id);
  },
);

test('a custom journal works after it is emptied with its sandbox', async () => {
  const entries = new Map<string, JournalEntry>();
  const journal = withoutFind(memoryJournal(), entries);
  for (const reference of ['s-1', 's-2']) {
    entries.clear();
    const { transfers } = new PaymentsClient({ ...createPlatform().clientOptions, journal });
    const made = await transfers.createOnce(inputOf(reference));
    expect(made).toMatchObject({ id: 'txfr_000001', result: 'created' });
    expect(await journal.read(reference)).toMatchObject({ state: 'paid' });
  }
});

test('two platforms in one journal may share a transfer id', async () => {
  const journal = memoryJournal();
  for (const name of ['staging', 'production']) {
    const sandbox = createPlatform();
    const baseUrl = `https://${name}.example.com/v0`;
    const fetch = (request: Request) =>
      sandbox.fetch(new Request(request.url.replace(name, 'api'), request));
    const options = { ...sandbox.clientOptions, baseUrl, rootUrl: `https://${name}.example.com` };
    const { transfers } = new PaymentsClient({ ...options, fetch, journal });
    expect(await transfers.createOnce(inputOf(`of ${name}`))).toMatchObject({
      id: 'txfr_000001',
      result: 'created',
    });
  }
});

test("createOnce does not believe a response with another payment's terms", async () => {
  const sandbox = createPlatform();
  const other = { amount: '99.00', destinationAccountId: 'acc_000003', description: 'first' };
  const fetch = async (request: Request): Promise<Response> => {
    const response = await sandbox.fetch(request);
    if (request.method !== 'POST') return response;
    return Response.json(
      { ...((await response.json()) as object), ...other, id: 'txfr_other' },
      { status: 201 },
    );
  };
  const journal = memoryJournal();
  const options = { ...sandbox.clientOptions, validation: 'report', fetch, journal } as const;
  const made = await new PaymentsClient(options).transfers.createOnce(inputOf('second'));
  // The list shows the payment, so the call knows better than the response.
  expect(made).toMatchObject({ result: 'found', id: 'txfr_000001' });
});
