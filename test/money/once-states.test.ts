import { expect, test } from 'vitest';
import { explore, type Bounds } from '../proof/explorer.ts';

const one = { callers: 1, calls: 2 };
const two = { callers: 2, calls: 1 };

// `npm run proof` and test/full/proof.test.ts go deeper, with a batch, an operator and a busy list.
test.each<Bounds>([
  { ...two, faults: 0 },
  { ...one, faults: 1 },
  { ...two, faults: 0, searchesFirst: true, loses: true },
  { ...one, faults: 0, searchesFirst: true, isRestored: true },
  { ...two, faults: 0, gracePeriods: [300_000, 900_000] },
  { ...one, faults: 0, hasFallback: true },
  { ...one, faults: 0, isAhead: true },
  { ...one, faults: 0, isBusy: true },
])(
  'callers never make two payments, in any order: %o',
  async (bounds) => {
    const { states, violation } = await explore(bounds);
    expect(violation).toBeUndefined();
    expect(states).toBeGreaterThan(100);
  },
  // An exploration takes up to 2 s of CPU, which is long on a machine that runs other tests as well.
  120_000,
);
