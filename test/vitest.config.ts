import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vitest/config';
import kyStandIns from '../src/transports/ky-stand-ins.json' with { type: 'json' };
import { changedFiles } from './mutants/apply.ts';
import { mutants } from './mutants/mutants.ts';

/** Settings of the machine that must not affect the tests and their child processes. */
const machineVariables = [
  'FORCE_COLOR',
  'NODE_USE_ENV_PROXY',
  'PAYMENTS_BASE_URL',
  'PAYMENTS_ROOT_URL',
  'PAYMENTS_API_KEY',
  'PAYMENTS_JWT',
];
for (const name of machineVariables) delete process.env[name];

/** With slashes on Windows, too, because paths become imports and patterns. */
const resolvePath = (path: string) =>
  fileURLToPath(new URL(path, import.meta.url)).replaceAll('\\', '/');

/** Slow tests, which take minutes and need one process for each file. */
const full = ['full', 'repository', 'proxies'].map((folder) => `test/${folder}/**/*.test.ts`);

/** The slow tests that run the stores of a server and the commands, which the core does not. */
const covered = [
  'test/full/{journals,postgres,new-stores,migrate,{journal,probe,sandbox}-bin,sandbox-state}.test.ts',
];
const hasCoverage = process.argv.includes('--coverage');

// `npm run mutants` replaces files of the source in memory.
const mutantName = process.env['PAYMENTS_SDK_MUTANT'] ?? '';
const mutant = mutantName.startsWith('random ')
  ? (await import('./mutants/random.ts')).readRandom(mutantName)
  : mutants.find(({ name }) => name === mutantName);
const mutated = mutant === undefined ? new Map<string, string>() : changedFiles(mutant);
const mutantPlugin: Plugin = {
  name: 'mutant',
  enforce: 'pre',
  load: (id) => mutated.get(id),
  configureVitest({ defineCacheKeyGenerator }) {
    // Vitest caches transformed files by path and content on the disk.
    defineCacheKeyGenerator(({ id }) => (mutated.has(id) ? false : undefined));
  },
};

/** Gives ky the same stand-ins as the build does. */
const inKy = new RegExp(kyStandIns.importer);
const kyPlugin: Plugin = {
  name: 'stand-ins for ky',
  enforce: 'pre',
  resolveId: (source, importer = '') =>
    inKy.test(importer) && source.startsWith('.') && source !== kyStandIns.kept
      ? resolvePath('../src/transports/ky-modules.ts')
      : undefined,
  transform(code, id) {
    if (!inKy.test(id)) return undefined;
    let text = code;
    for (const [name, standIn] of Object.entries(kyStandIns.globals)) {
      text = text.replaceAll(name, standIn);
    }
    const file = JSON.stringify(resolvePath('../src/transports/ky-globals.ts'));
    return `import { KyHeaders, KyRequest, KyResponse } from ${file};\n${text}`;
  },
};

const shared = {
  root: resolvePath('..'),
  resolve: {
    // Tests import the package by its public names and run its source.
    alias: {
      'payments-platform-sdk/schemas': resolvePath('../src/schemas/index.ts'),
      'payments-platform-sdk/journals': resolvePath('../src/journals/index.ts'),
      'payments-platform-sdk/sandbox/server': resolvePath('../src/sandbox/server.ts'),
      'payments-platform-sdk/sandbox/msw': resolvePath('../src/sandbox/msw.ts'),
      'payments-platform-sdk/sandbox': resolvePath('../src/sandbox/index.ts'),
      'payments-platform-sdk': resolvePath('../src/index.ts'),
    },
  },
};
const always = {
  // Vitest does not transform other packages.
  server: { deps: { inline: ['ky'] } },
  expect: { poll: { timeout: 10_000 } },
  unstubEnvs: true,
  unstubGlobals: true,
  restoreMocks: true,
};

// `npm test` runs the core; `npm run test:full` runs both projects, and collects the coverage before.
export default defineConfig({
  ...shared,
  // Every project inherits the plugin.
  plugins: [mutantPlugin, kyPlugin],
  test: {
    // Two workers, because by default Vitest leaves one of two cores idle.
    maxWorkers: 2,
    projects: [
      {
        ...shared,
        test: {
          ...always,
          name: 'core',
          include: ['test/**/*.test.ts', 'test/types/public.test-d.ts'],
          exclude: ['test/runtimes/**', 'test/bench/**', ...full],
          pool: 'threads',
          isolate: false,
          setupFiles: [resolvePath('setup.ts')],
          // Only a test that hangs takes this long. With 25 busy processes on two cores the longest takes a minute.
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        ...shared,
        test: {
          ...always,
          name: 'full',
          include: hasCoverage ? covered : full,
          pool: 'forks',
          isolate: true,
          // As above: a limit for a test that hangs, also on a machine that is ten times as slow.
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
    ],
    coverage: {
      provider: 'custom',
      customProviderModule: resolvePath('coverage.ts'),
      autoAttachSubprocess: true,
      include: ['src/**'],
      // test/full/page.test.ts runs these files in a browser.
      exclude: ['src/sandbox/page/*.{tsx,json}', 'src/sandbox/page/live.ts'],
      thresholds: { lines: 95, branches: 95 },
      reporter: ['text-summary', ['text', { skipFull: true }]],
    },
  },
});
