import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { changedFiles, changesOf, type Mutant } from './apply.ts';
import { mutants } from './mutants.ts';
import { chooseRandom, combine, overlap, type RandomMutant } from './random.ts';

/*
 * Runs the core on each mutant, a copy of the source with a planted mistake: first the tests that
 * the mutant names, and then all tests if none of them fails.
 * npm run mutants                        every mutant
 * npm run mutants -- 'name'              mutants with these names
 * npm run mutants -- --changed [commit]  mutants whose source or tests differ from the commit
 * npm run mutants -- --random 50 --seed 1  small mistakes that a generator has made, see random.ts
 */

const root = fileURLToPath(new URL('../..', import.meta.url));
const reports = mkdtempSync(join(tmpdir(), 'payments-mutants-'));
process.on('exit', () => {
  rmSync(reports, { recursive: true, force: true });
});

type Verdict =
  | { readonly is: 'dead'; readonly by: string; readonly files: readonly string[] }
  | { readonly is: 'alive' }
  | { readonly is: 'broken'; readonly why: string };

let runs = 0;

/** Runs tests on a mutant, until the first failure or to the end. */
function runTests(
  { name, changes }: Omit<Mutant, 'tests'>,
  files: readonly string[],
  until: 'failure' | 'end' = 'failure',
): Promise<Verdict> {
  const report = join(reports, `${(runs += 1)}.json`);
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts'];
  const length = until === 'end' ? ['--bail', '0'] : ['--bail', '1', '--maxWorkers', '1'];
  const options = ['--project', 'core', ...length, '--reporter', 'json'];
  const child = spawn(process.execPath, [...vitest, ...options, '--outputFile', report, ...files], {
    cwd: root,
    stdio: 'ignore',
    // A mutant may never end, but a busy machine may take long.
    timeout: files.length === 0 || changes.length === 0 ? 900_000 : 300_000,
    killSignal: 'SIGKILL',
    env: { ...process.env, PAYMENTS_SDK_MUTANT: changes.length === 0 ? '' : name },
  });
  return new Promise((resolve) => {
    child.on('close', (code, signal) => {
      if (code === 0) resolve({ is: 'alive' });
      else if (signal !== null) resolve({ is: 'dead', by: 'it does not end', files });
      else resolve(readVerdict(report));
    });
  });
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

function readVerdict(path: string): Verdict {
  try {
    const { testResults } = JSON.parse(readFileSync(path, 'utf8')) as Report;
    const failed = testResults
      .flatMap(({ assertionResults }) => assertionResults)
      .find(({ status }) => status === 'failed');
    const files = testResults.filter(({ status }) => status === 'failed').map(({ name }) => name);
    if (failed !== undefined) return { is: 'dead', by: failed.fullName, files };
    const why = testResults.map(({ message }) => message).find((message) => message !== '');
    return { is: 'broken', why: stripVTControlCharacters(why ?? 'no test failed, and Vitest did') };
  } catch (error) {
    return { is: 'broken', why: String(error) };
  }
}

/** Runs the tests that a mutant names, and then the whole core if none of them fails. */
async function checkMutant(mutant: Mutant): Promise<Verdict & { readonly isElsewhere?: true }> {
  try {
    changedFiles(mutant);
  } catch (error) {
    return { is: 'broken', why: String(error) };
  }
  const paths = mutant.tests.map((path) => `test/${path}`);
  const verdict = await runTests(mutant, paths);
  if (verdict.is !== 'alive' || mutant.changes.length === 0) return verdict;
  return { ...(await runTests(mutant, [])), isElsewhere: true };
}

const git = (...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

/** The files that differ from a commit. @default the start of this branch, or the last commit */
function changedSince(commit: string | undefined): readonly string[] {
  try {
    let base = commit;
    try {
      base ??= git('merge-base', 'origin/main', 'HEAD').trim();
    } catch {
      // There is no other branch.
    }
    const isItself = commit === undefined && base === git('rev-parse', 'HEAD').trim();
    return git('diff', '--name-only', isItself ? 'HEAD~1' : (base ?? 'HEAD~1')).split('\n');
  } catch {
    console.log('There is no history, so no file counts as changed.');
    return [];
  }
}

function describeVerdict(verdict: Verdict): string {
  if (verdict.is === 'dead') return verdict.by;
  return verdict.is === 'broken' ? verdict.why : '';
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    changed: { type: 'boolean', default: false },
    random: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
});

function chooseMutants(): readonly Mutant[] {
  if (!values.changed) {
    return mutants.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  }
  const files = changedSince(positionals[0]).filter((file) => file !== '');
  const changed = new Set(files.map((file) => join(root, file)));
  return mutants.filter(
    (mutant) =>
      changesOf(mutant).some((path) => changed.has(path)) ||
      mutant.tests.some((path) => files.some((file) => file.startsWith(`test/${path}`))),
  );
}

/** Does something with each of many, two at a time. */
async function forEachOfTwo<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const queue = [...all];
  const lane = async (): Promise<void> => {
    for (let one = queue.shift(); one !== undefined; one = queue.shift()) await work(one);
  };
  await Promise.all([lane(), lane()]);
}

/** Checks mutants of mutants.diff. Returns how many were checked, and what is wrong with them. */
async function checkWritten(): Promise<string> {
  const all = chooseMutants();
  const tests = [...new Set(all.flatMap((mutant) => mutant.tests))];
  // First checks that the tests of the mutants pass without a mutant.
  const queue = all.length === 0 ? [] : [{ name: 'nothing', changes: [], tests }, ...all];
  const wrong: string[] = [];
  await forEachOfTwo(queue, async (mutant) => {
    const verdict = await checkMutant(mutant);
    const expected = mutant.changes.length === 0 ? 'alive' : 'dead';
    if (verdict.is !== expected) wrong.push(`  ${mutant.name}: ${verdict.is}`);
    const where =
      verdict.is === 'dead' && verdict.isElsewhere ? ' (not by the tests it names)' : '';
    const detail = describeVerdict(verdict);
    console.log(
      `${verdict.is === expected ? 'ok ' : 'NOT'} ${mutant.name}: ${verdict.is}${where} ${detail}`,
    );
  });
  const isDone = all.length > 0 || values.changed;
  if (wrong.length > 0 || !isDone) process.exitCode = 1;
  return [`${all.length} mutants, ${wrong.length} wrong`, ...wrong].join('\n');
}

/** Returns the mutants that survive some tests. Prints the verdict of each. */
async function filterSurvivors(
  all: readonly RandomMutant[],
  findFiles: (mutant: RandomMutant) => readonly string[],
): Promise<RandomMutant[]> {
  const alive = new Set<RandomMutant>();
  await forEachOfTwo(all, async (mutant) => {
    const verdict = await runTests(mutant, findFiles(mutant));
    if (verdict.is === 'alive') alive.add(mutant);
    console.log(`${verdict.is} ${mutant.name}: ${describeVerdict(verdict)}`);
  });
  return all.filter((mutant) => alive.has(mutant));
}

/**
 * The mutants that survive the whole core, which runs once on all of them together. If a test
 * fails, each mutant runs with the files that failed, and the core runs again on those left.
 */
async function filterTogether(all: readonly RandomMutant[]): Promise<RandomMutant[]> {
  // Mistakes in the same place cannot be made together.
  const together = all.filter((one, at) => !all.slice(0, at).some((other) => overlap(one, other)));
  if (together.length < all.length) {
    const rest = await filterTogether(all.filter((one) => !together.includes(one)));
    return [...(await filterTogether(together)), ...rest];
  }
  if (all.length === 0) return [];
  const verdict = await runTests(combine(all), [], 'end');
  console.log(`core on ${all.length}: ${verdict.is} ${describeVerdict(verdict)}`);
  if (verdict.is === 'alive') return [...all];
  if (all.length === 1) return [];
  const files = verdict.is === 'dead' ? verdict.files : [];
  const left = files.length === 0 ? all : await filterSurvivors(all, () => files);
  if (left.length < all.length) return await filterTogether(left);
  const half = Math.ceil(all.length / 2);
  return [
    ...(await filterTogether(all.slice(0, half))),
    ...(await filterTogether(all.slice(half))),
  ];
}

/** Checks random mutants. Returns the score, after the survivors. */
async function checkRandom(): Promise<string> {
  const all = chooseRandom(Number(values.random), Number(values.seed));
  const findFiles = ({ tests }: Mutant) => tests.map((path) => `test/${path}`);
  const healthy = await runTests({ name: 'nothing', changes: [] }, all.flatMap(findFiles));
  if (healthy.is !== 'alive') throw new Error(`red without a mutant: ${describeVerdict(healthy)}`);
  const survivors = await filterTogether(await filterSurvivors(all, findFiles));
  if (survivors.length > 0) process.exitCode = 1;
  const lines = survivors.map(
    ({ name, edit }) => `${name}: src/${edit.file}:${edit.line}\n- ${edit.from}\n+ ${edit.to}`,
  );
  return [...lines, `${all.length - survivors.length} of ${all.length} were found`].join('\n');
}

const startedAt = performance.now();
const summary = values.random === undefined ? await checkWritten() : await checkRandom();
const seconds = Math.round((performance.now() - startedAt) / 1_000);
console.log(`${summary}\n${seconds} s`);
