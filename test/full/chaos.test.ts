import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import * as sdk from '../../src/index.ts';
import { describeReport, runChaos } from '../drivers/chaos.ts';
import { changedFiles } from '../mutants/apply.ts';
import { control, runtimeMutants, variants } from '../drivers/mutants.ts';
import { otherRuntimes, type Runtime } from '../drivers/runtimes.ts';

const script = fileURLToPath(new URL('../drivers/chaos.ts', import.meta.url));

test('under random faults every outcome agrees with the ledger', async () => {
  const seed = randomInt(2 ** 31);
  const report = await runChaos({ sdk, runs: 300, seed });
  console.log(`chaos, seed ${seed}: ${describeReport(report)}`);
  expect(report.violations, `seed ${seed}`).toEqual([]);
  expect(report.runs).toBe(300);
  // Without successes and failures a run would prove nothing.
  for (const outcome of ['ok', 'unknown', 'rejected', 'not_sent']) {
    expect(report.mix.get(`create ${outcome}`), outcome).toBeGreaterThan(10);
  }
  expect(report.mix.get('once ok')).toBeGreaterThan(15);
  expect(report.mix.get('batch ok')).toBeGreaterThan(40);
});

test('every mutant of the chaos test still applies to src/', () => {
  for (const variant of variants) expect(changedFiles(variant).size).toBeGreaterThan(0);
});

const node: Runtime = { name: 'node', binary: process.execPath, args: [] };

function spawnChaos(
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

async function expectViolation(runtime: Runtime, name: string): Promise<void> {
  // The run ends at its first violation, long before the last of these plans.
  const { code, output } = await spawnChaos(runtime, '--mutant', name, '--runs', '3000', '--bail');
  // A script that does not start has an exit code of 1, too.
  expect(output).toMatch(/^VIOLATION /m);
  expect(code).toBe(1);
}

// Proves that a violation would be found. `npm run mutants` does that for the core.
test.concurrent.each([
  'a write is sent again after a broken connection',
  'an abort means not sent',
])('the chaos test finds the planted mistake: %s', (name) => expectViolation(node, name));

test.concurrent('over Node’s fetch every outcome agrees with the ledger, too', async () => {
  const { code, output } = await spawnChaos(
    node,
    '--mutant',
    control.name,
    '--runs',
    '200',
    '--bail',
  );
  expect(output).toMatch(/^0 violations in /m);
  expect(code).toBe(0);
});

test.each(otherRuntimes.map((runtime) => [runtime.name, runtime] as const))(
  'under random faults on %s every outcome agrees with the ledger',
  async (_, runtime) => {
    const { code, output } = await spawnChaos(runtime);
    expect(output).toMatch(/^0 violations in /m);
    expect(code).toBe(0);
  },
);

test.each(
  otherRuntimes.flatMap((runtime) =>
    runtimeMutants
      .filter(({ on }) => on.some((name) => runtime.name.startsWith(name)))
      .map(({ name }) => [runtime.name, name, runtime] as const),
  ),
)('the chaos test on %s finds the planted mistake: %s', (_, name, runtime) =>
  expectViolation(runtime, name),
);
