import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { explored } from './explored.ts';
import type { Finding } from './find.ts';
import { mistakes } from './mistakes.ts';

/** How often payments met each fault, with one journal on one runtime. */
export interface Column {
  readonly journal: string;
  readonly runtime: string;
  readonly plays: Readonly<Record<string, number>>;
}

export interface Matrix {
  readonly seed: string;
  readonly columns: readonly Column[];
}

/** The findings of a run, in the order of `explored` and `mistakes`. */
export interface Results {
  readonly explored?: readonly Finding[];
  readonly large?: readonly Finding[];
  readonly mistakes?: readonly Finding[];
  readonly matrix?: Matrix;
}

const file = fileURLToPath(new URL('../../docs/proof.md', import.meta.url));

const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const number = (value: number): string => value.toLocaleString('en-US');

function formatExplored(findings: readonly Finding[], areLarge: boolean): string {
  const rows = explored.filter(({ isLarge = false }) => isLarge === areLarge);
  const lines = findings.map(({ runs, states }, at) => {
    const { bounds, walks } = rows[at] ?? {};
    const { callers = 0, calls = 0, faults = 0, ...others } = bounds ?? {};
    const conditions = Object.entries(others).map(([name, value]) => describe(name, value));
    const runText = walks === undefined ? number(runs) : `${number(runs)} at random`;
    const cells = [callers, calls, faults].map(String);
    return row(...cells, conditions.join(', '), runText, number(states));
  });
  const head = row('callers', 'calls of each', 'faults', 'beside them', 'runs', 'states');
  return [head, row('---', '---', '---', '---', '---', '---'), ...lines].join('\n');
}

/** A condition of an exploration in words. */
function describe(name: string, value: unknown): string {
  if (!Array.isArray(value)) return conditionNames[name] ?? name;
  const [first, later] = (value as number[]).map((ms) => ms / 60_000);
  return `a grace period of ${first} minutes, later of ${later}`;
}

/** The conditions of an exploration in words. */
const conditionNames: Readonly<Record<string, string>> = {
  searchesFirst: 'a store that searches first',
  loses: 'and loses an entry',
  isRestored: 'and is restored from a backup',
  isFirstPayment: 'the first payment of each process',
  isAhead: 'a journal whose clock was ahead',
  isAmbiguous: 'a similar transfer in the list',
  isMasked: 'descriptions that the list masks',
  losesEqualTimes: 'a list that loses equal times at the end of a page',
  isBusy: 'a long list, newest first',
  hasSince: '`since`',
  hasOperator: 'an operator',
  hasForce: 'who may use `force`',
  hasBatch: 'one of them a batch',
  hasFallback: '`create` as a fallback',
  isOneClient: 'one client for all calls',
};

function formatMistakes(findings: readonly Finding[]): string {
  const rows = findings.map(({ trace, runs, violation }, at) => {
    const { rule = '', mistake = '' } = mistakes[at] ?? {};
    const finder = trace === undefined ? 'a test' : `run ${number(runs)}`;
    const found = violation === undefined ? 'nothing' : finder;
    return row(rule, mistake, found, String(trace?.length ?? ''));
  });
  const head = row('rule', 'mistake', 'found by', 'steps');
  return [head, row('---', '---', '---', '---'), ...rows].join('\n');
}

function formatMatrix({ seed, columns }: Matrix): string {
  const faults = [...new Set(columns.flatMap(({ plays }) => Object.keys(plays)))];
  const heads = columns.map(({ journal, runtime }) => `${journal}, ${runtime}`);
  const rows = faults.map((fault) =>
    row(fault, ...columns.map(({ plays }) => String(plays[fault] ?? ''))),
  );
  const lines = columns.map(() => '---');
  return [row(`seed ${seed}`, ...heads), row('---', ...lines), ...rows].join('\n');
}

/** Puts the tables into docs/proof.md if `isWritten`. Returns whether the page had them before. */
export async function updatePage(results: Results, isWritten: boolean): Promise<boolean> {
  const before = readFileSync(file, 'utf8');
  let text = before;
  const tables = {
    explored: results.explored && formatExplored(results.explored, false),
    large: results.large && formatExplored(results.large, true),
    mistakes: results.mistakes && formatMistakes(results.mistakes),
    matrix: results.matrix && formatMatrix(results.matrix),
  };
  for (const [name, table] of Object.entries(tables)) {
    if (table === undefined) continue;
    const [start, end] = [`<!-- generated: ${name} -->`, `<!-- end: ${name} -->`];
    const [from, to] = [text.indexOf(start) + start.length, text.indexOf(end)];
    if (to < from) throw new Error(`docs/proof.md lacks the markers of ${name}`);
    text = `${text.slice(0, from)}\n\n${table}\n\n${text.slice(to)}`;
  }
  const options = await resolveConfig(file);
  const after = await format(text, { ...options, parser: 'markdown' });
  if (isWritten) writeFileSync(file, after);
  return after === before;
}
