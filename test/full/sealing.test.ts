import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import * as sdk from '../../src/index.ts';
import { givenRuntimes } from './runtimes.ts';
import { isRight, sealing } from './sealing.ts';

const script = fileURLToPath(new URL('sealing.ts', import.meta.url));
const run = promisify(execFile);

test('a write whose used connection dies after it was acted on arrives once, and is unknown', async () => {
  const seen = await sealing(sdk);
  expect(seen.filter((each) => !isRight(each))).toEqual([]);
  // Otherwise nothing was tried that could go wrong.
  expect(seen.filter(({ reused }) => reused)).toHaveLength(12);
});

const rows = givenRuntimes.map((runtime) => [runtime.name, runtime] as const);

test.each(rows)('the same on %s', { timeout: 60_000 }, async (_, { binary, args }) => {
  const { stdout } = await run(binary, [...args, script]);
  expect(stdout.match(/^right /gm)).toHaveLength(12);
});

test.each(rows.filter(([name]) => /^(?:bun|deno)/.test(name)))(
  '%s sends a write again when nothing is sealed',
  { timeout: 60_000 },
  async (_, { binary, args }) => {
    const unsealed = [...args, script, '--mutant', 'nothing is sealed'];
    await expect(run(binary, unsealed)).rejects.toMatchObject({
      stdout: expect.stringMatching(/^WRONG DELETE, FIN: [2-9] arrivals/m) as unknown,
    });
  },
);
