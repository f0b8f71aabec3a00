import {
  PaymentInDoubtError,
  PaymentsClient,
  type BatchOptions,
  type BatchResult,
  type OnceInput,
} from 'payments-platform-sdk';
import type { Journal } from 'payments-platform-sdk/journals';
import type { SandboxFault } from 'payments-platform-sdk/sandbox';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { failureOf } from '../support/clients.ts';
import { closedPort } from '../support/closed-port.ts';
import { flushPromises } from '../support/virtual-clock.ts';
import {
  claimAsDead,
  collect,
  createSalaries,
  noCounts,
  otherCompany,
  salaryOf,
  setupBatch,
  totalTimeout,
  type BatchWorld,
} from './batches.ts';

const hourMs = 3_600_000;
const retryTimeout = 1_800_000;

let lines: string[];
beforeEach(() => {
  lines = [];
  vi.spyOn(console, 'warn').mockImplementation((line: string) => void lines.push(line));
});
afterEach(() => {
  vi.restoreAllMocks();
});

type World = ReturnType<typeof setupBatch>;

async function runBatch(
  { payments, run, clock }: World,
  inputs: Parameters<World['payAll']>[0],
  options?: BatchOptions,
) {
  const startedAt = clock.passed;
  const batch = payments.transfers.createAllOnce(inputs, options);
  const rows = await run(collect(batch));
  return { rows, counts: batch.counts, tookMs: clock.passed - startedAt };
}

const tally = (rows: readonly BatchResult[]) =>
  Object.fromEntries(
    Object.entries(Object.groupBy(rows, ({ result }) => result)).map(([result, each]) => [
      result,
      each.length,
    ]),
  );

/** A platform that accepts `paid` transfers and answers the next ones by a fault. */
function breakAfter({ sandbox }: World, paid: number, fault: SandboxFault, times = Infinity): void {
  sandbox.faults.add({ operation: 'transfers.create', after: paid, times, fault });
}

const quota = { kind: 'status', status: 429, retryAfter: 6 * 3_600 } as const;
const unavailable = { kind: 'status', status: 503 } as const;

describe('a platform that accepts no payment for a long time', () => {
  test('a six-hour quota ends a batch of 200 rows at once', async () => {
    const world = setupBatch();
    const { clock, sandbox, count } = world;
    breakAfter(world, 20, quota);
    const startedAt = clock.now();
    const { rows, counts, tookMs } = await runBatch(world, createSalaries(200));
    expect(count('transfers.create') - 20).toBeLessThanOrEqual(20);
    expect(tookMs).toBeLessThanOrEqual(retryTimeout);
    expect(tally(rows)).toEqual({ created: 20, not_paid: 180 });
    const retryAt = startedAt + 6 * hourMs;
    expect(counts).toEqual({
      ...noCounts,
      created: 20,
      paid: 20,
      notPaid: 180,
      total: 200,
      retryAt,
    });
    const unpaid = rows.flatMap(({ error }) => error ?? []);
    expect(new Set(unpaid.map((error) => error.retryAt))).toEqual(new Set([retryAt]));
    expect(unpaid.every(({ retryable, outcome }) => retryable && outcome !== 'unknown')).toBe(true);
    const untried = unpaid.filter(({ attempts }) => attempts.length === 0);
    expect(untried.length).toBeGreaterThanOrEqual(164);
    expect(untried[0]?.toJSON()).toMatchObject({ retryAt, retryAfterMs: retryAt - clock.now() });
    expect(untried[0]?.message).toContain('2026-01-15T06:00:00.000Z');
    expect(new Set(unpaid.map(({ reference }) => reference)).size).toBe(180);
    clock.jump(6 * hourMs);
    sandbox.faults.clear();
    const again = await runBatch(world, createSalaries(200));
    expect(tally(again.rows)).toEqual({ recorded: 20, created: 180 });
    expect('retryAt' in again.counts).toBe(false);
    expect(new Set(world.paid()).size).toBe(200);
  });

  test('a batch gives up even if a hook freezes its errors', async () => {
    const world = setupBatch();
    breakAfter(world, 0, quota);
    const onCall = ({ error }: { readonly error?: object | undefined }) => {
      Object.freeze(error);
    };
    const payments = world.payments.withOptions({ hooks: { onCall } });
    const { rows } = await runBatch({ ...world, payments }, createSalaries(40));
    expect(tally(rows)).toEqual({ not_paid: 40 });
  });

  test('a batch that has given up ends if its journal hangs', async () => {
    let claims = 0;
    const world = setupBatch({
      wrapJournal: (journal) => ({
        read: (reference) =>
          claims < 16 ? journal.read(reference) : new Promise<never>(() => undefined),
        swap: async (...swap) => {
          claims += 1;
          return await journal.swap(...swap);
        },
      }),
    });
    breakAfter(world, 0, unavailable);
    const { clock, run, payments } = world;
    const startedAt = clock.passed;
    const batch = payments.transfers.createAllOnce(createSalaries(1_000));
    const error = await failureOf(run(collect(batch)), PaymentInDoubtError);
    expect(error.reason).toBe('journal');
    expect(clock.passed - startedAt).toBeLessThanOrEqual(retryTimeout + 2 * totalTimeout);
  });

  test('a batch that runs again during the quota sends one payment', async () => {
    const world = setupBatch();
    breakAfter(world, 0, quota);
    await runBatch(world, createSalaries(50));
    const sent = world.count('transfers.create');
    world.clock.jump(hourMs);
    const { rows } = await runBatch(world, createSalaries(50), { concurrency: 1 });
    expect(tally(rows)).toEqual({ not_paid: 50 });
    expect(world.count('transfers.create') - sent).toBe(1);
  });

  test('a Retry-After of 59 s each time ends a batch after retryTimeout', async () => {
    const world = setupBatch();
    breakAfter(world, 0, { ...quota, retryAfter: 59 });
    const { rows, tookMs } = await runBatch(world, createSalaries(120));
    expect(tally(rows)).toEqual({ not_paid: 120 });
    // A call that has begun waits for 59 s before each of its attempts.
    expect(tookMs).toBeLessThanOrEqual(retryTimeout + totalTimeout);
    expect(tookMs).toBeGreaterThan(retryTimeout - totalTimeout);
    expect(world.count('transfers.create')).toBeLessThan(60);
  });

  test('an outage of creations ends a batch although the list works', async () => {
    const world = setupBatch({ onRequest: (request) => waitForPost(request) });
    const waitForPost = ({ method }: Request) =>
      method === 'POST' && new Promise<void>((resolve) => world.clock.setTimeout(resolve, 10_000));
    breakAfter(world, 0, unavailable);
    const options = { retryTimeout: 60_000, concurrency: 2 };
    const { rows, counts, tookMs } = await runBatch(world, createSalaries(40), options);
    expect(tookMs).toBeLessThanOrEqual(60_000);
    expect(world.count('transfers.list')).toBeGreaterThan(4);
    expect(tally(rows)).toEqual({ in_doubt: counts.inDoubt, not_paid: counts.notPaid });
    expect(counts.inDoubt).toBe(world.count('transfers.create'));
    expect(counts.notPaid).toBeGreaterThan(24);
    expect(counts.retryAt).toBeGreaterThan(world.clock.now());
  });

  test('status 503 with Retry-After beyond retryTimeout ends a batch at once', async () => {
    const world = setupBatch();
    breakAfter(world, 0, { ...unavailable, retryAfter: 2 * 3_600 });
    const { rows, tookMs } = await runBatch(world, createSalaries(40));
    expect(tookMs).toBeLessThan(1_000);
    expect(tally(rows)).toEqual({ in_doubt: 16, not_paid: 24 });
  });

  test('a batch ends after retryTimeout if connections are refused', async () => {
    const world = setupBatch();
    const { clock, journal } = world;
    const { baseUrl } = closedPort;
    const payments = new PaymentsClient({ baseUrl, apiKey: 'sk_x', clock, journal });
    const batch = payments.transfers.createAllOnce(createSalaries(64), { retryTimeout: 60_000 });
    const seen: number[] = [];
    const loop = (async () => {
      for await (const { result } of batch) {
        expect(result).toBe('not_paid');
        seen.push(world.clock.passed);
      }
    })();
    await world.clock.stepTimersDuring(loop, 250);
    expect(seen).toHaveLength(64);
    expect(Math.max(...seen)).toBeLessThanOrEqual(60_000);
    expect(lines.filter((line) => !line.includes('in memory'))).toEqual([
      expect.stringMatching(/salary 0000\d\d .*60 s.*ECONNREFUSED/),
      expect.stringMatching(/a batch gives up; run it again after 2026-.*ECONNREFUSED/),
    ]);
  });

  test('after a batch gives up, the journal alone decides the other results', async () => {
    const world = setupBatch();
    await world.payAll([salaryOf(30)]);
    await claimAsDead(world, salaryOf(31));
    const before = world.operations().length;
    breakAfter(world, 0, quota);
    const invalid = { ...salaryOf(32), amount: '0' };
    const other = { ...salaryOf(30), amount: '1.00' };
    const inputs = [...createSalaries(28), salaryOf(31), invalid, salaryOf(30), other];
    const { rows } = await runBatch(world, inputs, { concurrency: 2 });
    const resultOf = (input: OnceInput) => rows.find((row) => row.input === input);
    expect(world.operations().slice(before)).toEqual(Array(2).fill('transfers.create'));
    expect(rows).toHaveLength(32);
    expect(rows.find(({ reference }) => reference === salaryOf(31).description)).toMatchObject({
      result: 'in_doubt',
      error: { reason: 'in_doubt', cause: { outcome: 'not_sent' } },
    });
    expect(resultOf(other)).toMatchObject({ result: 'in_doubt', error: { reason: 'conflict' } });
    expect(resultOf(invalid)).toMatchObject({
      result: 'not_paid',
      error: { name: 'ValidationError' },
    });
    expect(tally(rows)).toEqual({ recorded: 1, in_doubt: 2, not_paid: 29 });
  });
});

describe('what does not end a batch', () => {
  test('a batch continues as long as other payments end', async () => {
    const world = setupBatch();
    await claimAsDead(world, salaryOf(999));
    async function* inputs() {
      yield salaryOf(999);
      for (let number = 1; number <= 12; number += 1) {
        await new Promise<void>((resolve) => world.clock.setTimeout(resolve, 300_000));
        yield salaryOf(number);
      }
    }
    const { rows, counts } = await runBatch(world, inputs(), { retryTimeout: 600_000 });
    expect(tally(rows)).toEqual({ in_doubt: 1, created: 12 });
    expect('retryAt' in counts).toBe(false);
  });

  test('a batch with hourly inputs continues although one payment is retried', async () => {
    const world = setupBatch();
    const { clock } = world;
    breakAfter(world, 1, { kind: 'status', status: 425 }, 4);
    async function* inputs() {
      for (let number = 1; number <= 4; number += 1) {
        await new Promise<void>((resolve) => clock.setTimeout(resolve, hourMs));
        yield salaryOf(number);
      }
    }
    const { rows } = await runBatch(world, inputs());
    expect(tally(rows)).toEqual({ created: 4 });
  });

  test('a batch with an idle queue continues despite a payment in doubt', async () => {
    const world = setupBatch({}, { gracePeriod: Infinity });
    const { clock, run, payments, sandbox } = world;
    sandbox.faults.add({
      operation: 'transfers.create',
      fault: { kind: 'reset', when: 'before_commit' },
    });
    async function* bring(): AsyncGenerator<OnceInput> {
      yield salaryOf(1);
      await new Promise<void>((resolve) => clock.setTimeout(resolve, 3 * hourMs));
      yield salaryOf(2);
    }
    const rows = await run(collect(payments.transfers.createAllOnce(bring())));
    expect(rows.map(({ reference, result }) => [reference, result])).toEqual([
      [salaryOf(1).description, 'in_doubt'],
      [salaryOf(2).description, 'created'],
    ]);
  });

  test('for a slow caller a batch gives up only payments in doubt', async () => {
    const world = setupBatch({}, { gracePeriod: Infinity });
    const { clock, payments } = world;
    await claimAsDead(world, salaryOf(999));
    const inputs = [salaryOf(999), ...createSalaries(6)];
    const batch = payments.transfers.createAllOnce(inputs, { concurrency: 1 });
    const loop = async () => {
      for await (const { result } of batch) {
        if (result !== 'created') continue;
        await flushPromises(50);
        clock.jump(hourMs);
      }
    };
    await clock.stepTimersDuring(loop(), 1_000);
    expect(batch.counts).toMatchObject({ created: 6, inDoubt: 1, notPaid: 0 });
  });

  test('a batch continues although its first search takes longer than retryTimeout', async () => {
    const isSlow = ({ method, url }: Request) => method === 'GET' && url.includes('acc_000001');
    const world = setupBatch({
      forgets: true,
      history: 400,
      onRequest: (request) =>
        isSlow(request) && new Promise<void>((resolve) => world.clock.setTimeout(resolve, 20_000)),
    });
    const doubtful = salaryOf(999, otherCompany);
    await claimAsDead(world, doubtful);
    const inputs = [doubtful, ...createSalaries(5)];
    const { rows } = await runBatch(world, inputs, { retryTimeout: 60_000 });
    expect(tally(rows)).toEqual({ in_doubt: 1, created: 5 });
    expect(rows[0]?.reference).toBe(doubtful.description);
  });
});

describe('the remaining inputs of a batch that has given up', () => {
  test('are in doubt if a first claim needs a search', async () => {
    const world = setupBatch({ forgets: true });
    await world.payAll([salaryOf(30)]);
    breakAfter(world, 0, quota);
    const { rows, counts } = await runBatch(world, createSalaries(30), { concurrency: 2 });
    expect(tally(rows)).toEqual({ not_paid: 2, in_doubt: 27, recorded: 1 });
    expect(rows.every(({ error }) => error === undefined || error.retryAt === counts.retryAt)).toBe(
      true,
    );
    expect(world.count('transfers.create')).toBe(3);
  });

  test.each(['sync', 'async'])(
    'are those already read from a generator (%s), which is closed',
    async (kind) => {
      const world = setupBatch();
      let [read, returned] = [0, 0];
      function* sync() {
        try {
          while (read < 100) yield salaryOf((read += 1));
        } finally {
          returned += 1;
        }
      }
      async function* async() {
        yield* sync();
      }
      breakAfter(world, 5, quota);
      const inputs = kind === 'sync' ? sync() : async();
      const { rows } = await runBatch(world, inputs, { concurrency: 4 });
      expect(tally(rows)).toEqual({ created: 5, not_paid: rows.length - 5 });
      expect(rows).toHaveLength(read);
      expect(read).toBeLessThan(20);
      expect(returned).toBe(1);
    },
  );

  test('get their results although a queue brings no next input', async () => {
    const world = setupBatch();
    let returned = 0;
    const queue = {
      [Symbol.asyncIterator]() {
        let number = 0;
        return {
          next: () =>
            (number += 1) > 3
              ? new Promise<never>(() => undefined)
              : Promise.resolve({ done: false, value: salaryOf(number) } as const),
          return: () => {
            returned += 1;
            return Promise.resolve({ done: true, value: undefined } as const);
          },
        };
      },
    };
    breakAfter(world, 0, quota);
    const { rows } = await runBatch(world, queue);
    expect(tally(rows)).toEqual({ not_paid: 3 });
    expect(returned).toBe(1);
  });

  test("have the first inputs' results for the same references", async () => {
    const world = setupBatch();
    breakAfter(world, 0, { ...unavailable, retryAfter: 2 * 3_600 });
    const inputs = [salaryOf(1), { ...salaryOf(1) }, salaryOf(2), { ...salaryOf(2) }];
    const { rows } = await runBatch(world, inputs, { concurrency: 1 });
    expect(rows.map(({ reference, result }) => `${reference} ${result}`).toSorted()).toEqual([
      'salary 000001 in_doubt',
      'salary 000001 in_doubt',
      'salary 000002 not_paid',
      'salary 000002 not_paid',
    ]);
  });

  test('cause no call of `authorize`, but one of onOnce each', async () => {
    let asked = 0;
    const ended: unknown[] = [];
    const authorize = () => ((asked += 1), true);
    const hooks = { onOnce: ({ result }: { result: string }) => ended.push(result) };
    const world = setupBatch({}, { authorize, hooks });
    breakAfter(world, 0, quota);
    await runBatch(world, createSalaries(20), { concurrency: 1 });
    expect(asked).toBe(1);
    expect(ended).toEqual(Array(20).fill('not_paid'));
  });
});

describe('a journal that can be read but not written', () => {
  const refuse = () =>
    Promise.reject(
      Object.assign(new Error('cannot execute UPDATE in a read-only transaction'), {
        code: '25006',
      }),
    );
  const readOnly = (): Partial<Journal> => ({ swap: refuse });

  test('ends a batch after a minute without a stored claim', async () => {
    let isReadOnly = false;
    const wrapJournal: BatchWorld['wrapJournal'] = ({ swap }) => ({
      swap: (...call) => (isReadOnly ? refuse() : swap(...call)),
    });
    const first = setupBatch({ wrapJournal });
    await first.payAll([salaryOf(1)]);
    isReadOnly = true;
    // Another process: the same entries in a journal that has kept no claim here.
    const journal: Journal = { ...first.journal, swap: refuse };
    const payments = first.payments.withOptions({ journal });
    const results: string[] = [];
    const startedAt = first.clock.passed;
    const loop = async () => {
      for await (const { result } of payments.transfers.createAllOnce(createSalaries(50))) {
        results.push(result);
      }
    };
    const error = await failureOf(first.run(loop()), PaymentInDoubtError);
    expect(error.reason).toBe('journal');
    expect(error.message).toContain('read-only');
    expect(results).toEqual(['recorded']);
    const tookMs = first.clock.passed - startedAt;
    expect(tookMs).toBeGreaterThanOrEqual(60_000);
    expect(tookMs).toBeLessThan(130_000);
    expect(lines.filter((line) => line.includes('read-only'))).toHaveLength(1);
    expect(first.count('transfers.create')).toBe(1);
  });

  test('does not end a batch if it recovers within a minute', async () => {
    let failures = 0;
    const world = setupBatch({
      wrapJournal: ({ swap }) => ({
        swap: (...call) => ((failures += 1) <= 40 ? refuse() : swap(...call)),
      }),
    });
    const { rows } = await runBatch(world, createSalaries(20));
    expect(tally(rows)).toEqual({ created: 20 });
  });

  test('ends a batch at once if retryTimeout allows no retry', async () => {
    const world = setupBatch({ wrapJournal: readOnly });
    const loop = runBatch(world, createSalaries(20), { retryTimeout: 1 });
    await failureOf(loop, PaymentInDoubtError);
    expect(world.clock.passed).toBe(0);
  });

  test('makes a batch give up after retryTimeout if it worked before', async () => {
    let isReadOnly = false;
    const world = setupBatch({
      wrapJournal: ({ swap }) => ({
        swap: (...call) => (isReadOnly ? refuse() : swap(...call)),
      }),
      onRequest: () => {
        isReadOnly = true;
      },
    });
    const { rows, counts, tookMs } = await runBatch(world, createSalaries(20), {
      concurrency: 1,
      retryTimeout: 60_000,
    });
    expect(tookMs).toBeLessThanOrEqual(60_000);
    expect(tally(rows)).toEqual({ created: 1, in_doubt: 19 });
    expect(counts.retryAt).toBeGreaterThan(world.clock.now() - 60_000);
    expect(world.count('transfers.create')).toBe(1);
  });

  test('an unreadable entry leaves only its own payment in doubt', async () => {
    const world = setupBatch({
      wrapJournal: ({ read }) => ({
        read: (reference) =>
          reference === salaryOf(1).description
            ? Promise.resolve({ state: 'unheard of' } as never)
            : read(reference),
      }),
    });
    const { rows } = await runBatch(world, createSalaries(3), { concurrency: 1 });
    expect(tally(rows)).toEqual({ in_doubt: 1, created: 2 });
  });
});
