import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The assumptions that the files of a pattern name. */
const idsIn = (pattern: string, exclude: readonly string[] = []): string[] => {
  const files = globSync(pattern, { cwd: root, exclude });
  const texts = files.map((file) => readFileSync(join(root, file), 'utf8'));
  const named = texts.flatMap((text) => text.match(/Assumptions? A\d(?: and A\d)*/g) ?? []);
  return [...new Set(named.flatMap((each) => each.match(/A\d/g) ?? []))].toSorted();
};

test('comments name each assumption of docs/proof.md in the code that relies on it, and in the journal or command that checks it', () => {
  const page = readFileSync(join(root, 'docs/proof.md'), 'utf8');
  const ids = Array.from(page.matchAll(/^\| (A\d) /gm), ([, id = '']) => id);
  expect(ids).toEqual(['A1', 'A2', 'A3', 'A4', 'A5', 'A6']);
  const checks = ['src/commands/**', 'src/journals/**'];
  expect(idsIn('src/**/*.ts', checks)).toEqual(ids);
  const checked = checks.flatMap((pattern) => idsIn(`${pattern}/*.ts`));
  expect(checked.toSorted()).toEqual(ids);
});

test('every test that docs/proof.md names exists', () => {
  const page = readFileSync(join(root, 'docs/proof.md'), 'utf8');
  const named = Array.from(
    page.matchAll(/ `((?:money|full|proxies|arguments)\/[\w-]+)` +\|/g),
    ([, name]) => name,
  );
  expect(named.length).toBeGreaterThan(25);
  for (const name of named)
    expect(globSync(`test/${name}*.test.ts`, { cwd: root })).not.toEqual([]);
});
