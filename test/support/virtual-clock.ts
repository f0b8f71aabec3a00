import { VirtualClock as PublicClock } from 'payments-platform-sdk/sandbox';

/** Runs all pending promises, streams and their callbacks. */
export async function flushPromises(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}

/** The exported clock, with what only tests of the client need. */
export class VirtualClock extends PublicClock {
  #wallShift = 0;
  /** The length of every timer that was set. */
  readonly lengths: number[] = [];
  /** The time since the test started. */
  declare passed: number;

  override now(): number {
    return super.now() + this.#wallShift;
  }

  /** The start is arbitrary, as that of a monotonic clock. */
  elapsed(): number {
    return 86_400_000 + this.passed;
  }

  override setTimeout(callback: () => void, ms: number): number {
    this.lengths.push(ms);
    return super.setTimeout(callback, ms);
  }

  /** Throws, like many clocks, for a handle that `setTimeout` did not return. */
  override clearTimeout(handle: unknown): void {
    if (typeof handle !== 'number') throw new TypeError('this clock has set no such timer');
    super.clearTimeout(handle);
  }

  /** Shifts the wall clock; deadlines are not affected. */
  shiftWall(ms: number): void {
    this.#wallShift += ms;
  }

  /** Advances time without firing timers, as on a suspended machine. */
  jump(ms: number): void {
    this.passed += ms;
  }

  /** Advances time in steps while the promise is pending. Tests on sockets need small steps. */
  async stepTimersDuring<T>(promise: Promise<T>, stepMs = 10): Promise<T> {
    let isPending = true;
    const done = (): void => {
      isPending = false;
    };
    promise.then(done, done);
    while (isPending) await this.advance(stepMs);
    return promise;
  }

  /** Fires timers one by one while the promise is pending. `wait` lets everything else run. */
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
      if (!this.fireNext(Number.POSITIVE_INFINITY)) {
        throw new Error('Nothing is under way, and the promise is pending.');
      }
    }
  }
}
