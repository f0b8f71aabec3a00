import { isObject } from '../../internal/objects.ts';
import type { PlatformReader, Reading } from './platform-reader.ts';

export type Row = Readonly<Record<string, unknown>>;

/** The pages that the probe has read of the list of transfers, and their transfers. */
export interface Listing {
  readonly readings: readonly Reading[];
  readonly rows: readonly Row[];
  /** Whether the last page that was read says that no page follows. */
  readonly isComplete: boolean;
  /** Why the last page could not be read, or how it differs from the documented envelope. */
  readonly problem: string | undefined;
  /** Whether the last page was read, and `problem` is how that page differs from the envelope. */
  readonly isContradictory: boolean;
}

/** Reads the list page by page, until it ends or the given number of pages or rows is read. */
export async function readTransfers(
  platform: PlatformReader,
  {
    filter = {},
    pages,
    maxRows = Number.POSITIVE_INFINITY,
    limit = 100,
    isFresh = false,
  }: {
    readonly filter?: { readonly accountId?: string };
    readonly pages: number;
    readonly maxRows?: number;
    readonly limit?: number;
    /** Whether to request pages again that an earlier check has read. */
    readonly isFresh?: boolean;
  },
): Promise<Listing> {
  const readings: Reading[] = [];
  const rows: Row[] = [];
  const cursors = new Set<string>();
  const createListing = (isComplete: boolean, problem?: string): Listing => ({
    readings,
    rows,
    isComplete,
    problem,
    // If the last page could be read, the problem is in what the page says.
    isContradictory: problem !== undefined && readings.at(-1)?.problem === undefined,
  });
  let cursor: string | undefined;
  while (readings.length < pages && rows.length < maxRows) {
    const query = { ...filter, limit, ...(cursor === undefined ? {} : { cursor }) };
    const reading = await (isFresh
      ? platform.read('/transfers', query)
      : platform.get('/transfers', query));
    readings.push(reading);
    if (reading.problem !== undefined) return createListing(false, reading.problem);
    const page = readEnvelope(reading.body);
    rows.push(...page.rows);
    if (page.problem !== undefined) return createListing(false, page.problem);
    if (page.cursor === undefined) return createListing(true);
    if (cursors.has(page.cursor)) return createListing(false, 'the same nextCursor came twice');
    cursors.add(page.cursor);
    ({ cursor } = page);
  }
  return createListing(false);
}

interface Envelope {
  readonly rows: readonly Row[];
  /** Cursor of the next page. Undefined on the last page. */
  readonly cursor?: string | undefined;
  /** How the page differs from the documented envelope. */
  readonly problem?: string | undefined;
}

/** Reads the records and the cursor of a page, and compares the page with the documented form. */
export function readEnvelope(body: unknown): Envelope {
  const { data, hasMore, nextCursor } = Object(body) as Record<string, unknown>;
  if (!Array.isArray(data)) return { rows: [], problem: 'data is no array' };
  if (!data.every(isObject)) return { rows: [], problem: 'data has an item that is no object' };
  const rows = data as readonly Row[];
  const cursor = typeof nextCursor === 'string' && nextCursor !== '' ? nextCursor : undefined;
  if (typeof hasMore !== 'boolean') return { rows, problem: 'hasMore is no boolean' };
  if (!hasMore) {
    const problem =
      cursor === undefined ? undefined : 'hasMore is false, and there is a nextCursor';
    return { rows, problem };
  }
  if (cursor === undefined) return { rows, problem: 'hasMore is true, and there is no nextCursor' };
  return {
    rows,
    cursor,
    problem: rows.length > 0 ? undefined : 'an empty page, and hasMore is true',
  };
}

/** How many characters at the end of a made-up id differ. So few that a UUID or a ULID keeps its form. */
const changedLength = 12;

/** Makes up an id that looks like the platform's own ids, but most likely belongs to no record. */
export function createUnknownId(prefix: string, ids: readonly unknown[]): string {
  const isKnown = (id: unknown): id is string => typeof id === 'string' && id.startsWith(prefix);
  const suffix = (ids.find(isKnown) ?? prefix).slice(prefix.length);
  // If the platform counts its ids, a longer number belongs to no record.
  if (/^\d*$/.test(suffix)) return prefix + '9'.repeat(Math.max(suffix.length, changedLength));
  const changed = suffix
    .slice(-changedLength)
    .replaceAll(/[a-z]/g, 'f')
    .replaceAll(/[A-Z]/g, 'F')
    .replaceAll(/\d/g, '9');
  return prefix + suffix.slice(0, -changedLength) + changed;
}
