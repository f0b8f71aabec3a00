import type { Transfer, TransferCreateInput } from '../schemas/transfer.ts';
import { compareDescriptions, compareTexts, lettersOf, type Likeness } from './compare-texts.ts';

/**
 * Whether a Transfer is what a creation with this input would have made. What cannot be told, because
 * the list leaves it out or writes it otherwise than it was sent, rules nothing out. `longest` is how long
 * descriptions get in this list, if that is known.
 */
export function compareTransfer(
  transfer: Transfer,
  wanted: TransferCreateInput,
  longest = 0,
): Likeness {
  const parties = [
    // Without an id nobody can tell two of them apart.
    isFilled(transfer.id) ? 'same' : 'unclear',
    compareTexts(shownText(transfer.sourceAccountId), wanted.sourceAccountId),
    compareDestinations(transfer, wanted),
  ];
  if (parties.includes('other')) return 'other';
  const asked = wanted.description ?? '';
  const shown = shownText(transfer.description);
  // It says more than the way in which a platform writes money.
  const hasReference = isReference(shown, asked);
  const money = [
    compareAmounts(transfer.amount, wanted.amount, hasReference),
    compareCurrencies(shownText(transfer.currency), wanted.currency ?? 'USDC', hasReference),
  ];
  if (money.includes('other')) return 'other';
  // Last, because it costs most: it is reached by few.
  const description = compareDescriptions(shown, asked, longest);
  const isUnclear = [...parties, ...money].includes('unclear');
  return description === 'same' && isUnclear ? 'unclear' : description;
}

/** Whether the description is there, with all its letters and no others. */
const isReference = (seen: unknown, wanted: string): boolean =>
  isText(seen) && wanted !== '' && compareTexts(seen, wanted) !== 'other';

function compareDestinations(transfer: Transfer, wanted: TransferCreateInput): Likeness {
  const account = shownText(transfer.destinationAccountId);
  const counterparty = shownText(transfer.counterpartyId);
  // Money goes somewhere, so this one is only not shown.
  if (account === undefined && counterparty === undefined) return 'unclear';
  const pairs = [
    [account, wanted.destinationAccountId],
    [counterparty, wanted.counterpartyId],
  ];
  if (pairs.every(([seen, asked]) => seen === asked)) return 'same';
  // Only with `validation: 'report'`: otherwise the page was refused.
  if (pairs.some(([seen]) => seen !== undefined && !isText(seen))) return 'unclear';
  // The one asked for, but written otherwise, or beside another that the platform may have added.
  const mayFit = pairs.some(
    ([seen, asked]) => seen && asked && lettersOf(seen) === lettersOf(asked),
  );
  return mayFit ? 'unclear' : 'other';
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** Whether there is an id; some platforms write an empty text where there is nothing. */
export const isFilled = (id: unknown): boolean => isText(id) && id !== '';

/** A field of the list; some platforms write an empty text where there is nothing. */
export const shownText = (field: string | null | undefined): string | undefined =>
  field === null || field === '' ? undefined : field;

/** Beside the reference, the name may also be shorter or longer: USD for USDC. */
function compareCurrencies(seen: unknown, wanted: string, hasReference: boolean): Likeness {
  // A currency may be a sign.
  const likeness = compareTexts(seen, wanted, (text) => lettersOf(text) || text);
  if (likeness !== 'other' || !hasReference || !isText(seen)) return likeness;
  const [one, other] = [lettersOf(seen), lettersOf(wanted)];
  const isAlike = one !== '' && other !== '' && (one.startsWith(other) || other.startsWith(one));
  return isAlike ? 'unclear' : 'other';
}

/** Beside the reference, it may also be written in the platform's own way. */
function compareAmounts(seen: unknown, wanted: string, hasReference: boolean): Likeness {
  if (typeof seen !== 'string' || !/^\d+(\.\d*)?$/.test(seen)) return 'unclear';
  if (canonical(seen) === canonical(wanted)) return 'same';
  return hasReference && isRewritten(seen, wanted) ? 'unclear' : 'other';
}

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

/**
 * An amount without the zeros that do not change it: `12.50`, `12.5` and `012.5` are the same
 * money.
 */
const canonical = (amount: string): string => {
  const [whole = '', fraction = ''] = amount.split('.');
  // Looks at each run of zeros once; there may be very many.
  return `${whole.replace(/^0+(?=\d)/, '')}.${fraction.replace(/(?<!0)0+$/, '')}`;
};

/** As in cents, or in the smallest unit that an amount can have. */
const smallerUnits = Array.from({ length: 17 }, (_, index) => index + 2);

/** Whether a platform may have made an amount out of another: rounded, cut off, or in a smaller unit. */
function isRewritten(seen: string, wanted: string): boolean {
  const [whole = '', fraction = ''] = canonical(seen).split('.');
  const [ourWhole = '', ourFraction = ''] = canonical(wanted).split('.');
  // A number of millions of digits takes seconds to read.
  if (fraction.length > 18 || whole.length > ourWhole.length + 19) return false;
  const isWithDecimals = (decimals: number): boolean => {
    const ours = ourFraction.padEnd(decimals, '0').slice(0, decimals);
    const difference = BigInt(`${whole}${fraction}`) - BigInt(`${ourWhole}${ours}`);
    return difference === 0n || (difference === 1n && decimals < ourFraction.length);
  };
  if (fraction.length < ourFraction.length && isWithDecimals(fraction.length)) return true;
  return fraction === '' && smallerUnits.some(isWithDecimals);
}
