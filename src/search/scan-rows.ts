import { defaultClockSkew } from '../calls/options.ts';
import type { Transfer } from '../schemas/transfer.ts';
import { parseCreatedAt, sideOf } from './compare.ts';

/** Whether a transfer was shown by the last scan, by the one before, or by both. */
const byLast = 1;
const byPrevious = 2;
const placeOf = (row: number): number => row >> 2;

/**
 * The transfers that the scans of one list have shown, to compare the last scan with the one before.
 * A scan can miss a transfer that moves to another page meanwhile, and some lists lose transfers
 * with equal times at the end of a page. So `not_found` counts only if two scans agree. All scans
 * show nearly the same transfers, so they share one map.
 */
export class ScanRows {
  /** By transfer, its place in the times below, times four, plus the scans that have shown it. */
  readonly #rows = new Map<string, number>();
  /** The latest time that a transfer's `createdAt` can mean; `Infinity` if it is unreadable. */
  readonly #times: number[] = [];
  /** The platform's time at the first page of each scan; `-Infinity` if the platform sends none. */
  #startedAt = Number.NEGATIVE_INFINITY;
  #previousStartedAt = Number.NEGATIVE_INFINITY;
  #scans = 0;

  /** Whether the last scan has shown a transfer twice, as if the list had changed meanwhile. */
  hasRepeats = false;

  /** Whether there is a scan before the last one. */
  get hasPrevious(): boolean {
    return this.#scans > 1;
  }

  /** Begins a scan. The last scan becomes the previous one, unless its list was not whole. */
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

  /** Adds a page's transfers, except those that are older than any payment sought. */
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
   * Whether the last scan contradicts nothing that the scan before it has shown. It has to show all
   * of those transfers again, and others only if they are new. With `isBounded`, only transfers
   * since a certain time were added. Without, the oldest may have left the list meanwhile.
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
