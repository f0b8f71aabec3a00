import type { Transfer } from '../schemas/transfer.ts';
import { hasOffset, parseCreatedAt } from './compare.ts';

/** Milliseconds by which listed transfers may be out of order: docs/gaps.md, row 64. */
const orderSkewMs = 120_000;
/** How many transfers in order prove a list's order, because fewer may be a coincidence. */
const minItems = 100;

/**
 * Checks, while the list of transfers is read, that the list is newest first, and how far back it
 * was read. The check cannot see that a list consists of groups that are each newest first, so the
 * user asserts with `transfersNewestFirst` that there are none.
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
      // A creation time that is unreadable, or without an offset, proves and disproves no order.
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
