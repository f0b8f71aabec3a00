import { readFileSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';

const folder = new URL('../../src/sandbox/', import.meta.url);

/** What each file of the sandbox imports. */
const imports = new Map(
  readdirSync(folder).map((file) => [
    file,
    // What a docstring shows in its example is no import.
    [...readFileSync(new URL(file, folder), 'utf8').matchAll(/^(?! \*).* from '([^']+)'/gm)].map(
      ([, from]) => String(from),
    ),
  ]),
);

/** A file and everything of the sandbox that it leads to. */
function reachedFrom(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const from of imports.get(file) ?? []) {
    if (from.startsWith('./')) reachedFrom(from.slice(2), seen);
  }
  return seen;
}

test('the sandbox itself runs wherever web standards do: no node:, no msw', () => {
  const reached = [...reachedFrom('index.ts')];
  expect(reached.length).toBeGreaterThan(20);
  const foreign = reached
    .flatMap((file) => imports.get(file) ?? [])
    .filter((from) => !from.startsWith('.'));
  expect([...new Set(foreign)]).toEqual(['zod/mini']);
  for (const file of reached) {
    const source = readFileSync(new URL(file, folder), 'utf8');
    expect(source).not.toMatch(/\b(process\.|Buffer\.|require\(|setImmediate\(|__dirname)/);
  }
});

test('only the server and the command touch Node.js, and only the msw handlers touch msw', () => {
  const importersOf = (pattern: RegExp) =>
    [...imports]
      .filter(([, from]) => from.some((name) => pattern.test(name)))
      .map(([file]) => file);
  expect(importersOf(/^node:/).toSorted()).toEqual(['bin.ts', 'server.ts']);
  expect(importersOf(/^msw/)).toEqual(['msw.ts']);
});
