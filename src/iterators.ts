import { PaginationError, PaymentsError, type CallIdentity, type ResumePoint } from './errors.ts';
import type { ApiCall } from './transport.ts';

/** How one kind of list finds its way. `Position` is what the next page is asked for with. */
export interface PageSource<P, Position> {
  readonly call: CallIdentity;
  readonly start: Position;
  readonly limit: number | undefined;
  /**
   * Asks for one page. `cancel` ends the request; only walks give it, and what they get has to be a page.
   */
  fetch(position: Position, cancel?: AbortSignal): ApiCall<P>;
  /** Where the next page is, undefined after the last one, or why there is no way on. */
  next(page: P, state: PagingState<Position>): Position | PaginationError | undefined;
  /** How a position is told to the user, to continue there. */
  cursorOf(position: Position): string | undefined;
  /** Takes credentials out of a cursor that an error tells. */
  readonly redact: (text: string) => string;
}

/** Where one walk through a list has been. */
interface PagingState<Position> {
  readonly position: Position;
  readonly seen: Set<unknown>;
  /** Pages without an item, up to and with the last one. */
  readonly emptyInARow: number;
  readonly resume: () => ResumePoint;
}

/**
 * One walk through the pages of a list. From its second page on it asks for the next page as soon
 * as one has arrived, so that the platform and the consumer work at the same time.
 */
export class PageIterator<
  T,
  P extends { readonly data: T[] },
  Position,
> implements AsyncIterableIterator<P> {
  readonly #source: PageSource<P, Position>;
  readonly #seen = new Set<unknown>();
  /** Ends the requests of this walk when its loop is left. */
  readonly #cancel = new AbortController();
  /** Where the next page is, undefined after the last one, or why there is no way to it. */
  #next: Position | PaginationError | undefined;
  /** The page at that position, when it is on its way already. */
  #ahead: Promise<P> | undefined;
  #pagesHandedOut = 0;
  #itemsHandedOut = 0;
  #emptyInARow = 0;
  /** Calls of next() take turns: two at once must not fetch one page twice. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(source: PageSource<P, Position>) {
    this.#source = source;
    this.#next = source.start;
  }

  next(): Promise<IteratorResult<P, undefined>> {
    const result = this.#turn.then(() => this.#advance());
    this.#turn = result.catch(() => undefined);
    return result;
  }

  return(): Promise<IteratorResult<P, undefined>> {
    this.#next = undefined;
    this.#cancel.abort();
    this.#ahead = undefined;
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #resumeAt(position: Position): ResumePoint {
    const cursor = this.#source.cursorOf(position);
    return {
      cursor: cursor === undefined ? undefined : this.#source.redact(cursor),
      limit: this.#source.limit,
      itemsYielded: this.#itemsHandedOut,
    };
  }

  async #advance(): Promise<IteratorResult<P, undefined>> {
    const position = this.#next;
    if (position instanceof PaginationError) throw position;
    if (position === undefined) return { done: true, value: undefined };
    const left = this.#cancel.signal;
    const pending = this.#ahead ?? this.#ask(position);
    // Taken out before it is awaited: one that fails is asked for again by the next next().
    this.#ahead = undefined;
    let page: P;
    try {
      page = await pending;
      if (left.aborted) return { done: true, value: undefined };
    } catch (error) {
      if (left.aborted) return { done: true, value: undefined };
      if (error instanceof PaymentsError) error.resume ??= this.#resumeAt(position);
      throw error;
    }
    this.#pagesHandedOut += 1;
    this.#itemsHandedOut += page.data.length;
    this.#emptyInARow = page.data.length === 0 ? this.#emptyInARow + 1 : 0;
    this.#seen.add(this.#source.cursorOf(position));
    const next = this.#source.next(page, {
      position,
      seen: this.#seen,
      emptyInARow: this.#emptyInARow,
      // Told to nobody as long as the list goes on.
      resume: () => this.#resumeAt(position),
    });
    // That there is no way on is said when somebody asks for it.
    this.#next = next;
    const goesOn = next !== undefined && !(next instanceof PaginationError);
    if (goesOn && this.#pagesHandedOut > 1) this.#ahead = this.#ask(next);
    return { done: false, value: page };
  }

  #ask(position: Position): Promise<P> {
    const page = this.#source.fetch(position, this.#cancel.signal);
    // A page fetched ahead may fail before anybody asks for it.
    page.catch(() => undefined);
    return page;
  }
}

/** One walk through the items of a list: one promise an item, nothing in between. */
export class ItemIterator<
  T,
  P extends { readonly data: T[] },
  Position,
> implements AsyncIterableIterator<T> {
  readonly #pages: PageIterator<T, P, Position>;
  #items: T[] = [];
  #at = 0;
  #turn: Promise<unknown> | undefined;

  constructor(pages: PageIterator<T, P, Position>) {
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
