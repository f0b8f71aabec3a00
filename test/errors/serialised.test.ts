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
import { transfer } from '../support/values.ts';

type ErrorClass = new (message: string, facts: object) => PaymentsError;

const classes = Object.values(sdk).filter(
  (value): value is ErrorClass & typeof value =>
    typeof value === 'function' && Object(value.prototype) instanceof Error,
) as unknown as readonly ErrorClass[];

/** Fields of every class, as a class of each kind has them. */
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
  JSON: (error) => JSON.parse(JSON.stringify(error)),
  'structuredClone of toJSON()': (error) => structuredClone(error.toJSON()),
  'a checkpoint of toJSON()': (error) => copyOntoError(error.toJSON()),
  'a checkpoint of its fields': (error) =>
    copyOntoError({ ...error, name: error.name, message: error.message, stack: error.stack }),
  'an Error with a name of its own': (error) =>
    Object.assign(new Error(error.message), error, { name: error.name }),
};

test.each(Object.entries(forms))(
  'every class keeps its fields, guards and status through %s',
  (_, serialise) => {
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
  },
);

test('a payment in doubt is in doubt after a checkpoint, with what its caller needs', async () => {
  const sandbox = seedDemo(new Sandbox());
  const payments = new PaymentsClient({ ...sandbox.clientOptions, journal: memoryJournal() });
  const fault = { kind: 'reset', when: 'before_commit' } as const;
  sandbox.faults.add({ operation: 'transfers.create', fault });
  const error = await failureOf(
    payments.transfers.createOnce({
      sourceAccountId: 'acc_000001',
      counterpartyId: 'cpty_000001',
      amount: '12.50',
      description: 'invoice 4711',
    }),
    PaymentInDoubtError,
  );
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

test('an error is returned as it is, and one that was copied keeps its stack', () => {
  const error = new PaymentsError('x', { outcome: 'unknown' });
  expect(paymentsErrorFrom(error)).toBe(error);
  const { message, stack, outcome } = error;
  const copy = copyOntoError({ name: error.name, message, stack, outcome });
  expect(paymentsErrorFrom(copy)?.stack).toBe(stack);
});

const serialised = { name: 'ApiError', message: 'x', outcome: 'unknown' };

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['a number', 5],
  ['a string of JSON', JSON.stringify(serialised)],
  ['an array', [serialised]],
  ['a class', sdk.ApiError],
  ['a structuredClone of the error itself', structuredClone(new sdk.ApiError('x', {} as never))],
  ['an error of another package', Object.assign(new Error('x'), { name: 'ValidationError' })],
  ['an error of a signal', new DOMException('x', 'AbortError')],
  ['a class without an outcome', { ...serialised, outcome: undefined }],
  ['an outcome that is none', { ...serialised, outcome: 'maybe' }],
  ['an outcome in a list', { ...serialised, outcome: ['unknown'] }],
  ['a class of another package', { ...serialised, name: 'StripeError' }],
  ['the name of a member of every object', { ...serialised, name: 'constructor' }],
  ['no name', { ...serialised, name: undefined }],
  ['no message', { ...serialised, message: undefined }],
])('%s is not taken for an error of this package', (_, value) => {
  expect(paymentsErrorFrom(value)).toBeUndefined();
  expect([isPaymentsError(value), isApiError(value), isOutcomeUnknown(value)]).toEqual([
    false,
    false,
    false,
  ]);
  expect(httpStatusOf(value)).toBe(500);
});

test.each([5, 'x', null, {}, undefined])('attempts that are %o count as none', (attempts) => {
  expect(paymentsErrorFrom({ ...serialised, attempts })?.attempts).toEqual([]);
});
