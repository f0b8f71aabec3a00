/** Matches characters that move a terminal's cursor, ring its bell or reverse the text. */
export const controls = /(?![\t\n])[\p{Cc}\p{Bidi_Control}]/gu;

/** Puts text from outside on one line, so that it cannot imitate a line of an error message. */
export const oneLine = (text: string): string =>
  text.replaceAll(/\s+/g, ' ').replaceAll(controls, '').trim();

export const trimTrailingSlashes = (text: string): string =>
  // The lookbehind lets only the first slash start a match. Trying every slash may take seconds.
  text.replace(/(?<!\/)\/+$/, '');

/** Says what kind of value this is, such as `an array`, without showing the value. */
export function describeKind(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  const maker: unknown = Reflect.get(Object(Object.getPrototypeOf(value)), 'constructor');
  const name = typeof value === 'object' && typeof maker === 'function' ? maker.name : '';
  return withArticle(name === '' || name === 'Object' ? typeof value : name);
}

export const withArticle = (noun: string): string =>
  `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;

/** Describes a wrong value. Shows only numbers and short decimals, because other values may be secret. */
export function describeArrival(value: unknown): string {
  if (value === undefined) return 'missing';
  if (typeof value === 'number') return `got ${value}`;
  const isShown = typeof value === 'string' && /^[-+\d.,e]{0,10}$/.test(value);
  return `got ${isShown ? `"${value}"` : describeKind(value)}`;
}

/** Finds the name that a misspelt word probably means. The two differ by at most two edits and share a letter. */
export const findSimilar = (word: string, names: readonly string[]): string | undefined =>
  names.find((name) =>
    isNear(word.toLowerCase(), name.toLowerCase(), Math.min(2, word.length - 1, name.length - 1)),
  );

/** Whether two words become equal if at most `edits` letters are added, removed or replaced. */
function isNear(one: string, other: string, edits: number): boolean {
  if (one === '' || other === '') return one.length + other.length <= edits;
  const [less, fewer] = [one.slice(1), other.slice(1)];
  if (one[0] === other[0]) return isNear(less, fewer, edits);
  if (edits <= 0) return false;
  return [[less, fewer] as const, [less, other] as const, [one, fewer] as const].some(([a, b]) =>
    isNear(a, b, edits - 1),
  );
}

/** Formats a time to wait, rounded up, so that nobody comes back too early. */
export const formatWait = (ms: number): string =>
  ms <= 120_000 ? `${Math.ceil(ms / 1_000)} s` : `${Math.ceil(ms / 60_000)} minutes`;

/** Formats milliseconds since 1970. A number outside of the range of a Date is shown as it is. */
export const formatTime = (ms: number): string =>
  Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : String(ms);

/** Writes a number before its noun: `1 call`, `2 calls`. */
export const countOf = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;
