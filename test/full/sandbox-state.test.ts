import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Sandbox, seedDemo, type SandboxState } from 'payments-platform-sdk/sandbox';
import { expect, onTestFinished, test } from 'vitest';
import { fileOfCommand } from '../support/commands.ts';

// A state survives its process, even after a kill.

const bin = fileOfCommand('sandbox');

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'sandbox-state-'));
  onTestFinished(() => {
    rmSync(path, { recursive: true, force: true });
  });
  return path;
}

/** Starts the command; resolves when it listens or has ended. */
async function start(...args: string[]) {
  const child = spawn(process.execPath, [bin, '--port', '0', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const output = { out: '', err: '' };
  const closed = once(child, 'close').then(([code]: unknown[]) => ({ code, ...output }));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (output.err += chunk));
  const up = new Promise<void>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output.out += chunk;
      if (output.out.includes('Stop it')) resolve();
    });
  });
  await Promise.race([up, closed]);
  const variable = (name: string) =>
    new RegExp(`^export PAYMENTS_${name}=(.+)$`, 'm').exec(output.out)?.[1] ?? '';
  const headers = { authorization: `Bearer ${variable('API_KEY')}` };
  return {
    output,
    closed,
    stop: (signal: NodeJS.Signals) => {
      child.kill(signal);
      return closed;
    },
    api: (path: string, init: RequestInit = {}) =>
      fetch(`${variable('BASE_URL')}${path}`, { headers, ...init }),
    control: (path: string, init: RequestInit = {}) =>
      fetch(`${variable('ROOT_URL')}/_sandbox/${path}`, init),
  };
}

type Process = Awaited<ReturnType<typeof start>>;

async function create(process: Process): Promise<{ id: string; requestId: string }> {
  const body = '{"email":"a@b.example"}';
  const response = await process.api('/entities', { method: 'POST', body });
  const { id } = (await response.json()) as { id: string };
  return { id, requestId: String(response.headers.get('x-request-id')) };
}

const stateOf = async (process: Process) =>
  (await (await process.control('state')).json()) as SandboxState;

test('payments-sandbox --state saves every change before SIGTERM ends it', async () => {
  const path = folder();
  const file = join(path, 'state.json');
  const first = await start('--state', file, '--seed', 'demo', '--auto', 'off');
  await create(first);
  const before = await stateOf(first);
  expect(await first.stop('SIGTERM')).toMatchObject({ code: 0, err: '' });
  expect(readdirSync(path)).toEqual(['state.json']);
  // The state in the file takes precedence over the seed.
  const second = await start('--state', file, '--seed', 'demo', '--auto', 'off');
  expect(await stateOf(second)).toEqual(before);
  expect((await create(second)).id).toBe('ent_000004');
  await second.stop('SIGINT');
});

test('payments-sandbox --state saves changes by control and automatic steps', async () => {
  const file = join(folder(), 'state.json');
  const first = await start('--state', file, '--seed', 'demo', '--auto', '50');
  await first.control('accounts/acc_000003/fund', { method: 'POST', body: '{"amount":"7"}' });
  const moved = async () => (await stateOf(first)).transfers.map(({ status }) => status);
  await expect.poll(moved).toEqual(['completed', 'completed', 'completed', 'failed', 'cancelled']);
  await sleep(1000);
  await first.stop('SIGKILL');
  const kept = JSON.parse(readFileSync(file, 'utf8')) as SandboxState;
  expect(kept.transfers[0]?.status).toBe('completed');
  expect(kept.accounts[2]?.availableBalance).toBe('127.50');
});

test('payments-sandbox --state loses at most a second at each SIGKILL', async () => {
  const file = join(folder(), 'state.json');
  const ids = new Set<string>();
  const requests = new Set<string>();
  /** The ids of the responses, and their times. */
  let received: { id: string; at: number }[] = [];
  for (let round = 0; round < 15; round += 1) {
    const process = await start('--state', file, '--quiet', '--auto', '100');
    expect(process.output.err).toBe('');
    const there = new Set<string>((await stateOf(process)).entities.map(({ id }) => id));
    const gone = received.filter(({ id }) => !there.has(id)).map(({ id }) => id);
    expect([round, gone]).toEqual([round, []]);
    const heard: typeof received = [];
    const work = async () => {
      for (;;) {
        const { id, requestId } = await create(process);
        expect([ids.has(id), requests.has(requestId)]).toEqual([false, false]);
        ids.add(id);
        requests.add(requestId);
        heard.push({ id, at: performance.now() });
      }
    };
    const workers = Promise.allSettled(Array.from({ length: 8 }, work));
    await sleep(200 + ((round * 97) % 1300));
    const killed = performance.now();
    await process.stop('SIGKILL');
    for (const { reason } of (await workers) as PromiseRejectedResult[]) {
      expect(reason).toBeInstanceOf(TypeError);
    }
    received = [...received, ...heard].filter(({ at }) => at < killed - 1000);
  }
  expect(ids.size).toBeGreaterThan(250);
});

test('payments-sandbox --state rejects a file that another process uses', async () => {
  const file = join(folder(), 'state.json');
  const first = await start('--state', file);
  const second = await (await start('--state', file)).closed;
  expect(second).toMatchObject({ code: 1, out: '' });
  expect(second.err).toMatch(/Another sandbox \(process \d+\) keeps its state in .*state\.json/);
  await create(first);
  await first.stop('SIGKILL');
  const third = await start('--state', file);
  expect(third.output.err).toBe('');
  await third.stop('SIGTERM');
});

test('payments-sandbox --state lets one of six processes take a dead one’s file', async () => {
  const file = join(folder(), 'state.json');
  await (await start('--state', file)).stop('SIGKILL');
  const all = await Promise.all(Array.from({ length: 6 }, () => start('--state', file)));
  expect(all.filter(({ output }) => output.err === '')).toHaveLength(1);
});

test.each([
  ['not JSON', '{"version":1,', /state\.json cannot be read: .*JSON/],
  [
    'JSON but not a state',
    '{"version":1,"accounts":[{}]}',
    /accounts\[0\]\.id: this field is required/,
  ],
  ['a state of another version', '{"version":7}', /version: expected 1/],
])('payments-sandbox ends with status 1 if its file is %s', async (_name, text, words) => {
  const path = folder();
  const file = join(path, 'state.json');
  writeFileSync(file, text);
  for (const flag of ['--state', '--seed']) {
    const { code, out, err } = await (await start(flag, file)).closed;
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(words);
    expect(err).not.toMatch(/^\s+at /m);
  }
  expect(readFileSync(file, 'utf8')).toBe(text);
  expect(readdirSync(path)).toEqual(['state.json']);
});

test('payments-sandbox --state ends with status 1 if it cannot write', async () => {
  const { code, err } = await (await start('--state', join(folder(), 'no', 'state.json'))).closed;
  expect([code, err]).toEqual([1, expect.stringContaining('ENOENT')]);
});

test('payments-sandbox --seed starts from a file and does not change it', async () => {
  const path = folder();
  const [seed, file] = [join(path, 'seed.json'), join(path, 'state.json')];
  const sandbox = new Sandbox();
  seedDemo(sandbox);
  const text = JSON.stringify(sandbox.exportState());
  writeFileSync(seed, text);
  const process = await start('--seed', seed, '--state', file, '--auto', 'off');
  expect(await stateOf(process)).toEqual(JSON.parse(text));
  await create(process);
  await process.stop('SIGTERM');
  expect(readFileSync(seed, 'utf8')).toBe(text);
});
