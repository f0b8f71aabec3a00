import type { Bounds } from '../money/once-explorer.ts';

/** The bounds that `npm run proof` explores. docs/proof.md has the number of their states. */
export const explored: readonly Bounds[] = [
  { callers: 2, calls: 1, faults: 1 },
  { callers: 1, calls: 2, faults: 2 },
  { callers: 2, calls: 1, faults: 1, forgets: true },
  { callers: 2, calls: 1, faults: 1, isBounded: true },
  {
    ...{ callers: 1, calls: 2, faults: 1 },
    ...{ isBounded: true, forgets: true, hasSince: true, isShared: true },
  },
  { callers: 1, calls: 2, faults: 1, isAhead: true },
  { callers: 1, calls: 2, faults: 1, isRewritten: true },
  { callers: 1, calls: 2, faults: 1, isRestored: true, forgets: true },
  { callers: 1, calls: 2, faults: 0, isBounded: true, hasOperator: true },
];
