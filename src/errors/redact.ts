import { controls, fieldOf } from '../internal/text.ts';
/** Takes credentials out of a text. */
export type Redact = (text: string) => string;

const mark = '[redacted]';

/** Shorter secrets are not masked: they would match ordinary words. */
const shortestSecret = 4;

/** No credential is longer: others are refused. */
export const longestSecret = 8_192;

/** What looks like a credential, whoever it belongs to; not the end of a word, as in `task_1`. */
const lookalikes = [
  /(?:(?<![A-Za-z0-9]_?)|(?<=%..|\\[nrt]|\\u.{4}))sk_(?:\\+(?:\/|u.{4})|&#?\w+;|[^\s"'<>,;\\])+/g,
  /(?<![A-Za-z0-9]_?)[Bb]earer(?:\s|%20|\+)+(?:\\+(?:\/|u.{4})|&#?\w+;|[^\s"'<>,;\\])+/g,
  /eyJ[\w-]{8,256}\.[\w-]+(?:\.[\w-]*)?/g,
];

/**
 * Takes the given secrets out of texts, as they are and as URLs and JSON spell them, and what looks
 * like one; without lookalikes for data of the caller's, such as a cursor that is signed like a JWT.
 */
export function redactor(
  secrets: readonly string[],
  others: readonly RegExp[] = lookalikes,
): Redact {
  // The longest first: one may begin like another.
  const words = [...new Set(secrets.flatMap(wordsOf))].toSorted((a, b) => b.length - a.length);
  return (text) => {
    let clean = text;
    for (const word of words) clean = clean.replaceAll(word, mark);
    // In another spelling, nobody can say where it begins and ends.
    if (readings(clean).some((reading) => words.some((word) => reading.includes(word)))) {
      return mark;
    }
    // Not before: a lookalike may end inside of a secret, whose tail nobody would know any more.
    for (const other of others) clean = clean.replaceAll(other, mark);
    return clean;
  };
}

/** What to look for: a secret as it is, in a URL and in JSON, also if it came from one. */
function wordsOf(secret: string): readonly string[] {
  const words =
    spelled.get(secret) ??
    [secret, ...readings(secret)]
      .filter(({ length }) => length >= shortestSecret)
      .flatMap(spellings);
  // The ones in use stay; a process with many tenants does not collect all of theirs.
  if (spelled.size >= 64) spelled.clear();
  spelled.set(secret, words);
  return words;
}

const spelled = new Map<string, readonly string[]>();

function spellings(secret: string): readonly string[] {
  const url = encodeURIComponent(secret);
  const json = JSON.stringify(secret).slice(1, -1);
  const lower = url.replaceAll(/%../g, (escape) => escape.toLowerCase());
  return [secret, url, lower, json, json.replaceAll('/', '\\/')];
}

/**
 * What a text says once the escapes of URLs, JSON and HTML are undone, and theirs: a URL may be in JSON
 * in a URL. Credentials are ASCII, so others need not be.
 */
function readings(text: string, layers = 2): readonly string[] {
  const read = text
    .replaceAll(/(?:%|\\u00|&#x)([0-9a-f]{2});?/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
    .replaceAll(/&#(\d{2,3});/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replaceAll('&amp;', '&')
    .replaceAll('\\', '');
  return read === text || layers === 0 ? [] : [read, ...readings(read, layers - 1)];
}

/** Headers in which others keep their secrets: a proxy, a gateway, a session. */
const secretHeader =
  /cookie|authoriz|authent|(?:^|[^a-z])authn?(?:$|[^a-z])|passw|passphrase|pwd|credential|session|token|secret|jwt|dpop|(?:api|access|auth|master|private|signing|subscription|functions)[^a-z0-9]*key/i;

/** A header's value as others may see it. */
export const redactHeader = (name: string, value: string, redact: Redact): string =>
  secretHeader.test(name) ? mark : redact(value);

/** A copy of a JSON value without credentials; what is deeper or longer than allowed is cut. */
export function redactDeep<T>(value: T, redact: Redact): T;
export function redactDeep(value: unknown, redact: Redact, depth: number, most: number): unknown;
export function redactDeep(
  value: unknown,
  redact: Redact,
  depth = Number.POSITIVE_INFINITY,
  most = Number.POSITIVE_INFINITY,
): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return '[cut]';
  const inner = (each: unknown): unknown => redactDeep(each, redact, depth - 1, most);
  if (Array.isArray(value)) return value.slice(0, most).map(inner);
  const fields = Object.entries(value).slice(0, most);
  return Object.fromEntries(fields.map(([key, field]) => [redact(key), inner(field)]));
}

/** As much of a text as redaction reads: far more than is shown, far less than may arrive. */
const longestRead = 2 ** 16;

/** As much of a text as an error shows. */
const longestShown = 2_048;

/** A text for an error: redacted, then cut. */
export function redactAndCut(text: string, redact: Redact): string {
  const isRead = text.length <= longestRead;
  const clean = redact(text.slice(0, longestRead));
  if (isRead && clean.length <= longestShown) return clean;
  // Where reading stopped, a credential may be without the end by which it is known.
  const known = isRead ? clean : clean.slice(0, -longestSecret);
  return `${known.slice(0, longestShown)}… [cut]`;
}

/** A copy of a JSON value for an error: redacted, and of a size that can be logged. */
export const redactBounded = (value: unknown, redact: Redact): unknown =>
  redactDeep(value, (text) => redactAndCut(text, redact), 8, 100);

/**
 * A copy of somebody else's error: name, code and redacted text, nothing it may hold besides (a
 * Request would bring the credential along).
 */
export function redactError(error: unknown, redact: Redact, depth = 4): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  // Errors are printed as they are, so a text in one may not steer the terminal.
  const clean = (text: string): string => redactAndCut(text, redact).replaceAll(controls, '');
  const copy = new Error('');
  for (const key of ['message', 'name', 'stack', 'code', 'syscall'] as const) {
    const value = fieldOf(error, key);
    if (typeof value === 'string') Object.assign(copy, { [key]: clean(value) });
  }
  // An error can be its own cause.
  if (depth === 0) return copy;
  const inner = (each: unknown): Error | undefined => redactError(each, redact, depth - 1);
  const errors = fieldOf(error, 'errors');
  if (Array.isArray(errors)) Object.assign(copy, { errors: errors.map(inner) });
  const cause = inner(error.cause);
  if (cause !== undefined) copy.cause = cause;
  return copy;
}
