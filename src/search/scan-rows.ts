import { defaultClockSkew } from '../calls/options.ts';
import type { Transfer } from '../schemas/transfer.ts';
import { parseCreatedAt, sideOf } from './compare.ts';

/**
 * The transfers that one scan of a list has shown, to compare the scan with the next one. A scan
 * can miss a transfer that moves to another page meanwhile, and some lists lose transfers with
 * equal times at the end of a page. So `not_found` counts only if two scans agree.
 */
export class ScanRows {
  /** The latest time that each transfer's `createdAt` can mean; `Infinity` if it is unreadable. */
  readonly #times = new Map<string, number>();
  /** The platform's time at the first page of this scan; `-Infinity` if the platform sends none. */
  #startedAt = Number.NEGATIVE_INFINITY;

  /** Whether this scan has shown a transfer twice, as if the list had changed meanwhile. */
  hasRepeats = false;

  /** Adds a page's transfers, except those that are older than any payment sought. */
  add(transfers: readonly Transfer[], earliest: number, date: number): void {
    if (this.#startedAt === Number.NEGATIVE_INFINITY && date > 0) this.#startedAt = date;
    for (const transfer of transfers) {
      const side = sideOf(transfer);
      const { latest } = parseCreatedAt(transfer.createdAt);
      if (side === undefined || latest < earliest) continue;
      this.hasRepeats ||= this.#times.has(side);
      this.#times.set(side, Number.isNaN(latest) ? Number.POSITIVE_INFINITY : latest);
    }
  }

  /**
   * Whether the next scan of the list contradicts nothing that this scan has shown. It has to show
   * all of these transfers again, and others only if they are new. With `isBounded`, only transfers
   * since a certain time were added. Without, the oldest may have left the list meanwhile.
   */
  agreesWith(next: ScanRows, isBounded: boolean): boolean {
    const mayLeave = isBounded ? 0 : Math.floor(this.#times.size / 100);
    let newestMissing = Number.NEGATIVE_INFINITY;
    let missing = 0;
    for (const [side, time] of this.#times) {
      if (next.#times.has(side)) continue;
      missing += 1;
      newestMissing = Math.max(newestMissing, time);
      if (missing > mayLeave) return false;
    }
    if (missing > 0 && newestMissing > this.#findOldest(mayLeave)) return false;
    const newSince = this.#startedAt - defaultClockSkew;
    for (const [side, time] of next.#times) {
      // An unreadable time does not show that the transfer is new.
      const isNew = newSince < 0 || (time >= newSince && time < Number.POSITIVE_INFINITY);
      if (!isNew && !this.#times.has(side)) return false;
    }
    return true;
  }

  /** The time of the last of this many oldest transfers. */
  #findOldest(count: number): number {
    return (
      Float64Array.from(this.#times.values())
        .toSorted()
        .at(count - 1) ?? Number.NaN
    );
  }
}
