/* From figures to tables: medians, spans, ratios within a round, and whether the goals hold. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { peers } from './goals.mjs';

export function median(list) {
  const sorted = list.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Metrics of which more is better. */
const more = new Set(['get', 'list']);

/** The peer with the best median, to be compared with round by round. */
function bestPeer(byName, metric) {
  const ranked = peers
    .filter((name) => byName[name] !== undefined)
    .map((name) => ({ name, value: median(byName[name]) }))
    .toSorted((a, b) => (more.has(metric) ? b.value - a.value : a.value - b.value));
  return ranked[0]?.name;
}

const ratios = (ours, theirs) => ours.map((value, round) => value / theirs[round]);

/** The goals that this run measured, with their figures. */
export function checkGoals(goals, { figures, contenders }) {
  return goals.flatMap((goal) => {
    const byName = figures[goal.metric] ?? {};
    const { ours } = byName;
    if (ours === undefined) return [];
    let series = ours;
    let label = goal.what;
    if (goal.against !== undefined) {
      const rival = goal.against === 'best peer' ? bestPeer(byName, goal.metric) : goal.against;
      if (rival === undefined || byName[rival] === undefined) return [];
      series = ratios(ours, byName[rival]);
      const { title } = contenders.find(({ name }) => name === rival);
      const role = goal.against === 'best peer' ? `the best peer (${title})` : title;
      label = `${goal.what}, times ${role}`;
    }
    const value = median(series);
    return [
      {
        ...goal,
        label,
        value,
        low: Math.min(...series),
        high: Math.max(...series),
        holds: goal.holds(value),
      },
    ];
  });
}

const short = (value) => {
  if (value >= 1_000) return Math.round(value).toLocaleString('en-GB');
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
};

const goalRow = ({ label, value, low, high, sense, goal, unit, holds }) => [
  label,
  `${short(value)}${unit === undefined ? '' : ` ${unit}`}`,
  `${short(low)} to ${short(high)}`,
  `${sense} ${short(goal)}${unit === undefined ? '' : ` ${unit}`}`,
  holds ? 'yes' : '**no**',
];
const goalHead = ['work', 'measured', 'span', 'goal', 'holds'];

const columns = [
  ['oneGetCpu', 'one GET, CPU µs'],
  ['onePostCpu', 'one POST, CPU µs'],
  ['pinnedGetCpu', 'pinned GET'],
  ['pinnedPostCpu', 'pinned POST'],
  ['get', 'GET/s ×32'],
  ['getCpu', 'GET CPU µs ×32'],
  ['postCpu', 'POST CPU µs ×32'],
  ['list', 'items/s'],
  ['overlap', '20+20 ms page, ms'],
  ['import', 'import ms'],
  ['first', 'to first response ms'],
  ['firstCpu', 'CPU of it, ms'],
  ['bundle', 'bundle kB'],
];

const cell = (figures, metric, name) => {
  const series = figures[metric]?.[name];
  return series === undefined ? '–' : short(median(series));
};

/** Medians of one run on one machine. */
const medians = ({ figures, contenders }) =>
  contenders.map(({ name, title }) => [
    title,
    ...columns.map(([metric]) => cell(figures, metric, name)),
  ]);

/** Every contender as a multiple of one baseline, within each round. */
const multiples = ({ figures, contenders }) =>
  contenders.map(({ name, title }) => [
    title,
    ...columns.map(([metric]) => {
      const yardstick = metric === 'import' ? 'ky-zod' : 'fetch';
      const series = figures[metric]?.[name];
      const base = figures[metric]?.[yardstick];
      if (series === undefined || base === undefined) return '–';
      return short(median(ratios(series, base)));
    }),
  ]);

const table = (head, rows, aligned = () => '---') =>
  [
    `| ${head.join(' | ')} |`,
    `| ${head.map((_, at) => aligned(at)).join(' | ')} |`,
    ...rows.map((row) => `| ${row.join(' | ')} |`),
  ].join('\n');

const right = (at) => (at === 0 ? '---' : '--:');
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

const beside = ({ figures }) => {
  if (figures.parse === undefined) return '';
  const of = (metric) => short(median(figures[metric].ours));
  return `A page of 100 transfers: JSON.parse ${of('parse')} µs, our lossless parser ${of('parseOurs')} µs (${of('parseRatio')} ×), our check ${of('check')} µs, zod's usual check ${of('checkClassic')} µs.`;
};

/** For the terminal. */
export const formatReport = (verdicts, outcome) =>
  [
    padded(heads, medians(outcome)),
    '',
    padded(goalHead, verdicts.map(goalRow)),
    '',
    beside(outcome),
    `Node ${outcome.about.node}, ${outcome.about.cores} cores; the server was busy at most ${Math.round(outcome.busiest * 100)} % of any quarter second.`,
  ].join('\n');

/** docs/performance.md for users, and the goals behind it. */
export async function writeReport(verdicts, outcome, root) {
  const { about, versions, busiest } = outcome;
  const listed = Object.entries(versions)
    .filter(([name]) => name !== 'payments-platform-sdk')
    .map(([name, version]) => `${name} ${version}`)
    .join(', ');
  const origin = `Written by \`npm run bench\`; do not edit by hand. ${about.date}, commit ${about.commit}, Node ${about.node}, ${about.cores} cores.`;
  // once.mjs writes this part.
  const before = await readFile(join(root, 'docs/performance.md'), 'utf8');
  const once = /\n## Paying once\n[^]*/.exec(before)?.[0] ?? '';
  await formatted(
    root,
    'docs/performance.md',
    `# Performance

${origin}

All contenders read the same records from the same server on the loopback address, in the envelope of their SDK. One contender
runs per process, rounds are interleaved, and each figure is the median of a multiple of bare
\`fetch\` in the same round; import of ky + zod. More is better for GET/s and items/s, less for everything else.

${table(
  heads.slice(0, -1),
  multiples(outcome).map((row) => row.slice(0, -1)),
  right,
)}

- "One": one call after another; "pinned": with client and server on a core each; "×32": 32 calls at a time.
- The CPU time is that of the whole process, user and system.
- Items come by the SDK's auto-paging if any, 20,000 in pages of 100.
- "20+20 ms": server and consumer take 20 ms a page each.
- Import is a fresh process. Ours, gzipped by esbuild: ${cell(outcome.figures, 'bundle', 'ours')} kB for a program that uses the whole client.
- Of all of these, ours, ky + zod and hey-api check what arrives.
${once}`,
  );
  await formatted(
    root,
    'docs/decisions/goals-of-speed.md',
    `# Goals of speed

Date: 2026-11-21. Status: generated.

The benchmark has to reach the goals below, so that a change which makes the client slower shows. The goals are in
\`test/bench/goals.mjs\`. The limit of the bundle is in \`package.json\`, where \`size-limit\` enforces the limit. The cost is that
the noise of a machine can make a goal fail. A goal that does not hold says **no**.

${origin} The benchmark takes a ratio within each round (${about.rounds} for the transport), and the table has the median and the lowest and highest ratio. The server's
event loop was busy for at most ${Math.round(busiest * 100)} % of any quarter of a second.

${table(goalHead, verdicts.map(goalRow))}

${beside(outcome)}

These are the medians behind \`docs/performance.md\`. Compare them only with each other, because they depend on the machine, and client
and server share ${about.cores} cores.

${table(heads, medians(outcome), right)}

Versions: ${listed}.
`,
  );
}

/** Formats a generated file, because the repository checks its formatting, too. */
async function formatted(root, path, text) {
  const file = join(root, path);
  await writeFile(file, text);
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
  await writeFile(file, `${before}${startMarker}\n\n${text}\n\n${endMarker}${after}`);
}
