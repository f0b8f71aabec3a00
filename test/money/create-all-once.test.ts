import {
  AbortError,
  AuthenticationError,
  ConfigurationError,
  PaymentInDoubtError,
  PaymentsClient,
  PermissionDeniedError,
  UnprocessableEntityError,
  ValidationError,
  type BatchOptions,
  type BatchResult,
  type ClientOptions,
  type OnceInput,
} from 'payments-platform-sdk';
import { memoryJournal, type JournalEntry } from 'payments-platform-sdk/journals';
import { describe, expect, test, vi } from 'vitest';
import { clientOf, failureOf, respond } from '../support/clients.ts';
import { transferCreated } from '../support/values.ts';
import { flushPromises } from '../support/virtual-clock.ts';
import {
  claimAsDead,
  collect,
  createSalaries,
  gracePeriod,
  otherCompany,
  salaryOf,
  setupBatch,
  totalTimeout,
  noCounts,
} from './batches.ts';
import type { OnceEvent } from '../../src/calls/hooks.ts';

const rejection = { kind: 'status', status: 422, code: 'insufficient_funds' } as const;

/** A promise that the test resolves. */
function createBarrier() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { promise, open: () => resolve() };
}

describe('results of createAllOnce', () => {
  test('a batch counts each payment before its result is returned', async () => {
    const { payments, run, paid, operations } = setupBatch();
    const salaries = createSalaries(3);
    const batch = payments.transfers.createAllOnce(salaries, { concurrency: 1 });
    const { counts } = batch;
    expect(counts).toEqual({ ...noCounts, total: 3 });
    const seen: number[] = [];
    await run(
      (async () => {
        for await (const { input, result, transferId, transfer, error } of batch) {
          seen.push(batch.counts.paid);
          expect(input).toBe(salaries[seen.length - 1]);
          expect([result, error]).toEqual(['created', undefined]);
          expect(transfer).toMatchObject({ id: transferId, status: 'pending' });
        }
      })(),
    );
    expect(seen).toEqual([1, 2, 3]);
    expect(counts).toEqual({ ...noCounts, created: 3, paid: 3, total: 3 });
    expect(paid()).toEqual(salaries.map(({ description }) => description));
    expect(operations()).toEqual(Array(3).fill('transfers.create'));
  });

  test('a batch yields results in the order in which payments end', async () => {
    const barrier = createBarrier();
    let creations = 0;
    const { payments } = setupBatch({
      onRequest: () => ((creations += 1) === 1 ? barrier.promise : undefined),
    });
    const batch = payments.transfers.createAllOnce(createSalaries(3));
    setTimeout(barrier.open, 20);
    const results = await collect(batch);
    expect(results.map(({ input }) => input.description.at(-1))).toEqual(['2', '3', '1']);
  });

  test('a batch reads only the first of its recorded transfers', async () => {
    const { payAll, operations } = setupBatch();
    await payAll(createSalaries(5));
    const sent = operations().length;
    const results = await payAll(createSalaries(6));
    const kinds = results.map(({ result }) => result).toSorted();
    expect(kinds).toEqual(['created', ...Array<string>(5).fill('recorded')]);
    const recorded = results.filter(({ result }) => result === 'recorded');
    expect(recorded.every(({ transferId }) => transferId?.startsWith('txfr_'))).toBe(true);
    expect(recorded.filter(({ transfer }) => transfer !== undefined)).toHaveLength(1);
    expect(operations().slice(sent).toSorted()).toEqual(['transfers.create', 'transfers.get']);
  });

  test.each([
    ['has no transfer with the recorded id', 0],
    ['has another transfer with the recorded id', 5],
  ])("a batch detects another platform's journal if its own platform %s", async (_, history) => {
    const { journal, payAll, clock } = setupBatch();
    await payAll(createSalaries(3));
    const elsewhere = setupBatch({
      history,
      // A young payment may be missing on a replica.
      wrapJournal: () => ({ ...journal, now: async () => clock.now() + gracePeriod }),
    });
    const results = await elsewhere.payAll(createSalaries(3));
    expect(results.map(({ result }) => result)).toEqual(Array(3).fill('in_doubt'));
    for (const { error } of results) {
      expect(error?.message).toContain('Check that the journal belongs to this platform');
    }
    expect(elsewhere.paid()).toEqual([]);
  });

  test('a batch repeats a failed read of a recorded transfer once', async () => {
    const { payAll, sandbox, count } = setupBatch({}, { maxRetries: 0 });
    await payAll(createSalaries(3));
    const fault = { kind: 'status', status: 404 } as const;
    sandbox.faults.add({ operation: 'transfers.get', fault });
    const results = await payAll(createSalaries(3));
    // Young payments may be missing on a replica, so the first one is read again.
    expect(results.map(({ result }) => result)).toEqual(Array(3).fill('recorded'));
    expect(count('transfers.get')).toBe(2);
  });

  test('a listed payment that the journal has lost has result `found`', async () => {
    const { payAll, lose, count } = setupBatch({ forgets: true, history: 150 });
    const [first] = await payAll(createSalaries(2));
    await lose(salaryOf(1).description);
    const [again] = await payAll([salaryOf(1)]);
    expect(again).toMatchObject({ result: 'found', transferId: first?.transferId });
    expect(again?.transfer?.id).toBe(first?.transferId);
    expect(count('transfers.create')).toBe(2);
  });

  test('an unpaid row has the error of createOnce, with its call site', async () => {
    const { payments, payAll, sandbox, run } = setupBatch();
    sandbox.faults.add({ operation: 'transfers.create', times: 2, fault: rejection });
    const single = await failureOf(run(payments.transfers.createOnce(salaryOf(1))));
    const [result] = await (async function payrollOfTheTest() {
      const batch = payments.transfers.createAllOnce([salaryOf(2)]);
      return run(collect(batch));
    })();
    expect(result).toMatchObject({ result: 'not_paid' });
    expect(result?.error).toBeInstanceOf(UnprocessableEntityError);
    expect(result?.error?.toJSON()).toMatchObject({
      message: single.message.replace('req_000001', 'req_000002'),
      operation: single.operation,
      outcome: 'rejected',
    });
    expect(result?.error?.stack).toMatch(/payrollOfTheTest.*create-all-once\.test\.ts/);
    expect(await payAll([salaryOf(2)])).toMatchObject([{ result: 'created' }]);
  });

  test('a payment in doubt has the same error as in createOnce', async () => {
    const world = setupBatch();
    await claimAsDead(world, salaryOf(1));
    const single = await failureOf(world.payments.transfers.createOnce(salaryOf(1)));
    const batch = world.payments.transfers.createAllOnce(createSalaries(2), { retryTimeout: 1 });
    const results = await world.run(collect(batch));
    expect(results.map(({ result }) => result).toSorted()).toEqual(['created', 'in_doubt']);
    const error = results.find(({ result }) => result === 'in_doubt')?.error;
    expect(error).toBeInstanceOf(PaymentInDoubtError);
    expect(error?.message).toBe(single.message);
    expect(batch.counts).toEqual({ ...noCounts, created: 1, paid: 1, inDoubt: 1, total: 2 });
  });

  test('a second loop runs the batch again, counting from zero', async () => {
    const { payments, run, count } = setupBatch();
    const batch = payments.transfers.createAllOnce(createSalaries(4));
    await run(collect(batch));
    const again = await run(collect(batch));
    expect(again.map(({ result }) => result)).toEqual(Array(4).fill('recorded'));
    expect(batch.counts).toEqual({ ...noCounts, recorded: 4, paid: 4, total: 4 });
    expect(count('transfers.create')).toBe(4);
  });

  test('two awaits of one batch share a run and its summary', async () => {
    const { payments, sandbox, run, paid, count } = setupBatch();
    const fault = { kind: 'status', status: 422 } as const;
    sandbox.faults.add({ operation: 'transfers.create', after: 1, fault });
    const batch = payments.transfers.createAllOnce(createSalaries(3), { concurrency: 1 });
    const [summary, same] = await run(Promise.all([batch, batch.then((each) => each)]));
    expect(summary).toEqual({
      counts: { ...noCounts, created: 2, paid: 2, notPaid: 1, total: 3 },
      unpaid: [expect.objectContaining({ reference: salaryOf(2).description, result: 'not_paid' })],
    });
    expect(same).toBe(summary);
    expect([paid().length, count('transfers.create')]).toEqual([2, 3]);
    // A loop after await runs the batch again.
    const again = await run(collect(batch));
    expect(again.map(({ result }) => result).toSorted()).toEqual([
      'created',
      'recorded',
      'recorded',
    ]);
    expect(summary.counts).toEqual({ ...noCounts, created: 2, paid: 2, notPaid: 1, total: 3 });
  });

  test.each(['failed', 'cancelled'])(
    'a transfer created with status %s has result `failed`',
    async (status) => {
      const results: unknown[] = [];
      const { payments } = clientOf(() => respond(201, { ...transferCreated, status }), {
        journal: memoryJournal(),
        hooks: { onOnce: ({ result }) => results.push(result) },
      });
      const { counts, unpaid } = await payments.transfers.createAllOnce([salaryOf(1)]);
      expect(counts).toEqual({ ...noCounts, failed: 1, total: 1 });
      expect(unpaid).toMatchObject([{ result: 'failed', transferId: 'txfr_1' }]);
      expect(unpaid[0]?.error).toBeUndefined();
      expect(results).toEqual(['failed']);
    },
  );

  test('a recorded transfer that has failed has result `failed`', async () => {
    const { payments, payAll, run, sandbox, count } = setupBatch();
    const [first] = await payAll(createSalaries(1));
    sandbox.transfers.fail(String(first?.transferId));
    const { counts, unpaid } = await run(
      payments.transfers.createAllOnce(createSalaries(1)).then((summary) => summary),
    );
    expect(counts).toEqual({ ...noCounts, failed: 1, total: 1 });
    expect(unpaid).toMatchObject([{ result: 'failed', transfer: { status: 'failed' } }]);
    expect(count('transfers.create')).toBe(1);
  });

  test.each(['fail', 'cancel'] as const)(
    'a transfer that a search finds ended (%s) has result `failed`',
    async (end) => {
      const ended: unknown[] = [];
      const hooks = { onOnce: ({ result }: OnceEvent) => ended.push(result) };
      const { payments, payAll, run, sandbox, lose, count } = setupBatch(
        { forgets: true },
        { hooks },
      );
      const rows = await payAll(createSalaries(2));
      for (const { reference = '', transferId } of rows) {
        sandbox.transfers[end](String(transferId));
        await lose(reference);
      }
      const single = await run(payments.transfers.createOnce(salaryOf(1)));
      expect(single).toMatchObject({
        result: 'found',
        status: `${end}${end === 'fail' ? 'ed' : 'led'}`,
      });
      const batch = payments.transfers.createAllOnce([salaryOf(2)]);
      expect(await run(collect(batch))).toMatchObject([{ result: 'failed' }]);
      expect(batch.counts).toEqual({ ...noCounts, failed: 1, total: 1 });
      expect(ended).toEqual(['created', 'created', 'failed', 'failed']);
      expect(count('transfers.create')).toBe(2);
    },
  );

  test('a batch that is neither awaited nor iterated sends nothing', async () => {
    const { payments, operations } = setupBatch();
    payments.transfers.createAllOnce(createSalaries(3));
    await flushPromises(20);
    expect(operations()).toEqual([]);
  });

  test('a wrong expect.count rejects each await with the same error', async () => {
    const { payments, run } = setupBatch();
    const batch = payments.transfers.createAllOnce(createSalaries(3), { expect: { count: 2 } });
    const error = await run(failureOf(batch, ValidationError));
    expect(error.stack).toContain('create-all-once.test.ts');
    let isDone = false;
    await run(batch.catch(() => undefined).finally(() => (isDone = true)));
    await expect(run(batch.finally(() => undefined))).rejects.toBe(error);
    expect(isDone).toBe(true);
  });

  test('each result has the reference that its input had when read', async () => {
    const { payAll } = setupBatch();
    function* reusedRow(): Generator<OnceInput> {
      const row: OnceInput = { ...salaryOf(1) };
      for (const [description, amount] of [
        ['salary 1', '0'],
        ['salary 2', '20.50'],
        [4711, '20.50'],
        ['salary 2', '20.50'],
      ]) {
        Object.assign(row, { description, amount });
        yield row;
      }
    }
    const results = await payAll(reusedRow(), { concurrency: 1 });
    expect(results.map(({ reference, result }) => `${reference} ${result}`).toSorted()).toEqual([
      'salary 1 not_paid',
      'salary 2 created',
      'salary 2 recorded',
      'undefined not_paid',
    ]);
  });

  test('an entry of another platform is a conflict if status 404 follows', async () => {
    const { payments, sandbox, run, journal, clock } = setupBatch();
    await run(payments.transfers.createOnce(salaryOf(1)));
    const recorded = await journal.read(salaryOf(1).description);
    if (recorded?.state !== 'paid') throw new Error('salary 1 is not paid');
    const elsewhere = { ...recorded, platform: 'https://old.example.com/v0' };
    await journal.swap(salaryOf(1).description, recorded, elsewhere);
    sandbox.faults.add({
      operation: 'transfers.get',
      times: Infinity,
      fault: { kind: 'status', status: 404 },
    });
    const startedAt = clock.now();
    const single = await run(
      failureOf(payments.transfers.createOnce(salaryOf(1)), PaymentInDoubtError),
    );
    const { unpaid } = await run(Promise.resolve(payments.transfers.createAllOnce([salaryOf(1)])));
    expect(clock.now()).toBe(startedAt);
    for (const error of [single, unpaid[0]?.error]) {
      expect(error).toMatchObject({ reason: 'conflict', retryable: false });
      expect(error?.message).toContain('https://old.example.com/v0');
    }
  });

  test('an entry of another platform counts only if its transfer exists here', async () => {
    const { payments, run, payAll, journal } = setupBatch();
    await payAll(createSalaries(3));
    const move = async (number: number, transferId: string) => {
      const { description } = salaryOf(number);
      const entry = await journal.read(description);
      const moved = {
        ...entry,
        platform: 'https://old.example.com/v0',
        transferId,
      } as JournalEntry;
      await journal.swap(description, entry, moved);
    };
    // The second payment moved here with its platform. The third is of a platform with equal ids.
    await move(2, 'txfr_000002');
    await move(3, 'txfr_000001');
    const results = await payAll(createSalaries(3), { concurrency: 1 });
    expect(results.map(({ result }) => result)).toEqual(['recorded', 'recorded', 'in_doubt']);
    expect(results[2]?.error).toMatchObject({ reason: 'conflict', retryable: false });
    const single = await run(failureOf(payments.transfers.createOnce(salaryOf(3))));
    expect(single).toMatchObject({ reason: 'conflict' });
  });

  test('a batch warns once about payments made over a week ago', async () => {
    const { payAll, clock, paid } = setupBatch();
    const warned = vi.spyOn(console, 'warn').mockReturnValue();
    const lines = () => warned.mock.calls.map(([line]) => String(line));
    await payAll(createSalaries(1));
    clock.jump(86_400_000);
    await payAll(createSalaries(3));
    clock.jump(6.5 * 86_400_000);
    const rows = await payAll(createSalaries(1, 3));
    expect(rows.map(({ result }) => result)).toEqual(['recorded']);
    expect(lines()).toEqual([]);
    clock.jump(86_400_000);
    await payAll(createSalaries(4));
    expect(paid()).toHaveLength(4);
    expect(lines()).toEqual([
      'payments-platform-sdk: 3 rows of a batch belong to payments that were made more than a week ago, the first on 2026-01-15, so nothing was paid for them. If they were meant to pay again, they need other references.',
    ]);
  });

  test.each([false, true])('two concurrent batches pay once (forgets: %s)', async (forgets) => {
    const { payments, run, paid } = setupBatch({ forgets });
    const salaries = createSalaries(40);
    const batches = [salaries, salaries.toReversed()].map((inputs) =>
      collect(payments.transfers.createAllOnce(inputs)),
    );
    const results = await run(Promise.all(batches));
    expect(results.flat().every(({ error }) => error === undefined)).toBe(true);
    expect(paid().toSorted()).toEqual(salaries.map(({ description }) => description));
  });
});

describe('inputs of createAllOnce', () => {
  test.each<[string, unknown]>([
    ['null', null],
    ['undefined', undefined],
    ['a number', 7],
    ['a string', 'salary'],
    ['an amount of zero', { ...salaryOf(9), amount: '0' }],
    ['an amount that is a number', { ...salaryOf(9), amount: 12.5 }],
    ['no reference', { ...salaryOf(9), description: undefined }],
    ['an unknown field', { ...salaryOf(9), ammount: '1' }],
    ['an undocumented id', { ...salaryOf(9), sourceAccountId: 'txfr_000001' }],
  ])('a batch reports an invalid input (%s) and pays the others', async (_, invalid) => {
    for (const forgets of [false, true]) {
      const { payAll, paid, sandbox } = setupBatch({ forgets });
      const inputs = [salaryOf(1), invalid as OnceInput, salaryOf(2)];
      const results = await payAll(inputs);
      const failed = results.filter(({ result }) => result === 'not_paid');
      expect(failed).toMatchObject([{ error: { outcome: 'not_sent' } }]);
      expect(failed[0]?.error).toBeInstanceOf(ValidationError);
      expect(failed[0]?.input).toBe(invalid);
      expect(paid()).toHaveLength(2);
      expect(sandbox.log.filter(({ status }) => status !== 201 && status !== 200)).toEqual([]);
    }
  });

  /** Each result of a batch whose inputs have one reference, in short. */
  const outline = (results: readonly BatchResult[]) =>
    results.map(({ result, error }) =>
      error instanceof PaymentInDoubtError ? `${result} ${error.reason}` : result,
    );
  const raised = { ...salaryOf(1), amount: '99.00' };
  const inCapitals = { ...salaryOf(1), description: salaryOf(1).description.toUpperCase() };

  test('a second input with the same reference waits for the first', async () => {
    const barrier = createBarrier();
    const { payments, run, paid, operations, waitUntilIdle, clock } = setupBatch({
      onRequest: () => barrier.promise,
    });
    const batch = payments.transfers.createAllOnce([salaryOf(1), raised, salaryOf(1), inCapitals]);
    const results = collect(batch);
    await waitUntilIdle();
    expect(batch.counts).toMatchObject({ paid: 0, inDoubt: 0, waiting: 3 });
    // The followers wait for a payment, so no timer ends at once.
    expect(clock.lengths.filter((length) => !(length > 0 && length < 3_600_000))).toEqual([]);
    barrier.open();
    const rows = await run(results);
    expect(rows[0]).toMatchObject({ result: 'created' });
    const { transferId } = rows[0] ?? {};
    expect(outline(rows.slice(1)).toSorted()).toEqual([
      'in_doubt conflict',
      'in_doubt conflict',
      'recorded',
    ]);
    expect(rows.find(({ result }) => result === 'recorded')).toMatchObject({ transferId });
    expect(paid()).toHaveLength(1);
    expect(operations().filter((operation) => operation === 'transfers.create')).toHaveLength(1);
  });

  test.each([1, 16])(
    'a second input with a rejected reference is rejected, too (concurrency %d)',
    async (concurrency) => {
      const { payAll, sandbox, operations } = setupBatch();
      sandbox.faults.add({ operation: 'transfers.create', fault: rejection });
      const inputs = [salaryOf(1), salaryOf(1), raised, { ...salaryOf(1), amount: '12.5' }];
      const rows = await payAll([...inputs, inCapitals].values(), { concurrency });
      expect(rows[0]?.error).toBeInstanceOf(UnprocessableEntityError);
      expect(rows.map(({ input }) => input.amount)).toContain('12.5');
      expect(outline(rows).toSorted()).toEqual([
        'in_doubt conflict',
        'in_doubt conflict',
        'not_paid',
        'not_paid',
        'not_paid',
      ]);
      const same = rows.filter(({ result }) => result === 'not_paid');
      expect(new Set(same.map(({ error }) => error)).size).toBe(1);
      const conflict = rows.find(({ input }) => input === raised);
      expect(conflict?.error).toMatchObject({ reason: 'conflict', retryable: false });
      expect(conflict?.error?.message).toContain('with other terms: amount');
      expect(operations()).toEqual(['transfers.create']);
    },
  );

  test('a second input with the reference is equally in doubt or invalid', async () => {
    const pay = async (
      first: OnceInput,
      prepare: (world: ReturnType<typeof setupBatch>) => void,
    ) => {
      const world = setupBatch();
      prepare(world);
      const rows = await world.payAll([first, { ...first }, salaryOf(2)], { retryTimeout: 1_000 });
      return {
        rows: rows.filter(({ input }) => input.description !== salaryOf(2).description),
        world,
      };
    };
    const lost = await pay(salaryOf(1), ({ sandbox }) => {
      const fault = { kind: 'reset', when: 'before_commit' } as const;
      sandbox.faults.add({ operation: 'transfers.create', times: 2, fault });
    });
    expect(outline(lost.rows)).toEqual(['in_doubt in_doubt', 'in_doubt in_doubt']);
    expect(lost.rows[1]?.error).toBe(lost.rows[0]?.error);
    const invalid = await pay({ ...salaryOf(1), amount: '12,50' }, () => undefined);
    expect(invalid.rows[0]?.error).toBeInstanceOf(ValidationError);
    expect(invalid.rows[1]?.error).toBe(invalid.rows[0]?.error);
    expect(invalid.world.paid()).toEqual([salaryOf(2).description]);
  });

  test('a second input with the reference has the same failed transfer', async () => {
    const fetch = async () => respond(201, { ...transferCreated, status: 'failed' });
    const { payments } = clientOf(fetch, { journal: memoryJournal() });
    const rows = await collect(payments.transfers.createAllOnce([salaryOf(1), salaryOf(1)]));
    expect(rows.map(({ result, transferId }) => [result, transferId])).toEqual([
      ['failed', 'txfr_1'],
      ['failed', 'txfr_1'],
    ]);
  });

  test('a batch keeps 1,000 errors for repeated references, then returns in_doubt', async () => {
    const { payAll, operations } = setupBatch({}, { authorize: () => false });
    const inputs = createSalaries(1_001);
    const rows = await payAll([...inputs, salaryOf(1), salaryOf(1_001)], { concurrency: 1 });
    const [forgotten, kept] = rows.slice(-2);
    expect(kept).toMatchObject({ result: 'not_paid', error: { name: 'PaymentVetoedError' } });
    expect(forgotten).toMatchObject({
      reference: salaryOf(1).description,
      result: 'in_doubt',
      error: { reason: 'in_doubt', retryable: true },
    });
    expect(operations()).toEqual([]);
  });

  test('an empty batch sends nothing', async () => {
    const { payAll, operations } = setupBatch({ forgets: true });
    expect(await payAll([])).toEqual([]);
    expect(operations()).toEqual([]);
  });

  test('a batch pays if the count and total of `expect` are correct', async () => {
    const { payAll } = setupBatch();
    const inputs = ['0.1', '0.2', '1000000000000000000000'].map((amount, at) => ({
      ...salaryOf(at),
      amount,
    }));
    const expected = { count: 3, totals: { usdc: '1000000000000000000000.30' } };
    expect(await payAll(inputs, { expect: expected })).toHaveLength(3);
  });

  test('a row without a destination does not stop a batch', async () => {
    // Eight and more payments are searched for by an index of their terms.
    const { payAll, sandbox } = setupBatch({ forgets: true });
    const { destinationAccountId: _, ...rest } = salaryOf(9);
    const inputs = [...createSalaries(8), rest] as OnceInput[];
    const rows = await payAll(inputs, { expect: { count: 9, totals: { USDC: '112.5' } } });
    expect(rows.map(({ result }) => result).toSorted()).toEqual([
      ...Array<string>(8).fill('created'),
      'not_paid',
    ]);
    expect(sandbox.transfers.list()).toHaveLength(8);
  });

  test.each<[string, (inputs: OnceInput[]) => unknown]>([
    ['replaces a row', (inputs) => (inputs[2] = { ...salaryOf(7), amount: '900.00' })],
    ['changes a row', (inputs) => Object.assign(inputs[2] ?? {}, { amount: '900.00' })],
    ['adds a row', (inputs) => inputs.push(salaryOf(inputs.length + 10))],
    ['removes the rows', (inputs) => inputs.splice(0)],
    ['sorts the rows', (inputs) => inputs.splice(0, 4, ...createSalaries(4).toReversed())],
    ['reuses one row', (inputs) => inputs.fill(salaryOf(9))],
  ])('a batch pays its array as it was if the caller %s', async (_, change) => {
    const { payments, run, sandbox } = setupBatch();
    const salaries = createSalaries(4).map((salary) => ({ ...salary }));
    const pay = async () => {
      for await (const { error } of payments.transfers.createAllOnce(salaries, {
        concurrency: 1,
      })) {
        expect(error).toBeUndefined();
        change(salaries);
      }
    };
    await run(pay());
    const paid = sandbox.transfers.list().map(({ description, amount }) => [description, amount]);
    expect(paid).toEqual(createSalaries(4).map(({ description }) => [description, '12.50']));
  });

  test('`expect` prevents payments with exchanged currencies or a lost column', async () => {
    const expected = { count: 2, totals: { USDC: '1250.00', JPYC: '300000' } };
    const pay = async (first: object, second: object) => {
      const { payAll, operations } = setupBatch();
      const rows = [
        { ...salaryOf(1), amount: '1250', ...first },
        { ...salaryOf(2), amount: '300000.0', ...second },
      ];
      const error = await payAll(rows, { expect: expected }).catch((reason: unknown) => reason);
      const sent = operations().length;
      return { sent, issues: error instanceof ValidationError ? error.issues : [] };
    };
    // The demo accounts hold no JPYC, so the sandbox rejects the second payment.
    expect(await pay({}, { currency: 'JPYC' })).toEqual({ sent: 2, issues: [] });
    expect(await pay({ currency: 'usdc' }, { currency: 'jpyc' })).toMatchObject({ issues: [] });
    const path = 'options.expect.totals';
    expect(await pay({}, {})).toEqual({
      sent: 0,
      issues: [
        { path, message: 'got inputs of 301250 in USDC; expected 1250' },
        { path, message: 'got no inputs in JPYC; expected 300000' },
      ],
    });
    expect(await pay({ currency: 'JPYC' }, { currency: 'USDC' })).toEqual({
      sent: 0,
      issues: [
        { path, message: 'got inputs of 1250 in JPYC; expected 300000' },
        { path, message: 'got inputs of 300000 in USDC; expected 1250' },
      ],
    });
    const { sent, issues } = await pay({}, { currency: 'JPYC\r' });
    expect([sent, issues.map((issue) => issue.path)]).toEqual([
      0,
      [path, path, 'inputs[1].currency'],
    ]);
    expect(issues[0]?.message).toBe('got inputs of 300000 in an invalid currency; expected none');
  });

  test.each<[string, BatchOptions['expect'], string, string]>([
    ['the number of inputs', { count: 2 }, 'options.expect.count', 'got 3 inputs; expected 2'],
    [
      'the last digit of a total',
      { totals: { USDC: '37.500000000000000001' } },
      'options.expect.totals',
      'got inputs of 37.5 in USDC; expected 37.500000000000000001',
    ],
    [
      'a total of 0',
      { totals: { USDC: '0' } },
      'options.expect.totals',
      'got inputs of 37.5 in USDC; expected 0',
    ],
    [
      'a currency that the totals lack',
      { totals: {} },
      'options.expect.totals',
      'got inputs of 37.5 in USDC; expected none',
    ],
    [
      'a currency that the inputs lack',
      { totals: { USDC: '37.50', JPYC: '300000' } },
      'options.expect.totals',
      'got no inputs in JPYC; expected 300000',
    ],
  ])('a batch sends nothing if `expect` differs in %s', async (_, expected, path, message) => {
    const { payAll, operations } = setupBatch();
    const error = await failureOf(payAll(createSalaries(3), { expect: expected }), ValidationError);
    expect(error.issues).toMatchObject([
      { path, message: expect.stringContaining(message) as string },
    ]);
    expect(error).toMatchObject({ outcome: 'not_sent', operation: 'transfers.createAllOnce' });
    expect(operations()).toEqual([]);
  });

  test.each([
    ['2000.50\r', 'got white space at the start or end; expected a decimal string above zero'],
    ['-5.00', 'got "-5.00"; expected a decimal string above zero'],
    ['12,50', 'got "12,50"; expected a decimal string above zero'],
    [undefined, 'missing; expected a decimal string above zero'],
  ])('the error about the total of `expect` names the amount %j', async (amount, message) => {
    const { payAll, operations } = setupBatch();
    const inputs = createSalaries(3).map((input, at) => (at === 1 ? input : { ...input, amount }));
    const wrong = payAll(inputs as OnceInput[], { expect: { totals: { USDC: '37.5' } } });
    const error = await failureOf(wrong, ValidationError);
    expect(error.issues).toMatchObject([
      { path: 'options.expect.totals', message: 'got inputs of 12.5 in USDC; expected 37.5' },
      { path: 'inputs[0].amount', message: expect.stringContaining(message) as string },
      { path: 'inputs[2].amount', message: expect.stringContaining(message) as string },
    ]);
    expect(operations()).toEqual([]);
  });

  test('the error for expect.count names only 999 of 5,000 invalid inputs', async () => {
    const { payAll } = setupBatch();
    const inputs = createSalaries(5_000).map((input) => ({ ...input, amount: '1,00' }));
    const error = await failureOf(payAll(inputs, { expect: { count: 1 } }), ValidationError);
    expect(error.issues).toHaveLength(1_000);
    expect(error.issues.at(-1)?.path).toBe('inputs[998].amount');
    expect(error.message.length).toBeLessThan(5_000);
  });

  test.each<[string, unknown, unknown, string]>([
    ['a string', 'salaries', {}, 'inputs'],
    ['a number', 5, {}, 'inputs'],
    ['null', null, {}, 'inputs'],
    ['one input without an array', salaryOf(1), {}, 'inputs'],
    ['a concurrency of 0', [], { concurrency: 0 }, 'options.concurrency'],
    ['a concurrency above a thousand', [], { concurrency: 1_001 }, 'options.concurrency'],
    ['a concurrency of a half', [], { concurrency: 1.5 }, 'options.concurrency'],
    ['a retryTimeout that is a string', [], { retryTimeout: '1m' }, 'options.retryTimeout'],
    ['an unknown option', [], { retries: 1 }, 'options.retries'],
    ['one expected total', [], { expect: { total: '12.5' } }, 'options.expect.total'],
    ...[[], '12.5', { USDC: 12.5 }, { USDC: '-1' }, { 'USDC\r': '1' }, { '€': '1' }].map(
      (totals): [string, unknown, unknown, string] => [
        `expected totals of ${JSON.stringify(totals)}`,
        [],
        { expect: { totals } },
        'options.expect.totals',
      ],
    ),
    ['a negative expected count', [], { expect: { count: -1 } }, 'options.expect.count'],
    ['an unknown field of the option expect', [], { expect: { sum: '1' } }, 'options.expect.sum'],
    ['expect for a generator', createSalaries(1).values(), { expect: {} }, 'options.expect'],
    ['a since that is no time', [], { since: 'yesterday' }, 'options.since'],
  ])('createAllOnce rejects %s before any request is sent', async (_, inputs, options, path) => {
    const { payAll, operations } = setupBatch();
    const error = await failureOf(payAll(inputs as never, options as never), ValidationError);
    expect(error.issues.map((issue) => issue.path)).toEqual([path]);
    expect(error.operation).toBe('transfers.createAllOnce');
    expect(error.stack).toContain('batches.ts');
    expect(operations()).toEqual([]);
  });

  test('a batch without a journal rejects and names the available journals', async () => {
    const { sandbox } = setupBatch();
    const { transfers } = new PaymentsClient(sandbox.clientOptions);
    const error = await failureOf(collect(transfers.createAllOnce([])), ConfigurationError);
    expect(error.message).toContain('sqliteJournal');
  });
});

describe('limits of createAllOnce', () => {
  test.each([
    [undefined, 16],
    [1, 1],
    [3, 3],
    [50, 50],
  ])('a batch with concurrency %o sends at most %i requests at once', async (concurrency, most) => {
    let running = 0;
    let maxRunning = 0;
    const { payAll } = setupBatch({
      onRequest: async () => {
        running += 1;
        maxRunning = Math.max(maxRunning, running);
        await flushPromises(2);
        running -= 1;
      },
    });
    await payAll(createSalaries(120), { concurrency });
    expect(maxRunning).toBe(most);
  });

  test('a batch runs only a few payments ahead of a slow reader', async () => {
    const { payments, count, run, clock } = setupBatch();
    let read = 0;
    function* counted(): Generator<OnceInput> {
      for (const salary of createSalaries(1_000)) {
        read += 1;
        yield salary;
      }
    }
    const batch = payments.transfers.createAllOnce(counted(), { concurrency: 4 });
    const results = batch[Symbol.asyncIterator]();
    await run(results.next());
    for (let taken = 1; taken < 10; taken += 1) {
      await flushPromises();
      // Counts results that were taken, results that wait, and inputs that are read ahead.
      expect(count('transfers.create')).toBeLessThanOrEqual(taken + 4);
      expect(read).toBeLessThanOrEqual(taken + 8);
      await results.next();
    }
    await run(Promise.resolve(results.return?.()));
    expect(clock.pending).toBe(0);
  });

  test('a batch with an unread result starts no timers', async () => {
    const world = setupBatch();
    for (const salary of createSalaries(5)) await claimAsDead(world, salary);
    const { payments, clock, run } = world;
    const batch = payments.transfers.createAllOnce(createSalaries(30), { concurrency: 4 });
    const results = batch[Symbol.asyncIterator]();
    await run(results.next());
    await flushPromises();
    clock.jump(3_600_000);
    const timers = clock.lengths.length;
    // A result that the consumer takes lets one more payment start.
    await results.next();
    await flushPromises(200);
    const zeros = clock.lengths.slice(timers).filter((length) => length === 0);
    expect(zeros.length).toBeLessThan(10);
    await run(Promise.resolve(results.return?.()));
  });

  test('a batch pays each input of a slow source on arrival', async () => {
    for (const forgets of [false, true]) {
      const { payments, run, clock } = setupBatch({ forgets });
      async function* slowly(): AsyncGenerator<OnceInput> {
        for (const salary of createSalaries(5)) {
          await new Promise<void>((resolve) => clock.setTimeout(() => resolve(), 1_000));
          yield salary;
        }
      }
      const times: number[] = [];
      const pay = async () => {
        for await (const { result } of payments.transfers.createAllOnce(slowly())) {
          expect(result).toBe('created');
          times.push(clock.passed);
        }
      };
      await run(pay());
      expect(times).toEqual([1_000, 2_000, 3_000, 4_000, 5_000]);
    }
  });
});

describe('how createAllOnce ends', () => {
  /** A signal that counts its listeners. */
  function countListeners() {
    const controller = new AbortController();
    const { signal } = controller;
    const counts = { added: 0, removed: 0 };
    const { addEventListener, removeEventListener } = signal;
    const live = new Set<unknown>();
    vi.spyOn(signal, 'addEventListener').mockImplementation((...call: unknown[]) => {
      live.add(call[1]);
      counts.added += 1;
      Reflect.apply(addEventListener, signal, call);
    });
    vi.spyOn(signal, 'removeEventListener').mockImplementation((...call: unknown[]) => {
      live.delete(call[1]);
      Reflect.apply(removeEventListener, signal, call);
    });
    return { controller, signal, counts, live };
  }

  test('a batch leaves no listener on its signal and no timer', async () => {
    const { payAll, clock, sandbox } = setupBatch({ forgets: true });
    const { signal, counts, live } = countListeners();
    const fault = { kind: 'reset', when: 'after_commit' } as const;
    sandbox.faults.add({ operation: 'transfers.create', times: 3, fault });
    await payAll(createSalaries(20), { signal });
    expect(counts.added).toBeGreaterThan(20);
    expect(live.size).toBe(0);
    expect(clock.pending).toBe(0);
  });

  test('a batch sends nothing when its signal is already aborted', async () => {
    const { payAll, operations, clock } = setupBatch({ forgets: true });
    const { controller, signal, live } = countListeners();
    controller.abort('closing');
    const error = await failureOf(payAll(createSalaries(3), { signal }), AbortError);
    expect(error.retryable).toBe(true);
    expect(error).toMatchObject({ outcome: 'unknown', cause: 'closing' });
    expect(error.operation).toBe('transfers.createAllOnce');
    expect(error.message).toContain('run the batch again with the same inputs');
    expect(error.stack).toContain('batches.ts');
    expect(operations()).toEqual([]);
    expect([live.size, clock.pending]).toEqual([0, 0]);
  });

  test('an aborted batch yields its finished results, then throws an AbortError', async () => {
    const barrier = createBarrier();
    let creations = 0;
    const { payments, run, clock, paid, payAll } = setupBatch({
      onRequest: () => ((creations += 1) > 4 ? barrier.promise : undefined),
    });
    const { controller, signal, live } = countListeners();
    const batch = payments.transfers.createAllOnce(createSalaries(30), { signal, concurrency: 8 });
    const seen: string[] = [];
    const pay = async () => {
      for await (const { result } of batch) {
        seen.push(result);
        if (seen.length === 1) {
          await flushPromises();
          controller.abort();
        }
      }
    };
    await failureOf(run(pay()), AbortError);
    expect(seen).toEqual(Array(4).fill('created'));
    expect([live.size, clock.pending]).toEqual([0, 0]);
    barrier.open();
    const again = await payAll(createSalaries(30));
    expect(again.flatMap(({ error }) => error?.message ?? [])).toEqual([]);
    expect(new Set(paid()).size).toBe(30);
    expect(paid()).toHaveLength(30);
  });

  test.each(['a rejected payment waits', 'a payment in doubt waits', 'the list is read'])(
    'an abort ends a batch at once while %s',
    async (name) => {
      const never = createBarrier();
      const world = setupBatch({
        forgets: name === 'the list is read',
        onRequest: ({ method }) =>
          name === 'the list is read' && method === 'GET' ? never.promise : 0,
      });
      if (name === 'a rejected payment waits') {
        const fault = { kind: 'status', status: 429, retryAfter: 600 } as const;
        world.sandbox.faults.add({ operation: 'transfers.create', times: 9, fault });
      } else if (name === 'a payment in doubt waits') {
        await claimAsDead(world, salaryOf(1));
      }
      const { controller, signal, live } = countListeners();
      const batch = world.payments.transfers.createAllOnce([salaryOf(1)], { signal });
      const results = collect(batch);
      const failure = failureOf(results, AbortError);
      for (let turn = 0; turn < 5; turn += 1) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        await flushPromises();
      }
      expect(batch.counts.waiting).toBe(name === 'the list is read' ? 0 : 1);
      controller.abort();
      expect((await failure).outcome).toBe('unknown');
      expect(world.clock.passed).toBe(0);
      await flushPromises();
      expect([live.size, world.clock.pending]).toEqual([0, 0]);
    },
  );

  test('`break` lets running payments end, starts no other, closes the source', async () => {
    const barrier = createBarrier();
    let isClosed = false;
    function* closing(): Generator<OnceInput> {
      try {
        yield* createSalaries(100);
      } finally {
        isClosed = true;
      }
    }
    let creations = 0;
    const events: OnceEvent[] = [];
    const { payments, count, paid, clock } = setupBatch(
      { onRequest: () => ((creations += 1) > 1 ? barrier.promise : undefined) },
      { hooks: { onOnce: (event) => events.push(event) } },
    );
    const batch = payments.transfers.createAllOnce(closing(), { concurrency: 4 });
    const pay = async () => {
      for await (const { result } of batch) {
        expect(result).toBe('created');
        setTimeout(barrier.open, 20);
        break;
      }
    };
    await pay();
    expect(isClosed).toBe(true);
    const started = creations;
    expect(started).toBeLessThanOrEqual(5);
    // Running payments were made, and are recorded and reported.
    expect(count('transfers.create')).toBe(started);
    expect(paid()).toHaveLength(started);
    expect(events).toHaveLength(started);
    expect(batch.counts.paid).toBe(started);
    await flushPromises();
    expect([creations, clock.pending]).toEqual([started, 0]);
  });

  test('`break` returns at once even if the source never yields again', async () => {
    const never = createBarrier();
    const { payments, clock } = setupBatch();
    let closes = 0;
    const source: AsyncIterable<OnceInput> = {
      [Symbol.asyncIterator]() {
        let isFirst = true;
        return {
          async next() {
            if (!isFirst) await never.promise;
            isFirst = false;
            return { done: false, value: salaryOf(1) };
          },
          async return() {
            closes += 1;
            await never.promise;
            return { done: true, value: undefined };
          },
        };
      },
    };
    for await (const { result } of payments.transfers.createAllOnce(source)) {
      expect(result).toBe('created');
      break;
    }
    expect(closes).toBe(1);
    expect(clock.pending).toBe(0);
  });

  test('an abort ends a batch even if its source hangs', async () => {
    const { payments } = setupBatch();
    const controller = new AbortController();
    async function* stuck(): AsyncGenerator<OnceInput> {
      yield salaryOf(1);
      await createBarrier().promise;
    }
    const batch = payments.transfers.createAllOnce(stuck(), { signal: controller.signal });
    const seen: unknown[] = [];
    const pay = async () => {
      for await (const { result } of batch) {
        seen.push(result);
        controller.abort();
      }
    };
    await failureOf(pay(), AbortError);
    expect(seen).toEqual(['created']);
  });

  const broken = new Error('the CSV file ends in the middle of line 3');
  const sources: readonly (readonly [
    string,
    () => Iterable<OnceInput> | AsyncIterable<OnceInput>,
  ])[] = [
    [
      'a generator',
      function* () {
        yield* createSalaries(2);
        throw broken;
      },
    ],
    [
      'an async generator',
      async function* () {
        yield* createSalaries(2);
        throw broken;
      },
    ],
  ];
  test.each(sources)('a batch yields its results before %s throws', async (_, source) => {
    const { payments, run, clock } = setupBatch();
    const { signal, live } = countListeners();
    const seen: string[] = [];
    const pay = async () => {
      const options = { signal, concurrency: 2 };
      for await (const { result } of payments.transfers.createAllOnce(source(), options)) {
        seen.push(result);
      }
    };
    await expect(run(pay())).rejects.toBe(broken);
    // A payment starts when it is read, unless the source has thrown before.
    expect(seen.every((result) => result === 'created')).toBe(true);
    expect([live.size, clock.pending]).toEqual([0, 0]);
  });

  test('a batch rejects if the Symbol.iterator of its inputs throws', async () => {
    const { payAll } = setupBatch();
    const { signal, live } = countListeners();
    const source = {
      [Symbol.iterator]: () => {
        throw broken;
      },
    };
    await expect(payAll(source, { signal })).rejects.toBe(broken);
    expect(live.size).toBe(0);
  });

  test.each(['transfers.create', 'transfers.list', 'transfers.get'] as const)(
    'status 401 for %s ends the batch with an AuthenticationError',
    async (operation) => {
      const { payments, payAll, sandbox, run, count, clock } = setupBatch({
        forgets: operation === 'transfers.list',
      });
      if (operation === 'transfers.get') await payAll(createSalaries(1));
      const fault = { kind: 'status', status: 401 } as const;
      sandbox.faults.add({ operation, fault, times: 100 });
      const batch = payments.transfers.createAllOnce(createSalaries(100), { concurrency: 4 });
      const error = await failureOf(run(collect(batch)));
      const { cause } = error;
      expect(error instanceof AuthenticationError || cause instanceof AuthenticationError).toBe(
        true,
      );
      expect(error.stack).toContain('create-all-once.test.ts');
      expect(count(operation)).toBeLessThanOrEqual(4);
      expect(batch.counts.notPaid).toBe(0);
      expect(clock.pending).toBe(0);
    },
  );

  test("a batch that status 401 ends yields the running payment's result", async () => {
    const barrier = createBarrier();
    let creations = 0;
    const { payments, sandbox } = setupBatch({
      onRequest: () => ((creations += 1) === 1 ? undefined : barrier.promise),
    });
    sandbox.faults.add({ operation: 'transfers.create', fault: { kind: 'status', status: 401 } });
    sandbox.faults.add({ operation: 'transfers.create', fault: rejection });
    const seen: string[] = [];
    const pay = async () => {
      for await (const { result } of payments.transfers.createAllOnce(createSalaries(2))) {
        seen.push(result);
      }
    };
    setTimeout(barrier.open, 20);
    await failureOf(pay(), AuthenticationError);
    expect(seen).toEqual(['not_paid']);
  });
});

describe('a response with status 403', () => {
  const refuse = (code: string) =>
    Response.json({ error: code, code, details: null }, { status: 403 });
  const bearerOf = (request: Request) => request.headers.get('authorization') ?? '';

  /** A platform that answers 403 to the first key, once it has accepted `accepted` payments. */
  function setupRevoked(accepted: number, apiKey?: ClientOptions['apiKey'], body = 'key_revoked') {
    const world = setupBatch();
    let [created, refused] = [0, 0];
    const fetch = async (request: Request): Promise<Response> => {
      const isRevoked = created >= accepted && !bearerOf(request).endsWith('_new');
      created += request.method === 'POST' && !isRevoked ? 1 : 0;
      if (!isRevoked) {
        request.headers.set('authorization', `Bearer ${world.sandbox.apiKey}`);
        return await world.sandbox.fetch(request);
      }
      refused += 1;
      return body === '' ? new Response('Forbidden', { status: 403 }) : refuse(body);
    };
    const payments = world.payments.withOptions({ fetch, apiKey: apiKey ?? 'sk_old' });
    return { ...world, payments, countRefused: () => refused };
  }

  const since = '2020-01-01T00:00:00Z';
  test.each([
    ['key_revoked', {}],
    ['', {}],
    ['key_revoked', { since }],
  ])(
    'for the credential ends a batch like status 401 (code %j, options %j)',
    async (body, options) => {
      const { payments, run, countRefused } = setupRevoked(30, undefined, body);
      const salaries = createSalaries(80);
      const batch = payments.transfers.createAllOnce(salaries, { ...options, concurrency: 4 });
      const error = await failureOf(run(collect(batch)));
      const isDenied = [error, error.cause].some((each) => each instanceof PermissionDeniedError);
      expect(isDenied).toBe(true);
      expect(batch.counts).toMatchObject({ created: 30, notPaid: 0, inDoubt: 0 });
      // Four payments, a search of each if its 403 proves nothing, and one read that tells which 403 it is.
      expect(countRefused()).toBeLessThanOrEqual(9);
    },
  );

  test('for the credential ends a searching batch before it sends a payment', async () => {
    const world = setupBatch({ forgets: true });
    let requests = 0;
    const fetch = () => {
      requests += 1;
      return Promise.resolve(refuse('key_revoked'));
    };
    const { transfers } = world.payments.withOptions({ fetch });
    const batch = transfers.createAllOnce(createSalaries(50));
    await failureOf(world.run(collect(batch)));
    expect(requests).toBeLessThanOrEqual(4);
  });

  test('for the credential makes the batch renew its credential and pay', async () => {
    const keys = ['sk_old', 'sk_new'];
    let asked = 0;
    const { payments, run, countRefused } = setupRevoked(30, () => keys[(asked += 1) - 1] ?? '');
    const batch = payments.transfers.createAllOnce(createSalaries(80), { concurrency: 4 });
    await run(collect(batch));
    expect(batch.counts).toEqual({ ...noCounts, created: 80, paid: 80, total: 80 });
    expect(asked).toBe(2);
    expect(countRefused()).toBeLessThanOrEqual(5);
  });

  test('for the credential ends a batch if the renewed credential fails, too', async () => {
    let asked = 0;
    const { payments, run, countRefused } = setupRevoked(10, () => `sk_old${(asked += 1)}`);
    const batch = payments.transfers.createAllOnce(createSalaries(80), { concurrency: 4 });
    await failureOf(run(collect(batch)), PermissionDeniedError);
    expect(asked).toBe(2);
    expect(countRefused()).toBeLessThanOrEqual(6);
  });

  test('for the old credential causes a retry after the renewal', async () => {
    const [slow, isChecked] = [createBarrier(), createBarrier()];
    const world = setupBatch();
    let posts = 0;
    const fetch = async (request: Request): Promise<Response> => {
      const isOld = bearerOf(request).endsWith('_old');
      if (request.method === 'POST' && isOld) {
        posts += 1;
        if (posts === 2) await slow.promise;
      }
      if (isOld) return refuse('key_revoked');
      if (request.method === 'GET') isChecked.open();
      world.clock.jump(1);
      request.headers.set('authorization', `Bearer ${world.sandbox.apiKey}`);
      return await world.sandbox.fetch(request);
    };
    const keys = ['sk_old', 'sk_new'];
    const payments = world.payments.withOptions({ fetch, apiKey: () => keys.shift() ?? 'sk_no' });
    void isChecked.promise.then(() => flushPromises(10)).then(slow.open);
    const batch = payments.transfers.createAllOnce(createSalaries(2));
    await world.run(collect(batch));
    expect(batch.counts).toEqual({ ...noCounts, created: 2, paid: 2, total: 2 });
  });

  test('for one account ends only the payments of that account', async () => {
    let asked = 0;
    const world = setupBatch();
    const fetch = async (request: Request): Promise<Response> => {
      const isClosed = (await request.clone().text()).includes('acc_000002');
      return isClosed ? refuse('account_closed') : await world.sandbox.fetch(request);
    };
    const apiKey = () => {
      asked += 1;
      return world.sandbox.apiKey;
    };
    const payments = world.payments.withOptions({ fetch, apiKey });
    const inputs = createSalaries(40).map((salary, at) =>
      at % 4 === 1 ? { ...salary, sourceAccountId: otherCompany } : salary,
    );
    const batch = payments.transfers.createAllOnce(inputs);
    const rows = await world.run(collect(batch));
    expect(batch.counts).toEqual({ ...noCounts, created: 30, paid: 30, notPaid: 10, total: 40 });
    expect(rows.filter(({ error }) => error instanceof PermissionDeniedError)).toHaveLength(10);
    expect(asked).toBe(1);
    expect(world.count('transfers.list')).toBeLessThanOrEqual(10);
  });
});

describe('the hook onOnce', () => {
  const setupHook = (options: Parameters<typeof setupBatch>[0] = {}) => {
    const events: OnceEvent[] = [];
    const hooks = { onOnce: (event: OnceEvent) => events.push(event) };
    return { events, ...setupBatch(options, { hooks }) };
  };

  test('the hook onOnce receives the result of each createOnce call', async () => {
    const { events, payments, sandbox, run, lose } = setupHook({ forgets: true });
    const pay = (number: number) => run(payments.transfers.createOnce(salaryOf(number)));
    await pay(1);
    await pay(1);
    await lose(salaryOf(1).description);
    await pay(1);
    sandbox.faults.add({ operation: 'transfers.create', fault: rejection });
    const rejected = await failureOf(pay(2));
    const fault = { kind: 'reset', when: 'before_commit' } as const;
    sandbox.faults.add({ operation: 'transfers.create', fault });
    const unknown = await failureOf(pay(3));
    const reference = salaryOf(1).description;
    const made = { reference, transferId: 'txfr_000001', error: undefined, durationMs: 0 };
    expect(events).toEqual([
      { ...made, result: 'created' },
      { ...made, result: 'recorded' },
      { ...made, result: 'found' },
      {
        reference: salaryOf(2).description,
        result: 'not_paid',
        transferId: undefined,
        error: rejected,
        durationMs: 0,
      },
      {
        reference: salaryOf(3).description,
        result: 'in_doubt',
        transferId: undefined,
        error: unknown,
        durationMs: 0,
      },
    ]);
  });

  test('the hook onOnce receives result not_paid for invalid arguments of createOnce', async () => {
    const { events, payments } = setupHook();
    await failureOf(payments.transfers.createOnce(null as never), ValidationError);
    expect(events).toMatchObject([{ reference: undefined, result: 'not_paid' }]);
  });

  test('the hook onOnce is called once per payment, before its result', async () => {
    const { events, payments, sandbox, run } = setupHook();
    sandbox.faults.add({ operation: 'transfers.create', fault: rejection });
    const fault = { kind: 'reset', when: 'before_commit' } as const;
    sandbox.faults.add({ operation: 'transfers.create', fault });
    const inputs = [...createSalaries(5), salaryOf(1), null as never];
    const reported: number[] = [];
    const pay = async () => {
      for await (const _ of payments.transfers.createAllOnce(inputs)) reported.push(events.length);
    };
    await run(pay());
    expect(reported.every((count, at) => count > at)).toBe(true);
    // A payment that waited for a retry took longer.
    expect(events.map(({ durationMs }) => durationMs > 0)).toContain(true);
    expect(events.map(({ reference, result }) => `${reference} ${result}`).toSorted()).toEqual([
      'salary 000001 not_paid',
      'salary 000001 not_paid',
      'salary 000002 created',
      'salary 000003 created',
      'salary 000004 created',
      'salary 000005 created',
      'undefined not_paid',
    ]);
  });

  test.each(['throws', 'rejects'])('payments are made even if the hook %s', async (name) => {
    const onOnce = () => {
      if (name === 'throws') throw new Error('the metrics are down');
      return Promise.reject(new Error('the metrics are down'));
    };
    const { payAll, payments, paid } = setupBatch({}, { hooks: { onOnce } });
    await payments.transfers.createOnce(salaryOf(1));
    const results = await payAll([...createSalaries(3), null as never]);
    expect(results).toHaveLength(4);
    expect(paid()).toHaveLength(3);
  });

  test('the hook onOnce is also called if PAYMENTS_LOG is set', async () => {
    vi.stubEnv('PAYMENTS_LOG', 'warn');
    const { events, payments, payAll } = setupHook();
    await payments.transfers.createOnce(salaryOf(1));
    await payAll(createSalaries(2));
    expect(events.map(({ result }) => result)).toEqual(['created', 'recorded', 'created']);
  });
});

test("options of createAllOnce replace the client's journal and time limits", async () => {
  const { payAll, journal, clock, sandbox } = setupBatch();
  const callJournal = memoryJournal({ now: () => clock.now() });
  const options = { journal: callJournal, gracePeriod: 1_000, totalTimeout: 2_000 };
  const fault = { kind: 'reset', when: 'before_commit' } as const;
  sandbox.faults.add({ operation: 'transfers.create', fault });
  const [result] = await payAll([salaryOf(1)], options);
  expect(result?.result).toBe('created');
  expect(await callJournal.read(salaryOf(1).description)).toMatchObject({ state: 'paid' });
  expect(await journal.read(salaryOf(1).description)).toBeUndefined();
  expect(clock.passed).toBeLessThan(totalTimeout);
});

test('createAllOnce calls the journal object of its options, not a copy', async () => {
  const { payAll } = setupBatch();
  const memory = memoryJournal();
  const journal = {
    ...memory,
    reads: 0,
    read(reference: string) {
      this.reads += 1;
      return memory.read(reference);
    },
  };
  expect(await payAll([salaryOf(1)], { journal })).toMatchObject([{ result: 'created' }]);
  // The batch reads before the claim, and once more to check the first claim of this journal.
  expect(journal.reads).toBe(2);
});

describe('a journal that cannot work', () => {
  const missingTable = Object.assign(new Error('relation "payments_journal" does not exist'), {
    code: '42P01',
  });
  const missingColumn = new Error('column "entry" does not exist');
  const wrapped = new Error('Failed query', { cause: missingColumn });
  const leaking = new Error('connect to postgres://pay:hunter2@db:5432/pay failed');

  test.each<[string, () => Promise<never>, string]>([
    ['has no table', () => Promise.reject(missingTable), 'does not exist'],
    ['gets its database error wrapped by an ORM', () => Promise.reject(wrapped), 'does not exist'],
    ['gets undefined', async () => (undefined as never as { rows: never }).rows, 'undefined'],
    ['refuses connections', () => Promise.reject(leaking), '://[redacted]@db'],
  ])('ends a batch at once, with the cause, if it %s', async (_, read, cause) => {
    const warned = vi.spyOn(console, 'warn').mockReturnValue();
    const { payments, run, paid } = setupBatch({ wrapJournal: () => ({ read }) });
    const batch = payments.transfers.createAllOnce(createSalaries(20));
    const error = await failureOf(run(collect(batch)), PaymentInDoubtError);
    expect(error.reason).toBe('journal');
    expect(error.message).toContain(cause);
    expect(error.message).not.toContain('hunter2');
    expect(warned.mock.calls.flat().join('\n')).toContain(cause);
    // The journal's first failure, and perhaps that the batch tries again.
    expect(warned.mock.calls.length).toBeLessThanOrEqual(2);
    expect(paid()).toEqual([]);
  });

  test('does not end a batch if the journal has worked before', async () => {
    vi.spyOn(console, 'warn').mockReturnValue();
    let reads = 0;
    const { payAll } = setupBatch({
      wrapJournal: ({ read }) => ({
        read: (reference) =>
          (reads += 1) === 2 ? Promise.reject(new Error('fail-over')) : read(reference),
      }),
    });
    const results = await payAll(createSalaries(5), { concurrency: 1 });
    expect(results.map(({ result }) => result)).toEqual(Array(5).fill('created'));
  });
});

test('`break` in a loop over createAllOnce stops reading an endless list', async () => {
  const { payments, sandbox, journal, clock } = setupBatch();
  await claimAsDead({ sandbox, journal, clock }, salaryOf(1));
  let pages = 0;
  const endless = payments.withOptions({
    fetch: async (request) => {
      if (request.method !== 'GET') return sandbox.fetch(request);
      pages += 1;
      await new Promise((resolve) => setTimeout(resolve, 1));
      const data = [{ id: `txfr_${pages}`, amount: '1.00', description: `other ${pages}` }];
      return Response.json({ data, hasMore: true, nextCursor: `${pages}` });
    },
  });
  for await (const { result } of endless.transfers.createAllOnce([salaryOf(1), salaryOf(2)])) {
    expect(result).toBe('created');
    break;
  }
  const seen = pages;
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(pages).toBeLessThanOrEqual(seen + 1);
});
