/*
 * Shows that a payment is made once, and that the proof would notice a mistake.
 * npm run proof                             everything except the matrix, in less than six minutes
 * npm run proof -- --seed 7                 with another seed for the random parts
 * npm run proof -- --only exploration --large  explores for five minutes instead of one
 * npm run proof -- --only mistakes          one part: exploration, chaos, kills or mistakes
 * npm run proof -- --mistake 'its name'     one planted mistake, with its whole trace
 * npm run proof -- --write                  also writes docs/proof.md
 * npm run proof -- --only matrix            every journal and runtime, whose programs you must have
 */
import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { changedFiles, source } from '../mutants/apply.ts';
import { mutants } from '../mutants/mutants.ts';
import { explored, type Explored } from './explored.ts';
import type { Finding } from './find.ts';
import { mistakes, type Mistake } from './mistakes.ts';
import { updatePage, type Column, type Matrix, type Results } from './page.ts';

const root = dirname(dirname(dirname(import.meta.filename)));
const execute = promisify(execFile);

const { values: flags } = parseArgs({
  options: {
    seed: { type: 'string' },
    only: { type: 'string' },
    mistake: { type: 'string' },
    large: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const seed = flags.seed ?? String(randomInt(2 ** 31));

/** Explores in another process, because a copy of the source has other modules. */
async function find(folder: string, row: Explored): Promise<Finding> {
  const script = join(folder, 'test/proof/find.ts');
  const args = [script, JSON.stringify(row), ...(flags.seed === undefined ? [] : [flags.seed])];
  const { stdout } = await execute(process.execPath, args, {
    // A planted mistake may lead to calls without end.
    timeout: row.isLarge === true ? 1_800_000 : 240_000,
  });
  return JSON.parse(stdout) as Finding;
}

/** Looks for a planted mistake with the tests that mutants.diff names. */
async function findByTests(mistake: string): Promise<Finding> {
  const command = ['test/mutants/run.ts', mistake];
  const { stdout } = await execute(process.execPath, command, { cwd: root }).catch(
    (error: { stdout: string }) => error,
  );
  const [, what] = /^ok +.*: dead (.+)$/m.exec(stdout) ?? [];
  const violation = what === undefined ? undefined : { what, choices: [] };
  return { runs: 0, states: 0, violation };
}

/** Looks for a planted mistake in a copy of the source. */
async function findMistake({ mistake, bounds }: Mistake): Promise<Finding> {
  if (bounds === undefined) return await findByTests(mistake);
  const mutant = mutants.find(({ name }) => name === mistake);
  if (mutant === undefined) throw new Error(`mutants.diff has no ${mistake}`);
  const folder = mkdtempSync(join(tmpdir(), 'payments-proof-'));
  try {
    for (const part of ['src', 'test/proof', 'package.json']) {
      mkdirSync(dirname(join(folder, part)), { recursive: true });
      cpSync(join(root, part), join(folder, part), { recursive: true });
    }
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    for (const [path, text] of changedFiles(mutant)) {
      writeFileSync(join(folder, 'src', relative(source, path)), text);
    }
    return await find(folder, { bounds });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs tasks two at a time, and keeps their order. */
async function inPairs<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const left = [...items.entries()];
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      results[next[0]] = await run(next[1]);
    }
  };
  await Promise.all([work(), work()]);
  return results;
}

let failures = 0;
function report(isRight: boolean, text: string): void {
  if (!isRight) failures += 1;
  console.log(`${isRight ? 'ok    ' : 'FAILED'} ${text}`);
}

/** Runs a driver, and prints its last lines. */
async function drive(name: string, args: readonly string[]): Promise<void> {
  const command = [`test/drivers/${name}.ts`, ...args];
  const { code, stdout } = await execute(process.execPath, command, { cwd: root }).then(
    ({ stdout: text }) => ({ code: 0, stdout: text }),
    (error: { code: number; stdout: string }) => error,
  );
  report(code === 0, `node ${command.join(' ')}\n${stdout.trim().replaceAll(/^/gm, '       ')}`);
}

const parts = {
  async exploration() {
    const rows = explored.filter(({ isLarge = false }) => isLarge === flags.large);
    const findings = await inPairs(rows, (row) => find(root, row));
    for (const [at, { runs, states, violation }] of findings.entries()) {
      const what = `${runs} runs, ${states} states: ${JSON.stringify(rows[at])}`;
      report(
        violation === undefined,
        violation === undefined ? what : `${violation.what}, ${what}`,
      );
    }
    return flags.large ? { large: findings } : { explored: findings };
  },
  async chaos() {
    await drive('chaos', ['--runs', '1500', '--seed', seed]);
    return {};
  },
  async kills() {
    await drive('once-deaths', ['--store', 'sqlite', '--payouts', '200']);
    return {};
  },
  async mistakes() {
    const findings = await inPairs(mistakes, findMistake);
    for (const [at, { violation, trace = [], runs }] of findings.entries()) {
      const { mistake = '' } = mistakes[at] ?? {};
      const steps = `${trace.length} steps, found in run ${runs}`;
      report(violation !== undefined, `${mistake}: ${violation?.what ?? 'not found'} (${steps})`);
    }
    return { mistakes: findings };
  },
};

/** Counts faults by moment, journal and runtime. Needs the programs that test/runtimes installs. */
async function playMatrix(): Promise<Matrix> {
  const modules = join(root, 'test/runtimes/node_modules');
  const runtimes = {
    'Node.js': [process.execPath],
    Bun: [join(modules, '@oven/bun-linux-x64/bin/bun')],
    Deno: [join(modules, '@deno/linux-x64-glibc/deno'), 'run', '-A', '--no-lock'],
  };
  const columns: Column[] = [];
  const play = async (
    name: string,
    [program = '', ...args]: readonly string[],
  ): Promise<string> => {
    const { stdout } = await execute(program, args, { cwd: root, maxBuffer: 2 ** 26 });
    console.log(`       ${name}`);
    return stdout;
  };
  for (const [runtime, command] of Object.entries(runtimes)) {
    const args = ['test/drivers/chaos.ts', '--runs', '600', '--seed', seed];
    const text = await play(`memory, ${runtime}`, [...command, ...args]);
    const [, plays = '{}'] = /^plays (.+)$/m.exec(text) ?? [];
    columns.push({ journal: 'memory', runtime, plays: JSON.parse(plays) as Column['plays'] });
  }
  for (const store of ['sqlite', 'postgres', 'redis']) {
    const args = ['test/drivers/once-deaths.ts', '--store', store, '--payouts', '200'];
    const text = await play(`${store}, Node.js`, [process.execPath, ...args]);
    const { kills, freezes, faults } = JSON.parse(text) as Record<string, number>;
    const plays = {
      killed: kills ?? 0,
      suspended: freezes ?? 0,
      'a fault of the platform': faults ?? 0,
    };
    columns.push({ journal: store, runtime: 'Node.js', plays });
  }
  return { seed, columns };
}

const selected = flags.only?.split(',') ?? Object.keys(parts);
const unknown = selected.filter((name) => name !== 'matrix' && !Object.hasOwn(parts, name));
if (unknown.length > 0) throw new Error(`no part is called ${unknown.join(', ')}`);
if (selected.includes('matrix')) {
  const matrix = await playMatrix();
  console.log(JSON.stringify(matrix, null, 1));
  await updatePage({ matrix }, flags.write);
  process.exit();
}
if (flags.mistake !== undefined) {
  const planted = mistakes.find(({ mistake }) => mistake === flags.mistake);
  if (planted === undefined) throw new Error(`no mistake is called ${flags.mistake}`);
  const { violation, trace = [] } = await findMistake(planted);
  console.log([planted.rule, ...trace, violation?.what ?? 'not found'].join('\n'));
  process.exit(violation === undefined ? 1 : 0);
}
const results: Results = {};
for (const [name, run] of Object.entries(parts)) {
  if (!selected.includes(name)) continue;
  const startedAt = performance.now();
  console.log(`== ${name}`);
  Object.assign(results, await run());
  console.log(`== ${name} took ${Math.round((performance.now() - startedAt) / 1_000)} s`);
}
if (Object.keys(results).length > 0) {
  const isShown = await updatePage(results, flags.write);
  report(isShown || flags.write, 'docs/proof.md shows these results (npm run proof -- --write)');
}
const claims = [
  ...(selected.some((name) => name !== 'mistakes') ? ['Nothing was paid twice.'] : []),
  ...(selected.includes('mistakes') ? ['Every mistake was found.'] : []),
];
console.log(failures === 0 ? claims.join(' ') : `${failures} failed`);
process.exitCode = failures === 0 ? 0 : 1;
