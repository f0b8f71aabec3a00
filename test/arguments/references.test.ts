import { ValidationError, type OnceInput } from 'payments-platform-sdk';
import { OnceInputSchema } from 'payments-platform-sdk/schemas';
import { expect, test } from 'vitest';
import { clientOf, failureOf } from '../support/clients.ts';
import { newTransfer } from '../support/values.ts';

const rewritten = 'Banks rewrite or cut such characters: replace it, as in "Mueller" for "Müller"';
const form =
  'It has a letter or digit, no space at either end, and is the same at every call for this payment, and for no other';
const lost =
  'A value was missing when this reference was made, so other payments would get it, too';
const expectations = new Map([
  [rewritten, 'printable ASCII characters'],
  [lost, 'a reference of one payment'],
]);

test.each(['annulled-7', 'nullify 7', 'Nan-2026-11', 'NULL-7', 'FINANCE-7'])(
  'the reference %j is accepted although the text contains the letters of null or NaN',
  async (description) => {
    expect(OnceInputSchema.safeParse({ ...newTransfer, description }).success).toBe(true);
  },
);

test.each<[reference: unknown, got: string, hint: string]>([
  ['Müller Rechnung', 'got "ü" at position 2', rewritten],
  ['Invoice 👍🏽 7', 'got "👍" at position 9', rewritten],
  ['line\nbreak', 'got U+000A at position 5', rewritten],
  ['zero\u200Bwidth', 'got U+200B at position 5', rewritten],
  ['no\u00A0break', 'got U+00A0 at position 3', rewritten],
  ['escape\u001B[2J', 'got U+001B at position 7', rewritten],
  ['7'.repeat(141), 'got 141 characters', form],
  [' invoice 7', 'got a space at the start or end', form],
  ['invoice 7 ', 'got a space at the start or end', form],
  ['---', 'got no letter or digit', form],
  ['payroll-undefined', 'got "undefined" in it', lost],
  ['payroll2026undefined', 'got "undefined" in it', lost],
  ['null', 'got "null" in it', lost],
  ['payroll-2026null', 'got "null" in it', lost],
  ['invoice NaN', 'got "NaN" in it', lost],
  ['invoice [object Object]', 'got "[object Object]" in it', lost],
  ['', 'got ""', form],
  [undefined, 'missing', form],
  [4711, 'got 4711', form],
])('createOnce says what is wrong with the reference %j', async (description, got, hint) => {
  const input = { ...newTransfer, description } as unknown as OnceInput;
  const { payments, requests } = clientOf();
  const expected = expectations.get(hint) ?? 'a reference of 1 to 140 printable ASCII characters';
  const message = `${got}; expected ${expected}. ${hint}`;
  const error = await failureOf(payments.transfers.createOnce(input), ValidationError);
  expect(error.issues).toEqual([{ path: 'description', message }]);
  expect(requests).toEqual([]);
  const { issues } = OnceInputSchema.safeParse(input).error ?? {};
  expect(issues?.[0]).toMatchObject({ path: ['description'], message });
});
