import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test, vi } from 'vitest';
import { clockFrom, Deadline } from '../../src/calls/time.ts';

/** Runs a script in another process, and parses its output. */
async function run(
  script: string,
  flags: readonly string[] = [],
  args: readonly string[] = [],
): Promise<Record<string, unknown>> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const { NODE_OPTIONS: _, ...env } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, path, ...args], {
    env,
    timeout: 15_000,
  });
  return JSON.parse(stdout) as Record<string, unknown>;
}

test.each(['node:http', 'node:http with a body', 'fetch'])(
  'over %s, timeout and abort close the connection despite garbage collection',
  async (transport) => {
    const { results, collected } = await run(
      '../drivers/collected.ts',
      ['--expose-gc'],
      [transport],
    );
    expect(collected).toBe(true);
    const expected = ['timeout', 'abort'].flatMap((stop) =>
      ['headers', 'body'].map((phase) => ({
        case: `${stop} ${phase}`,
        name: stop === 'timeout' ? 'TimeoutError' : 'AbortError',
        ...(stop === 'timeout' ? { phase } : {}),
        ...(phase === 'body' ? { status: 200 } : {}),
        closed: true,
      })),
    );
    expect(results).toEqual(expected);
  },
);

test('a closed Deadline is garbage-collected although its promise never settles', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const never = new Promise(() => undefined);
  const giveUp = async (): Promise<WeakRef<Deadline>> => {
    const deadline = new Deadline(clockFrom(undefined), 1, 'total');
    await deadline.race(never).catch(() => undefined);
    deadline.close();
    return new WeakRef(deadline);
  };
  const left = await giveUp();
  await vi.waitFor(() => {
    collectGarbage();
    // An assertion about the deadline itself would retain the deadline.
    expect(left.deref() === undefined).toBe(true);
  });
  expect(never).toBeInstanceOf(Promise);
});

test('a process ends after its last call, without leftover timers', async () => {
  const { before, after, statuses, doneAt } = await run('../drivers/finished.ts');
  // The deadlines of those calls were 30 s and 120 s.
  expect(Date.now() - Number(doneAt)).toBeLessThan(5_000);
  expect({ before, after }).toEqual({ before: 0, after: 0 });
  // Proves that the calls started.
  expect(statuses).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
});
