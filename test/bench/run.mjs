/*
 * Compares this SDK with others, on the same server and the same work.
 *
 *   npm ci && npm run bench        every contender, about ten minutes; writes docs/performance.md
 *   node run.mjs --only=ours,fetch --rounds=3 --works=get,start
 *   node run.mjs --before=../other-checkout/dist/index.js   another build beside this one
 *
 * The server (server.mjs) is a separate process and sends precomputed bytes. Each figure is measured
 * in a process of its own (measure.mjs), through an adapter (adapters/) of three functions: getOne(),
 * post(), listAll(limit). Each round runs every contender once, in a shuffled order, so that a slow
 * minute of the machine affects all of them. A ratio is taken within a round; the tables show the
 * median over the rounds, and the lowest and highest. Compare times within one run only, and run it
 * while nothing else runs.
 *
 * Every version is pinned in package.json and its lockfile.
 */
import { execFile, execFileSync, fork } from 'node:child_process';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { measureBundle } from './bundle.mjs';
import { goals, peers } from './goals.mjs';
import { measureInstalled, prepareHeyApi, prepareOurs, root, versionOf } from './prepare.mjs';
import { checkGoals, formatReport, writeReport } from './report.mjs';

const run = promisify(execFile);
const here = import.meta.dirname;

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string' },
    works: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    before: { type: 'string' },
  },
});
const names = flags.only?.split(',') ?? ['ours', 'http', 'undici', 'fetch', ...peers];
const works = flags.works?.split(',') ?? [
  'get',
  'post',
  'get32',
  'post32',
  'list',
  'overlap',
  'start',
  'bundle',
];
const rounds = Number(flags.rounds);
/** A start is short, so it is repeated within a round. */
const repeats = { start: 3 };

/** The share of the machine's time that other processes take. */
async function findLoad() {
  const read = () =>
    cpus().reduce(
      (sum, { times: { idle, ...busy } }) => ({
        idle: sum.idle + idle,
        busy: sum.busy + Object.values(busy).reduce((total, ms) => total + ms, 0),
      }),
      { idle: 0, busy: 0 },
    );
  const before = read();
  await sleep(3_000);
  const after = read();
  const busy = after.busy - before.busy;
  return busy / (busy + after.idle - before.idle);
}

async function startServer() {
  const server = fork(join(here, 'server.mjs'), { stdio: 'inherit' });
  const response = () => new Promise((respond) => server.once('message', respond));
  const { port } = await response();
  return {
    origin: `http://127.0.0.1:${port}`,
    async set(setting) {
      const received = response();
      server.send(setting);
      await received;
    },
    stop: () => server.disconnect(),
  };
}

// Settings of proxies, keys and debugging must not affect a contender.
const env = { PATH: process.env.PATH, HOME: process.env.HOME };

async function measure({ adapter, sdk }, work, origin) {
  const { stdout } = await run(
    process.execPath,
    [join(here, 'measure.mjs'), adapter, work, origin],
    {
      env: { ...env, ...(sdk && { BENCH_SDK: sdk }) },
      timeout: 180_000,
    },
  );
  return JSON.parse(stdout.trim().split('\n').at(-1));
}

function shuffle(list) {
  return list
    .map((item) => ({ item, key: Math.random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

console.error('preparing');
prepareOurs();
const contenders = [];
const versions = {};
for (const name of names) {
  const { title, program, packages } = await import(`./adapters/${name}.mjs`);
  for (const each of packages) versions[each] = await versionOf(each);
  contenders.push({ name, title, program, adapter: name });
}
if (flags.before !== undefined) {
  const sdk = resolve(flags.before);
  contenders.push({ name: 'before', title: 'before', adapter: 'ours', sdk });
}
if (names.includes('hey-api')) await prepareHeyApi();

const load = await findLoad();
if (load > 0.1) console.error(`other processes take ${Math.round(load * 100)} % of this machine`);
const server = await startServer();
/** metric → contender → one figure a round. */
const figures = {};
const record = (metric, name, values) => {
  if (values[0] === undefined) return;
  figures[metric] ??= {};
  figures[metric][name] ??= [];
  figures[metric][name].push(values.reduce((sum, value) => sum + value) / values.length);
};
const startedAt = performance.now();
for (let round = 1; round <= rounds; round += 1) {
  for (const work of works) {
    if (work === 'bundle') continue;
    const delay = work === 'overlap' ? 20 : 0;
    await server.set({ total: work === 'overlap' ? 2_500 : 20_000, delay });
    for (const contender of shuffle(contenders)) {
      const results = [];
      for (let repeat = 0; repeat < (repeats[work] ?? 1); repeat += 1) {
        results.push(await measure(contender, work, server.origin));
      }
      for (const metric of Object.keys(results[0])) {
        record(
          metric,
          contender.name,
          results.map((result) => result[metric]),
        );
      }
    }
  }
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  console.error(`round ${round} of ${rounds}, ${seconds} s`);
}
server.stop();
if (works.includes('bundle')) {
  for (const { name, program } of contenders) {
    if (program !== undefined) record('bundle', name, [await measureBundle(program)]);
  }
  record('installed', 'ours', [measureInstalled()]);
}

/** The commit, or `unknown` without a git repository. */
function findCommit() {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' });
  } catch {
    return 'unknown';
  }
}
const about = {
  date: new Date().toISOString().slice(0, 10),
  commit: findCommit().trim(),
  node: process.version,
  cores: cpus().length,
  rounds,
  load,
};
const outcome = { figures, contenders, versions, about };
const verdicts = checkGoals(goals, outcome);
console.log(formatReport(verdicts, outcome));
if (flags.only === undefined && flags.works === undefined) {
  await writeReport(verdicts, outcome, root);
}
