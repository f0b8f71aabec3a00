import type { Transfer, TransferCreateInput } from '../schemas/transfer.ts';

/** How like what a creation would have made a Transfer of the list is. */
export type Likeness = 'same' | 'unclear' | 'other';

/**
 * Whether a Transfer is what a creation with this input would have made. What cannot be told, because
 * the list leaves it out or writes it otherwise than it was sent, rules nothing out.
 */
export function compare(transfer: Transfer, wanted: TransferCreateInput): Likeness {
  const fields = new Set<Likeness>([
    // Without an id nobody can tell two of them apart.
    isFilled(transfer.id) ? 'same' : 'unclear',
    compareTexts(shownText(transfer.sourceAccountId), wanted.sourceAccountId),
    compareDestinations(transfer, wanted),
    compareAmounts(transfer.amount, wanted.amount),
    compareTexts(shownText(transfer.currency), wanted.currency ?? 'USDC', lettersOf),
  ]);
  if (fields.has('other')) return 'other';
  // Last, because it costs most: it is reached by few.
  const description = compareDescriptions(
    shownText(transfer.description),
    wanted.description ?? '',
  );
  return description === 'same' && fields.has('unclear') ? 'unclear' : description;
}

/**
 * Compares two texts as `normalize` leaves them, or as the platform may have written one of them
 * anew.
 */
function compareTexts(
  seen: unknown,
  wanted: string,
  normalize = (text: string): string => text,
): Likeness {
  // Only with `validation: 'report'`: otherwise the page was refused.
  if (typeof seen !== 'string') return 'unclear';
  if (normalize(seen) === normalize(wanted)) return 'same';
  return lettersOf(seen) === lettersOf(wanted) ? 'unclear' : 'other';
}

/**
 * That the description comes back, and as it was sent, is not documented: docs/gaps.md, row 60. One
 * that was not asked for is somebody else's.
 */
function compareDescriptions(seen: unknown, wanted: string): Likeness {
  if (seen === undefined) return wanted === '' ? 'same' : 'unclear';
  const likeness = compareTexts(seen, wanted);
  if (likeness !== 'other' || wanted === '' || typeof seen !== 'string') return likeness;
  return mayBeMadeOf(seen, wanted) ? 'unclear' : 'other';
}

/** What stands for letters and digits that are not shown. */
const mask = /[*\u2022\u2026]|\.{3}/;

/**
 * Whether a platform may have made a description out of another: with words around it, or of a part of
 * it. A number has to be whole, unless something stands for what is missing.
 */
function mayBeMadeOf(seen: string, wanted: string): boolean {
  const [shown, asked] = [loosely(seen), lettersOf(wanted)];
  const edge = mask.test(seen) ? '' : String.raw`(?!(?<=\p{N})(?=\p{N}))`;
  const has = (text: string, pattern: string): boolean => new RegExp(pattern, 'u').test(text);
  const words = shown.split(' ');
  return (
    has(asked, `${edge}${words.join('')}${edge}`) ||
    // Its own words may have been drawn together.
    has(shown, `(?:^| )${[...asked].join(' ?')}(?: |$)`) ||
    words.some((_, at) => {
      const end = words.slice(at).join('');
      // Less than half of it is more likely a word that two descriptions have in common.
      return (
        end.length * 2 >= asked.length && asked.startsWith(end) && has(asked, `^${end}${edge}`)
      );
    })
  );
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

function compareAmounts(seen: unknown, wanted: string): Likeness {
  if (typeof seen !== 'string' || !/^\d+(\.\d*)?$/.test(seen)) return 'unclear';
  return canonical(seen) === canonical(wanted) ? 'same' : 'other';
}

/**
 * A text without what platforms like to change: signs, accents, white space, composed characters,
 * case.
 */
const loosely = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    // By way of capitals, because some letters have no single one: Straße and STRASSE.
    .toUpperCase()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

/** Only its letters and digits: some platforms take signs out and leave no gap. */
export const lettersOf = (text: string): string => loosely(text).replaceAll(' ', '');

/** When something happened: to the millisecond, or at some time within the second that is shown. */
interface Span {
  readonly earliest: number;
  readonly latest: number;
}

/**
 * When a Transfer was created. The platform's times are UTC. One without an offset would be read in
 * this machine's time zone, and a Transfer be missed, or an older one taken for it.
 */
export function timeOf(createdAt: unknown): Span {
  const [time, fraction, offset] =
    /^\d{4}-\d{2}-\d{2}T[\d:]+(\.\d+)?(Z|[+-]\d{2}:?\d{2})?$/i.exec(
      isText(createdAt) ? createdAt : '',
    ) ?? [];
  const earliest =
    time === undefined ? Number.NaN : Date.parse(offset === undefined ? `${time}Z` : time);
  return { earliest, latest: fraction === undefined ? earliest + 999 : earliest };
}

/**
 * An amount without the zeros that do not change it: `12.50`, `12.5` and `012.5` are the same
 * money.
 */
const canonical = (amount: string): string => {
  const [whole = '', fraction = ''] = amount.split('.');
  return `${whole.replace(/^0+(?=\d)/, '')}.${fraction.replace(/0+$/, '')}`;
};
