import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import * as sdk from '../../src/index.ts';
import { described, runChaos } from './chaos.ts';
import { changedFiles, variants, type Variant } from './mutants.ts';
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
  },
);

test('there are at least eight wrong policies, and each applies to the source', () => {
  expect(variants.filter(({ expected }) => expected === 'dies').length).toBeGreaterThan(8);
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

async function holds(runtime: Runtime, { name, expected }: Variant): Promise<void> {
  // A wrong policy ends the run at its first violation, long before it has played this many.
  const runs = expected === 'dies' ? '3000' : '300';
  const { code, output } = await chaos(runtime, '--mutant', name, '--runs', runs, '--bail');
  // The exit code alone could be that of a script that does not start.
  expect(output).toMatch(expected === 'dies' ? /^VIOLATION /m : /^0 violations in /m);
  expect(code).toBe(expected === 'dies' ? 1 : 0);
}

const onNode = variants.filter(({ on }) => on.includes('node'));

test.concurrent.each(onNode.map((variant) => [variant.name, variant] as const))(
  'chaos on a copy in which %s',
  { timeout: 180_000 },
  (_, variant) => holds(node, variant),
);

test.each(givenRuntimes.map((runtime) => [runtime.name, runtime] as const))(
  '300 random plans on %s',
  { timeout: 180_000 },
  async (_, runtime) => {
    const { code, output } = await chaos(runtime);
    expect(output).toMatch(/^0 violations in /m);
    expect(code).toBe(0);
  },
);

// What is wrong only in how Bun or Deno is spoken to.
const elsewhere = givenRuntimes.flatMap((runtime) =>
  variants
    .filter(({ on }) => !on.includes('node') && on.some((name) => runtime.name.startsWith(name)))
    .map((variant) => [runtime.name, variant.name, runtime, variant] as const),
);

test.each(elsewhere)(
  'chaos on %s, on a copy in which %s',
  { timeout: 180_000 },
  (_, __, runtime, variant) => holds(runtime, variant),
);
