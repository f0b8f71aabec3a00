import type { Clock } from 'payments-platform-sdk';

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/** Runs all pending promises, streams and their callbacks. */
export async function flushPromises(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}

/**
 * A clock that the test advances. A timer of 0 ms fires by itself, so that a test on real sockets
 * can have waits of zero and deadlines that never fire.
 */
export class VirtualClock implements Clock {
  readonly #timers = new Map<number, Timer>();
  #passed = 0;
  #wall: number;
  #nextHandle = 1;
  /** The length of every timer that was set. */
  readonly lengths: number[] = [];

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#wall = start;
  }

  now(): number {
    return this.#wall + this.#passed;
  }

  /** The start is arbitrary, as that of a monotonic clock. */
  elapsed(): number {
    return 86_400_000 + this.#passed;
  }

  /** The time since the test started. */
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

  /** Throws, like many clocks, for a handle that `setTimeout` did not return. */
  clearTimeout(handle: unknown): void {
    if (typeof handle !== 'number') throw new TypeError('this clock has set no such timer');
    this.#timers.delete(handle);
  }

  /** Timers that were neither fired nor cleared. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Shifts the wall clock; deadlines are not affected. */
  shiftWall(ms: number): void {
    this.#wall += ms;
  }

  /** Advances time without firing timers, as on a suspended machine. */
  jump(ms: number): void {
    this.#passed += ms;
  }

  /** Advances time and fires due timers in order. */
  async advance(ms: number): Promise<void> {
    const until = this.#passed + ms;
    await flushPromises();
    while (this.#fireNext(until)) await flushPromises();
    this.#passed = Math.max(this.#passed, until);
  }

  /** Advances time in small steps while the promise is pending: for tests on real sockets. */
  async stepTimersDuring<T>(promise: Promise<T>): Promise<T> {
    let isPending = true;
    const done = (): void => {
      isPending = false;
    };
    promise.then(done, done);
    while (isPending) await this.advance(10);
    return promise;
  }

  /** Fires one timer after the other while the promise is pending; `wait` lets everything else run, in turns. */
  async runTimersDuring<T>(
    promise: Promise<T>,
    wait = () => flushPromises(1),
    turns = 20,
  ): Promise<T> {
    let isDone = false;
    const done = (): void => {
      isDone = true;
    };
    promise.then(done, done);
    for (;;) {
      for (let turn = 0; turn < turns && !isDone; turn += 1) await wait();
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
