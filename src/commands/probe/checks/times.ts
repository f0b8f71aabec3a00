import { parseHttpDate } from '../../../calls/time.ts';
import { hasOffset, parseCreatedAt } from '../../../search/compare.ts';
import { OrderCheck } from '../../../search/list-order.ts';
import type { Evidence } from '../evidence.ts';
import { sampleSize, type Listing, type Row } from '../lists.ts';
import type { Reading } from '../platform.ts';
import { lists, pays, reads, transfers, type Check } from './check.ts';
import { findOwners } from './filters.ts';
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
const tolerableMs = 120_000;
const minTimes = 10;
const withdraws = 'transfersNewestFirst';

export const timeChecks: readonly Check[] = [
  reads(54, 'In which order are transfers listed?', transfers, async (listing, seen) => {
    const { rows, isComplete, readings, problem, isContradictory } = listing;
    const range = `${count(rows.length, 'transfers')} on ${count(readings.length, 'pages')}, ${isComplete ? 'all' : 'not all'}`;
    if (problem !== undefined && !isContradictory && rows.length < sampleSize)
      return unknown(`The list could not be read: ${problem}.`);
    const order = measureOrder(rows);
    if (order !== 'newest first') return { ...otherOrders[order], details: `${range}.` };
    const obstacle = await findOrderObstacle(seen, listing);
    if (obstacle !== undefined) return finding('Newest first.', `${range}; ${obstacle}.`);
    const reason = `${range}, newest first; the client checks it at each search`;
    return {
      ...finding('Newest first.', `${range}.`),
      option: { name: 'transfersNewestFirst', value: true, reason },
    };
  }),
  reads(64, 'Is createdAt a time with an offset, and not in the future?', lists, (all) => {
    const rows = all.flatMap(({ noun, listing }) =>
      listing.rows.map(({ createdAt }) => ({ name: noun.name, createdAt, listing })),
    );
    if (rows.length === 0) return unknown('No record was read; the check needs one.');
    const blame = (what: string, wrong: readonly { name: string }[]): Verdict => ({
      ...contradicted(
        `${what}: ${[...new Set(wrong.map(({ name }) => name))].join(', ')}.`,
        `${count(wrong.length, 'records')} of ${rows.length}.`,
      ),
      withdraws,
    });
    const unreadable = rows.filter(({ createdAt }) => Number.isNaN(exactTime(createdAt)));
    if (unreadable.length > 0) return blame('Not a time', unreadable);
    const withoutOffset = rows.filter(({ createdAt }) => !hasOffset(createdAt));
    if (withoutOffset.length > 0) return blame('Without an offset', withoutOffset);
    const future = rows.filter(({ createdAt, listing }) => {
      const latest = Math.max(...listing.readings.map(platformTime));
      return exactTime(createdAt) > latest + tolerableMs;
    });
    if (future.length > 0) return blame('In the future', future);
    return confirmed('Yes.', `${count(rows.length, 'records')}.`);
  }),
  pays(64, 'Is createdAt of a new transfer close to the Date of its response?', ({ first }) => {
    if (first.outcome !== 'accepted') return notPaid(first);
    const date = parseHttpDate(first.headers.get('date'));
    const time = exactTime(first.body['createdAt']);
    if (Number.isNaN(date)) return unknown('Its response has no Date.');
    if (Number.isNaN(time)) return { ...contradicted('createdAt is not a time.'), withdraws };
    const distance = time - date;
    const details = `${formatMs(Math.abs(distance))} apart.`;
    if (Math.abs(distance) <= tolerableMs) return confirmed('Yes.', details);
    // Time zones differ by quarters of an hour. The tolerance of 0.02 hours is 72 seconds.
    const hours = distance / 3_600_000;
    const isTimeZone = Math.abs(hours - Math.round(hours * 4) / 4) < 0.02;
    const why = isTimeZone ? 'it is in local time' : 'another clock wrote it';
    const fact = `createdAt is more than two minutes from Date: ${why}.`;
    return { ...contradicted(fact, details), withdraws };
  }),
  reads(64, 'Do responses have a Date, and how far off is it?', transfers, (listing) => {
    // A Date header has whole seconds, so on average half a second is missing.
    const distances = listing.readings
      .map(({ headers, receivedAt }) => parseHttpDate(headers.get('date')) + 500 - receivedAt)
      .filter((distance) => !Number.isNaN(distance));
    if (distances.length < listing.readings.length) {
      return { ...contradicted('Not all responses have a Date.'), withdraws };
    }
    const distance = Math.max(...distances.map(Math.abs));
    const details = `${formatMs(distance)} at most.`;
    if (distance <= 5_000) return confirmed('Yes, within 5 seconds.', details);
    return finding(
      'Yes, more than 5 seconds from this machine.',
      `${details} The client takes it into account; set this machine's clock.`,
    );
  }),
];

const exactTime = (createdAt: unknown): number => parseCreatedAt(createdAt).earliest;

/** The time of a response by the platform's clock or, without a Date header, by this machine's. */
function platformTime({ headers, receivedAt }: Reading): number {
  const date = parseHttpDate(headers.get('date'));
  return Number.isNaN(date) ? receivedAt : date;
}

/** Finds why the probe must not suggest transfersNewestFirst, although the list is newest first. */
async function findOrderObstacle(
  seen: Evidence,
  { rows, readings }: Listing,
): Promise<string | undefined> {
  const dates = readings.map(({ headers }) => parseHttpDate(headers.get('date')));
  if (dates.some(Number.isNaN)) return 'transfersNewestFirst needs a Date in each response';
  // The client stops a search of the list after 100 transfers at the earliest.
  if (rows.length < 100) return 'transfersNewestFirst helps from 100 transfers on';
  // The client searches the list of one account, so that list has to be newest first, too.
  const owner = findOwners(rows, 'sourceAccountId').at(-1) ?? '';
  const filtered = measureOrder((await seen.filter('transfers', 'accountId', owner)).rows);
  return ['newest first', 'few'].includes(filtered) ? undefined : 'the list of one account is not';
}

/** Verdicts for a list of transfers that is not newest first. */
const otherOrders = {
  'oldest first': finding('Oldest first.'),
  none: finding('No order by createdAt.'),
  few: unknown('Too few transfers with different times; 100 are enough.'),
  unreadable: unknown('createdAt shows no order.'),
};

/**
 * Finds the order of a list of transfers, tolerating two minutes as the client does. If all
 * transfers are within four minutes, the order must be exact, because the tolerance would hide
 * a wrong order.
 */
function measureOrder(rows: readonly Row[]): 'newest first' | keyof typeof otherOrders {
  const times = rows.map(({ createdAt }) =>
    hasOffset(createdAt) ? exactTime(createdAt) : Number.NaN,
  );
  if (times.some(Number.isNaN)) return 'unreadable';
  if (new Set(times).size < minTimes) return 'few';
  const isNewestFirst = (list: readonly Row[], listTimes: readonly number[]): boolean => {
    const check = new OrderCheck();
    // The cast is safe, because all transfers have a readable createdAt here.
    check.read(list as readonly { createdAt: string }[]);
    const [first = 0] = listTimes;
    const isWithinTolerance = Math.abs(first - (listTimes.at(-1) ?? 0)) <= 2 * tolerableMs;
    const isExact = listTimes.every((time, at) => at === 0 || time <= (listTimes[at - 1] ?? 0));
    return isWithinTolerance ? isExact : !check.isContradicted;
  };
  if (isNewestFirst(rows, times)) return 'newest first';
  return isNewestFirst(rows.toReversed(), times.toReversed()) ? 'oldest first' : 'none';
}
