// Module systems beyond the rows of the matrix: Jest, both copies in one program, what the tarball
// holds, and what publint and attw say of it.
import { isBuiltin } from 'node:module';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { importedNames, nodeImports } from './bundles.mjs';
import { binaries } from './runtimes.mjs';
import { modules, mustRun, run } from './setup.mjs';

/** The story as a test of somebody who uses Jest, which has its own globals and no ES modules. */
export async function jestRow(consumer, platform) {
  const world = await platform.open();
  const results = join(consumer, 'jest-results.json');
  writeFileSync(
    join(consumer, 'story.test.cjs'),
    `const fs = require('node:fs');
const finish = require('./story/side-effects.cjs').watch();
const sdk = require('payments-platform-sdk');
const { Sandbox } = require('payments-platform-sdk/sandbox');
const sideEffects = finish();
const { story } = require('./story/story.cjs');
test('the story', async () => {
  const told = await story({ sdk, Sandbox, world: ${JSON.stringify(world)}, sideEffects });
  fs.writeFileSync(${JSON.stringify(results)}, JSON.stringify(told));
}, 60000);
`,
  );
  writeFileSync(
    join(consumer, 'jest.config.cjs'),
    `module.exports = { testMatch: ['<rootDir>/story.test.cjs'], transform: {}, watchman: false };\n`,
  );
  const jest = join(modules, 'jest/bin/jest.js');
  const { code, stderr } = await run(
    binaries.node24,
    ['--no-experimental-require-module', jest, '--ci', '--runInBand'],
    { cwd: consumer },
  );
  const told = existsSync(results) ? JSON.parse(readFileSync(results, 'utf8')) : { import: stderr };
  if (code !== 0 && told.import === undefined) told.import = stderr;
  return { label: 'Jest 30.5.2 on Node 24.21.0, CJS', results: told, expected: {} };
}

/** An application whose parts load the ESM and the CJS build. */
export async function bothCopies(consumer) {
  const file = join(consumer, 'both.mjs');
  writeFileSync(
    file,
    `import { createRequire } from 'node:module';
import * as esm from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';
const require = createRequire(import.meta.url);
const cjs = require('payments-platform-sdk');
const cjsSandbox = require('payments-platform-sdk/sandbox').Sandbox;
const wrong = [];
const check = (holds, what) => { if (!holds) wrong.push(what); };
const classes = Object.keys(esm).filter((name) => /^[A-Z].*Error$/.test(name));
check(classes.length >= 15, 'only ' + classes.length + ' classes');
check(Object.keys(cjs).sort().join() === Object.keys(esm).sort().join(), 'other exports');
for (const [here, there, World] of [[esm, cjs, cjsSandbox], [cjs, esm, Sandbox]]) {
  check(here.PaymentsError !== there.PaymentsError, 'it is one copy');
  // A client of one copy over the sandbox of the other.
  const client = new here.PaymentsClient({ ...new World().clientOptions, maxRetries: 0 });
  const closed = { baseUrl: 'http://127.0.0.1:9/v0', apiKey: 'sk_x', maxRetries: 0 };
  const errors = {
    NotFoundError: await client.transfers.get('txfr_1').catch((error) => error),
    ValidationError: await client.transfers.get('x').catch((error) => error),
    AbortError: await client.transfers.get('txfr_1', { signal: AbortSignal.abort() }).catch((error) => error),
    ConnectionError: await new here.PaymentsClient(closed).transfers.get('txfr_1').catch((error) => error),
  };
  try { new here.PaymentsClient({ baseUrl: 'nonsense' }); } catch (error) { errors.ConfigurationError = error; }
  const parents = { NotFoundError: ['ApiError'] };
  for (const [name, error] of Object.entries(errors)) {
    const are = ['PaymentsError', name, ...(parents[name] ?? [])].sort().join();
    const seen = classes.filter((each) => error instanceof there[each]).sort().join();
    check(are === seen, name + ' is taken for ' + seen);
    check(there.isPaymentsError(error), name + ': isPaymentsError');
    check(there.isApiError(error) === (name === 'NotFoundError'), name + ': isApiError');
    check(error.name === name, 'name ' + error.name);
  }
  for (const impostor of [new Error('x'), { name: 'ApiError' }, null]) {
    check(!there.isPaymentsError(impostor), 'an impostor passes');
  }
}
console.log(wrong.join('\\n') || 'AGREED');
`,
  );
  const { code, stdout, stderr } = await run(binaries.node24, [file], { cwd: consumer });
  const ok = code === 0 && stdout.trim() === 'AGREED';
  return [{ name: 'the ESM and the CJS copy agree', ok, detail: stdout + stderr }];
}

/** The entry points and the command, types included. */
function entries(installed) {
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  return [
    ...Object.values(manifest.exports).flatMap(strings),
    ...Object.values(manifest.bin),
    manifest.main,
    manifest.types,
  ];
}

/** Files, and all that they lead to. */
function reached(installed, files) {
  const todo = files.map((path) => join(installed, path));
  const seen = new Set();
  for (let file = todo.pop(); file !== undefined; file = todo.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    if (file.endsWith('.json')) continue;
    const text = readFileSync(file, 'utf8');
    for (const [, path] of text.matchAll(
      /(?:\bfrom|\bimport|\brequire\()\s*\(?["'](\.[^"']+)["']/g,
    )) {
      todo.push(sibling(file, path));
    }
  }
  return seen;
}

/** A declaration names the script beside it. */
function sibling(file, path) {
  const found = join(dirname(file), path);
  if (!/\.d\.c?ts$/.test(file)) return found;
  return found.replace(/\.(c?)js$/, '.d.$1ts');
}

const strings = (value) =>
  typeof value === 'string' ? [value] : Object.values(value).flatMap(strings);

/** What the tarball holds: the texts and guides, and in dist what something leads to. */
export function contents(installed) {
  const files = readdirSync(installed, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(installed, join(entry.parentPath, entry.name)));
  const texts = [
    ...['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'],
    ...['ky', 'zod', 'preact'].map((name) => `dist/${name}-license.txt`),
    'dist/sbom.cdx.json',
  ];
  const wanted = reached(installed, entries(installed));
  const isGuide = (file) => /^docs\/([\w-]+\.md|images\/[\w-]+\.png)$|^examples\//.test(file);
  const useless = files.filter(
    (file) => !texts.includes(file) && !isGuide(file) && !wanted.has(join(installed, file)),
  );
  const missing = [
    ...texts.filter((file) => !files.includes(file)),
    ...[...wanted].filter((file) => !existsSync(file)),
  ];
  const door = reached(installed, ['dist/index.js', 'dist/index.cjs']);
  const ofNode = [...door].flatMap((file) => nodeImports(readFileSync(file, 'utf8')));
  const code = files.filter((file) => /\.c?js$/.test(file));
  const others = [
    ...new Set(code.flatMap((file) => importedNames(readFileSync(join(installed, file), 'utf8')))),
  ].filter((name) => !isBuiltin(name) && !name.startsWith('payments-platform-sdk'));
  return [
    { name: 'the tarball holds nothing useless', ok: useless.length === 0, detail: useless.join() },
    { name: 'the tarball lacks nothing', ok: missing.length === 0, detail: missing.join() },
    {
      name: 'ky and zod are built in, and nothing but msw is imported from others',
      ok: others.join() === 'msw',
      detail: others.join(),
    },
    {
      name: 'the main entry point imports nothing of Node',
      ok: ofNode.length === 0,
      detail: ofNode.join(),
    },
  ];
}

/** publint and attw, on the tarball. */
export async function packageTools(tarball) {
  const tools = [
    ['publint', 'publint/src/cli.js', 'run', tarball, '--strict'],
    ['attw', '@arethetypeswrong/cli/dist/index.js', tarball, '--profile', 'node16', '-q'],
  ];
  const checks = [];
  for (const [name, script, ...args] of tools) {
    const { code, stdout, stderr } = await run(process.execPath, [join(modules, script), ...args]);
    checks.push({ name: `${name} reports nothing`, ok: code === 0, detail: stdout + stderr });
  }
  return checks;
}

/** An empty folder, the tarball, the first block of the README, and the runtimes people have. */
export async function asNewUser({ folder, tarball, installed }) {
  const own = join(folder, 'new-user');
  mkdirSync(own);
  await mustRun('npm', ['init', '-y', '--silent'], { cwd: own });
  await mustRun('npm', ['install', '--no-audit', '--no-fund', tarball], { cwd: own });
  const added = readdirSync(join(own, 'node_modules')).filter((name) => !name.startsWith('.'));
  const readme = readFileSync(join(installed, 'README.md'), 'utf8');
  writeFileSync(join(own, 'pay.mts'), readme.match(/^```ts\n([\s\S]*?)^```$/m)?.[1] ?? '');
  const checks = [
    {
      name: 'npm adds one package',
      ok: added.join() === 'payments-platform-sdk',
      detail: added.join(),
    },
  ];
  for (const name of ['node22', 'bun']) {
    const { code, stdout, stderr } = await run(binaries[name], ['pay.mts'], { cwd: own });
    const ok = code === 0 && /^txfr_\d+ pending$/m.test(stdout);
    checks.push({ name: `a new user runs the README, ${name}`, ok, detail: stdout + stderr });
  }
  return checks;
}
