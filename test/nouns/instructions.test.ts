import { NotFoundError } from 'payments-platform-sdk';
import { expect, test } from 'vitest';
import { failureOf, clientOf } from '../support/clients.ts';
import { buildInput, clientOfSeededSandbox, owner } from '../support/platform.ts';

test('instructions.build returns a payload that can be registered', async () => {
  const { payments, sandbox } = clientOfSeededSandbox();
  const built = await payments.instructions.build({ ...buildInput, salt: 99 });
  expect(built).toMatchObject({ salt: 99, maxExecutions: 10 });
  expect(built.action).toMatch(/^0x[0-9a-f]{40}$/);
  expect(built.arguments).toMatch(/^0x[0-9a-f]+$/);
  const { instructionId } = sandbox.instructions.create({ address: owner, ...built });
  const listed = await payments.instructions.list({ address: owner });
  expect(listed.map((instruction) => instruction.instructionId)).toContain(instructionId);
});

test('instructions.list returns all instructions of an address in one request', async () => {
  const { payments, sandbox } = clientOfSeededSandbox();
  const [first, second] = sandbox.instructions.list();
  sandbox.instructions.execute(first?.instructionId ?? '', { value: '250000' });
  sandbox.instructions.deactivate(second?.instructionId ?? '');
  const listed = await payments.instructions.list({ address: owner });
  expect(listed).toHaveLength(2);
  expect(listed[0]).toMatchObject({
    lastInstructedValue: '250000',
    executionState: { executionCounter: 1 },
  });
  expect(listed[1]?.executionState.executionStatus).toBe('Deactivated');
  expect(await payments.instructions.list({ address: `0x${'0'.repeat(40)}` })).toEqual([]);
});

test('a bigint is written as digits and read back without loss', async () => {
  const huge = 2n ** 64n + 1n;
  const { payments, requests } = clientOf(
    () => new Response(`{"salt":${huge},"maxExecutions":1,"action":"0xa","arguments":"0xb"}`),
  );
  const built = await payments.instructions.build({ ...buildInput, salt: huge });
  expect(requests[0]?.body).toContain(`"salt":${huge},`);
  expect(built.salt).toBe(huge);
  expect(built.maxExecutions).toBe(1);
});

test('an undocumented action kind is passed through', async () => {
  const { payments, requests } = clientOfSeededSandbox();
  const actionArguments = { stakeETH: { amount: 5n, when: 'soon', nested: [null] } };
  await payments.instructions.build({ ...buildInput, actionArguments });
  expect(requests[0]?.body).toContain(
    '"actionArguments":{"stakeETH":{"amount":5,"when":"soon","nested":[null]}}',
  );
});

test('an error of the root API has its own operation and path', async () => {
  const { payments, sandbox } = clientOfSeededSandbox();
  sandbox.faults.add({
    operation: 'instructions.list',
    fault: { kind: 'status', status: 404, code: 'nobody' },
  });
  const error = await failureOf(payments.instructions.list({ address: owner }), NotFoundError);
  expect(error).toMatchObject({
    code: 'nobody',
    operation: 'instructions.list',
    method: 'GET',
    path: '/instructions/all',
  });
});

test('an address may be of any length', async () => {
  const { payments, requests } = clientOf(() => Response.json([]));
  for (const address of ['0xabc', `0x${'A1'.repeat(32)}`] as const) {
    expect(await payments.instructions.list({ address })).toEqual([]);
    expect(JSON.parse(requests.at(-1)?.body ?? '')).toEqual({ address });
  }
});
