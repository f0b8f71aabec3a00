import { expect, test } from 'vitest';
import { explore } from '../money/once-explorer.ts';
import { explored } from '../proof/explored.ts';

test.each(explored)('callers never pay twice in any order: %o', async ({ atLeast, ...bounds }) => {
  const { states, violation } = await explore(bounds);
  expect(violation).toBeUndefined();
  expect(states).toBeGreaterThan(atLeast);
});
