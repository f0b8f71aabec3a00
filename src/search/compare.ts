import { canonicalAmount } from '../internal/amounts.ts';
import { isOnCalendar } from '../internal/formats.ts';
import type { AccountId } from '../schemas/account.ts';
import type { Transfer, TransferCreateInput } from '../schemas/transfer.ts';

/** Similarity of a listed Transfer to the payment of an input. */
type Likeness = 'same' | 'unclear' | 'other';

/**
 * Compares a Transfer with the payment of an input. A field that the list leaves out, or writes in another
 * way than it was sent, excludes nothing.
 */
export function compareTransfer(transfer: Transfer, input: TransferCreateInput): Likeness {
  const fields = compareFields(transfer, input);
  // A reference belongs to one payment, and platforms write parties and money in their own ways.
  if (fields === 'other') return hasSameReference(transfer, input) ? 'unclear' : 'other';
  // Last, because it costs most: few transfers get here.
  const likeness = compareDescriptions(transfer.description, input.description ?? '');
  return likeness === 'same' ? fields : likeness;
}

/**
 * Whether a Transfer is certainly another payment. If only the description differs, the platform may have
 * written it.
 */
export const isOtherPayment = (transfer: Transfer, input: TransferCreateInput): boolean =>
  !hasTerms(transfer, input) && !hasSameReference(transfer, input);

/** Whether no field but the description of a Transfer certainly differs from an input. */
export const hasTerms = (transfer: Transfer, input: TransferCreateInput): boolean =>
  compareFields(transfer, input) !== 'other';

/** A book transfer may be listed on both sides. */
export const isOutgoing = ({ direction }: Transfer): boolean => direction !== 'incoming';

/** Identifies a side of a transfer in a list: both may have one id. Undefined without an id. */
export function sideOf(transfer: Transfer): string | undefined {
  const { id } = transfer;
  if (!isId(id)) return undefined;
  return isOutgoing(transfer) ? id : `incoming ${id}`;
}

/** Whether money leaves this account by a Transfer. One that does not show its source counts if it is not incoming. */
export function leavesAccount(
  { sourceAccountId, direction }: Transfer,
  source: AccountId,
): boolean {
  const likeness = compareIds(sourceAccountId, source);
  return likeness === 'same' || (likeness === 'unclear' && direction !== 'incoming');
}

/** Whether a Transfer has exactly this amount and description, and no field that certainly differs. */
export const isRival = (transfer: Transfer, input: TransferCreateInput): boolean =>
  transfer.description === input.description &&
  compareAmounts(transfer.amount, input.amount) === 'same' &&
  hasTerms(transfer, input);

type FieldComparison = (transfer: Transfer, input: TransferCreateInput) => Likeness;

/** The platform uses it if a creation names no currency. */
export const defaultCurrency = 'USDC';

/** The fields that identify a payment besides its description, each with its comparison. */
const fieldComparisons = {
  sourceAccountId: (transfer, input) => compareIds(transfer.sourceAccountId, input.sourceAccountId),
  destinationAccountId: (transfer, input) => compareDestinations(transfer, input),
  // A payment has one destination, which the line above compares in both fields.
  counterpartyId: () => 'same',
  amount: (transfer, input) => compareAmounts(transfer.amount, input.amount),
  currency: (transfer, input) =>
    compareCurrencies(transfer.currency, input.currency ?? defaultCurrency),
} satisfies Partial<Record<keyof TransferCreateInput, FieldComparison>>;
const paymentFields = /* @__PURE__ */ Object.keys(
  fieldComparisons,
) as (keyof typeof fieldComparisons)[];

/** Compares everything but the description. */
function compareFields(transfer: Transfer, input: TransferCreateInput): Likeness {
  // Two transfers without an id cannot be distinguished.
  const results = new Set<Likeness>([isId(transfer.id) ? 'same' : 'unclear']);
  for (const field of paymentFields) results.add(fieldComparisons[field](transfer, input));
  if (results.has('other')) return 'other';
  return results.has('unclear') ? 'unclear' : 'same';
}

/** The fields of a Transfer that are not certainly as in the input, for an operator. */
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

/** The fields in which two inputs describe different payments. */
export const findDifferingFields = (
  recorded: TransferCreateInput,
  input: TransferCreateInput,
): readonly string[] =>
  paymentFields.filter((field) => {
    if (field === 'amount') return compareAmounts(recorded.amount, input.amount) !== 'same';
    return (recorded[field] ?? defaultCurrency) !== (input[field] ?? defaultCurrency);
  });

const isString = (value: unknown): value is string => typeof value === 'string';

export const isId = (value: unknown): value is string => isString(value) && value !== '';

/** Whether a field has a value; some platforms send an empty string instead of none. */
export const isFilled = (field: unknown): boolean =>
  field !== undefined && field !== null && field !== '';

/** Two ids are different also where one contains the other. */
function compareIds(listed: unknown, expected: string): Likeness {
  if (listed === expected) return 'same';
  // Unless validation is strict, the platform may send anything here.
  if (!isFilled(listed) || !isString(listed)) return 'unclear';
  return extractLetters(listed) === extractLetters(expected) ? 'unclear' : 'other';
}

function compareDestinations(transfer: Transfer, input: TransferCreateInput): Likeness {
  const account = [transfer.destinationAccountId, input.destinationAccountId] as const;
  const counterparty = [transfer.counterpartyId, input.counterpartyId] as const;
  const [[listed, expected = ''], [otherListed]] =
    input.counterpartyId === undefined ? [account, counterparty] : [counterparty, account];
  if (!isFilled(otherListed)) return compareIds(listed, expected);
  // The platform may have added it; without the expected one, the destination is another.
  const isOther =
    isString(otherListed) && (!isFilled(listed) || compareIds(listed, expected) === 'other');
  return isOther ? 'other' : 'unclear';
}

function compareCurrencies(listed: unknown, expected: string): Likeness {
  if (isString(listed) && listed.toUpperCase() === expected.toUpperCase()) return 'same';
  return isString(listed) && !areAlike(listed, expected) ? 'other' : 'unclear';
}

function compareAmounts(listed: unknown, expected: string): Likeness {
  const amount = canonicalAmount(listed);
  if (amount === undefined) return 'unclear';
  return amount === canonicalAmount(expected) ? 'same' : 'other';
}

/** Whether and how a description comes back is not documented: docs/gaps.md, row 60. */
function compareDescriptions(listed: unknown, expected: string): Likeness {
  if (!isFilled(listed)) return expected === '' ? 'same' : 'unclear';
  if (!isString(listed)) return 'unclear';
  if (listed === expected) return 'same';
  // Every string contains the empty one, but a description that was not sent belongs to another payment.
  const canBeOurs =
    expected === '' ? extractLetters(listed) === '' : canBeRewritten(listed, expected);
  return canBeOurs ? 'unclear' : 'other';
}

/** Whether a Transfer has the description of the input, with all its letters and no others. Assumption A1: docs/proof.md. */
const hasSameReference = (
  { description }: Transfer,
  { description: expected = '' }: TransferCreateInput,
) =>
  expected !== '' &&
  isString(description) &&
  (description === expected ||
    (description !== '' && extractLetters(description) === extractLetters(expected)));

/** Whether a platform may have changed one description into the other. */
function canBeRewritten(listed: string, expected: string): boolean {
  const { plain, encoded } = spellDescription(expected);
  const letters = extractLetters(listed);
  return (
    plain.some((spelling) => areAlike(listed, spelling)) ||
    letters === extractLetters(encoded) ||
    [...plain, encoded].some((spelling) => hasOverlap(letters, extractLetters(spelling)))
  );
}

/** The descriptions as which a platform may write one, before it extends them or cuts them off. */
export const spellDescription = (description: string) => ({
  plain: [
    description,
    ...(description.includes('&') ? [description.replaceAll('&', ' and ')] : []),
  ],
  encoded: encodeBase64(description),
});

/** Whether one string contains all letters and digits of the other: extended, or cut off. */
function areAlike(listed: string, expected: string): boolean {
  if (isTooLong(listed) || isTooLong(expected)) return true;
  const [one, other] = [extractLetters(listed), extractLetters(expected)];
  return one.includes(other) || other.includes(one);
}

/**
 * Whether the end of one string is the start of the other over enough letters, as after a prefix was added
 * and the result cut off. Neighbours in a series (20002000 and 20002001) have more letters in common in
 * place, and are different.
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

/** How many letters of a description have to overlap. */
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

/** Longer strings take long to compare, and no platform is known to send one; they count as unclear. */
const maxComparedLength = 1_000;
export const isTooLong = (description: string): boolean => description.length > maxComparedLength;

/** Removes what platforms change: signs, accents, white space, composed characters, case. */
export const extractLetters = (description: string): string =>
  description
    .slice(0, maxComparedLength)
    // A sign may be escaped as in HTML, also twice.
    .replace(/&(?:amp;)*(?:amp|lt|gt|quot|apos|nbsp|#\d{2,3}|#x[\da-f]{2});/gi, '')
    .normalize('NFKD')
    // Capitals last: Straße and STRASSE are one, and a small sigma depends on what follows it.
    .toLowerCase()
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');

/** A date and time of ISO 8601, also as PostgreSQL and Python write it: `2026-11-24 10:00:00,5+00`. */
const timePattern =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2})?)([.,]\d+)?(Z|([+-]\d{2}):?(\d{2})?)?$/i;

/** Whether a time names its offset; one without may be in the platform's local time. */
export const hasOffset = (createdAt: unknown): boolean =>
  timePattern.exec(isString(createdAt) ? createdAt : '')?.[4] !== undefined;

/** A point in time: to the millisecond, or within the second or minute that a time names. */
interface TimeSpan {
  readonly earliest: number;
  readonly latest: number;
}

/**
 * Parses the creation time of a Transfer. The platform's times are UTC; without an offset, this machine's
 * time zone would apply, and a Transfer be missed or confused with an older one. A date alone, a number and
 * everything else is not read, because its unit or time zone would be a guess.
 */
export function parseCreatedAt(createdAt: unknown): TimeSpan {
  const [, date = '', clock = '', fraction = '', , hours, minutes = '00'] =
    timePattern.exec(isString(createdAt) ? createdAt : '') ?? [];
  const offset = hours === undefined ? 'Z' : `${hours}:${minutes}`;
  const time = Date.parse(`${date}T${clock}${fraction.replace(',', '.')}${offset}`);
  const earliest = Number.isNaN(time) || isOnCalendar(date) ? time : Number.NaN;
  // A platform without fractions is likely to write zeros.
  const isExact = /[1-9]/.test(fraction);
  const precision = clock.length > 'hh:mm'.length ? 1_000 : 60_000;
  return { earliest, latest: isExact ? earliest : earliest + precision - 1 };
}
