import type { Clock } from './clock.ts';
import type { Deadline } from './deadline.ts';
import { longestWait } from './retry.ts';

/** Thrown when the gate stays closed for longer than a call may take. */
export class GateTooLong extends Error {
  readonly ms: number;
  constructor(ms: number) {
    super('gate');
    this.ms = ms;
  }
}

/** Tells the gate how the attempt it let through went. */
export type Report = (throttledForMs: number | undefined) => void;

/**
 * After a 429, one client sends nothing until the platform's time has come, then lets one call
 * through as a probe; the others follow when it was not refused again. No limit is documented:
 * docs/gaps.md, row 52.
 */
export class Gate {
  readonly #clock: Required<Clock>;
  #closedUntil: number | undefined;
  #probe: Promise<void> | undefined;
  readonly #report: Report = (ms) => {
    if (ms !== undefined) this.#close(ms);
  };

  constructor(clock: Required<Clock>) {
    this.#clock = clock;
  }

  /** Lets a call out at once; undefined while the gate is closed, when it has to `enter`. */
  pass(deadline: Deadline): Report | undefined {
    if (this.#closedUntil !== undefined) return undefined;
    deadline.check();
    return this.#report;
  }

  /** Waits until a call may go out. The returned function must be called when it has gone. */
  async enter(deadline: Deadline): Promise<Report> {
    for (;;) {
      deadline.check();
      if (this.#closedUntil === undefined) return this.#report;
      const wait = this.#closedUntil - this.#clock.elapsed();
      if (wait > 0) {
        if (wait > deadline.remaining) throw new GateTooLong(wait);
        await deadline.sleep(wait);
      } else if (this.#probe === undefined) {
        return this.#startProbe();
      } else {
        await deadline.race(this.#probe);
      }
    }
  }

  #startProbe(): Report {
    let end = (): void => undefined;
    this.#probe = new Promise((resolve) => {
      end = resolve;
    });
    return (ms) => {
      this.#probe = undefined;
      if (ms !== undefined) this.#close(ms);
      // A call that was on its way before may have been told to wait longer meanwhile.
      else if ((this.#closedUntil ?? 0) <= this.#clock.elapsed()) this.#closedUntil = undefined;
      end();
    };
  }

  #close(ms: number): void {
    const until = this.#clock.elapsed() + Math.min(ms, longestWait);
    this.#closedUntil = Math.max(this.#closedUntil ?? 0, until);
  }
}
