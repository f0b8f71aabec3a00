import { inspect } from 'node:util';

/** Whether a text contains a secret or a recognizable part of it, in any spelling. */
type Detect = (text: string) => boolean;

/**
 * The two canaries. The key has every character that URLs, JSON and HTML encode; each part between
 * them is long enough to be recognized.
 */
export const apiKey = 'sk_live_Kq7Zt2Rw/Vn4Xb8Mj+Hd6Ys3Lp=Gf9Cu5Ae&Tk1Wo0Qi';
export const jwt = `${base64url({ alg: 'ES256', kid: 'canary' })}.${base64url({ sub: 'canary-7f3a', exp: 4_102_444_800 })}.Zx9Yw8Vu7-Ts6Rq5_Po4Nm3`;

/** The secrets to search; the awkward key of some tests shares its parts with the first. */
const parts = [...apiKey.split(/[^A-Za-z0-9]+/), ...jwt.split('.')]
  .filter((part) => part.length >= 8)
  .map((part) => part.toLowerCase());

function base64url(claims: object): string {
  return Buffer.from(JSON.stringify(claims)).toString('base64url');
}

const character = (digits: string, radix: number): string => {
  const code = Number.parseInt(digits, radix);
  return code > 0 && code < 0x80 ? String.fromCharCode(code) : ' ';
};

/** Decodes the spellings that hide letters, repeatedly because they may be nested. */
function spelledOut(text: string): string {
  let before = text;
  for (let round = 0; round < 3; round += 1) {
    const after = before
      .replaceAll(/%([0-9a-f]{2})/gi, (_, digits: string) => character(digits, 16))
      .replaceAll(/\\+u([0-9a-f]{4})/gi, (_, digits: string) => character(digits, 16))
      .replaceAll(/&#x0*([0-9a-f]{1,4});/gi, (_, digits: string) => character(digits, 16))
      .replaceAll(/&#0*([0-9]{1,4});?/g, (_, digits: string) => character(digits, 10));
    if (after === before) break;
    before = after;
  }
  return before;
}

/** Header names arrive in lower case, so the search ignores case. */
export const containsSecret: Detect = (text) =>
  [text, spelledOut(text)].some((form) => {
    const lower = form.toLowerCase();
    return parts.some((part) => lower.includes(part));
  });

const everything = {
  depth: 10,
  showHidden: true,
  getters: true,
  maxStringLength: Number.POSITIVE_INFINITY,
  maxArrayLength: Number.POSITIVE_INFINITY,
  breakLength: Number.POSITIVE_INFINITY,
};

/** Every way in which a value commonly appears in a log. */
const views: Readonly<Record<string, (value: unknown) => string>> = {
  message: (value) => textAt(value, 'message'),
  stack: (value) => textAt(value, 'stack'),
  'String()': String,
  'util.inspect': (value) => inspect(value, everything),
  'util.inspect without its own': (value) =>
    inspect(value, { ...everything, customInspect: false }),
  'JSON.stringify': (value) => JSON.stringify(value) ?? '',
  toJSON: (value) => {
    const method = propertyAt(value, 'toJSON');
    return typeof method === 'function' ? inspect(method.call(value), everything) : '';
  },
  cause: (value) => causesOf(value),
  attempts: (value) => inspect(propertyAt(value, 'attempts'), everything),
  properties: (value) => [...texts(value)].join('\n'),
};
export const viewNames = Object.keys(views);

/** The names of the views that show a secret of a value; none for a clean value. */
export function leaksOf(value: unknown): string[] {
  return Object.entries(views).flatMap(([name, view]) => {
    let text: string;
    try {
      text = view(value);
    } catch (error) {
      // An error of a view appears in the same log.
      text = inspect(error, everything);
    }
    return containsSecret(text) ? [`${name}: ${excerptAround(text)}`] : [];
  });
}

/** Enough of the text to identify the field; the canaries are no real secrets. */
function excerptAround(text: string): string {
  const lower = text.toLowerCase();
  const places = parts.map((part) => lower.indexOf(part)).filter((place) => place !== -1);
  const place = Math.max(0, Math.min(...places) - 60);
  return text.slice(place, place + 100).replaceAll(/\s+/g, ' ');
}

const propertyAt = (value: unknown, key: PropertyKey): unknown =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'
    ? Reflect.get(value, key)
    : undefined;

const textAt = (value: unknown, key: string): string => {
  const property = propertyAt(value, key);
  return typeof property === 'string' ? property : inspect(property, everything);
};

function causesOf(value: unknown, seen = new Set<unknown>()): string {
  const cause = propertyAt(value, 'cause');
  if (cause === undefined || seen.has(cause)) return '';
  seen.add(cause);
  const fields = ['name', 'message', 'stack', 'code', 'errors'].map((key) => textAt(cause, key));
  return [inspect(cause, everything), ...fields, causesOf(cause, seen)].join('\n');
}

/**
 * Every string that can be reached from a value through its own and inherited properties,
 * including hidden ones, symbols and getters.
 */
function* texts(
  value: unknown,
  seen = new Set<unknown>(),
  depth = 0,
): Generator<string, void, undefined> {
  if (typeof value === 'string') yield value;
  if (typeof value === 'symbol') yield String(value);
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return;
  if (seen.has(value) || depth > 12) return;
  seen.add(value);
  if (value instanceof Uint8Array) {
    yield Buffer.from(value).toString('latin1');
    return;
  }
  if (value instanceof Map || value instanceof Set || value instanceof Headers) {
    yield* texts([...value], seen, depth + 1);
  }
  for (const [key, inner] of properties(value)) {
    yield String(key);
    yield* texts(inner, seen, depth + 1);
  }
}

function* properties(value: object): Generator<[PropertyKey, unknown], void, undefined> {
  for (
    let link: object | null = value;
    link !== null && link !== Object.prototype && link !== Function.prototype;
    link = Object.getPrototypeOf(link) as object | null
  ) {
    for (const key of Reflect.ownKeys(link)) {
      // A constructor leads to every class of the process.
      if (key === 'constructor' || key === 'prototype') continue;
      try {
        yield [key, Reflect.get(link, key, value)];
      } catch (error) {
        yield [key, error];
      }
    }
  }
}
