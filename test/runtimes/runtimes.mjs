// The rows of the matrix: one story on every runtime, in every module system that it has.
import { cpSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { here, modules, run } from './setup.mjs';

export const binaries = {
  node20: join(modules, 'node20/bin/node'),
  node22: join(modules, 'node22/bin/node'),
  node24: join(modules, 'node24/bin/node'),
  node26: join(modules, 'node26/bin/node'),
  bun: join(modules, '@oven/bun-linux-x64/bin/bun'),
  deno: join(modules, '@deno/linux-x64-glibc/deno'),
};

const without = '--no-experimental-require-module';
const node = (name, version, expected = {}) => [
  { label: `Node ${version}`, system: 'ESM', binary: binaries[name], args: [], expected },
  { label: `Node ${version}`, system: 'CJS', binary: binaries[name], args: [without], expected },
];

/** The runtimes, with the expected results that are not `yes`. */
const rows = [
  // Older than the engines of the package. It runs without JSON.rawJSON.
  ...node('node20', '20.20.2 (courtesy)', { 'big integers': 'no: number' }),
  ...node('node22', '22.23.3'),
  ...node('node24', '24.21.0'),
  ...node('node26', '26.10.0'),
  { label: 'Bun 1.4.5', system: 'ESM', binary: binaries.bun, args: [] },
  { label: 'Bun 1.4.5', system: 'CJS', binary: binaries.bun, args: [] },
  ...['ESM', 'CJS'].map((system) => ({
    label: 'Deno 2.9.6',
    system,
    binary: binaries.deno,
    args: ['run', '-A', '--cached-only', '--no-lock'],
  })),
];

/** Copies the story beside the installed package, as ES modules and bundled to CommonJS. */
export async function copyStory(consumer) {
  const { build } = await import('esbuild');
  const target = join(consumer, 'story');
  mkdirSync(join(target, 'entries'), { recursive: true });
  for (const file of ['story.mjs', 'side-effects.mjs', 'permissions.mjs', 'entries']) {
    cpSync(join(here, file), join(target, file), { recursive: true });
  }
  await build({
    entryPoints: [join(target, 'entries/node.mjs')],
    outfile: join(target, 'node.cjs'),
    bundle: true,
    format: 'cjs',
    platform: 'node',
    packages: 'external',
    // Turns import() into require().
    supported: { 'dynamic-import': false },
    logLevel: 'error',
  });
  await build({
    entryPoints: ['story.mjs', 'side-effects.mjs'].map((file) => join(target, file)),
    outdir: target,
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    logLevel: 'error',
  });
  return target;
}

/** Runs the story in a process, and returns its results. */
export async function readResults(binary, args, { world, cwd }) {
  const env = { ...process.env, RUNTIMES_WORLD: JSON.stringify(world), NO_COLOR: '1' };
  for (const name of Object.keys(env)) if (name.startsWith('PAYMENTS_')) delete env[name];
  const { code, stdout, stderr } = await run(binary, args, { cwd, env, timeout: 60_000 });
  const line = stdout.match(/^RESULTS (.*)$/m)?.[1];
  if (line === undefined || code !== 0) return { import: `ended with ${code}: ${stdout}${stderr}` };
  return JSON.parse(line);
}

export async function processRows(consumer, platform) {
  const measured = [];
  for (const { label, system, binary, args, expected = {} } of rows) {
    const file = system === 'ESM' ? 'story/entries/node.mjs' : 'story/node.cjs';
    const results = await readResults(binary, [...args, file], {
      world: await platform.open(),
      cwd: consumer,
    });
    measured.push({ label: `${label}, ${system}`, results, expected });
  }
  return measured;
}

/** workerd, through miniflare, from a bundle as a Worker is deployed. */
export async function workerRow(consumer, platform) {
  const [{ build }, { Miniflare }] = await Promise.all([import('esbuild'), import('miniflare')]);
  const { outputFiles } = await build({
    entryPoints: [join(consumer, 'story/entries/worker.mjs')],
    bundle: true,
    write: false,
    format: 'esm',
    conditions: ['workerd', 'worker', 'browser'],
    logLevel: 'error',
  });
  const measured = [];
  for (const flags of [[], ['nodejs_compat']]) {
    const worker = new Miniflare({
      modules: true,
      script: outputFiles[0].text,
      compatibilityDate: '2026-07-30',
      compatibilityFlags: flags,
    });
    const label = ['workerd 1.20260730.1', ...flags].join(', ');
    const expected = { 'GET with body': 'rejected' };
    let results;
    try {
      const body = JSON.stringify(await platform.open());
      const response = await worker.dispatchFetch('http://worker/', { method: 'POST', body });
      const text = await response.text();
      results = response.ok ? JSON.parse(text) : { import: text };
    } catch (error) {
      results = { import: String(error) };
    } finally {
      await worker.dispose();
    }
    measured.push({ label, results, expected });
  }
  return measured;
}

/** The URL of the installed package, not of the package nearest to the script. */
function entryOf(consumer) {
  const entry = createRequire(join(consumer, 'a.mjs')).resolve('payments-platform-sdk');
  return pathToFileURL(entry.replace(/\.cjs$/, '.js')).href;
}

/** Writes over dying connections, on runtimes that may repeat them. */
export async function checkSealing(consumer) {
  const checks = [];
  const script = join(here, 'sealing.mjs');
  const control = join(here, '../drivers/sealing.ts');
  const url = entryOf(consumer);
  for (const name of ['node22', 'node26', 'bun', 'deno']) {
    const args = name === 'deno' ? ['run', '-A', '--no-lock'] : [];
    const { code, stdout, stderr } = await run(binaries[name], [...args, script, url]);
    const right = stdout.match(/^right /gm)?.length ?? 0;
    const ok = code === 0 && right === 12;
    checks.push({ name: `a write arrives once, ${name}`, ok, detail: `${stdout}${stderr}` });
    if (name.startsWith('node')) continue;
    // Proves that a repeated write would be found.
    const bare = [...args, control, '--mutant', 'nothing is sealed'];
    const unsealed = await run(binaries[name], bare);
    checks.push({
      name: `and more than once when nothing is sealed, ${name}`,
      ok: unsealed.code !== 0 && /^WRONG DELETE, FIN: [2-9] arrivals/m.test(unsealed.stdout),
      detail: `${unsealed.stdout}${unsealed.stderr}`,
    });
  }
  return checks;
}

/** Checks every transport on every runtime, and the interceptions on Node. */
export async function checkTransports(consumer) {
  const url = entryOf(consumer);
  const checks = [];
  const check = async (runtime, script, what, expectedLines) => {
    const args = runtime === 'deno' ? ['run', '-A', '--no-lock'] : [];
    const { code, stdout, stderr } = await run(binaries[runtime], [
      ...args,
      join(here, script),
      url,
    ]);
    const ok = code === 0 && expectedLines.every((line) => line.test(stdout));
    checks.push({ name: `${what}, ${runtime}`, ok, detail: `${stdout}${stderr}` });
  };
  for (const runtime of ['node22', 'node24', 'node26', 'bun', 'deno']) {
    const names = runtime.startsWith('node')
      ? ['node:http', 'Node’s own fetch, given', 'a fetch that was given']
      : ['the runtime’s fetch', 'a fetch that was given', 'a global fetch that was replaced'];
    const bodied = ['node:http', 'a getWithBody that was given'];
    const expectedLines = [
      ...names.map((name) => new RegExp(`^tried 3\\d on ${name}$`, 'm')),
      ...bodied.map((name) => new RegExp(`^tried [23]\\d on GET with a body over ${name}$`, 'm')),
    ];
    await check(runtime, 'transports.mjs', 'every way out behaves alike', expectedLines);
  }
  const catches = ['msw', 'a proxy'];
  for (const runtime of ['node22', 'node24', 'node26']) {
    const expectedLines = catches.map((name) => new RegExp(`^caught by ${name}`, 'm'));
    await check(runtime, 'interception.mjs', 'mocks and proxies catch every call', expectedLines);
  }
  const withheld = {
    node26: ['--permission', `--allow-fs-read=${consumer}`],
    deno: ['run', '--no-prompt', '--no-lock', '--cached-only'],
  };
  for (const [runtime, args] of Object.entries(withheld)) {
    const script = join(consumer, 'story/permissions.mjs');
    const { stdout, stderr } = await run(binaries[runtime], [...args, script], { cwd: consumer });
    const ok = stdout.match(/^right /gm)?.length === 6;
    const name = `what a runtime does not permit is not sent, ${runtime}`;
    checks.push({ name, ok, detail: `${stdout}${stderr}` });
  }
  return checks;
}
