import { relative } from 'node:path';
import { afterEach, expect, vi } from 'vitest';
import type { openRegistry } from '../src/internal/doubt-registry.ts';
import { printedWarnings } from '../src/internal/runtime.ts';
import { checkDescribedResponses } from './support/described.ts';
import { isExpected } from './support/warnings.ts';

// Files of one worker share its globals, and Vitest removes stubs only before the next test: the
// next file would be imported with the stubs of the last test.
afterEach(() => {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

// A test fails if it causes a warning that it neither reads by a spy nor expects in support/warnings.ts.
const unexpected: string[] = [];
// oxlint-disable-next-line no-console -- the SDK prints its warnings with it
console.warn = (...parts: unknown[]): void => {
  const file = relative(import.meta.dirname, expect.getState().testPath ?? '').replaceAll(
    '\\',
    '/',
  );
  const text = parts.join(' ');
  if (!isExpected(file, text)) unexpected.push(text);
};
afterEach(() => {
  // The SDK prints each text once, but the order of the tests may not decide which test prints it.
  printedWarnings.clear();
  expect(unexpected.splice(0), 'unexpected warnings of the SDK').toEqual([]);
});

// All clients of a worker share the payments in doubt, which would warn of equal payments of the next test.
afterEach(() => {
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
