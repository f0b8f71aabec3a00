/* The goals: ratios of this SDK to another contender in the same round, or absolute figures. */

/** The contenders to beat. Bare clients are baselines, because they are no SDKs. */
export const peers = ['ky-zod', 'stripe', 'modern-treasury', 'polar', 'hey-api'];

const atLeast = (goal) => ({ goal, sense: '≥', holds: (x) => x >= goal });
const atMost = (goal) => ({ goal, sense: '≤', holds: (x) => x <= goal });

/** `against` is an adapter, 'best peer', or undefined for an absolute figure. */
export const goals = [
  { what: 'one GET, CPU', metric: 'oneGetCpu', against: 'fetch', ...atMost(0.65) },
  { what: 'one POST, CPU', metric: 'onePostCpu', against: 'fetch', ...atMost(0.6) },
  { what: 'one GET, CPU', metric: 'oneGetCpu', against: 'stripe', ...atMost(0.95) },
  { what: 'one GET, CPU', metric: 'oneGetCpu', against: 'http', ...atMost(1.6) },
  { what: 'one GET, CPU, pinned', metric: 'pinnedGetCpu', against: 'fetch', ...atMost(0.65) },
  { what: 'one POST, CPU, pinned', metric: 'pinnedPostCpu', against: 'fetch', ...atMost(0.6) },
  { what: 'GET ×32, requests/s', metric: 'get', against: 'best peer', ...atLeast(1.6) },
  { what: 'GET ×32, CPU', metric: 'getCpu', against: 'fetch', ...atMost(0.7) },
  { what: 'POST ×32, CPU', metric: 'postCpu', against: 'fetch', ...atMost(0.65) },
  { what: 'paging, items/s', metric: 'list', against: 'best peer', ...atLeast(1.2) },
  { what: 'ms a page, both sides 20 ms', metric: 'overlap', ...atMost(24), unit: 'ms' },
  { what: 'ms a page, both sides 20 ms', metric: 'overlap', against: 'fetch', ...atMost(24 / 42) },
  { what: 'import', metric: 'import', ...atMost(14), unit: 'ms' },
  { what: 'import', metric: 'import', against: 'ky-zod', ...atMost(30 / 79) },
  { what: 'import to first response', metric: 'first', ...atMost(65), unit: 'ms' },
  { what: 'import to first response', metric: 'first', against: 'ky-zod', ...atMost(0.56) },
  { what: 'CPU to first response', metric: 'firstCpu', against: 'fetch', ...atMost(0.7) },
  { what: 'checking, against JSON.parse', metric: 'checkRatio', ...atMost(0.25) },
  { what: 'heap, 1,000,000 against 100,000', metric: 'heapRatio', ...atMost(1.1) },
  { what: 'GET ×32, requests/s', metric: 'get', against: 'ky-zod', ...atLeast(1.3) },
  { what: 'paging, items/s', metric: 'list', against: 'ky-zod', ...atLeast(1.5) },
];
