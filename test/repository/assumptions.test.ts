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

test('src/ names each assumption of docs/proof.md, and so does its check', () => {
  const page = readFileSync(join(root, 'docs/proof.md'), 'utf8');
  const rows = Array.from(page.matchAll(/^- \*\*(A\d)\*\* .*\n(?: .*\n)+/gm));
  const ids = rows.map(([, id = '']) => id);
  expect(ids).toEqual(Array.from({ length: 9 }, (_, index) => `A${index + 1}`));
  const checks = ['src/commands/**', 'src/journals/**'];
  expect(idsIn('src/**/*.ts', checks)).toEqual(ids);
  const isChecked = ([row]: RegExpMatchArray) => /Check: .*(?:probe|testJournal)/is.test(row);
  const checked = checks.flatMap((pattern) => idsIn(`${pattern}/*.ts`));
  expect(checked.toSorted()).toEqual(rows.filter(isChecked).map(([, id]) => id));
});

test('the probe asks each question that docs/proof.md quotes', () => {
  const page = readFileSync(join(root, 'docs/proof.md'), 'utf8');
  const files = globSync('src/commands/probe/checks/*.ts', { cwd: root });
  const checks = files.map((file) => readFileSync(join(root, file), 'utf8')).join('');
  const asked = Array.from(page.matchAll(/asks "([^"]+)"/g), ([, question = '']) => question);
  expect(asked.length).toBeGreaterThan(3);
  expect(asked.filter((question) => !checks.includes(`'${question}'`))).toEqual([]);
});

test('every test that docs/proof.md names exists', () => {
  const page = readFileSync(join(root, 'docs/proof.md'), 'utf8');
  const named = Array.from(
    page.matchAll(/`((?:money|full|proxies|arguments)\/[\w-]+)`/g),
    ([, name]) => name,
  );
  expect(named.length).toBeGreaterThan(25);
  for (const name of named)
    expect(globSync(`test/${name}*.test.ts`, { cwd: root })).not.toEqual([]);
});
