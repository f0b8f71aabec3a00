import type { Transfer, TransferCreateInput } from '../schemas/transfer.ts';

/** How like what a creation would have made a Transfer of the list is. */
export type Likeness = 'same' | 'unclear' | 'other';

/**
 * Whether a Transfer is what a creation with this input would have made. What cannot be told, because
 * the list leaves it out or writes it otherwise than it was sent, rules nothing out.
 */
export function compare(transfer: Transfer, wanted: TransferCreateInput): Likeness {
  const verdicts = new Set<Likeness>([
    // Without an id nobody can tell two of them apart.
    typeof transfer.id === 'string' ? 'same' : 'unclear',
    compareTexts(shownText(transfer.sourceAccountId), wanted.sourceAccountId),
    compareDestinations(transfer, wanted),
    compareAmounts(transfer.amount, wanted.amount),
    compareTexts(shownText(transfer.currency), wanted.currency ?? 'USDC', loosely),
    compareDescriptions(shownText(transfer.description), wanted.description ?? ''),
  ]);
  if (verdicts.has('other')) return 'other';
  return verdicts.has('unclear') ? 'unclear' : 'same';
}

/** Compares two texts as `normalize` leaves them, or as the platform may have written one of them anew. */
function compareTexts(
  seen: unknown,
  wanted: string,
  normalize = (text: string): string => text,
): Likeness {
  // Only with `validation: 'report'`: otherwise the page was refused.
  if (typeof seen !== 'string') return 'unclear';
  if (normalize(seen) === normalize(wanted)) return 'same';
  return loosely(seen) === loosely(wanted) ? 'unclear' : 'other';
}

/**
 * That the description comes back, and as it was sent, is not documented: docs/gaps.md, row 60. One
 * that was not asked for is somebody else's.
 */
function compareDescriptions(seen: unknown, wanted: string): Likeness {
  if (seen === undefined) return wanted === '' ? 'same' : 'unclear';
  const likeness = compareTexts(seen, wanted);
  if (likeness !== 'other' || wanted === '' || typeof seen !== 'string') return likeness;
  // A platform may put words of its own around it, cut it off or mask all of it; a number in it has to
  // be whole.
  const [shown, asked] = [loosely(seen), loosely(wanted)];
  const isCut =
    asked.startsWith(shown) && !/\d\d/.test(asked.slice(shown.length - 1, shown.length + 1));
  return isCut || ` ${shown} `.includes(` ${asked} `) ? 'unclear' : 'other';
}

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
  const mayFit = pairs.some(([seen, asked]) => seen && asked && loosely(seen) === loosely(asked));
  return mayFit ? 'unclear' : 'other';
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** A field of the list; some platforms write an empty text where there is nothing. */
export const shownText = (field: string | null | undefined): string | undefined =>
  field === null || field === '' ? undefined : field;

function compareAmounts(seen: unknown, wanted: string): Likeness {
  if (typeof seen !== 'string' || !/^\d+(\.\d*)?$/.test(seen)) return 'unclear';
  return canonical(seen) === canonical(wanted) ? 'same' : 'other';
}

/** A text without what platforms like to change: signs, white space, composed characters, capitals. */
export const loosely = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

/**
 * When a Transfer was created. The platform's times are UTC. One without an offset would be read in
 * this machine's time zone, and a Transfer be missed, or an older one taken for it.
 */
export const timeOf = (createdAt: unknown): number => {
  const [time, offset] =
    /^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:?\d{2})?$/i.exec(isText(createdAt) ? createdAt : '') ??
    [];
  if (time === undefined) return Number.NaN;
  return Date.parse(offset === undefined ? `${time}Z` : time);
};

/** An amount without the zeros that do not change it: `12.50`, `12.5` and `012.5` are the same money. */
const canonical = (amount: string): string => {
  const [whole = '', fraction = ''] = amount.split('.');
  return `${whole.replace(/^0+(?=\d)/, '')}.${fraction.replace(/0+$/, '')}`;
};
