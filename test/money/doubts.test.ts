import {
  PaymentInDoubtError,
  PaymentsClient,
  PaymentsError,
  PaymentVetoedError,
  ServerError,
  type OnceInput,
} from 'payments-platform-sdk';
import { memoryJournal, type Journal } from 'payments-platform-sdk/journals';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { describe, expect, test, vi } from 'vitest';
import { forgetPlatform, openRegistry } from '../../src/internal/doubt-registry.ts';
import { CallDoubt, hasDoubt } from '../../src/once/doubts.ts';
import { failureOf } from '../support/clients.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const inputOf = (description: string, changes: Partial<OnceInput> = {}): OnceInput =>
  ({
    sourceAccountId: 'acc_000001',
    counterpartyId: 'cpty_000001',
    amount: '125.50',
    description,
    ...changes,
  }) as OnceInput;

/** A platform that loses the response to the first creation, and whose list cannot be read. */
function setup(when: 'before_commit' | 'after_commit' = 'after_commit') {
  const sandbox = seedDemo(new Sandbox());
  sandbox.accounts.fund('acc_000001', '1000000');
  sandbox.accounts.fund('acc_000002', '1000000');
  sandbox.faults.add({ operation: 'transfers.create', fault: { kind: 'reset', when } });
  sandbox.faults.add({
    operation: 'transfers.list',
    times: 'always',
    fault: { kind: 'status', status: 503 },
  });
  const seeded = sandbox.transfers.list().length;
  let passed = 0;
  const journal = memoryJournal({ now: () => Date.now() + passed });
  const options = { ...sandbox.clientOptions, journal, maxRetries: 0 };
  const payments = new PaymentsClient(options);
  const print = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const leaveInDoubt = (description: string) =>
    failureOf(payments.transfers.createOnce(inputOf(description)), PaymentInDoubtError);
  const references = (): string[] =>
    sandbox.transfers
      .list()
      .slice(seeded)
      .map(({ description }) => String(description));
  const lines = () => print.mock.calls.flat().filter((line) => String(line).includes('same terms'));
  return {
    sandbox,
    /** Lets the deadlines of all claims pass. */
    wait: () => (passed += 120_000),
    options,
    payments,
    transfers: payments.transfers,
    leaveInDoubt,
    references,
    lines,
  };
}

/** A client of a second copy of the package. */
async function createCopy(options: ConstructorParameters<typeof PaymentsClient>[0]) {
  vi.resetModules();
  const copy = await import('payments-platform-sdk');
  return new copy.PaymentsClient(options);
}

type Fallback = (world: ReturnType<typeof setup>) => Promise<unknown>;
const lost = inputOf('invoice 4711');
const fallbacks: Readonly<Record<string, Fallback>> = {
  'after an error': ({ transfers }) =>
    transfers.createOnce(lost).catch(() => transfers.create(lost)),
  'after a race with a timer': async ({ payments, options, sandbox }) => {
    sandbox.faults.clear();
    const timeout = Promise.withResolvers<never>();
    const end = Promise.withResolvers<undefined>();
    const fetch = async (request: Request): Promise<Response> => {
      const response = await options.fetch(request);
      // The timer fires while the response is on its way.
      timeout.reject(new Error('timeout'));
      await end.promise;
      return response;
    };
    const running = payments.withOptions({ fetch }).transfers.createOnce(lost);
    await Promise.race([running, timeout.promise]).catch(() =>
      payments.transfers.create(lost).catch(() => undefined),
    );
    end.resolve(undefined);
    await running;
  },
  'in other capitals': ({ transfers }) =>
    transfers.createOnce(lost).catch(() => transfers.create(inputOf('INVOICE 4711'))),
  'by a clone of the client': ({ payments }) =>
    payments.transfers
      .createOnce(lost)
      .catch(() => payments.withOptions({ maxRetries: 2 }).transfers.create(lost)),
  'by a client of its own': ({ options, transfers }) =>
    transfers
      .createOnce(lost)
      .catch(() => new PaymentsClient({ ...options, journal: undefined }).transfers.create(lost)),
  'for a payment of a batch': async ({ transfers }) => {
    const batch = transfers.createAllOnce([lost], { retryTimeout: 1 });
    for await (const { input, error } of batch) if (error) await transfers.create(input);
  },
  'that waited for the rate limiter': async ({ options, transfers, sandbox }) => {
    const clock = new VirtualClock();
    const limited = new PaymentsClient({ ...options, clock }).transfers;
    const fault = { kind: 'status', status: 429, retryAfter: 5 } as const;
    sandbox.faults.add({ operation: 'transfers.get', fault });
    await failureOf(limited.get('txfr_000001'));
    const waiting = limited.create(lost);
    await failureOf(transfers.createOnce(lost));
    await Promise.all([waiting, clock.advance(5_000)]);
  },
};

test.each(Object.entries(fallbacks))('create %s does not pay a second time', async (_, pay) => {
  const world = setup();
  await pay(world).catch(() => undefined);
  expect(world.references()).toEqual(['invoice 4711']);
});

describe('create with the reference of a payment of createOnce', () => {
  test.each(['invoice 4711', 'INVOICE 4711'])(
    'is not sent while the payment is in doubt: %s',
    async (description) => {
      const { transfers, leaveInDoubt, references } = setup();
      await leaveInDoubt('invoice 4711');
      const error = await failureOf(transfers.create(inputOf(description)), PaymentInDoubtError);
      expect(error).toMatchObject({
        operation: 'transfers.create',
        reason: 'in_doubt',
        outcome: 'unknown',
        reference: description,
        attempts: [],
      });
      expect(error.message).toContain('Call createOnce again with the same reference');
      expect(references()).toEqual(['invoice 4711']);
    },
  );

  test('is not sent while createOnce still runs', async () => {
    const { transfers, references, sandbox } = setup();
    sandbox.faults.clear();
    const running = transfers.createOnce(inputOf('invoice 4711'));
    await failureOf(transfers.create(inputOf('invoice 4711')), PaymentInDoubtError);
    await running;
    expect(references()).toHaveLength(1);
  });

  test('is not sent by another client or copy of the package', async () => {
    const { options, leaveInDoubt, references } = setup();
    await leaveInDoubt('invoice 4711');
    const other = new PaymentsClient({ ...options, journal: memoryJournal() });
    await failureOf(other.transfers.create(inputOf('invoice 4711')), PaymentInDoubtError);
    const copy = await createCopy(options);
    await expect(copy.transfers.create(inputOf('invoice 4711'))).rejects.toMatchObject({
      name: 'PaymentInDoubtError',
    });
    expect(references()).toHaveLength(1);
  });

  test('is sent on another platform', async () => {
    const { payments, leaveInDoubt, references } = setup();
    await leaveInDoubt('invoice 4711');
    const elsewhere = payments.withOptions({ baseUrl: 'https://other.invalid/v0' });
    await elsewhere.transfers.create(inputOf('invoice 4711'));
    expect(references()).toHaveLength(2);
  });

  test.each([
    ['createOnce has found the payment', 'found'],
    ['an operator has decided', 'decided'],
    ['a new sandbox was made', 'reset'],
  ])('is sent when %s', async (_, way) => {
    const { transfers, leaveInDoubt, sandbox, wait } = setup('before_commit');
    await leaveInDoubt('invoice 4711');
    sandbox.faults.clear();
    if (way === 'found') {
      sandbox.transfers.create(inputOf('invoice 4711'));
      expect((await transfers.createOnce(inputOf('invoice 4711'))).result).toBe('found');
    } else if (way === 'decided') {
      wait();
      await transfers.decide('invoice 4711', 'not_paid', { force: true });
    } else {
      expect(new Sandbox().transfers.list()).toEqual([]);
    }
    expect((await transfers.create(inputOf('invoice 4711'))).status).toBe('pending');
  });

  test('is sent after a payment that was certainly not made', async () => {
    const { transfers, sandbox, references } = setup();
    sandbox.faults.clear();
    sandbox.faults.add({ operation: 'transfers.create', fault: { kind: 'status', status: 422 } });
    await failureOf(transfers.createOnce(inputOf('invoice 4711')));
    await transfers.create(inputOf('invoice 4711'));
    expect(references()).toEqual(['invoice 4711']);
  });

  test('is not sent even if another createOnce call was vetoed', async () => {
    const { payments, leaveInDoubt, references } = setup();
    let veto = (): void => undefined;
    const authorize = () =>
      new Promise<boolean>((resolve) => {
        veto = () => resolve(false);
      });
    const { transfers } = payments.withOptions({ authorize });
    const vetoed = transfers.createOnce(inputOf('invoice 4711'));
    await leaveInDoubt('invoice 4711');
    veto();
    await failureOf(vetoed, PaymentVetoedError);
    const other = payments.withOptions({ journal: memoryJournal(), authorize: () => false });
    await failureOf(other.transfers.createOnce(inputOf('invoice 4711')), PaymentVetoedError);
    await failureOf(payments.transfers.create(inputOf('invoice 4711')), PaymentInDoubtError);
    expect(references()).toEqual(['invoice 4711']);
  });

  test.each<[string, (journal: Journal) => Partial<Journal>]>([
    ['the journal cannot be read', () => ({ read: () => Promise.reject(new Error('down')) })],
    ['another process claims first', () => ({ swap: () => Promise.resolve(false) })],
    ['the list cannot be searched', () => ({ searchFirst: 'always' })],
  ])('is not sent if createOnce is in doubt because %s', async (_, change) => {
    const { payments, options, references } = setup();
    const journal = { ...options.journal, ...change(options.journal) };
    const { transfers } = payments.withOptions({ journal });
    await failureOf(transfers.createOnce(inputOf('invoice 4711')), PaymentInDoubtError);
    await failureOf(transfers.create(inputOf('invoice 4711')), PaymentInDoubtError);
    expect(references()).toEqual([]);
  });

  test('is not sent if createOnce could not read the recorded transfer', async () => {
    const { transfers, sandbox, references } = setup();
    sandbox.faults.clear();
    await transfers.createOnce(inputOf('invoice 4711'));
    sandbox.faults.add({ operation: 'transfers.get', fault: { kind: 'status', status: 503 } });
    await failureOf(transfers.createOnce(inputOf('invoice 4711')), ServerError);
    await failureOf(transfers.create(inputOf('invoice 4711')), PaymentInDoubtError);
    expect(references()).toEqual(['invoice 4711']);
  });

  test('is not sent if createOnce began while create waited', async () => {
    const { payments, leaveInDoubt, references } = setup();
    let permit = (): void => undefined;
    const authorize = () =>
      new Promise<boolean>((resolve) => {
        permit = () => resolve(true);
      });
    const waiting = payments.withOptions({ authorize }).transfers.create(inputOf('invoice 4711'));
    await leaveInDoubt('invoice 4711');
    permit();
    await failureOf(waiting, PaymentInDoubtError);
    expect(references()).toEqual(['invoice 4711']);
  });
});

describe('a payment with the terms of a payment in doubt', () => {
  test.each(['createOnce', 'create'] as const)(
    'is sent by %s, and one warning names both references',
    async (method) => {
      const { transfers, leaveInDoubt, references, lines } = setup();
      await leaveInDoubt('invoice 4711');
      const equal = { amount: '125.5', currency: 'USDC' };
      await transfers[method](inputOf(`${method} 2`, equal));
      await transfers[method](inputOf(`${method} 3`, equal));
      expect(references()).toEqual(['invoice 4711', `${method} 2`, `${method} 3`]);
      expect(lines()).toEqual([
        expect.stringContaining(`${method} 2 is sent although invoice 4711, with the same terms`),
      ]);
    },
  );

  test('causes a warning for each payment in doubt', async () => {
    const { transfers, leaveInDoubt, sandbox, lines } = setup();
    await leaveInDoubt('fee 1');
    const fault = { kind: 'reset', when: 'after_commit' } as const;
    sandbox.faults.add({ operation: 'transfers.create', fault });
    await leaveInDoubt('fee 2');
    await transfers.createOnce(inputOf('fee 3'));
    expect(lines()).toEqual([
      expect.stringContaining('fee 2 is sent although fee 1'),
      expect.stringContaining('fee 3 is sent although fee 2'),
    ]);
  });

  test.each<[string, Partial<OnceInput>]>([
    ['source', { sourceAccountId: 'acc_000002' }],
    ['destination', { counterpartyId: 'cpty_000002' }],
    ['amount', { amount: '125.51' }],
    ['currency', { currency: 'USDT' }],
  ])('causes no warning with another %s', async (_, changes) => {
    const { transfers, leaveInDoubt, lines } = setup();
    await leaveInDoubt('invoice 4711');
    await transfers.createOnce(inputOf('invoice 4712', changes)).catch(() => undefined);
    expect(lines()).toEqual([]);
  });

  test("causes a warning if only the currency's letter case differs", async () => {
    const { transfers, leaveInDoubt, lines } = setup();
    await leaveInDoubt('invoice 4711 in USDC');
    // The sandbox rejects the currency, after the payment was sent.
    await failureOf(transfers.createOnce(inputOf('invoice 4712', { currency: 'usdc' })));
    expect(lines()).toHaveLength(1);
  });

  test('causes a warning if another process left the payment in doubt', async () => {
    const { transfers, options, sandbox, leaveInDoubt, lines } = setup();
    const open = await leaveInDoubt('invoice 4711 of a process');
    forgetPlatform(options.baseUrl);
    expect(await failureOf(transfers.createOnce(inputOf(open.reference)))).toMatchObject({
      outcome: 'unknown',
    });
    sandbox.faults.clear();
    await transfers.createOnce(inputOf('invoice 4712'));
    expect(lines()).toHaveLength(1);
  });

  test('causes no warning if it is vetoed', async () => {
    const { payments, transfers, leaveInDoubt, lines } = setup();
    // A line is printed once in a process, which other test files share, so the reference is rare.
    await leaveInDoubt('invoice 4711 beside a veto');
    const vetoing = payments.withOptions({ authorize: () => false });
    await failureOf(vetoing.transfers.create(inputOf('vetoed')), PaymentVetoedError);
    await failureOf(vetoing.transfers.createOnce(inputOf('vetoed')), PaymentVetoedError);
    expect(lines()).toEqual([]);
    await transfers.create({ ...inputOf('sent'), description: 'line\nbreak' });
    expect(lines()).toEqual([
      expect.stringContaining('a payment is sent although invoice 4711 beside a veto'),
    ]);
  });

  test('causes a warning without the credential that a reference contains', async () => {
    const { payments, transfers, sandbox, lines } = setup();
    const key = 'sk_of_another_tenant_1';
    const tenant = payments.withOptions({ apiKey: key });
    sandbox.faults.add({
      operation: 'transfers.create',
      fault: { kind: 'reset', when: 'after_commit' },
    });
    await tenant.transfers.createOnce(inputOf(`of ${key}`)).catch(() => undefined);
    await transfers.createOnce(inputOf('invoice 4712')).catch(() => undefined);
    await transfers.createOnce(inputOf('invoice 4713'));
    expect(lines().join()).not.toContain(key);
  });

  test('causes no warning when the same reference is claimed again', async () => {
    const { options, transfers, leaveInDoubt, lines } = setup();
    await leaveInDoubt('invoice 4711');
    const { journal } = options;
    await journal.swap('invoice 4711', await journal.read('invoice 4711'), undefined);
    await transfers.createOnce(inputOf('invoice 4711'));
    expect(lines()).toEqual([]);
  });

  test("causes no warning while the first payment's call still searches", async () => {
    const { transfers, sandbox, lines } = setup();
    sandbox.faults.clear();
    const fault = { kind: 'reset', when: 'after_commit' } as const;
    sandbox.faults.add({ operation: 'transfers.create', fault });
    sandbox.faults.add({ operation: 'transfers.list', fault: { kind: 'hang' } });
    const end = new AbortController();
    const running = transfers.createOnce(inputOf('invoice 4711'), { signal: end.signal });
    await vi.waitFor(() => expect(sandbox.log.at(-1)?.operation).toBe('transfers.list'));
    await transfers.createOnce(inputOf('invoice 4712'));
    expect(lines()).toEqual([]);
    end.abort();
    await failureOf(running);
  });
});

test('create is not sent while createOnce runs, whatever an operator decided', async () => {
  const sandbox = seedDemo(new Sandbox());
  const fault = { kind: 'hang', when: 'after_commit' } as const;
  sandbox.faults.add({ operation: 'transfers.create', fault });
  const abort = new AbortController();
  const options = { ...sandbox.clientOptions, journal: memoryJournal() };
  const { transfers } = new PaymentsClient(options);
  const input = inputOf('hanging');
  const running = failureOf(transfers.createOnce(input, { signal: abort.signal }));
  const find = () => sandbox.transfers.list().find(({ description }) => description === 'hanging');
  await expect.poll(find).toBeDefined();
  await transfers.decide('hanging', find()?.id ?? '');
  expect(await failureOf(transfers.create(input))).toMatchObject({ reason: 'in_doubt' });
  abort.abort();
  await running;
});

test('createAllOnce makes 500 payments although 100 of them have equal terms', async () => {
  const { transfers, sandbox, lines } = setup();
  sandbox.faults.clear();
  const inputs = Array.from({ length: 500 }, (_, at) =>
    inputOf(`payment ${at}`, { amount: `${Math.max(1, at - 100)}.00` }),
  );
  const { counts, unpaid } = await transfers.createAllOnce(inputs);
  expect(unpaid).toEqual([]);
  expect(counts.paid).toBe(500);
  expect(lines()).toEqual([]);
  expect(openRegistry().payments.size).toBe(0);
});

test("a call that ends late does not clear a later call's doubt", async () => {
  const platform = 'https://late.invalid/v0';
  const terms = { platform, input: inputOf('invoice 4711') };
  const unknown = new PaymentsError('', { outcome: 'unknown' });
  const early = new CallDoubt(terms, String, { elapsed: () => 0 });
  forgetPlatform(platform);
  const late = new CallDoubt(terms, String, { elapsed: () => 0 });
  late.addRequest();
  late.end(unknown);
  early.end();
  expect(hasDoubt(platform, 'invoice 4711')).toBe(true);
  forgetPlatform(platform);
  expect(openRegistry().inDoubt.size).toBe(0);
});

test('a process remembers the latest 10,000 payments in doubt', () => {
  const platform = 'https://many.invalid/v0';
  for (let at = 0; at <= 10_000; at += 1) {
    void new CallDoubt({ platform, input: inputOf(`payment ${at}`) }, String, { elapsed: () => 0 });
  }
  const { payments } = openRegistry();
  expect(payments.size).toBe(10_000);
  expect(payments.has(`${platform} payment 0`)).toBe(false);
  forgetPlatform(platform);
  expect(payments.size).toBe(0);
});
