import { countResponseTurns, waitTurn } from './turn.ts';

/** Gives pending promises, I/O and sandbox responses enough turns of the event loop to finish. */
async function flushPromises(): Promise<void> {
  for (let quietTurns = 0; quietTurns < 20; quietTurns += 1) {
    const count = countResponseTurns();
    await waitTurn();
    if (countResponseTurns() !== count) quietTurns = 0;
  }
}

/**
 * A clock for tests, whose time passes only when you call `advance`. Pass the same clock to the
 * client and to the sandbox.
 *
 * @example
 * ```ts
 * import { PaymentsClient } from 'payments-platform-sdk';
 * import { Sandbox, VirtualClock } from 'payments-platform-sdk/sandbox';
 *
 * const clock = new VirtualClock();
 * const sandbox = new Sandbox({ clock, latency: 5_000 });
 * const payments = new PaymentsClient({ ...sandbox.clientOptions, clock });
 * const list = payments.accounts.list().then(({ data }) => data);
 * await clock.advance(5_000);
 * console.log((await list).length);
 * ```
 */
export class VirtualClock {
  readonly #timers = new Map<number, { readonly at: number; readonly run: () => void }>();
  readonly #start: number;
  #lastHandle = 0;
  /**
   * Milliseconds that `advance` has let pass since the start.
   * @internal
   */
  protected passed = 0;

  /**
   * Creates a clock that stands still until you call `advance`.
   * @param start milliseconds since 1970. Default: the first moment of 2026, UTC.
   */
  constructor(start: number = Date.UTC(2026, 0, 1)) {
    this.#start = start;
  }

  /** Returns the present time of this clock, in milliseconds since 1970. */
  now(): number {
    return this.#start + this.passed;
  }

  /** Calls back when `advance` has passed `ms` milliseconds. With 0 you need no `advance`. */
  setTimeout(callback: () => void, ms: number): number {
    this.#lastHandle += 1;
    const handle = this.#lastHandle;
    this.#timers.set(handle, { at: this.passed + ms, run: callback });
    if (ms === 0) void flushPromises().then(() => this.#fire(handle));
    return handle;
  }

  /** Cancels the timer that `setTimeout` returned. */
  clearTimeout(handle: unknown): void {
    this.#timers.delete(handle as number);
  }

  /** How many timers have neither fired nor been cleared. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Lets `ms` milliseconds pass. Fires due timers in order, each after promises have settled. */
  async advance(ms: number): Promise<void> {
    const until = this.passed + ms;
    do await flushPromises();
    while (this.fireNext(until));
    this.passed = Math.max(this.passed, until);
  }

  /**
   * Calls back the next timer if its time is not after `until`. Returns whether a timer was due.
   * @internal
   */
  protected fireNext(until: number): boolean {
    const [due] = [...this.#timers].toSorted(([, one], [, other]) => one.at - other.at);
    if (due === undefined || due[1].at > until) return false;
    this.passed = Math.max(this.passed, due[1].at);
    this.#fire(due[0]);
    return true;
  }

  #fire(handle: number): void {
    const timer = this.#timers.get(handle);
    if (this.#timers.delete(handle)) timer?.run();
  }
}
