import {
  PaginationError,
  PaymentsError,
  type CallIdentity,
  type ResumePoint,
} from '../errors/errors.ts';
import { captureCallSite, withCallSite } from '../errors/call-site.ts';
import { invalidArguments } from '../calls/arguments.ts';
import { issueAt } from '../internal/issues.ts';
import { stringifyJson } from '../internal/json.ts';
import type { Page } from '../schemas/page.ts';
import type { ApiCall, WithResponse } from '../calls/pipeline.ts';

const maxProblem = {
  expected: 'a whole number above 0',
  hint: 'A list has no bound of its own: toArray({ max: 1000 })',
};

/** Options of `toArray`. */
export interface ToArrayOptions {
  /** Items to collect at most; required, because a list has no bound of its own. */
  max: number;
}

/**
 * A lazy list: `await` it for the first page, `for await` it for every item. Each loop starts afresh, and
 * fetches one page ahead once it has asked for its second.
 * @example
 * ```ts
 * import { PaymentsClient } from 'payments-platform-sdk';
 *
 * const payments = new PaymentsClient();
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

/** How one kind of list finds its way. `Position` is what a page is asked for with. */
export interface PageSource<P, Position> {
  readonly call: CallIdentity;
  /** Undefined is the first page. */
  readonly start: Position | undefined;
  readonly limit: number | undefined;
  /** How many pages in a row may bring nothing new. */
  readonly patience: number;
  /** Takes credentials out of a cursor that an error tells. */
  readonly redact: (text: string) => string;
  /** Asks for one page, for whoever is at that call site. What a walk gets has to be one. */
  readonly fetch: (
    position: Position | undefined,
    site: Error,
    walk?: Walk<Position>,
  ) => ApiCall<P>;
  /** Where the next page is: undefined after the last one, null when that is not said. */
  readonly next: (page: P) => Position | null | undefined;
}

/** What a walk gives along with each of its requests. */
interface Walk<Position> {
  /** Ends the request. */
  readonly cancel: AbortSignal;
  /** Told where a page that was not read yet leads; true when the one there was asked for. */
  readonly askAhead: (position: Position) => boolean;
}

/** A list over such a source. */
export class Paged<T, P extends { readonly data: T[] }, Position> implements PagedList<T, P> {
  readonly #source: PageSource<P, Position>;
  readonly #site = captureCallSite();
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
    return {
      [Symbol.asyncIterator]: () => begin((left, site) => pagesOf(this.#source, left, site)),
    };
  }

  [Symbol.asyncIterator](): AsyncIterator<T> {
    return begin((left, site) => itemsOf<T>(pagesOf(this.#source, left, site)));
  }

  async toArray(options: ToArrayOptions): Promise<T[]> {
    const max: unknown = (options as ToArrayOptions | undefined)?.max;
    if (typeof max !== 'number' || !Number.isInteger(max) || max < 1) {
      const issue = issueAt('max', maxProblem, max);
      throw invalidArguments(this.#source.call, [issue], this.#source.redact);
    }
    const items: T[] = [];
    for await (const item of this) {
      items.push(item);
      if (items.length === max) break;
    }
    return items;
  }

  #firstPage(): ApiCall<P> {
    this.#first ??= this.#source.fetch(this.#source.start, this.#site);
    return this.#first;
  }
}

/** Begins a walk that can be left at any time: also while a page is waited for, which ends with it. */
function begin<T>(
  walk: (left: AbortController, site: Error) => AsyncGenerator<T, undefined>,
): AsyncIterator<T, undefined> {
  const left = new AbortController();
  const steps = walk(left, captureCallSite());
  const leave = steps.return.bind(steps);
  return Object.assign(steps, {
    return: () => {
      left.abort();
      return leave(undefined);
    },
  });
}

async function* itemsOf<T>(
  pages: AsyncIterable<{ readonly data: T[] }>,
): AsyncGenerator<T, undefined> {
  for await (const { data } of pages) {
    for (const item of data) yield item;
  }
}

/**
 * One walk through the pages of a list. From its second page on it asks for the next page as soon
 * as one has arrived, so that the platform and the consumer work at the same time.
 */
async function* pagesOf<P extends { readonly data: unknown[] }, Position>(
  source: PageSource<P, Position>,
  left: AbortController,
  site: Error,
): AsyncGenerator<P, undefined> {
  const seen = new Set<Position>();
  let position = source.start;
  let isAwaited = false;
  let ahead: { readonly position: Position; readonly page: Promise<P> } | undefined;
  let pages = 0;
  let items = 0;
  /** The last item so far, and for how many pages it has been the last. */
  let last: string | undefined;
  let repeats = 0;

  const ask = (at: Position | undefined): Promise<P> => {
    const page = source.fetch(at, site, {
      cancel: left.signal,
      askAhead: (next) => {
        // The page ahead may come before anybody wants it, and one that was cut off comes twice.
        const isNext = pages > 0 && isAwaited && at === position && ahead === undefined;
        if (isNext && !seen.has(next)) goAhead(next);
        return isNext && ahead !== undefined;
      },
    });
    // It may fail before anybody asks for it.
    page.catch(() => undefined);
    return page;
  };
  const goAhead = (next: Position): void => {
    // What was asked for is another page if this one was cut off, and came again with another cursor.
    if (ahead?.position !== next) ahead = { position: next, page: ask(next) };
  };
  const resumePoint = (): ResumePoint => ({
    cursor: position === undefined ? undefined : source.redact(String(position)),
    limit: source.limit,
    itemsYielded: items,
  });
  const noWayOn = (next: Position | null): PaginationError | undefined => {
    const { method, path, operation } = source.call;
    const broken = (reason: PaginationError['reason'], sentence: string): PaginationError =>
      new PaginationError(
        `The platform ${sentence}.\nThe items so far are valid; error.resume says where the list broke off.\nRequest: ${method} ${path} (${operation}), items handed out: ${items}.`,
        { ...source.call, outcome: 'rejected', reason, resume: resumePoint() },
      );
    if (next === null) {
      return broken('missing_cursor', 'says that more items follow but gives no cursor for them');
    }
    if (seen.has(next)) {
      return broken('cursor_loop', 'returned a cursor that this list has already used');
    }
    if (repeats < source.patience) return undefined;
    const sentence = `sent ${source.patience} pages in a row that are empty or end with the same item as the one before`;
    return broken('cursor_loop', sentence);
  };

  try {
    for (;;) {
      if (position !== undefined) seen.add(position);
      const asked = ahead?.page ?? ask(position);
      ahead = undefined;
      isAwaited = true;
      const page = await asked.catch((error: unknown) => {
        if (error instanceof PaymentsError) error.resume ??= resumePoint();
        throw error;
      });
      if (left.signal.aborted) return undefined;
      isAwaited = false;
      pages += 1;
      items += page.data.length;
      const end = page.data.length === 0 ? last : stringifyJson(page.data.at(-1));
      repeats = end === last ? repeats + 1 : 0;
      last = end;

      const next = source.next(page);
      const broken = next === undefined ? undefined : noWayOn(next);
      // That there is no way on is said when somebody asks for more: the items of this page are good.
      if (next === undefined || next === null || broken !== undefined) {
        yield page;
        if (broken === undefined) return undefined;
        throw broken;
      }
      if (pages > 1) goAhead(next);
      yield page;
      position = next;
    }
  } catch (error) {
    if (left.signal.aborted) return undefined;
    throw withCallSite(error, site);
  } finally {
    left.abort();
  }
}
