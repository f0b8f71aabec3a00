import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { llmsText } from '../../docs/generators/llms.ts';
import { resolveOptions } from '../../src/calls/client-options.ts';
import { promises } from './promises.ts';

// test/README.md names the files that test each promise, and promises.ts the tests. A promise is not kept
// if its test is gone or has another name.

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(root, 'test', 'README.md'), 'utf8');

/** The string literals that are first arguments of a call: test titles are among them. */
function readTitles(file: string): Set<string> {
  const source = readFileSync(file, 'utf8');
  const texts = new Set<string>();
  const visit = (node: ts.Node): void => {
    // The first argument of a call: test('…'), test.each(rows)('…').
    if (ts.isCallExpression(node)) {
      const [name] = node.arguments;
      if (name !== undefined && ts.isStringLiteralLike(name)) texts.add(name.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, source, ts.ScriptTarget.ES2024, true));
  return texts;
}

const chapter = page.split('## Promises')[1]?.split('\n## ')[0] ?? '';
/** The list, each item on one line however it was wrapped. */
const items = chapter
  .split('\n- ')
  .slice(1)
  .map((item) => (item.split('\n\n')[0] ?? '').replaceAll(/\s+/g, ' ').trim());

test('test/README.md lists each promise with the files that test it', () => {
  const expectedItems = Object.entries(promises).map(([promise, held]) => {
    const files = new Set(held.map(([file]) => `\`${file}\``));
    return `${promise}: ${[...files].join(', ')}.`;
  });
  expect(expectedItems.length).toBeGreaterThan(20);
  expect(items).toEqual(expectedItems);
});

test.each(Object.entries(promises))('the tests of a promise exist: %s', (_, held) => {
  expect(held.length).toBeGreaterThan(0);
  for (const [file, name] of held) {
    const path = join(root, 'test', file);
    expect(existsSync(path), file).toBe(true);
    expect(readTitles(path), file).toContain(name);
  }
});

test('every short text that promises a single payment names both conditions', () => {
  const readText = (path: string) => readFileSync(join(root, path), 'utf8');
  const [firstScreen = ''] = readText('README.md').split('\n```');
  const [hover = ''] = /`payments\.transfers\.createOnce\(.*/.exec(readText('docs/api.md')) ?? [];
  const [description = ''] = /"description": .*/.exec(readText('package.json')) ?? [];
  const { gracePeriod } = resolveOptions({ baseUrl: 'https://api.example.com/v0', apiKey: 'sk_1' });
  for (const text of [firstScreen, llmsText('../'), description, hover]) {
    const line = text.replaceAll('**', '').replaceAll(/\s+/g, ' ');
    expect(line).toMatch(/once\b.* as long as you keep the .*journal,? and a request has taken/i);
    expect(line).toContain(`is listed within ${gracePeriod / 60_000} minutes of its end`);
  }
  expect(firstScreen).toContain('has never run against the real platform');
});
