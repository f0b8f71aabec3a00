import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test, vi } from 'vitest';
import { clockFrom } from '../../src/calls/clock.ts';
import { Deadline } from '../../src/calls/deadline.ts';

/** Runs a script of this directory in a process of its own, and reads the JSON that it prints. */
async function run(
  script: string,
  flags: readonly string[] = [],
  words: readonly string[] = [],
): Promise<Record<string, unknown>> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const { NODE_OPTIONS: _, ...env } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, path, ...words], {
    env,
    timeout: 15_000,
  });
  return JSON.parse(stdout) as Record<string, unknown>;
}

test.each(['dispatcher', 'fetch', 'node:http'])(
  'over %s deadline and abort hold while garbage is collected, and the connection is closed',
  async (transport) => {
    const { seen, collected } = await run('collected.ts', ['--expose-gc'], [transport]);
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
    expect(seen).toEqual(expected);
  },
);

test('a promise that never settles keeps nothing of those who no longer wait for it', async () => {
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
    // Nothing is asserted of the deadline or its error: an assertion holds on to what it is about.
    expect(left.deref() === undefined).toBe(true);
  });
  expect(never).toBeInstanceOf(Promise);
});

test('no timer outlives its call, and the process ends by itself', async () => {
  const { before, after, settled, doneAt } = await run('finished.ts');
  // The deadlines of those calls were 30 s and 120 s.
  expect(Date.now() - Number(doneAt)).toBeLessThan(5_000);
  expect({ before, after }).toEqual({ before: 0, after: 0 });
  // Otherwise no call got as far as setting a timer.
  expect(settled).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
});
