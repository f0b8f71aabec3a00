import { argument, readInput, type Validator } from '../calls/arguments.ts';
import {
  identity,
  type Call,
  type Head,
  type ReportDrift,
  type ResponseCheck,
} from '../calls/call.ts';
import { responseCheck } from '../calls/response.ts';
import { Paged, type OffsetPage, type OffsetPager, type PageSource, type Pager } from './pager.ts';
import type { RequestOptions } from '../calls/options.ts';
import { pageBodySchema, type Page, type PageBody } from '../schemas/page.ts';
import type { Integer, PageQuery, Schema } from '../schemas/primitives.ts';
import type { RequestPipeline } from '../calls/pipeline.ts';
import type { Trace } from '../calls/tracing.ts';

/** Settings of a list that a search for payments reads. */
export interface PageSearch {
  /** The call to which hooks attribute the page requests. Without it, each page is its own call. */
  readonly within: Trace | undefined;
  /** Called with the response headers of each page. */
  readonly onHead: (head: Head, reportDrift: ReportDrift) => void;
  /** Returns how many milliseconds are left of the method's `totalTimeout`, if that has one. */
  readonly timeLeft?: (() => number) | undefined;
}

/** Creates the list of a noun under `/v0`. The queries of its pages differ only in the cursor. */
export function listOf<T, Q extends PageQuery>(
  api: RequestPipeline,
  noun: string,
  item: Schema<T>,
  querySchema: Validator<Q>,
  query: Q | undefined,
  options: RequestOptions | undefined,
  below: PageSource<unknown, unknown>['below'] = listOf,
  search?: PageSearch,
): Pager<T> {
  const check = getPageCheck(item);
  // A search for payments accepts a page with an incomplete item, because rejecting the page would
  // hide the other items.
  const response = search === undefined ? check : { ...check, isUsable: isPage };
  const given = readInput(query === undefined ? ({} as Q) : query, querySchema);
  // A `cursor: null`, as on the last page, means the start of the list, like no cursor.
  const hasNullCursor = (Object(given) as PageQuery).cursor === null;
  const filters = hasNullCursor ? { ...given, cursor: undefined } : given;
  const { cursor: start, limit } = Object(filters) as PageQuery;
  const path = { template: `/${noun}`, resolve: () => `/${noun}` };
  const call = { operation: `${noun}.list`, kind: 'safe', method: 'GET', path } as const;
  const createPageCall = (cursor: string | undefined): Call<Page<T>, PageBody<T>> => ({
    ...call,
    belongsIn: setForEachPage('cursor'),
    query: argument(querySchema, cursor === undefined ? filters : { ...filters, cursor }),
    response,
    transform: (page, head, reportDrift) => {
      search?.onHead(head, reportDrift);
      return { ...page, nextCursor: readCursor(page) };
    },
  });
  return new Paged<T, Page<T>, string>({
    call: identity(call),
    below,
    start: start ?? undefined,
    limit,
    // A page without a new item is no error yet, because a filter may leave many pages empty
    // (docs/gaps.md, row 59) and a growing list may repeat an item.
    maxStalePages: 1_000,
    redact: api.redactOwn,
    fetch: (cursor, site, iteration) => {
      const cancel = iteration?.cancel;
      // The loop's own signal identifies the scan, so that a page that a faulty proxy repeats from
      // another list cannot hide a payment.
      const scan = search && cancel;
      const timeLeft = search?.timeLeft?.();
      const circumstances = { site, within: search?.within, cancel, scan, timeLeft };
      const prefetch = iteration && prefetchNext(iteration);
      return api.call(createPageCall(cursor), options, { ...circumstances, prefetch });
    },
    next: ({ hasMore, nextCursor }) => (hasMore ? nextCursor || null : undefined),
  });
}

/** Finds the next cursor in the unparsed text of a page, and requests the next page at once. */
const prefetchNext =
  (iteration: { readonly prefetch: (next: string) => boolean }) =>
  (text: string): boolean => {
    const next = findCursor(text);
    return next !== undefined && iteration.prefetch(next);
  };

/** Creates a list of the root API. The bodies of its page requests differ only in `skip`. */
export function offsetListOf<
  T,
  I extends { readonly skip?: Integer | undefined; readonly take?: Integer | undefined },
>(
  api: RequestPipeline,
  endpoint: Pick<Call<unknown>, 'operation' | 'path'>,
  items: Schema<T[]>,
  inputSchema: Validator<I>,
  input: I,
  options: RequestOptions | undefined,
): OffsetPager<T> {
  const filters = readInput(input, inputSchema);
  const { skip: start, take } = Object(filters) as I;
  const call = { ...endpoint, method: 'GET' as const };
  return new Paged<T, OffsetPage<T>, Integer>({
    call: identity(call),
    below: offsetListOf,
    start,
    // `take` may have any type here, because the input is checked at the first request.
    limit: typeof take === 'bigint' ? Number(take) : take,
    // A page without a new item is normal if the list has grown by a whole page at its start.
    maxStalePages: 10,
    redact: api.redactOwn,
    fetch: (skip, site, iteration) =>
      api.call<OffsetPage<T>, T[]>(
        {
          ...call,
          kind: 'safe',
          belongsIn: setForEachPage('skip'),
          body: argument(inputSchema, skip === undefined ? filters : { ...filters, skip }),
          response: responseCheck(items),
          transform: (data) => ({
            data,
            nextSkip: data.length === 0 ? null : Number(skip ?? 0) + data.length,
          }),
        },
        options,
        { site, cancel: iteration?.cancel },
      ),
    next: ({ nextSkip }) => nextSkip ?? undefined,
  });
}

/**
 * Matches the end of a page's text that has a next cursor, with its fields in the order of the API
 * reference. The last bracket closes the page, so no field of an item can match.
 */
const endOfPage = /"hasMore"\s*:\s*true\s*,\s*"nextCursor"\s*:\s*"([^"\\]+)"\s*\}\s*$/;
const maxEndLength = 512;

/** Finds the next cursor at the end of a page's text, before the text is parsed. */
const findCursor = (text: string): string | undefined =>
  endOfPage.exec(text.slice(-maxEndLength))?.[1];

/** Whether a response has the fields of a page of a list, whatever its items are. */
function isPage(response: unknown): boolean {
  const { data, hasMore } = Object(response) as { readonly [field: string]: unknown };
  return Array.isArray(data) && typeof hasMore === 'boolean';
}

/** Rejects a cursor or `skip` in the request options, because all pages would then be the same. */
const setForEachPage = (name: string): Readonly<Record<string, string>> => ({
  [name]: `the SDK sets this field for each page; to choose the first page, use list({ ${name} })`,
});

const pages = new WeakMap<object, ResponseCheck<PageBody<unknown>>>();

/** Returns the check of a list's pages, cached by the schema of the items. */
function getPageCheck<T>(item: Schema<T>): ResponseCheck<PageBody<T>> {
  const cached = pages.get(item) as ResponseCheck<PageBody<T>> | undefined;
  const check = cached ?? responseCheck(pageBodySchema(item));
  pages.set(item, check);
  return check;
}

/** Reads from a page the cursor of the next page. Anything but a string counts as missing. */
const readCursor = (page: PageBody<unknown>): string | null =>
  typeof page.nextCursor === 'string' ? page.nextCursor : null;
