import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vitest/config';
import { changedFiles } from './mutants/apply.ts';
import { mutants } from './mutants/mutants.ts';

/** What a machine says of colours, proxies and a real platform is not for the tests and their children. */
const ofTheMachine = [
  'FORCE_COLOR',
  'NODE_USE_ENV_PROXY',
  'PAYMENTS_BASE_URL',
  'PAYMENTS_ROOT_URL',
  'PAYMENTS_API_KEY',
  'PAYMENTS_JWT',
];
for (const name of ofTheMachine) delete process.env[name];

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Sockets, processes, compilers and texts: minutes, and a process for each file. */
const full = ['full', 'repository', 'proxies'].map((folder) => `test/${folder}/**/*.test.ts`);

// Of `npm run mutants`: the tests are given another text than what is on the disk.
const mutant = mutants.find(({ name }) => name === process.env['PAYMENTS_SDK_MUTANT']);
const mutated = mutant === undefined ? new Map<string, string>() : changedFiles(mutant);
const plugin: Plugin = {
  name: 'mutant',
  enforce: 'pre',
  load: (id) => mutated.get(id),
  configureVitest({ defineCacheKeyGenerator }) {
    // Vitest keeps what it has transformed from run to run, by path and text on the disk.
    defineCacheKeyGenerator(({ id }) => (mutated.has(id) ? false : undefined));
  },
};

const shared = {
  root: file('..'),
  resolve: {
    // Tests read the package by its public names and run its source.
    alias: {
      'payments-platform-sdk/schemas': file('../src/schemas/index.ts'),
      'payments-platform-sdk/journals': file('../src/journals/index.ts'),
      'payments-platform-sdk/sandbox/server': file('../src/sandbox/server.ts'),
      'payments-platform-sdk/sandbox/msw': file('../src/sandbox/msw.ts'),
      'payments-platform-sdk/sandbox': file('../src/sandbox/index.ts'),
      'payments-platform-sdk': file('../src/index.ts'),
    },
  },
};
const always = {
  // A busy machine takes six times as long for some, above all where coverage is counted. A mutant may
  // wait for what never comes.
  testTimeout: mutant === undefined ? 120_000 : 60_000,
  expect: { poll: { timeout: 10_000 } },
  unstubEnvs: true,
  unstubGlobals: true,
  restoreMocks: true,
};

// `npm test` is the core; `npm run test:full` is both, and counts coverage.
export default defineConfig({
  ...shared,
  // Each project takes it from here.
  plugins: [plugin],
  test: {
    // By itself Vitest leaves one of two cores idle.
    maxWorkers: 2,
    projects: [
      {
        ...shared,
        test: {
          ...always,
          name: 'core',
          include: ['test/**/*.test.ts'],
          exclude: ['test/runtimes/**', 'test/bench/**', ...full],
          pool: 'threads',
          isolate: false,
          setupFiles: [file('setup.ts')],
        },
      },
      {
        ...shared,
        test: { ...always, name: 'full', include: full, pool: 'forks', isolate: true },
      },
    ],
    coverage: {
      provider: 'v8',
      include: ['src/**'],
      // They run in a browser: test/full/page.test.ts.
      exclude: [
        'src/sandbox/page/*.tsx',
        'src/sandbox/page/*.json',
        'src/sandbox/page/live.ts',
      ].concat(
        // What only another process or a database runs: test/full.
        ['src/sandbox/bin.ts', 'src/sandbox/command/**', 'src/journals/{postgres,redis}.ts'],
      ),
      thresholds: { lines: 95, branches: 95 },
      reporter: ['text-summary', ['text', { skipFull: true }]],
    },
  },
});
