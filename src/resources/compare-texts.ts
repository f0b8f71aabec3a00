/** How like what a creation would have made something of the list is. */
export type Likeness = 'same' | 'unclear' | 'other';

/**
 * Compares two texts as `normalize` leaves them, or as the platform may have written one of them
 * anew.
 */
export function compareTexts(
  seen: unknown,
  wanted: string,
  normalize = (text: string): string => text,
): Likeness {
  // Only with `validation: 'report'`: otherwise the page was refused.
  if (typeof seen !== 'string') return 'unclear';
  // White space at an end of what is shown may be where it was cut off.
  if (normalize(seen) === normalize(wanted) || seen === wanted.trim()) return 'same';
  return lettersOf(seen) === lettersOf(wanted) ? 'unclear' : 'other';
}

/**
 * That the description comes back, and as it was sent, is not documented: docs/gaps.md, row 60. One
 * that was not asked for is somebody else's.
 */
export function compareDescriptions(seen: unknown, wanted: string, longest: number): Likeness {
  if (seen === undefined) return wanted === '' ? 'same' : 'unclear';
  const likeness = compareTexts(seen, wanted);
  if (likeness !== 'other' || wanted === '' || typeof seen !== 'string') return likeness;
  return mayBeMadeOf(seen, wanted, longest) ? 'unclear' : 'other';
}

/** Stands for characters that are not shown. */
const mask = /[*\u2022\u25cf\u2588#]{2,}|x{3,}/iu;
/** Stands for words that are not shown. */
const dots = /\u2026|\.{3,}/u;
/** The least room that payment systems commonly give a description. */
const shortestLimit = 15;

/**
 * The room that a description shows there is. Other letters than these count as one character here, and
 * as several bytes there.
 */
export const roomShownBy = (description: string): number =>
  isAscii(description) ? description.length : 0;

const isAscii = (text: string): boolean => /^[\t-~]*$/.test(text);

/**
 * Whether a platform may have made a description out of another: with words around it, of a part of it,
 * or masked. A number has to be whole, unless dots say that it is not, or what is shown may be all that
 * there was room for. No regular expression is made of the texts: a long one does not compile, and there
 * may be very many.
 */
function mayBeMadeOf(seen: string, wanted: string, longest: number): boolean {
  const parts = seen.split(dots);
  const isCut = parts.length > 1;
  // Dots at the very end say no more than that it was cut off.
  const isMasked = mask.test(seen) || (isCut && lettersOf(parts.at(-1) ?? '') !== '');
  if (isMasked) return true;
  const asked = lettersOf(wanted);
  if (asked === '') return seen.includes(wanted);
  const words = loosely(seen).split(' ');
  const shown = words.join('');
  // A platform may have joined words, so the edges of its words count, not those of ours.
  const edges = edgesOf(words);
  // Even where it has joined all of them, a reference with a number in it is not an ordinary word.
  const isOneWord = words.length === 1 && /\p{N}/u.test(asked);
  const isEdge = (at: number): boolean => edges.has(at) || (isOneWord && !cutsNumber(shown, at));
  const ourEdges = edgesOf(loosely(wanted).split(' '));
  const isFull = seen.length >= shortestLimit && (!isAscii(seen) || seen.length >= longest);
  // A number that was cut is another number. Two that only stand side by side may be parted, if at least
  // half of all is left.
  const isCutCleanly = (length: number, ...places: number[]): boolean =>
    isCut ||
    isFull ||
    places.every(
      (at) => !cutsNumber(asked, at) || (length * 2 >= asked.length && ourEdges.has(at)),
    );
  const isPart = placesOf(shown, asked).some((at) =>
    isCutCleanly(shown.length, at, at + shown.length),
  );
  const isInside = placesOf(asked, shown).some((at) => isEdge(at) && isEdge(at + asked.length));
  if (isPart || isInside) return true;
  // With words in front, and its end cut off. Half of it or less is more likely a word that two
  // descriptions have in common.
  return endingsOf(shown, asked).some(
    (length) =>
      length * 2 > asked.length && edges.has(shown.length - length) && isCutCleanly(length, length),
  );
}

/** Where words begin and end when they are drawn together. */
function edgesOf(words: readonly string[]): ReadonlySet<number> {
  const edges = new Set([0]);
  let end = 0;
  for (const word of words) edges.add((end += word.length));
  return edges;
}

/** Where a text stands in another; both are letters and digits only. */
function placesOf(part: string, text: string): number[] {
  const places: number[] = [];
  repeatsOf(`${part} ${text}`).forEach((length, at) => {
    if (length === part.length) places.push(at - 2 * length);
  });
  return places;
}

/** How much of the beginning of a text another ends with: all the lengths, the longest first. */
function endingsOf(text: string, beginning: string): number[] {
  const repeats = repeatsOf(`${beginning} ${text}`);
  const lengths: number[] = [];
  for (let length = repeats.at(-1) ?? 0; length > 0; length = repeats[length - 1] ?? 0) {
    lengths.push(length);
  }
  return lengths;
}

/**
 * At each place of a text, how much of its beginning comes again and ends there. By Knuth, Morris and
 * Pratt, in one pass: with letters that repeat, `indexOf` at every place takes minutes.
 */
function repeatsOf(text: string): number[] {
  const repeats = [0];
  for (let at = 1; at < text.length; at += 1) {
    let length = repeats[at - 1] ?? 0;
    while (length > 0 && text[length] !== text[at]) length = repeats[length - 1] ?? 0;
    repeats.push(text[length] === text[at] ? length + 1 : 0);
  }
  return repeats;
}

/** Whether a number goes on over this place. */
const cutsNumber = (text: string, at: number): boolean =>
  /\p{N}$/u.test(text.slice(Math.max(0, at - 2), at)) && /^\p{N}/u.test(text.slice(at, at + 2));

/** A text without what platforms like to change: signs, accents, white space, composed characters, case. */
const loosely = (text: string): string =>
  text
    // Piece by piece: a thousand accents on one letter are sorted for long, a million for ever.
    .replace(/[^]{1,100}/gu, (piece) => piece.normalize('NFKD'))
    // In Latin, Greek and Cyrillic; elsewhere such a mark may stand for a letter.
    .replace(/[\u0300-\u036f]+/g, '')
    // Capitals last: Straße and STRASSE are one, and a small sigma depends on what stands behind it.
    .toLowerCase()
    .toUpperCase()
    // A sign as HTML writes it is a sign as well.
    .replace(/&(?:amp|lt|gt|quot|apos|nbsp|#\d{1,6}|#x[\da-f]{1,6});|[^\p{L}\p{N}]+/giu, ' ')
    .trim();

/** Only its letters and digits: some platforms take signs out and leave no gap. */
export const lettersOf = (text: string): string => loosely(text).replaceAll(' ', '');
