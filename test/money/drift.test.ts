import {
  InvalidResponseError,
  PaymentInDoubtError,
  PaymentsClient,
  WaitError,
} from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import { clientOf, failureOf, respond } from '../support/clients.ts';
import {
  bookInvoice as input,
  fixedTimes,
  newTransfer,
  page,
  transfer,
  transferNumber,
} from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { runDrift } from './drifting-platform.ts';
import { createAccounts } from '../support/platform.ts';

// A listed transfer that lacks a field may be the payment, so the SDK never excludes it.

const oddValues = [undefined, null, 7, {}, [input], ''];

/** A sandbox, and a client with a journal that receives its responses with changes. */
function setup(change: (record: Record<string, unknown>) => object) {
  const clock = new VirtualClock(Date.UTC(2026, 0, 15, 8));
  const sandbox = new Sandbox({ clock: () => clock.now() });
  createAccounts(sandbox);
  const journal = memoryJournal({ now: () => clock.now() });
  const payments = new PaymentsClient({
    ...sandbox.clientOptions,
    ...fixedTimes,
    clock,
    journal,
    validation: 'report',
    fetch: async (request) => {
      const response = await sandbox.fetch(request);
      if (!response.ok) return response;
      const body = (await response.json()) as Record<string, unknown>;
      const { data } = body;
      const changedBody = Array.isArray(data) ? { ...body, data: data.map(change) } : change(body);
      return Response.json(changedBody, { status: response.status });
    },
  });
  /** Leaves the claim of a process that has died, after its request took effect or before. */
  const die = async (when: 'before_commit' | 'after_commit'): Promise<void> => {
    sandbox.faults.add({ operation: 'transfers.create', fault: { kind: 'reset', when } });
    sandbox.faults.add({
      operation: 'transfers.list',
      times: 3,
      fault: { kind: 'status', status: 503 },
    });
    const call = clock.runTimersDuring(payments.transfers.createOnce(input));
    expect(await failureOf(call)).toMatchObject({ reason: 'in_doubt' });
    sandbox.faults.clear();
  };
  const made = () => sandbox.transfers.list().filter(({ description }) => description !== 'old');
  return { clock, sandbox, payments, journal, die, made };
}

const identifying = [
  'id',
  'sourceAccountId',
  'destinationAccountId',
  'amount',
  'currency',
  'description',
];

test.each(identifying)('createOnce never pays again if the list has an odd %s', async (field) => {
  for (const value of oddValues) {
    let isOdd = true;
    const { clock, payments, die, made } = setup((record) =>
      isOdd && 'amount' in record ? { ...record, [field]: value } : record,
    );
    await die('after_commit');
    // No request can still take effect, so that a payment that is not found would be sent again.
    await clock.advance(1_200_000);
    for (let call = 0; call < 2; call += 1) {
      const error = await failureOf(payments.transfers.createOnce(input), PaymentInDoubtError);
      expect(error).toMatchObject({ reason: 'ambiguous', retryable: false });
    }
    expect(made()).toHaveLength(1);
    isOdd = false;
    expect(await payments.transfers.createOnce(input)).toMatchObject({ id: made()[0]?.id });
    expect(made()).toHaveLength(1);
  }
});

test.each(['status', 'type', 'direction', 'createdAt'])(
  'createOnce finds a payment listed with an odd %s',
  async (field) => {
    for (const value of oddValues) {
      const { payments, die, made } = setup((record) => ({ ...record, [field]: value }));
      await die('after_commit');
      const { id } = await payments.transfers.createOnce(input);
      expect(made().map((transfer) => transfer.id)).toEqual([id]);
      // By now the payment is recorded, so the call reads the transfer by its id.
      expect(await payments.transfers.createOnce(input)).toMatchObject({ id });
    }
  },
);

test.each([...identifying, 'createdAt', 'status', 'type', 'direction'])(
  'createOnce pays despite older listed transfers with an odd %s',
  async (field) => {
    for (const value of oddValues) {
      const { clock, sandbox, payments, die, made } = setup((record) =>
        record['description'] === 'old' ? { ...record, [field]: value } : record,
      );
      for (const amount of ['1.00', '2.00']) {
        sandbox.transfers.create({ ...input, amount, description: 'old' });
      }
      await clock.advance(600_000);
      await die('before_commit');
      await clock.advance(1_200_000);
      const { id } = await payments.transfers.createOnce(input);
      expect(made().map((transfer) => transfer.id)).toEqual([id]);
    }
  },
);

test.each([...identifying, 'createdAt'])(
  'reconcile returns ambiguous if a listed transfer has an odd %s',
  async (field) => {
    for (const value of oddValues) {
      const described = { ...newTransfer, description: 'invoice 4711' };
      const odd = { ...transfer, description: 'invoice 4711', [field]: value };
      const items = [transferNumber(2), { ...transferNumber(3), direction: value }, odd].map(
        (item, at) => (at < 2 ? { ...item, amount: '99', description: 'rent' } : item),
      );
      const { payments } = clientOf(() => Response.json(page(items)));
      const since = '2025-12-31T23:59:59Z';
      const result = await payments.transfers.reconcile(described, { since });
      const candidate: unknown = JSON.parse(JSON.stringify(odd));
      expect(result).toEqual({ result: 'ambiguous', candidates: [candidate] });
    }
  },
);

test('with strict validation reconcile rejects as unknown after a null field', async () => {
  const { payments } = clientOf(() => Response.json(page([{ ...transfer, direction: null }])), {
    validation: 'strict',
  });
  const error = await failureOf(payments.transfers.reconcile(newTransfer));
  expect(error).toMatchObject({ name: 'InvalidResponseError', outcome: 'unknown' });
});

test('waitFor continues after a response with an odd status or id', async () => {
  const clock = new VirtualClock();
  const bodies = [
    { ...transfer, status: undefined },
    { ...transfer, status: null, direction: undefined },
    { ...transfer, id: undefined },
    { ...transfer, amount: 12.5 },
    { ...transfer, status: 7 },
    { ...transfer, status: 'completed', createdAt: null },
  ];
  const { payments, requests } = clientOf((_, __, count) => respond(200, bodies[count - 1]), {
    clock,
  });
  const call = payments.transfers.waitFor('txfr_1');
  expect(await clock.runTimersDuring(call)).toMatchObject({ status: 'completed' });
  expect(requests).toHaveLength(6);
});

test('waitFor rejects as unknown if each response lacks status or id', async () => {
  const clock = new VirtualClock();
  for (const [body, problem] of [
    [{ ...transfer, status: null }, 'it had no status'],
    [{ ...transfer, id: null }, 'could not be read 5 times in a row'],
  ] as const) {
    const { payments } = clientOf(() => respond(200, body), { clock });
    const call = clock.runTimersDuring(payments.transfers.waitFor('txfr_1', { timeout: 60_000 }));
    const error = await failureOf(call, WaitError);
    expect(error).toMatchObject({ reason: 'timeout', outcome: 'unknown', retryable: true });
    expect(error.message).toContain(problem);
    expect(error.message).toContain('This does not mean that it failed');
  }
});

test('createOnce does not repeat a recorded payment, whatever field is odd', async () => {
  let change = (record: Record<string, unknown>): object => record;
  const { payments, made } = setup((record) => change(record));
  const { id } = await payments.transfers.createOnce(input);
  for (const field of [...identifying.slice(1), 'createdAt', 'status', 'type', 'direction']) {
    change = (record) => ({ ...record, [field]: undefined });
    expect(await payments.transfers.createOnce(input)).toMatchObject({ id });
  }
  for (const changes of [{ id: null }, { amount: 12.5 }]) {
    change = (record) => ({ ...record, ...changes });
    const error = await failureOf(payments.transfers.createOnce(input), InvalidResponseError);
    expect(error).toMatchObject({ outcome: 'unknown', retryable: true });
    expect(error.message).toContain(`The payment was made (${id}), but could not be read`);
  }
  expect(made()).toHaveLength(1);
});

test("createOnce records a payment if only the response's id is valid", async () => {
  const { payments, journal, made } = setup(({ id }) => ({ id, status: 7, createdAt: null }));
  const { id } = await payments.transfers.createOnce(input);
  expect(await journal.read(input.description)).toMatchObject({ state: 'paid', transferId: id });
  expect(made()).toHaveLength(1);
});

test('createOnce pays once under random drift, and every payment ends', async () => {
  const { violations, payments, ambiguous } = await runDrift(16, 41);
  expect(violations).toEqual([]);
  expect(payments).toBeGreaterThan(50);
  expect(ambiguous).toBeGreaterThan(5);
});
