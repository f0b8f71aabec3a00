import { expect, test } from 'vitest';
import { seededSandbox, clientOfSandbox, owner } from '../support/platform.ts';

/** Two instructions, one of which has run four times: six records in all. */
const setup = () => {
  const sandbox = seededSandbox();
  const [busy, idle] = sandbox.instructions.list();
  if (busy === undefined || idle === undefined) throw new Error('the platform is not furnished');
  for (const value of [1, 2, 3, 4]) sandbox.instructions.execute(busy.instructionId, { value });
  return { sandbox, busy, idle, ...clientOfSandbox(sandbox) };
};

test('transactions.list returns the records of an address', async () => {
  const { payments, sandbox } = setup();
  const { data, nextSkip } = await payments.transactions.list({ address: owner });
  expect(data).toEqual(sandbox.transactions.list());
  expect(nextSkip).toBe(6);
});

test('transactions.list requests pages by position until a page is empty', async () => {
  const { payments, sandbox, requests } = setup();
  const records: unknown[] = [];
  for await (const record of payments.transactions.list({ address: owner, take: 4 })) {
    records.push(record);
  }
  expect(records).toEqual(sandbox.transactions.list());
  // A short page proves nothing, so the empty page is requested, too.
  expect(requests.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
    { address: owner, take: 4 },
    { address: owner, take: 4, skip: 4 },
    { address: owner, take: 4, skip: 6 },
  ]);
});

test('transactions.list starts at its skip', async () => {
  const { payments, sandbox } = setup();
  const records = await payments.transactions
    .list({ address: owner, skip: 5, take: 1 })
    .toArray({ max: 10 });
  expect(records).toEqual(sandbox.transactions.list().slice(5));
});

test('transactions.list filters by instruction and by time', async () => {
  const { payments, idle } = setup();
  const ofIdle = await payments.transactions.list({
    address: owner,
    instructionIds: [idle.instructionId],
  });
  expect(ofIdle.data.map(({ instructionId }) => instructionId)).toEqual([idle.instructionId]);
  const laterRecords = await payments.transactions.list({
    address: owner,
    from: new Date(Date.UTC(2027, 0, 1)),
  });
  expect(laterRecords).toEqual({ data: [], nextSkip: null });
});

test('a Date is sent as an ISO 8601 string and a string unchanged', async () => {
  const { payments, requests } = setup();
  await payments.transactions.list({
    address: owner,
    from: new Date(Date.UTC(2026, 0, 1, 12, 30)),
    to: '2026-12-31T23:59:59+02:00',
  });
  expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
    address: owner,
    from: '2026-01-01T12:30:00.000Z',
    to: '2026-12-31T23:59:59+02:00',
  });
});

test('any sort order is sent unchanged', async () => {
  const { payments, sandbox, requests } = setup();
  const { data } = await payments.transactions.list({ address: owner, sort: 'Descending' });
  expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({ sort: 'Descending' });
  expect(data).toEqual(sandbox.transactions.list().toReversed());
});
