import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const listed = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' });
const tracked = listed.split('\0').map((path) => `/${path}`);
const decisions = globSync('docs/decisions/*.md', { cwd: root }).toSorted();
const pages = [...decisions, 'docs/contributing.md', 'docs/threat-model.md', 'test/README.md'];

/** Names that look like a file of this repository, and what they are. */
const others = new Map([
  ['Node.js', 'the runtime'],
  ['openapi.json', 'written by the build'],
  ['dist/sbom.cdx.json', 'written by the build'],
  ['dist/index.js', 'written by the build'],
  ['schemas/card.ts', 'the example of the recipe for a noun'],
  ['resources/cards.ts', 'the example of the recipe for a noun'],
  ['cards.ts', 'the example of the recipe for a noun'],
]);

/** Every word in the code of a page that looks like a file or a folder. `*` stands for a part of a name. */
function filesNamedIn(page: string): string[] {
  const code = readFileSync(`${root}${page}`, 'utf8').match(/```[^]*?```|`[^`]+`/g) ?? [];
  const words = code.flatMap((span) => span.split(/[\s,;:`]+/));
  const name = /^[\w.*][\w./*-]*(?:\.(?:tsx?|mjs|js|md|json|css|sql)|\/)$/;
  return words.filter((word) => name.test(word));
}

function isTracked(name: string): boolean {
  const pattern = name.replaceAll('.', '\\.').replaceAll('*', '[^/]*');
  const path = new RegExp(`/${pattern}${name.endsWith('/') ? '' : '$'}`);
  return tracked.some((file) => path.test(file));
}

test.each(pages)('every file that %s names is in the repository', (page) => {
  const names = filesNamedIn(page).filter((name) => !others.has(name));
  expect(names.filter((name) => !isTracked(name))).toEqual([]);
});

test('filesNamedIn finds more than 150 names in all pages', () => {
  expect(pages.flatMap(filesNamedIn).length).toBeGreaterThan(150);
});
