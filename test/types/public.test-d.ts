import {
  type httpStatusOf,
  isApiError,
  isOutcomeUnknown,
  PaymentsClient,
  ValidationError,
  WaitError,
  type Account,
  type ApiCall,
  type ApiError,
  type BatchResult,
  type ConnectionError,
  type EntityCreated,
  type Integer,
  type InvalidResponseError,
  type OffsetPage,
  type OffsetPager,
  type OnceInput,
  type OnceTerms,
  type Page,
  type Pager,
  type PaginationError,
  type PaymentInDoubtError,
  type ReconciledPayment,
  type ReconciledRow,
  type TimeoutError,
  type Transaction,
  type Transfer,
  type TransferCreated,
  type TransferListQuery,
} from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { TransferSchema } from 'payments-platform-sdk/schemas';
import { expect, expectTypeOf, test } from 'vitest';
import type { WithResponse } from '../../src/calls/pipeline.ts';

// Lines that must not compile are marked, and tsc fails if one of them compiles. `npm test` also runs the calls, so
// that the run-time check agrees with the type.

const payments = new PaymentsClient(new Sandbox().clientOptions);
const transfer = {
  sourceAccountId: 'acc_1',
  destinationAccountId: 'acc_2',
  amount: '1.00',
};

const refused = async (call: PromiseLike<unknown>) => {
  await expect(call).rejects.toBeInstanceOf(ValidationError);
};

test('an id is a string, and an id of another kind is rejected', async () => {
  expectTypeOf<Transfer['id']>().toEqualTypeOf<string>();
  expectTypeOf<Transfer['sourceAccountId']>().toEqualTypeOf<string>();
  await refused(payments.transfers.get('acc_1'));
  await refused(payments.accounts.get('1'));
  await refused(payments.ibans.list({ accountId: 'ent_1' }));
  // @ts-expect-error: a number
  await refused(payments.transfers.get(1));
});

/** A row as the driver of a database types it. */
interface SalaryRow {
  readonly id: number;
  readonly account: string;
  readonly payee: string;
  readonly amount: string;
}

test('rows of a database are inputs of creations without a cast', async () => {
  const rows: SalaryRow[] = [{ id: 7, account: 'acc_1', payee: '1', amount: '1.00' }];
  const inputs = rows.map((row) => ({
    sourceAccountId: row.account,
    counterpartyId: row.payee,
    amount: row.amount,
    description: `salary ${row.id}`,
  }));
  for (const input of inputs) {
    await refused(payments.transfers.create(input));
    await refused(payments.transfers.createOnce(input, { journal: memoryJournal() }));
  }
  expectTypeOf(inputs).toExtend<Parameters<typeof payments.transfers.createAllOnce>[0]>();
});

test('an amount that is a number does not compile, and is rejected', async () => {
  // @ts-expect-error: 0.1 + 0.2
  await refused(payments.transfers.create({ ...transfer, amount: 0.3 }));
});

test('a transfer with two destinations or none does not compile', async () => {
  // @ts-expect-error: both
  await refused(payments.transfers.create({ ...transfer, counterpartyId: 'cpty_1' }));
  // @ts-expect-error: none
  await refused(payments.transfers.create({ sourceAccountId: 'acc_1', amount: '1.00' }));
});

test('a found or recorded result of createOnce shows the amount', async () => {
  const sandbox = seedDemo(new Sandbox());
  const { transfers } = new PaymentsClient({ ...sandbox.clientOptions, journal: memoryJournal() });
  const input: OnceInput = {
    sourceAccountId: 'acc_000001',
    counterpartyId: 'cpty_000001',
    amount: '1.00',
    description: 'rent',
  };
  const made = await transfers.createOnce(input);
  expectTypeOf(made.createdAt).toEqualTypeOf<string>();
  // @ts-expect-error: the response to a creation shows no amount
  expect(made.amount).toBeUndefined();
  const recorded = await transfers.createOnce(input);
  if (recorded.result !== 'recorded') throw new Error(recorded.result);
  expectTypeOf(recorded.amount).toEqualTypeOf<string>();
  expect(recorded.amount).toBe('1.00');
  const reset = { kind: 'reset', when: 'after_commit' } as const;
  sandbox.faults.add({ operation: 'transfers.create', fault: reset });
  const found = await transfers.createOnce({ ...input, amount: '2.00', description: 'fee' });
  if (found.result === 'created') throw new Error(found.result);
  expectTypeOf(found.sourceAccountId).toEqualTypeOf<string>();
  expect(found).toMatchObject({ amount: '2.00', sourceAccountId: 'acc_000001' });
});

test('two comparisons of result narrow a BatchResult', () => {
  const read = (row: BatchResult): string => {
    if (row.result === 'not_paid' || row.result === 'in_doubt') return row.error.message;
    if (row.result === 'failed' || row.result === 'found') return row.transferId;
    return row.transferId;
  };
  const input: OnceInput = { ...transfer, description: 'rent' };
  const row = { reference: 'rent', input, transferId: 'txfr_1' };
  expect(read({ ...row, result: 'created' })).toBe('txfr_1');
});

test('TypeScript knows that a OnceInput without a counterpartyId has a destinationAccountId', () => {
  const read = (input: OnceInput): string => input.counterpartyId ?? input.destinationAccountId;
  expect(read({ ...transfer, description: 'rent' })).toBe('acc_2');
});

test('a function can add the reference to OnceTerms and return a OnceInput', () => {
  const addReference = (terms: OnceTerms, invoice: string): OnceInput => ({
    ...terms,
    description: `invoice ${invoice}`,
  });
  const book = { sourceAccountId: 'acc_1', destinationAccountId: 'acc_2', amount: '1.00' };
  expect(addReference(book, '7')).toEqual({ ...book, description: 'invoice 7' });
  const payout = { sourceAccountId: 'acc_1', counterpartyId: 'cpty_1', amount: '1.00' };
  expect(addReference({ ...payout, currency: 'USDC' }, '8').counterpartyId).toBe('cpty_1');
  // @ts-expect-error: no destination
  addReference({ sourceAccountId: 'acc_1', amount: '1.00' }, '9');
  // @ts-expect-error: two destinations
  addReference({ ...book, counterpartyId: 'cpty_1' }, '9');
  // @ts-expect-error: the reference is added
  addReference({ ...book, description: 'mine' }, '9');
});

test('a misspelt field of an input does not compile, and is rejected', async () => {
  // @ts-expect-error: desciption
  await refused(payments.transfers.create({ ...transfer, desciption: 'rent' }));
  // @ts-expect-error: Name
  await refused(payments.accounts.update('acc_1', { Name: 'x' }));
  // @ts-expect-error: timeOut
  await refused(payments.accounts.get('acc_1', { timeOut: 1 }));
  // @ts-expect-error: max is not optional
  await refused(payments.transfers.list().toArray({}));
});

test('an undocumented chain does not compile, and is rejected', async () => {
  // @ts-expect-error: solana
  await refused(payments.settings.update({ defaultChain: 'solana' }));
});

test('a misspelt field of a response does not compile', () => {
  const read = (one: Transfer) =>
    // @ts-expect-error: ammount; unknown fields are kept at run time, and are not in the type
    one.ammount;
  expect(read({} as Transfer)).toBeUndefined();
});

test('a switch over all statuses of a Transfer compiles', () => {
  const say = ({ status }: Transfer | TransferCreated): string => {
    switch (status) {
      case 'pending':
      case 'processing':
        return 'on its way';
      case 'completed':
        return 'there';
      case 'failed':
      case 'cancelled':
        return 'back';
      default:
        // The platform may add a status, which no type can name.
        return status satisfies never;
    }
  };
  expect(say({ status: 'completed' } as Transfer)).toBe('there');
});

test('a misspelt status does not compile', () => {
  const read = (one: Transfer | TransferCreated) => {
    // @ts-expect-error: complete
    if (one.status === 'complete') return 'never';
    if (one.status !== 'completed') return 'other';
    expectTypeOf(one.status).toEqualTypeOf<'completed'>();
    return one.status;
  };
  expect(read({ status: 'completed' } as Transfer)).toBe('completed');
  expect(read({ status: 'pending' } as TransferCreated)).toBe('other');
});

test('a switch over the results of a batch or reconcileAll compiles', () => {
  const sayPaid = (row: BatchResult): string => {
    switch (row.result) {
      case 'created':
      case 'found':
      case 'recorded':
      case 'failed':
        return row.transferId;
      case 'not_paid':
      case 'in_doubt':
        return row.error.message;
      default:
        return row satisfies never;
    }
  };
  const readId = (row: BatchResult): string => {
    if (row.result === 'not_paid' || row.result === 'in_doubt') return row.error.message;
    return row.transferId;
  };
  const sayBooked = (row: ReconciledRow): string => {
    switch (row.result) {
      case 'completed':
      case 'failed':
      case 'pending':
      case 'ambiguous':
      case 'missing':
        return row.reference;
      case 'unexpected':
        return row.transfer.id;
      default:
        return row satisfies never;
    }
  };
  expect([sayPaid, readId, sayBooked].every((say) => typeof say === 'function')).toBe(true);
});

test('calls, lists and pages have their documented types', () => {
  expectTypeOf(payments.transfers.create).returns.toEqualTypeOf<ApiCall<TransferCreated>>();
  expectTypeOf(payments.entities.create).returns.toEqualTypeOf<ApiCall<EntityCreated>>();
  expectTypeOf(payments.ibans.delete).returns.toEqualTypeOf<ApiCall<void>>();
  expectTypeOf(payments.transfers.list).returns.toEqualTypeOf<Pager<Transfer>>();
  expectTypeOf(payments.transactions.list).returns.toEqualTypeOf<OffsetPager<Transaction>>();
  expectTypeOf<ReturnType<Pager<Account>['then']>>().toExtend<Promise<unknown>>();
  expectTypeOf<Awaited<Pager<Account>>>().toEqualTypeOf<Page<Account>>();
  expectTypeOf<Awaited<OffsetPager<Transaction>>>().toEqualTypeOf<OffsetPage<Transaction>>();
  expectTypeOf<ReturnType<ApiCall<Account>['withResponse']>>().toEqualTypeOf<
    Promise<WithResponse<Account>>
  >();
  expectTypeOf<Transaction['startedAtBlock']>().toEqualTypeOf<Integer>();
  expectTypeOf<Integer>().toEqualTypeOf<number | bigint>();
});

test('guards such as isApiError and instanceof narrow an error', () => {
  const read = (error: unknown): unknown => {
    if (isOutcomeUnknown(error)) expectTypeOf(error.outcome).toEqualTypeOf<'unknown'>();
    if (isApiError(error)) return error.status;
    if (error instanceof WaitError) {
      expectTypeOf(error.last).toEqualTypeOf<Transfer | undefined>();
      return error.last;
    }
    return undefined;
  };
  expect(read(new Error('no'))).toBeUndefined();
});

test('payments.request has the result type of its schema, otherwise unknown', async () => {
  const typed = () =>
    payments.request({ method: 'GET', path: '/x', api: 'versioned', schema: TransferSchema });
  const untyped = () => payments.request({ method: 'GET', path: '/x', api: 'versioned' });
  expectTypeOf(typed).returns.toEqualTypeOf<ApiCall<Transfer>>();
  expectTypeOf(untyped).returns.toEqualTypeOf<ApiCall<unknown>>();
  // @ts-expect-error: which API takes which credential, so it is required
  await refused(payments.request({ method: 'GET', path: '/x' }));
});

// Two functions have the same type only if what their results depend on is identical, `readonly` included.
type Probe<X> = <T>(value: T) => T extends X ? 1 : 2;
type Same<One, Other> = Probe<One> extends Probe<Other> ? true : false;
type Leaf = string | number | bigint | boolean | null | undefined | Function | Response | Error;
/** The paths of the fields and lists that can be changed. */
type Mutable<T, Path extends string> = T extends Leaf
  ? never
  : T extends readonly (infer Item)[]
    ? Mutable<Item, `${Path}[]`> | (T extends unknown[] ? `${Path}[]` : never)
    : {
        [Field in keyof T & string]: T[Field] extends Function
          ? never
          : Same<Pick<T, Field>, Readonly<Pick<T, Field>>> extends true
            ? Mutable<T[Field], `${Path}.${Field}`>
            : `${Path}.${Field}`;
      }[keyof T & string];
/** What the methods of a resource resolve to. */
type Results<Resource> = {
  readonly [Method in keyof Resource]: Resource[Method] extends (...args: never) => infer Returned
    ? Awaited<Returned>
    : never;
};
type AllResults = {
  readonly [Resource in keyof PaymentsClient]: Results<PaymentsClient[Resource]>;
};
type AnyError =
  | ApiError
  | ConnectionError
  | InvalidResponseError
  | PaginationError
  | PaymentInDoubtError
  | TimeoutError
  | ValidationError
  | WaitError;
type FieldsOf<E extends Error> = E extends unknown ? Omit<E, keyof Error> : never;

type RowOf<Rows> = Rows extends AsyncIterable<infer Row> ? Row : never;
type RowsOf<Method extends keyof PaymentsClient['transfers']> = RowOf<
  ReturnType<PaymentsClient['transfers'][Method]>
>;

test('results of waitForAll and paid results of createAllOnce have a reference', () => {
  expectTypeOf<RowsOf<'waitForAll'>>().toEqualTypeOf<ReconciledPayment>();
  type Summary = Awaited<ReturnType<PaymentsClient['transfers']['waitForAll']>>;
  expectTypeOf<Summary['open'][number]>().toEqualTypeOf<ReconciledPayment>();
  expectTypeOf<ReconciledPayment['reference']>().toEqualTypeOf<string>();
  // The rows of reconcileAll include transfers that belong to no payment.
  expectTypeOf<RowsOf<'reconcileAll'>>().toEqualTypeOf<ReconciledRow>();
  const describe = ({ reference, result, error }: RowsOf<'createAllOnce'>) => {
    if (error === undefined) expectTypeOf(reference).toEqualTypeOf<string>();
    if (result === 'recorded') expectTypeOf(reference).toEqualTypeOf<string>();
  };
  expect(describe).toBeTypeOf('function');
});

/** What Prisma accepts for a column of JSON. */
type PrismaJson =
  | string
  | number
  | boolean
  | { readonly [name in string]?: PrismaJson | null }
  | ReadonlyArray<PrismaJson | null>;

test('toJSON, httpStatusOf and nextCursor fit Prisma, Hono and the next query', () => {
  expectTypeOf<ReturnType<ValidationError['toJSON']>>().toExtend<PrismaJson>();
  // Hono accepts the numbers of statuses with a body.
  expectTypeOf<ReturnType<typeof httpStatusOf>>().toExtend<
    202 | 400 | 403 | 404 | 409 | 422 | 500 | 502 | 503 | 504
  >();
  expectTypeOf<Page<Transfer>['nextCursor']>().toExtend<TransferListQuery['cursor']>();
});

test('every field of results and errors is readonly', () => {
  expectTypeOf<Mutable<AllResults, ''>>().toEqualTypeOf<never>();
  expectTypeOf<Mutable<FieldsOf<AnyError>, ''>>().toEqualTypeOf<never>();
  // The caller's own input, and the array of a list in the sandbox, can.
  expectTypeOf<Mutable<Omit<BatchResult, 'input'>, ''>>().toEqualTypeOf<never>();
  expectTypeOf<Mutable<Results<Sandbox['transfers']>, ''>>().toEqualTypeOf<'.list[]'>();
});
