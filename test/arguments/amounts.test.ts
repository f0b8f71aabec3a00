import { compareAmounts, sumAmounts, ValidationError } from 'payments-platform-sdk';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

/** An amount, and its value in units of 10^-18. */
const amounts = fc
  .record({
    isNegative: fc.boolean(),
    whole: fc.stringMatching(/^\d{1,30}$/),
    fraction: fc.stringMatching(/^\d{0,18}$/),
  })
  .map(({ isNegative, whole, fraction }) => ({
    text: `${isNegative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`,
    units: BigInt(whole + fraction.padEnd(18, '0')) * (isNegative ? -1n : 1n),
  }));

test('sumAmounts and compareAmounts are exact for amounts of every length', () => {
  fc.assert(
    fc.property(fc.array(amounts, { maxLength: 20 }), amounts, amounts, (list, a, b) => {
      const sum = sumAmounts(list.map(({ text }) => text));
      expect(sum).toMatch(/^(0|-?(?=.*[1-9])(0|[1-9]\d*)(\.\d*[1-9])?)$/);
      const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)\.?(\d*)$/.exec(sum) ?? [];
      const total = list.reduce((units, amount) => units + amount.units, 0n);
      expect(BigInt(sign + whole + fraction.padEnd(18, '0'))).toBe(total);
      const order = a.units < b.units ? -1 : Number(a.units > b.units);
      expect(compareAmounts(a.text, b.text)).toBe(order);
      expect(compareAmounts(b.text, a.text)).toBe(order === 0 ? 0 : -order);
    }),
  );
});

test('sumAmounts writes the sum without leading or trailing zeros', () => {
  expect(sumAmounts([])).toBe('0');
  expect(sumAmounts(['1.50'])).toBe('1.5');
  expect(sumAmounts(['0.1', '0.2'])).toBe('0.3');
  expect(sumAmounts(['1.00', '-1'])).toBe('0');
  expect(sumAmounts(['-0.00'])).toBe('0');
  expect(sumAmounts(['-0.5', '0.25'])).toBe('-0.25');
  expect(sumAmounts(['007', '0.500'])).toBe('7.5');
  const most = '9'.repeat(30);
  expect(sumAmounts([`${most}.999999999999999999`, '0.000000000000000001'])).toBe(
    `1${'0'.repeat(30)}`,
  );
  expect(sumAmounts(new Set(['1', '2']))).toBe('3');
});

test('compareAmounts sorts amounts by value', () => {
  const list = ['10', '-1', '9.99', '0', '1e1'.slice(0, 1), '9.990'];
  expect(list.toSorted(compareAmounts)).toEqual(['-1', '0', '1', '9.99', '9.990', '10']);
});

const notAmounts: readonly unknown[] = [
  ...['', ' 1', '1 ', '+1', '--1', '1.', '.5', '1,50', '1e3', '0x1', 'NaN', 'Infinity', '١', '1\n'],
  ...['9'.repeat(31), `0.${'1'.repeat(19)}`, 1, 1.5, 0, null, undefined, {}, ['1'], true],
];

test.each(notAmounts.map((value) => [value]))(
  'sumAmounts and compareAmounts reject %j',
  (value) => {
    const amount = value as string;
    for (const [path, run] of [
      ['amounts[1]', () => sumAmounts(['1', amount])],
      ['a', () => compareAmounts(amount, '1')],
      ['b', () => compareAmounts('1', amount)],
    ] as const) {
      const error = catchError(run);
      expect(error).toBeInstanceOf(ValidationError);
      expect(error).toMatchObject({ outcome: 'not_sent', issues: [{ path }] });
      expect(String(error)).toContain(`Invalid ${path}: `);
    }
  },
);

test.each([undefined, null, '12', 5, {}])('sumAmounts rejects %j instead of a list', (value) => {
  const error = catchError(() => sumAmounts(value as unknown as string[]));
  expect(error).toMatchObject({ name: 'ValidationError', issues: [{ path: 'amounts' }] });
});

function catchError(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}
