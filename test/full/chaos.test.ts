import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import * as sdk from '../../src/index.ts';
import { described, runChaos } from './chaos.ts';
import { changedFiles } from '../mutants/apply.ts';
import { control, elsewhere, variants } from './mutants.ts';
import { givenRuntimes, type Runtime } from './runtimes.ts';

const script = fileURLToPath(new URL('chaos.ts', import.meta.url));

test(
  '300 random plans, and the SDK tells the truth about each call',
  { timeout: 120_000 },
  async () => {
    const seed = randomInt(2 ** 31);
    const report = await runChaos({ sdk, runs: 300, seed });
    console.log(`chaos, seed ${seed}: ${described(report)}`);
    expect(report.violations, `seed ${seed}`).toEqual([]);
    expect(report.runs).toBe(300);
    // A suite in which nothing works, or nothing fails, would prove nothing.
    for (const outcome of ['ok', 'unknown', 'rejected', 'not_sent']) {
      expect(report.mix.get(`create ${outcome}`), outcome).toBeGreaterThan(10);
    }
    expect(report.mix.get('once ok')).toBeGreaterThan(30);
  },
);

test('every mutant applies to the source', () => {
  for (const variant of variants) expect(changedFiles(variant).size).toBeGreaterThan(0);
});

const node: Runtime = { name: 'node', binary: process.execPath, args: [] };

function chaos(
  { binary, args }: Runtime,
  ...options: readonly string[]
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(binary, [...args, script, ...options]);
    let output = '';
    child.stdout.on('data', (chunk) => (output += String(chunk)));
    child.stderr.on('data', (chunk) => (output += String(chunk)));
    child.on('close', (code) => {
      resolve({ code, output });
    });
  });
}

async function dies(runtime: Runtime, name: string): Promise<void> {
  // A wrong policy ends the run at its first violation, long before it has played this many.
  const { code, output } = await chaos(runtime, '--mutant', name, '--runs', '3000', '--bail');
  // The exit code alone could be that of a script that does not start.
  expect(output).toMatch(/^VIOLATION /m);
  expect(code).toBe(1);
}

// Otherwise a run without violations would prove nothing. `npm run mutants` shows what the core sees.
test.concurrent.each([
  'a write is sent again after a broken connection',
  'an abort means not sent',
])('chaos notices that %s', { timeout: 180_000 }, (name) => dies(node, name));

test.concurrent('chaos over Node’s fetch finds nothing', { timeout: 180_000 }, async () => {
  const { code, output } = await chaos(node, '--mutant', control.name, '--bail');
  expect(output).toMatch(/^0 violations in /m);
  expect(code).toBe(0);
});

test.each(givenRuntimes.map((runtime) => [runtime.name, runtime] as const))(
  '300 random plans on %s',
  { timeout: 180_000 },
  async (_, runtime) => {
    const { code, output } = await chaos(runtime);
    expect(output).toMatch(/^0 violations in /m);
    expect(code).toBe(0);
  },
);

test.each(
  givenRuntimes.flatMap((runtime) =>
    elsewhere
      .filter(({ on }) => on.some((name) => runtime.name.startsWith(name)))
      .map(({ name }) => [runtime.name, name, runtime] as const),
  ),
)('chaos on %s notices that %s', { timeout: 180_000 }, (_, name, runtime) => dies(runtime, name));
