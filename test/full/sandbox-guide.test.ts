import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { expect, onTestFinished, test } from 'vitest';
import { loadWebhookShape } from '../../src/sandbox/command/webhook-module.ts';
import { tarballIn } from '../support/tarball.ts';

// The lines of docs/test.md, in an empty folder, in the order in which they stand there, and with
// the tarball in place of the package's name.

const file = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

const guide = readFileSync(file('docs/test.md'), 'utf8');
const blocksOf = (language: string) =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, block = '']) => block,
  );
const [command = '', ...lines] = blocksOf('sh');

test('every command of docs/test.md works, in order', async () => {
  expect(command).toMatch(/^npx -p payments-platform-sdk payments-sandbox --seed demo\n$/);
  expect(lines).toHaveLength(2);
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-guide-'));
  const start = command
    .replace('payments-platform-sdk', await tarballIn(folder))
    .replace('--seed demo', '--port 0');
  const npm = { yes: 'true', offline: 'true', cache: join(folder, 'cache'), loglevel: 'error' };
  const settings = Object.entries(npm).map(([name, value]) => [`npm_config_${name}`, value]);
  const sandbox = spawn('sh', ['-c', start], {
    cwd: folder,
    env: { ...process.env, ...Object.fromEntries(settings) },
    stdio: ['ignore', 'pipe', 'inherit'],
    // The test ends this process group, and so every process in it.
    detached: true,
  });
  onTestFinished(async () => {
    process.kill(-Number(sandbox.pid), 'SIGINT');
    await once(sandbox, 'close');
    rmSync(folder, { recursive: true });
  });
  let out = '';
  sandbox.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk));
  await expect.poll(() => out, { timeout: 30_000 }).toContain('Stop it');
  const root = /^export PAYMENTS_ROOT_URL=(.+)$/m.exec(out)?.[1] ?? '';
  expect(out).toContain('sk_sandbox_0000000000000000');

  // Each response is on a line of its own, and the script ends at the first error.
  const script = `set -e\ncurl() { command curl -s --fail-with-body -w '\\n' "$@"; }\n${lines.join('')}`;
  const shell = spawn('sh', ['-s'], { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] });
  shell.stdin.end(script.replaceAll('http://127.0.0.1:4010', root));
  const closed = once(shell, 'close');
  const output = await text(shell.stdout);
  expect([output, await closed]).toEqual([output, [0, null]]);
  const responses = output
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line));
  expect(responses).toMatchObject([
    { id: 'ent_000001', kycStatus: 'not_started' },
    { id: 'ent_000001', kycStatus: 'approved', tosStatus: 'approved' },
    { id: 'acc_000001' },
    { availableBalance: '100.00' },
    { id: 'cpty_000001', name: 'Roaster' },
    { id: 'txfr_000001', status: 'pending' },
    { id: 'txfr_000001', status: 'completed' },
    { id: 'acc_000001', availableBalance: '87.50', lockedBalance: '0.00' },
    { id: 'iban_000001' },
    { availableBalance: '107.50' },
    { id: 'txfr_000002', status: 'pending' },
    { offsetMs: 3_600_000 },
    { id: 'txfr_000002', status: 'failed' },
    { id: 'txfr_000003', status: 'pending' },
    { id: 'txfr_000003', status: 'processing' },
    { id: 'txfr_000003', status: 'completed' },
    { operation: 'transfers.create', times: 1 },
    [{ operation: 'transfers.create', times: 1 }],
    [{ id: 4 }, { id: 5 }, { id: 6 }, { id: 7 }, { id: 8 }],
  ]);
  expect(JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8'))).toMatchObject({
    version: 1,
    transfers: [{ status: 'completed' }, { status: 'failed' }, { status: 'completed' }],
  });
});

test('the Dockerfile of docs/test.md starts a healthy sandbox', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-container-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const [dockerfile = ''] = blocksOf('dockerfile');
  const [compose = ''] = blocksOf('yaml');
  expect(dockerfile.trim().split('\n')).toHaveLength(5);
  const install = String(/^RUN (.+)$/m.exec(dockerfile)?.[1]);
  expect(install).toBe('npm install --global payments-platform-sdk');
  const tarball = await tarballIn(folder);
  const npm = spawn(
    'sh',
    ['-c', `${install.replace('payments-platform-sdk', tarball)} --offline`],
    {
      env: { ...process.env, npm_config_prefix: folder, npm_config_loglevel: 'error' },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  expect(await once(npm, 'close')).toEqual([0, null]);
  const [program = '', ...args] = JSON.parse(
    String(/^CMD (.+)$/m.exec(dockerfile)?.[1]),
  ) as string[];
  const sandbox = spawn(join(folder, 'bin', program), [...args, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(sandbox, 'close');
  let out = '';
  sandbox.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk));
  await expect.poll(() => out, { timeout: 30_000 }).toContain('Stop it');
  const { port } = new URL(String(/^export PAYMENTS_ROOT_URL=(.+)$/m.exec(out)?.[1]));

  const [shell = '', ...options] = [...compose.matchAll(/^ {8}- (.+)$/gm)]
    .map(([, part = '']) => part)
    .slice(1);
  const checkHealth = async () => {
    const inPort = options.map((option) => option.replace(':4010/', `:${port}/`));
    return once(spawn(shell, inPort, { stdio: 'ignore' }), 'close');
  };
  expect(await checkHealth()).toEqual([0, null]);
  const headers = { host: 'payments:4010', authorization: 'Bearer sk_sandbox_0000000000000000' };
  const request = httpRequest({ port, path: '/v0/entities', headers }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  response.resume();
  sandbox.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  expect(await checkHealth()).toEqual([1, null]);
});

test('the --webhook example of docs/test.md sends only Transfer changes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-webhook-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const path = join(folder, 'webhook.mjs');
  writeFileSync(path, blocksOf('js')[0] ?? '');
  const shape = await loadWebhookShape(path);
  const sandbox = seedDemo(new Sandbox());
  const bodies: unknown[] = [];
  sandbox.onChange((change) => bodies.push(shape(change)?.body));
  sandbox.transfers.advance('txfr_000002');
  expect(bodies).toEqual([
    { event: 'transfer.status', data: sandbox.transfers.get('txfr_000002') },
    undefined,
  ]);
});
