import type { Evidence } from '../evidence.ts';
import type { Listing, Noun, Row } from '../lists.ts';
import { reads, type Check } from './check.ts';
import {
  confirmed,
  contradicted,
  count,
  finding,
  isFilled,
  tally,
  unknown,
  type Verdict,
} from './verdict.ts';

interface Filter {
  readonly row: number;
  readonly name: Noun['name'];
  readonly parameter: 'accountId' | 'entityId';
  /** Fields of a record, one of which must hold the id to filter by. @default the parameter */
  readonly fields?: readonly [string, ...string[]];
  /** Whether the client relies on this filter of the platform. @default true */
  readonly isAssumed?: boolean;
}

const filters: readonly Filter[] = [
  { row: 4, name: 'accounts', parameter: 'entityId', isAssumed: false },
  {
    row: 6,
    name: 'transfers',
    parameter: 'accountId',
    fields: ['sourceAccountId', 'destinationAccountId'],
  },
  { row: 7, name: 'counterparties', parameter: 'entityId' },
  { row: 8, name: 'ibans', parameter: 'entityId' },
  { row: 8, name: 'ibans', parameter: 'accountId' },
];

export const filterChecks: readonly Check[] = filters.map((filter) =>
  reads(
    filter.row,
    `Does GET /${filter.name} filter by ${filter.parameter}?`,
    (seen) => seen.list(filter.name),
    (listing, seen) => checkFilter(filter, listing, seen),
  ),
);

const ownerNames = { accountId: 'accounts', entityId: 'entities' } as const;

/**
 * Compares a filtered list with the whole list, to see whether the platform filters. `rows` are the
 * records of the whole list, and an owner is an account or entity whose id some records have in the
 * filtered field. The check filters by one owner that the list has.
 */
async function checkFilter(
  { name, parameter, fields = [parameter], isAssumed = true }: Filter,
  { rows, problem }: Listing,
  seen: Evidence,
): Promise<Verdict> {
  const [field] = fields;
  const advice = `${name}.list({ ${parameter} }) does not select: check each item yourself.`;
  // A filter that does not work contradicts the client only if the client relies on the filter.
  const reject = (fact: string, details?: string): Verdict =>
    isAssumed ? contradicted(fact, details, advice) : finding(fact, details);
  const owners = findOwners(rows, field);
  const owner = owners.at(-1);
  if (owner === undefined) {
    const why = problem === undefined ? '' : `The list could not be read: ${problem}.`;
    return unknown(`No ${name} were read; the check needs those of two.`, why);
  }
  const filtered = await seen.filter(name, parameter, owner);
  const status = filtered.readings.at(-1)?.status ?? 0;
  if (status >= 400 && status < 500) return reject(`Rejected with ${filtered.problem}.`);
  if (filtered.problem !== undefined && !filtered.isContradictory) {
    return unknown(`Not readable: ${filtered.problem}.`);
  }
  // Records of other owners show that the platform ignores the filter.
  const others = filtered.rows.filter((row) => !fields.some((each) => row[each] === owner));
  if (others.length > 0) {
    const all = count(filtered.rows.length, name);
    return reject('Ignored.', `Not of ${owner}: ${others.length} of ${all}.`);
  }
  const ids = new Set(filtered.rows.map(({ id }) => id));
  // Records of this owner that only the whole list has show that the filter hides records.
  const hidden = rows.filter((row) => row[field] === owner && !ids.has(row['id']));
  if (hidden.length > 0 && filtered.isComplete) {
    const figures = `Only the unfiltered list has ${count(hidden.length, name)} of ${owner}.`;
    const ban =
      name === 'transfers'
        ? 'do not use createOnce: its search would miss payments that were made.'
        : `do not use ${name}.list({ ${parameter} }).`;
    return { ...contradicted('Hides records.', figures, ban), withdraws: 'transfersNewestFirst' };
  }
  if (owners.length < 2) {
    // If all records have one owner, a filter by that owner excludes nothing. So the check filters
    // by an unknown owner, for whom the list has to be empty.
    const other = await seen.filter(name, parameter, await seen.unknownIdOf(ownerNames[parameter]));
    if (other.rows.length > 0) {
      return reject('Ignored.', `${count(other.rows.length, name)} for an unknown id.`);
    }
    const isRead = other.problem === undefined || other.readings[0]?.status === 404;
    if (!isRead)
      return unknown(`All ${name} read belong to one ${field}; the check needs those of two.`);
  }
  const honoured = isAssumed ? confirmed : finding;
  return honoured('Honoured.', `${count(filtered.rows.length, name)} of ${owner}.`);
}

/** The different ids in one field of the records, the most frequent id first. */
export const findOwners = (rows: readonly Row[], field: string): string[] =>
  tally(rows.map((row) => row[field]).filter(isFilled)).map(([owner]) => owner);
