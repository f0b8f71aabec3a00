import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checks } from '../../src/commands/probe/checks.ts';
import type { Check } from '../../src/commands/probe/checks/check.ts';

// Each row of docs/gaps.md shows whether payments-probe can try it.

const guide = readFileSync(new URL('../../docs/gaps.md', import.meta.url), 'utf8');
const marks = new Map(
  [...guide.matchAll(/^\| (\d+) +\| ([\w+]*) *\|/gm)].map(([, row, mark = '']) => [
    Number(row),
    mark,
  ]),
);

const markOf: Readonly<Record<Check['needs'], string>> = {
  reads: 'R',
  pay: 'P',
  pay_twice: 'PP',
};

/** Why a row cannot be tried. */
const reasons = ['S', 'W', 'N', 'D', 'T', 'O'];

test('docs/gaps.md marks each row with what its check needs, or why none', () => {
  expect(marks.size).toBeGreaterThan(60);
  const wrong = [...marks].filter(([row, mark]) => {
    const needs = new Set(checks.filter((check) => check.row === row).map((check) => check.needs));
    const expected = [...needs].map((each) => markOf[each]).join('+');
    return expected === '' ? !reasons.includes(mark) : mark !== expected;
  });
  expect(wrong).toEqual([]);
});

test('each check of payments-probe has a row and its own question', () => {
  expect(checks.filter(({ row }) => !marks.has(row))).toEqual([]);
  const questions = checks.map(({ question }) => question);
  expect(new Set(questions).size).toBe(questions.length);
});

test('docs/gaps.md explains each mark of its rows', () => {
  for (const mark of [...Object.values(markOf), ...reasons])
    expect(guide).toContain(`(\`${mark}\`)`);
});
