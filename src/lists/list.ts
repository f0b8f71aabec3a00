import { argument, type Validator } from '../calls/arguments.ts';
import { identity, type Call } from '../calls/call.ts';
import { answerCheck } from '../calls/answer-check.ts';
import {
  cursorPager,
  offsetPager,
  type OffsetPage,
  type OffsetPager,
  type Pager,
} from './pager.ts';
import { copyFields, isObject } from '../calls/records.ts';
import { copyOptions, type RequestOptions } from '../calls/request-options.ts';
import { pageBodySchema, type Page, type PageBody } from '../schemas/page.ts';
import {
  millisecondsOf,
  type Integer,
  type PageQuery,
  type Schema,
} from '../schemas/primitives.ts';
import type { Transport } from '../calls/transport.ts';

/** A list of the versioned API: the same query on every page, only the cursor moves on. */
export function listOf<T, Q extends PageQuery>(
  api: Transport,
  target: Pick<Call<unknown>, 'operation' | 'path' | 'onHeaders'>,
  item: Schema<T>,
  querySchema: Validator<Q>,
  query: Q | undefined,
  options: RequestOptions | undefined,
): Pager<T> {
  const answer = pageValidator(item);
  const asked = copyOptions(options);
  const filters = query === undefined ? {} : copyFields(query);
  const call = { ...target, method: 'GET' as const };
  return cursorPager<T>(identity(call), filters, api.redactOwn, (cursor, walk) =>
    api.call<Page<T>, PageBody<T>>(
      {
        ...call,
        kind: 'safe',
        belongsIn: setForEachPage('cursor'),
        query: argument(querySchema, cursor === undefined ? filters : { ...filters, cursor }),
        answer,
        // Whoever asked for this one page gets it as it is, with `validation: 'report'`.
        ...(walk === undefined ? {} : { acceptIf: isPage, askAhead: walk.askAhead }),
        transform: (page) => (isObject(page) ? { ...page, nextCursor: cursorOf(page) } : page),
      },
      asked,
      walk?.cancel,
    ),
  );
}

/** A list of the root API: the same body for every page, only the position moves on. */
export function offsetListOf<
  T,
  I extends { readonly skip?: Integer | undefined; readonly take?: Integer | undefined },
>(
  api: Transport,
  target: Pick<Call<unknown>, 'operation' | 'path'>,
  items: Schema<T[]>,
  inputSchema: Validator<I>,
  input: I,
  options: RequestOptions | undefined,
): OffsetPager<T> {
  const asked = copyOptions(options);
  const filters = copyFields(input, (field) => {
    if (Array.isArray(field)) return [...(field as unknown[])];
    const time = millisecondsOf(field);
    return time === undefined ? field : new Date(time);
  });
  const call = { ...target, method: 'GET' as const };
  return offsetPager<T>(identity(call), filters, (skip, walk) =>
    api.call<OffsetPage<T>, T[]>(
      {
        ...call,
        kind: 'safe',
        belongsIn: setForEachPage('skip'),
        body: argument(inputSchema, skip === undefined ? filters : { ...filters, skip }),
        answer: answerCheck(items),
        // As for any list: one page that was asked for is handed out as it is.
        ...(walk === undefined ? {} : { acceptIf: Array.isArray }),
        transform: (data) => ({
          data,
          nextSkip:
            !Array.isArray(data) || data.length === 0 ? null : Number(skip ?? 0) + data.length,
        }),
      },
      asked,
      walk?.cancel,
    ),
  );
}

/** For pages of a walk: there is something to go through, and it is said whether more follows. */
const isPage = (answer: unknown): boolean =>
  isObject(answer) &&
  Array.isArray(Reflect.get(answer, 'data')) &&
  typeof Reflect.get(answer, 'hasMore') === 'boolean';

/** The SDK turns the pages by this field; another value would make every page the same. */
const setForEachPage = (name: string): Readonly<Record<string, string>> => ({
  [name]: `the SDK sets this field for each page; to choose the first page, use list({ ${name} })`,
});

const pages = new WeakMap<object, Validator<PageBody<unknown>>>();

/** The validator of a page of such items; made once, so that it is compiled once. */
function pageValidator<T>(item: Schema<T>): Validator<PageBody<T>> {
  const known = pages.get(item) as Validator<PageBody<T>> | undefined;
  const validator = known ?? answerCheck(pageBodySchema(item));
  pages.set(item, validator);
  return validator;
}

/** The pager tells a missing cursor from an end, so whatever is not text counts as missing. */
const cursorOf = (page: PageBody<unknown>): string | null =>
  typeof page.nextCursor === 'string' ? page.nextCursor : null;
