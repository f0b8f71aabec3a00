import { Sandbox } from 'payments-platform-sdk/sandbox';
import { expect, test, vi } from 'vitest';
import { call } from './calls.ts';

const createdAt = (sandbox: Sandbox) => sandbox.entities.create({ email: 'a@b.example' }).createdAt;

test.each([
  ['a function that returns milliseconds', () => 1000],
  ['a function that returns a Date', () => new Date(1000)],
  ['an object with the method now', { now: () => 1000 }],
])('the option `clock` of a sandbox can be %s', (_name, clock) => {
  expect(createdAt(new Sandbox({ clock }))).toBe('1970-01-01T00:00:01.000Z');
});

test('the sandbox calls now() as a method of its option `clock`', () => {
  class Ticking {
    #now = 0;
    now() {
      this.#now += 1000;
      return this.#now;
    }
  }
  const sandbox = new Sandbox({ clock: new Ticking() });
  expect(createdAt(sandbox) < createdAt(sandbox)).toBe(true);
});

test.each([undefined, Date])(
  'the sandbox uses system time if `clock` is undefined or Date (%#)',
  (clock) => {
    const before = Date.now();
    const at = Date.parse(createdAt(new Sandbox({ clock })));
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(Date.now());
  },
);

test('the sandbox rejects a `clock` that returns no valid time', () => {
  expect(() => new Sandbox({ clock: () => Number.NaN })).toThrow(TypeError);
  // @ts-expect-error: a text is no time
  expect(() => new Sandbox({ clock: () => 'noon' })).toThrow('must return a valid Date');
});

test('a request changes nothing if the `clock` of the sandbox throws', async () => {
  let broken = false;
  const sandbox = new Sandbox({
    clock() {
      if (!broken) return 0;
      broken = false;
      throw new Error('the clock stopped');
    },
  });
  broken = true;
  await expect(call(sandbox, 'POST', '/entities', { email: 'a@b.example' })).rejects.toThrow(
    'the clock stopped',
  );
  expect(sandbox.entities.list()).toEqual([]);
});

test('the fault "delay" clears its timer when the caller aborts', async () => {
  const cleared: unknown[] = [];
  const clock = {
    now: () => 0,
    setTimeout: () => 'the timer',
    clearTimeout: (timer: unknown) => cleared.push(timer),
  };
  for (const delayClock of [clock, { now: clock.now, setTimeout: clock.setTimeout }]) {
    const sandbox = new Sandbox({ clock: delayClock });
    sandbox.faults.add({ operation: '*', fault: { kind: 'delay', ms: 5 } });
    const target = new AbortController();
    const pending = sandbox.fetch('https://h/v0/entities', { signal: target.signal });
    await vi.waitFor(() => expect(sandbox.log).toHaveLength(1));
    target.abort(new Error('enough'));
    await expect(pending).rejects.toThrow('enough');
  }
  expect(cleared).toEqual(['the timer']);
});

test('the fault "delay" uses fake timers that are installed later', async () => {
  const sandbox = new Sandbox();
  sandbox.faults.add({ operation: '*', fault: { kind: 'delay', ms: 3_600_000 } });
  vi.useFakeTimers();
  try {
    const pending = sandbox.fetch('https://h/v0/entities');
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect((await pending).status).toBe(401);
  } finally {
    vi.useRealTimers();
  }
});

test('the fault "delay" rejects at once if the signal is already aborted', async () => {
  const sandbox = new Sandbox();
  sandbox.faults.add({ operation: '*', fault: { kind: 'delay', ms: 60_000 } });
  const url = 'https://h/v0/entities';
  const signal = AbortSignal.abort(new Error('left'));
  await expect(
    sandbox.handle({ method: 'GET', url, headers: new Headers(), signal }),
  ).rejects.toThrow('left');
});
