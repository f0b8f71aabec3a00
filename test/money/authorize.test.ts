import { stripTypeScriptTypes } from 'node:module';
import { readFileSync } from 'node:fs';
import {
  AbortError,
  compareAmounts,
  httpStatusOf,
  PaymentInDoubtError,
  type PaymentsClient,
  PaymentVetoedError,
  sumAmounts,
  TimeoutError,
  type Authorize,
  type ClientOptions,
  type PaymentsError,
  type ProposedPayment,
  type TransferCreateInput,
} from 'payments-platform-sdk';
import { expect, test } from 'vitest';
import { failureOf } from '../support/clients.ts';
import { apiKey, leaksOf } from '../secrets/scan.ts';
import {
  claimAsDead,
  createSalaries,
  gracePeriod,
  salaryOf,
  setupBatch,
  totalTimeout,
} from './batches.ts';

const limit = Object.assign(new Error('12.50 is above the limit of 10.00.'), { code: 'LIMIT' });

/** Each way to veto, with the cause of the error. */
const vetoes: readonly (readonly [string, Authorize, unknown])[] = [
  [
    'throws',
    () => {
      throw limit;
    },
    limit,
  ],
  ['rejects', () => Promise.reject(limit), limit],
  ['returns false', () => false, undefined],
  ['returns nothing', () => undefined as never, undefined],
  ['resolves to nothing', () => Promise.resolve(undefined as never), undefined],
  ['returns 1', () => 1 as never, undefined],
  ['resolves to false', () => Promise.resolve(false), undefined],
  ['returns an Error', () => limit as never, undefined],
  ['resolves to an object', () => Promise.resolve({ allowed: false } as never), undefined],
];

/** The methods that make a payment. Each call rejects with the error of its only payment. */
const makers: readonly (readonly [string, (payments: PaymentsClient) => Promise<unknown>])[] = [
  ['create', ({ transfers }) => transfers.create(salaryOf(1))],
  ['createOnce', ({ transfers }) => transfers.createOnce(salaryOf(1))],
  [
    'createAllOnce',
    async ({ transfers }) => {
      const { unpaid } = await transfers.createAllOnce([salaryOf(1)]);
      throw unpaid[0]?.error ?? new Error('The payment was made.');
    },
  ],
];

/** A client that pays what `authorize` permits, and the proposals that authorize received. */
function setup(authorize: Authorize, world: Parameters<typeof setupBatch>[0] = {}) {
  const proposals: ProposedPayment[] = [];
  let decide = authorize;
  const context = setupBatch(world, {
    authorize: (payment) => {
      proposals.push(payment);
      return decide(payment);
    },
  });
  return {
    ...context,
    proposals,
    entry: () => context.journal.read(salaryOf(1).description),
    changeTo: (other: Authorize) => {
      decide = other;
    },
  };
}

test.each(
  vetoes.flatMap(([veto, ...rest]) =>
    makers.map((maker) => [maker[0], veto, maker[1], ...rest] as const),
  ),
)('%s sends and writes nothing if `authorize` %s', async (_, __, make, authorize, cause) => {
  const { payments, run, operations, entry, proposals } = setup(authorize);
  const error = await failureOf(run(make(payments)), PaymentVetoedError);
  expect(error).toMatchObject({ outcome: 'not_sent', retryable: false, attempts: [] });
  expect(error.cause).toBe(cause);
  expect(proposals).toHaveLength(1);
  expect(operations()).toEqual([]);
  expect(await entry()).toBeUndefined();
});

test('a PaymentVetoedError shows what `authorize` threw, and maps to 403', async () => {
  const { payments, run } = setup(() => Promise.reject(limit));
  const error = await failureOf(run(payments.transfers.createOnce(salaryOf(1))));
  expect(error.message).toBe(
    [
      'The option authorize vetoed this payment: 12.50 is above the limit of 10.00.',
      'error.cause holds what it threw.',
      'Nothing was sent.',
      'Request: POST https://sandbox.invalid/v0/transfers (transfers.createOnce).',
    ].join('\n'),
  );
  expect(httpStatusOf(error)).toBe(403);
  expect(error.toJSON()).toMatchObject({
    name: 'PaymentVetoedError',
    operation: 'transfers.createOnce',
    outcome: 'not_sent',
    cause: { name: 'Error', message: limit.message, code: 'LIMIT' },
  });
});

test('`authorize` receives operation, body and reference of a payment', async () => {
  const { payments, run, payAll, proposals } = setup(() => true);
  // The sandbox rejects the unknown field.
  await failureOf(run(payments.transfers.create(salaryOf(1), { body: { memo: 'March' } })));
  await run(payments.transfers.createOnce(salaryOf(2)));
  await payAll([salaryOf(3)]);
  const similar: unknown = expect.any(Function);
  const once = { operation: 'transfers.createOnce', similar };
  expect(proposals).toStrictEqual([
    { operation: 'transfers.create', input: { ...salaryOf(1), memo: 'March' }, similar },
    { ...once, input: salaryOf(2), reference: salaryOf(2).description },
    { ...once, input: salaryOf(3), reference: salaryOf(3).description },
  ]);
});

test('`authorize` cannot change what is sent or written to the journal', async () => {
  const { payments, run, sandbox, entry } = setup(({ input }) => {
    return Object.assign(input, { amount: '9999.00' }) === input;
  });
  await run(payments.transfers.createOnce(salaryOf(1)));
  expect(sandbox.transfers.list()[0]?.amount).toBe('12.50');
  expect(await entry()).toMatchObject({ state: 'paid', input: salaryOf(1) });
});

test('`authorize` is called once even if status 429 causes a retry', async () => {
  const { payments, run, sandbox, proposals, count } = setup(() => true);
  const fault = { kind: 'status', status: 429 } as const;
  sandbox.faults.add({ operation: 'transfers.create', fault });
  await run(payments.transfers.create(salaryOf(1)));
  expect(count('transfers.create')).toBe(2);
  expect(proposals).toHaveLength(1);
});

test('`authorize` is not called for invalid arguments of create or createOnce', async () => {
  const { payments, proposals } = setup(() => false);
  await failureOf(payments.transfers.create({ ...salaryOf(1), amount: '0' }));
  await failureOf(payments.transfers.createOnce({ ...salaryOf(1), amount: '0' }));
  expect(proposals).toEqual([]);
});

test('`authorize` is not called for reads, request() or payments already made', async () => {
  const context = setup(() => true);
  const { payments, run, sandbox, proposals, changeTo } = context;
  const { id } = await run(payments.transfers.createOnce(salaryOf(1)));
  changeTo(() => false);
  await run(payments.transfers.createOnce(salaryOf(1)));
  await claimAsDead(context, salaryOf(2));
  sandbox.transfers.create(salaryOf(2));
  await run(payments.transfers.createOnce(salaryOf(2)));
  await run(payments.transfers.get(id));
  await run(payments.transfers.reconcile(salaryOf(1)));
  await run(
    payments.request({ method: 'POST', api: 'versioned', path: '/transfers', body: salaryOf(3) }),
  );
  expect(proposals).toHaveLength(1);
});

test('a vetoed takeover keeps its claim, and asks `authorize` again later', async () => {
  const context = setup(() => Promise.reject(limit));
  const { payments, run, clock, entry, proposals, changeTo, count } = context;
  await claimAsDead(context, salaryOf(1));
  const claim = await entry();
  clock.jump(totalTimeout + gracePeriod + 1);
  const error = await failureOf(
    run(payments.transfers.createOnce(salaryOf(1))),
    PaymentInDoubtError,
  );
  expect(error).toMatchObject({ reason: 'in_doubt', outcome: 'unknown', retryable: true });
  expect(error.cause).toBeInstanceOf(PaymentVetoedError);
  expect((error.cause as PaymentsError).cause).toBe(limit);
  expect(error.message).toContain('not known yet. The option authorize vetoed');
  expect(await entry()).toEqual(claim);
  expect(count('transfers.create')).toBe(0);
  changeTo(() => true);
  await run(payments.transfers.createOnce(salaryOf(1)));
  expect(proposals).toHaveLength(2);
  expect(await entry()).toMatchObject({ state: 'paid' });
});

test('`authorize` is not called while a payment is ambiguous', async () => {
  const { payments, run, sandbox, proposals } = setup(() => true, { forgets: true });
  sandbox.transfers.create(salaryOf(1));
  sandbox.transfers.create(salaryOf(1));
  await failureOf(run(payments.transfers.createOnce(salaryOf(1))), PaymentInDoubtError);
  expect(proposals).toEqual([]);
});

const never: Authorize = () => new Promise(() => undefined);

test.each(makers.slice(0, 2))(
  '%s has outcome not_sent if `authorize` never resolves',
  async (_, make) => {
    const { payments, run, clock, entry, operations } = setup(never);
    const startedAt = clock.now();
    const error = await failureOf(run(make(payments)), TimeoutError);
    expect(error).toMatchObject({ phase: 'total', outcome: 'not_sent' });
    expect(error.message).toContain('The function in the option authorize did not decide in time.');
    expect(clock.now() - startedAt).toBe(totalTimeout);
    expect(operations()).toEqual([]);
    expect(await entry()).toBeUndefined();
  },
);

test("the call's own totalTimeout ends a hanging `authorize`", async () => {
  const { payments, run, clock } = setup(never);
  const startedAt = clock.now();
  await failureOf(
    run(payments.transfers.createOnce(salaryOf(1), { totalTimeout: 5_000 })),
    TimeoutError,
  );
  expect(clock.now() - startedAt).toBe(5_000);
});

test('a takeover stays in doubt if `authorize` never resolves', async () => {
  const context = setup(never);
  const { payments, run, clock, entry } = context;
  await claimAsDead(context, salaryOf(1));
  const claim = await entry();
  clock.jump(totalTimeout + gracePeriod + 1);
  const call = payments.transfers.createOnce(salaryOf(1));
  const error = await failureOf(run(call), PaymentInDoubtError);
  expect(error.cause).toBeInstanceOf(TimeoutError);
  expect(await entry()).toEqual(claim);
});

test.each([
  ['create', 'not_sent'],
  ['createOnce', 'unknown'],
] as const)('an abort during `authorize` ends %s with outcome %s', async (method, outcome) => {
  const controller = new AbortController();
  const { payments, run, entry, operations } = setup(() => {
    controller.abort(limit);
    return never({} as ProposedPayment);
  });
  const call = payments.transfers[method](salaryOf(1), { signal: controller.signal });
  const error = await failureOf(run(call), AbortError);
  expect(error).toMatchObject({ outcome, cause: limit });
  expect(operations()).toEqual([]);
  expect(await entry()).toBeUndefined();
});

test('the duration of `authorize` counts towards totalTimeout', async () => {
  const taken = 50_000;
  let claim: unknown;
  const context = setup(() => context.clock.jump(taken) === undefined, {
    onRequest: async () => {
      claim ??= await context.entry();
      return new Promise(() => undefined);
    },
  });
  const { payments, run, clock } = context;
  const startedAt = clock.now();
  const call = payments.transfers.createOnce(salaryOf(1), { timeout: totalTimeout });
  const error = await failureOf(run(call), PaymentInDoubtError);
  expect(claim).toMatchObject({
    state: 'sending',
    claimedAt: startedAt + taken,
    expiresAt: startedAt + taken + totalTimeout + gracePeriod,
  });
  expect(error.attempts[0]).toMatchObject({ durationMs: totalTimeout - taken });
});

test('createAllOnce reports a vetoed payment as not_paid, and pays the others', async () => {
  const { payAll, paid, operations } = setup(
    ({ reference }) => reference !== salaryOf(2).description,
  );
  const results = await payAll([salaryOf(1), salaryOf(2), salaryOf(3)]);
  expect(results.map(({ reference, result }) => [reference, result]).toSorted()).toEqual([
    [salaryOf(1).description, 'created'],
    [salaryOf(2).description, 'not_paid'],
    [salaryOf(3).description, 'created'],
  ]);
  expect(paid()).toHaveLength(2);
  expect(operations()).toHaveLength(2);
});

test.each([
  ['in its message', new Error(`Limits said no to ${apiKey}.`)],
  ['in its cause', new Error('No.', { cause: new Error(`Bearer ${apiKey}`) })],
  ['in a field', Object.assign(new Error('No.'), { config: { authorization: apiKey } })],
  ['in an object that is no Error', { reason: apiKey }],
  ['in a string', `No: ${apiKey}`],
])('a PaymentVetoedError shows no API key if `authorize` throws one %s', async (_, thrown) => {
  const options: ClientOptions = { apiKey, authorize: () => Promise.reject(thrown) };
  const { payments } = setupBatch({}, options);
  const error = await failureOf(payments.transfers.create(salaryOf(1)), PaymentVetoedError);
  expect(leaksOf(error)).toEqual([]);
  expect(error.cause).not.toBe(thrown);
});

test('the `authorize` of docs/pay.md needs true from each check', async () => {
  const guide = readFileSync(new URL('../../docs/pay.md', import.meta.url), 'utf8');
  const [, body = ''] = /authorize: (async \(payment\) => \{[^]*?\n {2}\}),/.exec(guide) ?? [];
  const module = encodeURIComponent(`export default (checks) => ${body};`);
  const { default: compose } = (await import(`data:text/javascript,${module}`)) as {
    default: (checks: readonly (() => unknown)[]) => () => Promise<unknown>;
  };
  for (const verdict of [undefined, null, false, 1, 'yes', {}, Promise.resolve(undefined)]) {
    expect(await compose([() => true, () => verdict])()).toBe(false);
  }
  expect(await compose([() => true, () => Promise.resolve(true)])()).toBe(true);
});

test('the daily limit of docs/pay.md counts a payment once', async () => {
  const guide = readFileSync(new URL('../../docs/pay.md', import.meta.url), 'utf8');
  const [code = ''] = /const today =[^]*?(?=\nconst parties)/.exec(guide) ?? [];
  const body = `${code.replaceAll(/: Authorize|<string, string>/g, '')}\nreturn perDay;`;
  const module = encodeURIComponent(`export default (compareAmounts, sumAmounts) => {${body}};`);
  type PerDay = NonNullable<ClientOptions['authorize']>;
  const { default: create } = (await import(`data:text/javascript,${module}`)) as {
    default: (compare: typeof compareAmounts, sum: typeof sumAmounts) => PerDay;
  };
  const perDay = create(compareAmounts, sumAmounts);
  let asked = 0;
  const authorize: PerDay = (payment) => {
    asked += 1;
    return perDay(payment);
  };
  const { payAll, sandbox } = setupBatch({}, { authorize });
  const fault = { kind: 'status', status: 429, retryAfter: 2 } as const;
  sandbox.faults.add({ operation: 'transfers.create', times: 40, fault });
  const results = await payAll(createSalaries(11).map((each) => ({ ...each, amount: '5000.00' })));
  expect(asked).toBeGreaterThan(11);
  expect(results.filter(({ result }) => result === 'created')).toHaveLength(10);
  expect(results.filter(({ result }) => result === 'not_paid')).toHaveLength(1);
});

test('the checks of docs/pay.md permit only payments with the right terms', async () => {
  const guide = readFileSync(new URL('../../docs/pay.md', import.meta.url), 'utf8');
  const [code = ''] = /const parties =[^]*?(?=\nconst checks)/.exec(guide) ?? [];
  const names = '{ limit, allowList, fourEyes, seen, state }';
  const body = `${stripTypeScriptTypes(code)}\nreturn ${names};`;
  const module = encodeURIComponent(`export default (compareAmounts) => {${body}};`);
  type Check = (payment: { input: object }) => boolean;
  const { default: create } = (await import(`data:text/javascript,${module}`)) as {
    default: (compare: typeof compareAmounts) => Record<
      'limit' | 'allowList' | 'fourEyes',
      Check
    > & {
      seen: TransferCreateInput;
      state: { approvals: object[] };
    };
  };
  const { limit: isSmall, allowList, fourEyes, seen, state } = create(compareAmounts);
  const isPermitted = (changes: object): boolean => {
    const input = { ...seen, ...changes };
    try {
      return [isSmall, allowList, fourEyes].every((check) => check({ input }));
    } catch {
      return false;
    }
  };
  expect(isPermitted({})).toBe(false);
  state.approvals.push({ ...state.approvals[0] });
  expect(isPermitted({})).toBe(false);
  state.approvals.push({ ...state.approvals[0], by: 'bob' });
  expect([{}, { amount: '125.5' }, { currency: undefined }].map(isPermitted)).toEqual([
    true,
    true,
    true,
  ]);
  const changes = [
    { sourceAccountId: 'acc_000002' },
    { counterpartyId: 'cpty_000002' },
    { counterpartyId: undefined, destinationAccountId: 'acc_000002' },
    { amount: '125.500000000000000001' },
    { amount: 'NaN' },
    { amount: '9999.990000000000000001' },
    { currency: 'JPYC' },
    { currency: 'BTC' },
    { description: 'invoice 4712' },
    { description: undefined },
  ];
  expect(changes.filter(isPermitted)).toEqual([]);
  expect(isSmall({ input: { ...seen, currency: 'BTC' } })).toBe(false);
});
