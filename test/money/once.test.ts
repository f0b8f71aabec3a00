import {
  AbortError,
  isOutcomeUnknown,
  PaymentsClient,
  UnprocessableEntityError,
  PaymentInDoubtError,
  ValidationError,
  type ClientOptions,
  type OnceInput,
  type OnceOptions,
  type Transfer,
} from 'payments-platform-sdk';
import { memoryJournal, type Journal, type JournalEntry } from 'payments-platform-sdk/journals';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { clientOf, failureOf, respond } from '../support/clients.ts';
import { flushPromises, VirtualClock } from '../support/virtual-clock.ts';
import { fixedTimes, transferCreated } from '../support/values.ts';

const { gracePeriod, totalTimeout } = fixedTimes;
const platform = new Sandbox().clientOptions.baseUrl;
const input: OnceInput = {
  sourceAccountId: 'acc_000001',
  destinationAccountId: 'acc_000002',
  amount: '12.50',
  description: 'invoice 4711',
};

/** A platform with two accounts, a client with a journal, and a virtual clock. */
function setup(options: ClientOptions = {}, funds = '1000') {
  const clock = new VirtualClock(Date.UTC(2026, 0, 15));
  const sandbox = new Sandbox({ clock: () => clock.now() });
  const { id: entityId } = sandbox.entities.create({ email: 'ada@example.com' });
  sandbox.entities.approve(entityId);
  for (const name of ['Source', 'Destination', 'Third']) {
    sandbox.accounts.create({ entityId, name });
  }
  sandbox.accounts.fund('acc_000001', funds);
  const journal = memoryJournal({ now: () => clock.now() });
  const payments = new PaymentsClient({
    ...sandbox.clientOptions,
    ...fixedTimes,
    clock,
    journal,
    ...options,
  });
  const pay = (changes: Partial<OnceInput> = {}, callOptions?: OnceOptions) =>
    payments.transfers.createOnce({ ...input, ...changes } as OnceInput, callOptions);
  /** Writes the claim of a dead process. */
  const claim = async (expiresAt = clock.now() + totalTimeout + gracePeriod): Promise<void> => {
    const claimedAt = clock.now();
    const entry = {
      state: 'sending',
      claimId: 'the dead',
      host: 'h-1',
      claimedAt,
      expiresAt,
      firstClaimedAt: claimedAt,
      platform,
      input,
    } as const;
    expect(await journal.swap(input.description, undefined, entry)).toBe(true);
  };
  const operations = () => sandbox.log.map(({ operation }) => operation);
  return {
    clock,
    sandbox,
    journal,
    payments,
    pay,
    claim,
    operations,
    made: () => sandbox.transfers.list(),
  };
}

const rejection = { kind: 'status', status: 422, code: 'insufficient_funds' } as const;
const inDoubtErrorOf = (call: PromiseLike<unknown>) => failureOf(call, PaymentInDoubtError);

test('createOnce makes one transfer when called twice', async () => {
  const { pay, made, journal, operations, clock } = setup();
  const first = await pay();
  expect(await pay({ amount: '12.5' })).toMatchObject({
    id: first.id,
    description: 'invoice 4711',
  });
  expect(made()).toHaveLength(1);
  expect(await journal.read('invoice 4711')).toMatchObject({
    state: 'paid',
    transferId: first.id,
    paidAt: clock.now(),
    platform,
    input,
  });
  expect(operations()).toEqual(['transfers.create', 'transfers.get']);
});

test('createOnce writes its claim, with an expiry, before it sends', async () => {
  const { clock, journal, pay } = setup({
    fetch: async () => {
      seen = await journal.read('invoice 4711');
      return Response.json({ error: 'no', code: 'no' }, { status: 422 });
    },
  });
  let seen: JournalEntry | undefined;
  await failureOf(pay());
  const claimedAt = clock.now();
  expect(seen).toEqual({
    state: 'sending',
    claimId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    claimedAt,
    host: hostname(),
    deadline: claimedAt + totalTimeout,
    expiresAt: claimedAt + totalTimeout + gracePeriod,
    firstClaimedAt: claimedAt,
    platform,
    input,
    history: expect.any(Array) as unknown[],
  });
});

test.each([
  ['no description', { description: undefined }, {}, 'description'],
  ['an empty description', { description: '' }, {}, 'description'],
  ['a description without a letter or digit', { description: ' -/# ' }, {}, 'description'],
  ['a description of punctuation only', { description: '--/#' }, {}, 'description'],
  ['a description that is a number', { description: 4711 }, {}, 'description'],
  ['a description of 141 characters', { description: 'x'.repeat(141) }, {}, 'description'],
  ['a description with a space at its end', { description: 'INV 9 ' }, {}, 'description'],
  ['a description with a space at its beginning', { description: ' INV 9' }, {}, 'description'],
  ['a description with an umlaut', { description: 'Müller 1' }, {}, 'description'],
  ['a description with a NUL', { description: 'a\u0000b' }, {}, 'description'],
  ['a description with a line break', { description: 'a\nb' }, {}, 'description'],
  ['an amount of 0', { amount: '0' }, {}, 'amount'],
  ['a gracePeriod of 0', {}, { gracePeriod: 0 }, 'options.gracePeriod'],
  ['a gracePeriod that is a string', {}, { gracePeriod: '5' }, 'options.gracePeriod'],
  ['a Map as journal', {}, { journal: new Map() }, 'options.journal'],
  ['an unknown option', {}, { journals: 1 }, 'options.journals'],
  ['a description in options.body', {}, { body: { description: 'x' } }, 'options.body.description'],
])('createOnce rejects %s before it sends anything', async (_, changes, options, path) => {
  const { pay, operations, journal } = setup();
  const error = await failureOf(pay(changes as never, options as never), ValidationError);
  expect(error.issues.map((issue) => issue.path)).toContain(path);
  expect(new Set(error.issues.map((issue) => issue.path + issue.message)).size).toBe(
    error.issues.length,
  );
  expect(error).toMatchObject({ outcome: 'not_sent', operation: 'transfers.createOnce' });
  expect(operations()).toEqual([]);
  expect(await journal.read('invoice 4711')).toBeUndefined();
});

test.each(['7', '~x~', 'A & B "quoted" \\ % $1', 'x'.repeat(140)])(
  'createOnce pays with the reference %s',
  async (description) => {
    const { pay, made } = setup();
    await pay({ description });
    expect(made()).toMatchObject([{ description }]);
  },
);

test("the option `journal` of a call replaces the client's journal", async () => {
  const { pay, journal, clock, claim } = setup();
  const callOptions = memoryJournal({ now: () => clock.now() });
  await claim();
  await pay({}, { journal: callOptions });
  expect(await callOptions.read('invoice 4711')).toMatchObject({ state: 'paid' });
  expect(await journal.read('invoice 4711')).toMatchObject({ state: 'sending' });
});

test.each([
  [{ amount: '12.51' }, ['amount']],
  [{ destinationAccountId: 'acc_000003' }, ['destinationAccountId']],
  [
    { destinationAccountId: undefined, counterpartyId: 'cpty_1' },
    ['destinationAccountId', 'counterpartyId'],
  ],
  [{ currency: 'USDT' }, ['currency']],
  [{ sourceAccountId: 'acc_000003', amount: '1' }, ['sourceAccountId', 'amount']],
] as const)('createOnce reports a conflict if the terms change to %o', async (changes, names) => {
  const { pay, made, operations, claim } = setup();
  await claim();
  const before = await inDoubtErrorOf(pay(changes as never));
  await pay({ currency: 'USDC' }).catch(() => undefined);
  const sent = operations().length;
  const error = await inDoubtErrorOf(pay(changes as never));
  for (const each of [before, error]) {
    expect(each).toMatchObject({
      reason: 'conflict',
      reference: 'invoice 4711',
      outcome: 'unknown',
    });
    expect(each.retryAfterMs).toBeUndefined();
    expect(each.message).toContain(`with other terms: ${names.join(', ')}.`);
    expect(each.message).not.toMatch(/another reference|of its own/);
  }
  expect(operations()).toHaveLength(sent);
  expect(made()).toHaveLength(0);
});

test('a concurrent createOnce call rejects as in_progress with retryAfterMs', async () => {
  const { pay, made, payments, journal } = setup();
  const elsewhere = payments.withOptions({ journal });
  const results = await Promise.allSettled([pay(), elsewhere.transfers.createOnce(input)]);
  expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  const [lost] = results.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  expect(lost).toBeInstanceOf(PaymentInDoubtError);
  expect(lost).toMatchObject({ reason: 'in_progress', retryAfterMs: 1_000, retryable: true });
  expect(made()).toHaveLength(1);
});

test.each(['after_commit', 'before_commit'] as const)(
  'createOnce searches the list at once if its response is lost %s',
  async (when) => {
    const { pay, made, sandbox, operations, journal, clock } = setup();
    sandbox.faults.add({ operation: 'transfers.create', fault: { kind: 'reset', when } });
    if (when === 'after_commit') {
      expect(await pay()).toMatchObject(made()[0] ?? {});
      expect(await journal.read('invoice 4711')).toMatchObject({ state: 'paid' });
    } else {
      const error = await inDoubtErrorOf(pay());
      expect(error).toMatchObject({ reason: 'in_doubt', retryAfterMs: 5_000 });
      expect(error.claimedAt).toBe(new Date(clock.now()).toISOString());
      expect(isOutcomeUnknown(error) && error.startedAt).toBe(new Date(clock.now()).toISOString());
      expect(error.cause).toMatchObject({ operation: 'transfers.create', outcome: 'unknown' });
      clock.jump(totalTimeout + gracePeriod);
      expect(await pay()).toMatchObject({ status: 'pending' });
    }
    expect(operations().slice(0, 2)).toEqual(['transfers.create', 'transfers.list']);
    expect(made()).toHaveLength(1);
  },
);

test("createOnce replaces a dead process's claim only after its request has ended", async () => {
  const { pay, made, claim, clock } = setup();
  await claim();
  expect(await inDoubtErrorOf(pay())).toMatchObject({ reason: 'in_progress', retryAfterMs: 5_000 });
  clock.jump(totalTimeout - 1);
  const retryAfterMs = totalTimeout - 1;
  expect(await inDoubtErrorOf(pay())).toMatchObject({ reason: 'in_progress', retryAfterMs });
  clock.jump(1);
  expect(await inDoubtErrorOf(pay())).toMatchObject({
    reason: 'in_doubt',
    retryAfterMs: totalTimeout - 2,
  });
  clock.jump(gracePeriod - 1);
  expect(await inDoubtErrorOf(pay())).toMatchObject({ reason: 'in_doubt', retryAfterMs: 1 });
  expect(made()).toHaveLength(0);
  clock.jump(1);
  await pay();
  expect(made()).toHaveLength(1);
});

test('createOnce does not pay if a claim expires during its search', async () => {
  const { pay, claim, clock, made, sandbox } = setup({
    fetch: (request) => {
      if (request.method === 'GET') clock.jump(totalTimeout - 1);
      return sandbox.fetch(request);
    },
  });
  await claim();
  clock.jump(gracePeriod + 10);
  expect(await inDoubtErrorOf(pay())).toMatchObject({ reason: 'in_doubt' });
  expect(clock.passed).toBeGreaterThan(totalTimeout + gracePeriod);
  expect(made()).toHaveLength(0);
});

test('a claim expires at its own `expiresAt`, whatever later options say', async () => {
  const { pay, claim, clock, made } = setup();
  await claim();
  clock.jump(10_000);
  const callOptions = { gracePeriod: 1, totalTimeout: 1_000 };
  expect((await inDoubtErrorOf(pay({}, callOptions))).retryAfterMs).toBe(10_000);
  clock.jump(totalTimeout);
  const left = { reason: 'in_doubt', retryAfterMs: totalTimeout + 10_000 };
  expect(await inDoubtErrorOf(pay({}, { gracePeriod }))).toMatchObject(left);
  expect(made()).toHaveLength(0);
});

test.each([
  ['a 422', rejection, UnprocessableEntityError],
  ['a 429 that has a long Retry-After', { kind: 'status', status: 429, retryAfter: 90 }, Error],
] as const)(
  'createOnce removes its claim if the platform rejects with %s',
  async (_, fault, kind) => {
    const { pay, made, sandbox, journal } = setup();
    sandbox.faults.add({ operation: 'transfers.create', fault });
    const error = await pay().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(kind);
    expect(error).toMatchObject({ operation: 'transfers.create', outcome: 'rejected' });
    expect(await journal.read('invoice 4711')).toBeUndefined();
    if (fault.status === 429) return;
    await pay();
    expect(made()).toHaveLength(1);
  },
);

test('createOnce resolves to the first transfer if its second request lacks funds', async () => {
  const late: Request[] = [];
  const { pay, made, clock, sandbox } = setup(
    {
      fetch: async (request) => {
        if (request.method !== 'POST') return sandbox.fetch(request);
        if (late.length === 0) {
          late.push(request.clone());
          throw new TypeError('the connection was reset');
        }
        for (const each of late) await sandbox.fetch(each);
        return sandbox.fetch(request);
      },
    },
    '12.50',
  );
  await inDoubtErrorOf(pay());
  clock.jump(totalTimeout + gracePeriod);
  expect(await pay()).toMatchObject(made()[0] ?? {});
  expect(made()).toHaveLength(1);
});

test('createOnce restores the earlier claim if its second request is rejected', async () => {
  const { pay, made, claim, clock, sandbox, journal, operations } = setup();
  await claim();
  const first = await journal.read('invoice 4711');
  clock.jump(totalTimeout + gracePeriod);
  sandbox.faults.add({ operation: 'transfers.create', fault: rejection });
  const error = await inDoubtErrorOf(pay());
  expect(error).toMatchObject({ reason: 'in_doubt', outcome: 'unknown', cause: { status: 422 } });
  expect(await journal.read('invoice 4711')).toMatchObject(first ?? {});
  const list = 'transfers.list';
  expect(operations()).toEqual([list, list, 'transfers.create', list]);
  clock.jump(60_000);
  await pay();
  expect(made()).toHaveLength(1);
});

test('a claim that replaces an expired one keeps its firstClaimedAt', async () => {
  const { pay, claim, clock, sandbox, journal } = setup();
  await claim();
  const firstClaimedAt = clock.now();
  clock.jump(totalTimeout + gracePeriod);
  const hang = { kind: 'hang', when: 'before_commit' } as const;
  sandbox.faults.add({ operation: 'transfers.create', fault: hang });
  await clock.runTimersDuring(inDoubtErrorOf(pay()));
  expect(await journal.read('invoice 4711')).toMatchObject({
    firstClaimedAt,
    claimedAt: firstClaimedAt + totalTimeout + gracePeriod,
  });
});

test('createOnce sends nothing even if only its second scan shows the transfer', async () => {
  let scans = 0;
  const { pay, claim, clock, made, sandbox } = setup({
    fetch: async (request) => {
      if (request.method !== 'GET' || (scans += 1) > 1) return sandbox.fetch(request);
      return Response.json({ data: [], hasMore: false, nextCursor: null });
    },
  });
  await claim();
  const { id } = sandbox.transfers.create(input);
  clock.jump(totalTimeout + gracePeriod);
  expect(await pay()).toMatchObject({ id });
  expect(made()).toHaveLength(1);
});

test('a rejected call resolves if another call has recorded the payment', async () => {
  const inner = memoryJournal();
  const paid = { state: 'paid', transferId: 'txfr_000001', paidAt: 0, platform, input } as const;
  const { pay, sandbox, made } = setup({
    journal: {
      ...inner,
      swap: async (reference, before, after) => {
        if (after === undefined) await inner.swap(reference, before, paid);
        return inner.swap(reference, before, after);
      },
    },
  });
  sandbox.transfers.create(input);
  sandbox.faults.add({ operation: 'transfers.create', fault: rejection });
  expect(await pay()).toMatchObject(made()[0] ?? {});
});

/** A transfer with a description like the reference. */
const similar = { ...input, description: 'INVOICE-4711 corrected' };

test('createOnce rejects as ambiguous and names the possible transfer', async () => {
  const { pay, made, claim, clock, sandbox, operations } = setup();
  await claim();
  const { id } = sandbox.transfers.create(similar);
  clock.jump(totalTimeout + gracePeriod);
  const error = await inDoubtErrorOf(pay());
  expect(error).toMatchObject({ reason: 'ambiguous', candidates: [id], retryable: false });
  expect(error.message).toContain(id);
  expect(error.message).toContain('decide');
  expect(operations()).not.toContain('transfers.create');
  expect(made()).toHaveLength(1);
});

test('createOnce pays beside a similar transfer of another payment', async () => {
  const { pay, made, claim, clock } = setup();
  await claim();
  await pay({ description: similar.description });
  clock.jump(totalTimeout + gracePeriod);
  await pay();
  expect(made().map(({ description }) => description)).toEqual([
    similar.description,
    'invoice 4711',
  ]);
});

test('createOnce rejects as ambiguous if a similar transfer contradicts its entry', async () => {
  const { pay, claim, clock, sandbox, journal } = setup();
  await claim();
  const { id } = sandbox.transfers.create(similar);
  const paid = {
    state: 'paid',
    transferId: 'txfr_other',
    paidAt: 0,
    platform,
    input: similar,
  } as const;
  // A journal stores references in lower case.
  await journal.swap(similar.description.toLowerCase(), undefined, paid);
  clock.jump(totalTimeout + gracePeriod);
  expect(await inDoubtErrorOf(pay())).toMatchObject({ reason: 'ambiguous', candidates: [id] });
});

test('`decide` records the transfer that an operator names as the payment', async () => {
  const { pay, claim, sandbox, payments, made, clock } = setup();
  await claim();
  const { id } = sandbox.transfers.create(similar);
  await inDoubtErrorOf(pay());
  clock.jump(totalTimeout + gracePeriod);
  await payments.transfers.decide('invoice 4711', id);
  expect(await pay()).toMatchObject({ id });
  await payments.transfers.decide('invoice 4711', id);
  for (const verdict of ['txfr_other', 'not_paid'] as const) {
    const error = await inDoubtErrorOf(payments.transfers.decide('invoice 4711', verdict));
    expect(error).toMatchObject({ reason: 'conflict', operation: 'transfers.decide' });
  }
  expect(made()).toHaveLength(1);
});

test('`decide` rejects not_paid for a reference without an entry', async () => {
  const { payments, journal } = setup();
  for (const force of [false, true]) {
    const call = payments.transfers.decide('invoice 4711', 'not_paid', { force });
    const error = await failureOf(call, ValidationError);
    expect(error.issues).toMatchObject([{ path: 'reference' }]);
  }
  expect(await journal.read('invoice 4711')).toBeUndefined();
});

test('createOnce leaves an entry for an operator after an ambiguous search', async () => {
  const clock = new VirtualClock(Date.UTC(2026, 0, 15));
  const journal: Journal = {
    ...memoryJournal({ now: () => clock.now() }),
    searchFirst: 'always' as const,
  };
  const { pay, sandbox, payments, made } = setup({ journal, clock });
  const { id } = sandbox.transfers.create(similar);
  expect(await inDoubtErrorOf(pay())).toMatchObject({ reason: 'ambiguous' });
  const now = clock.now();
  expect(await journal.read('invoice 4711')).toMatchObject({
    state: 'ambiguous',
    candidates: [id],
    claimedAt: now,
    expiresAt: now,
    input,
  });
  expect(await inDoubtErrorOf(pay())).toMatchObject({ reason: 'ambiguous' });
  const decision = payments.transfers.decide('invoice 4711', 'not_paid', { by: 'ops' });
  expect(await inDoubtErrorOf(decision)).toMatchObject({ reason: 'conflict' });
  await payments.transfers.decide('invoice 4711', 'not_paid', { by: 'ops', force: true });
  const resolved = { state: 'not_paid', resolvedBy: 'ops', resolvedAt: now, dismissed: [id] };
  expect(await journal.read('invoice 4711')).toMatchObject(resolved);
  sandbox.faults.add({ operation: 'transfers.create', fault: rejection });
  await failureOf(pay(), UnprocessableEntityError);
  await pay();
  expect(made()).toHaveLength(2);
});

test('a payment is recorded even after another call found it ambiguous', async () => {
  let respond: (() => void) | undefined;
  const { pay, sandbox, journal, made } = setup({
    fetch: async (request) => {
      if (request.method !== 'POST') return sandbox.fetch(request);
      await new Promise<void>((resolve) => (respond = resolve));
      return sandbox.fetch(request);
    },
  });
  sandbox.transfers.create(similar);
  const first = pay();
  while (respond === undefined) await flushPromises(1);
  expect(await inDoubtErrorOf(pay())).toMatchObject({ reason: 'ambiguous' });
  expect(await journal.read('invoice 4711')).toMatchObject({ state: 'ambiguous' });
  respond();
  const { id } = await first;
  expect(await journal.read('invoice 4711')).toMatchObject({ state: 'paid', transferId: id });
  expect(made()).toHaveLength(2);
});

test('the error of an ambiguous payment names at most ten transfers', async () => {
  const { pay, claim, sandbox, journal } = setup();
  await claim();
  for (let each = 0; each < 12; each += 1) sandbox.transfers.create(similar);
  const error = await inDoubtErrorOf(pay());
  expect(error.candidates).toHaveLength(10);
  expect(error.message).toContain('and 2 more');
  const entry = await journal.read('invoice 4711');
  expect(entry).toMatchObject({ candidates: error.candidates });
});

test('createOnce finds its payment among a thousand recorded ones', async () => {
  const { pay, claim, clock, sandbox, made, journal } = setup({}, '99999');
  for (let each = 0; each < 1_000; each += 1) {
    const mine = { ...input, description: `${input.description} p${each}` };
    const { id } = sandbox.transfers.create(mine);
    const paid = { state: 'paid', transferId: id, paidAt: 0, platform, input: mine } as const;
    await journal.swap(mine.description, undefined, paid);
  }
  await claim();
  const { id } = sandbox.transfers.create(input);
  clock.jump(totalTimeout + gracePeriod);
  expect(await pay()).toMatchObject({ id, result: 'found' });
  expect(made()).toHaveLength(1_001);
});

test('`decide` records not_paid only after the claim has expired', async () => {
  const { payments, claim, clock, journal } = setup();
  await claim();
  clock.jump(1_000);
  const early = payments.transfers.decide('invoice 4711', 'not_paid');
  expect(await inDoubtErrorOf(early)).toMatchObject({
    reason: 'in_doubt',
    retryAfterMs: totalTimeout + gracePeriod - 1_000,
    operation: 'transfers.decide',
  });
  expect(await journal.read('invoice 4711')).toMatchObject({ state: 'sending' });
  clock.jump(totalTimeout + gracePeriod - 1_000);
  await payments.transfers.decide('invoice 4711', 'not_paid');
  expect(await journal.read('invoice 4711')).toMatchObject({ state: 'not_paid' });
});

test('`decide` rejects not_paid if the list shows the payment', async () => {
  const { payments, claim, clock, sandbox, journal } = setup();
  await claim();
  const { id } = sandbox.transfers.create(input);
  clock.jump(totalTimeout + gracePeriod);
  const call = payments.transfers.decide('invoice 4711', 'not_paid');
  const error = await inDoubtErrorOf(call);
  expect(error).toMatchObject({ reason: 'conflict' });
  expect(error.message).toContain(id);
  expect(await journal.read('invoice 4711')).toMatchObject({ state: 'sending' });
});

test('`force` permits not_paid in the grace period, but not before', async () => {
  const { payments, claim, sandbox, journal, clock } = setup();
  await claim();
  const { id } = sandbox.transfers.create(input);
  clock.jump(totalTimeout - 1);
  const early = payments.transfers.decide('invoice 4711', 'not_paid', { force: true });
  expect(await inDoubtErrorOf(early)).toMatchObject({ reason: 'in_doubt', retryAfterMs: 1 });
  clock.jump(1);
  await payments.transfers.decide('invoice 4711', 'not_paid', { force: true });
  const entry = await journal.read('invoice 4711');
  expect(entry).toMatchObject({ state: 'not_paid', dismissed: [id] });
});

test('`decide` with `force` records not_paid even if every request fails', async () => {
  const { payments, claim, sandbox, journal, clock } = setup({ maxRetries: 0 });
  await claim();
  clock.jump(totalTimeout);
  sandbox.faults.add({ operation: '*', times: 'always', fault: { kind: 'status', status: 503 } });
  await payments.transfers.decide('invoice 4711', 'not_paid', { force: true });
  const entry = await journal.read('invoice 4711');
  expect(entry).toMatchObject({ state: 'not_paid' });
  expect(entry).not.toHaveProperty('dismissed');
});

test('createOnce finds its payment even if a backup says not_paid', async () => {
  const clock = new VirtualClock(Date.UTC(2026, 0, 15));
  const memory = memoryJournal({ now: () => clock.now() });
  const { pay, payments, made } = setup({ journal: memory, clock });
  const now = clock.now();
  const backup = {
    state: 'not_paid',
    resolvedAt: now,
    platform,
    input,
  } as const;
  await memory.swap(input.description, undefined, backup);
  const { id } = await pay();
  const latest = await memory.read(input.description);
  expect(await memory.swap(input.description, latest, backup)).toBe(true);
  const forgetful = payments.withOptions({
    journal: { ...memory, searchFirst: 'always' as const },
  });
  expect(await forgetful.transfers.createOnce(input)).toMatchObject({ id });
  expect(await memory.read(input.description)).toMatchObject({ state: 'paid', transferId: id });
  expect(made()).toHaveLength(1);
});

test('createOnce with searchFirst ignores a transfer that an operator dismissed', async () => {
  const clock = new VirtualClock(Date.UTC(2026, 0, 15));
  const journal = { ...memoryJournal({ now: () => clock.now() }), searchFirst: 'always' as const };
  const { pay, payments, sandbox, made } = setup({ journal, clock });
  const listed = sandbox.transfers.create(similar).id;
  expect(await inDoubtErrorOf(pay())).toMatchObject({ reason: 'ambiguous', candidates: [listed] });
  await payments.transfers.decide(input.description, 'not_paid', { force: true });
  // The response is lost, so the call searches the list, which shows both transfers.
  sandbox.faults.add({
    operation: 'transfers.create',
    fault: { kind: 'reset', when: 'after_commit' },
  });
  const { id } = await pay();
  expect(id).not.toBe(listed);
  expect(made()).toHaveLength(2);
});

test('later createOnce calls ignore a transfer dismissed with `force`', async () => {
  const { pay, claim, payments, sandbox, journal, clock, made } = setup();
  await claim();
  const { id } = sandbox.transfers.create(input);
  clock.jump(totalTimeout);
  await payments.transfers.decide(input.description, 'not_paid', { force: true });
  sandbox.faults.add({
    operation: 'transfers.create',
    fault: { kind: 'reset', when: 'before_commit' },
  });
  await inDoubtErrorOf(pay());
  const entry = await journal.read(input.description);
  expect(entry).toMatchObject({ state: 'sending', dismissed: [id] });
  clock.jump(totalTimeout + gracePeriod);
  expect((await pay()).id).not.toBe(id);
  expect(made()).toHaveLength(2);
});

test('`decide` records not_paid only if the key can read the account', async () => {
  const { payments, claim, sandbox, journal, clock, operations } = setup();
  await claim();
  clock.jump(totalTimeout + gracePeriod);
  const resolve = (options?: { force: true }) =>
    payments.transfers.decide(input.description, 'not_paid', options);
  for (const status of [401, 403, 404]) {
    sandbox.faults.add({ operation: 'accounts.get', fault: { kind: 'status', status } });
    const error = await inDoubtErrorOf(resolve());
    expect(error).toMatchObject({ reason: 'conflict', retryable: false });
    expect(error.message).toContain('acc_000001');
    expect(error.cause).toMatchObject({ status });
  }
  sandbox.faults.add({ operation: 'accounts.get', fault: { kind: 'status', status: 503 } });
  const failed = inDoubtErrorOf(
    payments.transfers.decide(input.description, 'not_paid', { maxRetries: 0 }),
  );
  expect(await failed).toMatchObject({ reason: 'in_doubt', retryable: true });
  expect(await journal.read(input.description)).toMatchObject({ state: 'sending' });
  expect(operations()).not.toContain('transfers.list');
  await resolve();
  expect(await journal.read(input.description)).toMatchObject({ state: 'not_paid' });
});

test('`decide` with `force` needs no access to the source account', async () => {
  const { payments, claim, sandbox, journal, clock } = setup();
  await claim();
  clock.jump(totalTimeout);
  sandbox.faults.add({ operation: 'accounts.get', fault: { kind: 'status', status: 404 } });
  await payments.transfers.decide(input.description, 'not_paid', { force: true });
  expect(await journal.read(input.description)).toMatchObject({ state: 'not_paid' });
});

test('`decide` rejects the transfer id of another reference', async () => {
  const { pay, payments, claim } = setup();
  await claim();
  const { id } = await pay({ description: 'invoice 4712' });
  const call = payments.transfers.decide('invoice 4711', id);
  expect(await inDoubtErrorOf(call)).toMatchObject({ reason: 'conflict' });
});

test('`decide` records the operator as `resolvedBy` in the journal entry', async () => {
  const { payments, claim, sandbox, journal, clock } = setup();
  await claim();
  const { id } = sandbox.transfers.create(similar);
  clock.jump(totalTimeout + gracePeriod);
  await payments.transfers.decide('invoice 4711', id, { by: 'ops' });
  const paid = { state: 'paid', transferId: id, resolvedBy: 'ops', paidAt: clock.now() };
  expect(await journal.read('invoice 4711')).toMatchObject(paid);
});

test('an entry of another platform is a conflict that names that platform', async () => {
  const { pay, payments, sandbox, claim, operations, clock } = setup();
  await claim();
  const moved = payments.withOptions({
    baseUrl: 'https://moved.example.com/v0',
    fetch: (request) => sandbox.fetch(new Request(request.url.replace('moved.', ''), request)),
  });
  clock.jump(totalTimeout + gracePeriod);
  const error = await inDoubtErrorOf(moved.transfers.createOnce(input));
  expect(error).toMatchObject({ reason: 'conflict' });
  expect(error.message).toContain(platform);
  const resolve = (force: boolean) => moved.transfers.decide('invoice 4711', 'not_paid', { force });
  expect(await inDoubtErrorOf(resolve(false))).toMatchObject({ reason: 'conflict' });
  expect(operations()).toEqual([]);
  await resolve(true);
  await pay();
});

test.each([
  ['', 'txfr_1', {}, 'reference'],
  [5, 'txfr_1', {}, 'reference'],
  ['invoice 4711', 'acc_1', {}, 'verdict'],
  ['invoice 4711', undefined, {}, 'verdict'],
  ['invoice 4711', 'not_paid', { gracePeriod: 0 }, 'options.gracePeriod'],
  ['invoice 4711', 'not_paid', { by: '' }, 'options.by'],
  ['invoice 4711', 'not_paid', { force: 1 }, 'options.force'],
])(
  'decide(%o, %o, %o) rejects with a ValidationError',
  async (reference, verdict, options, path) => {
    const { payments, operations } = setup();
    const call = payments.transfers.decide(reference as never, verdict as never, options as never);
    expect((await failureOf(call, ValidationError)).issues).toMatchObject([{ path }]);
    expect(operations()).toEqual([]);
  },
);

test('`decide` rejects a transfer id that the platform does not know', async () => {
  const { payments, journal, claim } = setup();
  await claim();
  const call = payments.transfers.decide('invoice 4711', 'txfr_999999');
  expect(await failureOf(call)).toMatchObject({ status: 404 });
  expect(await journal.read('invoice 4711')).toMatchObject({ state: 'sending' });
});

/** Broken methods of a journal, with the message of the cause if one throws. */
const broken: [string, Partial<Journal>, string?][] = [
  ['read fails', { read: () => Promise.reject(new Error('the disk is full')) }, 'the disk is full'],
  [
    'read throws at once',
    {
      read: () => {
        throw new Error('the disk is full');
      },
    },
    'the disk is full',
  ],
  ['read returns a string', { read: async () => '{}' as never }],
  ['read returns null', { read: async () => null as never }],
  ['read returns an unknown state', { read: async () => ({ state: 'shared', input }) as never }],
  [
    'read returns a claim without expiresAt',
    { read: async () => ({ state: 'sending', claimId: 'x', claimedAt: 1, input }) as never },
  ],
  [
    'read returns an entry without an input',
    { read: async () => ({ state: 'paid', transferId: 'txfr_1', input: null }) as never },
  ],
  ['now returns NaN', { now: async () => Number.NaN }],
  ['now returns a string', { now: async () => '5' as never }],
  ['swap returns undefined', { swap: async () => undefined as never }],
  ['swap returns 1', { swap: async () => 1 as never }],
  ['swap fails', { swap: () => Promise.reject(new Error('the disk is full')) }, 'the disk is full'],
];
test.each<[string, Partial<Journal>, string?]>(broken)(
  'createOnce sends nothing if the journal is broken: %s',
  async (_, parts, message) => {
    const good = memoryJournal();
    const { pay, operations } = setup({ journal: { ...good, ...parts } });
    const error = await inDoubtErrorOf(pay());
    // A retry helps after an exception, but a value that cannot be read stays in the journal.
    const retryable = message !== undefined;
    expect(error).toMatchObject({ reason: 'journal', outcome: 'unknown', retryable });
    expect(Reflect.get(Object(error.cause), 'message')).toBe(message);
    expect(operations()).toEqual([]);
  },
);

test.each(['read', 'swap', 'now'] as const)('totalTimeout ends a hanging %s()', async (name) => {
  const hangs = { [name]: () => new Promise<never>(() => undefined) };
  const { pay, operations, clock } = setup({ journal: { ...memoryJournal(), ...hangs } });
  const error = await clock.runTimersDuring(inDoubtErrorOf(pay()));
  expect(error).toMatchObject({ reason: 'journal', outcome: 'unknown' });
  expect(clock.passed).toBe(totalTimeout);
  expect(clock.pending).toBe(0);
  expect(operations()).toEqual([]);
});

test('createOnce resolves if the journal fails after the payment', async () => {
  const inner = memoryJournal();
  let isDown = false;
  const { pay, made, operations } = setup({
    journal: {
      ...inner,
      swap: (reference, before, after) => {
        if (isDown) throw new Error('the disk is full');
        isDown = true;
        return inner.swap(reference, before, after);
      },
    },
  });
  expect(await pay()).toMatchObject({ status: 'pending' });
  expect(await pay()).toMatchObject(made()[0] ?? {});
  expect(operations()).toEqual(['transfers.create', 'transfers.list']);
});

test('createOnce resolves even if the journal loses a swap, then fails', async () => {
  const inner = memoryJournal();
  let swaps = 0;
  const { pay, operations } = setup({
    journal: {
      ...inner,
      swap: async (...change) => {
        swaps += 1;
        return swaps === 1 ? inner.swap(...change) : false;
      },
      read: (reference) =>
        swaps > 1 ? Promise.reject(new Error('ECONNRESET')) : inner.read(reference),
    },
  });
  expect(await pay()).toMatchObject({ status: 'pending', result: 'created' });
  expect(operations()).toEqual(['transfers.create']);
});

test('createOnce rejects as ambiguous if another call records a different transfer', async () => {
  const inner = memoryJournal();
  const other = { state: 'paid', transferId: 'txfr_other', paidAt: 0, platform, input } as const;
  const { pay } = setup({
    journal: {
      ...inner,
      swap: async (reference, before, after) => {
        if (after?.state !== 'paid') return inner.swap(reference, before, after);
        await inner.swap(reference, before, other);
        return false;
      },
    },
  });
  const error = await inDoubtErrorOf(pay());
  expect(error).toMatchObject({ reason: 'ambiguous', candidates: ['txfr_000001', 'txfr_other'] });
});

test('createOnce rejects as in_progress if another call sends during its search', async () => {
  let other: Promise<unknown> | undefined;
  let reply: (() => void) | undefined;
  const { pay, claim, clock, sandbox, made } = setup({
    fetch: async (request) => {
      if (request.method === 'POST') {
        const response = await sandbox.fetch(request);
        await new Promise<void>((resolve) => (reply = resolve));
        return response;
      }
      // The first search waits until another call has taken over and sent.
      if (other === undefined) {
        other = pay();
        while (reply === undefined) await flushPromises(1);
      }
      return sandbox.fetch(request);
    },
  });
  await claim();
  clock.jump(totalTimeout + gracePeriod);
  const error = await inDoubtErrorOf(pay());
  expect(error).toMatchObject({ reason: 'in_progress', retryAfterMs: 1_000 });
  reply?.();
  await other;
  expect(await pay()).toMatchObject(made()[0] ?? {});
  expect(made()).toHaveLength(1);
});

test.each([403, 404])(
  'createOnce rejects as unknown if reading its transfer fails with %i',
  async (status) => {
    const { pay, sandbox, made } = setup();
    const { id } = await pay();
    const fault = { kind: 'status', status } as const;
    sandbox.faults.add({ operation: 'transfers.get', fault });
    const error = await failureOf(pay());
    expect(error).toMatchObject({ outcome: 'unknown', retryable: true, status });
    expect(error).toMatchObject({ operation: 'transfers.createOnce' });
    expect(error.message).toContain(id);
    expect(await pay()).toMatchObject({ id });
    expect(made()).toHaveLength(1);
  },
);

test('createOnce accepts a recorded transfer with another destination', async () => {
  const old = setup();
  const { id } = await old.pay();
  const { pay } = setup({
    journal: old.journal,
    fetch: async (request) => {
      const rewritten = (await (await old.sandbox.fetch(request)).json()) as object;
      return Response.json({ ...rewritten, destinationAccountId: 'DE89370400440532013000' });
    },
  });
  expect(await pay()).toMatchObject({ id });
});

test('the error after a lost claim names both transfers that were made', async () => {
  const entries = memoryJournal();
  let isFirst = true;
  const { pay, sandbox, made, payments } = setup({
    journal: { ...entries, searchFirst: 'always' as const },
    fetch: async (request) => {
      if (request.method !== 'POST' || !isFirst) return sandbox.fetch(request);
      isFirst = false;
      // The store forgets the claim during the request, so the second call finds no entry.
      const claim = await entries.read('invoice 4711');
      await entries.swap('invoice 4711', claim, undefined);
      await payments.transfers.createOnce(input);
      return sandbox.fetch(request);
    },
  });
  const error = await inDoubtErrorOf(pay());
  expect(error).toMatchObject({
    reason: 'ambiguous',
    candidates: ['txfr_000002', 'txfr_000001'],
  });
  expect(made()).toHaveLength(2);
});

test('createOnce records a payment whose claim was lost meanwhile', async () => {
  const entries = memoryJournal();
  const losses: boolean[] = [];
  const { pay, sandbox } = setup({
    journal: entries,
    fetch: async (request) => {
      if (request.method === 'POST') {
        const claim = await entries.read('invoice 4711');
        losses.push(await entries.swap('invoice 4711', claim, undefined));
      }
      return sandbox.fetch(request);
    },
  });
  const { id } = await pay();
  expect(losses).toEqual([true]);
  expect(await entries.read('invoice 4711')).toMatchObject({ state: 'paid', transferId: id });
});

test('createOnce sends its reference as the idempotency key', async () => {
  const keys: (string | null)[] = [];
  const { pay, sandbox, made } = setup({
    platform: { idempotencyHeader: 'Idempotency-Key' },
    fetch: async (request) => {
      if (request.method !== 'POST') return sandbox.fetch(request);
      keys.push(request.headers.get('idempotency-key'));
      await sandbox.fetch(request);
      return new Response('', { status: 503 });
    },
  });
  expect(await pay()).toMatchObject(made()[0] ?? {});
  expect(keys).toEqual(['invoice 4711']);
});

test('createOnce rejects and sends nothing if the getter of `journal.searchFirst` throws', async () => {
  const journal = Object.defineProperty(memoryJournal(), 'searchFirst', {
    get: () => {
      throw new Error('no connection');
    },
  });
  const { pay, operations } = setup({ journal });
  expect(await inDoubtErrorOf(pay())).toMatchObject({ reason: 'journal', outcome: 'unknown' });
  expect(operations()).toEqual([]);
});

test("createOnce removes a connection string's password from a journal error", async () => {
  const cause = new Error('connect postgres://app:hunter2@db:5432/payments failed');
  const journal = { ...memoryJournal(), read: () => Promise.reject(cause) };
  const error = await inDoubtErrorOf(setup({ journal }).pay());
  expect(JSON.stringify(error)).toContain('db:5432/payments');
  expect(JSON.stringify(error) + String((error.cause as Error).stack)).not.toContain('hunter2');
});

test.each([
  ['amount', { amount: '2.00' }],
  ['destination', { destinationAccountId: 'acc_000003' }],
] as const)(
  "createOnce detects another platform by a transfer's different %s",
  async (_, terms) => {
    const old = setup();
    const { id } = await old.pay();
    const { pay, sandbox } = setup({ journal: old.journal });
    expect(sandbox.transfers.create({ ...input, ...terms, description: 'rent' })).toMatchObject({
      id,
    });
    const error = await inDoubtErrorOf(pay());
    expect(error).toMatchObject({ reason: 'conflict', retryable: false, outcome: 'unknown' });
    expect(error.message).toContain(
      `names ${id} for this payment, but that transfer is another payment`,
    );
  },
);

test('createOnce accepts a recorded transfer with rewritten description or amount', async () => {
  for (const rewritten of [{ description: 'SEPA 1' }, { amount: '12.40' }]) {
    const old = setup();
    await old.pay();
    const { pay, sandbox } = setup({ journal: old.journal });
    const { id } = sandbox.transfers.create({ ...input, ...rewritten });
    expect(await pay()).toMatchObject({ id });
  }
});

test.each([
  ['accepts a transfer with another description', { description: 'by hand' }, true],
  ['accepts a transfer with another amount', { amount: '12.40' }, true],
  ['rejects another description and amount', { amount: '12.40', description: 'rent' }, false],
] as const)('`decide` %s', async (_, terms, isTaken) => {
  const { pay, payments, sandbox, claim, clock } = setup();
  await claim();
  clock.jump(totalTimeout + gracePeriod);
  const { id } = sandbox.transfers.create({ ...input, ...terms });
  const resolution = payments.transfers.decide('invoice 4711', id);
  if (isTaken) {
    await resolution;
    expect(await pay()).toMatchObject({ id });
  } else {
    expect(await inDoubtErrorOf(resolution)).toMatchObject({ reason: 'conflict' });
  }
});

test("a PaymentInDoubtError has the request's error as cause, and its attempts", async () => {
  const { pay, sandbox } = setup();
  const fault = { kind: 'reset', when: 'before_commit' } as const;
  sandbox.faults.add({ operation: 'transfers.create', fault });
  const error = await inDoubtErrorOf(pay());
  expect(error.message).toMatch(
    /^Whether .* not known yet\. The connection to .* failed \(ECONNRESET\)/,
  );
  expect(error.attempts).toHaveLength(1);
  expect(String(error.cause)).toContain('Call createOnce again to find out');
});

const invalidState = Object.assign(new TypeError('Invalid state: ReadableStream is locked'), {
  code: 'ERR_INVALID_STATE',
});
const nock = new TypeError('fetch failed', {
  cause: Object.assign(new Error('connect ENETUNREACH'), {
    code: 'ENETUNREACH',
    cause: new Error('Nock: No match for request'),
  }),
});

test.each<[string, () => Response | Promise<Response>, RegExp]>([
  [
    'a 422 without Error body',
    () => respond(422, { message: 'insufficient funds' }),
    /expected the platform's Error body.*this 422.*isErrorBody.*insufficient funds/s,
  ],
  ['a 403 of another shape', () => respond(403, { Message: 'Denied' }), /this 403.*isErrorBody/],
  ['a 201 without id', () => respond(201, { ok: true }), /undocumented id: got nothing/],
  ['an HTML page', () => new Response('<b>bad gateway</b>', { status: 502 }), /bad gateway/],
  ['a request that nock does not know', () => Promise.reject(nock), /Nock: No match/],
  ['a Response that was read', () => Promise.reject(invalidState), /ReadableStream is locked/],
])('the message of a PaymentInDoubtError names its cause: %s', async (_, answer, cause) => {
  const { payments } = clientOf(
    (request) =>
      request.method === 'GET'
        ? respond(200, { data: [], hasMore: false, nextCursor: null })
        : answer(),
    { journal: memoryJournal(), maxRetries: 0 },
  );
  for (const call of ['first', 'second']) {
    const error = await inDoubtErrorOf(payments.transfers.createOnce(input));
    expect(`${call}: ${error.message}`).toMatch(cause);
  }
});

test('the message of a PaymentInDoubtError mentions a mock repeating an id', async () => {
  const { payments } = clientOf(
    ({ method }) => respond(method === 'GET' ? 200 : 201, transferCreated),
    { journal: memoryJournal() },
  );
  await payments.transfers.createOnce(input);
  const second = { ...input, amount: '99.00', description: 'invoice 4712' };
  const error = await inDoubtErrorOf(payments.transfers.createOnce(second));
  expect(error.message).toContain('A mock has to give each creation an id of its own');
});

test('createOnce resolves to a recorded transfer that has failed', async () => {
  const { pay, sandbox, made } = setup();
  const { id } = await pay();
  sandbox.transfers.fail(id);
  expect(await pay()).toMatchObject({ id, status: 'failed' });
  expect(made()).toHaveLength(1);
});

test('createOnce searches before a first claim if entries may be lost', async () => {
  const journal = { ...memoryJournal(), searchFirst: 'always' as const };
  const { pay, sandbox, operations, made } = setup({ journal });
  const { id } = sandbox.transfers.create(input);
  expect(await pay()).toMatchObject({ id });
  expect(await journal.read('invoice 4711')).toMatchObject({ state: 'paid', transferId: id });
  expect(operations()).toEqual(['transfers.list']);
  await pay({ description: 'invoice 4712' });
  expect(operations()).toEqual(['transfers.list', 'transfers.list', 'transfers.create']);
  expect(made()).toHaveLength(2);
});

test('totalTimeout ends a search whose list request hangs', async () => {
  const { pay, sandbox, claim, clock } = setup();
  await claim();
  sandbox.transfers.create(input);
  sandbox.faults.add({ operation: 'transfers.list', fault: { kind: 'hang' }, times: Infinity });
  const callOptions = { timeout: 50_000 };
  const error = await clock.runTimersDuring(inDoubtErrorOf(pay({}, callOptions)));
  expect(error).toMatchObject({ reason: 'in_doubt', retryAfterMs: totalTimeout });
  expect(error.message).toContain('within 120000 ms (totalTimeout)');
  expect(clock.passed).toBe(totalTimeout);
});

test('createOnce keeps its claim if the request is aborted', async () => {
  const { pay, sandbox, journal, made, clock } = setup();
  sandbox.faults.add({
    operation: 'transfers.create',
    fault: { kind: 'hang', when: 'after_commit' },
  });
  const left = new AbortController();
  const call = failureOf(pay({}, { signal: left.signal }), AbortError);
  await flushPromises();
  left.abort('the user has left');
  const error = await call;
  expect(error).toMatchObject({ outcome: 'unknown', retryable: true, cause: 'the user has left' });
  expect(error.startedAt).toBe(new Date(clock.now()).toISOString());
  expect(await journal.read('invoice 4711')).toMatchObject({ state: 'sending' });
  expect(await pay()).toMatchObject(made()[0] ?? {});
});

test('createOnce with an aborted signal asks neither journal nor platform', async () => {
  const { pay, operations, journal } = setup();
  const error = await failureOf(pay({}, { signal: AbortSignal.abort('late') }), AbortError);
  expect(error).toMatchObject({ outcome: 'unknown', cause: 'late' });
  expect(await journal.read('invoice 4711')).toBeUndefined();
  expect(operations()).toEqual([]);
});

test.each([
  ['both clocks go on', (clock: VirtualClock) => clock.jump(totalTimeout + 1)],
  ['only the wall clock goes on', (clock: VirtualClock) => clock.shiftWall(totalTimeout + 1)],
])('a process that was suspended after its claim sends nothing: %s', async (_, freeze) => {
  let thaw: ((token: string) => void) | undefined;
  const { pay, clock, operations, journal } = setup({
    apiKey: () => new Promise((resolve) => (thaw = resolve)),
  });
  const call = failureOf(pay());
  while (thaw === undefined) await flushPromises(1);
  expect(await journal.read('invoice 4711')).toMatchObject({ state: 'sending' });
  freeze(clock);
  thaw('sk_test_thawed_0001');
  expect(await call).toMatchObject({ outcome: 'not_sent', phase: 'total' });
  expect(operations()).toEqual([]);
});

test("a createOnce call that was suspended finds a later call's payment", async () => {
  const held: (() => void)[] = [];
  const hold = (): Promise<void> => new Promise((resolve) => held.push(resolve));
  const { pay, clock, sandbox, made } = setup({
    apiKey: async () => {
      if (held.length === 0) await hold();
      return sandbox.apiKey;
    },
    fetch: async (request) => {
      const response = await sandbox.fetch(request);
      if (request.method === 'POST') await hold();
      return response;
    },
  });
  const suspended = pay();
  while (held.length < 1) await flushPromises(1);
  clock.jump(totalTimeout + gracePeriod + 1);
  const other = pay();
  while (held.length < 2) await flushPromises(1);
  held[0]?.();
  const { id } = await suspended;
  held[1]?.();
  expect(await other).toMatchObject({ id });
  expect(made()).toHaveLength(1);
});

test('createOnce subtracts the time of a slow journal from its request', async () => {
  const inner = memoryJournal();
  const { pay, sandbox, clock } = setup({
    journal: {
      ...inner,
      swap: (...swapped) => {
        clock.jump(80_000);
        return inner.swap(...swapped);
      },
    },
  });
  sandbox.faults.add({ operation: 'transfers.create', fault: { kind: 'hang' } });
  const error = await clock.runTimersDuring(inDoubtErrorOf(pay({}, { timeout: 60_000 })));
  expect(error.cause).toMatchObject({ name: 'TimeoutError', attempts: [{ durationMs: 40_000 }] });
});

test('createOnce searches with extra headers, but no extra query or body', async () => {
  const seen: string[] = [];
  const { sandbox } = setup();
  const { pay } = setup({
    journal: { ...memoryJournal(), searchFirst: 'always' as const },
    fetch: async (request) => {
      const { method, url, headers } = request;
      const body = method === 'POST' ? await request.clone().text() : '';
      seen.push(
        [method, new URL(url).search, headers.get('x-team'), body.includes('"memo"')].join(' '),
      );
      return sandbox.fetch(request);
    },
  });
  await pay({}, { headers: { 'x-team': 'a' }, query: { dry: 'no' }, body: { memo: 1 } }).catch(
    () => undefined,
  );
  expect(seen).toEqual(['GET ?limit=100&accountId=acc_000001 a false', 'POST ?dry=no a true']);
});

test('an error of createOnce hides an API key in journal errors', async () => {
  const secret = 'sk_live_C4N4RY_0123456789';
  const inner = memoryJournal();
  const { pay } = setup({
    apiKey: secret,
    journal: { ...inner, swap: () => Promise.reject(new Error(`connect with ${secret} failed`)) },
  });
  const error = await inDoubtErrorOf(pay({ description: `invoice ${secret}` }));
  expect(JSON.stringify(error)).not.toContain('C4N4RY');
  expect(error.stack).not.toContain('C4N4RY');
  expect(String((error.cause as Error).stack)).not.toContain('C4N4RY');
});

/** A journal that may forget, and a list of two pages that `change` alters in each scan. */
function setupAltered(change: (scan: number, data: Transfer[]) => Transfer[]) {
  let scan = 0;
  const world = setup({
    fetch: async (request) => {
      const { searchParams, pathname } = new URL(request.url);
      const response = await world.sandbox.fetch(request);
      if (request.method !== 'GET' || !pathname.endsWith('/transfers')) return response;
      if (!searchParams.has('cursor')) scan += 1;
      const listed = (await response.json()) as { data: Transfer[] };
      return Response.json({ ...listed, data: change(scan, listed.data) }, response);
    },
  });
  for (let number = 1; number <= 120; number += 1) {
    world.sandbox.transfers.create({ ...input, amount: '1.00', description: `earlier ${number}` });
  }
  const journal = { ...world.journal, searchFirst: 'always' as const };
  const made = () => world.made().filter(({ description }) => description === input.description);
  return { ...world, pay: () => world.pay({}, { journal }), journal, made };
}

test('createOnce pays once if the journal and one scan lack the payment', async () => {
  let missedIn: number | undefined;
  const { pay, made, journal } = setupAltered((scan, data) => {
    const isOurs = ({ description }: Transfer): boolean => description === input.description;
    if (data.some(isOurs)) missedIn ??= scan;
    return scan === missedIn ? data.filter((transfer) => !isOurs(transfer)) : data;
  });
  const { id } = await pay();
  await journal.swap(input.description, await journal.read(input.description), undefined);
  expect(await pay()).toMatchObject({ id });
  expect(made()).toHaveLength(1);
});

test('createOnce sends nothing if its scans show different transfers', async () => {
  const { pay, made, claim, clock } = setupAltered((scan, data) =>
    data.filter((_, at) => at !== scan),
  );
  await claim(clock.now());
  expect(await inDoubtErrorOf(pay())).toMatchObject({ reason: 'in_doubt', retryable: true });
  expect(made()).toEqual([]);
});

test('createOnce reports a conflict if references differ only in capitals', async () => {
  const { pay, made, payments, journal } = setup();
  const { id } = await pay({ description: 'Invoice 4711' });
  expect(await journal.read('invoice 4711')).toMatchObject({ state: 'paid', transferId: id });
  const error = await inDoubtErrorOf(pay());
  expect(error).toMatchObject({ reason: 'conflict', retryable: false });
  expect(error.message).toContain('(Invoice 4711)');
  expect(await pay({ description: 'Invoice 4711' })).toMatchObject({ id });
  const resolving = payments.transfers.decide('INVOICE 4711', 'not_paid', { force: true });
  expect(await inDoubtErrorOf(resolving)).toMatchObject({ reason: 'conflict' });
  expect(made()).toHaveLength(1);
});

test('listUndecided shows the reference as the first call wrote it', async () => {
  const { pay, payments, sandbox } = setup({ maxRetries: 0 });
  const fault = { kind: 'reset', when: 'before_commit' } as const;
  sandbox.faults.add({ operation: 'transfers.create', fault });
  await inDoubtErrorOf(pay({ description: 'Invoice 4711' }));
  const references: string[] = [];
  for await (const { reference } of payments.transfers.listUndecided()) references.push(reference);
  expect(references).toEqual(['Invoice 4711']);
});

test.each([{}, { description: input.description }])(
  'createOnce and `decide` reject a journal entry with input %j',
  async (terms) => {
    const { pay, payments, journal, made, claim, clock } = setup();
    await claim(clock.now());
    const entry = await journal.read(input.description);
    await journal.swap(input.description, entry, { ...entry, input: terms } as JournalEntry);
    for (const call of [
      pay(),
      payments.transfers.decide(input.description, 'not_paid', { force: true }),
      payments.transfers.decide(input.description, 'txfr_000001'),
    ]) {
      expect(await inDoubtErrorOf(call)).toMatchObject({ reason: 'journal', retryable: false });
    }
    expect(made()).toEqual([]);
  },
);

test('a claim written by a clock a year ahead expires in time', async () => {
  const { pay, payments, journal, claim, made, clock } = setup();
  const year = 365 * 86_400_000;
  await claim(clock.now() + year + totalTimeout + gracePeriod);
  const before = await journal.read(input.description);
  const claimedAt = clock.now() + year;
  const history = [{ at: claimedAt, state: 'sending' }];
  const times = { claimedAt, deadline: claimedAt + totalTimeout, firstClaimedAt: claimedAt };
  await journal.swap(input.description, before, { ...before, ...times, history } as JournalEntry);
  const error = await inDoubtErrorOf(pay());
  expect(error).toMatchObject({ reason: 'in_progress', claimedAt: '2026-01-15T00:00:00.000Z' });
  expect(await journal.read(input.description)).toMatchObject({
    claimedAt: clock.now(),
    deadline: clock.now() + totalTimeout,
    expiresAt: clock.now() + totalTimeout + gracePeriod,
    firstClaimedAt: clock.now(),
    history: [{ at: clock.now(), state: 'sending' }],
  });
  clock.jump(totalTimeout + gracePeriod);
  await payments.transfers.decide(input.description, 'not_paid');
  await pay();
  expect(made()).toHaveLength(1);
});

test('`decide` accepts not_paid in time despite a clock a day ahead', async () => {
  const { payments, journal, claim, clock } = setup();
  const day = 86_400_000;
  await claim(clock.now() + day);
  const before = await journal.read(input.description);
  const ahead = { ...before, claimedAt: clock.now() + day - totalTimeout - gracePeriod };
  await journal.swap(input.description, before, ahead as JournalEntry);
  const decide = () => payments.transfers.decide(input.description, 'not_paid');
  const { retryAfterMs } = await inDoubtErrorOf(decide());
  expect(retryAfterMs).toBeLessThanOrEqual(totalTimeout + gracePeriod);
  clock.jump(totalTimeout + gracePeriod);
  await decide();
});

test('createOnce does not correct a claim time under two minutes ahead', async () => {
  const { pay, journal, claim, clock } = setup();
  await claim(clock.now() + totalTimeout + gracePeriod);
  const before = await journal.read(input.description);
  clock.shiftWall(-100_000);
  await inDoubtErrorOf(pay());
  expect(await journal.read(input.description)).toEqual(before);
});

test.each([
  ['is lost', () => Promise.reject(new Error('the connection ended'))],
  ['says that another call has the claim', () => Promise.resolve(false)],
])("createOnce pays if its claim is written but the journal's reply %s", async (_, reply) => {
  const { journal, payments, made } = setup();
  let claims = 0;
  const unlucky: Journal = {
    ...journal,
    swap: async (reference, before, after) => {
      const isClaimed = await journal.swap(reference, before, after);
      return after?.state === 'sending' && (claims += 1) === 1 ? reply() : isClaimed;
    },
  };
  const { id } = await payments.transfers.createOnce(input, { journal: unlucky });
  expect(await journal.read(input.description)).toMatchObject({ state: 'paid', transferId: id });
  expect(made()).toHaveLength(1);
});

test.each([
  ['was not written', (journal: Journal) => journal],
  [
    'was replaced by the claim of another call',
    (journal: Journal): Journal => ({
      ...journal,
      swap: async (reference, before, after) => {
        const other = { ...after, claimId: 'another call' } as JournalEntry;
        return journal.swap(reference, before, after?.state === 'sending' ? other : after);
      },
    }),
  ],
])('createOnce sends nothing after a lost journal reply if the claim %s', async (_, wrap) => {
  const { journal, payments, made } = setup();
  const wrapped = wrap(journal);
  const isReal = wrapped !== journal;
  const unlucky: Journal = {
    ...journal,
    swap: async (...call) => {
      if (isReal) await wrapped.swap(...call);
      throw new Error('the connection ended');
    },
  };
  const error = await inDoubtErrorOf(payments.transfers.createOnce(input, { journal: unlucky }));
  expect(error).toMatchObject({ reason: 'journal', retryable: true });
  expect(made()).toEqual([]);
});

test.each<[string, () => unknown]>([
  ['an async function that resolves to false', async () => false],
  ['a function that returns 1', () => 1],
])(
  'a creation has outcome unknown after status 405 if isErrorBody is %s',
  async (_, isErrorBody) => {
    const { payments } = setup();
    const proxied = payments.withOptions({
      platform: { isErrorBody: isErrorBody as () => boolean },
      fetch: () => Promise.resolve(new Response('<html>nginx</html>', { status: 405 })),
    });
    expect(await failureOf(proxied.transfers.create(input))).toMatchObject({ outcome: 'unknown' });
  },
);
