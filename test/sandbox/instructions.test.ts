import type { BuiltInstruction } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { InstructionSchema } from 'payments-platform-sdk/schemas';
import { expect, test } from 'vitest';
import { parseJson } from '../../src/internal/json.ts';
import { call, matching } from './calls.ts';
import { builtInstructionSchema } from '../../src/schemas/instruction.ts';

const owner = '0x00000000000000000000000000000000000000Aa';
const token = '0x00000000000000000000000000000000000000bb';
const huge = 123456789012345678901234567890n;
const input = {
  address: owner,
  chainId: 8453,
  salt: huge,
  maxExecutions: 2,
  actionArguments: {
    refuelERC20: {
      token,
      target: '0x00000000000000000000000000000000000000cc',
      threshold: 1,
      endBalance: huge,
      fee: { token, maxBaseFeePerGas: 1, maxPriorityFeePerGas: 2, executionFee: 3 },
    },
  },
} as const;
const decoded = (blob: string) => parseJson(Buffer.from(blob.slice(2), 'hex').toString('utf8'));

test('POST /instruction/build returns an Instruction whose encoded arguments keep every digit', async () => {
  const { status, body } = await call(new Sandbox(), 'POST', '/instruction/build', input);
  expect(status).toBe(200);
  expect(builtInstructionSchema().safeParse(body).success).toBe(true);
  expect(body).toEqual({
    salt: huge,
    maxExecutions: 2,
    action: matching(/^0x[0-9a-f]{40}$/),
    arguments: matching(/^0x([0-9a-f]{2})+$/),
  });
  expect(decoded((body as { arguments: string }).arguments)).toEqual(input.actionArguments);
});

test('POST /instruction/build returns one action address for each kind of action', async () => {
  const actionOf = async (actionArguments: unknown) => {
    const response = await call(new Sandbox(), 'POST', '/instruction/build', {
      ...input,
      actionArguments,
    });
    return (response.body as { action: string }).action;
  };
  const refuel = await actionOf(input.actionArguments);
  expect(refuel).not.toMatch(/^0x(.{8})\1/);
  expect(await actionOf(input.actionArguments)).toBe(refuel);
  expect(await actionOf({ sweep: { to: 'é' } })).not.toBe(refuel);
  expect(await actionOf({ sweep: 1 })).toBe(await actionOf({ sweep: 2 }));
});

test.each([
  [{ ...input, address: '0x' }, 'address'],
  [{ ...input, salt: 1.5 }, 'salt'],
  [{ ...input, actionArguments: {} }, 'actionArguments'],
  [{ ...input, actionArguments: { a: 1, b: 2 } }, 'actionArguments'],
  [{ ...input, actionArguments: { refuelERC20: {} } }, 'actionArguments.refuelERC20.fee'],
  [{ ...input, nickname: 'x' }, 'nickname'],
])(
  'POST /instruction/build names an invalid field with status 422 (case %#)',
  async (body, field) => {
    const response = await call(new Sandbox(), 'POST', '/instruction/build', body);
    expect(response.status).toBe(422);
    expect(response.body).toMatchObject({ code: 'validation_failed' });
    expect(
      Object.keys((response.body as { details: { fields: object } }).details.fields),
    ).toContain(field);
  },
);

test('GET /instructions/all finds a created Instruction by address in any case', async () => {
  const sandbox = new Sandbox();
  const built = await call(sandbox, 'POST', '/instruction/build', input);
  const terms = built.body as BuiltInstruction;
  const created = sandbox.instructions.create({ ...terms, address: owner, nickname: 'Gas' });
  expect(created).toEqual({
    action: terms.action,
    arguments: terms.arguments,
    executionState: { executionCounter: 0, executionStatus: 'Active', lastExecuted: 0 },
    instructedTokenAddress: token,
    instructionId: matching(/^0x[0-9a-f]{64}$/),
    lastInstructedValue: '0',
    maxExecutions: 2,
    nickname: 'Gas',
    salt: huge,
    totalInstructedValue: '0',
  });
  sandbox.instructions.create({ ...input, address: `0x${'1'.repeat(40)}` });
  for (const address of [owner, owner.toLowerCase()]) {
    const listed = await call(sandbox, 'GET', '/instructions/all', { address });
    expect(listed.status).toBe(200);
    expect(listed.body).toEqual([created]);
  }
  expect(InstructionSchema.safeParse(created).success).toBe(true);
  const stranger = { address: `0x${'9'.repeat(40)}` };
  const otherAddress = await call(sandbox, 'GET', '/instructions/all', stranger);
  expect(otherAddress.body).toEqual([]);
  expect(sandbox.instructions.list()).toHaveLength(2);
});

test('instructions.create takes input or a built Instruction, with equal results', () => {
  const [one, two] = [new Sandbox(), new Sandbox()];
  const fromInput = one.instructions.create(input);
  const fromBuilt = two.instructions.create({
    address: owner,
    chainId: 8453,
    salt: huge,
    maxExecutions: 2,
    action: fromInput.action,
    arguments: fromInput.arguments,
  });
  expect(fromBuilt).toEqual(fromInput);
  expect(one.instructions.get(fromInput.instructionId)).toEqual(fromInput);
  expect(fromInput.nickname).toBe('');
});

test('instructions.create rejects the same terms, except with another salt', () => {
  const sandbox = new Sandbox();
  const { instructionId } = sandbox.instructions.create(input);
  expect(() => sandbox.instructions.create({ ...input, nickname: 'again' })).toThrow(
    'another salt makes it distinct',
  );
  const other = sandbox.instructions.create({ ...input, salt: 1 });
  expect(other.instructionId).not.toBe(instructionId);
});

test.each([
  ['0xff00', 'bytes that are no text'],
  ['0x7b7d', 'an object without the kind'],
  ['0x5', 'half a byte'],
] as const)(
  'instructions.create accepts arguments that the sandbox did not build: %s, %s',
  (blob, _what) => {
    const { instructedTokenAddress } = new Sandbox().instructions.create({
      address: owner,
      salt: 1,
      maxExecutions: 1,
      action: token,
      arguments: blob,
    });
    expect(instructedTokenAddress).toBe(`0x${'0'.repeat(40)}`);
  },
);

test('instructions.execute adds up its values and stops at maxExecutions', () => {
  let now = 1_700_000_000_000;
  const sandbox = new Sandbox({ clock: () => (now += 60_000) });
  const { instructionId } = sandbox.instructions.create(input);
  const first = sandbox.instructions.execute(instructionId, { value: 2n ** 70n });
  expect(sandbox.instructions.get(instructionId)).toMatchObject({
    executionState: {
      executionCounter: 1,
      executionStatus: 'Active',
      lastExecuted: first.finishedAtUnix,
    },
    lastInstructedValue: String(2n ** 70n),
    totalInstructedValue: String(2n ** 70n),
  });
  sandbox.instructions.execute(instructionId.toUpperCase().replace('0X', '0x'), { value: '10' });
  expect(sandbox.instructions.get(instructionId)).toMatchObject({
    executionState: { executionCounter: 2 },
    lastInstructedValue: '10',
    totalInstructedValue: String(2n ** 70n + 10n),
  });
  expect(() => sandbox.instructions.execute(instructionId)).toThrow('has run 2 times');
  expect(sandbox.transactions.list()).toHaveLength(3);
});

test('instructions.deactivate ends an Instruction, so execute rejects', async () => {
  const sandbox = new Sandbox();
  const { instructionId } = sandbox.instructions.create(input);
  sandbox.instructions.execute(instructionId);
  const deactivated = sandbox.instructions.deactivate(instructionId);
  expect(deactivated.executionState).toMatchObject({
    executionStatus: 'Deactivated',
    executionCounter: 1,
  });
  const listed = await call(sandbox, 'GET', '/instructions/all', { address: owner });
  expect(listed.body).toEqual([deactivated]);
  expect(() => sandbox.instructions.execute(instructionId)).toThrow('is deactivated');
  expect(() => sandbox.instructions.deactivate(instructionId)).toThrow('is deactivated');
});

test('sandbox.instructions rejects invalid input', () => {
  const sandbox = new Sandbox();
  const { instructionId } = sandbox.instructions.create(input);
  const { instructions } = sandbox;
  expect(() => instructions.get('0x00')).toThrow('No instruction "0x00" exists');
  expect(() => instructions.create({ ...input, chainId: 1.5 })).toThrow(
    'chainId: expected a whole',
  );
  expect(() =>
    instructions.create({
      address: owner,
      salt: 1,
      maxExecutions: 1,
      action: token,
      arguments: '0xzz',
    }),
  ).toThrow('arguments: expected a hexadecimal string');
  for (const value of [-1, 1.5, '1.0', '', 'x', -1n]) {
    expect(() => instructions.execute(instructionId, { value })).toThrow('value: expected a whole');
  }
  expect(() => instructions.execute(instructionId, { status: '' })).toThrow('status: expected');
  expect(instructions.get(instructionId).executionState.executionCounter).toBe(0);
});
