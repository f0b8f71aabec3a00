import type { Transfer, TransferCreateInput } from '../../schemas/transfer.ts';

/** How like the payment that an input describes a listed Transfer is. */
type Likeness = 'same' | 'unclear' | 'other';

/**
 * Compares a Transfer with what a creation with this input would have made. A field that the list leaves
 * out, or writes in another way than it was sent, excludes nothing.
 */
export function compareTransfer(transfer: Transfer, input: TransferCreateInput): Likeness {
  const terms = compareTerms(transfer, input);
  // A reference belongs to one payment, and platforms write parties and money in their own ways.
  if (terms === 'other') return hasSameReference(transfer, input) ? 'unclear' : 'other';
  // Last, because it costs most: few transfers get here.
  const likeness = compareDescriptions(transfer.description, input.description ?? '');
  return likeness === 'same' ? terms : likeness;
}

/**
 * Whether a Transfer is another payment for certain. Where only the description is another, the platform may
 * have written it.
 */
export const isAnother = (transfer: Transfer, input: TransferCreateInput): boolean =>
  compareTerms(transfer, input) === 'other' && !hasSameReference(transfer, input);

/** Whether a Transfer has the very amount and description, and no term that is certainly another. */
export const isRival = (transfer: Transfer, input: TransferCreateInput): boolean =>
  transfer.description === input.description &&
  compareAmounts(transfer.amount, input.amount) === 'same' &&
  compareTerms(transfer, input) !== 'other';

/** Compares everything but the description. */
function compareTerms(transfer: Transfer, input: TransferCreateInput): Likeness {
  const fields = new Set<Likeness>([
    // Two transfers without an id cannot be distinguished.
    isId(transfer.id) ? 'same' : 'unclear',
    compareIds(transfer.sourceAccountId, input.sourceAccountId),
    compareDestinations(transfer, input),
    compareCurrencies(transfer.currency, input.currency ?? 'USDC'),
    compareAmounts(transfer.amount, input.amount),
  ]);
  if (fields.has('other')) return 'other';
  return fields.has('unclear') ? 'unclear' : 'same';
}

const isText = (value: unknown): value is string => typeof value === 'string';

export const isId = (value: unknown): value is string => isText(value) && value !== '';

/** Whether there is something; some platforms write an empty text where there is nothing. */
const isFilled = (field: unknown): boolean => field !== undefined && field !== null && field !== '';

/** Two ids are different also where one contains the other. */
function compareIds(listed: unknown, expected: string): Likeness {
  if (listed === expected) return 'same';
  // Only with `validation: 'report'` can it be no string: otherwise the page was rejected.
  if (!isFilled(listed) || !isText(listed)) return 'unclear';
  return lettersOf(listed) === lettersOf(expected) ? 'unclear' : 'other';
}

function compareDestinations(transfer: Transfer, input: TransferCreateInput): Likeness {
  const account = [transfer.destinationAccountId, input.destinationAccountId] as const;
  const counterparty = [transfer.counterpartyId, input.counterpartyId] as const;
  const [[listed, expected = ''], [besides]] =
    input.counterpartyId === undefined ? [account, counterparty] : [counterparty, account];
  if (!isFilled(besides)) return compareIds(listed, expected);
  // The platform may have added it; instead of the expected one, it is another.
  const isOther =
    isText(besides) && (!isFilled(listed) || compareIds(listed, expected) === 'other');
  return isOther ? 'other' : 'unclear';
}

function compareCurrencies(listed: unknown, expected: string): Likeness {
  if (isText(listed) && listed.toUpperCase() === expected.toUpperCase()) return 'same';
  return isText(listed) && !areAlike(listed, expected) ? 'other' : 'unclear';
}

function compareAmounts(listed: unknown, expected: string): Likeness {
  if (!isText(listed) || !/^\d+(\.\d*)?$/.test(listed)) return 'unclear';
  return canonical(listed) === canonical(expected) ? 'same' : 'other';
}

/** Whether two texts are the same money. */
export const sameAmount = (one: unknown, other: string): boolean =>
  compareAmounts(one, other) === 'same';

/**
 * An amount without the zeros that do not change it: `12.50`, `12.5` and `012.5` are the same
 * money.
 */
const canonical = (amount: string): string => {
  const [whole = '', fraction = ''] = amount.split('.');
  // Reads each run of zeros once; there may be very many.
  return `${whole.replace(/^0+(?=\d)/, '')}.${fraction.replace(/(?<!0)0+$/, '')}`;
};

/** Whether the description comes back, and as it was sent, is not documented: docs/gaps.md, row 60. */
function compareDescriptions(listed: unknown, expected: string): Likeness {
  if (!isFilled(listed)) return expected === '' ? 'same' : 'unclear';
  if (!isText(listed)) return 'unclear';
  if (listed === expected) return 'same';
  // Every text contains an empty one, but a description that was not sent belongs to another payment.
  const mayBeOurs = expected === '' ? lettersOf(listed) === '' : canBeRewritten(listed, expected);
  return mayBeOurs ? 'unclear' : 'other';
}

/** Whether a Transfer shows the description of the input, with all its letters and no others. */
const hasSameReference = (
  { description }: Transfer,
  { description: expected = '' }: TransferCreateInput,
) =>
  expected !== '' &&
  isText(description) &&
  (description === expected ||
    (description !== '' && lettersOf(description) === lettersOf(expected)));

/** Whether a platform may have made the one description of the other. */
function canBeRewritten(listed: string, expected: string): boolean {
  const inWords = expected.replaceAll('&', ' and ');
  if (areAlike(listed, expected) || areAlike(listed, inWords)) return true;
  const letters = lettersOf(listed);
  const encoded = base64Of(expected);
  return (
    letters === lettersOf(encoded) ||
    [expected, inWords, encoded].some((spelling) => hasOverlap(letters, lettersOf(spelling)))
  );
}

/** Whether one text contains all letters and digits of the other: with words around it, or cut off. */
function areAlike(listed: string, expected: string): boolean {
  if (Math.max(listed.length, expected.length) > maxComparedLength) return true;
  const [one, other] = [lettersOf(listed), lettersOf(expected)];
  return one.includes(other) || other.includes(one);
}

/**
 * Whether the end of one text is the beginning of the other over enough letters, as after words were added
 * and the whole was cut off. Neighbours in a series (20002000 and 20002001) have more letters in common in
 * place, and are others.
 */
function hasOverlap(listed: string, expected: string): boolean {
  const enough = Math.min(8, Math.max(4, Math.ceil(expected.length / 2)));
  const overlap = Math.max(
    overlapOf(listed, expected, enough),
    overlapOf(expected, listed, enough),
  );
  const isSeries = listed.length === expected.length;
  const inPlace = isSeries ? [...listed].filter((letter, at) => letter === expected[at]).length : 0;
  return overlap > inPlace;
}

/** How many letters at the end of one text begin the other; 0 if there are not enough. */
function overlapOf(text: string, other: string, enough: number): number {
  if (other.length < enough) return 0;
  const tail = text.slice(-other.length);
  const head = other.slice(0, enough);
  let at = tail.indexOf(head);
  while (at >= 0 && !other.startsWith(tail.slice(at))) at = tail.indexOf(head, at + 1);
  return at < 0 ? 0 : tail.length - at;
}

const base64Of = (text: string): string =>
  btoa(String.fromCharCode(...new TextEncoder().encode(text)));

/** Longer texts take long to compare, and no platform is known to send one: they may be anything. */
const maxComparedLength = 1_000;

/** A text without what platforms like to change: signs, accents, white space, composed characters, case. */
const lettersOf = (text: string): string =>
  text
    .slice(0, maxComparedLength)
    // A sign that is written as in HTML, also twice over, is a sign as well.
    .replace(/&(?:amp;)*(?:amp|lt|gt|quot|apos|nbsp|#\d{2,3}|#x[\da-f]{2});/gi, '')
    .normalize('NFKD')
    // Capitals last: Straße and STRASSE are one, and a small sigma depends on what follows it.
    .toLowerCase()
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');

/** When something happened: to the millisecond, or within the second or minute that is shown. */
interface Span {
  readonly earliest: number;
  readonly latest: number;
}

/**
 * When a Transfer was created. The platform's times are UTC. One without an offset would be read in
 * this machine's time zone, and a Transfer be missed, or an older one taken for it.
 */
export function timeOf(createdAt: unknown): Span {
  const [time, clock = '', fraction = '', offset] =
    /^\d{4}-\d{2}-\d{2}T([\d:]+)(\.\d+)?(Z|[+-]\d{2}:?\d{2})?$/i.exec(
      isText(createdAt) ? createdAt : '',
    ) ?? [];
  const earliest =
    time === undefined ? Number.NaN : Date.parse(offset === undefined ? `${time}Z` : time);
  // Zeros are what a platform without fractions is likely to write.
  const isExact = /[1-9]/.test(fraction);
  const shown = clock.length > 'hh:mm'.length ? 1_000 : 60_000;
  return { earliest, latest: isExact ? earliest : earliest + shown - 1 };
}
