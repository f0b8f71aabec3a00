import {
  PaymentsClient,
  PaymentVetoedError,
  TimeoutError,
  type ClientOptions,
  type OnceInput,
  type ProposedPayment,
  type SimilarPayment,
  type TransferCreateInput,
} from 'payments-platform-sdk';
import { memoryJournal, type Journal, type JournalEntry } from 'payments-platform-sdk/journals';
import { describe, expect, test } from 'vitest';
import { failureOf } from '../support/clients.ts';
import {
  claimAsDead,
  createSalaries,
  gracePeriod,
  otherCompany,
  salaryOf,
  setupBatch,
  totalTimeout,
} from './batches.ts';

// What authorize learns from `similar`: whether the journal has a payment with the same terms.

const dayMs = 86_400_000;

/** A client whose authorize asks for similar payments if told so, and permits every payment. */
function setup(world: Parameters<typeof setupBatch>[0] = {}, options: ClientOptions = {}) {
  const calls: unknown[][] = [];
  const state = { asks: true, found: [] as (SimilarPayment[] | undefined)[] };
  const context = setupBatch(
    {
      ...world,
      wrapJournal: (journal) => {
        const wrapped = { ...journal, ...world.wrapJournal?.(journal) };
        return {
          ...wrapped,
          similar: async (...call: Parameters<NonNullable<Journal['similar']>>) => {
            calls.push(call);
            return (await wrapped.similar?.(...call)) ?? [];
          },
        };
      },
    },
    {
      authorize: async ({ similar }) => {
        if (state.asks) state.found.push(await similar?.());
        return true;
      },
      ...options,
    },
  );
  const { payments, run } = context;
  /** Makes a payment, and returns the payments that authorize was shown. */
  const find = async (
    input: OnceInput,
    make: (payments: PaymentsClient) => Promise<unknown> = ({ transfers }) =>
      transfers.createOnce(input),
  ): Promise<SimilarPayment[] | undefined> => {
    state.found = [];
    await run(make(payments));
    expect(state.found).toHaveLength(1);
    return state.found[0];
  };
  const pay = async (input: OnceInput) => {
    state.asks = false;
    const transfer = await run(payments.transfers.createOnce(input));
    state.asks = true;
    return transfer;
  };
  return { ...context, calls, state, find, pay };
}

const [one, other] = [salaryOf(1), salaryOf(2)];

test('similar() lists a payment with its reference, state, time and transfer', async () => {
  const { clock, find, pay } = setup();
  const at = new Date(clock.now()).toISOString();
  const { id } = await pay(one);
  clock.jump(dayMs);
  expect(await find(other)).toEqual([
    { reference: one.description, state: 'paid', at, transferId: id },
  ]);
});

test.each([{ amount: '12.5' }, { amount: '12.500' }, { currency: 'USDC' }, { currency: 'usdc' }])(
  'similar() treats differently written terms as equal: %o',
  async (terms) => {
    const { find, pay } = setup();
    await pay(one);
    const input = { ...other, ...terms };
    // The sandbox rejects a currency in small letters.
    const make = ({ transfers }: PaymentsClient) =>
      transfers.createOnce(input).catch(() => undefined);
    expect(await find(input, make)).toHaveLength(1);
  },
);

test.each<Partial<TransferCreateInput>>([
  { sourceAccountId: otherCompany },
  { destinationAccountId: otherCompany },
  { destinationAccountId: undefined, counterpartyId: 'cpty_000001' },
  { amount: '12.51' },
  { amount: '125.0' },
  { currency: 'EURC' },
])('similar() lists no payment with other terms: %o', async (terms) => {
  const { clock, journal, sandbox, find } = setup();
  const input = { ...one, ...terms } as OnceInput;
  await claimAsDead({ clock, journal, sandbox }, input);
  expect(await find(other)).toEqual([]);
});

test('similar() lists no payment of another platform', async () => {
  const { journal, find, pay } = setup();
  await pay(one);
  const paid = (await journal.read(one.description)) as JournalEntry;
  const elsewhere = { ...paid, platform: 'https://api.example.com/v0' };
  await journal.swap(one.description, paid, elsewhere);
  expect(await find(other)).toEqual([]);
});

test('similar() lists payments that were first claimed within 30 days', async () => {
  const { clock, find, pay } = setup();
  await pay(one);
  clock.jump(30 * dayMs);
  expect(await find(other)).toHaveLength(1);
  clock.jump(1);
  expect((await find(salaryOf(3)))?.map(({ reference }) => reference)).toEqual([other.description]);
});

test('similar() counts the 30 days from the claim after a not_paid', async () => {
  const context = setup();
  const { clock, payments, run, find, pay, state } = context;
  await claimAsDead(context, one);
  clock.jump(totalTimeout + gracePeriod + 1);
  await run(payments.transfers.decide(one.description, 'not_paid'));
  expect(await find(other)).toEqual([]);
  clock.jump(31 * dayMs);
  const at = new Date(clock.now()).toISOString();
  await pay(one);
  state.asks = true;
  expect(await find(salaryOf(3))).toMatchObject([{ reference: one.description, at }]);
});

test('similar() also lists open payments, newest first', async () => {
  const context = setup();
  const { clock, journal, find } = context;
  await claimAsDead(context, one);
  clock.jump(1);
  await claimAsDead(context, other);
  const claim = (await journal.read(other.description)) as JournalEntry & { state: 'sending' };
  const ambiguous = { ...claim, state: 'ambiguous', candidates: ['txfr_000001'] } as const;
  await journal.swap(other.description, claim, ambiguous);
  expect(await find(salaryOf(3))).toEqual([
    { reference: other.description, state: 'ambiguous', at: expect.any(String) },
    { reference: one.description, state: 'sending', at: expect.any(String) },
  ]);
});

test('similar() omits the payment itself, even in other capitals', async () => {
  const { clock, sandbox, payments, run, find } = setup();
  const input = { ...one, description: 'SALARY 000001' };
  const fault = { kind: 'reset', when: 'before_commit' } as const;
  sandbox.faults.add({ operation: 'transfers.create', times: 1, fault });
  await failureOf(run(payments.transfers.createOnce(input)));
  clock.jump(totalTimeout + gracePeriod + 1);
  expect(await find(input)).toEqual([]);
  expect(await find(other)).toMatchObject([{ reference: input.description }]);
});

test('similar() lists only the 100 newest payments', async () => {
  const context = setup();
  const { clock, find } = context;
  for (const input of createSalaries(102)) {
    await claimAsDead(context, input);
    clock.jump(1);
  }
  const found = await find(salaryOf(103));
  expect(found).toHaveLength(100);
  expect(found?.[0]?.reference).toBe(salaryOf(102).description);
  expect(found?.at(-1)?.reference).toBe(salaryOf(3).description);
});

test('similar() lists a payment that an operator recorded without a claim', async () => {
  const { sandbox, payments, run, find } = setup();
  const { id } = sandbox.transfers.create(one);
  await run(payments.transfers.decide(one.description, id));
  expect(await find(other)).toMatchObject([{ reference: one.description, transferId: id }]);
});

test('similar() compares what is sent, not what `authorize` changed', async () => {
  const found: unknown[] = [];
  const { pay, payments, run } = setup(
    {},
    {
      authorize: async ({ input, reference, similar }) => {
        Object.assign(input, { amount: '1.00' });
        if (reference === other.description) found.push(await similar?.());
        return true;
      },
    },
  );
  await pay(one);
  await run(payments.transfers.createOnce(other));
  expect(found).toMatchObject([[{ reference: one.description }]]);
});

test('the journal is asked only if `authorize` calls similar()', async () => {
  const { calls, find, pay } = setup();
  await pay(one);
  expect(calls).toEqual([]);
  await find(other);
  expect(calls).toHaveLength(1);
});

test('similar() of create lists even a payment with the same description', async () => {
  const { find, pay } = setup();
  await pay(one);
  const found = await find(one, ({ transfers }) => transfers.create(one));
  expect(found).toMatchObject([{ reference: one.description }]);
});

test('similar() lists, for each payment of a batch, those claimed before', async () => {
  const { payAll, state } = setup();
  await payAll(createSalaries(3), { concurrency: 1 });
  expect(state.found.map((found) => found?.length)).toEqual([0, 1, 2]);
});

describe('the journal that similar() asks', () => {
  const setupTwo = () => {
    const journal = memoryJournal({ now: () => context.clock.now() });
    const context = setup();
    return { ...context, journal };
  };

  test('is the journal that withOptions sets', async () => {
    const { find, journal, pay } = setupTwo();
    await pay(one);
    expect(
      await find(other, (payments) =>
        payments.withOptions({ journal }).transfers.createOnce(other),
      ),
    ).toEqual([]);
  });

  test.each(['createOnce', 'createAllOnce'] as const)(
    'is the journal in the options of %s',
    async (method) => {
      const { find, journal, pay } = setupTwo();
      await pay(one);
      const make = async ({ transfers }: PaymentsClient): Promise<unknown> =>
        method === 'createOnce'
          ? transfers.createOnce(other, { journal })
          : transfers.createAllOnce([other], { journal });
      expect(await find(other, make)).toEqual([]);
      const third = salaryOf(3);
      const again = ({ transfers }: PaymentsClient) => transfers.createOnce(third, { journal });
      expect(await find(third, again)).toMatchObject([{ reference: other.description }]);
    },
  );

  test('makes `authorize` receive no similar() if it cannot list', async () => {
    const proposals: ProposedPayment[] = [];
    const authorize = (payment: ProposedPayment) => proposals.push(payment) > 0;
    const { payments, run, sandbox } = setupBatch(
      { wrapJournal: () => ({ similar: undefined }) as object },
      { authorize },
    );
    await run(payments.transfers.createOnce(one));
    await run(payments.transfers.create(one));
    const withoutJournal = new PaymentsClient({ ...sandbox.clientOptions, authorize });
    await withoutJournal.transfers.create(other);
    expect(proposals.filter((payment) => 'similar' in payment)).toEqual([]);
    expect(proposals).toHaveLength(3);
  });
});

const broken = new Error('The disk is full.');
const failures: readonly (readonly [string, Partial<Journal>, unknown])[] = [
  ['rejects', { similar: () => Promise.reject(broken) }, broken],
  ['has a clock that rejects', { now: () => Promise.reject(broken) }, broken],
  ['has no time', { now: async () => NaN }, expect.any(Error)],
  ['returns no list', { similar: async () => ({}) as never }, expect.any(TypeError)],
  [
    'returns no time of a payment',
    {
      similar: async () => [{ reference: one.description, entry: { ...paidEntry(one) } }] as never,
    },
    expect.any(RangeError),
  ],
  ...[undefined, 'no JSON', { ...paidEntry(one), transferId: 1 }].map(
    (entry) =>
      [
        `lists ${JSON.stringify(entry)} as an entry`,
        { similar: async () => [{ reference: one.description, entry, claimedAt: 1 }] as never },
        expect.any(Error),
      ] as const,
  ),
];

function paidEntry(input: OnceInput): JournalEntry {
  const platform = 'https://sandbox.invalid/v0';
  return { state: 'paid', transferId: 'txfr_000001', paidAt: 1, platform, input };
}

describe.each(failures)('if the journal %s', (_, wrong, cause) => {
  test.each(['create', 'createOnce'] as const)(
    '%s is vetoed by a failing similar() and sends nothing',
    async (method) => {
      const context = setup({ wrapJournal: () => wrong });
      const { payments, run, journal, operations } = context;
      const error = await failureOf(run(payments.transfers[method](other)), PaymentVetoedError);
      expect(error).toMatchObject({ outcome: 'not_sent', attempts: [] });
      expect(error.cause).toEqual(cause);
      expect(operations()).toEqual([]);
      expect(await journal.read(other.description)).toBeUndefined();
    },
  );
});

test('a payment is not sent if similar() takes longer than totalTimeout', async () => {
  const never = () => new Promise<never>(() => undefined);
  const { payments, run, clock, operations } = setup({ wrapJournal: () => ({ similar: never }) });
  const startedAt = clock.now();
  const error = await failureOf(run(payments.transfers.createOnce(one)), TimeoutError);
  expect(error).toMatchObject({ phase: 'total', outcome: 'not_sent' });
  expect(clock.now() - startedAt).toBe(totalTimeout);
  expect(operations()).toEqual([]);
});

test('similar() omits rows of the journal that are unpaid or different', async () => {
  const right = paidEntry(one);
  const claimedAt = Date.UTC(2026, 0, 14);
  const rows = [
    right,
    { ...right, input: { ...one, amount: '1.00' } },
    { ...right, platform: 'https://api.example.com/v0' },
    { state: 'not_paid', resolvedAt: 1, platform: right.platform, input: one },
  ].map((entry) => ({ reference: one.description, entry, claimedAt }));
  const { find } = setup({ wrapJournal: () => ({ similar: async () => rows as never }) });
  expect(await find(other)).toEqual([
    {
      reference: one.description,
      state: 'paid',
      at: new Date(claimedAt).toISOString(),
      transferId: 'txfr_000001',
    },
  ]);
});

test('similar() lists a payment whose reference only an earlier version allowed', async () => {
  const old = { ...one, description: 'PO{5}' };
  const row = { reference: 'po{5}', entry: paidEntry(old), claimedAt: Date.UTC(2026, 0, 14) };
  const { find } = setup({ wrapJournal: () => ({ similar: async () => [row] as never }) });
  expect(await find(other)).toEqual([expect.objectContaining({ reference: 'PO{5}' })]);
});
