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
  readonly mistakes?: readonly Finding[];
  readonly matrix?: Matrix;
}

const file = fileURLToPath(new URL('../../docs/proof.md', import.meta.url));

const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

function formatExplored(findings: readonly Finding[]): string {
  const rows = findings.map(({ runs, states }, at) => {
    const { callers = 0, calls = 0, faults = 0, ...others } = explored[at] ?? {};
    const bounds = `callers: ${callers}, calls: ${calls}, faults: ${faults}`;
    const conditions = Object.keys(others).map((name) => conditionNames[name] ?? name);
    return row([bounds, ...conditions].join(', '), String(runs), String(states));
  });
  return [row('bounds', 'runs', 'states'), row('---', '---', '---'), ...rows].join('\n');
}

/** The bounds of an exploration in words. */
const conditionNames: Readonly<Record<string, string>> = {
  forgets: 'a store that searches first',
  isBounded: 'searches that stop at the first claim',
  hasSince: '`since`',
  isShared: 'scans of a batch',
  isAhead: 'a clock that was ahead',
  isRestored: 'a backup that is restored',
  isRewritten: 'an entry that is written again',
  hasOperator: 'an operator',
};

function formatMistakes(findings: readonly Finding[]): string {
  const rows = findings.map(({ violation, trace, runs }, at) => {
    const { rule = '', mistake = '' } = mistakes[at] ?? {};
    const found = trace === undefined ? 'a test' : `run ${runs}`;
    const steps =
      trace === undefined ? (violation?.what ?? '') : `${trace.join(', ')}: ${violation?.what}`;
    return row(rule, mistake, found, String(trace?.length ?? ''), steps);
  });
  const head = row('rule', 'mistake', 'found by', 'steps', 'shortest trace');
  return [head, row('---', '---', '---', '---', '---'), ...rows].join('\n');
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
    explored: results.explored && formatExplored(results.explored),
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
