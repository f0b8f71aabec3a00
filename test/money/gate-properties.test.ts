import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { clockFrom } from '../../src/calls/clock.ts';
import { Deadline, Stopped } from '../../src/calls/deadline.ts';
import { Gate, GateTooLong, type Release } from '../../src/calls/gate.ts';
import { settle, VirtualClock } from '../support/virtual-clock.ts';

// The gate alone, in virtual time, with calls that come, stay and leave as fast-check likes.

/** One call: when it comes, how long its attempt takes, and how that ends. */
interface Plan {
  readonly comes: number;
  readonly takes: number;
  /** A 429 that asks to wait so many milliseconds, another answer, or none. */
  readonly ends: number | 'answered' | 'unanswered';
  readonly patience: number;
  /** When its caller leaves, counted from its coming. */
  readonly leaves: number | undefined;
}

const plan: fc.Arbitrary<Plan> = fc.record({
  comes: fc.nat(400),
  takes: fc.nat(150),
  ends: fc.oneof(
    { weight: 2, arbitrary: fc.nat(200) },
    { weight: 3, arbitrary: fc.constant('answered' as const) },
    { weight: 2, arbitrary: fc.constant('unanswered' as const) },
  ),
  patience: fc.oneof(fc.nat(300), fc.constant(100_000)),
  leaves: fc.option(fc.nat(300), { nil: undefined, freq: 4 }),
});

interface Course {
  /** What was seen that must not be. */
  readonly wrong: string[];
  /** What each call came to. */
  readonly ends: ('out' | 'too long' | 'stopped')[];
}

/** What a gate is told of an attempt; a wrong policy tells it something else. */
type Policy = (release: Release, answered: boolean, throttledForMs?: number) => void;
const right: Policy = (release, answered, ms) => {
  release(answered, ms);
};

/** Plays the plans on a gate and watches what it lets out. */
async function course(plans: readonly Plan[], tell = right): Promise<Course> {
  const clock = new VirtualClock();
  const gate = new Gate(clockFrom(clock));
  const wrong: string[] = [];
  const ends: Course['ends'] = [];
  let closedUntil = 0;
  let closings = 0;
  /** Let out since the last 429 and not back yet; and whether one of them came back answered. */
  let out = 0;
  let proven = true;
  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      if (ms === 0) resolve();
      else clock.setTimeout(resolve, ms);
    });
  const attempt = async (
    release: Release,
    { takes, ends: end }: Plan,
    stop: Deadline,
  ): Promise<void> => {
    if (clock.passed < closedUntil) wrong.push('out before the time of a 429');
    if (!proven && out > 0) wrong.push('two probes at once');
    if (stop.remaining === 0) wrong.push('out after its deadline');
    out += 1;
    const closing = closings;
    let answered = end !== 'unanswered';
    try {
      await stop.sleep(takes);
    } catch {
      answered = false;
    }
    const isRecent = closing === closings;
    if (isRecent) out -= 1;
    if (answered && typeof end === 'number') {
      closings += 1;
      closedUntil = Math.max(closedUntil, clock.passed + end);
      out = 0;
      proven = false;
      tell(release, true, end);
    } else {
      if (answered && isRecent) proven = true;
      tell(release, answered);
    }
  };
  const call = async (each: Plan): Promise<Course['ends'][number]> => {
    await sleep(each.comes);
    const caller = new AbortController();
    const deadline = new Deadline(clockFrom(clock), each.patience, 'total', {
      signals: [caller.signal],
    });
    const leaving =
      each.leaves === undefined
        ? undefined
        : clock.setTimeout(() => {
            caller.abort();
          }, each.leaves);
    try {
      const release = gate.tryAcquire(deadline) ?? (await gate.acquire(deadline));
      await attempt(release, each, deadline);
      return 'out';
    } catch (error) {
      if (error instanceof GateTooLong) {
        if (!(error.ms >= 0)) wrong.push('told no time');
        return 'too long';
      }
      if (error instanceof Stopped) return 'stopped';
      throw error;
    } finally {
      deadline.close();
      if (leaving !== undefined) clock.clearTimeout(leaving);
    }
  };
  let left = plans.length;
  const done = (): void => {
    left -= 1;
    if (left === 0 && clock.pending > 0) wrong.push(`${clock.pending} timers are left`);
  };
  for (const each of plans) {
    void call(each).then(
      (end) => {
        ends.push(end);
        done();
      },
      (error: unknown) => {
        wrong.push(`rejected with ${String(error)}`);
        done();
      },
    );
  }
  await clock.advance(10_000);
  if (left > 0) wrong.push(`${left} calls stand there for ever`);
  return { wrong, ends };
}

test('whatever calls come to, nobody is let out too early, and everybody comes to an end', async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(plan, { minLength: 1, maxLength: 12 }), async (plans) => {
      const { wrong, ends } = await course(plans);
      for (const end of ends) seen.add(end);
      expect(wrong).toEqual([]);
      expect(ends).toHaveLength(plans.length);
    }),
    { numRuns: 150 },
  );
  // A run in which nobody ever waits would prove nothing.
  expect(seen.size).toBe(3);
});

const mutants: Readonly<Record<string, Policy>> = {
  'opens on a failed probe': (release, _, ms) => {
    release(true, ms);
  },
  'does not hear a 429': (release, answered) => {
    release(answered);
  },
  'undercuts a 429': (release, answered, ms) => {
    release(answered, ms === undefined ? ms : ms / 2);
  },
  'never hears of a probe that failed': (release, answered, ms) => {
    if (answered) release(answered, ms);
  },
};

test.each(Object.entries(mutants))('a gate that %s is found out', async (_, tell) => {
  const result = await fc.check(
    fc.asyncProperty(fc.array(plan, { minLength: 1, maxLength: 12 }), async (plans) => {
      expect((await course(plans, tell)).wrong).toEqual([]);
    }),
    { numRuns: 300, endOnFailure: true },
  );
  expect(result.failed).toBe(true);
});

test('a call that leaves in the moment of its turn leaves the turn to the next', async () => {
  const clock = clockFrom(new VirtualClock());
  const gate = new Gate(clock);
  const callers = [new AbortController(), new AbortController()] as const;
  const deadlines = callers.map(
    ({ signal }) => new Deadline(clock, 60_000, 'total', { signals: [signal] }),
  );
  const [first, second] = deadlines;
  if (first === undefined || second === undefined) throw new Error('there are two');
  gate.tryAcquire(first)?.(true, 0);
  const probe = await gate.acquire(first);
  const waiting = gate.acquire(second).catch((error: unknown) => error);
  await Promise.resolve();
  probe(false);
  callers[1].abort();
  expect(await waiting).toBeInstanceOf(Stopped);
  // Were the turn lost, this one would wait for ever.
  const next = await gate.acquire(first);
  next(true);
  expect(gate.tryAcquire(first)).toBeDefined();
});

test('an answer to what went out before the last 429 does not open the gate', async () => {
  const virtual = new VirtualClock();
  const clock = clockFrom(virtual);
  const gate = new Gate(clock);
  const deadline = new Deadline(clock, 60_000, 'total');
  gate.tryAcquire(deadline)?.(true, 0);
  const probe = await gate.acquire(deadline);
  const both = [gate.acquire(deadline), gate.acquire(deadline)];
  probe(true);
  const [one, other] = await Promise.all(both);
  one?.(true, 10);
  virtual.jump(10);
  other?.(true);
  await gate.acquire(deadline);
  let followed = false;
  void gate.acquire(deadline).then(() => {
    followed = true;
  });
  await settle();
  expect(followed).toBe(false);
});
