import { AbortError, type BatchResult, type OnceInput } from 'payments-platform-sdk';
import type { SandboxFault } from 'payments-platform-sdk/sandbox';
import { describe, expect, test, vi } from 'vitest';
import type { Transfer } from '../../src/schemas/transfer.ts';
import { failureOf } from '../support/clients.ts';
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

const referenceOf = (number: number): string => salaryOf(number).description;
const kindsOf = (results: readonly BatchResult[]): string[] => [
  ...new Set(results.map(({ result }) => result)),
];

/** Random numbers that are the same in each run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

describe('scans of createAllOnce', () => {
  test.each([
    ['a list of one page once', 90, 1, 1],
    ['a longer list twice', 250, 2, 6],
  ])('a batch whose journal may forget first reads %s', async (...row) => {
    const [, history, scans, pages] = row;
    const { payAll, count, countScans, paid } = setupBatch({ forgets: true, history });
    expect(kindsOf(await payAll(createSalaries(60)))).toEqual(['created']);
    expect(countScans()).toBe(scans);
    expect(count('transfers.list')).toBe(pages);
    expect(count('transfers.create')).toBe(60);
    expect(new Set(paid()).size).toBe(60);
  });

  test('a batch whose journal never forgets does not read the list', async () => {
    const { payAll, count } = setupBatch({ history: 250 });
    await payAll(createSalaries(50));
    expect(count('transfers.list')).toBe(0);
  });

  test('a batch reads the list separately for each source account', async () => {
    const { payAll, countScans, sandbox } = setupBatch({ forgets: true, history: 150 });
    const inputs = createSalaries(40).map((salary, at) =>
      at % 2 === 0 ? salary : salaryOf(at + 1, otherCompany),
    );
    expect(kindsOf(await payAll(inputs))).toEqual(['created']);
    expect(countScans()).toBe(3);
    const accounts = sandbox.log.map(({ query }) => query['accountId']).filter(Boolean);
    expect(accounts.toSorted()).toEqual([...Array<string>(4).fill('acc_000001'), 'acc_000002']);
  });

  test('an input that arrives during a scan waits for the next scan', async () => {
    const middle = Promise.withResolvers<void>();
    let pages = 0;
    const { payments, countScans, count } = setupBatch({
      forgets: true,
      history: 250,
      onRequest: async ({ method }) => {
        if (method !== 'GET') return;
        pages += 1;
        // The source yields more payments in the middle of the first scan.
        if (pages === 2) middle.resolve();
        await new Promise((resolve) => setTimeout(resolve, 5));
      },
    });
    async function* paused(): AsyncGenerator<OnceInput> {
      yield* createSalaries(5);
      await middle.promise;
      yield* createSalaries(20, 6);
    }
    expect(await collect(payments.transfers.createAllOnce(paused()))).toHaveLength(25);
    expect(countScans()).toBe(4);
    expect(count('transfers.create')).toBe(25);
  });

  test('a batch reads the list twice for 13 expired claims', async () => {
    const world = setupBatch({ history: 250 });
    for (const salary of createSalaries(13)) await claimAsDead(world, salary);
    world.clock.jump(totalTimeout + gracePeriod);
    expect(kindsOf(await world.payAll(createSalaries(13)))).toEqual(['created']);
    expect(world.countScans()).toBe(2);
    expect(new Set(world.paid()).size).toBe(13);
  });

  test.each(['createAllOnce', 'createOnce'])('%s reads the list at most 4 times', async (kind) => {
    // The first scan has pages of 81, the second one of 82.
    vi.spyOn(Math, 'random').mockReturnValue(0);
    let requests = 0;
    const world = setupBatch({
      forgets: true,
      history: 82,
      onRequest: () => {
        requests += 1;
        if (requests > 100) throw new Error('the scans do not end');
      },
    });
    await claimAsDead(world, salaryOf(1));
    world.clock.jump(totalTimeout + gracePeriod);
    if (kind === 'createOnce') {
      await world.payments.transfers.decide(salaryOf(1).description, 'not_paid', {
        force: true,
      });
    }
    const before = world.countScans();
    if (kind === 'createAllOnce') await world.payAll(createSalaries(3));
    else await world.run(world.payments.transfers.createOnce(salaryOf(1)));
    expect(world.count('transfers.create')).toBe(kind === 'createAllOnce' ? 3 : 1);
    expect(world.countScans() - before).toBeLessThanOrEqual(4);
  });

  test('a batch with 13 recent claims sends at most 150 list requests', async () => {
    const world = setupBatch({ history: 800 });
    for (const salary of createSalaries(13)) await claimAsDead(world, salary);
    expect(kindsOf(await world.payAll(createSalaries(13)))).toEqual(['created']);
    expect(world.count('transfers.list')).toBeLessThanOrEqual(150);
    expect(world.clock.passed - 3_600_000).toBeLessThan(totalTimeout + gracePeriod + 30_000);
    expect(new Set(world.paid()).size).toBe(13);
  });

  /** A batch in which each request for a payment takes `createMs`. */
  const setupSlow = (createMs: number, options = {}) => {
    const world = setupBatch({
      forgets: true,
      history: 250,
      onRequest: ({ method }) => {
        if (method === 'POST') world.clock.jump(createMs);
      },
      ...options,
    });
    return world;
  };

  test('a batch searches again if its last scan is 120 s old', async () => {
    const world = setupSlow(20_000);
    const elsewhere: string[] = [];
    const batch = world.payments.transfers.createAllOnce(createSalaries(20), { concurrency: 1 });
    const pay = async () => {
      for await (const { result, input } of batch) {
        expect(result).toBe(elsewhere.includes(input.description) ? 'found' : 'created');
        // Another process pays the last one, after the first scan.
        if (batch.counts.paid !== 2) continue;
        world.sandbox.transfers.create(salaryOf(20));
        elsewhere.push(referenceOf(20));
      }
    };
    await world.run(pay());
    expect(elsewhere).toHaveLength(1);
    expect(new Set(world.paid()).size).toBe(world.paid().length);
    // 19 creations take 20 s each and a result is fresh for 120 s, so 4 searches of 2 scans follow.
    expect(world.countScans()).toBe(8);
  });

  test.each(['ahead', 'back'])(
    'a batch searches again if the wall clock is set %s',
    async (way) => {
      const world = setupSlow(0);
      const batch = world.payments.transfers.createAllOnce(createSalaries(4), { concurrency: 1 });
      const pay = async () => {
        for await (const { result } of batch) {
          expect(result).toBe('created');
          if (batch.counts.paid === 2) world.clock.shiftWall(way === 'ahead' ? totalTimeout : -1);
        }
      };
      await world.run(pay());
      expect(world.countScans()).toBe(4);
    },
  );

  test('a batch scans again for all waiting payments after a failed scan', async () => {
    const { payAll, sandbox, countScans, count, paid } = setupBatch(
      { forgets: true, history: 250 },
      { maxRetries: 0 },
    );
    sandbox.faults.add({ operation: 'transfers.list', after: 1, fault: { kind: 'html' } });
    expect(kindsOf(await payAll(createSalaries(40)))).toEqual(['created']);
    // After the failed scan, two serve the payments that ask later, and two those that asked first.
    expect(countScans()).toBe(5);
    expect(count('transfers.list')).toBe(14);
    expect(new Set(paid()).size).toBe(40);
  });

  test('a batch searches again if the journal loses the claim in doubt', async () => {
    const { payAll, sandbox, lose, paid, countScans } = setupBatch({
      forgets: true,
      history: 150,
      wrapJournal: ({ read }) => {
        let reads = 0;
        return {
          async read(reference) {
            // A fail-over before the second try.
            if (reference === referenceOf(3) && (reads += 1) === 2) await lose(reference);
            return read(reference);
          },
        };
      },
    });
    sandbox.faults.add({
      operation: 'transfers.create',
      after: 2,
      fault: { kind: 'reset', when: 'after_commit' },
    });
    // The search of the first try fails, so the outcome stays unknown.
    sandbox.faults.add({
      operation: 'transfers.list',
      after: 2,
      times: 3,
      fault: { kind: 'status', status: 503 },
    });
    const results = await payAll(createSalaries(5), { concurrency: 1 });
    expect(results.map(({ result }) => result).toSorted()).toEqual([
      ...Array<string>(4).fill('created'),
      'found',
    ]);
    expect(paid().toSorted()).toEqual([1, 2, 3, 4, 5].map(referenceOf));
    expect(countScans()).toBeGreaterThanOrEqual(2);
  });

  test("a batch searches again if another process's claim disappears", async () => {
    const world = setupBatch({
      forgets: true,
      history: 150,
      wrapJournal: ({ swap }) => ({
        async swap(reference, before, after) {
          if (reference !== referenceOf(3) || hasLost) return swap(reference, before, after);
          // Another process has claimed and made this payment, and a fail-over loses the claim.
          hasLost = true;
          world.sandbox.transfers.create(salaryOf(3));
          return false;
        },
      }),
    });
    let hasLost = false;
    const results = await world.payAll(createSalaries(5), { concurrency: 1 });
    expect(hasLost).toBe(true);
    expect(results.find(({ input }) => input.description === referenceOf(3))?.result).toBe('found');
    expect(world.paid().toSorted()).toEqual([1, 2, 3, 4, 5].map(referenceOf));
  });

  test('a batch pays once even if the journal loses all claims', async () => {
    const world = setupBatch({ forgets: true, history: 150 });
    const salaries = createSalaries(60);
    const fault = { kind: 'reset', when: 'after_commit' } as const;
    world.sandbox.faults.add({ operation: 'transfers.create', after: 10, times: 10, fault });
    const batch = world.payments.transfers.createAllOnce(salaries);
    const pay = async () => {
      for await (const { error } of batch) {
        expect(error).toBeUndefined();
        if (batch.counts.paid !== 30) continue;
        for (const { description } of salaries) await world.lose(description);
      }
    };
    await world.run(pay());
    const again = await world.payAll(salaries);
    expect(again.filter(({ error }) => error !== undefined)).toEqual([]);
    expect(world.paid().toSorted()).toEqual(salaries.map(({ description }) => description));
  });

  test('a batch does not search again before it retries after 429', async () => {
    const { payAll, sandbox, countScans } = setupBatch({ forgets: true, history: 150 });
    const fault = { kind: 'status', status: 429, retryAfter: 1 } as const;
    sandbox.faults.add({ operation: 'transfers.create', times: 20, fault });
    expect(kindsOf(await payAll(createSalaries(5)))).toEqual(['created']);
    expect(countScans()).toBe(2);
  });

  /** Serves pages that `change` alters, like those of a list that changes while it is read. */
  const setupMoving = (change: (scan: number, data: Transfer[]) => Transfer[]) => {
    let scan = 0;
    const fetch = async (request: Request): Promise<Response> => {
      const { searchParams, pathname } = new URL(request.url);
      const response = await world.sandbox.fetch(request);
      if (request.method !== 'GET' || !pathname.endsWith('/transfers')) return response;
      if (!searchParams.has('cursor')) scan += 1;
      const page = (await response.json()) as { data: Transfer[] };
      return Response.json({ ...page, data: change(scan, page.data) }, response);
    };
    const world = setupBatch({ forgets: true, history: 250 }, { maxRetries: 0, fetch });
    return world;
  };

  test('a batch pays once if journal and one scan miss a payment', async () => {
    const world = setupMoving((scan, data) =>
      scan === 1 ? data.filter(({ description }) => description !== referenceOf(3)) : data,
    );
    world.sandbox.transfers.create(salaryOf(3));
    const results = await world.payAll(createSalaries(5));
    expect(results.map(({ result }) => result).toSorted()).toEqual([
      ...Array<string>(4).fill('created'),
      'found',
    ]);
    expect(world.paid().toSorted()).toEqual([1, 2, 3, 4, 5].map(referenceOf));
  });

  test('scans that contradict each other leave unlisted payments in doubt', async () => {
    const world = setupMoving((scan, data) => data.filter((_, at) => at % 50 !== scan));
    world.sandbox.transfers.create(salaryOf(3));
    const results = await world.payAll(createSalaries(4), { retryTimeout: 1_000 });
    const kinds = results.map(({ reference, result }) => `${reference} ${result}`).toSorted();
    expect(kinds).toEqual(
      [1, 2, 3, 4].map((at) => `${referenceOf(at)} ${at === 3 ? 'found' : 'in_doubt'}`),
    );
    expect(world.paid()).toEqual([referenceOf(3)]);
  });
});

describe('retries of createAllOnce', () => {
  test('a batch pays other inputs while 12 payments in doubt wait', async () => {
    const world = setupBatch();
    for (const salary of createSalaries(12)) await claimAsDead(world, salary);
    const batch = world.payments.transfers.createAllOnce(createSalaries(24), { concurrency: 4 });
    let othersPaidAt = 0;
    let maxWaiting = 0;
    const results: string[] = [];
    const pay = async () => {
      for await (const { result } of batch) {
        results.push(result);
        if (results.length === 12) othersPaidAt = world.clock.passed;
        maxWaiting = Math.max(maxWaiting, batch.counts.waiting);
      }
    };
    await world.run(pay());
    expect(maxWaiting).toBeGreaterThan(8);
    expect(othersPaidAt).toBeLessThan(totalTimeout);
    expect(world.paid().slice(0, 12)).toEqual(
      createSalaries(12, 13).map((each) => each.description),
    );
    expect(batch.counts).toEqual({ ...noCounts, created: 24, paid: 24, total: 24 });
  });

  test('batch.counts.retryAt says when a waiting batch continues', async () => {
    const world = setupBatch();
    await claimAsDead(world, salaryOf(1));
    world.sandbox.faults.add({
      operation: 'transfers.create',
      fault: { kind: 'status', status: 429, retryAfter: 90 },
    });
    const batch = world.payments.transfers.createAllOnce(createSalaries(2), { concurrency: 2 });
    const [startedAt, sampled] = [world.clock.now(), [] as (number | undefined)[]];
    for (const ms of [30_000, 100_000]) {
      world.clock.setTimeout(() => sampled.push(batch.counts.retryAt), ms);
    }
    await world.run(collect(batch));
    // One payment waits for 90 s. Then the batch checks at times whether the claim has ended.
    const [first = 0, second = 0] = sampled.map((time = 0) => (time - startedAt) / 1_000);
    expect(first).toBeGreaterThanOrEqual(30);
    expect(first).toBeLessThanOrEqual(90);
    expect(second).toBeGreaterThanOrEqual(100);
    expect(batch.counts).toEqual({ ...noCounts, created: 2, paid: 2, total: 2 });
    expect('retryAt' in batch.counts).toBe(false);
  });

  test('a batch starts no payment while 1,000 are in doubt', async () => {
    let isDown = false;
    const world = setupBatch({
      wrapJournal: ({ read }) => ({
        read: (reference) => (isDown ? Promise.reject(new Error('down')) : read(reference)),
      }),
    });
    await world.payAll([salaryOf(9_999)]);
    isDown = true;
    const controller = new AbortController();
    const { signal } = controller;
    let read = 0;
    function* counted(): Generator<OnceInput> {
      for (let number = 1; number <= 1_200; number += 1) {
        read = number;
        yield salaryOf(number);
      }
    }
    const batch = world.payments.transfers.createAllOnce(counted(), { signal });
    const results = collect(batch);
    while (batch.counts.waiting < 1_000) await flushPromises(1);
    await world.clock.advance(500);
    expect(batch.counts.waiting).toBeLessThanOrEqual(1_016);
    expect(read).toBeLessThanOrEqual(1_032);
    controller.abort();
    await failureOf(results, AbortError);
  });

  test.each<[number, SandboxFault, 'transfers.create' | 'transfers.get', number]>([
    [429, { kind: 'status', status: 429, retryAfter: 90 }, 'transfers.create', 90_000],
    [503, { kind: 'status', status: 503, retryAfter: 90 }, 'transfers.get', 90_000],
  ])('a batch waits for the Retry-After of a response %i', async (_, fault, operation, waitMs) => {
    const { payAll, sandbox, clock, operations } = setupBatch();
    if (operation === 'transfers.get') await payAll([salaryOf(1)]);
    const before = operations().length;
    sandbox.faults.add({ operation, times: 1, fault });
    const startedAt = clock.passed;
    const results = await payAll(createSalaries(3), { concurrency: 1 });
    expect(results.every(({ error }) => error === undefined)).toBe(true);
    expect(clock.passed - startedAt).toBeGreaterThanOrEqual(waitMs);
    expect(clock.passed - startedAt).toBeLessThan(waitMs + 10_000);
    expect(operations().slice(before)[0]).toBe(operation);
    expect(operations().slice(before)).toHaveLength(4);
  });

  test("without Retry-After a batch's delays double from 1 to 60 s", async () => {
    const times: number[] = [];
    const { payAll, clock, sandbox } = setupBatch(
      { onRequest: () => times.push(clock.passed) },
      { maxRetries: 0 },
    );
    const fault = { kind: 'status', status: 425 } as const;
    sandbox.faults.add({ operation: 'transfers.create', times: 100, fault });
    const [result] = await payAll([salaryOf(1)], { retryTimeout: 300_000 });
    expect(result).toMatchObject({ result: 'not_paid', error: { outcome: 'rejected' } });
    const waits = times.slice(1).map((time, at) => (time - (times[at] ?? 0)) / 1_000);
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  });

  test.each([
    [60_000, 'in_doubt'],
    [1_200_000, 'created'],
  ])("a retryTimeout of %i ms leaves a dead process's payment %s", async (ms, kind) => {
    const world = setupBatch();
    await claimAsDead(world, salaryOf(1));
    const [result] = await world.payAll([salaryOf(1)], { retryTimeout: ms });
    expect(result?.result).toBe(kind);
    expect(world.clock.passed).toBeLessThanOrEqual(ms);
  });
});

describe('faults during createAllOnce', () => {
  const faults: readonly (readonly [string, SandboxFault])[] = [
    ['a lost request', { kind: 'reset', when: 'before_commit' }],
    ['a lost response', { kind: 'reset', when: 'after_commit' }],
    ['a 503 before the commit', { kind: 'status', status: 503, when: 'before_commit' }],
    ['a 503 after the commit', { kind: 'status', status: 503, when: 'after_commit' }],
    ['a 429', { kind: 'status', status: 429, retryAfter: 1 }],
    ['a hanging request', { kind: 'hang', when: 'before_commit' }],
    ['a hanging response', { kind: 'hang', when: 'after_commit' }],
    ['an HTML page', { kind: 'html', when: 'before_commit' }],
    ['an HTML page after the commit', { kind: 'html', when: 'after_commit' }],
    ['half a body', { kind: 'truncated_body' }],
    ['a body that stalls', { kind: 'stalled_body' }],
  ];
  test.each(
    faults.flatMap(([name, fault]) => [false, true].map((forgets) => ({ name, fault, forgets }))),
  )(
    'a batch pays once if 12 requests meet $name (forgets: $forgets)',
    async ({ fault, forgets }) => {
      const { payAll, sandbox, paid } = setupBatch({ forgets, history: 110 });
      sandbox.faults.add({ operation: 'transfers.create', times: 12, fault });
      const results = await payAll(createSalaries(20));
      expect(results.flatMap(({ error }) => error?.message ?? [])).toEqual([]);
      expect(paid().toSorted()).toEqual(createSalaries(20).map((each) => each.description));
    },
  );

  test.each([false, true])(
    'batches that are killed pay each payment once (%s)',
    async (forgets) => {
      const count = 6;
      for (let seed = 1; seed <= 25; seed += 1) {
        const random = createRandom(seed * 7_919);
        let stepsLeft = Number.POSITIVE_INFINITY;
        const never = new Promise<never>(() => undefined);
        /** A step of a process that may be killed before or after it. */
        const step = async <T>(act: () => Promise<T>): Promise<T> => {
          stepsLeft -= 1;
          if (stepsLeft < 0) return never;
          const result = await act();
          return stepsLeft === 0 ? never : result;
        };
        const limits = { totalTimeout: 10_000, gracePeriod: 20_000, timeout: 5_000 };
        const world = setupBatch({ forgets, history: 101 }, limits);
        const { journal, sandbox, clock } = world;
        for (let kill = 0; kill < 3; kill += 1) {
          stepsLeft = 1 + Math.floor(random() * count * 4);
          const mine = { dead: false };
          const act = <T>(run: () => Promise<T>): Promise<T> => (mine.dead ? never : step(run));
          const payments = world.payments.withOptions({
            fetch: (request: Request) => act(() => sandbox.fetch(request)),
            journal: {
              searchFirst: forgets ? 'always' : 'never',
              read: (reference) => act(() => journal.read(reference)),
              swap: (...call) => act(() => journal.swap(...call)),
              now: (reference) => act(() => journal.now(reference)),
            },
          });
          const inputs = createSalaries(count).toSorted(() => random() - 0.5);
          // The batch of a killed process never ends.
          void collect(payments.transfers.createAllOnce(inputs, { concurrency: 4 })).catch(
            () => undefined,
          );
          await world.waitUntilIdle();
          mine.dead = true;
          clock.jump(random() < 0.5 ? 1_000 : 25_000);
        }
        stepsLeft = Number.POSITIVE_INFINITY;
        const results = await world.payAll(createSalaries(count));
        expect(results.flatMap(({ error }) => error?.message ?? [])).toEqual([]);
        expect(world.paid().toSorted()).toEqual(
          createSalaries(count).map((each) => each.description),
        );
      }
    },
  );
});
