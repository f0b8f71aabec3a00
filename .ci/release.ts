import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/*
 * Rejects a release: node .ci/release.ts <tag>
 * It fails when the tag is not the version, when the changelog has no dated section for it, or when a line
 * of the public API of the last tag is gone and that section has no heading "What may break".
 */

const [tag = ''] = process.argv.slice(2);
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const git = (...args: string[]): string =>
  execFileSync('git', args, { encoding: 'utf8', stdio: 'pipe' }).trim();

/** The public API: the signatures of docs/api.md, and the lines of the declarations without comments. */
function readApi(folder: string): Set<string> {
  const files = globSync('dist/**/*.d.ts', { cwd: folder }).concat('docs/api.md');
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8'));
  const lines = texts.flatMap((text) => text.replaceAll(/\/\*[\s\S]*?\*\//g, '').split('\n'));
  // The name of a chunk has a hash of its content; the text after a signature is documentation.
  const signatures = lines.map((line) =>
    line.replaceAll(/-[\w-]{8}\.js/g, '.js').replace(/`: .*/, '`'),
  );
  return new Set(signatures.map((line) => line.trim()));
}

function buildTag(name: string): Set<string> {
  const folder = mkdtempSync(join(tmpdir(), 'payments-release-'));
  try {
    git('worktree', 'add', '--detach', folder, name);
    const options = { cwd: folder, stdio: 'inherit' } as const;
    execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--include=dev'], options);
    execFileSync('npm', ['run', '--silent', 'build'], options);
    return readApi(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    git('worktree', 'prune');
  }
}

function findProblem(): string | undefined {
  if (tag !== `v${version}`) return `The tag ${tag} is not the version ${version}`;
  const sections = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m);
  const section = sections.find((text) => text.startsWith(`${version} (`));
  if (section === undefined) return `CHANGELOG.md has no section "## ${version} (date)"`;
  const tags = git('tag', '--list', 'v*', '--merged', 'HEAD', '--sort=-v:refname').split('\n');
  const lastTag = tags.find((name) => name !== '' && name !== tag);
  if (lastTag === undefined || /^### What may break$/m.test(section)) return undefined;
  if (!existsSync('dist')) execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
  const present = readApi('.');
  const removed = [...buildTag(lastTag)].filter((line) => !present.has(line));
  if (removed.length === 0) return undefined;
  return `The public API of ${lastTag} had these lines, and the changelog has no heading "What may break":\n${removed.join('\n')}`;
}

const problem = findProblem();
if (problem === undefined) {
  console.log(`${tag} may be published.`);
} else {
  console.error(problem);
  process.exitCode = 1;
}
