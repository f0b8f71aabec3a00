import type { Clock } from 'payments-platform-sdk';

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/** Lets everything that is ready run: promises, streams and what they set off. */
export async function flushPromises(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}

/**
 * Time that passes only when a test says so. A timer of no length fires by itself, so that a test
 * on real sockets can have waits of zero and deadlines that never come.
 */
export class VirtualClock implements Clock {
  readonly #timers = new Map<number, Timer>();
  #passed = 0;
  #wall: number;
  #nextHandle = 1;
  /** The length of every timer ever set. */
  readonly lengths: number[] = [];

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#wall = start;
  }

  now(): number {
    return this.#wall + this.#passed;
  }

  /** A clock of this kind begins anywhere, but never with the call that asks it. */
  elapsed(): number {
    return 86_400_000 + this.#passed;
  }

  /** How much time has passed since the test began. */
  get passed(): number {
    return this.#passed;
  }

  setTimeout(callback: () => void, ms: number): number {
    const handle = this.#nextHandle;
    this.#nextHandle += 1;
    this.lengths.push(ms);
    this.#timers.set(handle, { at: this.#passed + ms, run: callback });
    if (ms === 0) {
      setImmediate(() => {
        this.#fire(handle);
      });
    }
    return handle;
  }

  /** Fails, as many a clock would, for what `setTimeout` has not returned. */
  clearTimeout(handle: unknown): void {
    if (typeof handle !== 'number') throw new TypeError('this clock has set no such timer');
    this.#timers.delete(handle);
  }

  /** Timers that have not fired and were not cleared. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Sets the wall clock off; deadlines do not notice. */
  shiftWall(ms: number): void {
    this.#wall += ms;
  }

  /** Time passes and no timer fires, as on a suspended machine. */
  jump(ms: number): void {
    this.#passed += ms;
  }

  /** Lets time pass, firing what comes due, each in its turn. */
  async advance(ms: number): Promise<void> {
    const until = this.#passed + ms;
    await flushPromises();
    while (this.#fireNext(until)) await flushPromises();
    this.#passed = Math.max(this.#passed, until);
  }

  /** Lets time pass in small steps for as long as the promise is pending: for tests on real sockets. */
  async stepTimersDuring<T>(promise: Promise<T>): Promise<T> {
    let isPending = true;
    const done = (): void => {
      isPending = false;
    };
    promise.then(done, done);
    while (isPending) await this.advance(10);
    return promise;
  }

  /** Lets time pass from timer to timer until the promise has settled. */
  async runTimersDuring<T>(promise: Promise<T>): Promise<T> {
    let isDone = false;
    const done = (): void => {
      isDone = true;
    };
    promise.then(done, done);
    for (;;) {
      for (let turn = 0; turn < 20 && !isDone; turn += 1) await flushPromises(1);
      if (isDone) return promise;
      if (!this.#fireNext(Number.POSITIVE_INFINITY)) {
        throw new Error('Nothing is under way, and the promise is pending.');
      }
    }
  }

  #fireNext(until: number): boolean {
    const [due] = [...this.#timers].toSorted(([, one], [, other]) => one.at - other.at);
    if (due === undefined || due[1].at > until) return false;
    this.#passed = Math.max(this.#passed, due[1].at);
    this.#fire(due[0]);
    return true;
  }

  #fire(handle: number): void {
    const timer = this.#timers.get(handle);
    if (this.#timers.delete(handle)) timer?.run();
  }
}
