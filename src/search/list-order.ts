import type { Transfer } from '../schemas/transfer.ts';
import { hasOffset, parseCreatedAt } from './compare.ts';

/** How far items may be out of order, and the platform's clocks apart: docs/gaps.md, row 64. */
const orderSkewMs = 120_000;
/** The fewest items that prove an order: so many in falling order are no coincidence. */
const minItems = 100;

/**
 * Checks, while a list is read, that the list is newest first, and how far back it was read. The
 * check cannot see that a list has groups that are each newest first, so `transfersNewestFirst`
 * asserts that there are none.
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
      // An unreadable time, or one without an offset, shows no order and contradicts none.
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

  /** Whether every transfer from this time on was read. */
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
