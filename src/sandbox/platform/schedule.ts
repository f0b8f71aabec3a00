import type { Clock } from './clock.ts';

/**
 * What moves by itself, and when: each thing once, so many milliseconds after it last moved. Steps
 * that are due are taken by a timer and by whoever calls `run` before it looks, so that a clock which
 * was set on, or a timer that is late, makes no difference to what anybody sees.
 */
export class Schedule {
  readonly #clock: Clock;
  /** Undefined: nothing moves by itself. */
  readonly #intervalMs: number | undefined;
  readonly #dueTimes = new Map<string, number>();
  /** Nothing is due before this. */
  #earliestDue = Infinity;
  #cancelTimer: (() => void) | undefined;
  /** While a step is taken: when it should have been, which is where the next one counts from. */
  #stepTime: number | undefined;
  /** Takes the next step of the thing with this id. */
  step: (id: string) => void = () => {};

  constructor(clock: Clock, interval: number | undefined) {
    this.#clock = clock;
    this.#intervalMs = interval;
  }

  /** Something has moved, and is to move again. */
  start(id: string): void {
    if (this.#intervalMs === undefined) return;
    const at = (this.#stepTime ?? this.#clock.now().getTime()) + this.#intervalMs;
    this.#dueTimes.set(id, at);
    this.#setTimer(at);
  }

  /** Something has come to its end. */
  cancel(id: string): void {
    this.#dueTimes.delete(id);
  }

  clear(): void {
    this.#dueTimes.clear();
    this.#earliestDue = Infinity;
    this.#cancelTimer?.();
  }

  /** Takes every step that is due; more than one of the same thing if much time has passed. */
  runDueSteps(): void {
    if (this.#dueTimes.size === 0) return;
    const now = this.#clock.now().getTime();
    while (this.#earliestDue <= now) this.#runSteps(now);
  }

  /** The clock was set: what is left of each wait has changed. */
  handleClockChange(): void {
    this.#runSteps(this.#clock.now().getTime());
    this.runDueSteps();
  }

  #runSteps(now: number): void {
    const dueSteps = [...this.#dueTimes].filter(([, at]) => at <= now);
    for (const [id, at] of dueSteps.toSorted(([, one], [, other]) => one - other)) {
      this.#dueTimes.delete(id);
      this.#stepTime = at;
      try {
        this.step(id);
      } finally {
        this.#stepTime = undefined;
      }
    }
    let earliestDue = Infinity;
    for (const at of this.#dueTimes.values()) earliestDue = Math.min(earliestDue, at);
    this.#earliestDue = Infinity;
    this.#setTimer(earliestDue);
  }

  #setTimer(at: number): void {
    if (at >= this.#earliestDue) return;
    this.#earliestDue = at;
    this.#cancelTimer?.();
    const wait = Math.max(0, at - this.#clock.now().getTime());
    this.#cancelTimer = this.#clock.startTimer(() => {
      this.#runSteps(this.#clock.now().getTime());
    }, wait);
  }
}
