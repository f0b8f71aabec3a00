import { expect, test } from 'vitest';
import { explore, type Bounds } from './once-explorer.ts';

// test/full/proof.test.ts explores larger bounds.
test.each<Bounds & { atLeast: number }>([
  { callers: 2, calls: 1, faults: 0, atLeast: 500 },
  { callers: 1, calls: 3, faults: 1, atLeast: 6_000 },
  { callers: 1, calls: 3, faults: 0, isBounded: true, atLeast: 500 },
  {
    callers: 2,
    calls: 1,
    faults: 0,
    isBounded: true,
    forgets: true,
    hasSince: true,
    isShared: true,
    atLeast: 500,
  },
  { callers: 1, calls: 2, faults: 0, hasOperator: true, atLeast: 500 },
  { callers: 1, calls: 2, faults: 0, isAhead: true, atLeast: 300 },
  { callers: 1, calls: 2, faults: 0, isRewritten: true, atLeast: 300 },
  { callers: 1, calls: 2, faults: 0, isAmbiguous: true, hasOperator: true, atLeast: 500 },
  { callers: 1, calls: 2, faults: 1, isRestored: true, forgets: true, atLeast: 500 },
  {
    callers: 1,
    calls: 2,
    faults: 0,
    isRestored: true,
    forgets: true,
    isAmbiguous: true,
    hasOperator: true,
    atLeast: 800,
  },
])(
  'callers never make two payments, in any order: %o',
  async ({ atLeast, ...bounds }) => {
    const { states, violation } = await explore(bounds);
    expect(violation).toBeUndefined();
    expect(states).toBeGreaterThan(atLeast);
  },
  // An exploration needs 12 s of CPU, which is 40 s on a machine that runs other tests as well.
  120_000,
);
