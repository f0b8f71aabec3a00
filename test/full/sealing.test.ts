import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import * as sdk from '../../src/index.ts';
import { otherRuntimes } from '../drivers/runtimes.ts';
import { isSentOnce, writeOverDyingConnections } from '../drivers/sealing.ts';

const script = fileURLToPath(new URL('../drivers/sealing.ts', import.meta.url));
const run = promisify(execFile);

test('a write over a dying connection arrives once, with outcome unknown', async () => {
  const results = await writeOverDyingConnections(sdk);
  expect(results.filter((result) => !isSentOnce(result))).toEqual([]);
  // Only a reused connection could have been dead.
  expect(results.filter(({ reused }) => reused)).toHaveLength(12);
});

const rows = otherRuntimes.map((runtime) => [runtime.name, runtime] as const);

test.each(rows)(
  'on %s a write over a dying connection arrives once, outcome unknown',
  async (_, { binary, args }) => {
    const { stdout } = await run(binary, [...args, script]);
    expect(stdout.match(/^right /gm)).toHaveLength(12);
  },
);

test.each(rows.filter(([name]) => /^(?:bun|deno)/.test(name)))(
  'on %s the runtime itself repeats a write without this protection',
  async (_, { binary, args }) => {
    const unsealed = [...args, script, '--mutant', 'nothing is sealed'];
    await expect(run(binary, unsealed)).rejects.toMatchObject({
      stdout: expect.stringMatching(/^WRONG DELETE, FIN: [2-9] arrivals/m) as unknown,
    });
  },
);
