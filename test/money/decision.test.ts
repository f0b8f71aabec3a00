import { expect, test } from 'vitest';
import {
  findNextStep,
  findRetryDelay,
  findSituation,
  findSituationAfterRequest,
  plans,
  type SearchResult,
  type Situation,
  type TimeLeft,
} from '../../src/once/decision.ts';
import { defaultGracePeriod } from '../../src/calls/options.ts';
import { findTimeLeft } from '../../src/once/entries.ts';
import type { OpenEntry } from '../../src/journals/journal.ts';
import type { Transfer } from '../../src/schemas/transfer.ts';

const transfer = { id: 'txfr_1' } as Transfer;
const nothing: SearchResult = { result: 'not_found' };
const situations = Object.keys(plans) as Situation[];

/** The steps of `findNextStep` in each situation when no search of the list finds the payment. */
const rows = {
  free: ['send'],
  perhaps_claimed: ['confirmed search', 'send'],
  claimed: ['search', 'in_progress'],
  in_grace_period: ['search', 'in_doubt'],
  expired: ['search', 'search', 'send'],
  rejected: ['fail'],
  takeover_rejected: ['search', 'in_doubt'],
  unknown: ['search', 'in_doubt'],
} satisfies Record<Situation, readonly string[]>;

test.each(Object.entries(rows) as [Situation, readonly string[]][])(
  'findNextStep(%s) returns the steps %j if searches find nothing',
  (situation, expected) => {
    const steps: string[] = [];
    for (
      let searches: SearchResult[] = [];
      steps.length < expected.length;
      searches = [...searches, nothing]
    ) {
      const step = findNextStep(situation, searches);
      steps.push(step.next === 'search' && step.isConfirmed ? 'confirmed search' : step.next);
    }
    expect(steps).toEqual(expected);
  },
);

test.each(situations)('findNextStep(%s) records what a search of the list finds', (situation) => {
  for (const before of [[], [nothing]]) {
    const searches: SearchResult[] = [...before, { result: 'found', transfer }];
    expect(findNextStep(situation, searches)).toEqual({ next: 'record', transfer });
  }
});

test.each(situations)('findNextStep(%s) asks an operator if a search is ambiguous', (situation) => {
  for (const before of [[], [nothing]]) {
    const searches: SearchResult[] = [...before, { result: 'ambiguous', candidates: [transfer] }];
    expect(findNextStep(situation, searches)).toEqual({ next: 'ask', candidates: [transfer] });
  }
});

test.each<[TimeLeft | undefined, boolean, Situation]>([
  [undefined, false, 'free'],
  [undefined, true, 'perhaps_claimed'],
  [{ toRun: 1, toTakeEffect: 51 }, false, 'claimed'],
  [{ toRun: 1, toTakeEffect: 51 }, true, 'claimed'],
  [{ toRun: 0, toTakeEffect: 50 }, false, 'in_grace_period'],
  [{ toRun: 0, toTakeEffect: 50 }, true, 'in_grace_period'],
  [{ toRun: -49, toTakeEffect: 1 }, false, 'in_grace_period'],
  [{ toRun: -49, toTakeEffect: 1 }, true, 'in_grace_period'],
  [{ toRun: -50, toTakeEffect: 0 }, false, 'expired'],
  [{ toRun: -50, toTakeEffect: 0 }, true, 'expired'],
  [{ toRun: 1, toTakeEffect: Infinity }, false, 'claimed'],
  [{ toRun: -1e12, toTakeEffect: Infinity }, false, 'in_grace_period'],
])('findSituation of a claim with %o left, forgetting %s, returns %s', (left, ...row) => {
  const [canForget, situation] = row;
  expect(findSituation(left, canForget)).toBe(situation);
});

const ofHours = { claimedAt: 0, expiresAt: 90_000 };
test.each([
  ['that expires', ofHours, 80_000, 5_000, { toRun: 5_000, toTakeEffect: 10_000 }],
  ['never sends again', ofHours, 80_000, Infinity, { toRun: 20_000, toTakeEffect: Infinity }],
  [
    'that never expires',
    { claimedAt: 0, expiresAt: null },
    80_000,
    5_000,
    { toRun: 20_000, toTakeEffect: Infinity },
  ],
])('findTimeLeft returns the time left of a claim %s', (_, claim, now, period, left) => {
  const limits = { totalTimeout: 100_000, gracePeriod: period };
  expect(findTimeLeft(claim as OpenEntry, now, limits)).toEqual(left);
});

test.each<[boolean, boolean, Situation]>([
  [true, false, 'rejected'],
  [true, true, 'takeover_rejected'],
  [false, false, 'unknown'],
  [false, true, 'unknown'],
])('findSituationAfterRequest(certain %s, takeover %s): %s', (isCertain, isTakeover, situation) => {
  expect(findSituationAfterRequest({ isCertain, isTakeover })).toBe(situation);
});

test.each([
  ['a payment without a known claim', undefined, 0, 5_000],
  ['a new claim', { claimedAt: 0, expiresAt: 90_000 }, 0, 5_000],
  ['a claim that was written 20 s ago', { claimedAt: 0, expiresAt: 90_000 }, 20_000, 20_000],
  ['a claim that ends in 20 s', { claimedAt: 0, expiresAt: 90_000 }, 70_000, 20_000],
  ['a claim that has expired', { claimedAt: 0, expiresAt: 90_000 }, 1_000_000, 60_000],
  ['a claim that never expires', { claimedAt: 0, expiresAt: null }, 20_000, 20_000],
  ['an old claim without end', { claimedAt: 0, expiresAt: null }, 86_400_000, defaultGracePeriod],
])('findRetryDelay returns the wait before the next call for %s', (_, claim, now, wait) => {
  expect(findRetryDelay(claim, now)).toBe(wait);
});
