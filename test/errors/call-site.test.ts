import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import {
  compareAmounts,
  ConfigurationError,
  PaymentsClient,
  PaymentsError,
  sumAmounts,
} from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { describe, expect, test } from 'vitest';
import { closedPort } from '../support/closed-port.ts';
import { clientAt, clientOf, failureOf, respond } from '../support/clients.ts';
import { address, errorBody, newTransfer } from '../support/values.ts';

const id = 'txfr_1';
const once = { ...newTransfer, description: 'invoice 1' };

const page = (hasMore: boolean): Response =>
  respond(200, { data: [], hasMore, nextCursor: hasMore ? 'c1' : null });

async function* failingList(): AsyncGenerator<never> {
  yield await Promise.reject(new Error('the store is down'));
}

class OwnClient extends PaymentsClient {
  async pay(): Promise<void> {
    await this.transfers.create(newTransfer);
  }
}

/** Every kind of call. The first frame has to be the line of the first `payments.` in the function. */
const calls: Readonly<Record<string, (payments: PaymentsClient) => Promise<void>>> = {
  'a single call': async function callerOfGet(payments) {
    await payments.transfers.get(id);
  },
  'a read after an earlier await': async function callerAfterAwait(payments) {
    await Promise.resolve();
    await payments.accounts.get('acc_1');
  },
  'reads in Promise.all': async function callerOfAll(payments) {
    await Promise.all([payments.transfers.get(id), payments.ibans.get('iban_1')]);
  },
  'a POST that only reads': async function callerOfBuild(payments) {
    const input = { type: 'ripcord', address } as never;
    await payments.instructions.build(input);
  },
  'a write': async function callerOfWrite(payments) {
    await payments.entities.create({ email: 'ada@example.com' });
  },
  'a write that is awaited later': async function callerOfLater(payments) {
    const call = payments.transfers.create(newTransfer);
    await expect(call).rejects.toThrow();
    await call;
  },
  'a write with withResponse': async function callerOfBoth(payments) {
    await payments.transfers.create(newTransfer).withResponse();
  },
  'a call with withResponse': async function callerOfResponse(payments) {
    await payments.transfers.get(id).withResponse();
  },
  'a wrong argument': async function callerOfArgument(payments) {
    await payments.transfers.get('acc_1');
  },
  'an awaited list': async function callerOfPage(payments) {
    await payments.transfers.list();
  },
  'a list with a wrong argument': async function callerOfLimit(payments) {
    await payments.transfers.list({ limit: 1_000 });
  },
  'a loop': async function callerOfLoop(payments) {
    for await (const transfer of payments.transfers.list()) void transfer;
  },
  'a loop over pages': async function callerOfPages(payments) {
    for await (const each of payments.transactions.list({ address }).pages()) void each;
  },
  toArray: async function callerOfArray(payments) {
    await payments.accounts.list().toArray({ max: 10 });
  },
  'toArray with a wrong argument': async function callerOfMax(payments) {
    await payments.accounts.list().toArray({ max: 0 });
  },
  createAllOnce: async function callerOfBatch(payments) {
    await payments.transfers.createAllOnce([once], { concurrency: 0 });
  },
  reconcileAll: async function callerOfBooks(payments) {
    await payments.transfers.reconcileAll([once, once]);
  },
  waitForAll: async function callerOfFollowing(payments) {
    await payments.transfers.waitForAll([once, once]);
  },
  waitFor: async function callerOfWait(payments) {
    await payments.transfers.waitFor(id, { timeout: 1 });
  },
  reconcile: async function callerOfSearch(payments) {
    await payments.transfers.reconcile(newTransfer);
  },
  createOnce: async function callerOfOnce(payments) {
    await payments.transfers.createOnce(once);
  },
  decide: async function callerOfResolveOnce(payments) {
    await payments.transfers.decide('invoice 1', id);
  },
  listUndecided: async function callerOfOpenOnce(payments) {
    const journal = { ...memoryJournal(), open: () => failingList() };
    for await (const each of payments.transfers.listUndecided({ journal })) void each;
  },
  request: async function callerOfRequest(payments) {
    await payments.request({ method: 'GET', path: '/x', api: 'versioned' });
  },
};

const source = readFileSync(import.meta.filename, 'utf8').split('\n');

/** The number of the line in which a function of this file makes its call. */
function lineOf(name: string, call: RegExp): number {
  const start = source.findIndex((line) => line.includes(`${name}(`));
  return source.findIndex((line, at) => at > start && call.test(line)) + 1;
}

const firstFrame = ({ stack = '', name, message }: Error): string => {
  expect(stack).toContain(`${name}: ${message}\n`);
  return stack.slice(`${name}: ${message}\n`.length).split('\n')[0] ?? '';
};

const failing = (options = {}) =>
  clientOf(() => respond(403, errorBody), {
    journal: memoryJournal(),
    jwt: 'a.b.c',
    maxRetries: 0,
    ...options,
  }).payments;

describe.for([
  ['without hooks', {}],
  ['with onCall', { hooks: { onCall: () => undefined } }],
] as const)('error.stack starts with the line of the call (%s)', ([, options]) => {
  test.for(Object.entries(calls))('%s', async ([, call]) => {
    const error = await failureOf(call(failing(options)), PaymentsError);
    const line = lineOf(call.name, /payments\./);
    expect(firstFrame(error)).toMatch(
      new RegExp(`^    at (async )?${call.name} .*call-site\\.test\\.ts:${line}:`),
    );
    expect(Object.keys(error)).not.toContain('stack');
    expect(error.stack).not.toMatch(/[( ]node:/);
  });
});

test("error.stack of a read begins with the caller's line, not Node’s", async () => {
  const payments = clientAt(closedPort, { maxRetries: 0 });
  const read = calls['a single call'];
  const error = await failureOf(Promise.resolve(read?.(payments)), PaymentsError);
  expect(firstFrame(error)).toContain(`:${lineOf('callerOfGet', /payments\./)}:`);
  expect(error.stack).not.toMatch(/[( ]node:/);
});

test('error.stack begins with the line in a subclass of PaymentsClient', async () => {
  const fetch = () => Promise.resolve(respond(403, errorBody));
  const own = new OwnClient({ baseUrl: 'https://a.example/v0', apiKey: 'sk_x', fetch });
  const line = lineOf('async pay', /transfers\./);
  expect(firstFrame(await failureOf(own.pay(), PaymentsError))).toContain(`test.ts:${line}:`);
});

/** What throws at once. The first frame has to be the line with `payments` or an amount. */
const throwing: Readonly<Record<string, (payments: PaymentsClient) => unknown>> = {
  'the constructor': function callerOfConstructor() {
    return new PaymentsClient({ baseUrl: 'x' });
  },
  'the constructor of a class that extends PaymentsClient': function callerOfOwn() {
    return new OwnClient(null as never);
  },
  withOptions: function callerOfOptions(payments) {
    return payments.withOptions({ timeout: -1 });
  },
  'withOptions without a tenant': function callerOfTenant(payments) {
    return payments.withOptions({ apiKey: undefined });
  },
  sumAmounts: function callerOfSum() {
    return sumAmounts(['1,5']);
  },
  compareAmounts: function callerOfComparison() {
    return compareAmounts('1', 'x');
  },
};

test.for(Object.entries(throwing))(
  'error.stack begins with the line that throws synchronously: %s',
  ([, call]) => {
    let thrown: unknown;
    try {
      call(failing());
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(PaymentsError);
    const line = lineOf(call.name, /return/);
    expect((thrown as Error).stack?.match(/\n    at .*/g)?.join('')).toMatch(
      new RegExp(`^\n    at (new OwnClient .*\n    at )?${call.name} .*test\\.ts:${line}:`),
    );
  },
);

test.for([0, undefined])(
  'every call rejects with its own error if Error.stackTraceLimit is %s',
  async (limit) => {
    const { stackTraceLimit } = Error;
    const names: string[] = [];
    try {
      Reflect.set(Error, 'stackTraceLimit', limit);
      for (const call of Object.values(calls)) {
        await call(failing()).catch((error: unknown) => names.push((error as Error).name));
      }
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
    expect(names).toHaveLength(Object.keys(calls).length);
    expect(names.filter((name) => ['Error', 'TypeError'].includes(name))).toEqual([]);
  },
);

test('the error of a read that nobody awaits keeps its stack', async () => {
  const call = failing().transfers.get(id);
  call.catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, 5));
  const error = await failureOf(call, PaymentsError);
  expect(error.stack).toContain(`${error.name}: ${error.message}`);
});

test('console.error shows an error in few lines and each issue once', async () => {
  const invalid = await failureOf(
    failing().transfers.create({ ...newTransfer, amount: 5, foo: 1 } as never),
    PaymentsError,
  );
  const shown = inspect(invalid);
  expect(shown.match(/got 5/g)).toHaveLength(1);
  expect(shown).toContain('outcome: "not_sent", operation: "transfers.create", retryable: false');
  expect(shown).not.toContain('attempts');
  const vetoing = failing({
    authorize: function limits() {
      throw new Error('the limit\nis used');
    },
  });
  const vetoed = inspect(await failureOf(vetoing.transfers.create(newTransfer), PaymentsError));
  expect(vetoed).toMatch(/\n  \[cause\]: Error: the limit\n      at limits .*call-site\.test/);
  const timed = await failureOf(failing().transfers.get(id), PaymentsError);
  expect(inspect({ nested: { deep: { timed } } }, { depth: 0 }).split('\n').length).toBeLessThan(
    20,
  );
});

test('an error with wrongly typed fields is printed by its stack', () => {
  const error = new ConfigurationError('x', { outcome: 'not_sent' });
  Reflect.set(error, 'attempts', 5);
  expect(inspect(error)).toBe(error.stack);
});

test.for([
  ['returns call sites', (_: Error, sites: readonly unknown[]): unknown => sites],
  ['returns a number', (): unknown => 5],
  ['returns an object without a prototype', (): unknown => Object.create(null)],
  [
    'throws',
    (): never => {
      throw new Error('no stack');
    },
  ],
] as const)(
  'a call rejects with its own error if Error.prepareStackTrace %s',
  async ([, prepare]) => {
    const { prepareStackTrace } = Error;
    const names: string[] = [];
    const { payments } = clientOf(() => respond(500, errorBody), {
      journal: memoryJournal(),
      jwt: 'a.b.c',
      maxRetries: 0,
    });
    try {
      Error.prepareStackTrace = prepare;
      for (const call of Object.values(calls)) {
        await call(payments).catch((error: unknown) => names.push((error as Error).name));
      }
    } finally {
      Error.prepareStackTrace = prepareStackTrace;
    }
    expect(names).toHaveLength(Object.keys(calls).length);
    expect(names.filter((name) => ['Error', 'TypeError'].includes(name))).toEqual([]);
  },
);

test('a call rejects with its own error if a hook freezes it', async () => {
  const freeze = ({ error }: { readonly error?: unknown }) => Object.freeze(error);
  const { payments } = clientOf(() => respond(500, errorBody), {
    hooks: { onCall: freeze, onOnce: freeze },
    journal: memoryJournal(),
    jwt: 'a.b.c',
    maxRetries: 0,
  });
  for (const call of Object.values(calls)) await failureOf(call(payments), PaymentsError);
});

test('error.stack of a prefetched page shows the loop over the list', async () => {
  const { payments } = clientOf((_, __, count) =>
    count < 3
      ? respond(200, { data: [], hasMore: true, nextCursor: `c${count}` })
      : respond(404, errorBody),
  );
  const error = await failureOf(
    (async function callerOfLoop() {
      for await (const each of payments.transfers.list().pages()) {
        void each;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    })(),
    PaymentsError,
  );
  expect(error.stack).toMatch(/callerOfLoop.*call-site\.test\.ts/);
});

test('error.stack of a PaginationError shows the loop over the list', async () => {
  const { payments } = clientOf(() => page(true));
  const error = await failureOf(
    (async function callerOfLoop() {
      for await (const each of payments.transfers.list()) void each;
    })(),
    PaymentsError,
  );
  expect(error.name).toBe('PaginationError');
  expect(error.stack).toMatch(/callerOfLoop.*call-site\.test\.ts/);
});

test('error.stack shows no line of code twice', async () => {
  const { payments } = clientOf(() => respond(404, errorBody));
  const error = await failureOf(payments.transfers.reconcile(newTransfer), PaymentsError);
  const places = (error.stack ?? '').match(/[^\s(]+:\d+:\d+/g) ?? [];
  expect(new Set(places).size).toBe(places.length);
});
