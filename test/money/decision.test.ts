import { expect, test } from 'vitest';
import {
  decide,
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
import type { Transfer, TransferId } from '../../src/schemas/transfer.ts';
import { explore, type Bounds, type Decide } from './decision-explorer.ts';

const transfer = { id: 'txfr_1' as TransferId } as Transfer;
const nothing: Scan = { result: 'not_found' };
const situations = Object.keys(plans) as Situation[];

/** What follows when each scan of the list shows nothing. */
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
  'a payment that is %s: %j',
  (situation, expected) => {
    const steps: string[] = [];
    for (let scans: Scan[] = []; steps.length < expected.length; scans = [...scans, nothing]) {
      const step = decide(situation, scans);
      steps.push(step.next === 'scan' && step.isConfirmed ? 'confirmed scan' : step.next);
    }
    expect(steps).toEqual(expected);
  },
);

test.each(situations)('a payment that is %s is recorded when a scan finds it', (situation) => {
  for (const before of [[], [nothing]]) {
    const scans: Scan[] = [...before, { result: 'found', transfer }];
    expect(decide(situation, scans)).toEqual({ next: 'record', transfer });
  }
});

test.each(situations)(
  'an operator is asked when a scan of a payment that is %s is not clear',
  (situation) => {
    for (const before of [[], [nothing]]) {
      const scans: Scan[] = [...before, { result: 'ambiguous', candidates: [transfer] }];
      expect(decide(situation, scans)).toEqual({ next: 'ask', candidates: [transfer] });
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
])('with %o of a claim, and a journal that forgets: %s, a payment is %s', (left, ...row) => {
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
])('the time left of a claim %s', (_, claim, now, period, left) => {
  const limits = { totalTimeout: 100_000, gracePeriod: period };
  expect(findTimeLeft(claim as OpenEntry, now, limits)).toEqual(left);
});

test.each<[boolean, boolean, Situation]>([
  [true, false, 'rejected'],
  [true, true, 'takeover_rejected'],
  [false, false, 'unknown'],
  [false, true, 'unknown'],
])(
  'after a request, certain: %s, of a takeover: %s, a payment is %s',
  (isCertain, isTakeover, situation) => {
    expect(findSituationAfterRequest({ isCertain, isTakeover })).toBe(situation);
  },
);

test.each([
  ['a claim that is not known', undefined, 0, 5_000],
  ['a claim of now', { claimedAt: 0, expiresAt: 90_000 }, 0, 5_000],
  ['a claim of 20 s ago', { claimedAt: 0, expiresAt: 90_000 }, 20_000, 20_000],
  ['a claim that ends before that', { claimedAt: 0, expiresAt: 90_000 }, 70_000, 20_000],
  ['a claim that has expired', { claimedAt: 0, expiresAt: 90_000 }, 1_000_000, 60_000],
  ['a claim that never expires', { claimedAt: 0, expiresAt: null }, 20_000, 20_000],
  [
    'an old claim that never expires',
    { claimedAt: 0, expiresAt: null },
    86_400_000,
    defaultGracePeriod,
  ],
])('the next call is due after a wait for %s', (_, claim, now, wait) => {
  expect(findRetryDelay(claim, now)).toBe(wait);
});

/** Bounds in which every row is reached. */
const forgetful = { callers: 2, calls: 1, misses: 1, deaths: 1, forgets: true };
const lasting = { callers: 2, calls: 2, misses: 1, deaths: 0, forgets: false };

// test/full/once-states.test.ts explores larger bounds.
test.each<Omit<Bounds, 'decide'>>([forgetful, { ...lasting, calls: 1, deaths: 1 }])(
  'no decision pays twice, lies or leaves a payment open: %o',
  (bounds) => {
    const { worlds, violation } = explore(bounds);
    expect(violation).toBeUndefined();
    expect(worlds).toBeGreaterThan(1_000);
  },
);

/** Takes one row for another. */
const confuse =
  (row: Situation, other: Situation): Decide =>
  (situation, scans) =>
    decide(situation === row ? other : situation, scans);

test.each<[string, Decide, string]>([
  ['a running claim counts as expired', confuse('claimed', 'expired'), 'two payments'],
  ['a grace period counts as expired', confuse('in_grace_period', 'expired'), 'two payments'],
  ['an expired claim is not searched for', confuse('expired', 'free'), 'two payments'],
  [
    'one scan is enough for a takeover',
    (situation, scans) =>
      situation === 'expired' && scans.at(-1)?.result === 'not_found'
        ? { next: 'send' }
        : decide(situation, scans),
    'two payments',
  ],
  [
    'an expired claim is never taken over',
    confuse('expired', 'in_grace_period'),
    'no call ends it',
  ],
  [
    'a journal that forgets is believed',
    confuse('perhaps_claimed', 'free'),
    'told that it is not paid',
  ],
  [
    'an unknown outcome counts as a rejection',
    confuse('unknown', 'rejected'),
    'told that it is not paid',
  ],
  [
    'a rejected takeover counts as a rejection',
    confuse('takeover_rejected', 'rejected'),
    'told that it is not paid',
  ],
])('the exploration finds that %s', (_, wrong, violation) => {
  const found = [forgetful, lasting].map(
    (bounds) => explore({ ...bounds, decide: wrong }).violation,
  );
  expect(found).toContain(violation);
});
