import type {
  InstructionBuildInput,
  InstructionListInput,
  TransactionListInput,
} from 'payments-platform-sdk';
import { describe, expect, test } from 'vitest';
import { buildInput, owner } from '../support/platform.ts';
import { whichFail } from '../support/which-fail.ts';
import { rejection, table, type Row } from './refusal.ts';

const badAddresses: readonly unknown[] = [
  undefined,
  null,
  '',
  '0x',
  `${owner}g`,
  owner.slice(2),
  `0X${owner.slice(2)}`,
  `0x${'g'.repeat(40)}`,
  ` ${owner}`,
  `${owner}\n`,
  5,
  2n ** 159n,
];
const addressRule = /expected an address: "0x" and hexadecimal digits/;
/** An object whose one deeply nested field is another value. */
const withRefuel = (change: object): InstructionBuildInput => {
  const { refuelERC20 } = buildInput.actionArguments;
  return { ...buildInput, actionArguments: { refuelERC20: { ...refuelERC20, ...change } } };
};
const withFee = (change: object) =>
  withRefuel({ fee: { ...buildInput.actionArguments.refuelERC20.fee, ...change } });

describe('instructions.build', () => {
  const named = (value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : JSON.stringify(value);
  const integers: readonly (readonly [unknown, RegExp])[] = [
    [2 ** 53, /beyond 2\^53 - 1; expected a bigint/],
    [-(2 ** 53), /expected a bigint/],
    [1e21, /expected a bigint/],
    [1.5, /expected a whole number \(number or bigint\)/],
    [Number.NaN, /expected a whole number/],
    [Number.POSITIVE_INFINITY, /expected a whole number/],
    ['7', /expected a whole number/],
    [null, /expected a whole number/],
    [undefined, /expected a whole number/],
  ];
  const fields: readonly (readonly [string, (value: unknown) => unknown])[] = [
    ['chainId', (value) => ({ ...buildInput, chainId: value })],
    ['salt', (value) => ({ ...buildInput, salt: value })],
    ['maxExecutions', (value) => ({ ...buildInput, maxExecutions: value })],
    ['actionArguments.refuelERC20.threshold', (threshold) => withRefuel({ threshold })],
    ['actionArguments.refuelERC20.endBalance', (endBalance) => withRefuel({ endBalance })],
    [
      'actionArguments.refuelERC20.fee.maxBaseFeePerGas',
      (maxBaseFeePerGas) => withFee({ maxBaseFeePerGas }),
    ],
    [
      'actionArguments.refuelERC20.fee.maxPriorityFeePerGas',
      (maxPriorityFeePerGas) => withFee({ maxPriorityFeePerGas }),
    ],
    ['actionArguments.refuelERC20.fee.executionFee', (executionFee) => withFee({ executionFee })],
  ];
  table(
    'instructions.build refuses every number that is not whole or not exact',
    fields.flatMap(([path, input]) =>
      integers.map(([value, says]): Row => [
        `${named(value)} as ${path}`,
        input(value),
        path,
        says,
      ]),
    ),
    'instructions.build',
  );

  const addressed: readonly (readonly [string, (value: unknown) => unknown])[] = [
    ['address', (address) => ({ ...buildInput, address })],
    ['actionArguments.refuelERC20.token', (token) => withRefuel({ token })],
    ['actionArguments.refuelERC20.target', (target) => withRefuel({ target })],
    ['actionArguments.refuelERC20.fee.token', (token) => withFee({ token })],
  ];
  table(
    'instructions.build refuses every address that is not hexadecimal',
    addressed.flatMap(([path, input]) =>
      badAddresses.map((value): Row => [
        `${named(value)} as ${path}`,
        input(value),
        path,
        addressRule,
      ]),
    ),
    'instructions.build',
  );

  const at = 'actionArguments';
  table(
    'instructions.build refuses a call without an action, or with a field that nobody knows',
    [
      ['no action', { ...buildInput, actionArguments: {} }, at, /at least one action kind/],
      [
        'an action of undefined',
        { ...buildInput, actionArguments: { refuelERC20: undefined } },
        at,
        /at least one action kind/,
      ],
      ['a list of actions', { ...buildInput, actionArguments: [] }, at, /expected an object/],
      ['an unknown field', { ...buildInput, nonce: 1 }, 'nonce', /unknown field/],
      ['an unknown argument', withRefuel({ gas: 1 }), `${at}.refuelERC20.gas`, /unknown field/],
      ['an unknown fee', withFee({ tip: 1 }), `${at}.refuelERC20.fee.tip`, /unknown field/],
      [
        'no fee',
        withRefuel({ fee: undefined }),
        `${at}.refuelERC20.fee`,
        /got nothing; expected an object/,
      ],
    ],
    'instructions.build',
  );
});

test('instructions.list refuses every address that is not hexadecimal', async () => {
  const rows = badAddresses.map((address) => [String(address), address] as const);
  const accepted = await whichFail(rows, async (address) => {
    const error = await rejection((payments) =>
      payments.instructions.list({ address } as InstructionListInput),
    );
    expect(error.issues).toEqual([
      { path: 'address', message: expect.stringMatching(addressRule) },
    ]);
  });
  expect(accepted).toEqual([]);
});

describe('transactions.list', () => {
  const moments: readonly unknown[] = [
    '',
    'yesterday',
    '2026-01-01',
    '2026-01-01T00:00:00',
    '2026-01-01 00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01T25:00:00Z',
    '01/02/2026',
    1_767_225_600_000,
    new Date(Number.NaN),
    null,
  ];
  table(
    'transactions.list refuses every filter that the platform would not take',
    [
      ...(['from', 'to'] as const).flatMap((field) =>
        moments.map((value): Row => [
          `${field}: ${String(value)}`,
          { address: owner, [field]: value },
          field,
          /expected a valid Date or string such as/,
        ]),
      ),
      ...['', '0x', '0xg', 'xyz', `0x${'0'.repeat(1_025)}`, 5, null].map((value): Row => [
        `the instruction id ${String(value).slice(0, 12)}`,
        { address: owner, instructionIds: ['0xabc', value] },
        'instructionIds[1]',
        /expected hexadecimal text/,
      ]),
      [
        'instruction ids that are no list',
        { address: owner, instructionIds: '0xabc' },
        'instructionIds',
        /array of instruction ids/,
      ],
      ...[-1, 1.5, '1', 2 ** 53, -1n, 2n ** 53n, null].map((skip): Row => [
        `skip: ${typeof skip} ${String(skip)}`,
        { address: owner, skip },
        'skip',
        /whole number, 0 or more/,
      ]),
      ...[0, -1, 1.5, '10', null].map((take): Row => [
        `take: ${JSON.stringify(take)}`,
        { address: owner, take },
        'take',
        /whole number above 0/,
      ]),
      ['an empty sort', { address: owner, sort: '' }, 'sort', /such as "Ascending"/],
      ['no address', {}, 'address', /^missing; expected an address/],
      ['an unknown field', { address: owner, limit: 5 }, 'limit', /unknown field/],
      ['nothing', undefined, '', /got nothing; expected an object/],
      ['an address alone', owner, '', /got a string; expected an object/],
    ],
    'transactions.list',
  );

  test('a walk through transactions is refused for the same reason as a page of them', async () => {
    const error = await rejection(async (payments) => {
      for await (const record of payments.transactions.list({} as TransactionListInput)) {
        throw new Error(`there is a record: ${record.transactionHash}`);
      }
    });
    expect(error.issues).toMatchObject([{ path: 'address' }]);
  });
});
