import type { Bounds } from './world.ts';

/** An exploration, or random runs beyond what can be explored, and who runs it. */
export interface Explored {
  readonly bounds: Bounds;
  /** How many random runs, if the bounds are too large to explore. */
  readonly walks?: number;
  /** Only by `npm run proof -- --large`, because it takes minutes. */
  readonly isLarge?: boolean;
}

const one = { callers: 1, calls: 2 };
const two = { callers: 2, calls: 1 };
const forgets = { searchesFirst: true, loses: true };

/** What `npm run proof` explores. docs/proof.md has the number of the states. */
export const explored: readonly Explored[] = [
  { bounds: { ...two, faults: 1 } },
  { bounds: { ...one, faults: 2 } },
  { bounds: { ...two, faults: 0, isFirstPayment: true } },
  { bounds: { ...two, faults: 1, ...forgets } },
  { bounds: { ...two, faults: 0, ...forgets, hasBatch: true } },
  { bounds: { ...one, faults: 1, searchesFirst: true, isRestored: true } },
  { bounds: { ...two, faults: 0, gracePeriods: [300_000, 900_000] } },
  { bounds: { ...two, faults: 0, gracePeriods: [900_000, 300_000] } },
  { bounds: { ...one, faults: 0, hasOperator: true, hasForce: true } },
  { bounds: { ...one, faults: 0, hasOperator: true, isMasked: true } },
  { bounds: { ...one, faults: 0, hasOperator: true, isAmbiguous: true } },
  { bounds: { ...one, faults: 1, hasFallback: true } },
  { bounds: { ...one, faults: 2, isOneClient: true } },
  { bounds: { ...one, faults: 2, losesEqualTimes: true } },
  { bounds: { ...one, faults: 1, isBusy: true } },
  { bounds: { ...one, faults: 1, isBusy: true, hasSince: true, searchesFirst: true } },
  { bounds: { ...one, faults: 1, isAhead: true } },
  { bounds: { ...two, faults: 2 }, isLarge: true },
  { bounds: { ...one, faults: 2, searchesFirst: true, isRestored: true }, isLarge: true },
  { bounds: { callers: 3, calls: 1, faults: 0 }, isLarge: true },
  { bounds: { ...two, faults: 1, gracePeriods: [300_000, 900_000] }, isLarge: true },
  { bounds: { ...two, faults: 1, gracePeriods: [900_000, 300_000] }, isLarge: true },
  { bounds: { ...two, faults: 0, hasOperator: true, hasForce: true }, isLarge: true },
  { bounds: { ...one, faults: 0, hasFallback: true, hasOperator: true }, isLarge: true },
  { bounds: { callers: 3, calls: 1, faults: 1 }, walks: 30_000, isLarge: true },
  { bounds: { callers: 3, calls: 2, faults: 3, ...forgets }, walks: 20_000, isLarge: true },
  {
    bounds: { callers: 3, calls: 2, faults: 3, hasOperator: true, hasForce: true },
    walks: 20_000,
    isLarge: true,
  },
  {
    bounds: { callers: 3, calls: 2, faults: 2, ...forgets, hasBatch: true, hasOperator: true },
    walks: 10_000,
    isLarge: true,
  },
];
