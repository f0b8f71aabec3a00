import { expect, test } from 'vitest';
import { explore, type Bounds } from '../money/once-explorer.ts';

// Two callers and an operator have 117,000 states and take a minute: by hand, test/proof/find.ts.
test.each<Bounds & { atLeast: number }>([
  { callers: 1, calls: 1, faults: 1, hasOperator: true, atLeast: 1_000 },
  {
    callers: 1,
    calls: 2,
    faults: 0,
    hasOperator: true,
    isRestored: true,
    forgets: true,
    atLeast: 15_000,
  },
  {
    callers: 1,
    calls: 1,
    faults: 1,
    hasOperator: true,
    isRestored: true,
    forgets: true,
    atLeast: 15_000,
  },
  {
    callers: 1,
    calls: 2,
    faults: 1,
    isAmbiguous: true,
    hasOperator: true,
    forgets: true,
    atLeast: 1_000,
  },
])('callers and an operator never pay twice, in any order: %o', async ({ atLeast, ...bounds }) => {
  const { states, violation } = await explore(bounds);
  expect(violation).toBeUndefined();
  expect(states).toBeGreaterThan(atLeast);
});
