/** Takes credentials out of a text. */
export type Redact = (text: string) => string;

const mark = '[redacted]';

/** Shorter secrets are not masked: they would match ordinary words. */
export const shortestSecret = 4;

/** No credential is longer: others are refused. */
export const longestSecret = 8_192;

/** What may precede a credential: anything but a word that happens to end in the same letters. */
const before = String.raw`(?<![A-Za-z0-9]|(?<=[A-Za-z0-9])_)|(?<=%[0-9A-Fa-f]{2}|\\[bfnrt]|\\u[0-9A-Fa-f]{4})`;
/** A character of a credential, as it is or as JSON and HTML escape it. */
const piece = String.raw`(?:&(?:amp|#\d{1,4}|#x[0-9A-Fa-f]{1,4}|[a-z]{2,8});|\\{1,32}(?:\/|u00[0-9A-Fa-f]{2})|[!#-&(-+\-.\/0-:<=?-\[\]-~])`;

/** What looks like a credential, whoever it belongs to. */
const lookalikes = [
  new RegExp(`(?:${before})sk_${piece}+`, 'g'),
  new RegExp(String.raw`(?:${before})Bearer(?:\s|%20|\+)+${piece}+`, 'gi'),
  /eyJ[\w-]{8,256}\.[\w-]+(?:\.[\w-]*)?/g,
];

/**
 * Redacts the given secrets, however URLs, JSON and HTML spell them, and lookalikes; without
 * lookalikes for data of the caller's, such as a cursor that is signed like a JWT.
 */
export function redactor(
  secrets: readonly string[],
  others: readonly RegExp[] = lookalikes,
): Redact {
  return (text) => {
    const words = [...new Set(secrets.flatMap(wordsOf))];
    const own =
      words.length === 0 ? [] : readings(text).flatMap((reading) => found(words, reading));
    const alike = others.flatMap((other) => matches(text, other).map(spanOf));
    // A lookalike that begins inside a known secret would run on into ordinary words.
    const isOwn = ({ begin }: Span): boolean =>
      own.some((span) => span.begin <= begin && begin < span.end);
    return masked(text, [...own, ...alike.filter((span) => !isOwn(span))]);
  };
}

/** Most texts have no match, and `matchAll` copies the pattern before it looks. */
const matches = (text: string, pattern: RegExp): RegExpExecArray[] =>
  text.search(pattern) < 0 ? [] : [...text.matchAll(pattern)];

/** A part of a text: where it begins, and what comes after it. */
interface Span {
  readonly begin: number;
  readonly end: number;
}

const spanOf = ({ index, 0: { length } }: RegExpExecArray): Span => ({
  begin: index,
  end: index + length,
});

/** Spans may overlap: what looks like a credential may be half of a secret, or more than one. */
function masked(text: string, spans: readonly Span[]): string {
  let clean = '';
  let at = 0;
  for (const { begin, end } of spans.toSorted((a, b) => a.begin - b.begin)) {
    if (begin >= at) clean += text.slice(at, begin) + mark;
    at = Math.max(at, end);
  }
  return clean + text.slice(at);
}

/** A text as it reads, and where in the original each character begins and ends, if that differs. */
interface Reading {
  readonly text: string;
  readonly begins?: readonly number[];
  readonly ends?: readonly number[];
}

const beginOf = ({ begins }: Reading, at: number): number => begins?.[at] ?? at;
const endOf = ({ ends }: Reading, at: number): number => ends?.[at] ?? at + 1;

/** Escapes of escapes are undone this often. */
const layers = 9;

/**
 * A text as it reads with none of its escapes undone, with one layer of them, and so on. No pattern
 * for all spellings of a secret: one that allows for backslashes takes for ever over a row of them.
 */
function readings(text: string): Reading[] {
  const all: Reading[] = [];
  let reading: Reading = { text };
  for (;;) {
    all.push(folded(reading));
    const next = replaced(reading, escape, unescaped);
    if (next === reading || all.length > layers) return all;
    reading = next;
  }
}

/** The names that HTML has for the marks of which credentials are made. */
const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  sol: '/',
  plus: '+',
  equals: '=',
  lowbar: '_',
  hyphen: '-',
  period: '.',
  colon: ':',
  percnt: '%',
};

const escape = new RegExp(
  String.raw`(?:%|\\x)([0-9a-f]{2})|[%\\]u([0-9a-f]{4})|\\u\{0*([0-9a-f]{1,4})\}|&#x0*([0-9a-f]{1,4});?|&#0*(\d{1,5});?|&(${Object.keys(entities).join('|')});`,
  'gi',
);

/** The one character that an escape stands for. */
function unescaped([, two, four, braced, entity, decimal, name]: RegExpExecArray): string {
  const named = entities[name?.toLowerCase() ?? ''];
  const hex = two ?? four ?? braced ?? entity;
  return named ?? String.fromCharCode(hex === undefined ? Number(decimal) : Number(`0x${hex}`));
}

/**
 * Without what makes no difference: what cannot be seen, as UTF-16 has between letters when it is
 * read as UTF-8; backslashes, of which each JSON around another JSON doubles the number; the case,
 * which names of headers lose; and plus signs, which are spaces in a form that nobody encoded.
 */
function folded(reading: Reading): Reading {
  const seen = replaced(reading, /[\\\p{Cc}\p{Cf}]+/gu, () => '');
  const lower = seen.text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
  return { ...seen, text: lower.replaceAll(' ', '+') };
}

function replaced(
  reading: Reading,
  pattern: RegExp,
  replacement: (match: RegExpExecArray) => string,
): Reading {
  const { text } = reading;
  const begins: number[] = [];
  const ends: number[] = [];
  let rest = '';
  let at = 0;
  const keep = (until: number): void => {
    rest += text.slice(at, until);
    for (; at < until; at += 1) {
      begins.push(beginOf(reading, at));
      ends.push(endOf(reading, at));
    }
  };
  for (const match of matches(text, pattern)) {
    keep(match.index);
    at += match[0].length;
    const character = replacement(match);
    rest += character;
    if (character !== '') {
      begins.push(beginOf(reading, match.index));
      ends.push(endOf(reading, at - 1));
    }
  }
  if (at === 0) return reading;
  keep(text.length);
  return { text: rest, begins, ends };
}

/** As much of a secret betrays it; what follows may have been cut off. */
const telling = 64;

function found(words: readonly string[], reading: Reading): Span[] {
  const { text } = reading;
  const spans: Span[] = [];
  for (const word of words) {
    const head = word.slice(0, telling);
    for (let at = text.indexOf(head); at >= 0; at = text.indexOf(head, at + head.length)) {
      let length = head.length;
      while (length < word.length && word[length] === text[at + length]) length += 1;
      spans.push({ begin: beginOf(reading, at), end: endOf(reading, at + length - 1) });
    }
  }
  return spans;
}

/** What to look for: a secret as it reads, also with what looks like escapes in it undone. */
function wordsOf(secret: string): readonly string[] {
  const words =
    known.get(secret) ??
    readings(secret)
      .map(({ text }) => text)
      .filter(({ length }) => length >= shortestSecret);
  // The ones in use stay; a process with many tenants does not collect all of theirs.
  if (known.size >= 64) known.clear();
  known.set(secret, words);
  return words;
}

const known = new Map<string, readonly string[]>();

/** Headers in which others keep their secrets: a proxy, a gateway, a session. */
const secretHeader =
  /cookie|authoriz|authent|(?:^|[^a-z])authn?(?:$|[^a-z])|passw|passphrase|pwd|credential|session|token|secret|jwt|dpop|(?:api|access|auth|master|private|signing|subscription|functions)[^a-z0-9]*key/i;

/** A header's value as others may see it. */
export const redactHeader = (name: string, value: string, redact: Redact): string =>
  secretHeader.test(name) ? mark : redact(value);

/** A copy of a value without credentials; nothing is cut. */
export function redactDeep<T>(value: T, redact: Redact): T;
export function redactDeep(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((inner: unknown) => redactDeep(inner, redact));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      redact(key),
      redactDeep(inner as unknown, redact),
    ]),
  );
}
