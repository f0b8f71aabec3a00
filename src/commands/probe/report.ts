import { clean, wrap } from '../table.ts';
import type { Result } from './checks/verdict.ts';
import type { Probed, ReportRow } from './run.ts';

const groups: readonly (readonly [result: Result, title: string])[] = [
  ['confirmed', 'Holds'],
  ['contradicted', 'Does not hold'],
  ['found', 'Found'],
  ['unknown', 'Unknown'],
];
const questionWidth = 44;
const seenWidth = 50;
const red = (text: string): string => `\u001B[31m${text}\u001B[39m`;

/** The report for people: first the option to paste, then the checks in groups. */
export function formatReport(probed: Probed, hasColours: boolean): string {
  const { platform, requests, rows } = probed.report;
  const tables = groups.flatMap(([result, title]) => {
    const inGroup = rows.filter((row) => row.result === result);
    if (inGroup.length === 0) return [];
    const text = `${title} (${inGroup.length})\n${inGroup.map(formatRow).join('')}`;
    return [hasColours && result === 'contradicted' ? red(text) : text];
  });
  const head = `The option of your client for ${platform}:\n`;
  const about = `${requests} requests. The numbers are the rows of docs/gaps.md.\n`;
  return [head, formatOptions(probed), about, ...tables].join('\n');
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

/** The option `platform` of the client on this platform, as TypeScript to paste. */
export function formatOptions({ suggestions, advice, report }: Probed): string {
  const comments = advice.map(({ row, text }) => `  // Row ${row}: ${clean(text)}`);
  const facts = suggestions.flatMap(({ row, name, value, reason }) => [
    `  // Row ${row}: ${clean(reason)}.`,
    // The value of `isErrorBody` is the source text of a function.
    `  ${name}: ${name === 'isErrorBody' ? value : JSON.stringify(value)},`,
  ]);
  const isTried = report.rows.some(({ result }) => result !== 'unknown');
  if (facts.length > 0) return ['platform: {', ...comments, ...facts, '},\n'].join('\n');
  const why = isTried ? 'The defaults fit.' : 'Nothing could be found out.';
  return ['platform: {', ...comments, `  // ${why}`, '},\n'].join('\n');
}
