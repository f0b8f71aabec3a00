import type { Head, ReportDrift } from '../calls/call.ts';
import { parseHttpDate } from '../calls/time.ts';
import type { Transfer } from '../schemas/transfer.ts';
import { hasOffset, parseCreatedAt } from './compare.ts';

/** Milliseconds by which listed transfers may be out of order: docs/gaps.md, row 64. */
const orderSkewMs = 120_000;
/** How many transfers in order prove a list's order, because fewer may be a coincidence. */
const minItems = 100;
/** How many milliseconds `createdAt` and the `Date` header of a creation's response may differ. */
const clockSkewMs = 120_000;

const disorder = {
  path: 'data',
  message:
    'not newest first, as the option platform.transfersNewestFirst asserts; searches for payments read the whole list',
};
const clockDifference = {
  path: 'createdAt',
  message: 'more than two minutes from Date, so searches read the whole list',
};

/** What a client believes about the order of the platform's lists of Transfers. */
export class ListOrder {
  #isNewestFirst: boolean;
  #hasReportedDisorder = false;

  /** `isNewestFirst` is the user's assertion, the option `platform.transfersNewestFirst`. */
  constructor(isNewestFirst: boolean) {
    this.#isNewestFirst = isNewestFirst;
  }

  /** Returns a check of one scan; undefined if the scan has to read the whole list anyway. */
  createCheck(): OrderCheck | undefined {
    return this.#isNewestFirst ? new OrderCheck() : undefined;
  }

  /** Reports a list that is not newest first, once for each client. */
  reportDisorder(reportDrift: ReportDrift): void {
    if (this.#hasReportedDisorder) return;
    this.#hasReportedDisorder = true;
    reportDrift([disorder]);
  }

  /**
   * Compares `createdAt` and `Date` of each created Transfer, and lets searches read whole lists if
   * they differ too much. Undefined if searches do so anyway.
   */
  get clockCheck() {
    if (!this.#isNewestFirst) return undefined;
    return <T extends Pick<Transfer, 'createdAt'>>(
      transfer: T,
      { headers }: Head,
      reportDrift: ReportDrift,
    ): T => {
      const date = parseHttpDate(headers.get('date'));
      const { earliest } = parseCreatedAt(transfer.createdAt);
      const isOff = Math.abs(earliest - date) > clockSkewMs;
      if (isOff && hasOffset(transfer.createdAt) && this.#isNewestFirst) {
        this.#isNewestFirst = false;
        reportDrift([clockDifference]);
      }
      return transfer;
    };
  }
}

/**
 * Checks, while a list is read, whether it is newest first, and how far back it was read. The check
 * cannot detect a list of groups that are each newest first, so the user asserts that there are
 * none.
 */
export class OrderCheck {
  #items = 0;
  #newest = Number.NEGATIVE_INFINITY;
  #oldest = Number.POSITIVE_INFINITY;
  #isReadable = true;
  isContradicted = false;

  read(transfers: readonly Pick<Transfer, 'createdAt'>[]): void {
    for (const { createdAt } of transfers) {
      const { earliest, latest } = parseCreatedAt(createdAt);
      // A creation time that is unreadable, or without an offset, shows nothing about the order.
      if (Number.isNaN(earliest) || !hasOffset(createdAt)) {
        this.#isReadable = false;
        continue;
      }
      if (earliest > this.#oldest + orderSkewMs) this.isContradicted = true;
      this.#items += 1;
      this.#newest = Math.max(this.#newest, earliest);
      this.#oldest = Math.min(this.#oldest, latest);
    }
  }

  /** Whether the list was read back so far that every transfer since this time has been shown. */
  hasReached(time: number): boolean {
    return (
      this.#isReadable &&
      !this.isContradicted &&
      this.#items >= minItems &&
      this.#newest - this.#oldest > orderSkewMs &&
      this.#oldest + orderSkewMs < time
    );
  }
}
