import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

// The SDK works where code cannot be generated from strings: in Workers, and under strict content
// security policies. This file runs the tests of each part, and docs/contributing.md has the command for all.

const forbidden = '--disallow-code-generation-from-strings';
const root = fileURLToPath(new URL('../..', import.meta.url));
const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const parts = [
  'test/responses/schemas',
  'test/nouns/endpoints',
  'test/responses/request.test',
  'test/responses/responses',
  'test/lists/cursor',
  'test/sandbox/transfers',
  'test/sandbox/requests',
  'test/transports/node-http',
];

const run = (...args: string[]): Promise<{ stdout: string }> => {
  const env = { PATH: process.env['PATH'], NODE_OPTIONS: forbidden };
  return promisify(execFile)(process.execPath, args, { cwd: root, env, maxBuffer: 2 ** 26 });
};

test('--disallow-code-generation-from-strings makes new Function throw', async () => {
  await expect(run('-e', 'new Function("return 1")()')).rejects.toThrow('EvalError');
});

test('every part of the SDK works with --disallow-code-generation-from-strings', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-no-eval-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const file = join(folder, 'report.json');
  const reporters = ['--reporter=dot', '--reporter=json', `--outputFile.json=${file}`];
  await run(vitest, 'run', '--config', 'test/vitest.config.ts', ...reporters, ...parts);
  const report = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  expect(report).toMatchObject({ success: true, numFailedTests: 0 });
  // A name above that matches no file would go unnoticed.
  expect(report['testResults']).toHaveLength(parts.length);
  expect(report['numPassedTests']).toBeGreaterThan(300);
});
