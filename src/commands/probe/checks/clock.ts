import { parseHttpDate } from '../../../calls/time.ts';
import { hasOffset, parseCreatedAt } from '../../../search/compare.ts';
import type { Evidence } from '../evidence.ts';
import type { Payment } from '../payment.ts';
import { pays, reads, type Check } from './check.ts';
import { notPaid } from './payments.ts';
import {
  confirmed,
  contradicted,
  count,
  finding,
  formatMs,
  unknown,
  type Verdict,
} from './verdict.ts';

/** How far the clocks of one platform may differ. The client tolerates the same difference. */
export const tolerableMs = 120_000;
const withdraws = 'transfersNewestFirst';

export const exactTime = (createdAt: unknown): number => parseCreatedAt(createdAt).earliest;

export const clockChecks: readonly Check[] = [
  reads(64, 'Is createdAt a time with an offset, and not in the future?', checkTimes),
  pays(64, 'Is createdAt of a new transfer close to the Date of its response?', comparePayment),
  reads(64, 'Do responses have a Date, and how far off is it?', checkDates),
];

async function checkTimes(seen: Evidence): Promise<Verdict> {
  const { rows, readings } = await seen.transfers();
  if (rows.length === 0) return unknown('No transfer was read; the check needs one.');
  const latest = Math.max(
    ...readings.map(({ headers, receivedAt }) => {
      const date = parseHttpDate(headers.get('date'));
      return Number.isNaN(date) ? receivedAt : date;
    }),
  );
  const rules: readonly (readonly [fact: string, isWrong: (createdAt: unknown) => boolean])[] = [
    ['Not a time.', (createdAt) => Number.isNaN(exactTime(createdAt))],
    ['Without an offset.', (createdAt) => !hasOffset(createdAt)],
    ['In the future.', (createdAt) => exactTime(createdAt) > latest + tolerableMs],
  ];
  for (const [fact, isWrong] of rules) {
    const { length } = rows.filter(({ createdAt }) => isWrong(createdAt));
    if (length === 0) continue;
    return { ...contradicted(fact, `${length} of ${count(rows.length, 'transfers')}.`), withdraws };
  }
  return confirmed('Yes.', `${count(rows.length, 'transfers')}.`);
}

function comparePayment({ first }: Payment): Verdict {
  if (first.outcome !== 'accepted') return notPaid(first);
  const date = parseHttpDate(first.headers.get('date'));
  const time = exactTime(first.body['createdAt']);
  if (Number.isNaN(date)) return unknown('Its response has no Date.');
  if (Number.isNaN(time)) return { ...contradicted('createdAt is not a time.'), withdraws };
  const distance = Math.abs(time - date);
  const details = `${formatMs(distance)} apart.`;
  if (distance <= tolerableMs) return confirmed('Yes.', details);
  const fact = 'createdAt is in local time, or another clock wrote it.';
  return { ...contradicted(fact, details), withdraws };
}

async function checkDates(seen: Evidence): Promise<Verdict> {
  const { readings } = await seen.transfers();
  // A Date header has whole seconds, so on average half a second is missing.
  const distances = readings
    .map(({ headers, receivedAt }) => parseHttpDate(headers.get('date')) + 500 - receivedAt)
    .filter((distance) => !Number.isNaN(distance));
  if (distances.length < readings.length) {
    return { ...contradicted('Not all responses have a Date.'), withdraws };
  }
  const distance = Math.max(...distances.map(Math.abs));
  const details = `${formatMs(distance)} at most.`;
  if (distance <= 5_000) return confirmed('Yes, within 5 seconds.', details);
  return finding(
    'Yes, more than 5 seconds from this machine.',
    `${details} The client takes it into account; set this machine's clock.`,
  );
}
