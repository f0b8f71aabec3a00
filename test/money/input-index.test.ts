import * as fc from 'fast-check';
import type { Transfer, TransferCreateInput } from 'payments-platform-sdk';
import { expect, test } from 'vitest';
import { compareTransfer } from '../../src/search/compare.ts';
import { InputIndex } from '../../src/search/input-index.ts';
import { transfer } from '../support/values.ts';

/*
 * InputIndex must find every input that a transfer may belong to. This test makes the transfers
 * from the inputs, with changes that platforms make, and with values of another type, which
 * `validation: 'report'` lets through.
 */

const words = ['payroll-2026-11-', 'INV ', 'a', 'Rent & co ', 'x'.repeat(60), '4711', 'Ä'];
const descriptions = fc
  .tuple(fc.constantFrom(...words), fc.integer({ min: 0, max: 250 }), fc.constantFrom(...words, ''))
  .map(([start, number, end]) => `${start}${number}${end}`);
const amounts = fc.constantFrom('12.50', '12.5', '13', '0012.50');
const parties: fc.Arbitrary<object> = fc.constantFrom(
  { destinationAccountId: 'acc_2' },
  { destinationAccountId: 'ACC_2' },
  { destinationAccountId: 'acc_3' },
  { counterpartyId: 'cpty_1' },
  { counterpartyId: 'acc_2' },
);
const inputs = fc
  .tuple(descriptions, amounts, parties)
  .map(([description, amount, party]): TransferCreateInput => {
    return {
      sourceAccountId: 'acc_1',
      amount,
      description,
      ...party,
    } as unknown as TransferCreateInput;
  });

const encode = (text: string): string => btoa(unescape(encodeURIComponent(text)));
/** What a platform may make of a description. */
const changes: fc.Arbitrary<(text: string) => unknown> = fc.oneof(
  fc.constantFrom<(text: string) => unknown>(
    (text) => text,
    (text) => text.toUpperCase(),
    (text) => text.toLowerCase(),
    (text) => text.normalize('NFD'),
    (text) => text.replaceAll('&', 'and'),
    (text) => text.replaceAll('&', ' '),
    (text) => text.replaceAll('&', '&amp;amp;'),
    (text) => text.replaceAll(/[^a-z0-9]/gi, ''),
    (text) => encode(text),
    (text) => `SEPA ${encode(text)}`.slice(0, 40),
    (text) => text.padEnd(1_001, ' x'),
    (text) => 'x'.repeat(1_000) + text,
    (text) => text.repeat(2),
    () => '',
    () => '--',
    () => null,
    () => undefined,
    (text) => [text],
    (text) => Number(text.replaceAll(/\D/g, '')),
  ),
  fc.nat(80).map((length) => (text: string) => text.slice(0, length)),
  fc.nat(80).map((length) => (text: string) => text.slice(-length)),
  fc.tuple(fc.constantFrom('SEPA ', 'Ref: ', '2026', 'payroll-'), fc.nat(80)).map(
    ([prefix, length]) =>
      (text: string) =>
        (prefix + text).slice(0, length),
  ),
  fc.tuple(fc.constantFrom(' SEPA', '/0001', '1', '-11-'), fc.nat(20)).map(
    ([suffix, from]) =>
      (text: string) =>
        (text + suffix).slice(from),
  ),
  fc.nat(30).map((from) => (text: string) => encode(text).slice(from)),
);

/** Fields of a transfer that differ from its payment. */
const differences: fc.Arbitrary<object> = fc.record(
  {
    id: fc.constantFrom('txfr_1', '', null),
    amount: fc.constantFrom<unknown>('12.5', '12.50', '13.', undefined, 'USD 12.50', 12.5, null),
    destinationAccountId: fc.constantFrom<unknown>('acc_2', 'Acc-2', 'acc_9', '', null, 7, {}),
    counterpartyId: fc.constantFrom<unknown>('cpty_1', 'CPTY 1', 'acc_2', '', null, 7, ['cpty_1']),
    currency: fc.constantFrom<unknown>('usdc', 'USDT', '', null),
    sourceAccountId: fc.constantFrom<unknown>('acc_1', 'acc_8', '', null),
  },
  { requiredKeys: [] },
);

interface Case {
  readonly inputs: readonly TransferCreateInput[];
  readonly listed: readonly Transfer[];
}

const casesOf = (size: number): fc.Arbitrary<Case> =>
  fc.array(inputs, { minLength: size, maxLength: size }).chain((all) =>
    fc
      .array(fc.tuple(fc.nat(size - 1), changes, differences, fc.boolean()), {
        minLength: 20,
        maxLength: 20,
      })
      .map((rows): Case => {
        const listed = rows.map(([at, change, difference, isSame]): Transfer => {
          const { description = '', ...fields } = all[at] ?? {};
          const { destinationAccountId: _, ...base } = transfer;
          const text = change(description);
          return { ...base, ...fields, description: text, ...(!isSame && difference) } as Transfer;
        });
        return { inputs: all, listed };
      }),
  );

// Each run compares 20 transfers with the inputs.
test.each([
  [1, 20],
  [9, 150],
  [200, 12],
])('InputIndex of %i inputs finds each transfer, even with changed fields', (size, numRuns) => {
  const counts = { compared: 0, found: 0, certain: 0 };
  fc.assert(
    fc.property(casesOf(size), ({ inputs: all, listed }) => {
      const targets = all.map((input) => ({ input }));
      const index = new InputIndex(targets);
      for (const each of listed) {
        const matches = new Set(index.find(each));
        const missed = targets.filter(
          (target) => !matches.has(target) && compareTransfer(each, target.input) !== 'other',
        );
        expect(missed, JSON.stringify(each)).toEqual([]);
        counts.found += matches.size;
        counts.compared += targets.length;
        counts.certain += all.filter((input) => compareTransfer(each, input) === 'same').length;
      }
    }),
    { numRuns },
  );
  // Without matches the test would prove nothing. Without omissions the index would do nothing.
  expect(counts.certain).toBeGreaterThan(5);
  if (size > 1) expect(counts.found).toBeLessThan(counts.compared / 2);
});

test.each([
  ['payroll-2026-10-00777', 0],
  ['REF payroll-2026-10-00777', 0],
  ['payroll-2026-10-00777 REF', 0],
  ['REF payroll-2026-11-00777 of 2026', 1],
  ['payroll-2026-11-0077', 10],
  ['11-00777', 1],
])('InputIndex matches %s with %i of 1,000 similar references', (description, count) => {
  const targets = Array.from({ length: 1_000 }, (_, at) => {
    const reference = `payroll-2026-11-${String(at).padStart(5, '0')}`;
    const amount = '1.00';
    return {
      input: { ...transfer, amount, destinationAccountId: 'acc_2', description: reference },
    };
  });
  const index = new InputIndex(targets as unknown as { input: TransferCreateInput }[]);
  const listed = { ...transfer, amount: '1.00', destinationAccountId: 'acc_2', description };
  expect([...index.find(listed as Transfer)]).toHaveLength(count);
});
