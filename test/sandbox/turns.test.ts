import { AbortError, PaymentsClient, type ClientOptions, type Hooks } from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { Sandbox, seedDemo, VirtualClock } from 'payments-platform-sdk/sandbox';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { failureOf } from '../support/clients.ts';

// Other test files share the modules of this thread, and need them as loaded on this runtime.
afterEach(() => {
  vi.resetModules();
});

const createInput = (number: number) =>
  ({
    sourceAccountId: 'acc_000001',
    counterpartyId: 'cpty_000001',
    amount: '0.01',
    description: `turn ${String(number).padStart(4, '0')}`,
  }) as const;
const createInputs = (count: number) => Array.from({ length: count }, (_, at) => createInput(at));

function setup(options: ClientOptions = {}, sandbox = new Sandbox()) {
  seedDemo(sandbox);
  const earlier = sandbox.transfers.list().length;
  const payments = new PaymentsClient({
    ...sandbox.clientOptions,
    journal: memoryJournal(),
    ...options,
  });
  return { sandbox, payments, countMade: () => sandbox.transfers.list().length - earlier };
}

describe('an application timer during calls to a sandbox', () => {
  test('fires before a loop of createOnce calls has ended', async () => {
    const { payments } = setup();
    let firedAfter: number | undefined;
    let made = 0;
    setTimeout(() => (firedAfter = made), 0);
    for (; made < 100; made += 1) await payments.transfers.createOnce(createInput(made));
    expect(firedAfter).toBeLessThan(100);
  });

  test('can abort a batch in the middle', async () => {
    const { payments, countMade } = setup();
    const controller = new AbortController();
    setTimeout(() => {
      controller.abort();
    }, 0);
    const batch = payments.transfers.createAllOnce(createInputs(500), {
      signal: controller.signal,
    });
    await failureOf(batch, AbortError);
    expect(countMade()).toBeLessThan(500);
    // The next run finds what was made.
    await payments.transfers.createAllOnce(createInputs(500));
    expect(countMade()).toBe(500);
  });

  test('can set a flag that ends a loop over a batch', async () => {
    const { payments, countMade } = setup();
    let isStopping = false;
    setTimeout(() => (isStopping = true), 0);
    for await (const { result } of payments.transfers.createAllOnce(createInputs(500))) {
      expect(result).toBe('created');
      if (isStopping) break;
    }
    expect(countMade()).toBeLessThan(500);
  });

  test('can abort the reading of a list in the middle', async () => {
    const { payments, sandbox } = setup();
    for (let count = 0; count < 300; count += 1) sandbox.transfers.create(createInput(count));
    const controller = new AbortController();
    setTimeout(() => {
      controller.abort();
    }, 0);
    const list = payments.transfers.list({ limit: 1 }, { signal: controller.signal });
    await failureOf(list.toArray({ max: 1_000 }), AbortError);
    expect(sandbox.log.length).toBeLessThan(300);
  });

  test('fires before a loop of GETs with a body has ended', async () => {
    const { payments } = setup();
    const address = `0x${'a'.repeat(40)}` as const;
    let hasFired = false;
    setTimeout(() => (hasFired = true), 0);
    for (let count = 0; count < 100; count += 1) await payments.instructions.list({ address });
    expect(hasFired).toBe(true);
  });
});

describe('an abort of a request to a sandbox', () => {
  const body = JSON.stringify({ email: 'a@b.example' });
  const send = (sandbox: Sandbox, signal: AbortSignal) => {
    const headers = { authorization: `Bearer ${sandbox.apiKey}` };
    return sandbox.fetch('https://h/v0/entities', { method: 'POST', headers, body, signal });
  };

  test('loses only the response if the request has already taken effect', async () => {
    const sandbox = new Sandbox();
    const controller = new AbortController();
    sandbox.onLog(() => {
      controller.abort(new Error('left'));
    });
    await expect(send(sandbox, controller.signal)).rejects.toThrow('left');
    expect(sandbox.entities.list()).toHaveLength(1);
  });

  test('rejects with its reason even if the fault "reset" applies', async () => {
    const sandbox = new Sandbox();
    sandbox.faults.add({ operation: '*', fault: { kind: 'reset', when: 'after_commit' } });
    const controller = new AbortController();
    sandbox.onLog(() => {
      controller.abort(new Error('left'));
    });
    await expect(send(sandbox, controller.signal)).rejects.toThrow('left');
  });
});

describe('simulated time with a sandbox', () => {
  const delayMs = 1_800_000;
  const recordFailures = () => {
    const failures: unknown[] = [];
    const onResponse: Hooks['onResponse'] = ({ reason }) => reason && failures.push(reason);
    return { failures, hooks: { onResponse } };
  };

  test.each([{}, { toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] as const }])(
    'causes no timeout if it advances half an hour: %j',
    async ({ toFake }) => {
      vi.useFakeTimers(toFake && { toFake: [...toFake] });
      onTestFinished(() => void vi.useRealTimers());
      const { failures, hooks } = recordFailures();
      const { payments, sandbox } = setup({ hooks });
      sandbox.faults.add({
        operation: 'transfers.create',
        fault: { kind: 'reset', when: 'before_commit' },
      });
      const batch = Promise.resolve(payments.transfers.createAllOnce(createInputs(20)));
      await vi.advanceTimersByTimeAsync(delayMs);
      expect((await batch).counts.paid).toBe(20);
      expect(failures).toEqual(['ECONNRESET']);
    },
  );

  test('passes between responses with `latency`, so a timer can abort a batch', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { payments, countMade } = setup({}, new Sandbox({ latency: 10 }));
    const controller = new AbortController();
    setTimeout(() => {
      controller.abort();
    }, 105);
    const { signal } = controller;
    const batch = payments.transfers.createAllOnce(createInputs(50), { signal, concurrency: 1 });
    const failure = failureOf(batch, AbortError);
    await vi.advanceTimersByTimeAsync(1_000);
    await failure;
    // The response to the eleventh was lost.
    expect(countMade()).toBe(11);
  });

  test('causes no timeout if a VirtualClock advances half an hour', async () => {
    const clock = new VirtualClock();
    const { failures, hooks } = recordFailures();
    const { payments, countMade } = setup({ clock, hooks });
    const batch = payments.transfers.createAllOnce(createInputs(100), { concurrency: 1 });
    const result = Promise.resolve(batch);
    await clock.advance(delayMs);
    expect([countMade(), failures]).toEqual([100, []]);
    await result;
  });

  test('does not stop a sandbox that loads after timers were replaced', async () => {
    const never = () => 0;
    for (const name of ['setImmediate', 'setTimeout']) vi.stubGlobal(name, never);
    vi.resetModules();
    const { Sandbox: Reloaded } = await import('payments-platform-sdk/sandbox');
    expect((await new Reloaded().fetch('https://h/v0/entities')).status).toBe(401);
  });
});

describe('a sandbox outside of Node.js', () => {
  test.each([
    ['a MessageChannel', MessageChannel],
    ['a timer, without MessageChannel', undefined],
  ])('lets an application timer fire between responses through %s', async (_, Channel) => {
    vi.stubGlobal('MessageChannel', Channel);
    vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined);
    vi.resetModules();
    const { Sandbox: Reloaded } = await import('payments-platform-sdk/sandbox');
    const sandbox = new Reloaded();
    let hasFired = false;
    setTimeout(() => (hasFired = true), 0);
    for (let count = 0; count < 200; count += 1) await sandbox.fetch('https://h/v0/entities');
    expect(hasFired).toBe(true);
  });
});
