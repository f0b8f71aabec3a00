import type { NounListing } from '../evidence.ts';
import { lists, reads, transfers, type Check } from './check.ts';
import { confirmed, contradicted, count, finding, isFilled, unknown } from './verdict.ts';

export const pageChecks: readonly Check[] = [
  reads(
    55,
    'What does an unknown cursor do, and how long are cursors?',
    lists,
    async (all, seen) => {
      const cursors = all
        .flatMap(({ listing }) =>
          listing.readings.map(({ body }) => Reflect.get(Object(body), 'nextCursor') as unknown),
        )
        .filter(isFilled);
      const details =
        cursors.length === 0
          ? 'No list had a second page.'
          : `The longest cursor has ${Math.max(...cursors.map(({ length }) => length))} characters.`;
      const { status, problem } = await seen.invalidCursor();
      if (status === undefined || status >= 500)
        return unknown(`No response: ${problem}.`, details);
      if (status >= 400) return finding(`Rejected with ${problem}.`, details);
      return finding(`Ignored: ${status}.`, details);
    },
  ),
  // Checks Assumption A6 of docs/proof.md, that a list has every transfer and ends.
  reads(59, 'Does each page say truly whether more follow?', lists, async (all, seen) => {
    const listings: NounListing[] = [];
    const problems: string[] = [];
    for (const { noun, listing } of all) {
      listings.push({ noun, listing });
      // If the list has one page only, reads it again as two smaller pages, to see a cursor.
      const halves = await seen.halves(noun);
      if (halves === undefined) continue;
      listings.push({ noun, listing: halves });
      const ids = new Set(halves.rows.map(({ id }) => id));
      const hidden = listing.rows.filter(({ id }) => !ids.has(id));
      if (halves.isComplete && hidden.length > 0) {
        problems.push(`${noun.path}: smaller pages hide ${count(hidden.length, noun.name)}`);
      }
    }
    for (const { noun, listing } of listings) {
      if (listing.isContradictory) problems.push(`${noun.path}: ${listing.problem}`);
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
    const ended = listings.filter(({ listing }) => listing.isComplete).map(({ noun }) => noun.name);
    const details = `${count(pages.length, 'pages')}; read to the end: ${[...new Set(ended)].join(', ') || 'none'}.`;
    return listings.some(({ listing }) => listing.readings.length > 1)
      ? confirmed('Yes.', details)
      : unknown('No list has a second page; the check needs two records in one list.', details);
  }),
  reads(63, 'What does a limit above 100 do?', transfers, async ({ rows }, seen) => {
    const { status, body, problem } = await seen.platform.get('/transfers', { limit: 101 });
    if (status === undefined || status >= 500) return unknown(`No response: ${problem}.`);
    if (status >= 400) return finding(`Rejected with ${problem}.`);
    const data: unknown = Reflect.get(Object(body), 'data');
    const length = Array.isArray(data) ? data.length : 0;
    if (length > 100) return finding('Honoured.', `${length} transfers.`);
    return rows.length > 100
      ? finding(`Accepted; the page has ${length}.`)
      : unknown('Accepted; the check needs more than 100 transfers.', `${length} transfers.`);
  }),
  reads(65, 'Do lists come fresh, not from a cache?', lists, async (all, { platform }) => {
    // Requests one page again, because a cache stores the page at the first request and sends the
    // stored page at the second.
    const repeated = await platform.read('/transfers', { limit: 100 });
    const readings = [...all.flatMap(({ listing }) => listing.readings), repeated];
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
    return storable.length > 0
      ? finding('Fresh, but a cache may keep them.', `cache-control: ${storable.join('; ')}.`)
      : confirmed('Yes.', `${count(readings.length, 'pages')} without Age.`);
  }),
];
