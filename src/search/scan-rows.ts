import { defaultClockSkew } from '../calls/options.ts';
import type { Transfer } from '../schemas/transfer.ts';
import { parseCreatedAt, sideOf } from './compare.ts';

/** Bits that say whether the last scan, and the scan before, have shown a transfer. */
const byLast = 1;
const byPrevious = 2;
const placeOf = (row: number): number => row >> 2;

/**
 * The transfers that the last two scans of a list have shown, to compare these scans. A scan can
 * miss a transfer that moves to another page meanwhile, so `not_found` may need two scans that
 * agree.
 */
export class ScanRows {
  /** By transfer: its place in `#times`, times four, plus the bits of the scans that have shown it. */
  readonly #rows = new Map<string, number>();
  /** The latest time that a transfer's `createdAt` can mean; `Infinity` if it is unreadable. */
  readonly #times: number[] = [];
  /** The platform's time at the first page of each scan; `-Infinity` if the platform sends none. */
  #startedAt = Number.NEGATIVE_INFINITY;
  #previousStartedAt = Number.NEGATIVE_INFINITY;
  #scans = 0;

  /** Whether the last scan has shown a transfer twice, as if the list had changed meanwhile. */
  hasRepeats = false;

  /** Whether there are two scans to compare. */
  get hasPrevious(): boolean {
    return this.#scans > 1;
  }

  /** Begins a scan. The last scan becomes the previous scan if it has read the whole list. */
  begin(isLastWhole: boolean): void {
    if (isLastWhole) {
      this.#scans += 1;
      this.#previousStartedAt = this.#startedAt;
    }
    for (const [side, row] of this.#rows) {
      const shown = isLastWhole ? (row & byLast) * byPrevious : row & byPrevious;
      this.#rows.set(side, placeOf(row) * 4 + shown);
    }
    this.#startedAt = Number.NEGATIVE_INFINITY;
    this.hasRepeats = false;
  }

  /** Adds a page's transfers, except those without an id and those older than any payment sought. */
  add(transfers: readonly Transfer[], earliest: number, date: number): void {
    if (this.#startedAt === Number.NEGATIVE_INFINITY && date > 0) this.#startedAt = date;
    for (const transfer of transfers) {
      const side = sideOf(transfer);
      const { latest } = parseCreatedAt(transfer.createdAt);
      if (side === undefined || latest < earliest) continue;
      const row = this.#rows.get(side) ?? this.#times.length * 4;
      this.hasRepeats ||= (row & byLast) > 0;
      this.#rows.set(side, row | byLast);
      this.#times[placeOf(row)] = Number.isNaN(latest) ? Number.POSITIVE_INFINITY : latest;
    }
  }

  /**
   * Whether the last scan shows the transfers of the scan before again, and others only if they are
   * new. Unless `isBounded`, the oldest hundredth may have left the list meanwhile.
   */
  agree(isBounded: boolean): boolean {
    if (!this.hasPrevious) return false;
    const newSince = this.#previousStartedAt - defaultClockSkew;
    const previousTimes: number[] = [];
    const missingTimes: number[] = [];
    for (const row of this.#rows.values()) {
      const time = this.#times[placeOf(row)] ?? Number.NaN;
      const shown = row & (byLast | byPrevious);
      if ((shown & byPrevious) > 0) {
        previousTimes.push(time);
        if (shown === byPrevious) missingTimes.push(time);
      } else if (shown === byLast) {
        // An unreadable time does not show that the transfer is new.
        const isNew = newSince < 0 || (time >= newSince && time < Number.POSITIVE_INFINITY);
        if (!isNew) return false;
      }
    }
    const mayLeave = isBounded ? 0 : Math.floor(previousTimes.length / 100);
    if (missingTimes.length === 0) return true;
    if (missingTimes.length > mayLeave) return false;
    const oldest =
      Float64Array.from(previousTimes)
        .toSorted()
        .at(mayLeave - 1) ?? Number.NaN;
    return missingTimes.every((time) => time <= oldest);
  }
}
