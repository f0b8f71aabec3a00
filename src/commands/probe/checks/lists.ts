import { parseHttpDate } from '../../../calls/time.ts';
import { hasOffset, parseCreatedAt } from '../../../search/compare.ts';
import { OrderCheck } from '../../../search/list-order.ts';
import { sampleSize, type Evidence } from '../evidence.ts';
import type { Listing, Row } from '../lists.ts';
import { reads, type Check } from './check.ts';
import { exactTime, tolerableMs } from './clock.ts';
import {
  confirmed,
  contradicted,
  count,
  finding,
  unknown,
  type Suggestion,
  type Verdict,
} from './verdict.ts';

const minTimes = 10;

export const listChecks: readonly Check[] = [
  reads(6, 'Does GET /transfers filter by accountId?', checkFilter),
  reads(54, 'In which order are transfers listed?', checkOrder),
  // Checks Assumption A6 of docs/proof.md, that a list has every transfer and ends.
  reads(59, 'Does the list of transfers show each one, and end?', checkPages),
  reads(65, 'Do lists come fresh, not from a cache?', checkCache),
];

/** Compares the filtered list of one account with the whole list, to see whether it filters. */
async function checkFilter(seen: Evidence): Promise<Verdict> {
  const { rows } = await seen.transfers();
  const owners = await seen.payers();
  const owner = owners.at(-1);
  if (owner === undefined)
    return unknown('No transfer was read; the check needs those of two accounts.');
  const filtered = await seen.transfersOf(owner);
  const status = filtered.readings.at(-1)?.status ?? 0;
  if (status >= 400 && status < 500) return rejectFilter(`Rejected with ${filtered.problem}.`);
  if (filtered.problem !== undefined && !filtered.isContradictory) {
    return unknown(`Not readable: ${filtered.problem}.`);
  }
  // Transfers of other accounts show that the platform ignores the filter.
  const others = filtered.rows.filter(
    (row) => row['sourceAccountId'] !== owner && row['destinationAccountId'] !== owner,
  );
  if (others.length > 0) {
    const all = count(filtered.rows.length, 'transfers');
    return rejectFilter('Ignored.', `Not of ${owner}: ${others.length} of ${all}.`);
  }
  const ids = new Set(filtered.rows.map(({ id }) => id));
  // Transfers of this account that only the whole list has show that the filter hides transfers.
  const hidden = rows.filter((row) => row['sourceAccountId'] === owner && !ids.has(row['id']));
  if (hidden.length > 0 && filtered.isComplete) {
    const figures = `Only the unfiltered list has ${count(hidden.length, 'transfers')} of ${owner}.`;
    return { ...rejectFilter('Hides transfers.', figures), withdraws: 'transfersNewestFirst' };
  }
  if (owners.length < 2) {
    // If one account paid all transfers, a filter by that account excludes nothing. So the check
    // filters by an unknown account, whose list has to be empty.
    const other = await seen.transfersOf(await seen.unknownAccount());
    if (other.rows.length > 0) {
      return rejectFilter(
        'Ignored.',
        `${count(other.rows.length, 'transfers')} for an unknown id.`,
      );
    }
    if (other.problem !== undefined && other.readings[0]?.status !== 404) {
      return unknown('One account paid all transfers; the check needs those of two accounts.');
    }
  }
  return confirmed('Honoured.', `${count(filtered.rows.length, 'transfers')} of ${owner}.`);
}

/** A verdict about a filter that a search must not use, because a payment could stay unseen. */
function rejectFilter(fact: string, details?: string): Verdict {
  const reason = 'without the name of a filter that works, searches have to read all accounts';
  const option: Suggestion = { name: 'transfersFilter', value: false, reason };
  return { ...contradicted(fact, details), option };
}

async function checkOrder(seen: Evidence): Promise<Verdict> {
  const listing = await seen.transfers();
  const { rows, isComplete, readings, problem, isContradictory } = listing;
  const range = `${count(rows.length, 'transfers')} on ${count(readings.length, 'pages')}, ${isComplete ? 'all' : 'not all'}`;
  if (problem !== undefined && !isContradictory && rows.length < sampleSize) {
    return unknown(`The list could not be read: ${problem}.`);
  }
  const order = measureOrder(rows);
  if (order !== 'newest first') return otherOrders[order](`${range}.`);
  const obstacle = await findOrderObstacle(seen, listing);
  if (obstacle !== undefined) return finding('Newest first.', `${range}; ${obstacle}.`);
  const reason = `${range}, newest first; the client checks it at each search`;
  const option: Suggestion = { name: 'transfersNewestFirst', value: true, reason };
  return { ...finding('Newest first.', `${range}.`), option };
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
  const [owner = ''] = await seen.payers();
  const filtered = measureOrder((await seen.transfersOf(owner)).rows);
  return ['newest first', 'few'].includes(filtered) ? undefined : 'the list of one account is not';
}

/** Verdicts for a list of transfers that is not newest first. */
const otherOrders = {
  'oldest first': (range: string) => finding('Oldest first.', range),
  none: (range: string) => finding('No order by createdAt.', range),
  few: (range: string) => unknown('Too few transfers with different times; 100 are enough.', range),
  unreadable: (range: string) => unknown('createdAt shows no order.', range),
};

/**
 * Finds the order of a list of transfers, tolerating two minutes as the client does. If all are
 * within four minutes, the order must be exact, because the tolerance would hide a wrong order.
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

/**
 * Reads the list that a search would read by two page sizes. Both have to show the same transfers,
 * because a list may lose those with equal times at the end of a page.
 */
async function checkPages(seen: Evidence): Promise<Verdict> {
  const whole = await seen.transfers();
  const [payer = ''] = await seen.payers();
  const filtered = await seen.transfersOf(payer);
  const isFiltered = filtered.rows.length > 0;
  const first = isFiltered ? filtered : whole;
  // A list of one page is read again as two pages, to see a cursor.
  const limit = first.rows.length > 100 ? 97 : Math.max(1, Math.ceil(first.rows.length / 2));
  const second = await (isFiltered ? seen.transfersOf(payer, limit) : seen.transfers(limit));
  const listings = isFiltered ? [whole, filtered, second] : [whole, second];
  const problems = listings.flatMap(({ isContradictory, problem = '' }) =>
    isContradictory ? [problem] : [],
  );
  const lost = countLost(first, second);
  if (lost > 0) problems.push(`pages of another size show ${count(lost, 'other transfers')}`);
  if (problems.length > 0) {
    return contradicted(
      `No: ${[...new Set(problems)].join('; ')}.`,
      undefined,
      'createOnce stays in doubt where it has to search such a list, or may pay twice.',
    );
  }
  const unreadable = listings.find(({ problem }) => problem !== undefined)?.problem;
  const details = `${count(first.rows.length, 'transfers')}, by 100 and by ${limit} a page.`;
  if (unreadable !== undefined) return unknown(`Not readable: ${unreadable}.`, details);
  return second.readings.length > 1
    ? confirmed('Yes.', `${details}${first.isComplete ? '' : ' Not read to the end.'}`)
    : unknown('The check needs two transfers from one account.', details);
}

/** Counts the transfers that both readings of a list should show, but only one does. */
function countLost(first: Listing, second: Listing): number {
  const readAt = parseHttpDate(first.readings[0]?.headers.get('date') ?? null);
  const isOld = ({ createdAt }: Row): boolean => {
    const { latest } = parseCreatedAt(createdAt);
    return latest < (Number.isNaN(readAt) ? Number.POSITIVE_INFINITY : readAt) - tolerableMs;
  };
  // If a list goes on, its end is left out, because new transfers push others across that end.
  const isWhole = first.isComplete && second.isComplete;
  const depth = isWhole
    ? Number.POSITIVE_INFINITY
    : Math.min(first.rows.length, second.rows.length) - 100;
  const countMissing = (shown: readonly Row[], from: Listing, rule: (row: Row) => boolean) => {
    const ids = new Set(from.rows.map(({ id }) => id));
    return shown.slice(0, Math.max(0, depth)).filter((row) => rule(row) && !ids.has(row['id']))
      .length;
  };
  // Only the second reading can show a transfer that was made meanwhile.
  return countMissing(first.rows, second, () => true) + countMissing(second.rows, first, isOld);
}

async function checkCache(seen: Evidence): Promise<Verdict> {
  const { readings: first } = await seen.transfers();
  // Requests one page again, because a cache stores the page at the first request and sends the
  // stored page at the second.
  const readings = [...first, await seen.platform.read('/transfers', { limit: 100 })];
  const ages = readings.map(({ headers }) => Number(headers.get('age'))).filter((age) => age > 0);
  if (ages.length > 0) {
    return contradicted(
      'A cache has responded.',
      `Age of up to ${Math.max(...ages)} s, although the client sends no-cache.`,
      'exclude the API from the cache: createOnce stays in doubt where it reads a cached list.',
    );
  }
  return confirmed('Yes.', `${count(readings.length, 'pages')} without Age.`);
}
