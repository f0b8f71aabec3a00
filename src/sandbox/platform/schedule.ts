import type { Clock } from './clock.ts';

/**
 * What moves by itself, and when: each thing once, so many milliseconds after it last moved. Steps
 * that are due are taken by a timer and by whoever calls `run` before it looks, so that a clock which
 * was set on, or a timer that is late, makes no difference to what anybody sees.
 */
export class Schedule {
  readonly #clock: Clock;
  /** Undefined: nothing moves by itself. */
  readonly #interval: number | undefined;
  readonly #due = new Map<string, number>();
  /** Nothing is due before this. */
  #earliest = Infinity;
  #cancelTimer: (() => void) | undefined;
  /** While a step is taken: when it should have been, which is where the next one counts from. */
  #present: number | undefined;
  /** Takes the next step of the thing with this id. */
  step: (id: string) => void = () => {};

  constructor(clock: Clock, interval: number | undefined) {
    this.#clock = clock;
    this.#interval = interval;
  }

  /** Something has moved, and is to move again. */
  count(id: string): void {
    if (this.#interval === undefined) return;
    const at = (this.#present ?? this.#clock.now().getTime()) + this.#interval;
    this.#due.set(id, at);
    this.#wake(at);
  }

  /** Something has come to its end. */
  forget(id: string): void {
    this.#due.delete(id);
  }

  clear(): void {
    this.#due.clear();
    this.#earliest = Infinity;
    this.#cancelTimer?.();
  }

  /** Takes every step that is due; more than one of the same thing if much time has passed. */
  run(): void {
    if (this.#due.size === 0) return;
    const now = this.#clock.now().getTime();
    while (this.#earliest <= now) this.#stepAll(now);
  }

  /** The clock was set: what is left of each wait has changed. */
  clockMoved(): void {
    this.#stepAll(this.#clock.now().getTime());
    this.run();
  }

  #stepAll(now: number): void {
    const ready = [...this.#due].filter(([, at]) => at <= now);
    for (const [id, at] of ready.toSorted(([, one], [, other]) => one - other)) {
      this.#due.delete(id);
      this.#present = at;
      try {
        this.step(id);
      } finally {
        this.#present = undefined;
      }
    }
    let earliest = Infinity;
    for (const at of this.#due.values()) earliest = Math.min(earliest, at);
    this.#earliest = Infinity;
    this.#wake(earliest);
  }

  #wake(at: number): void {
    if (at >= this.#earliest) return;
    this.#earliest = at;
    this.#cancelTimer?.();
    const wait = Math.max(0, at - this.#clock.now().getTime());
    this.#cancelTimer = this.#clock.later(() => {
      this.#stepAll(this.#clock.now().getTime());
    }, wait);
  }
}
