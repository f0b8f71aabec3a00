import {
  PaymentsError,
  PaginationError,
  ValidationError,
  type CallIdentity,
  type ResumePoint,
} from './errors.ts';
import type { Page } from './schemas/page.ts';
import type { ApiCall, WithResponse } from './transport.ts';

/** Where `toArray` stops. */
export interface ToArrayOptions {
  /** Items to collect at most; required, because a list has no bound of its own. */
  max: number;
}

/**
 * A list that has not been asked for yet.
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
  /** For the first page, as on a promise. */
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
  /** The first items, `max` at most. */
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

/** How one kind of list finds its way. `Position` is what the next page is asked for with. */
interface Route<P, Position> extends CallIdentity {
  readonly start: Position;
  readonly limit: number | undefined;
  /** Asks for one page; `cancel` ends the request. */
  fetch(position: Position, cancel?: AbortSignal): ApiCall<P>;
  /** Where the next page is, undefined after the last one, or why there is no way on. */
  next(page: P, trail: Trail<Position>): Position | PaginationError | undefined;
  /** How a position is told to the user, to continue there. */
  cursorOf(position: Position): string | undefined;
  /** Takes credentials out of a cursor that an error tells. */
  readonly redact: (text: string) => string;
}

/** Where one walk through a list has been. */
interface Trail<Position> {
  readonly position: Position;
  readonly seen: Set<unknown>;
  /** Pages without an item, up to and with the last one. */
  readonly emptyInARow: number;
  readonly resume: () => ResumePoint;
}

/**
 * A filter may leave pages empty, so one proves nothing. So many in a row are more likely a platform
 * that makes up cursors, which would be asked for ever: docs/gaps.md, row 59.
 */
const longestDrought = 1_000;

class Paged<T, P extends { readonly data: T[] }, Position> implements PagedList<T, P> {
  readonly #route: Route<P, Position>;
  #first: ApiCall<P> | undefined;

  constructor(route: Route<P, Position>) {
    this.#route = route;
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
    return { [Symbol.asyncIterator]: () => new PageWalk<T, P, Position>(this.#route) };
  }

  [Symbol.asyncIterator](): AsyncIterator<T> {
    return new ItemWalk(new PageWalk<T, P, Position>(this.#route));
  }

  async toArray(options: ToArrayOptions): Promise<T[]> {
    const max: unknown = (options as ToArrayOptions | undefined)?.max;
    if (typeof max !== 'number' || !Number.isInteger(max) || max < 1) {
      throw new ValidationError(
        'toArray needs max, a whole number above 0: a list has no bound of its own. Nothing was sent.',
        {
          outcome: 'not_sent',
          ...identityOf(this.#route),
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
    this.#first ??= this.#route.fetch(this.#route.start);
    return this.#first;
  }
}

/**
 * One walk through the pages of a list. From its second page on it asks for the next page as soon
 * as one has arrived, so that the platform and the consumer work at the same time.
 */
class PageWalk<T, P extends { readonly data: T[] }, Position> implements AsyncIterableIterator<P> {
  readonly #route: Route<P, Position>;
  readonly #seen = new Set<unknown>();
  /** Ends the requests of this walk when its loop is left. */
  readonly #cancel = new AbortController();
  /** The next page to hand out; undefined after the last one. */
  #position: Position | undefined;
  /** The page at that position, when it is on its way already. */
  #ahead: Promise<P> | undefined;
  #pagesHandedOut = 0;
  #itemsHandedOut = 0;
  #emptyInARow = 0;
  #ended = false;
  /** Why there is no way to the next page. */
  #lost: PaginationError | undefined;
  /** Calls of next() take turns: two at once must not fetch one page twice. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(route: Route<P, Position>) {
    this.#route = route;
    this.#position = route.start;
  }

  next(): Promise<IteratorResult<P, undefined>> {
    const result = this.#turn.then(() => this.#advance());
    this.#turn = result.catch(() => undefined);
    return result;
  }

  return(): Promise<IteratorResult<P, undefined>> {
    this.#ended = true;
    this.#position = undefined;
    this.#cancel.abort();
    this.#ahead = undefined;
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #resumeAt(position: Position): ResumePoint {
    const cursor = this.#route.cursorOf(position);
    return {
      cursor: cursor === undefined ? undefined : this.#route.redact(cursor),
      limit: this.#route.limit,
      itemsYielded: this.#itemsHandedOut,
    };
  }

  async #advance(): Promise<IteratorResult<P, undefined>> {
    const position = this.#position;
    if (this.#lost !== undefined) throw this.#lost;
    if (this.#ended || position === undefined) return { done: true, value: undefined };
    const pending = this.#ahead ?? this.#ask(position);
    // Taken out before it is awaited: one that fails is asked for again by the next next().
    this.#ahead = undefined;
    let page: P;
    try {
      page = await pending;
      if (this.#ended) return { done: true, value: undefined };
    } catch (error) {
      if (this.#ended) return { done: true, value: undefined };
      if (error instanceof PaymentsError) error.resume ??= this.#resumeAt(position);
      throw error;
    }
    this.#pagesHandedOut += 1;
    this.#itemsHandedOut += page.data.length;
    this.#emptyInARow = page.data.length === 0 ? this.#emptyInARow + 1 : 0;
    this.#goOn(page, position);
    if (this.#position !== undefined && this.#pagesHandedOut > 1) {
      this.#ahead = this.#ask(this.#position);
    }
    return { done: false, value: page };
  }

  /** Finds the way to the next page. That there is none is said when somebody asks for it. */
  #goOn(page: P, position: Position): void {
    this.#seen.add(this.#route.cursorOf(position));
    const next = this.#route.next(page, {
      position,
      seen: this.#seen,
      emptyInARow: this.#emptyInARow,
      // Told to nobody as long as the list goes on.
      resume: () => this.#resumeAt(position),
    });
    this.#lost = next instanceof PaginationError ? next : undefined;
    this.#position = next instanceof PaginationError ? undefined : next;
  }

  #ask(position: Position): Promise<P> {
    const page = this.#route.fetch(position, this.#cancel.signal);
    // A page fetched ahead may fail before anybody asks for it.
    page.catch(() => undefined);
    return page;
  }
}

/** One walk through the items of a list: one promise an item, nothing in between. */
class ItemWalk<T, P extends { readonly data: T[] }, Position> implements AsyncIterableIterator<T> {
  readonly #pages: PageWalk<T, P, Position>;
  #items: T[] = [];
  #at = 0;
  #turn: Promise<unknown> | undefined;

  constructor(pages: PageWalk<T, P, Position>) {
    this.#pages = pages;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#turn === undefined && this.#at < this.#items.length) {
      return Promise.resolve(this.#take());
    }
    const result = (this.#turn ?? Promise.resolve()).then(() => this.#fromNextPage());
    const turn = result
      .catch(() => undefined)
      .then(() => {
        if (this.#turn === turn) this.#turn = undefined;
      });
    this.#turn = turn;
    return result;
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    this.#items = [];
    this.#at = 0;
    await this.#pages.return();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #fromNextPage(): Promise<IteratorResult<T, undefined>> {
    while (this.#at >= this.#items.length) {
      const page = await this.#pages.next();
      if (page.done === true) return { done: true, value: undefined };
      this.#items = page.value.data;
      this.#at = 0;
    }
    return this.#take();
  }

  #take(): IteratorResult<T, undefined> {
    const value = this.#items[this.#at] as T;
    this.#at += 1;
    return { done: false, value };
  }
}

const identityOf = ({ operation, method, path }: CallIdentity): CallIdentity => ({
  operation,
  method,
  path,
});

/** A list by cursor. `fetch` asks for the page at a cursor, the first one without. */
export function cursorPager<T>(
  call: CallIdentity,
  query: { readonly cursor?: string | undefined; readonly limit?: number | undefined } | undefined,
  redact: (text: string) => string,
  fetch: (cursor: string | undefined, cancel?: AbortSignal) => ApiCall<Page<T>>,
): Pager<T> {
  type Start = { readonly cursor: string | undefined };
  return new Paged<T, Page<T>, Start>({
    ...call,
    redact,
    start: { cursor: query?.cursor },
    limit: query?.limit,
    fetch: ({ cursor }, cancel) => fetch(cursor, cancel),
    cursorOf: ({ cursor }) => cursor,
    next(page, { seen, emptyInARow, resume }) {
      if (!page.hasMore) return undefined;
      const cursor: unknown = page.nextCursor;
      if (typeof cursor !== 'string' || cursor === '') {
        return lost(
          'missing_cursor',
          'says that more items follow, and names no cursor to them',
          call,
          resume(),
        );
      }
      if (seen.has(cursor)) {
        return lost(
          'cursor_loop',
          'names a cursor that this list has been at already',
          call,
          resume(),
        );
      }
      if (emptyInARow >= longestDrought) {
        return lost(
          'cursor_loop',
          `sent ${longestDrought} pages in a row without an item, and names another`,
          call,
          resume(),
        );
      }
      return { cursor };
    },
  });
}

/** A list by position. `fetch` asks for the page after `skip` records. */
export function offsetPager<T>(
  call: CallIdentity,
  query: { readonly skip?: number | undefined; readonly take?: number | undefined } | undefined,
  fetch: (skip: number | undefined, cancel?: AbortSignal) => ApiCall<OffsetPage<T>>,
): OffsetPager<T> {
  type Start = { readonly skip: number | undefined; readonly before?: string };
  return new Paged<T, OffsetPage<T>, Start>({
    ...call,
    // A count.
    redact: (text) => text,
    start: { skip: query?.skip },
    limit: query?.take,
    fetch: ({ skip }, cancel) => fetch(skip, cancel),
    cursorOf: ({ skip }) => (skip === undefined ? undefined : String(skip)),
    next(page, { position, resume }) {
      if (page.nextSkip === null) return undefined;
      // A platform that ignores skip would send its first page for ever.
      const records = fingerprint(page.data);
      if (records === position.before) {
        return lost('cursor_loop', 'sends the page before this one again', call, resume());
      }
      return { skip: page.nextSkip, before: records };
    },
  });
}

const fingerprint = (records: readonly unknown[]): string =>
  JSON.stringify(records, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));

const lost = (
  reason: 'missing_cursor' | 'cursor_loop',
  sentence: string,
  call: CallIdentity,
  resume: ResumePoint,
): PaginationError =>
  new PaginationError(
    `The platform ${sentence}.\nAsked: ${call.method} ${call.path} (${call.operation}), items handed out: ${resume.itemsYielded}.\nThe items so far are valid; resume says where the list broke off.`,
    { ...identityOf(call), outcome: 'rejected', reason, resume },
  );
