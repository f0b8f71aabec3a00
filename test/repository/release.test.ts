import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const script = resolve('.ci/release.ts');
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'payments-release-test-'));
  git('init', '--quiet', '--initial-branch', 'main');
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function git(...args: string[]): void {
  const author = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
  execFileSync('git', [...author, ...args], { cwd: folder, stdio: 'pipe' });
}

/** Commits a package; its build copies its declarations. */
function commit(version: string, declarations: string, changes: string): void {
  const name = 'released';
  const build = 'mkdir -p dist && cp types.txt dist/index.d.ts';
  const files = {
    'package.json': JSON.stringify({ name, version, scripts: { build } }),
    'package-lock.json': JSON.stringify({ name, version, lockfileVersion: 3, packages: {} }),
    'types.txt': declarations,
    'docs/api.md': '# Every method on one line\n',
    'CHANGELOG.md': `# Changelog\n\n${changes}`,
  };
  mkdirSync(join(folder, 'docs'), { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  rmSync(join(folder, 'dist'), { recursive: true, force: true });
  git('add', '--all', '--', ...Object.keys(files));
  git('commit', '--quiet', '--message', version);
}

function release(tag: string): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, tag], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
}

const first = 'declare function pay(): void;\n';
const firstSection = '## 1.0.0 (2026-11-25)\n\n- First.\n';

test("release.ts rejects a tag that is not package.json's version", () => {
  commit('1.0.0', first, firstSection);
  expect(release('v1.0.1')).toMatchObject({
    status: 1,
    output: 'The tag v1.0.1 is not the version 1.0.0\n',
  });
  expect(release('v1.0.0')).toEqual({ status: 0, output: 'v1.0.0 may be published.\n' });
});

test('release.ts rejects a version without a dated changelog section', () => {
  commit('1.0.0', first, '## Unreleased\n\n- First.\n');
  expect(release('v1.0.0')).toMatchObject({ status: 1 });
});

test.each([
  ['a function is gone', 'declare function payAll(): void;\n', '', 1],
  [
    'a function is gone and the changelog has the heading',
    'declare function payAll(): void;\n',
    '### What may break\n\n- `pay` is `payAll`.\n',
    0,
  ],
  ['a function is added', `${first}declare function payAll(): void;\n`, '', 0],
  ['only a comment differs', `/** Pays. */\n${first}`, '', 0],
])('release.ts accepts only safe or announced types: %s', (_, types, breaks, status) => {
  commit('1.0.0', first, firstSection);
  git('tag', 'v1.0.0');
  commit('1.1.0', types, `## 1.1.0 (2026-11-26)\n\n${breaks}- Second.\n\n${firstSection}`);
  git('tag', 'v1.1.0');
  const released = release('v1.1.0');
  expect(released).toMatchObject({ status });
  if (status === 1) expect(released.output).toContain('declare function pay(): void;');
});
