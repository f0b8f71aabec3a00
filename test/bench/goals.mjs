/* The goals: ratios of this SDK to another contender in the same round, or absolute figures. */

/** The contenders to beat. Bare clients are baselines, because they are no SDKs. */
export const peers = ['ky-zod', 'stripe', 'modern-treasury', 'polar', 'hey-api'];
/** The peers that check what arrives. */
const checked = ['ky-zod', 'hey-api'];
const unchecked = peers.filter((name) => !checked.includes(name));

const atLeast = (goal) => ({ goal, sense: '≥', holds: (x) => x >= goal });
const atMost = (goal) => ({ goal, sense: '≤', holds: (x) => x <= goal });

/** `against` is an adapter, or several, of which the best counts; undefined for an absolute figure. */
export const goals = [
  { what: 'one GET, CPU', metric: 'getCpu', against: ['fetch'], ...atMost(0.55) },
  { what: 'one GET, CPU', metric: 'getCpu', against: ['stripe'], ...atMost(0.85) },
  { what: 'one POST, CPU', metric: 'postCpu', against: ['fetch'], ...atMost(0.6) },
  { what: 'one POST, CPU', metric: 'postCpu', against: ['stripe'], ...atMost(1.2) },
  { what: '32 GETs at a time, CPU', metric: 'get32Cpu', against: peers, ...atMost(0.65) },
  { what: '20,000 items, items/s', metric: 'list', against: unchecked, ...atLeast(1) },
  { what: '20,000 items, items/s', metric: 'list', against: checked, ...atLeast(1.3) },
  { what: 'CPU to the first response', metric: 'firstCpu', against: ['fetch'], ...atMost(0.65) },
  { what: 'import', metric: 'import', against: ['polar'], ...atMost(0.6) },
  { what: 'a page, both sides take 20 ms', metric: 'overlap', ...atMost(24), unit: 'ms' },
  { what: 'loaded first, without `…Once`', metric: 'bundleFirst', ...atMost(45), unit: 'kB' },
  { what: 'loaded for `createOnce`', metric: 'bundleOnce', ...atMost(60), unit: 'kB' },
];
