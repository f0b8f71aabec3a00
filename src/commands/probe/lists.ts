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
  /** What contradicts the documented envelope, or why a page could not be read. */
  readonly problem: string | undefined;
}

/** So many transfers show an order. */
export const sampleSize = 1_000;
/** A platform that ignores `limit` sends pages of 50. */
const maxPages = 20;
const otherPages = 3;

/** The first records of a list: 1,000 transfers, or 300 of another noun. */
export const readList = (platform: Platform, noun: Noun): Promise<Listing> =>
  noun.name === 'transfers'
    ? readPages(platform, noun.path, {}, maxPages, sampleSize)
    : readPages(platform, noun.path, {}, otherPages);

/** Reads a list by its cursors, until it ends, or there are as many pages or records. */
export async function readPages(
  platform: Platform,
  path: string,
  filter: Readonly<Record<string, string>>,
  pages: number,
  maxRows = Number.POSITIVE_INFINITY,
): Promise<Listing> {
  const readings: Reading[] = [];
  const rows: Row[] = [];
  const cursors = new Set<string>();
  const end = (isComplete: boolean, problem?: string): Listing => ({
    readings,
    rows,
    isComplete,
    problem,
  });
  let cursor: string | undefined;
  while (readings.length < pages && rows.length < maxRows) {
    const query = { ...filter, limit: 100, ...(cursor === undefined ? {} : { cursor }) };
    const reading = await platform.get(path, query);
    readings.push(reading);
    if (reading.problem !== undefined) return end(false, reading.problem);
    const page = readEnvelope(reading.body);
    if (typeof page === 'string') return end(false, page);
    rows.push(...page.rows);
    if (!page.hasMore) return end(true);
    if (cursors.has(page.cursor)) return end(false, 'the same nextCursor came twice');
    ({ cursor } = page);
    cursors.add(cursor);
  }
  return end(false);
}

type Envelope =
  | { readonly rows: readonly Row[]; readonly hasMore: false }
  | { readonly rows: readonly Row[]; readonly hasMore: true; readonly cursor: string };

/** The parts of a page, or what contradicts the documented envelope. */
function readEnvelope(body: unknown): Envelope | string {
  const { data, hasMore, nextCursor } = Object(body) as Record<string, unknown>;
  if (!Array.isArray(data)) return 'data is no array';
  if (!data.every(isObject)) return 'data has an item that is no object';
  const rows = data as readonly Row[];
  if (typeof hasMore !== 'boolean') return 'hasMore is no boolean';
  const hasCursor = typeof nextCursor === 'string' && nextCursor !== '';
  if (!hasMore) {
    return hasCursor ? 'hasMore is false, and there is a nextCursor' : { rows, hasMore };
  }
  if (!hasCursor) return 'hasMore is true, and there is no nextCursor';
  if (rows.length === 0) return 'an empty page, and hasMore is true';
  return { rows, hasMore, cursor: nextCursor };
}

/** An id of the form that the platform's own have, which is most likely nobody's. */
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
/** What is in front of it stays: the version of a UUID, the time of a ULID. */
const randomLength = 12;
const pick = (from: string): string => from.charAt(Math.floor(Math.random() * from.length));
