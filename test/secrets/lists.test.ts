import { expect, test } from 'vitest';
import {
  InvalidResponseError,
  PaginationError,
  ServerError,
  WaitError,
  type PaymentsError,
} from 'payments-platform-sdk';
import { clientOf, failureOf } from '../support/clients.ts';
import { transactionNumber } from '../support/records.ts';
import { address, newTransfer, page, transfer, transferNumber } from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { apiKey, jwt, leaksOf } from './scan.ts';

const credentials = { apiKey, jwt, maxRetries: 0 };
const since = '2026-01-01T00:00:00Z';

/** Cursors that contain the request. */
const cursors = [
  ['the API key', apiKey],
  ['the JWT', jwt],
  ['the API key in a URL', `after=${encodeURIComponent(apiKey)}`],
  ['the API key in JSON', JSON.stringify({ key: apiKey, id: 7 }).replaceAll('/', '\\/')],
] as const;

test.for(cursors)('the error for a repeated cursor shows no secret: %s', async ([, cursor]) => {
  const { payments } = clientOf(() => Response.json(page([transfer], cursor)), credentials);
  const error = await failureOf(payments.transfers.list().toArray({ max: 9 }), PaginationError);
  expect(error.reason).toBe('cursor_loop');
  expect(leaksOf(error)).toEqual([]);
});

test.for(cursors)('the error for a missing cursor shows no secret: %s', async ([, cursor]) => {
  const { payments } = clientOf(
    (_, __, count) =>
      Response.json(page([transferNumber(count)], count === 1 ? cursor : null, true)),
    credentials,
  );
  const error = await failureOf(payments.transfers.list().toArray({ max: 9 }), PaginationError);
  expect(error.reason).toBe('missing_cursor');
  expect(leaksOf(error)).toEqual([]);
});

test.for(cursors)('the error for a failed second page shows no secret: %s', async ([, cursor]) => {
  const { payments } = clientOf(
    (_, __, count) =>
      count === 1
        ? Response.json(page([transfer], cursor))
        : Response.json({ error: `No page at ${cursor}` }, { status: 500 }),
    credentials,
  );
  const error = await failureOf(payments.transfers.list().toArray({ max: 9 }), ServerError);
  expect(error.resume?.itemsYielded).toBe(1);
  expect(leaksOf(error)).toEqual([]);
});

test('the error for an invalid second page shows no credential', async () => {
  const { payments } = clientOf(
    (_, __, count) =>
      Response.json(count === 1 ? page([transfer], 'next') : { [apiKey]: jwt, data: apiKey }),
    credentials,
  );
  const call = payments.transfers.list().toArray({ max: 9 });
  expect(leaksOf(await failureOf(call, InvalidResponseError))).toEqual([]);
});

test('the error for a repeated page of transactions.list shows no credential', async () => {
  const record = { ...transactionNumber(1), note: apiKey, [jwt]: jwt };
  const { payments } = clientOf(() => Response.json([record]), credentials);
  const call = payments.transactions.list({ address }).toArray({ max: 99 });
  expect(leaksOf(await failureOf(call, PaginationError))).toEqual([]);
});

test.for(cursors)('the error of reconcile shows no secret in a cursor: %s', async ([, cursor]) => {
  const { payments } = clientOf(() => Response.json(page([transfer], cursor)), credentials);
  const call = payments.transfers.reconcile(newTransfer, { since });
  expect(leaksOf(await failureOf(call, PaginationError))).toEqual([]);
});

test('the error of reconcile shows no credential that a response 500 repeats', async () => {
  const { payments } = clientOf(
    () => Response.json({ error: apiKey, details: { [apiKey]: jwt } }, { status: 500 }),
    credentials,
  );
  const call = payments.transfers.reconcile({ ...newTransfer, description: apiKey }, { since });
  expect(leaksOf(await failureOf(call, ServerError))).toEqual([]);
});

/** A transfer that contains the request. */
const noted = {
  ...transfer,
  description: `created with Bearer ${apiKey}`,
  metadata: { [apiKey]: [jwt] },
};

const waits: readonly (readonly [WaitError['reason'], readonly object[]])[] = [
  ['failed', [{ ...noted, status: 'failed' }]],
  [
    'regressed',
    [
      { ...noted, status: 'completed' },
      { ...noted, status: 'pending' },
    ],
  ],
  ['timeout', [noted]],
  ['timeout', [{ ...noted, status: `held for ${apiKey} ${jwt}` }]],
  ['failed', [{ ...noted, status: 'cancelled' }]],
];

test.for(waits)(
  'the error of waitFor (%s) shows no credential in the transfer',
  async ([reason, seen]) => {
    const clock = new VirtualClock();
    const { payments } = clientOf(
      (_, __, count) => Response.json(seen[Math.min(count, seen.length) - 1]),
      { ...credentials, clock },
    );
    const call: Promise<PaymentsError> = failureOf(
      payments.transfers.waitFor('txfr_1', { timeout: 5_000, until: () => false }),
      WaitError,
    );
    const error = await clock.runTimersDuring(call);
    expect(error).toMatchObject({ reason });
    expect(leaksOf(error)).toEqual([]);
  },
);

test('the error of waitFor shows no credential that a response 503 repeats', async () => {
  const clock = new VirtualClock();
  const { payments } = clientOf(
    () => new Response(`${apiKey} ${jwt}`, { status: 503, headers: { 'x-request-id': apiKey } }),
    { ...credentials, clock },
  );
  const error = await clock.runTimersDuring(
    failureOf(payments.transfers.waitFor('txfr_1'), WaitError),
  );
  expect(leaksOf(error)).toEqual([]);
});
