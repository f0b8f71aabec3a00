import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import * as sdk from '../../src/index.ts';
import { isRight, sealing } from './sealing.ts';

const script = fileURLToPath(new URL('sealing.ts', import.meta.url));
const run = promisify(execFile);

test('a write whose used connection dies after it was acted on arrives once, and is unknown', async () => {
  const seen = await sealing(sdk);
  expect(seen.filter((each) => !isRight(each))).toEqual([]);
  // Otherwise nothing was tried that could go wrong.
  expect(seen.filter(({ reused }) => reused)).toHaveLength(12);
});

// Other runtimes by their binaries: PAYMENTS_SDK_RUNTIMES="node22=/path,bun=/path,deno=/path".
const given = (process.env['PAYMENTS_SDK_RUNTIMES'] ?? '')
  .split(',')
  .filter((each) => each.includes('='))
  .map((each): [string, string] => {
    const at = each.indexOf('=');
    return [each.slice(0, at), each.slice(at + 1)];
  });
const argumentsFor = (name: string): string[] => (name.startsWith('deno') ? ['run', '-A'] : []);

test.each(given)('the same on %s', { timeout: 60_000 }, async (name, binary) => {
  const { stdout } = await run(binary, [...argumentsFor(name), script]);
  expect(stdout.match(/^right /gm)).toHaveLength(12);
});

test.each(given.filter(([name]) => name.startsWith('bun') || name.startsWith('deno')))(
  '%s sends a write again when nothing is sealed',
  { timeout: 60_000 },
  async (name, binary) => {
    const unsealed = [...argumentsFor(name), script, '--mutant', 'nothing is sealed'];
    await expect(run(binary, unsealed)).rejects.toMatchObject({
      stdout: expect.stringMatching(/^WRONG DELETE, FIN: [2-9] arrivals/m) as unknown,
    });
  },
);
