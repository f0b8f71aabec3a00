/*
 * JSON without losing digits. The platform's integers (salts, block numbers, fees) may be larger
 * than 2^53, where JSON.parse rounds silently. Both directions use what the runtime offers for
 * this: the source text handed to a reviver, and raw JSON literals.
 */

/** Nesting beyond this is refused: the documented answers need 5 levels. */
export const maxDepth = 64;

/** Thrown by {@link parseJson} for a text that nests deeper than {@link maxDepth}. */
export class JsonDepthError extends Error {
  static {
    Object.defineProperty(this.prototype, 'name', { value: 'JsonDepthError' });
  }
}

type Reviver = (key: string, value: unknown, context: { source: string }) => unknown;
type RawJson = (text: string) => unknown;
// The standard library's types do not list either feature yet; every supported runtime has both.
const json = JSON as unknown as {
  parse(text: string, reviver?: Reviver): unknown;
  rawJSON?: RawJson;
};

/** A run of 16 digits or more outside quotes; a false alarm only costs time. */
const longInteger = /(?:^|[:[,])\s*-?\d{16,}/;
/**
 * `__proto__` as a key would become a prototype in somebody's Object.assign. Each of its letters may
 * be written as an escape.
 */
const protoKey = /__proto__|\\u00(?:5f|6f|7[024])/i;

const revive: Reviver = (key, value, context) => {
  if (key === '__proto__') return undefined;
  return typeof value === 'number' &&
    !Number.isSafeInteger(value) &&
    /^-?\d+$/.test(context?.source ?? '')
    ? BigInt(context.source)
    : value;
};

/**
 * Parses JSON: an integer beyond 2^53 - 1 becomes a `bigint`, a `__proto__` key is dropped.
 * @throws SyntaxError for text that is not JSON, JsonDepthError for text that nests too deep.
 */
export function parseJson(text: string): unknown {
  if (nestsTooDeep(text)) {
    throw new JsonDepthError(`The JSON text nests deeper than ${maxDepth} levels.`);
  }
  return longInteger.test(text) || protoKey.test(text)
    ? json.parse(text, revive)
    : json.parse(text);
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

const nestsTooDeep = (text: string): boolean => scan(text).deepest > maxDepth;

/** Follows the brackets of a text without parsing it; stops beyond the deepest level allowed. */
function scan(text: string): { deepest: number; depth: number; quoted: boolean } {
  let depth = 0;
  let deepest = 0;
  let quoted = false;
  for (let at = 0; at < text.length && deepest <= maxDepth; at += 1) {
    const code = text.charCodeAt(at);
    if (quoted) {
      if (code === 0x5c) at += 1;
      else if (code === 0x22) quoted = false;
    } else if (code === 0x22) {
      quoted = true;
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
    }
  }
  return { deepest, depth, quoted };
}

/** Whether a text that is not JSON begins like an object or an array and stops before its end. */
export function endsEarly(text: string): boolean {
  const start = text.trimStart();
  if (!start.startsWith('{') && !start.startsWith('[')) return false;
  const { depth, quoted } = scan(start);
  return quoted || depth > 0;
}
