import { messageOf } from './errors.ts';

/** Takes credentials out of a text. */
export type Redact = (text: string) => string;

const mark = '[redacted]';

/** What looks like a credential, whoever it belongs to. */
const lookalikes = [
  /\bsk_[\x21\x23-\x26\x28-\x2b\x2d-\x3a\x3c\x3d\x3f-\x5b\x5d-\x7e]+/g,
  /\bBearer\s+[\x21\x23-\x26\x28-\x2b\x2d-\x3a\x3c\x3d\x3f-\x5b\x5d-\x7e]+/gi,
  /\beyJ[\w-]+\.[\w-]+\.[\w-]*/g,
];

/** Redacts the given secrets, plain and as they read in a URL or in JSON, and lookalikes. */
export function redactor(secrets: readonly string[]): Redact {
  // Only failures redact, so nothing is prepared before the first text comes.
  let values: readonly string[] | undefined;
  return (text) => {
    values ??= spellings(secrets);
    const known = values.reduce((rest, value) => rest.replaceAll(value, mark), text);
    return lookalikes.reduce((rest, pattern) => rest.replace(pattern, mark), known);
  };
}

/** The secrets as they may be written, the longest first. */
const spellings = (secrets: readonly string[]): string[] =>
  [
    ...new Set(
      secrets.flatMap((secret) => {
        const inUrl = encodeURIComponent(secret);
        const inJson = JSON.stringify(secret).slice(1, -1);
        return [
          secret,
          inUrl,
          inUrl.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
          inJson,
          inJson.replaceAll('/', '\\/'),
          inHtml(secret),
        ];
      }),
    ),
  ].toSorted((a, b) => b.length - a.length);

const inHtml = (secret: string): string =>
  secret
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');

/** How deep and how large a value may be that travels on an error. */
const limits = { depth: 8, keys: 100, text: 2_048 };

/** Cuts a text for an error. */
export const shortened = (text: string): string =>
  text.length > limits.text ? `${text.slice(0, limits.text)}… [cut]` : text;

/** A copy of a parsed JSON value, redacted and bounded. */
export function redactValue(value: unknown, redact: Redact, depth = 0): unknown {
  if (typeof value === 'string') return shortened(redact(value));
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= limits.depth) return '[cut]';
  if (Array.isArray(value)) {
    return value.slice(0, limits.keys).map((inner) => redactValue(inner, redact, depth + 1));
  }
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, limits.keys)
      .map(([key, inner]) => [redact(key), redactValue(inner, redact, depth + 1)]),
  );
}

/**
 * A copy of somebody else's error: name, code and redacted text, nothing it may hold besides (a
 * Request would bring the credential along).
 */
export function redactError(error: unknown, redact: Redact, depth = 0): unknown {
  if (!(error instanceof Error)) return undefined;
  const copy = new Error(shortened(redact(messageOf(error))));
  // What a user's function threw may have anything in these places.
  for (const key of ['name', 'stack', 'code', 'syscall'] as const) {
    const value: unknown = Reflect.get(error, key);
    if (typeof value === 'string') Object.assign(copy, { [key]: shortened(redact(value)) });
  }
  if (depth < 4) {
    const { errors } = error as { errors?: unknown };
    if (Array.isArray(errors)) {
      const members = errors.map((inner: unknown) => redactError(inner, redact, depth + 1));
      Object.assign(copy, { errors: members });
    }
    const cause = redactError(error.cause, redact, depth + 1);
    if (cause !== undefined) copy.cause = cause;
  }
  return copy;
}
