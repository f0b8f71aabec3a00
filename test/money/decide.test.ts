import { PaymentInDoubtError, PaymentsClient, type OnceInput } from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import { failureOf } from '../support/clients.ts';
import { fixedTimes } from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

/* What an operator may decide about a payment that was paid by hand, or decided wrongly. */

const { totalTimeout, gracePeriod } = fixedTimes;
const input: OnceInput = {
  sourceAccountId: 'acc_000001',
  destinationAccountId: 'acc_000002',
  amount: '5.00',
  description: 'fee-0017',
};
const conflictOf = async (call: PromiseLike<unknown>) => {
  const error = await failureOf(call, PaymentInDoubtError);
  expect(error.reason).toBe('conflict');
  return error;
};

function setup() {
  const clock = new VirtualClock(Date.UTC(2026, 10, 28, 2));
  const createPlatform = (): Sandbox => {
    const sandbox = new Sandbox({ clock: () => clock.now() });
    const { id: entityId } = sandbox.entities.create({ email: 'ada@example.com' });
    for (const name of ['Source', 'Destination']) sandbox.accounts.create({ entityId, name });
    sandbox.accounts.fund('acc_000001', '1000');
    return sandbox;
  };
  const sandbox = createPlatform();
  const journal = memoryJournal({ now: () => clock.now() });
  const limits = { ...fixedTimes, maxRetries: 0 };
  const options = { ...sandbox.clientOptions, ...limits, clock, journal };
  const payments = new PaymentsClient(options);
  const run = <T>(call: PromiseLike<T>) => clock.runTimersDuring(Promise.resolve(call));
  const pay = () => run(payments.transfers.createOnce(input));
  const decide = (...call: Parameters<typeof payments.transfers.decide>) =>
    run(payments.transfers.decide(...call));
  const refuse = async () => {
    sandbox.faults.add({ operation: 'transfers.create', fault: { kind: 'status', status: 422 } });
    await failureOf(pay());
  };
  const leaveInDoubt = async () => {
    const fault = { kind: 'reset', when: 'before_commit' } as const;
    sandbox.faults.add({ operation: 'transfers.create', fault });
    await failureOf(pay(), PaymentInDoubtError);
  };
  return { clock, createPlatform, sandbox, journal, options, pay, decide, refuse, leaveInDoubt };
}

test('`decide` records a rejected payment that was then paid by hand', async () => {
  const { sandbox, journal, pay, decide, refuse } = setup();
  await refuse();
  expect(await journal.read(input.description)).toBeUndefined();
  const { id } = sandbox.transfers.create(input);
  await decide(input.description, id, { by: 'ada' });
  expect(await journal.read(input.description)).toMatchObject({
    state: 'paid',
    transferId: id,
    input,
  });
  expect(await pay()).toMatchObject({ id, result: 'recorded' });
  expect(sandbox.transfers.list()).toHaveLength(1);
});

test.each(['paid by hand', 'fee-0071', 'FEE-0017'])(
  'without an entry `decide` needs `force` for a transfer described %s',
  async (description) => {
    const { sandbox, journal, pay, decide } = setup();
    const { id } = sandbox.transfers.create({ ...input, description });
    await conflictOf(decide(input.description, id));
    expect(await journal.read(input.description)).toBeUndefined();
    await decide(input.description, id, { force: true });
    expect(await pay()).toMatchObject({ id, result: 'recorded' });
  },
);

test('`decide` records a manual transfer only after the claim has expired', async () => {
  const { clock, sandbox, decide, leaveInDoubt, pay } = setup();
  await leaveInDoubt();
  await clock.advance(180_000);
  const { id } = sandbox.transfers.create({ ...input, description: 'paid by hand' });
  const early = await failureOf(decide(input.description, id), PaymentInDoubtError);
  expect(early).toMatchObject({
    reason: 'in_doubt',
    retryAfterMs: totalTimeout + gracePeriod - 180_000,
    // An operator reads this in a terminal.
    message: expect.stringMatching(
      /\nDecide again in 14 minutes\.\nUntil [^\n]+, an earlier request may still take effect\.$/,
    ),
  });
  const late = sandbox.transfers.create(input);
  await clock.advance(totalTimeout + gracePeriod);
  expect((await conflictOf(decide(input.description, id))).message).toContain(late.id);
  expect(await pay()).toMatchObject({ id: late.id, result: 'found' });
});

test('`decide` with a manual transfer ends a doubt after the wait', async () => {
  const { clock, sandbox, decide, leaveInDoubt, pay } = setup();
  await leaveInDoubt();
  const { id } = sandbox.transfers.create({ ...input, description: 'paid by hand' });
  await clock.advance(totalTimeout + gracePeriod);
  await decide(input.description, id, { by: 'ada' });
  expect(await pay()).toMatchObject({ id, result: 'recorded' });
});

test('`force` does not overrule a listed transfer with the reference', async () => {
  const { sandbox, journal, pay, decide } = setup();
  const { id } = await pay();
  await conflictOf(decide(input.description, 'not_paid'));
  expect(
    (await conflictOf(decide(input.description, 'not_paid', { force: true }))).message,
  ).toContain(id);
  expect(await journal.read(input.description)).toMatchObject({ state: 'paid', transferId: id });
  expect(sandbox.transfers.list()).toHaveLength(1);
});

test('`decide` with `force` waits until the list would show the transfer', async () => {
  const { clock, sandbox, options } = setup();
  // The list shows a transfer 15 minutes after its creation.
  const fetch = async (request: Request) => {
    const response = await sandbox.fetch(request);
    if (!/\/transfers\?/.test(request.url)) return response;
    const page = (await response.json()) as { data: { createdAt: string }[] };
    const isShown = ({ createdAt }: { createdAt: string }) =>
      Date.parse(createdAt) + gracePeriod <= clock.now();
    return Response.json({ ...page, data: page.data.filter(isShown) });
  };
  const { transfers } = new PaymentsClient({ ...options, fetch });
  const run = <T>(call: PromiseLike<T>) => clock.runTimersDuring(Promise.resolve(call));
  await run(transfers.createOnce(input));
  const decide = () => run(transfers.decide(input.description, 'not_paid', { force: true }));
  const error = await failureOf(decide(), PaymentInDoubtError);
  expect(error).toMatchObject({ reason: 'in_doubt', retryAfterMs: totalTimeout + gracePeriod });
  await clock.advance(totalTimeout + gracePeriod);
  await conflictOf(decide());
  expect(sandbox.transfers.list()).toHaveLength(1);
});

test('`decide` with `force` does not wait for a clock days ahead', async () => {
  const { clock, sandbox, options } = setup();
  let lead = 30 * 86_400_000;
  const journal = memoryJournal({ now: () => clock.now() + lead });
  const { transfers } = new PaymentsClient({ ...options, journal });
  const run = <T>(call: PromiseLike<T>) => clock.runTimersDuring(Promise.resolve(call));
  const wrong = sandbox.transfers.create({ ...input, description: 'rent' });
  sandbox.faults.add({ operation: 'transfers.create', fault: { kind: 'hang' } });
  await failureOf(run(transfers.createOnce(input)), PaymentInDoubtError);
  await clock.advance(totalTimeout + gracePeriod);
  await run(transfers.decide(input.description, wrong.id, { force: true }));
  lead = 0;
  await run(transfers.decide(input.description, 'not_paid', { force: true }));
  expect(await journal.read(input.description)).toMatchObject({ state: 'not_paid' });
});

test.each(['not_paid', 'paid'] as const)(
  "a forced decision of %s is recorded with the operator's new URL",
  async (verdict) => {
    const { clock, sandbox, journal, options, leaveInDoubt } = setup();
    await leaveInDoubt();
    await clock.advance(totalTimeout + gracePeriod);
    const baseUrl = 'https://moved.example.com/v0';
    const fetch = (request: Request) =>
      sandbox.fetch(new Request(request.url.replace(baseUrl, options.baseUrl), request));
    const { transfers } = new PaymentsClient({ ...options, baseUrl, fetch });
    const decision = verdict === 'paid' ? sandbox.transfers.create(input).id : verdict;
    const run = <T>(call: PromiseLike<T>) => clock.runTimersDuring(Promise.resolve(call));
    await conflictOf(run(transfers.decide(input.description, decision)));
    await run(transfers.decide(input.description, decision, { force: true }));
    expect(await journal.read(input.description)).toMatchObject({ platform: baseUrl });
    expect((await run(transfers.createOnce(input))).id).toMatch(/^txfr_/);
  },
);

test('a second not_paid keeps the dismissed transfers of the first', async () => {
  const { clock, sandbox, journal, pay, decide, leaveInDoubt } = setup();
  const createLike = () => sandbox.transfers.create({ ...input, description: 'fee-0017 (copy)' });
  const ids: string[] = [];
  for (let round = 1; round <= 2; round += 1) {
    await leaveInDoubt();
    await clock.advance(totalTimeout + gracePeriod);
    ids.push(createLike().id);
    await decide(input.description, 'not_paid', { force: true });
    const entry = await journal.read(input.description);
    expect(entry?.dismissed).toEqual(expect.arrayContaining(ids));
  }
  expect(await pay()).toMatchObject({ result: 'created' });
});

test('the history keeps every decision if `force` replaces a wrong transfer', async () => {
  const { sandbox, journal, pay, decide } = setup();
  const wrong = sandbox.transfers.create({ ...input, description: 'rent' });
  await decide(input.description, wrong.id, { force: true, by: 'bob' });
  await decide(input.description, 'not_paid', { force: true, by: 'ada' });
  expect(await journal.read(input.description)).toMatchObject({ dismissed: [wrong.id] });
  const { id, result } = await pay();
  expect(result).toBe('created');
  const { history = [] } = (await journal.read(input.description)) ?? {};
  expect(history.map(({ state, by = '' }) => `${state} ${by}`.trim())).toEqual([
    'paid bob',
    'not_paid ada',
    'sending',
    'paid',
  ]);
  // The right transfer is found by its description, and no search is needed.
  await decide(input.description, id);
});

test('a payment whose recorded transfer is lost needs a forced not_paid', async () => {
  const { sandbox, clock, pay, decide } = setup();
  const empty = sandbox.exportState();
  await pay();
  sandbox.importState(empty);
  await clock.advance(2 * gracePeriod);
  await failureOf(pay());
  await conflictOf(decide(input.description, 'not_paid'));
  await decide(input.description, 'not_paid', { force: true, by: 'ada' });
  expect(await pay()).toMatchObject({ result: 'created' });
  expect(sandbox.transfers.list()).toHaveLength(1);
});

test("createOnce finds its payment even under a dismissed transfer's id", async () => {
  const { clock, createPlatform, options, pay } = setup();
  const { id } = await pay();
  // The platform was restored from nothing, and its ids begin again.
  const restored = createPlatform();
  const fetch = (request: Request) => restored.fetch(request);
  const { transfers } = new PaymentsClient({ ...options, fetch });
  await clock.advance(2 * gracePeriod);
  await clock.runTimersDuring(transfers.decide(input.description, 'not_paid', { force: true }));
  const fault = { kind: 'reset', when: 'after_commit' } as const;
  restored.faults.add({ operation: 'transfers.create', fault });
  const paid = await clock.runTimersDuring(transfers.createOnce(input));
  expect(paid).toMatchObject({ id, result: 'found' });
  expect(restored.transfers.list()).toHaveLength(1);
});

test.each(['PO{5}', 'Project Infinity', '5%(VAT)'])(
  '`decide` accepts the reference %s of an earlier version',
  async (description) => {
    const { clock, journal, options, leaveInDoubt, decide } = setup();
    await leaveInDoubt();
    const entry = await journal.read(input.description);
    if (entry === undefined) throw new Error('no entry');
    const old = { ...input, description };
    await journal.swap(description.toLowerCase(), undefined, { ...entry, input: old });
    await clock.advance(totalTimeout + gracePeriod);
    const { transfers } = new PaymentsClient(options);
    const open: string[] = [];
    for await (const { reference, state } of transfers.listUndecided()) {
      open.push(`${reference} ${state}`);
    }
    expect(open).toContain(`${description} sending`);
    const rows: string[] = [];
    for await (const { result } of transfers.reconcileAll([old], {
      since: new Date(clock.now()),
    })) {
      rows.push(result);
    }
    expect(rows).toHaveLength(1);
    await decide(description, 'not_paid');
    expect(await journal.read(description.toLowerCase())).toMatchObject({ state: 'not_paid' });
  },
);
