import { Readable } from 'node:stream';
import { PaymentsClient, ValidationError, type OnceInput } from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { describe, expect, test } from 'vitest';
import { failureOf } from '../support/clients.ts';

// Inputs that can be read only once. A second loop would find only the rest of the payments, and
// would report the rest as a complete batch or day.

type Inputs = Iterable<OnceInput> | AsyncIterable<OnceInput>;

const salaries = ['0001', '0002', '0003'].map((number): OnceInput => ({
  sourceAccountId: 'acc_000001',
  counterpartyId: 'cpty_000001',
  amount: '1.00',
  description: `payroll-${number}`,
}));

function setup() {
  const sandbox = seedDemo(new Sandbox());
  const payments = new PaymentsClient({ ...sandbox.clientOptions, journal: memoryJournal() });
  return { sandbox, transfers: payments.transfers };
}

type Call = (
  transfers: PaymentsClient['transfers'],
  inputs: Inputs,
) => AsyncIterable<unknown> & PromiseLike<unknown>;

const calls: readonly (readonly [string, Call])[] = [
  ['createAllOnce', (transfers, inputs) => transfers.createAllOnce(inputs)],
  ['reconcileAll', (transfers, inputs) => transfers.reconcileAll(inputs)],
];

async function countRows(loop: AsyncIterable<unknown>): Promise<number> {
  let rows = 0;
  for await (const _ of loop) rows += 1;
  return rows;
}

/** Like a database cursor: each loop gets an iterator, but each row comes only once. */
function createCursor(): AsyncIterable<OnceInput> {
  const rows = [...salaries];
  return {
    async *[Symbol.asyncIterator]() {
      for (let row = rows.shift(); row !== undefined; row = rows.shift()) yield row;
    },
  };
}

const readOnce: readonly (readonly [string, () => Inputs])[] = [
  [
    'a generator',
    () =>
      (function* () {
        yield* salaries;
      })(),
  ],
  [
    'an async generator',
    () =>
      (async function* () {
        yield* salaries;
      })(),
  ],
  ['the iterator of an array', () => salaries.values()],
  ['the iterator of a Map', () => new Map(salaries.entries()).values()],
  ['a stream of Node.js', () => Readable.from(salaries)],
  ['a stream of the web', () => ReadableStream.from(salaries) as AsyncIterable<OnceInput>],
  [
    'an iterable that returns the same generator for every loop',
    () => {
      const iterator = salaries.values();
      return { [Symbol.iterator]: () => iterator };
    },
  ],
];

const readAgain: readonly (readonly [string, () => Inputs])[] = [
  ['an array', () => [...salaries]],
  ['a Set', () => new Set(salaries)],
  [
    'an object with a generator method',
    () => ({
      async *[Symbol.asyncIterator]() {
        yield* salaries;
      },
    }),
  ],
];

describe.each(calls)('the batch method %s', (operation, call) => {
  describe.each([...readOnce, ['a database cursor', createCursor] as const])(
    'with %s as inputs',
    (_, create) => {
      test('rejects a second loop over its result and suggests an array', async () => {
        const { transfers, sandbox } = setup();
        const loop = call(transfers, create());
        expect(await countRows(loop)).toBe(3);
        const before = sandbox.log.length;
        for (const second of [countRows(loop), loop]) {
          const error = await failureOf(second, ValidationError);
          expect(error).toMatchObject({ operation: `transfers.${operation}`, outcome: 'not_sent' });
          expect(error.message).toContain('Pass an array');
          expect(error.stack).toContain('spent-inputs.test.ts');
        }
        expect(sandbox.log).toHaveLength(before);
      });

      test('rejects a second loop even after a break', async () => {
        const { transfers } = setup();
        const loop = call(transfers, create());
        for await (const _ of loop) break;
        await failureOf(countRows(loop), ValidationError);
      });
    },
  );

  test.each(readOnce)('rejects a second loop over %s during the first loop', async (_, create) => {
    const { transfers } = setup();
    const loop = call(transfers, create());
    const [first, second] = await Promise.allSettled([countRows(loop), countRows(loop)]);
    expect(first).toMatchObject({ value: 3 });
    expect(second).toMatchObject({ reason: expect.any(ValidationError) as ValidationError });
  });

  test.each(readOnce)('rejects inputs that an earlier call has used up: %s', async (_, create) => {
    const { transfers } = setup();
    const inputs = create();
    expect(await countRows(transfers.createAllOnce(inputs))).toBe(3);
    await failureOf(countRows(call(transfers, inputs)), ValidationError);
  });

  test.each(readAgain)('reads the inputs again in each loop and call: %s', async (_, create) => {
    const { transfers } = setup();
    const inputs = create();
    const loop = call(transfers, inputs);
    for (const again of [loop, loop, call(transfers, inputs)]) {
      expect(await countRows(again)).toBe(3);
    }
  });

  test('resolves a second await to the same result', async () => {
    const { transfers } = setup();
    const loop = call(transfers, salaries.values());
    expect(await loop).toBe(await loop);
  });

  test('accepts an array or queue that has become empty', async () => {
    const { transfers } = setup();
    const inputs = [...salaries];
    const loop = call(transfers, inputs);
    expect(await countRows(loop)).toBe(3);
    inputs.length = 0;
    expect(await countRows(loop)).toBe(0);
    const queue = createCursor();
    expect(await countRows(call(transfers, queue))).toBe(3);
    expect(await countRows(call(transfers, queue))).toBe(0);
  });
});
