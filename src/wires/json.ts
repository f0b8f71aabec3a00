/*
 * JSON without losing digits. The platform's integers (salts, block numbers, fees) may be larger
 * than 2^53, where JSON.parse rounds silently. Both directions use what the runtime offers for
 * this: the source text handed to a reviver, and raw JSON literals.
 */

/** Nesting beyond this is refused: the documented answers need 5 levels. */
export const maxDepth = 64;

/** A number of more digits is refused: reading one of millions takes seconds. */
const maxDigits = 1_000;

/** Thrown by {@link parseJson} for a text that no platform has reason to send; its message says why. */
export class JsonLimitError extends Error {
  static {
    Object.defineProperty(this.prototype, 'name', { value: 'JsonLimitError' });
  }
}

/** Whether a value was made by JSON.rawJSON. */
export const isRawJson = (value: unknown): boolean => json.isRawJSON?.(value) === true;

type Reviver = (key: string, value: unknown, context: { source: string }) => unknown;
type RawJson = (text: string) => unknown;
// The standard library's types do not list either feature yet; every supported runtime has both.
const json = JSON as unknown as {
  parse(text: string, reviver?: Reviver): unknown;
  rawJSON?: RawJson;
  isRawJSON?(value: unknown): boolean;
};

/**
 * `__proto__` as a key would become a prototype in somebody's Object.assign. Each of its letters may
 * be written as an escape.
 */
const mayHoldProtoKey = (text: string): boolean =>
  text.includes('__proto__') || /\\u00(?:5f|6f|7[024])/i.test(text);

const revive: Reviver = (key, value, context) => {
  if (key === '__proto__') return undefined;
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? '';
  if (!/^-?\d+$/.test(source)) return value;
  if (source.length > maxDigits) {
    throw new JsonLimitError(`holds a number of more than ${maxDigits} digits`);
  }
  return BigInt(source);
};

/**
 * Parses JSON: an integer beyond 2^53 - 1 becomes a `bigint`, a `__proto__` key is dropped.
 * @throws SyntaxError for text that is not JSON, JsonLimitError for what is nested too deep or too long.
 */
export function parseJson(text: string): unknown {
  // A reviver makes parsing several times slower, so it comes in only where there is work for it.
  if (text.length > parsedAtOnce) {
    const { deepest, longDigits } = scan(text);
    if (deepest > maxDepth) throw tooDeep();
    return longDigits || mayHoldProtoKey(text) ? json.parse(text, revive) : json.parse(text);
  }
  const value = json.parse(text);
  const found = survey(value, maxDepth);
  if (found === 'too deep') throw tooDeep();
  return found === 'odd' ? json.parse(text, revive) : value;
}

/** A text as long as this is parsed before it is looked at, which costs a thirtieth of a scan. */
const parsedAtOnce = 2 ** 18;

const tooDeep = (): JsonLimitError =>
  new JsonLimitError(`is nested more than ${maxDepth} levels deep`);

type Finding = 'fine' | 'odd' | 'too deep';

/** Whether a parsed value has lost digits or holds a `__proto__` key, or nests too deep. */
function survey(value: unknown, room: number): Finding {
  if (typeof value === 'number') {
    return value > Number.MAX_SAFE_INTEGER || value < Number.MIN_SAFE_INTEGER ? 'odd' : 'fine';
  }
  if (typeof value !== 'object' || value === null) return 'fine';
  if (room === 0) return 'too deep';
  return Array.isArray(value) ? surveyList(value, room - 1) : surveyObject(value, room - 1);
}

function surveyList(list: readonly unknown[], room: number): Finding {
  let found: Finding = 'fine';
  for (const inner of list) {
    const inside = typeof inner === 'string' ? 'fine' : survey(inner, room);
    if (inside === 'too deep') return inside;
    if (inside === 'odd') found = inside;
  }
  return found;
}

function surveyObject(parsed: object, room: number): Finding {
  let found: Finding = 'fine';
  // V8 keeps the keys for this loop with the shape of the object, while Object.values() makes a new
  // list: 2 us for a page of 100 transfers against 18.
  for (const key in parsed) {
    if (key === '__proto__') found = 'odd';
    const inner: unknown = parsed[key as keyof typeof parsed];
    const inside = typeof inner === 'string' ? 'fine' : survey(inner, room);
    if (inside === 'too deep') return inside;
    if (inside === 'odd') found = inside;
  }
  return found;
}

/** Writes JSON: a `bigint` becomes bare digits, whatever BigInt.prototype.toJSON was patched to. */
export function stringifyJson(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key, seen: unknown) {
    const original = this[key];
    if (typeof original !== 'bigint') return seen;
    if (json.rawJSON === undefined) {
      throw new TypeError('This runtime cannot write a bigint as JSON; use Node.js 22 or later.');
    }
    return json.rawJSON(String(original));
  });
}

/** What brackets, quotes and digits say of a text without parsing it. */
interface Outline {
  readonly deepest: number;
  /** How many brackets are still open at the end. */
  readonly open: number;
  /** Whether the text ends inside a string. */
  readonly quoted: boolean;
  /** Whether a number has 16 digits or more, and so may be more than a `number` can hold. */
  readonly longDigits: boolean;
}

/** Follows a text from bracket to bracket, passing over strings; stops beyond the deepest level. */
function scan(text: string): Outline {
  let open = 0;
  let deepest = 0;
  let digits = 0;
  let longDigits = false;
  for (let at = 0; at < text.length && deepest <= maxDepth; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      at = endOfString(text, at);
      if (at < 0) return { deepest, open, quoted: true, longDigits };
      digits = 0;
    } else if (code >= 0x30 && code <= 0x39) {
      digits += 1;
      if (digits > 15) longDigits = true;
    } else {
      digits = 0;
      if (code === 0x7b || code === 0x5b) {
        open += 1;
        if (open > deepest) deepest = open;
      } else if (code === 0x7d || code === 0x5d) {
        open -= 1;
      }
    }
  }
  return { deepest, open, quoted: false, longDigits };
}

/** Where the string that begins at a quote ends, or -1. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end > 0) {
    let slashes = 0;
    while (text.charCodeAt(end - slashes - 1) === 0x5c) slashes += 1;
    if (slashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return -1;
}

/** Whether a text that is not JSON begins like an object or an array and stops before its end. */
export function endsEarly(text: string): boolean {
  const start = text.trimStart();
  if (!start.startsWith('{') && !start.startsWith('[')) return false;
  const { open, quoted } = scan(start);
  return quoted || open > 0;
}
