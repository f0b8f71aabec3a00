// Jest, both copies in one program, the contents of the tarball, publint and attw.
import { isBuiltin } from 'node:module';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { findImports, findNodeImports } from './bundles.mjs';
import { binaries } from './runtimes.mjs';
import { modules, mustRun, run } from './setup.mjs';

/** The story as a test in Jest, which has separate globals and no ES modules. */
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
  const results = await story({ sdk, Sandbox, world: ${JSON.stringify(world)}, sideEffects });
  fs.writeFileSync(${JSON.stringify(results)}, JSON.stringify(results));
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
  const output = existsSync(results)
    ? JSON.parse(readFileSync(results, 'utf8'))
    : { import: stderr };
  if (code !== 0 && output.import === undefined) output.import = stderr;
  return { label: 'Jest 30.5.2 on Node 24.21.0, CJS', results: output, expected: {} };
}

/** Checks that Jest's automock finds the methods of a namespace. */
export async function checkAutomock(consumer) {
  const folder = join(consumer, 'automock');
  mkdirSync(folder);
  writeFileSync(
    join(folder, 'automock.test.cjs'),
    `jest.mock('payments-platform-sdk');
const { PaymentsClient } = require('payments-platform-sdk');
test.each([['transfers', 'createOnce'], ['accounts', 'list'], ['instructions', 'build']])('%s.%s', async (noun, method) => {
  const payments = new PaymentsClient();
  expect(jest.isMockFunction(payments[noun][method])).toBe(true);
  payments[noun][method].mockResolvedValue({ id: 'mocked' });
  expect(await payments[noun][method]({})).toEqual({ id: 'mocked' });
});`,
  );
  writeFileSync(
    join(folder, 'jest.config.cjs'),
    `module.exports = { testMatch: ['<rootDir>/automock.test.cjs'], transform: {}, watchman: false };\n`,
  );
  const jest = join(modules, 'jest/bin/jest.js');
  const { code, stderr } = await run(binaries.node24, [jest, '--ci', '--runInBand'], {
    cwd: folder,
  });
  return [
    { name: "Jest's automock has the methods of a namespace", ok: code === 0, detail: stderr },
  ];
}

/** Checks an application that loads the ESM and the CJS build. */
export async function checkBothCopies(consumer) {
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

/** Paths of the entry points and the command, types included. */
function findEntries(installed) {
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  return [
    ...Object.values(manifest.exports).flatMap(collectStrings),
    ...Object.values(manifest.bin),
    manifest.main,
    manifest.types,
  ];
}

/** Files and everything that they import. */
function findReachable(installed, files) {
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
      todo.push(resolveImport(file, path));
    }
  }
  return seen;
}

/** Resolves an import. A declaration names the script beside it. */
function resolveImport(file, path) {
  const target = join(dirname(file), path);
  if (!/\.d\.c?ts$/.test(file)) return target;
  return target.replace(/\.(c?)js$/, '.d.$1ts');
}

const collectStrings = (value) =>
  typeof value === 'string' ? [value] : Object.values(value).flatMap(collectStrings);

/** Checks that the tarball holds documents, guides and every reachable file of dist only. */
export function checkContents(installed) {
  const files = readdirSync(installed, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(installed, join(entry.parentPath, entry.name)));
  const documents = [
    ...['CHANGELOG.md', '.github/SECURITY.md', 'LICENSE', 'README.md', 'package.json'],
    ...['ky', 'zod', 'preact'].map((name) => `dist/${name}-license.txt`),
    'dist/llms.txt',
    'dist/sbom.cdx.json',
  ];
  const reachable = findReachable(installed, findEntries(installed));
  const isGuide = (file) =>
    /^docs\/([\w-]+\.md|images\/[\w-]+\.(png|svg)|monitoring\/[\w-]+\.(yml|json))$|^examples\//.test(
      file,
    );
  // Resolvers that read no `exports` find an entry point by its folder.
  const isFolder = (file) =>
    /^(journals|openapi\.json|sandbox(\/\w+)?|schemas)\/package\.json$/.test(file);
  const useless = files.filter(
    (file) =>
      !documents.includes(file) &&
      !isGuide(file) &&
      !isFolder(file) &&
      !reachable.has(join(installed, file)),
  );
  const missing = [
    ...documents.filter((file) => !files.includes(file)),
    ...[...reachable].filter((file) => !existsSync(file)),
  ];
  const mainFiles = findReachable(installed, ['dist/index.js', 'dist/index.cjs']);
  const nodeImports = [...mainFiles].flatMap((file) => findNodeImports(readFileSync(file, 'utf8')));
  const code = files.filter((file) => /\.c?js$/.test(file));
  const others = [
    ...new Set(code.flatMap((file) => findImports(readFileSync(join(installed, file), 'utf8')))),
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
      ok: nodeImports.length === 0,
      detail: nodeImports.join(),
    },
  ];
}

/** publint and attw, on the tarball. */
export async function runPackageTools(tarball) {
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

/** Installs the tarball in an empty folder and runs the first block of the README. */
export async function checkNewUser({ folder, tarball, installed }) {
  const project = join(folder, 'new-user');
  mkdirSync(project);
  await mustRun('npm', ['init', '-y', '--silent'], { cwd: project });
  await mustRun('npm', ['install', '--no-audit', '--no-fund', tarball], { cwd: project });
  const added = readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'));
  const readme = readFileSync(join(installed, 'README.md'), 'utf8');
  writeFileSync(join(project, 'pay.mts'), readme.match(/^```ts\n([\s\S]*?)^```$/m)?.[1] ?? '');
  const checks = [
    {
      name: 'npm adds one package',
      ok: added.join() === 'payments-platform-sdk',
      detail: added.join(),
    },
  ];
  for (const name of ['node22', 'bun']) {
    const { code, stdout, stderr } = await run(binaries[name], ['pay.mts'], { cwd: project });
    const ok = code === 0 && /^txfr_000006 pending$/m.test(stdout);
    checks.push({ name: `a new user runs the README, ${name}`, ok, detail: stdout + stderr });
  }
  return checks;
}
