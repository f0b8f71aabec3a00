/* The goals: ratios of this SDK to another contender in the same round, or absolute figures. */

/** The contenders to beat. Bare clients are baselines, because they are no SDKs. */
export const peers = ['ky-zod', 'stripe', 'modern-treasury', 'polar', 'hey-api'];
/** The peers that check what arrives. */
const checked = ['ky-zod', 'hey-api'];
const unchecked = peers.filter((name) => !checked.includes(name));

const atLeast = (goal) => ({ goal, sense: '≥', holds: (x) => x >= goal });
const atMost = (goal) => ({ goal, sense: '≤', holds: (x) => x <= goal });

const proof =
  'bare `http.request` takes a third of `fetch`; ours proves what was sent, checks the response and keeps its deadline.';
const whole =
  'all of it is one file; what a part that is loaded later would cost is in `docs/decisions/where-the-time-goes.md`.';

/**
 * `against` are the contenders of which the best counts; undefined for an absolute figure. `why` is
 * printed if the goal does not hold.
 */
export const goals = [
  { what: 'one GET, CPU', metric: 'getCpu', against: ['fetch'], ...atMost(0.55), why: proof },
  { what: 'one GET, CPU', metric: 'getCpu', against: ['stripe'], ...atMost(0.85), why: proof },
  {
    what: 'one POST, CPU',
    metric: 'postCpu',
    against: ['fetch'],
    ...atMost(0.6),
    why: 'a write waits for two turns of the event loop, rotates connections and captures the call site.',
  },
  {
    what: 'one POST, CPU',
    metric: 'postCpu',
    against: ['stripe'],
    ...atMost(1.2),
    why: 'stripe writes on a connection at once, and loses what the waiting proves.',
  },
  {
    what: '32 GETs at a time, CPU',
    metric: 'get32Cpu',
    against: peers,
    ...atMost(0.65),
    why: proof,
  },
  { what: '20,000 items, items/s', metric: 'list', against: unchecked, ...atLeast(1), why: proof },
  { what: '20,000 items, items/s', metric: 'list', against: checked, ...atLeast(1.3), why: proof },
  {
    what: 'CPU to the first response',
    metric: 'firstCpu',
    against: ['fetch'],
    ...atMost(0.65),
    why: whole,
  },
  { what: 'import', metric: 'import', against: ['polar'], ...atMost(0.6), why: whole },
  {
    what: 'a page, both sides take 20 ms',
    metric: 'overlap',
    ...atMost(24),
    unit: 'ms',
    why: 'the timers of this machine were late: `fetch` takes 42 ms where they are in time.',
  },
  {
    what: 'a client without `…Once`, gzipped',
    metric: 'bundle',
    ...atMost(45),
    unit: 'kB',
    why: whole,
  },
  { what: 'a client with it, gzipped', metric: 'bundle', ...atMost(60), unit: 'kB', why: whole },
  {
    what: 'installed',
    metric: 'installed',
    ...atMost(2.3),
    unit: 'MB',
    why: 'types twice (0.4 MB), for `import` and `require`; white space stays in the ES module, because esbuild removes with it the marks by which bundlers leave code out (a type guard: 19.5 kB instead of 3.1).',
  },
];
