import type { Bounds } from '../money/once-explorer.ts';

/** The bounds that `npm run proof` explores, each with the least number of states to expect. */
export const explored: readonly (Bounds & { readonly atLeast: number })[] = [
  { callers: 2, calls: 1, faults: 1, atLeast: 40_000 },
  { callers: 1, calls: 2, faults: 2, atLeast: 28_000 },
  { callers: 2, calls: 1, faults: 1, forgets: true, atLeast: 50_000 },
  { callers: 2, calls: 1, faults: 1, isBounded: true, atLeast: 40_000 },
  {
    ...{ callers: 1, calls: 2, faults: 1 },
    ...{ isBounded: true, forgets: true, hasSince: true, isShared: true, atLeast: 3_500 },
  },
  { callers: 1, calls: 2, faults: 1, isAhead: true, atLeast: 6_000 },
  { callers: 1, calls: 2, faults: 1, isRewritten: true, atLeast: 6_000 },
  { callers: 1, calls: 2, faults: 1, isRestored: true, forgets: true, atLeast: 18_000 },
  { callers: 1, calls: 2, faults: 0, isBounded: true, hasOperator: true, atLeast: 10_000 },
];
