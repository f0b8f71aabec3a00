import { canonicalAmount } from '../internal/amounts.ts';
import { isOnCalendar } from '../internal/formats.ts';
import { defaultCurrency } from '../internal/terms.ts';
import type { Transfer, TransferCreateInput } from '../schemas/transfer.ts';

/** How likely a Transfer in the platform's list is the payment that an input describes. */
type Likeness = 'same' | 'unclear' | 'other';

/**
 * Compares a listed Transfer with the payment of an input. If the list leaves a field out, or
 * writes the field differently from what was sent, the Transfer may still be the payment.
 */
export function compareTransfer(transfer: Transfer, input: TransferCreateInput): Likeness {
  const fields = compareFields(transfer, input);
  // If the reference is the same, other terms prove nothing, because platforms may rewrite terms.
  if (fields === 'other') return hasSameReference(transfer, input) ? 'unclear' : 'other';
  // Descriptions are compared last, because comparing them is slow and few transfers get this far.
  const likeness = compareDescriptions(transfer.description, input.description ?? '');
  return likeness === 'same' ? fields : likeness;
}

/**
 * Whether a Transfer is certainly not the payment that an input describes. A different description
 * alone does not prove that, because the platform may have changed the description.
 */
export const isCertainlyOther = (transfer: Transfer, input: TransferCreateInput): boolean =>
  !hasEqualTerms(transfer, input) && !hasSameReference(transfer, input);

/** Whether a Transfer may have the terms of an input: apart from the description, no field certainly differs. */
export const hasEqualTerms = (transfer: Transfer, input: TransferCreateInput): boolean =>
  compareFields(transfer, input) !== 'other';

/** Whether a Transfer is not listed as incoming. A book transfer may be listed on both sides. */
export const isOutgoing = ({ direction }: Transfer): boolean => direction !== 'incoming';

/** Key made of a transfer's id and direction, because both sides of a transfer may have the same id. */
export function sideOf(transfer: Transfer): string | undefined {
  const { id } = transfer;
  if (!isId(id)) return undefined;
  return isOutgoing(transfer) ? id : `incoming ${id}`;
}

/**
 * Whether a Transfer takes money from this account. If the source is unclear, any direction but
 * incoming is enough.
 */
export function leavesAccount({ sourceAccountId, direction }: Transfer, source: string): boolean {
  const likeness = compareIds(sourceAccountId, source);
  return likeness === 'same' || (likeness === 'unclear' && direction !== 'incoming');
}

/** Whether a Transfer is between two other accounts, and so no transfer of this account. */
export const isForeign = (
  { sourceAccountId, destinationAccountId, counterpartyId }: Transfer,
  account: string,
): boolean =>
  compareIds(sourceAccountId, account) === 'other' &&
  compareIds(destinationAccountId ?? counterpartyId, account) === 'other';

/** Whether a Transfer has an input's amount and description, and no other field that certainly differs. */
export const isRival = (transfer: Transfer, input: TransferCreateInput): boolean =>
  transfer.description === input.description &&
  findAmountLikeness(transfer.amount, input.amount) === 'same' &&
  hasEqualTerms(transfer, input);

type FieldComparison = (transfer: Transfer, input: TransferCreateInput) => Likeness;

/** The fields, except for the description, that identify a payment, each with its comparison. */
const fieldComparisons = {
  sourceAccountId: (transfer, input) => compareIds(transfer.sourceAccountId, input.sourceAccountId),
  destinationAccountId: (transfer, input) => compareDestinations(transfer, input),
  // `destinationAccountId` compares both destination fields, because a payment has only one.
  counterpartyId: () => 'same',
  amount: (transfer, input) => findAmountLikeness(transfer.amount, input.amount),
  currency: (transfer, input) =>
    compareCurrencies(transfer.currency, input.currency ?? defaultCurrency),
} satisfies Partial<Record<keyof TransferCreateInput, FieldComparison>>;
const paymentFields = /* @__PURE__ */ Object.keys(
  fieldComparisons,
) as (keyof typeof fieldComparisons)[];

/** Compares all fields of a Transfer with an input, except for the description. */
function compareFields(transfer: Transfer, input: TransferCreateInput): Likeness {
  // A Transfer without an id is unclear, because it cannot be told apart from another.
  const results = new Set<Likeness>([isId(transfer.id) ? 'same' : 'unclear']);
  for (const field of paymentFields) results.add(fieldComparisons[field](transfer, input));
  if (results.has('other')) return 'other';
  return results.has('unclear') ? 'unclear' : 'same';
}

/** Names the fields in which a Transfer differs, or may differ, from an input, for an operator. */
export const findUnlikeFields = (
  transfer: Transfer,
  input: TransferCreateInput,
): readonly string[] => {
  const fields = paymentFields.filter(
    (field) => fieldComparisons[field](transfer, input) !== 'same',
  );
  const likeness = compareDescriptions(transfer.description, input.description ?? '');
  return likeness === 'same' ? fields : [...fields, 'description'];
};

/** Names the fields in which the recorded input and the input of this call differ. */
export const findDifferingFields = (
  recorded: TransferCreateInput,
  input: TransferCreateInput,
): readonly string[] =>
  paymentFields.filter((field) => {
    if (field === 'amount') return findAmountLikeness(recorded.amount, input.amount) !== 'same';
    return (recorded[field] ?? defaultCurrency) !== (input[field] ?? defaultCurrency);
  });

export { defaultCurrency } from '../internal/terms.ts';

const isString = (value: unknown): value is string => typeof value === 'string';

export const isId = (value: unknown): value is string => isString(value) && value !== '';

/** Whether a response's field has a value. Some platforms send an empty string instead of none. */
export const isFilled = (field: unknown): boolean =>
  field !== undefined && field !== null && field !== '';

/** Compares two ids. An id that merely contains the other is `other`. */
function compareIds(listed: unknown, expected: string): Likeness {
  if (listed === expected) return 'same';
  // Unless responses are strictly validated, the listed id may have any type.
  if (!isFilled(listed) || !isString(listed)) return 'unclear';
  return extractLetters(listed) === extractLetters(expected) ? 'unclear' : 'other';
}

function compareDestinations(transfer: Transfer, input: TransferCreateInput): Likeness {
  const account = [transfer.destinationAccountId, input.destinationAccountId] as const;
  const counterparty = [transfer.counterpartyId, input.counterpartyId] as const;
  const [[listed, expected = ''], [otherListed]] =
    input.counterpartyId === undefined ? [account, counterparty] : [counterparty, account];
  if (!isFilled(otherListed)) return compareIds(listed, expected);
  // A platform may fill both destination fields. But if the expected field is missing or different,
  // the destination is another.
  const isOther =
    isString(otherListed) && (!isFilled(listed) || compareIds(listed, expected) === 'other');
  return isOther ? 'other' : 'unclear';
}

function compareCurrencies(listed: unknown, expected: string): Likeness {
  if (isString(listed) && listed.toUpperCase() === expected.toUpperCase()) return 'same';
  return isString(listed) && !areAlike(listed, expected) ? 'other' : 'unclear';
}

function findAmountLikeness(listed: unknown, expected: string): Likeness {
  const amount = canonicalAmount(listed);
  if (amount === undefined) return 'unclear';
  return amount === canonicalAmount(expected) ? 'same' : 'other';
}

/** How the list returns a description, if at all, is not documented: docs/gaps.md, row 60. */
function compareDescriptions(listed: unknown, expected: string): Likeness {
  if (!isFilled(listed)) return expected === '' ? 'same' : 'unclear';
  if (!isString(listed)) return 'unclear';
  if (listed === expected) return 'same';
  // If no description was sent, a Transfer with a description is another payment. That needs a test
  // of its own, because every string contains the empty string.
  const canBeOurs =
    expected === '' ? extractLetters(listed) === '' : canBeRewritten(listed, expected);
  return canBeOurs ? 'unclear' : 'other';
}

/** Whether a description has the letters and digits of the reference. Assumption A1: docs/proof.md. */
const hasSameReference = (
  { description }: Transfer,
  { description: expected = '' }: TransferCreateInput,
) =>
  expected !== '' &&
  isString(description) &&
  (description === expected ||
    (description !== '' && extractLetters(description) === extractLetters(expected)));

/** Whether a platform may have changed the description that was sent into the listed one. */
function canBeRewritten(listed: string, expected: string): boolean {
  if (isTooLong(listed) || isTooLong(expected)) return true;
  const { plain, encoded } = spellInLetters(expected);
  const letters = extractLetters(listed);
  return (
    letters === encoded ||
    plain.some((spelling) => letters.includes(spelling) || spelling.includes(letters)) ||
    [...plain, encoded].some((spelling) => hasOverlap(letters, spelling))
  );
}

interface Spellings {
  readonly plain: readonly string[];
  readonly encoded: string;
}
let lastSpelled: { readonly description: string; readonly letters: Spellings } | undefined;

/**
 * The spellings of a description in letters. The latest result is kept, because a search compares
 * one description with each listed transfer.
 */
function spellInLetters(description: string): Spellings {
  if (lastSpelled?.description !== description) {
    const { plain, encoded } = spellDescription(description);
    const letters = { plain: plain.map(extractLetters), encoded: extractLetters(encoded) };
    lastSpelled = { description, letters };
  }
  return lastSpelled.letters;
}

/** How a platform may write a payment's description, before extending it or cutting it off. */
export const spellDescription = (description: string) => ({
  plain: [
    description,
    ...(description.includes('&') ? [description.replaceAll('&', ' and ')] : []),
  ],
  encoded: encodeBase64(description),
});

/** Whether one text contains the letters and digits of the other, as if extended or cut off. */
function areAlike(listed: string, expected: string): boolean {
  if (isTooLong(listed) || isTooLong(expected)) return true;
  const [one, other] = [extractLetters(listed), extractLetters(expected)];
  return one.includes(other) || other.includes(one);
}

/**
 * Whether the end of one description is the start of the other over enough letters, as after a
 * platform has added a prefix and cut off the result. Neighbours in a series (20002000 and
 * 20002001) agree in more places than they overlap, so they are different.
 */
function hasOverlap(listed: string, expected: string): boolean {
  const minOverlap = minOverlapOf(expected);
  const overlap = Math.max(
    measureOverlap(listed, expected, minOverlap),
    measureOverlap(expected, listed, minOverlap),
  );
  const isSeries = listed.length === expected.length;
  const inPlace = isSeries ? [...listed].filter((letter, at) => letter === expected[at]).length : 0;
  return overlap > inPlace;
}

/** How many letters two descriptions must share, end to start, to count as alike. */
export const minOverlapOf = (letters: string): number =>
  Math.min(8, Math.max(4, Math.ceil(letters.length / 2)));

/** How many letters at the end of one string start the other; 0 if there are not enough. */
function measureOverlap(letters: string, other: string, minOverlap: number): number {
  if (other.length < minOverlap) return 0;
  const tail = letters.slice(-other.length);
  const head = other.slice(0, minOverlap);
  let at = tail.indexOf(head);
  while (at >= 0 && !other.startsWith(tail.slice(at))) at = tail.indexOf(head, at + 1);
  return at < 0 ? 0 : tail.length - at;
}

const encodeBase64 = (description: string): string =>
  btoa(String.fromCharCode(...new TextEncoder().encode(description)));

/** Descriptions longer than this count as unclear, because comparing them would take too long. */
const maxComparedLength = 1_000;
export const isTooLong = (description: string): boolean => description.length > maxComparedLength;

/** Matches a text of ASCII without `&`, because `&` may begin an escaped sign. */
const plainAscii = /^[\0-%'-~]*$/;

/** Removes what platforms change in a description: signs, accents, white space, letter case. */
export function extractLetters(description: string): string {
  const compared = description.slice(0, maxComparedLength);
  // Normalizing an ASCII text would change nothing, and would take half of the time.
  if (plainAscii.test(compared)) return compared.toUpperCase().replace(/[^A-Z\d]+/g, '');
  return (
    compared
      // A platform may escape a sign in a description as in HTML, even twice.
      .replace(/&(?:amp;)*(?:amp|lt|gt|quot|apos|nbsp|#\d{2,3}|#x[\da-f]{2});/gi, '')
      .normalize('NFKD')
      // Upper case comes last, because Straße and STRASSE are equal only in upper case, and a small
      // sigma depends on the letter that follows.
      .toLowerCase()
      .toUpperCase()
      .replace(/[^\p{L}\p{N}]+/gu, '')
  );
}

/** Matches a date and time of ISO 8601, also in a database's form: `2026-11-24 10:00:00,5+00`. */
const timePattern =
  /^(?<date>\d{4}-\d{2}-\d{2})[T ](?<clock>\d{2}:\d{2}(?::\d{2})?)(?<fraction>[.,]\d+)?(?<offset>Z|(?<hours>[+-]\d{2}):?(?<minutes>\d{2})?)?$/i;

/** Whether a time names its offset from UTC. Without an offset, the time may be local. */
export const hasOffset = (createdAt: unknown): boolean =>
  timePattern.exec(isString(createdAt) ? createdAt : '')?.groups?.['offset'] !== undefined;

/** The earliest and latest time that a text can mean, because the text may name only the minute. */
interface TimeSpan {
  readonly earliest: number;
  readonly latest: number;
}

/**
 * Parses a Transfer's creation time; NaN unless the text is a date with a time of day. A time
 * without an offset is read as UTC, like the platform's other times.
 */
export function parseCreatedAt(createdAt: unknown): TimeSpan {
  const groups = timePattern.exec(isString(createdAt) ? createdAt : '')?.groups;
  if (groups === undefined) return { earliest: Number.NaN, latest: Number.NaN };
  const { date = '', clock = '', fraction = '', hours, minutes = '00' } = groups;
  const offset = hours === undefined ? 'Z' : `${hours}:${minutes}`;
  const time = Date.parse(`${date}T${clock}${fraction.replace(',', '.')}${offset}`);
  // Some runtimes read 30 February as a day in March.
  const earliest = Number.isNaN(time) || isOnCalendar(date) ? time : Number.NaN;
  // A time with a fraction of zeros is only known to the second, because some platforms keep no
  // fractions and write zeros.
  const isExact = /[1-9]/.test(fraction);
  const precision = clock.length > 'hh:mm'.length ? 1_000 : 60_000;
  return { earliest, latest: isExact ? earliest : earliest + precision - 1 };
}
