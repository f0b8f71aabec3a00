import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { changedFiles, type Mutant } from './apply.ts';
import { mutants } from './mutants.ts';

/*
 * Runs the core on each mutant: first the tests that are known to see it, all of them if it lives.
 * npm run mutants                        every one
 * npm run mutants -- 'name'              those of that name, or of several
 * npm run mutants -- --changed [commit]  those whose source or tests differ from that commit
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

/** Runs tests on a mutant, until the first that fails. */
function tested({ name, changes }: Mutant, files: readonly string[]): Promise<Verdict> {
  const report = join(reports, `${(runs += 1)}.json`);
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts'];
  const options = ['--project', 'core', '--bail', '1', '--maxWorkers', '1', '--reporter', 'json'];
  const child = spawn(process.execPath, [...vitest, ...options, '--outputFile', report, ...files], {
    cwd: root,
    stdio: 'ignore',
    // A mutant may go round in circles; a machine may be busy.
    timeout: 600_000,
    killSignal: 'SIGKILL',
    env: { ...process.env, PAYMENTS_SDK_MUTANT: changes.length === 0 ? '' : name },
  });
  return new Promise((resolve) => {
    child.on('close', (code, signal) => {
      if (code === 0) resolve({ is: 'alive' });
      else if (signal !== null) resolve({ is: 'dead', by: 'it never ends', expected: true });
      else resolve(verdictOf(report, files.length > 0));
    });
  });
}

interface Report {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

function verdictOf(path: string, expected: boolean): Verdict {
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

async function checkBy(mutant: Mutant): Promise<Verdict> {
  try {
    changedFiles(mutant);
  } catch (error) {
    return { is: 'broken', why: String(error) };
  }
  const known = mutant.tests.map((path) => `test/${path}`);
  const verdict = await tested(mutant, known);
  return verdict.is === 'alive' && mutant.changes.length > 0 ? tested(mutant, []) : verdict;
}

const git = (...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

/** The files that differ from a commit: from where this branch began, or else from the last one. */
function changedSince(given: string | undefined): readonly string[] {
  try {
    let base = given;
    try {
      base ??= git('merge-base', 'origin/main', 'HEAD').trim();
    } catch {
      // There is no other branch.
    }
    const isItself = given === undefined && base === git('rev-parse', 'HEAD').trim();
    return git('diff', '--name-only', isItself ? 'HEAD~1' : (base ?? 'HEAD~1')).split('\n');
  } catch {
    console.log('Without its history nobody knows what has changed.');
    return [];
  }
}

function chosen(): readonly Mutant[] {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { changed: { type: 'boolean', default: false } },
  });
  if (!values.changed) {
    return mutants.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  }
  const files = changedSince(positionals[0]).filter((file) => file !== '');
  return mutants.filter(
    ({ changes, tests }) =>
      changes.some(({ file }) => files.includes(`src/${file}`)) ||
      tests.some((path) => files.some((file) => file.startsWith(`test/${path}`))),
  );
}

const begun = performance.now();
const all = chosen();
const seen = [...new Set(all.flatMap(({ tests }) => tests))];
// The tests that see mutants must not be red by themselves.
const queue = all.length === 0 ? [] : [{ name: 'nothing', changes: [], tests: seen }, ...all];
const wrong: string[] = [];
const lane = async (): Promise<void> => {
  for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
    const verdict = await checkBy(mutant);
    const should = mutant.changes.length === 0 ? 'alive' : 'dead';
    if (verdict.is !== should) wrong.push(`${mutant.name}: ${verdict.is}`);
    const how = verdict.is === 'dead' ? verdict.by : verdict.is === 'broken' ? verdict.why : '';
    const where = verdict.is === 'dead' && !verdict.expected ? ' (not by the tests it names)' : '';
    console.log(
      `${verdict.is === should ? 'ok ' : 'NOT'} ${mutant.name}: ${verdict.is}${where} ${how}`,
    );
  }
};
await Promise.all([lane(), lane()]);
const seconds = Math.round((performance.now() - begun) / 1_000);
console.log(`${all.length} mutants in ${seconds} s, ${wrong.length} wrong`);
for (const each of wrong) console.log(`  ${each}`);
process.exitCode =
  wrong.length === 0 && (all.length > 0 || process.argv.includes('--changed')) ? 0 : 1;
