import {
  PaginationError,
  ValidationError,
  type CallIdentity,
  type ResumePoint,
} from '../errors/errors.ts';
import { ItemIterator, PageIterator, type PageSource, type Walk } from './iterators.ts';
import { stringifyJson } from '../wires/json.ts';
import type { Page } from '../schemas/page.ts';
import type { Integer } from '../schemas/primitives.ts';
import type { ApiCall, WithResponse } from '../calls/transport.ts';

/** Options of `toArray`. */
export interface ToArrayOptions {
  /** Items to collect at most; required, because a list has no bound of its own. */
  max: number;
}

/**
 * A lazy list: no request is sent before you use it.
 *
 * `await` it for the first page, `for await` it for every item. Each loop starts afresh. Once a
 * loop has asked for its second page, one page is fetched ahead; leaving the loop cancels it.
 *
 * @example
 * ```ts
 * const first = await payments.transfers.list({ limit: 10 });
 * console.log(first.data.length, first.nextCursor);
 *
 * for await (const transfer of payments.transfers.list()) {
 *   console.log(transfer.id, transfer.amount);
 * }
 * ```
 */
export interface PagedList<T, P> extends PromiseLike<P>, AsyncIterable<T> {
  /** Like `Promise.prototype.then`, for the first page. */
  then<A = P, B = never>(
    onFulfilled?: ((page: P) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B>;
  /** For the first page, as on a promise. */
  catch<R = never>(onRejected?: ((reason: unknown) => R | PromiseLike<R>) | null): Promise<P | R>;
  /** For the first page, as on a promise. */
  finally(onFinally?: (() => void) | null): Promise<P>;
  /** The first page together with its raw response. */
  withResponse(): Promise<WithResponse<P>>;
  /** Every page, one after the other. */
  pages(): AsyncIterable<P>;
  /** Collects the first items, at most `max`. */
  toArray(options: ToArrayOptions): Promise<T[]>;
}

/** A list of the versioned API, paged by cursor. Continue one with `list({ cursor })`. */
export interface Pager<T> extends PagedList<T, Page<T>> {}

/** A page of a list that is paged by position. */
export interface OffsetPage<T> {
  /** The records of this page. */
  data: T[];
  /** Continue with `list({ skip: nextSkip })`; null after an empty page, which is the last. */
  nextSkip: number | null;
}

/** A list paged by position. It ends with the first empty page: a short page proves nothing. */
export interface OffsetPager<T> extends PagedList<T, OffsetPage<T>> {}

class Paged<T, P extends { readonly data: T[] }, Position> implements PagedList<T, P> {
  readonly #source: PageSource<P, Position>;
  #first: ApiCall<P> | undefined;

  constructor(source: PageSource<P, Position>) {
    this.#source = source;
  }

  then<A = P, B = never>(
    onFulfilled?: ((page: P) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#firstPage().then(onFulfilled, onRejected);
  }

  catch<R = never>(onRejected?: ((reason: unknown) => R | PromiseLike<R>) | null): Promise<P | R> {
    return this.#firstPage().catch(onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<P> {
    return this.#firstPage().finally(onFinally);
  }

  withResponse(): Promise<WithResponse<P>> {
    return this.#firstPage().withResponse();
  }

  pages(): AsyncIterable<P> {
    return { [Symbol.asyncIterator]: () => new PageIterator<T, P, Position>(this.#source) };
  }

  [Symbol.asyncIterator](): AsyncIterator<T> {
    return new ItemIterator(new PageIterator<T, P, Position>(this.#source));
  }

  async toArray(options: ToArrayOptions): Promise<T[]> {
    const max: unknown = (options as ToArrayOptions | undefined)?.max;
    if (typeof max !== 'number' || !Number.isInteger(max) || max < 1) {
      throw new ValidationError(
        'toArray needs max, a whole number above 0: a list has no bound of its own. Nothing was sent.',
        {
          outcome: 'not_sent',
          ...this.#source.call,
          issues: [{ path: 'max', message: 'expected a whole number above 0' }],
        },
      );
    }
    const items: T[] = [];
    for await (const item of this) {
      items.push(item);
      if (items.length === max) break;
    }
    return items;
  }

  #firstPage(): ApiCall<P> {
    this.#first ??= this.#source.fetch(this.#source.start);
    return this.#first;
  }
}

/**
 * A filter may leave pages empty, so one proves nothing. So many in a row are more likely a platform
 * that makes up cursors, which would be asked for ever: docs/gaps.md, row 59.
 */
const maxEmptyPages = 1_000;

/** The same of a page, or of the last item of one, which a list that grows meanwhile shows again. */
const sameInARow = 10;
const sameEndInARow = 1_000;

/** Longer ones would not fit into a request, and each is kept until the list ends. */
const longestCursor = 8_192;

/**
 * How a page ends that says by itself where the list goes on, its fields in the order of the document.
 * What the last bracket closes is the page, so they are its own and not those of an item.
 */
const endOfPage = /"hasMore"\s*:\s*true\s*,\s*"nextCursor"\s*:\s*"([^"\\]+)"\s*\}\s*$/;
const longestEnd = 512;

/** A list by cursor. `fetch` asks for the page at a cursor, the first one without. */
export function cursorPager<T>(
  call: CallIdentity,
  query: { readonly cursor?: string | undefined; readonly limit?: number | undefined } | undefined,
  redact: (text: string) => string,
  fetch: (cursor: string | undefined, walk?: Walk) => ApiCall<Page<T>>,
): Pager<T> {
  type Start = Repetition & { readonly cursor: string | undefined };
  return new Paged<T, Page<T>, Start>({
    call,
    redact,
    start: { cursor: query?.cursor, ...nothingYet },
    limit: query?.limit,
    fetch: ({ cursor }, walk) => fetch(cursor, walk),
    cursorOf: ({ cursor }) => cursor,
    glance(text) {
      const cursor = endOfPage.exec(text.slice(-longestEnd))?.[1];
      return cursor === undefined ? undefined : { cursor, ...nothingYet };
    },
    next(page, { position, seen, emptyInARow, resume }) {
      if (!page.hasMore) return undefined;
      const cursor: unknown = page.nextCursor;
      const broken = (reason: PaginationError['reason'], sentence: string): PaginationError =>
        paginationError(reason, sentence, call, resume());
      if (typeof cursor !== 'string' || cursor === '') {
        return broken('missing_cursor', 'says that more items follow but gives no cursor for them');
      }
      if (cursor.length > longestCursor) {
        return broken('missing_cursor', `gives a cursor of more than ${longestCursor} characters`);
      }
      if (seen.has(cursor)) {
        return broken('cursor_loop', 'returned a cursor that this list has already used');
      }
      if (emptyInARow >= maxEmptyPages) {
        const sentence = `sent ${maxEmptyPages} empty pages in a row, and another cursor`;
        return broken('cursor_loop', sentence);
      }
      // Comparing the ends of pages is enough, and cheap. Empty pages in between change nothing.
      const end = page.data.slice(-1);
      const repetition = end.length === 0 ? position : repeated(end, position);
      if (repetition.times >= sameEndInARow) {
        const sentence = `sent ${sameEndInARow} pages in a row that end with the same item`;
        return broken('cursor_loop', sentence);
      }
      return { ...repetition, cursor };
    },
  });
}

/** A list by position. `fetch` asks for the page after `skip` records. */
export function offsetPager<T>(
  call: CallIdentity,
  query: { readonly skip?: Integer | undefined; readonly take?: Integer | undefined } | undefined,
  fetch: (skip: Integer | undefined, walk?: Walk) => ApiCall<OffsetPage<T>>,
): OffsetPager<T> {
  type Start = Repetition & { readonly skip: Integer | undefined };
  return new Paged<T, OffsetPage<T>, Start>({
    call,
    // A count.
    redact: (text) => text,
    start: { skip: query?.skip, ...nothingYet },
    // Not checked yet: that is done with the first request.
    limit: typeof query?.take === 'bigint' ? Number(query.take) : query?.take,
    fetch: ({ skip }, walk) => fetch(skip, walk),
    cursorOf: ({ skip }) => (skip === undefined ? undefined : String(skip)),
    next(page, { position, resume }) {
      if (page.nextSkip === null) return undefined;
      const repetition = repeated(page.data, position);
      if (repetition.times >= sameInARow) {
        const sentence = `sent the same page ${sameInARow} times in a row`;
        return paginationError('cursor_loop', sentence, call, resume());
      }
      return { ...repetition, skip: page.nextSkip };
    },
  });
}

/** What the page before was known by, and how often it has come. */
interface Repetition {
  readonly before: string;
  readonly times: number;
}

const nothingYet: Repetition = { before: '', times: 0 };

/**
 * A platform that ignores where a page begins would send the first one for ever. One whose list has
 * just grown by a page in front sends the last one again.
 */
function repeated(records: readonly unknown[], { before, times }: Repetition): Repetition {
  const now = stringifyJson(records);
  return { before: now, times: now === before ? times + 1 : 1 };
}

const paginationError = (
  reason: PaginationError['reason'],
  sentence: string,
  call: CallIdentity,
  resume: ResumePoint,
): PaginationError =>
  new PaginationError(
    `The platform ${sentence}.\nRequest: ${call.method} ${call.path} (${call.operation}), items handed out: ${resume.itemsYielded}.\nThe items so far are valid; resume says where the list broke off.`,
    { ...call, outcome: 'rejected', reason, resume },
  );
