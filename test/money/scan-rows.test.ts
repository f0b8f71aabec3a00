import { expect, test } from 'vitest';
import type { Transfer } from '../../src/schemas/transfer.ts';
import { ScanRows } from '../../src/search/scan-rows.ts';

/* When two scans of a list agree, so that `not_found` counts. A number is a transfer's minute. */

const noon = Date.UTC(2026, 10, 28, 12);
const timeOf = (minute: number): number => noon + minute * 60_000;

interface Scan {
  readonly minutes: readonly (number | string)[];
  /** The platform's time at each page, in minutes; none without a `Date` header. */
  readonly dates?: readonly number[];
  readonly earliest?: number;
}

/** Adds the rows of a scan, one page for each date. A minute that is a text cannot be read. */
function addScan(
  rows: ScanRows,
  { minutes, dates = [300], earliest = Number.NEGATIVE_INFINITY }: Scan,
  isLastWhole = true,
): void {
  rows.begin(isLastWhole);
  const pageSize = Math.ceil(minutes.length / Math.max(dates.length, 1));
  for (let page = 0; page < Math.max(dates.length, 1); page += 1) {
    const data = minutes.slice(page * pageSize, (page + 1) * pageSize).map((minute) => {
      const isReadable = typeof minute === 'number';
      const createdAt = isReadable ? new Date(timeOf(minute)).toISOString() : minute;
      return { id: `txfr_${minute}`, createdAt } as Transfer;
    });
    const date = dates[page];
    rows.add(data, earliest, date === undefined ? Number.NaN : timeOf(date));
  }
}

function compareScans(first: Scan, second: Scan, isBounded = false): boolean {
  const rows = new ScanRows();
  addScan(rows, first);
  expect(rows.agree(isBounded)).toBe(false);
  addScan(rows, second);
  return rows.agree(isBounded);
}

/** The minutes from one to another, newest first. */
const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => to - at);

const without = (minutes: readonly number[], ...missing: readonly number[]) =>
  minutes.filter((minute) => !missing.includes(minute));

const hundred = range(1, 100);
const threeHundred = range(1, 300);

test.each<{ name: string; first: Scan; second: Scan; isBounded?: boolean; agree: boolean }>([
  { name: 'are equal', first: { minutes: hundred }, second: { minutes: hundred }, agree: true },
  { name: 'are empty', first: { minutes: [] }, second: { minutes: [] }, agree: true },
  {
    name: 'are both without a transfer of the middle',
    first: { minutes: without(hundred, 50) },
    second: { minutes: without(hundred, 50) },
    agree: true,
  },
  {
    name: 'have 99 rows, and the second misses the oldest',
    first: { minutes: range(1, 99) },
    second: { minutes: range(2, 99) },
    agree: false,
  },
  {
    name: 'have 100 rows, and the second misses the oldest',
    first: { minutes: hundred },
    second: { minutes: range(2, 100) },
    agree: true,
  },
  {
    name: 'have 100 rows, and the second misses the two oldest',
    first: { minutes: hundred },
    second: { minutes: range(3, 100) },
    agree: false,
  },
  {
    name: 'have 300 rows, and the second misses the three oldest',
    first: { minutes: threeHundred },
    second: { minutes: range(4, 300) },
    agree: true,
  },
  {
    name: 'have 300 rows, and the second misses the fourth oldest',
    first: { minutes: threeHundred },
    second: { minutes: without(threeHundred, 4) },
    agree: false,
  },
  {
    name: 'have 300 rows, and the second misses the newest',
    first: { minutes: threeHundred },
    second: { minutes: range(1, 299) },
    agree: false,
  },
  {
    name: 'are bounded, and the second misses the oldest of 100',
    first: { minutes: hundred },
    second: { minutes: range(2, 100) },
    isBounded: true,
    agree: false,
  },
  {
    name: 'are bounded, and the second misses only what is older than the bound',
    first: { minutes: hundred, earliest: timeOf(40) },
    second: { minutes: range(40, 100), earliest: timeOf(40) },
    isBounded: true,
    agree: true,
  },
  {
    name: 'differ by a transfer that is older than the first scan',
    first: { minutes: without(hundred, 50) },
    second: { minutes: hundred },
    agree: false,
  },
  {
    name: 'differ by a transfer of the first scan’s last two minutes',
    first: { minutes: hundred },
    second: { minutes: [298, ...hundred] },
    agree: true,
  },
  {
    name: 'differ by a transfer from just before that',
    first: { minutes: hundred },
    second: { minutes: [297, ...hundred] },
    agree: false,
  },
  {
    name: 'differ by a transfer that came during the first scan',
    first: { minutes: hundred, dates: [300, 310] },
    second: { minutes: [304, ...hundred], dates: [311, 320] },
    agree: true,
  },
  {
    name: 'have no Date, and differ by a transfer',
    first: { minutes: hundred, dates: [] },
    second: { minutes: [250, ...hundred], dates: [] },
    agree: true,
  },
  {
    name: 'differ by a transfer whose time cannot be read',
    first: { minutes: hundred },
    second: { minutes: ['today', ...hundred] },
    agree: false,
  },
  {
    name: 'are without one whose time cannot be read',
    first: { minutes: ['today', ...hundred] },
    second: { minutes: hundred },
    agree: false,
  },
])(
  'ScanRows says whether two scans that $name agree: $agree',
  ({ first, second, isBounded, agree }) => {
    expect(compareScans(first, second, isBounded)).toBe(agree);
  },
);

test('ScanRows compares only the last two of three scans', () => {
  const rows = new ScanRows();
  addScan(rows, { minutes: [50, ...hundred] });
  addScan(rows, { minutes: without(hundred, 50) });
  expect(rows.agree(false)).toBe(false);
  expect(rows.hasRepeats).toBe(false);
  addScan(rows, { minutes: without(hundred, 50) });
  expect(rows.agree(false)).toBe(true);
  addScan(rows, { minutes: hundred });
  expect(rows.agree(false)).toBe(false);
});

test('ScanRows does not compare the scan of an incomplete list', () => {
  const rows = new ScanRows();
  addScan(rows, { minutes: hundred });
  addScan(rows, { minutes: range(1, 50) });
  addScan(rows, { minutes: hundred }, false);
  expect(rows.agree(false)).toBe(true);
  const others = new ScanRows();
  addScan(others, { minutes: hundred });
  addScan(others, { minutes: hundred }, false);
  expect([others.hasPrevious, others.agree(false)]).toEqual([false, false]);
});

test('ScanRows does not count both sides of a transfer as repeated', () => {
  const createdAt = new Date(noon).toISOString();
  const outgoing = { id: 'txfr_1', createdAt, direction: 'outgoing' } as Transfer;
  const incoming = { ...outgoing, direction: 'incoming' } as Transfer;
  const rows = new ScanRows();
  rows.begin(true);
  rows.add([outgoing, incoming], Number.NEGATIVE_INFINITY, noon);
  expect(rows.hasRepeats).toBe(false);
  rows.add([incoming], Number.NEGATIVE_INFINITY, noon);
  expect(rows.hasRepeats).toBe(true);
  rows.begin(true);
  rows.add([outgoing], Number.NEGATIVE_INFINITY, noon);
  expect([rows.hasRepeats, rows.agree(false)]).toEqual([false, false]);
});
