import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

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

const source = (path: string) => fileURLToPath(new URL(`../src/${path}`, import.meta.url));

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  resolve: {
    // Tests read the package by its public names and run its source.
    alias: {
      'payments-platform-sdk/schemas': source('schemas/index.ts'),
      'payments-platform-sdk/sandbox/server': source('sandbox/server.ts'),
      'payments-platform-sdk/sandbox/msw': source('sandbox/msw.ts'),
      'payments-platform-sdk/sandbox': source('sandbox/index.ts'),
      'payments-platform-sdk': source('index.ts'),
    },
  },
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/runtimes/**', 'test/bench/**'],
    // Tests of types are what the compiler says of them.
    typecheck: { enabled: true, include: ['test/**/*.test-d.ts', 'test/types/*.test.ts'] },
    // A busy machine takes six times as long for some, above all where coverage is counted.
    testTimeout: 120_000,
    expect: { poll: { timeout: 10_000 } },
    // Stubbed environments would change what a client reads at construction.
    unstubEnvs: true,
    unstubGlobals: true,
    restoreMocks: true,
    coverage: {
      provider: 'v8',
      include: ['src/**'],
      thresholds: { lines: 95, branches: 95 },
      reporter: ['text-summary', ['text', { skipFull: true }]],
    },
  },
});
