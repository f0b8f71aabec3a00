import { PaymentsClient, type OnceInput } from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { describe, expect, test } from 'vitest';
import { clientOf, jwt, respond } from '../support/clients.ts';

/*
 * An input may be a DTO, an entity of an ORM or the row object that a database cursor reuses. The
 * caller may change it right after the call, and an accessor may compute another value each time.
 * So if the SDK read an input twice, the SDK could check one payment and send another.
 */

type Fields = Readonly<Record<string, unknown>>;

/** Accessors that return a field once, and another value at each later read. */
function readableOnce(fields: Fields): PropertyDescriptorMap {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      let reads = 0;
      const get = (): unknown => ((reads += 1) === 1 ? value : `read ${reads} of ${name}`);
      return [name, { get, enumerable: true, configurable: true }];
    }),
  );
}

const hidden = (descriptors: PropertyDescriptorMap): PropertyDescriptorMap =>
  Object.fromEntries(
    Object.entries(descriptors).map(([name, each]) => [name, { ...each, enumerable: false }]),
  );

/** A DTO with fields that are assigned, and with a method, which is no field of the input. */
class Payout {
  describe(): string {
    return JSON.stringify(this);
  }
}

const kinds: Readonly<Record<string, (fields: Fields) => object>> = {
  'a plain object': (fields) => ({ ...fields }),
  'an instance of a class': (fields) => Object.assign(new Payout(), fields),
  'an object with defaults in its prototype': (fields) => Object.create({ ...fields }) as object,
  'a plain object with accessors': (fields) => Object.defineProperties({}, readableOnce(fields)),
  'an instance of a class with accessors': (fields) =>
    Object.create(Object.defineProperties({}, hidden(readableOnce(fields)))) as object,
  'a frozen instance of a class with accessors': (fields) =>
    Object.freeze(
      Object.create(Object.defineProperties({}, hidden(readableOnce(fields)))),
    ) as object,
  'a Proxy of a class': (fields) => {
    const once = Object.defineProperties({}, readableOnce(fields));
    return new Proxy(new Payout(), {
      get: (_, name) => Reflect.get(once, name) as unknown,
      has: (_, name) => Reflect.has(once, name),
      ownKeys: () => Reflect.ownKeys(once),
      getOwnPropertyDescriptor: (_, name) => ({
        ...Object.getOwnPropertyDescriptor(once, name),
        configurable: true,
      }),
    });
  },
};

/** Overwrites every field that can be written, as a caller does who reuses the object. */
function reuse(input: object, fields: Fields): void {
  for (const name of Object.keys(fields)) Reflect.set(input, name, 'of the next call');
}

const payment = {
  sourceAccountId: 'acc_000001',
  counterpartyId: 'cpty_000001',
  amount: '20.50',
  description: 'payroll-0017',
};

test.each(['reconcileAll', 'waitForAll'] as const)(
  '%s uses the original rows if the caller replaces them meanwhile',
  async (method) => {
    const sandbox = seedDemo(new Sandbox({ autoAdvance: 1 }));
    const { transfers } = new PaymentsClient({
      ...sandbox.clientOptions,
      journal: memoryJournal(),
    });
    const numbers = ['00171', '00172', '00173'];
    const rows = numbers.map((number): OnceInput => ({ ...payment, description: `pay-${number}` }));
    await transfers.createAllOnce(rows);
    const expected = rows.map(({ description }) => description);
    const options = method === 'waitForAll' ? { interval: 5 } : {};
    const reading = transfers[method](rows, options)[Symbol.asyncIterator]();
    const first = reading.next();
    for (const at of rows.keys()) rows[at] = { ...payment, description: `other-${at}-0001` };
    const seen: (string | undefined)[] = [];
    for (let step = await first; step.done !== true; step = await reading.next()) {
      seen.push(step.value.reference);
    }
    expect(seen.toSorted()).toEqual(expected);
  },
);

describe.each(Object.entries(kinds))('if the input is %s', (_, make) => {
  const calls: Readonly<
    Record<
      string,
      readonly [Fields, (payments: PaymentsClient, input: never) => PromiseLike<unknown>]
    >
  > = {
    'transfers.create': [payment, ({ transfers }, input) => transfers.create(input)],
    'entities.create': [
      { email: 'ada@example.com', fullName: 'Ada' },
      ({ entities }, input) => entities.create(input),
    ],
    'accounts.create': [
      { entityId: 'ent_1', name: 'Payroll' },
      ({ accounts }, input) => accounts.create(input),
    ],
    'accounts.update': [
      { name: 'Payroll' },
      ({ accounts }, input) => accounts.update('acc_1', input),
    ],
    'settings.update': [
      { defaultChain: 'base', webhookUrl: 'https://example.com/hook' },
      ({ settings }, input) => settings.update(input),
    ],
    'transactions.list': [
      { address: '0x0a', from: '2026-01-01T00:00:00Z', skip: 3 },
      ({ transactions }, input) => transactions.list(input),
    ],
  };
  test.each(Object.entries(calls))(
    '%s sends the fields as they were when it was called',
    async (_operation, [fields, call]) => {
      const { payments, requests } = clientOf(() => respond(500));
      const input = make(fields);
      const sent = call(payments.withOptions({ maxRetries: 0 }), input as never);
      reuse(input, fields);
      await Promise.resolve(sent).catch(() => undefined);
      expect(requests.map(({ body }) => JSON.parse(body) as unknown)).toEqual([fields]);
    },
  );

  test('transfers.list sends the filters as they were when it was called', async () => {
    const { payments, requests } = clientOf(() => respond(500));
    const fields = { accountId: 'acc_000001', limit: 7 };
    const query = make(fields);
    const list = payments.withOptions({ maxRetries: 0 }).transfers.list(query as never);
    reuse(query, fields);
    await Promise.resolve(list).catch(() => undefined);
    expect(requests[0]?.url).toMatch(/\?limit=7&accountId=acc_000001$/);
  });

  const setup = () => {
    const sandbox = seedDemo(new Sandbox());
    const journal = memoryJournal();
    const authorized: unknown[] = [];
    const payments = new PaymentsClient({
      ...sandbox.clientOptions,
      jwt,
      journal,
      authorize: ({ input }) => authorized.push(input) > 0,
    });
    const listed = () =>
      sandbox.transfers
        .list()
        .filter(({ description }) => description?.startsWith('payroll-0017') === true);
    return { journal, payments, authorized, listed };
  };

  test('createOnce pays the input as it was when it was called', async () => {
    const { journal, payments, authorized, listed } = setup();
    const input = make(payment) as OnceInput;
    const paying = payments.transfers.createOnce(input);
    reuse(input, payment);
    const { id } = await paying;
    expect(authorized).toEqual([payment]);
    expect(await journal.read(payment.description)).toMatchObject({
      state: 'paid',
      input: payment,
    });
    expect(await payments.transfers.createOnce(make(payment) as OnceInput)).toMatchObject({ id });
    expect(listed()).toMatchObject([payment]);
    expect(await payments.transfers.reconcile(make(payment) as OnceInput)).toMatchObject({
      result: 'found',
    });
  });

  test('createAllOnce pays each input as the generator yielded it', async () => {
    const { payments, listed } = setup();
    const references = ['payroll-00171', 'payroll-00172', 'payroll-00173'];
    function* source(): Generator<OnceInput> {
      for (const description of references) {
        const input = make({ ...payment, description }) as OnceInput;
        yield input;
        reuse(input, payment);
      }
    }
    const { counts } = await payments.transfers.createAllOnce(source());
    expect(counts.paid).toBe(3);
    expect(listed().map(({ description }) => description)).toEqual(references);
    const { totals } = await payments.transfers.reconcileAll(source());
    expect(totals.pending.count).toBe(3);
  });

  test('createAllOnce pays the original amounts if inputs change during the batch', async () => {
    const { payments, listed } = setup();
    const references = ['payroll-00171', 'payroll-00172', 'payroll-00173'];
    const inputs = references.map(
      (description) => make({ ...payment, amount: '1.00', description }) as OnceInput,
    );
    const batch = payments.transfers.createAllOnce(inputs, {
      concurrency: 1,
      expect: { count: 3, totals: { USDC: '3' } },
    });
    for await (const { error } of batch) {
      expect(error).toBeUndefined();
      for (const input of inputs) Reflect.set(input, 'amount', '50.00');
    }
    expect(listed().map(({ amount }) => amount)).toEqual(['1.00', '1.00', '1.00']);
  });
});
