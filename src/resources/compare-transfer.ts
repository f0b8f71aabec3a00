import type { Transfer, TransferCreateInput } from '../schemas/transfer.ts';

/** How like what a creation would have made something of the list is. */
type Likeness = 'same' | 'unclear' | 'other';

/**
 * Whether a Transfer is what a creation with this input would have made. What cannot be told, because
 * the list leaves it out or writes it otherwise than it was sent, rules nothing out.
 */
export function compareTransfer(transfer: Transfer, wanted: TransferCreateInput): Likeness {
  const { id, sourceAccountId, amount, currency, description } = transfer;
  const asked = wanted.description ?? '';
  const hasAmount = compareAmounts(amount, wanted.amount);
  const fields = new Set<Likeness>([
    // Without an id nobody can tell two of them apart.
    isId(id) ? 'same' : 'unclear',
    compareIds(sourceAccountId, wanted.sourceAccountId),
    compareDestinations(transfer, wanted),
    compareCurrencies(currency, wanted.currency ?? 'USDC'),
    // A reference says more than the way in which a platform writes money.
    hasAmount === 'other' && isReference(description, asked) ? 'unclear' : hasAmount,
  ]);
  if (fields.has('other')) return 'other';
  // Last, because it costs most: it is reached by few.
  const likeness = compareDescriptions(description, asked);
  return likeness === 'same' && fields.has('unclear') ? 'unclear' : likeness;
}

/**
 * Whether a Transfer is another payment for certain. Where only the description is another, the platform may
 * have written it.
 */
export const isAnother = (transfer: Transfer, wanted: TransferCreateInput): boolean =>
  compareTransfer(transfer, wanted) === 'other' &&
  compareTransfer({ ...transfer, description: '' }, { ...wanted, description: '' }) === 'other';

const isText = (value: unknown): value is string => typeof value === 'string';

export const isId = (value: unknown): boolean => isText(value) && value !== '';

/** Whether there is something; some platforms write an empty text where there is nothing. */
const isFilled = (field: unknown): boolean => field !== undefined && field !== null && field !== '';

/** Two ids of which one holds the other are two all the same. */
function compareIds(seen: unknown, wanted: string): Likeness {
  if (seen === wanted) return 'same';
  // Only with `validation: 'report'` is it no text: otherwise the page was refused.
  if (!isFilled(seen) || !isText(seen)) return 'unclear';
  return lettersOf(seen) === lettersOf(wanted) ? 'unclear' : 'other';
}

function compareDestinations(transfer: Transfer, wanted: TransferCreateInput): Likeness {
  const account = [transfer.destinationAccountId, wanted.destinationAccountId] as const;
  const counterparty = [transfer.counterpartyId, wanted.counterpartyId] as const;
  const [[seen, asked = ''], [besides]] =
    wanted.counterpartyId === undefined ? [account, counterparty] : [counterparty, account];
  if (!isFilled(besides)) return compareIds(seen, asked);
  // The platform may have added it; in the place of the one asked for, it is another.
  const isOther = isText(besides) && (!isFilled(seen) || compareIds(seen, asked) === 'other');
  return isOther ? 'other' : 'unclear';
}

function compareCurrencies(seen: unknown, wanted: string): Likeness {
  if (isText(seen) && seen.toUpperCase() === wanted.toUpperCase()) return 'same';
  return isText(seen) && !areAlike(seen, wanted) ? 'other' : 'unclear';
}

function compareAmounts(seen: unknown, wanted: string): Likeness {
  if (!isText(seen) || !/^\d+(\.\d*)?$/.test(seen)) return 'unclear';
  return canonical(seen) === canonical(wanted) ? 'same' : 'other';
}

/** Whether two texts are the same money. */
export const sameAmount = (one: unknown, other: string): boolean =>
  compareAmounts(one, other) === 'same';

/** Whether a Transfer has the very amount and description, whatever else is unclear. */
export const hasAmountAndDescription = (seen: Transfer, wanted: TransferCreateInput): boolean =>
  seen.description === wanted.description && compareAmounts(seen.amount, wanted.amount) === 'same';

/**
 * An amount without the zeros that do not change it: `12.50`, `12.5` and `012.5` are the same
 * money.
 */
const canonical = (amount: string): string => {
  const [whole = '', fraction = ''] = amount.split('.');
  // Looks at each run of zeros once; there may be very many.
  return `${whole.replace(/^0+(?=\d)/, '')}.${fraction.replace(/(?<!0)0+$/, '')}`;
};

/** That the description comes back, and as it was sent, is not documented: docs/gaps.md, row 60. */
function compareDescriptions(seen: unknown, wanted: string): Likeness {
  if (!isFilled(seen)) return wanted === '' ? 'same' : 'unclear';
  if (!isText(seen)) return 'unclear';
  if (seen === wanted) return 'same';
  // Any text holds an empty one; but one that was not asked for is somebody else's.
  const mayBeOurs = wanted === '' ? lettersOf(seen) === '' : areAlike(seen, wanted);
  return mayBeOurs ? 'unclear' : 'other';
}

/** Whether the description is there, with all its letters and no others. */
const isReference = (seen: unknown, wanted: string): boolean =>
  wanted !== '' && isText(seen) && seen !== '' && lettersOf(seen) === lettersOf(wanted);

/** Whether one text holds all letters and digits of the other: with words around it, or cut off. */
function areAlike(seen: string, wanted: string): boolean {
  if (Math.max(seen.length, wanted.length) > longest) return true;
  const [one, other] = [lettersOf(seen), lettersOf(wanted)];
  return one.includes(other) || other.includes(one);
}

/** Longer texts take long to compare, and nobody has seen one: they may be anything. */
const longest = 1_000;

/** A text without what platforms like to change: signs, accents, white space, composed characters, case. */
const lettersOf = (text: string): string =>
  text
    .slice(0, longest)
    // A sign as HTML writes it is a sign as well.
    .replace(/&(?:amp|lt|gt|quot|apos|nbsp|#39);/gi, '')
    .normalize('NFKD')
    // Capitals last: Straße and STRASSE are one, and a small sigma depends on what stands behind it.
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
