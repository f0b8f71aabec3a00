import { PaymentsClient, type ClientOptions, type PaymentsError } from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import type { Sandbox, SandboxFault } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import { clientAt, failureOf } from '../support/clients.ts';
import { closedPort } from '../support/closed-port.ts';
import { seededSandbox } from '../support/platform.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { bookInvoice as input } from '../support/values.ts';

/** The error of a call on a sandbox. */
async function errorOf(
  call: (payments: PaymentsClient, sandbox: Sandbox) => PromiseLike<unknown>,
  fault?: {
    operation: 'transfers.create' | 'transfers.get' | 'transfers.list' | 'accounts.update';
    fault: SandboxFault;
  },
  options: ClientOptions = {},
): Promise<PaymentsError> {
  const sandbox = seededSandbox();
  if (fault !== undefined) sandbox.faults.add({ ...fault, times: 'always' });
  const clock = new VirtualClock();
  const payments = new PaymentsClient({
    ...sandbox.clientOptions,
    clock,
    journal: memoryJournal(),
    ...options,
  });
  return failureOf(clock.runTimersDuring(Promise.resolve(call(payments, sandbox))));
}
const create = { operation: 'transfers.create' } as const;
const unknownPayment =
  'It is not known yet whether the payment was made. Please do not start another one: it is being checked.';
const noPayment = 'No payment was made by this attempt.';

const rows: readonly [what: string, make: () => Promise<PaymentsError>, message: string][] = [
  [
    'a payment of more money than there is',
    () => errorOf(({ transfers }) => transfers.createOnce({ ...input, amount: '99999' })),
    'The payment was rejected, and no money was moved.',
  ],
  [
    'a 429',
    () =>
      errorOf(({ transfers }) => transfers.createOnce(input), {
        ...create,
        fault: { kind: 'status', status: 429 },
      }),
    'The payment was rejected, and no money was moved. Please try again later.',
  ],
  [
    'an invalid amount',
    () => errorOf(({ transfers }) => transfers.createOnce({ ...input, amount: '1,00' })),
    `${noPayment} Please check what was entered.`,
  ],
  [
    'a client without a journal',
    () =>
      errorOf(({ transfers }) => transfers.createOnce(input), undefined, { journal: undefined }),
    noPayment,
  ],
  [
    'a refused connection',
    () => failureOf(clientAt(closedPort, { maxRetries: 0 }).transfers.create(input)),
    `${noPayment} Please try again later.`,
  ],
  [
    'a lost response',
    () =>
      errorOf(({ transfers }) => transfers.create(input), {
        ...create,
        fault: { kind: 'reset', when: 'after_commit' },
      }),
    unknownPayment,
  ],
  [
    'a reference with other terms',
    () =>
      errorOf(async ({ transfers }) => {
        await transfers.createOnce(input);
        return transfers.createOnce({ ...input, amount: '1.00' });
      }),
    'This reference belongs to a payment with other terms.',
  ],
  [
    'a payment in doubt',
    () =>
      errorOf(({ transfers }) => transfers.createOnce(input), {
        ...create,
        fault: { kind: 'reset', when: 'before_commit' },
      }),
    unknownPayment,
  ],
  [
    'an update that may have taken effect',
    () =>
      errorOf(({ accounts }) => accounts.update('acc_000001', { name: 'x' }), {
        operation: 'accounts.update',
        fault: { kind: 'reset', when: 'after_commit' },
      }),
    'It is not known yet whether the request took effect. Please do not repeat it: it is being checked.',
  ],
  [
    'an update of a record that does not exist',
    () => errorOf(({ accounts }) => accounts.update('acc_999999', { name: 'x' })),
    'The request was rejected.',
  ],
  [
    'an invalid update',
    () => errorOf(({ accounts }) => accounts.update('acc_000001', { name: 7 as never })),
    'Nothing was changed by this attempt. Please check what was entered.',
  ],
  [
    'a comparison of books that no list can be read for',
    () =>
      errorOf(
        async ({ transfers }) => {
          for await (const _ of transfers.reconcileAll([input])) continue;
        },
        { operation: 'transfers.list', fault: { kind: 'status', status: 503 } },
      ),
    'The information is not available. Please try again later.',
  ],
  [
    'a read of a record that does not exist',
    () => errorOf(({ transfers }) => transfers.get('txfr_999999')),
    'The information is not available.',
  ],
  [
    'a read during an outage',
    () =>
      errorOf(({ transfers }) => transfers.get('txfr_000001'), {
        operation: 'transfers.get',
        fault: { kind: 'status', status: 503 },
      }),
    'The information is not available. Please try again later.',
  ],
  [
    'a transfer that failed',
    () =>
      errorOf(async ({ transfers }, sandbox) => {
        const { id } = await transfers.create(input);
        sandbox.transfers.fail(id);
        return transfers.waitFor(id);
      }),
    'The payment failed: the payee does not have the money.',
  ],
  [
    'a transfer that is still pending',
    () =>
      errorOf(async ({ transfers }) => {
        const { id } = await transfers.create(input);
        return transfers.waitFor(id, { timeout: 9_000 });
      }),
    'The payment is not confirmed yet. Please look again later.',
  ],
];

test.each(rows)('error.publicMessage shows no amount, id or URL: %s', async (_, make, message) => {
  const error = await make();
  expect(error.publicMessage).toBe(message);
  // publicMessage is not enumerable, so neither logs nor JSON repeat it.
  expect(Object.keys(error)).not.toContain('publicMessage');
  expect(error.publicMessage).not.toMatch(/\d|acc_|txfr_|http|invoice/);
});
