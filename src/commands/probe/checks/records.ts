import { isWellFormedId } from '../../../internal/formats.ts';
import type { NounListing } from '../evidence.ts';
import type { Noun, Row } from '../lists.ts';
import { lists, reads, transfers, type Check } from './check.ts';
import {
  confirmed,
  contradicted,
  count,
  finding,
  findingOf,
  isFilled,
  tally,
  unknown,
  type Verdict,
} from './verdict.ts';

export const recordChecks: readonly Check[] = [
  reads(9, 'Are amounts and balances decimal strings?', lists, (all) => {
    const values = all
      .flatMap(({ noun: { name, money }, listing: { rows } }) =>
        money.flatMap((each) =>
          rows.map((row) => ({ field: `${name}.${each}`, value: row[each] })),
        ),
      )
      .filter(({ value }) => value !== undefined && value !== null);
    if (values.length === 0) return unknown('No amount was read; the check needs one account.');
    const wrong = values.filter(
      ({ value }) => typeof value !== 'string' || !/^-?\d+(\.\d+)?$/.test(value),
    );
    if (wrong.length > 0) {
      const kinds = wrong.map(({ field, value }) =>
        typeof value === 'string'
          ? `${field} is no plain decimal`
          : `${field} is a ${typeof value}`,
      );
      return contradicted(
        `Not all: ${[...new Set(kinds)].join(', ')}.`,
        `${wrong.length} of ${values.length}.`,
        'createOnce reports such payments as ambiguous when it has to search for one.',
      );
    }
    const decimals = values.map(({ value }) => String(value).split('.')[1]?.length ?? 0);
    return confirmed(
      'All are.',
      `${values.length.toLocaleString('en')} values with ${Math.min(...decimals)} to ${Math.max(...decimals)} decimals.`,
    );
  }),
  reads(10, 'Which currencies are there?', lists, (all) => {
    const currencies = all
      .flatMap(({ listing }) => listing.rows.map((row) => row['currency']))
      .filter(isFilled);
    if (currencies.length === 0)
      return unknown('No currency was read; the check needs one account.');
    return findingOf(currencies);
  }),
  reads(22, 'Do all ids have the documented prefix and no strange character?', lists, (all) => {
    const ids = all.flatMap(({ listing }) => listing.rows.map(({ id }) => id));
    if (ids.length === 0) return unknown('No record was read; the check needs one.');
    const wrong = all
      .map(({ noun, listing }) => ({
        name: noun.name,
        number: listing.rows.filter(({ id }) => !isWellFormedId(noun.prefix, id)).length,
      }))
      .filter(({ number }) => number > 0);
    if (wrong.length > 0) {
      return contradicted(
        `Not those of ${wrong.map(({ name }) => name).join(', ')}.`,
        `${wrong.map(({ name, number }) => count(number, name)).join(', ')}.`,
        'the client rejects such ids; use request.',
      );
    }
    const maxLength = Math.max(...ids.map((id) => String(id).length));
    return confirmed(
      'All do.',
      `${count(ids.length, 'ids')}, the longest of ${maxLength} characters.`,
    );
  }),
  reads(30, 'Are all documented fields there, with the documented type?', lists, (all) => {
    const total = countRecords(all);
    if (total === 0) return noRecords;
    const drift = all.flatMap(({ noun, listing: { rows } }) => {
      const fields = rows.flatMap((row) => {
        const issues = noun.schema.safeParse(row).error?.issues ?? [];
        const names = new Set(issues.map(({ path }) => String(path[0])));
        return [...names].map((name) => `${noun.name}.${name} ${describeField(row[name])}`);
      });
      return tally(fields).map(([field, number]) => ({
        field,
        share: `${field.split(' ')[0]} in ${number} of ${rows.length}`,
      }));
    });
    if (drift.length === 0) return confirmed('All are.', `${count(total, 'records')}.`);
    const fields = drift.map(({ field }) => field).toSorted();
    const shares = drift.map(({ share }) => share);
    return contradicted(`Not all: ${fields.join(', ')}.`, `${shares.join(', ')}.`);
  }),
  reads(31, 'Which undocumented fields are there?', lists, (all) =>
    findUndocumented(all, ({ schema }, row) => {
      const shape = 'shape' in schema ? (Object(schema.shape) as object) : {};
      return Object.keys(row).filter((name) => !Object.hasOwn(shape, name));
    }),
  ),
  reads(33, 'Which statuses, types and directions are undocumented?', lists, (all) =>
    findUndocumented(all, ({ enums }, row) =>
      Object.entries(enums).flatMap(([field, isKnown]) => {
        const value = row[field];
        return isFilled(value) && !isKnown(value) ? [`${field} ${value}`] : [];
      }),
    ),
  ),
  reads(42, 'Which direction do book transfers have?', transfers, ({ rows }) => {
    const directions = rows
      .filter(({ type }) => type === 'book')
      .map(({ direction }) => String(direction));
    if (directions.length === 0) return unknown('No book transfer was read; the check needs one.');
    return findingOf(directions, ' and ');
  }),
];

const noRecords = unknown('No record was read; the check needs one in each list.');
const countRecords = (all: readonly NounListing[]): number =>
  all.reduce((sum, { listing }) => sum + listing.rows.length, 0);

function describeField(value: unknown): string {
  if (value === undefined) return 'is missing';
  return value === null ? 'is null' : `is a ${typeof value}`;
}

function findUndocumented(
  all: readonly NounListing[],
  find: (noun: Noun, row: Row) => string[],
): Verdict {
  if (countRecords(all) === 0) return noRecords;
  const found = all.flatMap(({ noun, listing }) =>
    listing.rows.flatMap((row) => find(noun, row).map((each) => `${noun.name}.${each}`)),
  );
  return found.length === 0 ? finding('None.') : findingOf(found);
}
