import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { changedFiles, type Mutant } from './apply.ts';
import { mutants } from './mutants.ts';

/*
 * Runs the core on each mutant, a copy of the source with a planted mistake: first the tests that
 * the mutant names, and then all tests if none of them fails.
 * npm run mutants                        every mutant
 * npm run mutants -- 'name'              mutants with these names
 * npm run mutants -- --changed [commit]  mutants whose source or tests differ from the commit
 */

const root = fileURLToPath(new URL('../..', import.meta.url));
const reports = mkdtempSync(join(tmpdir(), 'payments-mutants-'));
process.on('exit', () => {
  rmSync(reports, { recursive: true, force: true });
});

type Verdict =
  | { readonly is: 'dead'; readonly by: string; readonly expected: boolean }
  | { readonly is: 'alive' }
  | { readonly is: 'broken'; readonly why: string };

let runs = 0;

/** Runs tests on a mutant until the first failure. */
function runTests({ name, changes }: Mutant, files: readonly string[]): Promise<Verdict> {
  const report = join(reports, `${(runs += 1)}.json`);
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts'];
  const options = ['--project', 'core', '--bail', '1', '--maxWorkers', '1', '--reporter', 'json'];
  const child = spawn(process.execPath, [...vitest, ...options, '--outputFile', report, ...files], {
    cwd: root,
    stdio: 'ignore',
    // A mutant may never end, but a busy machine may take long.
    timeout: 600_000,
    killSignal: 'SIGKILL',
    env: { ...process.env, PAYMENTS_SDK_MUTANT: changes.length === 0 ? '' : name },
  });
  return new Promise((resolve) => {
    child.on('close', (code, signal) => {
      if (code === 0) resolve({ is: 'alive' });
      else if (signal !== null) resolve({ is: 'dead', by: 'it does not end', expected: true });
      else resolve(readVerdict(report, files.length > 0));
    });
  });
}

interface Report {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

function readVerdict(path: string, expected: boolean): Verdict {
  try {
    const { testResults } = JSON.parse(readFileSync(path, 'utf8')) as Report;
    const failed = testResults
      .flatMap(({ assertionResults }) => assertionResults)
      .find(({ status }) => status === 'failed');
    if (failed !== undefined) return { is: 'dead', by: failed.fullName, expected };
    const why = testResults.map(({ message }) => message).find((message) => message !== '');
    return { is: 'broken', why: stripVTControlCharacters(why ?? 'no test failed, and Vitest did') };
  } catch (error) {
    return { is: 'broken', why: String(error) };
  }
}

async function checkMutant(mutant: Mutant): Promise<Verdict> {
  try {
    changedFiles(mutant);
  } catch (error) {
    return { is: 'broken', why: String(error) };
  }
  const paths = mutant.tests.map((path) => `test/${path}`);
  const verdict = await runTests(mutant, paths);
  return verdict.is === 'alive' && mutant.changes.length > 0 ? runTests(mutant, []) : verdict;
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

/** The files that a mutant changes. None if it does not apply, which chaos.test.ts reports. */
function changesOf(mutant: Mutant): readonly string[] {
  try {
    return [...changedFiles(mutant).keys()];
  } catch {
    return [];
  }
}

function chooseMutants(): readonly Mutant[] {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { changed: { type: 'boolean', default: false } },
  });
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

const startedAt = performance.now();
const all = chooseMutants();
const tests = [...new Set(all.flatMap(({ tests }) => tests))];
// First checks that the tests of the mutants pass without a mutant.
const queue = all.length === 0 ? [] : [{ name: 'nothing', changes: [], tests: tests }, ...all];
const wrong: string[] = [];
const lane = async (): Promise<void> => {
  for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
    const verdict = await checkMutant(mutant);
    const expectedVerdict = mutant.changes.length === 0 ? 'alive' : 'dead';
    if (verdict.is !== expectedVerdict) wrong.push(`${mutant.name}: ${verdict.is}`);
    const detail = describeVerdict(verdict);
    const where = verdict.is === 'dead' && !verdict.expected ? ' (not by the tests it names)' : '';
    console.log(
      `${verdict.is === expectedVerdict ? 'ok ' : 'NOT'} ${mutant.name}: ${verdict.is}${where} ${detail}`,
    );
  }
};
await Promise.all([lane(), lane()]);
const seconds = Math.round((performance.now() - startedAt) / 1_000);
console.log(`${all.length} mutants in ${seconds} s, ${wrong.length} wrong`);
for (const each of wrong) console.log(`  ${each}`);
process.exitCode =
  wrong.length === 0 && (all.length > 0 || process.argv.includes('--changed')) ? 0 : 1;
