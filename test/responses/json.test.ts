import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  isTruncated,
  JsonLimitError,
  maxDepth,
  parseJson,
  stringifyJson,
} from '../../src/internal/json.ts';
import { clientOf } from '../support/clients.ts';
import { instruction } from '../support/records.ts';
import { address, built, newInstruction } from '../support/values.ts';

const isSafe = (value: bigint): boolean =>
  value <= BigInt(Number.MAX_SAFE_INTEGER) && value >= BigInt(Number.MIN_SAFE_INTEGER);
/** The expected value of an integer. */
const asRead = (value: bigint): number | bigint => (isSafe(value) ? Number(value) : value);

const anyInteger = fc.oneof(
  fc.bigInt(),
  fc.bigInt({ min: -(10n ** 80n), max: 10n ** 80n }),
  fc.constantFrom(
    2n ** 53n - 1n,
    2n ** 53n,
    -(2n ** 53n) + 1n,
    -(2n ** 53n),
    10n ** 15n,
    10n ** 16n,
  ),
);

test('parseJson reads an integer of any size exactly at any position', () => {
  fc.assert(
    fc.property(anyInteger, fc.constantFrom('', ' ', '\n\t '), (value, space) => {
      const read = asRead(value);
      expect(parseJson(`${space}${value}${space}`)).toBe(read);
      expect(parseJson(`[${space}${value}${space}]`)).toEqual([read]);
      expect(parseJson(`[1,${space}${value}${space},2]`)).toEqual([1, read, 2]);
      expect(parseJson(`{"a":${space}${value}${space}}`)).toEqual({ a: read });
      expect(parseJson(`{"a":{"b":[[${value}]]},"c":"${value}"}`)).toEqual({
        a: { b: [[read]] },
        c: String(value),
      });
    }),
    { numRuns: 80 },
  );
});

test('parseJson reads back what stringifyJson writes', () => {
  const leaf = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.boolean(),
    fc.constant(null),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Object.is(value, -0)),
    anyInteger.filter((value) => !isSafe(value)),
  );
  const { value: anyValue } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(
        fc.string().filter((key) => key !== '__proto__'),
        tie('value'),
        { maxKeys: 4 },
      ),
    ),
  }));
  // A double above 2^53 may be written as digits, which are then an integer.
  const asReadBack = (value: unknown): unknown =>
    typeof value === 'number' && Number.isInteger(value) && /^-?\d+$/.test(JSON.stringify(value))
      ? asRead(BigInt(JSON.stringify(value)))
      : Array.isArray(value)
        ? value.map(asReadBack)
        : typeof value === 'object' && value !== null
          ? Object.fromEntries(
              Object.entries(value).map(([key, inner]) => [key, asReadBack(inner)]),
            )
          : value;
  fc.assert(
    fc.property(anyValue, (value) => {
      expect(parseJson(stringifyJson(value))).toEqual(asReadBack(value));
    }),
    { numRuns: 100 },
  );
});

test.each([
  ['9007199254740991', 9_007_199_254_740_991],
  ['9007199254740992', 9_007_199_254_740_992n],
  ['-9007199254740991', -9_007_199_254_740_991],
  ['-9007199254740993', -9_007_199_254_740_993n],
  ['1000000000000000000000000000000', 10n ** 30n],
  ['0000000000000001', undefined],
  ['1.5', 1.5],
  ['12345678901234567.5', 12_345_678_901_234_567.5],
  ['12345678901234567e3', 12_345_678_901_234_567e3],
  ['1e30', 1e30],
  ['-0', -0],
])('parseJson reads %s as a bigint if a number is inexact', (text, value) => {
  if (value === undefined) expect(() => parseJson(text)).toThrow(SyntaxError);
  else expect(parseJson(`{"value":${text}}`)).toEqual({ value });
});

test('parseJson keeps digits in strings and keys as strings', () => {
  const digits = '12345678901234567890';
  const text = `{"${digits}":"${digits}","a":[":${digits}","\\":${digits}",", ${digits}"],"b":${digits}}`;
  expect(parseJson(text)).toEqual({
    [digits]: digits,
    a: [`:${digits}`, `":${digits}`, `, ${digits}`],
    b: BigInt(digits),
  });
});

test('stringifyJson writes bigint digits despite BigInt.prototype.toJSON', () => {
  const value = { salt: 10n ** 30n, list: [1n, { deep: -(2n ** 64n) }], text: '1' };
  const written = `{"salt":1${'0'.repeat(30)},"list":[1,{"deep":-18446744073709551616}],"text":"1"}`;
  expect(stringifyJson(value)).toBe(written);
  expect(stringifyJson(5n)).toBe('5');
  Object.defineProperty(BigInt.prototype, 'toJSON', {
    value(this: bigint) {
      return `${this}n`;
    },
    configurable: true,
  });
  try {
    expect(stringifyJson(value)).toBe(written);
  } finally {
    Reflect.deleteProperty(BigInt.prototype, 'toJSON');
  }
});

test('stringifyJson writes dates as strings, omits undefined and keeps null', () => {
  const from = new Date('2026-01-31T12:00:00Z');
  expect(stringifyJson({ from, gone: undefined, webhookUrl: null })).toBe(
    '{"from":"2026-01-31T12:00:00.000Z","webhookUrl":null}',
  );
});

test('a client exchanges an integer salt without losing a digit', async () => {
  const salt = 2n ** 200n + 1n;
  const { payments, requests } = clientOf((request) => {
    const text = JSON.stringify(request.method === 'POST' ? built : [instruction]);
    return new Response(text.replace('"salt":7', `"salt":${salt}`));
  });
  const input = { ...newInstruction, salt, maxExecutions: 3 };
  expect((await payments.instructions.build(input)).salt).toBe(salt);
  expect(requests[0]?.body).toContain(`"salt":${salt},"maxExecutions":3`);
  const [first] = await payments.instructions.list({ address });
  expect(first?.salt).toBe(salt);
});

/** `__proto__` as JSON can spell it: any letter may be an escape with digits of either case. */
const spell = (spellingKinds: readonly string[]): string =>
  [...'__proto__']
    .map((letter, index) => {
      const code = letter.charCodeAt(0).toString(16).padStart(4, '0');
      if (spellingKinds[index] === 'plain') return letter;
      return `\\u${spellingKinds[index] === 'upper' ? code.toUpperCase() : code}`;
    })
    .join('');
const spellingKinds = ['plain', 'lower', 'upper'] as const;
const spellings = fc
  .array(fc.constantFrom(...spellingKinds), { minLength: 9, maxLength: 9 })
  .map(spell);
const onePlace = spellingKinds.flatMap((way) =>
  Array.from({ length: 9 }, (_, place): [string] => [
    spell(Array.from({ length: 9 }, (__, index) => (index === place ? way : 'plain'))),
  ]),
);

test('parseJson drops a __proto__ key at any depth, escaped or not', () => {
  fc.assert(
    fc.property(spellings, (key) => {
      const evil = `{"${key}":{"polluted":true},"kept":1}`;
      for (const [text, value] of [
        [evil, { kept: 1 }],
        [`[[${evil}]]`, [[{ kept: 1 }]]],
        [
          `{"a":{"b":${evil}},"big":12345678901234567890}`,
          { a: { b: { kept: 1 } }, big: 12_345_678_901_234_567_890n },
        ],
      ] as const) {
        const parsed = parseJson(text);
        expect(parsed).toEqual(value);
        expect(stringifyJson(parsed)).not.toContain('polluted');
      }
    }),
    { numRuns: 40, examples: onePlace },
  );
  expect(Object.hasOwn(parseJson('{"__proto__":1}') as object, '__proto__')).toBe(false);
  expect(({} as { polluted?: true }).polluted).toBeUndefined();
});

test('parseJson keeps keys such as constructor and prototype', () => {
  const value = { a: '__proto__', constructor: 1, prototype: { x: 2 }, my__proto__: 3 };
  expect(parseJson(JSON.stringify(value))).toEqual(value);
});

const nested = (levels: number, middle = ''): string =>
  `${'['.repeat(levels)}${middle}${']'.repeat(levels)}`;

test('parseJson rejects JSON that is nested too deeply', () => {
  expect(parseJson(nested(maxDepth))).toBeInstanceOf(Array);
  expect(() => parseJson(nested(maxDepth + 1))).toThrow(JsonLimitError);
  expect(() => parseJson(`{"a":${nested(maxDepth, '1')}}`)).toThrow(JsonLimitError);
  expect(() => parseJson(nested(1_000_000))).toThrow(JsonLimitError);
  // Consecutive levels are not deep, and brackets in a string are no levels.
  expect(parseJson(`[${'[[]],'.repeat(1_000)}0]`)).toHaveLength(1_001);
  const text = JSON.stringify({ text: `"${'[{'.repeat(100)}\\` });
  expect(parseJson(text)).toEqual(JSON.parse(text));
});

test.each(['', ' ', 'nul', '{', '{"a":1,}', "{'a':1}", '[1]]', '1 2', 'NaN', '\u{feff}{}'])(
  'parseJson rejects a string that is not JSON: %j',
  (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  },
);

test('isTruncated is true for an object or array cut at any position', () => {
  const composite = fc.oneof(
    fc.array(fc.jsonValue(), { maxLength: 3 }),
    fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue(), { maxKeys: 3 }),
  );
  fc.assert(
    fc.property(composite, fc.nat(), (value, at) => {
      const text = JSON.stringify(value);
      const start = text.slice(0, 1 + (at % (text.length - 1)));
      expect(isTruncated(start)).toBe(true);
      expect(() => parseJson(start)).toThrow(SyntaxError);
      expect(isTruncated(text)).toBe(false);
      expect(isTruncated(` \n${start}`)).toBe(true);
    }),
    { numRuns: 200 },
  );
});

test.each(['', 'banana', '<html>{', 'nul', '1', '"text', '{"a":1}}', '{"a" 1}'])(
  'isTruncated is false for text without object or array: %j',
  (text) => {
    expect(isTruncated(text)).toBe(false);
  },
);

test('parseJson keeps the digits of a number beyond the largest double', () => {
  // JSON.parse turns this number into Infinity.
  expect(parseJson(`{"a":[${'9'.repeat(309)}]}`)).toEqual({ a: [BigInt('9'.repeat(309))] });
});
