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
import { findTimeLeft } from '../../src/once/entries.ts';
import type { OpenEntry } from '../../src/journals/journal.ts';
import type { Transfer } from '../../src/schemas/transfer.ts';

const transfer = { id: 'txfr_1' } as Transfer;
const nothing: SearchResult = { result: 'not_found' };
const situations = Object.keys(plans) as Situation[];

/** The steps of `findNextStep` in each situation when no search of the list finds the payment. */
const rows = {
  free: ['send'],
  perhaps_claimed: ['confirmed', 'send'],
  claimed: ['once', 'in_progress'],
  in_grace_period: ['once', 'in_doubt'],
  expired: ['twice', 'send'],
  shared: ['once', 'ask_again'],
  rejected: ['fail'],
  takeover_rejected: ['once', 'in_doubt'],
  unknown: ['once', 'in_doubt'],
} satisfies Record<Situation, readonly string[]>;

test.each(Object.entries(rows) as [Situation, readonly string[]][])(
  'findNextStep(%s) returns the steps %j if searches find nothing',
  (situation, expected) => {
    const steps = [undefined, nothing].slice(0, expected.length).map((found) => {
      const step = findNextStep(situation, found);
      return step.next === 'search' ? step.scans : step.next;
    });
    expect(steps).toEqual(expected);
  },
);

test.each(situations)('findNextStep(%s) records what a search of the list finds', (situation) => {
  const found = findNextStep(situation, { result: 'found', transfer });
  expect(found).toEqual({ next: 'record', transfer });
});

test.each(situations)('findNextStep(%s) asks an operator if a search is ambiguous', (situation) => {
  const candidates = [transfer];
  const step = findNextStep(situation, { result: 'ambiguous', candidates });
  expect(step).toEqual({ next: 'ask', candidates });
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
])('findSituation with %o left (searches first: %s) returns %s', (left, ...row) => {
  const [searchesFirst, situation] = row;
  expect(findSituation({ left, searchesFirst })).toBe(situation);
});

test('findSituation returns shared, not expired, if payments share a transfer', () => {
  const left = { toRun: -50, toTakeEffect: 0 };
  expect(findSituation({ left, isShared: true, searchesFirst: false })).toBe('shared');
});

const limits = { totalTimeout: 100_000, gracePeriod: 5_000 };
const claim = { claimedAt: 0, deadline: 60_000, expiresAt: 90_000 };
test.each<[string, Partial<OpenEntry>, number, number, TimeLeft]>([
  [
    'has a longer grace period than the call',
    claim,
    50_000,
    5_000,
    { toRun: 10_000, toTakeEffect: 40_000 },
  ],
  [
    'has a shorter grace period than the call',
    claim,
    50_000,
    60_000,
    { toRun: 10_000, toTakeEffect: 70_000 },
  ],
  [
    'has an end, and the call waits for ever',
    claim,
    50_000,
    Infinity,
    { toRun: 10_000, toTakeEffect: Infinity },
  ],
  [
    'has no end',
    { ...claim, expiresAt: null },
    50_000,
    5_000,
    { toRun: 10_000, toTakeEffect: Infinity },
  ],
  [
    'is of 0.4.0',
    { claimedAt: 0, expiresAt: 90_000 },
    50_000,
    60_000,
    { toRun: 40_000, toTakeEffect: 40_000 },
  ],
])('findTimeLeft returns the time left of a claim that %s', (_, entry, now, gracePeriod, left) => {
  expect(findTimeLeft(entry as OpenEntry, now, { ...limits, gracePeriod })).toEqual(left);
});

test.each<[boolean, boolean, Situation]>([
  [true, false, 'rejected'],
  [true, true, 'takeover_rejected'],
  [false, false, 'unknown'],
  [false, true, 'unknown'],
])(
  'findSituationAfterRequest (certain: %s, takeover: %s) returns %s',
  (isCertain, isTakeover, situation) => {
    expect(findSituationAfterRequest({ isCertain, isTakeover })).toBe(situation);
  },
);

test.each([
  ['new', 0, 90_000, 5_000],
  ['20 s old', 20_000, 70_000, 20_000],
  ['to end in 20 s', 70_000, 20_000, 20_000],
  ['to end in 1 s', 70_000, 1_000, 1_000],
  ['over', 1_000_000, 0, 60_000],
  ['20 s old and without an end', 20_000, Infinity, 20_000],
  ['a day old and without an end', 86_400_000, Infinity, 900_000],
])('findRetryDelay returns the delay for a claim that is %s', (_, age, toTakeEffect, wait) => {
  expect(findRetryDelay(age, { toRun: 0, toTakeEffect })).toBe(wait);
});
