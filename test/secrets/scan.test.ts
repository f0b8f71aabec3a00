import { expect, test } from 'vitest';
import { apiKey, containsSecret, jwt, leaksOf, viewNames } from './scan.ts';
import { spellings } from './spellings.ts';

// A scanner that finds nothing would pass every other test of this folder.

/** An error without a planted secret. */
class Clean extends Error {
  readonly attempts: readonly object[] = [];
  toJSON(): object {
    return { name: this.name };
  }
}

const hide = (key: PropertyKey, value: unknown): Clean =>
  Object.defineProperty(new Clean('clean'), key, { value });

class Prototyped extends Clean {
  get details(): string {
    return apiKey;
  }
}

test('leaksOf finds no secret in an error without one', () => {
  expect(leaksOf(new Clean('clean'))).toEqual([]);
});

const planted: readonly (readonly [string, unknown, readonly string[]])[] = [
  ['the message', new Clean(`so ${apiKey}`), ['message', 'stack', 'String()', 'util.inspect']],
  ['the message but not in the stack', hide('message', apiKey), ['message', 'String()']],
  ['the stack', hide('stack', `Error: ${jwt}\n    at line 1`), ['stack', 'util.inspect']],
  ['the name', Object.assign(new Clean('x'), { name: apiKey }), ['String()', 'toJSON']],
  ['toString()', hide('toString', () => apiKey), ['String()']],
  ['toJSON()', hide('toJSON', () => ({ deep: { down: [apiKey] } })), ['toJSON', 'JSON.stringify']],
  ['a custom inspect', hide(Symbol.for('nodejs.util.inspect.custom'), () => jwt), ['util.inspect']],
  [
    'a field behind a custom inspect function',
    Object.assign(
      hide(Symbol.for('nodejs.util.inspect.custom'), () => 'nothing to see'),
      { key: apiKey },
    ),
    ['util.inspect without its own', 'properties'],
  ],
  ['a hidden field', hide('token', apiKey), ['util.inspect', 'properties']],
  ['a field named after the secret', hide(apiKey, 1), ['util.inspect', 'properties']],
  ['a symbol named after the secret', hide(Symbol(jwt), 1), ['util.inspect', 'properties']],
  ['a getter that the prototype has', new Prototyped('x'), ['properties']],
  ['the cause', new Clean('x', { cause: new Error(jwt) }), ['cause', 'util.inspect', 'properties']],
  ['a hidden cause', hide('cause', apiKey), ['cause']],
  [
    'the cause of the cause',
    new Clean('x', { cause: new Error('y', { cause: hide('code', apiKey) }) }),
    ['cause'],
  ],
  [
    'one error of an AggregateError',
    new Clean('x', { cause: new AggregateError([new Error(apiKey)]) }),
    ['cause', 'properties'],
  ],
  ['the attempts', hide('attempts', [{ reason: `was ${apiKey}` }]), ['attempts', 'util.inspect']],
  ['a Request', hide('request', bearing(apiKey)), ['util.inspect', 'properties']],
  ['a Map', hide('headers', new Map([['authorization', jwt]])), ['util.inspect', 'properties']],
  ['bytes', hide('rawPacket', Buffer.from(`so ${apiKey}`)), ['properties']],
  ['an object ten levels down', hide('a', nested(8)), ['util.inspect', 'properties']],
  ['what a getter throws', throwing(), ['properties']],
];

test.for(planted)('leaksOf finds a secret in %s', ([, value, expected]) => {
  const views = leaksOf(value).map((leak) => leak.slice(0, leak.indexOf(':')));
  expect(views).toEqual(expect.arrayContaining([...expected]));
});

test('each view of leaksOf finds a planted secret', () => {
  const views = planted.flatMap(([, value]) => leaksOf(value));
  const names = new Set(views.map((leak) => leak.slice(0, leak.indexOf(':'))));
  expect([...names].toSorted()).toEqual(viewNames.toSorted());
});

test.for(spellings)('containsSecret recognises a secret that is written %s', ([, spell]) => {
  expect(containsSecret(spell(apiKey))).toBe(true);
  expect(containsSecret(spell(jwt))).toBe(true);
  expect(containsSecret(spell(apiKey.slice(20)))).toBe(true);
  expect(containsSecret(spell('a text of no account'))).toBe(false);
});

function bearing(token: string): Request {
  return new Request('https://api.example.com', { headers: { authorization: `Bearer ${token}` } });
}

function nested(depth: number): object {
  return depth === 0 ? { secret: apiKey } : { inner: nested(depth - 1) };
}

function throwing(): Error {
  return Object.defineProperty(new Clean('x'), 'told', {
    get: () => {
      throw new Error(apiKey);
    },
  });
}
