import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { PaymentsClient, version } from 'payments-platform-sdk';
import { expect, onTestFinished, test, vi } from 'vitest';
import { fileOfCommand } from '../support/commands.ts';

const bin = fileOfCommand('sandbox');

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
    /** The variables that it prints once it listens, and a fetch of the versioned API. */
    listens: async () => {
      await expect.poll(() => output.out, { timeout: 10_000 }).toContain('Stop it');
      const lines = output.out.matchAll(/^export PAYMENTS_(\w+)=(.+)$/gm);
      const variables = Object.fromEntries([...lines].map(([, ...pair]) => pair)) as Variables;
      const headers = { authorization: `Bearer ${variables.API_KEY}` };
      const api = (path: string, init: RequestInit = {}) =>
        fetch(`${variables.BASE_URL}${path}`, { headers, ...init });
      return { ...variables, variables, api };
    },
  };
}
type Variables = Record<'BASE_URL' | 'ROOT_URL' | 'API_KEY' | 'JWT', string>;

/** A folder with this module for --webhook, or without one. */
function webhookModule(source?: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-webhook-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const module = join(folder, 'webhook.mjs');
  if (source !== undefined) writeFileSync(module, source);
  return module;
}

/** The port of a server on the loopback address that lives as long as the test. */
async function portOf(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test('payments-sandbox ends on SIGTERM even if a webhook handler hangs', async () => {
  let arrive: (() => void) | undefined;
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const port = await portOf(createServer(() => arrive?.()));
  const sandbox = run('--port', '0', '--seed', 'demo', '--auto', 'off');
  const { BASE_URL: baseUrl, API_KEY: apiKey } = await sandbox.listens();
  const payments = new PaymentsClient({ baseUrl, apiKey, jwt: null });
  await payments.settings.update({ webhookUrl: `http://127.0.0.1:${port}/` });
  await payments.entities.create({ email: 'ada@example.com' });
  await arrived;
  const stoppedAt = performance.now();
  expect(await sandbox.stop('SIGTERM')).toMatchObject({ code: 0, signal: null });
  // The delivery alone would take five seconds.
  expect(performance.now() - stoppedAt).toBeLessThan(4_000);
});

test.each(['SIGINT', 'SIGTERM'] as const)(
  'payments-sandbox serves demo data until %s ends it with status 0',
  async (signal) => {
    const sandbox = run('--port', '0', '--seed', 'demo', '--auto', 'off');
    // Each line can be pasted into a shell, and sets a variable that the client reads.
    const { variables, api } = await sandbox.listens();
    expect(Object.keys(variables)).toEqual(['BASE_URL', 'ROOT_URL', 'API_KEY', 'JWT']);
    const { data } = (await (await api('/transfers')).json()) as { data: unknown[] };
    expect(data).toHaveLength(5);
    const built = await fetch(`${variables.ROOT_URL}/instruction/build`, {
      method: 'POST',
      headers: { authorization: `Bearer ${variables.JWT}` },
      body: '{}',
    });
    expect(built.status).toBe(422);
    expect(await sandbox.stop(signal)).toMatchObject({ code: 0, signal: null, err: '' });
  },
);

test('payments-sandbox without --seed starts empty, on the host of --host', async () => {
  const sandbox = run('--port=0', '--host', 'localhost');
  const { BASE_URL: baseUrl, api } = await sandbox.listens();
  expect(baseUrl).toMatch(/^http:\/\/localhost:\d+\/v0$/);
  expect(await (await api('/entities')).json()).toMatchObject({ data: [] });
  await sandbox.stop('SIGTERM');
});

test('payments-sandbox lists its accounts and prints each request', async () => {
  const sandbox = run('--port', '0', '--seed', 'demo', '--auto', '50', '--latency', '20');
  const { ROOT_URL: rootUrl, api } = await sandbox.listens();
  const statuses = async () => {
    const page = (await (await api('/transfers')).json()) as { data: { status: string }[] };
    return page.data.map(({ status }) => status);
  };
  await expect.poll(statuses).not.toContain('pending');
  await fetch(`${rootUrl}/_sandbox/state`);
  const fault = '{"operation":"*","fault":{"kind":"reset","when":"before_commit"}}';
  await fetch(`${rootUrl}/_sandbox/faults`, { method: 'POST', body: fault });
  await expect(api('/accounts')).rejects.toThrow('fetch failed');
  const { out } = await sandbox.stop('SIGTERM');
  expect(out).toMatch(/^Accounts with money:\n {2}acc_000001 {2}19919\.60 USDC {2}Operating$/m);
  expect(out).toMatch(/^ {2}cpty_000002 {2}a wallet {2}Treasury wallet$/m);
  expect(out).toMatch(
    /^\d\d:\d\d:\d\d\.\d{3} {2}GET {5}\/v0\/transfers {2}200 {2}\d+ ms {2}transfers\.list {2}req_000001$/m,
  );
  expect(out).toMatch(
    / GET {5}\/v0\/accounts {2}--- {2}\d+ ms {2}accounts\.list {2}req_\d+ {2}fault reset$/m,
  );
  expect(out).not.toContain('/_sandbox');
  // The output has no colours, because it is not a terminal.
  expect(out).not.toContain('\u001b');
});

test('payments-sandbox --failures with the same seed fails the same requests', async () => {
  const play = async () => {
    const sandbox = run('--port', '0', '--quiet', '--failures', '40', '--failures-seed', '7');
    const { api } = await sandbox.listens();
    const seen: (number | string)[] = [];
    for (let call = 0; call < 40; call += 1) {
      const response = await api('/entities').catch(() => undefined);
      seen.push(response?.status ?? 'reset');
    }
    const { out } = await sandbox.stop('SIGTERM');
    expect(out).toMatch(/Ctrl\+C\.\n$/);
    return seen;
  };
  const seen = await play();
  expect(await play()).toEqual(seen);
  expect(new Set(seen)).toEqual(new Set([200, 502, 503, 'reset']));
});

test('payments-sandbox sends webhooks as the --webhook module defines them', async () => {
  const source = 'export default ({ type, after }) => ({ body: { type, of: after.id } });';
  const bodies: string[] = [];
  const handler = createServer((request, response) => {
    void text(request).then((body) => bodies.push(body));
    response.writeHead(204).end();
  });
  const port = await portOf(handler);
  const webhook = ['--webhook', webhookModule(source), '--webhook-host', 'payments'];
  const sandbox = run('--port', '0', ...webhook);
  const { api } = await sandbox.listens();
  const call = (method: string, path: string, body: unknown) =>
    api(path, { method, body: JSON.stringify(body) });
  await call('POST', '/accounts', { entityId: 'ent_9' });
  await call('PATCH', '/platform/settings', { webhookUrl: `http://127.0.0.1:${port}/` });
  await call('POST', '/entities', { email: 'a@b.example' });
  await expect.poll(() => bodies).toContain('{"type":"entity.created","of":"ent_000001"}');
  await call('PATCH', '/platform/settings', { webhookUrl: 'http://other/' });
  const { out, err } = await sandbox.stop('SIGTERM');
  expect(out).toMatch(
    / POST {4}\/v0\/accounts {2}422 .* req_000001 {2}entityId: no Entity "ent_9" exists on this Platform\.$/m,
  );
  expect(out).toMatch(
    / POST {4}http:\/\/other\/ {2}--- {2}0 ms {2}webhook {2}hook_\d+ {2}Not called: other is neither/,
  );
  expect(err).toBe('');
});

test.each([
  ['a module that does not exist', undefined, 'cannot be loaded'],
  ['a module without a function', 'export default 5;', 'has no function as its default export'],
])('payments-sandbox --webhook ends with status 1 for %s', async (_name, source, message) => {
  const module = webhookModule(source);
  const { code, err } = await run('--port', '0', '--webhook', module).ended;
  expect(code).toBe(1);
  expect(err).toContain(`The webhook module ${module} ${message}`);
});

test('payments-sandbox rejects a Host header that --allow-host does not name', async () => {
  const sandbox = run('--port', '0', '--allow-host', 'platform', '--allow-host', 'other');
  const { port } = new URL((await sandbox.listens()).BASE_URL);
  const statusUnder = async (host: string) => {
    const request = httpRequest({ port, path: '/_sandbox/log', headers: { host } }).end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  };
  expect(await Promise.all(['platform', 'other:1', 'third'].map(statusUnder))).toEqual([
    200, 200, 403,
  ]);
});

test('payments-sandbox --version prints the version of the package', async () => {
  expect(await run('--version').ended).toMatchObject({ code: 0, out: `${version}\n`, err: '' });
});

test('payments-sandbox --help prints the usage and ends with status 0', async () => {
  const { code, out, err } = await run('--help').ended;
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatchInlineSnapshot(`
    "Usage: payments-sandbox [options]

    Starts a payments Platform in memory and runs it until it is interrupted. The page at its
    address shows what happens; /_sandbox/ controls it from any language: docs/test.md.

    Options:
      --port <number>          port to listen on; 0 takes any free one (default: 4010)
      --host <name>            address to listen on (default: 127.0.0.1)
      --allow-host <name>      another name of this host, such as a container's; repeatable
      --seed demo|<file.json>  start with small demo data, or with a state from a file
      --state <file.json>      keep everything in this file, and restore it; it wins over --seed
      --auto <ms>|off          time between the automatic steps (default: 1000)
      --latency <ms>           time before every response (default: 0)
      --webhook <module.mjs>   the shape of notifications to the webhookUrl, a default export
      --webhook-host <name>    a host that notifications may reach, besides localhost; repeatable
      --failures <percent>     share of the requests that fail
      --failures-seed <n>      selects other requests, the same ones in every run (default: 1)
      --quiet                  print no line for each request
      --version                print the version and exit
      --help                   print this text and exit
    "
  `);
});

test.each([
  [['--prot', '1'], 'Unknown option --prot; did you mean --port?'],
  [['-port', '1'], 'Unknown option -p; did you mean --port?'],
  [['--port'], '--port needs a value.'],
  [['--port', 'x'], '--port takes a number from 0 to 65535, not "x".'],
  [['--port', '65536'], '--port takes a number from 0 to 65535, not "65536".'],
  [['--seed', 'demos'], '--seed takes "demo" or the name of a .json file, not "demos".'],
  [['--auto', 'on'], '--auto takes a number from 1 to 2147483647, or "off", not "on".'],
  [['--latency', '1.5'], '--latency takes a number from 0 to 2147483647, not "1.5".'],
  [['--failures', '101'], '--failures takes a number from 0 to 100, not "101".'],
  [['--failures-seed', 'x'], '--failures-seed takes a number from 0 to 2147483647, not "x".'],
  [['--state', ''], '--state takes the name of a file, not "".'],
  [['extra'], 'Unexpected argument "extra".'],
])(
  'payments-sandbox explains the wrong arguments %o and exits with status 2',
  async (args, problem) => {
    expect(await run(...args).ended).toMatchObject({
      code: 2,
      out: '',
      err: `${problem}\npayments-sandbox --help prints the usage.\n`,
    });
  },
);

test('payments-sandbox ends with status 1 if another process uses the port', async () => {
  const port = await portOf(createServer());
  const { code, out, err } = await run('--port', String(port)).ended;
  expect([code, out]).toEqual([1, '']);
  expect(err).toBe(
    `The sandbox cannot listen on port ${port} of 127.0.0.1: another process listens there. Choose another port, or 0 for any free one.\n`,
  );
});

/** Runs the command in this process, where coverage sees it. No signal is really sent. */
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
  const getNewListeners = () =>
    process.listeners('SIGTERM').filter((listener) => !before.includes(listener));
  return { texts, stop: () => getNewListeners().forEach((listener) => listener('SIGTERM')) };
}

test('payments-sandbox releases its port after a signal', async () => {
  const { texts, stop } = await runHere('--port', '0', '--seed', 'demo');
  await expect.poll(() => texts.out).toContain('PAYMENTS_BASE_URL=');
  const url = String(/PAYMENTS_BASE_URL=(.+)/.exec(texts.out)?.[1]);
  expect((await fetch(url)).status).toBe(404);
  stop();
  await expect(fetch(url)).rejects.toThrow('fetch failed');
  expect(texts.err).toBe('');
});

test('payments-sandbox sets process.exitCode and does not call process.exit', async () => {
  const wrong = await runHere('--port', 'x');
  expect(process.exitCode).toBe(2);
  expect(wrong.texts.err).toContain('--port takes');
  const help = await runHere('--help');
  expect(help.texts.out).toContain('Usage');
  const taken = await runHere('--host', 'no such host');
  await expect.poll(() => taken.texts.err).toContain('cannot listen');
  expect(process.exitCode).toBe(1);
});
