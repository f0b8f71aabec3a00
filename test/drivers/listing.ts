import type { ListOrder } from '../../src/sandbox/platform/table.ts';
import { transferBody } from './bodies.ts';

/*
 * A list of transfers of several pages: those from before the payments of a test, the payments, and, in
 * some plans, those of others that were made right after them.
 */

/** How a platform lists transfers. */
export interface Listing {
  readonly order: ListOrder;
  /** Whether others pay so much afterwards that no payment is on the first page, newest first. */
  readonly isBusy: boolean;
}

/** A creation that took effect. */
export interface Effect {
  readonly id: string;
  readonly createdAt: number;
}

interface Row extends Effect {
  readonly description: string;
  readonly position: number;
}

/** Two pages and more: a search may stop after 100 items, and reads pages of 81 or more. */
const otherCount = 200;
/** Later than the latest position of a payment. */
const newerPosition = 10_000;
/** Old enough for a search to stop at it, although clocks may differ by two minutes. */
const maxAgeMs = 10 * 60_000;

/** The order of the sandbox's `listOrder`. */
const ranks: Readonly<Record<ListOrder, (position: number) => number>> = {
  oldest_first: (position) => position,
  newest_first: (position) => -position,
  shuffled: (position) => Math.imul(position + 1, 0x9e3779b1) >>> 0,
};

/** One page of the list that a path asks for. */
export function buildPage(
  path: string,
  payments: readonly (Effect & { readonly description: string })[],
  { order, isBusy }: Listing,
  now: number,
): string {
  const query = new URL(path, 'http://localhost').searchParams;
  const start = Number(query.get('cursor') ?? 0);
  const end = start + Number(query.get('limit') ?? 100);
  const rows = payments.map((payment, at): Row => ({ ...payment, position: otherCount + at }));
  const startedAt = Math.min(now, ...payments.map(({ createdAt }) => createdAt));
  const latest = Math.max(startedAt, ...payments.map(({ createdAt }) => createdAt));
  for (let at = 0; at < otherCount; at += 1) {
    const description = `payroll-${String(at).padStart(6, '0')}`;
    const createdAt = startedAt - maxAgeMs - (otherCount - at) * 60_000;
    rows.push({ id: `txfr_old_${at}`, description, position: at, createdAt });
    if (!isBusy) continue;
    const position = newerPosition + at;
    rows.push({ id: `txfr_new_${at}`, description, position, createdAt: latest + at });
  }
  const rank = ranks[order];
  rows.sort((one, other) => rank(one.position) - rank(other.position));
  const hasMore = end < rows.length;
  return JSON.stringify({
    data: rows.slice(start, end).map(({ id, description, createdAt }) => ({
      ...transferBody(id, description),
      createdAt: new Date(createdAt).toISOString(),
    })),
    hasMore,
    nextCursor: hasMore ? String(end) : null,
  });
}
