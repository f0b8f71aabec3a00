import type { ListOrder } from '../../src/sandbox/platform/table.ts';
import { transferBody } from './bodies.ts';

/*
 * A list of transfers with several pages. It shows older transfers, the payments of a test and, in
 * some plans, transfers of others that followed the payments.
 */

/** How a platform lists transfers. */
export interface Listing {
  readonly order: ListOrder;
  /** Whether so many other transfers follow that newest first no payment is on the first page. */
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

/** More than two pages. A search may stop after 100 items, and a page has at least 81 items. */
const otherCount = 200;
/** The position of the first transfer that follows the payments. Higher than any payment's. */
const newerPosition = 10_000;
/** The age at which a search may stop, although clocks may differ by two minutes. */
const maxAgeMs = 10 * 60_000;

/** Sorts rows in the order of the sandbox's option `listOrder`. */
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
      // A takeover asks an operator about a later transfer with equal terms, as it may be the payment.
      ...(id.startsWith('txfr_new') && { amount: '2.00' }),
      createdAt: new Date(createdAt).toISOString(),
    })),
    hasMore,
    nextCursor: hasMore ? String(end) : null,
  });
}
