import { PaymentsClient } from 'payments-platform-sdk';
import {
  Sandbox,
  seedDemo,
  type SandboxFault,
  type SandboxLogEntry,
} from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import { Calls, getResult } from '../../src/sandbox/page/attempts.ts';

// How the page groups the log. test/full/page.test.ts checks that a browser shows the groups.

const start = Date.parse('2026-01-01T00:00:00.000Z');

function entry(id: number, part: Partial<SandboxLogEntry> & { at?: number } = {}): SandboxLogEntry {
  const { at = id * 100, ...rest } = part;
  return {
    id,
    time: new Date(start + at).toISOString(),
    method: 'GET',
    path: '/v0/accounts',
    query: {},
    body: undefined,
    operation: 'accounts.list',
    status: 200,
    ms: 1,
    requestId: `req_${id}`,
    key: 1,
    fault: undefined,
    response: undefined,
    created: undefined,
    note: undefined,
    ...rest,
  };
}

function grouped(...entries: SandboxLogEntry[]): (number | undefined)[][] {
  const calls = new Calls();
  for (const each of entries) calls.add(each, '');
  return calls.list().map(({ attempts }) => attempts.map(({ id }) => id));
}

test('the sandbox page groups a retry with its failed attempts', () => {
  const lost = { status: undefined, fault: 'reset' } as const;
  expect(
    grouped(entry(1, { status: 503 }), entry(2, { path: '/v0/ibans' }), entry(3, lost), entry(4)),
  ).toEqual([[1, 3, 4], [2]]);
});

test('the sandbox page does not group a repeat after a success', () => {
  expect(grouped(entry(1), entry(2))).toEqual([[2], [1]]);
});

test('the sandbox page groups retries within 90 seconds of a failure', () => {
  const failed = entry(1, { status: 503, at: 0 });
  expect(grouped(failed, entry(2, { at: 90_000 }))).toEqual([[1, 2]]);
  expect(grouped(failed, entry(2, { at: 90_001 }))).toEqual([[2], [1]]);
});

test.each([
  ['method', { method: 'POST' }],
  ['path', { path: '/v0/entities' }],
  ['query', { query: { limit: '2' } }],
  ['body', { body: { amount: '1' } }],
  ['credential', { key: 2 }],
  ['credential (the new request has none)', { key: undefined }],
])('the sandbox page does not group requests with a different %s', (_, other) => {
  expect(grouped(entry(1, { status: 503 }), entry(2, other))).toEqual([[2], [1]]);
});

test('the sandbox page groups attempts of a webhook by webhook id', () => {
  const delivery = { operation: 'webhook', requestId: 'hook_1', status: 500 } as const;
  expect(
    grouped(
      entry(1, delivery),
      entry(2, { ...delivery, requestId: 'hook_2' }),
      entry(3, { ...delivery, at: 999_999, status: 204 }),
    ),
  ).toEqual([[1, 3], [2]]);
});

const errorBody = { error: 'No.', code: 'no', details: null };
const payment = { method: 'POST', path: '/v0/transfers', operation: 'transfers.create' } as const;

test.each([
  ['responded', { status: 201 }],
  ['responded', { status: 200, fault: 'delay' }],
  ['rejected', { status: 422, response: errorBody, ...payment }],
  ['unknown', { status: 502, created: 'txfr_000007', response: errorBody, ...payment }],
  ['rejected', { status: 302 }],
  ['unknown', { status: undefined, fault: 'hang' }],
  ['unknown', { status: 201, fault: 'truncated_body' }],
  ['unknown', { status: 201, fault: 'stalled_body' }],
  ['responded', { status: 204, operation: 'webhook' }],
  ['not delivered', { status: 302, operation: 'webhook' }],
  ['not delivered', { status: undefined, operation: 'webhook', fault: 'drop' }],
] as const)('the sandbox page shows the result "%s" for log entry %o', (fate, part) => {
  expect(getResult(entry(1, part))).toBe(fate);
});

const faults: readonly SandboxFault[] = [
  ...[400, 401, 404, 408, 409, 422, 429, 431, 499, 500, 501, 502, 503, 504].flatMap(
    (status): SandboxFault[] => [
      { kind: 'status', status },
      { kind: 'html', status },
    ],
  ),
  { kind: 'status', status: 303 },
  { kind: 'status', status: 307 },
  { kind: 'status', status: 502, when: 'after_commit' },
  { kind: 'html', status: 201, when: 'after_commit' },
  { kind: 'reset', when: 'before_commit' },
  { kind: 'reset', when: 'after_commit' },
  { kind: 'truncated_body' },
];

test.each(faults)(
  'the sandbox page agrees with the client’s outcome after fault %o',
  async (fault) => {
    const sandbox = seedDemo(new Sandbox());
    const payments = new PaymentsClient({ ...sandbox.clientOptions, maxRetries: 0 });
    const terms = { sourceAccountId: 'acc_000001', destinationAccountId: 'acc_000002' };
    for (const operation of ['transfers.create', 'transfers.list'] as const) {
      sandbox.faults.add({ operation, fault });
      const call =
        operation === 'transfers.create'
          ? payments.transfers.create({ ...terms, amount: '1' })
          : payments.transfers.list();
      const error: unknown = await call.then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      const last = sandbox.log.at(-1);
      expect(last).toMatchObject({ operation, fault: fault.kind });
      expect(error).toMatchObject({ outcome: last && getResult(last) });
    }
  },
);

test('the sandbox page keeps the latest 10,000 log entries', () => {
  const calls = new Calls();
  for (let id = 1; id <= 12_000; id += 1) {
    calls.add(entry(id, { path: `/v0/accounts/acc_${id}` }), '');
  }
  const kept = calls.list();
  expect(kept).toHaveLength(10_000);
  expect([kept[0]?.id, kept.at(-1)?.id]).toEqual([12_000, 2_001]);
});
