import { cloneInput } from '../internal/clone.ts';
import { argument, type Validator } from '../calls/arguments.ts';
import { identity, type Call } from '../calls/call.ts';
import { responseCheck } from '../calls/response-check.ts';
import { Paged, type OffsetPage, type OffsetPager, type Pager } from './pager.ts';
import { type RequestOptions } from '../calls/request-options.ts';
import { pageBodySchema, type Page, type PageBody } from '../schemas/page.ts';
import type { Integer, PageQuery, Schema } from '../schemas/primitives.ts';
import type { RequestPipeline } from '../calls/pipeline.ts';

/** A list of the versioned API: the same query on every page, only the cursor moves on. */
export function listOf<T, Q extends PageQuery>(
  api: RequestPipeline,
  target: Pick<Call<unknown>, 'operation' | 'path' | 'onHeaders'>,
  item: Schema<T>,
  querySchema: Validator<Q>,
  query: Q | undefined,
  options: RequestOptions | undefined,
): Pager<T> {
  const response = pageValidator(item);
  const filters = cloneInput(query === undefined ? {} : query);
  const { cursor: start, limit } = Object(filters) as PageQuery;
  const call = { ...target, method: 'GET' as const };
  return new Paged<T, Page<T>, string>({
    call: identity(call),
    start,
    limit,
    // A filter may leave many pages empty (docs/gaps.md, row 59), and a list that grows meanwhile shows an
    // item again.
    patience: 1_000,
    redact: api.redactOwn,
    fetch: (cursor, site, walk) =>
      api.call<Page<T>, PageBody<T>>(
        {
          ...call,
          kind: 'safe',
          belongsIn: setForEachPage('cursor'),
          query: argument(querySchema, cursor === undefined ? filters : { ...filters, cursor }),
          response,
          // Whoever asked for this one page gets it as it is, with `validation: 'report'`.
          ...(walk && {
            acceptIf: isPage,
            askAhead: (text) => {
              const next = cursorAtEnd(text);
              return next !== undefined && walk.askAhead(next);
            },
          }),
          transform: (page) => (isPage(page) ? { ...page, nextCursor: cursorOf(page) } : page),
        },
        options,
        walk?.cancel,
        site,
      ),
    next: ({ hasMore, nextCursor }) => (hasMore ? nextCursor || null : undefined),
  });
}

/** A list of the root API: the same body for every page, only the position moves on. */
export function offsetListOf<
  T,
  I extends { readonly skip?: Integer | undefined; readonly take?: Integer | undefined },
>(
  api: RequestPipeline,
  target: Pick<Call<unknown>, 'operation' | 'path'>,
  items: Schema<T[]>,
  inputSchema: Validator<I>,
  input: I,
  options: RequestOptions | undefined,
): OffsetPager<T> {
  const filters = cloneInput(input);
  const { skip: start, take } = Object(filters) as I;
  const call = { ...target, method: 'GET' as const };
  return new Paged<T, OffsetPage<T>, Integer>({
    call: identity(call),
    start,
    // Not checked yet: that is done with the first request.
    limit: typeof take === 'bigint' ? Number(take) : take,
    patience: 10,
    redact: api.redactOwn,
    fetch: (skip, site, walk) =>
      api.call<OffsetPage<T>, T[]>(
        {
          ...call,
          kind: 'safe',
          belongsIn: setForEachPage('skip'),
          body: argument(inputSchema, skip === undefined ? filters : { ...filters, skip }),
          response: responseCheck(items),
          // As for any list: one page that was asked for is handed out as it is.
          ...(walk && { acceptIf: Array.isArray }),
          transform: (data) => ({
            data,
            nextSkip:
              !Array.isArray(data) || data.length === 0 ? null : Number(skip ?? 0) + data.length,
          }),
        },
        options,
        walk?.cancel,
        site,
      ),
    next: ({ nextSkip }) => nextSkip ?? undefined,
  });
}

/**
 * How a page ends that says by itself where the list goes on, its fields in the order of the document.
 * What the last bracket closes is the page, so they are its own and not those of an item.
 */
const endOfPage = /"hasMore"\s*:\s*true\s*,\s*"nextCursor"\s*:\s*"([^"\\]+)"\s*\}\s*$/;
const longestEnd = 512;

/** Where a page that was not read yet leads, if its end says so. */
const cursorAtEnd = (text: string): string | undefined =>
  endOfPage.exec(text.slice(-longestEnd))?.[1];

/** For pages of a walk: there is something to go through, and it is said whether more follows. */
function isPage(response: unknown): response is PageBody<unknown> {
  const { data, hasMore } = Object(response) as { readonly [field: string]: unknown };
  return Array.isArray(data) && typeof hasMore === 'boolean';
}

/** The SDK turns the pages by this field; another value would make every page the same. */
const setForEachPage = (name: string): Readonly<Record<string, string>> => ({
  [name]: `the SDK sets this field for each page; to choose the first page, use list({ ${name} })`,
});

const pages = new WeakMap<object, Validator<PageBody<unknown>>>();

/** The validator of a page of such items; made once, so that it is compiled once. */
function pageValidator<T>(item: Schema<T>): Validator<PageBody<T>> {
  const known = pages.get(item) as Validator<PageBody<T>> | undefined;
  const validator = known ?? responseCheck(pageBodySchema(item));
  pages.set(item, validator);
  return validator;
}

/** The pager tells a missing cursor from an end, so whatever is not text counts as missing. */
const cursorOf = (page: PageBody<unknown>): string | null =>
  typeof page.nextCursor === 'string' ? page.nextCursor : null;
