import {
  PaginationError,
  PaymentsError,
  type CallIdentity,
  type ResumePoint,
} from '../errors/errors.ts';
import type { ApiCall } from '../calls/transport.ts';

/** How one kind of list finds its way. `Position` is what the next page is asked for with. */
export interface PageSource<P, Position> {
  readonly call: CallIdentity;
  readonly start: Position;
  readonly limit: number | undefined;
  /** Asks for one page. What a walk gets has to be one. */
  fetch(position: Position, walk?: Walk): ApiCall<P>;
  /**
   * Where a page that was not read yet seems to lead, if that is easily seen. It only says what to ask
   * for first: `next` decides.
   */
  glance?(text: string): Position | undefined;
  /** Where the next page is, undefined after the last one, or why there is no way on. */
  next(page: P, state: PagingState<Position>): Position | PaginationError | undefined;
  /** How a position is told to the user, to continue there. */
  cursorOf(position: Position): string | undefined;
  /** Takes credentials out of a cursor that an error tells. */
  readonly redact: (text: string) => string;
}

/** What a walk gives along with each of its requests. */
export interface Walk {
  /** Ends the request. */
  readonly cancel: AbortSignal;
  /** Shown a page before it is read; true when the one behind it was asked for. */
  readonly askAhead: (text: string) => boolean;
}

/** A page that was asked for. */
interface Asked<P> {
  readonly cursor: string | undefined;
  readonly page: Promise<P>;
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
  /** The cursors of the pages that somebody waited for. */
  readonly #seen = new Set<unknown>();
  /** Ends the requests of this walk. */
  #cancel = new AbortController();
  #hasLeft = false;
  /** Where the next page is, undefined after the last one, or why there is no way to it. */
  #next: Position | PaginationError | undefined;
  /** The page that somebody waits for. */
  #awaited: Asked<P> | undefined;
  /** The page behind it, when it is on its way already. */
  #ahead: Asked<P> | undefined;
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
    this.#hasLeft = true;
    this.#next = undefined;
    this.#cancel.abort();
    this.#awaited = undefined;
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
    this.#seen.add(this.#source.cursorOf(position));
    this.#awaited = this.#ahead ?? this.#ask(position);
    // Taken out before it is awaited: one that fails is asked for again by the next next().
    this.#ahead = undefined;
    let page: P;
    try {
      page = await this.#awaited.page;
      if (this.#hasLeft) return { done: true, value: undefined };
    } catch (error) {
      if (this.#hasLeft) return { done: true, value: undefined };
      this.#dropAhead();
      if (error instanceof PaymentsError) error.resume ??= this.#resumeAt(position);
      throw error;
    }
    this.#pagesHandedOut += 1;
    this.#itemsHandedOut += page.data.length;
    this.#emptyInARow = page.data.length === 0 ? this.#emptyInARow + 1 : 0;
    const next = this.#source.next(page, {
      position,
      seen: this.#seen,
      emptyInARow: this.#emptyInARow,
      // Told to nobody as long as the list goes on.
      resume: () => this.#resumeAt(position),
    });
    // That there is no way on is said when somebody asks for it.
    this.#next = next;
    if (next === undefined || next instanceof PaginationError) this.#dropAhead();
    else this.#goAhead(next);
    return { done: false, value: page };
  }

  #ask(position: Position): Asked<P> {
    const page = this.#source.fetch(position, {
      cancel: this.#cancel.signal,
      // One that was called off may come all the same, and leads nowhere.
      askAhead: (text) => this.#awaited === asked && this.#askAhead(text),
    });
    const asked = { cursor: this.#source.cursorOf(position), page };
    // A page fetched ahead may fail before anybody asks for it.
    page.catch(() => undefined);
    return asked;
  }

  /** Sees to it that the page to be handed out next is on its way. */
  #goAhead(next: Position): void {
    if (this.#ahead?.cursor !== this.#source.cursorOf(next)) this.#dropAhead();
    if (this.#pagesHandedOut > 1) this.#ahead ??= this.#ask(next);
  }

  /** Asks for the page behind one that has arrived and was not read yet. */
  #askAhead(text: string): boolean {
    // A page that had to be asked for again is shown again.
    if (this.#pagesHandedOut === 0 || this.#ahead !== undefined) return false;
    const position = this.#source.glance?.(text);
    if (position === undefined || this.#seen.has(this.#source.cursorOf(position))) return false;
    this.#ahead = this.#ask(position);
    return true;
  }

  /** For a page that turns out not to be the next one. Nothing else of this walk is under way then. */
  #dropAhead(): void {
    if (this.#ahead === undefined) return;
    this.#ahead = undefined;
    this.#cancel.abort();
    this.#cancel = new AbortController();
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
