import { inspect, types } from 'node:util';
import fc from 'fast-check';
import * as sdk from 'payments-platform-sdk';
import {
  httpStatusOf,
  isApiError,
  isOutcomeUnknown,
  isPaymentsError,
  PaymentInDoubtError,
  PaymentsClient,
  PaymentsError,
  paymentsErrorFrom,
  type Outcome,
} from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import { failureOf } from '../support/clients.ts';
import { invoice, transfer } from '../support/values.ts';

type ErrorClass = (new (message: string, facts: object) => PaymentsError) & {
  readonly prototype: PaymentsError;
};

const classes = Object.values(sdk).filter(
  (value): value is ErrorClass & typeof value =>
    typeof value === 'function' && Object(value.prototype) instanceof Error,
) as unknown as readonly ErrorClass[];

/** A value for each field that an error class may have. */
const facts = {
  operation: 'transfers.createOnce',
  method: 'POST',
  path: '/transfers',
  startedAt: '2026-11-25T02:00:00.000Z',
  attempts: [{ outcome: 'unknown', status: 503, durationMs: 5, reason: 'status 503' }],
  retryable: true,
  retryAfterMs: 5_000,
  status: 404,
  code: 'not_found',
  requestId: 'req_1',
  headers: { date: 'today' },
  body: '{}',
  details: { field: 'amount' },
  issues: [{ path: 'amount', message: 'missing' }],
  phase: 'headers',
  reason: 'in_doubt',
  reference: 'invoice 4711',
  last: transfer,
  resume: { cursor: 'c', limit: 5, itemsYielded: 5 },
};

/** Copies fields onto an Error as the checkpoint of DBOS does, by serialize-error. */
function copyOntoError({ name, message, stack, code, ...fields }: Record<string, unknown>): Error {
  const error = Object.assign(new Error(), fields);
  for (const [key, value] of Object.entries({ name, message, stack, code })) {
    if (typeof value === 'string') {
      Object.defineProperty(error, key, { value, enumerable: key === 'code' });
    }
  }
  return error;
}

const forms: Readonly<Record<string, (error: PaymentsError) => unknown>> = {
  'toJSON()': (error) => error.toJSON(),
  'JSON.stringify and JSON.parse': (error) => JSON.parse(JSON.stringify(error)),
  'structuredClone of toJSON()': (error) => structuredClone(error.toJSON()),
  'a DBOS checkpoint that copied toJSON() onto an Error': (error) => copyOntoError(error.toJSON()),
  'a DBOS checkpoint that copied the fields onto an Error': (error) =>
    copyOntoError({ ...error, name: error.name, message: error.message, stack: error.stack }),
  'a copy of the fields and the name onto an Error': (error) =>
    Object.assign(new Error(error.message), error, { name: error.name }),
};

test.each(Object.entries(forms))('every error class is restored after %s', (_, serialise) => {
  expect(classes.length).toBeGreaterThanOrEqual(19);
  for (const ErrorClass of classes) {
    for (const outcome of ['not_sent', 'rejected', 'unknown'] satisfies Outcome[]) {
      const error = new ErrorClass('It failed.\nTry again.', { ...facts, outcome });
      const value = serialise(error);
      const restored = paymentsErrorFrom(value);
      expect(value).not.toBeInstanceOf(PaymentsError);
      expect(restored).toBeInstanceOf(ErrorClass);
      expect(restored?.constructor).toBe(ErrorClass);
      expect(restored?.toJSON()).toEqual(error.toJSON());
      expect(isPaymentsError(value)).toBe(true);
      expect(isApiError(value)).toBe(isApiError(error));
      expect(isOutcomeUnknown(value)).toBe(outcome === 'unknown');
      expect(httpStatusOf(value)).toBe(httpStatusOf(error));
    }
  }
});

test('paymentsErrorFrom restores a PaymentInDoubtError from a workflow checkpoint', async () => {
  const sandbox = seedDemo(new Sandbox());
  const payments = new PaymentsClient({ ...sandbox.clientOptions, journal: memoryJournal() });
  const fault = { kind: 'reset', when: 'before_commit' } as const;
  sandbox.faults.add({ operation: 'transfers.create', fault });
  const error = await failureOf(payments.transfers.createOnce(invoice), PaymentInDoubtError);
  const restored = paymentsErrorFrom(copyOntoError(error.toJSON()));
  expect(restored).toBeInstanceOf(PaymentInDoubtError);
  expect(restored).toMatchObject({
    reason: 'in_doubt',
    reference: 'invoice 4711',
    retryAfterMs: error.retryAfterMs,
    retryable: true,
    cause: { name: 'ConnectionError', code: 'ECONNRESET' },
  });
  expect(restored?.cause).toBeInstanceOf(Error);
  expect(restored?.toJSON()).toEqual(error.toJSON());
});

test('paymentsErrorFrom returns the same PaymentsError, or a copy with its stack', () => {
  const error = new PaymentsError('x', { outcome: 'unknown' });
  expect(paymentsErrorFrom(error)).toBe(error);
  const { message, stack, outcome } = error;
  const copy = copyOntoError({ name: error.name, message, stack, outcome });
  expect(paymentsErrorFrom(copy)?.stack).toBe(stack);
});

const inDoubt = new PaymentsError('It may have paid.', {
  outcome: 'unknown',
  operation: 'transfers.create',
});
const wrap = (value: unknown, times: number): unknown =>
  times === 0 ? value : new Error('service failed', { cause: wrap(value, times - 1) });

test.each<[string, unknown]>([
  ['the cause of an error', wrap(inDoubt, 1)],
  ['the fifth cause of an error', wrap(inDoubt, 5)],
  ['an AggregateError', new AggregateError([new Error('x'), inDoubt])],
  ['the AggregateError in the cause of an error', wrap(new AggregateError([inDoubt]), 3)],
  ['the cause of a plain object', { message: 'x', cause: inDoubt }],
  ['the cause of an error of another class', Object.assign(new TypeError('x'), { cause: inDoubt })],
  ['the JSON of the error as a cause', wrap(JSON.parse(JSON.stringify(inDoubt)), 2)],
  ['an error whose cause is itself, beside it', wrapInCycle(inDoubt)],
  ['an error whose cause throws when read', wrapInGetter(inDoubt)],
])('paymentsErrorFrom and the guards find an error in %s', (_, value) => {
  const found = paymentsErrorFrom(value);
  expect(found?.toJSON()).toEqual(inDoubt.toJSON());
  expect([isPaymentsError(value), isOutcomeUnknown(value)]).toEqual([true, true]);
});

function wrapInCycle(error: PaymentsError): Error {
  const cycle: Error & { errors?: unknown[] } = new Error('x');
  cycle.cause = cycle;
  cycle.errors = [cycle, cycle, new Error('y', { cause: cycle }), error];
  return cycle;
}

function wrapInGetter(error: PaymentsError): object {
  return {
    get cause(): never {
      throw new Error('no');
    },
    errors: [error],
  };
}

test('paymentsErrorFrom finds the worst outcome in an AggregateError', () => {
  const errors = (['not_sent', 'unknown', 'rejected'] as const).map(
    (outcome) => new PaymentsError(outcome, { outcome }),
  );
  const all = new AggregateError(errors);
  expect(paymentsErrorFrom(all)).toBe(errors[1]);
  expect(isOutcomeUnknown(all)).toBe(true);
  expect(isApiError(new AggregateError([new sdk.ApiError('x', {} as never)]))).toBe(true);
});

test('paymentsErrorFrom returns a PaymentsError itself, whatever its cause is', () => {
  const veto = new sdk.PaymentVetoedError('No.', { outcome: 'not_sent', cause: inDoubt });
  expect(paymentsErrorFrom(veto)).toBe(veto);
  expect(isOutcomeUnknown(veto)).toBe(false);
});

const revoked = Proxy.revocable([], {});
revoked.revoke();

test.each<[string, unknown]>([
  ['a sixth cause', wrap(inDoubt, 6)],
  ['errors that are a revoked Proxy', { errors: revoked.proxy }],
  ['an error that is its own cause', Object.assign(wrapInCycle(inDoubt), { errors: [] })],
  ['text in place of the errors', { errors: 'unknown', cause: 'unknown' }],
])('paymentsErrorFrom returns undefined for %s', (_, value) => {
  expect(paymentsErrorFrom(value)).toBeUndefined();
  expect([isPaymentsError(value), isOutcomeUnknown(value)]).toEqual([false, false]);
});

test.each<[string, (error: PaymentsError) => unknown]>([
  ['without a name', (error) => ({ ...error })],
  ['as JSON without a name', (error) => JSON.parse(JSON.stringify({ ...error }))],
  ['on an Error', (error) => Object.assign(new Error(error.message), { ...error })],
  ['with the name of an RPC library', (error) => ({ ...error.toJSON(), name: 'RpcError' })],
])('isOutcomeUnknown and paymentsErrorFrom understand a copied error %s', async (_, copy) => {
  const sandbox = seedDemo(new Sandbox());
  const payments = new PaymentsClient({ ...sandbox.clientOptions, journal: memoryJournal() });
  const fault = { kind: 'reset', when: 'before_commit' } as const;
  sandbox.faults.add({ operation: 'transfers.create', fault });
  const calls = {
    unknown: () => payments.transfers.createOnce(invoice),
    rejected: () => payments.transfers.get('txfr_unknown'),
    not_sent: () => payments.transfers.get('no id'),
  };
  for (const [outcome, call] of Object.entries(calls)) {
    const error = await failureOf(call(), PaymentsError);
    const copied = copy(error);
    expect(copied).not.toBeInstanceOf(PaymentsError);
    expect(paymentsErrorFrom(copied)).toBeInstanceOf(error.constructor);
    expect(isApiError(copied)).toBe(outcome === 'rejected');
    expect(isOutcomeUnknown(copied)).toBe(outcome === 'unknown');
    expect(httpStatusOf(copied)).toBe(httpStatusOf(error));
  }
});

const serialised = { name: 'ApiError', message: 'x', outcome: 'unknown' };

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['a number', 5],
  ['a string of JSON', JSON.stringify(serialised)],
  ['an array', [serialised]],
  ['an error class itself', sdk.ApiError],
  ['a structuredClone of the error itself', structuredClone(new sdk.ApiError('x', {} as never))],
  ['an error of another package', Object.assign(new Error('x'), { name: 'ValidationError' })],
  ['the DOMException of a signal', new DOMException('x', 'AbortError')],
  ['JSON of an error without an outcome', { ...serialised, outcome: undefined }],
  ['JSON of an error with the outcome maybe', { ...serialised, outcome: 'maybe' }],
  ['JSON of an error with an outcome in an array', { ...serialised, outcome: ['unknown'] }],
  ['JSON of an error with the name StripeError', { ...serialised, name: 'StripeError' }],
  ['JSON of an error with the name constructor', { ...serialised, name: 'constructor' }],
  ['JSON of an error without a name', { ...serialised, name: undefined }],
  ['JSON of an error without a message', { ...serialised, message: undefined }],
])('paymentsErrorFrom, isPaymentsError, isApiError and isOutcomeUnknown reject %s', (_, value) => {
  expect(paymentsErrorFrom(value)).toBeUndefined();
  expect([isPaymentsError(value), isApiError(value), isOutcomeUnknown(value)]).toEqual([
    false,
    false,
    false,
  ]);
  expect(httpStatusOf(value)).toBe(500);
});

test.each([5, 'x', null, {}, undefined])(
  'paymentsErrorFrom replaces `attempts` of %o by an empty list',
  (attempts) => {
    expect(paymentsErrorFrom({ ...serialised, attempts })?.attempts).toEqual([]);
  },
);

/** Uses a restored error in every way that a caller may use one. */
function useError(error: PaymentsError | undefined): void {
  if (error === undefined) throw new Error('It was not restored.');
  const ErrorClass = classes.find((each) => each.prototype.name === error.name);
  expect(Object.getPrototypeOf(error)).toBe(ErrorClass?.prototype);
  expect(error).toBeInstanceOf(PaymentsError);
  expect(isPaymentsError(error)).toBe(true);
  const text = JSON.stringify(error);
  expect(isPaymentsError(JSON.parse(text))).toBe(true);
  expect(paymentsErrorFrom(JSON.parse(text))?.toJSON()).toEqual(JSON.parse(text));
  expect(httpStatusOf(error)).toBeGreaterThanOrEqual(202);
  expect(error.publicMessage).toMatch(/\.$/);
  expect(error.attempts.every((attempt) => typeof attempt === 'object')).toBe(true);
  expect(() => inspect(error)).not.toThrow();
  if (types.isNativeError(error.cause)) expect(error.cause).toBeInstanceOf(Error);
}

const memberNames = Object.getOwnPropertyNames(Object.prototype).concat(
  ['toJSON', 'publicMessage', 'stack', 'cause', 'code', 'attempts', 'then', 'errors'],
  Object.keys(facts),
);
const anyKey = fc.oneof(fc.constantFrom(...memberNames), fc.string());
/** The text of an object, so that it may have a key `__proto__`. */
const objectText = (
  required: fc.Arbitrary<Record<string, unknown>>,
  field: fc.Arbitrary<string>,
): fc.Arbitrary<string> =>
  fc.tuple(fc.array(fc.tuple(anyKey, field)), required).map(([entries, last]) => {
    const fields = Object.entries(last).map(
      ([key, value]) => [key, JSON.stringify(value)] as const,
    );
    return `{${[...entries, ...fields].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`;
  });
const anyText = fc.jsonValue().map((value) => JSON.stringify(value));
const errorText = (field: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  objectText(
    fc.record({
      name: fc.constantFrom(...classes.map(({ prototype }) => prototype.name)),
      message: fc.string(),
      outcome: fc.constantFrom('not_sent', 'rejected', 'unknown'),
    }),
    field,
  );

test('paymentsErrorFrom makes a usable error from JSON that names an error class', () => {
  const withCause = errorText(fc.oneof(anyText, errorText(anyText)));
  fc.assert(
    fc.property(withCause, (text) => {
      useError(paymentsErrorFrom(JSON.parse(text)));
    }),
    { numRuns: 200 },
  );
});

test.each(memberNames)('a restored error stays usable with any %s', (key) => {
  for (const value of ['{}', '[]', 'null', '5', '"x"', '{"message":"m"}']) {
    const cause = `"cause":{"message":"m",${JSON.stringify(key)}:${value}}`;
    for (const field of [`${JSON.stringify(key)}:${value}`, cause]) {
      const text = `{${field},"name":"WaitError","message":"x","outcome":"unknown"}`;
      useError(paymentsErrorFrom(JSON.parse(text)));
    }
  }
});

test('toJSON of a restored error omits fields that JSON cannot hold', () => {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  const deep: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));
  const copiedError = Object.assign(new Error('x'), serialised, {
    cycle,
    deep,
    details: { field: 'amount' },
  });
  const error = paymentsErrorFrom(copiedError);
  useError(error);
  expect(error?.toJSON()).toEqual({
    ...serialised,
    details: { field: 'amount' },
    attempts: [],
    retryable: false,
  });
});
