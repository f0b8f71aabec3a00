import type { Clock } from '../../src/calls/clock.ts';

/** Seconds since the start. */
export const brownOut = { from: 10, until: 70 };

/** What is left of the platform's capacity meanwhile. */
const left = 0.1;
/** The platform can do this many times what its clients ask for. */
const headroom = 1.2;
/** How much of a request's work it takes to refuse it. */
const costOfRefusal = 0.02;
/** How many seconds of work may wait in line; what comes on top is refused. */
const line = 0.5;
const latency = 20;
/** When a client gives an attempt up. The same for all: it is their retries that are compared. */
const patience = 10_000;
const retryAfter = 2_000;

export interface Scenario {
  readonly name: string;
  /** How the platform refuses what it has no room for. */
  readonly shed: 429 | 503;
  /** The share of creations. */
  readonly writes: number;
  readonly clients: number;
  /** Calls a second of each client. */
  readonly rate: number;
  /** The share of requests that is refused at random during the brown-out, in place of the line. */
  readonly atRandom?: number;
}

/** How an attempt ended, for a client. */
export interface Attempted {
  readonly status: number | 'timeout';
  readonly retryAfterMs: number | undefined;
}

export const between = (counts: readonly number[], from: number, until: number): number =>
  counts.slice(from, until).reduce((sum, each) => sum + each, 0);

/** Virtual time, in steps of a millisecond. */
export class Timeline implements Required<Clock> {
  readonly #due = new Map<number, Set<{ readonly run: () => void }>>();
  #now = 0;

  now(): number {
    return this.#now;
  }

  elapsed(): number {
    return this.#now;
  }

  setTimeout(run: () => void, ms: number): unknown {
    const at = this.#now + Math.max(1, Math.ceil(ms));
    const timer = { run };
    const together = this.#due.get(at) ?? new Set();
    this.#due.set(at, together.add(timer));
    return { together, timer };
  }

  clearTimeout(handle: unknown): void {
    if (handle === undefined) return;
    const { together, timer } = handle as { together: Set<unknown>; timer: unknown };
    together.delete(timer);
  }

  /** Lets time pass; `tick` is called once in every millisecond. */
  async run(until: number, tick: () => void): Promise<void> {
    while (this.#now < until) {
      this.#now += 1;
      tick();
      const together = this.#due.get(this.#now);
      this.#due.delete(this.#now);
      for (const timer of together ?? []) timer.run();
      // Everything that waits for a promise goes on before time does.
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
  }
}

interface Waiting {
  readonly response: (attempted: Attempted) => void;
}

/**
 * A platform with a line in front of it. It does what it has taken in, also for clients that have
 * given up meanwhile, and refusing costs it something, too: the more it is asked, the less it gets
 * done.
 */
export class World {
  /** Requests that arrived, for each second. */
  readonly arrivals: number[] = [];
  readonly #timeline: Timeline;
  readonly #scenario: Scenario;
  readonly #capacity: number;
  readonly #random: () => number;
  #line: Waiting[] = [];
  #served = 0;
  #credit = 0;

  constructor(timeline: Timeline, scenario: Scenario, random: () => number) {
    this.#timeline = timeline;
    this.#scenario = scenario;
    this.#random = random;
    this.#capacity = scenario.clients * scenario.rate * headroom;
  }

  get #isBrownedOut(): boolean {
    const second = this.#timeline.elapsed() / 1_000;
    return second >= brownOut.from && second < brownOut.until;
  }

  /** One request of a client. */
  request(): Promise<Attempted> {
    const second = Math.floor(this.#timeline.elapsed() / 1_000);
    this.arrivals[second] = (this.arrivals[second] ?? 0) + 1;
    return new Promise((resolve) => {
      const timer = this.#timeline.setTimeout(() => {
        resolve({ status: 'timeout', retryAfterMs: undefined });
      }, patience);
      const response = (attempted: Attempted): void => {
        this.#timeline.setTimeout(
          () => {
            this.#timeline.clearTimeout(timer);
            resolve(attempted);
          },
          latency * (0.5 + this.#random()),
        );
      };
      const { shed, atRandom } = this.#scenario;
      const isUnlucky = atRandom !== undefined && this.#isBrownedOut && this.#random() < atRandom;
      if (!isUnlucky && this.#line.length - this.#served < this.#capacity * line) {
        this.#line.push({ response });
        return;
      }
      this.#credit -= costOfRefusal;
      response({ status: shed, retryAfterMs: shed === 429 ? retryAfter : undefined });
    });
  }

  /** A millisecond of work. */
  work(): void {
    const isSlow = this.#isBrownedOut && this.#scenario.atRandom === undefined;
    const speed = (this.#capacity * (isSlow ? left : 1)) / 1_000;
    // What refusals have cost is made up for later, to a degree: half a second of work.
    this.#credit = Math.max(this.#credit + speed, -500 * speed);
    while (this.#credit >= 1 && this.#served < this.#line.length) {
      this.#credit -= 1;
      this.#line[this.#served]?.response({ status: 200, retryAfterMs: undefined });
      this.#served += 1;
    }
    if (this.#served === this.#line.length) this.#credit = Math.min(this.#credit, 1 + speed);
    if (this.#served > 50_000) {
      this.#line = this.#line.slice(this.#served);
      this.#served = 0;
    }
  }
}
