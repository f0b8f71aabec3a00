import { controls } from '../internal/text.ts';
import { fieldOf, isError, maxErrorDepth } from '../internal/thrown.ts';
import { toPlainData } from './json.ts';

/** Removes credentials from a string. */
export type Redact = (text: string) => string;

const mark = '[redacted]';

/** A secret with fewer characters is not redacted, because it would match parts of words. */
const minSecretLength = 4;

/** The longest credential that the client accepts, in characters. */
export const maxSecretLength = 8_192;

/** Patterns of the platform's credentials. `sk_` in a word, as in `task_1`, does not match. */
const credentialPatterns = [
  /(?:(?<![A-Za-z0-9]_?)|(?<=%..|\\[nrt]|\\u.{4}))sk_(?:\\+(?:\/|u.{4})|&#?\w+;|[^\s"'<>,;\\])+/g,
  /(?<![A-Za-z0-9]_?)[Bb]earer(?:\s|%20|\+)+(?:\\+(?:\/|u.{4})|&#?\w+;|[^\s"'<>,;\\])+/g,
  /eyJ[\w-]{8,256}\.[\w-]+(?:\.[\w-]*)?/g,
];

/**
 * Makes a function that replaces these secrets, and what matches a pattern, in a text; if a secret
 * is encoded, the mark replaces the whole text. For the caller's own data pass no patterns, because
 * for example a cursor may have the form of a JWT.
 */
export function redactor(
  secrets: readonly string[],
  patterns: readonly RegExp[] = credentialPatterns,
): Redact {
  // Replace the longest secret first, because a shorter one may be its beginning.
  const spellings = [...new Set(secrets.flatMap(spellingsOf))].toSorted(
    (a, b) => b.length - a.length,
  );
  return (text) => {
    let clean = text;
    for (const spelling of spellings) clean = clean.replaceAll(spelling, mark);
    // Nobody knows where an encoded secret starts and ends, so the mark replaces the whole text.
    const isEncodedIn = (decoding: string): boolean =>
      spellings.some((spelling) => decoding.includes(spelling));
    if (decodingsOf(clean).some(isEncodedIn)) return mark;
    // Apply patterns last, because a pattern may match only a part of a secret and leave the rest.
    for (const pattern of patterns) clean = clean.replaceAll(pattern, mark);
    return clean;
  };
}

/** The spellings of a secret to look for: as it is, decoded, and each as JSON escapes it. */
function spellingsOf(secret: string): readonly string[] {
  const spellings =
    spellingCache.get(secret) ??
    [secret, ...decodingsOf(secret)]
      .filter(({ length }) => length >= minSecretLength)
      .flatMap((spelling) => [spelling, JSON.stringify(spelling).slice(1, -1)]);
  // Empty a full cache, because a process with many tenants must not keep all of their secrets.
  if (spellingCache.size >= 64) spellingCache.clear();
  spellingCache.set(secret, spellings);
  return spellings;
}

const spellingCache = new Map<string, readonly string[]>();

/**
 * Returns a text with the escapes of URLs, JSON and HTML decoded once, and decoded twice, because
 * for example a URL may contain JSON. Credentials are ASCII, so only ASCII is decoded.
 */
function decodingsOf(text: string, layers = 2): readonly string[] {
  const decoded = text
    .replaceAll(/(?:%|\\u00|&#x)([0-9a-f]{2});?/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
    .replaceAll(/&#(\d{2,3});/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replaceAll('&amp;', '&')
    .replaceAll('\\', '');
  if (decoded === text || layers === 0) return [];
  return [decoded, ...decodingsOf(decoded, layers - 1)];
}

/** Matches the names of headers of a proxy, a gateway or a session that may contain a secret. */
const secretHeader =
  /cookie|authoriz|authent|(?:^|[^a-z])authn?(?:$|[^a-z])|passw|passphrase|pwd|credential|session|token|secret|jwt|dpop|(?:api|access|auth|master|private|signing|subscription|functions)[^a-z0-9]*key/i;

/** Returns the value of a header, redacted if the header's name or the value shows a secret. */
export const redactHeader = (name: string, value: string, redact: Redact): string =>
  secretHeader.test(name) ? mark : redact(value);

/** Copies a JSON value and redacts its strings. The copy is cut at `depth` and `maxItems`. */
export function redactDeep<T>(value: T, redact: Redact, depth?: number, maxItems?: number): T;
export function redactDeep(
  value: unknown,
  redact: Redact,
  depth = Number.POSITIVE_INFINITY,
  maxItems = Number.POSITIVE_INFINITY,
): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return '[cut]';
  const inner = (each: unknown): unknown => redactDeep(each, redact, depth - 1, maxItems);
  if (Array.isArray(value)) return value.slice(0, maxItems).map(inner);
  const fields = Object.entries(value).slice(0, maxItems);
  return Object.fromEntries(fields.map(([key, field]) => [redact(key), inner(field)]));
}

/** Redaction reads at most this many characters of a text, far more than an error shows. */
const maxReadLength = 2 ** 16;

/** How many characters of a text an error shows at most. */
const maxShownLength = 2_048;

/** Redacts a text for an error, and cuts it to the length that an error shows. */
export function redactAndCut(text: string, redact: Redact): string {
  const isComplete = text.length <= maxReadLength;
  const clean = redact(text.slice(0, maxReadLength));
  if (isComplete && clean.length <= maxShownLength) return clean;
  // Drop the end, because the cut may have split a credential, and redaction does not recognise a part.
  const safe = isComplete ? clean : clean.slice(0, -maxSecretLength);
  return `${safe.slice(0, maxShownLength)}… [cut]`;
}

/** Copies a JSON value for an error: redacted, small enough for a log, and with each bigint as a string. */
export const redactBounded = (value: unknown, redact: Redact): unknown =>
  toPlainData(redactDeep(value, (text) => redactAndCut(text, redact), 8, 100));

/**
 * Copies an error with its name, code, message, stack and causes, redacted, down to `depth` levels;
 * undefined if the value is not an error. Leaves out other fields, because for example a Request
 * contains the credential.
 */
export function redactError(error: unknown, redact: Redact, depth = maxErrorDepth) {
  if (!isError(error)) return undefined;
  // Remove control characters, because errors are printed to terminals as they are.
  const clean = (text: string): string => redactAndCut(text, redact).replaceAll(controls, '');
  const copy = new Error('');
  for (const key of ['message', 'name', 'stack', 'code', 'syscall'] as const) {
    const value = fieldOf(error, key);
    if (typeof value === 'string') Object.assign(copy, { [key]: clean(value) });
  }
  if (depth === 0) return copy;
  const copyInner = (inner: unknown): Error | undefined => redactError(inner, redact, depth - 1);
  const errors = fieldOf(error, 'errors');
  if (Array.isArray(errors)) Object.assign(copy, { errors: errors.map(copyInner) });
  const cause = copyInner(fieldOf(error, 'cause'));
  if (cause !== undefined) copy.cause = cause;
  return copy;
}

/**
 * Returns what a function threw, or a redacted copy if its text contains a secret. Undefined if the
 * value cannot be read.
 */
export function keepCause(thrown: unknown, redact: Redact): unknown {
  const secrets: string[] = [];
  const redactAndNote: Redact = (text) => {
    const clean = redact(text);
    if (clean !== text) secrets.push(text);
    return clean;
  };
  try {
    // Look for secrets in the other fields of an error, too, because redactError copies only some.
    const fields = redactDeep(thrown, redactAndNote, 8, 100);
    const copy = redactError(thrown, redactAndNote) ?? fields;
    return secrets.length === 0 ? thrown : copy;
  } catch {
    return undefined;
  }
}
