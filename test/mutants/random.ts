import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { changesOf, source, type Mutant } from './apply.ts';
import { mutants } from './mutants.ts';
import { createTypeCheck } from './type-check.ts';

/** The source that decides about money, where random mistakes are planted. */
const places = '{{once,search,journals,calls,books}/*,errors/outcome}.ts';
/** How many of the tests that mutants.diff names for a file are run first. */
const maxNamedTests = 5;

/** A small mistake: a part of a file and its replacement. */
export interface Edit {
  /** Below src. */
  readonly file: string;
  readonly line: number;
  readonly start: number;
  readonly from: string;
  readonly to: string;
}

/** A mutant with one small mistake. Its name has the seed, and the mistake's place in its order. */
export interface RandomMutant extends Mutant {
  readonly edit: Edit;
}

const otherOperators: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
};

/** The replacements of a node, each with the part of the source that it replaces. */
function* replace(node: ts.Node): Generator<{ part: ts.Node; last?: ts.Node; to: string }> {
  const { parent } = node;
  if (ts.isBinaryExpression(node)) {
    const to = otherOperators[node.operatorToken.getText()];
    if (to !== undefined) yield { part: node.operatorToken, to };
  } else if (ts.isNumericLiteral(node)) {
    const value = Number(node.text.replaceAll('_', ''));
    yield { part: node, to: String(value < 2 ? 1 - value : 2 * value) };
  } else if (node.kind === ts.SyntaxKind.TrueKeyword) yield { part: node, to: 'false' };
  else if (node.kind === ts.SyntaxKind.FalseKeyword) yield { part: node, to: 'true' };
  else if (ts.isStringLiteral(node) && ts.isBinaryExpression(parent)) {
    // Only a string that is compared. Another may be a part of a message.
    if (/^[!=]==$/.test(parent.operatorToken.getText())) {
      yield { part: node, to: node.text === '' ? `'other'` : `''` };
    }
  } else if (ts.isAwaitExpression(node)) yield { part: node, to: node.expression.getText() };
  else if (ts.isCallExpression(node)) {
    const [first, second] = node.arguments;
    if (first !== undefined && second !== undefined) {
      yield { part: first, last: second, to: `${second.getText()}, ${first.getText()}` };
    }
  } else if (
    (ts.isBlock(parent) || ts.isCaseOrDefaultClause(parent)) &&
    (ts.isExpressionStatement(node) || ts.isIfStatement(node) || ts.isThrowStatement(node))
  ) {
    yield { part: node, to: '' };
  }
}

function findEdits(file: string): Edit[] {
  const text = readFileSync(join(source, file), 'utf8');
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const edits: Edit[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node)) return;
    if (node.parent !== undefined) {
      for (const { part, last = part, to } of replace(node)) {
        const start = part.getStart();
        const line = tree.getLineAndCharacterOfPosition(start).line + 1;
        edits.push({ file, line, start, from: text.slice(start, last.end), to });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return edits;
}

let allEdits: readonly Edit[] | undefined;

/** All small mistakes in the order of a seed: mulberry32, and the shuffle of Fisher and Yates. */
export function listEdits(seed: number): readonly Edit[] {
  allEdits ??= globSync(places, { cwd: source }).toSorted().flatMap(findEdits);
  const edits = [...allEdits];
  let state = seed;
  for (let last = edits.length - 1; last > 0; last -= 1) {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    const other = ((mixed ^ (mixed >>> 14)) >>> 0) % (last + 1);
    [edits[last], edits[other]] = [edits[other], edits[last]] as [Edit, Edit];
  }
  return edits;
}

/** The mutant of a name: `random`, the seed, and the numbers of one or more mistakes in its order. */
export function readRandom(name: string): Mutant {
  const [, seed = '', numbers = ''] = name.split(' ');
  const all = listEdits(Number(seed));
  const edits = numbers.split(',').flatMap((number) => all[Number(number)] ?? []);
  const changes = [...new Set(edits.map(({ file }) => file))].map((place) => {
    const from = readFileSync(join(source, place), 'utf8');
    const inFile = edits.filter(({ file }) => file === place);
    return { place, from, to: applyEdits(from, inFile) };
  });
  return { name, changes, tests: [] };
}

/** Applies edits from the last to the first, so that no edit moves another one. */
function applyEdits(text: string, edits: readonly Edit[]): string {
  return edits
    .toSorted((a, b) => b.start - a.start)
    .reduce((all, { start, from, to }) => {
      return `${all.slice(0, start)}${to}${all.slice(start + from.length)}`;
    }, text);
}

/** Random mutants that TypeScript accepts, with the tests that mutants.diff names most for the file. */
export function chooseRandom(count: number, seed: number): RandomMutant[] {
  const findTests = countNamedTests();
  const isAccepted = createTypeCheck();
  const chosen: RandomMutant[] = [];
  for (const [number, edit] of listEdits(seed).entries()) {
    if (chosen.length === count) break;
    const mutant = readRandom(`random ${seed} ${number}`);
    if (isAccepted(mutant)) chosen.push({ ...mutant, edit, tests: findTests(edit.file) });
  }
  return chosen;
}

/** One mutant with the mistakes of all. */
export function combine(all: readonly Mutant[]): Mutant {
  const numbers = all.map(({ name }) => name.split(' ')[2]);
  return readRandom(`${all[0]?.name.split(' ').slice(0, 2).join(' ')} ${numbers.join(',')}`);
}

/** Whether two mistakes change the same part of the source, so that they cannot be made together. */
export function overlap({ edit: one }: RandomMutant, { edit: other }: RandomMutant): boolean {
  if (one.file !== other.file) return false;
  return one.start < other.start + other.from.length && other.start < one.start + one.from.length;
}

/** Finds the tests that mutants.diff names for a file, or else for its folder, most often first. */
function countNamedTests(): (file: string) => readonly string[] {
  const counts = new Map<string, Map<string, number>>();
  for (const mutant of mutants) {
    for (const path of changesOf(mutant)) {
      for (const place of [path, dirname(path)]) {
        const ofPlace = counts.get(place) ?? new Map<string, number>();
        for (const named of mutant.tests) {
          const test = `${named.replace(/\.test$/, '')}.test`;
          ofPlace.set(test, (ofPlace.get(test) ?? 0) + 1);
        }
        counts.set(place, ofPlace);
      }
    }
  }
  return (file) => {
    const path = join(source, file);
    const ofPlace = counts.get(path) ?? counts.get(dirname(path)) ?? [];
    const sorted = [...ofPlace].toSorted(([, a], [, b]) => b - a);
    return sorted.slice(0, maxNamedTests).map(([test]) => test);
  };
}
