/*
 * Compares this SDK with others, on the same server and the same work.
 *
 *   npm ci && npm run bench        every contender, about twelve minutes; writes docs/performance.md
 *   node run.mjs --only=ours,fetch --rounds=3 --works=transport,start
 *
 * The server (server.mjs) is a separate process and sends precomputed bytes. One contender runs per
 * process (measure.mjs), through an adapter (adapters/) of three functions: getOne(), post(),
 * listAll(limit). Each round runs every contender once, in a different order, so that a slow minute of
 * the machine affects all of them. A ratio is taken within a round; the tables show the median over the
 * rounds and the span. Absolute times depend on the machine: compare them within one run only.
 *
 * Every version is pinned in package.json and its lockfile.
 */
import { execFile, execFileSync, fork } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { measureBundle } from './bundle.mjs';
import { goals, peers } from './goals.mjs';
import { prepareHeyApi, prepareOurs, root } from './prepare.mjs';
import { checkGoals, formatReport, writeReport } from './report.mjs';

const run = promisify(execFile);
const here = import.meta.dirname;

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string' },
    works: { type: 'string' },
    rounds: { type: 'string' },
  },
});
const allNames = ['ours', 'http', 'undici', 'fetch', ...peers];
const selected = flags.only?.split(',') ?? allNames;
const works = flags.works?.split(',') ?? [
  'check',
  'start',
  'overlap',
  'serial',
  ...(cpus().length < 2 || process.platform !== 'linux' ? [] : ['pinned']),
  'transport',
  // size-limit checks the size of the bundle (`npm run check`).
  'heap',
  'bundle',
];
/** Rounds and size of each kind of work. */
const plan = {
  check: [5, 1],
  start: [15, 1],
  overlap: [2, 1],
  serial: [5, 1],
  pinned: [3, 1],
  transport: [4, 1],
  heap: [2, 1],
};

/** The version of a package, read from its file, because not every package exports its package.json. */
async function versionOf(name) {
  const file = join(here, 'node_modules', name, 'package.json');
  return JSON.parse(await readFile(file, 'utf8')).version;
}

async function startServer() {
  const server = fork(join(here, 'server.mjs'), { stdio: 'inherit' });
  const response = () => new Promise((resolve) => server.once('message', resolve));
  const { port } = await response();
  return {
    origin: `http://127.0.0.1:${port}`,
    /** Changes the settings, and returns the highest utilization since the last change. */
    async set(setting) {
      const received = response();
      server.send(setting);
      return (await received).busiest;
    },
    /** Binds the server to some cores, such as `0-1`. */
    bind: (list) =>
      run('taskset', ['--all-tasks', '--cpu-list', '--pid', list, String(server.pid)]),
    stop: () => server.disconnect(),
  };
}

const settings = {
  transport: { total: 20_000, delay: 0 },
  serial: { total: 20_000, delay: 0 },
  pinned: { total: 20_000, delay: 0 },
  overlap: { total: 2_500, delay: 20 },
  start: { total: 20_000, delay: 0 },
  check: {},
  heap: { total: 1_000_000, delay: 0 },
};

// Settings of proxies, keys and debugging must not affect a contender.
const env = { PATH: process.env.PATH, HOME: process.env.HOME };

async function measure(name, work, origin, scale) {
  const file = join(here, 'measure.mjs');
  const flagsOfNode = work === 'start' ? [] : ['--expose-gc'];
  const command = [process.execPath, ...flagsOfNode, file, name, work, origin, String(scale)];
  if (work === 'pinned') command.unshift('taskset', '--cpu-list', '1');
  const [program, ...parameters] = command;
  const { stdout } = await run(program, parameters, { env, timeout: 180_000 });
  return JSON.parse(stdout.trim().split('\n').at(-1));
}

console.error('preparing');
prepareOurs();
const contenders = [];
const versions = {};
for (const name of selected) {
  const adapter = await import(`./adapters/${name}.mjs`);
  const foundVersions = await Promise.all(adapter.packages.map(versionOf));
  adapter.packages.forEach((each, at) => {
    versions[each] = foundVersions[at];
  });
  contenders.push({ name, title: adapter.title, program: adapter.program });
}
const names = contenders.map(({ name }) => name);
if (names.includes('hey-api')) await prepareHeyApi();

const server = await startServer();
/** metric → contender → one figure a round. */
const figures = {};
const recordFigure = (metric, name, value) => {
  if (value === undefined) return;
  figures[metric] ??= {};
  figures[metric][name] ??= [];
  figures[metric][name].push(value);
};
const startedAt = performance.now();
let busiest = 0;

for (const work of works) {
  if (work === 'bundle') {
    for (const { name, program } of contenders) {
      if (program !== undefined)
        recordFigure('bundle', name, (await measureBundle(program)) / 1_000);
    }
    continue;
  }
  const [planned, scale] = plan[work];
  const rounds = flags.rounds === undefined ? planned : Number(flags.rounds);
  const field = work === 'check' || work === 'heap' ? names.slice(0, 1) : names;
  await server.set(settings[work]);
  if (work === 'pinned') await server.bind('0');
  for (let round = 0; round < rounds; round += 1) {
    const order = field.map((_, at) => field[(at + round * 5) % field.length]);
    if (round % 2 === 1) order.reverse();
    for (const name of order) {
      const result = await measure(name, work, server.origin, scale);
      for (const [metric, value] of Object.entries(result)) recordFigure(metric, name, value);
      if (work === 'check') {
        recordFigure('checkRatio', name, result.check / result.parse);
        recordFigure('parseRatio', name, result.parseOurs / result.parse);
      }
      if (work === 'heap') recordFigure('heapRatio', name, result.heapLarge / result.heapSmall);
    }
    console.error(
      `${work} ${round + 1}/${rounds}, ${Math.round((performance.now() - startedAt) / 1e3)} s`,
    );
  }
  if (work === 'pinned') await server.bind(`0-${cpus().length - 1}`);
  if (work === 'transport') busiest = await server.set({});
}
server.stop();

/** The commit, or `unknown` without a git repository. */
function commitOf() {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' });
  } catch {
    return 'unknown';
  }
}
const outcome = {
  figures,
  contenders,
  versions,
  busiest,
  about: {
    date: new Date().toISOString().slice(0, 10),
    commit: commitOf().trim(),
    node: process.version,
    cores: cpus().length,
    rounds: flags.rounds ?? plan.transport[0],
  },
};
const verdicts = checkGoals(goals, outcome);
console.log(formatReport(verdicts, outcome));
if (flags.only === undefined && flags.works === undefined) {
  await writeReport(verdicts, outcome, root);
}
