import type { Transfer, TransferCreateInput } from '../schemas/transfer.ts';

/** How like what a creation would have made a Transfer of the list is. */
export type Likeness = 'same' | 'unclear' | 'other';

/**
 * Whether a Transfer is what a creation with this input would have made. What cannot be told, because
 * the list leaves it out or writes it otherwise than it was sent, rules nothing out.
 */
export function compareTransfer(transfer: Transfer, wanted: TransferCreateInput): Likeness {
  const fields = new Set<Likeness>([
    // Without an id nobody can tell two of them apart.
    isFilled(transfer.id) ? 'same' : 'unclear',
    compareTexts(shownText(transfer.sourceAccountId), wanted.sourceAccountId),
    compareDestinations(transfer, wanted),
    compareAmounts(transfer.amount, wanted.amount),
    // A currency may be a sign.
    compareTexts(
      shownText(transfer.currency),
      wanted.currency ?? 'USDC',
      (text) => lettersOf(text) || text,
    ),
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

/** Stands for characters that are not shown. */
const mask = /[*\u2022\u25cf\u2588#]{2,}|x{3,}/iu;
/** Stands for words that are not shown. */
const dots = /\u2026|\.{3,}/u;

/**
 * Whether a platform may have made a description out of another: with words around it, of a part of it,
 * or masked. A number has to be whole, unless dots say that it is not. No regular expression is made of
 * the texts: a long one does not compile, and there may be very many.
 */
function mayBeMadeOf(seen: string, wanted: string): boolean {
  const parts = seen.split(dots);
  const isCut = parts.length > 1;
  // Dots at the very end say no more than that it was cut off.
  const isMasked = mask.test(seen) || (isCut && lettersOf(parts.at(-1) ?? '') !== '');
  if (isMasked) return true;
  const asked = lettersOf(wanted);
  if (asked === '') return seen.includes(wanted);
  const words = loosely(seen).split(' ');
  const shown = words.join('');
  // A platform may have drawn words together, so the edges of its own count, not those of ours.
  const edges = edgesOf(words);
  const isWhole = (from: number, to: number): boolean =>
    isCut || !(cutsNumber(asked, from) || cutsNumber(asked, to));
  const isPart = placesOf(shown, asked).some((at) => isWhole(at, at + shown.length));
  const isInside = placesOf(asked, shown).some(
    (at) => edges.includes(at) && edges.includes(at + asked.length),
  );
  if (isPart || isInside) return true;
  // With words in front, and its end cut off.
  return edges.some((start) => {
    const length = shown.length - start;
    // Less than half of it is more likely a word that two descriptions have in common.
    const isEnough = length * 2 >= asked.length && length <= asked.length;
    return isEnough && asked.startsWith(shown.slice(start)) && isWhole(0, length);
  });
}

/** Where words begin and end when they are drawn together. */
function edgesOf(words: readonly string[]): number[] {
  const edges = [0];
  let end = 0;
  for (const word of words) edges.push((end += word.length));
  return edges;
}

/** Where a text stands in another. */
function placesOf(part: string, text: string): number[] {
  if (part === '') return [0];
  const places: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) places.push(at);
  return places;
}

/** Whether a number goes on over this place. */
const cutsNumber = (text: string, at: number): boolean =>
  /\p{N}$/u.test(text.slice(Math.max(0, at - 2), at)) && /^\p{N}/u.test(text.slice(at, at + 2));

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

/** A text without what platforms like to change: signs, accents, white space, composed characters, case. */
const loosely = (text: string): string =>
  text
    .normalize('NFKD')
    // Capitals last: Straße and STRASSE are one, and a small sigma depends on what stands behind it.
    .toLowerCase()
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

/** Only its letters and digits: some platforms take signs out and leave no gap. */
export const lettersOf = (text: string): string => loosely(text).replaceAll(' ', '');

/** When something happened: to the millisecond, or at some time within the second or minute that is shown. */
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
  return `${whole.replace(/^0+(?=\d)/, '')}.${fraction.replace(/0+$/, '')}`;
};
