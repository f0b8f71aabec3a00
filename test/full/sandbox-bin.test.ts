import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';

const bin = fileURLToPath(new URL('../../src/sandbox/bin.ts', import.meta.url));

function run(...args: string[]) {
  const child = spawn(process.execPath, [bin, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const output = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output.out += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (output.err += chunk));
  const ended = once(child, 'close').then(([code, signal]: unknown[]) => ({
    code,
    signal,
    ...output,
  }));
  return {
    ended,
    stop: (signal: NodeJS.Signals) => {
      child.kill(signal);
      return ended;
    },
    /** The variables that it prints once it listens. */
    variables: async () => {
      await expect.poll(() => output.out, { timeout: 10_000 }).toContain('Stop it');
      return Object.fromEntries(
        [...output.out.matchAll(/^export (PAYMENTS_\w+)=(.+)$/gm)].map(([, name, value]) => [
          name,
          value,
        ]),
      ) as Record<string, string>;
    },
  };
}

test.each(['SIGINT', 'SIGTERM'] as const)(
  'serves a demo world until %s, with open connections, and ends with status 0',
  async (signal) => {
    const sandbox = run('--port', '0', '--seed', 'demo', '--auto', 'off');
    // Each line is one for a shell: pasted, it sets what the client reads.
    const variables = await sandbox.variables();
    expect(Object.keys(variables)).toEqual([
      'PAYMENTS_BASE_URL',
      'PAYMENTS_ROOT_URL',
      'PAYMENTS_API_KEY',
      'PAYMENTS_JWT',
    ]);
    const response = await fetch(`${variables['PAYMENTS_BASE_URL']}/transfers`, {
      headers: { authorization: `Bearer ${variables['PAYMENTS_API_KEY']}` },
    });
    const { data } = (await response.json()) as { data: unknown[] };
    expect(data).toHaveLength(5);
    const built = await fetch(`${variables['PAYMENTS_ROOT_URL']}/instruction/build`, {
      method: 'POST',
      headers: { authorization: `Bearer ${variables['PAYMENTS_JWT']}` },
      body: '{}',
    });
    expect(built.status).toBe(422);
    expect(await sandbox.stop(signal)).toMatchObject({ code: 0, signal: null, err: '' });
  },
);

test('starts empty without --seed, on the host it is told', async () => {
  const sandbox = run('--port=0', '--host', 'localhost');
  const variables = await sandbox.variables();
  expect(variables['PAYMENTS_BASE_URL']).toMatch(/^http:\/\/localhost:\d+\/v0$/);
  const response = await fetch(`${variables['PAYMENTS_BASE_URL']}/entities`, {
    headers: { authorization: `Bearer ${variables['PAYMENTS_API_KEY']}` },
  });
  expect(await response.json()).toMatchObject({ data: [] });
  await sandbox.stop('SIGTERM');
});

test('--help prints the usage and ends with status 0', async () => {
  const { code, out, err } = await run('--help').ended;
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatchInlineSnapshot(`
    "Usage: payments-sandbox [options]

    Starts a payments Platform in memory and keeps it up until it is interrupted. A page at its
    address shows what happens; /_sandbox/ drives it from any language: docs/sandbox.md.

    Options:
      --port <number>          port to listen on; 0 takes any free one (default: 4010)
      --host <name>            address to listen on (default: 127.0.0.1)
      --allow-host <name>      another name that it is called by, such as a container's; repeatable
      --seed demo|<file.json>  start with a small demo world, or with a state from a file
      --state <file.json>      keep everything in this file, and go on from it; it wins over --seed
      --auto <ms>|off          how long until something moves by itself (default: 1000)
      --latency <ms>           how long every answer takes (default: 0)
      --failures <percent>     let so many of a hundred requests fail
      --failures-seed <n>      other failures, which are the same in every run (default: 1)
      --quiet                  no line for each request
      --version                print the version and exit
      --help                   print this text and exit
    "
  `);
});

test.each([
  [['--prot', '1'], '--prot'],
  [['--port'], '--port'],
  [['--port', 'x'], '--port takes a number from 0 to 65535, not "x".'],
  [['--port', '65536'], '--port takes a number from 0 to 65535, not "65536".'],
  [['--seed', 'world'], '--seed takes "demo" or the name of a .json file, not "world".'],
  [['--auto', 'on'], '--auto takes a number from 1 to 2147483647, or "off", not "on".'],
  [['--latency', '1.5'], '--latency takes a number from 0 to 2147483647, not "1.5".'],
  [['--failures', '101'], '--failures takes a number from 0 to 100, not "101".'],
  [['--failures-seed', 'x'], '--failures-seed takes a number from 0 to'],
  [['--state', ''], '--state takes the name of a file'],
  [['extra'], 'extra'],
])('%o is answered with the usage and status 2', async (args, words) => {
  const { code, out, err } = await run(...args).ended;
  expect([code, out]).toEqual([2, '']);
  expect(err).toContain(words);
  expect(err).toContain('Usage: payments-sandbox');
});

test('a port that is taken is answered with status 1', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => {
    other.close();
  });
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const { code, out, err } = await run('--port', String(port)).ended;
  expect([code, out]).toEqual([1, '']);
  expect(err).toBe(
    `The sandbox cannot listen on port ${port} of 127.0.0.1: something else listens there. Choose another port, or 0 for any free one.\n`,
  );
});

/** Runs the same file in this process, where coverage sees it; signals are not really sent. */
async function runHere(...args: string[]) {
  const [argv, before] = [process.argv, process.listeners('SIGTERM')];
  process.argv = ['node', 'payments-sandbox', ...args];
  const texts = { out: '', err: '' };
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((texts.out += text), true));
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((texts.err += text), true));
  onTestFinished(() => {
    process.argv = argv;
    process.exitCode = undefined;
  });
  vi.resetModules();
  await import('../../src/sandbox/bin.ts');
  const own = () => process.listeners('SIGTERM').filter((listener) => !before.includes(listener));
  return { texts, stop: () => own().forEach((listener) => listener('SIGTERM')) };
}

test('the port is free again after a signal', async () => {
  const { texts, stop } = await runHere('--port', '0', '--seed', 'demo');
  await expect.poll(() => texts.out).toContain('PAYMENTS_BASE_URL=');
  const url = String(/PAYMENTS_BASE_URL=(.+)/.exec(texts.out)?.[1]);
  expect((await fetch(url)).status).toBe(404);
  stop();
  await expect(fetch(url)).rejects.toThrow('fetch failed');
  expect(texts.err).toBe('');
});

test('sets the exit status and does not exit by force', async () => {
  const wrong = await runHere('--port', 'x');
  expect(process.exitCode).toBe(2);
  expect(wrong.texts.err).toContain('--port takes');
  const help = await runHere('--help');
  expect(help.texts.out).toContain('Usage');
  const taken = await runHere('--host', 'no such host');
  await expect.poll(() => taken.texts.err).toContain('cannot listen');
  expect(process.exitCode).toBe(1);
});
