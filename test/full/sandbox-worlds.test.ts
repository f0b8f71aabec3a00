import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { listen } from 'payments-platform-sdk/sandbox/server';
import { expect, onTestFinished, test } from 'vitest';

// Isolated worlds of one process: their users, their memory, and their files.

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));

async function start(...args: string[]) {
  const child = spawn(
    process.execPath,
    [pathOf('../../src/sandbox/bin.ts'), '--port', '0', '--auto', 'off', '--worlds', ...args],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk));
  const closed = once(child, 'close');
  await expect.poll(() => out, { timeout: 10_000 }).toContain('Stop it');
  const rootUrl = String(/^export PAYMENTS_ROOT_URL=(.+)$/m.exec(out)?.[1]);
  return {
    rootUrl,
    output: () => out,
    stop: async (signal: NodeJS.Signals = 'SIGTERM') => {
      child.kill(signal);
      await closed;
    },
    list: async (name: string) => {
      const headers = { authorization: `Bearer sk_sandbox_${name}` };
      const response = await fetch(`${rootUrl}/v0/entities`, { headers });
      return ((await response.json()) as { data: { email: string }[] }).data.length;
    },
    create: (name: string) =>
      fetch(`${rootUrl}/v0/entities`, {
        method: 'POST',
        headers: { authorization: `Bearer sk_sandbox_${name}` },
        body: '{"email":"a@b.example"}',
      }),
    control: (method: string, path: string) => fetch(`${rootUrl}/_sandbox/${path}`, { method }),
  };
}

test('ten processes with different API keys see no record of each other on one server that was started by payments-sandbox --worlds', async () => {
  const sandbox = await start('--seed', 'demo');
  const use = async (name: string) => {
    const child = spawn(
      process.execPath,
      [pathOf('../drivers/world-user.ts'), sandbox.rootUrl, name, '10'],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const closed = once(child, 'close');
    return [await text(child.stdout), await closed];
  };
  const names = Array.from({ length: 10 }, (_, at) => `process-${at}`);
  expect(await Promise.all(names.map(use))).toEqual(
    names.map((name) => [`${name} saw 12 entities\n`, [0, null]]),
  );
  expect(sandbox.output()).toMatch(/ POST {4}\/v0\/entities {2}201 .* world process-3$/m);
  await sandbox.stop();
});

test('a sandbox server with the option worlds needs less than 200 kB of heap for each API key', async () => {
  const server = await listen(seedDemo(new Sandbox()), { worlds: true });
  onTestFinished(() => server.close());
  const use = async (name: string) => {
    for (let count = 0; count < 20; count += 1) {
      await fetch(`${server.baseUrl}/entities`, {
        headers: { authorization: `Bearer sk_sandbox_${name}` },
        ...(count < 10 ? { method: 'POST', body: '{"email":"a@b.example"}' } : {}),
      });
    }
  };
  const useMany = async (prefix: string) => {
    for (let number = 0; number < 50; number += 1) await use(`${prefix}-${number}`);
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = await useMany('first');
  expect(((await useMany('second')) - before) / 50).toBeLessThan(200_000);
}, 30_000);

test('payments-sandbox --worlds --state saves a file for each API key, and DELETE of a world removes the file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-worlds-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const file = join(folder, 'state.json');
  const first = await start('--state', file, '--seed', 'demo');
  await first.create('one');
  await first.create('two');
  expect(await first.list('one')).toBe(3);
  await first.stop();
  expect(readdirSync(`${file}.worlds`).toSorted()).toEqual(['one.json', 'two.json']);

  const second = await start('--state', file);
  expect(await (await second.control('GET', 'worlds')).json()).toEqual(['one', 'two']);
  expect(await second.list('one')).toBe(3);
  expect((await second.control('DELETE', 'worlds/one')).status).toBe(204);
  expect(existsSync(join(`${file}.worlds`, 'one.json'))).toBe(false);
  await second.create('two');
  // A kill loses changes of the last second, so wait until the file has the change.
  await expect
    .poll(async () => JSON.stringify(await stateOf(file, 'two')).match(/a@b\.example/g)?.length)
    .toBe(2);
  await second.stop('SIGKILL');

  const third = await start('--state', file);
  expect(await (await third.control('GET', 'worlds')).json()).toEqual(['two']);
  expect(await third.list('two')).toBe(4);
  await third.stop();
  expect(readdirSync(folder).toSorted()).toEqual(['state.json', 'state.json.worlds']);
  expect(readdirSync(`${file}.worlds`)).toEqual(['two.json']);
});

async function stateOf(file: string, name: string): Promise<unknown> {
  const { readFile } = await import('node:fs/promises');
  return JSON.parse(await readFile(join(`${file}.worlds`, `${name}.json`), 'utf8'));
}
