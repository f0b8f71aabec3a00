import { expect, test } from 'vitest';
import { explore, type Bounds } from '../money/once-explorer.ts';

test.each<Bounds & { atLeast: number }>([
  { callers: 2, calls: 1, faults: 0, hasOperator: true, atLeast: 500 },
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
])(
  'callers and an operator never pay twice, in any order: %o',
  async ({ atLeast, ...bounds }) => {
    const { states, violation } = await explore(bounds);
    expect(violation).toBeUndefined();
    expect(states).toBeGreaterThan(atLeast);
    // Two callers and an operator take a minute alone, and longer beside other tests.
  },
  300_000,
);
