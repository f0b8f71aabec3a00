import type { Page } from '../../schemas/page.ts';
import type { PageQuery } from '../../schemas/primitives.ts';
import { fingerprint } from '../platform/fingerprint.ts';
import { SandboxError } from '../platform/sandbox-error.ts';
import type { ListOrder, Table } from '../platform/table.ts';

/** The two faults that change the content of a page but not its form. */
export type PageFault = 'repeated_cursor' | 'empty_page';

/** The position that a cursor encodes. */
interface Point {
  /** The page starts with the first row after this position. */
  position: number;
  /** Distinguishes cursors of one position: an empty page changes the cursor, not the position. */
  hop: number;
}

interface PageRequest<Row> {
  /** The operation and its filters. A cursor is valid only with the scope and limit of its page. */
  scope: string;
  query: PageQuery;
  pageSize: number;
  order: ListOrder;
  keep: (row: Row) => boolean;
  fault: PageFault | undefined;
}

/**
 * Returns one page of a table. A cursor names the last row of its page, so rows that are created or
 * deleted meanwhile neither repeat nor hide an item.
 * @throws SandboxError when the cursor was altered, or belongs to another list, filter or limit.
 */
export function createPage<Row extends { readonly id: `${string}_${string}` }, Item>(
  table: Pick<Table<string, Row>, 'after'>,
  view: (row: Row) => Item,
  { scope, query, pageSize, order, keep, fault }: PageRequest<Row>,
): Page<Item> {
  const { cursor } = query;
  const start =
    typeof cursor === 'string'
      ? decodeCursor(cursor, scope, query.limit)
      : { position: 0, hop: 0, limit: query.limit ?? pageSize };
  const { limit } = start;
  if (fault === 'empty_page') {
    const nextCursor = encodeCursor({ position: start.position, hop: start.hop + 1 }, scope, limit);
    return { data: [], hasMore: true, nextCursor };
  }
  const data: Item[] = [];
  let { position } = start;
  let hasMore = false;
  for (const [at, row] of table.after(start.position, order)) {
    if (!keep(row)) continue;
    if (data.length === limit) {
      hasMore = true;
      break;
    }
    data.push(view(row));
    position = at;
  }
  if (fault === 'repeated_cursor') {
    // A first page has no cursor to repeat, so its cursor is new, and the next page repeats that.
    const end = encodeCursor({ position, hop: start.hop }, scope, limit);
    return { data, hasMore: true, nextCursor: cursor ?? end };
  }
  const nextCursor = hasMore ? encodeCursor({ position, hop: 0 }, scope, limit) : null;
  return { data, hasMore, nextCursor };
}

/** Encodes as base64url, which lacks `+` and `/`: digits, letters and points never lead to them. */
const encodeBase64Url = (content: string): string => btoa(content).replaceAll('=', '');

function decodeBase64Url(cursor: string): string {
  try {
    return atob(cursor);
  } catch {
    return '';
  }
}

function encodeCursor({ position, hop }: Point, scope: string, limit: number): string {
  const content = [position, hop, limit, fingerprint(scope, 8)].join('.');
  return encodeBase64Url(`${content}.${fingerprint(content, 8)}`);
}

/** Reads a cursor. Its own limit applies if the query has none; a different limit is rejected. */
function decodeCursor(
  cursor: string,
  scope: string,
  limit: number | undefined,
): Point & { limit: number } {
  const reject = (reason: string) =>
    new SandboxError(`cursor: ${reason}.`, {
      code: 'invalid_cursor',
      status: 400,
      details: { fields: { cursor: reason } },
    });
  const [content = '', seal] = decodeBase64Url(cursor).split(/\.(?=[^.]*$)/);
  if (seal !== fingerprint(content, 8) || encodeBase64Url(`${content}.${seal}`) !== cursor) {
    throw reject('this Platform never returned it as a nextCursor');
  }
  const [position, hop, cursorLimit, cursorScope] = content.split('.');
  if (cursorScope !== fingerprint(scope, 8)) {
    throw reject('it belongs to another list, or to the same list with other filters');
  }
  if (limit !== undefined && cursorLimit !== String(limit)) {
    throw reject(
      `it belongs to pages of limit ${cursorLimit}, and limit ${limit} was sent with it`,
    );
  }
  return { position: Number(position), hop: Number(hop), limit: Number(cursorLimit) };
}
