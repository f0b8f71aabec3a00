import type { Page } from '../../schemas/page.ts';
import type { PageQuery } from '../../schemas/primitives.ts';
import { hashToHex } from '../platform/hash.ts';
import { SandboxError } from '../platform/sandbox-error.ts';
import type { ListOrder, Table } from '../platform/table.ts';

/** The two faults that change the items or the cursor of a page, but not the page's shape. */
export type PageFault = 'repeated_cursor' | 'empty_page';

interface Point {
  /** In a cursor, the position of the last row already returned. The next page starts after it. */
  position: number;
  /** Counts successive empty pages, so that the cursor of each empty page is different. */
  hop: number;
}

interface PageRequest<Row> {
  /** The operation and its filters. A cursor is valid only for requests with the same scope. */
  scope: string;
  query: PageQuery;
  pageSize: number;
  order: ListOrder;
  keep: (row: Row) => boolean;
  fault: PageFault | undefined;
}

/**
 * Returns one page of those rows of a table that `keep` selects. The cursor contains the position
 * of the page's last row, so rows that are created or deleted between two requests neither repeat
 * nor hide an item.
 * @throws SandboxError when the cursor was altered, or belongs to another list, filter or limit.
 */
export function createPage<Row extends { readonly id: string }, Item>(
  table: Pick<Table<Row>, 'after'>,
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
    // The position stays, so the next page has the items. A higher `hop` makes the cursor differ
    // from the one in the request.
    const nextCursor = encodeCursor({ position: start.position, hop: start.hop + 1 }, scope, limit);
    return { data: [], hasMore: true, nextCursor };
  }
  const data: Item[] = [];
  let { position } = start;
  // Only a row beyond the limit shows that another page follows.
  let hasMore = false;
  for (const [rowPosition, row] of table.after(start.position, order)) {
    if (!keep(row)) continue;
    if (data.length === limit) {
      hasMore = true;
      break;
    }
    data.push(view(row));
    position = rowPosition;
  }
  if (fault === 'repeated_cursor') {
    // The request for a first page has no cursor that the page could repeat. So the first page
    // returns a new cursor, and the second page repeats that cursor.
    const end = encodeCursor({ position, hop: start.hop }, scope, limit);
    return { data, hasMore: true, nextCursor: cursor ?? end };
  }
  const nextCursor = hasMore ? encodeCursor({ position, hop: 0 }, scope, limit) : null;
  return { data, hasMore, nextCursor };
}

/**
 * Encodes a cursor in base64url. `btoa` suffices, because the characters in a cursor never lead to
 * `+` or `/`.
 */
const encodeBase64Url = (content: string): string => btoa(content).replaceAll('=', '');

function decodeBase64Url(cursor: string): string {
  try {
    return atob(cursor);
  } catch {
    return '';
  }
}

/** Joins the parts of a cursor by dots. The last part is a checksum of the others. */
function encodeCursor({ position, hop }: Point, scope: string, limit: number): string {
  const content = [position, hop, limit, hashToHex(scope, 8)].join('.');
  return encodeBase64Url(`${content}.${hashToHex(content, 8)}`);
}

/**
 * Decodes a cursor that `encodeCursor` created, and returns its content. If the query has no limit,
 * the limit in the cursor applies.
 * @throws SandboxError when the cursor was altered, or the query has another scope or limit.
 */
function decodeCursor(cursor: string, scope: string, limit: number | undefined) {
  const reject = (reason: string) =>
    new SandboxError(`cursor: ${reason}.`, {
      code: 'invalid_cursor',
      status: 400,
      details: { fields: { cursor: reason } },
    });
  const [content = '', checksum] = decodeBase64Url(cursor).split(/\.(?=[^.]*$)/); // at the last dot
  // Several base64 texts decode to the same characters, but only one of them was returned.
  const isCanonical = encodeBase64Url(`${content}.${checksum}`) === cursor;
  if (checksum !== hashToHex(content, 8) || !isCanonical) {
    throw reject('this Platform never returned it as a nextCursor');
  }
  const [position, hop, cursorLimit, cursorScope] = content.split('.');
  if (cursorScope !== hashToHex(scope, 8)) {
    throw reject('it belongs to another list, or to the same list with other filters');
  }
  if (limit !== undefined && cursorLimit !== String(limit)) {
    throw reject(
      `it belongs to pages of limit ${cursorLimit}, and limit ${limit} was sent with it`,
    );
  }
  return { position: Number(position), hop: Number(hop), limit: Number(cursorLimit) };
}
