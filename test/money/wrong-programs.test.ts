import { isOutcomeUnknown, PaymentsClient, type OnceInput } from 'payments-platform-sdk';
import {
  memoryJournal,
  postgresJournal,
  redisJournal,
  sqliteJournal,
} from 'payments-platform-sdk/journals';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { expect, test, vi } from 'vitest';

/*
 * Programs that newcomers have written, and what the SDK tells them before harm. Each line is
 * printed once, and none in the program beside it that does the same right.
 */

const payout = (description: string, changes: Partial<OnceInput> = {}): OnceInput =>
  ({
    sourceAccountId: 'acc_000001',
    counterpartyId: 'cpty_000001',
    amount: '1.00',
    description,
    ...changes,
  }) as OnceInput;

/** A sandbox with a client, and the lines on stderr. */
function setup(options: object = {}) {
  const sandbox = seedDemo(new Sandbox());
  sandbox.accounts.fund('acc_000001', '1000000');
  const print = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const connection = { ...sandbox.clientOptions, journal: memoryJournal() };
  const payments = new PaymentsClient({ ...connection, ...options });
  const lose = (times: number) => {
    sandbox.faults.add({
      operation: 'transfers.create',
      times,
      fault: { kind: 'reset', when: 'after_commit' },
    });
  };
  return {
    sandbox,
    payments,
    transfers: payments.transfers,
    lose,
    lines: () => print.mock.calls.flat().map(String),
  };
}

type World = ReturnType<typeof setup>;
const input = payout('invoice 4711');
const retry = async (attempt: () => PromiseLike<unknown>): Promise<void> => {
  for (const _ of [1, 2, 3]) await Promise.resolve(attempt()).catch(() => undefined);
};
const abortable = () => {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
};
const createTwice = ({ transfers }: World) => retry(() => transfers.create(input));
const batchOf =
  (...references: string[]) =>
  ({ transfers }: World) =>
    transfers.createAllOnce(references.map((reference) => payout(reference)));
const payAmount =
  (amount: string) =>
  ({ transfers }: World) =>
    transfers.createOnce(payout('invoice 4711', { amount }));

const creation = /an earlier create with the same terms has an unknown outcome/;
const float = /is probably a sum or product of numbers/;
const positions = /If the numbers are the positions of the rows/;
const repeated = /a batch repeats references of earlier rows \((\d)\)/;

test.each<[string, (world: World) => PromiseLike<unknown>, RegExp]>([
  ['create in a retry library', (world) => (world.lose(3), createTwice(world)), creation],
  [
    'create, then createOnce',
    async (world) => {
      world.lose(1);
      await world.transfers.create(input).catch(() => undefined);
      await world.transfers.createOnce(input);
    },
    creation,
  ],
  [
    'create after one that was aborted between two attempts',
    async (world) => {
      world.lose(1);
      const { signal, abort } = abortable();
      const keyed = world.payments.withOptions({
        platform: { idempotencyHeader: 'X-Key' },
        hooks: { onRetry: abort },
      });
      await keyed.transfers.create(input, { signal }).catch(() => undefined);
      await world.transfers.create(input);
    },
    creation,
  ],
  [
    'create after a search that came too early',
    async (world) => {
      world.lose(1);
      await world.transfers.create(input).catch(() => undefined);
      world.sandbox.faults.clear();
      await world.transfers.reconcile(payout('lost', { amount: '2.00' }));
      await world.transfers.reconcile({ ...input, description: 'another' });
      await world.transfers.create(input);
    },
    creation,
  ],
  ['0.1 + 0.2', payAmount(String(0.1 + 0.2)), float],
  ['1.1 * 3', payAmount(String(1.1 * 3)), float],
  ['100 / 3', payAmount(String(100 / 3)), float],
  ['13580.237000000001', payAmount('13580.237000000001'), float],
  ['positions from 0', batchOf('pay 0', 'pay 1', 'pay 2'), positions],
  ['positions from 1', batchOf('1', '2', '3', '4'), positions],
  ['one object pushed twice', batchOf('invoice 7', 'invoice 7'), repeated],
  ['three rows of one reference', batchOf('Consulting', 'Consulting', 'Consulting'), repeated],
  [
    '1,000 calls at a time',
    ({ transfers }) =>
      Promise.all(
        Array.from({ length: 1_000 }, (_, at) => transfers.createOnce(payout(`salary ${at}`))),
      ),
    /1000 calls of createOnce run at the same time\. createAllOnce makes 16/,
  ],
  [
    'a loop without a delay',
    async (world) => {
      const fault = { kind: 'reset', when: 'before_commit' } as const;
      world.sandbox.faults.add({ operation: 'transfers.create', fault });
      for (const _ of [1, 2, 3, 4, 5]) {
        await world.transfers.createOnce(input).catch(() => undefined);
      }
    },
    /called again three times before the retryAfterMs/,
  ],
  [
    'a client for each of five tries while the list fails',
    async (world) => {
      world.lose(1);
      const fault = { kind: 'status', status: 503 } as const;
      world.sandbox.faults.add({ operation: 'transfers.list', times: Infinity, fault });
      for (const _ of [1, 2, 3, 4, 5]) {
        const { transfers } = world.payments.withOptions({ maxRetries: 0 });
        await transfers.createOnce(input).catch(() => undefined);
      }
    },
    /called again three times before the retryAfterMs/,
  ],
  [
    'another journal after a doubt',
    async (world) => {
      world.sandbox.faults.add({
        operation: 'transfers.create',
        fault: { kind: 'reset', when: 'before_commit' },
      });
      await world.transfers.createOnce(input).catch(() => undefined);
      await world.payments.withOptions({ journal: memoryJournal() }).transfers.createOnce(input);
    },
    /its journal has no claim of it: is it another journal\?/,
  ],
  [
    'a key that the sandbox ignores',
    ({ payments }) =>
      payments
        .withOptions({ platform: { idempotencyHeader: 'Idempotency-Key' } })
        .transfers.create(input),
    /the sandbox ignores the header Idempotency-Key/,
  ],
])('the SDK prints one warning about %s', async (_, run, line) => {
  const world = setup();
  await run(world);
  expect(world.lines()).toEqual([expect.stringMatching(line)]);
});

test.each<[string, (world: World) => PromiseLike<unknown>]>([
  ['two equal creations with known outcomes', createTwice],
  [
    'equal creations of other descriptions',
    async (world) => {
      world.lose(2);
      for (const fee of ['fee 7', 'fee 9', 'fee 11']) {
        await world.transfers.create(payout(fee)).catch(() => undefined);
      }
    },
  ],
  [
    'create after a search of the list',
    async (world) => {
      world.lose(1);
      await retry(() =>
        world.transfers.create(input).catch(() => world.transfers.reconcile(input)),
      );
    },
  ],
  ['an amount of 18 decimals', payAmount('0.123456789012345678')],
  ['an amount of 12 decimals', payAmount('0.300000000001')],
  [
    'two tries before retryAfterMs',
    async (world) => {
      const fault = { kind: 'reset', when: 'before_commit' } as const;
      world.sandbox.faults.add({ operation: 'transfers.create', fault });
      await retry(() => world.transfers.createOnce(input));
    },
  ],
  ['an amount of 15 digits', payAmount('1234.56789012345')],
  [
    'equal payments, one of which is still searched for',
    async (world) => {
      world.lose(1);
      await Promise.all([1007, 1009].map((at) => world.transfers.createOnce(payout(`fee ${at}`))));
    },
  ],
  ['numbers of invoices', batchOf('invoice 1007', 'invoice 1008', 'invoice 1009')],
  ['positions with zeros', batchOf('pay-001', 'pay-002', 'pay-003')],
  ['two rows', batchOf('invoice 1', 'invoice 2')],
  [
    'a batch of equal payments, each in doubt',
    (world) => (
      world.lose(20),
      batchOf(...Array.from({ length: 20 }, (_, at) => `salary ${at + 90}`))(world)
    ),
  ],
  [
    '100 calls at a time',
    ({ transfers }) =>
      Promise.all(
        Array.from({ length: 100 }, (_, at) => transfers.createOnce(payout(`salary ${at}`))),
      ),
  ],
])('the SDK prints no warning about %s', async (_, run) => {
  const world = setup();
  await run(world);
  expect(world.lines()).toEqual([]);
});

test('a batch causes no warning that its rows have equal terms', async () => {
  const { sandbox, payments, lose, lines } = setup();
  lose(1);
  const fault = { kind: 'status', status: 503 } as const;
  sandbox.faults.add({ operation: 'transfers.list', times: 'always', fault });
  const { transfers } = payments.withOptions({ maxRetries: 0 });
  const fees = ['fee 7', 'fee 9', 'fee 11'].map((reference) => payout(reference));
  const batch = transfers.createAllOnce(fees, { concurrency: 1, retryTimeout: 1 });
  expect((await batch).counts).toMatchObject({ created: 2, inDoubt: 1 });
  const isAboutTerms = (line: string) => line.includes('same terms');
  expect(lines().filter(isAboutTerms)).toEqual([]);
  await transfers.createOnce(payout('fee 13'));
  expect(lines().filter(isAboutTerms)).toHaveLength(1);
});

test.each([
  ['amount <= text', ({ input: { amount } }: { input: OnceInput }) => amount <= '9999.99', 1],
  ['text > input.amount', (payment: { input: OnceInput }) => '9999.99' > payment.input.amount, 1],
  ['a number', ({ input: { amount } }: { input: OnceInput }) => Number(amount) <= 9999.99, 0],
  [
    'a text in a comment',
    ({ input: { amount } }: { input: OnceInput }) => {
      const why = 'amount > limit';
      return why.length > Number(amount);
    },
    0,
  ],
  ['another field', ({ input: { currency } }: { input: OnceInput }) => currency === 'USDC', 0],
])('the SDK warns only if `authorize` compares an amount with text: %s', (_, authorize, count) => {
  const { lines } = setup({ authorize });
  expect(lines()).toHaveLength(count);
});

test('a client that pays in a sandbox in production warns', () => {
  vi.stubEnv('NODE_ENV', 'production');
  const { lines } = setup();
  expect(lines()).toEqual([expect.stringContaining('this client pays in a sandbox')]);
});

test.each<[string, () => unknown]>([
  ['forgets', () => sqliteJournal(':memory:', { forgets: true } as object)],
  ['creat', () => sqliteJournal(':memory:', { creat: false } as object)],
  ['tabel', () => postgresJournal(() => Promise.resolve([]), { tabel: 'x' } as object)],
  ['keepPaidfor', () => redisJournal(() => Promise.resolve(null), { keepPaidfor: 1 } as object)],
  ['clock', () => memoryJournal({ clock: {} } as object)],
])('a journal rejects the option %s', (name, create) => {
  expect(create).toThrow(`${name} is unknown; expected `);
});

test.each([{ toString: null }, Object.create(null), { toString: 1, valueOf: 1 }])(
  'a reference that is no text (%o) does not stop a batch',
  async (description) => {
    const { transfers, lines } = setup();
    const unreadable = { ...input, description };
    const rows = [unreadable, input, unreadable] as unknown as OnceInput[];
    const results: string[] = [];
    for await (const { result } of transfers.createAllOnce(rows)) results.push(result);
    expect(results.toSorted()).toEqual(['created', 'not_paid', 'not_paid']);
    expect(lines()).not.toContainEqual(expect.stringMatching(repeated));
  },
);

test('copies of the package share their memory of unknown creations', async () => {
  const { lines, lose, sandbox } = setup();
  lose(2);
  const createByCopy = async (amount: string) => {
    vi.resetModules();
    const { PaymentsClient: Copy } = await import('payments-platform-sdk');
    const { transfers } = new Copy(sandbox.clientOptions);
    await transfers.create(payout(amount, { amount })).catch(() => undefined);
  };
  for (const amount of ['1.00', '2.00', '2.00']) await createByCopy(amount);
  expect(lines()).toEqual([expect.stringMatching(creation)]);
});

test('a journal accepts options that are undefined', () => {
  expect(() => sqliteJournal(':memory:', { table: undefined } as object)).not.toThrow();
  expect(() => memoryJournal({ clock: undefined } as object)).not.toThrow();
});

test('a journal with a misspelt searchFirst makes createOnce search first', async () => {
  const { sandbox, payments } = setup();
  const searchFirst = 'allways' as unknown as 'always';
  const journal = sqliteJournal(':memory:', { searchFirst });
  await payments.withOptions({ journal }).transfers.createOnce(input);
  expect(sandbox.log.map(({ operation }) => operation)).toContain('transfers.list');
});

test.each([{}, { count: undefined }, { totals: undefined }])(
  'the option `expect: %o` is rejected',
  async (expected) => {
    const { transfers } = setup();
    const batch = transfers.createAllOnce([input], { expect: expected });
    await expect(batch).rejects.toMatchObject({ issues: [{ path: 'options.expect' }] });
  },
);

test.each([
  ['originalError of GraphQL', (error: unknown) => ({ message: 'x', originalError: error })],
  ['a row of allSettled', (reason: unknown) => ({ status: 'rejected', reason })],
  ['err of a logger', (err: unknown) => ({ err })],
  ['a suppressed error', (suppressed: unknown) => ({ error: new Error('close'), suppressed })],
])('isOutcomeUnknown finds %s', async (_, wrap) => {
  const { transfers, lose } = setup();
  lose(1);
  const error: unknown = await transfers.create(input).then(undefined, (thrown: unknown) => thrown);
  expect(isOutcomeUnknown(wrap(error))).toBe(true);
  expect(isOutcomeUnknown(wrap(new Error('another')))).toBe(false);
});
