import { NotFoundError, PaymentsClient } from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { expect, test } from 'vitest';
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

test('a recorded transfer that the platform does not know names both causes and the way out', async () => {
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

test('an operator ends a payment whose recorded transfer the platform has lost, and it is paid again', async () => {
  const { pay, payments, run, clock, lostId } = await loseTransfer();
  clock.jump(60 * minute);
  await run(payments.transfers.decide(input.description, 'not_paid', { force: true }));
  expect(await pay()).toMatchObject({ result: 'created' });
  expect(await pay()).toMatchObject({ result: 'recorded', id: expect.not.stringMatching(lostId) });
});

test('a recorded transfer that is another payment of the journal is a conflict', async () => {
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

test.each(['paid by card', 'PAYROLL-2026-11-EMPLOYEE-0017', null, 'payroll-2026-11-employee-9999'])(
  'a recorded transfer that is shown as %j is the payment, as no other payment has this reference',
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
