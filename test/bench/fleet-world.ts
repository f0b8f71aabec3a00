import type { Clock } from '../../src/calls/time.ts';

/** Seconds since the start. */
export const brownOut = { from: 10, until: 70 };

/** The share of the capacity that remains during the brown-out. */
const remainingShare = 0.1;
/** The capacity of the platform as a multiple of the demand. */
const headroom = 1.2;
/** The cost of a rejection as a share of the cost of a request. */
const costOfRejection = 0.02;
/** The length of the queue in seconds of work. Further requests are rejected. */
const queueSeconds = 0.5;
const latencyMs = 20;
/** The timeout of an attempt, the same for every policy. */
const timeoutMs = 10_000;
const retryAfterMs = 2_000;

export interface Scenario {
  readonly name: string;
  /** The status of a rejection when the queue is full. */
  readonly shed: 429 | 503;
  /** The share of creations. */
  readonly writes: number;
  readonly clients: number;
  /** Calls a second of each client. */
  readonly rate: number;
  /** The share of requests that is rejected at random during the brown-out, instead of the queue. */
  readonly atRandom?: number;
}

/** How an attempt ended, for a client. */
export interface Attempted {
  readonly status: number | 'timeout';
  readonly retryAfterMs: number | undefined;
}

export const sumBetween = (counts: readonly number[], from: number, until: number): number =>
  counts.slice(from, until).reduce((sum, each) => sum + each, 0);

/** Virtual time in steps of a millisecond. */
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
      // Runs every pending promise before the time advances.
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
 * A platform with a queue. It serves queued requests even if their clients have timed out, and rejections
 * have a cost, so more requests reduce its throughput.
 */
export class World {
  /** Requests that arrived, for each second. */
  readonly arrivals: number[] = [];
  readonly #timeline: Timeline;
  readonly #scenario: Scenario;
  readonly #capacity: number;
  readonly #random: () => number;
  #queue: Waiting[] = [];
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
      }, timeoutMs);
      const respond = (attempted: Attempted): void => {
        this.#timeline.setTimeout(
          () => {
            this.#timeline.clearTimeout(timer);
            resolve(attempted);
          },
          latencyMs * (0.5 + this.#random()),
        );
      };
      const { shed, atRandom } = this.#scenario;
      const isUnlucky = atRandom !== undefined && this.#isBrownedOut && this.#random() < atRandom;
      if (!isUnlucky && this.#queue.length - this.#served < this.#capacity * queueSeconds) {
        this.#queue.push({ response: respond });
        return;
      }
      this.#credit -= costOfRejection;
      respond({ status: shed, retryAfterMs: shed === 429 ? retryAfterMs : undefined });
    });
  }

  /** A millisecond of work. */
  work(): void {
    const isSlow = this.#isBrownedOut && this.#scenario.atRandom === undefined;
    const speed = (this.#capacity * (isSlow ? remainingShare : 1)) / 1_000;
    // Rejections delay later work, by at most half a second of work.
    this.#credit = Math.max(this.#credit + speed, -500 * speed);
    while (this.#credit >= 1 && this.#served < this.#queue.length) {
      this.#credit -= 1;
      this.#queue[this.#served]?.response({ status: 200, retryAfterMs: undefined });
      this.#served += 1;
    }
    if (this.#served === this.#queue.length) this.#credit = Math.min(this.#credit, 1 + speed);
    if (this.#served > 50_000) {
      this.#queue = this.#queue.slice(this.#served);
      this.#served = 0;
    }
  }
}
