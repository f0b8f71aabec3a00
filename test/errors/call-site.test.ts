import { PaymentsError, type PaymentsClient } from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { expect, test } from 'vitest';
import { clientOf, failureOf, respond } from '../support/clients.ts';
import { address, errorBody, newTransfer } from '../support/values.ts';

const id = 'txfr_1';
const once = { ...newTransfer, description: 'invoice 1' };

const page = (hasMore: boolean): Response =>
  respond(200, { data: [], hasMore, nextCursor: hasMore ? 'c1' : null });

async function* failingList(): AsyncGenerator<never> {
  yield await Promise.reject(new Error('the store is down'));
}

/** Every kind of call. The stack has to show the name of the function. */
const calls: Readonly<Record<string, (payments: PaymentsClient) => Promise<void>>> = {
  'a single call': async function callerOfGet(payments) {
    await payments.transfers.get(id);
  },
  'a write that is awaited later': async function callerOfLater(payments) {
    const call = payments.transfers.create(newTransfer);
    await expect(call).rejects.toThrow();
    await call;
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

test.for(Object.entries(calls))(
  'error.stack shows the line of the program that made the call: %s',
  async ([, call]) => {
    const journal = memoryJournal();
    const { payments } = clientOf(() => respond(500, errorBody), {
      journal,
      jwt: 'a.b.c',
      maxRetries: 0,
    });
    const error = await failureOf(call(payments), PaymentsError);
    expect(error.stack).toMatch(new RegExp(`${call.name}.*call-site\\.test\\.ts`));
    expect(Object.keys(error)).not.toContain('stack');
  },
);

test.for([
  ['returns call sites', (_: Error, sites: readonly unknown[]): unknown => sites],
  ['returns a number', (): unknown => 5],
  [
    'throws',
    (): never => {
      throw new Error('no stack');
    },
  ],
] as const)('an Error.prepareStackTrace that %s replaces no error', async ([, prepare]) => {
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
});

test('a hook that freezes an error does not replace the error', async () => {
  const freeze = ({ error }: { readonly error?: unknown }) => Object.freeze(error);
  const { payments } = clientOf(() => respond(500, errorBody), {
    hooks: { onCall: freeze, onOnce: freeze },
    journal: memoryJournal(),
    jwt: 'a.b.c',
    maxRetries: 0,
  });
  for (const call of Object.values(calls)) await failureOf(call(payments), PaymentsError);
});

test('error.stack of a failed page shows the line of the loop over the list, even if the page was prefetched', async () => {
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

test('error.stack of a PaginationError shows the line of the loop over the list, if a page lacks its next cursor', async () => {
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
