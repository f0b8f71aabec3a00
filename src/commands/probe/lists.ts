import {
  isKnownAccountStatus,
  isKnownAccountType,
  isKnownCounterpartyType,
  isKnownEntityStatus,
  isKnownEntityType,
  isKnownIbanStatus,
  isKnownKycStatus,
  isKnownTosStatus,
  isKnownTransferDirection,
  isKnownTransferStatus,
  isKnownTransferType,
} from '../../index.ts';
import type { IdPrefix } from '../../internal/formats.ts';
import { isObject } from '../../internal/objects.ts';
import {
  AccountSchema,
  CounterpartySchema,
  EntitySchema,
  IbanSchema,
  TransferSchema,
} from '../../schemas/index.ts';
import type { Platform, Reading } from './platform.ts';

export type Row = Readonly<Record<string, unknown>>;

type Guard = (value: unknown) => boolean;

/** A list below the base URL (`/v0`), and what the API reference says about its records. */
export interface Noun {
  readonly name: 'entities' | 'accounts' | 'transfers' | 'counterparties' | 'ibans';
  readonly path: string;
  readonly prefix: IdPrefix;
  readonly schema: {
    safeParse(value: unknown): {
      readonly error?:
        | {
            readonly issues: readonly {
              readonly path: readonly PropertyKey[];
              readonly code: string;
            }[];
          }
        | undefined;
    };
  };
  readonly enums: Readonly<Record<string, Guard>>;
  readonly money: readonly string[];
}

export const nouns: readonly Noun[] = [
  {
    name: 'entities',
    path: '/entities',
    prefix: 'ent_',
    schema: EntitySchema,
    enums: {
      type: isKnownEntityType,
      status: isKnownEntityStatus,
      kycStatus: isKnownKycStatus,
      tosStatus: isKnownTosStatus,
    },
    money: [],
  },
  {
    name: 'accounts',
    path: '/accounts',
    prefix: 'acc_',
    schema: AccountSchema,
    enums: { type: isKnownAccountType, status: isKnownAccountStatus },
    money: ['availableBalance', 'pendingBalance', 'lockedBalance', 'holdingBalance'],
  },
  {
    name: 'transfers',
    path: '/transfers',
    prefix: 'txfr_',
    schema: TransferSchema,
    enums: {
      type: isKnownTransferType,
      status: isKnownTransferStatus,
      direction: isKnownTransferDirection,
    },
    money: ['amount'],
  },
  {
    name: 'counterparties',
    path: '/counterparties',
    prefix: 'cpty_',
    schema: CounterpartySchema,
    enums: { type: isKnownCounterpartyType },
    money: [],
  },
  {
    name: 'ibans',
    path: '/ibans',
    prefix: 'iban_',
    schema: IbanSchema,
    enums: { status: isKnownIbanStatus },
    money: [],
  },
];

/** The pages that the probe has read of a list, and their records. */
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

/** How many transfers the probe reads to find their order. */
export const sampleSize = 1_000;
/** 20 pages hold 1,000 transfers even if a platform ignores `limit` and sends pages of 50. */
const maxPages = 20;
const otherPages = 3;

/** Reads the first records of a list: 1,000 transfers, or 300 records of another kind. */
export const readList = (platform: Platform, noun: Noun): Promise<Listing> =>
  noun.name === 'transfers'
    ? readPages(platform, noun.path, {}, { pages: maxPages, maxRows: sampleSize })
    : readPages(platform, noun.path, {}, { pages: otherPages });

/** Reads a list page by page, until it ends or the given number of pages or records is read. */
export async function readPages(
  platform: Platform,
  path: string,
  filter: Readonly<Record<string, string>>,
  {
    pages,
    maxRows = Number.POSITIVE_INFINITY,
    limit = 100,
    isFresh = false,
  }: {
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
    const reading = await (isFresh ? platform.read(path, query) : platform.get(path, query));
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

/** Makes up an id that looks like the platform's own ids, but most likely belongs to no record. */
export function createUnknownId({ prefix }: Noun, rows: readonly Row[]): string {
  const suffix = rows
    .map(({ id }) => id)
    .find((id): id is string => typeof id === 'string' && id.startsWith(prefix))
    ?.slice(prefix.length);
  if (suffix === undefined) return `${prefix}${'9'.repeat(randomLength)}`;
  // If the platform counts its ids, random digits might be the id of a record.
  if (/^\d+$/.test(suffix)) return prefix + '9'.repeat(Math.max(suffix.length, 6));
  // Replaces each of the last characters by a random one of its kind. Hexadecimal ids stay so.
  const kept = suffix.slice(0, -randomLength);
  const letters = /^[0-9a-f-]+$/i.test(suffix) ? 'abcdef' : 'abcdefghijklmnopqrstuvwxyz';
  const random = suffix
    .slice(-randomLength)
    .replaceAll(/[a-z]/g, () => pick(letters))
    .replaceAll(/[A-Z]/g, () => pick(letters.toUpperCase()))
    .replaceAll(/\d/g, () => pick(digits));
  return prefix + kept + random;
}

const digits = '0123456789';
/**
 * How many characters at the end of a made-up id are random. The others stay, because they hold the
 * version of a UUID or the time of a ULID.
 */
const randomLength = 12;
const pick = (from: string): string => from.charAt(Math.floor(Math.random() * from.length));
