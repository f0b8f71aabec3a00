import { expect, test } from 'vitest';
import {
  findNextStep,
  findRetryDelay,
  findSituation,
  findSituationAfterRequest,
  plans,
  type Scan,
  type Situation,
  type TimeLeft,
} from '../../src/once/decision.ts';
import { defaultGracePeriod } from '../../src/calls/options.ts';
import { findTimeLeft } from '../../src/once/entries.ts';
import type { OpenEntry } from '../../src/journals/journal.ts';
import type { Transfer } from '../../src/schemas/transfer.ts';
import { explore, type Bounds, type Decide } from './decision-explorer.ts';

const transfer = { id: 'txfr_1' } as Transfer;
const nothing: Scan = { result: 'not_found' };
const situations = Object.keys(plans) as Situation[];

/** The steps of `findNextStep` in each situation when no scan of the list finds the payment. */
const rows = {
  free: ['send'],
  perhaps_claimed: ['confirmed scan', 'send'],
  claimed: ['scan', 'in_progress'],
  in_grace_period: ['scan', 'in_doubt'],
  expired: ['scan', 'scan', 'send'],
  rejected: ['fail'],
  takeover_rejected: ['scan', 'in_doubt'],
  unknown: ['scan', 'in_doubt'],
} satisfies Record<Situation, readonly string[]>;

test.each(Object.entries(rows) as [Situation, readonly string[]][])(
  'findNextStep() for a payment in the situation %s returns the steps %j if no search of the list finds the payment',
  (situation, expected) => {
    const steps: string[] = [];
    for (let scans: Scan[] = []; steps.length < expected.length; scans = [...scans, nothing]) {
      const step = findNextStep(situation, scans);
      steps.push(step.next === 'scan' && step.isConfirmed ? 'confirmed scan' : step.next);
    }
    expect(steps).toEqual(expected);
  },
);

test.each(situations)(
  'findNextStep() records a payment in the situation %s if a search of the list finds the transfer',
  (situation) => {
    for (const before of [[], [nothing]]) {
      const scans: Scan[] = [...before, { result: 'found', transfer }];
      expect(findNextStep(situation, scans)).toEqual({ next: 'record', transfer });
    }
  },
);

test.each(situations)(
  'findNextStep() asks an operator about a payment in the situation %s if a search of the list is ambiguous',
  (situation) => {
    for (const before of [[], [nothing]]) {
      const scans: Scan[] = [...before, { result: 'ambiguous', candidates: [transfer] }];
      expect(findNextStep(situation, scans)).toEqual({ next: 'ask', candidates: [transfer] });
    }
  },
);

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
  [
    'for a caller who never sends again',
    ofHours,
    80_000,
    Infinity,
    { toRun: 20_000, toTakeEffect: Infinity },
  ],
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
  [
    'an old claim that never expires',
    { claimedAt: 0, expiresAt: null },
    86_400_000,
    defaultGracePeriod,
  ],
])('findRetryDelay returns the wait before the next call for %s', (_, claim, now, wait) => {
  expect(findRetryDelay(claim, now)).toBe(wait);
});

/** Bounds that are large enough for every situation to occur. */
const forgetful = { callers: 2, calls: 1, misses: 1, deaths: 1, forgets: true };
const lasting = { callers: 2, calls: 2, misses: 1, deaths: 0, forgets: false };

// test/full/once-states.test.ts explores larger bounds.
test.each<Omit<Bounds, 'findNextStep'>>([forgetful, { ...lasting, calls: 1, deaths: 1 }])(
  'callers that follow findNextStep() never pay twice, report a false result or leave a payment open, in any order of their steps: %o',
  (bounds) => {
    const { worlds, violation } = explore(bounds);
    expect(violation).toBeUndefined();
    expect(worlds).toBeGreaterThan(1_000);
  },
);

/** A wrong `findNextStep`, which takes one situation for another. */
const confuse =
  (row: Situation, other: Situation): Decide =>
  (situation, scans) =>
    findNextStep(situation === row ? other : situation, scans);

test.each<[string, Decide, string]>([
  ['a claim of a running call counts as expired', confuse('claimed', 'expired'), 'two payments'],
  [
    'a claim in its grace period counts as expired',
    confuse('in_grace_period', 'expired'),
    'two payments',
  ],
  [
    'a payment with an expired claim is sent without a search',
    confuse('expired', 'free'),
    'two payments',
  ],
  [
    'a payment with an expired claim is sent after one search of the list',
    (situation, scans) =>
      situation === 'expired' && scans.at(-1)?.result === 'not_found'
        ? { next: 'send' }
        : findNextStep(situation, scans),
    'two payments',
  ],
  [
    'a payment with an expired claim is never sent again',
    confuse('expired', 'in_grace_period'),
    'no call ends it',
  ],
  [
    'a missing entry of a journal that may lose entries counts as no claim',
    confuse('perhaps_claimed', 'free'),
    'told that it is not paid',
  ],
  [
    'an unknown outcome counts as a rejection',
    confuse('unknown', 'rejected'),
    'told that it is not paid',
  ],
  [
    'a rejection of the second request counts as a rejection of the first request',
    confuse('takeover_rejected', 'rejected'),
    'told that it is not paid',
  ],
])(
  'the exploration of all orders of steps finds a fault if findNextStep() has the mistake that %s',
  (_, wrong, violation) => {
    const found = [forgetful, lasting].map(
      (bounds) => explore({ ...bounds, findNextStep: wrong }).violation,
    );
    expect(found).toContain(violation);
  },
);
