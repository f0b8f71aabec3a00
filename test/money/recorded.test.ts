import { NotFoundError, PaymentsClient, type OnceInput } from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { describe, expect, test } from 'vitest';
import { failureOf } from '../support/clients.ts';
import { errorBody } from '../support/values.ts';
import { inDoubtErrorOf, input, minute, setup } from './doubtful-platform.ts';

/** A payment that the journal records, and that the platform lost, as by a restored backup. */
async function loseTransfer() {
  const context = setup();
  const { id: lostId } = await context.pay();
  const fetch = async (request: Request): Promise<Response> => {
    if (request.url.endsWith(`/${lostId}`)) return Response.json(errorBody, { status: 404 });
    const response = await context.sandbox.fetch(request);
    if (request.method !== 'GET') return response;
    const body = (await response.json()) as { data?: { id: string }[] };
    return Response.json({ ...body, data: body.data?.filter(({ id }) => id !== lostId) });
  };
  const payments = context.payments.withOptions({ fetch });
  const pay = () => context.run(payments.transfers.createOnce(input));
  return { ...context, lostId, payments, pay };
}

test('the error for a lost recorded transfer names causes and remedy', async () => {
  const { pay, clock, lostId } = await loseTransfer();
  for (const [ms, retryable] of [
    [0, true],
    [15 * minute, false],
  ] as const) {
    clock.jump(ms);
    const error = await failureOf(pay(), NotFoundError);
    expect(error).toMatchObject({ outcome: 'unknown', retryable });
    for (const text of [lostId, 'and credential', 'has lost', 'decide and force']) {
      expect(error.message).toContain(text);
    }
  }
});

test('createOnce pays again after not_paid if the recorded transfer is lost', async () => {
  const { pay, payments, run, clock, lostId } = await loseTransfer();
  clock.jump(60 * minute);
  await run(payments.transfers.decide(input.description, 'not_paid', { force: true }));
  expect(await pay()).toMatchObject({ result: 'created' });
  expect(await pay()).toMatchObject({ result: 'recorded', id: expect.not.stringMatching(lostId) });
});

test('createOnce reports a conflict if its recorded transfer is another payment', async () => {
  const { payments, sandbox, clock, run, journal } = setup();
  const { id } = await run(payments.transfers.createOnce(input));
  // Another reference of the journal, which the platform has under the same id after a reset.
  const other = { ...input, description: 'payroll-2026-11-employee-0018' };
  await run(payments.transfers.createOnce(other));
  const reset = new PaymentsClient({
    ...sandbox.clientOptions,
    clock,
    journal,
    fetch: async (request) => {
      const body = (await (await sandbox.fetch(request)).json()) as { id?: string };
      return Response.json(body.id === id ? { ...body, description: other.description } : body);
    },
  });
  const error = await inDoubtErrorOf(run(reset.transfers.createOnce(input)));
  expect(error).toMatchObject({ reason: 'conflict', retryable: false });
  expect(error.message).toContain('restarted without --state');
  expect(error.message).not.toContain('another reference');
  const { unpaid } = await run(reset.transfers.createAllOnce([input]));
  expect(unpaid).toMatchObject([{ result: 'in_doubt', error: { reason: 'conflict' } }]);
});

/** A payment of which the journal keeps only the reference and the transfer. */
async function dropTerms() {
  const context = setup();
  const { journal, clock, run, pay, payments } = context;
  await pay();
  clock.jump(60 * minute);
  const prune = () => journal.prune?.({ paidBefore: new Date(clock.now()), keepReferences: true });
  expect(await prune()).toBe(1);
  const batch = async (changes: object = {}) => {
    const inputs = [{ ...input, description: 'first' }, { ...input, ...changes } as OnceInput];
    return (await run(payments.transfers.createAllOnce(inputs))).counts;
  };
  const entry = () => journal.read(input.description);
  return { ...context, prune, batch, entry };
}

describe('a paid entry whose terms prune() has removed', () => {
  test('counts as paid for createOnce, a batch and reconcileAll', async () => {
    const { pay, batch, made, prune, entry, run, payments } = await dropTerms();
    expect(await pay()).toMatchObject({ result: 'recorded', amount: input.amount });
    expect(await batch()).toMatchObject({ created: 1, recorded: 1 });
    expect(await batch()).toMatchObject({ created: 0, recorded: 2 });
    expect(made()).toHaveLength(1);
    expect(await prune()).toBe(0);
    expect(await entry()).toMatchObject({
      state: 'paid',
      input: { description: expect.anything() },
    });
    const { totals } = await run(payments.transfers.reconcileAll([input]));
    expect(totals).toMatchObject({ missing: { count: 0 } });
  });

  test.each([
    { amount: '12.51' },
    { currency: 'EURC' },
    { sourceAccountId: 'acc_000003' },
    { destinationAccountId: 'acc_000003' },
    { destinationAccountId: undefined, counterpartyId: 'cpty_000001' },
  ])("causes a conflict if the caller's terms are different: %o", async (changes) => {
    const { payments, run, batch, sandbox } = await dropTerms();
    const other = { ...input, ...changes } as OnceInput;
    const error = await inDoubtErrorOf(run(payments.transfers.createOnce(other)));
    expect(error).toMatchObject({ reason: 'conflict', retryable: false });
    expect(error.message).toMatch(/made with other terms \(txfr_.*\)\.\n.*terms of its first call/);
    // A batch does not read every recorded transfer, but this one.
    expect(await batch()).toMatchObject({ created: 1, recorded: 1 });
    expect(await batch(changes)).toMatchObject({ recorded: 1, inDoubt: 1 });
    expect(sandbox.transfers.list()).toHaveLength(2);
  });

  test('is unreadable without its terms if its state is not_paid', async () => {
    const { journal, entry, pay, made } = await dropTerms();
    const paid = await entry();
    const open = { ...paid, state: 'not_paid', resolvedAt: 1 } as never;
    await journal.swap(input.description, paid, open);
    expect(await inDoubtErrorOf(pay())).toMatchObject({ reason: 'journal' });
    expect(made()).toHaveLength(1);
  });

  /** An operator has recorded a wrong transfer, and prune has dropped the terms since. */
  const recordWrong = async () => {
    const context = setup();
    const { sandbox, journal, payments, run, clock, leaveInDoubt } = context;
    await leaveInDoubt('before_commit');
    const wrong = sandbox.transfers.create({ ...input, description: 'rent' });
    clock.jump(60 * minute);
    const decide = (verdict: string, client = payments) =>
      run(client.transfers.decide(input.description, verdict, { force: true }));
    await decide(wrong.id);
    clock.jump(60 * minute);
    await journal.prune?.({ paidBefore: new Date(clock.now()), keepReferences: true });
    const entry = () => journal.read(input.description);
    expect((await entry())?.input).toEqual({ description: input.description });
    return { ...context, decide, entry, wrong };
  };

  test('can be decided not_paid with the terms of its transfer', async () => {
    const { decide, entry, pay, made } = await recordWrong();
    await decide('not_paid');
    expect(await entry()).toMatchObject({ state: 'not_paid', input });
    expect(await pay()).toMatchObject({ result: 'created' });
    expect(made()).toHaveLength(1);
  });

  test('rejects the decision for a transfer with other terms', async () => {
    const { decide, entry, sandbox } = await recordWrong();
    const { id } = sandbox.transfers.create({ ...input, amount: '1.00', description: 'by hand' });
    expect(await inDoubtErrorOf(decide(id))).toMatchObject({ reason: 'conflict' });
    const { id: right } = sandbox.transfers.create({ ...input, description: 'by hand, too' });
    await decide(right);
    expect(await entry()).toMatchObject({ transferId: right, input });
  });

  test('rejects a decision if its recorded transfer is lost', async () => {
    const { decide, payments, entry, wrong, sandbox } = await recordWrong();
    const fetch = async (request: Request) =>
      request.url.endsWith(wrong.id)
        ? Response.json({ error: 'None.', code: 'transfer_not_found' }, { status: 404 })
        : sandbox.fetch(request);
    const error = await inDoubtErrorOf(decide('not_paid', payments.withOptions({ fetch })));
    expect(error).toMatchObject({ reason: 'conflict' });
    expect(error.message).toContain('does not show them here, so no search can be made');
    expect(await entry()).toMatchObject({ state: 'paid' });
  });

  test.each(['hidden terms', 'another platform'])(
    'rejects the decision not_paid because of %s',
    async (why) => {
      const { decide, entry, payments, sandbox } = await recordWrong();
      const { baseUrl } = payments.toJSON();
      const fetch = async (request: Request) => {
        const url = request.url.replace('https://moved.invalid/v0', baseUrl);
        const body = (await (await sandbox.fetch(new Request(url, request))).json()) as object;
        return Response.json(why === 'hidden terms' ? { ...body, amount: undefined } : body);
      };
      const client =
        why === 'hidden terms'
          ? payments.withOptions({ fetch })
          : payments.withOptions({ fetch, baseUrl: 'https://moved.invalid/v0' });
      const error = await inDoubtErrorOf(decide('not_paid', client));
      expect(error).toMatchObject({ reason: 'conflict' });
      expect(error.message).toContain('has dropped the terms of this payment');
      expect(await entry()).toMatchObject({ state: 'paid' });
    },
  );

  test('rejects the decision not_paid while its transfer is listed', async () => {
    const { payments, run, entry } = await dropTerms();
    const verdict = payments.transfers.decide(input.description, 'not_paid', { force: true });
    expect((await inDoubtErrorOf(run(verdict))).message).toContain('what may be the payment');
    expect(await entry()).toMatchObject({ state: 'paid' });
  });
});

test.each(['paid by card', 'PAYROLL-2026-11-EMPLOYEE-0017', null, 'payroll-2026-11-employee-9999'])(
  'createOnce accepts its recorded transfer under the description %j',
  async (description) => {
    const { sandbox, clock, run } = setup();
    const options = { ...sandbox.clientOptions, clock, journal: memoryJournal() };
    const { transfers } = new PaymentsClient({
      ...options,
      fetch: async (request) => {
        const body = (await (await sandbox.fetch(request)).json()) as object;
        const isRead = request.method === 'GET';
        return Response.json(isRead ? { ...body, description } : body, { status: 200 });
      },
    });
    expect(await run(transfers.createOnce(input))).toMatchObject({ result: 'created' });
    expect(await run(transfers.createOnce(input))).toMatchObject({ result: 'recorded' });
  },
);
