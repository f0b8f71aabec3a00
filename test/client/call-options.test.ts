import {
  AbortError,
  ValidationError,
  type Pager,
  type RequestOptions,
} from 'payments-platform-sdk';
import { describe, expect, test } from 'vitest';
import { failureOf, clientOf } from '../support/clients.ts';
import { argumentsOf, endpoints, invoke } from '../support/interface.ts';
import { newTransfer } from '../support/values.ts';
import { rejection } from '../arguments/invalid-arguments.ts';
import type { ToArrayOptions } from '../../src/lists/pager.ts';

describe('every list', () => {
  const lists = endpoints.filter(({ query }) => query.includes('cursor'));
  const limit = /expected a whole number from 1 to 100/;
  const cursor = /expected the nextCursor of an earlier page/;
  const queries: readonly (readonly [unknown, string, RegExp])[] = [
    ...[0, 101, -1, 1.5, '10', Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60, 10n, null].map(
      (value) => [{ limit: value }, 'limit', limit] as const,
    ),
    ...['', 5, ['c']].map((value) => [{ cursor: value }, 'cursor', cursor] as const),
    [{ page: 2 }, 'page', /unknown field.*options\.query/],
    [null, '', /got null; expected an object/],
    [5, '', /got a number; expected an object/],
    ['acc_1', '', /got a string; expected an object/],
    [[], '', /got an array; expected an object/],
  ];

  test.each(lists)('$operation rejects an invalid `limit` or `cursor`', async ({ operation }) => {
    for (const [query, path, says] of queries) {
      const error = await rejection((payments) => invoke(payments, operation, [query]));
      expect(error.operation).toBe(operation);
      expect(error.issues).toEqual([{ path, message: expect.stringMatching(says) }]);
    }
  });

  test.each(lists)('a loop over $operation rejects an invalid `limit`', async ({ operation }) => {
    const error = await rejection(async (payments) => {
      const list = invoke(payments, operation, [{ limit: 0 }]) as unknown as AsyncIterable<unknown>;
      for await (const item of list) throw new Error(`there is an item: ${JSON.stringify(item)}`);
    });
    expect(error.issues).toMatchObject([{ path: 'limit' }]);
  });

  test.each(lists)('toArray of $operation rejects an invalid `max`', async ({ operation }) => {
    for (const options of [undefined, null, {}, { max: 0 }, { max: 1.5 }, { max: '5' }]) {
      const { payments, requests } = clientOf();
      const list = invoke(payments, operation, []) as unknown as Pager<unknown>;
      const error = await failureOf(list.toArray(options as ToArrayOptions), ValidationError);
      expect(error.issues).toMatchObject([{ path: 'max' }]);
      expect(String(error)).toContain('expected a whole number above 0.\nA list has no bound');
      expect(requests).toEqual([]);
    }
  });
});

/** A signal as of the package abort-controller, which has neither reason nor throwIfAborted. */
class OldSignal extends EventTarget {
  aborted = false;
  abort(): void {
    this.aborted = true;
    this.dispatchEvent(new Event('abort'));
  }
}

test.each([
  ['before it', (signal: OldSignal) => signal.abort(), 0],
  ['while its request is out', (signal: OldSignal) => setTimeout(() => signal.abort(), 10), 1],
])('a signal without the method throwIfAborted aborts a call %s', async (_, abort, sent) => {
  const signal = new OldSignal();
  const { payments, requests } = clientOf(() => new Promise<never>(() => undefined));
  abort(signal);
  const options = { signal: signal as unknown as AbortSignal };
  const error = await failureOf(payments.transfers.create(newTransfer, options), AbortError);
  expect(error.outcome).toBe(sent === 0 ? 'not_sent' : 'unknown');
  expect(error.message).not.toContain('error.cause');
  expect(requests).toHaveLength(sent);
});

/** Invalid call options, the path of the mistake and the expected message. */
const bad: readonly (readonly [string, unknown, string, RegExp])[] = [
  ['null', null, 'options', /expected a plain object/],
  ['a list', [], 'options', /expected a plain object/],
  ['a number', 5_000, 'options', /expected a plain object/],
  ['text', 'timeout=5', 'options', /expected a plain object/],
  ['a list of options', [5_000], 'options', /expected a plain object/],
  ['an unknown option', { idempotencyKey: 'k' }, 'options.idempotencyKey', /unknown option/],
  ['a misspelt option', { timout: 5 }, 'options.timout', /did you mean timeout\?/],
  ['the option baseUrl', { baseUrl: 'x' }, 'options.baseUrl', /The options are signal, timeout/],
  ['a timeout of zero', { timeout: 0 }, 'options.timeout', /milliseconds above 0/],
  ['a negative timeout', { timeout: -1 }, 'options.timeout', /milliseconds above 0/],
  ['a timeout of NaN', { timeout: Number.NaN }, 'options.timeout', /milliseconds above 0/],
  ['an infinite timeout', { timeout: Number.POSITIVE_INFINITY }, 'options.timeout', /above 0/],
  ['a timeout that is text', { timeout: '5000' }, 'options.timeout', /milliseconds above 0/],
  ['a timeout of null', { timeout: null }, 'options.timeout', /milliseconds above 0/],
  ['a totalTimeout of zero', { totalTimeout: 0 }, 'options.totalTimeout', /milliseconds above 0/],
  ['a negative maxRetries', { maxRetries: -1 }, 'options.maxRetries', /whole number, 0 or more/],
  ['maxRetries of 0.5', { maxRetries: 0.5 }, 'options.maxRetries', /whole number, 0 or more/],
  ['infinite maxRetries', { maxRetries: Number.POSITIVE_INFINITY }, 'options.maxRetries', /whole/],
  ['maxRetries that is text', { maxRetries: '2' }, 'options.maxRetries', /whole number/],
  ['a signal without members', { signal: {} }, 'options.signal', /expected an AbortSignal/],
  [
    'a signal with only the members aborted and addEventListener',
    { signal: { aborted: false, addEventListener: () => undefined } },
    'options.signal',
    /expected an AbortSignal/,
  ],
  ['a partial signal', { signal: new EventTarget() }, 'options.signal', /expected an AbortSignal/],
  ['an AbortController', { signal: new AbortController() }, 'options.signal', /AbortSignal/],
  ['a signal of null', { signal: null }, 'options.signal', /expected an AbortSignal/],
  ['headers of null', { headers: null }, 'options.headers', /plain object/],
  ['headers that are text', { headers: 'a: b' }, 'options.headers', /plain object/],
  ['a Headers object', { headers: new Headers({ a: 'b' }) }, 'options.headers', /plain object/],
  ['headers as a list', { headers: [['a', 'b']] }, 'options.headers', /plain object/],
  ['an invalid header name', { headers: { 'a b': 'c' } }, 'options.headers.a b', /header name/],
  ['an empty header name', { headers: { '': 'c' } }, 'options.headers.', /header name/],
  ['a header with a line break', { headers: { a: 'b\r\nc: d' } }, 'options.headers.a', /Latin-1/],
  ['a header beyond Latin-1', { headers: { a: '✓' } }, 'options.headers.a', /Latin-1/],
  ['a header that is a number', { headers: { a: 1 } }, 'options.headers.a', /Latin-1/],
  ['a header of null', { headers: { a: null } }, 'options.headers.a', /Latin-1/],
  ...['Authorization', 'authorization', 'AUTHORIZATION'].map(
    (name) =>
      [
        `the header ${name}`,
        { headers: { [name]: 'Bearer x' } },
        `options.headers.${name}`,
        /use the options apiKey and jwt/,
      ] as const,
  ),
  ...[
    'Host',
    'Content-Length',
    'Content-Type',
    'Transfer-Encoding',
    'Connection',
    'Expect',
    'Keep-Alive',
    'Upgrade',
  ].map(
    (name) =>
      [
        `the header ${name}`,
        { headers: { [name]: 'x' } },
        `options.headers.${name}`,
        /cannot be set/,
      ] as const,
  ),
  ['a query of null', { query: null }, 'options.query', /expected an? .*object/],
  ['a query that is text', { query: 'a=1' }, 'options.query', /object/],
  ['a query as a list', { query: ['a'] }, 'options.query', /object/],
  ['URLSearchParams', { query: new URLSearchParams('a=1') }, 'options.query', /object/],
  ['a query value of null', { query: { a: null } }, 'options.query.a', /a string, a number/],
  ['a list within a query list', { query: { a: [[1]] } }, 'options.query.a', /a string, a number/],
  ['null inside of a query list', { query: { a: ['x', null] } }, 'options.query.a', /a string/],
  ['a query value of NaN', { query: { a: Number.NaN } }, 'options.query.a', /a string, a number/],
  ['a query value with half a pair', { query: { a: '\ud800' } }, 'options.query.a', /surrogate/],
  ['half a pair in a name', { query: { 'a\ud800': 'x' } }, 'options.query.a\ud800', /surrogate/],
  ['a body of null', { body: null }, 'options.body', /object/],
  ['a body that is text', { body: '{}' }, 'options.body', /object/],
  ['a body as a list', { body: [1] }, 'options.body', /object/],
  ['a body as a Map', { body: new Map([['a', 1]]) }, 'options.body', /object/],
];

describe('every call', () => {
  // Every endpoint has one example because each method checks its last argument itself.
  const calls = endpoints.map(({ operation, examples: [example], path, body, query }) => {
    const args = argumentsOf(example);
    const argumentCount =
      (path.includes('{id}') ? 1 : 0) + (body.length + query.length > 0 ? 1 : 0);
    return { operation, args: [...args, ...Array.from({ length: argumentCount - args.length })] };
  });

  test.each(bad)('every method rejects %s and sends no request', async (_, options, path, says) => {
    for (const { operation, args } of calls) {
      const error = await rejection((payments) => invoke(payments, operation, [...args, options]));
      expect(error.operation).toBe(operation);
      expect(error.issues).toEqual([{ path, message: expect.stringMatching(says) }]);
    }
  });

  test('the error for call options names every invalid option at once', async () => {
    const options = { timeout: 0, maxRetries: -1, headers: { host: 'x' }, retries: 1 };
    const error = await rejection((payments) =>
      payments.transfers.create(newTransfer, options as RequestOptions),
    );
    expect(error.issues.map(({ path }) => path).toSorted()).toEqual([
      'options.headers.host',
      'options.maxRetries',
      'options.retries',
      'options.timeout',
    ]);
  });
});
