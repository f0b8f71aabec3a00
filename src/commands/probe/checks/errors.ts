import { describeErrorShape } from '../error-shape.ts';
import type { Evidence } from '../evidence.ts';
import type { Reading } from '../platform.ts';
import { lists, reads, type Check } from './check.ts';
import { confirmed, contradicted, finding, isFilled, unknown } from './verdict.ts';

const readUnknownIds = (seen: Evidence): ReturnType<Evidence['unknownIds']> => seen.unknownIds();

export const errorChecks: readonly Check[] = [
  reads(45, 'What may this key not read?', lists, (all) => {
    const forbidden = all.filter(({ listing }) =>
      listing.readings.some(({ status }) => status === 403),
    );
    if (forbidden.length === 0) return finding('Nothing: it may read every list.');
    return finding(`403 for ${forbidden.map(({ noun }) => noun.path).join(', ')}.`);
  }),
  reads(46, 'Which codes do errors have?', readErrors, (errors) => {
    const codes = errors
      .map(({ body }) => Reflect.get(Object(body), 'code') as unknown)
      .filter(isFilled);
    if (codes.length === 0) return unknown('No error had a code.');
    return finding(`${[...new Set(codes)].toSorted().join(', ')}.`);
  }),
  reads(47, 'Which status does an unknown id have?', readUnknownIds, (readings) => {
    const statuses = readings.map(({ noun, reading }) => ({
      name: noun.name,
      status: String(reading.status ?? 'no response'),
    }));
    const distinct = new Set(statuses.map(({ status }) => status));
    if (distinct.size === 1) return finding(`${[...distinct].join('')} for each noun.`);
    return finding(`${statuses.map(({ name, status }) => `${name} ${status}`).join(', ')}.`);
  }),
  reads(50, 'Do errors have the documented Error body?', readErrors, (errors) => {
    if (errors.length === 0) return unknown('No request was rejected.');
    const { isDocumented, description, isErrorBody } = describeErrorShape(errors);
    if (isDocumented) return confirmed('Yes.', `${errors.length} errors.`);
    const fact = `No, they have ${description}.`;
    if (isErrorBody === undefined) {
      return contradicted(
        fact,
        'No function can tell them from the page of a proxy.',
        'a rejected payment counts as unknown, and its createOnce stays in doubt until the search has been made.',
      );
    }
    const reason = `errors have ${description}`;
    const option = { name: 'isErrorBody', value: isErrorBody, code: isErrorBody, reason };
    return { ...contradicted(fact, `${errors.length} errors.`), option };
  }),
];

/** The responses with which the platform rejected unknown ids and an invalid cursor. */
async function readErrors(seen: Evidence): Promise<readonly Reading[]> {
  const unknownIds = await seen.unknownIds();
  const all = [...unknownIds.map(({ reading }) => reading), await seen.invalidCursor()];
  const rejections = all.filter(({ status = 0 }) => status >= 400 && status < 500);
  // Skips JSON that cannot be parsed, because a truncated body does not show the form of errors.
  return rejections.filter(
    ({ headers, body }) => body !== undefined || !headers.get('content-type')?.includes('json'),
  );
}
