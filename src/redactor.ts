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
  // Only failures redact, so nothing is prepared before the first text comes.
  let patterns: readonly RegExp[] | undefined;
  return (text) => {
    patterns ??= [
      ...secrets
        .filter(({ length }) => length >= shortestSecret)
        .toSorted((a, b) => b.length - a.length)
        .map(anySpelling),
      ...others,
    ];
    return patterns.reduce((rest, pattern) => rest.replace(pattern, mark), text);
  };
}

/** Matched exactly up to here; a pattern for a longer secret would be too large to compile. */
const telling = 64;

/** Finds a secret with any of its characters as it is, or escaped once or more often. */
function anySpelling(secret: string): RegExp {
  const made = expressions.get(secret) ?? spelt(secret);
  // The ones in use stay; a process with many tenants does not collect all of theirs.
  if (expressions.size >= 64) expressions.clear();
  expressions.set(secret, made);
  return made;
}

const expressions = new Map<string, RegExp>();

function spelt(secret: string): RegExp {
  const characters = [...secret];
  const head = characters.slice(0, telling).map(anyForm).join('');
  const rest = characters.length - telling;
  if (rest <= 0) return new RegExp(head, 'g');
  const others = [...new Set(characters.slice(telling))].map(literal).join('');
  const tail = String.raw`(?:%(?:25){0,8}[0-9A-Fa-f]{2}|\\{1,32}u00[0-9A-Fa-f]{2}|&(?:amp;){0,8}#?\w{1,8};|\\{0,32}[${others}])`;
  return new RegExp(`${head}${tail}{0,${rest}}`, 'g');
}

/** The names that HTML has for the marks of which credentials are made. */
const entities: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": 'apos',
  '/': 'sol',
  '+': 'plus',
  '=': 'equals',
  _: 'lowbar',
  '-': 'hyphen',
  '.': 'period',
  ':': 'colon',
  '%': 'percnt',
};

function anyForm(character: string): string {
  const code = character.charCodeAt(0);
  const digits = code
    .toString(16)
    .padStart(2, '0')
    .replaceAll(/[a-f]/g, (d) => `[${d}${d.toUpperCase()}]`);
  const name = entities[character];
  return (
    [
      String.raw`(?:${/\w/.test(character) ? '' : String.raw`\\{0,32}`}${literal(character)}`,
      // A form that was sent without escapes has spaces for its plus signs.
      ...(character === '+' ? [' ', '%(?:25){0,8}20'] : []),
      `%(?:25){0,8}${digits}`,
      String.raw`\\{1,32}u00${digits}`,
      `&(?:amp;){0,8}#(?:0{0,8}${code}|[xX]0{0,8}${digits});`,
      ...(name === undefined ? [] : [`&(?:amp;){0,8}${name};`]),
    ].join('|') + ')'
  );
}

const literal = (character: string): string =>
  /[A-Za-z0-9]/.test(character)
    ? character
    : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

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
