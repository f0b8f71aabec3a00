import type { Clock } from './clock.ts';

interface Step {
  readonly at: number;
  readonly run: () => void;
}

/**
 * Changes the status of Transfers and Entities automatically, one step per interval, and sends
 * delayed webhooks. Call `runDueSteps` before you read the sandbox's data, because the timer that
 * takes due steps can be late.
 */
export class Schedule {
  readonly #clock: Clock;
  /** Milliseconds between two automatic status changes of a record; undefined to have none. */
  readonly #intervalMs: number | undefined;
  readonly #steps = new Map<string, Step>();
  /** No scheduled step is due before this time. */
  #earliestDue = Infinity;
  #cancelTimer: (() => void) | undefined;
  /** The due time of the step that runs now. The record's next step is due an interval later. */
  #stepTime: number | undefined;
  /** Moves the Transfer or Entity with this id to its next status. */
  step: (id: string) => void = () => {};

  constructor(clock: Clock, interval: number | undefined) {
    this.#clock = clock;
    this.#intervalMs = interval;
  }

  /** Schedules the next status change of the Transfer or Entity with this id. */
  start(id: string): void {
    if (this.#intervalMs === undefined) return;
    const at = (this.#stepTime ?? this.#clock.now().getTime()) + this.#intervalMs;
    this.startAt(id, at, () => {
      this.step(id);
    });
  }

  /** Schedules any other step, such as a webhook, at a time in milliseconds since 1970. */
  startAt(id: string, at: number, run: () => void): void {
    this.#steps.set(id, { at, run });
    this.#setTimer(at);
  }

  cancel(id: string): void {
    this.#steps.delete(id);
  }

  clear(): void {
    this.#steps.clear();
    this.#earliestDue = Infinity;
    this.#cancelTimer?.();
  }

  /** Takes every step that is due. If much time has passed, a record takes several steps. */
  runDueSteps(): void {
    if (this.#steps.size === 0) return;
    const now = this.#clock.now().getTime();
    while (this.#earliestDue <= now) this.#runSteps(now);
  }

  /** Takes the steps that are due after an advance of the sandbox's clock, and sets a new timer. */
  handleClockChange(): void {
    this.#runSteps(this.#clock.now().getTime());
    this.runDueSteps();
  }

  /**
   * Takes the steps that are due at this time, earliest first and at most one of each id, and sets
   * the timer for the next. A step may schedule further steps, which wait for another call.
   */
  #runSteps(now: number): void {
    const dueSteps = [...this.#steps].filter(([, { at }]) => at <= now);
    for (const [id, { at, run }] of dueSteps.toSorted(([, one], [, other]) => one.at - other.at)) {
      this.#steps.delete(id);
      this.#stepTime = at;
      try {
        run();
      } finally {
        this.#stepTime = undefined;
      }
    }
    let earliestDue = Infinity;
    for (const { at } of this.#steps.values()) earliestDue = Math.min(earliestDue, at);
    // `#setTimer` ignores a time that is not earlier than `#earliestDue`, so forget the old value.
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
