import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { promises } from './promises.ts';

// docs/reliability.md names the files whose tests hold each promise, and promises.ts the tests. A promise
// whose test has gone, or has another name, is a promise that nobody keeps.

const root = fileURLToPath(new URL('../..', import.meta.url));
const document = readFileSync(join(root, 'docs', 'reliability.md'), 'utf8');

/** The texts of a file that stand in its code: the names of its tests are among them. */
function textsOf(file: string): Set<string> {
  const source = readFileSync(file, 'utf8');
  const texts = new Set<string>();
  const walk = (node: ts.Node): void => {
    // The first argument of a call: test('…'), test.each(rows)('…').
    if (ts.isCallExpression(node)) {
      const [name] = node.arguments;
      if (name !== undefined && ts.isStringLiteralLike(name)) texts.add(name.text);
    }
    ts.forEachChild(node, walk);
  };
  walk(ts.createSourceFile(file, source, ts.ScriptTarget.ES2024, true));
  return texts;
}

const chapter = document.split('## Promises')[1]?.split('\n## ')[0] ?? '';
/** The list, each item on one line however it was wrapped. */
const items = chapter
  .split('\n- ')
  .slice(1)
  .map((item) => (item.split('\n\n')[0] ?? '').replaceAll(/\s+/g, ' ').trim());

test('the document makes these promises, and names the files that hold them', () => {
  const told = Object.entries(promises).map(([sentence, held]) => {
    const files = new Set(held.map(([file]) => `\`${file.replace('.test.ts', '')}\``));
    return `${sentence}: ${[...files].join(', ')}.`;
  });
  expect(told.length).toBeGreaterThan(20);
  expect(items).toEqual(told);
});

test.each(Object.entries(promises))('%s', (_, held) => {
  expect(held.length).toBeGreaterThan(0);
  for (const [file, name] of held) {
    const path = join(root, 'test', file);
    expect(existsSync(path), file).toBe(true);
    expect(textsOf(path), file).toContain(name);
  }
});
