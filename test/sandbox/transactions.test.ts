import { Sandbox } from 'payments-platform-sdk/sandbox';
import { TransactionSchema } from 'payments-platform-sdk/schemas';
import { expect, test } from 'vitest';
import { call, containing } from './calls.ts';

const owner = '0x00000000000000000000000000000000000000Aa';
const start = Date.UTC(2026, 0, 1);

/** Two Instructions of one address and one of another; every transaction is a minute apart. */
function setup(firstMs = start) {
  let now = firstMs - 60_000;
  const sandbox = new Sandbox({ clock: { now: () => now } });
  const minutely = <T>(step: () => T): T => {
    now += 60_000;
    return step();
  };
  const create = (address: `0x${string}`, salt: number) =>
    minutely(() =>
      sandbox.instructions.create({
        address,
        chainId: 10,
        salt,
        maxExecutions: 500,
        actionArguments: { sweep: {} },
      }),
    ).instructionId;
  const one = create(owner, 1);
  const two = create(owner, 2);
  create(`0x${'1'.repeat(40)}`, 3);
  minutely(() => sandbox.instructions.execute(one));
  minutely(() => sandbox.instructions.execute(two, { status: 'Reverted' }));
  minutely(() => sandbox.instructions.deactivate(one));
  const list = async (more: object = {}) => {
    const { status, body } = await call(sandbox, 'GET', '/transactions', {
      address: owner,
      ...more,
    });
    expect(status).toBe(200);
    return (body as { transactionHash: string }[]).map(({ transactionHash }) => transactionHash);
  };
  return { sandbox, one, two, list, minutely };
}

test('an Instruction gets transactions for creation, execution and deactivation', async () => {
  const { sandbox, one } = setup();
  const { status, body } = await call(sandbox, 'GET', '/transactions', {
    address: owner,
    instructionIds: [one],
  });
  expect(status).toBe(200);
  const records = body as Record<string, unknown>[];
  for (const record of records) {
    expect(TransactionSchema.safeParse(record).success).toBe(true);
    expect(record).toMatchObject({ address: owner, instructionId: one, chainId: 10 });
    expect(record['transactionHash']).toMatch(/^0x[0-9a-f]{64}$/);
    expect(record['blockHash']).toMatch(/^0x[0-9a-f]{64}$/);
  }
  const seconds = start / 1000;
  expect(records).toMatchObject([
    { activation: true, deactivation: false, createdAtUnix: seconds },
    { activation: false, deactivation: false, finishedAtUnix: seconds + 180 },
    { activation: false, deactivation: true, startedAtUnix: seconds + 300 },
  ]);
  const blocks = sandbox.transactions
    .list()
    .flatMap(({ startedAtBlock, finishedAtBlock }) => [startedAtBlock, finishedAtBlock])
    .map(Number);
  expect(blocks).toEqual([...new Set(blocks)].toSorted((a, b) => a - b));
  expect(new Set(sandbox.transactions.list().map((record) => record.transactionHash)).size).toBe(6);
});

test('transactionStatus is the status given to instructions.execute, or Success', () => {
  const { sandbox } = setup();
  expect(sandbox.transactions.list().map((record) => record.transactionStatus)).toEqual([
    'Success',
    'Success',
    'Success',
    'Success',
    'Reverted',
    'Success',
  ]);
});

test('transactions.list filters by address and instruction in any case', async () => {
  const { one, two, list } = setup();
  const all = await list();
  expect(all).toHaveLength(5);
  expect(await list({ address: owner.toLowerCase() })).toEqual(all);
  expect(await list({ address: `0x${'9'.repeat(40)}` })).toEqual([]);
  expect(await list({ instructionIds: [two] })).toEqual([all[1], all[3]]);
  expect(await list({ instructionIds: [two.toUpperCase().replace('0X', '0x')] })).toHaveLength(2);
  expect(await list({ instructionIds: [one, two] })).toEqual(all);
  expect(await list({ instructionIds: [] })).toEqual([]);
});

test('transactions.list includes transactions at exactly `from` and `to`', async () => {
  const { list } = setup();
  const all = await list();
  const at = (minute: number, ms = 0) => new Date(start + minute * 60_000 + ms).toISOString();
  expect(await list({ from: at(1) })).toEqual(all.slice(1));
  expect(await list({ from: at(1, 1) })).toEqual(all.slice(2));
  expect(await list({ to: at(3) })).toEqual(all.slice(0, 3));
  expect(await list({ to: at(3, -1) })).toEqual(all.slice(0, 2));
  expect(await list({ from: at(1), to: at(4) })).toEqual(all.slice(1, 4));
  expect(await list({ from: at(9) })).toEqual([]);
  expect(await list({ from: '2026-01-01T01:01:00+01:00' })).toEqual(all.slice(1));
});

test('transactions.list compares `from` and `to` with the shown whole seconds', async () => {
  const { list } = setup(start + 500);
  const all = await list();
  const formatMinute = (minute: number) => new Date(start + minute * 60_000).toISOString();
  expect(await list({ to: formatMinute(3) })).toEqual(all.slice(0, 3));
  expect(await list({ from: formatMinute(3) })).toEqual(all.slice(2));
  expect(await list({ from: formatMinute(3), to: formatMinute(3) })).toEqual([all[2]]);
});

test('transactions.list sorts before it applies `skip` and `take`', async () => {
  const { list } = setup();
  const all = await list();
  expect(await list({ sort: 'Ascending' })).toEqual(all);
  expect(await list({ sort: 'Descending' })).toEqual(all.toReversed());
  expect(await list({ skip: 1, take: 2 })).toEqual(all.slice(1, 3));
  expect(await list({ sort: 'Descending', skip: 1, take: 2 })).toEqual([all[3], all[2]]);
  expect(await list({ skip: 5 })).toEqual([]);
});

test('transactions.list returns 50 transactions by default, at most 100', async () => {
  const { sandbox, two, list } = setup();
  for (let count = 0; count < 120; count += 1) sandbox.instructions.execute(two);
  expect(await list()).toHaveLength(50);
  expect(await list({ take: 99 })).toHaveLength(99);
  expect(await list({ take: 1000 })).toHaveLength(100);
  expect(await list({ take: 1000, skip: 100 })).toHaveLength(25);
});

test.each([
  [{ sort: 'Sideways' }, 'sort'],
  [{ take: 0 }, 'take'],
  [{ skip: -1 }, 'skip'],
  [{ from: 'yesterday' }, 'from'],
  [{ instructionIds: ['x'] }, 'instructionIds[0]'],
  [{ address: undefined }, 'address'],
])('transactions.list of the sandbox rejects %o', async (more, field) => {
  const { sandbox } = setup();
  const { status, body } = await call(sandbox, 'GET', '/transactions', { address: owner, ...more });
  expect(status).toBe(422);
  expect(body).toMatchObject({
    details: { fields: { [field]: containing('expected') } },
  });
});

test('sandbox.transactions.list returns copies', () => {
  const { sandbox } = setup();
  for (const record of sandbox.transactions.list()) {
    Object.assign(record, { transactionStatus: 'changed' });
  }
  expect(sandbox.transactions.list()[0]?.transactionStatus).toBe('Success');
});
