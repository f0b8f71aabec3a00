import { afterEach, vi } from 'vitest';
import { checkDescribedResponses } from './support/described.ts';

// Files of one worker share its globals, and Vitest removes stubs only before the next test: the
// next file would be imported with the stubs of the last test.
afterEach(() => {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

// The validator of the responses generates code, which full/no-eval.test.ts forbids.
if (
  !process.execArgv
    .concat(process.env['NODE_OPTIONS'] ?? '')
    .join()
    .includes('--disallow-code')
)
  checkDescribedResponses();
