import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';

// docs/reliability.md names the test that holds each promise. A promise whose test has gone, or has
// another name, is a promise that nobody keeps.

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

interface Promised {
  readonly sentence: string;
  readonly held: readonly (readonly [file: string, name: string])[];
}

const chapter = document.split('## Promises')[1]?.split('\n## ')[0] ?? '';
/** The list, each item on one line however it was wrapped. */
const promised: readonly Promised[] = chapter
  .split('\n- **')
  .slice(1)
  .map((item) => {
    const [sentence = '', ...rest] = item.split(/\n\n/)[0]?.split('\n  - ') ?? [];
    const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
    return {
      sentence: oneLine(sentence).replace(/\*\*$/, ''),
      held: rest.map((line) => {
        const [, file = '', name = ''] = /^`([^`]+)`: (.+)$/.exec(oneLine(line)) ?? [];
        return [file, name] as const;
      }),
    };
  });

test('there are promises, and each is one sentence', () => {
  expect(promised.length).toBeGreaterThan(20);
  for (const { sentence } of promised) expect(sentence).toMatch(/^[^.]+(\.\d[^.]*)*\.$/);
});

test.each(promised)('$sentence', ({ held }) => {
  expect(held.length).toBeGreaterThan(0);
  for (const [file, name] of held) {
    const path = join(root, 'test', file);
    expect(existsSync(path), file).toBe(true);
    expect(textsOf(path), file).toContain(name);
  }
});
