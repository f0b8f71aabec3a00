import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('npm run proof finds every planted mistake, and otherwise no second payment', async () => {
  const args = ['test/proof/run.ts', '--only', 'exploration,mistakes'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
  expect(stdout).toContain('ok     docs/proof.md shows these results');
  expect(stdout.trim().split('\n').at(-1)).toBe('Nothing was paid twice. Every mistake was found.');
});
