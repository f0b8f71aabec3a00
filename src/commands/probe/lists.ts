import {
  isAccountId,
  isCounterpartyId,
  isEntityId,
  isIbanId,
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
  isTransferId,
} from '../../index.ts';
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

/** A list of the versioned API, and what is documented of its records. */
export interface Noun {
  readonly name: 'entities' | 'accounts' | 'transfers' | 'counterparties' | 'ibans';
  readonly path: string;
  readonly prefix: string;
  readonly isId: Guard;
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
    isId: isEntityId,
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
    isId: isAccountId,
    schema: AccountSchema,
    enums: { type: isKnownAccountType, status: isKnownAccountStatus },
    money: ['availableBalance', 'pendingBalance', 'lockedBalance', 'holdingBalance'],
  },
  {
    name: 'transfers',
    path: '/transfers',
    prefix: 'txfr_',
    isId: isTransferId,
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
    isId: isCounterpartyId,
    schema: CounterpartySchema,
    enums: { type: isKnownCounterpartyType },
    money: [],
  },
  {
    name: 'ibans',
    path: '/ibans',
    prefix: 'iban_',
    isId: isIbanId,
    schema: IbanSchema,
    enums: { status: isKnownIbanStatus },
    money: [],
  },
];

/** The pages of a list that were read, and their records. */
export interface Listing {
  readonly readings: readonly Reading[];
  readonly rows: readonly Row[];
  /** Whether the last page says that none follows. */
  readonly isComplete: boolean;
  /** Why the last page could not be read, or what contradicts the documented envelope. */
  readonly problem: string | undefined;
  /** Whether the problem is in a page that was read. */
  readonly isContradictory: boolean;
}

/** How many transfers are read to find their order. */
export const sampleSize = 1_000;
/** A platform that ignores `limit` sends pages of 50. */
const maxPages = 20;
const otherPages = 3;

/** The first records of a list: 1,000 transfers, or 300 of another noun. */
export const readList = (platform: Platform, noun: Noun): Promise<Listing> =>
  noun.name === 'transfers'
    ? readPages(platform, noun.path, {}, { pages: maxPages, maxRows: sampleSize })
    : readPages(platform, noun.path, {}, { pages: otherPages });

/** Reads a list by its cursors, until it ends, or there are as many pages or records. */
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
    /** Whether pages that an earlier check has read are read again. */
    readonly isFresh?: boolean;
  },
): Promise<Listing> {
  const readings: Reading[] = [];
  const rows: Row[] = [];
  const cursors = new Set<string>();
  const end = (isComplete: boolean, problem?: string): Listing => ({
    readings,
    rows,
    isComplete,
    problem,
    isContradictory: problem !== undefined && readings.at(-1)?.problem === undefined,
  });
  let cursor: string | undefined;
  while (readings.length < pages && rows.length < maxRows) {
    const query = { ...filter, limit, ...(cursor === undefined ? {} : { cursor }) };
    const reading = await (isFresh ? platform.read(path, query) : platform.get(path, query));
    readings.push(reading);
    if (reading.problem !== undefined) return end(false, reading.problem);
    const page = readEnvelope(reading.body);
    rows.push(...page.rows);
    if (page.problem !== undefined) return end(false, page.problem);
    if (page.cursor === undefined) return end(true);
    if (cursors.has(page.cursor)) return end(false, 'the same nextCursor came twice');
    cursors.add(page.cursor);
    ({ cursor } = page);
  }
  return end(false);
}

interface Envelope {
  readonly rows: readonly Row[];
  /** Of the next page; undefined on the last one. */
  readonly cursor?: string | undefined;
  /** What contradicts the documented envelope. */
  readonly problem?: string | undefined;
}

/** Reads the parts of a page. */
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

/** An id in the form of the platform's own, most likely without a record. */
export function createUnknownId({ prefix }: Noun, rows: readonly Row[]): string {
  const suffix = rows
    .map(({ id }) => id)
    .find((id): id is string => typeof id === 'string' && id.startsWith(prefix))
    ?.slice(prefix.length);
  if (suffix === undefined) return `${prefix}${'9'.repeat(randomLength)}`;
  // A counter would be hit by random digits.
  if (/^\d+$/.test(suffix)) return prefix + '9'.repeat(Math.max(suffix.length, 6));
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
 * Number of last characters that are randomised. The prefix stays: it holds the version of a UUID or the
 * time of a ULID.
 */
const randomLength = 12;
const pick = (from: string): string => from.charAt(Math.floor(Math.random() * from.length));
