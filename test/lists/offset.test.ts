import {
  PaginationError,
  ServerError,
  ValidationError,
  type PaymentsClient,
} from 'payments-platform-sdk';
import { expect, test } from 'vitest';
import { clientOf, failureOf, respond } from '../support/clients.ts';
import { transactionNumber } from '../support/records.ts';
import { address, errorBody } from '../support/values.ts';
import { flushPromises } from '../support/virtual-clock.ts';

interface Body {
  readonly skip?: number;
  readonly take?: number;
}

/** A platform with `count` records, which may return fewer records than requested. */
function platformOf(
  count: number,
  most = 3,
  response?: (body: Body, request: number) => Response | undefined,
): { payments: PaymentsClient; bodies: Body[] } {
  const bodies: Body[] = [];
  const { payments } = clientOf(
    (_, text, request) => {
      const body = JSON.parse(text) as Body;
      bodies.push(body);
      const scriptedResponse = response?.(body, request);
      if (scriptedResponse !== undefined) return scriptedResponse;
      const start = body.skip ?? 0;
      const size = Math.max(0, Math.min(most, body.take ?? most, count - start));
      const records = Array.from({ length: size }, (__, index) => transactionNumber(start + index));
      return respond(200, records);
    },
    { maxRetries: 0 },
  );
  return { payments, bodies };
}

const hashes = (from: number, to: number): unknown[] =>
  Array.from(
    { length: to - from },
    (_, index) => transactionNumber(from + index)['transactionHash'],
  );
const hashesOf = (records: readonly { transactionHash: string }[]): string[] =>
  records.map(({ transactionHash }) => transactionHash);

test('transactions.list sends its one request only when awaited', async () => {
  const { payments, bodies } = platformOf(5);
  const list = payments.transactions.list({ address, take: 2 });
  await flushPromises();
  expect(bodies).toHaveLength(0);
  const first = await list;
  expect(first.nextSkip).toBe(2);
  expect(hashesOf(first.data)).toEqual(hashes(0, 2));
  expect(await list).toBe(first);
  const { data, response } = await list.withResponse();
  expect(data).toBe(first);
  expect(await response.json()).toHaveLength(2);
  expect(bodies).toEqual([{ address, take: 2 }]);
});

test('each request of transactions.list skips earlier records and repeats the filters', async () => {
  const { payments, bodies } = platformOf(5);
  // The platform may send an id without the 0x that its type requires.
  const instructionIds = ['0xabc1', 'abc3'] as `0x${string}`[];
  const input = { address, take: 2, sort: 'Ascending', instructionIds, skip: undefined } as {
    address: typeof address;
    take: number;
    sort: string;
    instructionIds: `0x${string}`[];
  };
  const list = payments.transactions.list(input);
  input.take = 50;
  input.sort = 'Descending';
  const seen: string[] = [];
  for await (const record of list) seen.push(...hashesOf([record]));
  expect(seen).toEqual(hashes(0, 5));
  const filters = { address, sort: 'Ascending', take: 2, instructionIds: ['0xabc1', 'abc3'] };
  expect(bodies).toEqual([
    filters,
    { ...filters, skip: 2 },
    { ...filters, skip: 4 },
    { ...filters, skip: 5 },
  ]);
});

test('transactions.list ends at an empty page, not at a short one', async () => {
  // The platform returns three of ten requested records.
  const { payments, bodies } = platformOf(7, 3);
  const pages: [number, number | null][] = [];
  for await (const { data, nextSkip } of payments.transactions
    .list({ address, take: 10 })
    .pages()) {
    pages.push([data.length, nextSkip]);
  }
  expect(pages).toEqual([
    [3, 3],
    [3, 6],
    [1, 7],
    [0, null],
  ]);
  expect(bodies.map(({ skip }) => skip)).toEqual([undefined, 3, 6, 7]);
});

test('transactions.list sends a single request if there are no records', async () => {
  const { payments, bodies } = platformOf(0);
  const list = payments.transactions.list({ address });
  expect(await list.toArray({ max: 9 })).toEqual([]);
  expect(bodies).toHaveLength(1);
  expect(await list).toEqual({ data: [], nextSkip: null });
});

test('transactions.list starts at the `skip` of its input', async () => {
  const { payments, bodies } = platformOf(9);
  const list = payments.transactions.list({ address, skip: 4 });
  expect(hashesOf(await list.toArray({ max: 99 }))).toEqual(hashes(4, 9));
  expect((await list).nextSkip).toBe(7);
  expect(bodies[0]).toEqual({ address, skip: 4 });

  const exact = payments.transactions.list({ address, skip: 4n, take: 2n });
  expect(hashesOf(await exact.toArray({ max: 99 }))).toEqual(hashes(4, 9));
  expect((await exact).nextSkip).toBe(6);
  expect(bodies).toContainEqual({ address, skip: 4, take: 2 });
});

test('toArray of transactions.list requests no page beyond its option `max`', async () => {
  const { payments, bodies } = platformOf(100);
  const list = payments.transactions.list({ address });
  expect(hashesOf(await list.toArray({ max: 2 }))).toEqual(hashes(0, 2));
  expect(bodies).toHaveLength(1);
});

test('the error of transactions.list for a bigint `take` becomes JSON', async () => {
  const { payments } = platformOf(0, 3, () => respond(500));
  const list = payments.transactions.list({ address, take: 2n }, { maxRetries: 0 });
  const error = await failureOf(list.toArray({ max: 9 }), ServerError);
  expect(JSON.parse(JSON.stringify(error))).toMatchObject({ resume: { limit: 2 } });
});

test('transactions.list ends in an error if the platform ignores `skip`', async () => {
  const { payments, bodies } = platformOf(0, 3, (_, request) =>
    request > 100 ? respond(500) : respond(200, [transactionNumber(0), transactionNumber(1)]),
  );
  const seen: string[] = [];
  const loop = (async () => {
    for await (const record of payments.transactions.list({ address, take: 2 })) {
      seen.push(...hashesOf([record]));
    }
  })();
  const error = await failureOf(loop, PaginationError);
  expect(error).toMatchObject({
    reason: 'cursor_loop',
    operation: 'transactions.list',
    outcome: 'rejected',
    resume: { cursor: '20', limit: 2, itemsYielded: 22 },
  });
  expect(bodies).toHaveLength(11);
  expect(seen).toHaveLength(22);
});

test('the error for a failed page of transactions.list has `skip` for resuming', async () => {
  let troubles = 1;
  const { payments } = platformOf(8, 3, ({ skip }) => {
    if (skip !== 6 || troubles === 0) return undefined;
    troubles -= 1;
    return respond(503, errorBody);
  });
  const seen: string[] = [];
  const loop = (async () => {
    for await (const record of payments.transactions.list({ address })) {
      seen.push(...hashesOf([record]));
    }
  })();
  const error = await failureOf(loop, ServerError);
  expect(error.resume).toEqual({ cursor: '6', limit: undefined, itemsYielded: 6 });
  const skip = Number(error.resume?.cursor);
  const rest = await payments.transactions.list({ address, skip }).toArray({ max: 99 });
  expect([...seen, ...hashesOf(rest)]).toEqual(hashes(0, 8));
});

test('transactions.list rejects an invalid `take`, and does not throw', async () => {
  const { payments, bodies } = platformOf(5);
  const list = payments.transactions.list({ address, take: Symbol('x') as unknown as number });
  await failureOf(list, ValidationError);
  expect(bodies).toEqual([]);
});

test('toArray without `max` names transactions.list in its error', async () => {
  const { payments, bodies } = platformOf(100);
  const call = payments.transactions.list({ address }).toArray({} as { max: number });
  expect(await failureOf(call, ValidationError)).toMatchObject({
    outcome: 'not_sent',
    operation: 'transactions.list',
    issues: [{ path: 'max' }],
  });
  expect(bodies).toEqual([]);
});
