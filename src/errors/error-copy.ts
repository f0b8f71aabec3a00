import { fieldOf, messageOf } from './foreign-error.ts';
import { longestSecret, type Redact } from './redact.ts';

/** How deep and how large a value may be that travels on an error. */
const limits = { depth: 8, keys: 100, text: 2_048 };

/** As much of a text as redaction reads: far more than is shown, far less than may arrive. */
const read = 2 ** 16;

/** A text for an error: redacted, then cut. */
export function redactAndCut(given: string, redact: Redact): string {
  // Between the letters of UTF-16 that was read as UTF-8; nothing would look like a credential.
  const text = given.replaceAll('\0', '');
  const isRead = text.length <= read;
  const clean = redact(text.slice(0, read));
  if (isRead && clean.length <= limits.text) return clean;
  // Where reading stopped, a credential may be without the end by which it is known.
  const known = isRead ? clean : clean.slice(0, -longestSecret);
  return `${known.slice(0, limits.text)}… [cut]`;
}

/** What moves the cursor of a terminal, rings or turns the direction of writing around. */
const controls = /(?![\t\n])[\p{Cc}\p{Bidi_Control}]/gu;

/**
 * Somebody else's words for a message of ours: they must not begin a line of their own there, such
 * as "It did not take effect.".
 */
export const oneLine = (text: string): string =>
  text.replaceAll(/\s+/g, ' ').replaceAll(controls, '').trim();

/** A copy of a parsed JSON value, redacted and bounded. */
export function redactBounded(value: unknown, redact: Redact, depth = 0): unknown {
  if (typeof value === 'string') return redactAndCut(value, redact);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= limits.depth) return '[cut]';
  if (Array.isArray(value)) {
    return value.slice(0, limits.keys).map((inner) => redactBounded(inner, redact, depth + 1));
  }
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, limits.keys)
      .map(([key, inner]) => [redact(key), redactBounded(inner, redact, depth + 1)]),
  );
}

/**
 * A copy of somebody else's error: name, code and redacted text, nothing it may hold besides (a
 * Request would bring the credential along).
 */
export function redactError(error: unknown, redact: Redact, depth = 0): unknown {
  if (!(error instanceof Error)) return undefined;
  // Errors are printed as they are, so a text in one may not steer the terminal.
  const clean = (text: string): string => redactAndCut(text, redact).replaceAll(controls, '');
  const copy = new Error(clean(messageOf(error)));
  // What a user's function threw may have anything in these places.
  for (const key of ['name', 'stack', 'code', 'syscall'] as const) {
    const value = fieldOf(error, key);
    if (typeof value === 'string') Object.assign(copy, { [key]: clean(value) });
  }
  if (depth < 4) {
    const errors = fieldOf(error, 'errors');
    if (Array.isArray(errors)) {
      const members = errors.map((inner: unknown) => redactError(inner, redact, depth + 1));
      Object.assign(copy, { errors: members });
    }
    const cause = redactError(fieldOf(error, 'cause'), redact, depth + 1);
    if (cause !== undefined) copy.cause = cause;
  }
  return copy;
}

/** What an error said, behind the sentence that tells of it. */
export const saidBy = (cause: unknown): string =>
  cause instanceof Error && cause.message !== '' ? `: ${oneLine(cause.message)}` : '';
