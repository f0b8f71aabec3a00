/* From figures to tables: medians, spans, ratios within a round, and whether the goals hold. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export function median(list) {
  const sorted = list.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Metrics of which more is better. */
const more = new Set(['get32', 'list']);

/** The contender with the best median, to be compared with round by round. */
const findBest = (byName, metric, names) =>
  names
    .filter((name) => byName[name] !== undefined)
    .toSorted((a, b) => (more.has(metric) ? -1 : 1) * (median(byName[a]) - median(byName[b])))[0];

const ratios = (ours, theirs) => ours.map((value, round) => value / theirs[round]);

const spanOf = (series) => ({
  low: Math.min(...series),
  value: median(series),
  high: Math.max(...series),
});

/** The goals that this run measured, with their figures, of this build and of the one before. */
export function checkGoals(goals, { figures, contenders }) {
  return goals.flatMap((goal) => {
    const byName = figures[goal.metric] ?? {};
    const rival = goal.against && findBest(byName, goal.metric, goal.against);
    if (byName.ours === undefined || (goal.against && rival === undefined)) return [];
    const against = (series) => (rival === undefined ? series : ratios(series, byName[rival]));
    const ours = spanOf(against(byName.ours));
    const title = contenders.find(({ name }) => name === rival)?.title;
    return [
      {
        ...goal,
        label: rival === undefined ? goal.what : `${goal.what}, times ${title}`,
        ours,
        before: byName.before && spanOf(against(byName.before)),
        holds: goal.holds(ours.value),
      },
    ];
  });
}

const short = (value) => {
  if (value >= 1_000) return Math.round(value).toLocaleString('en-GB');
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
};

const span = ({ low, value, high }, unit) => [
  short(low),
  `${short(value)}${unit === undefined ? '' : ` ${unit}`}`,
  short(high),
];

const goalHead = ['work', 'lowest', 'median', 'highest', 'goal', 'holds'];
const goalRow = ({ label, ours, sense, goal, unit, holds }) => [
  label,
  ...span(ours, unit),
  `${sense} ${short(goal)}`,
  holds ? 'yes' : '**no**',
];

const columns = [
  ['getCpu', 'GET, CPU µs'],
  ['postCpu', 'POST, CPU µs'],
  ['get32', 'GET/s ×32'],
  ['get32Cpu', 'GET ×32, CPU µs'],
  ['post32Cpu', 'POST ×32, CPU µs'],
  ['list', 'items/s'],
  ['pageCpu', 'page, CPU µs'],
  ['overlap', '20+20 ms page'],
  ['import', 'import ms'],
  ['first', 'first response'],
  ['firstCpu', 'its CPU, ms'],
];

/** Every contender as a multiple of one baseline, within each round. */
const multiples = ({ figures, contenders }) =>
  contenders
    .filter(({ name }) => name !== 'before')
    .map(({ name, title }) => [
      title,
      ...columns.map(([metric]) => {
        const series = figures[metric]?.[name];
        const base = figures[metric]?.[metric === 'import' ? 'ky-zod' : 'fetch'];
        if (series === undefined || base === undefined) return '–';
        return short(median(ratios(series, base)));
      }),
    ]);

/** Medians of one run on one machine. */
const medians = ({ figures, contenders }) =>
  contenders.map(({ name, title }) => [
    title,
    ...columns.map(([metric]) => {
      const series = figures[metric]?.[name];
      return series === undefined ? '–' : short(median(series));
    }),
  ]);

const table = (head, rows) =>
  [
    `| ${head.join(' | ')} |`,
    `| ${head.map((_, at) => (at === 0 ? '---' : '--:')).join(' | ')} |`,
    ...rows.map((row) => `| ${row.join(' | ')} |`),
  ].join('\n');

const heads = ['', ...columns.map(([, head]) => head)];

function padded(head, rows) {
  const all = [head, ...rows].map((row) => row.map((text) => text.replaceAll('**', '')));
  const widths = head.map((_, at) => Math.max(...all.map((row) => row[at].length)));
  return all
    .map((row) =>
      row
        .map((text, at) => (at === 0 ? text.padEnd(widths[at]) : text.padStart(widths[at])))
        .join('  '),
    )
    .join('\n');
}

const describeMachine = ({ about: { node, cores, rounds, load } }) =>
  `Node ${node}, ${cores} cores; before the run, other processes took ${Math.round(load * 100)} % of them. Each figure is the mean of a process (8,000 calls, 12,000 at 32 at a time, 200,000 items), in ${rounds} rounds of shuffled turns.`;

const beforeRow = ({ label, before, unit }) => [label, ...span(before, unit)];

/** For the terminal. */
export const formatReport = (verdicts, outcome) =>
  [
    padded(heads, medians(outcome)),
    '',
    padded(goalHead, verdicts.map(goalRow)),
    ...(verdicts.some(({ before }) => before !== undefined)
      ? [
          '',
          padded(
            ['the same before', ...goalHead.slice(1, 4)],
            verdicts.filter(({ before }) => before !== undefined).map(beforeRow),
          ),
        ]
      : []),
    '',
    describeMachine(outcome),
  ].join('\n');

/** docs/performance.md, but for the sections of the other benchmarks. */
export async function writeReport(verdicts, outcome, root) {
  const { about, versions } = outcome;
  const listed = Object.entries(versions)
    .filter(([name]) => name !== 'payments-platform-sdk')
    .map(([name, version]) => `${name} ${version}`)
    .join(', ');
  const missed = verdicts
    .filter(({ holds }) => !holds)
    .map(({ label, why }) => `- ${label}: ${why}`);
  const file = join(root, 'docs/performance.md');
  const rest = /\n## Paying once\n[^]*/.exec(await readFile(file, 'utf8'))?.[0] ?? '';
  await writeFile(
    file,
    `# Performance

Written by \`npm run bench\`; do not edit by hand. ${about.date}, commit ${about.commit}. ${describeMachine(outcome)}

All contenders read the same records from the same server on the loopback address, in the envelope of their SDK. CPU is that
of the whole process, user and system.

## Goals

${table(goalHead, verdicts.map(goalRow))}

${missed.length > 0 ? `Goals that do not hold, and why:\n\n${missed.join('\n')}\n` : ''}
## Beside others

Medians as multiples of bare \`fetch\` in the same round; the import, of ky + zod. More is better for GET/s and items/s, less
for everything else.

${table(heads, multiples(outcome))}

- Calls are made one after the other, or 32 at a time ("×32"). Items come by the SDK's auto-paging if any, in pages of 100.
- "20+20 ms": server and consumer take 20 ms a page each. The import and the first response are those of a fresh process.
- Of all of these, ours, ky + zod and hey-api check what arrives.
- Versions: ${listed}.
${rest}`,
  );
  // The repository checks the formatting of this file, too.
  const prettier = join(root, 'node_modules/.bin/prettier');
  if (existsSync(prettier)) execFileSync(prettier, ['--write', '--log-level', 'silent', file]);
}

/** Replaces a section of docs/performance.md, between its two markers. */
export async function writeSection(name, text) {
  const file = new URL('../../docs/performance.md', import.meta.url);
  const document = await readFile(file, 'utf8');
  const [startMarker, endMarker] = [`<!-- ${name}:start -->`, `<!-- ${name}:end -->`];
  const [before, rest] = document.split(startMarker);
  const [, after] = rest?.split(endMarker) ?? [];
  if (before === undefined || after === undefined) throw new Error('the markers are missing');
  const day = new Date().toISOString().slice(0, 10);
  const measured = `${text}\n\nOne run, on ${day}.`;
  await writeFile(file, `${before}${startMarker}\n\n${measured}\n\n${endMarker}${after}`);
}
