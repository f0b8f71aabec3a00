import { afterAll, afterEach, vi } from 'vitest';
import type { openRegistry } from '../src/internal/doubt-registry.ts';
import { checkDescribedResponses } from './support/described.ts';

// Files of one worker share its globals, and Vitest removes stubs only before the next test: the
// next file would be imported with the stubs of the last test.
afterEach(() => {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

// All clients of a worker share the payments in doubt, which would stop equal payments of the next file.
afterAll(() => {
  const registry: unknown = Reflect.get(globalThis, Symbol.for('payments-platform-sdk:doubts'));
  const { payments, inDoubt, dates } = (registry ?? {}) as Partial<ReturnType<typeof openRegistry>>;
  payments?.clear();
  inDoubt?.clear();
  dates?.clear();
});

// The validator of the responses generates code, which full/no-eval.test.ts forbids.
if (
  !process.execArgv
    .concat(process.env['NODE_OPTIONS'] ?? '')
    .join()
    .includes('--disallow-code')
)
  checkDescribedResponses();
