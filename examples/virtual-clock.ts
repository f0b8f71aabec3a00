// Virtual time, which only the test advances: a 429 asks for 45 seconds, and the test takes none.
import { PaymentsClient, type Clock } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';

class VirtualClock implements Clock {
  #now = Date.UTC(2026, 0, 1);
  #count = 0;
  readonly #timers = new Map<number, { at: number; run: () => void }>();

  now(): number {
    return this.#now;
  }
  setTimeout(run: () => void, ms: number): number {
    this.#count += 1;
    this.#timers.set(this.#count, { at: this.#now + ms, run });
    return this.#count;
  }
  clearTimeout(handle: unknown): void {
    this.#timers.delete(handle as number);
  }
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (;;) {
      // Promises run first, because they may set new timers.
      for (let turn = 0; turn < 20; turn += 1) await new Promise((next) => setImmediate(next));
      const [due] = [...this.#timers]
        .filter(([, { at }]) => at <= until)
        .toSorted(([, one], [, other]) => one.at - other.at);
      if (due === undefined) break;
      this.#timers.delete(due[0]);
      this.#now = due[1].at;
      due[1].run();
    }
    this.#now = until;
  }
}

const clock = new VirtualClock();
const sandbox = new Sandbox({ clock });
const payments = new PaymentsClient({ ...sandbox.clientOptions, clock });

sandbox.faults.add({
  operation: 'accounts.list',
  fault: { kind: 'status', status: 429, retryAfter: 45 },
});
const page = payments.accounts.list().then(({ data }) => data.length);
await clock.advance(60_000);
console.log(`${await page} accounts, after ${sandbox.log.length} requests`);
