import {
  decorate,
  PaginationError,
  PaymentsError,
  type CallIdentity,
  type ResumePoint,
} from '../errors/errors.ts';
import { captureCallSite, withCallSite, type CallSite } from '../errors/call-site.ts';
import { invalidArguments } from '../calls/arguments.ts';
import { issueAt } from '../internal/issues.ts';
import { stringifyJson } from '../internal/json.ts';
import type { Page } from '../schemas/page.ts';
import type { ApiCall, WithResponse } from '../calls/pipeline.ts';
import { keepContext } from '../calls/tracing.ts';

/** Works like a promise, but starts only when you await it. */
export interface Awaitable<T> extends PromiseLike<T> {
  /** Like `Promise.prototype.then`. */
  then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B>;
  /** Like `Promise.prototype.catch`. */
  catch<R = never>(onRejected?: ((reason: unknown) => R | PromiseLike<R>) | null): Promise<T | R>;
  /** Like `Promise.prototype.finally`. */
  finally(onFinally?: (() => void) | null): Promise<T>;
}

/**
 * Creates an object that does `work` when first awaited, and calls `iterate` for each loop. Both
 * run in the async context in which the object was created.
 */
export function createLazy<T, R>(
  iterate: () => AsyncGenerator<T, void, undefined>,
  work: () => Promise<R>,
): Awaitable<R> & AsyncIterable<T> {
  const runInContext = keepContext();
  let result: Promise<R> | undefined;
  const run = (): Promise<R> => (result ??= runInContext(work));
  return {
    then: (onFulfilled, onRejected) => run().then(onFulfilled, onRejected),
    catch: (onRejected) => run().catch(onRejected),
    finally: (onFinally) => run().finally(onFinally),
    [Symbol.asyncIterator]: () => {
      const generator = iterate();
      const next = generator.next.bind(generator);
      return override(generator, { next: () => runInContext(next) });
    },
  };
}

/** Replaces methods of a generator. An assignment would throw if a library froze the prototypes. */
function override<G extends object>(generator: G, methods: Partial<G>): G {
  for (const [name, value] of Object.entries(methods)) {
    Object.defineProperty(generator, name, { value });
  }
  return generator;
}

const maxProblem = {
  expected: 'a whole number above 0',
  hint: 'A list has no bound of its own: toArray({ max: 1000 })',
};

/** Options of `toArray`. */
export interface ToArrayOptions {
  /** The largest number of items to collect. Required, because a list may have any length. */
  max: number;
}

/**
 * A lazy list: `await` it for the first page, `for await` it for every item, from the first page in
 * each loop. From its second page on, the next page is requested while you use the items.
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
interface PagedList<T, P> extends Awaitable<P>, AsyncIterable<T> {
  /** The first page together with its raw response. */
  withResponse(): Promise<WithResponse<P>>;
  /** Iterates over the pages of the list instead of the items. */
  pages(): AsyncIterable<P>;
  /** Collects the first items of the list in an array, at most `max`. */
  toArray(optionsWithMax: ToArrayOptions): Promise<T[]>;
}

/** A list that is paged by cursor. To continue at a page, call `list({ cursor })`. */
export interface Pager<T> extends PagedList<T, Page<T>> {}

/** A page of a list that is paged by position. */
export interface OffsetPage<T> {
  /** The records of this page. */
  readonly data: readonly T[];
  /** To continue, call `list({ skip: nextSkip })`. Null after the last page, which is empty. */
  readonly nextSkip: number | null;
}

/** A list paged by position. Only an empty page ends the list, because a short page may not be the last. */
export interface OffsetPager<T> extends PagedList<T, OffsetPage<T>> {}

/** How to request the pages of one kind of list. `Position` is a cursor or an offset. */
export interface PageSource<P, Position> {
  readonly call: CallIdentity;
  /** The function that the public method calls. */
  readonly below: Parameters<typeof captureCallSite>[0];
  /** The position of the first page to read; undefined for the start of the list. */
  readonly start: Position | undefined;
  readonly limit: number | undefined;
  /** The list fails after this many pages in a row that have no new item. */
  readonly maxStalePages: number;
  /** Removes credentials from a cursor before an error shows the cursor. */
  readonly redact: (text: string) => string;
  /** Requests one page. `iteration` is set if a `for await` loop asks for the page. */
  readonly fetch: (
    position: Position | undefined,
    site: CallSite,
    iteration?: Iteration<Position>,
  ) => ApiCall<P>;
  /** Reads the next page's position: undefined after the last page, null if no cursor was sent. */
  readonly next: (page: P) => Position | null | undefined;
}

/** What a page's request needs from the `for await` loop that asks for the page. */
interface Iteration<Position> {
  /** Aborts the request of a page when the loop ends. */
  readonly cancel: AbortSignal;
  /** Requests the next page before this page is parsed. Returns whether a request was sent. */
  readonly prefetch: (position: Position) => boolean;
}

/** The list that methods such as `transfers.list` return. */
export class Paged<T, P extends { readonly data: readonly T[] }, Position> implements PagedList<
  T,
  P
> {
  readonly #source: PageSource<P, Position>;
  readonly #site: CallSite;
  readonly #runInContext = keepContext();
  #first: ApiCall<P> | undefined;

  constructor(source: PageSource<P, Position>) {
    this.#source = source;
    this.#site = captureCallSite(source.below);
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
      [Symbol.asyncIterator]: () => startIteration((stop, site) => this.#iterate(stop, site)),
    };
  }

  [Symbol.asyncIterator](): AsyncIterator<T> {
    return startIteration((stop, site) => this.#iterateItems(stop, site));
  }

  async toArray(options: ToArrayOptions): Promise<T[]> {
    // oxlint-disable-next-line typescript/unbound-method -- never called
    const site = captureCallSite(this.toArray, 0);
    const max: unknown = (options as ToArrayOptions | undefined)?.max;
    if (typeof max !== 'number' || !Number.isInteger(max) || max < 1) {
      const issue = issueAt('max', maxProblem, max);
      throw withCallSite(invalidArguments(this.#source.call, [issue], this.#source.redact), site);
    }
    const items: T[] = [];
    for await (const item of startIteration((stop) => this.#iterateItems(stop, site), site)) {
      items.push(item);
      if (items.length === max) break;
    }
    return items;
  }

  #iterate(stop: AbortController, site: CallSite): AsyncGenerator<P, undefined> {
    return iteratePages(this.#source, stop, site, this.#runInContext);
  }

  async *#iterateItems(stop: AbortController, site: CallSite): AsyncGenerator<T, undefined> {
    for await (const { data } of this.#iterate(stop, site)) {
      for (const item of data) yield item;
    }
  }

  #firstPage(): ApiCall<P> {
    const { fetch, start } = this.#source;
    this.#first ??= this.#runInContext(() => fetch(start, this.#site));
    return this.#first;
  }
}

/** The reason with which requests are aborted. Without it, the runtime would create an error with a stack. */
const ended = 'The loop over the list has ended.';

/** Starts an iteration over a list. If the caller ends it early, its requests are aborted. */
function startIteration<T>(
  iterate: (stop: AbortController, site: CallSite) => AsyncGenerator<T, undefined>,
  site = captureCallSite(startIteration),
): AsyncGenerator<T, undefined> {
  const stop = new AbortController();
  const generator = iterate(stop, site);
  const endGenerator = generator.return.bind(generator);
  return override(generator, {
    return: () => {
      stop.abort(ended);
      return endGenerator(undefined);
    },
  });
}

/**
 * Yields the pages of a list. From the second page on, requests the next page as soon as a page has
 * arrived, so that the platform and the caller work at the same time.
 */
async function* iteratePages<P extends { readonly data: readonly unknown[] }, Position>(
  source: PageSource<P, Position>,
  stop: AbortController,
  site: CallSite,
  runInContext: <R>(run: () => R) => R,
): AsyncGenerator<P, undefined> {
  const usedPositions = new Set<Position>();
  /** The position of the page that the loop reads now; undefined for the start of the list. */
  let position = source.start;
  /** Whether the loop waits for the page at `position`. */
  let isAwaited = false;
  /** The next page, if it was requested before the caller asked for it. */
  let prefetched: { readonly position: Position; readonly page: Promise<P> } | undefined;
  /** How many pages and items the loop has received so far. */
  let pages = 0;
  let items = 0;
  /** The last item read so far. `stalePages` counts later pages that end with the same item. */
  let lastItem: string | undefined;
  let stalePages = 0;

  const requestPage = (at: Position | undefined): Promise<P> => {
    const iteration: Iteration<Position> = {
      cancel: stop.signal,
      prefetch: (next) => {
        // Only the page that the loop awaits may prefetch, because a prefetched page may arrive
        // earlier, and only once, because a truncated page arrives twice.
        const isNext = pages > 0 && isAwaited && at === position && prefetched === undefined;
        if (isNext && !usedPositions.has(next)) prefetchPage(next);
        return isNext && prefetched !== undefined;
      },
    };
    // A prefetch starts while another response arrives, so the loop's async context is restored.
    const page = runInContext(() => source.fetch(at, site, iteration));
    // A prefetched page that fails early would be an unhandled rejection without this handler.
    page.catch(() => undefined);
    return page;
  };
  const prefetchPage = (next: Position): void => {
    // If the previous page arrived truncated, its retry may have another cursor than the page that
    // is already prefetched.
    if (prefetched?.position !== next) prefetched = { position: next, page: requestPage(next) };
  };
  /** Describes for an error where the list broke off, so that the caller can continue there. */
  const createResumePoint = (): ResumePoint => ({
    cursor: position === undefined ? undefined : source.redact(String(position)),
    limit: source.limit,
    itemsYielded: items,
  });
  /** Returns an error if the list cannot go on from its next position, and undefined if it can. */
  const checkNext = (next: Position | null): PaginationError | undefined => {
    const { method, path, operation } = source.call;
    const createError = (reason: PaginationError['reason'], problem: string): PaginationError =>
      new PaginationError(
        `The platform ${problem}.\nThe items so far are valid; error.resume says where the list broke off.\nRequest: ${method} ${path} (${operation}), items returned: ${items}.`,
        { ...source.call, outcome: 'rejected', reason, resume: createResumePoint() },
      );
    if (next === null) {
      return createError(
        'missing_cursor',
        'reported that more items follow but returned no cursor for them',
      );
    }
    if (usedPositions.has(next)) {
      return createError('cursor_loop', 'returned a cursor that this list has already used');
    }
    if (stalePages < source.maxStalePages) return undefined;
    return createError(
      'cursor_loop',
      `sent ${source.maxStalePages} pages in a row that are empty or end with the same item as the one before`,
    );
  };

  try {
    for (;;) {
      if (position !== undefined) usedPositions.add(position);
      const pending = prefetched?.page ?? requestPage(position);
      prefetched = undefined;
      isAwaited = true;
      const page = await pending.catch((error: unknown) => {
        if (error instanceof PaymentsError && error.resume === undefined) {
          decorate(error, { resume: createResumePoint() });
        }
        throw error;
      });
      if (stop.signal.aborted) return undefined;
      isAwaited = false;
      pages += 1;
      items += page.data.length;
      const previousItem = lastItem;
      if (page.data.length > 0) lastItem = stringifyJson(page.data.at(-1));
      stalePages = lastItem === previousItem ? stalePages + 1 : 0;

      const next = source.next(page);
      const error = next === undefined ? undefined : checkNext(next);
      // The items of this page are valid, so a bad cursor throws only when the caller asks for
      // more.
      if (next === undefined || next === null || error !== undefined) {
        yield page;
        if (error === undefined) return undefined;
        throw error;
      }
      if (pages > 1) prefetchPage(next);
      yield page;
      position = next;
    }
  } catch (error) {
    if (stop.signal.aborted) return undefined;
    throw withCallSite(error, site);
  } finally {
    stop.abort(ended);
  }
}
