import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { source } from '../mutants/apply.ts';
import { combine, listEdits, readRandom } from '../mutants/random.ts';

test('the same seed gives the same order of random mutants', () => {
  const [one, again, other] = [listEdits(1), listEdits(1), listEdits(2)];
  expect(again).toEqual(one);
  expect(other).not.toEqual(one);
  expect(new Set(other)).toEqual(new Set(one));
});

test('a random mutant changes one place and stays valid TypeScript', () => {
  for (const [number, { file, line, from, to }] of listEdits(1).slice(0, 50).entries()) {
    const [change] = readRandom(`random 1 ${number}`).changes;
    expect(change?.from).toBe(readFileSync(join(source, file), 'utf8'));
    expect(change?.to).not.toBe(change?.from);
    expect(change?.to.length).toBe((change?.from.length ?? 0) - from.length + to.length);
    const { diagnostics } = ts.transpileModule(change?.to ?? '', { reportDiagnostics: true });
    expect(diagnostics, `${file}:${line} ${from} -> ${to}`).toEqual([]);
  }
});

test('random mutants are combined in one source', () => {
  const pair = ['random 1 0', 'random 1 1'].map(readRandom);
  const { changes, name } = combine(pair);
  expect(name).toBe('random 1 0,1');
  const lengthOf = (text = '') => text.length;
  const added = (all: readonly { from: string; to: string }[]) =>
    all.reduce((sum, { from, to }) => sum + lengthOf(to) - lengthOf(from), 0);
  expect(added(changes)).toBe(added(pair.flatMap((each) => each.changes)));
});
