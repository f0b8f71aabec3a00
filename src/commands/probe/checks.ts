import { hasOffset, parseCreatedAt } from '../../search/compare.ts';
import { OrderCheck } from '../../search/list-order.ts';
import { parseHttpDate } from '../../calls/time.ts';
import { findProxy } from '../../transports/proxy.ts';
import type { Evidence } from './evidence.ts';
import { sampleSize, type Listing, type Noun, type Row } from './lists.ts';
import {
  idempotencyHeader,
  isFinalStatus,
  type Creation,
  type KeyTrial,
  type Payment,
} from './payment.ts';
import type { Reading } from './platform.ts';
import type { TlsFacts } from './tls.ts';
import { describeErrorShape } from './error-shape.ts';
import { describeChange } from './description.ts';

export type Result = 'confirmed' | 'contradicted' | 'found' | 'unknown';

/** An option of the client that follows from what was seen. */
export interface Suggestion {
  readonly name: string;
  readonly value: string | number | boolean;
  /** The value as TypeScript, if it is a function. @default its JSON */
  readonly code?: string | undefined;
  readonly reason: string;
}

export interface Verdict {
  readonly result: Result;
  /** One sentence that stays the same while the platform does; `--compare` compares it. */
  readonly fact: string;
  /** Figures and examples. */
  readonly details?: string | undefined;
  readonly option?: Suggestion | undefined;
  /** What to do where no option helps. */
  readonly advice?: string | undefined;
  /** The option that another check must not suggest any more. */
  readonly withdraws?: string | undefined;
}

interface CheckOf<Needs extends string, Seen> {
  /** The row of docs/gaps.md. */
  readonly row: number;
  readonly question: string;
  /** The requests that it may make. */
  readonly needs: Needs;
  readonly decide: (seen: Seen) => Verdict | Promise<Verdict>;
}

export type Check =
  | CheckOf<'reads', Evidence>
  /** Reads root endpoints with the JWT. */
  | CheckOf<'jwt', Evidence>
  /** Looks at the transfer of `--pay`. */
  | CheckOf<'pay', Payment>
  /** Looks at the further requests of `--pay-twice`. */
  | CheckOf<'pay_twice', Payment>;

/** Each question to a platform, by the row of docs/gaps.md that it is about. */
export const checks: readonly Check[] = [
  {
    row: 4,
    question: 'Does GET /accounts filter by entityId?',
    needs: 'reads',
    decide: (seen) => checkFilter(seen, 'accounts', 'entityId', ['entityId'], false),
  },
  {
    row: 6,
    question: 'Does GET /transfers filter by accountId?',
    needs: 'reads',
    decide: (seen) =>
      checkFilter(seen, 'transfers', 'accountId', ['sourceAccountId', 'destinationAccountId']),
  },
  {
    row: 7,
    question: 'Does GET /counterparties filter by entityId?',
    needs: 'reads',
    decide: (seen) => checkFilter(seen, 'counterparties', 'entityId', ['entityId']),
  },
  {
    row: 8,
    question: 'Does GET /ibans filter by entityId?',
    needs: 'reads',
    decide: (seen) => checkFilter(seen, 'ibans', 'entityId', ['entityId']),
  },
  {
    row: 8,
    question: 'Does GET /ibans filter by accountId?',
    needs: 'reads',
    decide: (seen) => checkFilter(seen, 'ibans', 'accountId', ['accountId']),
  },
  {
    row: 9,
    question: 'Are amounts and balances decimal strings?',
    needs: 'reads',
    decide: checkMoney,
  },
  { row: 10, question: 'Which currencies are there?', needs: 'reads', decide: findCurrencies },
  {
    row: 10,
    question: 'Does a transfer that names no currency have USDC?',
    needs: 'pay',
    decide: checkDefaultCurrency,
  },
  {
    row: 18,
    question: 'Does GET /transactions need an address only, and read its body?',
    needs: 'jwt',
    decide: (seen) => checkRootEndpoint(seen, '/transactions'),
  },
  {
    row: 22,
    question: 'Do all ids have the documented prefix and no strange character?',
    needs: 'reads',
    decide: checkIds,
  },
  {
    row: 28,
    question: 'Which status does a creation have?',
    needs: 'pay',
    decide: checkCreation,
  },
  {
    row: 30,
    question: 'Are all documented fields there, with the documented type?',
    needs: 'reads',
    decide: checkFields,
  },
  {
    row: 31,
    question: 'Which undocumented fields are there?',
    needs: 'reads',
    decide: findUndocumentedFields,
  },
  {
    row: 33,
    question: 'Which statuses, types and directions are undocumented?',
    needs: 'reads',
    decide: findUndocumentedValues,
  },
  {
    row: 36,
    question: 'Has the response to a creation the documented fields?',
    needs: 'pay',
    decide: checkCreationShape,
  },
  {
    row: 37,
    question: 'Which statuses does a transfer go through?',
    needs: 'pay',
    decide: findStatuses,
  },
  {
    row: 40,
    question: 'Can a new transfer be read by its id within 30 seconds?',
    needs: 'pay',
    decide: checkReadable,
  },
  {
    row: 42,
    question: 'Which direction do book transfers have?',
    needs: 'reads',
    decide: findDirections,
  },
  {
    row: 44,
    question: 'Is the JWT accepted at the root endpoints?',
    needs: 'jwt',
    decide: (seen) => checkRootEndpoint(seen, '/instructions/all'),
  },
  { row: 45, question: 'What may this key not read?', needs: 'reads', decide: findForbidden },
  { row: 46, question: 'Which codes do errors have?', needs: 'reads', decide: findCodes },
  {
    row: 47,
    question: 'Which status does an unknown id have?',
    needs: 'reads',
    decide: findUnknownIdStatus,
  },
  {
    row: 50,
    question: 'Have errors the documented Error body?',
    needs: 'reads',
    decide: checkErrorBody,
  },
  {
    row: 51,
    question: `Is ${idempotencyHeader} honoured?`,
    needs: 'pay_twice',
    decide: findIdempotency,
  },
  {
    row: 52,
    question: 'Which rate limits do responses show?',
    needs: 'reads',
    decide: findRateLimits,
  },
  {
    row: 53,
    question: 'Which header has the id of a request?',
    needs: 'reads',
    decide: checkRequestId,
  },
  {
    row: 54,
    question: 'In which order are transfers listed?',
    needs: 'reads',
    decide: findOrder,
  },
  {
    row: 55,
    question: 'What does an unknown cursor do, and how long are cursors?',
    needs: 'reads',
    decide: findCursors,
  },
  {
    row: 58,
    question: 'Does the platform respond without redirects?',
    needs: 'reads',
    decide: checkRedirects,
  },
  {
    row: 59,
    question: 'Does each page say truly whether more follow, and how?',
    needs: 'reads',
    decide: checkEnvelopes,
  },
  {
    row: 60,
    question: 'Does a description come back unchanged?',
    needs: 'pay',
    decide: checkDescription,
  },
  {
    row: 61,
    question: 'How soon is a new transfer listed?',
    needs: 'pay',
    decide: findListingDelay,
  },
  {
    row: 63,
    question: 'What does a limit above 100 do?',
    needs: 'reads',
    decide: findLimitAbove100,
  },
  {
    row: 64,
    question: 'Is createdAt a time with an offset, and not in the future?',
    needs: 'reads',
    decide: checkCreatedAt,
  },
  {
    row: 64,
    question: 'Is createdAt of a new transfer close to the Date of its response?',
    needs: 'pay',
    decide: checkCreatedAtOfPayment,
  },
  {
    row: 64,
    question: 'Have responses a Date, and how far is it from this machine?',
    needs: 'reads',
    decide: checkDate,
  },
  {
    row: 65,
    question: 'Do lists come fresh, not from a cache?',
    needs: 'reads',
    decide: checkCache,
  },
  { row: 66, question: 'How long do responses take?', needs: 'reads', decide: findLatency },
  {
    row: 66,
    question: 'What is between this machine and the platform?',
    needs: 'reads',
    decide: findProxies,
  },
];

const confirmed = (fact: string, details?: string): Verdict => ({
  result: 'confirmed',
  fact,
  details,
});
const finding = (fact: string, details?: string): Verdict => ({ result: 'found', fact, details });
const unknown = (fact: string, details?: string): Verdict => ({
  result: 'unknown',
  fact,
  details,
});
const contradicted = (fact: string, details?: string, advice?: string): Verdict => ({
  result: 'contradicted',
  fact,
  details,
  advice,
});

const count = (number: number, noun: string): string =>
  `${number.toLocaleString('en')} ${number === 1 ? noun.replace(/ies$/, 'y').replace(/s$/, '') : noun}`;

function formatMs(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${Number((ms / 1_000).toFixed(1))} s`;
}

const notPaid = ({ outcome, problem }: Creation): Verdict =>
  outcome === 'unknown'
    ? unknown('It is unknown whether the transfer was made.', `Its response: ${problem}.`)
    : unknown('The transfer was not made.', `Its response: ${problem}.`);

const notSeen = (first: Creation, how: string): Verdict =>
  first.outcome === 'accepted' ? unknown(`The transfer could not be ${how}.`) : notPaid(first);

/** The row that names the transfer, whatever came of it, so that an operator finds it. */
function checkCreation({ first, search }: Payment): Verdict {
  const { fact, details, ...verdict } =
    first.outcome === 'accepted'
      ? finding(`${first.status}.`, `It made ${first.id}.`)
      : notPaid(first);
  return { ...verdict, fact, details: `${details} ${search}` };
}

/** The number of each value, the most frequent first. */
function tally(values: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].toSorted(([, one], [, other]) => other - one);
}

const formatTally = (values: readonly string[]): string =>
  tally(values)
    .map(([value, number]) => `${value} (${number.toLocaleString('en')})`)
    .join(', ');

const isFilled = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Returns the owner with the fewest rows. */
const findRarestOwner = (rows: readonly Row[], field: string): string | undefined =>
  tally(rows.map((row) => row[field]).filter(isFilled)).at(-1)?.[0];

const ownerNames = { accountId: 'accounts', entityId: 'entities' } as const;

/** Compares a filtered list with the whole list. `isAssumed`: whether the client relies on the filter. */
async function checkFilter(
  seen: Evidence,
  name: Noun['name'],
  parameter: 'accountId' | 'entityId',
  fields: readonly [string, ...string[]],
  isAssumed = true,
): Promise<Verdict> {
  const [field] = fields;
  const { rows, problem } = await seen.list(name);
  const owners = tally(rows.map((row) => row[field]).filter(isFilled));
  const owner = findRarestOwner(rows, field);
  if (owner === undefined) {
    const why = problem === undefined ? '' : `The list could not be read: ${problem}.`;
    return unknown(`No ${name} were read; those of two would do.`, why);
  }
  const filtered = await seen.filter(name, parameter, owner);
  const honoured = isAssumed ? confirmed : finding;
  const rejected = isAssumed ? contradicted : finding;
  const status = filtered.readings.at(-1)?.status ?? 0;
  if (status >= 400 && status < 500) {
    return rejected(
      `Rejected with ${filtered.problem}.`,
      undefined,
      isAssumed ? adviceOn(name, parameter) : undefined,
    );
  }
  if (filtered.problem !== undefined && !filtered.isContradictory) {
    return unknown(`Not readable: ${filtered.problem}.`);
  }
  const others = filtered.rows.filter((row) => !fields.some((each) => row[each] === owner));
  if (others.length > 0) {
    const figures = `Not of ${owner}: ${others.length} of ${count(filtered.rows.length, name)}.`;
    return rejected('Ignored.', figures, isAssumed ? adviceOn(name, parameter) : undefined);
  }
  const ids = new Set(filtered.rows.map(({ id }) => id));
  const hidden = rows.filter((row) => row[field] === owner && !ids.has(row['id']));
  if (hidden.length > 0 && filtered.isComplete) {
    const advice =
      name === 'transfers'
        ? 'do not use createOnce: its search would miss payments that were made.'
        : `do not use ${name}.list({ ${parameter} }).`;
    const figures = `In the whole list only: ${count(hidden.length, name)} of ${owner}.`;
    return {
      ...contradicted('Hides records.', figures, advice),
      withdraws: 'transfersNewestFirst',
    };
  }
  if (owners.length < 2) {
    // One owner shows nothing, but another one that does not exist has no records.
    const other = await seen.filter(name, parameter, await seen.unknownIdOf(ownerNames[parameter]));
    if (other.rows.length > 0) {
      const figures = `${count(other.rows.length, name)} for an unknown id.`;
      return rejected('Ignored.', figures, isAssumed ? adviceOn(name, parameter) : undefined);
    }
    const isRead = other.problem === undefined || other.readings[0]?.status === 404;
    if (!isRead) return unknown(`All ${name} read belong to one ${field}; those of two would do.`);
  }
  return honoured('Honoured.', `${count(filtered.rows.length, name)} of ${owner}.`);
}

const adviceOn = (name: Noun['name'], parameter: string): string =>
  `${name}.list({ ${parameter} }) does not select: check each item yourself.`;

async function checkMoney(seen: Evidence): Promise<Verdict> {
  const values: { field: string; value: unknown }[] = [];
  for (const { noun, listing } of await seen.lists()) {
    for (const name of noun.money) {
      for (const row of listing.rows) {
        const { [name]: value } = row;
        if (value === undefined || value === null) continue;
        values.push({ field: `${noun.name}.${name}`, value });
      }
    }
  }
  if (values.length === 0) return unknown('No amount was read; one account would do.');
  const wrong = values.filter(
    ({ value }) => typeof value !== 'string' || !/^-?\d+(\.\d+)?$/.test(value),
  );
  if (wrong.length > 0) {
    const kinds = wrong.map(({ field, value }) =>
      typeof value === 'string' ? `${field} is no plain decimal` : `${field} is a ${typeof value}`,
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
}

async function findCurrencies(seen: Evidence): Promise<Verdict> {
  const lists = await seen.lists();
  const currencies = lists
    .flatMap(({ listing }) => listing.rows.map((row) => row['currency']))
    .filter(isFilled);
  if (currencies.length === 0) return unknown('No currency was read; one account would do.');
  return finding(
    `${[...new Set(currencies)].toSorted().join(', ')}.`,
    `${formatTally(currencies)}.`,
  );
}

function checkDefaultCurrency({ first, record, listed }: Payment): Verdict {
  const row = record ?? listed;
  if (row === undefined) return notSeen(first, 'read');
  const { currency } = row;
  if (currency === 'USDC') return confirmed('It has USDC.');
  return contradicted(
    `It has ${isFilled(currency) ? currency : 'none'}.`,
    undefined,
    'name the currency of each payment: createOnce takes a payment without one for USDC.',
  );
}

const noAddress = `0x${'0'.repeat(40)}`;

async function checkRootEndpoint({ platform }: Evidence, path: string): Promise<Verdict> {
  const { body, status, problem } = await platform.readRoot(path, { address: noAddress });
  if (Array.isArray(body))
    return confirmed('Yes.', `${status} and ${count(body.length, 'items')}.`);
  if (status === undefined || status >= 500) return unknown(`No response: ${problem}.`);
  return contradicted(`${status}: ${problem ?? 'no array'}.`);
}

async function checkIds(seen: Evidence): Promise<Verdict> {
  const lists = await seen.lists();
  const ids = lists.flatMap(({ listing }) => listing.rows.map(({ id }) => id));
  if (ids.length === 0) return unknown('No record was read; one would do.');
  const wrong = lists
    .map(({ noun, listing }) => ({
      name: noun.name,
      number: listing.rows.filter(({ id }) => !noun.isId(id)).length,
    }))
    .filter(({ number }) => number > 0);
  if (wrong.length > 0) {
    const names = wrong.map(({ name }) => name).join(', ');
    const figures = wrong.map(({ name, number }) => count(number, name)).join(', ');
    return contradicted(
      `Not those of ${names}.`,
      `${figures}.`,
      'the client rejects such ids; use request.',
    );
  }
  const maxLength = Math.max(...ids.map((id) => String(id).length));
  return confirmed(
    'All do.',
    `${count(ids.length, 'ids')}, the longest of ${maxLength} characters.`,
  );
}

async function checkFields(seen: Evidence): Promise<Verdict> {
  const lists = await seen.lists();
  const total = lists.reduce((sum, { listing }) => sum + listing.rows.length, 0);
  if (total === 0) return unknown('No record was read; one of each list would do.');
  const drift = lists.flatMap(({ noun, listing: { rows } }) => {
    const fields = rows.flatMap((row) =>
      [
        ...new Set(
          (noun.schema.safeParse(row).error?.issues ?? []).map(({ path }) => String(path[0])),
        ),
      ].map((field) => `${noun.name}.${field} ${describeField(row[field])}`),
    );
    return tally(fields).map(([field, number]) => ({
      field,
      share: `${number} of ${rows.length}`,
    }));
  });
  if (drift.length === 0) return confirmed('All are.', `${count(total, 'records')}.`);
  const fields = drift.map(({ field }) => field).toSorted();
  const shares = drift.map(({ field, share }) => `${field.split(' ')[0]} in ${share}`);
  return contradicted(`Not all: ${fields.join(', ')}.`, `${shares.join(', ')}.`);
}

function describeField(value: unknown): string {
  if (value === undefined) return 'is missing';
  return value === null ? 'is null' : `is a ${typeof value}`;
}

async function findUndocumentedFields(seen: Evidence): Promise<Verdict> {
  const lists = await seen.lists();
  const fields = lists.flatMap(({ noun, listing }) => {
    const shape = 'shape' in noun.schema ? (Object(noun.schema.shape) as object) : {};
    return listing.rows.flatMap((row) =>
      Object.keys(row)
        .filter((name) => !Object.hasOwn(shape, name))
        .map((name) => `${noun.name}.${name}`),
    );
  });
  if (lists.every(({ listing }) => listing.rows.length === 0)) {
    return unknown('No record was read; one of each list would do.');
  }
  if (fields.length === 0) return finding('None.');
  return finding(`${[...new Set(fields)].toSorted().join(', ')}.`, `${formatTally(fields)}.`);
}

async function findUndocumentedValues(seen: Evidence): Promise<Verdict> {
  const lists = await seen.lists();
  const values = lists.flatMap(({ noun, listing }) =>
    Object.entries(noun.enums).flatMap(([field, isKnown]) =>
      listing.rows
        .map((row) => row[field])
        .filter((value) => isFilled(value) && !isKnown(value))
        .map((value) => `${noun.name}.${field} ${String(value)}`),
    ),
  );
  if (lists.every(({ listing }) => listing.rows.length === 0)) {
    return unknown('No record was read; one of each list would do.');
  }
  if (values.length === 0) return finding('None.');
  return finding(`${[...new Set(values)].toSorted().join(', ')}.`, `${formatTally(values)}.`);
}

function checkCreationShape({ first, record }: Payment): Verdict {
  if (first.outcome !== 'accepted') return notPaid(first);
  const missing = ['id', 'status', 'type', 'createdAt'].filter(
    (name) => !isFilled(first.body[name]),
  );
  const fields = `The creation has ${Object.keys(first.body).join(', ')}.`;
  const metadata = record === undefined || !('metadata' in record) ? 'no metadata' : 'metadata';
  const details = `${fields} The transfer has ${metadata}.`;
  if (missing.length === 0) return confirmed('It has.', details);
  return contradicted(`It lacks ${missing.join(', ')}.`, details);
}

function findStatuses({ first, statuses, watchedMs }: Payment): Verdict {
  const last = statuses.at(-1);
  if (last === undefined) return notSeen(first, 'read by its id');
  const details = `${statuses.join(', then ')}; watched for ${formatMs(watchedMs)}.`;
  return isFinalStatus(last)
    ? finding(`It ends as ${last}.`, details)
    : finding('None is final within a minute.', details);
}

function checkReadable({ first, record, readableAfterMs, watchedMs }: Payment): Verdict {
  if (record === undefined || readableAfterMs === undefined) {
    if (first.outcome !== 'accepted') return notPaid(first);
    return contradicted('It cannot be read.', `Tried for ${formatMs(watchedMs)}.`);
  }
  const details = `After ${formatMs(readableAfterMs)}.`;
  return readableAfterMs < 30_000
    ? confirmed('Yes.', details)
    : contradicted('Only later.', details);
}

async function findDirections(seen: Evidence): Promise<Verdict> {
  const { rows } = await seen.list('transfers');
  const directions = rows
    .filter(({ type }) => type === 'book')
    .map(({ direction }) => String(direction));
  if (directions.length === 0) return unknown('No book transfer was read; one would do.');
  return finding(
    `${[...new Set(directions)].toSorted().join(' and ')}.`,
    `${formatTally(directions)}.`,
  );
}

async function findForbidden(seen: Evidence): Promise<Verdict> {
  const lists = await seen.lists();
  const forbidden = lists.filter(({ listing }) =>
    listing.readings.some(({ status }) => status === 403),
  );
  if (forbidden.length === 0) return finding('It may read all five lists.');
  return finding(`403 for ${forbidden.map(({ noun }) => noun.path).join(', ')}.`);
}

/** Rejections of unknown ids and of an invalid cursor. */
async function readErrors(seen: Evidence): Promise<readonly Reading[]> {
  const unknownIds = await seen.unknownIds();
  const all = [...unknownIds.map(({ reading }) => reading), await seen.invalidCursor()];
  const rejections = all.filter(({ status = 0 }) => status >= 400 && status < 500);
  // JSON that cannot be parsed was cut on its way.
  return rejections.filter(
    ({ headers, body }) => body !== undefined || !headers.get('content-type')?.includes('json'),
  );
}

async function findCodes(seen: Evidence): Promise<Verdict> {
  const codes = (await readErrors(seen))
    .map(({ body }) => Reflect.get(Object(body), 'code') as unknown)
    .filter(isFilled);
  if (codes.length === 0) return unknown('No error had a code.');
  return finding(`${[...new Set(codes)].toSorted().join(', ')}.`);
}

async function findUnknownIdStatus(seen: Evidence): Promise<Verdict> {
  const readings = await seen.unknownIds();
  const statuses = readings.map(({ noun, reading }) => ({
    name: noun.name,
    status: String(reading.status ?? 'no response'),
  }));
  const distinct = new Set(statuses.map(({ status }) => status));
  if (distinct.size === 1) return finding(`${[...distinct].join('')} for each noun.`);
  return finding(`${statuses.map(({ name, status }) => `${name} ${status}`).join(', ')}.`);
}

async function checkErrorBody(seen: Evidence): Promise<Verdict> {
  const errors = await readErrors(seen);
  if (errors.length === 0) return unknown('No request was rejected.');
  const shape = describeErrorShape(errors);
  if (shape.isDocumented) return confirmed('They have.', `${errors.length} errors.`);
  if (shape.isErrorBody === undefined) {
    return contradicted(
      `They have not: ${shape.description}.`,
      'No function can tell them from the page of a proxy.',
      'a rejected payment counts as unknown, and its createOnce stays in doubt until the search has been made.',
    );
  }
  const reason = `errors have ${shape.description}`;
  const option = { name: 'isErrorBody', value: shape.isErrorBody, code: shape.isErrorBody, reason };
  return {
    ...contradicted(`They have not: ${shape.description}.`, `${errors.length} errors.`),
    option,
  };
}

function findIdempotency({ first, keyTrial }: Payment): Verdict {
  if (keyTrial === undefined) return notPaid(first);
  const { other, equal, control, listed } = keyTrial;
  const made = describeMade(first, keyTrial);
  const isAnother = (creation?: Creation): boolean =>
    creation?.outcome === 'accepted' && creation.id !== first.id;
  if (isAnother(other)) {
    return finding('Ignored: another amount with the same key made a second transfer.', made);
  }
  if (isAnother(equal)) {
    return finding('Ignored: an equal request with the same key made a second transfer.', made);
  }
  if (equal?.isRefused === true) {
    return finding('Not honoured: an equal request with the same key was rejected.', made);
  }
  // A check for duplicates that ignores the key looks the same: the client believes no id that it was given before.
  if (control !== undefined && !isAnother(control)) {
    return unknown('Unclear: a request with another key made no other transfer.', made);
  }
  const expected = new Set([first.id, control?.id ?? first.id]);
  if (listed.rows.some(({ id }) => !expected.has(String(id)))) {
    return finding('Not honoured: the list has a transfer that no response named.', made);
  }
  if (equal?.outcome !== 'accepted') {
    return unknown('Unclear: a request with the same key failed.', made);
  }
  if (control === undefined || !listed.isComplete || listed.rows.length !== expected.size) {
    const fact = 'Unclear: the list could not be read to its end, or lacks a transfer.';
    return unknown(fact, `Pay from an account with fewer transfers. ${made}`);
  }
  const reason = 'only another key made another transfer, in the responses and in the list';
  const option = { name: 'idempotencyHeader', value: idempotencyHeader, reason };
  return { ...finding('Honoured.', made), option };
}

/** Names each transfer with its amount, and each request that may have made one. */
function describeMade(first: Creation, { listed, ...trial }: KeyTrial): string {
  const creations = [first, ...Object.values(trial)];
  const made = new Map(listed.rows.map(({ id, amount }) => [String(id), String(amount)]));
  for (const { id, amount, outcome } of creations) {
    if (outcome === 'accepted' && id !== undefined && !made.has(id)) made.set(id, amount);
  }
  const failed = creations
    .filter(({ outcome }) => outcome !== 'accepted')
    .map(({ amount, outcome, problem }) => `A request for ${amount} was ${outcome}: ${problem}.`);
  const transfers = [...made].map(([id, amount]) => `${id} of ${amount}`).join(', ');
  return [`Made: ${transfers}.`, ...failed].join(' ');
}

async function findRateLimits(seen: Evidence): Promise<Verdict> {
  await seen.list('transfers');
  const { readings } = seen.platform;
  const names = new Set(
    readings.flatMap(({ headers }) =>
      [...headers.keys()].filter((name) => /rate-?limit/.test(name)),
    ),
  );
  const limited = readings.filter(({ status }) => status === 429).length;
  const details =
    limited === 0
      ? 'No 429 at 4 requests a second.'
      : `${count(limited, 'responses')} with 429 at 4 requests a second.`;
  if (names.size === 0) return finding('No header shows any.', details);
  const last = readings.findLast(({ headers }) => [...names].some((name) => headers.has(name)));
  const values = [...names].toSorted().map((name) => `${name}: ${last?.headers.get(name) ?? ''}`);
  return finding(`${[...names].toSorted().join(', ')}.`, `${values.join(', ')}. ${details}`);
}

const requestIdHeaders = ['x-request-id', 'request-id', 'x-amzn-requestid', 'cf-ray'];

async function checkRequestId(seen: Evidence): Promise<Verdict> {
  const { readings } = await seen.list('transfers');
  const names = [...(readings[0]?.headers.keys() ?? [])];
  const requestIdHeader = requestIdHeaders.find((name) => names.includes(name));
  if (requestIdHeader !== undefined) return confirmed(`${requestIdHeader}.`);
  const likely = names.filter((name) =>
    /(request|correlation|trace|transaction)-?id|traceparent/.test(name),
  );
  if (likely.length === 0)
    return finding('No header looks like one.', 'error.requestId is undefined.');
  return contradicted(
    `${likely.join(', ')}.`,
    undefined,
    `error.requestId is undefined: log error.headers['${likely[0]}'].`,
  );
}

async function findOrder(seen: Evidence): Promise<Verdict> {
  const listing = await seen.list('transfers');
  const { rows, isComplete, readings, problem, isContradictory } = listing;
  const range = `${count(rows.length, 'transfers')} on ${count(readings.length, 'pages')}, ${isComplete ? 'all' : 'not all'}`;
  const order = measureOrder(rows);
  if (problem !== undefined && !isContradictory && rows.length < sampleSize)
    return unknown(`The list could not be read: ${problem}.`);
  if (order === 'unreadable') return unknown('createdAt shows no order.', `${range}.`);
  if (order === 'few')
    return unknown('Too few transfers of different times; 100 would do.', `${range}.`);
  if (order !== 'newest first')
    return finding(`${order === 'none' ? 'No order by createdAt' : 'Oldest first'}.`, `${range}.`);
  const obstacle = await findOrderObstacle(seen, listing);
  if (obstacle !== undefined) return finding('Newest first.', `${range}; ${obstacle}.`);
  const reason = `${range}, newest first; the client checks it at each search`;
  return {
    ...finding('Newest first.', `${range}.`),
    option: { name: 'transfersNewestFirst', value: true, reason },
  };
}

/** Why transfersNewestFirst does not follow from a list that is newest first. */
async function findOrderObstacle(
  seen: Evidence,
  { rows, readings }: Listing,
): Promise<string | undefined> {
  const hasDate = readings.every(
    ({ headers }) => !Number.isNaN(parseHttpDate(headers.get('date'))),
  );
  if (!hasDate) return 'transfersNewestFirst needs a Date in each response';
  // The client stops a search after 100 transfers at the earliest.
  if (rows.length < 100) return 'transfersNewestFirst helps from 100 on';
  // A search reads the list of one account.
  const owner = findRarestOwner(rows, 'sourceAccountId') ?? '';
  const filtered = measureOrder((await seen.filter('transfers', 'accountId', owner)).rows);
  return ['newest first', 'few'].includes(filtered) ? undefined : 'not so the list of one account';
}

type Order = 'newest first' | 'oldest first' | 'none' | 'few' | 'unreadable';

const minTimes = 10;

/**
 * Finds the order with the client's tolerance of two minutes; without it if all transfers lie within four
 * minutes.
 */
function measureOrder(rows: readonly Row[]): Order {
  const times = rows.map(({ createdAt }) =>
    hasOffset(createdAt) ? exactTime(createdAt) : Number.NaN,
  );
  if (times.some(Number.isNaN)) return 'unreadable';
  if (new Set(times).size < minTimes) return 'few';
  const isOrdered = (list: readonly Row[], sorted: readonly number[]): boolean => {
    const check = new OrderCheck();
    // All have a readable createdAt here.
    check.read(list as readonly { createdAt: string }[]);
    const [first = 0] = sorted;
    const isShort = Math.abs(first - (sorted.at(-1) ?? 0)) <= 240_000;
    const isStrict = sorted.every((time, at) => at === 0 || time <= (sorted[at - 1] ?? 0));
    return isShort ? isStrict : !check.isContradicted;
  };
  if (isOrdered(rows, times)) return 'newest first';
  return isOrdered(rows.toReversed(), times.toReversed()) ? 'oldest first' : 'none';
}

const exactTime = (createdAt: unknown): number => parseCreatedAt(createdAt).earliest;

async function findCursors(seen: Evidence): Promise<Verdict> {
  const lists = await seen.lists();
  const cursors = lists
    .flatMap(({ listing }) =>
      listing.readings.map(({ body }) => Reflect.get(Object(body), 'nextCursor') as unknown),
    )
    .filter(isFilled);
  const maxLength = Math.max(0, ...cursors.map(({ length }) => length));
  const details =
    maxLength === 0
      ? 'No list had a second page.'
      : `The longest cursor has ${maxLength} characters.`;
  const { status, problem } = await seen.invalidCursor();
  if (status === undefined || status >= 500) return unknown(`No response: ${problem}.`, details);
  if (status >= 400) return finding(`Rejected with ${problem}.`, details);
  return finding(`Ignored: ${status}.`, details);
}

async function checkRedirects(seen: Evidence): Promise<Verdict> {
  await seen.lists();
  const redirect = seen.platform.readings.find(({ status = 0 }) => status >= 300 && status < 400);
  if (redirect === undefined) return confirmed('No redirect came.');
  const location = redirect.headers.get('location') ?? '';
  const base = seen.platform.baseUrl;
  // Its query may hold a token.
  const target = URL.canParse(location, base) ? new URL(location, base) : undefined;
  const where = target === undefined ? 'nowhere' : `${target.origin}${target.pathname}`;
  return contradicted(
    `GET ${redirect.path} redirects to ${where}.`,
    `Status ${redirect.status}.`,
    'set baseUrl to where the platform redirects.',
  );
}

async function checkEnvelopes(seen: Evidence): Promise<Verdict> {
  const listings: { name: string; listing: Listing }[] = [];
  const problems: string[] = [];
  for (const { noun, listing } of await seen.lists()) {
    listings.push({ name: noun.name, listing });
    const halves = await seen.halves(noun);
    if (halves === undefined) continue;
    listings.push({ name: noun.name, listing: halves });
    const ids = new Set(halves.rows.map(({ id }) => id));
    const hidden = listing.rows.filter(({ id }) => !ids.has(id));
    if (halves.isComplete && hidden.length > 0) {
      problems.push(`${noun.path}: smaller pages hide ${count(hidden.length, noun.name)}`);
    }
  }
  for (const { name, listing } of listings) {
    if (listing.isContradictory) problems.push(`/${name}: ${listing.problem}`);
  }
  if (problems.length > 0) {
    return contradicted(
      `No: ${[...new Set(problems)].join('; ')}.`,
      undefined,
      'createOnce stays in doubt where it has to search such a list.',
    );
  }
  const pages = listings.flatMap(({ listing }) =>
    listing.readings.filter(({ problem }) => problem === undefined),
  );
  if (pages.length === 0) return unknown('No list could be read.');
  const hasCursor = listings.some(({ listing }) => listing.readings.length > 1);
  const ended = listings.filter(({ listing }) => listing.isComplete).map(({ name }) => name);
  const details = `${count(pages.length, 'pages')}; read to the end: ${[...new Set(ended)].join(', ') || 'none'}.`;
  if (!hasCursor)
    return unknown('No list has a second page; two records of one would do.', details);
  return confirmed('Yes.', details);
}

function checkDescription({ description, first, record, listed }: Payment): Verdict {
  const row = listed ?? record;
  if (row === undefined) return notSeen(first, 'read');
  const change = describeChange(description, row['description']);
  const where = listed === undefined ? 'by its id; not seen in the list' : 'in the list';
  if (change === undefined) return confirmed('Yes.', `140 characters, ${where}.`);
  const { summary, advice } = change;
  return contradicted(`It comes back ${summary}.`, `Seen ${where}.`, advice);
}

function findListingDelay({ first, listedAfterMs, watchedMs }: Payment): Verdict {
  if (listedAfterMs === undefined) {
    return first.outcome === 'accepted'
      ? unknown('It was not seen in the list.', `Watched for ${formatMs(watchedMs)}.`)
      : notPaid(first);
  }
  const isSoon = listedAfterMs < 10_000;
  const verdict = finding(
    isSoon ? 'Within 10 seconds.' : 'After more than 10 seconds.',
    `After ${formatMs(listedAfterMs)}.`,
  );
  if (isSoon) return verdict;
  const value = Math.max(300_000, Math.ceil((listedAfterMs * 20) / 60_000) * 60_000);
  const reason = `a new transfer was listed after ${formatMs(listedAfterMs)} only`;
  return { ...verdict, option: { name: 'gracePeriod', value, reason } };
}

async function findLimitAbove100(seen: Evidence): Promise<Verdict> {
  const { rows } = await seen.list('transfers');
  const { status, body, problem } = await seen.platform.get('/transfers', { limit: 101 });
  if (status === undefined || status >= 500) return unknown(`No response: ${problem}.`);
  if (status >= 400) return finding(`Rejected with ${problem}.`);
  const data: unknown = Reflect.get(Object(body), 'data');
  const length = Array.isArray(data) ? data.length : 0;
  if (length > 100) return finding('Honoured.', `${length} transfers.`);
  if (rows.length <= 100)
    return unknown('Accepted; more than 100 transfers would do.', `${length} transfers.`);
  return finding(`Accepted; the page has ${length}.`);
}

async function checkCreatedAt(seen: Evidence): Promise<Verdict> {
  const lists = await seen.lists();
  const rows = lists.flatMap(({ noun, listing }) =>
    listing.rows.map(({ createdAt }) => ({ name: noun.name, createdAt, listing })),
  );
  if (rows.length === 0) return unknown('No record was read; one would do.');
  const blame = (what: string, wrong: readonly { name: string }[]): Verdict => ({
    ...contradicted(
      `${what}: ${[...new Set(wrong.map(({ name }) => name))].join(', ')}.`,
      `${count(wrong.length, 'records')} of ${rows.length}.`,
    ),
    withdraws: 'transfersNewestFirst',
  });
  const unreadable = rows.filter(({ createdAt }) => Number.isNaN(exactTime(createdAt)));
  if (unreadable.length > 0) return blame('Not a time', unreadable);
  const withoutOffset = rows.filter(({ createdAt }) => !hasOffset(createdAt));
  if (withoutOffset.length > 0) return blame('Without an offset', withoutOffset);
  const future = rows.filter(({ createdAt, listing }) => {
    const latest = Math.max(...listing.readings.map(platformTime));
    return exactTime(createdAt) > latest + tolerableMs;
  });
  if (future.length > 0) return blame('In the future', future);
  return confirmed('Yes.', `${count(rows.length, 'records')}.`);
}

/** As in the client: clocks of one platform are closer. */
const tolerableMs = 120_000;

/** The platform's time of a response, or this machine's. */
function platformTime({ headers, receivedAt }: Reading): number {
  const date = parseHttpDate(headers.get('date'));
  return Number.isNaN(date) ? receivedAt : date;
}

function checkCreatedAtOfPayment({ first }: Payment): Verdict {
  if (first.outcome !== 'accepted') return notPaid(first);
  const date = parseHttpDate(first.headers.get('date'));
  const { createdAt } = first.body;
  const time = exactTime(createdAt);
  if (Number.isNaN(date)) return unknown('Its response has no Date.');
  const withdraws = 'transfersNewestFirst';
  if (Number.isNaN(time)) return { ...contradicted('createdAt is not a time.'), withdraws };
  const distance = time - date;
  const details = `${formatMs(Math.abs(distance))} apart.`;
  if (Math.abs(distance) <= tolerableMs) return confirmed('Yes.', details);
  const hours = distance / 3_600_000;
  const isZone = Math.abs(hours - Math.round(hours * 4) / 4) < 0.02;
  const why = isZone ? 'it is in local time' : 'another clock wrote it';
  return {
    ...contradicted(`createdAt is more than two minutes from Date: ${why}.`, details),
    withdraws,
  };
}

async function checkDate(seen: Evidence): Promise<Verdict> {
  const { readings } = await seen.list('transfers');
  const distances = readings
    .map(({ headers, receivedAt }) => parseHttpDate(headers.get('date')) + 500 - receivedAt)
    .filter((distance) => !Number.isNaN(distance));
  if (distances.length < readings.length) {
    return { ...contradicted('Not all responses have a Date.'), withdraws: 'transfersNewestFirst' };
  }
  const distance = Math.max(...distances.map(Math.abs));
  const details = `${formatMs(distance)} at most.`;
  if (distance <= 5_000) return confirmed('Yes, within 5 seconds.', details);
  return finding(
    'Yes, more than 5 seconds from this machine.',
    `${details} The client takes it into account; set this machine's clock.`,
  );
}

async function checkCache(seen: Evidence): Promise<Verdict> {
  const lists = await seen.lists();
  // A cache stores a page at the first read and responds with it at the second.
  const repeated = await seen.platform.read('/transfers', { limit: 100 });
  const readings = [...lists.flatMap(({ listing }) => listing.readings), repeated];
  const cached = readings.filter(({ headers }) => Number(headers.get('age')) > 0);
  if (cached.length > 0) {
    const oldest = Math.max(...cached.map(({ headers }) => Number(headers.get('age'))));
    return contradicted(
      `A cache has responded for ${[...new Set(cached.map(({ path }) => path))].join(', ')}.`,
      `Age of up to ${oldest} s, although the client sends no-cache.`,
      'exclude the API from the cache: createOnce stays in doubt where it reads a cached list.',
    );
  }
  const policies = new Set(readings.map(({ headers }) => headers.get('cache-control') ?? ''));
  const storable = [...policies].filter(
    (policy) => /(max-age|s-maxage)=[1-9]/.test(policy) && !/no-store|no-cache/.test(policy),
  );
  if (storable.length > 0)
    return finding('Fresh, but a cache may keep them.', `cache-control: ${storable.join('; ')}.`);
  return confirmed('Yes.', `${count(readings.length, 'pages')} without Age.`);
}

async function findLatency(seen: Evidence): Promise<Verdict> {
  await seen.lists();
  const times = seen.platform.readings
    .filter(({ status }) => status !== undefined)
    .map(({ durationMs }) => durationMs)
    .toSorted((one, other) => one - other);
  const silent = seen.platform.readings.length - times.length;
  const slowest = times.at(-1) ?? 0;
  const lost = silent === 0 ? '' : ` ${count(silent, 'requests')} had no response.`;
  const details = `${formatMs(times[Math.floor(times.length / 2)] ?? 0)} in the middle, ${formatMs(slowest)} at most.${lost}`;
  if (slowest <= 10_000) return finding('Less than a third of the default timeout.', details);
  const value = Math.ceil((slowest * 3) / 10_000) * 10_000;
  const reason = `a response took ${formatMs(slowest)}`;
  return {
    ...finding('More than a third of the default timeout.', details),
    option: { name: 'timeout', value, reason },
  };
}

const proxyHeaders = ['server', 'via', 'x-cache', 'x-served-by', 'x-powered-by'];

async function findProxies(seen: Evidence): Promise<Verdict> {
  const { readings } = await seen.list('transfers');
  const { headers = new Headers() } = readings[0] ?? {};
  const { baseUrl } = seen.platform;
  const proxy = findProxy(baseUrl);
  // A connection past the proxy would show another server, or none.
  const isDirect = baseUrl.startsWith('https:') && proxy === undefined;
  const tls: TlsFacts = isDirect ? await seen.readTls(baseUrl) : { protocol: 'TLS' };
  const facts = [
    baseUrl.startsWith('https:') ? tls.protocol : 'no TLS',
    proxy === undefined
      ? 'no proxy of the environment'
      : `the proxy ${proxy.address} of ${proxy.variable}`,
    ...proxyHeaders.flatMap((name) => (headers.has(name) ? [`${name}: ${headers.get(name)}`] : [])),
  ];
  const { certificate } = tls;
  return finding(`${facts.join(', ')}.`, certificate === undefined ? undefined : `${certificate}.`);
}
