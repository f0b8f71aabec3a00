import { clean, wrap } from '../table.ts';
import { findFact } from '../../calls/platform.ts';
import type { Result, Suggestion } from './checks/verdict.ts';
import type { Probed, Report, ReportRow } from './run.ts';

const groups: readonly (readonly [result: Result, title: string])[] = [
  ['confirmed', 'Holds'],
  ['contradicted', 'Does not hold'],
  ['found', 'Found'],
  ['unknown', 'Unknown'],
];
const questionWidth = 44;
const seenWidth = 50;
const red = (text: string): string => `\u001B[31m${text}\u001B[39m`;

/** The report for people: the checks in groups, and the options of the client to paste. */
export function formatReport(probed: Probed, hasColours: boolean): string {
  const { platform, requests, rows } = probed.report;
  const tables = groups.flatMap(([result, title]) => {
    const inGroup = rows.filter((row) => row.result === result);
    if (inGroup.length === 0) return [];
    const text = `${title} (${inGroup.length})\n${inGroup.map(formatRow).join('')}`;
    return [hasColours && result === 'contradicted' ? red(text) : text];
  });
  const head = `${platform}, ${requests} requests. The numbers are the rows of docs/gaps.md.\n`;
  return [head, ...tables, formatOptions(probed)].join('\n');
}

function formatRow({ row, question, seen }: ReportRow): string {
  const questions = wrap(question, questionWidth);
  const lines = wrap(clean(seen), seenWidth);
  return Array.from({ length: Math.max(questions.length, lines.length) }, (_, at) => {
    const number = at === 0 ? String(row) : '';
    const left = (questions[at] ?? '').padEnd(questionWidth);
    return `${number.padStart(4)}  ${left}  ${lines[at] ?? ''}`.trimEnd();
  })
    .map((line) => `${line}\n`)
    .join('');
}

/** The options that the client needs on this platform, as TypeScript to paste. */
export function formatOptions({ suggestions, advice, report }: Probed): string {
  const comments = advice.map(({ row, text }) => `// Row ${row}: ${clean(text)}`);
  const format = ({ row, name, value, code, reason }: (typeof suggestions)[number]) => [
    `// Row ${row}: ${clean(reason)}.`,
    `${name}: ${code ?? JSON.stringify(value)},`,
  ];
  const isFact = ({ name }: Suggestion): boolean => findFact(name) !== undefined;
  const facts = suggestions.filter(isFact).flatMap(format);
  const options = suggestions.filter((each) => !isFact(each)).flatMap(format);
  const isTried = report.rows.some(({ result }) => result !== 'unknown');
  if (suggestions.length === 0) {
    const none = isTried
      ? 'The client needs no option; the defaults fit.'
      : 'No option can be suggested.';
    return [none, ...comments].map((line) => `${line}\n`).join('');
  }
  return [
    'Options that the client needs for this platform:',
    '',
    ...comments,
    'new PaymentsClient({',
    ...(facts.length > 0 ? ['  platform: {', ...facts.map((line) => `    ${line}`), '  },'] : []),
    ...options.map((line) => `  ${line}`),
    '});',
  ]
    .map((line) => `${line}\n`)
    .join('');
}

/** A row of the report that differs from the same row of an earlier report. */
export interface Change {
  readonly row: number;
  readonly question: string;
  readonly before: string;
  readonly after: string;
}

/** Finds rows with another result or fact than before. Details do not count, as latencies vary. */
export function compareReports(before: Report, after: Report): Change[] {
  const keyOf = ({ row, question }: ReportRow): string => `${row} ${question}`;
  const describe = (row: ReportRow | undefined): string =>
    row === undefined ? 'not tried' : `${row.result}: ${factOf(row)}`;
  const beforeRows = new Map(before.rows.map((row) => [keyOf(row), row]));
  const afterRows = new Map(after.rows.map((row) => [keyOf(row), row]));
  return [...new Map([...beforeRows, ...afterRows])].flatMap(([key, { row, question }]) => {
    const change = { before: describe(beforeRows.get(key)), after: describe(afterRows.get(key)) };
    return change.before === change.after ? [] : [{ row, question, ...change }];
  });
}

/** The first sentence of a row, which is the fact that `--compare` compares. */
const factOf = ({ seen }: ReportRow): string => seen.split(/(?<=\.) /)[0] ?? '';

export function formatChanges(changes: readonly Change[], since: string): string {
  if (changes.length === 0) return `Nothing has changed since ${since}.\n`;
  const rows = changes.map(
    ({ row, question, before, after }) =>
      `${String(row).padStart(4)}  ${question}\n      before  ${clean(before)}\n      now     ${clean(after)}\n`,
  );
  return `Changed since ${since} (${changes.length})\n${rows.join('')}`;
}
